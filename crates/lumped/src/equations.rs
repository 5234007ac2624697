//! The assembled equations of motion, `M a = f(t, x, v)`, with the boundary nodes folded in.
//!
//! *Slots* are the places whose motion is read: own nodes, then boundary nodes, then the ground. *Rows*
//! are the places that take up forces: own nodes, then boundary nodes. A boundary node that moves with an own node
//! reads that node's slot; a boundary node whose force goes to own nodes adds it to their rows as well as
//! to its own, from which force outputs are taken.

use oldham_cosim::StepError;

use crate::law::{Law, Load};
use crate::lu::Lu;
use crate::sparse::SparseRows;

/// Displacements, velocities and accelerations, by slot.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
}

impl Motion {
    pub(crate) fn at_rest(slots: usize) -> Self {
        Self {
            x: vec![0.0; slots],
            v: vec![0.0; slots],
            a: vec![0.0; slots],
        }
    }
}

/// One entry of stiffness and damping.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coupling {
    pub stiffness: f64,
    pub damping: f64,
}

/// Inertia of the own nodes.
#[derive(Clone, Debug)]
pub(crate) enum OwnMass {
    /// Masses at nodes only, and their reciprocals: a division would be the longest operation of a
    /// small system's step.
    Diagonal {
        masses: Vec<f64>,
        reciprocals: Vec<f64>,
    },
    /// Factors of the full matrix.
    Full(Lu),
}

/// Everything that the motion obeys.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    /// Number of own nodes.
    pub own: usize,
    /// Number of boundary nodes.
    pub boundary_nodes: usize,
    /// Names by row.
    pub names: Vec<String>,
    /// Stiffness and damping: rows by slots.
    pub couplings: SparseRows<Coupling>,
    /// Inertia: rows by slots.
    pub masses: SparseRows<f64>,
    /// Inertia that the boundary nodes' accelerations put on own nodes: row, slot, mass.
    pub boundary_masses: Vec<(usize, usize, f64)>,
    pub own_mass: OwnMass,
    /// Constant forces by row, from elongations at rest.
    pub constant: Vec<f64>,
    pub laws: Vec<Law>,
    pub loads: Vec<Load>,
}

impl Equations {
    /// Number of slots: nodes, boundary nodes and the ground.
    pub(crate) fn slots(&self) -> usize {
        self.own + self.boundary_nodes + 1
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.laws.is_empty()
    }

    /// Forces on the own nodes, their own inertia apart. The motion of boundary nodes is read from
    /// `motion`, forces from outside from `applied`.
    #[inline]
    pub(crate) fn forces(
        &self,
        t: f64,
        motion: &Motion,
        applied: &[f64],
        forces: &mut [f64],
    ) -> Result<(), StepError> {
        let given = self.constant.iter().zip(applied);
        let rows = self.couplings.each_row().zip(given);
        for (force, (couplings, (constant, applied))) in forces.iter_mut().zip(rows) {
            *force = constant + applied - elastic_resistance(couplings, motion);
        }
        for &(row, slot, mass) in &self.boundary_masses {
            forces[row] -= mass * motion.a[slot];
        }
        if !(self.loads.is_empty() && self.laws.is_empty()) {
            self.add_laws(t, motion, forces)?;
        }
        Ok(())
    }

    /// Loads and nonlinear elements. Apart, because room for their expressions on the stack would
    /// cost a linear system more than its forces do.
    #[inline(never)]
    fn add_laws(&self, t: f64, motion: &Motion, forces: &mut [f64]) -> Result<(), StepError> {
        for load in &self.loads {
            let value = load.force(t)?;
            for receiver in load.receivers.iter().filter(|r| r.row < self.own) {
                forces[receiver.row] += receiver.sign * value;
            }
        }
        for law in &self.laws {
            let (d, v) = law.stretch(&motion.x, &motion.v);
            let tension = law.tension(d, v, t)?;
            for receiver in law.receivers.iter().filter(|r| r.row < self.own) {
                forces[receiver.row] += receiver.sign * tension;
            }
        }
        Ok(())
    }

    /// A number that changes where a law or a load passes a kink or a jump.
    pub(crate) fn sides(&self, t: f64, motion: &Motion) -> u64 {
        let laws = self.laws.iter().map(|law| {
            let (d, v) = law.stretch(&motion.x, &motion.v);
            law.expression.sides(&[d, v, t])
        });
        let loads = self.loads.iter().map(|load| load.expression.sides(&[t]));
        laws.chain(loads)
            .fold(0, |all, sides| all.rotate_left(7).wrapping_mul(31) ^ sides)
    }

    /// Whether some law or load has a kink or a jump.
    pub(crate) fn has_kinks(&self) -> bool {
        let laws = self.laws.iter().map(|law| &law.expression);
        let loads = self.loads.iter().map(|load| &load.expression);
        laws.chain(loads).any(|expression| !expression.is_smooth())
    }

    /// From forces on the own nodes to their accelerations, which come first in `a`.
    #[inline]
    pub(crate) fn accelerations(&self, forces: &[f64], a: &mut [f64]) {
        match &self.own_mass {
            OwnMass::Diagonal { reciprocals, .. } => {
                for ((a, force), reciprocal) in a.iter_mut().zip(forces).zip(reciprocals) {
                    *a = force * reciprocal;
                }
            }
            OwnMass::Full(factors) => {
                let a = &mut a[..self.own];
                a.copy_from_slice(forces);
                factors.solve(a);
            }
        }
    }

    /// Inertia force of an own node: its row of `M a`, boundary nodes apart.
    pub(crate) fn inertia(&self, row: usize, a: &[f64]) -> f64 {
        match &self.own_mass {
            OwnMass::Diagonal { masses, .. } => masses[row] * a[row],
            OwnMass::Full(_) => {
                let own = self.masses.row(row).iter();
                own.filter(|entry| entry.0 < self.own)
                    .map(|&(slot, m)| m * a[slot])
                    .sum()
            }
        }
    }

    /// The force exerted on a boundary node by everything attached to it. Own accelerations must be those
    /// of the equations if the boundary node has inertia in common with own nodes.
    pub(crate) fn force_on_boundary(
        &self,
        boundary: usize,
        t: f64,
        motion: &Motion,
    ) -> Result<f64, StepError> {
        let row = self.own + boundary;
        let inertia = self.masses.row(row).iter();
        let inertia: f64 = inertia.map(|&(slot, m)| m * motion.a[slot]).sum();
        let force =
            self.constant[row] - elastic_resistance(self.couplings.row(row), motion) - inertia;
        if self.loads.is_empty() && self.laws.is_empty() {
            return Ok(force);
        }
        self.add_laws_on(row, t, motion, force)
    }

    /// A force, and that of loads and nonlinear elements on a row.
    #[inline(never)]
    fn add_laws_on(
        &self,
        row: usize,
        t: f64,
        motion: &Motion,
        mut force: f64,
    ) -> Result<f64, StepError> {
        for load in &self.loads {
            for receiver in load.receivers.iter().filter(|r| r.row == row) {
                force += receiver.sign * load.force(t)?;
            }
        }
        for law in &self.laws {
            for receiver in law.receivers.iter().filter(|r| r.row == row) {
                let (d, v) = law.stretch(&motion.x, &motion.v);
                force += receiver.sign * law.tension(d, v, t)?;
            }
        }
        Ok(force)
    }
}

// Called for every row of every evaluation: a call costs as much as the row.
#[inline(always)]
fn elastic_resistance(couplings: &[(usize, Coupling)], motion: &Motion) -> f64 {
    // As long as each other: one look at a slot is enough for both.
    let velocities = &motion.v[..motion.x.len()];
    let mut sum = 0.0;
    for &(slot, coupling) in couplings {
        sum += coupling.stiffness * motion.x[slot] + coupling.damping * velocities[slot];
    }
    sum
}
