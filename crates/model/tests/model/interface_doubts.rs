//! Interfaces that are wrong beside others that pass much more energy.

use oldham_cosim::{Discard, Run, Summary};

use crate::common::{example, read};

/// A loader arm whose bucket is set on the ground and pressed on it: the closed cylinder of the bucket passes some
/// tens of joules beside a lift that does thousands, and its pressure swings by 5 MPa at this step, by 0.02 MPa
/// at a fifth of it.
const LOADER: &str = r#"
[model]
name = "Loader arm digging"

[parameters]
A1 = 3.0e-3      # rod side
A2 = 5.0e-3      # head side

[simulation]
duration = 5
step = 0.0001

[multibody.arm]
integrator = "impulses"
gravity = [0, 0, -9.81]

nodes.boom = { position = [1.25, 0, 1.05] }
nodes.bucket = { position = [2.9, 0, 0.45] }
bodies.boom = { node = "boom", mass = 400, shape = { box = [2.6, 0.2, 0.3] }, orientation = { axis = [0, 1, 0], angle = "atan(0.9 / 2.5)" } }
bodies.bucket = { node = "bucket", mass = 300, shape = { box = [0.8, 1.2, 0.5] } }
joints.foot = { type = "revolute", between = ["ground", "boom"], position = [0, 0, 1.5], axis = [0, 1, 0] }
joints.wrist = { type = "revolute", between = ["boom", "bucket"], position = [2.5, 0, 0.6], axis = [0, 1, 0] }
actuators.lift = { between = ["ground", "boom"], points = [[0.2, 0, 0.6], [1.4, 0, 0.9]] }
actuators.tilt = { between = ["boom", "bucket"], points = [[1.2, 0, 1.4], [2.7, 0, 0.95]] }
contact = { friction = 0.4, bodies = ["bucket"] }
shapes.floor = { node = "ground", plane = [0, 0, 1] }
sensors.boom = { coordinate = "foot" }
sensors.wrist = { coordinate = "wrist" }
sensors.z = { displacement = "bucket", axis = [0, 0, 1] }
sensors.length = { distance = ["ground", "boom"], points = [[0.2, 0, 0.6], [1.4, 0, 0.9]] }
inputs.lift = { thrust = "lift" }
inputs.tilt = { thrust = "tilt" }

[hydraulics.oil]
fluid = { density = 850, a = 6.53e-10 }
pump = "150 bar"
tank = "1 bar"
micro_step = 1e-4

[hydraulics.oil.actuators.lift]
areas = ["A1", "A2"]
stroke = 0.9
centre = 1.25
friction = 2000
load = "static"
valve = { area = 2e-5, discharge = 0.67, closed_centre = true }

[hydraulics.oil.actuators.tilt]
areas = ["A1", "A2"]
stroke = 0.8
centre = 1.55
friction = 2000
load = "static"
valve = { area = 2e-5, discharge = 0.67, closed_centre = true }

[[connection]]
repeat.c = ["lift", "tilt"]
from = "oil.{c}.force"
to = "arm.{c}"
[[connection]]
repeat = { c = ["lift", "tilt"], q = ["length", "rate"] }
from = "arm.{c}.{q}"
to = "oil.{c}.{q}"

[excitation]
"oil.lift.spool" = "if(t > 0.5 and t < 3, 0.2, if(t > 4 and t < 7, -0.4, 0))"
"oil.tilt.spool" = "0"
"#;

fn run(text: &str) -> Summary {
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let mut simulation = model.simulation().expect("a simulation");
    let outcome = simulation.run(Run {
        energy_bound: model.energy_bound(),
        record_columns: Some(Vec::new()),
        ..Run::new(model.steps(), &mut Discard)
    });
    outcome.end.expect("a finished run");
    outcome.summary
}

#[test]
fn a_weak_interface_that_is_wrong_is_named() {
    let summary = run(LOADER);
    let doubts: Vec<&String> = summary
        .notes
        .iter()
        .filter(|note| note.contains("exchange at"))
        .collect();
    assert_eq!(doubts.len(), 1, "{:?}", summary.notes);
    assert!(doubts[0].contains("oil.tilt.force"), "{doubts:?}");
    assert!(summary.doubtful_share().is_some());
    // The predictor that knows the arm makes it right.
    let knowing = LOADER.replace(
        "micro_step = 1e-4",
        "micro_step = 1e-4\npredictor = \"interface-model\"",
    );
    let summary = run(&knowing);
    assert_eq!(summary.doubtful_share(), None, "{:?}", summary.created);
}

/// What the integrators undo is no reason to doubt, nor is what hardly matters.
#[test]
fn what_integrators_undo_is_not_doubted() {
    let text = example("two-mass-force-displacement");
    let summary = run(&text.replace("[schedule]", "[schedule]\noutput_update = true"));
    assert!(
        summary
            .notes
            .iter()
            .all(|note| !note.contains("exchange at")),
        "{:?}",
        summary.notes
    );
    let summary = run(&example("cut-beam"));
    assert_eq!(summary.doubtful_share(), None, "{:?}", summary.created);
}
