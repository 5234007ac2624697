//! One step in time.

use oldham_space::{Mat3, Quaternion, V3, Vec3};

use super::aims::aim_of;
use super::apart::Surfaces;
use super::{Correction, Scene, Start, StepReport};
use crate::error::ContactError;
use crate::problem::{Bodies, Mechanism, Problem};
use crate::room::Room;
use crate::solver::{ContactSolver, FrictionLaw, RowState};

/// Passes that move overlapping bodies apart at the start.
const MOST_PASSES: usize = 200;

impl Scene {
    /// Checks everything before the first step: motions, and whether bodies overlap.
    pub fn start(&mut self) -> Result<(), ContactError> {
        self.check()?;
        for _ in 0..MOST_PASSES {
            if self.find_overlap().is_none() {
                return Ok(());
            }
            if self.options.start == Start::Refuse {
                break;
            }
            self.separate(&[]);
        }
        self.find_overlap().map_or(Ok(()), Err)
    }

    /// Checks motions.
    pub fn check(&self) -> Result<(), ContactError> {
        self.check_motion(0.0)
    }

    /// Finds all contacts, and reports the deepest overlap, if it is a mistake at the start.
    pub fn find_overlap(&mut self) -> Option<ContactError> {
        self.world.find(&self.poses, &self.grains);
        let touches = self.world.touches();
        let overlaps = touches.iter().filter(|t| t.gap < -self.options.overlap);
        let pairs = overlaps.clone().count();
        let deepest = overlaps.min_by(|s, t| s.gap.total_cmp(&t.gap))?;
        let [first, second] = deepest.ends.map(|end| end.body());
        Some(ContactError::Overlap {
            first,
            second,
            depth: -deepest.gap,
            pairs,
        })
    }

    /// Takes a step of length `h` from `time`. All bodies are moved here: none belongs to somebody else.
    pub fn step(&mut self, time: f64, h: f64) -> Result<StepReport, ContactError> {
        self.begin(h)?;
        self.finish(time, h, &[])
    }

    /// Finds the contacts of a step of length `h`, and the velocities that forces alone would give.
    pub fn begin(&mut self, h: f64) -> Result<(), ContactError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(ContactError::Step { step: h });
        }
        self.look_for_contacts(h);
        self.keep_sleepers_starts();
        self.accelerate(h);
        Ok(())
    }

    /// Finds the contacts, and what is asked of them, for velocities at the beginning of a step.
    pub(super) fn look_for_contacts(&mut self, h: f64) {
        self.find_contacts(h);
        self.find_inverse_inertia();
        self.find_levers(h);
        self.aim(h);
        self.aim_rebounds();
        self.keep_starts();
    }

    /// Finds the impulses of a step from `time` that was begun, and moves the bodies. Those that joints hold together
    /// answer by their `mobility`.
    pub fn finish(
        &mut self,
        time: f64,
        h: f64,
        mobility: &[f64],
    ) -> Result<StepReport, ContactError> {
        self.rouse(h);
        let mut report = StepReport {
            contacts: self.world.touches().len(),
            ..StepReport::default()
        };
        let (own, grains) = (self.world.touches()).split_at(self.world.details().len());
        let own = own.iter();
        let rigid = own.filter(|touch| self.world.law(touch).stiffness.is_infinite());
        let rigid = rigid.chain(grains);
        let deepest = rigid.fold(0.0, |most: f64, touch| most.max(-touch.gap));
        report.penetration = deepest;
        self.keep_rebounds_that_arrive(h);
        if !self.blows.starts.is_empty() {
            self.strike(h, mobility);
            report.blows = self.blows.count;
            report.dissipated += self.blows.taken;
        }

        let mechanism = Mechanism {
            bodies: self.held,
            mobility,
        };
        let band = self.solver.dead_band(h);
        let scratch = &mut self.scratch;
        let aim = aim_of(self.options.correction, h, band, &scratch.biases);
        let touches = self.world.touches();
        let contacts = Bodies {
            touches,
            aim,
            levers: &scratch.levers,
            grain_friction: self.world.grain_friction(),
            motion: &[],
            inertia: &scratch.inverse_inertia,
            radii: self.world.radii(),
            mechanism,
        };
        let problem = Bodies {
            motion: &self.motion,
            ..contacts
        };
        self.warm
            .recall(&self.world, |contact| problem.friction(contact));
        clear_sets(&mut scratch.sets, touches.len());
        report.solved = self.solver.solve(
            &Problem::Bodies(problem),
            self.warm.impulses_mut(),
            &mut scratch.sets,
        );
        let impulses = self.warm.impulses();
        let law = self.solver.law();
        scratch.frames.clear();
        if law == FrictionLaw::Box {
            scratch.frames.extend_from_slice(self.solver.frames());
        }
        let turns = self.solver.turns();
        report.dissipated -= 0.5 * problem.power(impulses, &self.motion);
        report.dissipated -= 0.5 * problem.turning_power(turns, &self.motion);
        // From here on the velocities are those at the end of the step.
        contacts.apply(impulses, &mut self.motion);
        contacts.turn(turns, &mut self.motion);
        let ended = Bodies {
            motion: &self.motion,
            ..contacts
        };
        report.dissipated -= 0.5 * ended.power(impulses, &self.motion);
        report.dissipated -= 0.5 * ended.turning_power(turns, &self.motion);
        report.residual = match law {
            FrictionLaw::Coulomb => ended.coulomb_residual_at(impulses, &self.motion),
            FrictionLaw::Cone => ended.residual_at(impulses, &self.motion),
            FrictionLaw::Box => ended.box_residual_at(impulses, &self.motion, &scratch.frames),
        };
        if report.blows > 0 {
            let sums = self.warm.impulses_mut().iter_mut();
            sums.zip(&self.blows.impulses).for_each(|(s, b)| *s += b);
        }
        self.warm.remember(&self.world);
        report.pressed = self.warm.len();
        if let Correction::Velocities { .. } = self.options.correction {
            report.correction_work = self.push_out_work(h);
        }
        report.gap_moment = self.gap_moment();
        self.collect_reactions(h);
        self.collect_rows(h);
        report.dissipated += 0.5 * self.work_on_gains(h);
        self.add_sleepers(&mut report);
        if let Correction::Positions { beyond } = self.options.correction
            && deepest > beyond
        {
            // The convex law keeps the shifts of its papers.
            let ahead = if law == FrictionLaw::Coulomb { h } else { 0.0 };
            (report.correction_work, report.correction_moment) =
                self.move_apart(mobility, Surfaces::Rigid, ahead);
            report.is_separated = true;
        }
        if report.blows > 0 {
            let (work, moment) = self.shift_struck(report.is_separated);
            report.correction_work += work;
            report.correction_moment += moment;
            report.is_separated = true;
        }
        self.tally.add(&report, self.solver.tolerance());
        self.fall_asleep(&mut report, h);
        self.move_bodies(h);
        self.check_motion(time + h)?;
        Ok(report)
    }

    pub(super) fn find_inverse_inertia(&mut self) {
        let inverse = &mut self.scratch.inverse_inertia;
        inverse.clear();
        inverse.extend_from_slice(&self.owned_inertia);
        inverse.extend(self.poses.iter().zip(&self.inertia).skip(self.owned).map(
            |(pose, &moments)| {
                if moments == Vec3::ZERO {
                    Mat3::ZERO
                } else {
                    turned_inertia(pose.axes, V3(moments.0.map(f64::recip)))
                }
            },
        ));
    }

    /// Gives bodies the velocities that forces alone would give.
    fn accelerate(&mut self, h: f64) {
        let fall = self.options.gravity * h;
        for moved in &mut self.motion[self.owned..] {
            if moved.inverse_mass > 0.0 {
                moved.velocity += fall;
            }
        }
        let each = self.loads.iter().zip(&self.scratch.inverse_inertia);
        let each = self.motion.iter_mut().zip(each).skip(self.owned);
        for (moved, ([force, moment], inverse)) in each {
            moved.velocity += *force * (h * moved.inverse_mass);
            moved.spin += *inverse * *moment * h;
        }
    }

    /// The work of velocities that end penetrations.
    fn push_out_work(&self, h: f64) -> f64 {
        let aim = aim_of(self.options.correction, h, 0.0, &self.scratch.biases);
        let each = self.world.touches().iter().zip(self.impulses()).enumerate();
        each.filter(|(_, (touch, _))| touch.gap < 0.0)
            .map(|(contact, (touch, impulse))| {
                let speed = (-aim.of(contact, touch.gap)).max(0.0);
                V3(*impulse).dot(touch.normal) * speed
            })
            .sum()
    }

    /// The moment of impulses between grains across open gaps.
    fn gap_moment(&self) -> Vec3 {
        let each = self.world.touches().iter().zip(self.impulses());
        each.skip(self.world.details().len())
            .fold(Vec3::ZERO, |sum, (touch, impulse)| {
                sum + (touch.normal * touch.gap).cross(V3(*impulse))
            })
    }

    /// Forces and moments of the contacts on bodies.
    fn collect_reactions(&mut self, h: f64) {
        self.reactions.fill([Vec3::ZERO; 2]);
        let bodies = self.poses.len();
        let impulses = self.warm.impulses().as_chunks::<3>().0;
        let turns = self.solver.turns();
        let each = self
            .world
            .touches()
            .iter()
            .zip(impulses)
            .zip(&self.scratch.levers);
        for (contact, ((touch, impulse), levers)) in each.enumerate() {
            let turn = turns.get(contact).copied().unwrap_or(Vec3::ZERO);
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let body = touch.ends[side].body();
                if body < bodies {
                    let force = V3(*impulse) * (sign / h);
                    let [total, moment] = &mut self.reactions[body];
                    *total += force;
                    *moment += levers.arms[side].cross(force) + turn * (sign / h);
                }
            }
        }
    }

    /// The impulses of the contacts times what the forces of the step alone added to the velocities: contacts work on the
    /// mean of the velocities at both ends of the step, not on what forces would make of them in between. Those of
    /// grains are what is missing to zero.
    fn work_on_gains(&self, h: f64) -> f64 {
        let fall = self.options.gravity * h;
        let mut on_grains = Vec3::ZERO;
        let mut work = 0.0;
        for (body, [force, moment]) in self.reactions.iter().enumerate() {
            let impulse = *force * h;
            on_grains -= impulse;
            let moved = &self.motion[body];
            if body >= self.owned && moved.inverse_mass > 0.0 {
                let [load, turning] = &self.loads[body];
                let inverse = &self.scratch.inverse_inertia[body];
                work += impulse.dot(fall + *load * (h * moved.inverse_mass));
                work += (*moment * h).dot(*inverse * *turning * h);
            }
        }
        work + on_grains.dot(fall)
    }

    /// Moves all bodies but those of others with the velocities at the end of the step.
    fn move_bodies(&mut self, h: f64) {
        let bodies = self.poses.len();
        for body in self.owned..bodies {
            let moved = self.motion[body];
            self.poses[body].position += moved.velocity * h;
            self.turn(body, moved.spin * h);
        }
        for (centre, moved) in self.grains.iter_mut().zip(&self.motion[bodies..]) {
            *centre += moved.velocity * h;
        }
    }

    /// Turns a body; its angular momentum stays.
    pub(super) fn turn(&mut self, body: usize, angle: Vec3) {
        if angle == Vec3::ZERO {
            return;
        }
        let moments = self.inertia[body];
        let spin = self.motion[body].spin;
        let before = self.poses[body].axes;
        let orientation = Quaternion::exp(angle)
            .times(self.orientations[body])
            .normalised();
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

    /// Refuses motions that are not finite, and bodies that have left the domain.
    fn check_motion(&self, time: f64) -> Result<(), ContactError> {
        let bodies = self.poses.len();
        for (body, moved) in self.motion.iter().enumerate() {
            let at = match body.checked_sub(bodies) {
                None => self.poses[body].position,
                Some(grain) => self.grains[grain],
            };
            let reach = at.dot(at);
            if !(reach + moved.velocity.dot(moved.velocity) + moved.spin.dot(moved.spin))
                .is_finite()
            {
                return Err(ContactError::NotFinite { body, time });
            }
            if moved.inverse_mass > 0.0 && reach > self.options.domain * self.options.domain {
                let [x, y, z] = at.0;
                return Err(ContactError::Lost {
                    body,
                    time,
                    x,
                    y,
                    z,
                });
            }
        }
        Ok(())
    }
}

/// Three rows for each contact, all open.
pub(super) fn clear_sets(sets: &mut Vec<RowState>, contacts: usize) {
    sets.clear();
    sets.make_room(3 * contacts);
    sets.resize(3 * contacts, RowState::Open);
}

/// A diagonal matrix in the axes of a frame, in absolute axes.
pub(super) fn turned_inertia(axes: Mat3, diagonal: Vec3) -> Mat3 {
    let [x, y, z] = diagonal.0;
    axes * Mat3::diagonal(x, y, z) * axes.transpose()
}
