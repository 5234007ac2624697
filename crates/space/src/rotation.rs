//! Rotations: unit quaternions as state, rotation vectors as increments.
//!
//! Notation: `θ` is a rotation vector, `G(θ)` maps its rate to the spatial angular velocity,
//! `ω = G(θ) θ'` (Fontana 2026, Sect. 4.1.2), both seen in the frame that θ starts from.

use crate::vector::{Mat3, Vec3};

/// A unit quaternion, scalar first; maps node axes to absolute axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion(pub [f64; 4]);

impl Default for Quaternion {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Quaternion {
    /// No rotation.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0]);

    /// The rotation by |θ| about θ.
    #[inline(always)]
    pub fn exp(theta: Vec3) -> Self {
        let angle2 = theta.dot(theta);
        let (real, factor) = if angle2 < SMALL_ANGLE_2 {
            // Cosine and half the cardinal sine of the half angle, exact to the last bit here.
            let x = 0.25 * angle2;
            (
                1.0 - x
                    * (0.5
                        - x * (1.0 / 24.0
                            - x * (1.0 / 720.0 - x * (1.0 / 40320.0 - x / 3628800.0)))),
                0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x * (1.0 / 10080.0 - x / 725760.0))),
            )
        } else {
            let angle = angle2.sqrt();
            let (sin, cos) = (0.5 * angle).sin_cos();
            (cos, sin / angle)
        };
        let v = theta * factor;
        Self([real, v[0], v[1], v[2]])
    }

    /// The rotation vector of length at most π.
    #[inline(always)]
    pub fn log(self) -> Vec3 {
        let v = self.vector();
        let sign = if self.0[0] < 0.0 { -2.0 } else { 2.0 };
        let sin2 = v.dot(v);
        if sin2 < SMALL_SINE_2 {
            let x = sin2;
            // The arc sine, exact to the last bit here.
            let series = |[a, b, c, d, e]: [f64; 5]| a + x * (b + x * (c + x * (d + x * e)));
            let more = series([
                1.0 / 6.0,
                3.0 / 40.0,
                5.0 / 112.0,
                35.0 / 1152.0,
                63.0 / 2816.0,
            ]);
            return v * (sign * (1.0 + x * more));
        }
        let sin = sin2.sqrt();
        v * (sign * sin.atan2(self.0[0].abs()) / sin)
    }

    /// From an orthogonal matrix (Shepperd's method: divides by the largest component).
    pub fn from_matrix(r: &Mat3) -> Self {
        let m = &r.0;
        let trace = m[0][0] + m[1][1] + m[2][2];
        let diagonal = [trace, m[0][0], m[1][1], m[2][2]];
        let largest = (0..4)
            .max_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b]))
            .expect("four candidates");
        let mut q = [0.0; 4];
        if largest == 0 {
            q[0] = 1.0 + trace;
            q[1] = m[2][1] - m[1][2];
            q[2] = m[0][2] - m[2][0];
            q[3] = m[1][0] - m[0][1];
        } else {
            let i = largest - 1;
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            q[0] = m[k][j] - m[j][k];
            q[1 + i] = 1.0 + m[i][i] - m[j][j] - m[k][k];
            q[1 + j] = m[j][i] + m[i][j];
            q[1 + k] = m[k][i] + m[i][k];
        }
        Self(q).normalised()
    }

    /// The orthogonal matrix.
    #[inline(always)]
    pub fn matrix(self) -> Mat3 {
        let [w, x, y, z] = self.0;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Mat3 {
            0: [
                [1.0 - yy - zz, xy - wz, xz + wy],
                [xy + wz, 1.0 - xx - zz, yz - wx],
                [xz - wy, yz + wx, 1.0 - xx - yy],
            ],
        }
    }

    /// The opposite rotation.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        let [w, x, y, z] = self.0;
        Self([w, -x, -y, -z])
    }

    /// First `other`, then `self`.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        let (a, b) = (self.0[0], other.0[0]);
        let (u, v) = (self.vector(), other.vector());
        let w = v * a + u * b + u.cross(v);
        Self([a * b - u.dot(v), w[0], w[1], w[2]])
    }

    /// A vector turned by this rotation.
    #[inline(always)]
    pub fn rotate(self, v: Vec3) -> Vec3 {
        let u = self.vector();
        let t = u.cross(v) * 2.0;
        v + t * self.0[0] + u.cross(t)
    }

    /// Scaled to length one.
    #[inline(always)]
    pub fn normalised(self) -> Self {
        let norm2: f64 = self.0.iter().map(|c| c * c).sum();
        let factor = 1.0 / norm2.sqrt();
        Self(self.0.map(|c| c * factor))
    }

    /// The vector part.
    #[inline(always)]
    pub fn vector(self) -> Vec3 {
        Vec3::new(self.0[1], self.0[2], self.0[3])
    }
}

/// Below this squared angle the series are used; their first neglected term is below 1e-17.
const SMALL_ANGLE_2: f64 = 0.06;
/// The same for the squared sine of half the angle; there it is below 2e-17.
const SMALL_SINE_2: f64 = 0.003;

/// c₀ - c₁ x + c₂ x² - …
#[inline(always)]
fn alternating(x: f64, c: [f64; 6]) -> f64 {
    c[0] - x * (c[1] - x * (c[2] - x * (c[3] - x * (c[4] - x * c[5]))))
}

/// (1 - cos θ)/θ² and (θ - sin θ)/θ³ of the squared angle.
#[inline(always)]
fn tangent_coefficients(angle2: f64) -> (f64, f64) {
    if angle2 < SMALL_ANGLE_2 {
        let x = angle2;
        (
            alternating(
                x,
                [
                    0.5,
                    1.0 / 24.0,
                    1.0 / 720.0,
                    1.0 / 40320.0,
                    1.0 / 3628800.0,
                    1.0 / 479001600.0,
                ],
            ),
            alternating(
                x,
                [
                    1.0 / 6.0,
                    1.0 / 120.0,
                    1.0 / 5040.0,
                    1.0 / 362880.0,
                    1.0 / 39916800.0,
                    1.0 / 6227020800.0,
                ],
            ),
        )
    } else {
        let angle = angle2.sqrt();
        let (sin, cos) = angle.sin_cos();
        ((1.0 - cos) / angle2, (angle - sin) / (angle2 * angle))
    }
}

/// Coefficient b of G⁻¹(θ) = I - ½ θ× + b θ×θ×, b = (1 - (θ/2) cot(θ/2)) / θ².
#[inline(always)]
fn inverse_coefficient(angle2: f64) -> f64 {
    if angle2 < SMALL_ANGLE_2 {
        let x = angle2;
        // Bernoulli numbers B(2k)/(2k)!, all of one sign; evaluated at -x.
        alternating(
            -x,
            [
                1.0 / 12.0,
                1.0 / 720.0,
                1.0 / 30240.0,
                1.0 / 1209600.0,
                1.0 / 47900160.0,
                691.0 / 1307674368000.0,
            ],
        )
    } else {
        let half = 0.5 * angle2.sqrt();
        (1.0 - half / half.tan()) / angle2
    }
}

/// G(θ).
#[inline(always)]
pub fn tangent(theta: Vec3) -> Mat3 {
    let (a, b) = tangent_coefficients(theta.dot(theta));
    let s = theta.skew();
    Mat3::IDENTITY + s * a + s * s * b
}

/// G(θ) v, without the matrix.
#[inline(always)]
pub fn tangent_times(theta: Vec3, v: Vec3) -> Vec3 {
    let (a, b) = tangent_coefficients(theta.dot(theta));
    let c = theta.cross(v);
    v + c * a + theta.cross(c) * b
}

/// G(θ)⁻¹.
#[inline(always)]
pub fn inverse_tangent(theta: Vec3) -> Mat3 {
    let s = theta.skew();
    Mat3::IDENTITY - s * 0.5 + s * s * inverse_coefficient(theta.dot(theta))
}

/// G(θ)⁻¹ v, without the matrix.
#[inline(always)]
pub fn inverse_tangent_times(theta: Vec3, v: Vec3) -> Vec3 {
    let c = theta.cross(v);
    v - c * 0.5 + theta.cross(c) * inverse_coefficient(theta.dot(theta))
}

/// The matrix of δθ in the change of G(θ) v when θ changes by δθ.
pub fn tangent_derivative(theta: Vec3, v: Vec3) -> Mat3 {
    let angle2 = theta.dot(theta);
    let (a, b) = tangent_coefficients(angle2);
    // Derivatives of the coefficients by θ²/2.
    let (da, db) = if angle2 < SMALL_ANGLE_2 {
        (
            -alternating(
                angle2,
                [
                    1.0 / 12.0,
                    1.0 / 180.0,
                    1.0 / 6720.0,
                    1.0 / 453600.0,
                    1.0 / 47900160.0,
                    1.0 / 7264857600.0,
                ],
            ),
            -alternating(
                angle2,
                [
                    1.0 / 60.0,
                    1.0 / 1260.0,
                    1.0 / 60480.0,
                    1.0 / 4989600.0,
                    1.0 / 622702080.0,
                    1.0 / 108972864000.0,
                ],
            ),
        )
    } else {
        (
            (1.0 - 2.0 * a - angle2 * b) / angle2,
            (a - 3.0 * b) / angle2,
        )
    };
    let c = theta.cross(v);
    let cc = theta.cross(c);
    // δ(θ×(θ×v)) = (δθ×)(θ×v) + θ×(δθ×v)
    v.skew() * -a - (c.skew() + theta.skew() * v.skew()) * b
        + c.outer(theta) * da
        + cc.outer(theta) * db
}

/// The matrix of δθ in the change of G(θ)⁻ᵀ v when θ changes by δθ.
pub fn inverse_transpose_derivative(theta: Vec3, v: Vec3) -> Mat3 {
    let angle2 = theta.dot(theta);
    let b = inverse_coefficient(angle2);
    // Derivative of the coefficient by θ²/2.
    let db = if angle2 < SMALL_ANGLE_2 {
        alternating(
            -angle2,
            [
                1.0 / 360.0,
                1.0 / 7560.0,
                1.0 / 201600.0,
                1.0 / 5987520.0,
                691.0 / 130767436800.0,
                1.0 / 6227020800.0,
            ],
        )
    } else {
        let half = 0.5 * angle2.sqrt();
        let sin = half.sin();
        let slope = 0.5 * (half / (sin * sin) - 1.0 / half.tan()) / half;
        (0.5 * slope - 2.0 * b) / angle2
    };
    let c = theta.cross(v);
    v.skew() * -0.5 - (c.skew() + theta.skew() * v.skew()) * b + theta.cross(c).outer(theta) * db
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_vector_is_the_product_with_the_matrix() {
        let q = Quaternion::exp(Vec3::new(0.7, -1.9, 0.4));
        let v = Vec3::new(-0.3, 2.0, 1.1);
        assert!((q.rotate(v) - q.matrix() * v).norm() < 4.0 * f64::EPSILON * v.norm());
        assert!((q.conjugate().rotate(q.rotate(v)) - v).norm() < 4.0 * f64::EPSILON * v.norm());
    }

    fn close(a: Mat3, b: Mat3, tolerance: f64) {
        for i in 0..3 {
            for j in 0..3 {
                assert!((a.0[i][j] - b.0[i][j]).abs() < tolerance, "{a:?}\n{b:?}");
            }
        }
    }

    const THETAS: [Vec3; 6] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(0.01, -0.02, 0.015),
        Vec3::new(0.06, -0.07, 0.058),
        Vec3::new(0.06, -0.07, 0.061),
        Vec3::new(0.14, 0.15, -0.13),
        Vec3::new(1.1, -0.7, 2.0),
    ];

    #[test]
    fn log_inverts_exp() {
        for theta in THETAS {
            let back = Quaternion::exp(theta).log();
            assert!((back - theta).norm() < 1e-14);
            let q = Quaternion::from_matrix(&Quaternion::exp(theta).matrix());
            assert!((q.log() - theta).norm() < 1e-14);
        }
    }

    /// exp(θ×) by its power series, the definition.
    #[test]
    fn exp_is_the_matrix_exponential() {
        for theta in THETAS {
            let mut term = Mat3::IDENTITY;
            let mut sum = term;
            for k in 1..40 {
                term = term * theta.skew() * (1.0 / k as f64);
                sum += term;
            }
            close(Quaternion::exp(theta).matrix(), sum, 1e-14);
        }
    }

    #[test]
    fn tangent_maps_the_rate_to_the_angular_velocity() {
        for theta in THETAS {
            let rate = Vec3::new(0.3, 0.5, -0.8);
            let step = 1e-6;
            let turn = |s: f64| Quaternion::exp(theta + rate * s);
            let relative = turn(step).times(turn(-step).conjugate());
            let omega = relative.log() * (0.5 / step);
            assert!((omega - tangent(theta) * rate).norm() < 1e-9);
            assert!((tangent_times(theta, rate) - tangent(theta) * rate).norm() < 1e-15);
            close(
                tangent(theta) * inverse_tangent(theta),
                Mat3::IDENTITY,
                1e-14,
            );
            let back = inverse_tangent_times(theta, tangent_times(theta, rate));
            assert!((back - rate).norm() < 1e-14);
        }
    }

    /// Series and closed forms meet where one takes over from the other. Closed forms lose some
    /// digits there by cancellation.
    #[test]
    fn series_end_where_closed_forms_have_their_values() {
        let x = SMALL_ANGLE_2;
        let (below, above) = (x * (1.0 - 1e-15), x * (1.0 + 1e-15));
        assert!(below < x && above >= x);
        let close = |a: f64, b: f64, digits: f64| {
            assert!((a - b).abs() < digits * a.abs(), "{a} {b}: {:e}", a - b);
        };
        let (a, b) = (tangent_coefficients(below), tangent_coefficients(above));
        close(a.0, b.0, 1e-14);
        close(a.1, b.1, 1e-13);
        close(
            inverse_coefficient(below),
            inverse_coefficient(above),
            1e-13,
        );
        let v = Vec3::new(-0.4, 0.9, 0.2);
        let along = Vec3::new(0.6, 0.64, -0.48);
        let [near, far] = [below, above].map(|x| along * (x.sqrt() / along.norm()));
        assert!(near.dot(near) < x && far.dot(far) >= x);
        super::tests::close(
            tangent_derivative(near, v),
            tangent_derivative(far, v),
            1e-12,
        );
        super::tests::close(
            inverse_transpose_derivative(near, v),
            inverse_transpose_derivative(far, v),
            1e-12,
        );
    }

    #[test]
    fn derivatives_match_differences() {
        let v = Vec3::new(-0.4, 0.9, 0.2);
        for theta in THETAS {
            let columns = [Vec3::X, Vec3::Y, Vec3::Z].map(|e| {
                let step = 1e-5;
                let (plus, minus) = (theta + e * step, theta - e * step);
                let d = |f: &dyn Fn(Vec3) -> Vec3| (f(plus) - f(minus)) * (0.5 / step);
                (
                    d(&|t| tangent(t) * v),
                    d(&|t| inverse_tangent(t).transpose_mul(v)),
                )
            });
            let [a, b, c] = columns;
            close(
                tangent_derivative(theta, v),
                Mat3::from_columns(a.0, b.0, c.0),
                1e-9,
            );
            let expected = Mat3::from_columns(a.1, b.1, c.1);
            close(inverse_transpose_derivative(theta, v), expected, 1e-9);
        }
    }
}
