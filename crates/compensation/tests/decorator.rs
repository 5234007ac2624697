//! What stands around a subsystem forgets nothing of it.

#[path = "../../cosim/tests/support/telltale.rs"]
mod telltale;

use oldham_compensation::{Compensated, Compensation, CompensatorRow, Signal};
use oldham_cosim::{Builder, Decorator, Hold, Ports, Quantity, Schedule, Subsystem, Unit};
use telltale::{Asked, Telltale, ask, methods};

/// With an amended output, so that it sends more than the inner subsystem.
fn law() -> Compensation {
    Compensation {
        amended: vec![CompensatorRow::new(0, vec![(Signal::Own(0), 0.1)])],
        ..Compensation::default()
    }
}

/// Ports are its own; it always corrects inputs; amendments need all outputs; steps that were compensated are not
/// taken back.
const OWN: [&str; 10] = [
    "Subsystem::ports",
    "Subsystem::input_correction",
    "Subsystem::some_outputs",
    "Subsystem::step_correction",
    "StepCorrection::expect_correction",
    "StepCorrection::correct",
    "Linearisable::sequence_model",
    "InterfaceResponse::momentum_formula",
    "Subsystem::remote",
    "Remote::begin",
];

#[test]
fn a_compensated_subsystem_forgets_nothing() {
    let mut ports = Ports::new();
    ports.add_input("force", Quantity::Scalar(Unit::NEWTON));
    ports.add_output("x", Quantity::Scalar(Unit::METRE));
    let (inner, asked): (Telltale, Asked) = Telltale::new(ports);
    let mut builder = Builder::new();
    let hold = Box::new(Hold::new(0, inner.ports()));
    let id = Compensated::add_to(&mut builder, "part", Box::new(inner), hold, law());
    let mut simulation = builder.build(Schedule::jacobi(0.1, [id])).unwrap();
    let part = simulation.known_mut::<Compensated>(id).unwrap();
    let mut wrong = Vec::new();
    for method in methods() {
        asked.lock().unwrap().clear();
        ask(part, &method);
        let asked = asked.lock().unwrap();
        // It looks at the ports of the inner subsystem whenever it likes.
        let goes_through = asked.contains(&*method) && method != "Subsystem::ports";
        if goes_through == OWN.contains(&&*method) {
            wrong.push(method);
        }
    }
    assert!(
        wrong.is_empty(),
        "lost, or handed through though it is said not to be: {wrong:#?}"
    );
    assert_eq!(Decorator::pattern(part), telltale::PATTERN);
}
