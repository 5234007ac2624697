//! Sweeps over contacts of free bodies. The contacts that take part are packed one after the other.

use oldham_space::{V3, Vec3};

use super::{Blocks, Change, Verdict};
use crate::problem::{
    Bodies, BodyMotion, Levers, Plain, apply_plain, apply_with, project, relative_plain,
    relative_with,
};
use crate::solver::RowState;

/// Contacts join when they open more slowly than so many tolerances.
const NEAR: f64 = 1000.0;

/// The contacts that take part, and the velocities that belong to their impulses.
#[derive(Clone, Debug, Default)]
pub struct ActiveContacts {
    rows: Vec<Row>,
    takes_part: Vec<bool>,
    motion: Vec<BodyMotion>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    plain: Plain,
    bias: f64,
    friction: f64,
    /// Normal and tangential entries of the block, or a diagonal that majorises it.
    diagonal: [f64; 2],
    inverse: [f64; 2],
    compliance: f64,
    impulse: Vec3,
    change: Vec3,
    direction: Vec3,
    contact: u32,
    is_plain: bool,
}

impl Row {
    fn new(problem: &Bodies<'_>, contact: usize, impulse: Vec3) -> Self {
        let target = &problem.targets[contact];
        let plain = problem.plain(contact);
        let levers = problem.levers_of(contact);
        let (normal, tangential) = match levers {
            None => problem.plain_diagonal(&plain),
            Some(_) => majorising_diagonal(problem, contact),
        };
        Self {
            plain,
            bias: target.bias,
            friction: target.friction,
            diagonal: [normal, tangential],
            inverse: [1.0 / normal, 1.0 / tangential],
            compliance: levers.map_or(0.0, |l| l.compliance),
            impulse,
            change: Vec3::ZERO,
            direction: Vec3::ZERO,
            contact: contact as u32,
            is_plain: levers.is_none(),
        }
    }

    #[inline(always)]
    fn apply(&self, problem: &Bodies<'_>, change: Vec3, motion: &mut [BodyMotion]) {
        if self.is_plain {
            apply_plain(&self.plain, change, motion);
        } else {
            let arms = &levers(problem, self).arms;
            apply_with(self.plain.bodies, arms, change, motion, problem.inertia);
        }
    }

    #[inline(always)]
    fn velocity(&self, problem: &Bodies<'_>, motion: &[BodyMotion]) -> Vec3 {
        if self.is_plain {
            relative_plain(&self.plain, motion)
        } else {
            relative_with(self.plain.bodies, &levers(problem, self).arms, motion)
        }
    }
}

fn levers<'a>(problem: &'a Bodies<'_>, row: &Row) -> &'a Levers {
    let place = problem.touches[row.contact as usize].place;
    &problem.levers[place as usize]
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
    let ratio = (normal / tangential).sqrt();
    (normal + mixed * ratio, tangential + mixed / ratio)
}

impl ActiveContacts {
    /// Takes in the contacts that press or may come to press.
    pub fn start(&mut self, problem: &Bodies<'_>, impulses: &[f64], tolerance: f64) {
        self.motion.clear();
        self.motion.extend_from_slice(problem.motion);
        problem.apply(impulses, &mut self.motion);
        self.rows.clear();
        self.takes_part.clear();
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            let takes_part =
                *impulse != [0.0; 3] || self.opening(problem, contact) < NEAR * tolerance;
            self.takes_part.push(takes_part);
            if takes_part {
                self.rows.push(Row::new(problem, contact, V3(*impulse)));
            }
        }
    }

    /// How fast a contact without impulse opens, beyond what friction could make of its sliding.
    fn opening(&self, problem: &Bodies<'_>, contact: usize) -> f64 {
        let (touch, target) = (&problem.touches[contact], &problem.targets[contact]);
        let velocity = problem.relative(contact, &self.motion);
        let along = velocity.dot(touch.normal);
        let across = velocity - touch.normal * along;
        along + target.bias - target.friction * across.norm()
    }

    /// Hands out the impulses and the sets.
    pub fn finish(&self, problem: &Bodies<'_>, impulses: &mut [f64], sets: &mut [RowState]) {
        impulses.fill(0.0);
        sets.fill(RowState::Open);
        for row in &self.rows {
            let contact = row.contact as usize;
            impulses[3 * contact..][..3].copy_from_slice(&row.impulse.0);
            let normal = problem.touches[contact].normal;
            let along = row.impulse.dot(normal);
            if along > 0.0 {
                let across = (row.impulse - normal * along).norm();
                let slips = across >= row.friction * along * (1.0 - 1e-9);
                sets[3 * contact] = RowState::Active;
                let friction = if slips { RowState::Upper } else { RowState::Active };
                sets[3 * contact + 1..][..2].fill(friction);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.rows.len() * std::mem::size_of::<Row>()
            + self.motion.len() * std::mem::size_of::<BodyMotion>()
            + self.takes_part.len()
    }
}

/// One solution under way.
pub struct Sweeping<'a, 'b> {
    pub problem: &'a Bodies<'b>,
    pub active: &'a mut ActiveContacts,
}

impl Blocks for Sweeping<'_, '_> {
    fn sweep(&mut self) -> Change {
        let motion = self.active.motion.as_mut_slice();
        let mut total = Change {
            square: 0.0,
            largest: 0.0,
        };
        for row in &mut self.active.rows {
            let normal = row.plain.normal;
            let velocity = row.velocity(self.problem, motion);
            let along = velocity.dot(normal);
            let across = velocity - normal * along;
            let pressed = along + row.bias + row.compliance * row.impulse.dot(normal);
            let step = normal * (pressed * row.inverse[0]) + across * row.inverse[1];
            let [wn, wt] = row.diagonal;
            let impulse = project(row.impulse - step, normal, row.friction, wn, wt);
            let change = impulse - row.impulse;
            row.change = change;
            if change != Vec3::ZERO {
                row.impulse = impulse;
                row.apply(self.problem, change, motion);
                let square = change.dot(change);
                total.square += square * wn;
                total.largest = total.largest.max(square * wt * wt);
            }
        }
        total.largest = total.largest.sqrt();
        total
    }

    fn advance(&mut self, weight: f64) {
        let motion = self.active.motion.as_mut_slice();
        for row in &mut self.active.rows {
            let further = row.direction * weight;
            row.direction = further + row.change;
            if further == Vec3::ZERO {
                continue;
            }
            let [wn, wt] = row.diagonal;
            let normal = row.plain.normal;
            let impulse = project(row.impulse + further, normal, row.friction, wn, wt);
            let change = impulse - row.impulse;
            row.impulse = impulse;
            row.apply(self.problem, change, motion);
        }
    }

    fn judge(&mut self, tolerance: f64) -> Verdict {
        let active = &mut *self.active;
        let problem = self.problem;
        let residual = |row: &Row, motion: &[BodyMotion]| {
            problem.residual_of(row.contact as usize, row.impulse, motion)
        };
        let is_solved = (active.rows.iter()).all(|row| residual(row, &active.motion) <= tolerance);
        let known = active.rows.len();
        for contact in 0..active.takes_part.len() {
            if !active.takes_part[contact] && active.opening(problem, contact) < 0.0 {
                active.takes_part[contact] = true;
                active.rows.push(Row::new(problem, contact, Vec3::ZERO));
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
