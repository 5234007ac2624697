//! State as a value: saved, restored, compared, written to disk, perturbed.
//!
//! A part lists its state once, in [`State::visit`]; every use of the state is a visitor over
//! that one list, so nothing can be saved but not restored, or restored but not analysed.

use std::sync::Arc;

use oldham_space::{Quaternion, V3};

use crate::foreign_state::{ForeignState, Ticket};

/// Something whose complete state can be visited.
pub trait State {
    /// Hands every piece of state to the visitor, always in the same order and number; only a
    /// [`Visitor::memory`] may change its length.
    fn visit(&mut self, visitor: &mut dyn Visitor);

    /// Whether all of it that can grow is shown as coordinates. Otherwise it can be saved and
    /// restored, but not analysed. Unless it says otherwise, it has no [`Visitor::memory`].
    fn is_chartable(&mut self) -> bool {
        let mut search = MemorySearch::default();
        self.visit(&mut search);
        !search.is_found
    }
}

/// Receives the pieces of a state, by kind.
pub trait Visitor {
    /// Coordinates in a vector space: positions, velocities, multipliers, held samples.
    fn vector(&mut self, values: &mut [f64]);
    /// A unit quaternion, scalar first.
    fn rotation(&mut self, quaternion: &mut [f64; 4]);
    /// Coordinates of a point in absolute axes.
    fn point(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    /// Vectors in absolute axes, three components each: velocities, forces, moments.
    fn spatial(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    /// A vector in the axes of the orientation that was visited last.
    fn body_fixed(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    /// A unit quaternion that is kept by its four components as if they were independent.
    fn quaternion(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    /// Multipliers: the next step finds them anew and needs them to start with only.
    fn reactions(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    /// Numbers that belong to the state but are no coordinates of the motion: times, tallies. To hand them
    /// over so is to say that nothing in them can grow: they do not depend on the motion, the motion does
    /// not depend on them, or they follow from what is shown otherwise.
    fn fixed(&mut self, values: &mut [f64]);
    /// A counter, such as the number of samples in a history.
    fn count(&mut self, value: &mut u64);
    /// State of any length that has no coordinates, such as the opaque state of a foreign program. Its
    /// length may change from step to step. What has it is not analysed: anything in it might grow.
    fn memory(&mut self, words: &mut Vec<u64>);
    /// What a solver starts its iteration from, of any length: a step ends at the same point, whatever it
    /// was, so that nothing in it can grow.
    fn first_guess(&mut self, words: &mut Vec<u64>) {
        self.memory(words);
    }
    /// A state that lies in a foreign program, without coordinates as [`Visitor::memory`]: the visitor asks for what it
    /// needs of it. Those who look at coordinates need nothing.
    fn foreign(&mut self, _state: &mut dyn ForeignState) {}
    /// Whether it may change what it is handed. If not, nothing that follows from the state needs
    /// to be found again, and nothing may be.
    fn replaces(&self) -> bool {
        true
    }
}

/// A saved state: a flat list of 64-bit words, and tickets of foreign states where it is made to return to.
#[derive(Clone, Default)]
pub struct Snapshot {
    words: Vec<u64>,
    tickets: Vec<Ticket>,
    /// Whether foreign states are among the words.
    is_kept: bool,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("words", &self.words)
            .field("tickets", &self.tickets.len())
            .finish()
    }
}

impl PartialEq for Snapshot {
    /// Foreign states are equal if they are the same.
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Ticket, &Ticket)| Arc::ptr_eq(one, other);
        self.words == other.words
            && self.tickets.len() == other.tickets.len()
            && self.tickets.iter().zip(&other.tickets).all(same)
    }
}

impl Eq for Snapshot {}

impl Snapshot {
    /// Saves the state of `part` to return to it, reusing the memory of an earlier save.
    pub fn save(&mut self, part: &mut dyn State) {
        self.save_for(part, false);
    }

    /// Saves the state of `part` so that it can be written to disk. All of it must be such that it
    /// [can be kept](part_can_be_kept).
    pub fn keep(&mut self, part: &mut dyn State) {
        self.save_for(part, true);
    }

    fn save_for(&mut self, part: &mut dyn State, is_kept: bool) {
        self.words.clear();
        self.is_kept = is_kept;
        // Earlier tickets are given up first: what they stand for can be used again.
        self.tickets.clear();
        part.visit(&mut Saver(self));
    }

    /// Puts the saved state back into `part`.
    pub fn restore(&self, part: &mut dyn State) {
        let mut loader = self.loader();
        part.visit(&mut loader);
        assert!(loader.words.next().is_none(), "state changed its size");
    }

    fn loader(&self) -> Loader<'_> {
        Loader {
            words: self.words.iter(),
            tickets: self.tickets.iter(),
            is_kept: self.is_kept,
        }
    }

    /// The words, for writing to disk.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// A snapshot read from disk.
    pub fn from_words(words: Vec<u64>) -> Self {
        Self {
            words,
            tickets: Vec::new(),
            is_kept: true,
        }
    }
}

/// Whether a state can be written to disk.
pub fn part_can_be_kept(part: &mut dyn State) -> bool {
    let mut search = Unkept::default();
    part.visit(&mut search);
    !search.is_found
}

/// Looks for foreign states that cannot be written.
#[derive(Default)]
struct Unkept {
    is_found: bool,
}

impl Visitor for Unkept {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, _: &mut [f64]) {}
    fn rotation(&mut self, _: &mut [f64; 4]) {}
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
    fn foreign(&mut self, state: &mut dyn ForeignState) {
        self.is_found |= !state.can_be_kept();
    }
}

/// Number of words that a state always occupies: memories of variable length count as one.
pub fn word_count(part: &mut dyn State) -> usize {
    Size::of(part).words
}

/// A digest of how a state is laid out: kinds of pieces in their order, and how long they are. Numbers are numbers,
/// whether they are coordinates yet or not.
pub(crate) fn layout(part: &mut dyn State) -> u64 {
    let mut layout = Layout {
        digest: LAYOUT_START,
        open: (0, 0),
    };
    part.visit(&mut layout);
    layout.next(0, 0);
    layout.digest
}

const LAYOUT_START: u64 = 0xcbf2_9ce4_8422_2325;
const LAYOUT_FACTOR: u64 = 0x0000_0100_0000_01b3;

/// Pieces of one kind that follow each other are one: how they are grouped does not matter.
struct Layout {
    digest: u64,
    open: (u64, u64),
}

impl Layout {
    fn next(&mut self, kind: u64, length: usize) {
        if kind == self.open.0 {
            self.open.1 += length as u64;
            return;
        }
        let (kind_before, length_before) = std::mem::replace(&mut self.open, (kind, length as u64));
        for word in [kind_before, length_before] {
            for byte in word.to_le_bytes() {
                self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(LAYOUT_FACTOR);
            }
        }
    }
}

impl Visitor for Layout {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        if !values.is_empty() {
            self.next(1, values.len());
        }
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.next(2, 1);
    }
    fn fixed(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    fn count(&mut self, _: &mut u64) {
        self.next(3, 1);
    }
    fn memory(&mut self, _: &mut Vec<u64>) {
        self.next(4, 1);
    }
    fn foreign(&mut self, _: &mut dyn ForeignState) {
        self.next(5, 1);
    }
}

/// Looks for state without coordinates.
#[derive(Default)]
struct MemorySearch {
    is_found: bool,
}

impl Visitor for MemorySearch {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, _: &mut [f64]) {}
    fn rotation(&mut self, _: &mut [f64; 4]) {}
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {
        self.is_found = true;
    }
    fn first_guess(&mut self, _: &mut Vec<u64>) {}
    fn foreign(&mut self, _: &mut dyn ForeignState) {
        self.is_found = true;
    }
}

/// How much there is to a state.
#[derive(Default)]
struct Size {
    words: usize,
    coordinates: usize,
}

impl Size {
    fn of(part: &mut dyn State) -> Self {
        let mut size = Self::default();
        part.visit(&mut size);
        size
    }
}

impl Visitor for Size {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        self.words += values.len();
        self.coordinates += values.len();
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.words += 4;
        self.coordinates += 3;
    }
    fn fixed(&mut self, values: &mut [f64]) {
        self.words += values.len();
    }
    fn count(&mut self, _: &mut u64) {
        self.words += 1;
    }
    fn memory(&mut self, _: &mut Vec<u64>) {
        self.words += 1;
    }
    fn foreign(&mut self, _: &mut dyn ForeignState) {
        self.words += 1;
    }
}

struct Saver<'a>(&'a mut Snapshot);

impl Visitor for Saver<'_> {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        self.0
            .words
            .extend(values.iter().map(|value| value.to_bits()));
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        self.vector(quaternion);
    }
    fn fixed(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    fn count(&mut self, value: &mut u64) {
        self.0.words.push(*value);
    }
    fn memory(&mut self, words: &mut Vec<u64>) {
        self.0.words.push(words.len() as u64);
        self.0.words.extend_from_slice(words);
    }
    fn foreign(&mut self, state: &mut dyn ForeignState) {
        match self.0.is_kept {
            false => self.0.tickets.push(state.ticket()),
            true => {
                let mut words = Vec::new();
                state.keep(&mut words);
                self.memory(&mut words);
            }
        }
    }
}

struct Loader<'a> {
    words: std::slice::Iter<'a, u64>,
    tickets: std::slice::Iter<'a, Ticket>,
    is_kept: bool,
}

impl Loader<'_> {
    fn next(&mut self) -> u64 {
        *self.words.next().expect("state changed its size")
    }
}

/// So many of the words that are left.
fn take<'a>(words: &mut std::slice::Iter<'a, u64>, count: usize) -> &'a [u64] {
    let left = words.as_slice();
    let (taken, rest) = left
        .split_at_checked(count)
        .expect("state changed its size");
    *words = rest.iter();
    taken
}

impl Visitor for Loader<'_> {
    fn vector(&mut self, values: &mut [f64]) {
        let saved = take(&mut self.words, values.len());
        for (value, word) in values.iter_mut().zip(saved) {
            *value = f64::from_bits(*word);
        }
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        self.vector(quaternion);
    }
    fn fixed(&mut self, values: &mut [f64]) {
        self.vector(values);
    }
    fn count(&mut self, value: &mut u64) {
        *value = self.next();
    }
    fn memory(&mut self, words: &mut Vec<u64>) {
        let length = self.next() as usize;
        words.clear();
        words.extend_from_slice(take(&mut self.words, length));
    }
    fn foreign(&mut self, state: &mut dyn ForeignState) {
        match self.is_kept {
            false => state.return_to(self.tickets.next().expect("state changed its size")),
            true => {
                let length = self.next() as usize;
                state.take(take(&mut self.words, length));
            }
        }
    }
}

/// Local coordinates of a state about a base point: differences for vectors, rotation vectors for
/// orientations. Times, tallies and counters are no coordinates.
#[derive(Clone, Debug)]
pub struct Chart {
    base: Snapshot,
    dimension: usize,
}

impl Chart {
    /// The chart about the present state of `part`.
    pub fn about(part: &mut dyn State) -> Self {
        let mut base = Snapshot::default();
        base.save(part);
        let dimension = Size::of(part).coordinates;
        Self { base, dimension }
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The state at which all coordinates are zero.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// Moves `part` to the point with these coordinates.
    pub fn apply(&self, part: &mut dyn State, coordinates: &[f64]) {
        assert_eq!(coordinates.len(), self.dimension);
        let mut mover = Mover {
            base: self.base.loader(),
            coordinates: coordinates.iter(),
        };
        part.visit(&mut mover);
        assert!(mover.base.words.next().is_none(), "state changed its size");
    }

    /// The coordinates of the present state of `part`.
    pub fn read(&self, part: &mut dyn State, coordinates: &mut [f64]) {
        assert_eq!(coordinates.len(), self.dimension);
        part.visit(&mut Differ {
            words: self.base.words.iter(),
            coordinates: coordinates.iter_mut(),
        });
    }
}

/// Loads the base and moves away from it, in one visit.
struct Mover<'a> {
    base: Loader<'a>,
    coordinates: std::slice::Iter<'a, f64>,
}

impl Visitor for Mover<'_> {
    fn vector(&mut self, values: &mut [f64]) {
        let saved = take(&mut self.base.words, values.len());
        let (changes, rest) = self.coordinates.as_slice().split_at(values.len());
        self.coordinates = rest.iter();
        for ((value, word), change) in values.iter_mut().zip(saved).zip(changes) {
            *value = f64::from_bits(*word) + change;
        }
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        self.base.rotation(quaternion);
        let turn = [(); 3].map(|()| *self.coordinates.next().expect("three coordinates"));
        *quaternion = Quaternion(*quaternion).times(Quaternion::exp(V3(turn))).0;
    }
    fn fixed(&mut self, values: &mut [f64]) {
        self.base.fixed(values);
    }
    fn count(&mut self, value: &mut u64) {
        self.base.count(value);
    }
    fn memory(&mut self, words: &mut Vec<u64>) {
        self.base.memory(words);
    }
    fn foreign(&mut self, state: &mut dyn ForeignState) {
        self.base.foreign(state);
    }
}

struct Differ<'a> {
    words: std::slice::Iter<'a, u64>,
    coordinates: std::slice::IterMut<'a, f64>,
}

impl Differ<'_> {
    fn base(&mut self) -> f64 {
        f64::from_bits(*self.words.next().expect("state changed its size"))
    }
}

impl Visitor for Differ<'_> {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        let saved = take(&mut self.words, values.len());
        let coordinates = self.coordinates.by_ref().zip(saved);
        for (value, (coordinate, word)) in values.iter().zip(coordinates) {
            *coordinate = *value - f64::from_bits(*word);
        }
    }
    fn rotation(&mut self, quaternion: &mut [f64; 4]) {
        let base = Quaternion([(); 4].map(|()| self.base()));
        let turn = base.conjugate().times(Quaternion(*quaternion)).log();
        for value in turn.0 {
            *self.coordinates.next().expect("three coordinates") = value;
        }
    }
    fn fixed(&mut self, values: &mut [f64]) {
        take(&mut self.words, values.len());
    }
    fn count(&mut self, _: &mut u64) {
        self.words.next();
    }
    fn memory(&mut self, _: &mut Vec<u64>) {
        // As long as it was at the base point.
        let length = *self.words.next().expect("state changed its size") as usize;
        take(&mut self.words, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestPart {
        position: [f64; 2],
        orientation: [f64; 4],
        time: f64,
        samples: u64,
    }

    impl State for TestPart {
        fn visit(&mut self, visitor: &mut dyn Visitor) {
            visitor.vector(&mut self.position);
            visitor.rotation(&mut self.orientation);
            visitor.fixed(std::slice::from_mut(&mut self.time));
            visitor.count(&mut self.samples);
        }
    }

    fn part() -> TestPart {
        TestPart {
            position: [1.0, -2.0],
            orientation: Quaternion::exp(V3([0.3, -0.2, 0.9])).0,
            time: 0.25,
            samples: 3,
        }
    }

    #[test]
    fn restoring_brings_every_bit_back() {
        let mut part = part();
        let mut before = Snapshot::default();
        before.save(&mut part);
        part.position[1] = f64::NAN;
        part.samples = 0;
        part.orientation = [1.0, 0.0, 0.0, 0.0];
        before.restore(&mut part);
        let mut after = Snapshot::default();
        after.save(&mut part);
        assert_eq!(before, after);
    }

    #[test]
    fn a_chart_reads_what_it_applied() {
        let mut part = part();
        let chart = Chart::about(&mut part);
        assert_eq!(chart.dimension(), 5);
        let point = [0.5, 0.25, 0.1, 0.2, -0.3];
        chart.apply(&mut part, &point);
        let mut read = [0.0; 5];
        chart.read(&mut part, &mut read);
        for (a, b) in point.iter().zip(read) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
        assert_eq!((part.time, part.samples), (0.25, 3));
    }
}
