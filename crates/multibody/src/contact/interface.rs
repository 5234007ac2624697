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
    reduction: Reduction,
}

/// A row that holds, and how it pushes.
#[derive(Clone, Copy, Debug)]
struct PushingRow {
    row: HeldRow,
    /// Which of the bodies it acts on, and the force and moment of a unit force there.
    pushes: [Option<(usize, Six)>; 2],
}

impl PushingRow {
    /// What it makes of the motion of the bodies.
    fn along<'a>(&self, of: impl Fn(usize) -> &'a Six) -> f64 {
        let pushes = self.pushes.iter().flatten();
        pushes.map(|(body, push)| product(push, of(*body))).sum()
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
            let mut pushes = [None; 2];
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
            }
            self.rows.push(PushingRow { row: *row, pushes });
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
    }

    /// Eliminates the rows from an interface whose accelerations and mobility are those without them.
    pub fn reduce(&mut self, found: &mut EffectiveInterface) {
        let count = self.rows.len();
        if count == 0 {
            return;
        }
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
            own: &found.mobility,
            velocities: &found.answers,
        };
        self.reduction
            .reduce(&problem, &self.sets, &self.none, &interface);
        found.mobility.copy_from_slice(&self.reduction.mobility);
        found.answers.copy_from_slice(&self.reduction.velocities);
    }
}
