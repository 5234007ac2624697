//! The magic formula: forces and moments of a tyre from its slips.
//!
//! Axes at the contact point are those of TYDEX W: x along the road in the plane of the wheel, y to
//! the left, z normal to the road. The longitudinal slip κ is positive when driving, the lateral
//! slip α when the wheel moves to the left, the camber γ when its top leans to the right.
//!
//! Not included: turn slip; the influence of longitudinal and lateral force on the vertical
//! stiffness.
//!
//! # References
//! Pacejka, *Tire and Vehicle Dynamics*, Elsevier 2012, Sect. 4.3.2; equation numbers are those of
//! the book. In the aligning moment the residual torque and the trail follow MF-Tyre where that
//! differs from the book.

use super::coefficients::{MagicFormula, Relaxation, Version};
use crate::dual::Real;

/// How a tyre slips, and under what load.
#[derive(Clone, Copy, Debug)]
pub struct Slip<T> {
    /// Longitudinal slip κ.
    pub longitudinal: T,
    /// Slip angle α in rad.
    pub angle: T,
    /// Camber γ in rad.
    pub camber: T,
    /// Load normal to the road in N, positive.
    pub load: T,
    /// Forward speed in m/s.
    pub speed: T,
    /// Forward speed over speed: the cosine of the slip angle, negative in reverse.
    pub direction: T,
}

impl<T: Real> Slip<T> {
    /// Rolling forward at a speed.
    pub fn forward(longitudinal: T, angle: T, camber: T, load: T, speed: T) -> Self {
        Self {
            longitudinal,
            angle,
            camber,
            load,
            speed,
            direction: angle.cos(),
        }
    }
}

/// Forces in N and moments in N·m on a tyre at its contact point.
#[derive(Clone, Copy, Debug)]
pub struct TyreForces<T> {
    /// Longitudinal force.
    pub fx: T,
    /// Lateral force.
    pub fy: T,
    /// Overturning moment.
    pub mx: T,
    /// Rolling resistance moment.
    pub my: T,
    /// Aligning moment.
    pub mz: T,
}

/// Relaxation lengths never fall below this, in m: an unloaded tyre would have none.
const SHORTEST: f64 = 0.01;
/// Below this load nothing is divided by it, in N.
const LEAST_LOAD: f64 = 1e-3;
/// Smooths the root of combined slips at zero.
const SMALL_SLIP_2: f64 = 1e-16;

/// Lateral force at pure slip, with what other formulas need of it.
struct PureLateral<T> {
    force: T,
    friction: T,
    stiffness: T,
    /// Horizontal and vertical shift.
    shifts: [T; 2],
    /// Product of stiffness and shape factor.
    slope: T,
}

impl MagicFormula {
    /// Forces and moments at a slip; `grip` scales the friction of the road.
    pub fn forces<T: Real>(&self, slip: &Slip<T>, grip: f64) -> TyreForces<T> {
        let slip = Slip {
            load: slip.load.at_least(LEAST_LOAD),
            camber: self.within_camber(slip.camber),
            ..*slip
        };
        let excess = self.excess(slip.load);
        let (pure_x, stiffness_x) = self.pure_longitudinal(&slip, excess, grip);
        let pure_y = self.pure_lateral(&slip, slip.camber, excess, grip);
        let fx = pure_x * self.longitudinal_weight(&slip, excess);
        let weight = self.lateral_weight(&slip, excess);
        let side = self.slip_induced_side_force(&slip, excess, pure_y.friction);
        let fy = pure_y.force * weight + side;
        let trailing = match self.version {
            Version::Mf52 => fy - side,
            Version::Mf61 => {
                let upright = self.pure_lateral(&slip, T::splat(0.0), excess, grip);
                upright.force * weight
            }
        };
        TyreForces {
            fx,
            fy,
            mx: self.overturning_moment(&slip, fy),
            my: self.rolling_moment(&slip, fx),
            mz: self.aligning_moment(
                &slip,
                excess,
                grip,
                stiffness_x,
                &pure_y,
                [trailing, fx, fy],
            ),
        }
    }

    /// Load beyond the nominal one, over that, as far as the coefficients hold.
    fn excess<T: Real>(&self, load: T) -> T {
        let within = load.at_most(self.highest_load);
        within.times(1.0 / self.nominal_load).plus(-1.0)
    }

    fn within_camber<T: Real>(&self, camber: T) -> T {
        camber
            .at_least(-self.largest_camber)
            .at_most(self.largest_camber)
    }

    /// Eq. 4.E9 to 4.E18: the force, and its slope at zero slip.
    fn pure_longitudinal<T: Real>(&self, slip: &Slip<T>, excess: T, grip: f64) -> (T, T) {
        let q = &self.x;
        let friction =
            linear(q.d[0], q.d[1], excess) * (slip.camber * slip.camber).times(-q.d[2]).plus(1.0);
        let peak = friction * slip.load.times(grip);
        let stiffness = self.slip_stiffness(slip.load, excess);
        let shift = linear(q.h[0], q.h[1], excess);
        let kappa = slip.longitudinal + shift;
        let side = q.e[3] * kappa.value().signum();
        let curvature = (linear(q.e[0], q.e[1], excess) + (excess * excess).times(q.e[2]))
            .times(1.0 - side)
            .at_most(1.0);
        let b = stiffness / peak.times(q.c);
        let vertical = linear(q.v[0], q.v[1], excess) * slip.load.times(grip);
        let force = peak * bent(b * kappa, curvature).atan().times(q.c).sin() + vertical;
        (force, stiffness)
    }

    /// ∂Fx/∂κ at zero, Eq. 4.E15.
    fn slip_stiffness<T: Real>(&self, load: T, excess: T) -> T {
        let q = &self.x.k;
        load * linear(q[0], q[1], excess) * excess.times(q[2]).exp()
    }

    /// ∂Fy/∂α at zero, Eq. 4.E25.
    fn cornering_stiffness<T: Real>(&self, load: T, camber: T) -> T {
        let q = &self.y.k;
        let at = (camber * camber)
            .times(q[4])
            .plus(q[1])
            .times(self.nominal_load);
        let rise = (load / at).atan().times(q[3]).sin();
        rise.times(q[0] * self.nominal_load) * camber.abs().times(-q[2]).plus(1.0)
    }

    /// Eq. 4.E19 to 4.E30.
    fn pure_lateral<T: Real>(
        &self,
        slip: &Slip<T>,
        camber: T,
        excess: T,
        grip: f64,
    ) -> PureLateral<T> {
        let q = &self.y;
        let stiffness = self.cornering_stiffness(slip.load, camber);
        let by_camber = linear(q.v[2], q.v[3], excess) * slip.load * camber;
        let lean = match self.version {
            Version::Mf52 => camber.times(q.h[2]),
            Version::Mf61 => {
                let thrust = linear(q.k[5], q.k[6], excess) * slip.load * camber;
                (thrust - by_camber) / stiffness
            }
        };
        let horizontal = linear(q.h[0], q.h[1], excess) + lean;
        let vertical = linear(q.v[0], q.v[1], excess) * slip.load.times(grip) + by_camber;
        let alpha = slip.angle + horizontal;
        let friction =
            linear(q.d[0], q.d[1], excess).times(grip) * (camber * camber).times(-q.d[2]).plus(1.0);
        let peak = friction * slip.load;
        let side = camber
            .times(q.e[3])
            .plus(q.e[2])
            .times(alpha.value().signum());
        let curvature =
            linear(q.e[0], q.e[1], excess) * ((camber * camber).times(q.e[4]).plus(1.0) - side);
        let b = stiffness / peak.times(q.c);
        let bent = bent(b * alpha, curvature.at_most(1.0));
        PureLateral {
            force: peak * bent.atan().times(q.c).sin() + vertical,
            friction,
            stiffness,
            shifts: [horizontal, vertical],
            slope: b.times(q.c),
        }
    }

    /// What side slip leaves of the longitudinal force, Eq. 4.E51 to 4.E57.
    fn longitudinal_weight<T: Real>(&self, slip: &Slip<T>, excess: T) -> T {
        let q = &self.x_combined;
        let b = (slip.camber * slip.camber).times(q.b[2]).plus(q.b[0])
            * slip.longitudinal.times(q.b[1]).cos_atan();
        let curvature = linear(q.e[0], q.e[1], excess).at_most(1.0);
        hill(b, slip.angle, T::splat(q.h), curvature, q.c)
    }

    /// What longitudinal slip leaves of the lateral force, Eq. 4.E59 to 4.E65.
    fn lateral_weight<T: Real>(&self, slip: &Slip<T>, excess: T) -> T {
        let q = &self.y_combined;
        let b = (slip.camber * slip.camber).times(q.b[3]).plus(q.b[0])
            * slip.angle.plus(-q.b[2]).times(q.b[1]).cos_atan();
        let curvature = linear(q.e[0], q.e[1], excess).at_most(1.0);
        let shift = linear(q.h[0], q.h[1], excess);
        hill(b, slip.longitudinal, shift, curvature, q.c)
    }

    /// The lateral force that longitudinal slip causes, Eq. 4.E66 and 4.E67.
    fn slip_induced_side_force<T: Real>(&self, slip: &Slip<T>, excess: T, friction: T) -> T {
        let q = &self.y_combined.v;
        let peak = friction
            * slip.load
            * (linear(q[0], q[1], excess) + slip.camber.times(q[2]))
            * slip.angle.times(q[3]).cos_atan();
        peak * slip.longitudinal.times(q[5]).atan().times(q[4]).sin()
    }

    fn overturning_moment<T: Real>(&self, slip: &Slip<T>, fy: T) -> T {
        let q = &self.overturning;
        let (load, camber) = (slip.load, slip.camber);
        let share = load.times(1.0 / self.nominal_load);
        let side = fy.times(1.0 / self.nominal_load);
        let mut sum = camber.times(-q[1]).plus(q[0]) + side.times(q[2]);
        if q[3] != 0.0 {
            let squared = (share * share).times(q[5] * q[5]).atan();
            let lean = camber.times(q[6]) + side.times(q[8]).atan().times(q[7]);
            sum = sum + squared.times(q[4]).cos() * lean.sin().times(q[3]);
        }
        if q[9] != 0.0 {
            sum = sum + share.times(q[10]).atan() * camber.times(q[9]);
        }
        sum = sum - camber * camber.abs().times(q[11]);
        (load * sum + fy * camber.abs().times(q[13]).plus(q[12])).times(self.radius)
    }

    fn rolling_moment<T: Real>(&self, slip: &Slip<T>, fx: T) -> T {
        let q = &self.rolling;
        let share = slip.load.times(1.0 / self.nominal_load);
        let speed = slip.speed.times(1.0 / self.reference_speed);
        let squared = speed * speed;
        let sum = fx.times(q[1] / self.nominal_load).plus(q[0])
            + speed.abs().times(q[2])
            + (squared * squared).times(q[3])
            + (share.times(q[5]).plus(q[4])) * slip.camber * slip.camber;
        let by_load = if q[6] == 1.0 { share } else { share.powf(q[6]) };
        -(sum * by_load).times(self.radius * self.nominal_load)
    }

    /// Eq. 4.E31 to 4.E49 and 4.E71 to 4.E78; `forces` are the lateral one that trails behind, the
    /// longitudinal and the lateral one.
    fn aligning_moment<T: Real>(
        &self,
        slip: &Slip<T>,
        excess: T,
        grip: f64,
        stiffness_x: T,
        pure: &PureLateral<T>,
        [trailing, fx, fy]: [T; 3],
    ) -> T {
        let q = &self.z;
        let camber = slip.camber;
        let ratio = stiffness_x / pure.stiffness * slip.longitudinal;
        let equivalent = |angle: T| {
            let tan = angle.tan();
            (tan * tan + ratio * ratio).plus(SMALL_SLIP_2).sqrt().atan()
        };
        let residual_angle = slip.angle + pure.shifts[0] + pure.shifts[1] / pure.stiffness;
        let trail_angle =
            slip.angle + linear(q.h[0], q.h[1], excess) + linear(q.h[2], q.h[3], excess) * camber;
        let b = (linear(q.b[0], q.b[1], excess) + (excess * excess).times(q.b[2]))
            .times(1.0 / grip)
            * (camber.times(q.b[3]) + camber.abs().times(q.b[4])).plus(1.0);
        let longest = linear(q.d[0], q.d[1], excess)
            * (camber.times(q.d[2]) + (camber * camber).times(q.d[3])).plus(1.0)
            * slip.load.times(self.radius / self.nominal_load);
        let asymmetry = (b * trail_angle)
            .times(q.c)
            .atan()
            .times(std::f64::consts::FRAC_2_PI);
        let curvature = (linear(q.e[0], q.e[1], excess) + (excess * excess).times(q.e[2]))
            * (camber.times(q.e[4]).plus(q.e[3]) * asymmetry).plus(1.0);
        let bent = bent(b * equivalent(trail_angle), curvature.at_most(1.0));
        let trail = longest * bent.atan().times(q.c).cos() * slip.direction;
        let slope = pure.slope.times(q.b[6]).plus(q.b[5] / grip);
        let by_camber =
            linear(q.d[6], q.d[7], excess) + linear(q.d[8], q.d[9], excess) * camber.abs();
        let residual = (linear(q.d[4], q.d[5], excess) + by_camber * camber)
            * slip.load.times(self.radius * grip)
            * (slope * equivalent(residual_angle)).cos_atan()
            * slip.direction;
        let arm = fy.times(q.s[1] / self.nominal_load).plus(q.s[0])
            + linear(q.s[2], q.s[3], excess) * camber;
        residual - trail * trailing + (arm * fx).times(self.radius)
    }

    /// Longitudinal and lateral relaxation length in m.
    pub fn relaxation_lengths<T: Real>(&self, load: T, camber: T) -> [T; 2] {
        let load = load.at_least(LEAST_LOAD);
        let camber = self.within_camber(camber);
        let share = load.times(1.0 / self.nominal_load);
        let excess = self.excess(load);
        let [x, y] = match &self.relaxation {
            Relaxation::Lengths { x, y, y_camber } => {
                let along = linear(x[0], x[1], excess) * excess.times(-x[2]).exp() * share;
                let across = share.times(1.0 / y[1]).atan().times(2.0).sin().times(y[0]);
                let lean = camber.abs().times(-y_camber).plus(1.0);
                [along.times(self.radius), (across * lean).times(self.radius)]
            }
            Relaxation::Carcass { x, y } => {
                let carcass =
                    |c: &[f64; 3]| linear(c[0], c[1], excess) + (excess * excess).times(c[2]);
                [
                    self.slip_stiffness(load, excess) / carcass(x),
                    self.cornering_stiffness(load, camber) / carcass(y),
                ]
            }
        };
        [x, y].map(|length| length.abs().at_least(SHORTEST))
    }
}

/// a + b x.
#[inline(always)]
fn linear<T: Real>(a: f64, b: f64, x: T) -> T {
    x.times(b).plus(a)
}

/// x - E (x - atan x), the argument of the outer inverse tangent.
#[inline(always)]
fn bent<T: Real>(x: T, curvature: T) -> T {
    x - curvature * (x - x.atan())
}

/// A hill over the slip, one where the slip is zero.
#[inline(always)]
fn hill<T: Real>(b: T, slip: T, shift: T, curvature: T, c: f64) -> T {
    let height = |slip: T| bent(b * slip, curvature).atan().times(c).cos();
    let above = height(slip + shift);
    if shift.value() == 0.0 {
        return above;
    }
    above / height(shift)
}
