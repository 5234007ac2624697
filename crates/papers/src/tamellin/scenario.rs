//! The systems of the paper as models, and the ways in which they are run.

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Integrator, Model, Overrides};

use crate::item::PaperError;

const TWO_MASS: &str = include_str!("../../../../examples/two-mass-compensated.toml");
const FOUR_MASS: &str = include_str!("../../../../examples/four-mass-compensated.toml");

/// A system with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub name: &'static str,
    text: String,
    set: Vec<(String, String)>,
    /// Columns of the coupling displacement and of the coupling force.
    pub signals: [&'static str; 2],
}

/// How a system is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Undivided, by the matrix exponential: the reference.
    Exact,
    /// Undivided, by semi-implicit Euler.
    Monolithic,
    /// Divided, without compensation.
    Plain,
    /// Divided, with gains for the co-simulation as it runs.
    Compensated,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "reference",
            Self::Monolithic => "monolithic",
            Self::Plain => "without compensation",
            Self::Compensated => "with compensation",
        }
    }
}

/// The time history of a run.
pub(super) struct History {
    pub time: Vec<f64>,
    pub displacement: Vec<f64>,
    pub force: Vec<f64>,
    pub energy: Vec<f64>,
}

impl Scenario {
    fn two_mass(name: &'static str, damping: f64, step: f64) -> Self {
        let damped = ["c1", "c2", "cc"].map(|key| (key, damping));
        Self {
            name,
            text: TWO_MASS.into(),
            set: Vec::new(),
            signals: ["right.x2.x", "left.fc"],
        }
        .with(&damped)
        .with(&[("simulation.step", step)])
    }

    pub fn undamped() -> Self {
        Self::two_mass("undamped, Ts = 1 ms", 0.0, 1e-3)
    }

    pub fn damped() -> Self {
        Self::two_mass("damped, Ts = 1 ms", 0.1, 1e-3)
    }

    pub fn coarse() -> Self {
        Self::two_mass("damped, Ts = 4 ms", 0.1, 4e-3)
    }

    pub fn four_mass() -> Self {
        Self {
            name: "four masses, Ts = 3 ms",
            text: FOUR_MASS.into(),
            set: Vec::new(),
            signals: ["second.x3.x", "first.fc"],
        }
    }

    /// Any other model with a compensator called `coupling`.
    pub fn of_text(name: &'static str, text: String, signals: [&'static str; 2]) -> Self {
        Self {
            name,
            text,
            set: Vec::new(),
            signals,
        }
    }

    /// With some numbers changed.
    pub fn with(mut self, numbers: &[(&str, f64)]) -> Self {
        let numbers = numbers.iter();
        self.set
            .extend(numbers.map(|(key, value)| ((*key).to_owned(), value.to_string())));
        self
    }

    /// At rest, with a force on the second mass that sweeps from 1 Hz to 10 Hz in 10 s.
    pub fn swept(mut self) -> Self {
        let load = "[lumped.right.loads]\nchirp = { on = \"x2\", force = \"sin(2*pi*(t + 0.45*t^2))\" }\n\n[lumped.right.inputs]";
        self.text = self.text.replace("[lumped.right.inputs]", load);
        self.with(&[
            ("lumped.left.masses.x1.velocity", 0.0),
            ("lumped.right.masses.x2.velocity", 0.0),
        ])
    }

    pub fn model(&self, way: Way) -> Result<Model, PaperError> {
        let mut set = self.set.clone();
        if way != Way::Compensated {
            set.push(("compensator.coupling.method".into(), "none".into()));
        }
        Ok(Model::parse(
            &self.text,
            "the paper's model",
            &Overrides(set),
        )?)
    }

    pub fn simulation(&self, way: Way) -> Result<Simulation, PaperError> {
        let model = self.model(way)?;
        Ok(match way {
            Way::Exact => model.monolithic(Some(Integrator::Exact))?,
            Way::Monolithic => model.monolithic(None)?,
            Way::Plain | Way::Compensated => model.simulation()?,
        })
    }

    /// Runs it to its end, which an unstable one may reach with any values.
    pub fn run(&self, way: Way) -> Result<History, PaperError> {
        let steps = self.model(way)?.steps();
        let mut simulation = self.simulation(way)?;
        let mut recorded = InMemory::default();
        simulation.run(Run::new(steps, &mut recorded)).end?;
        let column = |name: &str| {
            let place = simulation.columns().iter().position(|c| c.name == name);
            place.map_or_else(Vec::new, |place| recorded.column(place))
        };
        Ok(History {
            displacement: column(self.signals[0]),
            force: column(self.signals[1]),
            energy: column("energy.total"),
            time: recorded.times,
        })
    }
}
