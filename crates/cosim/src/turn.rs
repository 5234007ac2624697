//! States that turn in space: what of a state turns, how, and the same state turned further.
//!
//! A steady rotation takes a state to itself, turned by an angle in each step. Small changes of it
//! obey a recurrence that does not change from step to step only if they are seen from axes that
//! turn along. Parts say of what kind their numbers are while they are visited; all else follows
//! from that.

use oldham_space::{Quaternion, V3, Vec3};

use crate::state::{Chart, State, Visitor};

/// Turns by less than this, in radians, are none.
const NOTHING: f64 = 1e-7;
/// Orientations whose turn differs from that of all others by less than this share turn along.
const ALONG: f64 = 0.3;
/// Spin of its own, as a share of the fastest turn, from which on an orientation spins.
const SPINS: f64 = 0.05;

/// A piece of a state, as far as turning matters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    /// So many numbers that do not turn.
    Scalars(usize),
    /// So many multipliers, which the next step finds anew.
    Reactions(usize),
    Point(Vec3),
    Vector,
    Orientation(Quaternion),
    /// The same by four plain coordinates.
    Quaternion(Quaternion),
    /// In the axes of the orientation before it.
    BodyFixed,
}

impl Piece {
    fn coordinates(self) -> usize {
        match self {
            Self::Scalars(count) | Self::Reactions(count) => count,
            Self::Quaternion(_) => 4,
            _ => 3,
        }
    }
}

/// The pieces of a state in the order of its coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout(Vec<Piece>);

impl Layout {
    /// Of the present state of a part.
    pub fn of(part: &mut dyn State) -> Self {
        let mut layout = Self::default();
        part.visit(&mut layout);
        layout
    }

    fn orientations(&self) -> impl Iterator<Item = Quaternion> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Orientation(q) | Piece::Quaternion(q) => Some(*q),
            _ => None,
        })
    }

    fn points(&self) -> impl Iterator<Item = Vec3> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Point(point) => Some(*point),
            _ => None,
        })
    }

    /// For each coordinate, whether the next step needs it.
    pub fn needed(&self) -> impl Iterator<Item = bool> {
        self.0.iter().flat_map(|piece| {
            let is_needed = !matches!(piece, Piece::Reactions(_));
            std::iter::repeat_n(is_needed, piece.coordinates())
        })
    }
}

fn three(values: &[f64]) -> Vec3 {
    V3([values[0], values[1], values[2]])
}

impl Visitor for Layout {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        self.0.push(Piece::Scalars(values.len()));
    }
    fn point(&mut self, values: &mut [f64]) {
        self.0.push(Piece::Point(three(values)));
    }
    fn spatial(&mut self, values: &mut [f64]) {
        let count = values.len() / 3;
        self.0.extend(std::iter::repeat_n(Piece::Vector, count));
    }
    fn body_fixed(&mut self, _: &mut [f64]) {
        self.0.push(Piece::BodyFixed);
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        self.0.push(Piece::Orientation(Quaternion(*quaternion)));
    }
    fn quaternion(&mut self, values: &mut [f64]) {
        let [w, x, y, z] = values else {
            unreachable!("a quaternion has four components")
        };
        self.0.push(Piece::Quaternion(Quaternion([*w, *x, *y, *z])));
    }
    fn reactions(&mut self, values: &mut [f64]) {
        self.0.push(Piece::Reactions(values.len()));
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}

/// A turn of a whole state: all of it about an axis, and orientations besides about axes of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The rotation vector of the turn.
    turn: Vec3,
    /// A point of the axis.
    about: Vec3,
    /// What each orientation turns besides, in its own axes.
    spins: Vec<Vec3>,
}

impl Turn {
    /// Turns that may take a state to a later one, the likeliest first. Empty where nothing turns, or where not
    /// everything does and nothing turns by more than a small angle: what vibrates is not meant.
    pub fn candidates(before: &Layout, after: &Layout, small: f64) -> Vec<Self> {
        let turns: Vec<Vec3> = before
            .orientations()
            .zip(after.orientations())
            .filter(|both| !is_unused(both))
            .map(|(before, after)| after.times(before.conjugate()).log())
            .collect();
        let size = |turn: &&Vec3| turn.norm();
        let Some(&fastest) = turns.iter().max_by(|a, b| size(a).total_cmp(&size(b))) else {
            return Vec::new();
        };
        if fastest.norm() < NOTHING {
            return Vec::new();
        }
        let is_along = |turn: &&Vec3| (**turn - fastest).norm() <= ALONG * fastest.norm();
        let along: Vec<Vec3> = turns.iter().filter(is_along).copied().collect();
        let is_whole = along.len() == turns.len();
        if !is_whole && fastest.norm() < small {
            return Vec::new();
        }
        let sum = along.iter().fold(Vec3::ZERO, |sum, turn| sum + *turn);
        let common = sum * (1.0 / along.len() as f64);
        // The axis goes through the origin, or through the point that moves least.
        let distances = before.points().zip(after.points());
        let still = distances.min_by(|(a, b), (c, d)| {
            let moved = |from: &Vec3, to: &Vec3| (*to - *from).norm();
            moved(a, b).total_cmp(&moved(c, d))
        });
        let about = [Some(Vec3::ZERO), still.map(|(point, _)| point)];
        let turning = about
            .into_iter()
            .flatten()
            .map(|about| Self::along(common, about, before, after, fastest.norm()));
        let spinning = Self::along(Vec3::ZERO, Vec3::ZERO, before, after, fastest.norm());
        let mut all: Vec<Self> = turning.collect();
        match is_whole {
            true => all.push(spinning),
            false => all.insert(0, spinning),
        }
        all
    }

    fn along(turn: Vec3, about: Vec3, before: &Layout, after: &Layout, fastest: f64) -> Self {
        let back = Quaternion::exp(-turn);
        let both = before.orientations().zip(after.orientations());
        let spin = |(before, after): (Quaternion, Quaternion)| {
            let own = before.conjugate().times(back).times(after).log();
            match own.norm() > SPINS * fastest && !is_unused(&(before, after)) {
                true => own,
                false => Vec3::ZERO,
            }
        };
        Self {
            turn,
            about,
            spins: both.map(spin).collect(),
        }
    }

    /// The largest angle in it.
    pub fn angle(&self) -> f64 {
        let spins = self.spins.iter().map(|spin| spin.norm());
        spins.fold(self.turn.norm(), f64::max)
    }

    /// Whether everything turns, but not everything alike: it vibrates, or has wheels of its own.
    pub fn is_mixed(&self) -> bool {
        self.turn != Vec3::ZERO && self.of_all().is_none()
    }

    /// The rotation vector of the turn, where nothing turns otherwise.
    pub fn of_all(&self) -> Option<[f64; 3]> {
        let is_all = self.spins.iter().all(|spin| *spin == Vec3::ZERO);
        is_all.then_some(self.turn.0)
    }

    /// Whether nothing but orientations turns, about axes of their own.
    pub fn is_of_spins(&self) -> bool {
        self.turn == Vec3::ZERO && self.of_all().is_none()
    }

    /// Changes of a state as changes of the state that is turned by so many times this.
    pub fn carry(&self, layout: &Layout, times: f64, coordinates: &mut [f64]) {
        let turn = Quaternion::exp(self.turn * times);
        let mut spins = self.spins.iter();
        let mut own = Quaternion::IDENTITY;
        let mut rest = coordinates;
        for piece in &layout.0 {
            let (here, after) = rest.split_at_mut(piece.coordinates());
            rest = after;
            if let Piece::Orientation(_) | Piece::Quaternion(_) = piece {
                let spin = spins.next().copied().unwrap_or_default();
                own = Quaternion::exp(spin * times);
            }
            match piece {
                Piece::Scalars(_) | Piece::Reactions(_) => {}
                Piece::Point(_) | Piece::Vector => {
                    here.copy_from_slice(&turn.rotate(three(here)).0);
                }
                Piece::Orientation(_) | Piece::BodyFixed => {
                    here.copy_from_slice(&own.conjugate().rotate(three(here)).0);
                }
                Piece::Quaternion(_) => {
                    let change = Quaternion([here[0], here[1], here[2], here[3]]);
                    here.copy_from_slice(&turn.times(change).times(own).0);
                }
            }
        }
    }

    /// Turns a state by so many times this.
    pub fn apply(&self, part: &mut dyn State, times: f64) {
        part.visit(&mut Turner {
            turn: Quaternion::exp(self.turn * times),
            about: self.about,
            spins: self.spins.iter(),
            times,
            own: Quaternion::IDENTITY,
        });
    }

    /// How far a state, turned by so many times this, is from another one, by coordinates; multipliers count for
    /// nothing.
    pub fn mismatch(&self, part: &mut dyn State, from: &Chart, to: &Chart, times: f64) -> Vec<f64> {
        from.base().restore(part);
        self.apply(part, times);
        let mut off = vec![0.0; to.dimension()];
        to.read(part, &mut off);
        let layout = Layout::of(part);
        let unneeded = off.iter_mut().zip(layout.needed());
        for (off, _) in unneeded.filter(|(_, is_needed)| !is_needed) {
            *off = 0.0;
        }
        off
    }
}

/// Whether an orientation is the place of one that is not there yet, as in a history that is not filled.
fn is_unused((before, after): &(Quaternion, Quaternion)) -> bool {
    *before == Quaternion::IDENTITY && *after == Quaternion::IDENTITY
}

struct Turner<'a> {
    turn: Quaternion,
    about: Vec3,
    spins: std::slice::Iter<'a, Vec3>,
    times: f64,
    own: Quaternion,
}

impl Turner<'_> {
    fn orient(&mut self, orientation: Quaternion) -> Quaternion {
        let spin = self.spins.next().copied().unwrap_or_default();
        self.own = Quaternion::exp(spin * self.times);
        self.turn.times(orientation).times(self.own)
    }
}

impl Visitor for Turner<'_> {
    fn vector(&mut self, _: &mut [f64]) {}
    fn point(&mut self, values: &mut [f64]) {
        let from = three(values) - self.about;
        values.copy_from_slice(&(self.about + self.turn.rotate(from)).0);
    }
    fn spatial(&mut self, values: &mut [f64]) {
        for vector in values.chunks_exact_mut(3) {
            vector.copy_from_slice(&self.turn.rotate(three(vector)).0);
        }
    }
    fn body_fixed(&mut self, values: &mut [f64]) {
        values.copy_from_slice(&self.own.conjugate().rotate(three(values)).0);
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

    /// A body that turns about an axis beside the origin, with a gyroscope's wheel on it.
    struct Body {
        position: Vec3,
        orientation: Quaternion,
        velocity: Vec3,
        wheel: Quaternion,
        held: Quaternion,
        own: Vec3,
        angle: f64,
    }

    const AXIS: Vec3 = V3([1.0, -2.0, 0.5]);
    const TURN: Vec3 = V3([0.02, 0.05, -0.1]);
    const SPIN: Vec3 = V3([0.0, 0.3, 0.1]);

    impl State for Body {
        fn visit(&mut self, visitor: &mut dyn Visitor) {
            visitor.point(&mut self.position.0);
            visitor.rotation(&mut self.orientation.0);
            visitor.spatial(&mut self.velocity.0);
            visitor.rotation(&mut self.wheel.0);
            visitor.body_fixed(&mut self.own.0);
            visitor.quaternion(&mut self.held.0);
            visitor.vector(std::slice::from_mut(&mut self.angle));
        }
    }

    fn body() -> Body {
        let wheel = Quaternion::exp(V3([0.4, 0.1, -0.7]));
        Body {
            position: AXIS,
            orientation: Quaternion::exp(V3([0.3, -0.2, 0.9])),
            velocity: V3([2.0, 0.1, -3.0]),
            wheel,
            held: wheel,
            own: V3([0.3, 0.7, -0.2]),
            angle: 0.1,
        }
    }

    fn turned(body: &Body, times: f64) -> Body {
        let turn = Quaternion::exp(TURN * times);
        let spin = Quaternion::exp(SPIN * times);
        Body {
            position: AXIS + turn.rotate(body.position - AXIS),
            orientation: turn.times(body.orientation),
            velocity: turn.rotate(body.velocity),
            wheel: turn.times(body.wheel).times(spin),
            held: turn.times(body.held).times(spin),
            own: spin.conjugate().rotate(body.own),
            angle: body.angle,
        }
    }

    #[test]
    fn turns_are_found_and_changes_are_carried_along() {
        let layouts = [0.0, 1.0].map(|times| Layout::of(&mut turned(&body(), times)));
        let all = Turn::candidates(&layouts[0], &layouts[1], 1e-3);
        let is_it = |turn: &&Turn| (turn.turn - TURN).norm() < 1e-12 && turn.about == AXIS;
        // The wheel spins three times as fast: what turns alike with it is the wheel alone.
        assert!(all.iter().all(|turn| turn.angle() > 0.1), "{all:?}");
        let turn = Turn::along(TURN, AXIS, &layouts[0], &layouts[1], SPIN.norm());
        assert!(is_it(&&turn));
        let mut applied = body();
        turn.apply(&mut applied, 7.0);
        let chart = Chart::about(&mut turned(&body(), 7.0));
        let mut off = [1.0; 20];
        chart.read(&mut applied, &mut off);
        assert!(off.iter().all(|off| off.abs() < 1e-14), "{off:?}");
        // A change, then the turn; and the turn, then the change carried along.
        let mut change: [f64; 20] = std::array::from_fn(|i| 1e-3 * ((i * i) as f64).sin());
        let mut first = body();
        Chart::about(&mut first).apply(&mut first, &change);
        turn.apply(&mut first, 7.0);
        turn.carry(&layouts[0], 7.0, &mut change);
        let mut second = [0.0; 20];
        chart.read(&mut first, &mut second);
        for (a, b) in change.iter().zip(&second) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
    }

    #[test]
    fn what_does_not_turn_has_no_candidates() {
        let layout = Layout::of(&mut body());
        assert!(Turn::candidates(&layout, &layout, 1e-3).is_empty());
    }
}
