//! Steps that end where a force changes its law.
//!
//! A method of second order keeps its order only where forces have no jumps. A step over a jump or a kink is
//! therefore divided there. All that elements tell is on which side of their kinks they are; where the side will
//! change is foreseen from the accelerations, which are still those of the old law. (The end of a step beyond a jump
//! is of no use for that: it has felt the new law, or there is none at all.) Pieces that end before the kink come
//! closer and closer; the last one then starts with the accelerations of the new law. Kinks that are passed and
//! passed again within one step are not seen.

use oldham_cosim::Switches;

use crate::assembly::{Assembly, EvaluationPoint};
use crate::error::SolveError;
use crate::integrator::Record;
use crate::node::Motion;
use crate::system::System;

/// Pieces of one step; what is left after so many is taken at once.
const MOST_PIECES: usize = 32;
/// Where the side will change is known to 2⁻⁴⁰ of what is left of the step.
const HALVINGS: usize = 40;
/// A kink that is nearer than this fraction of the step is reached.
const REACHED: f64 = 1e-5;
/// By this fraction of the step beyond it the new law holds.
const MARGIN: f64 = 1e-8;
/// A piece ends before the foreseen kink by this fraction of the way, the second number when the kink is near.
const CAUTION: [f64; 2] = [0.1, 0.01];
/// Which is closer than this fraction of what is left of the step.
const NEAR: f64 = 0.05;

/// Two sides as one.
pub(crate) fn mixed(a: u64, b: u64) -> u64 {
    // An odd number of mixed bits: the golden ratio.
    const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;
    (a.rotate_left(29) ^ b).wrapping_mul(MIXER)
}

/// The rest of a step that is to be taken.
#[derive(Clone, Copy)]
struct Rest {
    from: f64,
    to: f64,
    size: f64,
}

impl Rest {
    fn time(&self, part: f64) -> f64 {
        self.from + part * (self.to - self.from)
    }

    /// What is left after a part.
    fn after(&self, part: f64) -> Self {
        Self {
            from: self.time(part),
            size: self.size * (1.0 - part),
            ..*self
        }
    }
}

impl System {
    /// Takes an implicit step by `h` between two times in pieces that end at the kinks on its way. At the start
    /// `inputs` are those of the end; `receive` gives those of any time between.
    pub(crate) fn step_over_kinks(
        &mut self,
        [from, to]: [f64; 2],
        h: f64,
        inputs: &mut [f64],
        mut receive: impl FnMut(f64, &mut [f64]),
    ) -> Result<(), SolveError> {
        let mut rest = Rest { from, to, size: h };
        // The part of the rest after which the law of its beginning holds.
        let mut beginning = 0.0;
        for _ in 0..MOST_PIECES {
            let side = self.side_later(beginning * rest.size, inputs);
            let is_solved = self.try_step(rest.to, rest.size, inputs).is_ok();
            if is_solved && self.side_of(rest.to, inputs) == side {
                self.finish_step(inputs);
                return Ok(());
            }
            self.return_to_records();
            let Some(near) = self.foreseen([beginning, 1.0], side, rest.size, inputs) else {
                break;
            };
            if near * rest.size <= REACHED * h {
                // A little beyond, whichever of both laws led there.
                beginning = near + MARGIN * h / rest.size;
                self.begin_anew(beginning * rest.size, inputs)?;
                self.counters.events += 1;
                continue;
            }
            let caution = CAUTION[usize::from(near < NEAR)];
            let Some(part) = self.step_before(rest, near * (1.0 - caution), inputs, &mut receive)
            else {
                break;
            };
            rest = rest.after(part);
            beginning = 0.0;
            receive(rest.to, inputs);
        }
        self.return_to_records();
        receive(rest.to, inputs);
        self.step_or_retry([rest.from, rest.to], rest.size, inputs, receive)
    }

    /// The part of a step of this size after which the side will be another one, if the nodes keep their
    /// accelerations; nothing if it will not be. It is looked for between two parts.
    fn foreseen(
        &mut self,
        [mut low, mut high]: [f64; 2],
        side: u64,
        size: f64,
        inputs: &[f64],
    ) -> Option<f64> {
        if self.side_later(high * size, inputs) == side {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.side_later(middle * size, inputs) == side {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(high)
    }

    /// Takes a part of the rest, or less, that ends on the side where it begins; gives the part.
    fn step_before(
        &mut self,
        rest: Rest,
        mut part: f64,
        inputs: &mut [f64],
        receive: &mut impl FnMut(f64, &mut [f64]),
    ) -> Option<f64> {
        let side = self.side_later(0.0, inputs);
        for _ in 0..4 {
            let time = rest.time(part);
            receive(time, inputs);
            let is_solved = self.try_step(time, part * rest.size, inputs).is_ok();
            if is_solved && self.side_of(time, inputs) == side {
                self.finish_step(inputs);
                return Some(part);
            }
            self.return_to_records();
            part *= 0.5;
        }
        None
    }

    /// Finds the accelerations that hold from a little later on, and begins anew with them.
    fn begin_anew(&mut self, later: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.move_on(later);
        let found = self.find_accelerations(self.state.time + later, inputs);
        self.return_to_records();
        found?;
        self.record_accelerations();
        self.forget_jump();
        self.state.known = 1;
        Ok(())
    }

    /// The side a little later than the time reached.
    fn side_later(&mut self, later: f64, inputs: &[f64]) -> u64 {
        self.move_on(later);
        let side = self.side_of(self.state.time + later, inputs);
        self.return_to_records();
        side
    }

    /// Tells on which side of its kinks the state reached is, which joints stick and what touches.
    pub(crate) fn switches(&mut self, inputs: &[f64], found: &mut Switches) {
        self.return_to_records();
        let (multipliers, memory) = (&self.multipliers, &self.state.memory);
        let time = self.state.time;
        let at = EvaluationPoint::new(time, &self.motions, multipliers, inputs, memory);
        for placed in &self.assembly.elements {
            let here = at.of(placed, &self.assembly.elements);
            found.side(placed.element.side(&here));
            if placed.element.saturates(&here) {
                found.saturates(&placed.name);
            }
            if placed.element.sticks(&here) {
                found.sticks(&placed.name);
            }
        }
        if self.contacts.is_some() {
            let rows = self.pressed_contacts().into_iter();
            let rows = rows.map(|contact| contact.rows as u64);
            found.touches(rows.fold(0, mixed));
        }
    }

    fn move_on(&mut self, later: f64) {
        for (motion, record) in self.motions.iter_mut().zip(&self.state.now).skip(1) {
            *motion = after(record, later);
        }
    }

    /// The side of the trial state.
    fn side_of(&self, time: f64, inputs: &[f64]) -> u64 {
        let elapsed = time - self.state.time;
        let (multipliers, memory) = (&self.multipliers, &self.state.memory);
        let at = EvaluationPoint::new(time, &self.motions, multipliers, inputs, memory);
        self.assembly.side(&at.after(elapsed))
    }
}

impl Assembly {
    /// A number that changes where an element passes a kink or a jump.
    fn side(&self, at: &EvaluationPoint<'_>) -> u64 {
        let elements = self.elements.iter();
        let sides = elements.map(|placed| placed.element.side(&at.of(placed, &self.elements)));
        sides.fold(0, mixed)
    }
}

/// The motion after a short time of constant acceleration.
fn after(record: &Record, dt: f64) -> Motion {
    let motion = &record.motion;
    let gained = record.acceleration * dt;
    let turned = record.angular_acceleration * dt;
    let displacement = (motion.velocity + gained * 0.5) * dt;
    let turn = (motion.angular_velocity + turned * 0.5) * dt;
    let later = motion.displaced(displacement, turn);
    later.moving(motion.velocity + gained, motion.angular_velocity + turned)
}
