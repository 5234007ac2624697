//! Kinematics of a corner from its hard points, independent of the multibody code: the pose of the
//! upright from the lengths of its links.
#![allow(dead_code)]

use oldham_multibody::{Quaternion, Vec3};

/// A hard point on the left, as the model file has it: the axle's use of the corner begins with
/// `start`.
fn hard_point(text: &str, start: &str, name: &str) -> Vec3 {
    let (_, axle) = text.split_once(start).expect(start);
    let key = format!("{name} = ");
    let line = axle
        .lines()
        .find(|line| line.starts_with(&key))
        .expect(name);
    let numbers: Vec<f64> = line
        .split(['[', ']', ',', ' ', '"'])
        .filter_map(|word| word.parse().ok())
        .collect();
    let [x, y, z] = numbers[..] else {
        panic!("three numbers in {line}");
    };
    Vec3::new(x, y, z)
}

/// The links of an upright: four of the wishbones, then the tie rod.
pub struct Corner {
    links: [[Vec3; 2]; 5],
    centre: Vec3,
}

impl Corner {
    pub fn front_left(text: &str) -> Self {
        Self::new(text, "[multibody.car.use.\"f{w.side}\"]")
    }

    pub fn rear_left(text: &str) -> Self {
        Self::new(text, "[multibody.car.use.\"r{w.side}\"]")
    }

    fn new(text: &str, start: &str) -> Self {
        let links = [
            ["lower_front", "lower"],
            ["lower_rear", "lower"],
            ["upper_front", "upper"],
            ["upper_rear", "upper"],
            ["tie_inner", "tie_outer"],
        ];
        Self {
            links: links.map(|link| link.map(|name| hard_point(text, start, name))),
            centre: hard_point(text, start, "centre"),
        }
    }

    /// Camber and toe that a chassis which rolls by a small angle gives its wheels, over that angle:
    /// the left wheel goes down by the half track times the angle.
    pub fn by_roll(&self, travel: f64) -> [f64; 2] {
        let step = 1e-4;
        let angles = |travel: f64| {
            let axis = self.pose(travel, 0.0).1.rotate(Vec3::Y);
            [axis[2].asin(), -(axis[0] / axis[1]).atan()]
        };
        let (above, below) = (angles(travel + step), angles(travel - step));
        let slopes = [0, 1].map(|i| (above[i] - below[i]) / (2.0 * step));
        [
            1.0 - self.centre[1] * slopes[0],
            -self.centre[1] * slopes[1],
        ]
    }

    /// Displacement and orientation of the upright when the centre of its wheel has moved up by
    /// `travel` and the rack to the left by `rack`.
    pub fn pose(&self, travel: f64, rack: f64) -> (Vec3, Quaternion) {
        let mut unknowns = [0.0, 0.0, travel, 0.0, 0.0, 0.0];
        for _ in 0..30 {
            let residual = self.residual(&unknowns, travel, rack);
            let mut matrix = [[0.0; 7]; 6];
            for column in 0..6 {
                let step = 1e-7;
                let mut moved = unknowns;
                moved[column] += step;
                let above = self.residual(&moved, travel, rack);
                moved[column] -= 2.0 * step;
                let below = self.residual(&moved, travel, rack);
                for row in 0..6 {
                    matrix[row][column] = (above[row] - below[row]) / (2.0 * step);
                }
            }
            (0..6).for_each(|row| matrix[row][6] = -residual[row]);
            let change = solved(matrix);
            (0..6).for_each(|i| unknowns[i] += change[i]);
        }
        let [x, y, z, a, b, c] = unknowns;
        assert!(
            self.residual(&unknowns, travel, rack)
                .iter()
                .all(|r| r.abs() < 1e-12)
        );
        (Vec3::new(x, y, z), Quaternion::exp(Vec3::new(a, b, c)))
    }

    fn residual(&self, unknowns: &[f64; 6], travel: f64, rack: f64) -> [f64; 6] {
        let [x, y, z, a, b, c] = *unknowns;
        let turn = Quaternion::exp(Vec3::new(a, b, c));
        let mut residual = [z - travel; 6];
        for (i, [inner, outer]) in self.links.iter().enumerate() {
            let at = self.centre + Vec3::new(x, y, z) + turn.rotate(*outer - self.centre);
            let rack = if i == 4 { Vec3::Y * rack } else { Vec3::ZERO };
            residual[i] = (at - *inner - rack).norm() - (*outer - *inner).norm();
        }
        residual
    }

    /// Height of the roll centre above the road, from the instant centre in front view: the lines in
    /// which the planes of both wishbones cut the vertical plane through the wheel centre meet
    /// there. The contact point is `height` below the wheel centre.
    pub fn roll_centre(&self, travel: f64, height: f64) -> f64 {
        let (shift, turn) = self.pose(travel, 0.0);
        let ball = |i: usize| self.centre + shift + turn.rotate(self.links[i][1] - self.centre);
        let wheel = self.centre + shift;
        // Each plane as normal and offset; in front view a y + b z = c.
        let plane = |i: usize| {
            let (front, rear) = (self.links[i][0], self.links[i + 1][0]);
            let normal = (rear - front).cross(ball(i) - front);
            let offset = normal.dot(front) - normal[0] * wheel[0];
            [normal[1], normal[2], offset]
        };
        let ([a, b, c], [d, e, f]) = (plane(0), plane(2));
        let determinant = a * e - b * d;
        let (y, z) = ((c * e - b * f) / determinant, (a * f - c * d) / determinant);
        let road = wheel[2] - height;
        wheel[1] * (z - road) / (wheel[1] - y)
    }
}

/// Gauss's elimination with pivoting.
fn solved(mut m: [[f64; 7]; 6]) -> [f64; 6] {
    for k in 0..6 {
        let pivot = (k..6)
            .max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))
            .unwrap();
        m.swap(k, pivot);
        for i in k + 1..6 {
            let factor = m[i][k] / m[k][k];
            (k..7).for_each(|j| m[i][j] -= factor * m[k][j]);
        }
    }
    let mut x = [0.0; 6];
    for k in (0..6).rev() {
        let rest: f64 = (k + 1..6).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][6] - rest) / m[k][k];
    }
    x
}
