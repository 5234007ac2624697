//! One step in time.

use oldham_space::{Mat3, Quaternion, V3, Vec3};

use super::{Correction, Scene, Start, StepReport};
use crate::error::ContactError;
use crate::problem::{Bodies, BodyMotion, Levers, Problem, Target};
use crate::solver::{ContactSolver, RowState};
use crate::touch::{NO_PLACE, Surface};

/// Passes that move overlapping bodies apart at the start.
const MOST_PASSES: usize = 200;

impl Scene {
    /// Checks everything before the first step: pairs of shapes, and whether bodies overlap.
    pub fn start(&mut self) -> Result<(), ContactError> {
        self.world.check()?;
        self.check_motion(0.0)?;
        for pass in 0..MOST_PASSES {
            self.world.find(&self.poses, &self.grains);
            let touches = self.world.touches();
            let overlaps = touches.iter().filter(|t| t.gap < -self.options.overlap);
            let pairs = overlaps.clone().count();
            let Some(deepest) = overlaps.min_by(|s, t| s.gap.total_cmp(&t.gap)) else {
                return Ok(());
            };
            if self.options.start == Start::Refuse || pass == MOST_PASSES - 1 {
                let [first, second] = deepest.ends.map(|end| end.body());
                return Err(ContactError::Overlap {
                    first,
                    second,
                    depth: -deepest.gap,
                    pairs,
                });
            }
            self.move_apart();
        }
        Ok(())
    }

    /// Takes a step of length `h` from `time`.
    pub fn step(&mut self, time: f64, h: f64) -> Result<StepReport, ContactError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(ContactError::Step { step: h });
        }
        self.world.find(&self.poses, &self.grains);
        let mut report = StepReport {
            contacts: self.world.touches().len(),
            ..StepReport::default()
        };
        let deepest = (self.world.touches().iter()).fold(0.0, |most: f64, t| most.max(-t.gap));
        report.penetration = deepest;
        self.find_free_motion(h);
        self.aim(h);
        self.find_levers(h);
        self.aim_rebounds(h);

        let scratch = &mut self.scratch;
        let targets = &scratch.targets;
        let touches = self.world.touches();
        self.warm
            .recall(touches, |contact| targets[contact].friction, &mut scratch.impulses);
        scratch.sets.clear();
        scratch.sets.resize(scratch.impulses.len(), RowState::Open);
        let problem = Bodies {
            touches,
            targets,
            levers: &scratch.levers,
            motion: &scratch.free,
            inertia: &scratch.inverse_inertia,
            radii: self.world.radii(),
        };
        report.solved = self.solver.solve(
            &Problem::Bodies(problem),
            &mut scratch.impulses,
            &mut scratch.sets,
        );
        report.residual = problem.residual(&scratch.impulses, &mut scratch.checked);
        self.warm.remember(touches, &scratch.impulses);
        report.pressed = self.warm.len();
        if let Correction::Velocities { .. } = self.options.correction {
            report.correction_work = self.push_out_work();
        }
        self.collect_reactions(h);
        std::mem::swap(&mut self.motion, &mut self.scratch.checked);
        if let Correction::Positions { beyond } = self.options.correction
            && deepest > beyond
        {
            report.correction_work = self.move_apart();
        }
        self.move_bodies(h);
        self.check_motion(time + h)?;
        Ok(report)
    }

    /// Velocities that forces alone would give.
    fn find_free_motion(&mut self, h: f64) {
        let scratch = &mut self.scratch;
        scratch.free.clone_from(&self.motion);
        let fall = self.options.gravity * h;
        for moved in &mut scratch.free {
            if moved.inverse_mass > 0.0 {
                moved.velocity += fall;
            }
        }
        scratch.inverse_inertia.clear();
        for (body, pose) in self.poses.iter().enumerate() {
            let moments = self.inertia[body];
            let inverse = if moments == Vec3::ZERO {
                Mat3::ZERO
            } else {
                turned_inertia(pose.axes, V3(moments.0.map(f64::recip)))
            };
            scratch.inverse_inertia.push(inverse);
            let [force, moment] = self.loads[body];
            let moved = &mut scratch.free[body];
            moved.velocity += force * (h * moved.inverse_mass);
            moved.spin += inverse * moment * h;
        }
    }

    /// What is asked of each contact.
    fn aim(&mut self, h: f64) {
        let touches = self.world.touches();
        self.scratch.targets.clear();
        let grains = self.world.grain_law();
        for touch in touches {
            let law = match (touch.place == NO_PLACE, grains) {
                (true, Some(law)) => law,
                _ => self.world.law(touch),
            };
            self.scratch.targets.push(Target {
                bias: normal_bias(law, touch.gap, h, self.options.correction),
                friction: law.friction,
            });
        }
    }

    /// Where contacts act.
    fn find_levers(&mut self, h: f64) {
        let bodies = self.poses.len();
        let touches = self.world.touches();
        self.scratch.levers.clear();
        for touch in touches {
            if touch.place == NO_PLACE {
                continue;
            }
            let place = self.world.places()[touch.place as usize];
            let ends = touch.ends.map(|end| end.body());
            let arms = ends.map(|body| match body.checked_sub(bodies) {
                None => place - self.poses[body].position,
                Some(grain) => place - self.grains[grain],
            });
            let law = self.world.law(touch);
            let wall = &self.motion[ends[0]];
            self.scratch.levers.push(Levers {
                arms,
                compliance: compliance(law, h),
                is_plain: ends[1] >= bodies && wall.inverse_mass == 0.0 && wall.spin == Vec3::ZERO,
            });
        }
    }

    /// What restitution asks of contacts.
    fn aim_rebounds(&mut self, h: f64) {
        if !self.world.has_restitution() {
            return;
        }
        let touches = self.world.touches();
        let (before, after) = (&self.motion, &self.scratch.free);
        let problem = Bodies {
            touches,
            targets: &[],
            levers: &self.scratch.levers,
            motion: before,
            inertia: &self.scratch.inverse_inertia,
            radii: self.world.radii(),
        };
        for (contact, touch) in touches.iter().enumerate() {
            let law = self.world.law(touch);
            if law.restitution == 0.0 || law.stiffness.is_finite() {
                continue;
            }
            let approach = problem.relative(contact, before).dot(touch.normal);
            let arrival = problem.relative(contact, after).dot(touch.normal);
            // Newton's law, for contacts that close within the step.
            if approach < 0.0 && touch.gap + h * arrival < 0.0 {
                self.scratch.targets[contact].bias = law.restitution * approach;
            }
        }
    }

    /// The work of velocities that end penetrations.
    fn push_out_work(&self) -> f64 {
        let touches = self.world.touches();
        let each = touches.iter().zip(&self.scratch.targets).zip(self.impulses());
        each.filter(|((touch, _), _)| touch.gap < 0.0)
            .map(|((touch, target), impulse)| {
                V3(*impulse).dot(touch.normal) * (-target.bias).max(0.0)
            })
            .sum()
    }

    /// Forces and moments of the contacts on bodies.
    fn collect_reactions(&mut self, h: f64) {
        self.reactions.fill([Vec3::ZERO; 2]);
        let bodies = self.poses.len();
        let impulses = self.scratch.impulses.as_chunks::<3>().0;
        for (touch, impulse) in self.world.touches().iter().zip(impulses) {
            if touch.place == NO_PLACE {
                continue;
            }
            let levers = &self.scratch.levers[touch.place as usize];
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let body = touch.ends[side].body();
                if body < bodies {
                    let force = V3(*impulse) * (sign / h);
                    let [total, moment] = &mut self.reactions[body];
                    *total += force;
                    *moment += levers.arms[side].cross(force);
                }
            }
        }
    }

    /// Moves all bodies with the velocities at the end of the step.
    fn move_bodies(&mut self, h: f64) {
        let bodies = self.poses.len();
        for body in 0..bodies {
            let moved = self.motion[body];
            self.poses[body].position += moved.velocity * h;
            self.turn(body, moved.spin * h);
        }
        for (centre, moved) in self.grains.iter_mut().zip(&self.motion[bodies..]) {
            *centre += moved.velocity * h;
        }
    }

    /// Turns a body; its angular momentum stays.
    fn turn(&mut self, body: usize, angle: Vec3) {
        if angle == Vec3::ZERO {
            return;
        }
        let moments = self.inertia[body];
        let spin = self.motion[body].spin;
        let before = self.poses[body].axes;
        let orientation = Quaternion::exp(angle).times(self.orientations[body]).normalised();
        self.orientations[body] = orientation;
        let axes = orientation.matrix();
        self.poses[body].axes = axes;
        let is_round = moments[0] == moments[1] && moments[1] == moments[2];
        if !is_round {
            let momentum = turned_inertia(before, moments) * spin;
            let inverse = turned_inertia(axes, V3(moments.0.map(f64::recip)));
            self.motion[body].spin = inverse * momentum;
        }
    }

    /// Moves bodies apart that penetrate each other at the contacts known, without velocities: the convex
    /// program of the step, with lengths in place of velocities. Returns the work against gravity and loads.
    fn move_apart(&mut self) -> f64 {
        let bodies = self.poses.len();
        self.scratch.inverse_inertia.clear();
        for (pose, moments) in self.poses.iter().zip(&self.inertia) {
            let is_free = *moments != Vec3::ZERO;
            let inverse = if is_free { V3(moments.0.map(f64::recip)) } else { Vec3::ZERO };
            self.scratch.inverse_inertia.push(turned_inertia(pose.axes, inverse));
        }
        self.find_levers(1.0);
        let scratch = &mut self.scratch;
        let touches = self.world.touches();
        for levers in &mut scratch.levers {
            (levers.compliance, levers.is_plain) = (0.0, false);
        }
        scratch.targets.clear();
        scratch.targets.extend(touches.iter().map(|touch| Target {
            bias: touch.gap,
            friction: 0.0,
        }));
        scratch.free.clone_from(&self.motion);
        for moved in &mut scratch.free {
            *moved = BodyMotion {
                velocity: Vec3::ZERO,
                spin: Vec3::ZERO,
                ..*moved
            };
        }
        let problem = Bodies {
            touches,
            targets: &scratch.targets,
            levers: &scratch.levers,
            motion: &scratch.free,
            inertia: &scratch.inverse_inertia,
            radii: self.world.radii(),
        };
        // The impulses of the step stay as they are: these are lengths.
        scratch.shifts.clear();
        scratch.shifts.resize(3 * touches.len(), 0.0);
        scratch.shift_sets.clear();
        scratch.shift_sets.resize(3 * touches.len(), RowState::Open);
        self.separator.solve(
            &Problem::Bodies(problem),
            &mut scratch.shifts,
            &mut scratch.shift_sets,
        );
        problem.residual(&scratch.shifts, &mut scratch.checked);
        let mut work = 0.0;
        for body in 0..self.motion.len() {
            let shift = self.scratch.checked[body];
            if shift.inverse_mass == 0.0 {
                continue;
            }
            let mut force = self.options.gravity * (1.0 / shift.inverse_mass);
            if body < bodies {
                force += self.loads[body][0];
                work -= self.loads[body][1].dot(shift.spin);
                self.poses[body].position += shift.velocity;
                self.turn(body, shift.spin);
            } else {
                self.grains[body - bodies] += shift.velocity;
            }
            work -= force.dot(shift.velocity);
        }
        work
    }

    /// Refuses motions that are not finite, and bodies that have left the domain.
    fn check_motion(&self, time: f64) -> Result<(), ContactError> {
        let bodies = self.poses.len();
        for (body, moved) in self.motion.iter().enumerate() {
            let at = match body.checked_sub(bodies) {
                None => self.poses[body].position,
                Some(grain) => self.grains[grain],
            };
            let reach = at.dot(at);
            if !(reach + moved.velocity.dot(moved.velocity) + moved.spin.dot(moved.spin)).is_finite() {
                return Err(ContactError::NotFinite { body, time });
            }
            if moved.inverse_mass > 0.0 && reach > self.options.domain * self.options.domain {
                let [x, y, z] = at.0;
                return Err(ContactError::Lost { body, time, x, y, z });
            }
        }
        Ok(())
    }
}

/// A diagonal matrix in the axes of a frame, in absolute axes.
pub(super) fn turned_inertia(axes: Mat3, diagonal: Vec3) -> Mat3 {
    let [x, y, z] = diagonal.0;
    axes * Mat3::diagonal(x, y, z) * axes.transpose()
}

/// What is added to the normal velocity of a contact.
fn normal_bias(law: &Surface, gap: f64, h: f64, correction: Correction) -> f64 {
    if law.stiffness.is_finite() {
        return gap * law.stiffness / (h * law.stiffness + law.damping);
    }
    if gap >= 0.0 {
        return gap / h;
    }
    match correction {
        Correction::Positions { .. } => 0.0,
        Correction::Velocities { limit } => (gap / h).max(-limit),
    }
}

/// Normal velocity for each unit of impulse of a surface with stiffness k and damping d: the force
/// −k (g + h u) − d u at the end of the step.
fn compliance(law: &Surface, h: f64) -> f64 {
    if law.stiffness.is_finite() {
        1.0 / (h * (h * law.stiffness + law.damping))
    } else {
        0.0
    }
}
