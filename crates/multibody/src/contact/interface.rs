//! Interfaces of a system in contact: what pressed and sticking contacts leave of their mobility.

use oldham_contact::problem::{Dense, RowKind};
use oldham_contact::{HeldRow, Interface, Reduction, RowState};
use oldham_cosim::EffectiveInterface;

use super::scene::Contacts;
use crate::node::Motion;

/// Room for the rows of held contacts. Forces take the place of impulses, and accelerations that of velocities.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactInterface {
    rows: Vec<HeldRow>,
    /// What a unit force of each row does to the unknowns.
    columns: Vec<f64>,
    /// The rows by the unknowns of the nodes.
    gradients: Vec<f64>,
    matrix: Vec<f64>,
    free: Vec<f64>,
    by_rows: Vec<f64>,
    kinds: Vec<RowKind>,
    sets: Vec<RowState>,
    none: Vec<f64>,
    reduction: Reduction,
}

impl ContactInterface {
    /// Finds the rows that the contacts of the last step hold, and leaves in `load` the forces of the contacts that do
    /// not: they stay as they are.
    pub fn find(
        &mut self,
        contacts: &Contacts,
        h: f64,
        motions: &[Motion],
        load: &mut [f64],
        mut solve: impl FnMut(&mut [f64]),
    ) {
        let unknowns = load.len();
        self.rows.clear();
        self.rows.extend_from_slice(contacts.scene.held_rows());
        load.fill(0.0);
        contacts.impulses(1.0, motions, load);
        self.columns.clear();
        self.gradients.clear();
        for row in &self.rows {
            contacts.push_pair(row, -row.impulse / h, motions, load);
            let first = self.columns.len();
            self.columns.resize(first + unknowns, 0.0);
            let column = &mut self.columns[first..];
            contacts.push_pair(row, 1.0, motions, column);
            self.gradients.extend_from_slice(column);
            column.fill(0.0);
            if !contacts.answer_freely(row, motions, column) {
                column.copy_from_slice(&self.gradients[first..]);
                solve(column);
            }
        }
        solve(load);
    }

    /// Eliminates the rows from an interface whose accelerations and mobility are those without them. `accelerations` are
    /// those of the nodes, `velocities` too; `push` gives the forces of a unit force at one of the coordinates of the
    /// interface on the nodes.
    pub fn reduce(
        &mut self,
        h: f64,
        velocities: impl Fn(usize) -> f64,
        accelerations: impl Fn(usize) -> f64,
        found: &mut EffectiveInterface,
        push: impl Fn(usize, &mut dyn FnMut(usize, f64)),
        coordinates: usize,
    ) {
        let count = self.rows.len();
        if count == 0 {
            return;
        }
        let unknowns = self.columns.len() / count;
        let column = |r: usize| &self.columns[r * unknowns..(r + 1) * unknowns];
        let gradient = |r: usize| &self.gradients[r * unknowns..(r + 1) * unknowns];
        self.matrix.clear();
        self.free.clear();
        for (r, row) in self.rows.iter().enumerate() {
            let line = gradient(r);
            for s in 0..count {
                let answer: f64 = line.iter().zip(column(s)).map(|(g, x)| g * x).sum();
                let own = if r == s { row.compliance } else { 0.0 };
                self.matrix.push(answer + own);
            }
            let along = |of: &dyn Fn(usize) -> f64| -> f64 {
                let each = line.iter().enumerate().filter(|(_, g)| **g != 0.0);
                each.map(|(at, g)| g * of(at)).sum()
            };
            let rate = along(&velocities);
            let closing = row.closing * (row.gap + h * rate);
            self.free.push(along(&accelerations) + (rate + closing) / h);
        }
        self.by_rows.clear();
        for i in 0..coordinates {
            for r in 0..count {
                let mut moved = 0.0;
                push(i, &mut |at, share| moved += share * column(r)[at]);
                self.by_rows.push(moved);
            }
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
            velocities: &found.acceleration,
        };
        self.reduction
            .reduce(&problem, &self.sets, &self.none, &interface);
        found.mobility.copy_from_slice(&self.reduction.mobility);
        found
            .acceleration
            .copy_from_slice(&self.reduction.velocities);
    }
}
