//! A panic, wherever it happens and however many threads run, ends the run as a fault.

mod support;

use std::sync::mpsc;
use std::time::Duration;

use oldham_cosim::{
    Builder, Counters, Energy, EnergyBalance, Fault, Hold, ImplicitSettings, InputCorrection,
    InputPort, Inputs, OutputPort, Ports, Predictor, Quantity, Reached, Recorder, Run, Schedule,
    Simulation, Source, Stage, State, StepCorrection, StepError, Subsystem, Tap, Unit, Visitor,
};
use support::Oscillator;

/// All methods of parts, predictors, sources and recorders that a run calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Advance,
    Outputs,
    SomeOutputs,
    Version,
    Restart,
    Work,
    Counters,
    Energy,
    Correct,
    BeginStep,
    CorrectInputs,
    Visit,
    Predict,
    Receive,
    Sent,
    Reset,
    Note,
    VisitPredictor,
    Source,
    VisitSource,
    Record,
    FirstRecord,
    Tap,
}

const PLACES: [Place; 23] = [
    Place::Advance,
    Place::Outputs,
    Place::SomeOutputs,
    Place::Version,
    Place::Restart,
    Place::Work,
    Place::Counters,
    Place::Energy,
    Place::Correct,
    Place::BeginStep,
    Place::CorrectInputs,
    Place::Visit,
    Place::Predict,
    Place::Receive,
    Place::Sent,
    Place::Reset,
    Place::Note,
    Place::VisitPredictor,
    Place::Source,
    Place::VisitSource,
    Place::Record,
    Place::FirstRecord,
    Place::Tap,
];

impl Place {
    /// State is saved and restored within steps of implicit coupling.
    fn is_visited(self) -> bool {
        let visited = [Self::Visit, Self::VisitPredictor, Self::VisitSource];
        visited.contains(&self)
    }
}

const RIPE: f64 = 0.0205;

/// Panics in one place, once a time has come.
#[derive(Clone, Copy)]
struct Rot {
    place: Place,
    now: f64,
}

impl Rot {
    fn look(&self, place: Place) {
        assert!(self.place != place || self.now < RIPE, "out of luck");
    }
}

/// An oscillator that panics in one of its methods.
struct Rotten {
    inner: Oscillator,
    rot: Rot,
}

impl State for Rotten {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.rot.look(Place::Visit);
        self.inner.visit(visitor);
    }
}

impl Subsystem for Rotten {
    fn ports(&self) -> &Ports {
        self.inner.ports()
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.rot.now = to;
        self.rot.look(Place::Advance);
        self.inner.advance(from, to, inputs)
    }
    fn outputs(&mut self, t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        self.rot.look(Place::Outputs);
        self.inner.outputs(t, u, y)
    }
    fn some_outputs(
        &mut self,
        _: &[OutputPort],
        t: f64,
        u: &[f64],
        y: &mut [f64],
    ) -> Result<(), StepError> {
        self.rot.look(Place::SomeOutputs);
        self.inner.outputs(t, u, y)
    }
    fn version(&self, output: OutputPort) -> Option<u64> {
        self.rot.look(Place::Version);
        let is_asked = self.rot.place == Place::Version && output == OutputPort(0);
        is_asked.then_some(self.rot.now.to_bits())
    }
    fn restart(&mut self) {
        self.rot.look(Place::Restart);
        self.inner.restart();
    }
    fn work(&self) -> f64 {
        self.rot.look(Place::Work);
        1.0
    }
    fn counters(&self) -> Counters {
        self.rot.look(Place::Counters);
        Counters::default()
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        Some(self)
    }
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        let corrects = [Place::BeginStep, Place::CorrectInputs].contains(&self.rot.place);
        corrects.then_some(self as &mut dyn InputCorrection)
    }
}

impl EnergyBalance for Rotten {
    fn energy(&mut self, t: f64, u: &[f64]) -> Energy {
        self.rot.look(Place::Energy);
        self.inner.energy(t, u)
    }
}

impl StepCorrection for Rotten {
    fn correct(&mut self, _: f64, _: &[f64]) -> Result<(), StepError> {
        self.rot.look(Place::Correct);
        Ok(())
    }
}

impl InputCorrection for Rotten {
    fn begin_step(&mut self, _: f64, _: &mut Inputs) -> Result<(), StepError> {
        self.rot.look(Place::BeginStep);
        Ok(())
    }
    fn correct_inputs(&mut self, _: f64, _: &mut [f64]) {
        self.rot.look(Place::CorrectInputs);
    }
}

struct RottenHold(Hold, Rot);

impl State for RottenHold {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.1.look(Place::VisitPredictor);
        self.0.visit(visitor);
    }
}

impl Predictor for RottenHold {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.1.now = t;
        self.1.look(Place::Receive);
        self.0.receive(port, t, values);
    }
    fn sent(&mut self, _: f64, _: &[f64]) {
        self.1.look(Place::Sent);
    }
    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.1.now = t;
        self.1.look(Place::Predict);
        self.0.predict(t, now, inputs);
    }
    fn reset(&mut self) {
        self.1.look(Place::Reset);
        self.0.reset();
    }
    fn note(&self) -> Option<String> {
        self.1.look(Place::Note);
        None
    }
}

struct RottenSource(Rot);

impl State for RottenSource {
    fn visit(&mut self, _: &mut dyn Visitor) {
        self.0.look(Place::VisitSource);
    }
}

impl Source for RottenSource {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        self.0.now = t;
        self.0.look(Place::Source);
        out.fill(0.0);
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

/// Panics where it is asked for, or with its first row.
struct RottenRecorder(Rot, Place);

impl Recorder for RottenRecorder {
    fn record(&mut self, t: f64, _row: &[f64]) -> std::io::Result<()> {
        assert!(
            self.0.place != Place::FirstRecord || self.1 != Place::Record,
            "out of luck"
        );
        self.0.now = t;
        self.0.look(self.1);
        Ok(())
    }
}

/// Four parts in two pairs, of which the last one or the one before is rotten.
fn simulation(place: Place) -> Simulation {
    let rot = Rot { place, now: 0.0 };
    let mut builder = Builder::new();
    let mut ids = Vec::new();
    // Some of the outputs are asked for where a force is given.
    let rotten = if place == Place::SomeOutputs { 2 } else { 3 };
    for index in 0..4 {
        let owns_spring = index % 2 == 0;
        let part = Oscillator::new(1.0, 100.0, 1.0, owns_spring.then_some(70.0));
        let hold = Hold::new(1, part.ports());
        ids.push(if index == rotten {
            let part = Rotten { inner: part, rot };
            builder.add("rotten", Box::new(part), Box::new(RottenHold(hold, rot)))
        } else {
            builder.add(&format!("p{index}"), Box::new(part), Box::new(hold))
        });
    }
    let is_driven = [Place::Source, Place::VisitSource].contains(&place);
    for pair in ids.chunks(2) {
        builder.connect((pair[1], OutputPort(0)), (pair[0], InputPort(0)));
        if pair[1] != ids[3] || !is_driven {
            builder.connect((pair[0], OutputPort(1)), (pair[1], InputPort(0)));
        }
    }
    if is_driven {
        builder.drive(ids[3], InputPort(0), Box::new(RottenSource(rot)));
    }
    let mut schedule = Schedule::jacobi(1e-3, ids.clone()).with_output_update();
    if place.is_visited() {
        schedule.output_update = false;
        schedule = schedule.implicit(ImplicitSettings::default());
    }
    if place == Place::Correct {
        schedule.stages.push(Stage::Corrected(vec![ids[3]]));
    }
    schedule.events = vec![RIPE];
    builder.build(schedule).unwrap()
}

/// Runs on a thread of its own, so that a run that hangs fails instead of hanging the test.
fn fault(place: Place, threads: usize) -> Fault {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let rot = Rot { place, now: 0.0 };
        let mut recorder = RottenRecorder(rot, Place::Record);
        let mut onlooker = RottenRecorder(rot, Place::Tap);
        let mut run = Run::new(100, &mut recorder);
        run.tap = Some(Tap {
            every: 3,
            columns: None,
            recorder: &mut onlooker,
        });
        run.threads = threads;
        run.energy_bound = Some(100.0);
        let _ = send.send(simulation(place).run(run).end);
    });
    let end = receive.recv_timeout(Duration::from_secs(60));
    let end = end.unwrap_or_else(|_| panic!("{place:?} with {threads} threads hangs"));
    end.expect_err(&format!("{place:?} with {threads} threads is no fault"))
}

#[test]
fn a_panic_in_any_method_is_a_fault_with_any_number_of_threads() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut wrong = Vec::new();
    for place in PLACES {
        for threads in [1, 2, 4] {
            let found = fault(place, threads).to_string();
            let blamed = match place {
                Place::Record | Place::FirstRecord | Place::Tap => {
                    "recording or reporting panicked at t = 0"
                }
                _ => "`rotten` panicked at t = 0.",
            };
            if !found.starts_with(blamed) || !found.contains("out of luck") {
                wrong.push(format!("{place:?} with {threads} threads: {found}"));
            }
        }
    }
    let _ = std::panic::take_hook();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A part whose energy is what a test says, and which otherwise does nothing.
struct Told {
    ports: Ports,
    energy: fn(f64) -> Energy,
}

impl Subsystem for Told {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = t;
        Ok(())
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
}

impl EnergyBalance for Told {
    fn energy(&mut self, t: f64, _: &[f64]) -> Energy {
        (self.energy)(t)
    }
}

fn bounded(energy: fn(f64) -> Energy) -> Result<oldham_cosim::End, Fault> {
    let mut ports = Ports::new();
    ports.add_output("t", Quantity::Scalar(Unit::SECOND));
    let hold = Hold::new(0, &ports);
    let mut builder = Builder::new();
    let id = builder.add("told", Box::new(Told { ports, energy }), Box::new(hold));
    let mut simulation = builder.build(Schedule::jacobi(1e-2, [id])).unwrap();
    let mut nowhere = oldham_cosim::Discard;
    let mut run = Run::new(100, &mut nowhere);
    run.energy_bound = Some(100.0);
    simulation.run(run).end
}

fn stored(kinetic: f64, potential: f64) -> Energy {
    Energy {
        kinetic,
        potential,
        ..Energy::default()
    }
}

/// A body falls from rest at the origin of its potential: it has no energy to start with, and the
/// error of an integrator is a few per cent of what potential and kinetic energy exchange.
#[test]
fn the_energy_bound_lets_what_falls_from_rest_run() {
    let fallen = |t: f64| stored(1.05 * t * t + 1.5e-20, -t * t);
    assert!(bounded(fallen).is_ok());
}

#[test]
fn the_energy_bound_stops_at_nan() {
    for energy in [
        (|t| stored(if t > 0.5 { f64::INFINITY } else { 1.0 }, 0.0)) as fn(f64) -> Energy,
        |t| stored(if t > 0.5 { f64::NAN } else { 0.0 }, 0.0),
        |_| stored(f64::INFINITY, 0.0),
    ] {
        let end = bounded(energy);
        assert!(matches!(end, Err(Fault::EnergyNotFinite { .. })), "{end:?}");
    }
}

/// Nothing was there, nothing was given: whatever grows beyond rounding is an explosion.
#[test]
fn the_energy_bound_holds_for_a_start_without_energy() {
    let end = bounded(|t| stored((60.0 * t).exp() * 1e-20, 0.0));
    assert!(matches!(end, Err(Fault::EnergyBound { .. })), "{end:?}");
    assert!(bounded(|t| stored(1e-15 * t, 0.0)).is_ok());
}
