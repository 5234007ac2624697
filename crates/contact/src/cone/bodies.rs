//! Sweeps over contacts of free bodies. Only those take part that press or may come to press.

use oldham_space::{V3, Vec3};

use super::{Blocks, Change, Verdict};
use crate::problem::{Bodies, BodyMotion, project};
use crate::room::Room;
use crate::solver::FrictionLaw;

/// Contacts take part when they open more slowly than so many tolerances.
const NEAR: f64 = 100.0;

/// The smallest entry of a block, relative to the largest.
const LEAST: f64 = 1e-10;

/// The contacts that take part, and the velocities that belong to their impulses.
#[derive(Clone, Debug, Default)]
pub struct ActiveContacts {
    /// Ordered by contact.
    rows: Vec<Row>,
    motion: Vec<BodyMotion>,
}

/// In single precision where only the way to the solution depends on it, not the solution itself.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Inverse of the normal and tangential entries of the block, or of a diagonal that majorises it.
    inverse: [f32; 2],
    /// By how much the impulse has changed since the end of the sweep before.
    way: [f32; 3],
    contact: u32,
    /// The tangential entry of that diagonal: a weight, no more.
    weight: f32,
}

impl Row {
    fn new(problem: &Bodies<'_>, contact: usize) -> Self {
        let (normal, tangential) = match problem.levers_of(contact) {
            None => problem.plain_diagonal(&problem.plain(contact)),
            Some(_) => majorising_diagonal(problem, contact),
        };
        Self {
            inverse: [normal, tangential].map(|entry| (1.0 / entry) as f32),
            way: [0.0; 3],
            contact: contact as u32,
            weight: tangential as f32,
        }
    }

    fn way(&self) -> Vec3 {
        V3(self.way.map(f64::from))
    }

    /// The point of the friction cone nearest to an impulse, in the metric of the block.
    #[inline(always)]
    fn admit(&self, impulse: Vec3, normal: Vec3, friction: f64) -> Vec3 {
        // Only the ratio of the weights counts.
        let [tangential_weight, normal_weight] = self.inverse.map(f64::from);
        project(impulse, normal, friction, normal_weight, tangential_weight)
    }
}

/// A diagonal in normal and tangential directions that is nowhere smaller than the contact's block, so that a
/// step of the sweep never overshoots.
fn majorising_diagonal(problem: &Bodies<'_>, contact: usize) -> (f64, f64) {
    let block = problem.block(contact);
    let n = problem.touches[contact].normal;
    let s = n.perpendicular();
    let t = n.cross(s);
    let entry = |a: Vec3, b: Vec3| a.dot(block * b);
    let (ss, tt, st) = (entry(s, s), entry(t, t), entry(s, t));
    let tangential = 0.5 * (ss + tt) + (0.25 * (ss - tt) * (ss - tt) + st * st).sqrt();
    let normal = entry(n, n);
    let mixed = entry(n, s).hypot(entry(n, t));
    // Directions that joints hold answer to nothing; what they weigh does not matter, only that it is finite.
    let least = LEAST * normal.max(tangential);
    let (normal, tangential) = (normal.max(least), tangential.max(least));
    let ratio = (normal / tangential).sqrt();
    (normal + mixed * ratio, tangential + mixed / ratio)
}

impl ActiveContacts {
    /// Takes in the contacts that press or may come to press.
    pub fn start(
        &mut self,
        law: FrictionLaw,
        problem: &Bodies<'_>,
        impulses: &[f64],
        tolerance: f64,
    ) {
        self.motion.clear();
        self.motion.reserve_exact(problem.motion.len());
        self.motion.extend_from_slice(problem.motion);
        problem.apply(impulses, &mut self.motion);
        self.rows.clear();
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            let takes_part =
                *impulse != [0.0; 3] || self.opening(law, problem, contact) < NEAR * tolerance;
            if takes_part {
                self.rows.put(Row::new(problem, contact));
            }
        }
    }

    /// How fast a contact without impulse opens; by the convex law beyond what friction could make of its sliding.
    fn opening(&self, law: FrictionLaw, problem: &Bodies<'_>, contact: usize) -> f64 {
        let normal = problem.touches[contact].normal;
        let velocity = problem.relative(contact, &self.motion);
        let along = velocity.dot(normal);
        let opening = along + problem.bias(contact);
        if law == FrictionLaw::Coulomb {
            return opening;
        }
        let across = velocity - normal * along;
        opening - problem.friction(contact) * across.norm()
    }

    pub fn bytes(&self) -> usize {
        self.rows.held() + self.motion.held()
    }
}

/// One solution under way.
pub struct Sweeping<'a, 'b> {
    pub problem: &'a Bodies<'b>,
    pub active: &'a mut ActiveContacts,
    pub impulses: &'a mut [f64],
    pub law: FrictionLaw,
}

impl Blocks for Sweeping<'_, '_> {
    fn sweep(&mut self) -> Change {
        let problem = self.problem;
        let motion = self.active.motion.as_mut_slice();
        let impulses = self.impulses.as_chunks_mut::<3>().0;
        let mut total = Change::default();
        let is_coulomb = self.law == FrictionLaw::Coulomb;
        for row in &mut self.active.rows {
            let contact = row.contact as usize;
            let mut pressed = problem.bias(contact);
            let normal = problem.touches[contact].normal;
            let impulse = V3(impulses[contact]);
            let mut velocity = problem.relative(contact, motion);
            if let Some(levers) = problem.levers_of(contact) {
                velocity += levers.yielded(impulse, normal);
            }
            let along = velocity.dot(normal);
            let across = velocity - normal * along;
            if is_coulomb {
                // De Saxcé's term.
                pressed += problem.friction(contact) * across.norm();
            }
            let [normal_step, tangential_step] = row.inverse.map(f64::from);
            let step = normal * ((along + pressed) * normal_step) + across * tangential_step;
            let found = row.admit(impulse - step, normal, problem.friction(contact));
            let change = found - impulse;
            if change != Vec3::ZERO {
                impulses[contact] = found.0;
                problem.apply_at(contact, change, motion);
                let weight = f64::from(row.weight);
                let way = row.way() + change;
                row.way = way.0.map(|part| part as f32);
                total.agreement += change.dot(way) * weight;
                total.largest = total.largest.max(change.dot(change) * weight * weight);
            }
        }
        total.largest = total.largest.sqrt();
        total
    }

    fn advance(&mut self, weight: f64) {
        let motion = self.active.motion.as_mut_slice();
        let impulses = self.impulses.as_chunks_mut::<3>().0;
        for row in &mut self.active.rows {
            let contact = row.contact as usize;
            let impulse = V3(impulses[contact]);
            let further = row.way() * weight;
            row.way = [0.0; 3];
            if further == Vec3::ZERO {
                continue;
            }
            let normal = self.problem.touches[contact].normal;
            let found = row.admit(impulse + further, normal, self.problem.friction(contact));
            let change = found - impulse;
            row.way = change.0.map(|part| part as f32);
            impulses[contact] = found.0;
            self.problem.apply_at(contact, change, motion);
        }
    }

    fn judge(&mut self, tolerance: f64) -> Verdict {
        let active = &mut *self.active;
        let problem = self.problem;
        let impulses = self.impulses.as_chunks::<3>().0;
        let is_solved = active.rows.iter().all(|row| {
            let contact = row.contact as usize;
            let impulse = V3(impulses[contact]);
            problem.residual_by(self.law, contact, impulse, &active.motion) <= tolerance
        });
        let known = active.rows.len();
        let mut next = 0;
        for contact in 0..impulses.len() {
            if next < known && active.rows[next].contact as usize == contact {
                next += 1;
            } else if active.opening(self.law, problem, contact) < 0.0 {
                active.rows.put(Row::new(problem, contact));
            }
        }
        if active.rows.len() > known {
            active.rows.sort_unstable_by_key(|row| row.contact);
            Verdict::Joined
        } else if is_solved {
            Verdict::Solved
        } else {
            Verdict::Unsolved
        }
    }
}
