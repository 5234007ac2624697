//! The derivative of an element's nodal loads, column by column.
//!
//! In frame axes, with u and φ the displacements and spins of the nodes, the spin of the frame is
//! ω = W u, W = A⁻¹ X×. Relative to the frame a node moves by u - ω × p and turns by φ - ω, or
//! q - S ω for short. With K̂ the stiffness against these relative motions, moments that turn with
//! the nodes included, the derivative of the loads F is
//! (I - S W)ᵀ K̂ (I - S W) plus the turning of F itself, -F× W, plus the change of A and of the
//! arms p in the alignment y, -Wᵀ C (I - S W) with C = -n× - y Xᵀ + (X·y) I:
//!
//! K̂ - (K̂ S + F×) W - Wᵀ (Sᵀ K̂ + C - (Sᵀ K̂ S + C S) W).
//!
//! About 9000 multiplications, most of them along columns.

use super::four_node::{Deformed, ElementVector, Loads, force, moment};
use super::frame::Frame;
use crate::element::{Half, Jacobian};
use oldham_space::rotation::inverse_transpose_derivative;
use oldham_space::{M3, Mat3, Vec3};

/// Derivatives by displacements and spins, column by column.
pub(super) struct ShellJacobian([ElementVector; 24]);

impl ShellJacobian {
    /// Hᵀ K H, where H takes spins of nodes to changes of their rotation vectors.
    #[inline(always)]
    pub fn elastic(stiffness: &[ElementVector; 24], weight: f64, inverses: &[Mat3; 4]) -> Self {
        let mut columns = [[0.0; 24]; 24];
        for (node, inverse) in inverses.iter().enumerate() {
            for k in 0..3 {
                let (shift, turn) = (6 * node + k, 6 * node + 3 + k);
                let source = &stiffness[6 * node + 3..6 * node + 6];
                for row in 0..24 {
                    columns[shift][row] = weight * stiffness[shift][row];
                    columns[turn][row] = weight
                        * (source[0][row] * inverse.0[0][k]
                            + source[1][row] * inverse.0[1][k]
                            + source[2][row] * inverse.0[2][k]);
                }
            }
        }
        for column in &mut columns {
            for (node, inverse) in inverses.iter().enumerate() {
                let turned = inverse.transpose_mul(moment(column, node));
                column[6 * node + 3..6 * node + 6].copy_from_slice(&turned.0);
            }
        }
        Self(columns)
    }

    /// The change of G(θ)⁻ᵀ m at fixed m.
    #[inline(always)]
    pub fn add_turning_moments(
        &mut self,
        d: &Deformed,
        loads: &Loads,
        inverses: &[Mat3; 4],
        weight: f64,
    ) {
        for (node, inverse) in inverses.iter().enumerate() {
            let by_turn = inverse_transpose_derivative(d.turns[node], moment(&loads.elastic, node));
            let by_spin = by_turn * *inverse * weight;
            for j in 0..3 {
                for i in 0..3 {
                    self.0[6 * node + 3 + j][6 * node + 3 + i] += by_spin.0[i][j];
                }
            }
        }
    }

    /// Lets the frame follow the corners, and the loads follow the frame.
    #[inline(always)]
    pub fn follow_frame(
        &mut self,
        unloaded: &[Vec3; 4],
        frame: &Frame,
        loads: &Loads,
        weight: f64,
    ) {
        let y = loads.alignment;
        let aligned: [Mat3; 4] = std::array::from_fn(|i| {
            let x = unloaded[i];
            let arms = Mat3::IDENTITY * x.dot(y) - y.outer(x) - force(&loads.elastic, i).skew();
            arms * weight
        });
        let mut by_spin = self.frame_columns(&frame.places);
        let mut twice = Mat3::ZERO;
        for (k, column) in by_spin.iter().enumerate() {
            let total = total_moment(column, &frame.places);
            for i in 0..3 {
                twice.0[i][k] = total[i];
            }
        }
        for (c, place) in aligned.iter().zip(&frame.places) {
            twice += -(*c * place.skew());
        }
        add_turned_loads(&mut by_spin, loads, weight);
        let spins: [Mat3; 4] = std::array::from_fn(|i| frame.inverse * unloaded[i].skew());
        for (column_index, column) in self.0.iter_mut().enumerate() {
            let (node, k) = (column_index / 6, column_index % 6);
            let mut left = total_moment(column, &frame.places);
            if k < 3 {
                let spin = spins[node].column(k);
                left += aligned[node].column(k) - twice * spin;
                for row in 0..24 {
                    column[row] -= by_spin[0][row] * spin[0]
                        + by_spin[1][row] * spin[1]
                        + by_spin[2][row] * spin[2];
                }
            }
            // -Wᵀ v = X × (A⁻¹ v)
            let turned = frame.inverse * left;
            for (i, x) in unloaded.iter().enumerate() {
                let added = x.cross(turned);
                for (entry, value) in column[6 * i..6 * i + 3].iter_mut().zip(added.0) {
                    *entry += value;
                }
            }
        }
    }

    /// K̂ S.
    #[inline(always)]
    fn frame_columns(&self, places: &[Vec3; 4]) -> [ElementVector; 3] {
        let mut sums = [[0.0; 24]; 3];
        for (node, p) in places.iter().enumerate() {
            let [x, y, z, a, b, c] = std::array::from_fn(|k| &self.0[6 * node + k]);
            for row in 0..24 {
                // A spin e of the frame takes e × p and e off the motion of a node.
                sums[0][row] += a[row] + p[1] * z[row] - p[2] * y[row];
                sums[1][row] += b[row] + p[2] * x[row] - p[0] * z[row];
                sums[2][row] += c[row] + p[0] * y[row] - p[1] * x[row];
            }
        }
        sums
    }

    /// From frame axes to absolute axes.
    #[inline(always)]
    pub fn turn(&mut self, axes: &Mat3) {
        let r = &axes.0;
        for triple in self.0.chunks_exact_mut(3) {
            for row in 0..24 {
                let old = [triple[0][row], triple[1][row], triple[2][row]];
                for (column, r) in triple.iter_mut().zip(r) {
                    column[row] = r[0] * old[0] + r[1] * old[1] + r[2] * old[2];
                }
            }
            for column in triple {
                for part in column.chunks_exact_mut(3) {
                    let turned = *axes * Vec3::new(part[0], part[1], part[2]);
                    part.copy_from_slice(&turned.0);
                }
            }
        }
    }

    #[inline(always)]
    pub fn add_to(&self, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        for row in 0..8 {
            for column in 0..8 {
                let entry = |i: usize, j: usize| self.0[3 * column + j][3 * row + i];
                let block = [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)));
                let part = |index: usize| (index / 2, [Linear, Angular][index % 2]);
                out.add(part(row), part(column), M3(block));
            }
        }
    }
}

/// Sᵀ times a column of loads: their moment about the origin of the frame.
#[inline(always)]
fn total_moment(column: &ElementVector, places: &[Vec3; 4]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for (node, place) in places.iter().enumerate() {
        sum += place.cross(force(column, node)) + moment(column, node);
    }
    sum
}

/// Adds F×.
#[inline(always)]
fn add_turned_loads(columns: &mut [ElementVector; 3], loads: &Loads, weight: f64) {
    for node in 0..4 {
        let [f, m] = [loads.forces[node], loads.moments[node]].map(|v| v.skew() * weight);
        for (k, column) in columns.iter_mut().enumerate() {
            for i in 0..3 {
                column[6 * node + i] += f.0[i][k];
                column[6 * node + 3 + i] += m.0[i][k];
            }
        }
    }
}
