//! Inertia tensors: whether a body can have one, and the nearest that it can.

use oldham_space::{Mat3, Vec3};

/// Share of the largest moment within which a tensor counts as possible.
const SLACK: f64 = 1e-10;

/// The tensor if a body can have it, else the nearest by its second moments, and by which share of the largest moment it
/// differs.
pub(crate) fn nearest_possible(inertia: Mat3) -> (Mat3, f64) {
    let trace = inertia.0[0][0] + inertia.0[1][1] + inertia.0[2][2];
    // Second moments of mass must not be negative.
    let second = Mat3::IDENTITY * (0.5 * trace) - inertia;
    let (values, axes) = principal(second);
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let lowest = values
        .iter()
        .fold(f64::INFINITY, |least, &value| least.min(value));
    if lowest >= -SLACK * largest {
        return (inertia, 0.0);
    }
    let mut nearest = Mat3::ZERO;
    for (i, value) in values.iter().enumerate() {
        let axis = axes.column(i);
        nearest += axis.outer(axis) * value.max(0.0);
    }
    let trace = nearest.0[0][0] + nearest.0[1][1] + nearest.0[2][2];
    let possible = Mat3::IDENTITY * trace - nearest;
    ((possible + possible.transpose()) * 0.5, -lowest / largest)
}

/// Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
pub(crate) fn principal(matrix: Mat3) -> ([f64; 3], Mat3) {
    let (mut a, mut axes) = (matrix, Mat3::IDENTITY);
    for _ in 0..30 {
        let size: f64 = a.0.iter().flatten().map(|x| x * x).sum();
        let off = a.0[0][1].powi(2) + a.0[0][2].powi(2) + a.0[1][2].powi(2);
        if off <= 1e-34 * size {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a.0[p][q] == 0.0 {
                continue;
            }
            let theta = (a.0[q][q] - a.0[p][p]) / (2.0 * a.0[p][q]);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cos = 1.0 / t.hypot(1.0);
            let sin = t * cos;
            let mut turn = Mat3::IDENTITY;
            turn.0[p][p] = cos;
            turn.0[q][q] = cos;
            turn.0[p][q] = sin;
            turn.0[q][p] = -sin;
            a = turn.transpose() * a * turn;
            axes = axes * turn;
        }
    }
    ([a.0[0][0], a.0[1][1], a.0[2][2]], axes)
}

/// A tensor about another point: mass and the way from the centre to it.
pub(crate) fn about_point(mass: f64, way: Vec3) -> Mat3 {
    (Mat3::IDENTITY * way.dot(way) - way.outer(way)) * mass
}

/// A tensor from xx, yy, zz, xy, xz and yz.
pub(crate) fn tensor([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Mat3 {
    let mut inertia = Mat3::diagonal(xx, yy, zz);
    for (i, j, value) in [(0, 1, xy), (0, 2, xz), (1, 2, yz)] {
        inertia.0[i][j] = value;
        inertia.0[j][i] = value;
    }
    inertia
}
