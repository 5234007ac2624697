//! After start-up a step of the car allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;
mod common;

use common::car::car;
use oldham_cosim::{Discard, Run};

#[test]
fn a_step_allocates_nothing() {
    let set = [
        ("v0", "20"),
        ("v_test", "20"),
        ("t_step", "0.05"),
        ("simulation.duration", "3"),
    ];
    let model = car("", &set);
    for cut in [false, true] {
        let allocations = |steps: u64| {
            let mut simulation = match cut {
                true => model.simulation().unwrap(),
                false => model.monolithic(None).unwrap(),
            };
            let region = allocations::region();
            let outcome = simulation.run(Run {
                record_every: u64::MAX,
                ..Run::new(steps, &mut Discard)
            });
            let change = region.change();
            outcome.end.unwrap();
            change.allocations + change.reallocations
        };
        assert_eq!(allocations(200), allocations(2000), "cut: {cut}");
    }
}
