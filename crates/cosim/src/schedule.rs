//! The schedule: who advances when, and when values are exchanged.
//!
//! A schedule is an ordered list of stages. The subsystems of one stage advance together; what
//! they send is delivered before the next stage starts. So one stage with everybody is Jacobi, one
//! stage each is Gauss–Seidel, and a nested stage runs its own list at a multiple of the rate.

/// Index of a subsystem within a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubsystemId(pub usize);

/// One stage of a macro step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// These subsystems advance over the step, in parallel.
    Together(Vec<SubsystemId>),
    /// These subsystems, which advanced in an earlier stage, correct the end of their step for
    /// what has arrived since, in parallel.
    Corrected(Vec<SubsystemId>),
    /// These stages run `ratio` times, each over a step shorter by that factor.
    Nested {
        /// Inner steps per outer step.
        ratio: u32,
        /// What runs in each inner step.
        stages: Vec<Stage>,
    },
}

/// When a macro step is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Coupling {
    /// After one pass through the stages.
    Explicit,
    /// After the stages were repeated, with rollback, until the exchanged values converge.
    Implicit(ImplicitSettings),
}

/// How an implicitly coupled step iterates.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitSettings {
    /// An exchanged value has converged when its change is below this fraction of its magnitude, or
    /// of the largest that values of its port and unit have had in recent steps ...
    pub relative: f64,
    /// ... plus this, in its own unit.
    pub absolute: f64,
    /// Absolute tolerances of single ports, named `subsystem.port` after the sender.
    pub per_port: Vec<(String, f64)>,
    /// Iterations at most.
    pub max_iterations: usize,
    /// How the next iterate is found.
    pub acceleration: Acceleration,
    /// What happens when the limit is reached.
    pub on_limit: OnLimit,
}

impl Default for ImplicitSettings {
    fn default() -> Self {
        Self {
            relative: 1e-10,
            absolute: 1e-12,
            per_port: Vec::new(),
            max_iterations: 50,
            acceleration: Acceleration::QuasiNewton { columns: 8 },
            on_limit: OnLimit::Fail,
        }
    }
}

/// How a fixed-point iteration chooses its next iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acceleration {
    /// The old value plus this fraction of the change; 1 is the plain iteration.
    Fixed(f64),
    /// The fraction is adapted from the last two changes, starting with this one.
    Aitken(f64),
    /// An approximate Newton step from the last changes (interface quasi-Newton, least squares).
    QuasiNewton {
        /// How many changes are remembered.
        columns: usize,
    },
}

/// Policy when an implicit iteration reaches its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLimit {
    /// The run stops.
    Fail,
    /// The last iterate is taken, and counted.
    Accept,
}

/// Everything about time.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Initial time.
    pub start: f64,
    /// Macro step.
    pub step: f64,
    /// What happens in a macro step.
    pub stages: Vec<Stage>,
    /// Once or until converged.
    pub coupling: Coupling,
    /// Evaluate outputs again with the fresh inputs before they are used. This is another scheme:
    /// without it, what is sent at the end of a step is based on inputs predicted from its start.
    pub output_update: bool,
    /// Times of discontinuities (given loads jump), at which histories are discarded: the first
    /// exchange at or after each of them resets all predictors and integrators.
    pub events: Vec<f64>,
}

impl Schedule {
    /// Jacobi: everybody together.
    pub fn jacobi(step: f64, subsystems: impl IntoIterator<Item = SubsystemId>) -> Self {
        let stage = Stage::Together(subsystems.into_iter().collect());
        Self::with_stages(step, vec![stage])
    }

    /// Gauss–Seidel: one after the other, in this order.
    pub fn gauss_seidel(step: f64, order: impl IntoIterator<Item = SubsystemId>) -> Self {
        let alone = |subsystem| Stage::Together(vec![subsystem]);
        Self::with_stages(step, order.into_iter().map(alone).collect())
    }

    /// Any list of stages.
    pub fn with_stages(step: f64, stages: Vec<Stage>) -> Self {
        Self {
            start: 0.0,
            step,
            stages,
            coupling: Coupling::Explicit,
            output_update: false,
            events: Vec::new(),
        }
    }

    /// The same, iterated.
    pub fn implicit(mut self, implicit: ImplicitSettings) -> Self {
        self.coupling = Coupling::Implicit(implicit);
        self
    }

    /// The same, with an output update at each communication point.
    pub fn with_output_update(mut self) -> Self {
        self.output_update = true;
        self
    }

    /// Whether any stage is nested.
    pub fn is_nested(&self) -> bool {
        let nested = |stage: &Stage| matches!(stage, Stage::Nested { .. });
        self.stages.iter().any(nested)
    }

    /// How often each subsystem advances in one macro step, for those that appear.
    pub(crate) fn appearances(&self) -> Vec<SubsystemId> {
        members(&self.stages, &|stage| match stage {
            Stage::Together(members) => members,
            _ => &[],
        })
    }

    /// The subsystems that correct their steps.
    pub(crate) fn corrected(&self) -> Vec<SubsystemId> {
        members(&self.stages, &|stage| match stage {
            Stage::Corrected(members) => members,
            _ => &[],
        })
    }
}

/// The members of all stages, nested ones included, as `of` reads them.
fn members(stages: &[Stage], of: &impl Fn(&Stage) -> &[SubsystemId]) -> Vec<SubsystemId> {
    let of_stage = |stage: &Stage| match stage {
        Stage::Nested { stages, .. } => members(stages, of),
        _ => of(stage).to_vec(),
    };
    stages.iter().flat_map(of_stage).collect()
}

/// What the members of a phase do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    Advance,
    Correct,
}

/// One stage, placed on the macro step's time line; nesting is unrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    pub members: Vec<SubsystemId>,
    pub duty: Duty,
    /// In ticks from the start of the macro step.
    pub from: u64,
    pub to: u64,
}

/// The unrolled macro step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    pub phases: Vec<Phase>,
    pub ticks_per_step: u64,
}

impl Timeline {
    pub fn unroll(stages: &[Stage]) -> Self {
        let ticks_per_step = resolution(stages);
        let mut phases = Vec::new();
        place(stages, 0, ticks_per_step, &mut phases);
        Self {
            phases,
            ticks_per_step,
        }
    }
}

/// Ticks needed so that every inner step is a whole number of them.
fn resolution(stages: &[Stage]) -> u64 {
    let needed = stages.iter().map(|stage| match stage {
        Stage::Together(_) | Stage::Corrected(_) => 1,
        Stage::Nested { ratio, stages } => u64::from(*ratio) * resolution(stages),
    });
    needed.fold(1, least_common_multiple)
}

pub(crate) fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

fn place(stages: &[Stage], from: u64, to: u64, phases: &mut Vec<Phase>) {
    let phase = |members: &[SubsystemId], duty| Phase {
        members: members.to_vec(),
        duty,
        from,
        to,
    };
    for stage in stages {
        match stage {
            Stage::Together(members) => phases.push(phase(members, Duty::Advance)),
            Stage::Corrected(members) => phases.push(phase(members, Duty::Correct)),
            Stage::Nested { ratio, stages } => {
                let inner = (to - from) / u64::from(*ratio);
                for k in 0..u64::from(*ratio) {
                    place(stages, from + k * inner, from + (k + 1) * inner, phases);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_stage_is_unrolled_at_its_own_rate() {
        let [a, b, c] = [0, 1, 2].map(SubsystemId);
        let stages = [
            Stage::Together(vec![a]),
            Stage::Nested {
                ratio: 2,
                stages: vec![
                    Stage::Together(vec![b]),
                    Stage::Nested {
                        ratio: 3,
                        stages: vec![Stage::Together(vec![c])],
                    },
                ],
            },
        ];
        let timeline = Timeline::unroll(&stages);
        assert_eq!(timeline.ticks_per_step, 6);
        let spans: Vec<_> = timeline
            .phases
            .iter()
            .map(|phase| (phase.members[0].0, phase.from, phase.to))
            .collect();
        let expected = [
            (0, 0, 6),
            (1, 0, 3),
            (2, 0, 1),
            (2, 1, 2),
            (2, 2, 3),
            (1, 3, 6),
            (2, 3, 4),
            (2, 4, 5),
            (2, 5, 6),
        ];
        assert_eq!(spans, expected);
    }
}
