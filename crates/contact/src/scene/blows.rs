//! Pairwise blows in the order of time.
//!
//! Bodies that rebound and are nearer to each other than they move within a step pass a blow on one by one: of all contacts that close
//! within the step the first one is struck, as if nothing else were there (those that close at the same time together), all bodies fly on, and so forth. Solved together instead, a contact
//! that is near but not yet approached would close as a plastic one and take energy.
//!
//! A blow that would press a body onto something that does not rebound is left to the laws of the step, which see all contacts at once.

use oldham_space::{V3, Vec3};

use super::aims::aim_of;
use super::{Impacts, Scene};
use crate::coulomb::local;
use crate::problem::{Aim, Bodies, BodyMotion, Mechanism};
use crate::room::Room;
use crate::touch::Surface;

/// Most blows of a step for each contact.
const MOST: usize = 10;
/// Sweeps over contacts that are struck at the same time.
const MOST_SWEEPS: usize = 500;
/// Times that differ by less than this share of the step are the same.
const SAME: f64 = 1e-9;
/// Approaches below this are rounding, in m/s.
const ROUNDING: f64 = 1e-12;
/// A contact that closes by more than so many dead bands within a step is not at rest.
const FAST: f64 = 100.0;
/// Approaches below this share of the fastest one are at rest.
const REST: f64 = 1e-6;

/// Contacts that may be struck in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Blows {
    /// Velocities at the beginning of the step, by which rebounds are judged.
    pub starts: Vec<BodyMotion>,
    /// Gaps as they are between two blows.
    gaps: Vec<f64>,
    /// Impulses of the blows, along the absolute axes.
    pub impulses: Vec<f64>,
    /// How far bodies are from where their velocities at the end would have brought them in a whole step: lengths and angles in place of
    /// velocities.
    pub shifts: Vec<BodyMotion>,
    /// Contacts that are struck at once.
    struck: Vec<Struck>,
    /// How many there were.
    pub count: usize,
    /// Energy that they took.
    pub taken: f64,
}

/// A contact about to be struck.
#[derive(Clone, Copy, Debug)]
struct Struck {
    contact: usize,
    after: f64,
    approach: f64,
    /// Its velocity before the blow, and its impulse.
    before: Vec3,
    impulse: Vec3,
}

impl Blows {
    /// Strikes contacts within a step of length `h`. `motion` is what velocities would be at its end, and is changed.
    pub fn strike(
        &mut self,
        contacts: &Bodies<'_>,
        laws: impl Fn(usize) -> Surface,
        band: f64,
        h: f64,
        motion: &mut [BodyMotion],
    ) {
        let count = contacts.touches.len();
        self.gaps.clear();
        self.gaps.make_room(count);
        self.gaps
            .extend(contacts.touches.iter().map(|touch| touch.gap));
        self.impulses.clear();
        self.impulses.make_room(3 * count);
        self.impulses.resize(3 * count, 0.0);
        (self.count, self.taken) = (0, 0.0);
        self.shifts.clear();
        self.shifts.make_room(motion.len());
        self.shifts.extend(motion.iter().map(|moved| BodyMotion {
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            ..*moved
        }));
        let (mut left, mut rest) = (h, ROUNDING);
        for _ in 0..MOST * count {
            self.find_next(contacts, &laws, (left, rest, SAME * h), motion);
            let Some(first) = self.struck.first() else {
                break;
            };
            let after = first.after;
            left -= after;
            for struck in &self.struck {
                rest = (REST * struck.approach).max(rest);
            }
            for (contact, gap) in self.gaps.iter_mut().enumerate() {
                let normal = contacts.touches[contact].normal;
                *gap += after * contacts.relative(contact, motion).dot(normal);
            }
            self.leave_pressed(contacts, &laws, band, motion);
            self.strike_at_once(contacts, &laws, h - left, motion);
        }
    }

    /// The contacts that close first, at the same time.
    fn find_next(
        &mut self,
        contacts: &Bodies<'_>,
        laws: &impl Fn(usize) -> Surface,
        (left, rest, same): (f64, f64, f64),
        motion: &[BodyMotion],
    ) {
        self.struck.clear();
        let mut first = left;
        for (contact, touch) in contacts.touches.iter().enumerate() {
            let law = laws(contact);
            if law.restitution == 0.0 || law.stiffness.is_finite() {
                continue;
            }
            let before = contacts.relative(contact, motion);
            let approach = -(contacts.relative(contact, &self.starts)).dot(touch.normal);
            let closing = -before.dot(touch.normal);
            if !(approach > rest && closing > 0.0) {
                continue;
            }
            let after = self.gaps[contact].max(0.0) / closing;
            if after >= left || after > first + same {
                continue;
            }
            if after < first - same {
                self.struck.clear();
            }
            first = first.min(after);
            self.struck.put(Struck {
                contact,
                after,
                approach,
                before,
                impulse: Vec3::ZERO,
            });
        }
    }

    /// Leaves blows to the step that would press their bodies onto something that lies on them and does not rebound.
    fn leave_pressed(
        &mut self,
        contacts: &Bodies<'_>,
        laws: &impl Fn(usize) -> Surface,
        band: f64,
        motion: &[BodyMotion],
    ) {
        let mut struck = std::mem::take(&mut self.struck);
        struck.retain(|one| {
            let impulse = blow(contacts, &laws(one.contact), one, motion);
            let is_passed_on = self.is_passed_on(contacts, laws, one.contact, impulse, band);
            if !is_passed_on {
                // It is not asked again.
                self.gaps[one.contact] = f64::INFINITY;
            }
            is_passed_on
        });
        self.struck = struck;
    }

    /// Sweeps over contacts that are struck at the same time; one alone takes one sweep.
    fn strike_at_once(
        &mut self,
        contacts: &Bodies<'_>,
        laws: &impl Fn(usize) -> Surface,
        time: f64,
        motion: &mut [BodyMotion],
    ) {
        let most = if self.struck.len() > 1 {
            MOST_SWEEPS
        } else {
            1
        };
        for _ in 0..most {
            let (mut largest, mut size) = (0.0_f64, 0.0_f64);
            for at in 0..self.struck.len() {
                let one = self.struck[at];
                let impulse = blow(contacts, &laws(one.contact), &one, motion);
                let change = impulse - one.impulse;
                contacts.apply_at(one.contact, change, motion);
                contacts.apply_at(one.contact, change, &mut self.starts);
                self.struck[at].impulse = impulse;
                largest = largest.max(change.norm());
                size = size.max(impulse.norm());
            }
            if largest <= 1e-14 * size {
                break;
            }
        }
        for one in &self.struck {
            let after = contacts.relative(one.contact, motion);
            self.taken -= 0.5 * one.impulse.dot(one.before + after);
            self.count += 1;
            contacts.apply_at(one.contact, one.impulse * -time, &mut self.shifts);
            let sum = &mut self.impulses[3 * one.contact..3 * one.contact + 3];
            sum.iter_mut().zip(one.impulse.0).for_each(|(s, i)| *s += i);
        }
    }

    /// Whether a contact is left to the laws of the step.
    pub fn is_left(&self, contact: usize) -> bool {
        self.gaps[contact].is_infinite()
    }

    /// Whether a blow presses its bodies onto nothing that lies on them and does not rebound.
    fn is_passed_on(
        &mut self,
        contacts: &Bodies<'_>,
        laws: &impl Fn(usize) -> Surface,
        struck: usize,
        impulse: Vec3,
        band: f64,
    ) -> bool {
        let bodies = contacts.bodies_of(struck);
        let size = (contacts.block(struck) * impulse).norm();
        let mut is_free = true;
        for (contact, touch) in contacts.touches.iter().enumerate() {
            let touches = contacts.bodies_of(contact);
            let is_near = touches.iter().any(|body| bodies.contains(body));
            let is_closed = self.gaps[contact] <= band;
            let law = laws(contact);
            let rebounds = law.restitution > 0.0 && law.stiffness.is_infinite();
            if contact == struck || !is_near || !is_closed || rebounds {
                continue;
            }
            let before = contacts.relative(contact, &self.starts);
            contacts.apply_at(struck, impulse, &mut self.starts);
            let after = contacts.relative(contact, &self.starts);
            contacts.apply_at(struck, -impulse, &mut self.starts);
            is_free &= (after - before).dot(touch.normal) > -REST * size;
        }
        is_free
    }
}

/// The impulse of a blow, friction included: Newton's law with the velocity before it. Velocities are those with the impulse that the
/// contact has so far.
fn blow(contacts: &Bodies<'_>, law: &Surface, struck: &Struck, motion: &[BodyMotion]) -> Vec3 {
    let normal = contacts.touches[struck.contact].normal;
    let first = normal.perpendicular();
    let frame = [normal, first, normal.cross(first)];
    let block = contacts.block(struck.contact);
    let columns = frame.map(|axis| block * axis);
    let w = frame.map(|axis| columns.map(|column| axis.dot(column)));
    let velocity = contacts.relative(struck.contact, motion) - block * struck.impulse;
    let mut b = frame.map(|axis| axis.dot(velocity));
    b[0] -= law.restitution * struck.approach;
    let found = local::solve(&w, b, law.friction);
    V3([0, 1, 2].map(|k| (0..3).map(|axis| frame[axis][k] * found[axis]).sum()))
}

impl Scene {
    /// Keeps the velocities at the beginning of a step.
    pub(super) fn keep_starts(&mut self) {
        let starts = &mut self.blows.starts;
        starts.clear();
        if self.options.impacts == Impacts::InTurn && self.world.has_restitution() {
            starts.make_room(self.motion.len());
            starts.extend_from_slice(&self.motion);
        }
    }

    /// Pairwise blows; contacts that had one, or that need none, do not rebound any more in this step.
    pub(super) fn strike(&mut self, h: f64, mobility: &[f64]) {
        let band = self.solver.dead_band(h);
        let touches = self.world.touches();
        // How bodies answer is read from here while their velocities change.
        self.scratch.shifted.clear();
        self.scratch.shifted.make_room(self.motion.len());
        self.scratch.shifted.extend_from_slice(&self.motion);
        let contacts = Bodies {
            touches,
            aim: aim_of(self.options.correction, h, band, &[]),
            levers: &self.scratch.levers,
            grain_friction: self.world.grain_friction(),
            motion: &self.scratch.shifted,
            inertia: &self.scratch.inverse_inertia,
            radii: self.world.radii(),
            mechanism: Mechanism {
                bodies: self.held,
                mobility,
            },
        };
        let law = |contact: usize| *self.world.law(&touches[contact]);
        self.blows.strike(&contacts, law, band, h, &mut self.motion);
        let aim = contacts.aim;
        let exact = Aim { band: 0.0, ..aim };
        for (contact, touch) in touches.iter().enumerate() {
            let law = law(contact);
            let bias = &mut self.scratch.biases[contact];
            if law.stiffness.is_finite() || self.blows.is_left(contact) && *bias < 0.0 {
                continue;
            }
            // Bodies that were struck are not where they would be without.
            let moved = contacts.relative(contact, &self.blows.shifts);
            let gap = touch.gap + moved.dot(touch.normal);
            let closing = -contacts.relative(contact, &self.motion).dot(touch.normal);
            // What comes fast is not at rest within the dead band.
            *bias = match law.restitution > 0.0 && closing * h > FAST * band {
                true => exact.at(gap),
                false => aim.at(gap),
            };
        }
    }

    /// Moves bodies that were struck to where their blows leave them. Returns the work against gravity and loads, and the angular momentum
    /// that the momenta have gained.
    pub(super) fn shift_struck(&mut self, is_shifted: bool) -> (f64, Vec3) {
        let shifted = &mut self.scratch.shifted;
        if !is_shifted {
            shifted.clear();
            shifted.extend_from_slice(&self.blows.shifts);
        } else {
            for (sum, shift) in shifted.iter_mut().zip(&self.blows.shifts) {
                sum.velocity += shift.velocity;
                sum.spin += shift.spin;
            }
        }
        let (mut work, mut moment) = (0.0, Vec3::ZERO);
        for body in self.owned..self.motion.len() {
            let shift = self.blows.shifts[body];
            if shift.inverse_mass > 0.0 {
                let (w, m) = self.shift_body(body, shift.velocity, shift.spin);
                work += w;
                moment += m;
            }
        }
        (work, moment)
    }
}
