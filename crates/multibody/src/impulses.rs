//! Time stepping with impulses, for contacts: velocities change by impulses over a step, poses move with the
//! velocities at its end.
//!
//! M(q) (v⁺ − v) = h f(q, v) − Gᵀ(q) Λ + p, q⁺ = q ⊕ h v⁺, φ(q⁺, t⁺) = 0: semi-implicit Euler with the constraints
//! fulfilled where the step ends, by impulses along their gradients where it begins. Without contacts this is SHAKE
//! (Ryckaert, Ciccotti and Berendsen): no energy is lost in joints, and their positions do not drift. Forces are
//! those at the beginning of the step.
//!
//! Contacts see the velocities of this step, joints included, and answer with impulses p; what these do to the
//! joints is solved with the same factors. Momenta are what is integrated: a body that turns keeps its angular
//! momentum about its centre of mass to rounding, and one that nothing holds its energy as well (`spinning`).
//!
//! # References
//! J.-P. Ryckaert, G. Ciccotti, H. Berendsen, Journal of Computational Physics 23 (1977) 327–341.
//! R. Zhang et al., Multibody System Dynamics 2022, Sect. 2.2: the form with contacts, joints on velocities.

use crate::assembly::EvaluationPoint;
use crate::body::Inertia;
use crate::contact::scene::turned_spin;
use crate::error::SolveError;
use crate::node::Motion;
use crate::system::System;
use oldham_space::Vec3;

/// Violations below this, relative to the size of the model, are rounding errors.
const ROUNDING: f64 = 1e-15;
/// An iteration that has come to a halt must be below this.
const CLOSED: f64 = 1e-9;
/// How contacts give way along the normal in parts that receive poses, beside all mass of the part where it is free. Positions come back.
const GIVE_ALONG: f64 = 1.0;
/// The same across, where nothing brings positions back: what sticks creeps by this.
const GIVE_ACROSS: f64 = 1e-2;
/// Passes that move overlapping bodies apart at the start.
const MOST_PASSES: usize = 200;

impl System {
    /// Advances by `h` to `time` under the forces of the inputs at the start; constraints hold with those at the
    /// end.
    pub(crate) fn impulse_step(
        &mut self,
        time: f64,
        h: f64,
        start: &[f64],
        end: &[f64],
    ) -> Result<(), SolveError> {
        let taken = self.take_step(time, h, start, end);
        self.work.solves_by_tree = false;
        if taken.is_err() {
            self.return_to_records();
        }
        taken
    }

    /// Keeps the state before a step that may be taken again.
    pub(crate) fn keep_start(&mut self) {
        self.work.whole.copy_from(&self.state);
        if let Some(contacts) = &mut self.contacts {
            contacts.keep();
        }
    }

    /// Takes the last step again, from the state that was kept, to another end. Contacts are solved anew: which of them press,
    /// stick and slip may have changed.
    pub(crate) fn repeat_impulses(&mut self, start: &[f64], end: &[f64]) -> Result<(), SolveError> {
        let (time, h) = (self.state.time, self.state.step);
        self.state.copy_from(&self.work.whole);
        if let Some(contacts) = &mut self.contacts {
            contacts.go_back();
        }
        self.return_to_records();
        self.impulse_step(time, h, start, end)
    }

    fn take_step(
        &mut self,
        time: f64,
        h: f64,
        start: &[f64],
        end: &[f64],
    ) -> Result<(), SolveError> {
        let from = self.state.time;
        match self.tree.is_some() {
            true => self.factor_tree(from)?,
            false => self.factor_impulses(from, start)?,
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.place(&self.motions);
            let begun = contacts.scene.begin(h);
            begun.expect("steps are positive");
        }
        self.push_by_forces(from, h, start);
        self.move_to_end(h);
        let (_, row) = self.find_violations_of_step(time, h, end);
        self.prescribe_end(h);
        self.solve_residual();
        self.apply_impulses(1.0, 1.0);
        self.check_finite(time, row, start)?;
        self.look_halfway(h);
        if self.contacts.is_some() {
            self.touch(from, h)?;
        }
        self.close_joints(time, h, end)?;
        let corrected = self.correct_penetrations(time, end)?;
        self.look_back();
        self.carry_momenta();
        self.finish_impulses(time, h, end, corrected);
        Ok(())
    }

    /// The same by the recursion over a tree.
    fn factor_tree(&mut self, time: f64) -> Result<(), SolveError> {
        let tree = self.tree.as_mut().expect("asked before");
        let factored = tree.factor_at(&self.motions, &self.assembly.inertia);
        factored.map_err(|unknown| SolveError::WithoutInertia { time, unknown })?;
        self.counters.factorisations += 1;
        self.work.stamp += 1;
        self.work.solves_by_tree = true;
        Ok(())
    }

    /// Leaves the impulses of all forces at the beginning of the step in `work.residual`.
    fn push_by_forces(&mut self, time: f64, h: f64, inputs: &[f64]) {
        self.multipliers.fill(0.0);
        let at = EvaluationPoint::new(
            time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        let residual = &mut self.work.residual;
        residual.fill(0.0);
        self.assembly.element_residual(&at, residual);
        self.assembly.weight(&at, residual);
        let nodes = 6 * self.assembly.nodes();
        residual[..nodes].iter_mut().for_each(|force| *force *= h);
    }

    /// What the constraints ask of the change of the velocities, from the violations at the end of the step.
    fn prescribe_end(&mut self, h: f64) {
        let rows = &mut self.work.residual[6 * self.assembly.nodes()..];
        for (row, violation) in rows.iter_mut().zip(&self.work.consistency.constraint_rhs) {
            *row = -violation / h;
        }
    }

    /// Adds the solution in `work.residual` to velocities and impulses of the constraints.
    fn apply_impulses(&mut self, velocities: f64, impulses: f64) {
        let (nodes, rest) = self.work.residual.split_at(6 * self.assembly.nodes());
        for (motion, d) in self.motions[1..].iter_mut().zip(nodes.chunks_exact(6)) {
            motion.velocity += Vec3::new(d[0], d[1], d[2]) * velocities;
            motion.angular_velocity += Vec3::new(d[3], d[4], d[5]) * velocities;
        }
        for (multiplier, change) in self.multipliers.iter_mut().zip(rest) {
            *multiplier += change * impulses;
        }
    }

    fn check_finite(&self, time: f64, row: usize, inputs: &[f64]) -> Result<(), SolveError> {
        let values = &self.work.residual[..self.assembly.unknowns()];
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(worst) => Err(self.not_finite(time, inputs).unwrap_or_else(|| {
                let nodes = 6 * self.assembly.nodes();
                self.diverged_at(time, if worst < nodes { worst } else { nodes + row })
            })),
        }
    }

    /// Puts the nodes where their velocities take them within the step.
    fn move_to_end(&mut self, h: f64) {
        let starts = self.state.now.iter().zip(&self.assembly.inertia);
        for (motion, (record, inertia)) in self.motions.iter_mut().zip(starts).skip(1) {
            *motion = moved(&record.motion, motion, inertia, h);
        }
    }

    /// Puts the nodes back to where the step begins; velocities stay.
    fn move_to_start(&mut self) {
        for (motion, record) in self.motions.iter_mut().zip(&self.state.now) {
            let (velocity, spin) = (motion.velocity, motion.angular_velocity);
            *motion = record.motion.moving(velocity, spin);
        }
    }

    /// Finds the impulses of the contacts, and what they do to all velocities.
    fn touch(&mut self, from: f64, h: f64) -> Result<(), SolveError> {
        self.move_to_start();
        let unknowns = self.assembly.unknowns();
        let Self {
            contacts,
            lu,
            tree,
            motions,
            work,
            ..
        } = self;
        let mut solve = |rows: &mut [f64]| match tree {
            Some(tree) => tree.solve_rows(rows),
            None => lu.solve(rows),
        };
        let contacts = contacts.as_mut().expect("only where there are contacts");
        contacts.aim(motions);
        let stamp = work.stamp;
        let rows = &mut work.residual[..unknowns];
        if contacts.touches_held() {
            contacts.find_mobility(motions, stamp, rows, &mut solve);
        }
        contacts.finish(from, h)?;
        if contacts.report.pressed > 0 {
            rows.fill(0.0);
            contacts.impulses(h, motions, rows);
            solve(rows);
            self.apply_impulses(1.0, 1.0);
        }
        if let Some(contacts) = &self.contacts
            && contacts.model.options.sleep
        {
            contacts.stop(&mut self.motions);
        }
        Ok(())
    }

    /// Changes velocities, along the gradients at the beginning of the step, until the constraints hold at its end up to
    /// rounding.
    fn close_joints(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let mut before = f64::INFINITY;
        loop {
            self.move_to_end(h);
            if self.assembly.constraints == 0 {
                return Ok(());
            }
            let (largest, row) = self.find_violations_of_step(time, h, inputs);
            if largest <= ROUNDING * self.size {
                return Ok(());
            }
            // Neither does NaN.
            let shrinks = largest < 0.5 * before;
            if !shrinks {
                return match largest <= CLOSED * self.size {
                    true => Ok(()),
                    false => Err(self.diverged_at(time, 6 * self.assembly.nodes() + row)),
                };
            }
            before = largest;
            self.find_smallest_change();
            self.apply_impulses(1.0 / h, 1.0 / h);
        }
    }

    /// Moves nodes apart without velocities where contacts ask for it. Gives the energy that this took.
    fn correct_penetrations(&mut self, time: f64, inputs: &[f64]) -> Result<f64, SolveError> {
        let is_separated = |system: &Self| {
            let contacts = system.contacts.as_ref();
            contacts.is_some_and(|contacts| contacts.report.is_separated)
        };
        if !is_separated(self) {
            return Ok(0.0);
        }
        let before = self.potential_energy(time, inputs);
        self.shift_nodes(time, inputs)?;
        let nodes = self.potential_energy(time, inputs) - before;
        let contacts = self.contacts.as_mut().expect("asked before");
        contacts.correction_work += nodes;
        Ok(nodes + contacts.report.correction_work)
    }

    fn shift_nodes(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let contacts = self
            .contacts
            .as_ref()
            .expect("only where there are contacts");
        contacts.shift(&mut self.motions);
        if self.assembly.constraints > 0 {
            self.project_poses(time, inputs)?;
        }
        Ok(())
    }

    /// Contacts give way a little in parts that receive poses: the part cannot know how its interface will answer to them, and tells what they do to
    /// it.
    pub(crate) fn let_contacts_give_way(&mut self) {
        let mass: f64 = self
            .assembly
            .inertia
            .iter()
            .map(|inertia| inertia.mass)
            .sum();
        if let Some(contacts) = &mut self.contacts
            && mass > 0.0
        {
            contacts
                .scene
                .give_way(GIVE_ALONG / mass, GIVE_ACROSS / mass);
        }
    }

    /// Whether something pressed in the last step.
    pub(crate) fn is_in_contact(&self) -> bool {
        let contacts = self.contacts.as_ref();
        contacts.is_some_and(|contacts| contacts.report.pressed > 0)
    }

    fn potential_energy(&self, time: f64, inputs: &[f64]) -> f64 {
        let at = EvaluationPoint {
            time,
            input_time: time,
            ..self.evaluation_point(inputs)
        };
        let nodes = self.assembly.inertia.iter().zip(&self.motions);
        let weights = nodes.map(|(i, motion)| i.potential_energy(motion, self.assembly.gravity));
        self.assembly.element_energy(&at).stored + weights.sum::<f64>()
    }

    /// Velocities that belong to the momenta of the step where it ends.
    fn carry_momenta(&mut self) {
        let starts = self.state.now.iter().zip(&self.assembly.inertia);
        for (motion, (record, inertia)) in self.motions.iter_mut().zip(starts).skip(1) {
            if inertia.is_massive() && motion.angular_velocity != Vec3::ZERO {
                let (before, centre) = (&record.motion.rotation, inertia.centre());
                let spin = motion.angular_velocity;
                let centre_velocity = motion.velocity + spin.cross(*before * centre);
                let spin = turned_spin(&inertia.about_centre(), before, &motion.rotation, spin);
                motion.angular_velocity = spin;
                motion.velocity = centre_velocity - spin.cross(motion.rotation * centre);
            }
        }
    }

    /// Makes what was found the new state. Accelerations and reactions are means over the step.
    fn finish_impulses(&mut self, time: f64, h: f64, inputs: &[f64], corrected: f64) {
        let per_h = 1.0 / h;
        let (nodes, rest) = self.work.residual.split_at_mut(6 * self.assembly.nodes());
        let starts = self.state.now.iter().zip(&self.motions).skip(1);
        for (row, (record, motion)) in nodes.chunks_exact_mut(6).zip(starts) {
            let a = (motion.velocity - record.motion.velocity) * per_h;
            let alpha = (motion.angular_velocity - record.motion.angular_velocity) * per_h;
            row[..3].copy_from_slice(&a.0);
            row[3..].copy_from_slice(&alpha.0);
        }
        for (row, multiplier) in rest.iter_mut().zip(&mut self.multipliers) {
            *multiplier *= per_h;
            *row = *multiplier;
        }
        self.remember(time, h, inputs);
        let state = &mut self.state;
        std::mem::swap(&mut state.now, &mut state.before);
        std::mem::swap(&mut state.multipliers, &mut state.multipliers_before);
        self.record_accelerations();
        let state = &mut self.state;
        if let Some(contacts) = &self.contacts {
            state.dissipated += contacts.report.dissipated;
            state.supplied += corrected;
        }
        state.time = time;
        state.step = h;
        state.known = (state.known + 1).min(2);
        self.counters.micro_steps += 1;
        if self.options.account_energy {
            self.accumulate_energy(h, inputs);
        }
    }

    /// Refuses nodes and grains that overlap at the start, or moves them apart.
    pub(crate) fn start_contacts(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let time = self.state.time;
        let Some(contacts) = &mut self.contacts else {
            return Ok(());
        };
        contacts.reset();
        for _ in 0..MOST_PASSES {
            let contacts = self.contacts.as_mut().expect("asked before");
            contacts.place(&self.motions);
            let Some(overlap) = contacts.overlap() else {
                return Ok(());
            };
            if !contacts.resolves() {
                return Err(overlap);
            }
            self.factor_accelerations(time, inputs)?;
            let unknowns = self.assembly.unknowns();
            let (lu, stamp) = (&mut self.lu, self.work.stamp);
            let rows = &mut self.work.residual[..unknowns];
            let contacts = self.contacts.as_mut().expect("asked before");
            if contacts.touches_held() {
                contacts.find_mobility(&self.motions, stamp, rows, |rows| lu.solve(rows));
            }
            contacts.separate();
            self.shift_nodes(time, inputs)?;
        }
        let contacts = self.contacts.as_mut().expect("asked before");
        contacts.place(&self.motions);
        contacts.overlap().map_or(Ok(()), Err)
    }
}

/// The motion after a step with the velocities of `moving`. The centre of mass moves straight on, the body turns about
/// it.
fn moved(start: &Motion, moving: &Motion, inertia: &Inertia, h: f64) -> Motion {
    let (velocity, spin) = (moving.velocity, moving.angular_velocity);
    if velocity == Vec3::ZERO && spin == Vec3::ZERO {
        return start.moving(velocity, spin);
    }
    let step = start
        .displaced(velocity * h, spin * h)
        .moving(velocity, spin);
    if inertia.first == Vec3::ZERO {
        return step;
    }
    let centre = inertia.centre();
    let arm = start.rotation * centre;
    Motion {
        position: start.position + arm + (velocity + spin.cross(arm)) * h - step.rotation * centre,
        ..step
    }
}
