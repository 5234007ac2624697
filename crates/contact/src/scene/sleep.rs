//! Bodies at rest that are left alone until something changes.
//!
//! Bodies that touch each other fall asleep together once none of them has moved by more than the dead band in a step for a while, and the law was met. They
//! stop, stay where they are, and take one more step like all others. The impulses of that step hold them from then on: each further step asks for the
//! same thing, so its answer would be the same. They wake before a step is solved, all that touch each other at once, where that is not certain any more: something that
//! moves is within reach of them, as far ahead as collision detection looks, or the velocities that they would have without contacts are not, bit for
//! bit, those that their impulses were found for.

use oldham_space::{V3, Vec3};

use super::aims::aim_of;
use super::rows::Pressed;
use super::{Correction, HeldRow, Scene, StepReport};
use crate::problem::{Bodies, BodyMotion, Mechanism};
use crate::room::Room;
use crate::solver::{ContactSolver, FrictionLaw};
use crate::touch::{BodyId, Key};
use crate::warm::WarmStart;

/// Steps without motion before bodies stop.
const QUIET: u32 = 20;
/// The group of a body that is awake.
const AWAKE: u32 = u32::MAX;
/// Words of a body in the state.
pub(super) const WORDS: usize = 7;

/// Who sleeps, and what is known of them meanwhile.
#[derive(Default)]
pub(super) struct Sleep {
    pub is_on: bool,
    /// All bodies, then all grains.
    sleepers: Vec<Sleeper>,
    /// Impulses between those that sleep, and on what carries them.
    pub resting: WarmStart,
    /// Whether somebody has fallen asleep, or was put there, so that what follows is out of date.
    is_stale: bool,
    /// What resting impulses do to each body.
    reactions: Vec<[Vec3; 2]>,
    /// Where they press on it: the sum of all places times the size of the impulse, and that of the sizes.
    places: Vec<(Vec3, f64)>,
    rows: Vec<HeldRow>,
    contacts: usize,
    penetration: f64,
    residual: f64,
    /// Velocities at the beginning of the step.
    starts: Vec<BodyMotion>,
    /// For each body one that is nearer to the root of its group, and whether a group must stay awake or has not been at rest for a whole step.
    parents: Vec<u32>,
    is_restless: Vec<bool>,
    has_moved: Vec<bool>,
    moved: Vec<BodyMotion>,
    impulses: Vec<f64>,
    kept: Vec<(Key, [f64; 3])>,
}

/// A body or grain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sleeper {
    /// Steps without motion so far.
    quiet: u32,
    /// The first body that sleeps with it.
    group: u32,
    /// Velocities without contacts for which the impulses of the last step were found.
    free: [Vec3; 2],
    /// Whether it has slept through the last step, not fallen asleep at its end.
    has_slept: bool,
}

impl Sleeper {
    const NEW: Self = Self {
        quiet: 0,
        group: AWAKE,
        free: [Vec3::ZERO; 2],
        has_slept: false,
    };
}

impl Sleep {
    pub fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.sleepers.get(body).is_some_and(|s| s.group != AWAKE)
    }

    /// Wakes a body with its group. Their impulses go back to the others.
    fn wake(&mut self, body: usize, warm: &mut WarmStart) {
        let group = self.sleepers[body].group;
        for sleeper in self.sleepers.iter_mut().filter(|s| s.group == group) {
            *sleeper = Sleeper::NEW;
        }
        let sleepers = &self.sleepers;
        warm.take(&mut self.resting, &mut self.kept, |key| {
            let mut ends = key.ends.iter().map(|end| &sleepers[end.body()]);
            ends.all(|sleeper| sleeper.group == AWAKE)
        });
        self.is_stale = true;
    }

    fn root(&mut self, mut body: usize) -> usize {
        while self.parents[body] as usize != body {
            let above = self.parents[self.parents[body] as usize];
            self.parents[body] = above;
            body = above as usize;
        }
        body
    }

    /// Appends the state of so many bodies.
    pub fn save(&self, bodies: usize, words: &mut Vec<u64>) {
        for body in 0..bodies {
            let sleeper = self.sleepers.get(body).unwrap_or(&Sleeper::NEW);
            words.push(u64::from(sleeper.quiet) << 32 | u64::from(sleeper.group));
            let free = sleeper.free.iter().flat_map(|vector| vector.0);
            words.extend(free.map(f64::to_bits));
        }
    }

    /// Takes the state back. All impulses are with those of the others.
    pub fn restore(&mut self, words: &[u64]) {
        self.sleepers.clear();
        let each = words.as_chunks::<WORDS>().0.iter();
        self.sleepers.extend(each.map(|[first, free @ ..]| {
            let [x, y, z, a, b, c] = free.map(f64::from_bits);
            Sleeper {
                quiet: (first >> 32) as u32,
                group: *first as u32,
                free: [V3([x, y, z]), V3([a, b, c])],
                has_slept: false,
            }
        }));
        self.resting.clear();
        self.is_stale = true;
    }

    pub fn bytes(&self) -> usize {
        self.sleepers.held()
            + self.resting.bytes()
            + self.reactions.held()
            + self.places.held()
            + self.rows.held()
            + self.starts.held()
            + self.moved.held()
            + self.impulses.held()
            + self.kept.held()
    }
}

impl Scene {
    /// Whether a body or grain sleeps: it stays where it is until something wakes it.
    pub fn is_asleep(&self, body: BodyId) -> bool {
        self.sleep.is_asleep(body.index())
    }

    /// Whether it has slept through the last step, so that contacts have not worked on it.
    pub fn has_slept(&self, body: BodyId) -> bool {
        let sleeper = self.sleep.sleepers.get(body.index());
        sleeper.is_some_and(|sleeper| sleeper.has_slept)
    }

    /// How many bodies and grains sleep.
    pub fn sleepers(&self) -> usize {
        let all = self.sleep.sleepers.iter();
        all.filter(|s| s.group != AWAKE).count()
    }

    /// Finds the contacts of a step of length `h`, without those of sleepers; who is near to something that moves wakes.
    pub(super) fn find_contacts(&mut self, h: f64) {
        if self.sleep.is_on {
            (self.sleep.sleepers).resize(self.motion.len(), Sleeper::NEW);
        }
        loop {
            if self.sleep.is_stale {
                self.look_at_sleepers(h);
            }
            if self.sleep.is_on {
                self.mark_still();
            }
            self.world.expect(&self.motion, h);
            self.world.find(&self.poses, &self.grains);
            self.world.expect(&[], h);
            let mut ends = self.world.touches().iter().flat_map(|touch| touch.ends);
            match ends.find(|end| self.sleep.is_asleep(end.body())) {
                Some(end) => self.sleep.wake(end.body(), &mut self.warm),
                None => return,
            }
        }
    }

    /// Pairs of those that do not move are not looked at.
    fn mark_still(&mut self) {
        let Self {
            sleep,
            motion,
            world,
            owned,
            ..
        } = self;
        let still = world.still();
        still.clear();
        let each = motion.iter().enumerate();
        still.extend(each.map(|(body, moved)| {
            sleep.is_asleep(body) || is_given(body, *owned, moved) && is_at_rest(moved)
        }));
    }

    /// Takes the impulses of sleepers out of those of the others, and finds what they do. Where they do not meet the law any more, bodies wake.
    fn look_at_sleepers(&mut self, h: f64) {
        self.sleep.is_stale = false;
        self.world.still().clear();
        self.world.find(&self.poses, &self.grains);
        self.find_inverse_inertia();
        self.find_levers(h);
        self.aim(h);
        let Sleep {
            sleepers,
            resting,
            kept,
            moved,
            impulses,
            reactions,
            places,
            rows,
            ..
        } = &mut self.sleep;
        let is_asleep = |body: usize| sleepers[body].group != AWAKE;
        resting.take(&mut self.warm, kept, |key| {
            key.ends.iter().any(|end| is_asleep(end.body()))
        });
        resting.lay_out(&self.world, impulses);
        moved.clone_from(&self.motion);
        for (moved, sleeper) in moved.iter_mut().zip(sleepers.iter()) {
            if sleeper.group != AWAKE {
                [moved.velocity, moved.spin] = sleeper.free;
            }
        }
        let band = self.solver.dead_band(h);
        let touches = self.world.touches();
        let contacts = Bodies {
            touches,
            aim: aim_of(self.options.correction, h, band, &self.scratch.biases),
            levers: &self.scratch.levers,
            grain_friction: self.world.grain_friction(),
            motion: &self.motion,
            inertia: &self.scratch.inverse_inertia,
            radii: self.world.radii(),
            mechanism: Mechanism::default(),
        };
        contacts.apply(impulses, moved);
        for (moved, sleeper) in moved.iter_mut().zip(sleepers.iter()) {
            if sleeper.group == AWAKE {
                // What carries sleepers has not felt them here.
                [moved.velocity, moved.spin] = [Vec3::ZERO; 2];
            }
        }
        reactions.clear();
        reactions.resize(self.poses.len(), [Vec3::ZERO; 2]);
        places.clear();
        places.resize(self.poses.len(), (Vec3::ZERO, 0.0));
        let (mut count, mut deepest, mut worst) = (0, 0.0_f64, 0.0_f64);
        let mut unmet = None;
        for (contact, touch) in touches.iter().enumerate() {
            let ends = touch.ends.map(|end| end.body());
            let Some(body) = ends.into_iter().find(|&body| is_asleep(body)) else {
                continue;
            };
            let impulse = V3(impulses.as_chunks::<3>().0[contact]);
            let residual = contacts.coulomb_residual_of(contact, impulse, moved);
            let is_met = residual <= self.solver.tolerance();
            if !is_met {
                unmet = Some(body);
            }
            count += 1;
            worst = worst.max(residual);
            if self.world.law(touch).stiffness.is_infinite() {
                deepest = deepest.max(-touch.gap);
            }
            let at = self.world.place(contact, &self.grains);
            let Some(levers) = self.scratch.levers.get(contact) else {
                continue;
            };
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                if let Some([total, moment]) = reactions.get_mut(ends[side]) {
                    let force = impulse * (sign / h);
                    *total += force;
                    *moment += levers.arms[side].cross(force);
                    places[ends[side]].0 += at * impulse.norm();
                    places[ends[side]].1 += impulse.norm();
                }
            }
        }
        rows.clear();
        Pressed {
            world: &self.world,
            bodies: self.poses.len(),
            impulses,
            levers: &self.scratch.levers,
            motion: moved,
            law: FrictionLaw::Coulomb,
            frames: &[],
            sets: &[],
        }
        .collect(h, rows);
        self.sleep.contacts = count;
        self.sleep.penetration = deepest;
        self.sleep.residual = worst;
        if let Some(body) = unmet {
            self.sleep.wake(body, &mut self.warm);
        }
    }

    /// Keeps the velocities at the beginning of a step.
    pub(super) fn keep_sleepers_starts(&mut self) {
        if self.sleep.is_on {
            self.sleep.starts.clone_from(&self.motion);
        }
    }

    /// Wakes who would move otherwise than the last time without contacts. Sleepers are at rest from here on, and how all others would move is kept.
    pub(super) fn rouse(&mut self, h: f64) {
        if !self.sleep.is_on {
            return;
        }
        let mut is_roused = false;
        for body in 0..self.motion.len() {
            let (moved, start) = (&self.motion[body], &self.sleep.starts[body]);
            let sleeper = &self.sleep.sleepers[body];
            let is_same = is_at_rest(start) && [moved.velocity, moved.spin] == sleeper.free;
            if sleeper.group != AWAKE && !is_same {
                self.sleep.wake(body, &mut self.warm);
                is_roused = true;
            }
        }
        if is_roused {
            // Contacts are found for velocities at the beginning of the step.
            std::mem::swap(&mut self.motion, &mut self.sleep.starts);
            self.look_for_contacts(h);
            std::mem::swap(&mut self.motion, &mut self.sleep.starts);
        }
        for (sleeper, moved) in self.sleep.sleepers.iter_mut().zip(&mut self.motion) {
            sleeper.has_slept = sleeper.group != AWAKE;
            match sleeper.has_slept {
                true => [moved.velocity, moved.spin] = [Vec3::ZERO; 2],
                false => sleeper.free = [moved.velocity, moved.spin],
            }
        }
    }

    /// Adds what holds the sleepers to what the step has found.
    pub(super) fn add_sleepers(&mut self, report: &mut StepReport) {
        let sleep = &self.sleep;
        if sleep.resting.is_empty() {
            return;
        }
        report.contacts += sleep.contacts;
        report.pressed += sleep.resting.len();
        report.penetration = report.penetration.max(sleep.penetration);
        report.residual = report.residual.max(sleep.residual);
        for (sum, more) in self.reactions.iter_mut().zip(&sleep.reactions) {
            sum.iter_mut().zip(more).for_each(|(s, m)| *s += *m);
        }
        let rows = &mut self.scratch.held_rows;
        rows.make_room(rows.len() + sleep.rows.len());
        rows.extend_from_slice(&sleep.rows);
    }

    /// Where resting impulses press on a body: see `places`.
    pub(super) fn rests_at(&self, body: BodyId) -> (Vec3, f64) {
        let place = self.sleep.places.get(body.index());
        place.copied().unwrap_or((Vec3::ZERO, 0.0))
    }

    /// Stops groups that have been quiet; those that were at rest for the whole step sleep from now on.
    pub(super) fn fall_asleep(&mut self, report: &mut StepReport, h: f64) {
        let Correction::Positions { beyond } = self.options.correction else {
            return;
        };
        if !self.sleep.is_on || self.give != [0.0; 2] {
            return;
        }
        let slow = self.solver.dead_band(h) / h;
        for (body, moved) in self.motion.iter().enumerate() {
            let swing = moved.spin.norm() * self.world.extent(body);
            let sleeper = &mut self.sleep.sleepers[body];
            sleeper.quiet = match moved.velocity.norm() + swing <= slow {
                true => sleeper.quiet.saturating_add(1),
                false => 0,
            };
        }
        if !report.solved.is_converged {
            return;
        }
        self.find_groups(beyond);
        for body in 0..self.motion.len() {
            let root = self.sleep.root(body);
            let moved = self.motion[body];
            let is_asleep = self.sleep.is_asleep(body);
            if self.sleep.is_restless[root] || is_asleep || is_given(body, self.owned, &moved) {
                continue;
            }
            if moved.inverse_mass > 0.0 {
                report.dissipated += 0.5 * moved.velocity.dot(moved.velocity) / moved.inverse_mass;
            }
            if body >= self.owned {
                report.dissipated += 0.5 * self.own_angular_momentum(body).dot(moved.spin);
            }
            let stopped = &mut self.motion[body];
            [stopped.velocity, stopped.spin] = [Vec3::ZERO; 2];
            if !self.sleep.has_moved[root] {
                self.sleep.sleepers[body].group = root as u32;
                self.sleep.is_stale = true;
            }
        }
    }

    /// Bodies that touch each other, by their roots.
    fn find_groups(&mut self, beyond: f64) {
        let count = self.motion.len();
        let sleep = &mut self.sleep;
        sleep.parents.clear();
        sleep.parents.extend(0..count as u32);
        let own = sleep.sleepers.iter().enumerate();
        sleep.is_restless.clear();
        (sleep.is_restless).extend(own.map(|(body, s)| body < self.held || s.quiet < QUIET));
        sleep.has_moved.clear();
        (sleep.has_moved).extend(sleep.starts.iter().map(|start| !is_at_rest(start)));
        for touch in self.world.touches() {
            let ends = touch.ends.map(|end| end.body());
            let [a, b] = ends.map(|body| is_given(body, self.owned, &self.motion[body]));
            let law = self.world.law(touch);
            let is_deep = law.stiffness.is_infinite() && touch.gap < -beyond;
            let is_carried = (ends.iter().zip([a, b]))
                .all(|(&body, is_given)| !is_given || is_at_rest(&self.motion[body]));
            let is_restless = is_deep || !is_carried || law.resists_turning();
            let free = if a { ends[1] } else { ends[0] };
            sleep.is_restless[free] |= is_restless;
            if !a && !b {
                let (one, other) = (sleep.root(ends[0]), sleep.root(ends[1]));
                sleep.parents[one.max(other)] = one.min(other) as u32;
            }
        }
        for body in 0..count {
            let root = sleep.root(body);
            sleep.is_restless[root] |= sleep.is_restless[body];
            sleep.has_moved[root] |= sleep.has_moved[body];
        }
    }
}

fn is_at_rest(moved: &BodyMotion) -> bool {
    moved.velocity == Vec3::ZERO && moved.spin == Vec3::ZERO
}

/// Whether nothing that contacts do moves a body.
fn is_given(body: usize, owned: usize, moved: &BodyMotion) -> bool {
    body >= owned && moved.inverse_mass == 0.0
}
