//! The generalised-α method, in its Lie group form on rotations. Accelerations take the place of
//! the momenta of the multi-step methods.
//!
//! # References
//! Chung and Hulbert, J. Appl. Mech. 60 (1993) 371–375; on rotations: Arnold and Brüls, Multibody
//! Syst. Dyn. 18 (2007) 185–202, and Brüls, Cardona, Arnold, Mech. Mach. Theory 48 (2012) 121–137.

use super::{Rates, Record, StepHistory};
use crate::jump::NodeJump;
use crate::node::Motion;
use oldham_cosim::{Operator, TurningFormula, product};
use oldham_space::Vec3;

/// Parameters of the generalised-α method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Newmark {
    pub(super) alpha_m: f64,
    pub(super) alpha_f: f64,
    pub(super) beta: f64,
    pub(super) gamma: f64,
}

impl Newmark {
    /// Chung and Hulbert, Eq. 25 and 17, 20.
    pub(super) fn new(rho: f64) -> Self {
        let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
        let alpha_f = rho / (rho + 1.0);
        let spread = 1.0 - alpha_m + alpha_f;
        Self {
            alpha_m,
            alpha_f,
            beta: 0.25 * spread * spread,
            gamma: 0.5 - alpha_m + alpha_f,
        }
    }

    /// How it takes rotations.
    pub fn turning(&self) -> TurningFormula {
        TurningFormula::Newmark {
            alpha_m: self.alpha_m,
            alpha_f: self.alpha_f,
            beta: self.beta,
            gamma: self.gamma,
        }
    }

    /// Weights of a step of size h for one coordinate.
    pub fn in_joints(&self, h: f64) -> NewmarkWeights {
        NewmarkWeights {
            to_rate: h * (1.0 - self.gamma),
            to_value: h * h * (0.5 - self.beta),
            held: self.alpha_m / (1.0 - self.alpha_f),
            given: self.alpha_f / (1.0 - self.alpha_f),
            per_gain: 1.0 / (h * self.gamma),
        }
    }

    /// What steps of size h make of positions: algorithmic accelerations are eliminated from
    /// V (1 - w) = h (γ + (1 - γ) w) A, X (1 - w) = h w V + h² (β + (½ - β) w) A and
    /// (1 - α_m + α_m w) A = (1 - α_f + α_f w) true acceleration.
    pub fn operator(&self, h: f64) -> Operator {
        let difference = [1.0, -1.0];
        let velocity = [self.gamma, 1.0 - self.gamma];
        let position = [self.beta, 0.5 - self.beta];
        let held = product(&position, &difference);
        let below: Vec<f64> = (0..3)
            .map(|i| held[i] + if i == 0 { 0.0 } else { velocity[i - 1] })
            .collect();
        let scaled = |list: Vec<f64>, factor: f64| list.iter().map(|x| x * factor).collect();
        let mass = [1.0 - self.alpha_m, self.alpha_m];
        let force = [1.0 - self.alpha_f, self.alpha_f];
        Operator {
            velocity: [product(&difference, &velocity), scaled(below.clone(), h)],
            acceleration: [
                product(&product(&difference, &difference), &mass),
                scaled(product(&force, &below), h * h),
            ],
        }
    }
}

/// What a step makes of algorithmic and true accelerations at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewmarkWeights {
    /// Of the algorithmic one in the rate and in the value at the end.
    pub to_rate: f64,
    pub to_value: f64,
    /// Of both in the true acceleration at the end.
    pub held: f64,
    pub given: f64,
    /// Algorithmic acceleration at the end by the rate there.
    pub per_gain: f64,
}

/// What the generalised-α method knows besides. The true acceleration at the end is
/// `offset + slope · velocity`, and likewise about node axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NewmarkHistory {
    offsets: [Vec3; 2],
    slope: f64,
    /// The algorithmic acceleration is `(velocity - velocities) · per_gain`.
    pub(super) velocities: [Vec3; 2],
    pub(super) per_gain: f64,
}

/// The step from `now`: the known parts, and the rates with predicted true accelerations.
pub(crate) fn begin(now: &Record, h: f64, k: &Newmark, ahead: [Vec3; 2]) -> (StepHistory, Rates) {
    let m = &now.motion;
    let axes = m.rotation;
    let spin = axes.transpose_mul(m.angular_velocity);
    let true_accelerations = [
        now.acceleration,
        axes.transpose_mul(now.angular_acceleration),
    ];
    let velocities = [
        m.velocity + now.algorithmic[0] * (h * (1.0 - k.gamma)),
        spin + now.algorithmic[1] * (h * (1.0 - k.gamma)),
    ];
    // Increments are h v + h² (½ - β) a + h² β a(end), and a(end) follows from v(end).
    let c = h * k.beta / k.gamma;
    let increment = |v: Vec3, a: Vec3, from: Vec3| v * h + a * (h * h * (0.5 - k.beta)) - from * c;
    let per_gain = 1.0 / (h * k.gamma);
    let slope = (1.0 - k.alpha_m) / (1.0 - k.alpha_f) * per_gain;
    let offset = |i: usize| {
        let held = now.algorithmic[i] * k.alpha_m - true_accelerations[i] * k.alpha_f;
        held * (1.0 / (1.0 - k.alpha_f)) - velocities[i] * slope
    };
    let known = StepHistory {
        position: m.position + increment(m.velocity, now.algorithmic[0], velocities[0]),
        theta: increment(spin, now.algorithmic[1], velocities[1]),
        start: m.orientation,
        axes,
        newmark: Some(NewmarkHistory {
            offsets: [offset(0), offset(1)],
            slope,
            velocities,
            per_gain,
        }),
        ..StepHistory::default()
    };
    let predicted = |i: usize| (ahead[i] - offset(i)) * (1.0 / slope);
    let rates = Rates {
        velocity: predicted(0),
        theta: predicted(1),
    };
    (known, rates)
}

/// The state from which the step begins after a jump of loads.
pub(crate) fn with_jump(now: &Record, h: f64, k: &Newmark, jump: &NodeJump) -> Record {
    let mut record = *now;
    let [[a, alpha], [third, turning]] = [jump.second, jump.third];
    // Algorithmic accelerations belong to a time that is later by this part of a step.
    let later = k.alpha_m - k.alpha_f;
    let error = h * h * (1.0 / 6.0 - later / 2.0 - k.beta);
    record.motion.velocity += third * error;
    record.motion.angular_velocity += turning * error;
    record.acceleration += a;
    record.angular_acceleration += alpha;
    let about = alpha + turning * (h * later);
    record.algorithmic[0] += a + third * (h * later);
    record.algorithmic[1] += now.motion.rotation.transpose_mul(about);
    record
}

impl NewmarkHistory {
    /// True accelerations at the end of the step, in the absolute frame.
    pub(super) fn accelerations(&self, motion: &Motion) -> [Vec3; 2] {
        let spin = motion.rotation.transpose_mul(motion.angular_velocity);
        [
            self.offsets[0] + motion.velocity * self.slope,
            motion.rotation * (self.offsets[1] + spin * self.slope),
        ]
    }
}
