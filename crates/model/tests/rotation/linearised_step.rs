//! The step of a pinned bar that turns, written down by hand and linearised by differences, in axes that
//! turn along.
//!
//! The pin goes round at a constant angle in every step. What is left are the rotation R of the bar, its
//! angular velocity ω and the rate of its moment of momentum about the pin L = S × v + J ω: two-step
//! formulas hold for rotation vectors from the last orientation, and for L in absolute axes.

use nalgebra::{Complex, DMatrix, Matrix3, UnitQuaternion, Vector3};

use crate::models::{BAR, Spinner};

type Vector = Vector3<f64>;

struct Pinned {
    a: [f64; 2],
    b: [f64; 3],
    h: f64,
    spin: Vector,
    mass: f64,
    first: Vector,
    second: Matrix3<f64>,
    stiffness: f64,
    damping: f64,
    /// The velocity of the pin when it is on the x axis, as the formula makes it of its positions.
    velocity: Vector,
    /// The angle by which the bar lags behind: the velocity of the formula is not quite along the circle.
    lag: f64,
}

/// What is remembered of the bar.
#[derive(Clone, Copy)]
struct Bar {
    rotation: UnitQuaternion<f64>,
    spin: Vector,
    rate: Vector,
}

/// dexp of a rotation vector: body-fixed angular velocity in the axes at the start.
fn tangent(theta: &Vector) -> Matrix3<f64> {
    let angle = theta.norm();
    let skew = theta.cross_matrix();
    let (b, c) = match angle < 1e-4 {
        true => (
            0.5 - angle * angle / 24.0,
            1.0 / 6.0 - angle * angle / 120.0,
        ),
        false => (
            (1.0 - angle.cos()) / (angle * angle),
            (angle - angle.sin()) / angle.powi(3),
        ),
    };
    Matrix3::identity() + skew * b + skew * skew * c
}

fn rotation(vector: &Vector) -> UnitQuaternion<f64> {
    UnitQuaternion::new(*vector)
}

impl Pinned {
    fn new(spinner: &Spinner) -> Self {
        let rho = spinner.rho;
        let square = (1.0 - rho) * (1.0 - rho);
        let a2 = (3.0 * square + 4.0 * (2.0 * rho - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let a = [1.0 - a2, a2];
        let b = [delta + 0.5, 0.5 * a2 + 0.5 - 2.0 * delta, 0.5 * a2 + delta];
        let h = spinner.step;
        let [x, y] = spinner.rim_velocity();
        let centre = Vector::new(spinner.offset, 0.0, 0.0);
        let about = Matrix3::from_diagonal(&Vector::from(BAR.inertia));
        let shifted = Matrix3::identity() * centre.norm_squared() - centre * centre.transpose();
        let mut pinned = Self {
            lag: 0.0,
            a,
            b,
            h,
            spin: Vector::new(0.0, 0.0, spinner.spin),
            mass: BAR.mass,
            first: centre * BAR.mass,
            second: about + shifted * BAR.mass,
            stiffness: BAR.stiffness,
            damping: spinner.damping,
            velocity: Vector::new(x, y, 0.0),
        };
        for _ in 0..30 {
            let slope =
                (pinned.moment(pinned.lag + 1e-6) - pinned.moment(pinned.lag - 1e-6)) / 2e-6;
            pinned.lag -= pinned.moment(pinned.lag) / slope;
        }
        pinned
    }

    /// What is missing about the axis to a steady rotation with a lag.
    fn moment(&self, lag: f64) -> f64 {
        let first = rotation(&(Vector::z() * lag)) * self.first;
        self.velocity.cross(&self.spin.cross(&first)).z + self.stiffness * lag
    }

    /// The turn of so many steps.
    fn turn(&self, steps: f64) -> UnitQuaternion<f64> {
        rotation(&(self.spin * self.h * steps))
    }

    /// L with the pin after so many steps.
    fn momentum(&self, bar: &Bar, steps: f64) -> Vector {
        let r = bar.rotation;
        let velocity = self.turn(steps) * self.velocity;
        (r * self.first).cross(&velocity) + r * (self.second * (r.inverse() * bar.spin))
    }

    fn steady(&self, steps: f64) -> Bar {
        Bar {
            rotation: self.turn(steps) * rotation(&(Vector::z() * self.lag)),
            spin: self.spin,
            rate: Vector::zeros(),
        }
    }

    /// One step to the position of the pin after one turn.
    fn step(&self, now: &Bar, before: &Bar) -> Bar {
        let ([a1, a2], [b0, b1, b2], h) = (self.a, self.b, self.h);
        let (c, r) = (h * b0, now.rotation);
        let old = (r.inverse() * before.rotation).scaled_axis();
        let old_rate = tangent(&old).try_inverse().unwrap() * (r.inverse() * before.spin);
        let known = (r.inverse() * now.spin) * (h * b1) + old * a2 + old_rate * (h * b2);
        let known_momentum = self.momentum(now, 0.0) * a1
            + self.momentum(before, -1.0) * a2
            + (now.rate * b1 + before.rate * b2) * h;
        let velocity = self.turn(1.0) * self.velocity;
        let end = |rate: &Vector| {
            let theta = known + rate * c;
            let mut bar = Bar {
                rotation: r * rotation(&theta),
                spin: r * (tangent(&theta) * rate),
                rate: Vector::zeros(),
            };
            bar.rate = (self.momentum(&bar, 1.0) - known_momentum) / c;
            bar
        };
        let missing = |rate: &Vector| {
            let bar = end(rate);
            let first = bar.rotation * self.first;
            let momentum = velocity * self.mass + bar.spin.cross(&first);
            let tilt = (self.turn(1.0).inverse() * bar.rotation).scaled_axis();
            bar.rate
                + velocity.cross(&momentum)
                + self.turn(1.0) * tilt * self.stiffness
                + (bar.spin - self.spin) * self.damping
        };
        let mut rate = r.inverse() * now.spin;
        for _ in 0..12 {
            let size = 1e-6;
            let jacobian = Matrix3::from_columns(&[0, 1, 2].map(|i| {
                let mut aside = Vector::zeros();
                aside[i] = size;
                (missing(&(rate + aside)) - missing(&(rate - aside))) / (2.0 * size)
            }));
            rate -= jacobian.try_inverse().unwrap() * missing(&rate);
        }
        end(&rate)
    }
}

/// Eigenvalues of the step.
pub fn eigenvalues(spinner: &Spinner) -> Vec<Complex<f64>> {
    let pinned = Pinned::new(spinner);
    let h = pinned.h;
    let sizes: Vec<f64> = (0..18)
        .map(|i| [1e-4 * h, 1e-4, 1e-4 / h][i % 9 / 3])
        .collect();
    let changed = |change: &[f64], steps: f64| {
        let base = pinned.steady(steps);
        let turn = pinned.turn(steps);
        let part = |i: usize| turn * Vector::new(change[i], change[i + 1], change[i + 2]);
        Bar {
            rotation: rotation(&part(0)) * base.rotation,
            spin: base.spin + part(3),
            rate: base.rate + part(6),
        }
    };
    let mut matrix = DMatrix::zeros(18, 18);
    for column in 0..18 {
        let mut ends = [1.0, -1.0].map(|sign| {
            let mut change = [0.0; 18];
            change[column] = sign * sizes[column];
            let now = changed(&change[..9], 0.0);
            let end = pinned.step(&now, &changed(&change[9..], -1.0));
            let base = pinned.steady(1.0);
            let back = pinned.turn(1.0).inverse();
            let parts = [
                back * (end.rotation * base.rotation.inverse()).scaled_axis(),
                back * (end.spin - base.spin),
                back * (end.rate - base.rate),
            ];
            let mut led: Vec<f64> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            led.extend(&change[..9]);
            led
        });
        let down = ends[1].clone();
        for (row, (up, down)) in ends[0].iter_mut().zip(down).enumerate() {
            matrix[(row, column)] = (*up - down) / (2.0 * sizes[column]);
        }
    }
    // Balanced, so that rounding of accelerations does not matter.
    let scaled = DMatrix::from_fn(18, 18, |i, j| matrix[(i, j)] * sizes[j] / sizes[i]);
    scaled.complex_eigenvalues().iter().copied().collect()
}
