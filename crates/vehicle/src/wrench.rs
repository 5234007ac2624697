//! From forces with derivatives to the matrix of a step.

use crate::dual::Varied;
use oldham_multibody::element::{Half, Jacobian, Weights};
use oldham_space::{M3, Mat3, V3};

/// Adds the derivatives of a force and a moment on a node by the motion of that node.
pub(crate) fn add_varied_wrench(
    out: &mut Jacobian<'_>,
    node: usize,
    force: &V3<Varied>,
    moment: &V3<Varied>,
    weights: Weights,
) {
    for (row, vector) in [(Half::Linear, force), (Half::Angular, moment)] {
        for (column, first) in [(Half::Linear, 0), (Half::Angular, 3)] {
            let m = derivative(vector, first) * weights.stiffness
                + derivative(vector, first + 6) * weights.damping;
            out.add((node, row), (node, column), -m);
        }
    }
}

/// The derivative of a vector by three variables.
fn derivative(vector: &V3<Varied>, first: usize) -> Mat3 {
    M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| vector[i].slopes[first + j])))
}
