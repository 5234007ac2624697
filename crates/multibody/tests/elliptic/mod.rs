//! Motions whose closed forms are elliptic functions.
#![allow(dead_code, reason = "every test file uses a part of this")]

use oldham_multibody::Vec3;

/// Jacobi elliptic functions sn, cn, dn by the arithmetic-geometric mean (Abramowitz and Stegun,
/// 16.4).
pub fn jacobi(u: f64, m: f64) -> [f64; 3] {
    let (mut a, mut b, mut c) = (vec![1.0], (1.0 - m).sqrt(), vec![m.sqrt()]);
    while c.last().unwrap().abs() > 1e-16 {
        let last = *a.last().unwrap();
        c.push(0.5 * (last - b));
        a.push(0.5 * (last + b));
        b = (last * b).sqrt();
    }
    let n = a.len() - 1;
    let mut phi = 2.0_f64.powi(n as i32) * a[n] * u;
    for i in (1..=n).rev() {
        phi = 0.5 * (phi + (c[i] / a[i] * phi.sin()).asin());
    }
    let (sn, cn) = phi.sin_cos();
    [sn, cn, (1.0 - m * sn * sn).sqrt()]
}

/// A body without torque.
pub struct Tumbling {
    /// Moments of inertia, rising.
    pub j: [f64; 3],
    /// Angular velocity at first, in body axes; none about the second.
    pub start: Vec3,
}

pub const TUMBLING: Tumbling = Tumbling {
    j: [1.0, 2.0, 3.0],
    start: Vec3::new(0.4, 0.0, 2.0),
};

impl Tumbling {
    /// Angular velocity in body axes, by Euler's equations (Landau and Lifshitz, Mechanics,
    /// Sect. 37): with L² > 2 E J2, its components are cn, sn, dn of the time.
    pub fn spin(&self, t: f64) -> Vec3 {
        let Self { j, start } = self;
        let energy2: f64 = (0..3).map(|i| j[i] * start[i] * start[i]).sum();
        let l2: f64 = (0..3).map(|i| (j[i] * start[i]).powi(2)).sum();
        let rate = ((j[2] - j[1]) * (l2 - energy2 * j[0]) / (j[0] * j[1] * j[2])).sqrt();
        let m = (j[1] - j[0]) * (energy2 * j[2] - l2) / ((j[2] - j[1]) * (l2 - energy2 * j[0]));
        let [sn, cn, dn] = jacobi(rate * t, m);
        let w1 = ((energy2 * j[2] - l2) / (j[0] * (j[2] - j[0]))).sqrt() * cn;
        let w2 = ((energy2 * j[2] - l2) / (j[1] * (j[2] - j[1]))).sqrt() * sn;
        let w3 = ((l2 - energy2 * j[0]) / (j[2] * (j[2] - j[0]))).sqrt() * dn;
        Vec3::new(w1, w2, w3)
    }
}

/// Angle of a pendulum from the hanging position, released from rest: `rate` is the angular
/// frequency of small swings (Lawden, Elliptic Functions and Applications, Sect. 5.1).
pub fn pendulum_angle(released_at: f64, rate: f64, t: f64) -> f64 {
    let k = (0.5 * released_at).sin();
    let [_, cn, dn] = jacobi(rate * t, k * k);
    2.0 * (k * cn / dn).asin()
}
