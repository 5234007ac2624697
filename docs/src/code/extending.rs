// The code of the page "Extending Oldham". It is a test: what the page shows compiles and runs.

// ANCHOR: subsystem
use oldham_cosim::{Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit, Visitor};

/// A position servo: it follows a commanded position with a lag, T x' = u - x.
struct Servo {
    ports: Ports,
    lag: f64,
    position: f64,
    command: [f64; 1],
}

impl Servo {
    fn new(lag: f64) -> Self {
        let mut ports = Ports::new();
        ports.add_input("command", Quantity::Scalar(Unit::METRE));
        ports.add_output("position", Quantity::Scalar(Unit::METRE));
        Self {
            ports,
            lag,
            position: 0.0,
            command: [0.0],
        }
    }
}

impl Subsystem for Servo {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        inputs.at(0.5 * (from + to), &mut self.command);
        let [target] = self.command;
        self.position = target + (self.position - target) * (-(to - from) / self.lag).exp();
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, _inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = self.position;
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Servo {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.position));
    }
}
// ANCHOR_END: subsystem

// ANCHOR: predictor
use oldham_cosim::{InputPort, Predictor};

/// Continues one received motion along a line with its own velocity and acceleration.
#[derive(Default)]
struct Taylor {
    samples: u64,
    time: f64,
    motion: [f64; 3],
}

impl Predictor for Taylor {
    fn receive(&mut self, _port: InputPort, t: f64, values: &[f64]) {
        self.samples = 1;
        self.time = t;
        self.motion.copy_from_slice(values);
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        if self.samples == 0 {
            return;
        }
        let [x, v, a] = self.motion;
        let ahead = t - self.time;
        inputs.copy_from_slice(&[x + ahead * (v + 0.5 * ahead * a), v + ahead * a, a]);
    }

    fn reset(&mut self) {}
}

impl State for Taylor {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.samples);
        visitor.fixed(std::slice::from_mut(&mut self.time));
        visitor.vector(&mut self.motion);
    }
}
// ANCHOR_END: predictor

// ANCHOR: recorder
use oldham_cosim::Recorder;

/// Keeps the largest magnitude of every column.
#[derive(Default)]
struct Peaks(Vec<f64>);

impl Recorder for Peaks {
    fn record(&mut self, _t: f64, row: &[f64]) -> std::io::Result<()> {
        self.0.resize(row.len(), 0.0);
        for (peak, value) in self.0.iter_mut().zip(row) {
            *peak = peak.max(value.abs());
        }
        Ok(())
    }
}
// ANCHOR_END: recorder

// ANCHOR: run
use oldham_cosim::{Builder, End, Hold, OutputPort, Run, Schedule, Source};

struct UnitStep;

impl Source for UnitStep {
    fn value(&mut self, _t: f64, out: &mut [f64]) {
        out[0] = 1.0;
    }
}

/// Two servos in a row answer a unit step with 1 - (1 + t/T) exp(-t/T).
fn error_at_one_second(step: f64) -> f64 {
    let lag = 0.5;
    let mut builder = Builder::new();
    let [first, second] = ["first", "second"].map(|name| {
        let servo = Servo::new(lag);
        let hold = Hold::new(1, servo.ports());
        builder.add(name, Box::new(servo), Box::new(hold))
    });
    builder.drive(first, InputPort(0), Box::new(UnitStep));
    builder.connect((first, OutputPort(0)), (second, InputPort(0)));
    let schedule = Schedule::jacobi(step, [first, second]);
    let mut simulation = builder.build(schedule).expect("the model is sound");

    let mut peaks = Peaks::default();
    let steps = (1.0 / step).round() as u64;
    let outcome = simulation.run(Run::new(steps, &mut peaks));
    assert_eq!(outcome.end, Ok(End::Finished));

    let exact = 1.0 - (1.0 + 1.0 / lag) * (-1.0 / lag).exp();
    (peaks.0[1] - exact).abs()
}

#[test]
fn two_servos_converge_to_the_closed_form_with_second_order() {
    let ratio = error_at_one_second(0.01) / error_at_one_second(0.005);
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
}
// ANCHOR_END: run

#[test]
fn a_taylor_predictor_follows_a_parabola() {
    let mut taylor = Taylor::default();
    let mut motion = [7.0; 3];
    taylor.predict(1.0, None, &mut motion);
    assert_eq!(motion, [7.0; 3], "nothing received: untouched");
    taylor.receive(InputPort(0), 1.0, &[1.0, 2.0, 4.0]);
    taylor.predict(1.5, None, &mut motion);
    assert_eq!(motion, [2.5, 4.0, 4.0]);
}
