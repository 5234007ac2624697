//! Outputs at the initial time that depend on each other in a loop.

use oldham_cosim::{
    Builder, Discard, Hold, InputPort, Inputs, OutputPort, Ports, Quantity, Reached, Run, Schedule,
    Simulation, StepError, Subsystem, Unit,
};

/// Sends an offset and a gain times what it receives, at once.
struct Amplifier {
    ports: Ports,
    offset: f64,
    gain: f64,
}

impl Amplifier {
    fn new(offset: f64, gain: f64) -> Self {
        let mut ports = Ports::new();
        ports.add_input("in", Quantity::Scalar(Unit::NEWTON));
        ports.add_output("out", Quantity::Scalar(Unit::NEWTON));
        Self {
            ports,
            offset,
            gain,
        }
    }
}

impl Subsystem for Amplifier {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = self.offset + self.gain * u[0];
        Ok(())
    }
}

/// y = 1 + gain × y, round a loop of two parts.
fn loop_of(gain: f64) -> (Simulation, f64) {
    let mut builder = Builder::new();
    let [a, b] = [(1.0, gain), (0.0, 1.0)].map(|(offset, gain)| {
        let part = Amplifier::new(offset, gain);
        let hold = Box::new(Hold::new(0, part.ports()));
        builder.add(&format!("part {offset}"), Box::new(part), hold)
    });
    builder.connect((a, OutputPort(0)), (b, InputPort(0)));
    builder.connect((b, OutputPort(0)), (a, InputPort(0)));
    let simulation = builder.build(Schedule::jacobi(1.0, [a, b])).unwrap();
    let found = simulation.outputs(a)[0];
    (simulation, found)
}

/// A reaction that answers an acceleration with more than the inertia that it acts on turns round and amplifies; others amplify without turning, or so much that repeating
/// them overflows.
#[test]
fn loops_that_amplify_are_solved() {
    for gain in [-0.5, -1.0, -2.8, -4.0, 2.0, -1e3, -1e8] {
        let (mut simulation, found) = loop_of(gain);
        let expected = 1.0 / (1.0 - gain);
        let error = (found - expected).abs() / expected.abs();
        assert!(error < 1e-7, "{gain}: {found} {expected}");
        assert!(!is_told(&mut simulation), "{gain}");
    }
}

#[test]
fn a_loop_without_a_solution_is_told() {
    let (mut simulation, _) = loop_of(1.0);
    assert!(is_told(&mut simulation));
}

/// Whether the summary of a run says that a loop has not settled.
fn is_told(simulation: &mut Simulation) -> bool {
    let summary = simulation.run(Run::new(1, &mut Discard)).summary;
    let mut notes = summary.notes.iter();
    notes.any(|note| note.contains("does not converge"))
}
