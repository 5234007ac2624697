//! Hysteresis after Bouc and Wen: a force that depends on the way by which it was reached, but not
//! on how fast.
//!
//! F = α k d + (1 - α) k z with dz/dd = 1 - |z/y|ⁿ (β + γ sgn(z dd)) and β + γ = 1, so that |z| stays
//! below y. Over a step the elongation grows steadily, and z follows by Runge and Kutta.
//!
//! # References
//! Wen, "Method for random vibration of hysteretic systems", J. Eng. Mech. Div. 102 (1976) 249–263.

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hysteresis {
    /// Stiffness k at small elongations.
    pub stiffness: f64,
    /// Ratio α of the stiffness at large elongations to that.
    pub ratio: f64,
    /// Elongation y at which it yields.
    pub yield_at: f64,
    /// Sharpness n of the transition, at least one.
    pub exponent: f64,
    /// Share β of the shape, between zero and one: at one unloading is as soft as loading.
    pub softness: f64,
}

/// Steps in which the elongation grows.
const STEPS: usize = 16;

impl Hysteresis {
    /// dz/dd while the elongation grows in this direction.
    fn slope(&self, z: f64, direction: f64) -> f64 {
        let side = if z * direction < 0.0 { -1.0 } else { 1.0 };
        let shape = self.softness + (1.0 - self.softness) * side;
        1.0 - (z / self.yield_at).abs().powf(self.exponent) * shape
    }

    /// The internal elongation after a growth, and its derivative by that.
    pub(super) fn advance(&self, z: f64, growth: f64) -> (f64, f64) {
        let direction = growth.signum();
        let h = growth / STEPS as f64;
        let mut z = z;
        if growth != 0.0 {
            for _ in 0..STEPS {
                let k1 = self.slope(z, direction);
                let k2 = self.slope(z + 0.5 * h * k1, direction);
                let k3 = self.slope(z + 0.5 * h * k2, direction);
                let k4 = self.slope(z + h * k3, direction);
                z += h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0;
            }
        }
        (z, self.slope(z, direction))
    }

    /// Derivatives of dz/dt by the elongation's rate, and by z at that rate; nothing where they depend
    /// on the direction and there is none.
    pub(super) fn rate_slopes(&self, z: f64, rate: f64) -> Option<[f64; 2]> {
        if rate == 0.0 && z != 0.0 && self.softness != 1.0 {
            return None;
        }
        let slope = self.slope(z, rate);
        let ratio = (z / self.yield_at).abs();
        let by_z = match z == 0.0 {
            true => 0.0,
            false => -self.exponent * (1.0 - slope) / ratio * z.signum() / self.yield_at,
        };
        Some([slope, by_z * rate])
    }

    /// The derivative of the tension by the internal elongation.
    pub(super) fn by_internal(&self) -> f64 {
        (1.0 - self.ratio) * self.stiffness
    }

    /// Tension at an elongation, and its derivative.
    pub(super) fn tension(&self, elongation: f64, (z, slope): (f64, f64)) -> (f64, f64) {
        let (soft, stiff) = (
            self.ratio * self.stiffness,
            (1.0 - self.ratio) * self.stiffness,
        );
        (soft * elongation + stiff * z, soft + stiff * slope)
    }

    /// What could be had back.
    pub(super) fn stored(&self, elongation: f64, z: f64) -> f64 {
        let square = self.ratio * elongation * elongation + (1.0 - self.ratio) * z * z;
        0.5 * self.stiffness * square
    }

    /// Power lost.
    pub(super) fn dissipated(&self, z: f64, rate: f64) -> f64 {
        let slope = self.slope(z, rate);
        (1.0 - self.ratio) * self.stiffness * z * (1.0 - slope) * rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Hysteresis = Hysteresis {
        stiffness: 100.0,
        ratio: 0.1,
        yield_at: 0.02,
        exponent: 1.0,
        softness: 0.5,
    };

    /// With n = 1 the first loading is z = y (1 - exp(-d/y)); unloading with β = γ is straight.
    #[test]
    fn first_loading_is_an_exponential_and_unloading_straight() {
        let mut z = 0.0;
        for _ in 0..50 {
            z = LAW.advance(z, 1e-3).0;
        }
        let expected = 0.02 * (1.0 - (-0.05_f64 / 0.02).exp());
        assert!((z - expected).abs() < 1e-12, "{z} {expected}");
        let (unloaded, slope) = LAW.advance(z, -5e-3);
        assert!((unloaded - (z - 5e-3)).abs() < 1e-15);
        assert_eq!(slope, 1.0);
    }

    #[test]
    fn the_slope_is_the_derivative() {
        let law = Hysteresis {
            exponent: 1.7,
            softness: 0.7,
            ..LAW
        };
        for (z, growth) in [(0.005, 3e-3), (0.015, -2e-3), (-0.01, 4e-3)] {
            let at = |growth: f64| law.advance(z, growth).0;
            let h = 1e-7;
            let expected = (at(growth + h) - at(growth - h)) / (2.0 * h);
            let found = law.advance(z, growth).1;
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}
