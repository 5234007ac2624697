//! Time per step of the shaken can and of beds of grains, in CPU time of this thread.
//!
//! `cargo run --release -p oldham-contact --example shaken -- [can|cylinder|coulomb|beds] [starts]`

use oldham_contact::bench::{
    CAN_TOLERANCE, Figures, bed, mean_of, mean_of_starts, measure, shaken_can_by,
};
use oldham_contact::{Coulomb, Wall};
use rustix::time::{ClockId, clock_gettime};

fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn show(name: &str, f: &Figures) {
    println!(
        "{name:>14}  mean {:.4} ms  p99 {:.3} ms  residual {:.1e} m/s  penetration {:.4} um  \
         work {:.3} mJ  sweeps {:.1}  contacts {:.0}  pressed {:.0}  {:.0} B a grain",
        f.mean,
        f.p99,
        f.residual,
        f.penetration * 1e6,
        f.work * 1e3,
        f.sweeps,
        f.contacts,
        f.pressed,
        f.bytes_per_grain
    );
}

fn can(name: &str, wall: Wall, starts: u64) {
    let mean = mean_of_starts(wall, starts, 3000, &cpu).expect("the scene runs");
    show(name, &mean);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let what = arguments.first().map_or("can", String::as_str);
    let starts = arguments
        .get(1)
        .map_or(1, |n| n.parse().expect("a number of starts"));
    match what {
        "can" => can("can", Wall::Facets(24), starts),
        "cylinder" => can("cylinder", Wall::Round, starts),
        "coulomb" => {
            let solver = || Coulomb::new(CAN_TOLERANCE, 20_000);
            let can = |start| shaken_can_by(solver(), Wall::Facets(24), start);
            let mean = mean_of(can, starts, 3000, &cpu).expect("the scene runs");
            show("coulomb", &mean);
        }
        _ => {
            let mut times = Vec::new();
            for (grains, steps) in [(100, 3000), (1000, 1500), (10_000, 700)] {
                let mut scene = bed(grains, 1).expect("the scene starts");
                let f = measure(&mut scene, steps, &cpu).expect("the scene runs");
                show(&format!("bed {grains}"), &f);
                times.push(f.mean);
            }
            println!("exponent {:.3}", (times[2] / times[0]).log10() / 2.0);
        }
    }
}
