//! Prints the time per step of the benchmark models.

use oldham_multibody::bench::{Timing, hanging_beam, spatial_chain, time};
use oldham_multibody::{Options, SolveError};

fn main() -> Result<(), SolveError> {
    for elements in [6, 12, 24, 1000] {
        for (kind, damping) in [("damped", 0.05), ("undamped", 0.0)] {
            let steps = if elements == 1000 { 500 } else { 10_000 };
            let model = || hanging_beam(elements, damping).0;
            let timing = time(model, Options::default(), 1e-4, steps, 3)?;
            print(&format!("beam-{elements} {kind}"), &timing);
        }
    }
    for h in [1e-4, 1e-3] {
        let timing = time(|| spatial_chain(10).0, Options::default(), h, 2_000, 3)?;
        print(&format!("chain-10 h = {h}"), &timing);
    }
    Ok(())
}

fn print(name: &str, timing: &Timing) {
    let Timing {
        microseconds,
        counters,
    } = timing;
    let per_step = |count: u64| count as f64 / counters.micro_steps as f64;
    println!(
        "{name:24} {microseconds:8.2} µs a step, {:.3} iterations, {:.4} factorisations",
        per_step(counters.iterations),
        per_step(counters.factorisations),
    );
}
