//! What stands around a subsystem forgets nothing of it.

#[path = "../../cosim/tests/support/telltale.rs"]
mod telltale;

use oldham_cosim::{Hold, InputPort, Inputs, OutputPort, Ports, Quantity, Subsystem, Unit};
use oldham_interface_model::{Coordinate, FastSubsystem, Fed, Shown};
use telltale::{Asked, PATTERN, Telltale, check_through};

fn mechanism() -> Ports {
    let mut ports = Ports::new();
    ports.add_input("force", Quantity::Scalar(Unit::NEWTON));
    ports.add_output("x", Quantity::Scalar(Unit::METRE));
    ports
}

fn actuator() -> Ports {
    let mut ports = Ports::new();
    ports.add_input("x", Quantity::Scalar(Unit::METRE));
    ports.add_output("force", Quantity::Scalar(Unit::NEWTON));
    ports
}

const PUSHED: Coordinate = Coordinate::Pushed {
    position: InputPort(0),
    rate: None,
    force: OutputPort(0),
};

fn shown() -> (Shown, Asked) {
    let (inner, asked) = Telltale::new(mechanism());
    let shown = Shown::new(Box::new(inner), "interface", &[InputPort(0)]);
    (shown, asked)
}

fn fed(steps: usize) -> (Fed, Asked) {
    let (inner, asked) = Telltale::new(actuator());
    (Fed::new(Box::new(inner), &[PUSHED], steps), asked)
}

#[test]
fn a_mechanism_that_is_shown_forgets_nothing() {
    let own = ["Subsystem::ports", "Subsystem::remote", "Remote::begin"];
    check_through(shown, &own);
}

/// Ports are a copy; all outputs are found at once; a step with a model is not corrected and answers as no mechanism;
/// its own inputs are what the loop sees; the loop is not made anew.
#[test]
fn a_fast_subsystem_with_a_model_forgets_nothing() {
    let own = [
        "Subsystem::ports",
        "Subsystem::some_outputs",
        "Subsystem::step_correction",
        "Subsystem::interface_response",
        "StepCorrection::expect_correction",
        "StepCorrection::correct",
        "InputCorrection::begin_step",
        "Linearisable::sequence_model",
        "InterfaceResponse::interface",
        "InterfaceResponse::momentum_formula",
        "Subsystem::remote",
        "Remote::begin",
        "Subsystem::replay",
        "Replay::by_replay",
    ];
    check_through(|| fed(1), &own);
}

/// A pattern of six advances is one macro step of six or twelve, three of two or four, and of several the least
/// common multiple.
#[test]
fn patterns_are_counted_in_steps_of_all() {
    let cases = [
        (1, PATTERN),
        (2, 3),
        (3, 2),
        (4, 3),
        (5, PATTERN),
        (6, 1),
        (12, 1),
    ];
    for (steps, expected) in cases {
        assert_eq!(fed(steps).0.pattern(), expected, "{steps} steps");
    }
    let one = |steps: usize| FastSubsystem {
        name: steps.to_string(),
        subsystem: Box::new(Telltale::new(actuator()).0),
        coordinates: vec![PUSHED],
        steps,
    };
    assert_eq!(Fed::gathered(vec![one(1), one(4)]).pattern(), 3);
}

/// An event within a step of its own is one of the whole step.
#[test]
fn an_event_is_told() {
    for steps in [1, 3] {
        let (mut fed, _) = fed(steps);
        let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
        assert!(fed.advance(0.0, 0.1, &mut inputs).unwrap().event);
    }
}
