//! A compressible fluid.

/// Nodes and weights of Gauss's quadrature on [0, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_2, 0.173_927_422_568_726_93),
];

/// Logarithm of the relative density at which the pressure stops rising, beyond everything that a
/// circuit survives: a run that gets there ends with finite numbers.
const DENSEST: f64 = 1.0;

/// A fluid whose density grows with pressure as 1 + a p + b p², which makes its bulk modulus
/// (1 + a p + b p²) / (a + 2 b p).
///
/// With negative b that law turns back at p = -a/(2b); from half of that on the density goes on
/// along its tangent. Below the density at the cavitation pressure there is vapour, at that
/// pressure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// Density at zero pressure in kg/m³.
    pub density: f64,
    /// Compressibility in 1/Pa.
    pub a: f64,
    /// Its change with pressure in 1/Pa².
    pub b: f64,
    /// Absolute pressure in Pa below which the fluid cannot get.
    pub cavitation: f64,
}

impl Fluid {
    /// A fluid that cavitates at zero pressure.
    pub fn new(density: f64, a: f64, b: f64) -> Self {
        Self {
            density,
            a,
            b,
            cavitation: 0.0,
        }
    }

    /// Speed in m/s of a jet per √Pa of the pressure that drives it.
    pub(crate) fn jet(&self) -> f64 {
        (2.0 / self.density).sqrt()
    }

    /// The pressure up to which the law holds.
    pub fn limit(&self) -> f64 {
        if self.b < 0.0 {
            -self.a / (4.0 * self.b)
        } else {
            f64::INFINITY
        }
    }

    /// Relative density less one, and its derivative.
    fn compression(&self, p: f64) -> (f64, f64) {
        let (a, b) = (self.a, self.b);
        let limit = self.limit();
        if p <= limit {
            (p * (a + b * p), a + 2.0 * b * p)
        } else {
            let slope = a + 2.0 * b * limit;
            (limit * (a + b * limit) + slope * (p - limit), slope)
        }
    }

    /// Bulk modulus in Pa.
    pub fn bulk_modulus(&self, p: f64) -> f64 {
        let (compression, slope) = self.compression(p);
        (1.0 + compression) / slope
    }

    /// Logarithm of the relative density.
    pub fn log_density(&self, p: f64) -> f64 {
        self.compression(p).0.ln_1p()
    }

    /// The pressure at a logarithm of the relative density.
    pub fn pressure(&self, log_density: f64) -> f64 {
        let x = log_density.min(DENSEST).exp_m1();
        let limit = self.limit();
        let (at_limit, slope) = self.compression(limit.min(f64::MAX.sqrt()));
        let p = if limit.is_finite() && x > at_limit {
            limit + (x - at_limit) / slope
        } else {
            // The root of b p² + a p = x that is small, without cancellation.
            let discriminant = (self.a * self.a + 4.0 * self.b * x).max(0.0);
            2.0 * x / (self.a + discriminant.sqrt())
        };
        p.max(self.cavitation)
    }

    /// The derivative of the pressure by the logarithm of the density; zero in vapour.
    pub fn stiffness(&self, log_density: f64) -> f64 {
        self.pressure_and_stiffness(log_density).1
    }

    /// Pressure and stiffness at once.
    pub(crate) fn pressure_and_stiffness(&self, log_density: f64) -> (f64, f64) {
        let p = self.pressure(log_density);
        let stiffness = match p > self.cavitation && log_density < DENSEST {
            true => self.bulk_modulus(p),
            false => 0.0,
        };
        (p, stiffness)
    }

    /// Energy that comes with each unit of volume that enters a chamber at this pressure: what the
    /// volume stores and the work of pushing it in.
    pub fn enthalpy(&self, p: f64) -> f64 {
        let inverse = |s: f64| 1.0 / (1.0 + self.compression(s * p).0);
        let integral = GAUSS.iter().map(|&(s, weight)| weight * inverse(s));
        (1.0 + self.compression(p).0) * p * integral.sum::<f64>()
    }

    /// Energy stored in a chamber.
    pub fn stored(&self, log_density: f64, volume: f64) -> f64 {
        let p = self.pressure(log_density);
        // What is left of the volume when part of it is void.
        let filled = volume * (log_density - self.log_density(p)).exp();
        filled * self.enthalpy(p) - volume * p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oil() -> Fluid {
        Fluid::new(850.0, 6.53e-10, -1.19e-18)
    }

    #[test]
    fn pressure_and_density_are_inverse_below_and_above_the_limit() {
        for fluid in [
            oil(),
            Fluid::new(850.0, 6.53e-10, 1e-18),
            Fluid::new(1e3, 5e-10, 0.0),
        ] {
            for p in [0.0, 1e5, 7.6e6, 1e8, 1.5e8, 1e9] {
                let back = fluid.pressure(fluid.log_density(p));
                assert!((back - p).abs() <= 1e-9 * p.max(1.0), "{p} became {back}");
            }
        }
    }

    /// β = ρ dp/dρ, by differences.
    #[test]
    fn the_bulk_modulus_is_the_slope_over_the_logarithm_of_density() {
        let oil = oil();
        for p in [1e5, 5e6, 1e8, 2e8] {
            let d = 1e3;
            let slope = 2.0 * d / (oil.log_density(p + d) - oil.log_density(p - d));
            assert!((slope / oil.bulk_modulus(p) - 1.0).abs() < 1e-6, "{p}");
        }
        // Eq. 34 of Pikuliński 2026.
        let p: f64 = 3e6;
        let printed = (1.0 + 6.53e-10 * p - 1.19e-18 * p * p) / (6.53e-10 - 2.0 * 1.19e-18 * p);
        assert!((oil.bulk_modulus(p) / printed - 1.0).abs() < 1e-15);
    }

    #[test]
    fn vapour_has_the_pressure_of_cavitation() {
        let fluid = Fluid {
            cavitation: 2e3,
            ..oil()
        };
        assert_eq!(fluid.pressure(-5.0), 2e3);
        assert_eq!(fluid.stiffness(-5.0), 0.0);
    }

    /// A closed chamber stores the work of compressing it: dU = -p dV at constant mass.
    #[test]
    fn a_closed_chamber_stores_the_work_done_on_it() {
        let oil = oil();
        let volume = |step: f64| 1e-3 * (1.0 - 2e-2 * step);
        let log_density = |step: f64| oil.log_density(1e5) - (volume(step) / 1e-3).ln();
        let (steps, mut work) = (2000, 0.0);
        for k in 0..steps {
            let [from, mid, to] = [0.0, 0.5, 1.0].map(|s| (f64::from(k) + s) / f64::from(steps));
            work -= oil.pressure(log_density(mid)) * (volume(to) - volume(from));
        }
        let stored = oil.stored(log_density(1.0), volume(1.0)) - oil.stored(log_density(0.0), 1e-3);
        assert!((stored / work - 1.0).abs() < 1e-6, "{stored} {work}");
    }
}
