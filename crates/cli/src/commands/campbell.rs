//! `oldham modes --over`: frequencies over a parameter, the Campbell diagram.

use oldham_multibody::{Mode, ModeKind, Modes as FoundModes, Vec3};
use oldham_results::plot::{Figure, Panel, Series, Style};
use serde_json::{Value, json};

use crate::args::{Modes, Range};
use crate::commands::modes::{about, frames_json, frames_note, mode_json, unsteady_note};
use crate::failure::Failure;
use crate::say;
use crate::table::{Table, number};
use crate::{load, mechanisms};

/// Modes found beyond those shown, so that curves that cross go on.
const MORE: usize = 4;

/// The modes of one part over the parameter.
struct Study {
    part: String,
    values: Vec<f64>,
    found: Vec<FoundModes>,
    /// For each curve the mode at each value, if it was found there.
    curves: Vec<Vec<Option<usize>>>,
}

pub fn execute(arguments: &Modes, range: &Range) -> Result<(), Failure> {
    let Some(values) = range.equal_steps() else {
        let key = range.key.clone();
        return Err(Failure::NoRange { key });
    };
    let mut studies: Vec<Study> = Vec::new();
    let mut title = String::new();
    for &value in &values {
        let mut set = arguments.model.set.clone();
        set.push((range.key.clone(), value.to_string()));
        let model = load::with_overrides(&arguments.model.model, &set)?;
        title = model.name().to_owned();
        for (index, mechanism) in mechanisms::of(&model)?.into_iter().enumerate() {
            let count = arguments.count + MORE;
            let found = mechanism.vibrations(about(arguments), count, arguments.near);
            let (_, found) = found.map_err(|error| mechanisms::failed(mechanism, error))?;
            if studies.len() == index {
                studies.push(Study {
                    part: mechanism.name().to_owned(),
                    values: Vec::new(),
                    found: Vec::new(),
                    curves: Vec::new(),
                });
            }
            studies[index].values.push(value);
            studies[index].found.push(found);
        }
    }
    for study in &mut studies {
        study.curves = track(&study.found, arguments.count);
    }
    let beside = |suffix: &str| load::beside(&arguments.model.model, suffix);
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| beside("-campbell.svg"));
    if studies.iter().all(|study| study.curves.is_empty()) {
        return Err(Failure::NothingToDraw { path: out });
    }
    figure(&title, range, &studies).save(&out)?;
    let answer = json!({
        "command": "modes",
        "model": title,
        "status": "finished",
        "over": range.key,
        "parts": studies.iter().map(Study::as_json).collect::<Vec<_>>(),
    });
    if let Some(data) = &arguments.data {
        oldham_scene::write(data, format!("{answer:#}\n").as_bytes())?;
    }
    if arguments.json {
        say!("{answer:#}");
        return Ok(());
    }
    say!("{title}: frequencies over {}", range.key);
    for study in &studies {
        study.print(&range.key);
        let notes = study.found.iter();
        let mut notes = notes.filter_map(|found| unsteady_note(found, arguments.at));
        if let Some(note) = notes.next() {
            say!("! {note}");
        }
    }
    say!("picture: {}", out.display());
    Ok(())
}

impl Study {
    fn frequency(&self, curve: &[Option<usize>], index: usize) -> Option<f64> {
        let mode = &self.found[index].modes[curve[index]?];
        Some(mode.damped_frequency())
    }

    fn print(&self, key: &str) {
        say!("\n{}: frequencies in Hz", self.part);
        let mut header = vec![key.to_owned()];
        header.extend((1..=self.curves.len()).map(|i| i.to_string()));
        let mut rows = Vec::new();
        for (index, &value) in self.values.iter().enumerate() {
            let mut row = vec![number(value)];
            row.extend(self.curves.iter().map(|curve| {
                let frequency = self.frequency(curve, index);
                let is_unstable = curve[index]
                    .is_some_and(|i| self.found[index].modes[i].kind == ModeKind::Growing);
                let mark = if is_unstable { "!" } else { "" };
                frequency.map_or("-".into(), |f| format!("{f:.4}{mark}"))
            }));
            rows.push(row);
        }
        say!("{}", Table::of(header, rows));
        let growing = |found: &FoundModes| found.modes.iter().any(|m| m.kind == ModeKind::Growing);
        if self.found.iter().any(growing) {
            say!("  ! grows");
        }
        if let Some(note) = self.found.last().and_then(frames_note) {
            say!("  at the last value {note}");
        }
    }

    fn as_json(&self) -> Value {
        let at = |index: usize| {
            let found = &self.found[index];
            let mode =
                |curve: &Vec<Option<usize>>| curve[index].map(|i| mode_json(&found.modes[i]));
            json!({
                "value": self.values[index],
                "steady": found.is_steady,
                "frames": frames_json(found),
                "modes": self.curves.iter().map(mode).collect::<Vec<_>>(),
            })
        };
        json!({
            "part": self.part,
            "points": (0..self.values.len()).map(at).collect::<Vec<_>>(),
        })
    }
}

fn figure(title: &str, range: &Range, studies: &[Study]) -> Figure {
    let mut figure = Figure::new(format!("{title}: Campbell diagram"));
    for study in studies {
        let mut panel = Panel::new(
            range.key.clone(),
            format!("frequency of {} / Hz", study.part),
        );
        let mut highest = 0.0_f64;
        for (number, curve) in study.curves.iter().enumerate() {
            let points = 0..study.values.len();
            let y: Vec<f64> = points
                .map(|index| study.frequency(curve, index).unwrap_or(f64::NAN))
                .collect();
            highest = y
                .iter()
                .copied()
                .filter(|f| f.is_finite())
                .fold(highest, f64::max);
            let series = Series::new(format!("mode {}", number + 1), study.values.clone(), y);
            panel = panel.with_series(series.with_style(Style::LineAndPoints));
        }
        let turns: Vec<f64> = study
            .found
            .iter()
            .map(|found| found.fastest / std::f64::consts::TAU)
            .map(|turns| {
                if turns <= 1.05 * highest {
                    turns
                } else {
                    f64::NAN
                }
            })
            .collect();
        if turns.iter().any(|turns| *turns > 0.0) {
            let once = Series::new("once per turn", study.values.clone(), turns);
            panel = panel.with_series(once.with_style(Style::Reference));
        }
        figure = figure.with_panel(panel);
    }
    figure
}

/// Curves through the modes: each goes on with the mode whose shape and frequency fit best.
fn track(found: &[FoundModes], count: usize) -> Vec<Vec<Option<usize>>> {
    let Some(first) = found.first() else {
        return Vec::new();
    };
    let oscillates = |mode: &Mode| mode.kind != ModeKind::Decaying;
    let places = |found: &FoundModes| -> Vec<usize> {
        let modes = found.modes.iter().enumerate();
        let places = modes.filter(|(_, mode)| oscillates(mode)).map(|(i, _)| i);
        places.collect()
    };
    let starts = places(first);
    let mut curves: Vec<Vec<Option<usize>>> = starts.iter().map(|&i| vec![Some(i)]).collect();
    for index in 1..found.len() {
        let mut candidates = Vec::new();
        for (c, curve) in curves.iter().enumerate() {
            // The last two points known of the curve.
            let known: Vec<(usize, &Mode)> = (0..index)
                .rev()
                .filter_map(|k| curve[k].map(|i| (k, &found[k].modes[i])))
                .take(2)
                .collect();
            let Some(&(last, mode)) = known.first() else {
                continue;
            };
            let slope = match known.get(1) {
                Some(&(k, before)) => (mode.omega - before.omega) / (last - k) as f64,
                None => 0.0,
            };
            let expected = mode.omega + slope * (index - last) as f64;
            for i in places(&found[index]) {
                let next = &found[index].modes[i];
                let scale = 0.05 * (expected.abs() + next.omega) + 1e-9;
                let misfit = (next.omega - expected).abs() / scale;
                candidates.push((likeness(mode, next) - misfit, c, i));
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut chosen: Vec<Option<usize>> = vec![None; curves.len()];
        let mut taken: Vec<usize> = Vec::new();
        for (_, c, i) in candidates {
            if chosen[c].is_none() && !taken.contains(&i) {
                chosen[c] = Some(i);
                taken.push(i);
            }
        }
        for (curve, next) in curves.iter_mut().zip(chosen) {
            curve.push(next);
        }
    }
    curves.truncate(count);
    curves
}

/// How much two shapes have in common: one for the same, zero for nothing.
fn likeness(a: &Mode, b: &Mode) -> f64 {
    let product = |p: &[(Vec3, Vec3)], q: &[(Vec3, Vec3)]| -> f64 {
        let nodes = p.iter().zip(q);
        nodes.map(|((d, r), (e, s))| d.dot(*e) + r.dot(*s)).sum()
    };
    let (re, im) = (
        product(&a.shape, &b.shape) + product(&a.quadrature, &b.quadrature),
        product(&a.shape, &b.quadrature) - product(&a.quadrature, &b.shape),
    );
    let size = |m: &Mode| product(&m.shape, &m.shape) + product(&m.quadrature, &m.quadrature);
    (re * re + im * im) / (size(a) * size(b)).max(f64::MIN_POSITIVE)
}
