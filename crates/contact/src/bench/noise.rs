//! Numbers that look random.

use oldham_space::{V3, Vec3};

/// Numbers from −1 to 1 that look random and are the same everywhere (Knuth's multiplier).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        V3([self.next(), self.next(), self.next()])
    }
}
