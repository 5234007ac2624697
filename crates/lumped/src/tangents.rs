//! The received half of the interface tangent: forces that answer to the motion of own nodes.
//!
//! A part whose interface positions are prescribed sends the forces f that it found for the positions
//! y, and their tangent T. Here such a force counts as f + T (x - y): mass, damping and stiffness of the
//! sender are felt within the step. At the start of the integration positions are given and accelerations are
//! sought: there T tells how the forces change with accelerations.

use crate::spec::{Spec, TangentSpec};

/// The motion by which a tangent is taken, as its place in a motion port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Position = 0,
    Acceleration = 2,
}

/// Where received tangents lie in the input vector, and what they act on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tangents {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    /// Own nodes, in the order of rows and columns.
    nodes: Vec<usize>,
    /// First components of the motions for which the forces were found.
    at: Vec<usize>,
    /// First component of the matrix.
    matrix: usize,
}

impl Tangents {
    /// The tangents of a description; their inputs start at component `first`.
    pub(crate) fn new(spec: &Spec, first: usize) -> Self {
        let mut next = first;
        let block = |tangent: &TangentSpec| {
            let size = tangent.points.len();
            let block = Block {
                nodes: tangent.points.iter().map(|(_, node)| node.0).collect(),
                at: (0..size).map(|point| next + 3 * point).collect(),
                matrix: next + 3 * size,
            };
            next = block.matrix + size * size;
            block
        };
        Self {
            blocks: spec.tangents.iter().map(block).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All entries: row, column, component of the input vector.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.blocks.iter().flat_map(|block| {
            let size = block.nodes.len();
            (0..size * size).map(move |at| {
                let (row, column) = (block.nodes[at / size], block.nodes[at % size]);
                (row, column, block.matrix + at)
            })
        })
    }

    /// Adds T (x - y), with the motion x of own nodes.
    pub(crate) fn add(&self, by: By, inputs: &[f64], x: &[f64], forces: &mut [f64]) {
        for block in &self.blocks {
            let size = block.nodes.len();
            for (row, &node) in block.nodes.iter().enumerate() {
                for (column, &moved) in block.nodes.iter().enumerate() {
                    let tangent = inputs[block.matrix + row * size + column];
                    forces[node] += tangent * (x[moved] - inputs[block.at[column] + by as usize]);
                }
            }
        }
    }
}
