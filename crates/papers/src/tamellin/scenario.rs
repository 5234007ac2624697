//! The systems of the paper as models, and the ways in which they are run.

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Integrator, Model, Overrides};

use super::continuous::Continuous;
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
    /// The gains that the paper prints, in the order of the candidates.
    pub printed: Option<[f64; 12]>,
}

/// Gains in the order of the candidates from the print's d, f and g.
const fn printed_gains(d: [f64; 4], f: [f64; 4], g: [f64; 4]) -> [f64; 12] {
    // Print: own and received on the force side, sent, own on the motion side.
    [
        g[0], f[0], d[0], g[1], f[1], d[1], g[3], f[3], d[3], g[2], f[2], d[2],
    ]
}

const UNDAMPED: [f64; 12] = printed_gains(
    [-0.0035, 0.0004, -0.0108, -0.0012],
    [0.0, -0.0498, -0.0499, 0.0994],
    [-0.4222, 0.7846, -1.0729, -0.1962],
);
const DAMPED: [f64; 12] = printed_gains(
    [-0.0036, 0.0003, 0.0018, 0.0001],
    [-0.0007, -0.0494, -0.0497, 0.100],
    [-0.4357, 0.7596, 0.1896, -0.0743],
);
const COARSE: [f64; 12] = printed_gains(
    [0.0042, -0.0003, 0.0009, -0.0004],
    [0.0008, -0.2011, -0.1997, 0.3994],
    [0.4564, -0.3928, 0.1230, 0.0528],
);

/// How a system is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Undivided, by the matrix exponential: the reference.
    Exact,
    /// Undivided, by semi-implicit Euler.
    Monolithic,
    /// Divided, without compensation.
    Plain,
    /// Divided, with the gains that the paper prints.
    Printed,
    /// Divided, with the smallest gains on the paper's continuous model D(s).
    Continuous,
    /// Divided, with gains for the co-simulation as it runs: ours.
    Compensated,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "reference",
            Self::Monolithic => "monolithic",
            Self::Plain => "without compensation",
            Self::Printed => "with the printed gains",
            Self::Continuous => "with D(s) gains",
            Self::Compensated => "with our gains, in z",
        }
    }
}

/// The time history of a run.
#[derive(Clone)]
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
            printed: None,
        }
        .with(&damped)
        .with(&[("simulation.step", step)])
    }

    pub fn undamped() -> Self {
        Self {
            printed: Some(UNDAMPED),
            ..Self::two_mass("undamped, Ts = 1 ms", 0.0, 1e-3)
        }
    }

    pub fn damped() -> Self {
        Self {
            printed: Some(DAMPED),
            ..Self::two_mass("damped, Ts = 1 ms", 0.1, 1e-3)
        }
    }

    pub fn coarse() -> Self {
        Self {
            printed: Some(COARSE),
            ..Self::two_mass("damped, Ts = 4 ms", 0.1, 4e-3)
        }
    }

    pub fn four_mass() -> Self {
        Self {
            name: "four masses, Ts = 3 ms",
            text: FOUR_MASS.into(),
            set: Vec::new(),
            signals: ["second.x3.x", "first.fc"],
            printed: None,
        }
    }

    /// Any other model with a compensator called `coupling`.
    pub fn of_text(name: &'static str, text: String, signals: [&'static str; 2]) -> Self {
        Self {
            name,
            text,
            set: Vec::new(),
            signals,
            printed: None,
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

    /// Whether a force acts on it.
    pub fn is_swept(&self) -> bool {
        self.text.contains("chirp")
    }

    pub fn model(&self, way: Way) -> Result<Model, PaperError> {
        let mut set = self.set.clone();
        match way {
            Way::Compensated => {}
            Way::Printed | Way::Continuous => {
                let continuous = Continuous::of(self)?;
                let gains = match (way, self.printed) {
                    (Way::Printed, Some(gains)) => gains.to_vec(),
                    _ => continuous.gains(),
                };
                set.push((
                    "compensator.coupling.gains".into(),
                    continuous.table(&gains),
                ));
            }
            _ => set.push(("compensator.coupling.method".into(), "none".into())),
        }
        Ok(Model::parse(
            &self.text,
            "the paper's model",
            &Overrides(set),
        )?)
    }

    /// With gains of any origin.
    pub fn with_gains(&self, table: String) -> Result<Simulation, PaperError> {
        let mut set = self.set.clone();
        set.push(("compensator.coupling.gains".into(), table));
        let model = Model::parse(&self.text, "the paper's model", &Overrides(set))?;
        Ok(model.simulation()?)
    }

    pub fn simulation(&self, way: Way) -> Result<Simulation, PaperError> {
        let model = self.model(way)?;
        Ok(match way {
            Way::Exact => model.monolithic(Some(Integrator::Exact))?,
            Way::Monolithic => model.monolithic(None)?,
            _ => model.simulation()?,
        })
    }

    /// Runs it to its end, which an unstable one may reach with any values.
    pub fn run(&self, way: Way) -> Result<History, PaperError> {
        let steps = self.model(way)?.steps();
        self.history(self.simulation(way)?, steps)
    }

    /// So many steps of a simulation.
    pub fn history(&self, mut simulation: Simulation, steps: u64) -> Result<History, PaperError> {
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
