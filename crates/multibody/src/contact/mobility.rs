//! How nodes that are touched answer to impulses.
//!
//! A node that constraints hold answers by a column of the factors for each of its six components. These columns are the dear
//! part of a step in contact. Whoever needs them between two steps leaves them for the next step, which has the same
//! factors.

use oldham_space::Vec3;

use super::scene::Contacts;
use crate::node::Motion;

/// Linear and angular components.
pub(super) type Six = [f64; 6];

/// What unit impulses at the centres of some held nodes do to all unknowns, six columns each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// The factors with which they were found, by number.
    stamp: u64,
    bodies: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    /// Those of one body, if they were found with these factors.
    fn of(&self, body: usize, stamp: u64) -> Option<&[f64]> {
        let place = self.bodies.iter().position(|&other| other == body)?;
        let length = self.values.len() / self.bodies.len();
        (self.stamp == stamp).then(|| &self.values[place * length..(place + 1) * length])
    }
}

/// A unit impulse or moment.
fn unit(component: usize) -> [Vec3; 2] {
    let axis = [Vec3::X, Vec3::Y, Vec3::Z][component % 3];
    match component < 3 {
        true => [axis, Vec3::ZERO],
        false => [Vec3::ZERO, axis],
    }
}

impl Contacts {
    /// Whether a held node is touched, so that the mobility counts.
    pub fn touches_held(&self) -> bool {
        let mut touches = self.scene.touches().iter();
        self.held > 0 && touches.any(|touch| touch.ends.iter().any(|end| end.body() < self.held))
    }

    /// Fills in how held nodes that are touched answer to impulses. `solve` turns impulses on the nodes, six
    /// components each, into changes of their velocities, with the factors of this number.
    pub fn find_mobility(
        &mut self,
        motions: &[Motion],
        stamp: u64,
        rhs: &mut [f64],
        mut solve: impl FnMut(&mut [f64]),
    ) {
        self.is_touched.fill(false);
        for touch in self.scene.touches() {
            for end in touch.ends {
                if end.body() < self.held {
                    self.is_touched[end.body()] = true;
                }
            }
        }
        let n = 6 * self.held;
        self.mobility.fill(0.0);
        for pushed in 0..self.held {
            if !self.is_touched[pushed] {
                continue;
            }
            for component in 0..6 {
                match self.columns.of(pushed, stamp) {
                    Some(known) => {
                        rhs.copy_from_slice(&known[component * rhs.len()..][..rhs.len()])
                    }
                    None => {
                        rhs.fill(0.0);
                        let [impulse, moment] = unit(component);
                        self.push(pushed, impulse, moment, motions, rhs);
                        solve(rhs);
                    }
                }
                for moved in 0..self.held {
                    if self.is_touched[moved] {
                        let answer = self.at_centre(moved, motions, rhs);
                        for (k, value) in answer.into_iter().enumerate() {
                            self.mobility[(6 * moved + k) * n + 6 * pushed + component] = value;
                        }
                    }
                }
            }
        }
        for body in 0..self.held {
            if self.is_touched[body] && self.is_immovable(body) {
                for k in 6 * body..6 * body + 6 {
                    self.mobility[k * n..(k + 1) * n].fill(0.0);
                    (0..n).for_each(|row| self.mobility[row * n + k] = 0.0);
                }
            }
        }
    }

    /// Whether all that a held node answers is rounding: no impulse moves what is driven or held in all directions.
    fn is_immovable(&self, body: usize) -> bool {
        let n = 6 * self.held;
        (0..6).all(|k| {
            let answer = self.mobility[(6 * body + k) * n + 6 * body + k];
            answer.abs() <= self.nodes[body].rounding[k / 3]
        })
    }

    /// Finds the columns of some held bodies, which a step with the same factors takes over.
    pub fn find_columns(
        &mut self,
        bodies: impl Iterator<Item = usize>,
        motions: &[Motion],
        stamp: u64,
        unknowns: usize,
        mut solve: impl FnMut(&mut [f64]),
    ) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.stamp = stamp;
        columns.bodies.clear();
        columns.values.clear();
        for body in bodies {
            columns.bodies.push(body);
            for component in 0..6 {
                let first = columns.values.len();
                columns.values.resize(first + unknowns, 0.0);
                let [impulse, moment] = unit(component);
                let column = &mut columns.values[first..];
                self.push(body, impulse, moment, motions, column);
                solve(column);
            }
        }
        self.columns = columns;
    }

    /// What unit forces and moments at the centre of mass of one body do to the centre of another one. The columns
    /// of held bodies are known.
    pub fn answers(&self, pushed: usize, moved: usize, motions: &[Motion]) -> [Six; 6] {
        let is_held = |body: usize| body < self.held;
        match (is_held(pushed), is_held(moved)) {
            (true, true) => {
                let columns = self.columns.of(pushed, self.columns.stamp);
                let columns = columns.expect("found for all held bodies that are pushed");
                let unknowns = columns.len() / 6;
                let column = |at: usize| &columns[at * unknowns..(at + 1) * unknowns];
                std::array::from_fn(|at| self.at_centre(moved, motions, column(at)))
            }
            (false, false) if pushed == moved => {
                std::array::from_fn(|at| self.answer_freely(pushed, unit(at), motions))
            }
            _ => [[0.0; 6]; 6],
        }
    }

    /// A body that no constraint holds answers by its own inertia.
    fn answer_freely(&self, body: usize, [force, moment]: [Vec3; 2], motions: &[Motion]) -> Six {
        let each = &self.nodes[body];
        let rotation = &motions[each.node].rotation;
        let turning = *rotation * (each.inverse_inertia * rotation.transpose_mul(moment));
        joined(force * each.inverse_mass, turning)
    }

    /// The centre of a body, where the values of the nodes are velocities or accelerations.
    pub fn at_centre(&self, body: usize, motions: &[Motion], values: &[f64]) -> Six {
        let each = &self.nodes[body];
        let d = &values[6 * (each.node - 1)..6 * each.node];
        let (v, w) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
        joined(v + w.cross(motions[each.node].rotation * each.centre), w)
    }

    /// The velocity of the centre of a body.
    pub fn centre_velocity(&self, body: usize, motions: &[Motion]) -> Six {
        let each = &self.nodes[body];
        let motion = &motions[each.node];
        let spin = motion.angular_velocity;
        joined(
            motion.velocity + spin.cross(motion.rotation * each.centre),
            spin,
        )
    }
}

pub(super) fn joined(linear: Vec3, angular: Vec3) -> Six {
    let ([a, b, c], [d, e, f]) = (linear.0, angular.0);
    [a, b, c, d, e, f]
}

pub(super) fn product(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
