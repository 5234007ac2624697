//! The value of a parameter at which something that a run gives is as wanted.

use crate::{ModelFile, Recorded, StudyError, solve_in_memory};

/// What is looked for.
pub struct Wanted<'a> {
    /// The parameter.
    pub key: &'a str,
    /// Values of it between which the answer lies.
    pub between: [f64; 2],
    /// The wanted number.
    pub target: f64,
    /// How far from it the answer may be.
    pub tolerance: f64,
    /// What is measured in a run.
    pub measure: &'a dyn Fn(&Recorded) -> f64,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The value of the parameter.
    pub value: f64,
    /// The number that a run with it gives.
    pub measured: f64,
    /// Runs that it took.
    pub runs: usize,
}

/// Runs at most.
const MOST_RUNS: usize = 40;

/// Looks for a value of a parameter by regula falsi, with a run for every trial that records a row
/// every so many macro steps.
///
/// ```
/// use oldham_study::{ModelFile, Wanted, seek};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// // The crank of which the slider reaches 0.45 m: r + l, with l = 0.3 m.
/// let file = ModelFile::new(format!("{examples}/slider-crank.toml"));
/// let farthest = |run: &oldham_study::Recorded| {
///     let places = run.column("machine.slider.x").expect("recorded");
///     places.iter().copied().fold(0.0, f64::max)
/// };
/// let wanted = Wanted { key: "r", between: [0.05, 0.2], target: 0.45, tolerance: 1e-6, measure: &farthest };
/// assert!((seek(&file, &wanted, 10)?.value - 0.15).abs() < 1e-5);
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn seek(file: &ModelFile, wanted: &Wanted<'_>, every: u64) -> Result<Found, StudyError> {
    let mut runs = 0;
    let mut missed = |value: f64| -> Result<f64, StudyError> {
        runs += 1;
        let model = file.clone().set(wanted.key, value).read()?;
        let recorded = solve_in_memory(&model, every, None, &mut |_| {})?;
        Ok((wanted.measure)(&recorded) - wanted.target)
    };
    let [mut low, mut high] = wanted.between;
    let (mut below, mut above) = (missed(low)?, missed(high)?);
    if below.signum() == above.signum() || !(below - above).is_finite() {
        return Err(StudyError::NotBetween {
            key: wanted.key.into(),
            between: wanted.between,
            measured: [below, above].map(|miss| miss + wanted.target),
            target: wanted.target,
        });
    }
    let mut last = None;
    for _ in 0..MOST_RUNS {
        let value = (low * above - high * below) / (above - below);
        let miss = missed(value)?;
        if miss.abs() <= wanted.tolerance {
            return Ok(Found {
                value,
                measured: miss + wanted.target,
                runs,
            });
        }
        let is_above = miss.signum() == above.signum();
        // The Illinois rule: an end that stays twice counts half.
        let stays = last == Some(is_above);
        last = Some(is_above);
        if is_above {
            (high, above) = (value, miss);
            below *= if stays { 0.5 } else { 1.0 };
        } else {
            (low, below) = (value, miss);
            above *= if stays { 0.5 } else { 1.0 };
        }
    }
    Err(StudyError::NotFound {
        key: wanted.key.into(),
        runs: MOST_RUNS,
        between: [low, high],
    })
}
