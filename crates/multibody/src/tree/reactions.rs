//! Accelerations of the nodes and multipliers of the joints, for the accelerations of the freedoms.

use super::Tree;
use super::layout::Giver;
use super::screw::Screw;
use crate::joint::RowKind;
use crate::node::Motion;
use oldham_space::Vec3;

impl Tree {
    /// Puts the accelerations of the nodes, six each without the ground, and the multipliers of joints, drives and
    /// followers where the absolute equations have them.
    pub(super) fn find_reactions(
        &mut self,
        motions: &[Motion],
        gravity: Vec3,
        accelerations: &mut [f64],
        multipliers: &mut [f64],
    ) {
        self.find_holds(motions);
        self.spread();
        self.write_accelerations(motions, gravity, accelerations);
        self.hold(multipliers);
    }

    /// The same where the accelerations of the freedoms are those with which the recursion went out.
    pub(super) fn find_reactions_of_trial(
        &mut self,
        motions: &[Motion],
        gravity: Vec3,
        accelerations: &mut [f64],
        multipliers: &mut [f64],
    ) {
        self.find_holds(motions);
        self.sums.fill(Screw::ZERO);
        self.write_accelerations(motions, gravity, accelerations);
        self.hold(multipliers);
    }

    fn write_accelerations(&self, motions: &[Motion], gravity: Vec3, accelerations: &mut [f64]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let whole = self.accelerations[index] + self.sums[index];
            let motion = &motions[link.node];
            let linear = whole.linear
                + gravity
                + whole.angular.cross(self.places[index])
                + motion.angular_velocity.cross(motion.velocity);
            let row = &mut accelerations[6 * (link.node - 1)..6 * link.node];
            row[..3].copy_from_slice(&linear.0);
            row[3..].copy_from_slice(&whole.angular.0);
        }
    }

    /// Directions in which the rows of the joints hold, for motions whose columns have been located: along which the second
    /// marker must not move against the first, or about which it must not turn.
    pub(super) fn find_holds(&mut self, motions: &[Motion]) {
        for link in self.layout.links.iter() {
            let nodes = [&motions[link.parent], &motions[link.node]];
            let [one, two] = if link.is_reversed { [1, 0] } else { [0, 1] };
            for (row, hold) in link.rows.iter().zip(&mut self.holds[link.first_row..]) {
                let first = |axis: usize| nodes[one].rotation * link.first_axes.column(axis);
                let second = |axis: usize| nodes[two].rotation * link.second_axes.column(axis);
                *hold = match *row {
                    RowKind::Along { axis } | RowKind::Turn { axis } => first(axis),
                    RowKind::Between {
                        first: a,
                        second: b,
                    } => -first(a).cross(second(b)),
                    RowKind::Distance => unreachable!("no joint of a tree has such a row"),
                };
            }
        }
    }

    /// What the accelerations of the freedoms change of the links, left in `sums`, and of their loads.
    pub(super) fn spread(&mut self) {
        let (freedoms, given) = (self.layout.freedoms, self.layout.given.len());
        for follower in &self.layout.followers {
            self.given[follower.column] = follower.ratio * self.found[follower.freedom];
        }
        for (index, link) in self.layout.links.iter().enumerate() {
            let mut change = match link.carrier {
                Some(carrier) => self.sums[carrier],
                None => Screw::ZERO,
            };
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                if id < freedoms {
                    change += self.screws[id] * self.found[id];
                } else if id >= freedoms + given {
                    change += self.screws[id] * self.given[id];
                }
            }
            self.sums[index] = change;
            self.loads[index] += self.inertias[index].times(change);
        }
        for follower in &self.layout.followers {
            self.given[follower.column] = 0.0;
        }
    }

    /// What joints, drives and followers do, from the loads of the links, which become those of whole branches.
    pub(super) fn hold(&mut self, multipliers: &mut [f64]) {
        for (index, link) in self.layout.links.iter().enumerate().rev() {
            let load = self.loads[index];
            if let Some(carrier) = link.carrier {
                self.loads[carrier] += load;
            }
            let Some(joint) = link.joint else {
                continue;
            };
            // On the second marker's node, the moment about that marker.
            let sign = if link.is_reversed { -1.0 } else { 1.0 };
            let force = load.linear * sign;
            let moment = load.angular * sign - self.arms[index].cross(force);
            let values = multipliers[self.firsts[joint]..].iter_mut();
            let holds = link.rows.iter().zip(&self.holds[link.first_row..]);
            for ((row, hold), value) in holds.zip(values) {
                *value = -match row {
                    RowKind::Along { .. } => hold.dot(force),
                    _ => hold.dot(moment),
                };
            }
        }
        for given in &self.layout.given {
            if let Giver::Coordinate { element, sign } = given.giver {
                let load = self.loads[self.layout.columns[given.column].link];
                let along = self.screws[given.column].dot(load);
                multipliers[self.firsts[element]] = -sign * along;
            }
        }
        for follower in &self.layout.followers {
            let load = self.loads[self.layout.columns[follower.column].link];
            let along = self.screws[follower.column].dot(load);
            multipliers[self.firsts[follower.element]] = -along / follower.own;
        }
    }
}
