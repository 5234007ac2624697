//! Is the coupling stable, and over which range? Modes, borders, curves and maps for several
//! schemes.

mod border;
mod grid;
mod regions;

use std::time::Duration;

use oldham_cosim::Simulation;
use oldham_model::{Model, Template};
use oldham_stability::{AnalysisError, Contour, Spectrum, borders_among, is_stable, map, radius};
use serde::Serialize;

use crate::advice::refuse_learner;
use crate::{
    Advice, Case, ModelFile, Range, Settings, StudyError, Subject, SurveyProgress, TrimmedFile,
};
pub use border::{BorderStudy, SchemeBorders};
pub use grid::{Axis, SchemeMap, SchemeRadii, StabilityCurve, StabilityMap};
use regions::regions;
pub use regions::{Cause, Region};

/// Values of a range at which a search for borders looks first.
const SAMPLES: usize = 25;

const STEP: &str = "simulation.step";
const DURATION: &str = "simulation.duration";

/// A scheme that a model's own is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// What it is called.
    pub name: String,
    /// How it differs from the file.
    pub settings: Settings,
}

impl Scheme {
    /// Settings separated by spaces, such as `schedule.output_update=true`. What is no setting would
    /// be left out in silence, and the file's own scheme studied again: it is an error.
    pub fn parse(text: &str) -> Result<Self, StudyError> {
        let setting = |word: &str| {
            let pair = word.split_once('=').filter(|(key, _)| !key.is_empty());
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            pair.ok_or_else(|| StudyError::NoScheme { text: word.into() })
        };
        let settings: Settings = text
            .split_whitespace()
            .map(setting)
            .collect::<Result<_, _>>()?;
        if settings.is_empty() {
            return Err(StudyError::NoScheme { text: text.into() });
        }
        Ok(Self {
            name: text.into(),
            settings,
        })
    }
}

/// A study of a model's stability.
///
/// ```
/// use oldham_study::{ModelFile, Range, Scheme, StabilityStudy};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-damped.toml"));
/// let model = file.read()?;
/// let updated = Scheme::parse("schedule.output_update=true")?;
/// let study = StabilityStudy::new(&file, &model, vec![updated], false)?;
/// println!("{} states", study.modes()?.states);
/// let curve = study.curve(&Range::between("kc", 10.0, 1000.0).points(5), &|_| {})?;
/// assert_eq!(curve.schemes[1].radius.len(), 5);
/// let svg = curve.figure().to_svg();
/// # assert!(svg.starts_with("<svg"));
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub struct StabilityStudy<'a> {
    file: &'a ModelFile,
    model: &'a Model,
    schemes: Vec<Scheme>,
    monolithic: bool,
    start: Option<&'a TrimmedFile>,
}

/// How long it may take to find what grows in a region of a map.
const FOR_A_CAUSE: Duration = Duration::from_secs(5);

/// How far a curve or a map has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridProgress<'a> {
    /// The scheme that is studied.
    pub scheme: &'a str,
    /// Points that are done.
    pub done: usize,
    /// Points in all.
    pub points: usize,
}

/// A scheme whose file was read once.
struct ReadScheme {
    name: String,
    file: ModelFile,
    template: Template,
}

/// A mode of the recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CouplingMode {
    /// Magnitude of its eigenvalue.
    pub radius: f64,
    /// How far that may be off.
    pub error: f64,
    /// Growth rate in 1/s.
    pub growth: f64,
    /// Frequency in hertz.
    pub frequency: f64,
    /// Whether the model has it without the coupling.
    pub own: bool,
}

/// The modes of a co-simulation, and what is to be said of them.
#[derive(Serialize)]
pub struct CouplingModes {
    /// States of the recurrence.
    pub states: usize,
    /// All modes, or the dominant ones of a large model; those that the model has by itself come last.
    pub modes: Vec<CouplingMode>,
    /// Growing eigenvalues that were counted and are not among the modes.
    pub unlisted: usize,
    /// The verdict, and what would help.
    #[serde(rename = "verdict")]
    pub advice: Advice,
}

impl<'a> StabilityStudy<'a> {
    /// A model in its own scheme and others, or as the monolithic reference. What a model learns while it runs no
    /// analysis describes: such a model is refused.
    pub fn new(
        file: &'a ModelFile,
        model: &'a Model,
        schemes: Vec<Scheme>,
        monolithic: bool,
    ) -> Result<Self, AnalysisError> {
        refuse_learner(model)?;
        Ok(Self {
            file,
            model,
            schemes,
            monolithic,
            start: None,
        })
    }

    /// From a trimmed state, of the model that this is applied to: modes along the run only.
    pub fn beginning_with(mut self, start: Option<&'a TrimmedFile>) -> Self {
        self.start = start;
        self
    }

    /// The model as it runs, or the monolithic reference.
    fn case(&self) -> Result<Case<'_>, StudyError> {
        let mut case = Case::of(self.model, self.file).beginning_with(self.start);
        if self.monolithic {
            self.model.monolithic(None)?;
            case.subject = Subject::Whole;
        }
        Ok(case)
    }

    /// All modes of the recurrence at the start, or the dominant ones of a large model, and what would
    /// help; as long as it takes.
    pub fn modes(&self) -> Result<CouplingModes, StudyError> {
        let case = self.case()?;
        let (spectrum, verdict) = case.spectrum(None)?;
        let advice = Advice::of(&case, Ok(verdict), None);
        Ok(modes_of(&spectrum, advice))
    }

    /// The same at the worst of all states that are looked at, within the time that is granted; remedies
    /// are not looked for.
    pub fn modes_along_run(
        &self,
        granted: Duration,
        progress: &mut dyn FnMut(SurveyProgress),
    ) -> Result<CouplingModes, StudyError> {
        let case = self.case()?;
        let mut advice = Advice::along_run(&case, granted, progress);
        if let Err(error) = &advice.verdict {
            return Err(error.clone().into());
        }
        let survey = advice.survey.as_mut();
        let worst = survey.and_then(|survey| survey.take_spectrum());
        let Some(spectrum) = worst else {
            return Err(AnalysisError::TooLong {
                seconds: granted.as_secs_f64(),
            }
            .into());
        };
        Ok(modes_of(&spectrum, advice))
    }

    /// Looks for what would help, within the time that is granted.
    pub fn look_for_remedies(
        &self,
        advice: &mut Advice,
        granted: Duration,
    ) -> Result<(), StudyError> {
        advice.look_for_remedies(&self.case()?, Some(granted));
        Ok(())
    }

    /// The ends of a range, at which the model must read with every scheme.
    pub fn ends(&self, range: &Range) -> Result<(f64, f64), StudyError> {
        let ends = range.ends(self.baseline(&range.key));
        let Some((low, high)) = ends else {
            return Err(self.no_range(&range.key));
        };
        let [low, high] = [low, high].map(|value| self.nearest(&range.key, value));
        for scheme in self.read_schemes()? {
            for value in [low, high] {
                self.load(&scheme, &[(&range.key, value)])?;
            }
        }
        Ok((low, high))
    }

    /// Where stability changes along one parameter, for each scheme.
    pub fn borders(&self, range: &Range) -> Result<BorderStudy, StudyError> {
        let (low, high) = self.ends(range)?;
        if low >= high {
            // A single value has no border in it.
            let key = range.key.clone();
            return Err(StudyError::NoRange { key });
        }
        let nearest = |value| self.nearest(&range.key, value);
        let find = |scheme: ReadScheme| {
            let build = |value| self.build(&scheme, &[(&range.key, value)]);
            SchemeBorders {
                found: borders_among(low, high, SAMPLES, nearest, build),
                scheme: scheme.name,
            }
        };
        Ok(BorderStudy {
            key: range.key.clone(),
            low,
            high,
            schemes: self.read_schemes()?.into_iter().map(find).collect(),
        })
    }

    /// The spectral radius along one parameter.
    pub fn curve(
        &self,
        x: &Range,
        progress: &(dyn Fn(GridProgress<'_>) + Sync),
    ) -> Result<StabilityCurve, StudyError> {
        let values = self.values(x)?;
        let mut schemes = Vec::new();
        for scheme in self.read_schemes()? {
            let changes = |value, _| vec![(x.key.as_str(), value)];
            schemes.push(SchemeRadii {
                radius: self.radii(&scheme, &values, &[0.0], changes, progress),
                scheme: scheme.name,
            });
        }
        Ok(StabilityCurve {
            model: self.model.name().into(),
            x: Axis::of(x, values),
            schemes,
        })
    }

    /// The spectral radius over two parameters.
    pub fn map(
        &self,
        x: &Range,
        y: &Range,
        progress: &(dyn Fn(GridProgress<'_>) + Sync),
    ) -> Result<StabilityMap, StudyError> {
        let (xs, ys) = (self.values(x)?, self.values(y)?);
        let mut schemes = Vec::new();
        let read = self.read_schemes()?;
        for scheme in &read {
            let changes = |a, b| vec![(x.key.as_str(), a), (y.key.as_str(), b)];
            let radius_at = self.radii(scheme, &xs, &ys, changes, progress);
            let contour = Contour {
                x: &xs,
                y: &ys,
                logarithmic: [x.is_logarithmic(), y.is_logarithmic()],
            };
            let stable_at = |a, b| {
                let simulation = self.build(scheme, &changes(a, b));
                simulation.is_some_and(|mut simulation| is_stable(radius(&mut simulation)))
            };
            schemes.push(SchemeMap {
                border: contour.border(&radius_at, threads(), stable_at),
                radii: SchemeRadii {
                    radius: radius_at,
                    scheme: scheme.name.clone(),
                },
            });
        }
        let radius = &schemes[0].radii.radius;
        let is_unstable = radius.iter().map(|&r| r.is_finite() && !is_stable(r));
        let found = regions(xs.len(), &is_unstable.collect::<Vec<_>>());
        let explained = found.into_iter().map(|(points, place)| {
            let (x_there, y_there) = (xs[place % xs.len()], ys[place / xs.len()]);
            let changes = [(x.key.as_str(), x_there), (y.key.as_str(), y_there)];
            Region {
                points,
                x: x_there,
                y: y_there,
                cause: self.cause(&read[0], &changes),
            }
        });
        Ok(StabilityMap {
            regions: explained.collect(),
            model: self.model.name().into(),
            here: self.baseline(&x.key).zip(self.baseline(&y.key)),
            x: Axis::of(x, xs),
            y: Axis::of(y, ys),
            schemes,
        })
    }

    /// What grows fastest with some values changed.
    fn cause(&self, scheme: &ReadScheme, changes: &[(&str, f64)]) -> Option<Cause> {
        let model = self.load(scheme, changes).ok()?;
        let mut case = Case::of(&model, &scheme.file);
        if self.monolithic {
            case.subject = Subject::Whole;
        }
        let (_, verdict) = case.spectrum(Some(FOR_A_CAUSE)).ok()?;
        let coupled = (verdict.growth > 0.0).then(|| Cause {
            frequency: verdict.frequency,
            growth: verdict.growth,
            interface: verdict.interface.clone(),
            own: self.monolithic,
        });
        let own = verdict.own.map(|[growth, frequency]| Cause {
            frequency,
            growth,
            interface: None,
            own: true,
        });
        coupled.or(own)
    }

    /// The model's own scheme, and those to compare it with.
    fn read_schemes(&self) -> Result<Vec<ReadScheme>, StudyError> {
        let read = |name: &str, settings: &[(String, String)]| {
            let file = self.file.with(settings);
            Ok(ReadScheme {
                name: name.into(),
                template: file.template()?,
                file,
            })
        };
        let own = std::iter::once(read("as in the file", &[]));
        let others = self.schemes.iter();
        let others = others.map(|scheme| read(&scheme.name, &scheme.settings));
        own.chain(others).collect()
    }

    /// The model with some values changed.
    fn load(&self, scheme: &ReadScheme, changes: &[(&str, f64)]) -> Result<Model, StudyError> {
        let template = &scheme.template;
        if changes.iter().all(|(key, _)| template.has_parameter(key)) {
            return Ok(template.with(changes)?);
        }
        let mut file = scheme.file.clone();
        for &(key, value) in changes {
            file = file.set(key, value);
            if key == STEP {
                file = file.set(DURATION, self.duration(value));
            }
        }
        Ok(file.read()?)
    }

    /// The model's duration, up to a whole number of steps.
    fn duration(&self, step: f64) -> f64 {
        (self.model.duration() / step).ceil().max(1.0) * step
    }

    /// The simulation with some values changed, if there is one.
    fn build(&self, scheme: &ReadScheme, changes: &[(&str, f64)]) -> Option<Simulation> {
        let model = self.load(scheme, changes).ok()?;
        if self.monolithic {
            return model.monolithic(None).ok();
        }
        model.simulation().ok()
    }

    /// The nearest value that is possible: a macro step is a whole number of micro steps, where their length
    /// is given.
    fn nearest(&self, key: &str, value: f64) -> f64 {
        match self.model.step_grain() {
            Some(grain) if key == STEP => (value / grain).round().max(1.0) * grain,
            _ => value,
        }
    }

    /// The values of a range that are possible.
    fn values(&self, range: &Range) -> Result<Vec<f64>, StudyError> {
        let values = range.values(self.ends(range)?).into_iter();
        let mut values: Vec<f64> = values
            .map(|value| self.nearest(&range.key, value))
            .collect();
        values.dedup();
        Ok(values)
    }

    /// The present value of a parameter or of the macro step; of other settings it is not known.
    fn baseline(&self, key: &str) -> Option<f64> {
        match key {
            STEP => Some(self.model.step()),
            _ => self.model.parameter(key),
        }
    }

    fn no_range(&self, key: &str) -> StudyError {
        if key.contains('.') {
            return StudyError::NoRange { key: key.into() };
        }
        let names = self.model.parameters().chain([STEP]);
        StudyError::unknown("parameter", key, names)
    }

    fn radii<'k>(
        &self,
        scheme: &ReadScheme,
        x: &[f64],
        y: &[f64],
        changes: impl Fn(f64, f64) -> Vec<(&'k str, f64)> + Sync,
        progress: &(dyn Fn(GridProgress<'_>) + Sync),
    ) -> Vec<f64> {
        let build = |a: f64, b: f64| self.build(scheme, &changes(a, b));
        map(x, y, threads(), build, |done| {
            progress(GridProgress {
                scheme: &scheme.name,
                done,
                points: x.len() * y.len(),
            });
        })
    }
}

fn modes_of(spectrum: &Spectrum, advice: Advice) -> CouplingModes {
    let coupled = spectrum.modes().iter().map(|mode| (mode, false));
    let own = spectrum.own_modes().iter().map(|mode| (mode, true));
    let modes = coupled.chain(own).map(|(mode, own)| {
        let pole = spectrum.pole(mode);
        CouplingMode {
            radius: mode.value.norm(),
            error: mode.error,
            growth: pole.re,
            frequency: pole.im.abs() / std::f64::consts::TAU,
            own,
        }
    });
    CouplingModes {
        states: spectrum.dimension(),
        modes: modes.collect(),
        unlisted: spectrum.unlisted(),
        advice,
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
