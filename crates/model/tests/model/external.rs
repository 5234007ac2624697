//! Inputs that are set from outside while a run goes on.

use oldham_cosim::{Dial, InMemory, Recorder, Run, Simulation};

use crate::common::{example, read};
use oldham_model::Model;

fn cart() -> Model {
    read(&example("driven-cart")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Pushes while rows are recorded, as a driver would.
struct Driver(Dial, InMemory);

impl Recorder for Driver {
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()> {
        self.0.set(&[40.0 * (9.0 * t).sin()]);
        self.1.record(t, row)
    }
}

fn drive(simulation: &mut Simulation) -> InMemory {
    let mut driver = Driver(simulation.dial("driver.push").unwrap(), InMemory::default());
    simulation.run(Run::new(500, &mut driver)).end.unwrap();
    driver.1
}

#[test]
fn a_run_with_an_external_input_replays_bit_for_bit() {
    let model = cart();
    let mut first = model.simulation().unwrap();
    let rows = drive(&mut first);
    let mut columns = first.columns().iter();
    let place = columns
        .position(|column| column.name == "driver.push")
        .unwrap();
    let pushes = rows.column(place);
    assert_eq!(pushes[0], 1.5);
    assert!(pushes.iter().any(|push| *push < -30.0));
    let mut second = model.simulation().unwrap();
    assert!(second.replay("driver.push", &pushes[1..]));
    assert_eq!(drive(&mut second).rows, rows.rows);
    // Without anybody who pushes it is another run.
    let mut still = InMemory::default();
    let mut alone = model.simulation().unwrap();
    alone.run(Run::new(500, &mut still)).end.unwrap();
    assert_ne!(still.rows, rows.rows);
}

/// Work that comes in from outside is supplied, as that of functions of time is.
#[test]
fn work_of_an_external_input_is_supplied() {
    // RK4 makes no energy of its own, also where forces jump between its steps.
    let text = example("driven-cart").replace("\"lms2\"", "\"rk4\"");
    let mut simulation = read(&text)
        .unwrap_or_else(|problems| panic!("{problems}"))
        .simulation()
        .unwrap();
    let summary = {
        let mut driver = Driver(simulation.dial("driver.push").unwrap(), InMemory::default());
        simulation.run(Run::new(500, &mut driver)).summary
    };
    let supplied = summary.final_energy.unwrap().supplied;
    // The push is held over each step, so the work of the step is exact but for the integrator.
    assert!(supplied > 1.0, "{supplied}");
    assert!(
        summary.imbalance.unwrap().abs() < 2e-3 * supplied,
        "{:?}",
        summary.imbalance
    );
}

#[test]
fn what_an_external_input_lacks_or_has_too_much_is_told() {
    let text = example("driven-cart");
    let with = |input: &str| {
        let line = r#"{ external = "driver.push", initial = 1.5, range = [-20, 20] }"#;
        let outcome = read(&text.replace(line, input));
        outcome
            .err()
            .map_or_else(String::new, |problems| problems.to_string())
    };
    assert!(with(r#"{ external = "p", x = "t" }"#).contains("not a function of time"));
    assert!(with("{ initial = 2.0 }").contains("only an external input has an initial value"));
    assert!(with(r#"{ v = "t" }"#).contains("a motion needs `x`, or `x`, `v` and `a`"));
    assert!(with(r#"{ x = "t" }"#).contains("this input is a single number"));
    assert!(with(r#"{ external = "p", initial = "t" }"#).contains("`t`"));
    assert!(with(r#"{ external = "" }"#).contains("no name under which"));
    assert!(with("{ range = [0, 1] }").contains("only an external input has a range"));
    for range in ["[1, 0]", "[0, 1, 2]", "[2, 3]", "[]"] {
        let said = with(&format!(
            r#"{{ external = "p", initial = 1.5, range = {range} }}"#
        ));
        assert!(said.contains("its lowest and its highest value"), "{said}");
        assert!(!said.contains("only an external input"), "{said}");
    }
    for name in ["time", "energy.total", "cart.cart.v"] {
        let said = with(&format!(r#"{{ external = "{name}" }}"#));
        assert!(said.contains("another column of the results"), "{said}");
    }
    let twice = text.replace(
        "push = { force = \"cart\" }",
        "push = { force = \"cart\" }\npull = { force = \"load\" }",
    ) + "\"cart.pull\" = { external = \"driver.push\" }\n";
    let said = read(&twice).err().map(|problems| problems.to_string());
    assert!(
        said.as_deref()
            .is_some_and(|said| said.contains("another external input already")),
        "{said:?}"
    );
}

#[test]
fn an_external_input_says_how_far_it_is_driven() {
    let model = read(&example("driven-cart")).unwrap();
    let inputs: Vec<_> = model.external_inputs().collect();
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0].name, "driver.push");
    assert_eq!(
        (inputs[0].initial.as_slice(), inputs[0].range),
        (&[1.5][..], [-20.0, 20.0])
    );
    let plain = example("driven-cart").replace(", range = [-20, 20]", "");
    let model = read(&plain).unwrap();
    assert_eq!(model.external_inputs().next().unwrap().range, [0.5, 2.5]);
}
