//! Gears, racks, screws: a linear relation between two joint coordinates.

use super::{Coordinate, Ends};
use crate::element::{
    At, Element, ElementEnergy, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// Keeps `first ratio · first coordinate + second ratio · second coordinate` at its initial value.
/// Each coordinate is measured by its own pair of markers, which some joint keeps aligned.
#[derive(Clone, Debug)]
pub struct Transmission {
    nodes: [NodeId; 4],
    sides: [Side; 2],
}

#[derive(Clone, Copy, Debug)]
struct Side {
    coordinate: Coordinate,
    ends: Ends,
    ratio: f64,
}

impl Transmission {
    /// Two wheels on a common carrier: `radius₁ · angle₁ + radius₂ · angle₂` is constant, so that
    /// wheels of positive radius turn against each other. Each pair of markers is one on the
    /// carrier and one on the wheel.
    pub fn gear(first: [Marker; 2], second: [Marker; 2], radii: [f64; 2]) -> Self {
        Self::new(
            (Coordinate::Angle, first, radii[0]),
            (Coordinate::Angle, second, radii[1]),
        )
    }

    /// A pinion that moves a rack: the distance is `radius · angle`.
    pub fn rack(pinion: [Marker; 2], rack: [Marker; 2], radius: f64) -> Self {
        Self::new(
            (Coordinate::Angle, pinion, radius),
            (Coordinate::Slide, rack, -1.0),
        )
    }

    /// Any two coordinates with their ratios.
    pub fn new(
        first: (Coordinate, [Marker; 2], f64),
        second: (Coordinate, [Marker; 2], f64),
    ) -> Self {
        let sides = [first, second].map(|(coordinate, [a, b], ratio)| Side {
            coordinate,
            ends: Ends::new(a, b),
            ratio,
        });
        let [[a, b], [c, d]] = sides.map(|side| side.ends.nodes);
        Self {
            nodes: [a, b, c, d],
            sides,
        }
    }

    /// Both coordinates with their markers and ratios.
    pub(crate) fn relation(&self) -> [(Coordinate, Ends, f64); 2] {
        self.sides
            .map(|side| (side.coordinate, side.ends, side.ratio))
    }

    /// By how much the sum of ratio times coordinate is beyond what it was at the start.
    pub(crate) fn violation(&self, at: &At<'_>) -> f64 {
        self.sum(at) - at.memory[2]
    }

    /// Both coordinates.
    fn coordinates(&self, at: &At<'_>) -> [f64; 2] {
        [0, 1].map(|i| {
            let side = &self.sides[i];
            side.coordinate.value(&side.ends.geometry(at), at.memory[i])
        })
    }

    /// The sum of ratio times coordinate.
    fn sum(&self, at: &At<'_>) -> f64 {
        let values = self.coordinates(at);
        self.sides[0].ratio * values[0] + self.sides[1].ratio * values[1]
    }

    /// Its rate.
    fn rate(&self, at: &At<'_>) -> f64 {
        let rate = |side: &Side| {
            let geometry = side.ends.geometry(at);
            side.ratio * side.coordinate.rate(&side.ends, &geometry, at)
        };
        self.sides.iter().map(rate).sum()
    }

    /// Adds forces on all nodes that do `factor` times the work of the sum.
    fn load(&self, factor: f64, at: &At<'_>, out: &mut Residual<'_>) {
        for (i, side) in self.sides.iter().enumerate() {
            let gradient = side.coordinate.gradient(&side.ends.geometry(at));
            for node in 0..2 {
                let (x, r) = (gradient.position[node], gradient.rotation[node]);
                let factor = factor * side.ratio;
                out.load(2 * i + node, x * factor, r * factor);
            }
        }
    }
}

impl Element for Transmission {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        for side in &mut self.sides {
            refer_nodes(&mut side.ends.nodes, references);
        }
    }

    fn constraints(&self) -> usize {
        1
    }

    /// Both coordinates, to count turns, and the value to keep.
    fn memory(&self) -> usize {
        3
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let values = self.coordinates(at);
        memory[..2].copy_from_slice(&values);
        memory[2] = match at.elapsed == 0.0 {
            true => self.sum(at),
            false => at.memory[2],
        };
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        out.constraint(0, self.violation(at));
        self.load(-at.multipliers[0], at, out);
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    fn violation_derivatives(&self, at: &At<'_>, _step: f64, out: &mut [[f64; 2]]) {
        out[0] = [0.0; 2];
        for side in &self.sides {
            let rates = side.coordinate.derivatives(&side.ends, at);
            for (sum, rate) in out[0].iter_mut().zip(rates) {
                *sum += side.ratio * rate;
            }
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        for (i, side) in self.sides.iter().enumerate() {
            let geometry = side.ends.geometry(at);
            let gradient = side.coordinate.gradient(&geometry);
            let scaled = |v: Vec3| v * side.ratio;
            for node in 0..2 {
                let (x, r) = (gradient.position[node], gradient.rotation[node]);
                out.constraint(0, 2 * i + node, scaled(x), scaled(r));
            }
            let multiplier = at.multipliers[0] * side.ratio * weights.stiffness;
            let mut pairs = out.pairs(2 * i, 2 * i);
            let out = &mut pairs.jacobian();
            side.coordinate.add_hessian(&geometry, multiplier, out);
        }
    }
}

/// The same relation with teeth or a belt that give: a law of how far the sum is from its initial
/// value. A gear mesh with its stiffness and backlash, a belt with its stretch.
#[derive(Clone, Debug)]
pub struct ElasticTransmission {
    relation: Transmission,
    law: Law,
}

impl ElasticTransmission {
    /// A law of the deviation from a relation; none that remembers.
    pub fn new(relation: Transmission, law: Law) -> Self {
        debug_assert!(law.memory() == 0, "the law of a transmission has no memory");
        Self { relation, law }
    }

    fn deviation(&self, at: &At<'_>) -> [f64; 2] {
        [self.relation.sum(at) - at.memory[2], self.relation.rate(at)]
    }
}

impl Element for ElasticTransmission {
    fn nodes(&self) -> &[NodeId] {
        self.relation.nodes()
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.relation.refer(references);
        self.law.refer(references);
    }

    fn memory(&self) -> usize {
        self.relation.memory()
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        self.relation.remember(at, memory);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let [beyond, rate] = self.deviation(at);
        let tension = self.law.tension(beyond, rate, at);
        self.relation.load(-tension, at, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let [beyond, rate] = self.deviation(at);
        let (tension, by_value, by_rate) = self.law.evaluate(beyond, rate, at);
        let k = weights.stiffness * by_value + weights.damping * by_rate;
        let sides = &self.relation.sides;
        let geometries = [0, 1].map(|i: usize| sides[i].ends.geometry(at));
        let gradients = [0, 1].map(|i: usize| sides[i].coordinate.gradient(&geometries[i]));
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let k = k * sides[row].ratio * sides[column].ratio;
            let mut pairs = out.pairs(2 * row, 2 * column);
            gradients[row].add_dyad(&gradients[column], k, &mut pairs.jacobian());
        }
        for (i, side) in sides.iter().enumerate() {
            let tension = tension * side.ratio * weights.stiffness;
            let mut pairs = out.pairs(2 * i, 2 * i);
            let out = &mut pairs.jacobian();
            side.coordinate.add_hessian(&geometries[i], tension, out);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let [beyond, rate] = self.deviation(at);
        self.law.energy(beyond, rate, at)
    }
}
