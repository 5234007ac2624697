//! A simulation beside the reference: how far each signal is off.

use oldham_cosim::{Column, End, Fault, InMemory, Run, Simulation, Summary};
use oldham_model::Model;

use super::reference::{Limits, Reference, is_signal};
use crate::StudyError;
use crate::compare::{Channel, Kind, errors};

/// How far a simulation is off.
pub(super) struct Off {
    /// The error of the signal that is furthest, relative to the largest range of its kind.
    pub error: f64,
    /// That signal.
    pub signal: String,
    /// What the simulation did.
    pub summary: Summary,
}

/// Runs a simulation of a model for so many macro steps. The inner error says why it did not get to the end.
pub(super) fn off(
    simulation: &mut Simulation,
    model: &Model,
    reference: &Reference,
    steps: u64,
    limits: Limits<'_>,
) -> Result<Result<Off, Fault>, StudyError> {
    limits.allow()?;
    let columns = simulation.columns();
    let mut wanted: Vec<(usize, usize)> = Vec::new();
    for place in model.recorded(columns)? {
        let name = &columns[place].name;
        if is_signal(name)
            && let Some(there) = reference.place(name)
        {
            wanted.push((place, there));
        }
    }
    if wanted.is_empty() {
        return Err(StudyError::NoCommonSignal {
            reference: reference.kind.word().into(),
        });
    }
    let signals: Vec<Column> = wanted
        .iter()
        .map(|&(place, _)| columns[place].clone())
        .collect();
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        record_columns: Some(wanted.iter().map(|&(place, _)| place).collect()),
        cancel: limits.cancel.cloned(),
        energy_bound: model.energy_bound(),
        ..Run::new(steps, &mut rows)
    });
    match outcome.end {
        Ok(End::Finished) => {}
        Ok(End::Cancelled) => return Err(StudyError::Cancelled),
        Err(fault) => return Ok(Err(fault)),
    }
    let mut channels: Vec<Channel> = signals.iter().map(|_| Channel::new(None)).collect();
    for (n, (time, row)) in rows.times.iter().zip(&rows.rows).enumerate() {
        let Some(expected) = reference.row(n) else {
            break;
        };
        for ((channel, value), (_, there)) in channels.iter_mut().zip(row).zip(&wanted) {
            channel.take(*time, *value, expected[*there]);
        }
    }
    let kinds: Vec<Kind> = signals.iter().map(Kind::of).collect();
    let errors = errors(&kinds, &channels);
    let worst = (0..signals.len())
        .filter_map(|i| Some((kinds[i] != Kind::Orientation, errors[i]?, i)))
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (error, signal) = worst.map_or((0.0, String::new()), |(_, error, i)| {
        (error, signals[i].name.clone())
    });
    Ok(Ok(Off {
        error,
        signal,
        summary: outcome.summary,
    }))
}
