//! Rotations as unit quaternions, scalar first, and rotation vectors.

/// Hamilton product.
pub(crate) fn multiply(p: [f64; 4], q: [f64; 4]) -> [f64; 4] {
    [
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ]
}

/// The inverse rotation.
pub(crate) fn conjugate([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    [w, -x, -y, -z]
}

/// The quaternion of a rotation vector.
pub(crate) fn exponential(rotation_vector: [f64; 3]) -> [f64; 4] {
    let square: f64 = rotation_vector.iter().map(|x| x * x).sum();
    // cos(a/2) and sin(a/2)/a; by their series where the turn is small, as within a step.
    let (real, scale) = if square < SMALL {
        let x = 0.25 * square;
        (
            1.0 - x * (0.5 - x * (1.0 / 24.0 - x / 720.0)),
            0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x / 10080.0)),
        )
    } else {
        let angle = square.sqrt();
        ((angle / 2.0).cos(), (angle / 2.0).sin() / angle)
    };
    let [x, y, z] = rotation_vector.map(|component| component * scale);
    [real, x, y, z]
}

/// Squares below which series are used; the first neglected term is below a tenth of the last bit.
const SMALL: f64 = 0.003;

/// The rotation vector, of length at most pi, of a unit quaternion.
pub(crate) fn logarithm(quaternion: [f64; 4]) -> [f64; 3] {
    let sign = quaternion[0].signum();
    let [w, x, y, z] = quaternion.map(|component| component * sign);
    let square = x * x + y * y + z * z;
    // Twice the arc sine over the sine.
    let scale = if square < SMALL {
        let series =
            |[a, b, c, d, e]: [f64; 5]| a + square * (b + square * (c + square * (d + square * e)));
        let more = series([
            1.0 / 3.0,
            3.0 / 20.0,
            5.0 / 56.0,
            35.0 / 576.0,
            63.0 / 1408.0,
        ]);
        2.0 + square * more
    } else {
        let sine = square.sqrt();
        2.0 * sine.atan2(w) / sine
    };
    [x * scale, y * scale, z * scale]
}

/// A vector turned back by a rotation.
pub(crate) fn rotate_back(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [_, x, y, z] = multiply(multiply(conjugate(q), [0.0, v[0], v[1], v[2]]), q);
    [x, y, z]
}

/// A vector turned by a rotation.
pub(crate) fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    rotate_back(conjugate(q), v)
}

/// The angular velocity, in the axes where a rotation vector starts, from its rate.
pub(crate) fn tangent_times(theta: [f64; 3], rate: [f64; 3]) -> [f64; 3] {
    let square: f64 = theta.iter().map(|x| x * x).sum();
    // (1 - cos a) / a² and (a - sin a) / a³, by their series near zero.
    let (first_weight, second_weight) = if square < 1e-4 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let angle = square.sqrt();
        let sine = (0.5 * angle).sin();
        (
            2.0 * sine * sine / square,
            (angle - angle.sin()) / (square * angle),
        )
    };
    let first = cross(theta, rate);
    let second = cross(theta, first);
    [0, 1, 2].map(|i| rate[i] + first_weight * first[i] + second_weight * second[i])
}

/// The rate of a rotation vector from the angular velocity in the axes where it starts.
pub(crate) fn inverse_tangent_times(theta: [f64; 3], spin: [f64; 3]) -> [f64; 3] {
    let square: f64 = theta.iter().map(|x| x * x).sum();
    // (1 - (a/2) cot(a/2)) / a², by its series near zero.
    let weight = if square < 1e-4 {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * square.sqrt();
        (1.0 - half / half.tan()) / square
    };
    let first = cross(theta, spin);
    let second = cross(theta, first);
    [0, 1, 2].map(|i| spin[i] - 0.5 * first[i] + weight * second[i])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angular_velocity_and_rate_of_a_rotation_vector_belong_together() {
        for theta in [[1e-3, -2e-3, 5e-4], [0.4, -1.1, 0.7]] {
            let rate = [0.3, 0.2, -0.9];
            let back = inverse_tangent_times(theta, tangent_times(theta, rate));
            for i in 0..3 {
                assert!((back[i] - rate[i]).abs() < 1e-12, "{back:?}");
            }
        }
    }

    /// On both sides of where the series end.
    #[test]
    fn logarithm_inverts_exponential() {
        for size in [1e-9, 0.01, 0.0547, 0.0549, 0.108, 0.12, 3.0] {
            let axis = [0.6, -0.48, 0.64];
            let back = logarithm(exponential(axis.map(|x| x * size)));
            for (found, x) in back.iter().zip(axis) {
                assert!((found - x * size).abs() < 4.0 * f64::EPSILON * size);
            }
        }
    }

    /// The rate of a rotation vector, by differences along a turning frame.
    #[test]
    fn the_inverse_tangent_gives_the_rate_of_a_rotation_vector() {
        for theta in [[0.003, -0.004, 0.002], [0.7, -0.4, 1.1]] {
            let spin = [0.3, 0.8, -0.5];
            let at = |t: f64| {
                let turn = exponential(spin.map(|w| w * t));
                logarithm(multiply(turn, exponential(theta)))
            };
            let (after, before) = (at(1e-5), at(-1e-5));
            let rate = inverse_tangent_times(theta, spin);
            for i in 0..3 {
                let difference = (after[i] - before[i]) / 2e-5;
                assert!((rate[i] - difference).abs() < 1e-9);
            }
        }
    }
}
