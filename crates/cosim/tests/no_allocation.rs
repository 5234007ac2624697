//! After start-up the step loop allocates nothing.

#[path = "support/allocations.rs"]
mod allocations;
mod support;

use oldham_cosim::{Discard, ImplicitSettings, Run, Schedule, Simulation};
use support::{jacobi_pair, left, pair, right};

/// Allocations of a run that do not come from its start and end.
fn allocations(simulation: &mut Simulation, steps: u64) -> usize {
    let region = allocations::region();
    simulation.run(Run::new(steps, &mut Discard)).end.unwrap();
    region.change().allocations
}

#[test]
fn a_longer_run_allocates_no_more_than_a_short_one() {
    allocations::settle();
    let implicit = || {
        let p = pair(left(), right(), 1);
        let schedule =
            Schedule::jacobi(1e-3, [p.left, p.right]).implicit(ImplicitSettings::default());
        p.builder.build(schedule).unwrap()
    };
    let builds: [&dyn Fn() -> Simulation; 2] = [&implicit, &|| jacobi_pair(1e-3, 2, 3)];
    for build in builds {
        let mut simulation = build();
        allocations(&mut simulation, 10);
        let short = allocations(&mut simulation, 10);
        let long = allocations(&mut simulation, 1000);
        assert_eq!(short, long);
    }
}
