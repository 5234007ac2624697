//! A macro step allocates nothing, neither in fast subsystems with one model nor in the mechanism that shows it.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use oldham_cosim::{
    Builder, Hold, InputPort, OutputPort, Ports, Quantity, Reached, Schedule, StepError, Subsystem,
    Unit,
};
use oldham_cosim::{EffectiveInterface, Inputs, InterfaceResponse, State, Visitor};
use oldham_interface_model::{Coordinate, FastSubsystem, Fed, Shown};

/// A mass that is pushed at one port and moved at the other, as far as ports tell.
struct Slow(Ports);

impl Slow {
    fn new() -> Self {
        let mut ports = Ports::new();
        ports.add_input("push", Quantity::Scalar(Unit::NEWTON));
        ports.add_input("motion", Quantity::Translation);
        ports.add_output("push.motion", Quantity::Translation);
        ports.add_output("motion.force", Quantity::Scalar(Unit::NEWTON));
        Self(ports)
    }
}

impl Subsystem for Slow {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, t: f64, inputs: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y.copy_from_slice(&[t, 1.0, inputs[0], -inputs[3]]);
        Ok(())
    }
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        Some(self)
    }
}

impl InterfaceResponse for Slow {
    fn interface(&mut self, _: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        found.answers.copy_from_slice(&[inputs[0], -inputs[3]]);
        found.mobility.copy_from_slice(&[1.0, 0.3, 0.3, -1.0]);
        true
    }
}

/// Pushes with a spring, or moves a mass.
struct Quick {
    ports: Ports,
    moves: bool,
}

impl Quick {
    fn new(moves: bool) -> Self {
        let mut ports = Ports::new();
        let newton = Quantity::Scalar(Unit::NEWTON);
        let (input, output) = match moves {
            true => (newton, Quantity::Translation),
            false => (Quantity::Translation, newton),
        };
        ports.add_input("in", input);
        ports.add_output("out", output);
        Self { ports, moves }
    }
}

impl Subsystem for Quick {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, t: f64, inputs: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        match self.moves {
            true => y.copy_from_slice(&[t, 1.0, inputs[0] - 2.0]),
            false => y[0] = -10.0 * inputs[0],
        }
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Quick {
    fn visit(&mut self, _: &mut dyn Visitor) {}
}

fn simulation() -> oldham_cosim::Simulation {
    let slow = Shown::new(
        Box::new(Slow::new()),
        "interface",
        &[InputPort(0), InputPort(1)],
    );
    let coordinates = [
        Coordinate::Pushed {
            position: InputPort(0),
            rate: None,
            force: OutputPort(0),
        },
        Coordinate::Moved {
            motion: OutputPort(0),
            force: InputPort(0),
        },
    ];
    let all = coordinates.into_iter().enumerate();
    let all = all.map(|(index, coordinate)| FastSubsystem {
        name: format!("fast{index}"),
        subsystem: Box::new(Quick::new(index == 1)),
        coordinates: vec![coordinate],
        steps: 4 + index,
    });
    let fed = Fed::gathered(all.collect());
    let mut builder = Builder::new();
    let hold = |part: &dyn Subsystem| Box::new(Hold::new(0, part.ports()));
    let (first, second) = (hold(&slow), hold(&fed));
    let slow = builder.add("slow", Box::new(slow), first);
    let fed = builder.add("fast", Box::new(fed), second);
    for port in 0..2 {
        builder.connect((slow, OutputPort(port)), (fed, InputPort(port)));
        builder.connect((fed, OutputPort(port)), (slow, InputPort(port)));
    }
    builder.connect((slow, OutputPort(2)), (fed, InputPort(2)));
    builder.build(Schedule::jacobi(0.01, [fed, slow])).unwrap()
}

#[test]
fn a_macro_step_allocates_nothing() {
    allocations::settle();
    let mut simulation = simulation();
    let mut allocations = |steps: u64| {
        let region = allocations::region();
        simulation.steps(steps).unwrap();
        region.change().allocations
    };
    allocations(5);
    // What starts and ends a stretch of steps may allocate, but no step.
    assert_eq!(allocations(10), allocations(500));
}
