//! What integration formulas make of changes of something that turns by an angle α in a step about an
//! axis, in axes that turn along.
//!
//! Vectors along the axis are stepped as ever. Across it, a vector that stands in absolute axes is
//! stepped with the delay w e^(∓iα) for the two senses of rotation; rotations, which are increments from
//! the last orientation, have functions of their own. In Cartesian components a function f₀ of
//! the axis and a pair f± of the plane are f₀ eeᵀ + ½(f₊ + f₋)(1 − eeᵀ) + (f₊ − f₋)/(2i) ẽ.

use nalgebra::{Complex, Matrix3, Vector3};
use oldham_cosim::{LEVELS, Operator, TurnedTap, TurningFormula, TurningRate};

use super::operator::{levels, polynomial};

type C = Complex<f64>;

/// A complex matrix of three rows.
pub(super) type Three = Matrix3<C>;

/// Angles below which increments are taken from their series.
const SMALL: f64 = 1e-4;

/// A turn that all of a model makes in every step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady {
    axis: Vector3<f64>,
    angle: f64,
    step: f64,
}

/// What follows from changes of positions and rotations at one delay.
pub(super) struct Turned {
    velocity: Three,
    acceleration: Three,
    spin: Three,
    spin_rate: Three,
}

impl Turned {
    /// Of a node that hardly turns: a rotation ψ changes the angular velocity by ψ' - ω × ψ.
    pub fn slowly(operator: &Operator, w: C, spin: [f64; 3]) -> Self {
        let [_, velocity, acceleration] = levels(operator, w).map(|rate| Three::identity() * rate);
        let turning = Vector3::from(spin).cross_matrix().map(C::from);
        Self {
            velocity,
            acceleration,
            spin: velocity - turning,
            spin_rate: acceleration - turning * velocity,
        }
    }

    /// The matrix that a rate is.
    pub fn of(&self, rate: TurningRate) -> Three {
        match rate {
            TurningRate::Pose => Three::identity(),
            TurningRate::Velocity => self.velocity,
            TurningRate::Acceleration => self.acceleration,
            TurningRate::Spin => self.spin,
            TurningRate::SpinRate => self.spin_rate,
        }
    }
}

impl Steady {
    pub fn new(turn: [f64; 3], step: f64) -> Self {
        let turn = Vector3::from(turn);
        let angle = turn.norm();
        Self {
            axis: turn / angle,
            angle,
            step,
        }
    }

    /// The delays of vectors along the axis, and across it in both senses.
    fn delays(&self, w: C) -> [C; 3] {
        let turned = |angle: f64| w * C::from_polar(1.0, angle);
        [w, turned(-self.angle), turned(self.angle)]
    }

    fn cartesian(&self, [along, plus, minus]: [C; 3]) -> Three {
        let axis = self.axis.map(C::from);
        let outer = axis * axis.transpose();
        let plane = Three::identity() - outer;
        let skew = self.axis.cross_matrix().map(C::from);
        let difference = (plus - minus) / C::new(0.0, 2.0);
        outer * along + plane * ((plus + minus) * 0.5) + skew * difference
    }

    /// A filter of vectors in absolute axes.
    pub fn of_vectors(&self, w: C, filter: impl Fn(C) -> C) -> Three {
        self.cartesian(self.delays(w).map(filter))
    }

    /// A filter of orientations.
    pub fn of_orientations(&self, w: C, taps: &[TurnedTap], sender: &Turned) -> Three {
        let complex = |m: &[[f64; 3]; 3]| Three::from_fn(|i, j| C::from(m[i][j]));
        let mut delay = C::from(1.0);
        let mut all = Three::zeros();
        for tap in taps {
            let [rotation, spin, spin_rate]: &[[[f64; 3]; 3]; LEVELS] = &tap[0];
            let sum = complex(rotation)
                + complex(spin) * sender.spin
                + complex(spin_rate) * sender.spin_rate;
            all += sum * delay;
            delay *= w;
        }
        all
    }

    /// What a formula makes of positions and rotations, in axes that turn along.
    pub fn operators(&self, operator: &Operator, formula: &TurningFormula, w: C) -> Turned {
        let [velocity, acceleration] =
            [1, 2].map(|level| self.of_vectors(w, |delay| levels(operator, delay)[level]));
        self.with_rotations(operator, formula, [velocity, acceleration], [w; 3])
    }

    /// The same in axes that stand still, where nothing but the node itself turns.
    pub fn standing_operators(
        &self,
        operator: &Operator,
        formula: &TurningFormula,
        w: C,
    ) -> Turned {
        let [_, velocity, acceleration] = levels(operator, w).map(|rate| Three::identity() * rate);
        let vectors = [velocity, acceleration];
        self.with_rotations(operator, formula, vectors, self.standing_delays(w))
    }

    /// The delays in axes that turn along that belong to one in axes that stand still, along the axis and across it in
    /// both senses.
    fn standing_delays(&self, w: C) -> [C; 3] {
        let [along, plus, minus] = self.delays(w);
        [along, minus, plus]
    }

    fn with_rotations(
        &self,
        operator: &Operator,
        formula: &TurningFormula,
        [velocity, acceleration]: [Three; 2],
        [w, plus, minus]: [C; 3],
    ) -> Turned {
        let along = levels(operator, w);
        match formula {
            TurningFormula::MultiStep(a, b) => {
                let rate = |w: C, sense: f64| self.multistep_spin(*a, *b, w, sense);
                let spin = self.cartesian([along[1], rate(plus, 1.0), rate(minus, -1.0)]);
                Turned {
                    velocity,
                    acceleration,
                    spin,
                    // Angular velocities are vectors in absolute axes.
                    spin_rate: velocity * spin,
                }
            }
            TurningFormula::Newmark {
                alpha_m,
                alpha_f,
                beta,
                gamma,
            } => {
                let h = self.step;
                let speed = self.angle / h;
                // Angular velocity and acceleration across the axis.
                let rates = |w: C, sense: f64| {
                    let weight = C::from(*gamma) + w * (1.0 - gamma);
                    let below = (C::from(*beta) + w * (0.5 - beta)) * (1.0 - w) + w * weight;
                    let held = (C::from(1.0 - alpha_m) + w * *alpha_m)
                        / (C::from(1.0 - alpha_f) + w * *alpha_f);
                    let (_, turn, increment) = self.increment(sense);
                    let about_node = increment * (turn - w) / (below * h);
                    [
                        about_node * weight - C::new(0.0, sense * speed),
                        about_node * (1.0 - w) * held / h,
                    ]
                };
                let [plus, minus] = [rates(plus, 1.0), rates(minus, -1.0)];
                Turned {
                    velocity,
                    acceleration,
                    spin: self.cartesian([along[1], plus[0], minus[0]]),
                    spin_rate: self.cartesian([along[2], plus[1], minus[1]]),
                }
            }
        }
    }

    /// The angle of a step in one sense, the turn that it is, and what a rotation at its end does to
    /// the rotation vector of the step: a, e^a and a / (e^a − 1).
    fn increment(&self, sense: f64) -> (C, C, C) {
        let a = C::new(0.0, sense * self.angle);
        let turn = a.exp();
        let increment = match self.angle < SMALL {
            true => C::from(1.0) - a * 0.5 + a * a / 12.0,
            false => a / (turn - 1.0),
        };
        (a, turn, increment)
    }

    /// δω over a rotation, across the axis, of a formula for rotation vectors from the last orientation.
    fn multistep_spin(&self, [_, a2]: [f64; 2], b: [f64; 3], w: C, sense: f64) -> C {
        let [b0, b1, b2] = b;
        let (a, e, j) = self.increment(sense);
        let one = C::from(1.0);
        let away = j * (e - w);
        let above = away * (one + w * a2)
            - ((one - j) * away + j * a * w) * b0
            - a * w * b1
            - ((one - e * j) * w * away + e * j * a * w) * b2;
        above / (self.below(b, w, sense) * self.step)
    }

    fn below(&self, [b0, b1, b2]: [f64; 3], w: C, sense: f64) -> C {
        let (_, e, j) = self.increment(sense);
        j * e * b0 + w * b1 + j * w * w * b2
    }

    /// By how much the logarithm of what takes the poles of a node away differs from that of a node at rest, where the
    /// node turns in axes that stand still.
    pub fn log_poles_standing(&self, operator: &Operator, formula: &TurningFormula, w: C) -> C {
        let [_, plus, minus] = self.standing_delays(w);
        match formula {
            TurningFormula::MultiStep(_, b) => {
                let own = self.below(*b, plus, 1.0).ln() + self.below(*b, minus, -1.0).ln();
                let below = &operator.velocity[1];
                own - (polynomial(below, w) / below[0]).ln() * 2.0
            }
            TurningFormula::Newmark { .. } => {
                let below = |delay: C| polynomial(&operator.acceleration[1], delay).ln();
                below(plus) + below(minus) - below(w) * 2.0
            }
        }
    }

    /// The logarithm of what takes the poles away that bodies of one node bring, up to a constant. Rates of
    /// positions, of momenta and of their moments have poles of vectors, angular velocities their own.
    pub fn log_poles(&self, operator: &Operator, formula: &TurningFormula, w: C) -> C {
        let delays = self.delays(w);
        match formula {
            TurningFormula::MultiStep(_, b) => {
                let below = |delay: C| polynomial(&operator.velocity[1], delay).ln();
                let vectors: C = delays.into_iter().map(below).sum();
                let own = [1.0, -1.0].map(|sense| self.below(*b, w, sense).ln());
                vectors * 3.0 + below(w) + own[0] + own[1]
            }
            TurningFormula::Newmark { .. } => {
                let below = |delay: C| polynomial(&operator.acceleration[1], delay).ln();
                let vectors: C = delays.into_iter().map(below).sum();
                vectors + below(w) * 3.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For short steps a change ξ exp(st) in axes that turn has the velocity (s + Ω×) ξ, and a rotation ψ the spin
    /// s ψ.
    #[test]
    fn short_steps_are_the_kinematics_of_turning_axes() {
        let (rho, h) = (0.6_f64, 1e-5);
        let square = (1.0 - rho) * (1.0 - rho);
        let a2 = (3.0 * square + 4.0 * (2.0 * rho - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let b = [delta + 0.5, 0.5 * a2 + 0.5 - 2.0 * delta, 0.5 * a2 + delta];
        let operator = Operator::multistep([1.0 - a2, a2], b, h);
        let speed = Vector3::new(3.0, -7.0, 5.0);
        let steady = Steady::new((speed * h).into(), h);
        let s = C::new(-2.0, 11.0);
        let formula = TurningFormula::MultiStep([1.0 - a2, a2], b);
        let found = steady.operators(&operator, &formula, (-s * h).exp());
        let turning = speed.cross_matrix().map(C::from);
        let velocity = Three::identity() * s + turning;
        assert!(
            (found.velocity - velocity).norm() < 1e-6,
            "{}",
            found.velocity
        );
        assert!((found.acceleration - velocity * velocity).norm() < 1e-4);
        assert!(
            (found.spin - Three::identity() * s).norm() < 1e-6,
            "{}",
            found.spin
        );
    }
}
