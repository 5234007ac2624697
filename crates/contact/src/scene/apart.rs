//! Moving bodies apart without velocities.

use oldham_space::Vec3;

use super::Scene;
use super::step::clear_sets;
use crate::problem::{Aim, Bodies, BodyMotion, Mechanism, Problem};
use crate::room::Room;
use crate::solver::ContactSolver;

/// A gap that no correction closes, in m.
const FAR: f64 = 1e12;

/// Bodies are moved apart to a tenth of a nanometre.
pub(super) const CLOSE: f64 = 1e-10;
/// After a step this share of the deepest penetration will do.
const ENOUGH: f64 = 1e-4;

/// A contact whose normal motion is below this share of all its motion opens by sliding along a guide only.
const WEDGED: f64 = 1e-4;

/// Which surfaces are moved apart where they penetrate. Those that yield do so on purpose, once a scene has started.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Surfaces {
    All,
    Rigid,
}

impl Scene {
    /// Moves bodies apart that penetrate each other at the contacts known, without velocities: the convex
    /// program of the step, with lengths in place of velocities. Bodies of others are not moved: their owners
    /// read the [shift](Self::shift). Returns the work against gravity and loads, and the angular momentum that the
    /// momenta have gained.
    pub fn separate(&mut self, mobility: &[f64]) -> (f64, Vec3) {
        self.move_apart(mobility, Surfaces::All, 0.0)
    }

    /// The same for gaps as they will be after a time with the velocities of the bodies.
    pub(super) fn move_apart(
        &mut self,
        mobility: &[f64],
        surfaces: Surfaces,
        ahead: f64,
    ) -> (f64, Vec3) {
        self.find_inverse_inertia();
        self.find_levers(1.0);
        let scratch = &mut self.scratch;
        let touches = self.world.touches();
        let deepest = touches.iter().fold(0.0, |most: f64, t| most.max(-t.gap));
        for levers in &mut scratch.levers {
            (levers.friction, levers.compliance, levers.give) = (0.0, 0.0, 0.0);
        }
        scratch.shifted.clear();
        scratch.shifted.reserve_exact(self.motion.len());
        scratch
            .shifted
            .extend(self.motion.iter().map(|moved| BodyMotion {
                velocity: Vec3::ZERO,
                spin: Vec3::ZERO,
                ..*moved
            }));
        // Lengths in place of velocities: a step of one.
        let mut aim = Aim {
            own: &[],
            rate: 1.0,
            band: 0.0,
            limit: f64::INFINITY,
        };
        let mechanism = Mechanism {
            bodies: self.held,
            mobility,
        };
        if surfaces == Surfaces::Rigid || self.held > 0 {
            let asked = Bodies {
                touches,
                aim,
                levers: &scratch.levers,
                grain_friction: 0.0,
                motion: &scratch.shifted,
                inertia: &scratch.inverse_inertia,
                radii: self.world.radii(),
                mechanism,
            };
            let (world, biases) = (&self.world, &mut scratch.biases);
            // Grains do not yield.
            let own = match ahead > 0.0 {
                true => touches,
                false => &touches[..world.details().len()],
            };
            biases.clear();
            biases.make_room(own.len());
            biases.extend(own.iter().enumerate().map(|(contact, touch)| {
                let yields = world.law(touch).stiffness.is_finite();
                if yields && surfaces == Surfaces::Rigid || is_wedged(&asked, contact) {
                    return FAR;
                }
                // What velocities close is not there for a shift.
                let closing = asked.relative(contact, &self.motion).dot(touch.normal);
                aim.at(touch.gap + ahead * closing)
            }));
            aim.own = biases;
        }
        let contacts = Bodies {
            touches,
            aim,
            levers: &scratch.levers,
            grain_friction: 0.0,
            motion: &[],
            inertia: &scratch.inverse_inertia,
            radii: self.world.radii(),
            mechanism,
        };
        let problem = Bodies {
            motion: &scratch.shifted,
            ..contacts
        };
        // The impulses of the step stay as they are: these are lengths.
        scratch.shifts.clear();
        scratch.shifts.make_room(3 * touches.len());
        scratch.shifts.resize(3 * touches.len(), 0.0);
        clear_sets(&mut scratch.sets, touches.len());
        // What is deep is not moved apart to the last digit at once.
        self.separator.tolerance = match ahead > 0.0 {
            true => CLOSE.max(ENOUGH * deepest),
            false => CLOSE,
        };
        self.separator.solve(
            &Problem::Bodies(problem),
            &mut scratch.shifts,
            &mut scratch.sets,
        );
        contacts.apply(&scratch.shifts, &mut scratch.shifted);
        let (mut work, mut moment) = (0.0, Vec3::ZERO);
        for body in self.owned..self.motion.len() {
            let shift = self.scratch.shifted[body];
            if shift.inverse_mass == 0.0 {
                continue;
            }
            let (w, m) = self.shift_body(body, shift.velocity, shift.spin);
            work += w;
            moment += m;
        }
        (work, moment)
    }

    /// Moves and turns one body or grain. Returns the work against gravity and loads, and the angular momentum gained.
    pub(super) fn shift_body(&mut self, body: usize, by: Vec3, turn: Vec3) -> (f64, Vec3) {
        let bodies = self.poses.len();
        let mass = 1.0 / self.motion[body].inverse_mass;
        let mut force = self.options.gravity * mass;
        let moment = by.cross(self.motion[body].velocity * mass);
        let mut work = 0.0;
        if body < bodies {
            force += self.loads[body][0];
            work -= self.loads[body][1].dot(turn);
            self.poses[body].position += by;
            self.turn(body, turn);
        } else {
            self.grains[body - bodies] += by;
        }
        (work - force.dot(by), moment)
    }
}

/// Whether joints let a contact open by sliding far only: a correction would do more harm than the penetration.
fn is_wedged(contacts: &Bodies<'_>, contact: usize) -> bool {
    let held = contacts.mechanism.bodies;
    let touches_held = (contacts.bodies_of(contact).iter()).any(|&body| (body as usize) < held);
    touches_held && {
        let (block, normal) = (contacts.block(contact), contacts.touches[contact].normal);
        let trace = block.0[0][0] + block.0[1][1] + block.0[2][2];
        normal.dot(block * normal) <= WEDGED * trace
    }
}
