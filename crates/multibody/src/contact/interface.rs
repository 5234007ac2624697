//! Interfaces of a system in contact: what pressed and sticking contacts leave of their mobility.
//!
//! A row of a contact acts on two bodies at most, and only those need to be known: their answers to forces and
//! moments at their centres, six by six, stand for the whole mechanism.

use oldham_contact::problem::{Dense, RowKind};
use oldham_contact::{HeldRow, Interface, Reduction, RowState};
use oldham_cosim::EffectiveInterface;

use super::mobility::{Six, joined, product};
use super::scene::Contacts;
use crate::node::Motion;

/// A row of which no more than this part is left by others says the same as they do.
const REDUNDANT: f64 = 1e-10;

/// Room for the rows of held contacts. Forces take the place of impulses, and accelerations that of velocities.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactInterface {
    rows: Vec<PushingRow>,
    /// The bodies on which they act.
    bodies: Vec<usize>,
    /// How each of these answers to each, row by row.
    answers: Vec<[Six; 6]>,
    /// What a unit force of a row does to each of the bodies.
    answers_to_row: Vec<Six>,
    matrix: Vec<f64>,
    free: Vec<f64>,
    by_rows: Vec<f64>,
    kinds: Vec<RowKind>,
    sets: Vec<RowState>,
    none: Vec<f64>,
    /// What the coordinates do to what the rows' forces work on.
    by_forces: Vec<f64>,
    system: Vec<f64>,
    pivots: Vec<(usize, usize)>,
    is_used: Vec<bool>,
    reduction: Reduction,
}

/// A row that holds, and how it pushes.
#[derive(Clone, Copy, Debug)]
struct PushingRow {
    row: HeldRow,
    /// Which of the bodies it acts on, and the force and moment of a unit force there.
    pushes: [Option<(usize, Six)>; 2],
    /// The same with the friction that goes along.
    forces: [Option<(usize, Six)>; 2],
}

impl PushingRow {
    /// What it makes of the motion of the bodies.
    fn along<'a>(&self, of: impl Fn(usize) -> &'a Six) -> f64 {
        let pushes = self.pushes.iter().flatten();
        pushes.map(|(body, push)| product(push, of(*body))).sum()
    }

    /// What its force works on the motion of the bodies.
    fn work<'a>(&self, of: impl Fn(usize) -> &'a Six) -> f64 {
        let forces = self.forces.iter().flatten();
        forces.map(|(body, force)| product(force, of(*body))).sum()
    }
}

impl ContactInterface {
    /// Finds the rows that the contacts of the last step hold, and adds the forces of the contacts that do not to
    /// `load`: they stay as they are.
    pub fn find(
        &mut self,
        contacts: &mut Contacts,
        h: f64,
        motions: &[Motion],
        stamp: u64,
        load: &mut [f64],
        solve: impl FnMut(&mut [f64]),
    ) {
        contacts.impulses(1.0, motions, load);
        self.rows.clear();
        self.bodies.clear();
        for row in contacts.scene.held_rows() {
            let (mut pushes, mut forces) = ([None; 2], [None; 2]);
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let body = row.ends[side];
                if body >= contacts.nodes.len() {
                    continue;
                }
                let force = row.direction * sign;
                let moment = row.arms[side].cross(force);
                let taken = -row.impulse / h;
                contacts.push(body, force * taken, moment * taken, motions, load);
                let place = match self.bodies.iter().position(|&other| other == body) {
                    Some(place) => place,
                    None => {
                        self.bodies.push(body);
                        self.bodies.len() - 1
                    }
                };
                pushes[side] = Some((place, joined(force, moment)));
                let whole = row.force * sign;
                forces[side] = Some((place, joined(whole, row.arms[side].cross(whole))));
            }
            self.rows.push(PushingRow {
                row: *row,
                pushes,
                forces,
            });
        }
        let held = contacts.held;
        let bodies = self.bodies.iter().copied().filter(|&body| body < held);
        contacts.find_columns(bodies, motions, stamp, load.len(), solve);
        self.answers.clear();
        for &moved in &self.bodies {
            for &pushed in &self.bodies {
                self.answers.push(contacts.answers(pushed, moved, motions));
            }
        }
    }

    /// What the rows do to each other, and how they would accelerate if nothing held them. `accelerations` are those
    /// of the nodes without the rows.
    pub fn assemble(
        &mut self,
        contacts: &Contacts,
        h: f64,
        motions: &[Motion],
        accelerations: &[f64],
    ) {
        let (count, bodies) = (self.rows.len(), self.bodies.len());
        self.matrix.clear();
        self.matrix.resize(count * count, 0.0);
        self.by_rows.clear();
        self.by_forces.clear();
        for (s, source) in self.rows.iter().enumerate() {
            self.answers_to_row.clear();
            for answers in self.answers.chunks_exact(bodies) {
                let mut sum = [0.0; 6];
                for (pushed, push) in source.pushes.iter().flatten() {
                    for (answer, share) in answers[*pushed].iter().zip(push) {
                        let parts = sum.iter_mut().zip(answer);
                        parts.for_each(|(sum, value)| *sum += share * value);
                    }
                }
                self.answers_to_row.push(sum);
            }
            for (r, row) in self.rows.iter().enumerate().skip(s) {
                let answer = row.along(|body| &self.answers_to_row[body]);
                self.matrix[r * count + s] = answer;
                self.matrix[s * count + r] = answer;
            }
            self.matrix[s * count + s] += source.row.compliance;
        }
        let moving = |of: &dyn Fn(usize) -> Six, into: &mut Vec<Six>| {
            into.clear();
            into.extend(self.bodies.iter().map(|&body| of(body)));
        };
        self.free.clear();
        let of_bodies = &mut self.answers_to_row;
        moving(&|body| contacts.centre_velocity(body, motions), of_bodies);
        for row in &self.rows {
            let rate = row.along(|body| &of_bodies[body]);
            let closing = row.row.closing * (row.row.gap + h * rate);
            self.free.push((rate + closing) / h);
        }
        moving(
            &|body| contacts.at_centre(body, motions, accelerations),
            of_bodies,
        );
        for (free, row) in self.free.iter_mut().zip(&self.rows) {
            *free += row.along(|body| &of_bodies[body]);
        }
    }

    /// Takes in what a force at the next coordinate of the interface, or its acceleration, does to the nodes.
    pub fn push_coordinate(&mut self, contacts: &Contacts, motions: &[Motion], response: &[f64]) {
        let of_bodies = &mut self.answers_to_row;
        of_bodies.clear();
        let bodies = self.bodies.iter();
        of_bodies.extend(bodies.map(|&body| contacts.at_centre(body, motions, response)));
        let moved = self
            .rows
            .iter()
            .map(|row| row.along(|body| &of_bodies[body]));
        self.by_rows.extend(moved);
        let worked = self
            .rows
            .iter()
            .map(|row| row.work(|body| &of_bodies[body]));
        self.by_forces.extend(worked);
    }

    /// Eliminates the rows from an interface whose accelerations and mobility are those without them.
    pub fn reduce(&mut self, found: &mut EffectiveInterface) {
        if !self.rows.is_empty() {
            self.eliminate(&found.mobility, &found.answers);
            found.mobility.copy_from_slice(&self.reduction.mobility);
            found.answers.copy_from_slice(&self.reduction.velocities);
        }
    }

    /// How the rows answer to accelerations of the coordinates of the interface by loads on them, row by row: they resist. Friction of what slides goes with
    /// what presses it, so that the matrix need not be symmetric.
    pub fn resist(&mut self, matrix: &mut [f64]) {
        matrix.fill(0.0);
        let (count, bodies) = (self.rows.len(), self.bodies.len());
        let order = self.by_rows.len() / count.max(1);
        // What rows do to each other, and what the coordinates do to them.
        let width = count + order;
        self.system.clear();
        self.system.resize(count * width, 0.0);
        for s in 0..count {
            let source = self.rows[s];
            self.answers_to_row.clear();
            for answers in self.answers.chunks_exact(bodies) {
                let mut sum = [0.0; 6];
                for (pushed, force) in source.forces.iter().flatten() {
                    for (answer, share) in answers[*pushed].iter().zip(force) {
                        let parts = sum.iter_mut().zip(answer);
                        parts.for_each(|(sum, value)| *sum += share * value);
                    }
                }
                self.answers_to_row.push(sum);
            }
            for (r, row) in self.rows.iter().enumerate() {
                self.system[r * width + s] = row.along(|body| &self.answers_to_row[body]);
            }
            self.system[s * width + s] += source.row.compliance;
            for k in 0..order {
                self.system[s * width + count + k] = self.by_rows[k * count + s];
            }
        }
        self.solve_rows(count, width);
        for &(row, column) in &self.pivots {
            for k in 0..order {
                let force = self.system[row * width + count + k];
                for i in 0..order {
                    matrix[i * order + k] -= self.by_forces[i * count + column] * force;
                }
            }
        }
    }

    /// Gauss and Jordan's elimination with full pivoting; rows that say what others say have no force.
    fn solve_rows(&mut self, count: usize, width: usize) {
        self.pivots.clear();
        self.is_used.clear();
        self.is_used.resize(2 * count, false);
        let mut first = 0.0;
        for _ in 0..count {
            let mut best = (0.0, (0, 0));
            for row in (0..count).filter(|&row| !self.is_used[row]) {
                for column in (0..count).filter(|&column| !self.is_used[count + column]) {
                    let size = self.system[row * width + column].abs();
                    if size > best.0 {
                        best = (size, (row, column));
                    }
                }
            }
            let (size, (row, column)) = best;
            first = f64::max(first, size);
            if size <= REDUNDANT * first {
                break;
            }
            self.is_used[row] = true;
            self.is_used[count + column] = true;
            self.pivots.push((row, column));
            let per_pivot = 1.0 / self.system[row * width + column];
            for k in 0..width {
                self.system[row * width + k] *= per_pivot;
            }
            for other in (0..count).filter(|&other| other != row) {
                let factor = self.system[other * width + column];
                if factor != 0.0 {
                    for k in 0..width {
                        self.system[other * width + k] -= factor * self.system[row * width + k];
                    }
                }
            }
        }
    }

    fn eliminate(&mut self, own: &[f64], velocities: &[f64]) {
        let count = self.rows.len();
        self.kinds.clear();
        self.kinds.resize(count, RowKind::Bilateral);
        self.sets.clear();
        self.sets.resize(count, RowState::Active);
        self.none.clear();
        self.none.resize(count, 0.0);
        let problem = Dense {
            matrix: &self.matrix,
            velocities: &self.free,
            rows: &self.kinds,
        };
        let interface = Interface {
            by_rows: &self.by_rows,
            own,
            velocities,
        };
        self.reduction
            .reduce(&problem, &self.sets, &self.none, &interface);
    }
}
