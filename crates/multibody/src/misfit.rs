//! Which joints do not fit the places in which the nodes of a model are given.

use crate::assembly::{Assembly, EvaluationPoint};
use crate::element::ElementId;
use crate::model::Model;
use crate::node::Motion;

/// Violations below this fraction of the largest distance from the origin are rounding of what was
/// written.
const WRITTEN: f64 = 1e-4;

impl Model {
    /// The elements whose constraints the initial configuration violates, with the violation that
    /// is largest in size: of a rod, how much it is too short.
    pub fn misfits(&self, time: f64, inputs: &[f64]) -> Vec<(ElementId, f64)> {
        let motions: Vec<Motion> = self.nodes.iter().map(|node| node.initial).collect();
        let size = motions.iter().map(|motion| motion.position.norm());
        let allowed = WRITTEN * size.fold(0.0, f64::max);
        let (assembly, _) = Assembly::new(self.clone());
        let multipliers = vec![0.0; assembly.constraints];
        let nothing = vec![0.0; assembly.memory];
        let mut memory = nothing.clone();
        let first = EvaluationPoint::new(time, &motions, &multipliers, inputs, &nothing);
        assembly.remember(&first, &mut memory);
        let at = EvaluationPoint::new(time, &motions, &multipliers, inputs, &memory);
        let mut values = vec![0.0; assembly.residual_length()];
        assembly.violations(&at, &mut values);
        let violations = &values[6 * assembly.nodes()..];
        let worst = |(index, placed): (usize, &crate::assembly::Placed)| {
            let own = violations[placed.multipliers.clone()]
                .iter()
                .map(|value| -value);
            let largest = own.max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
            (largest.abs() > allowed).then_some((ElementId(index), largest))
        };
        assembly
            .elements
            .iter()
            .enumerate()
            .filter_map(worst)
            .collect()
    }
}
