//! Impulses of the last step, which start the next one. They are state: the bits of a step depend on them.

use oldham_space::{V3, Vec3};

use crate::error::ContactError;
use crate::problem::project;
use crate::touch::{End, Key};
use crate::world::World;

/// Impulses by contact, in the order of contacts; only those that are not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmStart {
    keys: Vec<Key>,
    impulses: Vec<Vec3>,
}

/// Words for each impulse.
const WORDS: usize = 5;

impl WarmStart {
    /// Remembers the impulses of the contacts that a world has found.
    pub fn remember(&mut self, world: &World, impulses: &[f64]) {
        self.clear();
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            if *impulse != [0.0; 3] {
                self.keys.push(world.key(contact));
                self.impulses.push(V3(*impulse));
            }
        }
    }

    /// Fills in impulses for contacts that were there before, within their friction cones; others get zero.
    pub fn recall(&self, world: &World, friction: impl Fn(usize) -> f64, impulses: &mut Vec<f64>) {
        impulses.clear();
        let mut known = self.keys.iter().zip(&self.impulses).peekable();
        for (contact, touch) in world.touches().iter().enumerate() {
            let key = world.key(contact);
            while known.next_if(|(other, _)| **other < key).is_some() {}
            let recalled = match known.next_if(|(other, _)| **other == key) {
                Some((_, impulse)) => project(*impulse, touch.normal, friction(contact), 1.0, 1.0),
                None => Vec3::ZERO,
            };
            impulses.extend_from_slice(&recalled.0);
        }
    }

    /// How many impulses are remembered.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.impulses.clear();
    }

    /// Appends the state as words.
    pub fn save(&self, words: &mut Vec<u64>) {
        for (key, impulse) in self.keys.iter().zip(&self.impulses) {
            let [a, b] = key.ends.map(|end| u64::from(end.word()));
            words.extend([a << 32 | b, u64::from(key.feature)]);
            words.extend(impulse.0.map(f64::to_bits));
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
            self.keys.push(Key {
                ends: [
                    End::from_word((ends >> 32) as u32),
                    End::from_word(ends as u32),
                ],
                feature: feature as u32,
            });
            self.impulses.push(V3([x, y, z].map(f64::from_bits)));
        }
        Ok(())
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        std::mem::size_of_val(self.keys.as_slice())
            + std::mem::size_of_val(self.impulses.as_slice())
    }
}
