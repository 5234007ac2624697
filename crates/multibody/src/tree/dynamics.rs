//! Inertia, the mass matrix of the freedoms, its factors, and accelerations.

use super::Tree;
use super::layout::Order;
use super::screw::{Screw, WorldInertia};
use crate::body::Inertia;
use crate::node::Motion;
use oldham_space::Vec3;

/// A pivot that is smaller than this fraction of its diagonal entry stands for a motion without inertia.
const NO_INERTIA: f64 = 1e-13;

impl Tree {
    /// The mass matrix and what acts along the freedoms, left in `mass` and `found`, for motions whose columns have been
    /// located. `wrenches` are forces and moments on the nodes without the ground, six each; none at all, if it is empty.
    pub(super) fn find_dynamics(
        &mut self,
        motions: &[Motion],
        inertia: &[Inertia],
        gravity: Vec3,
        wrenches: &[f64],
    ) {
        self.go_out(motions, inertia, gravity, wrenches);
        self.come_back();
    }

    /// From the roots to the tips: what each link needs to move as it does without any accelerations of the freedoms.
    fn go_out(&mut self, motions: &[Motion], inertia: &[Inertia], gravity: Vec3, wrenches: &[f64]) {
        let resting = Screw::new(Vec3::ZERO, -gravity);
        for (index, link) in self.layout.links.iter().enumerate() {
            let node = &motions[link.node];
            let origin = motions[self.layout.links[link.root].node].position;
            let place = node.position - origin;
            let centre = self.centres[index] - origin;
            let motion = Screw::of_motion(node, place);
            let (carrier, mut acceleration) = match link.carrier {
                Some(carrier) => (self.motions[carrier], self.accelerations[carrier]),
                None => (Screw::ZERO, resting),
            };
            for &id in link.slides.ids() {
                self.screws[id] = Screw::new(Vec3::ZERO, self.directions[id]);
                acceleration += self.screws[id] * self.given[id];
            }
            for &id in link.turns.ids() {
                self.screws[id] = Screw::turning(self.directions[id], centre);
                acceleration += self.screws[id] * self.given[id];
            }
            let relative = motion - carrier;
            match link.order {
                Order::Still => {}
                Order::One => acceleration += carrier.carries(relative),
                Order::SlidesFirst | Order::TurnsFirst => {
                    let turning = Screw::turning(relative.angular, centre);
                    let sliding = relative - turning;
                    let second = match link.order {
                        Order::SlidesFirst => sliding.carries(turning),
                        _ => turning.carries(sliding),
                    };
                    acceleration += carrier.carries(relative) + second;
                }
                Order::Cross => {
                    let axis = self.screws[link.turns.ids()[0]];
                    let first = axis * axis.angular.dot(relative.angular);
                    let second = first.carries(relative - first);
                    acceleration += carrier.carries(relative) + second;
                }
            }
            self.places[index] = place;
            self.arms[index] = centre;
            self.motions[index] = motion;
            self.accelerations[index] = acceleration;
            let own = WorldInertia::of_node(&inertia[link.node], node, place);
            let mut load = own.times(acceleration) + motion.carries_momentum(own.times(motion));
            if let Some(wrench) = wrenches.get(6 * (link.node - 1)..6 * link.node) {
                let force = Vec3::new(wrench[0], wrench[1], wrench[2]);
                let moment = Vec3::new(wrench[3], wrench[4], wrench[5]);
                load = load - Screw::new(moment + place.cross(force), force);
            }
            self.inertias[index] = own;
            self.composites[index] = own;
            self.loads[index] = load;
            self.sums[index] = load;
        }
    }

    /// From the tips to the roots: sums over the branches, seen from the freedoms.
    fn come_back(&mut self) {
        let freedoms = self.layout.freedoms;
        for (index, link) in self.layout.links.iter().enumerate().rev() {
            let (inertia, load) = (self.composites[index], self.sums[index]);
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                if id >= freedoms {
                    continue;
                }
                let screw = self.screws[id];
                self.found[id] = -screw.dot(load);
                let momentum = inertia.times(screw);
                let row = self.rows[id]..self.rows[id + 1];
                let entries = self.mass[row.clone()].iter_mut();
                for (entry, &other) in entries.zip(&self.ancestors[row]) {
                    *entry = self.screws[other].dot(momentum);
                }
            }
            if let Some(carrier) = link.carrier {
                self.composites[carrier] += inertia;
                self.sums[carrier] += load;
            }
        }
        for follower in &self.layout.followers {
            let link = self.layout.columns[follower.column].link;
            let screw = self.screws[follower.column];
            let moved = screw.dot(self.composites[link].times(screw));
            let first = self.rows[follower.freedom];
            self.mass[first] += follower.ratio * follower.ratio * moved;
            self.found[follower.freedom] -= follower.ratio * screw.dot(self.sums[link]);
        }
    }

    /// Factors the mass matrix in place. The link that has a freedom without inertia, if there is one.
    pub(super) fn factor(&mut self) -> Result<(), usize> {
        let freedoms = self.layout.freedoms;
        for id in (0..freedoms).rev() {
            let (first, end) = (self.rows[id], self.rows[id + 1]);
            let (above, own) = self.mass.split_at_mut(first);
            let own = &mut own[..end - first];
            let pivot = own[0];
            if pivot <= 0.0 {
                return Err(self.layout.columns[id].link);
            }
            let inverse = 1.0 / pivot;
            let ancestors = &self.ancestors[first..end];
            for place in 1..own.len() {
                let factor = own[place] * inverse;
                let target = self.rows[ancestors[place]];
                let entries = above[target..].iter_mut();
                let diagonal = above_diagonal(entries, factor, &own[place..]);
                if !diagonal {
                    return Err(self.layout.columns[ancestors[place]].link);
                }
            }
            for entry in &mut own[1..] {
                *entry *= inverse;
            }
            own[0] = inverse;
        }
        Ok(())
    }

    /// Solves for the accelerations, which take the place of the loads in `found`.
    pub(super) fn solve(&mut self) {
        let freedoms = self.layout.freedoms;
        for id in (0..freedoms).rev() {
            let (first, end) = (self.rows[id], self.rows[id + 1]);
            let value = self.found[id];
            let entries = self.mass[first + 1..end].iter();
            for (entry, &other) in entries.zip(&self.ancestors[first + 1..end]) {
                self.found[other] -= entry * value;
            }
        }
        for id in 0..freedoms {
            let (first, end) = (self.rows[id], self.rows[id + 1]);
            let mut value = self.found[id] * self.mass[first];
            let entries = self.mass[first + 1..end].iter();
            for (entry, &other) in entries.zip(&self.ancestors[first + 1..end]) {
                value -= entry * self.found[other];
            }
            self.found[id] = value;
        }
    }
}

/// Takes `factor` times a row from another one. Whether the diagonal entry that is left is more than rounding.
#[inline(always)]
fn above_diagonal<'a>(
    mut entries: impl Iterator<Item = &'a mut f64>,
    factor: f64,
    row: &[f64],
) -> bool {
    let Some(diagonal) = entries.next() else {
        return true;
    };
    let before = *diagonal;
    *diagonal -= factor * row[0];
    let is_left = *diagonal > NO_INERTIA * before || diagonal.is_nan();
    for (entry, other) in entries.zip(&row[1..]) {
        *entry -= factor * other;
    }
    is_left
}
