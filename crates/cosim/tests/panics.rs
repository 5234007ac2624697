//! A panic, wherever it happens and however many threads run, ends the run as a fault.

mod support;

use std::sync::mpsc;
use std::time::Duration;

use oldham_cosim::{
    Builder, Energy, Fault, Hold, ImplicitSettings, InputPort, Inputs, OutputPort, Ports,
    Predictor, Quantity, Reached, Recorder, Run, Schedule, Simulation, Source, State, StepError,
    Subsystem, Tap, Unit, Visitor,
};
use support::Oscillator;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Advance,
    Outputs,
    Energy,
    Visit,
    Predict,
    Receive,
    Source,
    Record,
    Tap,
}

/// An oscillator that panics in one of its methods once a time has come.
struct Rotten {
    inner: Oscillator,
    place: Place,
    now: f64,
}

const RIPE: f64 = 0.0205;

impl Rotten {
    fn look(&self, place: Place) {
        assert!(self.place != place || self.now < RIPE, "out of luck");
    }
}

impl State for Rotten {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.look(Place::Visit);
        self.inner.visit(visitor);
    }
}

impl Subsystem for Rotten {
    fn ports(&self) -> &Ports {
        self.inner.ports()
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.now = to;
        self.look(Place::Advance);
        self.inner.advance(from, to, inputs)
    }
    fn outputs(&mut self, t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        self.look(Place::Outputs);
        self.inner.outputs(t, u, y)
    }
    fn energy(&mut self, t: f64, u: &[f64]) -> Option<Energy> {
        self.look(Place::Energy);
        self.inner.energy(t, u)
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

struct RottenHold(Hold, Place);

impl State for RottenHold {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.0.visit(visitor);
    }
}

impl Predictor for RottenHold {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        assert!(self.1 != Place::Receive || t < RIPE, "out of luck");
        self.0.receive(port, t, values);
    }
    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        assert!(self.1 != Place::Predict || t < RIPE, "out of luck");
        self.0.predict(t, now, inputs);
    }
    fn reset(&mut self) {
        self.0.reset();
    }
}

struct RottenSource(Place);

impl Source for RottenSource {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        assert!(self.0 != Place::Source || t < RIPE, "out of luck");
        out.fill(0.0);
    }
}

/// Panics if it is asked for and this is the place.
struct RottenRecorder(Place, Place);

impl Recorder for RottenRecorder {
    fn record(&mut self, t: f64, _row: &[f64]) -> std::io::Result<()> {
        assert!(self.0 != self.1 || t < RIPE, "out of luck");
        Ok(())
    }
}

/// Four parts in two pairs, the last one rotten and with a driven input besides.
fn simulation(place: Place, implicit: bool) -> Simulation {
    let mut builder = Builder::new();
    let mut ids = Vec::new();
    for index in 0..4 {
        let owns_spring = index % 2 == 0;
        let part = Oscillator::new(1.0, 100.0, 1.0, owns_spring.then_some(70.0));
        let hold = Hold::new(1, part.ports());
        let name = format!("p{index}");
        ids.push(if index == 3 {
            let part = Rotten {
                inner: part,
                place,
                now: 0.0,
            };
            builder.add(&name, Box::new(part), Box::new(RottenHold(hold, place)))
        } else {
            builder.add(&name, Box::new(part), Box::new(hold))
        });
    }
    for pair in ids.chunks(2) {
        builder.connect((pair[1], OutputPort(0)), (pair[0], InputPort(0)));
        if pair[1] != ids[3] || place != Place::Source {
            builder.connect((pair[0], OutputPort(1)), (pair[1], InputPort(0)));
        }
    }
    if place == Place::Source {
        builder.drive(ids[3], InputPort(0), Box::new(RottenSource(place)));
    }
    let mut schedule = Schedule::jacobi(1e-3, ids).refreshed();
    if implicit {
        schedule.refresh = false;
        schedule = schedule.implicit(ImplicitSettings::default());
    }
    builder.build(schedule).unwrap()
}

/// Runs on a thread of its own, so that a run that hangs fails instead of hanging the test.
fn fault(place: Place, implicit: bool, threads: usize) -> Fault {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut recorder = RottenRecorder(place, Place::Record);
        let mut onlooker = RottenRecorder(place, Place::Tap);
        let mut run = Run::new(100, &mut recorder);
        run.tap = Some(Tap {
            every: 3,
            columns: None,
            recorder: &mut onlooker,
        });
        run.threads = threads;
        run.energy_bound = Some(100.0);
        let _ = send.send(simulation(place, implicit).run(run).end);
    });
    let end = receive.recv_timeout(Duration::from_secs(60));
    end.unwrap_or_else(|_| panic!("{place:?} with {threads} threads hangs"))
        .unwrap_err()
}

#[test]
fn a_panic_anywhere_is_a_fault_with_any_number_of_threads() {
    std::panic::set_hook(Box::new(|_| {}));
    let places = [
        Place::Advance,
        Place::Outputs,
        Place::Energy,
        Place::Predict,
        Place::Receive,
        Place::Source,
        Place::Record,
        Place::Tap,
        Place::Visit,
    ];
    let mut wrong = Vec::new();
    for place in places {
        for threads in [1, 2, 4] {
            let found = fault(place, place == Place::Visit, threads).to_string();
            let blamed = match place {
                Place::Record | Place::Tap => "recording or reporting panicked at t = 0.0",
                _ => "`p3` panicked at t = 0.0",
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
    fn energy(&mut self, t: f64, _: &[f64]) -> Option<Energy> {
        Some((self.energy)(t))
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
fn the_energy_bound_stops_what_is_no_number() {
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
