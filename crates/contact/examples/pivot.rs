//! Time of a solution of mixed problems by pivoting, in CPU time of this thread.

use oldham_contact::bench::Mixed;
use oldham_contact::{FrictionBounds, Pivoting};
use rustix::time::{ClockId, clock_gettime};

fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn main() {
    for (name, bounds) in [
        ("last", FrictionBounds::Last),
        ("iterated", Pivoting::new().bounds),
    ] {
        for mut mixed in [Mixed::manipulator(), Mixed::chain()] {
            let mut solver = Pivoting::with_bounds(bounds);
            let held = bounds == FrictionBounds::Last;
            let f = mixed.measure(&mut solver, 500, held, &cpu);
            println!(
                "pivot-{} {name:>8}  mean {:.1} us  residual {:.1e} m/s  changes {:.2}  tight rows {:.0}  \
                 fallbacks {}  unsolved {}",
                mixed.rows(),
                f.mean,
                f.residual,
                f.changes,
                f.tight,
                f.fallbacks,
                f.unsolved
            );
        }
    }
}
