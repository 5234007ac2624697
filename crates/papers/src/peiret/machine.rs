//! The two machines of Sect. 5, and how they are solved.

use oldham_model::{Model, Overrides, Problems, Source};

use crate::item::PaperError;
use crate::track::Track;

const ARM: &str = include_str!("../../../../examples/two-cylinder-arm.toml");
const BLOCK: &str = include_str!("../../../../examples/arm-and-block.toml");
const CRANE: &str = include_str!("../../../../examples/log-crane.toml");

/// Step of the hydraulics.
const MICRO: f64 = 2e-4;

/// One of the machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// The arm with the block as printed: friction 0.5, the valve changes by 0.015.
    BlockAsPrinted,
    /// Friction 0.1, the valve changes by 0.06: the block slides to the wall.
    BlockThatSlides,
    /// The same with the stiffness and damping that the paper gives the contacts of the crane.
    BlockOnSoftGround,
    /// The arm without a block.
    NoBlock,
    /// The crane that takes a log.
    Crane,
}

impl Machine {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::BlockAsPrinted => "block as printed",
            Self::BlockThatSlides => "block that slides",
            Self::BlockOnSoftGround => "block that slides on soft ground",
            Self::NoBlock => "no block",
            Self::Crane => "crane",
        }
    }

    /// What it is: friction, motion of the valve, integrator.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::BlockAsPrinted => "friction 0.5, valve by -0.015 as printed, arm by impulses",
            Self::BlockThatSlides => {
                "friction 0.1 instead of 0.5, valve four times as far, arm by impulses"
            }
            Self::BlockOnSoftGround => {
                "friction 0.1, valve four times as far, floor and wall yield, arm by impulses"
            }
            Self::NoBlock => "no block, valve four times as far, arm by LMS2",
            Self::Crane => "crane by impulses",
        }
    }

    /// How long it is looked at, in s.
    pub(super) fn duration(self) -> f64 {
        match self {
            Self::Crane => 10.0,
            _ => 8.0,
        }
    }

    /// Length, rate and force of the actuator that is drawn.
    pub(super) fn signals(self) -> [&'static str; 3] {
        match self {
            Self::Crane => ["crane.boom.length", "crane.boom.rate", "oil.boom.force"],
            _ => ["arm.stick.length", "arm.stick.rate", "oil.stick.force"],
        }
    }

    fn source(self) -> Source {
        match self {
            Self::Crane => Source::new("log-crane.toml", CRANE),
            Self::NoBlock => Source::new("two-cylinder-arm.toml", ARM),
            _ => {
                let source = Source::new("arm-and-block.toml", BLOCK);
                source.including("two-cylinder-arm.toml", ARM)
            }
        }
    }

    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::BlockAsPrinted => &[("dk", "-0.015"), ("mu", "0.5")],
            Self::BlockOnSoftGround => &[
                ("multibody.arm.shapes.floor.stiffness", "1e6"),
                ("multibody.arm.shapes.floor.damping", "1e5"),
                ("multibody.arm.shapes.wall.stiffness", "1e6"),
                ("multibody.arm.shapes.wall.damping", "1e5"),
            ],
            Self::BlockThatSlides | Self::NoBlock | Self::Crane => &[],
        }
    }
}

/// A machine, and how it is solved.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub machine: Machine,
    /// Macro step, and step of the mechanism.
    pub step: f64,
    /// Step of the oil.
    pub micro: f64,
    pub predictor: &'static str,
    /// The arm takes the force of the same step: Gauss-Seidel with the oil first, instead of the paper's Jacobi.
    pub oil_first: bool,
}

impl Trial {
    /// With the steps of the oil as printed.
    pub fn coarse(machine: Machine, step: f64, predictor: &'static str) -> Self {
        Self {
            machine,
            step,
            micro: MICRO,
            predictor,
            oil_first: false,
        }
    }

    pub fn model(&self) -> Result<Model, Problems> {
        let fixed = self.machine.settings().iter();
        let mut set: Vec<(String, String)> = fixed
            .map(|(key, value)| ((*key).into(), (*value).into()))
            .collect();
        set.extend([
            ("simulation.step".into(), self.step.to_string()),
            (
                "simulation.duration".into(),
                self.machine.duration().to_string(),
            ),
            ("hydraulics.oil.micro_step".into(), self.micro.to_string()),
            ("hydraulics.oil.predictor".into(), self.predictor.into()),
        ]);
        if self.oil_first {
            set.push(("schedule.kind".into(), "gauss-seidel".into()));
            set.push(("schedule.order".into(), "[\"oil\", \"arm\"]".into()));
        }
        Model::of(
            self.machine.source(),
            &Overrides(set),
            oldham_study::shipped_kinds(),
        )
    }

    /// A run, recorded at every `interval`: the machine's own signals, then these.
    pub fn track(&self, interval: f64, more: &[&str]) -> Result<Track, PaperError> {
        let mut simulation = self.model()?.simulation()?;
        let every = (interval / self.step).round() as u64;
        let rows = (self.machine.duration() / interval).round() as usize;
        let signals = [&self.machine.signals()[..], more].concat();
        Ok(Track::every(&mut simulation, &signals, rows, every))
    }
}
