//! A subsystem that can do everything and notes what it is asked: what a decorator does not hand through shows.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use oldham_cosim::{
    Accuracy, Counters, EffectiveInterface, Energy, EnergyBalance, Hold, InputCorrection,
    InputPort, Inputs, InterfaceResponse, Linearisable, Linearisation, OutputPort, Ports, Reached,
    Remote, Replay, SequenceModel, Snapshot, State, StepCorrection, StepError, Subsystem, Switches,
    TwoStep, Visitor,
};

/// What was asked, in any order.
pub type Asked = Arc<Mutex<BTreeSet<&'static str>>>;

/// How many advances its pattern has, a number that no default gives.
pub const PATTERN: u64 = 6;

pub struct Telltale {
    ports: Ports,
    asked: Asked,
    x: f64,
}

impl Telltale {
    /// With these ports.
    pub fn new(ports: Ports) -> (Self, Asked) {
        let asked = Asked::default();
        let telltale = Self {
            ports,
            asked: asked.clone(),
            x: 0.0,
        };
        (telltale, asked)
    }

    fn note(&self, method: &'static str) {
        self.asked.lock().unwrap().insert(method);
    }
}

#[deny(clippy::missing_trait_methods)]
impl Subsystem for Telltale {
    fn ports(&self) -> &Ports {
        self.note("Subsystem::ports");
        &self.ports
    }
    fn advance(&mut self, from: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        self.note("Subsystem::advance");
        self.x += to - from;
        Ok(Reached {
            time: to,
            event: true,
        })
    }
    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.note("Subsystem::outputs");
        outputs.fill(self.x);
        Ok(())
    }
    fn some_outputs(
        &mut self,
        _: &[OutputPort],
        _: f64,
        _: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.note("Subsystem::some_outputs");
        outputs.fill(self.x);
        Ok(())
    }
    fn version(&self, _: OutputPort) -> Option<u64> {
        self.note("Subsystem::version");
        Some(1)
    }
    fn restart(&mut self) {
        self.note("Subsystem::restart");
    }
    fn work(&self) -> f64 {
        self.note("Subsystem::work");
        7.0
    }
    fn counters(&self) -> Counters {
        self.note("Subsystem::counters");
        Counters::default()
    }
    fn pattern(&self) -> u64 {
        self.note("Subsystem::pattern");
        PATTERN
    }
    fn switches(&mut self, _: f64, _: &[f64], found: &mut Switches) {
        self.note("Subsystem::switches");
        found.side(1);
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        self.note("Subsystem::state");
        Some(self)
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        self.note("Subsystem::energy_balance");
        Some(self)
    }
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        self.note("Subsystem::step_correction");
        Some(self)
    }
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        self.note("Subsystem::input_correction");
        Some(self)
    }
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        self.note("Subsystem::accuracy");
        Some(self)
    }
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        self.note("Subsystem::linearisable");
        Some(self)
    }
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        self.note("Subsystem::remote");
        Some(self)
    }
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        self.note("Subsystem::replay");
        Some(self)
    }
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        self.note("Subsystem::interface_response");
        Some(self)
    }
}

#[deny(clippy::missing_trait_methods)]
impl State for Telltale {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.note("State::visit");
        visitor.vector(std::slice::from_mut(&mut self.x));
    }
    fn is_chartable(&mut self) -> bool {
        self.note("State::is_chartable");
        false
    }
}

#[deny(clippy::missing_trait_methods)]
impl EnergyBalance for Telltale {
    fn energy(&mut self, _: f64, _: &[f64]) -> Energy {
        self.note("EnergyBalance::energy");
        Energy::default()
    }
    fn supply(&mut self, _: &[InputPort]) -> Vec<InputPort> {
        self.note("EnergyBalance::supply");
        Vec::new()
    }
}

#[deny(clippy::missing_trait_methods)]
impl StepCorrection for Telltale {
    fn expect_correction(&mut self) {
        self.note("StepCorrection::expect_correction");
    }
    fn correct(&mut self, _: f64, _: &[f64]) -> Result<(), StepError> {
        self.note("StepCorrection::correct");
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
impl InputCorrection for Telltale {
    fn begin_step(&mut self, _: f64, _: &mut Inputs) -> Result<(), StepError> {
        self.note("InputCorrection::begin_step");
        Ok(())
    }
    fn correct_inputs(&mut self, _: f64, _: &mut [f64]) {
        self.note("InputCorrection::correct_inputs");
    }
}

#[deny(clippy::missing_trait_methods)]
impl Accuracy for Telltale {
    fn require_accuracy(&mut self, _: f64) {
        self.note("Accuracy::require_accuracy");
    }
    fn sharpen(&mut self) {
        self.note("Accuracy::sharpen");
    }
}

#[deny(clippy::missing_trait_methods)]
impl Linearisable for Telltale {
    fn linearise(&mut self, _: f64, _: &[f64]) -> Option<Linearisation> {
        self.note("Linearisable::linearise");
        let (inputs, outputs) = (self.ports.input_width(), self.ports.output_width());
        Some(Linearisation {
            states: 1,
            a: vec![-2.0],
            b: vec![3.0; inputs],
            c: vec![5.0; outputs],
            d: vec![7.0; outputs * inputs],
            sample: None,
        })
    }
    fn not_linear(&mut self) -> Option<String> {
        self.note("Linearisable::not_linear");
        Some("says why".into())
    }
    fn state_names(&mut self) -> Vec<String> {
        self.note("Linearisable::state_names");
        vec!["x".into()]
    }
    fn sequence_model(&mut self, _: f64, _: f64, _: &[f64]) -> Option<SequenceModel> {
        self.note("Linearisable::sequence_model");
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl InterfaceResponse for Telltale {
    fn interface(&mut self, _: f64, _: &[f64], found: &mut EffectiveInterface) -> bool {
        self.note("InterfaceResponse::interface");
        found.answers.fill(0.0);
        found.mobility.fill(1.0);
        true
    }
    fn momentum_formula(&self) -> Option<TwoStep> {
        self.note("InterfaceResponse::momentum_formula");
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl Remote for Telltale {
    fn begin(&mut self, _: f64, _: f64, _: &mut Inputs) -> Result<(), StepError> {
        self.note("Remote::begin");
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
impl Replay for Telltale {
    fn by_replay(&mut self) -> Result<(), String> {
        self.note("Replay::by_replay");
        Ok(())
    }
}

/// Every method of a subsystem, of its abilities and of its state, read off the sources.
pub fn methods() -> BTreeSet<String> {
    let texts = [
        include_str!("../../src/subsystem.rs"),
        include_str!("../../src/abilities.rs"),
        include_str!("../../src/state.rs"),
    ];
    let mut found = BTreeSet::new();
    for text in texts {
        let mut within = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub trait ") {
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap();
                within = Some(rest[..end].to_owned());
            } else if line == "}" {
                within = None;
            } else if let (Some(of), Some(rest)) = (&within, line.strip_prefix("    fn ")) {
                let end = rest.find(['(', '<']).unwrap();
                found.insert(format!("{of}::{}", &rest[..end]));
            }
        }
    }
    found.retain(|method| !method.starts_with("Visitor::"));
    found
}

/// What it answers does not matter.
fn ignore<T>(_: T) {}

/// Calls a method of a subsystem as the engine and others do. A method that is new to the trait is not known here.
pub fn ask(part: &mut dyn Subsystem, method: &str) {
    let ports = part.ports().clone();
    let given = ports.initial_inputs().to_vec();
    let mut given: Vec<f64> = match given.len() == ports.input_width() {
        true => given,
        false => vec![0.0; ports.input_width()],
    };
    let mut outputs = vec![0.0; ports.output_width()];
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    match method {
        "Subsystem::ports" => ignore(part.ports().clone()),
        "Subsystem::advance" => ignore(part.advance(0.0, 0.1, &mut inputs)),
        "Subsystem::outputs" => ignore(part.outputs(0.0, &given, &mut outputs)),
        "Subsystem::some_outputs" => {
            ignore(part.some_outputs(&[OutputPort(0)], 0.0, &given, &mut outputs));
        }
        "Subsystem::version" => ignore(part.version(OutputPort(0))),
        "Subsystem::restart" => part.restart(),
        "Subsystem::work" => ignore(part.work()),
        "Subsystem::counters" => ignore(part.counters()),
        "Subsystem::pattern" => ignore(part.pattern()),
        "Subsystem::switches" => part.switches(0.0, &given, &mut Switches::default()),
        "Subsystem::state" => ignore(part.state()),
        "Subsystem::energy_balance" => ignore(part.energy_balance()),
        "Subsystem::step_correction" => ignore(part.step_correction()),
        "Subsystem::input_correction" => ignore(part.input_correction()),
        "Subsystem::accuracy" => ignore(part.accuracy()),
        "Subsystem::linearisable" => ignore(part.linearisable()),
        "Subsystem::interface_response" => ignore(part.interface_response()),
        "Subsystem::remote" => ignore(part.remote()),
        "Subsystem::replay" => ignore(part.replay()),
        "Replay::by_replay" => ignore(part.replay().map(|able| able.by_replay())),
        "Remote::begin" => ignore(part.remote().map(|able| able.begin(0.0, 0.1, &mut inputs))),
        "State::visit" => {
            ignore(part.state().map(|state| Snapshot::default().save(state)));
        }
        "State::is_chartable" => ignore(part.state().map(|state| state.is_chartable())),
        "EnergyBalance::energy" => {
            ignore(part.energy_balance().map(|able| able.energy(0.0, &given)));
        }
        "EnergyBalance::supply" => ignore(part.energy_balance().map(|able| able.supply(&[]))),
        "StepCorrection::expect_correction" => {
            ignore(part.step_correction().map(|able| able.expect_correction()));
        }
        "StepCorrection::correct" => {
            ignore(part.step_correction().map(|able| able.correct(0.0, &given)));
        }
        "InputCorrection::begin_step" => {
            let able = part.input_correction();
            ignore(able.map(|able| able.begin_step(0.0, &mut inputs)));
        }
        "InputCorrection::correct_inputs" => {
            let able = part.input_correction();
            ignore(able.map(|able| able.correct_inputs(0.0, &mut given)));
        }
        "Accuracy::require_accuracy" => {
            ignore(part.accuracy().map(|able| able.require_accuracy(1e-9)));
        }
        "Accuracy::sharpen" => ignore(part.accuracy().map(|able| able.sharpen())),
        "Linearisable::linearise" => {
            let found = part
                .linearisable()
                .and_then(|able| able.linearise(0.0, &given));
            if let Some(found) = found {
                let (m, p) = (ports.input_width(), ports.output_width());
                let n = found.states;
                let sizes = [found.a.len(), found.b.len(), found.c.len(), found.d.len()];
                assert_eq!(sizes, [n * n, n * m, p * n, p * m]);
            }
        }
        "Linearisable::not_linear" => ignore(part.linearisable().map(|able| able.not_linear())),
        "Linearisable::state_names" => ignore(part.linearisable().map(|able| able.state_names())),
        "Linearisable::sequence_model" => {
            let able = part.linearisable();
            ignore(able.map(|able| able.sequence_model(0.0, 0.1, &given)));
        }
        "InterfaceResponse::interface" => {
            let mut found = EffectiveInterface::at(vec![0]);
            let able = part.interface_response();
            ignore(able.map(|able| able.interface(0.0, &given, &mut found)));
        }
        "InterfaceResponse::momentum_formula" => {
            ignore(
                part.interface_response()
                    .map(|able| able.momentum_formula()),
            );
        }
        _ => panic!("{method} is new: say here how it is asked, and decide in every decorator"),
    }
}

/// Every method goes through to the inner subsystem, but for these, which the decorator answers by itself.
pub fn check_through<D: Subsystem>(mut make: impl FnMut() -> (D, Asked), own: &[&str]) {
    let mut wrong = Vec::new();
    for method in methods() {
        let (mut part, asked) = make();
        asked.lock().unwrap().clear();
        ask(&mut part, &method);
        let goes_through = asked.lock().unwrap().contains(&*method);
        if goes_through == own.contains(&&*method) {
            wrong.push(method);
        }
    }
    assert!(
        wrong.is_empty(),
        "lost, or handed through though it is said not to be: {wrong:#?}"
    );
    for method in own {
        assert!(methods().contains(*method), "{method} is none");
    }
}
