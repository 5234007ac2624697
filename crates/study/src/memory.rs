//! A run whose results stay in memory.

use oldham_cosim::{Cancel, End, InMemory, Progress, Run};
use oldham_model::Model;

use crate::StudyError;

/// Recorded columns over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Times in s.
    pub times: Vec<f64>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Their values, a column each.
    pub columns: Vec<Vec<f64>>,
}

impl Recorded {
    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let place = self.names.iter().position(|other| other == name)?;
        self.columns.get(place).map(Vec::as_slice)
    }
}

/// Solves a model and keeps what it records, a row every so many macro steps.
///
/// ```
/// use oldham_study::{ModelFile, solve_in_memory};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-tight.toml"));
/// let recorded = solve_in_memory(&file.read()?, 10, None, &mut |_| {})?;
/// let energy = recorded.column("energy.total").expect("recorded");
/// assert_eq!(energy.len(), recorded.times.len());
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn solve_in_memory(
    model: &Model,
    every: u64,
    cancel: Option<&Cancel>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Recorded, StudyError> {
    let mut simulation = model.simulation()?;
    let chosen = model.recorded(simulation.columns())?;
    let name = |&place: &usize| simulation.columns()[place].name.clone();
    let names = chosen.iter().map(name).collect();
    let mut show = |here: Progress| progress(here);
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        threads: model.threads(),
        record_every: every.max(1),
        record_columns: Some(chosen.clone()),
        cancel: cancel.cloned(),
        energy_bound: model.energy_bound(),
        progress: Some(&mut show),
        ..Run::new(model.steps(), &mut rows)
    });
    match outcome.end {
        Ok(End::Finished) => Ok(Recorded {
            columns: (0..chosen.len()).map(|place| rows.column(place)).collect(),
            times: rows.times,
            names,
        }),
        Ok(End::Cancelled) => Err(StudyError::Cancelled),
        Err(fault) => Err(StudyError::Run(fault)),
    }
}
