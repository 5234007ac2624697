//! Contacts of a model: shapes on nodes, and grains. What a model says of them is here, how they act
//! is in `scene`, what ends a run in `refusals`.

pub(crate) mod interface;
mod mobility;
mod refusals;
pub(crate) mod scene;

pub use oldham_contact::{
    Can, FieldError, HeightField, HullError, Impacts, MassProperties, Polytope, Shape, Start,
    StepReport, Surface, Wall,
};
use oldham_space::Vec3;

use crate::node::{Marker, NodeId};

/// All contacts of a model.
#[derive(Clone, Debug, Default)]
pub struct ContactModel {
    /// Shapes on nodes. Those of one node, and of two moving nodes that a joint connects, pass through each other.
    pub shapes: Vec<ContactShape>,
    /// Pairs of nodes whose shapes pass through each other besides.
    pub excluded: Vec<[NodeId; 2]>,
    /// Spheres without nodes.
    pub grains: Vec<Grains>,
    /// How contacts are found and solved.
    pub options: ContactOptions,
}

/// A contact that presses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressedContact {
    /// Its normal.
    pub normal: Vec3,
    /// Whether one side is the ground.
    pub is_on_ground: bool,
    /// Rows that hold: the normal, and the tangents in which it sticks.
    pub rows: usize,
}

/// A shape in contact.
#[derive(Clone, Debug)]
pub struct ContactShape {
    /// Its name in messages.
    pub name: String,
    /// Its frame on its node, which may be the ground.
    pub at: Marker,
    /// The shape.
    pub shape: Shape,
    /// What it is made of.
    pub surface: Surface,
}

/// Spheres of one kind.
#[derive(Clone, Debug)]
pub struct Grains {
    /// Their name in messages.
    pub name: String,
    /// Initial centres in the absolute frame.
    pub centres: Vec<Vec3>,
    /// Their radius.
    pub radius: f64,
    /// Their density.
    pub density: f64,
    /// What they are made of; the same for all grains of a model.
    pub surface: Surface,
    /// The shape that contains them, by its place among the shapes: a grain outside is lost.
    pub container: Option<usize>,
}

/// How contacts are found and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactOptions {
    /// Contacts with a gap below this are taken into account, in metres. By default a tenth of the smallest
    /// radius or half edge, at most a millimetre.
    pub reach: Option<f64>,
    /// Penetrations beyond this are taken back by moving bodies apart, without velocity. By default a thousandth of
    /// the reach, at most a micrometre.
    pub penetration: Option<f64>,
    /// What happens to bodies that overlap at the start.
    pub start: Start,
    /// The law of friction.
    pub law: ContactLaw,
    /// How blows of bodies that rebound are passed on.
    pub impacts: Impacts,
    /// Most contacts that are solved by pivoting, with exact sets; none by default.
    pub few: usize,
    /// The residual in m/s that is accepted.
    pub tolerance: f64,
    /// Bodies farther than this from the origin are lost, in metres.
    pub domain: f64,
    /// Whether bodies that rest are left alone until something changes. Those that joints hold never are.
    pub sleep: bool,
}

/// The law of friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactLaw {
    /// Coulomb's law.
    Coulomb,
    /// The law of the convex program, by which a contact opens with μ times its sliding velocity.
    Convex,
}

/// Most sweeps of a step.
pub(crate) const MOST_SWEEPS: usize = 5000;

impl Default for ContactOptions {
    fn default() -> Self {
        Self {
            reach: None,
            penetration: None,
            start: Start::Refuse,
            law: ContactLaw::Coulomb,
            impacts: Impacts::InTurn,
            few: 0,
            tolerance: 1e-6,
            domain: 1e4,
            sleep: false,
        }
    }
}

impl ContactModel {
    /// The smallest radius or half edge; a millimetre where there is none.
    pub fn smallest(&self) -> f64 {
        let shapes = self.shapes.iter().map(|shape| shape.shape.smallest());
        let grains = self.grains.iter().map(|grains| grains.radius);
        let smallest = shapes.chain(grains).fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { smallest } else { 1e-3 }
    }

    /// The gap below which contacts are taken into account.
    pub fn reach(&self) -> f64 {
        let reach = self.options.reach;
        reach.unwrap_or_else(|| (0.1 * self.smallest()).min(1e-3))
    }

    /// The penetration beyond which bodies are moved apart.
    pub fn penetration(&self) -> f64 {
        let penetration = self.options.penetration;
        penetration.unwrap_or_else(|| (1e-3 * self.reach()).min(1e-6))
    }

    /// What is left of it where only some nodes are known, under other numbers. Shapes of the ground stay if anything
    /// is left that moves; grains stay with their containers, and without one with the first shapes.
    pub(crate) fn within(&self, here: impl Fn(NodeId) -> Option<NodeId>) -> Self {
        let mut left = Self {
            options: self.options,
            ..Self::default()
        };
        let known = |shape: &ContactShape| here(shape.at.node);
        let moves = |shape: &ContactShape| known(shape).is_some_and(|node| node != NodeId::GROUND);
        if !self.shapes.iter().any(moves) {
            return left;
        }
        let mut places = Vec::new();
        for shape in &self.shapes {
            places.push(known(shape).map(|_| left.shapes.len()));
            if let Some(node) = known(shape) {
                let at = Marker { node, ..shape.at };
                left.shapes.push(ContactShape {
                    at,
                    ..shape.clone()
                });
            }
        }
        for &[a, b] in &self.excluded {
            if let (Some(a), Some(b)) = (here(a), here(b)) {
                left.excluded.push([a, b]);
            }
        }
        for grains in &self.grains {
            let container = grains.container.map(|container| places[container]);
            if container != Some(None) {
                left.grains.push(Grains {
                    container: container.flatten(),
                    ..grains.clone()
                });
            }
        }
        left
    }

    /// Whether there is nothing to touch.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty() && self.grains.is_empty()
    }
}
