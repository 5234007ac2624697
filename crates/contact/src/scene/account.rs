//! Energy, momentum and state.

use oldham_space::{Quaternion, V3, Vec3};

use super::Scene;
use super::sleep::WORDS;
use super::step::turned_inertia;
use super::tally::{self, Tally};
use crate::error::ContactError;
use crate::room::Room;
use crate::solver::ContactSolver;

impl Scene {
    /// Mass, centre and number of all bodies that are moved here.
    fn free_bodies(&self) -> impl Iterator<Item = (f64, Vec3, usize)> + '_ {
        let bodies = self.poses.len();
        let each = self.motion.iter().enumerate().skip(self.owned);
        each.filter(|(_, moved)| moved.inverse_mass > 0.0)
            .map(move |(body, moved)| {
                let at = match body.checked_sub(bodies) {
                    None => self.poses[body].position,
                    Some(grain) => self.grains[grain],
                };
                (1.0 / moved.inverse_mass, at, body)
            })
    }

    /// Angular momentum of a body about its own centre.
    pub(super) fn own_angular_momentum(&self, body: usize) -> Vec3 {
        let moved = &self.motion[body];
        match self.poses.get(body) {
            Some(pose) => turned_inertia(pose.axes, self.inertia[body]) * moved.spin,
            None => moved.spin * (1.0 / moved.inverse_inertia),
        }
    }

    /// Kinetic energy of all free bodies.
    pub fn kinetic_energy(&self) -> f64 {
        let each = self.free_bodies().map(|(mass, _, body)| {
            let moved = &self.motion[body];
            mass * moved.velocity.dot(moved.velocity)
                + self.own_angular_momentum(body).dot(moved.spin)
        });
        0.5 * each.sum::<f64>()
    }

    /// Potential energy of all free bodies in gravity.
    pub fn potential_energy(&self) -> f64 {
        let each = self.free_bodies();
        -each
            .map(|(mass, at, _)| mass * self.options.gravity.dot(at))
            .sum::<f64>()
    }

    /// Momentum of all free bodies.
    pub fn momentum(&self) -> Vec3 {
        let each = self.free_bodies();
        each.fold(Vec3::ZERO, |sum, (mass, _, body)| {
            sum + self.motion[body].velocity * mass
        })
    }

    /// Angular momentum of all free bodies about the absolute origin.
    pub fn angular_momentum(&self) -> Vec3 {
        self.free_bodies()
            .fold(Vec3::ZERO, |sum, (mass, at, body)| {
                sum + at.cross(self.motion[body].velocity * mass) + self.own_angular_momentum(body)
            })
    }

    /// Bytes held for bodies, grains and contacts, scratch and room for more contacts included.
    pub fn bytes(&self) -> usize {
        let scratch = &self.scratch;
        self.world.bytes()
            + self.warm.bytes()
            + self.sleep.bytes()
            + self.solver.bytes()
            + self.separator.bytes()
            + self.grains.held()
            + self.motion.held()
            + scratch.biases.held()
            + scratch.levers.held()
            + scratch.sets.held()
            + scratch.frames.held()
            + scratch.held_rows.held()
            + scratch.shifted.held()
            + scratch.shifts.held()
    }

    /// Appends the whole state as words: the next step depends on nothing else.
    pub fn save(&self, words: &mut Vec<u64>) {
        let mut put = |numbers: &[f64]| words.extend(numbers.iter().map(|n| n.to_bits()));
        for (pose, orientation) in self.poses.iter().zip(&self.orientations) {
            put(&pose.position.0);
            put(&orientation.0);
        }
        self.grains.iter().for_each(|centre| put(&centre.0));
        for moved in &self.motion {
            put(&moved.velocity.0);
            put(&moved.spin.0);
        }
        if self.sleep.is_on {
            self.sleep.save(self.motion.len(), words);
        }
        self.tally.save(words);
        self.warm.save(&self.sleep.resting, words);
    }

    /// Takes the state from words that [`save`](Self::save) wrote for the same scene.
    pub fn restore(&mut self, words: &[u64]) -> Result<(), ContactError> {
        let moving = 7 * self.poses.len() + 3 * self.grains.len() + 6 * self.motion.len();
        let sleeping = if self.sleep.is_on { WORDS } else { 0 } * self.motion.len();
        let needed = moving + sleeping + tally::WORDS;
        if words.len() < needed {
            return Err(ContactError::State {
                found: words.len(),
                needed,
            });
        }
        let (own, warm) = words.split_at(needed);
        self.warm.restore(warm)?;
        let (own, rest) = own.split_at(moving);
        let (sleepers, counts) = rest.split_at(sleeping);
        if self.sleep.is_on {
            self.sleep.restore(sleepers);
        }
        self.tally = Tally::restore(counts);
        self.world.forget_contacts();
        let mut numbers = own.iter().map(|&word| f64::from_bits(word));
        let mut take = || numbers.next().expect("counted before");
        for (pose, orientation) in self.poses.iter_mut().zip(&mut self.orientations) {
            pose.position = V3([take(), take(), take()]);
            *orientation = Quaternion([take(), take(), take(), take()]);
            pose.axes = orientation.matrix();
        }
        for centre in &mut self.grains {
            *centre = V3([take(), take(), take()]);
        }
        for moved in &mut self.motion {
            moved.velocity = V3([take(), take(), take()]);
            moved.spin = V3([take(), take(), take()]);
        }
        Ok(())
    }
}
