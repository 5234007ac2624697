//! Trees of rigid bodies in the coordinates of their joints.
//!
//! The nodes stay what everything else sees: elements, sensors, ports, energies and states know no others. Here their
//! motions follow from the coordinates of the joints, and what elements do to them is summed up over the branches:
//!
//! - `layout`: which joints make the tree, and in which directions they let their nodes move;
//! - `kinematics`: from coordinates to the motions of the nodes and back;
//! - `dynamics`: composite inertia, the mass matrix with the sparsity of the branches, its factors, accelerations;
//! - `reactions`: accelerations of the nodes and multipliers of the joints, as the absolute equations have them;
//! - `step`: the Runge–Kutta method;
//! - `implicit`: the implicit formulas, by Newton's iteration in the increments of the joints; `trial` has what a step knows
//!   of the past, `tangent` the derivatives, `pattern` which freedoms meet in them, `loops` the constraints on top;
//! - `solver`: the absolute equations of inertia and constraints solved by the recursion, for steps with impulses.
//!
//! A state is that of the nodes: coordinates are read from it where a step begins, so that checkpoints, rollback and
//! analyses need to know of no others. For the same reason nothing here remembers anything that changes results.
//!
//! All spatial quantities of a tree are taken about the point where the first of its nodes is, in absolute axes:
//! inertias and loads then add up without any transformation, and lose no digits far from the origin.
//!
//! # References
//! R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, Sect. 5.3 (Newton–Euler), 6.2 (composite inertia),
//! 6.5 (factors with the sparsity of branches).

#[cfg(test)]
mod against_pinocchio;
mod dynamics;
mod implicit;
mod kinematics;
mod layout;
mod loops;
mod pattern;
mod reactions;
mod screw;
mod solver;
mod step;
mod tangent;
#[cfg(test)]
mod tangent_by_differences;
mod trial;

use crate::element::{At, ElementId};
use crate::error::ModelError;
use crate::integrator::Method;
use crate::model::Model;
use crate::node::Motion;
use layout::Layout;
use oldham_space::{Quaternion, Vec3};
use pattern::Pattern;
use screw::{Screw, WorldInertia};
use trial::Trial;

/// In which coordinates a mechanism is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Six of each node, with multipliers for the joints.
    #[default]
    Absolute,
    /// Those of the joints, where these make a tree of rigid bodies.
    Joint,
}

/// Why some joints make no tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// Names.
    pub elements: Vec<String>,
    pub why: Why,
}

/// What is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// They close loops.
    Closes,
    /// They are of kinds that no tree has.
    Unknown,
    /// They follow inputs or sensors.
    Received,
}

/// A freedom with less inertia than this fraction of what moves there, about the tree's first node, has none.
const NO_INERTIA: f64 = 1e-12;

/// Where a link is when a step begins.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// The child's marker, seen from the parent's; of a hinge projected on its axis.
    turn: Quaternion,
    /// Both angles of a universal joint.
    angles: [f64; 2],
    /// Along the slides.
    slides: [f64; 3],
}

/// A tree with its scratch memory.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    layout: Layout,
    /// Names of the joints, or of the nodes that no joint holds, of the links.
    names: Vec<String>,
    /// The freedoms on which each depends.
    pattern: Pattern,
    /// The link of each node but the ground.
    links: Vec<usize>,
    starts: Vec<Start>,
    /// Value and rate of each column, and the acceleration of those that are given; in implicit steps of all. Of the
    /// freedoms the value is the way since the step began, as a rotation vector for a ball.
    values: Vec<f64>,
    rates: Vec<f64>,
    given: Vec<f64>,
    /// Rates of the freedoms where the step begins.
    first_rates: Vec<f64>,
    /// Directions of the columns in absolute axes.
    directions: Vec<Vec3>,
    /// Where each joint turns, in space and from the place of its tree.
    centres: Vec<Vec3>,
    arms: Vec<Vec3>,
    /// Directions in which the rows of all joints hold.
    holds: Vec<Vec3>,
    /// First multiplier of each element.
    firsts: Vec<usize>,
    /// The columns as motions.
    screws: Vec<Screw>,
    /// Of the links: place against the root, motion, acceleration, own and composite inertia, load.
    places: Vec<Vec3>,
    motions: Vec<Screw>,
    accelerations: Vec<Screw>,
    inertias: Vec<WorldInertia>,
    composites: Vec<WorldInertia>,
    loads: Vec<Screw>,
    sums: Vec<Screw>,
    /// The mass matrix, then its factors L' D L: of each row 1/d first, then l.
    mass: Vec<f64>,
    /// Accelerations of the freedoms.
    found: Vec<f64>,
    /// Rates of coordinates and velocities at the newest stage, and their sums.
    slopes: [Vec<f64>; 2],
    summed: [Vec<f64>; 2],
    /// What the accelerations in `found` belong to, if they are those of the end of a step.
    known: Known,
    /// Acceleration of the ground against what falls freely.
    resting: Screw,
    /// Of a method with an implicit formula.
    trial: Option<Box<Trial>>,
}

/// For what accelerations were found.
#[derive(Clone, Debug, Default)]
struct Known {
    is_valid: bool,
    time: f64,
    motions: Vec<Motion>,
    inputs: Vec<f64>,
    memory: Vec<f64>,
    step: f64,
}

impl Tree {
    /// The tree of a model for a method, or what is wrong with it.
    pub fn new(model: &Model, method: Method) -> Result<Self, Vec<ModelError>> {
        let structures = model.elements.iter();
        let structures = structures.filter(|named| named.element.is_structural());
        let flexible: Vec<String> = structures.map(|named| named.name.clone()).collect();
        if !flexible.is_empty() {
            let elements = flexible;
            return Err(vec![ModelError::NotOfATree { elements }]);
        }
        let layout = Layout::new(model, !method.is_explicit()).map_err(|refusal| {
            let joints = refusal.elements;
            vec![match refusal.why {
                Why::Closes => ModelError::NotATree { joints },
                Why::Unknown => ModelError::NotOfATree { elements: joints },
                Why::Received => ModelError::MotionWithoutRates { joints },
            }]
        })?;
        let mut tree = Self::with(layout, model);
        tree.check_inertia(model)?;
        if !method.is_explicit() {
            tree.check_reactions(model)?;
            tree.trial = Some(Box::new(Trial::new(&tree, model)));
        }
        Ok(tree)
    }

    fn with(layout: Layout, model: &Model) -> Self {
        let (links, columns) = (layout.links.len(), layout.columns.len());
        let freedoms = layout.freedoms;
        // The freedom before the first of a link: the last one of those that carry it.
        let mut last: Vec<Option<usize>> = Vec::with_capacity(links);
        let mut before: Vec<Option<usize>> = vec![None; freedoms];
        for link in &layout.links {
            let mut newest = link.carrier.and_then(|carrier| last[carrier]);
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                if id < freedoms {
                    before[id] = newest;
                    newest = Some(id);
                }
            }
            last.push(newest);
        }
        let pattern = Pattern::of_chains(&before);
        let mut link_of = vec![0; model.nodes.len()];
        for (index, link) in layout.links.iter().enumerate() {
            link_of[link.node] = index;
        }
        let names = layout.links.iter().map(|link| match link.joint {
            Some(element) => model.elements[element].name.clone(),
            None => model.nodes[link.node].name.clone(),
        });
        let mut next = 0;
        let firsts = model.elements.iter().map(|named| {
            next += named.element.constraints();
            next - named.element.constraints()
        });
        Self {
            names: names.collect(),
            mass: vec![0.0; pattern.entries()],
            pattern,
            links: link_of,
            starts: vec![Start::default(); links],
            values: vec![0.0; columns],
            rates: vec![0.0; columns],
            given: vec![0.0; columns],
            first_rates: vec![0.0; freedoms],
            directions: vec![Vec3::ZERO; columns],
            centres: vec![Vec3::ZERO; links],
            arms: vec![Vec3::ZERO; links],
            holds: vec![Vec3::ZERO; layout.links.iter().map(|link| link.rows.len()).sum()],
            firsts: firsts.collect(),
            screws: vec![Screw::ZERO; columns],
            places: vec![Vec3::ZERO; links],
            motions: vec![Screw::ZERO; links],
            accelerations: vec![Screw::ZERO; links],
            inertias: vec![WorldInertia::default(); links],
            composites: vec![WorldInertia::default(); links],
            loads: vec![Screw::ZERO; links],
            sums: vec![Screw::ZERO; links],
            found: vec![0.0; freedoms],
            slopes: [vec![0.0; freedoms], vec![0.0; freedoms]],
            summed: [vec![0.0; freedoms], vec![0.0; freedoms]],
            known: Known {
                motions: vec![Motion::default(); model.nodes.len()],
                ..Known::default()
            },
            resting: Screw::ZERO,
            trial: None,
            layout,
        }
    }

    /// Makes room for what a step keeps, whose sizes do not change in a run.
    pub fn reserve(&mut self, inputs: usize, memory: usize) {
        self.known.is_valid = false;
        self.known.inputs.clear();
        self.known.inputs.reserve(inputs);
        self.known.memory.clear();
        self.known.memory.reserve(memory);
    }

    /// Elements that push and pull.
    pub fn acting(&self) -> &[usize] {
        &self.layout.acting
    }

    /// The link of a node.
    fn link_of(&self, node: usize) -> usize {
        self.links[node]
    }

    /// No force follows from reactions, which are found when a step is done.
    fn check_reactions(&self, model: &Model) -> Result<(), Vec<ModelError>> {
        let is_joint = |read: &ElementId| model.elements[read.0].element.constraints() > 0;
        let acting = self
            .layout
            .acting
            .iter()
            .map(|&index| &model.elements[index]);
        let reading = acting.filter(|named| model.read_by(named).iter().any(is_joint));
        let elements: Vec<String> = reading.map(|named| named.name.clone()).collect();
        match elements.is_empty() {
            true => Ok(()),
            false => Err(vec![ModelError::ReactionsInJointCoordinates { elements }]),
        }
    }

    /// Every freedom moves some mass.
    fn check_inertia(&mut self, model: &Model) -> Result<(), Vec<ModelError>> {
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        let inertia: Vec<_> = model.nodes.iter().map(|node| node.inertia).collect();
        self.locate(&motions);
        self.find_dynamics(&motions, &inertia, Vec3::ZERO, &[]);
        let columns = self.layout.columns[..self.layout.freedoms].iter();
        let scales = columns.zip(&self.screws).map(|(column, screw)| {
            let inertia = &self.composites[column.link];
            let [largest, mass] = [inertia.own.norm(), inertia.mass];
            let (spin, velocity) = (screw.angular, screw.linear);
            largest * spin.dot(spin) + mass * velocity.dot(velocity)
        });
        let scales: Vec<f64> = scales.collect();
        let factored = self.factor();
        let pivot = |freedom: usize| 1.0 / self.mass[self.pattern.start(freedom)];
        let is_lost = |&freedom: &usize| pivot(freedom) <= NO_INERTIA * scales[freedom];
        let weak = match factored {
            Err(link) => Some(link),
            Ok(()) => (0..scales.len())
                .find(is_lost)
                .map(|freedom| self.layout.columns[freedom].link),
        };
        weak.map_or(Ok(()), |link| {
            let joint = self.names[link].clone();
            Err(vec![ModelError::NoInertia { joint }])
        })
    }

    /// Values, rates and accelerations of the columns whose motion is given, but for those of followers.
    fn find_given<'a>(&mut self, at: impl Fn(usize) -> At<'a>, step: f64) {
        for index in 0..self.layout.given.len() {
            let given = self.layout.given[index].clone();
            kinematics::find_given(self, &given, &at, step);
        }
    }
}
