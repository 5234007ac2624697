//! The same model under implicit coupling, with a finer step: what converges to the solution of the
//! coupled equations where no monolithic model can be made.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

use oldham_cosim::{Coupling, ImplicitSettings, Stage, SubsystemId};
use oldham_lumped::Integrator;
use oldham_multibody::Method;

use crate::format::DEFAULT_RHO;
use crate::model::{Content, Model, ModelSpec, PartSpec, Prediction};

/// An exchanged value has converged when it changes by less than this part of its size.
const RELATIVE: f64 = 1e-9;
/// Parts solve their own equations to this accuracy, so that the exchange can converge.
const TOLERANCE: f64 = 1e-10;
/// Iterations of a macro step at most.
const ITERATIONS: usize = 100;

impl Model {
    /// Implicit (tight) coupling of all subsystems, with the macro step halved so many times.
    ///
    /// Inputs are interpolated within a step, mechanisms are not cut, integrators of first
    /// order are replaced by LMS2, and nothing learns or compensates. Every subsystem takes as many
    /// micro steps per macro step as in the file: halving refines integrators and exchange alike,
    /// so that the solutions converge to that of the coupled equations.
    pub fn implicitly_coupled(&self, halvings: u32) -> Self {
        let mut spec = self.refined(halvings).spec;
        let rates: Vec<f64> = (0..spec.parts.len())
            .map(|part| rate(&spec.schedule.stages, SubsystemId(part)))
            .collect();
        for (part, rate) in spec.parts.iter_mut().zip(rates) {
            let per_step = part.micro_steps() as f64 * rate / f64::from(part.every);
            part.refine(per_step.ceil().max(1.0) as usize);
        }
        spec.compensators.clear();
        let everybody = (0..spec.parts.len()).map(SubsystemId).collect();
        let schedule = &mut spec.schedule;
        schedule.stages = vec![Stage::Together(everybody)];
        schedule.output_update = false;
        schedule.coupling = match spec.connections.is_empty() {
            true => Coupling::Explicit,
            false => Coupling::Implicit(ImplicitSettings {
                relative: RELATIVE,
                max_iterations: ITERATIONS,
                ..ImplicitSettings::default()
            }),
        };
        spec.is_sequential = false;
        Self {
            source: self.source.clone(),
            spec,
        }
    }

    /// The same with a macro step halved so many times, and as many micro steps in each as in the file.
    pub fn refined(&self, halvings: u32) -> Self {
        let mut spec = self.spec.clone();
        let finer = 2_f64.powi(halvings as i32);
        spec.clock.step /= finer;
        spec.clock.steps = spec.clock.steps.saturating_mul(finer as u64);
        spec.schedule.step = spec.clock.step;
        Self {
            source: self.source.clone(),
            spec,
        }
    }

    /// Whether another model is solved in the very same way: the same equations, steps and
    /// exchange, whatever its file looks like.
    pub fn is_solved_like(&self, other: &Self) -> bool {
        self.solution_digest() == other.solution_digest()
    }

    /// What models that are [solved alike](Self::is_solved_like) have in common, for those who compare many.
    pub fn solution_digest(&self) -> u64 {
        self.spec.essence()
    }

    /// A mechanism with contacts that only its cut makes solvable: uncut it has another integrator than impulses.
    pub fn solvable_only_cut(&self) -> Option<&str> {
        let needs_cut = |part: &&PartSpec| match &part.content {
            Content::Multibody(spec) => {
                spec.whole.model.has_contacts() && spec.options.method != Method::Impulses
            }
            _ => false,
        };
        let part = self.spec.parts.iter().find(needs_cut);
        part.map(|part| part.name.as_str())
    }

    /// Whether the model is one set of equations that a single integrator can take: lumped
    /// subsystems alone, or a single subsystem. Others have [`Model::implicitly_coupled`].
    pub fn has_monolithic(&self) -> bool {
        let parts = &self.spec.parts;
        parts.len() == 1 || parts.iter().all(|part| part.lumped().is_some())
    }
}

impl PartSpec {
    /// Inputs are interpolated, so many micro steps make a macro step, and no integrator is of
    /// first order only, which would take very many steps to converge.
    fn refine(&mut self, micro_steps: usize) {
        self.prediction = Prediction::Hold(1);
        self.every = 1;
        match &mut self.content {
            Content::Lumped(spec) => {
                if let Integrator::SemiImplicitEuler | Integrator::BackwardEuler = spec.integrator {
                    spec.integrator = Integrator::Lms2 { rho: DEFAULT_RHO };
                }
                spec.micro_steps = micro_steps;
                spec.sends_tangent = false;
                spec.tangents.clear();
            }
            Content::Multibody(spec) => {
                if let Method::BackwardEuler = spec.options.method {
                    spec.options.method = Method::default();
                }
                spec.micro_steps = micro_steps;
                spec.cutting = None;
                spec.options.tolerance = spec.options.tolerance.min(TOLERANCE);
            }
            // It has no steps of its own to be refined.
            Content::Control(_) => {}
            Content::Foreign(spec) => spec.micro_steps = micro_steps,
        }
    }
}

impl ModelSpec {
    /// A digest of all that decides a solution; names of things, places in the file and what is
    /// recorded are not in it.
    fn essence(&self) -> u64 {
        let mut digest = Digest::default();
        self.write_essence(&mut digest)
            .expect("a digest takes everything");
        digest.0.finish()
    }

    fn write_essence(&self, digest: &mut Digest) -> fmt::Result {
        for part in &self.parts {
            let (name, content) = (&part.name, &part.content);
            writeln!(
                digest,
                "{name} {content:?} {:?} {}",
                part.prediction, part.every
            )?;
        }
        for it in &self.compensators {
            let signals = it.signals.as_ref();
            let signals = signals.map(|all| all.iter().map(|(name, _)| name).collect::<Vec<_>>());
            let design = (it.continuous, it.modes, it.as_integrated);
            let (force, correct, way) = (&it.force, &it.correct, &it.way);
            writeln!(
                digest,
                "{force:?} {correct:?} {way:?} {design:?} {signals:?}"
            )?;
        }
        for it in &self.drives {
            let (part, port) = (it.part, &it.port);
            writeln!(digest, "{part} {port:?} {:?} {:?}", it.course, it.external)?;
        }
        let exchange = (&self.connections, &self.schedule);
        let monolithic = &self.monolithic_spec;
        let monolithic = (monolithic.integrator, monolithic.micro_steps);
        let (is_sequential, steps) = (self.is_sequential, self.clock.steps);
        write!(
            digest,
            "{exchange:?} {is_sequential} {steps} {monolithic:?}"
        )
    }
}

/// Text that is only digested: that of a large mesh is long.
#[derive(Default)]
struct Digest(DefaultHasher);

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// How often a subsystem advances in a macro step.
pub(crate) fn rate(stages: &[Stage], part: SubsystemId) -> f64 {
    let of_stage = |stage: &Stage| match stage {
        Stage::Together(members) if members.contains(&part) => 1.0,
        Stage::Together(_) | Stage::Corrected(_) => 0.0,
        Stage::Nested { ratio, stages } => f64::from(*ratio) * rate(stages, part),
    };
    stages.iter().map(of_stage).sum()
}
