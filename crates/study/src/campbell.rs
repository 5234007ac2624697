//! Frequencies over a parameter: the Campbell diagram.

use oldham_model::{About, Model};
use oldham_multibody::{Mode, ModeKind, Modes as FoundModes, Vec3};
use oldham_results::plot::{Figure, Panel, Series, Style};
use serde::{Serialize, Serializer};

use crate::mechanisms::{ModeNumbers, TurningFrame, turning_frames, vibrations};
use crate::{ModelFile, Range, StudyError, TrimOptions, linearise, trim, vibrations_from};

/// Modes found beyond those shown, so that curves that cross go on.
const MORE: usize = 4;

/// The modes of a model over a parameter.
#[derive(Serialize)]
pub struct Campbell {
    /// Title of the model.
    pub model: String,
    /// The parameter.
    #[serde(rename = "over")]
    pub key: String,
    /// One study a mechanism; in a model without any, one for all masses.
    pub parts: Vec<CampbellPart>,
}

/// The modes of one mechanism, or of all masses, over a parameter.
pub struct CampbellPart {
    /// The mechanism, or `masses`.
    pub part: String,
    /// Values of the parameter.
    pub values: Vec<f64>,
    /// The modes at each value.
    pub found: Vec<FoundModes>,
    /// For each curve the mode at each value, if it was found there.
    pub curves: Vec<Vec<Option<usize>>>,
}

/// Follows the modes of all mechanisms over a parameter that is varied in equal steps. In a model without
/// any, those of its masses.
pub fn campbell(
    file: &ModelFile,
    range: &Range,
    about: About,
    count: usize,
    near: Option<f64>,
) -> Result<Campbell, StudyError> {
    follow(file, range, count, |_, model| {
        modes(model, about, count + MORE, near)
    })
}

/// The same about the steady motion at each value. Each is looked for from the model's own start, which may depend on the value.
pub fn campbell_trimmed(
    file: &ModelFile,
    range: &Range,
    options: &TrimOptions,
    count: usize,
    near: Option<f64>,
) -> Result<Campbell, StudyError> {
    follow(file, range, count, |file, model| {
        let trimmed = trim(file, model, options, |_| {})?;
        let applied = trimmed.applied(file).read()?;
        let found = vibrations_from(&trimmed, &applied, count + MORE, near)?;
        let named = found.into_iter();
        let named = named.map(|of| (of.mechanism.name().to_owned(), of.found));
        Ok(named.collect())
    })
}

fn follow(
    file: &ModelFile,
    range: &Range,
    count: usize,
    mut modes: impl FnMut(&ModelFile, &Model) -> Result<Vec<(String, FoundModes)>, StudyError>,
) -> Result<Campbell, StudyError> {
    let Some(values) = range.equal_steps() else {
        let key = range.key.clone();
        return Err(StudyError::NoRange { key });
    };
    let mut parts: Vec<CampbellPart> = Vec::new();
    let mut title = String::new();
    for &value in &values {
        let varied = file.clone().set(&range.key, value);
        let model = varied.read()?;
        title = model.name().to_owned();
        for (index, (part, found)) in modes(&varied, &model)?.into_iter().enumerate() {
            if parts.len() == index {
                parts.push(CampbellPart {
                    part,
                    values: Vec::new(),
                    found: Vec::new(),
                    curves: Vec::new(),
                });
            }
            if found.turns_unsteadily {
                return Err(StudyError::UnsteadyRotation {
                    part: parts[index].part.clone(),
                    key: range.key.clone(),
                    value,
                });
            }
            parts[index].values.push(value);
            parts[index].found.push(found);
        }
    }
    for part in &mut parts {
        part.curves = track(&part.found, count);
    }
    Ok(Campbell {
        model: title,
        key: range.key.clone(),
        parts,
    })
}

/// What vibrates, by name, and how.
fn modes(
    model: &Model,
    about: About,
    count: usize,
    near: Option<f64>,
) -> Result<Vec<(String, FoundModes)>, StudyError> {
    Ok(match model.mechanisms().next() {
        None => vec![(
            "masses".into(),
            linearise(model, None)?.modes(count, near).found,
        )],
        Some(_) => {
            let all = vibrations(model, about, count, near)?.into_iter();
            all.map(|of| (of.mechanism.name().to_owned(), of.found))
                .collect()
        }
    })
}

impl CampbellPart {
    /// The damped frequency in hertz of a curve at a value, if the mode was found there.
    pub fn frequency(&self, curve: &[Option<usize>], index: usize) -> Option<f64> {
        let mode = &self.found[index].modes[curve[index]?];
        Some(mode.damped_frequency())
    }
}

impl Serialize for CampbellPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Point {
            value: f64,
            steady: bool,
            frames: Vec<TurningFrame>,
            modes: Vec<Option<ModeNumbers>>,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            part: &'a str,
            points: Vec<Point>,
        }
        let point = |index: usize| {
            let found = &self.found[index];
            let mode = |curve: &Vec<Option<usize>>| {
                curve[index].map(|place| ModeNumbers::from(&found.modes[place]))
            };
            Point {
                value: self.values[index],
                steady: found.is_steady,
                frames: turning_frames(found),
                modes: self.curves.iter().map(mode).collect(),
            }
        };
        let data = Data {
            part: &self.part,
            points: (0..self.values.len()).map(point).collect(),
        };
        data.serialize(serializer)
    }
}

impl Campbell {
    /// Whether there is a curve to draw.
    pub fn has_curves(&self) -> bool {
        self.parts.iter().any(|part| !part.curves.is_empty())
    }

    /// Frequencies over the parameter, beside once per turn of what turns.
    pub fn figure(&self) -> Figure {
        let mut figure = Figure::new(format!("{}: Campbell diagram", self.model));
        for study in &self.parts {
            let mut panel = Panel::new(
                self.key.clone(),
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
                // Where values are far apart all frequencies move much, and shapes alone tell.
                let misfit = (next.omega - expected).abs() / scale;
                candidates.push((likeness(mode, next) - misfit / (1.0 + misfit), c, i));
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
