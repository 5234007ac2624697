//! Numbers without pattern that are always the same (SplitMix64).

use std::f64::consts::TAU;

use nalgebra::DVector;

/// A sequence for each number.
pub(crate) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn signs(&mut self, length: usize) -> DVector<f64> {
        let sign = |number: u64| if number >> 63 == 0 { 1.0 } else { -1.0 };
        DVector::from_fn(length, |_, _| sign(self.next()))
    }

    /// Numbers of either sign, none the same: sizes from a half to one.
    pub fn amounts(&mut self, length: usize) -> DVector<f64> {
        let size = |number: u64| 0.5 + 0.5 * (number >> 11) as f64 / (1_u64 << 53) as f64;
        self.signs(length).map(|sign| sign * size(self.next()))
    }

    /// A point of the unit sphere, all of them equally likely.
    pub fn direction(&mut self, length: usize) -> DVector<f64> {
        let mut uniform = || (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        // Box and Muller's normal numbers.
        let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (TAU * uniform()).cos();
        DVector::from_fn(length, |_, _| normal()).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coordinate of a random direction has the mean square 1/n, and is below δ/√n with the
    /// probability δ √(2/π).
    #[test]
    fn random_directions_prefer_none() {
        let (n, trials, delta) = (50, 2000, 0.2);
        let mut random = Random(7);
        let mut small = 0;
        let mut squares = 0.0;
        for _ in 0..trials {
            let vector = random.direction(n);
            let share = (vector[3] + vector[17]) / 2_f64.sqrt();
            squares += share * share;
            small += usize::from(share.abs() < delta / (n as f64).sqrt());
        }
        let mean = squares / trials as f64 * n as f64;
        let chance = small as f64 / trials as f64;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
        let expected = delta * std::f64::consts::FRAC_2_PI.sqrt();
        assert!((chance - expected).abs() < 0.03, "{chance}");
    }
}
