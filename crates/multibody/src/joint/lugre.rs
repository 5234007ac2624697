//! The LuGre model of friction, for slip in one or more directions at once.
//!
//! Bristles of mean deflection z obey z' = v - σ₀ |v| z / g(|v|), and the friction force is
//! N (σ₀ z + σ₁ z' + σ₂ v), with g(v) = μ_C + (μ_S - μ_C) exp(-(v/v_S)²) and the normal force N.
//! Over a step v is taken constant, for which z is known exactly.
//!
//! # References
//! - Canudas de Wit, Olsson, Åström, Lischinsky, "A new model for control of systems with
//!   friction", IEEE Trans. Automatic Control 40 (1995) 419–425.
//! - Velenis, Tsiotras, Canudas de Wit, "Extension of the LuGre dynamic tire friction model to 2D
//!   motion", Proc. 10th IEEE Mediterranean Conf. Control and Automation (2002): bristles that bend
//!   in several directions.

/// Parameters of the LuGre model, for forces relative to the normal force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LuGre {
    /// Coulomb coefficient μ_C.
    pub coulomb: f64,
    /// Static coefficient μ_S.
    pub stiction: f64,
    /// Stribeck velocity v_S.
    pub stribeck: f64,
    /// Bristle stiffness σ₀, per metre.
    pub stiffness: f64,
    /// Bristle damping σ₁, in s/m.
    pub damping: f64,
    /// Viscous friction σ₂, in s/m.
    pub viscous: f64,
}

/// Directions of slip at one contact.
pub(super) const MOST_DIRECTIONS: usize = 3;

/// A value for each direction of slip; those that a contact does not have are zero.
pub(super) type Slips = [f64; MOST_DIRECTIONS];

/// Friction in one direction at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bristles {
    /// Friction force over normal force, against the velocity.
    pub coefficient: f64,
    /// Its derivative by the velocity, for Newton's iteration, in s/m.
    pub slope: f64,
    /// Deflection of the bristles in m, to be remembered.
    pub deflection: f64,
}

/// How bristles move at one moment, linearised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BristleRates<const N: usize> {
    /// Derivatives of the rates of deflection by the velocities.
    pub by_velocity: [[f64; N]; N],
    /// Derivative of each rate by its own deflection, in 1/s.
    pub by_deflection: f64,
    /// Derivative of the coefficient of friction by the deflection, velocities held, in 1/m.
    pub coefficient: f64,
}

/// Friction in all directions at one moment.
pub(super) struct BentBristles {
    /// Friction force by the normal force.
    pub coefficient: Slips,
    /// Its derivative by the velocity.
    pub slope: [Slips; MOST_DIRECTIONS],
    pub deflection: Slips,
}

/// Bristles that forget less than this within a step are followed by the true slope...
const STRAIGHT: f64 = 1.0;
/// ... and so are those that are already bent by this fraction of the most in the direction of the
/// motion: they slide on.
const BENT: f64 = 0.5;
/// Below this the exponential of a step is a polynomial.
const SHORT: f64 = 1e-4;

fn dot(a: &Slips, b: &Slips) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn each(f: impl Fn(usize) -> f64) -> Slips {
    std::array::from_fn(f)
}

impl LuGre {
    /// Friction at the velocity `v`, for bristles that were deflected by `before` when so much time
    /// ago they were last looked at.
    pub fn evaluate(&self, v: f64, before: f64, elapsed: f64) -> Bristles {
        let found = self.evaluate_all(&[v, 0.0, 0.0], &[before, 0.0, 0.0], elapsed);
        Bristles {
            coefficient: found.coefficient[0],
            slope: found.slope[0][0],
            deflection: found.deflection[0],
        }
    }

    /// How the rates of bristles that are deflected by `z` change, at the velocity `v`; nothing where they
    /// depend on the direction of the motion and there is none.
    pub fn rates<const N: usize>(&self, v: &[f64; N], z: &[f64; N]) -> Option<BristleRates<N>> {
        let speed = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if speed == 0.0 && z.iter().any(|z| *z != 0.0) {
            return None;
        }
        let ratio = speed / self.stribeck;
        let level = self.coulomb + (self.stiction - self.coulomb) * (-ratio * ratio).exp();
        let decay = self.stiffness * speed / level;
        let level_slope = -2.0 * (level - self.coulomb) * ratio / self.stribeck;
        let decay_slope = self.stiffness / level * (1.0 - speed * level_slope / level);
        let direction = v.map(|v| if speed == 0.0 { 0.0 } else { v / speed });
        let by_velocity = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let own = if i == j { 1.0 } else { 0.0 };
                own - z[i] * decay_slope * direction[j]
            })
        });
        Some(BristleRates {
            by_velocity,
            by_deflection: -decay,
            coefficient: self.stiffness - self.damping * decay,
        })
    }

    /// The same in all directions.
    pub(super) fn evaluate_all(&self, v: &Slips, before: &Slips, elapsed: f64) -> BentBristles {
        let s0 = self.stiffness;
        let speed = dot(v, v).sqrt();
        let ratio = speed / self.stribeck;
        let level = self.coulomb + (self.stiction - self.coulomb) * (-ratio * ratio).exp();
        let decay = s0 * speed / level;
        let x = decay * elapsed;
        let left = (-x).exp();
        // z = z₀ e^(-x) + v m with m = (1 - e^(-x)) / decay, and how m changes with the decay.
        let (mean, mean_slope) = if x > SHORT {
            let mean = -(-x).exp_m1() / decay;
            (mean, (elapsed * left - mean) / decay)
        } else {
            let h = elapsed;
            (h * (1.0 - 0.5 * x), -h * h * (0.5 - x / 3.0))
        };
        let deflection = each(|i| before[i] * left + v[i] * mean);
        let rate = each(|i| (v[i] - decay * before[i]) * left);
        let coefficient =
            each(|i| s0 * deflection[i] + self.damping * rate[i] + self.viscous * v[i]);
        let direction = each(|i| if speed == 0.0 { 0.0 } else { v[i] / speed });
        let diagonal = |value: f64| -> [Slips; MOST_DIRECTIONS] {
            std::array::from_fn(|i| each(|j| if i == j { value } else { 0.0 }))
        };
        // How far the bristles are bent in the direction of the motion, as a fraction of the most.
        let bent = dot(before, &direction) * s0 / level;
        if x > STRAIGHT && bent < BENT {
            // The iterate has passed a reversal, or rushed away from rest. The force is flat here,
            // and Newton's iteration would jump from one side of standstill to the other for
            // ever; the line to standstill leads back.
            let gained = each(|i| coefficient[i] - s0 * before[i]);
            return BentBristles {
                slope: diagonal(dot(&gained, &direction) / speed),
                coefficient,
                deflection,
            };
        }
        let level_slope = -2.0 * (level - self.coulomb) * ratio / self.stribeck;
        let decay_slope = s0 / level * (1.0 - speed * level_slope / level);
        let by_decay = each(|i| {
            let deflected = v[i] * mean_slope - before[i] * elapsed * left;
            let slowed = -left * before[i] - elapsed * rate[i];
            s0 * deflected + self.damping * slowed
        });
        let mut slope = diagonal(s0 * mean + self.damping * left + self.viscous);
        for (row, by_decay) in slope.iter_mut().zip(by_decay) {
            for (entry, direction) in row.iter_mut().zip(direction) {
                *entry += by_decay * decay_slope * direction;
            }
        }
        BentBristles {
            coefficient,
            slope,
            deflection,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: LuGre = LuGre {
        coulomb: 0.2,
        stiction: 0.35,
        stribeck: 0.05,
        stiffness: 1e3,
        damping: 0.7,
        viscous: 0.3,
    };

    /// At rest, in presliding, while sliding, with the Stribeck effect, and after a jump of the
    /// velocity against the bristles within a short step; in one direction and in three.
    #[test]
    fn slope_is_the_derivative_of_the_force() {
        for v in [1e-4_f64, 3e-3, 0.04, 0.3, 2.0, -0.04, -2.0] {
            for bent in [0.6, 0.9, 1.0] {
                let before = bent * v.signum() * 0.25 / LAW.stiffness;
                for elapsed in [0.0, 1e-5, 1e-3, 0.05] {
                    assert_slope([v, 0.0, 0.0], [before, 0.0, 0.0], elapsed);
                    let turned = [0.6 * v, -0.64 * v, 0.48 * v];
                    assert_slope(turned, [before, -0.9 * before, 0.6 * before], elapsed);
                }
            }
            assert_slope([v, 0.0, 0.0], [-1e-4, 0.0, 0.0], 1e-5);
        }
    }

    fn assert_slope(v: Slips, before: Slips, elapsed: f64) {
        let speed = dot(&v, &v).sqrt();
        let found = LAW.evaluate_all(&v, &before, elapsed);
        for j in 0..3 {
            let step = 1e-6 * speed;
            let force = |times: f64| {
                let mut moved = v;
                moved[j] += times * step;
                LAW.evaluate_all(&moved, &before, elapsed).coefficient
            };
            let (plus, minus) = (force(1.0), force(-1.0));
            for i in 0..3 {
                let expected = (plus[i] - minus[i]) / (2.0 * step);
                let size = expected
                    .abs()
                    .max(0.01 * found.coefficient[i].abs() / speed)
                    .max(1e-3);
                assert!(
                    (found.slope[i][j] - expected).abs() < 1e-5 * size,
                    "v {v:?}, z {before:?}, h {elapsed}: {} instead of {expected}",
                    found.slope[i][j]
                );
            }
        }
    }

    /// Steady sliding in any direction: the force is the level against the motion, and friction of
    /// one direction is that of three with the others at rest.
    #[test]
    fn steady_sliding_has_the_level_of_the_speed() {
        let v = [0.3, -0.4, 1.2];
        let level = LAW.coulomb; // far above the Stribeck velocity
        let mut z = [0.0; 3];
        for _ in 0..50 {
            z = LAW.evaluate_all(&v, &z, 1e-3).deflection;
        }
        let force = LAW.evaluate_all(&v, &z, 1e-3).coefficient;
        for i in 0..3 {
            let expected = level * v[i] / 1.3 + LAW.viscous * v[i];
            assert!((force[i] - expected).abs() < 1e-9, "{force:?}");
        }
    }
}
