//! A step allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;
// What allocates is not used here.
#[allow(dead_code)]
mod support;

use oldham_control::{Controller, Pid};
use oldham_cosim::{Subsystem, Unit};
use support::{Driven, parse};

#[test]
fn advancing_and_reading_outputs_allocates_nothing() {
    allocations::settle();
    let with = |mut controller: Controller, limits: Option<[f64; 2]>| {
        controller.input("u", Unit::ONE);
        let pid = Pid {
            kp: 1.0,
            ki: 2.0,
            kd: 0.1,
            filter: 50.0,
            limits,
            tracking: 1.0,
            initial: 0.0,
        };
        controller.pid("a", parse("u", &["u"]), &pid).unwrap();
        if limits.is_some() {
            let late = parse("a", &["a"]);
            controller.transport_delay("late", late, 0.2, 0.0).unwrap();
        }
        controller.output("a", Unit::ONE, parse("a", &["a"]));
        Driven::new(&controller, 0.1, |t| (3.0 * t).sin())
    };
    let controllers = [
        with(Controller::default(), None),
        with(Controller::default(), Some([-0.5, 0.5])),
        with(Controller::sampled(0.2), Some([-0.5, 0.5])),
    ];
    for mut driven in controllers {
        let mut outputs = [0.0];
        let region = allocations::region();
        for k in 0..20 {
            let t = 0.1 * f64::from(k);
            driven
                .control
                .advance(t, t + 0.1, &mut driven.inputs)
                .unwrap();
            driven
                .control
                .outputs(t + 0.1, &[0.3], &mut outputs)
                .unwrap();
        }
        assert_eq!(region.change().allocations, 0);
    }
}
