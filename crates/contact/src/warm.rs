//! Impulses of the last step, which start the next one. They are state: the bits of a step depend on them.

use oldham_space::{V3, Vec3};

use crate::error::ContactError;
use crate::problem::project;
use crate::room::Room;
use crate::touch::{End, Key};
use crate::world::World;

/// The impulses of a step, and by what those contacts are recognised that had one. The next step starts in the same place: contacts come and go
/// without a second list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmStart {
    /// Of the contacts with an impulse, in the order of contacts.
    keys: Vec<Key>,
    /// Three numbers for each contact of the step. Between steps only those count that are not zero.
    impulses: Vec<f64>,
}

/// Words for each impulse.
const WORDS: usize = 5;

impl WarmStart {
    /// The impulses of the step, three numbers for each contact.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// The same, to be found.
    pub(crate) fn impulses_mut(&mut self) -> &mut [f64] {
        &mut self.impulses
    }

    /// Remembers the contacts that have an impulse, among those that a world has found.
    pub fn remember(&mut self, world: &World) {
        self.keys.clear();
        for (contact, impulse) in self.impulses.as_chunks::<3>().0.iter().enumerate() {
            if *impulse != [0.0; 3] {
                self.keys.put(world.key(contact));
            }
        }
    }

    /// Gives contacts that were there before their impulses, within their friction cones; others get zero.
    pub fn recall(&mut self, world: &World, friction: impl Fn(usize) -> f64) {
        let left = self.drop_gone(world);
        self.spread(world, left, friction);
    }

    /// Moves the impulses of contacts that are still there to the front, and says how many they are.
    fn drop_gone(&mut self, world: &World) -> usize {
        let contacts = world.touches().len();
        let (mut contact, mut known, mut kept) = (0, 0, 0);
        let impulses = self.impulses.as_chunks_mut::<3>().0;
        for place in 0..impulses.len() {
            let impulse = impulses[place];
            if impulse == [0.0; 3] {
                continue;
            }
            let key = self.keys[known];
            known += 1;
            while contact < contacts && world.key(contact) < key {
                contact += 1;
            }
            if contact < contacts && world.key(contact) == key {
                (self.keys[kept], impulses[kept]) = (key, impulse);
                kept += 1;
                contact += 1;
            }
        }
        kept
    }

    /// Brings them to their contacts, from the last to the first: none comes before its place, so that nothing is overwritten that is still needed.
    fn spread(&mut self, world: &World, mut left: usize, friction: impl Fn(usize) -> f64) {
        let touches = world.touches();
        self.impulses.make_room(3 * touches.len());
        self.impulses.resize(3 * touches.len(), 0.0);
        let impulses = self.impulses.as_chunks_mut::<3>().0;
        for (contact, touch) in touches.iter().enumerate().rev() {
            let is_known = left > 0 && self.keys[left - 1] == world.key(contact);
            impulses[contact] = if is_known {
                left -= 1;
                project(
                    V3(impulses[left]),
                    touch.normal,
                    friction(contact),
                    1.0,
                    1.0,
                )
                .0
            } else {
                Vec3::ZERO.0
            };
        }
    }

    /// The sum of all impulses on the second bodies of their contacts, each times what is said of its two bodies.
    pub fn sum(&self, weight: impl Fn([usize; 2]) -> f64) -> Vec3 {
        let impulses = self.impulses.as_chunks::<3>().0.iter();
        let pressed = impulses.filter(|impulse| **impulse != [0.0; 3]);
        self.keys
            .iter()
            .zip(pressed)
            .fold(Vec3::ZERO, |sum, (key, impulse)| {
                sum + V3(*impulse) * weight(key.ends.map(End::body))
            })
    }

    /// How many contacts have an impulse.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.impulses.clear();
    }

    /// The contacts with an impulse.
    fn entries(&self) -> impl Iterator<Item = (Key, [f64; 3])> + '_ {
        let impulses = self.impulses.as_chunks::<3>().0.iter().copied();
        let pressed = impulses.filter(|impulse| *impulse != [0.0; 3]);
        self.keys.iter().copied().zip(pressed)
    }

    /// Takes over those impulses of another that are chosen. Both keep their order.
    pub(crate) fn take(
        &mut self,
        other: &mut Self,
        room: &mut Vec<(Key, [f64; 3])>,
        is_chosen: impl Fn(&Key) -> bool,
    ) {
        room.clear();
        room.extend(self.entries());
        room.extend(other.entries().filter(|(key, _)| is_chosen(key)));
        room.sort_unstable_by_key(|(key, _)| *key);
        self.fill(room);
        room.clear();
        room.extend(other.entries().filter(|(key, _)| !is_chosen(key)));
        other.fill(room);
    }

    fn fill(&mut self, entries: &[(Key, [f64; 3])]) {
        self.clear();
        for (key, impulse) in entries {
            self.keys.put(*key);
            impulse.iter().for_each(|part| self.impulses.put(*part));
        }
    }

    /// Writes the impulses out for all contacts that a world has found: three numbers for each.
    pub(crate) fn lay_out(&self, world: &World, impulses: &mut Vec<f64>) {
        let contacts = world.touches().len();
        impulses.clear();
        impulses.make_room(3 * contacts);
        impulses.resize(3 * contacts, 0.0);
        let mut contact = 0;
        for (key, impulse) in self.entries() {
            while contact < contacts && world.key(contact) < key {
                contact += 1;
            }
            if contact < contacts && world.key(contact) == key {
                impulses[3 * contact..3 * contact + 3].copy_from_slice(&impulse);
            }
        }
    }

    /// Appends the state as words, with the impulses of another in between.
    pub fn save(&self, other: &Self, words: &mut Vec<u64>) {
        let (mut own, mut others) = (self.entries().peekable(), other.entries().peekable());
        loop {
            let is_own = match (own.peek(), others.peek()) {
                (Some((key, _)), Some((other, _))) => key < other,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let next = if is_own { own.next() } else { others.next() };
            let (key, impulse) = next.expect("looked at before");
            let [a, b] = key.ends.map(|end| u64::from(end.word()));
            words.extend([a << 32 | b, u64::from(key.feature)]);
            words.extend(impulse.map(f64::to_bits));
        }
    }

    /// Takes the state from words that [`save`](Self::save) wrote.
    pub fn restore(&mut self, words: &[u64]) -> Result<(), ContactError> {
        let (each, rest) = words.as_chunks::<WORDS>();
        if !rest.is_empty() {
            return Err(ContactError::State {
                found: words.len(),
                needed: each.len() * WORDS,
            });
        }
        self.clear();
        for &[ends, feature, x, y, z] in each {
            let impulse = [x, y, z].map(f64::from_bits);
            if impulse == [0.0; 3] {
                continue;
            }
            self.keys.put(Key {
                ends: [
                    End::from_word((ends >> 32) as u32),
                    End::from_word(ends as u32),
                ],
                feature: feature as u32,
            });
            impulse.into_iter().for_each(|part| self.impulses.put(part));
        }
        Ok(())
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.held() + self.impulses.held()
    }
}
