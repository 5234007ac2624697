//! Contacts of free bodies: the Delassus matrix as what impulses do to the bodies' velocities.

use oldham_space::{M3, Mat3, V3, Vec3};

use super::{Aim, coulomb_residual, natural_residual};
use crate::solver::{FrictionLaw, RowState};
use crate::touch::Touch;

/// Velocity of a body, and how it answers to impulses: one line of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct BodyMotion {
    /// Velocity of the centre of mass.
    pub velocity: Vec3,
    /// Zero where the motion is given.
    pub inverse_mass: f64,
    /// Angular velocity.
    pub spin: Vec3,
    /// Of a grain; other bodies have a matrix.
    pub inverse_inertia: f64,
}

/// Where a contact acts on its bodies, for contacts that are not between two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levers {
    /// From the centres of mass to the point.
    pub arms: [Vec3; 2],
    /// Coulomb's coefficient.
    pub friction: f64,
    /// Torsional and rolling friction in m.
    pub turning: [f64; 2],
    /// Normal velocity for each unit of normal impulse that the surface itself yields.
    pub compliance: f64,
    /// Velocity in any direction for each unit of impulse by which a contact gives way whose bodies a given motion holds.
    pub give: f64,
    /// A grain on a body that does not turn: the same formulas as for two grains.
    pub is_plain: bool,
}

impl Levers {
    /// The velocity that the contact itself yields to an impulse.
    #[inline(always)]
    pub(crate) fn yielded(&self, impulse: Vec3, normal: Vec3) -> Vec3 {
        impulse * self.give + normal * (self.compliance * impulse.dot(normal))
    }
}

/// Bodies that joints hold together: how they answer to impulses as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mechanism<'a> {
    /// How many of the first bodies belong to it.
    pub bodies: usize,
    /// Changes of velocity and angular velocity of all of them for a unit impulse and a unit moment of
    /// impulse about its centre on each: a symmetric matrix, six rows a body, row by row.
    pub mobility: &'a [f64],
}

impl Mechanism<'_> {
    /// Applies an impulse and its moment to one of the bodies.
    fn apply(&self, body: usize, impulse: Vec3, moment: Vec3, motion: &mut [BodyMotion]) {
        let n = 6 * self.bodies;
        for (row, line) in self.mobility.chunks_exact(n).enumerate() {
            let answer = &line[6 * body..6 * body + 6];
            let change = (0..3).map(|k| answer[k] * impulse[k] + answer[3 + k] * moment[k]);
            let moved = &mut motion[row / 6];
            let part = if row % 6 < 3 {
                &mut moved.velocity
            } else {
                &mut moved.spin
            };
            part[row % 3] += change.sum::<f64>();
        }
    }

    /// Angular velocity of a body for a unit moment of impulse on another, for each axis.
    fn spin_answer(&self, body: usize, pushed: usize) -> Mat3 {
        let n = 6 * self.bodies;
        let line = |i: usize| (6 * body + 3 + i) * n + 6 * pushed + 3;
        M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| self.mobility[line(i) + j])))
    }

    /// Velocity of a point of one body for a unit impulse at a point of another, for each axis.
    fn answer(&self, (body, arm): (usize, Vec3), (pushed, at): (usize, Vec3)) -> Mat3 {
        let n = 6 * self.bodies;
        let part = |rows: usize, columns: usize| {
            let line = |i: usize| (6 * body + rows + i) * n + 6 * pushed + columns;
            M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| self.mobility[line(i) + j])))
        };
        // The point moves with v + ω × arm, and the impulse has the moment at × impulse.
        let (turn, moment) = (arm.skew(), at.skew());
        let velocity = part(0, 0) + part(0, 3) * moment;
        let spin = part(3, 0) + part(3, 3) * moment;
        velocity - turn * spin
    }
}

/// Contacts of free bodies.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// The contacts.
    pub touches: &'a [Touch],
    /// What is asked of their normal velocities.
    pub aim: Aim<'a>,
    /// Of the contacts that are not between two grains; these come first.
    pub levers: &'a [Levers],
    /// Coulomb's coefficient between two grains.
    pub grain_friction: f64,
    /// Velocities without any impulse, of bodies, then of grains.
    pub motion: &'a [BodyMotion],
    /// Inverse inertia of the bodies in absolute axes, without grains.
    pub inertia: &'a [Mat3],
    /// Radii of the grains.
    pub radii: &'a [f64],
    /// The first bodies, where joints hold them together. Their own inverse masses and inertias do not count.
    pub mechanism: Mechanism<'a>,
}

/// A contact on the line of two centres: levers along the normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub normal: Vec3,
    pub bodies: [u32; 2],
    pub arms: [f64; 2],
}

/// Velocity of the second body's point relative to that of the first.
#[inline(always)]
fn relative_plain(contact: &Plain, motion: &[BodyMotion]) -> Vec3 {
    let [a, b] = contact.bodies.map(|body| &motion[body as usize]);
    let turning = a.spin * contact.arms[0] + b.spin * contact.arms[1];
    b.velocity - a.velocity + contact.normal.cross(turning)
}

/// An impulse on the second body, its opposite on the first.
#[inline(always)]
fn apply_plain(contact: &Plain, impulse: Vec3, motion: &mut [BodyMotion]) {
    let moment = contact.normal.cross(impulse);
    let a = &mut motion[contact.bodies[0] as usize];
    a.velocity -= impulse * a.inverse_mass;
    a.spin -= moment * (a.inverse_inertia * contact.arms[0]);
    let b = &mut motion[contact.bodies[1] as usize];
    b.velocity += impulse * b.inverse_mass;
    b.spin -= moment * (b.inverse_inertia * contact.arms[1]);
}

/// The same with arms in any direction.
#[inline(always)]
fn relative_with(bodies: [u32; 2], arms: &[Vec3; 2], motion: &[BodyMotion]) -> Vec3 {
    let [a, b] = bodies.map(|body| &motion[body as usize]);
    b.velocity + b.spin.cross(arms[1]) - a.velocity - a.spin.cross(arms[0])
}

impl Bodies<'_> {
    #[inline(always)]
    pub(crate) fn bodies_of(&self, contact: usize) -> [u32; 2] {
        self.touches[contact].ends.map(|end| end.body() as u32)
    }

    /// The levers of a contact, unless it lies on the line of two centres.
    #[inline(always)]
    pub(crate) fn levers_of(&self, contact: usize) -> Option<&Levers> {
        self.levers.get(contact).filter(|levers| !levers.is_plain)
    }

    /// The contact as one on the line of two centres. The impulse acts at one point, in the
    /// middle of the gap.
    #[inline(always)]
    pub(crate) fn plain(&self, contact: usize) -> Plain {
        let touch = &self.touches[contact];
        let grain = |body: usize| {
            let radius = body.checked_sub(self.inertia.len()).map(|g| self.radii[g]);
            radius.unwrap_or(0.0)
        };
        let [a, b] = touch.ends.map(|end| end.body());
        Plain {
            normal: touch.normal,
            bodies: [a as u32, b as u32],
            arms: [grain(a), grain(b)],
        }
    }

    /// Velocity of a point of one body for a unit impulse at a point of the same or another one.
    fn answer(&self, (body, arm): (u32, Vec3), (pushed, at): (u32, Vec3)) -> Mat3 {
        let (body, pushed) = (body as usize, pushed as usize);
        if body < self.mechanism.bodies && pushed < self.mechanism.bodies {
            return self.mechanism.answer((body, arm), (pushed, at));
        }
        if body != pushed {
            return Mat3::ZERO;
        }
        let motion = &self.motion[body];
        let inverse = match self.inertia.get(body) {
            Some(inverse) => *inverse,
            None => Mat3::scaled_identity(motion.inverse_inertia),
        };
        Mat3::scaled_identity(motion.inverse_mass) - arm.skew() * inverse * at.skew()
    }

    /// The block of a contact in the Delassus matrix, along the absolute axes, compliance included.
    pub fn block(&self, contact: usize) -> Mat3 {
        let touch = &self.touches[contact];
        let n = touch.normal;
        match self.levers_of(contact) {
            Some(levers) => {
                let [a, b] = self.bodies_of(contact);
                let (a, b) = ((a, levers.arms[0]), (b, levers.arms[1]));
                self.answer(a, a) + self.answer(b, b) - self.answer(a, b) - self.answer(b, a)
                    + n.outer(n) * levers.compliance
                    + Mat3::scaled_identity(levers.give)
            }
            None => {
                let (normal, tangential) = self.plain_diagonal(&self.plain(contact));
                Mat3::scaled_identity(tangential) + n.outer(n) * (normal - tangential)
            }
        }
    }

    /// Normal and tangential entries of a plain contact's block, which is diagonal.
    #[inline(always)]
    pub(crate) fn plain_diagonal(&self, contact: &Plain) -> (f64, f64) {
        let [a, b] = contact.bodies.map(|body| &self.motion[body as usize]);
        let normal = a.inverse_mass + b.inverse_mass;
        let [arm_a, arm_b] = contact.arms;
        let turning = a.inverse_inertia * arm_a * arm_a + b.inverse_inertia * arm_b * arm_b;
        (normal, normal + turning)
    }

    /// Applies the impulse of one contact to velocities.
    #[inline(always)]
    pub(crate) fn apply_at(&self, contact: usize, impulse: Vec3, motion: &mut [BodyMotion]) {
        let Some(levers) = self.levers_of(contact) else {
            apply_plain(&self.plain(contact), impulse, motion);
            return;
        };
        let ends = self.bodies_of(contact).into_iter().zip(&levers.arms);
        for ((body, arm), impulse) in ends.zip([-impulse, impulse]) {
            let (body, moment) = (body as usize, arm.cross(impulse));
            if body < self.mechanism.bodies {
                self.mechanism.apply(body, impulse, moment, motion);
                continue;
            }
            let moved = &mut motion[body];
            moved.velocity += impulse * moved.inverse_mass;
            moved.spin += match self.inertia.get(body) {
                Some(inverse) => *inverse * moment,
                None => moment * moved.inverse_inertia,
            };
        }
    }

    /// Applies impulses of all contacts to velocities.
    pub fn apply(&self, impulses: &[f64], motion: &mut [BodyMotion]) {
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            if *impulse != [0.0; 3] {
                self.apply_at(contact, V3(*impulse), motion);
            }
        }
    }

    /// Applies a moment of impulse of a contact to velocities.
    pub(crate) fn turn_at(&self, contact: usize, moment: Vec3, motion: &mut [BodyMotion]) {
        let ends = self.bodies_of(contact).into_iter();
        for (body, moment) in ends.zip([-moment, moment]) {
            let body = body as usize;
            if body < self.mechanism.bodies {
                self.mechanism.apply(body, Vec3::ZERO, moment, motion);
                continue;
            }
            let moved = &mut motion[body];
            moved.spin += match self.inertia.get(body) {
                Some(inverse) => *inverse * moment,
                None => moment * moved.inverse_inertia,
            };
        }
    }

    /// Applies moments of impulse to velocities.
    pub fn turn(&self, turns: &[Vec3], motion: &mut [BodyMotion]) {
        for (contact, moment) in turns.iter().enumerate() {
            if *moment != Vec3::ZERO {
                self.turn_at(contact, *moment, motion);
            }
        }
    }

    /// Angular velocity of the second body relative to the first.
    pub fn relative_spin(&self, contact: usize, motion: &[BodyMotion]) -> Vec3 {
        let [a, b] = self.bodies_of(contact).map(|body| &motion[body as usize]);
        b.spin - a.spin
    }

    /// The sum of moments of impulse times relative angular velocities.
    pub fn turning_power(&self, turns: &[Vec3], motion: &[BodyMotion]) -> f64 {
        let each = turns.iter().enumerate();
        each.filter(|(_, moment)| **moment != Vec3::ZERO)
            .map(|(contact, moment)| moment.dot(self.relative_spin(contact, motion)))
            .sum()
    }

    /// How a contact answers to a unit moment of impulse by its relative angular velocity.
    pub(crate) fn turning_block(&self, contact: usize) -> Mat3 {
        let answer = |body: u32, pushed: u32| {
            let (body, pushed) = (body as usize, pushed as usize);
            if body < self.mechanism.bodies && pushed < self.mechanism.bodies {
                return self.mechanism.spin_answer(body, pushed);
            }
            if body != pushed {
                return Mat3::ZERO;
            }
            match self.inertia.get(body) {
                Some(inverse) => *inverse,
                None => Mat3::scaled_identity(self.motion[body].inverse_inertia),
            }
        };
        let [a, b] = self.bodies_of(contact);
        answer(a, a) + answer(b, b) - answer(a, b) - answer(b, a)
    }

    /// Relative velocity of a contact for velocities of the bodies.
    #[inline(always)]
    pub fn relative(&self, contact: usize, motion: &[BodyMotion]) -> Vec3 {
        match self.levers_of(contact) {
            Some(levers) => relative_with(self.bodies_of(contact), &levers.arms, motion),
            None => relative_plain(&self.plain(contact), motion),
        }
    }

    /// The sum of impulses times relative velocities. Half of it before and half of it after the impulses is
    /// their work on the bodies.
    pub fn power(&self, impulses: &[f64], motion: &[BodyMotion]) -> f64 {
        let each = impulses.as_chunks::<3>().0.iter().enumerate();
        each.filter(|(_, impulse)| **impulse != [0.0; 3])
            .map(|(contact, impulse)| V3(*impulse).dot(self.relative(contact, motion)))
            .sum()
    }

    /// Normal and tangents of a contact. The box of friction is exact along its axes: the first tangent
    /// follows the sliding without impulses.
    pub fn frame(&self, contact: usize) -> [Vec3; 3] {
        let normal = self.touches[contact].normal;
        let velocity = self.relative(contact, self.motion);
        let sliding = velocity - normal * velocity.dot(normal);
        let first = if sliding.norm() > 1e-9 * velocity.norm().max(1e-9) {
            sliding.unit()
        } else {
            normal.perpendicular()
        };
        [normal, first, normal.cross(first)]
    }

    /// Where a contact slides to, if its friction is at the bound.
    pub(crate) fn sliding(&self, contact: usize, impulse: Vec3) -> Option<Vec3> {
        let normal = self.touches[contact].normal;
        let along = impulse.dot(normal);
        let across = impulse - normal * along;
        let most = self.friction(contact) * along;
        (most > 0.0 && across.norm() >= (1.0 - 1e-9) * most).then(|| -across.unit())
    }

    /// The largest residual in m/s of box friction along given frames, for velocities that belong to the
    /// impulses.
    pub fn box_residual_at(
        &self,
        impulses: &[f64],
        motion: &[BodyMotion],
        frames: &[[Vec3; 3]],
    ) -> f64 {
        let mut most = 0.0;
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            let impulse = V3(*impulse);
            let block = self.block(contact);
            let velocity = self.relative(contact, motion);
            let pressed = impulse.dot(frames[contact][0]);
            let bound = self.friction(contact) * pressed.max(0.0);
            for (axis, direction) in frames[contact].iter().enumerate() {
                let diagonal = direction.dot(block * *direction);
                let mut velocity = velocity.dot(*direction);
                let (mut low, mut high) = (-bound, bound);
                if axis == 0 {
                    (low, high) = (0.0, f64::INFINITY);
                    velocity += self.bias(contact);
                }
                if let Some(levers) = self.levers_of(contact) {
                    velocity += levers.yielded(impulse, frames[contact][0]).dot(*direction);
                }
                let along = impulse.dot(*direction);
                let stepped = (along - velocity / diagonal).max(low).min(high);
                let residual = (along - stepped).abs() * diagonal;
                if residual > most || residual.is_nan() {
                    most = residual;
                }
            }
        }
        most
    }

    /// What is added to the normal velocity of a contact.
    #[inline(always)]
    pub fn bias(&self, contact: usize) -> f64 {
        self.aim.of(contact, self.touches[contact].gap)
    }

    /// Coulomb's coefficient of a contact.
    #[inline(always)]
    pub fn friction(&self, contact: usize) -> f64 {
        self.levers
            .get(contact)
            .map_or(self.grain_friction, |levers| levers.friction)
    }

    /// The residual of one contact in m/s, for its impulse and the velocities of the bodies.
    #[inline(always)]
    fn residual_of(&self, contact: usize, impulse: Vec3, motion: &[BodyMotion]) -> f64 {
        self.residual_by(FrictionLaw::Cone, contact, impulse, motion)
    }

    #[inline(always)]
    pub(crate) fn residual_by(
        &self,
        law: FrictionLaw,
        contact: usize,
        impulse: Vec3,
        motion: &[BodyMotion],
    ) -> f64 {
        let normal = self.touches[contact].normal;
        let mut velocity = self.relative(contact, motion);
        velocity += normal * self.bias(contact);
        let mean_diagonal = match self.levers_of(contact) {
            Some(levers) => {
                velocity += levers.yielded(impulse, normal);
                let block = self.block(contact);
                (block.0[0][0] + block.0[1][1] + block.0[2][2]) / 3.0
            }
            None => {
                let (normal, tangential) = self.plain_diagonal(&self.plain(contact));
                (normal + 2.0 * tangential) / 3.0
            }
        };
        let friction = self.friction(contact);
        match law {
            FrictionLaw::Coulomb => {
                coulomb_residual(impulse, velocity, normal, friction, mean_diagonal)
            }
            _ => natural_residual(impulse, velocity, normal, friction, mean_diagonal),
        }
    }

    /// The residual of Coulomb's law of one contact in m/s.
    pub(crate) fn coulomb_residual_of(
        &self,
        contact: usize,
        impulse: Vec3,
        motion: &[BodyMotion],
    ) -> f64 {
        self.residual_by(FrictionLaw::Coulomb, contact, impulse, motion)
    }

    /// The largest residual of Coulomb's law in m/s, for velocities that belong to the impulses.
    pub fn coulomb_residual_at(&self, impulses: &[f64], motion: &[BodyMotion]) -> f64 {
        let each = impulses.as_chunks::<3>().0.iter().enumerate();
        let each =
            each.map(|(contact, impulse)| self.coulomb_residual_of(contact, V3(*impulse), motion));
        each.fold(0.0, |most, r| if r > most || r.is_nan() { r } else { most })
    }

    /// Tells what the contacts do, by their impulses.
    pub(crate) fn classify(&self, impulses: &[f64], sets: &mut [RowState]) {
        sets.fill(RowState::Open);
        for (contact, impulse) in impulses.as_chunks::<3>().0.iter().enumerate() {
            let impulse = V3(*impulse);
            let normal = self.touches[contact].normal;
            let along = impulse.dot(normal);
            if along > 0.0 {
                let across = (impulse - normal * along).norm();
                let slips = across >= self.friction(contact) * along * (1.0 - 1e-9);
                sets[3 * contact] = RowState::Active;
                let friction = if slips {
                    RowState::Upper
                } else {
                    RowState::Active
                };
                sets[3 * contact + 1..][..2].fill(friction);
            }
        }
    }

    /// The largest residual of all contacts in m/s, for velocities that belong to the impulses.
    pub fn residual_at(&self, impulses: &[f64], motion: &[BodyMotion]) -> f64 {
        let impulses = impulses.as_chunks::<3>().0;
        let each = (impulses.iter().enumerate())
            .map(|(contact, impulse)| self.residual_of(contact, V3(*impulse), motion));
        each.fold(0.0, |most, r| if r > most || r.is_nan() { r } else { most })
    }

    /// The largest residual of all contacts in m/s, from the impulses alone.
    pub fn residual(&self, impulses: &[f64]) -> f64 {
        let mut motion = self.motion.to_vec();
        self.apply(impulses, &mut motion);
        self.residual_at(impulses, &motion)
    }
}
