//! Contacts of the last step that hold as equations, for those who look at what they leave free.

use oldham_space::{V3, Vec3};

use super::{Scene, Scratch};
use crate::problem::{BodyMotion, Levers};
use crate::room::Room;
use crate::solver::{ContactSolver, FrictionLaw, RowState};
use crate::touch::Touch;
use crate::world::World;

/// Friction nearer to the border of its cone than this slides.
const SLIDES: f64 = 1e-6;

/// A direction of a contact between two bodies, grains apart, in which they do not move relative to each other, or only as friction
/// turns with the sliding.
#[derive(Clone, Copy, Debug)]
pub struct HeldRow {
    /// The direction in which the impulse acts on the second body; on the first it acts the other way.
    pub direction: Vec3,
    /// What a unit of its impulse is with the friction that goes along: that of a sliding contact grows with what presses it.
    pub force: Vec3,
    /// Whether that is the normal, in which the contact presses. The tangents in which it sticks follow.
    pub is_normal: bool,
    /// The bodies.
    pub ends: [usize; 2],
    /// From their origins to the point.
    pub arms: [Vec3; 2],
    /// The impulse of the last step.
    pub impulse: f64,
    /// Velocity for each unit of impulse that the surface or the turning friction yields.
    pub compliance: f64,
    /// Velocity for each unit of the gap with which the surface closes it.
    pub closing: f64,
    /// The gap when the last step began.
    pub gap: f64,
}

impl Scene {
    /// The normals of contacts that pressed in the last step, the tangents along which they stuck, and those across their sliding.
    pub fn held_rows(&self) -> &[HeldRow] {
        &self.scratch.held_rows
    }

    /// Collects them, before anything else is made of the contacts of the step.
    pub(super) fn collect_rows(&mut self, h: f64) {
        let Scratch {
            levers,
            frames,
            sets,
            held_rows,
            ..
        } = &mut self.scratch;
        held_rows.clear();
        Pressed {
            world: &self.world,
            bodies: self.poses.len(),
            impulses: self.warm.impulses(),
            levers,
            motion: &self.motion,
            law: self.solver.law(),
            frames,
            sets,
        }
        .collect(h, held_rows);
    }
}

/// Contacts with their impulses, and velocities with them.
pub(super) struct Pressed<'a> {
    pub world: &'a World,
    /// How many bodies there are, without grains.
    pub bodies: usize,
    pub impulses: &'a [f64],
    pub levers: &'a [Levers],
    pub motion: &'a [BodyMotion],
    pub law: FrictionLaw,
    pub frames: &'a [[Vec3; 3]],
    pub sets: &'a [RowState],
}

impl Pressed<'_> {
    /// Appends the rows that hold.
    pub fn collect(&self, h: f64, held_rows: &mut Vec<HeldRow>) {
        let (bodies, law) = (self.bodies, self.law);
        let is_own = |touch: &&Touch| touch.ends.iter().all(|end| end.body() < bodies);
        let own = self.world.touches().iter().take(self.levers.len());
        held_rows.make_room(held_rows.len() + 3 * own.filter(is_own).count());
        let impulses = self.impulses.as_chunks::<3>().0;
        let each = self.world.touches().iter().zip(impulses);
        for (contact, ((touch, impulse), levers)) in each.zip(self.levers).enumerate() {
            let ends = touch.ends.map(|end| end.body());
            let impulse = V3(*impulse);
            let pressed = impulse.dot(touch.normal);
            if pressed <= 0.0 || ends.iter().any(|&body| body >= bodies) {
                continue;
            }
            let surface = self.world.law(touch);
            let across = impulse - touch.normal * pressed;
            let most = levers.friction * pressed;
            let slides = across.norm() >= most * (1.0 - SLIDES);
            let row = HeldRow {
                direction: touch.normal,
                force: match law == FrictionLaw::Coulomb && slides {
                    true => impulse * (1.0 / pressed),
                    false => touch.normal,
                },
                is_normal: true,
                ends,
                arms: levers.arms,
                impulse: pressed,
                compliance: levers.compliance + levers.give,
                closing: match surface.stiffness.is_finite() {
                    true => surface.stiffness / (h * surface.stiffness + surface.damping),
                    false => 0.0,
                },
                gap: touch.gap,
            };
            held_rows.push(row);
            let [a, b] = [0, 1].map(|side| {
                let moved = &self.motion[ends[side]];
                moved.velocity + moved.spin.cross(levers.arms[side])
            });
            let sliding = (b - a) - touch.normal * (b - a).dot(touch.normal);
            let speed = sliding.norm();
            let first = match self.frames.get(contact) {
                Some([_, first, _]) => *first,
                None if slides && speed > 0.0 => sliding.unit(),
                None => touch.normal.perpendicular(),
            };
            let tangents = [first, touch.normal.cross(first)];
            for (place, direction) in tangents.into_iter().enumerate() {
                // What a force across the sliding does: it turns friction, which yields by |u|/(μ γ).
                let compliance = match law {
                    FrictionLaw::Box if self.sets[3 * contact + 1 + place] == RowState::Active => {
                        0.0
                    }
                    FrictionLaw::Coulomb if place == 1 && slides && most > 0.0 => speed / most,
                    FrictionLaw::Coulomb | FrictionLaw::Cone if !slides => 0.0,
                    _ => continue,
                };
                held_rows.push(HeldRow {
                    direction,
                    force: direction,
                    is_normal: false,
                    impulse: across.dot(direction),
                    compliance: compliance + levers.give,
                    closing: 0.0,
                    ..row
                });
            }
        }
    }
}
