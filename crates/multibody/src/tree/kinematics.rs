//! From the coordinates of joints to the motions of nodes, and back.

use super::layout::{Column, Given, Giver, Link, Rotation};
use super::{Start, Tree};
use crate::element::At;
use crate::joint::{DrivenCoordinate, Joint, Transmission, spin_of};
use crate::node::Motion;
use oldham_space::{Quaternion, Vec3};

impl Tree {
    /// Directions of all columns, and where joints turn, as the motions of the nodes have them.
    pub(super) fn locate(&mut self, motions: &[Motion]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let (parent, child) = (&motions[link.parent], &motions[link.node]);
            let (carrier, offset) = match link.is_reversed {
                false => (child, link.offsets[1]),
                true => (parent, link.offsets[0]),
            };
            self.centres[index] = carrier.position + carrier.rotation * offset;
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                let column = &self.layout.columns[id];
                let carrier = if column.on_child { child } else { parent };
                self.directions[id] = carrier.rotation * column.direction;
            }
        }
    }

    /// Reads poses and rates of all joints from the motions of the nodes, after [`Self::locate`].
    pub(super) fn read(&mut self, motions: &[Motion]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let (parent, child) = (&motions[link.parent], &motions[link.node]);
            let above = parent.orientation.times(link.axes[0]);
            let below = child.orientation.times(link.axes[1].conjugate());
            let turn = above.conjugate().times(below);
            let start = &mut self.starts[index];
            *start = read_turn(link.rotation, turn);
            let spin = child.angular_velocity - parent.angular_velocity;
            for &id in link.turns.ids() {
                self.rates[id] = self.directions[id].dot(spin);
            }
            if link.slides.ids().is_empty() {
                continue;
            }
            let places = [(parent, link.offsets[0]), (child, link.offsets[1])];
            let [a, b] = places.map(|(node, offset)| node.position + node.rotation * offset);
            let centre = self.centres[index];
            let velocity =
                |node: &Motion| node.velocity + node.angular_velocity.cross(centre - node.position);
            let sliding = velocity(child) - velocity(parent);
            for (slot, &id) in link.slides.ids().iter().enumerate() {
                start.slides[slot] = self.directions[id].dot(b - a);
                self.rates[id] = self.directions[id].dot(sliding);
            }
        }
    }

    /// Puts followers where their relation wants them: its violations would stay for ever.
    pub(super) fn correct_followers<'a>(
        &mut self,
        at: impl Fn(usize) -> (&'a Transmission, At<'a>),
    ) {
        for follower in &self.layout.followers {
            let (relation, at) = at(follower.element);
            let excess = relation.violation(&at) / follower.own;
            let column = &self.layout.columns[follower.column];
            let start = &mut self.starts[column.link];
            match column.is_turn {
                true => start.turn = start.turn.times(about_third(-excess)),
                false => start.slides[0] -= excess,
            }
        }
    }

    /// Moves all nodes to coordinates that are `distance` along the newest slopes from where the step began; those that
    /// are given have their present values.
    pub(super) fn follow(&mut self, distance: f64, motions: &mut [Motion]) {
        let [turns, speeds] = &self.slopes;
        for (value, slope) in self.values.iter_mut().zip(turns) {
            *value = distance * slope;
        }
        let begun = self.first_rates.iter().zip(speeds);
        for (rate, (first, slope)) in self.rates.iter_mut().zip(begun) {
            *rate = first + distance * slope;
        }
        self.lead_followers();
        self.place(motions);
    }

    /// Values and rates of the columns that follow others.
    pub(super) fn lead_followers(&mut self) {
        for follower in &self.layout.followers {
            let (own, led) = (follower.column, follower.freedom);
            self.values[own] = follower.ratio * self.values[led];
            self.rates[own] = follower.ratio * self.rates[led];
        }
    }

    /// Moves all nodes to where the values and rates of the columns put them.
    pub(super) fn place(&mut self, motions: &mut [Motion]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let parent = motions[link.parent];
            let turn = self.turn(link, &self.starts[index]);
            let orientation = parent
                .orientation
                .times(link.axes[0].times(turn).times(link.axes[1]))
                .normalised();
            let rotation = orientation.matrix();
            let mut spin = parent.angular_velocity;
            for &id in link.turns.ids() {
                let column = &self.layout.columns[id];
                let direction = carried(column, &parent, &rotation);
                self.directions[id] = direction;
                spin += direction * self.rates[id];
            }
            let above = parent.position + parent.rotation * link.offsets[0];
            let mut below = above;
            let mut sliding = Vec3::ZERO;
            if link.shift != Vec3::ZERO {
                below += match link.slides_on_child() {
                    true => rotation * link.shift,
                    false => parent.rotation * link.shift,
                };
            }
            for (slot, &id) in link.slides.ids().iter().enumerate() {
                let column = &self.layout.columns[id];
                let direction = carried(column, &parent, &rotation);
                self.directions[id] = direction;
                let start = match self.is_given(id) {
                    true => 0.0,
                    false => self.starts[index].slides[slot],
                };
                below += direction * (start + self.values[id]);
                sliding += direction * self.rates[id];
            }
            let position = below - rotation * link.offsets[1];
            let centre = if link.is_reversed { above } else { below };
            self.centres[index] = centre;
            let velocity = parent.velocity
                + parent.angular_velocity.cross(centre - parent.position)
                + sliding
                + spin.cross(position - centre);
            motions[link.node] = Motion {
                position,
                orientation,
                rotation,
                velocity,
                angular_velocity: spin,
            };
        }
    }

    /// Whether a column has a motion that drives give.
    #[inline(always)]
    fn is_given(&self, id: usize) -> bool {
        let freedoms = self.layout.freedoms;
        (freedoms..freedoms + self.layout.given.len()).contains(&id)
    }

    /// How the child's marker is turned against the parent's.
    #[inline(always)]
    fn turn(&self, link: &Link, start: &Start) -> Quaternion {
        let ids = link.turns.ids();
        match link.rotation {
            Rotation::Locked => Quaternion::IDENTITY,
            Rotation::Given => Quaternion::exp(self.vector(ids)),
            Rotation::Hinge if self.is_given(ids[0]) => about_third(self.values[ids[0]]),
            Rotation::Hinge => {
                let [a, b] = [start.turn.0[0], start.turn.0[3]];
                let (sin, cos) = (0.5 * self.values[ids[0]]).sin_cos();
                Quaternion([a * cos - b * sin, 0.0, 0.0, a * sin + b * cos])
            }
            Rotation::Universal { first } => {
                let [a, b] = [0, 1].map(|k: usize| start.angles[k] + self.values[ids[k]]);
                about(first, a).times(about(1 - first, b))
            }
            Rotation::Ball => Quaternion::exp(self.vector(ids)).times(start.turn),
        }
    }

    #[inline(always)]
    fn vector(&self, ids: &[usize]) -> Vec3 {
        Vec3::new(
            self.values[ids[0]],
            self.values[ids[1]],
            self.values[ids[2]],
        )
    }
}

/// The direction of a column.
#[inline(always)]
fn carried(column: &Column, parent: &Motion, child: &oldham_space::Mat3) -> Vec3 {
    match column.on_child {
        true => *child * column.direction,
        false => parent.rotation * column.direction,
    }
}

/// The rotation about the third axis.
#[inline(always)]
fn about_third(angle: f64) -> Quaternion {
    let (sin, cos) = (0.5 * angle).sin_cos();
    Quaternion([cos, 0.0, 0.0, sin])
}

fn about(axis: usize, angle: f64) -> Quaternion {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let mut all = [cos, 0.0, 0.0, 0.0];
    all[1 + axis] = sin;
    Quaternion(all)
}

/// What a joint can have of a rotation.
fn read_turn(rotation: Rotation, turn: Quaternion) -> Start {
    let mut start = Start {
        turn,
        ..Start::default()
    };
    let [w, x, y, z] = turn.0;
    match rotation {
        Rotation::Hinge => {
            let factor = 1.0 / (w * w + z * z).sqrt();
            start.turn = Quaternion([w * factor, 0.0, 0.0, z * factor]);
        }
        // With half angles a and b: w = cos a cos b, of the first axis sin a cos b, of the second cos a sin b, and of
        // their vector product sin a sin b.
        Rotation::Universal { first } => {
            let (f, s, p) = if first == 0 { (x, y, z) } else { (y, x, -z) };
            start.angles = [
                (2.0 * (w * f + s * p)).atan2(w * w + s * s - f * f - p * p),
                (2.0 * (w * s + f * p)).atan2(w * w + f * f - s * s - p * p),
            ];
        }
        Rotation::Locked | Rotation::Given | Rotation::Ball => {}
    }
    start
}

/// Sets value, rate and acceleration of a column whose motion is given.
pub(super) fn find_given<'a>(
    tree: &mut Tree,
    given: &Given,
    at: &impl Fn(usize) -> At<'a>,
    step: f64,
) {
    let column = given.column;
    let [value, rate, second] = match &given.giver {
        Giver::Row { element, row } => {
            let here = at(*element);
            let joint = joint_of(&here, *element);
            let target = &joint.rows()[*row].target;
            let [rate, second] = target.derivatives(here.time, step);
            [target.value(here.time, here.inputs), rate, second]
        }
        Giver::Turn {
            element,
            is_reversed,
        } => {
            let axis = tree.layout.columns[column].axis;
            let here = at(*element);
            let turn = joint_of(&here, *element).turn();
            let values = [0, 1, 2].map(|i| turn[i].value(here.time, here.inputs));
            let rates = [0, 1, 2].map(|i| turn[i].derivatives(here.time, step));
            let sign = if *is_reversed { -1.0 } else { 1.0 };
            let vector = |f: &dyn Fn(usize) -> f64| Vec3::new(f(0), f(1), f(2)) * sign;
            let psi = vector(&|i| values[i]);
            let [spin, spin_rate] =
                spin_of(psi, vector(&|i| rates[i][0]), vector(&|i| rates[i][1]));
            [psi[axis], spin[axis], spin_rate[axis]]
        }
        Giver::Coordinate { element, sign } => {
            let here = at(*element);
            let drive = here.elements[*element]
                .element
                .downcast_ref::<DrivenCoordinate>();
            let drive = drive.expect("an element that drives a coordinate");
            let [rate, second] = drive.target_rates(&here, step);
            [drive.target(&here), rate, second].map(|x| sign * x)
        }
    };
    tree.values[column] = value;
    tree.rates[column] = rate;
    tree.given[column] = second;
}

fn joint_of<'a>(at: &At<'a>, element: usize) -> &'a Joint {
    let joint = at.elements[element].element.downcast_ref::<Joint>();
    joint.expect("a joint of the tree")
}
