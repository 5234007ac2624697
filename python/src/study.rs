//! Studies: their data as they would be shown as JSON.
#![allow(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use nalgebra::DMatrix;
use oldham_cosim::Cancel;
use oldham_model::{About, Approach};
use oldham_study::{
    Advice, Case, CompareOptions, HeldSignals, ModeNumbers, Range, Scheme, StabilityStudy,
    StudyError, Sweep, SweepOptions, TrimOptions, Variation, Vibrations, all_rest, compare,
    compensate, is_without_coupling, linearise, poles, resting_parts, statics, trim, vibrations,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::border::{Answer, answer, failed, internal, object, request};
use crate::failure::of_study;
use crate::model::{Content, Shared};
use crate::run::Tell;

/// A range: the key, its ends, the number of points, and whether by factors.
type GivenRange = (String, Option<(f64, f64)>, usize, Option<bool>);

/// What is studied, and how.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "study")]
enum Wanted {
    /// The verdict on the coupling, and what would help.
    Check {
        seconds: f64,
        along_run: bool,
        remedies: bool,
    },
    /// Modes of the recurrence.
    CouplingModes { monolithic: bool },
    /// The spectral radius along one parameter.
    StabilityCurve { x: GivenRange, schemes: Vec<String> },
    /// The same over two.
    StabilityMap {
        x: GivenRange,
        y: GivenRange,
        schemes: Vec<String>,
    },
    /// Where stability changes.
    StabilityBorders { x: GivenRange, schemes: Vec<String> },
    /// What the exchange does to the poles.
    Poles {
        order: usize,
        latency: f64,
        pade: Option<usize>,
    },
    /// Compensators of all interfaces.
    Compensate { approach: Option<String> },
    /// Natural vibrations of mechanisms.
    Modes {
        count: usize,
        near: Option<f64>,
        at_rest: bool,
    },
    /// Static equilibrium of mechanisms.
    Statics { time: Option<f64>, steps: usize },
    /// Several schemes beside a reference.
    Compare {
        vary: Vec<String>,
        reference: Option<String>,
        signal: Option<String>,
    },
    /// The model as one linear system.
    Linearise { time: Option<f64> },
    /// A steady motion.
    Trim {
        hold: Vec<(String, f64)>,
        free: Vec<String>,
        period: Option<f64>,
        finds_period: bool,
        settle: Option<f64>,
        seconds: Option<f64>,
        out: Option<PathBuf>,
    },
    /// A run for each combination of values.
    Sweep {
        vary: Vec<String>,
        folder: PathBuf,
        measures: Vec<String>,
        monolithic: bool,
        threads: Option<usize>,
        force: bool,
    },
}

/// Why a study gave nothing.
struct Failed(Value);

impl<E: Into<StudyError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(of_study(&error.into()))
    }
}

/// A study of a model. Sweeps tell how far they are and can be cancelled.
///
/// # Safety
/// The objects came with answers, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_study(
    model: *const Shared,
    text: *const u8,
    length: usize,
    cancel: *const Cancel,
    progress: Option<Tell>,
) -> *mut Answer {
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let (content, cancel, wanted): (_, _, Wanted) =
            unsafe { (object(model)?, object(cancel)?, request(text, length)?) };
        match study(content, wanted, cancel, progress) {
            Ok(told) => Ok((None, told)),
            Err(Failed(told)) => Err(told),
        }
    })
}

fn study(
    content: &Content,
    wanted: Wanted,
    cancel: &Cancel,
    progress: Option<Tell>,
) -> Result<Value, Failed> {
    let (file, model) = (&content.file, &content.model);
    let stability = |others: &[String]| -> Result<StabilityStudy<'_>, Failed> {
        let schemes = others.iter().map(|text| Scheme::parse(text));
        let schemes: Result<Vec<Scheme>, StudyError> = schemes.collect();
        Ok(StabilityStudy::new(file, model, schemes?, false)?)
    };
    match wanted {
        Wanted::Check {
            seconds,
            along_run,
            remedies,
        } => check(content, duration(seconds), along_run, remedies),
        Wanted::CouplingModes { monolithic } => {
            shown(&StabilityStudy::new(file, model, Vec::new(), monolithic)?.modes()?)
        }
        Wanted::StabilityCurve { x, schemes } => {
            shown(&stability(&schemes)?.curve(&range(x), &|_| {})?)
        }
        Wanted::StabilityMap { x, y, schemes } => {
            let map = stability(&schemes)?.map(&range(x), &range(y), &|_| {})?;
            let mut told = shown(&map)?;
            let borders = map.schemes.iter().map(|scheme| &scheme.border);
            told["borders"] = borders.map(|(x, y)| json!([x, y])).collect();
            told["here"] = json!(map.here);
            Ok(told)
        }
        Wanted::StabilityBorders { x, schemes } => {
            let found = stability(&schemes)?.borders(&range(x))?;
            let values = found.schemes.iter().map(|scheme| {
                let values = scheme.found.borders.iter().map(|border| border.value);
                json!([scheme.scheme, values.collect::<Vec<f64>>()])
            });
            Ok(values.collect())
        }
        Wanted::Poles {
            order,
            latency,
            pade,
        } => {
            let held = HeldSignals {
                order,
                latency,
                pade,
            };
            shown(&poles(model, held)?)
        }
        Wanted::Compensate { approach } => {
            let approach = match approach.as_deref() {
                None => None,
                Some("sampled") => Some(Approach::Sampled),
                Some("continuous") => Some(Approach::Continuous),
                Some("structural") => Some(Approach::Structural),
                Some(other) => {
                    return Err(Failed(failed(
                        "value",
                        format!(
                            "unknown approach `{other}`; there are sampled, continuous and structural"
                        ),
                    )));
                }
            };
            shown(&compensate(model, approach))
        }
        Wanted::Modes {
            count,
            near,
            at_rest,
        } => {
            let about = match at_rest {
                true => About::Equilibrium,
                false => About::Start,
            };
            let found = vibrations(model, about, count, near)?;
            Ok(found.iter().map(modes).collect())
        }
        Wanted::Statics { time, steps } => {
            let found = statics(model, time, steps)?;
            all_rest(&resting_parts(model, time, &found))?;
            shown(&found)
        }
        Wanted::Compare {
            vary,
            reference,
            signal,
        } => {
            let vary = variations(&vary)?;
            let options = CompareOptions {
                vary: &vary,
                reference: reference.as_deref(),
                signal: signal.as_deref(),
                cancel: Some(cancel),
                ..CompareOptions::default()
            };
            shown(&compare(file, model, &options)?)
        }
        Wanted::Linearise { time } => linear(content, time),
        Wanted::Trim {
            hold,
            free,
            period,
            finds_period,
            settle,
            seconds,
            out,
        } => {
            let options = TrimOptions {
                hold,
                free,
                period,
                finds_period,
                settle,
                granted: seconds.map(duration),
                cancel: None,
                monolithic: false,
            };
            let found = trim(file, model, &options, |_| {})?;
            if let Some(out) = &out {
                found.write(out)?;
            }
            shown(&found.trim)
        }
        Wanted::Sweep {
            vary,
            folder,
            measures,
            monolithic,
            threads,
            force,
        } => {
            let merits: Result<Vec<_>, _> = measures.iter().map(|text| text.parse()).collect();
            let merits = merits.map_err(|error: oldham_study::MeritError| {
                Failed(failed("value", error.to_string()))
            })?;
            let vary = variations(&vary)?;
            let options = SweepOptions {
                merits,
                monolithic,
                threads,
                force,
                ..SweepOptions::default()
            };
            let sweep = Sweep::new(file, &vary, &folder, &options)?;
            let report = sweep.solve(Some(cancel), &|at| {
                if let Some(tell) = progress
                    && tell(at.done as f64 / at.total.max(1) as f64, 0.0, 0.0) != 0
                {
                    cancel.request();
                }
            })?;
            let merits = report.merits.iter().map(ToString::to_string);
            Ok(json!({
                "keys": report.keys,
                "merits": merits.collect::<Vec<_>>(),
                "runs": report.runs,
                "total": report.total,
            }))
        }
    }
}

fn check(
    content: &Content,
    granted: Duration,
    along_run: bool,
    remedies: bool,
) -> Result<Value, Failed> {
    let model = &content.model;
    let simulation = model.simulation()?;
    model.recorded(simulation.columns())?;
    drop(simulation);
    if is_without_coupling(model) {
        return Ok(json!({"analysed": false, "reason": "no coupling to analyse"}));
    }
    let case = Case::of(model, &content.file);
    let mut advice = match along_run {
        true => Advice::along_run(&case, granted, &mut |_| {}),
        false => {
            let verdict = case.spectrum(Some(granted)).map(|(_, verdict)| verdict);
            Advice::without_remedies(&case, verdict)
        }
    };
    if remedies {
        advice.look_for_remedies(&case, Some(granted));
    }
    shown(&advice)
}

fn modes(found: &Vibrations<'_>) -> Value {
    let modes = found.found.modes.iter().map(ModeNumbers::from);
    json!({"part": found.mechanism.name(), "modes": modes.collect::<Vec<_>>()})
}

fn linear(content: &Content, time: Option<f64>) -> Result<Value, Failed> {
    let linear = linearise(&content.model, time)?;
    let space = &linear.space;
    let signals = |all: &[oldham_stability::LinearSignal]| -> Vec<Value> {
        let signal =
            |one: &oldham_stability::LinearSignal| json!([one.name, one.unit, one.derivative]);
        all.iter().map(signal).collect()
    };
    let poles = space.poles.iter().map(|pole| [pole.re, pole.im]);
    Ok(json!({
        "a": rows(&space.a),
        "b": rows(&space.b),
        "c": rows(&space.c),
        "d": rows(&space.d),
        "states": space.states,
        "inputs": signals(&space.inputs),
        "outputs": signals(&space.outputs),
        "sample": space.sample,
        "time": linear.time,
        "poles": poles.collect::<Vec<_>>(),
    }))
}

fn rows(matrix: &DMatrix<f64>) -> Value {
    let row = |row: usize| matrix.row(row).iter().copied().collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..matrix.nrows()).map(row).collect();
    json!({"shape": [matrix.nrows(), matrix.ncols()], "rows": rows})
}

fn range((key, ends, points, is_logarithmic): GivenRange) -> Range {
    let range = match ends {
        Some((low, high)) => Range::between(key, low, high),
        None => Range::around(key),
    };
    let range = range.points(points);
    match is_logarithmic {
        Some(is_logarithmic) => range.logarithmic(is_logarithmic),
        None => range,
    }
}

fn variations(texts: &[String]) -> Result<Vec<Variation>, StudyError> {
    let parsed: Result<Vec<Variation>, _> = texts.iter().map(|text| text.parse()).collect();
    Ok(parsed?)
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// What can be serialised may borrow from the model: it becomes plain data. NaN and infinity become null.
fn shown(data: &impl Serialize) -> Result<Value, Failed> {
    serde_json::to_value(data).map_err(|error| Failed(internal(&error.to_string())))
}
