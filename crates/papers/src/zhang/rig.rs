//! Runs of the crank-slider with a flexible beam and a particle damper, and of its simplified model.
//!
//! The can is on the side of the contacts, as in the paper: it has 2.3 times the mass and up to 2.8 times the rotary inertia of the beam's tip with its
//! sensor. Index-1 inputs bear such a ratio only where the spectral radius at infinity of the smooth side is about 0.25 ([`super::limit`]). It is not
//! printed for this section; 0.25 is ours. With the 0.56 that is printed for the two masses, index-1 bears 0.88 of the can by the closed form, and between 0.85 and
//! 0.9 of it in runs; the rest then has to be on the beam's side (the parameter `share` of the model).

use std::time::Instant;

use oldham_cosim::{InMemory, Run};

use crate::item::{PaperError, Settings, model_with};

const RIG: &str = include_str!("../../../../papers/zhang/crank-slider.toml");
const SIMPLIFIED: &str = include_str!("../../../../examples/particle-damper.toml");

/// Duration of the figures, in s.
pub(super) const DURATION: f64 = 2.0;
pub(super) const STEP: f64 = 1e-4;
/// The particles' mass, lumped where there are none.
pub(super) const LUMPED: f64 = 7e-3;
/// Beyond this acceleration a run counts as unstable, in m/s².
pub(super) const UNSTABLE: f64 = 1e5;
/// Recorded steps are so far apart.
const EVERY: usize = 5;

/// What is solved.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Model {
    /// The mechanism with its beam.
    Rig,
    /// One mass on a spring.
    Simplified,
}

/// A variant of a model.
#[derive(Clone)]
pub(super) struct Variant {
    model: Model,
    has_particles: bool,
    is_thin: bool,
    has_jacobians: bool,
    step: f64,
    settings: Settings,
}

pub(super) struct History {
    pub times: Vec<f64>,
    /// The can's displacement, velocity and acceleration along the excitation.
    pub can: [Vec<f64>; 3],
    /// Its rotation about the beam's axis, and the moment about that; only of the mechanism.
    pub twist: Option<[Vec<f64>; 2]>,
    /// Energy that impacts and friction have taken.
    dissipated: Vec<f64>,
    /// Time that the run took, in s.
    pub wall: f64,
    /// How often the nonsmooth part advanced, over the number of steps.
    pub calls: f64,
    /// When the run failed, if it did.
    pub failed: Option<f64>,
}

impl Variant {
    pub fn new(model: Model, has_particles: bool) -> Self {
        Self {
            model,
            has_particles,
            is_thin: false,
            has_jacobians: false,
            step: STEP,
            settings: Settings::new(),
        }
    }

    pub fn with(mut self, key: &'static str, value: &str) -> Self {
        self.settings.push((key, value.to_owned()));
        self
    }

    /// Coupled by interface Jacobians instead of a law.
    pub fn with_jacobians(mut self) -> Self {
        self.has_jacobians = true;
        self
    }

    pub fn with_step(mut self, step: f64) -> Self {
        self.step = step;
        self.with("simulation.step", &step.to_string())
    }

    /// With the thin beam, and the crank slower by as much.
    pub fn thin(mut self) -> Self {
        self.is_thin = true;
        self
    }

    /// Nearly all of the can's inertia on the beam's side.
    pub fn on_the_beam(self) -> Self {
        self.with("parameters.share", "1e-3")
    }

    /// The mechanism under gravity, from static equilibrium.
    pub fn falling(self) -> Self {
        self.with("multibody.rig.gravity", "[0, -9.81, 0]")
            .with("multibody.rig.static_equilibrium", "true")
    }

    pub fn settings(&self) -> Settings {
        let mut settings = self.settings.clone();
        if self.is_thin {
            settings.push(("parameters.speed", "\"6.1*2*pi\"".into()));
        }
        match (self.model, self.is_thin) {
            (Model::Rig, true) => settings.push(("parameters.h", "1e-3".into())),
            (Model::Simplified, true) => {
                settings.push(("parameters.mass", "0.062621".into()));
                settings.push(("parameters.stiffness", "100.8".into()));
            }
            _ => {}
        }
        if self.model == Model::Rig && !self.has_particles {
            settings.push(("parameters.lumped", LUMPED.to_string()));
        }
        settings
    }

    /// The text without its particles, where there are none.
    pub fn text(&self) -> String {
        let text = match self.model {
            Model::Rig => RIG.to_owned(),
            Model::Simplified => SIMPLIFIED.to_owned(),
        };
        let text = match self.has_jacobians {
            true => text.replace("prescribe = \"index-1\"", "scheme = \"interface-tangent\""),
            false => text,
        };
        if self.has_particles {
            return text;
        }
        let part = match self.model {
            Model::Rig => "rig",
            Model::Simplified => "damper",
        };
        let table = format!("[multibody.{part}.particles.lead]");
        let (before, after) = text.split_once(&table).expect("the model has particles");
        let (_, after) = after.split_once("\n\n").expect("a table after that");
        let text = format!("{before}{after}");
        match self.model {
            Model::Rig => text,
            Model::Simplified => {
                text.replace("mass = \"mass\"", &format!("mass = \"mass + {LUMPED}\""))
            }
        }
    }

    pub fn model(&self) -> Result<oldham_model::Model, PaperError> {
        model_with(&self.text(), &self.settings())
    }

    pub fn run(&self, duration: f64) -> Result<History, PaperError> {
        let model = self.model()?;
        let mut simulation = model.simulation()?;
        let names: Vec<String> = match self.model {
            Model::Rig => ["py", "vy", "ay", "q1"]
                .map(|c| format!("rig.nodes.can.{c}"))
                .into_iter()
                .chain(["rig.interfaces.beam.20.damper.mx".to_owned()])
                .collect(),
            Model::Simplified => ["pz", "vz", "az"]
                .map(|c| format!("damper.nodes.can.{c}"))
                .to_vec(),
        };
        let mut wanted = names;
        wanted.push("energy.dissipated".to_owned());
        let place = |signal: &String| {
            let mut columns = simulation.columns().iter();
            let place = columns.position(|column| column.name == *signal);
            place.unwrap_or_else(|| panic!("the model has no signal {signal}"))
        };
        let columns: Vec<usize> = wanted.iter().map(place).collect();
        let mut memory = InMemory::default();
        let steps = (duration / self.step).round();
        let start = Instant::now();
        let outcome = simulation.run(Run {
            threads: 1,
            record_columns: Some(columns),
            record_every: EVERY as u64,
            ..Run::new(steps as u64, &mut memory)
        });
        let wall = start.elapsed().as_secs_f64();
        let nonsmooth = outcome.summary.parts.iter();
        let calls = nonsmooth
            .filter(|part| self.model == Model::Simplified || part.name.ends_with("damper"))
            .map(|part| part.counters.micro_steps as f64 / steps)
            .next();
        let failed = outcome.end.is_err().then(|| simulation.time());
        let count = wanted.len();
        let position = memory.column(0);
        let rest = position.first().copied().unwrap_or(0.0);
        Ok(History {
            can: [
                position.iter().map(|y| y - rest).collect(),
                memory.column(1),
                memory.column(2),
            ],
            twist: (self.model == Model::Rig).then(|| {
                let half = memory.column(3);
                [
                    half.iter()
                        .map(|q| 2.0 * q.clamp(-1.0, 1.0).asin())
                        .collect(),
                    memory.column(4),
                ]
            }),
            dissipated: memory.column(count - 1),
            times: memory.times,
            wall,
            calls: calls.unwrap_or(f64::NAN),
            failed,
        })
    }
}

/// Of the crank, in s.
fn period(is_thin: bool) -> f64 {
    1.0 / if is_thin { 6.1 } else { 15.5 }
}

impl History {
    /// Half the distance of the highest and the lowest position in the last cycles.
    pub fn amplitude(&self, duration: f64, cycles: f64, is_thin: bool) -> f64 {
        let start = duration - cycles * period(is_thin);
        let late = self.times.iter().zip(&self.can[0]);
        let late = late.filter(|(t, _)| **t >= start);
        let range = late.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], (_, y)| {
            [low.min(*y), high.max(*y)]
        });
        0.5 * (range[1] - range[0])
    }

    /// Energy that impacts and friction have taken in all, in J.
    pub fn dissipated(&self) -> f64 {
        self.dissipated.last().copied().unwrap_or(0.0)
    }

    /// The same in one of the last cycles, on average.
    pub fn work_per_cycle(&self, duration: f64, cycles: f64, is_thin: bool) -> f64 {
        let start = duration - cycles * period(is_thin);
        let mut early = self.times.iter().zip(&self.dissipated);
        let before = early.find(|(t, _)| **t >= start).map_or(0.0, |(_, d)| *d);
        (self.dissipated() - before) / cycles
    }

    /// When the acceleration is beyond all measure, or the run fails; infinite where neither comes.
    pub fn lost(&self) -> f64 {
        let late = self.times.iter().zip(&self.can[2]);
        let late = late.filter(|(_, a)| a.is_nan() || a.abs() > UNSTABLE);
        let late = late.map(|(t, _)| *t).chain(self.failed);
        late.fold(f64::INFINITY, f64::min)
    }

    pub fn largest(values: &[f64]) -> f64 {
        values.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    }
}
