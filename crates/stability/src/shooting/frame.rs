//! The rigid motion by which a steady motion goes on from step to step.
//!
//! A car in a steady turn is in another place after a step, with another heading and with its wheels turned
//! further, and otherwise the same. A [`Frame`] says which rigid motions leave a model as it is; between a state
//! and a later one it finds the motion of a body that is carried along, and what each wheel turns besides.

use oldham_cosim::{State, Visitor};
use oldham_space::{Quaternion, V3, Vec3};

/// Share of the fastest spin from which on an orientation spins, and the least angle in radians.
const SPINS: f64 = 0.05;
const LEAST_SPIN: f64 = 1e-4;

/// Rotations of a whole model that change nothing but where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Turning {
    /// None.
    #[default]
    None,
    /// About this unit vector.
    About([f64; 3]),
    /// All.
    Free,
}

/// Points and orientations of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Poses {
    points: Vec<Vec3>,
    orientations: Vec<Quaternion>,
    /// Places of points that are followed by an orientation, with its place.
    bodies: Vec<[usize; 2]>,
    after_point: bool,
}

impl Poses {
    pub fn of(part: &mut dyn State) -> Self {
        let mut poses = Self::default();
        part.visit(&mut poses);
        poses
    }

    fn orientation(&mut self, orientation: Quaternion) {
        if self.after_point {
            self.bodies
                .push([self.points.len() - 1, self.orientations.len()]);
        }
        self.orientations.push(orientation);
        self.after_point = false;
    }
}

impl Visitor for Poses {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, _: &mut [f64]) {
        self.after_point = false;
    }
    fn point(&mut self, values: &mut [f64]) {
        self.points.push(three(values));
        self.after_point = true;
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        self.orientation(Quaternion(*quaternion));
    }
    fn quaternion(&mut self, values: &mut [f64]) {
        self.orientation(Quaternion([values[0], values[1], values[2], values[3]]));
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}

/// Rigid motions that leave a model as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// Rotations of all of it ...
    pub turning: Turning,
    /// ... about an axis through this point.
    pub centre: [f64; 3],
    /// Along which of the axes it may be displaced.
    pub shifts: [bool; 3],
    /// Places of the body that is carried along, among points and among orientations.
    body: Option<[usize; 2]>,
    /// What spins.
    spins: Vec<Spin>,
}

/// How an orientation spins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spin {
    /// Unit axis, in its own axes; zero if it does not spin.
    axis: Vec3,
    /// The orientation whose past or copy it is, or its own place: both spin by the same angle.
    of: usize,
}

impl Frame {
    /// The frame of a body that turns least between two states; what may be done to it is still to be found.
    pub fn carried(before: &Poses, after: &Poses) -> Self {
        let both = before.orientations.iter().zip(&after.orientations);
        let turns: Vec<f64> = both
            .map(|(before, after)| match is_unused(before, after) {
                true => f64::INFINITY,
                false => after.times(before.conjugate()).log().norm(),
            })
            .collect();
        let body = before
            .bodies
            .iter()
            .min_by(|a, b| turns[a[1]].total_cmp(&turns[b[1]]))
            .filter(|body| turns[body[1]].is_finite());
        Self {
            body: body.copied(),
            ..Self::default()
        }
    }

    /// Where the body that is carried along is.
    pub fn place(&self, poses: &Poses) -> Option<[f64; 3]> {
        let [point, _] = self.body?;
        poses.points.get(point).map(|point| point.0)
    }

    /// The same with the spins that are seen between two states, and their axes between these and a third one.
    pub fn spinning(mut self, before: &Poses, after: &Poses, third: &Poses) -> Self {
        let turn = self.turn(before, after);
        let both = before.orientations.iter().zip(&after.orientations);
        let own: Vec<Vec3> = both
            .map(|(before, after)| match is_unused(before, after) {
                true => Vec3::ZERO,
                false => own_turn(*before, *after, turn).log(),
            })
            .collect();
        let fastest = own.iter().map(|own| own.norm()).fold(0.0, f64::max);
        let least = LEAST_SPIN.max(SPINS * fastest);
        let still: Vec<usize> = (0..own.len())
            .filter(|&place| own[place].norm() <= least)
            .collect();
        let seen = [before, after, third];
        let axis = |(place, own): (usize, Vec3)| match own.norm() > least {
            true => hinge(seen, place, &still).unwrap_or(own * (1.0 / own.norm())),
            false => Vec3::ZERO,
        };
        let mut spins: Vec<Spin> = own
            .into_iter()
            .enumerate()
            .map(|(of, own)| Spin {
                axis: axis((of, own)),
                of,
            })
            .collect();
        for place in 0..spins.len() {
            let now = after.orientations[place];
            // What another one was is its past; what another one is, before it in the state, is its copy.
            let past = (0..spins.len())
                .find(|&of| of != place && before.orientations[of] == now)
                .or_else(|| (0..place).find(|&of| after.orientations[of] == now));
            if let Some(of) = past.filter(|&of| spins[of].axis != Vec3::ZERO)
                && spins[place].axis != Vec3::ZERO
            {
                spins[place].of = of;
                spins[place].axis = spins[of].axis;
            }
        }
        self.spins = spins;
        self
    }

    /// Whether anything spins.
    pub fn has_spins(&self) -> bool {
        self.spins.iter().any(|spin| spin.axis != Vec3::ZERO)
    }

    /// All spins by this angle and nothing else.
    pub fn spun(&self, angle: f64) -> RigidMotion {
        RigidMotion {
            spins: self
                .spins
                .iter()
                .map(|spin| Quaternion::exp(spin.axis * angle))
                .collect(),
            ..RigidMotion::default()
        }
    }

    fn turn(&self, before: &Poses, after: &Poses) -> Quaternion {
        let Some([_, orientation]) = self.body else {
            return Quaternion::IDENTITY;
        };
        let before = before.orientations[orientation];
        let turn = after.orientations[orientation].times(before.conjugate());
        match self.turning {
            Turning::None => Quaternion::IDENTITY,
            Turning::About(axis) => Quaternion::exp(V3(axis) * angle_about(turn, V3(axis))),
            Turning::Free => turn,
        }
    }

    /// The orientation whose past or copy one is in the end.
    fn root(&self, mut place: usize) -> usize {
        // Pasts of pasts, as long as a history is.
        for _ in 0..self.spins.len() {
            let of = self.spins[place].of;
            if of == place {
                break;
            }
            place = of;
        }
        place
    }

    /// All displacements, rotations and spins of this size, in m and rad, that may leave the model as it is.
    pub fn generators(&self, size: f64) -> Vec<RigidMotion> {
        const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let along = |axis: [f64; 3]| axis.map(|component| component * size);
        let mut found = Vec::new();
        let free = AXES.into_iter().zip(self.shifts).filter(|(_, free)| *free);
        found.extend(free.map(|(axis, _)| RigidMotion::displacement(along(axis))));
        let axes = match self.turning {
            Turning::None => Vec::new(),
            Turning::About(axis) => vec![axis],
            Turning::Free => AXES.to_vec(),
        };
        let turns = axes.into_iter();
        found.extend(turns.map(|axis| RigidMotion::rotation(along(axis), self.centre)));
        for of in 0..self.spins.len() {
            if self.spins[of].axis == Vec3::ZERO || self.spins[of].of != of {
                continue;
            }
            let spin = |(place, spin): (usize, &Spin)| match self.root(place) == of {
                true => Quaternion::exp(spin.axis * size),
                false => Quaternion::IDENTITY,
            };
            found.push(RigidMotion {
                spins: self.spins.iter().enumerate().map(spin).collect(),
                ..RigidMotion::default()
            });
        }
        if self.has_spins() {
            found.push(self.spun(size));
        }
        found
    }

    /// The motion that takes a state to a later one, as far as the body that is carried along and all spins tell it.
    pub fn between(&self, before: &Poses, after: &Poses) -> RigidMotion {
        let turn = self.turn(before, after);
        let centre = V3(self.centre);
        let mut shift = Vec3::ZERO;
        if let Some([point, _]) = self.body {
            let [from, to] = [before.points[point], after.points[point]];
            let moved = to - centre - turn.rotate(from - centre);
            for (axis, free) in self.shifts.iter().enumerate() {
                shift[axis] = if *free { moved[axis] } else { 0.0 };
            }
        }
        let spins = self.spins.iter().enumerate().map(|(place, spin)| {
            if spin.axis == Vec3::ZERO {
                return Quaternion::IDENTITY;
            }
            let of = self.root(place);
            let own = own_turn(before.orientations[of], after.orientations[of], turn);
            Quaternion::exp(spin.axis * angle_about(own, self.spins[of].axis))
        });
        RigidMotion {
            turn,
            centre,
            shift,
            spins: spins.collect(),
        }
    }
}

/// Whether an orientation is the place of one that is not there yet, as in a history that is not filled.
fn is_unused(before: &Quaternion, after: &Quaternion) -> bool {
    *before == Quaternion::IDENTITY && *after == Quaternion::IDENTITY
}

/// The axis in its own axes about which an orientation turns against one of those that do not spin: what carries a wheel may turn itself, but the
/// axis on which the wheel sits stays the same from step to step.
fn hinge(seen: [&Poses; 3], place: usize, still: &[usize]) -> Option<Vec3> {
    let relative = |poses: &Poses, carrier: usize| {
        let carrier = poses.orientations[carrier];
        carrier.conjugate().times(poses.orientations[place])
    };
    let unit = |turn: Vec3| turn * (1.0 / turn.norm());
    let axes = still.iter().filter_map(|&carrier| {
        let [first, second, third] = seen.map(|poses| relative(poses, carrier));
        let turns = [(first, second), (second, third)];
        let [one, two] = turns.map(|(from, to)| unit(from.conjugate().times(to).log()));
        let off = (one - two).norm();
        off.is_finite().then_some((off, one))
    });
    let best = axes.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, axis)| axis)
}

/// What an orientation turns besides a turn of everything, in its own axes.
fn own_turn(before: Quaternion, after: Quaternion, turn: Quaternion) -> Quaternion {
    let back = before.conjugate().times(turn.conjugate());
    back.times(after).normalised()
}

/// The angle of a rotation about an axis.
fn angle_about(rotation: Quaternion, axis: Vec3) -> f64 {
    let [real, x, y, z] = rotation.0;
    // Both signs of a quaternion are the same rotation.
    let sign = if real < 0.0 { -1.0 } else { 1.0 };
    2.0 * (sign * V3([x, y, z]).dot(axis)).atan2(sign * real)
}

/// A rigid motion of a whole state, with spins of orientations about axes of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RigidMotion {
    turn: Quaternion,
    centre: Vec3,
    shift: Vec3,
    spins: Vec<Quaternion>,
}

impl RigidMotion {
    /// A displacement of everything.
    pub fn displacement(shift: [f64; 3]) -> Self {
        Self {
            shift: V3(shift),
            ..Self::default()
        }
    }

    /// A rotation of everything by a rotation vector, about an axis through a point.
    pub fn rotation(vector: [f64; 3], centre: [f64; 3]) -> Self {
        Self {
            turn: Quaternion::exp(V3(vector)),
            centre: V3(centre),
            ..Self::default()
        }
    }

    /// Its rotation vector.
    pub fn turned(&self) -> [f64; 3] {
        self.turn.log().0
    }

    /// The rate of a point, at first, in a steady motion that is this after a unit of time: the arc, not the chord.
    pub fn rate_of(&self, point: [f64; 3]) -> [f64; 3] {
        let chord = self.moved(V3(point)) - V3(point);
        let turn = self.turn.log();
        let half = 0.5 * turn.norm();
        let across = turn.cross(chord);
        let second = match half > 1e-4 {
            true => (1.0 - half / half.tan()) / (4.0 * half * half),
            false => 1.0 / 12.0,
        };
        (chord - across * 0.5 + turn.cross(across) * second).0
    }

    /// The largest angle by which anything spins besides.
    pub fn spun(&self) -> f64 {
        let angles = self.spins.iter().map(|spin| spin.log().norm());
        angles.fold(0.0, f64::max)
    }

    fn moved(&self, point: Vec3) -> Vec3 {
        self.centre + self.turn.rotate(point - self.centre) + self.shift
    }

    /// The motion back.
    pub fn inverse(&self) -> Self {
        let turn = self.turn.conjugate();
        Self {
            turn,
            centre: self.centre,
            shift: -turn.rotate(self.shift),
            spins: self.spins.iter().map(|spin| spin.conjugate()).collect(),
        }
    }

    /// Moves a state.
    pub fn apply(&self, part: &mut dyn State) {
        part.visit(&mut Mover {
            motion: self,
            orientations: 0,
        });
    }
}

struct Mover<'a> {
    motion: &'a RigidMotion,
    orientations: usize,
}

impl Mover<'_> {
    /// The spin of the orientation that was visited last.
    fn own(&self) -> Quaternion {
        let spins = &self.motion.spins;
        let place = self.orientations.wrapping_sub(1);
        spins.get(place).copied().unwrap_or_default()
    }

    fn orient(&mut self, orientation: Quaternion) -> Quaternion {
        self.orientations += 1;
        self.motion.turn.times(orientation).times(self.own())
    }
}

fn three(values: &[f64]) -> Vec3 {
    V3([values[0], values[1], values[2]])
}

impl Visitor for Mover<'_> {
    fn vector(&mut self, _: &mut [f64]) {}
    fn point(&mut self, values: &mut [f64]) {
        values.copy_from_slice(&self.motion.moved(three(values)).0);
    }
    fn spatial(&mut self, values: &mut [f64]) {
        for vector in values.chunks_exact_mut(3) {
            vector.copy_from_slice(&self.motion.turn.rotate(three(vector)).0);
        }
    }
    fn body_fixed(&mut self, values: &mut [f64]) {
        values.copy_from_slice(&self.own().conjugate().rotate(three(values)).0);
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        *quaternion = self.orient(Quaternion(*quaternion)).0;
    }
    fn quaternion(&mut self, values: &mut [f64]) {
        let orientation = Quaternion([values[0], values[1], values[2], values[3]]);
        values.copy_from_slice(&self.orient(orientation).0);
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_cosim::Chart;

    /// A vehicle with a wheel on it.
    struct Vehicle {
        place: Vec3,
        heading: Quaternion,
        velocity: Vec3,
        hub: Vec3,
        wheel: Quaternion,
        own: Vec3,
        load: f64,
    }

    impl State for Vehicle {
        fn visit(&mut self, visitor: &mut dyn Visitor) {
            visitor.point(&mut self.place.0);
            visitor.rotation(&mut self.heading.0);
            visitor.spatial(&mut self.velocity.0);
            visitor.point(&mut self.hub.0);
            visitor.rotation(&mut self.wheel.0);
            visitor.body_fixed(&mut self.own.0);
            visitor.vector(std::slice::from_mut(&mut self.load));
        }
    }

    fn vehicle() -> Vehicle {
        let heading = Quaternion::exp(V3([0.02, 0.01, 0.7]));
        Vehicle {
            place: V3([3.0, -2.0, 0.4]),
            heading,
            velocity: V3([9.0, 4.0, 0.0]),
            hub: V3([3.5, -1.0, 0.3]),
            wheel: heading.times(Quaternion::exp(V3([0.0, 1.2, 0.0]))),
            own: V3([0.3, -0.4, 0.2]),
            load: 5.0,
        }
    }

    fn turning_frame(before: &Poses, after: &Poses) -> Frame {
        let frame = Frame {
            turning: Turning::About([0.0, 0.0, 1.0]),
            shifts: [true, true, false],
            ..Frame::carried(before, after)
        };
        frame.spinning(before, after, after)
    }

    #[test]
    fn a_steady_turn_with_a_wheel_is_undone() {
        let mut part = vehicle();
        let before = Poses::of(&mut part);
        let chart = Chart::about(&mut part);
        let turn = RigidMotion::rotation([0.0, 0.0, 0.03], [-40.0, 25.0, 0.0]);
        turn.apply(&mut part);
        part.wheel = part.wheel.times(Quaternion::exp(V3([0.0, 0.4, 0.0])));
        part.own = Quaternion::exp(V3([0.0, -0.4, 0.0])).rotate(part.own);
        let after = Poses::of(&mut part);
        let frame = turning_frame(&before, &after);
        let found = frame.between(&before, &after);
        assert!((found.turned()[2] - 0.03).abs() < 1e-14);
        assert!((found.spun() - 0.4).abs() < 1e-14);
        found.inverse().apply(&mut part);
        let mut off = vec![0.0; chart.dimension()];
        chart.read(&mut part, &mut off);
        assert!(off.iter().all(|off| off.abs() < 1e-13), "{off:?}");
    }

    #[test]
    fn what_is_no_rigid_motion_is_left() {
        let mut part = vehicle();
        let before = Poses::of(&mut part);
        let chart = Chart::about(&mut part);
        RigidMotion::displacement([0.3, 0.1, 0.0]).apply(&mut part);
        part.velocity[0] += 0.5;
        part.place[2] += 0.01;
        let after = Poses::of(&mut part);
        let frame = turning_frame(&before, &after);
        frame.between(&before, &after).inverse().apply(&mut part);
        let mut off = vec![0.0; chart.dimension()];
        chart.read(&mut part, &mut off);
        assert!((off[2] - 0.01).abs() < 1e-14 && (off[6] - 0.5).abs() < 1e-14);
        let rest: f64 = off.iter().map(|off| off.abs()).sum();
        assert!((rest - 0.51).abs() < 1e-12, "{off:?}");
    }
}
