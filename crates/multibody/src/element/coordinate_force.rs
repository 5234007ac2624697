//! A force or torque along the coordinate of a joint: torsion springs, end stops, motors, and what
//! comes through a port.

use super::account::Beyond;
use super::{
    At, Element, ElementEnergy, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::drive::Drive;
use crate::joint::{Coordinate, Ends, Geometry};
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};

/// A law of the coordinate between two markers, whose third axes a joint should keep aligned: an angle is
/// the twist where none does. It is between -π and π at the start; from there on whole turns count.
#[derive(Clone, Debug)]
pub struct CoordinateForce {
    ends: Ends,
    coordinate: Coordinate,
    spring: Beyond,
}

/// The coordinate and its rate, as the law sees them.
struct Reading {
    geometry: Geometry,
    beyond: f64,
    rate: f64,
}

impl CoordinateForce {
    /// A law of `coordinate - free` and its rate, positive where it pulls the coordinate back; none
    /// that remembers.
    pub fn new(
        coordinate: Coordinate,
        ends: [Marker; 2],
        law: Law,
        free: impl Into<Drive>,
    ) -> Self {
        debug_assert!(law.memory() == 0, "a law of a coordinate has no memory");
        Self {
            ends: Ends::of(ends),
            coordinate,
            spring: Beyond {
                law,
                free: free.into(),
                follows: false,
            },
        }
    }

    /// Torque `stiffness · (angle - free_angle) + damping · rate`.
    pub fn torsion_spring(
        a: Marker,
        b: Marker,
        stiffness: f64,
        damping: f64,
        free_angle: impl Into<Drive>,
    ) -> Self {
        let law = Law::Linear { stiffness, damping };
        Self::new(Coordinate::Angle, [a, b], law, free_angle)
    }

    /// The coordinate, an angle over any number of turns.
    pub(crate) fn value(&self, at: &At<'_>) -> f64 {
        let geometry = self.ends.geometry(at);
        self.coordinate.value(&geometry, at.memory[0])
    }

    fn read(&self, at: &At<'_>) -> Reading {
        let geometry = self.ends.geometry(at);
        Reading {
            beyond: self.coordinate.value(&geometry, at.memory[0]) - self.spring.free.at(at),
            rate: self.coordinate.rate(&self.ends, &geometry, at),
            geometry,
        }
    }
}

impl Element for CoordinateForce {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
        self.spring.free.refer(references);
        self.spring.law.refer(references);
    }

    /// The coordinate, to count whole turns.
    fn memory(&self) -> usize {
        1
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        memory[0] = self.value(at);
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let r = self.read(at);
        mixed(
            self.spring.law.side(r.beyond, r.rate, at),
            self.spring.free.side(at),
        )
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let r = self.read(at);
        let tension = self.spring.law.tension(r.beyond, r.rate, at);
        self.coordinate.gradient(&r.geometry).load(-tension, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let r = self.read(at);
        let (tension, by_value, by_rate) = self.spring.law.evaluate(r.beyond, r.rate, at);
        let k = weights.stiffness * by_value + weights.damping * by_rate;
        let gradient = self.coordinate.gradient(&r.geometry);
        gradient.add_dyad(&gradient, k, out);
        let tension = tension * weights.stiffness;
        self.coordinate.add_hessian(&r.geometry, tension, out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let r = self.read(at);
        self.spring.energy(r.beyond, r.rate, at)
    }
}
