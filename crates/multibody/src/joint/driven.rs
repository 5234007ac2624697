//! A joint's coordinate that is given: its value, its rate, or its motion from a port.

use super::{Coordinate, Ends};
use crate::drive::Drive;
use crate::element::{
    At, Element, ElementEnergy, Jacobian, References, Residual, Weights, refer_nodes,
};
use crate::node::{Marker, NodeId};

/// What is given of a coordinate.
#[derive(Clone, Debug)]
pub enum Target {
    /// Its value.
    Value(Drive),
    /// Its rate: from where it is at the start it goes on as the integral of the rate says.
    Rate(Drive),
    /// Its motion, in three components of the input vector from this one on: value, rate and
    /// acceleration. Only the value is enforced; the others serve at the start.
    Motion(usize),
}

/// Prescribes the coordinate of a joint that some other element keeps together.
#[derive(Clone, Debug)]
pub struct DrivenCoordinate {
    ends: Ends,
    coordinate: Coordinate,
    target: Target,
}

/// Nodes and weights of the Gauss–Legendre rule of three points on (0, 1).
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

impl DrivenCoordinate {
    /// The coordinate between two markers.
    pub fn new(coordinate: Coordinate, ends: [Marker; 2], target: Target) -> Self {
        Self {
            ends: Ends::of(ends),
            coordinate,
            target,
        }
    }

    /// What it drives.
    pub(crate) fn driven(&self) -> (Coordinate, &Ends) {
        (self.coordinate, &self.ends)
    }

    /// Whether what is given tells how it goes on.
    pub(crate) fn has_rates(&self) -> bool {
        match &self.target {
            Target::Value(drive) | Target::Rate(drive) => {
                !matches!(drive, Drive::Input(_) | Drive::Measured(_))
            }
            Target::Motion(_) => true,
        }
    }

    /// Where the coordinate should be.
    pub(crate) fn target(&self, at: &At<'_>) -> f64 {
        // What is received goes on between exchanges.
        let later = at.time - at.input_time;
        match &self.target {
            Target::Value(drive) => drive.at(at),
            Target::Motion(first) => {
                let [x, v, a] = [0, 1, 2].map(|i: usize| at.inputs[first + i]);
                x + later * (v + 0.5 * later * a)
            }
            Target::Rate(drive) => {
                let [from, rate_before] = [at.memory[0], at.memory[1]];
                from + match drive {
                    Drive::Input(_) | Drive::Measured(_) => {
                        let rate = drive.at(at);
                        0.5 * (rate_before + rate) * at.elapsed + rate * later
                    }
                    // Whatever has passed since the value was remembered.
                    given => integral(given, at.memory[2], at.time),
                }
            }
        }
    }

    /// Rate and second derivative of where it should be.
    pub(crate) fn target_rates(&self, at: &At<'_>, step: f64) -> [f64; 2] {
        match &self.target {
            Target::Value(drive) => drive.derivatives(at.time, step),
            Target::Motion(first) => [at.inputs[first + 1], at.inputs[first + 2]],
            Target::Rate(drive) => {
                let [change, _] = drive.derivatives(at.time, step);
                [drive.at(at), if change.is_nan() { 0.0 } else { change }]
            }
        }
    }

    fn violation(&self, at: &At<'_>) -> f64 {
        let target = self.target(at);
        self.coordinate.value(&self.ends.geometry(at), target) - target
    }
}

fn integral(rate: &Drive, from: f64, to: f64) -> f64 {
    let length = to - from;
    let part = |&(node, weight): &(f64, f64)| weight * rate.value(from + node * length, &[]);
    length * GAUSS.iter().map(part).sum::<f64>()
}

impl Element for DrivenCoordinate {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
        match &mut self.target {
            Target::Value(drive) | Target::Rate(drive) => drive.refer(references),
            Target::Motion(first) => references.input(first),
        }
    }

    fn constraints(&self) -> usize {
        1
    }

    /// Of a given rate: the target, the rate, and the time to which they belong.
    fn memory(&self) -> usize {
        match self.target {
            Target::Rate(_) => 3,
            _ => 0,
        }
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        if let Target::Rate(drive) = &self.target {
            memory[0] = match at.elapsed == 0.0 {
                true => self.coordinate.value(&self.ends.geometry(at), at.memory[0]),
                false => self.target(at),
            };
            memory[1] = drive.at(at);
            memory[2] = at.time;
        }
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        out.constraint(0, self.violation(at));
        let gradient = self.coordinate.gradient(&self.ends.geometry(at));
        gradient.load(-at.multipliers[0], out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let geometry = self.ends.geometry(at);
        let gradient = self.coordinate.gradient(&geometry);
        for node in 0..2 {
            let (x, r) = (gradient.position[node], gradient.rotation[node]);
            out.constraint(0, node, x, r);
        }
        let multiplier = at.multipliers[0] * weights.stiffness;
        self.coordinate.add_hessian(&geometry, multiplier, out);
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    fn violation_derivatives(&self, at: &At<'_>, step: f64, out: &mut [[f64; 2]]) {
        let own = self.coordinate.derivatives(&self.ends, at);
        let given = self.target_rates(at, step);
        out[0] = [own[0] - given[0], own[1] - given[1]];
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let geometry = self.ends.geometry(at);
        let rate = self.coordinate.rate(&self.ends, &geometry, at);
        ElementEnergy {
            supplied: -at.multipliers[0] * rate,
            ..ElementEnergy::default()
        }
    }
}
