//! What runs do: how a small difference of two of them grows.

use oldham_cosim::{Chart, Simulation};

/// Size of the first difference, relative to the probes of every coordinate.
const NUDGE: f64 = 1e-9;

/// Where two runs are that differ by a nudge: the largest difference of all coordinates, step by
/// step, until one of them fails. Nothing in it where the first step fails.
pub fn differences(mut first: impl FnMut() -> Simulation, lead: u64, steps: u64) -> Vec<f64> {
    let mut runs = [first(), first()];
    for run in &mut runs {
        run.sharpen().expect("sharp steps");
        if run.steps(lead).is_err() {
            return Vec::new();
        }
    }
    let chart = Chart::about(&mut runs[1]);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let change: Vec<f64> = (0..chart.dimension())
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            NUDGE * ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        })
        .collect();
    chart.apply(&mut runs[1], &change);
    let mut found = Vec::new();
    let mut apart = vec![0.0; chart.dimension()];
    for _ in 0..steps {
        if runs.iter_mut().any(|run| run.steps(1).is_err()) {
            break;
        }
        let [one, other] = &mut runs;
        Chart::about(one).read(other, &mut apart);
        found.push(apart.iter().fold(0.0, |most, apart| apart.abs().max(most)));
    }
    found
}
