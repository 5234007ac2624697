//! Gains that assign poles and shapes, confirmed by the recurrence of what runs.

use nalgebra::Complex;
use oldham_compensation::Compensation;
use oldham_cosim::{Simulation, SubsystemId};

use crate::compensate::conditions::{Conditions, Ranks};
use crate::compensate::response::Sampled;
use crate::compensate::rows::{Architecture, port_of};
use crate::compensate::search::calm;
use crate::compensate::targets::Target;
use crate::extrapolator::Extrapolator;
use crate::poles::CoupledModel;
use crate::recurrence::{AnalysisError, Recurrence, eigenvalues};
use crate::spectrum::STABLE;

/// Makes the simulation with the given compensations.
pub type Build<'a> =
    dyn Fn(Vec<(SubsystemId, Compensation)>) -> Result<Simulation, BuildFailure> + 'a;

/// A simulation could not be made; says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildFailure(pub String);

/// The model on which gains are designed.
pub enum Domain<'a> {
    /// The recurrence of the co-simulation as it is run.
    Sampled,
    /// The parts in the s-plane, with an extrapolator on every exchanged signal.
    Continuous(&'a CoupledModel, Extrapolator),
}

/// Truncations of the singular values that are tried, the most exact first.
const TRUNCATIONS: [f64; 8] = [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];
/// Relative distance of a mode from where it is wanted that needs no other solution.
const EXACT: f64 = 1e-5;

/// A compensator by eigenstructure assignment.
#[derive(Clone, Debug)]
pub struct Design {
    /// A gain for every candidate of the architecture.
    pub gains: Vec<f64>,
    /// Whether and how well the conditions could be met.
    pub ranks: Ranks,
    /// Singular values below this part of the largest were left out.
    pub truncation: f64,
    /// Trials in the null space until the co-simulation was stable.
    pub trials: usize,
    /// Spectral radius without and with compensation.
    pub radius: [f64; 2],
    /// What became of every mode.
    pub modes: Vec<AssignedMode>,
}

/// A mode in the s-plane, as wanted and as the co-simulation has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssignedMode {
    /// The wanted pole.
    pub target: Complex<f64>,
    /// The nearest one without compensation.
    pub without: Complex<f64>,
    /// The nearest one with it.
    pub with: Complex<f64>,
}

/// Why there is no compensator.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DesignError {
    /// A simulation could not be built.
    #[error("the model cannot be built: {0}")]
    Build(#[from] BuildFailure),
    /// A model could not be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// There is nothing to assign.
    #[error("no mode of the monolithic model moves the interface: there is nothing to compensate")]
    NoTargets,
    /// The co-simulation has a wanted pole already, or cannot be moved at it.
    #[error("the forces of the compensator do not move the interface independently")]
    NoAuthority,
    /// The conditions contradict each other.
    #[error("the poles cannot be assigned with these signals: rank L = {}, rank [L n] = {}, {} conditions for {} gains; {}", .ranks.rank, .ranks.augmented, .ranks.equations, .ranks.unknowns, missing_text(.missing))]
    Unassignable {
        /// The ranks.
        ranks: Ranks,
        /// Signals of which any one would help.
        missing: Vec<String>,
    },
    /// A force that stays the same tells nothing about its law.
    #[error(
        "`{0}` does not change while the model runs, so the law behind it cannot be identified; give the model a motion, or let the part offer its linearisation"
    )]
    NothingExchanged(String),
    /// Even the structural compensation leaves a growing root.
    #[error("structural compensation leaves a growing root: spectral radius {} without and {} with it; take a smaller macro step", .radius[0], .radius[1])]
    StructureUnstable {
        /// Spectral radius without and with compensation.
        radius: [f64; 2],
    },
    /// The gains do what they should to the primary poles, but another root grows.
    #[error("the poles can be assigned, but another root of the co-simulation then grows: spectral radius {} without and {} with compensation, after {trials} trials in the null space; use structural compensation", .radius[0], .radius[1])]
    Unstable {
        /// The ranks.
        ranks: Ranks,
        /// Spectral radius without and with the best gains.
        radius: [f64; 2],
        /// Trials in the null space.
        trials: usize,
    },
}

fn missing_text(missing: &[String]) -> String {
    match missing {
        [] => {
            "no single signal that the parts offer would change that; use structural compensation"
                .into()
        }
        [one] => format!("missing is `{one}`"),
        many => format!("one of these would help: {}", many.join(", ")),
    }
}

/// Designs gains for the chosen candidates and confirms them on the simulation that runs.
pub fn assign(
    build: &Build<'_>,
    rows: &Architecture,
    chosen: &[bool],
    targets: &[Target],
    domain: &Domain<'_>,
) -> Result<Design, DesignError> {
    if targets.is_empty() {
        return Err(DesignError::NoTargets);
    }
    let sampled = Sampled::of(&mut build(rows.listening())?, rows)?;
    let conditions = match *domain {
        Domain::Sampled => Conditions::new(&sampled, rows, targets),
        Domain::Continuous(model, extrapolator) => {
            Conditions::continuous(model, extrapolator, rows, targets)
        }
    };
    let conditions = conditions.ok_or(DesignError::NoAuthority)?;
    let ranks = conditions.ranks(chosen);
    if !ranks.is_assignable() {
        let missing = missing(&conditions, rows, chosen);
        return Err(DesignError::Unassignable { ranks, missing });
    }
    let before = eigenvalues(&sampled.lambda).ok_or(AnalysisError::NoEigenvalues)?;
    let largest = before.first().map_or(0.0, |z| z.norm());
    let wanted: Vec<Complex<f64>> = targets
        .iter()
        .map(|target| sampled.image(target.pole))
        .collect();
    let enough = wanted
        .iter()
        .fold(STABLE, |most, z| most.max(z.norm() * STABLE));
    let trial = Trial {
        build,
        rows,
        sampled: &sampled,
        enough,
        wanted,
        near: match domain {
            Domain::Sampled => EXACT,
            // The conditions are not those of the recurrence: how near they lead is theirs to say.
            Domain::Continuous(..) => f64::INFINITY,
        },
    };
    let found = trial.stabilise(&conditions, chosen)?;
    let radius = [largest, found.radius()];
    if radius[1] > enough {
        return Err(DesignError::Unstable {
            ranks,
            radius,
            trials: found.trials,
        });
    }
    let after = &found.eigenvalues;
    let mode = |target: &Target| AssignedMode {
        target: target.pole,
        without: sampled.pole(nearest(&before, sampled.image(target.pole))),
        with: sampled.pole(nearest(after, sampled.image(target.pole))),
    };
    Ok(Design {
        gains: found.gains,
        ranks,
        truncation: found.truncation,
        trials: found.trials,
        radius,
        modes: targets.iter().map(mode).collect(),
    })
}

/// Gains and the recurrence that runs with them.
struct Found {
    gains: Vec<f64>,
    eigenvalues: Vec<Complex<f64>>,
    truncation: f64,
    trials: usize,
}

impl Found {
    fn radius(&self) -> f64 {
        self.eigenvalues.first().map_or(0.0, |z| z.norm())
    }
}

struct Trial<'a> {
    build: &'a Build<'a>,
    rows: &'a Architecture,
    sampled: &'a Sampled,
    /// The spectral radius to be reached.
    enough: f64,
    /// The eigenvalues to be reached, and by how much they may be missed.
    wanted: Vec<Complex<f64>>,
    near: f64,
}

impl Trial<'_> {
    /// The solution with which the simulation is stable and its modes are nearest to where they are
    /// wanted; where there is none, the calmest.
    fn stabilise(&self, conditions: &Conditions, chosen: &[bool]) -> Result<Found, DesignError> {
        let mut best: Option<Found> = None;
        let (mut rank, mut trials) = (usize::MAX, 0);
        for truncation in TRUNCATIONS {
            let solution = conditions.solve(chosen, truncation);
            if solution.rank == rank {
                continue;
            }
            rank = solution.rank;
            let (gains, _, tried) = calm(&solution, self.enough, |gains| self.expected(gains));
            trials += tried;
            // Large gains magnify what is not known about the recurrence: it is probed again.
            let laws = self.rows.compensations(&gains);
            let found = Found {
                eigenvalues: Recurrence::of(&mut (self.build)(laws)?)?.eigenvalues()?,
                gains,
                truncation,
                trials: 0,
            };
            // Stable ones by how far they miss, others by how fast they grow.
            let worth = |found: &Found| match found.radius() {
                radius if radius <= self.enough => (false, self.miss(found)),
                radius => (true, radius),
            };
            let (grows, left) = worth(&found);
            if best.as_ref().is_none_or(|best| (grows, left) < worth(best)) {
                best = Some(found);
            }
            if !grows && left < self.near {
                break;
            }
        }
        let best = best.expect("the first truncation always gives gains");
        Ok(Found { trials, ..best })
    }

    /// By how much a mode is not where it is wanted, relative to what it does in a step.
    fn miss(&self, found: &Found) -> f64 {
        let misses = self.wanted.iter().map(|&wanted| {
            let off = (nearest(&found.eigenvalues, wanted) - wanted).norm();
            off / wanted.ln().norm().max(f64::MIN_POSITIVE)
        });
        misses.fold(0.0, f64::max)
    }

    /// The spectral radius that these gains should give.
    fn expected(&self, gains: &[f64]) -> f64 {
        let closed = self.sampled.closed(self.rows, gains);
        let values = closed.as_ref().and_then(eigenvalues);
        values.map_or(f64::INFINITY, |values| {
            values.first().map_or(0.0, |z| z.norm())
        })
    }
}

/// The eigenvalue nearest to a wanted one.
fn nearest(values: &[Complex<f64>], wanted: Complex<f64>) -> Complex<f64> {
    let distance = |z: &Complex<f64>| (z - wanted).norm();
    let nearest = values
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.copied().unwrap_or_default()
}

/// Signals that are not used, of which one more would do.
fn missing(conditions: &Conditions, rows: &Architecture, chosen: &[bool]) -> Vec<String> {
    let names: Vec<&str> = rows.candidates().map(|(_, c)| port_of(&c.name)).collect();
    let helps = |signal: &String| {
        let with: Vec<bool> = chosen
            .iter()
            .zip(&names)
            .map(|(chosen, name)| *chosen || name == signal)
            .collect();
        with != chosen && conditions.ranks(&with).is_assignable()
    };
    rows.signals().into_iter().filter(helps).collect()
}
