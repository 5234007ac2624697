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

    /// From the roots to the tips: what each link needs to move as it does, where the columns have the accelerations in
    /// `given`; those of the freedoms are zero but in implicit steps.
    pub(super) fn go_out(
        &mut self,
        motions: &[Motion],
        inertia: &[Inertia],
        gravity: Vec3,
        wrenches: &[f64],
    ) {
        let resting = Screw::new(Vec3::ZERO, -gravity);
        self.resting = resting;
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
            acceleration += self.carried_along(index, carrier, motion - carrier, centre);
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

    /// What accelerates a link besides its carrier's acceleration and those along its columns, which have been made screws.
    #[inline(always)]
    pub(super) fn carried_along(
        &self,
        index: usize,
        carrier: Screw,
        relative: Screw,
        centre: Vec3,
    ) -> Screw {
        let link = &self.layout.links[index];
        match link.order {
            Order::Still => Screw::ZERO,
            Order::One => carrier.carries(relative),
            Order::SlidesFirst | Order::TurnsFirst => {
                let turning = Screw::turning(relative.angular, centre);
                let sliding = relative - turning;
                let second = match link.order {
                    Order::SlidesFirst => sliding.carries(turning),
                    _ => turning.carries(sliding),
                };
                carrier.carries(relative) + second
            }
            Order::Cross => {
                let axis = self.screws[link.turns.ids()[0]];
                let first = axis * axis.angular.dot(relative.angular);
                carrier.carries(relative) + first.carries(relative - first)
            }
        }
    }

    /// Sums of the loads over the branches, in `sums`, and what they come to along the freedoms, with the opposite sign, in
    /// `found`.
    pub(super) fn sum_loads(&mut self) {
        let freedoms = self.layout.freedoms;
        for (index, link) in self.layout.links.iter().enumerate().rev() {
            let load = self.sums[index];
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                if id < freedoms {
                    self.found[id] = -self.screws[id].dot(load);
                }
            }
            if let Some(carrier) = link.carrier {
                self.sums[carrier] += load;
            }
        }
        for follower in &self.layout.followers {
            let link = self.layout.columns[follower.column].link;
            let along = self.screws[follower.column].dot(self.sums[link]);
            self.found[follower.freedom] -= follower.ratio * along;
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
                let entries = self.mass[self.pattern.start(id)..].iter_mut();
                for (entry, &other) in entries.zip(self.pattern.row(id)) {
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
            let first = self.pattern.start(follower.freedom);
            self.mass[first] += follower.ratio * follower.ratio * moved;
            self.found[follower.freedom] -= follower.ratio * screw.dot(self.sums[link]);
        }
    }

    /// Factors the mass matrix in place. The link that has a freedom without inertia, if there is one.
    pub(super) fn factor(&mut self) -> Result<(), usize> {
        let freedoms = self.layout.freedoms;
        for id in (0..freedoms).rev() {
            let ancestors = self.pattern.row(id);
            let (above, own) = self.mass.split_at_mut(self.pattern.start(id));
            let own = &mut own[..ancestors.len()];
            let pivot = own[0];
            if pivot <= 0.0 {
                return Err(self.layout.columns[id].link);
            }
            let inverse = 1.0 / pivot;
            for place in 1..own.len() {
                let factor = own[place] * inverse;
                let target = self.pattern.start(ancestors[place]);
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
            let first = self.pattern.start(id);
            let value = self.found[id];
            let entries = self.mass[first + 1..].iter();
            for (entry, &other) in entries.zip(&self.pattern.row(id)[1..]) {
                self.found[other] -= entry * value;
            }
        }
        for id in 0..freedoms {
            let first = self.pattern.start(id);
            let mut value = self.found[id] * self.mass[first];
            let entries = self.mass[first + 1..].iter();
            for (entry, &other) in entries.zip(&self.pattern.row(id)[1..]) {
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
