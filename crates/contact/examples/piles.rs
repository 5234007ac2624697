//! Time per step of piles, in CPU time of this thread.
//!
//! `cargo run --release -p oldham-contact --example piles -- [box|sphere] [count]`

use oldham_contact::bench::{PileFigures, Solid, pile, settled};
use rustix::time::{ClockId, clock_gettime};

fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn show(name: &str, f: &PileFigures) {
    println!(
        "{name:>14}  {:.1} us a step, {:.0} us longest; residual {:.1e} m/s, {} of {} above; {:.4} mm deep; \
         {:.0} contacts pressed, {:.1} sweeps, {:.2} factorisations",
        f.mean,
        f.longest,
        f.residual,
        f.unmet,
        f.steps,
        f.penetration * 1e3,
        f.pressed,
        f.sweeps,
        f.factorisations
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let solid = match arguments.first().map(String::as_str) {
        Some("sphere") => Solid::Sphere,
        _ => Solid::Box,
    };
    let count = arguments
        .get(1)
        .map_or(100, |n| n.parse().expect("a number of solids"));
    let mut landing = pile(solid, count).expect("the pile starts");
    show("landing", &landing.land(&cpu).expect("the pile lands"));
    for (name, sleep) in [("at rest", false), ("asleep", true)] {
        let mut resting = settled(solid, count, sleep).expect("the pile settles");
        show(name, &resting.stay(&cpu).expect("the pile rests"));
    }
}
