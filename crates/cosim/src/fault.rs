//! What can go wrong: when a simulation is built, and while it runs.

use crate::subsystem::StepError;

/// A simulation that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Two subsystems share a name.
    #[error("two subsystems are called `{0}`")]
    DuplicateName(String),
    /// The two ends of a connection carry different quantities.
    #[error("`{from}` sends {sent}, but `{to}` takes {taken}")]
    QuantityMismatch {
        /// Sending port.
        from: String,
        /// Receiving port.
        to: String,
        /// What is sent.
        sent: String,
        /// What is taken.
        taken: String,
    },
    /// An input has more than one feed.
    #[error("`{0}` is fed twice: an input takes one connection or one excitation")]
    FedTwice(String),
    /// A subsystem is in no stage, or in more than one.
    #[error("`{name}` appears {times} times in the schedule; it must appear once")]
    NotOnceInSchedule {
        /// The subsystem.
        name: String,
        /// How often it appears.
        times: usize,
    },
    /// The macro step is not a positive number.
    #[error("the macro step must be positive and finite, not {0}")]
    BadStep(f64),
    /// A nested stage or a multiple of the macro step is zero.
    #[error("a ratio of rates must be at least 1")]
    ZeroRatio,
    /// A multiple of the macro step inside a nested stage.
    #[error("`{0}` has its own multiple of the macro step and cannot be inside a nested stage")]
    MultipleInsideNest(String),
    /// Iteration needs single-rate, flat schedules.
    #[error(
        "implicit (tight) coupling repeats one macro step of all subsystems: `{0}` runs at another rate; give it micro steps instead"
    )]
    TightAtSeveralRates(String),
    /// Iteration needs rollback.
    #[error(
        "implicit (tight) coupling needs rollback, which `{0}` cannot do; use explicit (loose) coupling for it"
    )]
    CannotRollBack(String),
    /// A correction stage needs parts that can correct.
    #[error("`{0}` cannot correct its steps; leave it out of the correction stage")]
    CannotCorrect(String),
    /// Iteration leaves nothing to correct.
    #[error(
        "implicit (tight) coupling repeats a step until it needs no correction, so that `{0}` cannot be in a correction stage; use explicit (loose) coupling, or leave the stage out"
    )]
    TightAndCorrected(String),
    /// Iteration leaves no delay for which inputs could be corrected.
    #[error(
        "implicit (tight) coupling iterates the delay away that the compensator at `{0}` would undo; use one of the two"
    )]
    CorrectedTight(String),
    /// Iteration would use the output of the coming sample.
    #[error(
        "implicit (tight) coupling would use what `{0}` sends at the coming sample before it is taken: it is held from sample to sample; use explicit (loose) coupling with an output update, or a continuous part"
    )]
    TightAndHeld(String),
    /// A tolerance for a port that does not exist.
    #[error("there is no connected output `{0}` to give a tolerance to")]
    UnknownTolerancePort(String),
    /// Output updates would never end.
    #[error(
        "the output update has an algebraic loop of direct feedthrough ({0}); use implicit (tight) coupling, which solves the loop"
    )]
    AlgebraicLoop(String),
    /// The exchange at the initial time failed.
    #[error("at the initial time: {0}")]
    Initial(Fault),
}

/// A run that failed; it names the part, the time and the first cause.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A subsystem could not do its step.
    #[error("`{subsystem}` failed at t = {} s: {cause}", shown(.t))]
    Step {
        /// The failing subsystem.
        subsystem: String,
        /// Start of the failing step.
        t: f64,
        /// Its reason.
        cause: StepError,
    },
    /// A subsystem panicked.
    #[error("`{subsystem}` panicked at t = {} s: {message}", shown(.t))]
    Panic {
        /// The failing subsystem.
        subsystem: String,
        /// Start of the failing step.
        t: f64,
        /// What it said.
        message: String,
    },
    /// Something outside of the parts panicked: the recorder, or a report of progress.
    #[error("recording or reporting panicked at t = {} s: {message}", shown(.t))]
    CoordinatorPanic {
        /// Start of the step.
        t: f64,
        /// What it said.
        message: String,
    },
    /// A paced step ended after its deadline, and the run was to stop then.
    #[error(
        "the deadline of the step to t = {} s was missed by {late_us:.0} us: it took {took_us:.0} us of the {budget_us:.0} us that it may take; use a longer step or a slower pace, or let the run slip (--on-miss slip)",
        shown(.t)
    )]
    Deadline {
        /// End of the step.
        t: f64,
        /// How late it ended, in microseconds.
        late_us: f64,
        /// How long it took.
        took_us: f64,
        /// How long it may take.
        budget_us: f64,
    },
    /// The threads of a run could not be started.
    #[error(
        "{threads} threads could not be started ({message}); use fewer threads, or raise the limits of the system"
    )]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's message.
        message: String,
    },
    /// A subsystem returned early without moving on.
    #[error("`{subsystem}` does not get beyond t = {} s", shown(.t))]
    NoProgress {
        /// The stuck subsystem.
        subsystem: String,
        /// Where it is stuck.
        t: f64,
    },
    /// A port carries NaN or infinity.
    #[error(
        "`{subsystem}.{port}` became {value} at t = {} s; the run was stopped in that step",
        shown(.t)
    )]
    NotFinite {
        /// The source.
        subsystem: String,
        /// The port and component.
        port: String,
        /// NaN or an infinity.
        value: f64,
        /// When.
        t: f64,
    },
    /// A given function of time is NaN or infinite.
    #[error(
        "the excitation of `{subsystem}.{port}`{} became {value} at t = {} s; keep it finite over the whole run",
        .origin.as_ref().map(|origin| format!(" at {origin}")).unwrap_or_default(),
        shown(.t)
    )]
    Driven {
        /// The driven subsystem.
        subsystem: String,
        /// The input and component.
        port: String,
        /// Where it was given.
        origin: Option<Box<str>>,
        /// NaN or an infinity.
        value: f64,
        /// When.
        t: f64,
    },
    /// An implicit iteration did not converge.
    #[error(
        "implicit (tight) coupling did not converge at t = {} s: after {iterations} iterations `{port}` still changes by {change:.3e}; raise max_iterations, loosen the tolerance, use quasi-newton, or set on_limit = \"accept\"",
        shown(.t)
    )]
    NotConverged {
        /// End of the step.
        t: f64,
        /// Iterations made.
        iterations: usize,
        /// The port furthest from its tolerance.
        port: String,
        /// Its last change.
        change: f64,
    },
    /// The exchange creates energy without bound.
    #[error(
        "stopped at t = {} s: the stored energy {energy:.3e} J is more than {bound} times the {available:.3e} J that the model started with and was supplied; {blame}",
        shown(.t)
    )]
    EnergyBound {
        /// When.
        t: f64,
        /// Stored energy.
        energy: f64,
        /// The allowed multiple.
        bound: f64,
        /// Initial energy, work of loads and drives, and what potentials gave up.
        available: f64,
        /// Where it comes from and what helps.
        blame: String,
    },
    /// The energy of the model is NaN or infinite.
    #[error(
        "stopped at t = {} s: the energy of `{subsystem}` is {energy} J: its motion or its parameters overflow; use a smaller step, or look for a parameter that is too large",
        shown(.t)
    )]
    EnergyNotFinite {
        /// When.
        t: f64,
        /// The first part whose energy is NaN or infinite.
        subsystem: String,
        /// NaN or an infinity.
        energy: f64,
    },
    /// It happened on another rank of MPI.
    #[error("{message}")]
    OnRank {
        /// Which.
        rank: usize,
        /// What it says of it.
        message: String,
        /// Whether one of its parts failed.
        of_a_part: bool,
    },
    /// The results could not be written.
    #[error("results could not be written at t = {} s: {message}", shown(.t))]
    Recording {
        /// When.
        t: f64,
        /// The system's message.
        message: String,
    },
}

impl Fault {
    /// Whether a part could not go on, or sent NaN.
    pub fn is_of_a_part(&self) -> bool {
        match self {
            Self::Step { .. } | Self::NoProgress { .. } | Self::NotFinite { .. } => true,
            Self::OnRank { of_a_part, .. } => *of_a_part,
            _ => false,
        }
    }
}

/// A time to twelve digits: what is beyond comes from multiplying the step, and only distracts.
fn shown(t: &f64) -> f64 {
    format!("{t:.11e}").parse().unwrap_or(*t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_without_the_rounding_of_their_sum() {
        let told = |t: f64| {
            let message = "disk full".into();
            Fault::Recording { t, message }.to_string()
        };
        let t = 87.0 * 5e-4;
        assert_ne!(t.to_string(), "0.0435");
        assert!(told(t).contains("at t = 0.0435 s:"), "{}", told(t));
        assert!(told(1e6 + 0.25).contains("1000000.25 s"));
    }
}
