//! The equations of inertia and constraints of the absolute coordinates, solved by the recursion.
//!
//! M a + Gᵀ λ = f, G a = c: what the rows of the joints ask for are motions of links against those that carry them, and
//! the rest is found along the freedoms. Joints must be closed where the matrix is taken.

use super::Tree;
use super::layout::Giver;
use super::screw::Screw;
use crate::body::Inertia;
use crate::joint::RowKind;
use crate::node::Motion;
use oldham_space::Vec3;

impl Tree {
    /// Takes the matrix at these motions, and factors it. The name of the joint that has a freedom without inertia, if there
    /// is one.
    pub(crate) fn factor_at(
        &mut self,
        motions: &[Motion],
        inertia: &[Inertia],
    ) -> Result<(), String> {
        self.known.is_valid = false;
        self.locate(motions);
        self.find_dynamics(motions, inertia, Vec3::ZERO, &[]);
        self.find_holds(motions);
        self.factor().map_err(|link| self.names[link].clone())
    }

    /// Solves for accelerations of the nodes and multipliers, which take the place of forces and of what the constraints ask.
    pub(crate) fn solve_rows(&mut self, rows: &mut [f64]) {
        let nodes = 6 * self.layout.links.len();
        let (nodes, asked) = rows.split_at_mut(nodes);
        self.ask(asked);
        for (index, link) in self.layout.links.iter().enumerate() {
            let carrier = match link.carrier {
                Some(carrier) => self.accelerations[carrier],
                None => Screw::ZERO,
            };
            let acceleration = carrier + self.sums[index];
            let row = &nodes[6 * (link.node - 1)..6 * link.node];
            let force = Vec3::new(row[0], row[1], row[2]);
            let moment = Vec3::new(row[3], row[4], row[5]);
            let pushed = Screw::new(moment + self.places[index].cross(force), force);
            let load = self.inertias[index].times(acceleration) - pushed;
            self.accelerations[index] = acceleration;
            self.loads[index] = load;
            self.sums[index] = load;
        }
        self.sum_loads();
        self.solve();
        self.spread();
        for (index, link) in self.layout.links.iter().enumerate() {
            let whole = self.accelerations[index] + self.sums[index];
            let linear = whole.linear + whole.angular.cross(self.places[index]);
            let row = &mut nodes[6 * (link.node - 1)..6 * link.node];
            row[..3].copy_from_slice(&linear.0);
            row[3..].copy_from_slice(&whole.angular.0);
        }
        self.hold(asked);
    }

    /// The motions of links against those that carry them that the constraints ask for, left in `sums`.
    fn ask(&mut self, asked: &[f64]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let (mut turning, mut sliding) = (Vec3::ZERO, Vec3::ZERO);
            if let Some(joint) = link.joint {
                let values = &asked[self.firsts[joint]..];
                let holds = link.rows.iter().zip(&self.holds[link.first_row..]);
                for ((row, hold), value) in holds.zip(values) {
                    match row {
                        RowKind::Along { .. } => sliding += *hold * *value,
                        _ => turning += *hold * *value,
                    }
                }
            }
            let sign = if link.is_reversed { -1.0 } else { 1.0 };
            let screw = Screw::new(turning, sliding + self.arms[index].cross(turning));
            self.sums[index] = screw * sign;
        }
        for given in &self.layout.given {
            if let Giver::Coordinate { element, sign } = given.giver {
                let value = sign * asked[self.firsts[element]];
                let link = self.layout.columns[given.column].link;
                self.sums[link] += self.screws[given.column] * value;
            }
        }
        for follower in &self.layout.followers {
            let value = asked[self.firsts[follower.element]] / follower.own;
            let link = self.layout.columns[follower.column].link;
            self.sums[link] += self.screws[follower.column] * value;
        }
    }
}
