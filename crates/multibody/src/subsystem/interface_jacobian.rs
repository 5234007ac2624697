//! The interface tangent: how the loads of a part change with its prescribed poses.
//!
//! The prescribed nodes are not eliminated, so that the factors of a step are left with it: it is
//! read off there when they have changed. A back-substitution then corrects the part's own
//! state for a small change of the poses: for linear problems exactly, for others as one more
//! Newton iteration would. Where a sum takes fewer multiplications, its result for each of the poses is kept while the
//! factors last.

use crate::contact::interface::ContactInterface;
use crate::element::{ElementId, Weights};
use crate::integrator::Record;
use crate::moved::Moved;
use crate::node::{Motion, NodeId};
use crate::system::System;
use oldham_space::kernel::{self, Kernel, add_mul};
use oldham_space::{Quaternion, Vec3};

/// So few prescribed components that the changes of all unknowns are kept in any case.
const FEW: usize = 12;

/// The factors of accelerations contain masses only.
pub(super) const ACCELERATIONS: Weights = Weights {
    mass: 1.0,
    damping: 0.0,
    stiffness: 0.0,
};

/// A node whose pose is prescribed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrescribedNode {
    pub node: NodeId,
    pub joint: ElementId,
    /// First component of the prescribed motion in the input vector.
    pub motion: usize,
    /// Whether its velocity is prescribed, too.
    pub has_velocity: bool,
}

/// The tangent over all prescribed nodes of a part.
#[derive(Clone, Debug)]
pub(super) struct InterfaceJacobian {
    prescribed: Vec<PrescribedNode>,
    /// The unknown in whose row each prescribed component stands.
    rows: Vec<usize>,
    /// One value for each unknown.
    work: Vec<f64>,
    /// One value for each prescribed component.
    changes: Vec<f64>,
    /// Loads that the owner of the poses has reckoned with.
    noted: Vec<f64>,
    /// All motions at the same time.
    noted_motions: Vec<Motion>,
    /// Change of all unknowns by each prescribed component, where a sum of those is cheaper than a substitution.
    columns: Vec<f64>,
    /// Change of the loads, row by row.
    matrix: Vec<f64>,
    /// What a change of the poses is in the factors: itself, or an acceleration over a step with impulses.
    per_pose: f64,
    /// The factorisation from which they were made.
    made_from: Option<u64>,
    /// The factorisation of the columns.
    columns_from: Option<u64>,
    version: u64,
    /// The prescribed nodes at the end of the step.
    ends: Vec<Record>,
    /// What contacts that press add to the matrix, where they do.
    contacts: ContactInterface,
    by_contacts: Vec<f64>,
    is_in_contact: bool,
}

impl InterfaceJacobian {
    pub fn new(prescribed: Vec<PrescribedNode>, system: &System) -> Self {
        let order = 6 * prescribed.len();
        // Half of a solution goes backward; a multiplication comes with an addition.
        let substituted = (system.lu.operations().1 / 4) as usize;
        let row = |k: usize| system.constraint_row(prescribed[k / 6].joint) + k % 6;
        Self {
            rows: (0..order).map(row).collect(),
            work: vec![0.0; system.assembly.unknowns()],
            changes: Vec::with_capacity(order),
            noted: Vec::with_capacity(order),
            noted_motions: system.motions.clone(),
            columns: match order <= FEW || order * system.assembly.unknowns() <= substituted {
                true => vec![0.0; order * system.assembly.unknowns()],
                false => Vec::new(),
            },
            matrix: vec![0.0; order * order],
            per_pose: 1.0,
            made_from: None,
            columns_from: None,
            version: 0,
            ends: vec![Record::default(); prescribed.len()],
            contacts: ContactInterface::default(),
            by_contacts: vec![0.0; order * order],
            is_in_contact: false,
            prescribed,
        }
    }

    /// Writes the change of the loads, row by row.
    pub fn write(&self, values: &mut [f64]) {
        let entries = self.matrix.iter().zip(&self.by_contacts);
        for (value, (entry, contacts)) in values.iter_mut().zip(entries) {
            *value = (entry + contacts) * self.per_pose;
        }
    }

    /// Follows the factors of a step with impulses, which are those of accelerations: it ends with the velocity that
    /// leads to the pose, and the load is the change of momentum over the step.
    pub fn update_impulses(&mut self, system: &mut System, h: f64) {
        self.follow(system, ACCELERATIONS, 1.0 / (h * h));
        self.follow_contacts(system, h);
    }

    /// Contacts that press hold the prescribed nodes back: what hangs on them cannot be pushed into the ground.
    fn follow_contacts(&mut self, system: &mut System, h: f64) {
        let was_in_contact = self.is_in_contact;
        self.is_in_contact = system.is_in_contact();
        if was_in_contact || self.is_in_contact {
            self.version += 1;
        }
        if !self.is_in_contact {
            self.by_contacts.fill(0.0);
            return;
        }
        let System {
            contacts,
            lu,
            motions,
            work,
            ..
        } = system;
        let contacts = contacts.as_mut().expect("they touch");
        self.work.fill(0.0);
        let solve = |rows: &mut [f64]| lu.solve(rows);
        self.contacts
            .find(contacts, h, motions, work.stamp, &mut self.work, solve);
        self.work.fill(0.0);
        self.contacts.assemble(contacts, h, motions, &self.work);
        for &row in &self.rows {
            self.work.fill(0.0);
            self.work[row] = 1.0;
            lu.solve_given(&mut self.work);
            self.contacts.push_coordinate(contacts, motions, &self.work);
        }
        self.contacts.resist(&mut self.by_contacts);
    }

    /// Changes with what is written.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Follows the factors of the system, in which mass, damping and stiffness have these weights.
    pub fn update(&mut self, system: &mut System, weights: Weights) {
        self.follow(system, weights, 1.0);
    }

    fn follow(&mut self, system: &mut System, weights: Weights, per_pose: f64) {
        let made_from = Some(system.factor_stamp());
        let has_new_factors = self.made_from != made_from;
        if has_new_factors || self.per_pose != per_pose {
            self.version += 1;
        }
        self.per_pose = per_pose;
        if !has_new_factors {
            return;
        }
        self.made_from = made_from;
        system.lu.response(&mut self.matrix);
        self.add_inertia(system, weights);
    }

    /// The load contains the inertia of the node's own bodies.
    fn add_inertia(&mut self, system: &System, weights: Weights) {
        let order = self.rows.len();
        for (k, prescribed) in self.prescribed.iter().enumerate() {
            let blocks = system.inertia_jacobian(prescribed.node, weights);
            for (b, block) in blocks.iter().enumerate() {
                let (row, column) = (6 * k + 3 * (b / 2), 6 * k + 3 * (b % 2));
                for i in 0..3 {
                    for j in 0..3 {
                        self.matrix[(row + i) * order + column + j] += block.0[i][j];
                    }
                }
            }
        }
    }

    /// Adds what the poses that `inputs` prescribe change to the correction that a step still
    /// has to apply. Gives the size of that change, as a length.
    pub fn add_correction(&mut self, system: &mut System, inputs: &[f64]) -> f64 {
        self.work.fill(0.0);
        for (k, prescribed) in self.prescribed.iter().enumerate() {
            let [displacement, turn] = prescribed.deviation(system, inputs);
            let changes = displacement.0.into_iter().chain(turn.0);
            for (&row, change) in self.rows[6 * k..].iter().zip(changes) {
                self.work[row] = change;
            }
        }
        if !self.keeps_columns(system) {
            system.lu.solve_given(&mut self.work);
        } else {
            self.make_columns(system);
            self.changes.clear();
            self.changes
                .extend(self.rows.iter().map(|&row| self.work[row]));
            self.work.fill(0.0);
            let columns = &self.columns;
            kernel::run(Combine {
                sum: &mut self.work,
                factors: &self.changes,
                columns,
            });
        }
        add(&mut system.work.residual, 1.0, &self.work);
        system.length_of(&self.work).0
    }

    /// Whether the changes by each pose are worth their making: where they are few, or factors have lasted a while. The
    /// number of steps is part of the state, so that a run that goes on somewhere else does the same.
    fn keeps_columns(&self, system: &System) -> bool {
        let order = self.rows.len();
        let has_lasted = system.state.convergence.steps >= order as u64;
        !self.columns.is_empty() && (order <= FEW || has_lasted)
    }

    fn make_columns(&mut self, system: &mut System) {
        let stamp = Some(system.factor_stamp());
        if self.columns_from == stamp {
            return;
        }
        self.columns_from = stamp;
        let columns = self.columns.chunks_exact_mut(self.work.len());
        for (column, &row) in columns.zip(&self.rows) {
            column.fill(0.0);
            column[row] = 1.0;
            system.lu.solve_given(column);
        }
    }

    /// Notes the loads that go with the correction which a step still has to apply: the owner of the
    /// poses has moved under these.
    pub fn note_loads(&mut self, system: &System) {
        self.noted.clear();
        let loads = self.rows.iter().map(|&row| system.multiplier_at(row));
        self.noted.extend(loads);
        self.noted_motions.copy_from_slice(&system.motions);
    }

    /// What has moved since.
    pub fn moved(&self, system: &System, h: f64) -> Moved {
        let ways = self.noted_motions.iter().zip(&system.motions);
        let each = ways.zip(&system.assembly.inertia);
        Moved::of(each.map(|((before, after), inertia)| {
            let change = inertia.energy_of_way(before, after, h);
            (change, inertia, after)
        }))
    }

    /// The work, over a step of length `h`, of what the loads have become more than what was noted:
    /// energy that the exchange has made.
    pub fn unnoted_work(&self, system: &System, h: f64) -> f64 {
        let mut work = 0.0;
        for (k, prescribed) in self.prescribed.iter().enumerate() {
            let motion = &system.motions[prescribed.node.0];
            let rates = motion
                .velocity
                .0
                .into_iter()
                .chain(motion.angular_velocity.0);
            let loads = self.rows[6 * k..].iter().zip(&self.noted[6 * k..]);
            for ((&row, noted), rate) in loads.zip(rates) {
                work += h * rate * (system.multiplier_at(row) - noted);
            }
        }
        work
    }

    /// Takes what there is to show of a step that is not finished: the ends of the prescribed
    /// nodes, and the multipliers.
    pub fn preview(&mut self, system: &mut System) {
        system.finish_multipliers();
        for (end, prescribed) in self.ends.iter_mut().zip(&self.prescribed) {
            *end = system.finish_node(prescribed.node);
        }
    }

    /// Takes it from a finished state.
    pub fn review(&mut self, system: &System) {
        for (end, prescribed) in self.ends.iter_mut().zip(&self.prescribed) {
            *end = system.state.now[prescribed.node.0];
        }
    }

    /// What a prescribed node is at the end of the step, finished or not.
    pub fn end(&self, node: NodeId) -> Option<&Record> {
        let place = self.prescribed.iter().position(|p| p.node == node)?;
        Some(&self.ends[place])
    }
}

impl PrescribedNode {
    /// Writes the pose of a motion in place of the prescribed one.
    pub fn put(&self, motion: &Motion, inputs: &mut [f64]) {
        let pose = &mut inputs[self.motion..self.motion + 7];
        pose[..3].copy_from_slice(&motion.position.0);
        pose[3..].copy_from_slice(&motion.orientation.0);
    }

    /// The square of the way from its pose among some inputs to that among others, turns times a length.
    pub fn way(&self, from: &[f64], to: &[f64], length: f64) -> f64 {
        let pose = |inputs: &[f64]| {
            let value = |i: usize| inputs[self.motion + i];
            let position = Vec3::new(value(0), value(1), value(2));
            (position, Quaternion([3, 4, 5, 6].map(value)).normalised())
        };
        let ((a, from), (b, to)) = (pose(from), pose(to));
        let turn = to.times(from.conjugate()).log() * length;
        (b - a).dot(b - a) + turn.dot(turn)
    }

    /// From the node to the prescribed pose: displacement and rotation vector.
    fn deviation(&self, system: &System, inputs: &[f64]) -> [Vec3; 2] {
        let motion = &system.motions[self.node.0];
        let value = |i: usize| inputs[self.motion + i];
        let position = Vec3::new(value(0), value(1), value(2));
        let orientation = Quaternion([3, 4, 5, 6].map(value)).normalised();
        let turn = orientation.times(motion.orientation.conjugate()).log();
        [position - motion.position, turn]
    }
}

/// A sum of columns, each with a factor.
struct Combine<'a> {
    sum: &'a mut [f64],
    factors: &'a [f64],
    columns: &'a [f64],
}

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.columns.chunks_exact(self.sum.len());
        for (column, &factor) in columns.zip(self.factors) {
            for (sum, value) in self.sum.iter_mut().zip(column) {
                *sum = add_mul::<FUSED>(*sum, *value, factor);
            }
        }
    }
}

fn add(sum: &mut [f64], factor: f64, values: &[f64]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += factor * value;
    }
}
