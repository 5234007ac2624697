//! The freedom that is left once the poles are assigned, used to calm the latent roots.

use crate::compensate::conditions::Solution;

const TRIALS: usize = 400;

/// Gains along the free directions with a smaller radius, until it is at most `enough`. Returns
/// the best gains, their radius and the number of trials.
///
/// A random walk that keeps what is better and adapts its stride; the same every time.
pub(crate) fn calm(
    solution: &Solution,
    enough: f64,
    radius: impl Fn(&[f64]) -> f64,
) -> (Vec<f64>, f64, usize) {
    let mut best = solution.gains.clone();
    let mut least = radius(&best);
    let mut random = Xorshift(0x9e37_79b9_7f4a_7c15);
    let mut stride = 0.3 * solution.size;
    for trial in 0..TRIALS {
        if least <= enough || solution.free.is_empty() {
            return (best, least, trial);
        }
        let mut gains = best.clone();
        for direction in &solution.free {
            let length = stride * random.normal();
            for (gain, along) in gains.iter_mut().zip(direction) {
                *gain += length * along;
            }
        }
        let found = radius(&gains);
        if found < least {
            (best, least) = (gains, found);
            stride *= 1.5;
        } else {
            stride *= 0.93;
        }
        if stride < 1e-6 * solution.size {
            stride = solution.size;
        }
    }
    (best, least, TRIALS)
}

/// A small generator (xorshift) that gives the same numbers everywhere.
struct Xorshift(u64);

impl Xorshift {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// By the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}
