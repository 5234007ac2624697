//! Compensated steps do not allocate after start-up.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;
#[path = "../../cosim/tests/support/mod.rs"]
mod support;

mod pair;

use oldham_compensation::{Compensation, CompensatorRow, Signal};
use oldham_cosim::{Discard, Run, Schedule, Simulation};
use pair::compensated_pair;
use support::{left, right};

/// Allocations of a run that do not come from its start and end.
fn allocations(simulation: &mut Simulation, steps: u64) -> usize {
    let region = allocations::region();
    simulation.run(Run::new(steps, &mut Discard)).end.unwrap();
    region.change().allocations
}

#[test]
fn a_longer_run_allocates_no_more_than_a_short_one() {
    allocations::settle();
    let law = Compensation {
        sampled: vec![CompensatorRow::new(
            0,
            vec![(Signal::Own(1), -0.1), (Signal::Own(2), -0.01)],
        )],
        running: vec![CompensatorRow::new(0, vec![(Signal::Own(0), -1.0)])],
        ..Compensation::default()
    };
    let amendment = Compensation {
        amended: vec![CompensatorRow::new(3, vec![(Signal::Own(1), 0.1)])],
        ..Compensation::default()
    };
    let pair = compensated_pair((left(), Some(amendment)), (right(), Some(law)), 0);
    let schedule = Schedule::jacobi(1e-3, [pair.left, pair.right]);
    let mut simulation = pair.builder.build(schedule).unwrap();
    allocations(&mut simulation, 10);
    let short = allocations(&mut simulation, 10);
    let long = allocations(&mut simulation, 1000);
    assert_eq!(short, long);
}
