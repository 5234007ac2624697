//! The sent half of the interface tangent: how the forces on position-driven boundary nodes change with their positions.
//!
//! An implicit step makes accelerations of positions: a boundary node moved by dx is accelerated by dx / g^2. With
//! D = M + g C + g^2 K, in blocks of own nodes (o) and boundary nodes (i), the equations of the own nodes give
//! `D_oo da_o = -D_oi da_i`, and the forces change by `-(D_ii - D_io D_oo^-1 D_oi) da_i`: a Schur
//! complement, from the factors of D_oo that the step has anyway.

use super::newton::dynamic;
use crate::lu::Lu;
use crate::plant::Plant;

/// The tangent of the forces on some boundary nodes, with room to find it.
#[derive(Clone, Debug)]
pub(crate) struct Schur {
    /// Rows of the boundary nodes, which are also their slots.
    boundary_nodes: Vec<usize>,
    own: usize,
    /// D_oi, boundary node by boundary node.
    columns: Vec<f64>,
    /// D_io, boundary node by boundary node.
    rows: Vec<f64>,
    /// Row by row.
    tangent: Vec<f64>,
    /// The g for which the tangent of a linear system was found.
    found_for: Option<f64>,
    version: u64,
}

impl Schur {
    /// For the boundary nodes whose tangent is sent, if any.
    pub(crate) fn new(plant: &Plant) -> Option<Self> {
        let own = plant.own();
        let boundary_nodes: Vec<usize> = plant.wiring.answering.clone();
        let size = boundary_nodes.len();
        (size > 0).then(|| Self {
            boundary_nodes,
            own,
            columns: vec![0.0; size * own],
            rows: vec![0.0; size * own],
            tangent: vec![0.0; size * size],
            found_for: None,
            version: 0,
        })
    }

    /// Changes with the tangent.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Row by row.
    pub(crate) fn tangent(&self) -> &[f64] {
        &self.tangent
    }

    /// Finds it at the present point with the factors of D_oo: by positions, or, where g is zero, by
    /// accelerations.
    pub(crate) fn find(&mut self, plant: &Plant, t: f64, g: f64, factors: &Lu) {
        if plant.equations.is_linear() && self.found_for == Some(g) {
            return;
        }
        self.collect(plant, t, g);
        let size = self.boundary_nodes.len();
        let scale = if g == 0.0 { -1.0 } else { -1.0 / (g * g) };
        for (index, column) in self.columns.chunks_exact_mut(self.own.max(1)).enumerate() {
            factors.solve(column);
            for (row, across) in self.rows.chunks_exact(self.own.max(1)).enumerate() {
                let through: f64 = across.iter().zip(&*column).map(|(a, b)| a * b).sum();
                self.tangent[row * size + index] -= through;
            }
        }
        self.tangent.iter_mut().for_each(|entry| *entry *= scale);
        self.found_for = Some(g);
        self.version += 1;
    }

    /// The blocks of D; D_ii goes where the tangent will be.
    fn collect(&mut self, plant: &Plant, t: f64, g: f64) {
        for values in [&mut self.columns, &mut self.rows, &mut self.tangent] {
            values.fill(0.0);
        }
        let (own, size) = (self.own, self.boundary_nodes.len());
        let place = |slot: usize| {
            self.boundary_nodes
                .iter()
                .position(|&boundary| boundary == slot)
        };
        dynamic(plant, t, g, |row, slot, value| {
            match (row < own, slot < own) {
                (true, true) => {}
                (true, false) => {
                    if let Some(boundary) = place(slot) {
                        self.columns[boundary * own + row] += value;
                    }
                }
                (false, true) => {
                    if let Some(boundary) = place(row) {
                        self.rows[boundary * own + slot] += value;
                    }
                }
                (false, false) => {
                    if let (Some(row), Some(column)) = (place(row), place(slot)) {
                        self.tangent[row * size + column] += value;
                    }
                }
            }
        });
    }
}
