//! The linearised motion as equations of first order, without constraints.
//!
//! Coordinates z are changes of coordinates of nodes, as many as constraints on places leave free; q = Z z. Speeds u are
//! rates of some of them, as many as all constraints leave free: q' = N u + V z. A constraint on velocities takes
//! away a speed, and no coordinate.

use super::LinearisedMatrices;
use super::rows::{DenseRows, dense};
use super::states::PlacedStates;
use nalgebra::DMatrix;

/// Rows whose part that others do not have is below this fraction follow from these.
const REDUNDANT: f64 = 1e-10;

/// The equations in z, s and u: z' = `places` (z, u), s' = `states` (z, s, u), and
/// `inertia` u' = `forces` (z, s, u). Multipliers and accelerations follow.
pub(crate) struct FirstOrder {
    /// Unknowns of nodes that are the coordinates, and those whose rates are the speeds.
    pub coordinates: Vec<usize>,
    pub speeds: Vec<usize>,
    /// Poses by coordinates, velocities by coordinates and by speeds.
    pub poses: DMatrix<f64>,
    pub velocities: [DMatrix<f64>; 2],
    /// Accelerations by coordinates and by speeds, where these do not change.
    pub accelerations: [DMatrix<f64>; 2],
    /// Poses, or velocities and accelerations, by what moves constraints: by violations of those
    /// on places, and by those of all; they leave the coordinates and speeds alone.
    pub moved: [Inverse; 2],
    /// What constraints say of the rates, of those that are independent.
    pub rates: [DMatrix<f64>; 3],
    /// What forces do to the free motion, and how multipliers follow from forces: by those that are
    /// independent.
    pub left: DMatrix<f64>,
    pub multipliers: Inverse,
    pub mass: DMatrix<f64>,
    pub damping: DMatrix<f64>,
    pub stiffness: DMatrix<f64>,
    pub by_state: DMatrix<f64>,
    pub state_rates: [DMatrix<f64>; 3],
}

/// What makes independent rows one, and the places of these rows.
pub(crate) struct Inverse {
    pub rows: Vec<usize>,
    pub matrix: DMatrix<f64>,
}

impl FirstOrder {
    /// Nothing where forces and constraints do not fit: as many reactions as constraints are needed.
    pub fn new(
        matrices: &LinearisedMatrices,
        rows: &DenseRows,
        states: &PlacedStates,
    ) -> Option<Self> {
        let n = 6 * matrices.nodes;
        let m = matrices.unknowns - n;
        let sum =
            |own: &[super::Entry], more: &[super::Entry]| dense(own, n, n) + dense(more, n, n);
        let missing = &matrices.left_out;
        let mass = dense(&matrices.mass, n, n);
        let damping = sum(&matrices.damping, &missing.damping);
        let stiffness = sum(&matrices.stiffness, &missing.stiffness);
        let mut columns = DMatrix::zeros(n, m);
        for &(i, j, value) in matrices.force_columns.iter().chain(&missing.force_columns) {
            columns[(i, j - n)] += value;
        }
        let places: Vec<usize> = (0..m).filter(|&i| !rows.on_velocities[i]).collect();
        let (z, mut of_places) = free(&rows.gradients.select_rows(&places))?;
        of_places
            .rows
            .iter_mut()
            .for_each(|row| *row = places[*row]);
        let coordinates = independent_rows(&z);
        let (z, y) = in_coordinates(z, of_places.matrix, &coordinates)?;
        let of_places = Inverse {
            rows: of_places.rows,
            matrix: y,
        };
        let (u, speeds, of_all) = match rows.on_velocities.contains(&true) {
            false => {
                let all = Inverse {
                    rows: of_places.rows.clone(),
                    matrix: of_places.matrix.clone(),
                };
                (z.clone(), coordinates.clone(), all)
            }
            true => {
                let (u, of_all) = free(&rows.gradients)?;
                let among = independent_rows(&u.select_rows(&coordinates));
                let speeds: Vec<usize> = among.iter().map(|&i| coordinates[i]).collect();
                let (u, y) = in_coordinates(u, of_all.matrix, &speeds)?;
                let of_all = Inverse {
                    rows: of_all.rows,
                    matrix: y,
                };
                (u, speeds, of_all)
            }
        };
        let kept = |matrix: &DMatrix<f64>| matrix.select_rows(&of_all.rows);
        let rates = [
            kept(&rows.velocity),
            kept(&rows.acceleration[1]),
            kept(&rows.acceleration[0]),
        ];
        let velocity = -(&of_all.matrix * (&rates[0] * &z));
        let followed = |v: &DMatrix<f64>| -(&of_all.matrix * (&rates[1] * v));
        let accelerations = [
            followed(&velocity) - &of_all.matrix * (&rates[2] * &z),
            followed(&u),
        ];
        let (left, multipliers) = free(&columns.transpose())?;
        if left.ncols() != u.ncols() {
            return None;
        }
        let count = states.count();
        Some(Self {
            coordinates,
            speeds,
            poses: z,
            velocities: [velocity, u],
            accelerations,
            moved: [of_places, of_all],
            rates,
            left,
            multipliers,
            mass,
            damping,
            stiffness,
            by_state: dense(&states.forces, n, count),
            state_rates: [
                dense(&states.by_pose, count, n),
                dense(&states.by_velocity, count, n),
                dense(&states.by_states, count, count),
            ],
        })
    }

    /// Numbers of coordinates, states and speeds.
    pub fn sizes(&self) -> [usize; 3] {
        [
            self.coordinates.len(),
            self.state_rates[2].nrows(),
            self.speeds.len(),
        ]
    }

    /// The inertia of the speeds.
    pub fn inertia(&self) -> DMatrix<f64> {
        self.left.tr_mul(&(&self.mass * &self.velocities[1]))
    }

    /// The forces on the speeds by coordinates, states and speeds.
    pub fn forces(&self) -> [DMatrix<f64>; 3] {
        let by = |order: usize| {
            &self.mass * &self.accelerations[order] + &self.damping * &self.velocities[order]
        };
        let all = [
            by(0) + &self.stiffness * &self.poses,
            self.by_state.clone(),
            by(1),
        ];
        all.map(|matrix| -self.left.tr_mul(&matrix))
    }

    /// The rates of coordinates and of states, by coordinates, states and speeds.
    pub fn rates(&self) -> [[DMatrix<f64>; 3]; 2] {
        let [nz, ns, _] = self.sizes();
        let [by_pose, by_velocity, by_state] = &self.state_rates;
        let chosen = |matrix: &DMatrix<f64>| matrix.select_rows(&self.coordinates);
        let [v, u] = &self.velocities;
        [
            [chosen(v), DMatrix::zeros(nz, ns), chosen(u)],
            [
                by_pose * &self.poses + by_velocity * v,
                by_state.clone(),
                by_velocity * u,
            ],
        ]
    }
}

/// A basis of what all rows vanish on, with an inverse of those that are independent.
fn free(rows: &DMatrix<f64>) -> Option<(DMatrix<f64>, Inverse)> {
    let (m, n) = rows.shape();
    if m == 0 {
        let matrix = DMatrix::zeros(n, 0);
        return Some((
            DMatrix::identity(n, n),
            Inverse {
                rows: Vec::new(),
                matrix,
            },
        ));
    }
    let qr = rows.transpose().col_piv_qr();
    let mut order = DMatrix::from_fn(1, m, |_, j| j as f64);
    qr.p().permute_columns(&mut order);
    let r = qr.r();
    let sizes: Vec<f64> = (0..m.min(n)).map(|i| r[(i, i)].abs()).collect();
    let largest = sizes.iter().fold(0.0_f64, |a, &b| a.max(b));
    let rank = sizes.iter().filter(|&&v| v > REDUNDANT * largest).count();
    let mut q = DMatrix::identity(n, n);
    qr.q_tr_mul(&mut q);
    let q = q.transpose();
    let inverse = r.view((0, 0), (rank, rank)).transpose().try_inverse()?;
    let inverse = Inverse {
        rows: (0..rank).map(|j| order[(0, j)] as usize).collect(),
        matrix: q.columns(0, rank) * inverse,
    };
    Some((q.columns(rank, n - rank).into_owned(), inverse))
}

/// As many rows as there are columns, chosen one by one: that which the chosen ones tell least about.
fn independent_rows(z: &DMatrix<f64>) -> Vec<usize> {
    // Of equal ones the first, whatever the rounding.
    const EQUAL: f64 = 1e-9;
    let mut left = z.clone();
    let mut chosen = Vec::new();
    for _ in 0..z.ncols() {
        let mut best = (0, 0.0);
        for (row, values) in left.row_iter().enumerate() {
            let size = values.norm_squared();
            if size > best.1 * (1.0 + EQUAL) {
                best = (row, size);
            }
        }
        chosen.push(best.0);
        let direction = left.row(best.0) / best.1.sqrt();
        let shares = &left * direction.transpose();
        left -= shares * direction;
    }
    chosen.sort_unstable();
    chosen
}

/// Z and Y such that the chosen rows of Z are those of the identity, and those of Y zero.
fn in_coordinates(
    z: DMatrix<f64>,
    y: DMatrix<f64>,
    chosen: &[usize],
) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let z = &z * z.select_rows(chosen).try_inverse()?;
    let y = &y - &z * y.select_rows(chosen);
    Some((z, y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::element::{Law, Rod};
    use crate::joint::{Joint, RollingWheel};
    use crate::linearised::rows::ConstraintRows;
    use crate::model::Model;
    use crate::node::{Motion, NodeId};
    use crate::system::{Options, System};
    use oldham_space::{Mat3, Quaternion, Vec3};

    /// Numbers between -1 and 1.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn vector(&mut self) -> Vec3 {
            Vec3::new(self.next(), self.next(), self.next())
        }
    }

    fn start(model: Model) -> System {
        let mut system = System::new(model, Options::default()).unwrap();
        system.start(0.0, &[]).unwrap();
        system
    }

    /// Three bodies on two pins and a ball, with a spring to the ground: two angles and a rotation vector, and
    /// their rates, the last as an angular velocity.
    fn chain(seed: u64, state: &[f64]) -> System {
        let mut random = Random(seed);
        let mut model = Model::new();
        model.gravity(random.vector() * 9.0);
        let [first, second] = [0, 1].map(|_| random.vector().unit());
        let arms = [0, 1, 2, 3, 4].map(|_| random.vector());
        let rest = [0, 1, 2].map(|_| Quaternion::exp(random.vector() * 2.0));
        let mut body = |model: &mut Model, name: &str, x: Vec3, r: Quaternion, v: Vec3, w: Vec3| {
            let node = model.node(name, Motion::at_rest(x, r).moving(v, w));
            let inertia = Mat3::diagonal(0.4, 0.5, 0.6);
            let body = Body::centred(1.5 + random.next(), inertia);
            model.body(node, body.with_centre(random.vector() * 0.3));
            node
        };
        let r1 = Quaternion::exp(first * state[0]).times(rest[0]);
        let w1 = first * state[5];
        let arm1 = r1.matrix() * arms[0];
        let one = body(&mut model, "one", arm1, r1, w1.cross(arm1), w1);
        let axis = r1.matrix() * second;
        let pin = arm1 + r1.matrix() * arms[1];
        let r2 = Quaternion::exp(axis * state[1]).times(r1).times(rest[1]);
        let w2 = w1 + axis * state[6];
        let arm2 = r2.matrix() * arms[2];
        let at_pin = w1.cross(pin);
        let two = body(
            &mut model,
            "two",
            pin + arm2,
            r2,
            at_pin + w2.cross(arm2),
            w2,
        );
        let ball = pin + arm2 + r2.matrix() * arms[3];
        let at_ball = at_pin + w2.cross(ball - pin);
        let turn = Vec3::new(state[2], state[3], state[4]);
        let r3 = Quaternion::exp(turn).times(r2).times(rest[2]);
        let w3 = w2 + Vec3::new(state[7], state[8], state[9]);
        let arm3 = r3.matrix() * arms[4];
        let three = body(
            &mut model,
            "three",
            ball + arm3,
            r3,
            at_ball + w3.cross(arm3),
            w3,
        );
        for (name, nodes, place, axis) in [
            ("hinge", [one, NodeId::GROUND], Vec3::ZERO, first),
            ("pin", [one, two], pin, axis),
        ] {
            let [a, b] = nodes.map(|node| model.axis_marker(node, place, axis));
            model.element(name, Joint::revolute(a, b));
        }
        let [a, b] = [three, two].map(|node| model.marker(node, ball));
        model.element("ball", Joint::spherical(a, b));
        let law = Law::Linear {
            stiffness: 30.0,
            damping: 4.0,
        };
        let far = model.marker(NodeId::GROUND, Vec3::new(3.0, 2.0, -4.0));
        let law = Rod::new(far, crate::node::Marker::on(three), 2.0, law);
        model.element("spring", law);
        start(model)
    }

    /// A leaning disc that rolls and turns on a plane: place, heading, lean and angle of the disc, and
    /// rates of the last three.
    fn disc(_: u64, state: &[f64]) -> System {
        let [x, y, heading, lean, angle, heading_rate, lean_rate, spin] = state else {
            panic!("eight numbers");
        };
        let radius = 0.3;
        let up = Quaternion::exp(Vec3::Z * *heading);
        let leaning = up.times(Quaternion::exp(Vec3::X * *lean));
        let turn = leaning.times(Quaternion::exp(Vec3::Y * *angle));
        let forward = up.matrix() * Vec3::X;
        let axle = leaning.matrix() * Vec3::Y;
        let away = leaning.matrix() * Vec3::Z * radius;
        let omega = Vec3::Z * *heading_rate + forward * *lean_rate + axle * *spin;
        let mut model = Model::new();
        model.gravity(Vec3::Z * -9.81);
        let centre = Vec3::new(*x, *y, 0.0) + away;
        let pose = Motion::at_rest(centre, turn).moving(omega.cross(away), omega);
        let disc = model.node("disc", pose);
        let body = Body::centred(2.0, Mat3::diagonal(0.05, 0.09, 0.04));
        model.body(disc, body.with_centre(Vec3::new(0.02, 0.01, -0.03)));
        let plane = model.axis_marker(NodeId::GROUND, Vec3::ZERO, Vec3::Z);
        let marker = model.axis_marker(disc, centre, axle);
        model.element("rolls", RollingWheel::new(plane, marker, radius));
        start(model)
    }

    /// Changes of poses, of their rates and of the rates of these between two motions, halved.
    fn change(at: &System, plus: &System, minus: &System, step: f64) -> [Vec<f64>; 3] {
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for i in 1..at.state.now.len() {
            let [now, plus, minus] = [at, plus, minus].map(|system| &system.state.now[i]);
            let slope = |of: &dyn Fn(&crate::integrator::Record) -> Vec3| {
                (of(plus) - of(minus)) * (0.5 / step)
            };
            let turned = |record: &crate::integrator::Record| {
                let back = now.motion.orientation.conjugate();
                record.motion.orientation.times(back).log()
            };
            let turn = slope(&turned);
            let (w, alpha) = (now.motion.angular_velocity, now.angular_acceleration);
            let turning = slope(&|r| r.motion.angular_velocity) + w.cross(turn);
            let second = slope(&|r| r.angular_acceleration) + alpha.cross(turn) + w.cross(turning);
            let parts = [
                [slope(&|r| r.motion.position), turn],
                [slope(&|r| r.motion.velocity), turning],
                [slope(&|r| r.acceleration), second],
            ];
            for (all, parts) in all.iter_mut().zip(parts) {
                all.extend(parts.iter().flat_map(|v| v.0));
            }
        }
        all
    }

    /// The equations against differences of motions that obey the constraints.
    fn assert_exact(build: fn(u64, &[f64]) -> System, seed: u64, state: &[f64], speeds: usize) {
        let system = build(seed, state);
        let accelerations = system.present_accelerations();
        let at = system.evaluation_point(&[]);
        let matrices = system.exact_matrices(&at, &accelerations);
        let rows = system.rows_along(&[], &accelerations);
        let states = PlacedStates::at(&system.assembly, &at).unwrap();
        let known = ConstraintRows::at(&system.assembly, &at);
        assert_eq!(known.on_velocities, rows.on_velocities);
        let free = FirstOrder::new(&matrices, &rows, &states).unwrap();
        let [nz, ns, nu] = free.sizes();
        assert_eq!((ns, nu, nz + nu), (0, speeds, state.len()));
        for direction in 0..state.len() {
            let step = 1e-5;
            let moved = |sign: f64| {
                let mut state = state.to_vec();
                state[direction] += sign * step;
                build(seed, &state)
            };
            let [q, rate, second] = change(&system, &moved(1.0), &moved(-1.0), step);
            let pick = |from: &[f64], places: &[usize]| {
                DMatrix::from_iterator(places.len(), 1, places.iter().map(|&i| from[i]))
            };
            let z = pick(&q, &free.coordinates);
            let u = pick(&rate, &free.speeds);
            let close = |found: DMatrix<f64>, expected: &[f64], what: &str| {
                for (found, expected) in found.iter().zip(expected) {
                    let size = expected.abs().max(1.0);
                    assert!(
                        (found - expected).abs() < 1e-5 * size,
                        "{seed} {direction} {what}: {found} instead of {expected}"
                    );
                }
            };
            close(&free.poses * &z, &q, "poses");
            let [by_z, by_u] = &free.velocities;
            close(by_z * &z + by_u * &u, &rate, "velocities");
            let [by_z, _, by_u] = free.forces();
            let accelerated = free.inertia().lu().solve(&(by_z * &z + by_u * &u)).unwrap();
            let expected = pick(&second, &free.speeds);
            close(accelerated, expected.as_slice(), "accelerations");
        }
    }

    /// Joints whose directions turn as they move, far from rest and from equilibrium.
    #[test]
    fn mechanisms_in_motion_are_linearised_exactly() {
        for seed in 1..=6 {
            let mut random = Random(seed * 77);
            let state: Vec<f64> = (0..10).map(|_| 1.5 * random.next()).collect();
            assert_exact(chain, seed, &state, 5);
        }
    }

    /// A disc that leans and turns in any way: five coordinates, three speeds.
    #[test]
    fn a_disc_that_rolls_and_wobbles_is_linearised_exactly() {
        for seed in 1..=6 {
            let mut random = Random(seed * 131);
            let mut state: Vec<f64> = (0..8).map(|_| random.next()).collect();
            state[7] *= 8.0;
            assert_exact(disc, seed, &state, 3);
        }
    }
}
