//! Elements: whatever exerts forces on nodes or constrains them.
//!
//! A new element is one file with an implementation of [`Element`]: it lists its nodes, adds its
//! forces and constraint violations to a [`Residual`], and their derivatives to a [`Jacobian`].
//! Rotations are varied by spins in the absolute frame: δR = δφ × R.

mod account;
pub mod beam;
mod bushing;
mod cable;
#[cfg(test)]
pub(crate) mod check;
mod clearance;
mod compliant_contact;
mod coordinate_force;
mod derivatives;
mod force_map;
mod hysteresis;
mod internal;
mod kind;
mod law;
mod load;
mod references;
mod remote;
mod rod;
mod servo;
pub mod shell;
mod states;

pub use bushing::Bushing;
pub use cable::{Cable, Pulley};
pub use clearance::{Clearance, SurfaceFriction};
pub use compliant_contact::{CompliantContact, CompliantLaw};
pub use coordinate_force::CoordinateForce;
pub use derivatives::assert_derivatives;
pub use force_map::ForceMap;
pub use hysteresis::Hysteresis;
pub use internal::InternalLoad;
pub use kind::ElementKind;
pub(crate) use law::interval;
pub use law::{ForceLaw, Law, TensionFunction};
pub use load::{Load, PortWrench};
pub use references::References;
pub(crate) use references::{refer_drives, refer_nodes};
pub use remote::Remote;
pub use rod::Rod;
pub(crate) use rod::add_point_stiffness;
pub use servo::Servo;
pub use states::{InternalState, NotLinear, STICKS, by_poses};

use crate::assembly::Placed;
use crate::linear::Destination;
use crate::node::{Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

/// Index of an element in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub(crate) usize);

impl ElementId {
    /// Its place among the elements of its model.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Forces and constraints between nodes.
///
/// Parameters are immutable; what changes is in [`At`]. An element is a value: it can be copied and
/// shown, for which `#[derive(Clone, Debug)]` is enough.
pub trait Element: Any + Debug + CloneElement + Send + Sync {
    /// The nodes it connects, in the order that the other methods refer to.
    fn nodes(&self) -> &[NodeId];

    /// Shows all nodes and inputs that it refers to, in all places where it keeps them.
    fn refer(&mut self, references: &mut dyn References);

    /// Number of its constraint equations and multipliers.
    fn constraints(&self) -> usize {
        0
    }

    /// Which of its constraints are on velocities alone (nonholonomic): places cannot violate them.
    fn on_velocities(&self) -> Range<usize> {
        0..0
    }

    /// Number of values that it remembers from step to step.
    fn memory(&self) -> usize {
        0
    }

    /// Writes what it remembers of an accepted state. At the start `at.elapsed` is zero and
    /// nothing is remembered yet.
    fn remember(&self, _at: &At<'_>, _memory: &mut [f64]) {}

    /// Whether its forces depend on the past, and not only on where and how fast its nodes move:
    /// explicit methods refuse that.
    fn depends_on_past(&self) -> bool {
        false
    }

    /// The states that it has besides the motion of its nodes, linearised, for `at.elapsed` zero: those
    /// of its memory on which its forces depend and that have rates.
    fn internal_states(&self, _at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        match self.depends_on_past() {
            true => Err(states::UNKNOWN),
            false => Ok(Vec::new()),
        }
    }

    /// A number that changes where its forces pass a kink or a jump; see
    /// [`Options::locates_kinks`](crate::Options::locates_kinks).
    fn side(&self, _at: &At<'_>) -> u64 {
        0
    }

    /// Whether it sticks by friction.
    fn sticks(&self, _at: &At<'_>) -> bool {
        false
    }

    /// Whether it is at a limit, where it answers to nothing.
    fn saturates(&self, _at: &At<'_>) -> bool {
        false
    }

    /// Whether its law changes at a limit in a way that an iteration takes up one law after the other; see
    /// [`regime`](Self::regime).
    fn has_regimes(&self) -> bool {
        false
    }

    /// The law that an iteration should assume next, as a small number, where `at.assumed` is the one that it has
    /// assumed so far: the residual and its derivatives are those of the assumed law alone.
    fn regime(&self, _at: &At<'_>) -> f64 {
        0.0
    }

    /// Whether it stands for the answer of other parts, which analyses of coupled parts know
    /// themselves.
    fn stands_for_others(&self) -> bool {
        false
    }

    /// Adds the forces on its nodes, reactions `-φ_qᵀ λ` included, and sets the violations φ.
    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>);

    /// Adds the negative derivatives of its forces, weighted, and sets the constraint gradients.
    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>);

    /// Whether it knows the [derivatives](Self::violation_derivatives) of its violations. Those of
    /// others are taken from differences.
    fn knows_derivatives(&self) -> bool {
        false
    }

    /// First and second time derivatives of its violations, for nodes whose velocities and angular
    /// velocities do not change. Functions of time may be differenced over a few times `step`.
    fn violation_derivatives(&self, _at: &At<'_>, _step: f64, _out: &mut [[f64; 2]]) {}

    /// Whether its equations in a step are about velocities, so that positions drift.
    fn drifts(&self) -> bool {
        false
    }

    /// Displacements and spins of its first two nodes that put the positions right once the
    /// velocities are: then poses will have changed by `c` times the change of the velocities.
    fn drift(&self, _at: &At<'_>, _inverse_mass: [InverseMass; 2], _c: f64) -> [(Vec3, Vec3); 2] {
        [(Vec3::ZERO, Vec3::ZERO); 2]
    }

    /// Rotations of its nodes against each other since the unloaded shape, as twice the tangent of
    /// half the angle along the axis, where it interpolates these: half a turn is out of reach.
    fn turns(&self, _orientation: &dyn Fn(NodeId) -> Quaternion) -> Option<[Vec3; 2]> {
        None
    }

    /// Whether it is a piece of a continuous structure, such as a beam.
    fn is_structural(&self) -> bool {
        false
    }

    /// The joint that it is a part of, and which constraints of that it has, if others are left out
    /// because they follow from other joints.
    fn relieved(&self) -> Option<(&dyn Element, &[usize])> {
        None
    }

    /// The end of a step of its only node, where that is given.
    fn prescribed_end(&self, _inputs: &[f64]) -> Option<PrescribedEnd> {
        None
    }

    /// Stored energy and powers.
    fn energy(&self, _at: &At<'_>) -> ElementEnergy {
        ElementEnergy::default()
    }

    /// The powers alone that are dissipated and supplied, as [`energy`](Self::energy) gives them: they
    /// are summed up in every step, the stored energy is looked at now and then.
    fn powers(&self, at: &At<'_>) -> [f64; 2] {
        let energy = self.energy(at);
        [energy.dissipated, energy.supplied]
    }

    /// Whether its forces have a potential: what they do is stored or lost as [`energy`](Self::energy) says.
    fn has_potential(&self) -> bool {
        true
    }

    /// Of an element without a potential: the power that its forces take from its nodes beyond what
    /// [`energy`](Self::energy) stores and loses. It is summed up in every step, and counts as stored.
    fn taken_besides(&self, _at: &At<'_>) -> f64 {
        0.0
    }

    /// Strains and internal loads at one of its evaluation points, for elements that have sections.
    fn section(&self, _at: &At<'_>, _point: usize) -> Option<SectionState> {
        None
    }

    /// Whether it does nothing but store energy: the energy balance of every step then leaves it out.
    fn is_conservative(&self) -> bool {
        false
    }
}

/// What can be done with an element whose type is not known; every element that is [`Clone`] has it.
pub trait CloneElement {
    /// A copy.
    fn clone_box(&self) -> Box<dyn Element>;

    /// The name of its type.
    fn type_name(&self) -> &'static str;
}

impl<T: Element + Clone> CloneElement for T {
    fn clone_box(&self) -> Box<dyn Element> {
        Box::new(self.clone())
    }

    fn type_name(&self) -> &'static str {
        let path = std::any::type_name::<T>();
        let plain = path.split('<').next().unwrap_or(path);
        plain.rsplit("::").next().unwrap_or(plain)
    }
}

impl Clone for Box<dyn Element> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl dyn Element {
    /// The element as what it is, if it is of this type.
    pub fn downcast_ref<T: Element>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// How a node ends a step, given from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrescribedEnd {
    /// In this pose; the velocities follow from the integration formula.
    Pose(Vec3, Quaternion),
    /// In this pose with this velocity and angular velocity: nothing is left to the formula.
    Motion(Vec3, Quaternion, [Vec3; 2]),
}

/// The state at which an element is evaluated.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Time.
    pub time: f64,
    /// Motions of all nodes of the model; see [`At::motion`].
    pub motions: &'a [Motion],
    /// Motions as sensors read them: the same, but where their share in derivatives is sought.
    pub(crate) sensed: &'a [Motion],
    /// The element's own multipliers.
    pub multipliers: &'a [f64],
    /// Those of all elements.
    pub all_multipliers: &'a [f64],
    /// The input vector of the subsystem.
    pub inputs: &'a [f64],
    /// The time to which the inputs belong.
    pub input_time: f64,
    /// Fraction of the loads that acts, for load stepping.
    pub load_factor: f64,
    /// What the element remembers from the last accepted time; see [`Element::remember`].
    pub memory: &'a [f64],
    /// Time since then.
    pub elapsed: f64,
    /// The law that an iteration assumes of an element with several; the true one, if there is none.
    pub assumed: Option<f64>,
    /// All elements of the model, for sensors that read others.
    pub(crate) elements: &'a [Placed],
    /// What all elements remember.
    pub(crate) all_memory: &'a [f64],
}

impl<'a> At<'a> {
    /// The motion of a node.
    #[inline(always)]
    pub fn motion(&self, node: NodeId) -> &'a Motion {
        &self.motions[node.0]
    }

    /// Another element, and the state as it sees it; nothing where an element is evaluated alone.
    pub fn other(&self, element: ElementId) -> Option<(&'a dyn Element, Self)> {
        let placed = self.elements.get(element.0)?;
        let there = Self {
            multipliers: &self.all_multipliers[placed.multipliers.clone()],
            memory: &self.all_memory[placed.memory.clone()],
            assumed: None,
            ..*self
        };
        Some((&*placed.element, there))
    }
}

/// What a section of a beam or shell feels, in its own axes: strains and the loads conjugate to
/// them. Of a beam extension, two shears, twist and two curvatures; of a shell three membrane
/// strains, three curvatures and two transverse shears, with loads per length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionState {
    /// Strains; a beam has six.
    pub strains: [f64; 8],
    /// Internal loads.
    pub loads: [f64; 8],
}

impl SectionState {
    /// Strains and curvatures, forces and moments of a beam, turned into the axes of its section.
    pub(crate) fn of_beam(axes: &Mat3, strains: [Vec3; 2], loads: [Vec3; 2]) -> Self {
        let turned = |values: [Vec3; 2]| {
            let [first, second] = values.map(|v| axes.transpose_mul(v).0);
            let mut all = [0.0; 8];
            all[..3].copy_from_slice(&first);
            all[3..6].copy_from_slice(&second);
            all
        };
        Self {
            strains: turned(strains),
            loads: turned(loads),
        }
    }
}

/// How mass, damping and stiffness enter the matrix.
///
/// In a time step they are 1/c², 1/c and 1 with c = h b0, since velocity and acceleration change
/// by δ/c and δ/c² when the pose changes by δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of derivatives by accelerations.
    pub mass: f64,
    /// Of derivatives by velocities.
    pub damping: f64,
    /// Of derivatives by poses.
    pub stiffness: f64,
}

/// Inverse mass and inertia of a node, as a measure of how easily it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InverseMass {
    /// Inverse mass.
    pub linear: f64,
    /// Inverse of a typical moment of inertia.
    pub angular: f64,
}

/// Energy and powers of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementEnergy {
    /// Stored energy.
    pub stored: f64,
    /// Power lost.
    pub dissipated: f64,
    /// Power brought in from outside.
    pub supplied: f64,
}

/// Takes forces and constraint violations.
pub struct Residual<'a> {
    pub(crate) values: &'a mut [f64],
    /// First row of each of the element's nodes, then of its multipliers.
    pub(crate) rows: &'a [usize],
    /// Whether the element could not fit a frame of its own to its nodes.
    pub(crate) misfit: bool,
}

impl<'a> Residual<'a> {
    pub(crate) fn new(values: &'a mut [f64], rows: &'a [usize]) -> Self {
        Self {
            values,
            rows,
            misfit: false,
        }
    }

    /// Says that the element could not fit a frame of its own to its nodes: its forces are those of a frame nearby, and
    /// the step counts as one in which that has happened.
    pub fn note_misfit(&mut self) {
        self.misfit = true;
    }

    /// Adds a force and a moment at a node, given by its place in [`Element::nodes`].
    #[inline(always)]
    pub fn load(&mut self, node: usize, force: Vec3, moment: Vec3) {
        let row = self.rows[node];
        let values: &mut [f64; 6] = (&mut self.values[row..row + 6])
            .try_into()
            .expect("six components");
        for i in 0..3 {
            values[i] += force[i];
            values[3 + i] += moment[i];
        }
    }

    /// Sets the violation of a constraint.
    #[inline(always)]
    pub fn constraint(&mut self, index: usize, violation: f64) {
        let row = self.rows[self.rows.len() - 1] + index;
        self.values[row] = -violation;
    }
}

/// Three of a node's six unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Position, or force.
    Linear = 0,
    /// Rotation, or moment.
    Angular = 3,
}

/// Takes derivatives.
pub struct Jacobian<'a> {
    pub(crate) matrix: &'a mut [f64],
    /// For each pair of the element's blocks, row by row; the multipliers are the last block.
    pub(crate) destinations: &'a [Destination],
    pub(crate) blocks: usize,
}

/// A part of the derivatives, for what acts between two nodes of several.
pub(crate) struct Pairs<'a> {
    matrix: &'a mut [f64],
    destinations: [Destination; 4],
}

impl Pairs<'_> {
    pub fn jacobian(&mut self) -> Jacobian<'_> {
        Jacobian {
            matrix: self.matrix,
            destinations: &self.destinations,
            blocks: 2,
        }
    }
}

/// Marks blocks that are not in the matrix: those of the ground.
pub(crate) const NOWHERE: Destination = Destination {
    start: usize::MAX,
    stride: 0,
};

impl Jacobian<'_> {
    /// Adds the negative derivative of a force or moment by a position or rotation, nodes given by
    /// their places in [`Element::nodes`].
    #[inline(always)]
    pub fn add(&mut self, row: (usize, Half), column: (usize, Half), m: Mat3) {
        let to = self.destinations[row.0 * self.blocks + column.0];
        if to == NOWHERE {
            return;
        }
        let start = to.start + column.1 as usize * to.stride + row.1 as usize;
        for j in 0..3 {
            let target = &mut self.matrix[start + j * to.stride..][..3];
            for (entry, row) in target.iter_mut().zip(&m.0) {
                *entry += row[j];
            }
        }
    }

    /// The derivatives of the forces on two neighbouring nodes by the motions of two neighbouring
    /// nodes, as if these were all that there are.
    pub(crate) fn pairs(&mut self, row: usize, column: usize) -> Pairs<'_> {
        let at = |i: usize, j: usize| self.destinations[(row + i) * self.blocks + column + j];
        Pairs {
            destinations: [at(0, 0), at(0, 1), at(1, 0), at(1, 1)],
            matrix: self.matrix,
        }
    }

    /// Adds to the gradient of a constraint without adding to its reaction.
    pub fn constraint_row(&mut self, index: usize, node: usize, position: Vec3, rotation: Vec3) {
        let row = self.destinations[(self.blocks - 1) * self.blocks + node];
        if row == NOWHERE {
            return;
        }
        for i in 0..3 {
            self.matrix[row.start + index + i * row.stride] += position[i];
            self.matrix[row.start + index + (3 + i) * row.stride] += rotation[i];
        }
    }

    /// Adds the negative derivative of the force and the moment on a node by a multiplier.
    pub fn by_multiplier(&mut self, index: usize, node: usize, force: Vec3, moment: Vec3) {
        let column = self.destinations[node * self.blocks + self.blocks - 1];
        if column == NOWHERE {
            return;
        }
        let start = column.start + index * column.stride;
        for i in 0..3 {
            self.matrix[start + i] += force[i];
            self.matrix[start + 3 + i] += moment[i];
        }
    }

    /// Sets the gradient of a constraint by the pose of a node.
    #[inline(always)]
    pub fn constraint(&mut self, index: usize, node: usize, by_position: Vec3, by_rotation: Vec3) {
        let last = self.blocks - 1;
        let row = self.destinations[last * self.blocks + node];
        if row == NOWHERE {
            return;
        }
        let column = self.destinations[node * self.blocks + last];
        for i in 0..3 {
            self.matrix[row.start + index + i * row.stride] += by_position[i];
            self.matrix[row.start + index + (3 + i) * row.stride] += by_rotation[i];
            self.matrix[column.start + index * column.stride + i] += by_position[i];
            self.matrix[column.start + index * column.stride + 3 + i] += by_rotation[i];
        }
    }
}
