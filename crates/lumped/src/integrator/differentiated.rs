//! Rates of boundary nodes of which only the position is received.
//!
//! The formula that advances the own nodes, read the other way round, gives the rate that belongs
//! to a new position. Each part differentiates the positions it was given itself, so that its
//! damping forces are consistent with its own integration.

use oldham_cosim::{TwoStep, Visitor};

use crate::plant::Plant;
use crate::wiring::Target;

/// Position-driven boundary nodes and what is remembered of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DifferentiatedNodes {
    boundary_nodes: Vec<Boundary>,
}

#[derive(Clone, Debug)]
struct Boundary {
    slot: usize,
    /// Components of the input vector with velocity and acceleration at the start, if received.
    starting_rates: [Option<usize>; 2],
    /// Position, velocity and acceleration at the present point and one step back.
    now: [f64; 3],
    before: [f64; 3],
}

impl DifferentiatedNodes {
    pub(crate) fn new(plant: &Plant) -> Self {
        let wiring = &plant.wiring;
        let boundary = |&slot: &usize| Boundary {
            slot,
            starting_rates: [
                wiring.component(Target::StartingVelocity(slot)),
                wiring.component(Target::StartingAcceleration(slot)),
            ],
            now: [0.0; 3],
            before: [0.0; 3],
        };
        Self {
            boundary_nodes: wiring.position_driven.iter().map(boundary).collect(),
        }
    }

    /// The integration starts here: rates are as received.
    pub(crate) fn start(&mut self, plant: &mut Plant) {
        for boundary in &mut self.boundary_nodes {
            let [v, a] = boundary
                .starting_rates
                .map(|component| component.map_or(0.0, |component| plant.inputs()[component]));
            boundary.now = [plant.motion.x[boundary.slot], v, a];
        }
        self.place(plant);
    }

    /// The positions of the last step have been corrected: their rates follow, with the weight g of
    /// the new rate in its formula.
    pub(crate) fn correct(&mut self, plant: &mut Plant, g: f64) {
        for boundary in &mut self.boundary_nodes {
            let change = plant.motion.x[boundary.slot] - boundary.now[0];
            boundary.now[0] = plant.motion.x[boundary.slot];
            boundary.now[1] += change / g;
            boundary.now[2] += change / (g * g);
        }
        self.place(plant);
    }

    /// New positions have been received: finds the rates that belong to them.
    pub(crate) fn differentiate(&mut self, plant: &mut Plant, scheme: TwoStep, size: f64) {
        for boundary in &mut self.boundary_nodes {
            let mut next = [plant.motion.x[boundary.slot], 0.0, 0.0];
            for order in 0..2 {
                next[order + 1] = rate(scheme, size, next[order], order, boundary);
            }
            plant.motion.v[boundary.slot] = next[1];
            plant.motion.a[boundary.slot] = next[2];
            boundary.before = boundary.now;
            boundary.now = next;
        }
    }

    /// Puts the remembered rates back where the equations read them.
    pub(crate) fn place(&self, plant: &mut Plant) {
        for boundary in &self.boundary_nodes {
            plant.motion.v[boundary.slot] = boundary.now[1];
            plant.motion.a[boundary.slot] = boundary.now[2];
        }
    }

    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        for boundary in &mut self.boundary_nodes {
            visitor.vector(&mut boundary.now);
            visitor.vector(&mut boundary.before);
        }
    }
}

/// Solves `y = w1 y1 + w2 y2 + h (b0 y' + b1 y1' + b2 y2')` for the new rate.
fn rate(scheme: TwoStep, size: f64, value: f64, order: usize, boundary: &Boundary) -> f64 {
    let [w1, w2] = scheme.values;
    let [b0, b1, b2] = scheme.rates;
    let known = w1 * boundary.now[order]
        + w2 * boundary.before[order]
        + size * (b1 * boundary.now[order + 1] + b2 * boundary.before[order + 1]);
    (value - known) / (size * b0)
}
