//! Numbers without pattern that are always the same (SplitMix64).

pub struct Random(pub u64);

impl Random {
    /// Between zero and one.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// Ten to the power of a number between two.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }

    /// A whole number from low up to, but without high.
    pub fn whole(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() * (high - low) as f64) as usize
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.next() < share
    }

    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.next(), self.next());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}
