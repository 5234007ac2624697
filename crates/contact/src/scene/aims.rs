//! What is asked of contacts: to close, to rebound, to yield.

use oldham_space::Vec3;

use super::{Correction, Scene};
use crate::problem::{Aim, Bodies, Levers, Mechanism};
use crate::room::Room;
use crate::touch::Surface;

/// The share of a penetration that a contact takes back within a step, where given motions made it give way.
const COMES_BACK: f64 = 0.5;

impl Scene {
    /// Where contacts act.
    pub(super) fn find_levers(&mut self, h: f64) {
        let bodies = self.poses.len();
        self.scratch.levers.clear();
        for (touch, detail) in self.world.touches().iter().zip(self.world.details()) {
            let place = detail.position;
            let ends = touch.ends.map(|end| end.body());
            let arms = ends.map(|body| match body.checked_sub(bodies) {
                None => place - self.poses[body].position,
                Some(grain) => place - self.grains[grain],
            });
            let law = self.world.law(touch);
            let wall = &self.motion[ends[0]];
            let [along, across] = match ends[1] < bodies {
                true => self.give,
                false => [0.0; 2],
            };
            self.scratch.levers.put(Levers {
                arms,
                friction: law.friction,
                // Grains roll freely.
                turning: match ends[1] < bodies {
                    true => [law.torsion, law.rolling],
                    false => [0.0; 2],
                },
                compliance: compliance(law, h) + (along - across),
                give: across,
                is_plain: ends[1] >= bodies
                    && ends[0] >= self.held
                    && wall.inverse_mass == 0.0
                    && wall.spin == Vec3::ZERO
                    && law.stiffness.is_infinite(),
            });
        }
    }

    /// What is asked of each contact.
    pub(super) fn aim(&mut self, h: f64) {
        let band = self.solver.dead_band(h);
        let (world, aim) = (&self.world, aim_of(self.options.correction, h, band, &[]));
        // Grains do not yield.
        let own = match world.has_restitution() {
            true => world.touches(),
            false => &world.touches()[..world.details().len()],
        };
        let biases = &mut self.scratch.biases;
        biases.clear();
        biases.make_room(own.len());
        biases.extend(
            own.iter()
                .map(|t| normal_bias(world.law(t), t.gap, h, &aim)),
        );
        // What gives way comes back: nothing moves bodies apart there.
        for ((bias, touch), levers) in biases.iter_mut().zip(own).zip(&self.scratch.levers) {
            if levers.give > 0.0 && touch.gap < 0.0 && world.law(touch).stiffness.is_infinite() {
                *bias = COMES_BACK * touch.gap / h;
            }
        }
    }

    /// Newton's law of restitution for contacts that approach.
    pub(super) fn aim_rebounds(&mut self) {
        self.for_rebounds(|law, _, approach, bias| {
            if approach < 0.0 {
                *bias = law.restitution * approach;
            }
        });
    }

    /// Takes the law back for contacts that do not close within the step.
    pub(super) fn keep_rebounds_that_arrive(&mut self, h: f64) {
        let band = self.solver.dead_band(h);
        let aim = aim_of(self.options.correction, h, band, &[]);
        self.for_rebounds(|_, gap, arrival, bias| {
            if *bias < 0.0 && gap + h * arrival >= 0.0 {
                *bias = aim.at(gap);
            }
        });
    }

    /// Calls `visit(law, gap, normal velocity, bias)` for contacts that may rebound.
    pub(super) fn for_rebounds(&mut self, visit: impl Fn(&Surface, f64, f64, &mut f64)) {
        if !self.world.has_restitution() {
            return;
        }
        let touches = self.world.touches();
        let problem = Bodies {
            touches,
            aim: aim_of(self.options.correction, 1.0, 0.0, &[]),
            levers: &self.scratch.levers,
            grain_friction: 0.0,
            motion: &self.motion,
            inertia: &self.scratch.inverse_inertia,
            radii: self.world.radii(),
            mechanism: Mechanism::default(),
        };
        for (contact, touch) in touches.iter().enumerate() {
            let law = self.world.law(touch);
            if law.restitution > 0.0 && law.stiffness.is_infinite() {
                let velocity = problem.relative(contact, &self.motion).dot(touch.normal);
                visit(law, touch.gap, velocity, &mut self.scratch.biases[contact]);
            }
        }
    }
}

/// What is asked of contacts in a step; the first ones have numbers of their own.
pub(super) fn aim_of(correction: Correction, h: f64, band: f64, own: &[f64]) -> Aim<'_> {
    Aim {
        own,
        rate: 1.0 / h,
        band: band / h,
        limit: match correction {
            Correction::Positions { .. } => 0.0,
            Correction::Velocities { limit } => limit,
        },
    }
}

/// What is added to the normal velocity of a contact that does not rebound.
pub(super) fn normal_bias(law: &Surface, gap: f64, h: f64, aim: &Aim<'_>) -> f64 {
    match law.stiffness.is_finite() {
        true => gap * law.stiffness / (h * law.stiffness + law.damping),
        false => aim.at(gap),
    }
}

/// Normal velocity for each unit of impulse of a surface with stiffness k and damping d: the force
/// −k (g + h u) − d u at the end of the step.
pub(super) fn compliance(law: &Surface, h: f64) -> f64 {
    if law.stiffness.is_finite() {
        1.0 / (h * (h * law.stiffness + law.damping))
    } else {
        0.0
    }
}
