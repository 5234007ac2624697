//! What is wrong with parts, connections and schedule, all of it at once; chains of direct feedthrough.

use std::collections::HashSet;

use crate::builder::{Builder, PortConnection};
use crate::fault::{BuildError, Fault};
use crate::port::{OutputPort, Quantity};
use crate::schedule::{Coupling, Schedule, Stage, SubsystemId};
use crate::unit::Unit;

impl Builder {
    /// What subsystems that panicked when they were added said.
    pub(super) fn panics(&self, t: f64) -> Vec<BuildError> {
        let fault = |(id, message): &(SubsystemId, String)| Fault::Panic {
            subsystem: self.units[id.0].name.clone(),
            t,
            message: message.clone(),
        };
        let faults = self.panicked.iter().map(fault);
        faults.map(BuildError::Initial).collect()
    }

    pub(super) fn check_names(&self, errors: &mut Vec<BuildError>) {
        let mut seen = HashSet::new();
        let names = self.units.iter().map(|unit| &unit.name);
        let twice = names.filter(|name| !seen.insert(name.as_str()));
        errors.extend(twice.cloned().map(BuildError::DuplicateName));
    }

    pub(super) fn check_connections(&self, errors: &mut Vec<BuildError>) {
        let mut fed: HashSet<_> = self.driven.iter().copied().collect();
        for connection in &self.connections {
            let (from, to) = (connection.from, connection.to);
            let sent = &self.ports(from.0).outputs()[from.1.0].quantity;
            let taken = &self.ports(to.0).inputs()[to.1.0].quantity;
            let are_scalars = [sent, taken]
                .iter()
                .all(|quantity| matches!(quantity, Quantity::Scalar(_)));
            if sent != taken && !(connection.scale.is_some() && are_scalars) {
                errors.push(BuildError::QuantityMismatch {
                    from: self.output_name(from),
                    to: self.input_name(to),
                    sent: sent.to_string(),
                    taken: taken.to_string(),
                });
            }
            if !fed.insert(to) {
                errors.push(BuildError::FedTwice(self.input_name(to)));
            }
        }
    }

    pub(super) fn check_schedule(&mut self, schedule: &Schedule, errors: &mut Vec<BuildError>) {
        if !(schedule.step > 0.0 && schedule.step.is_finite()) {
            errors.push(BuildError::BadStep(schedule.step));
        }
        if self.units.iter().any(|unit| unit.every == 0) || has_zero_ratio(&schedule.stages) {
            errors.push(BuildError::ZeroRatio);
        }
        let appearances = schedule.appearances();
        for (index, unit) in self.units.iter().enumerate() {
            let times = appearances.iter().filter(|id| id.0 == index).count();
            if times != 1 {
                errors.push(BuildError::NotOnceInSchedule {
                    name: unit.name.clone(),
                    times,
                });
            }
        }
        for stage in &schedule.stages {
            if let Stage::Nested { stages, .. } = stage {
                let inside = Schedule::with_stages(1.0, stages.clone()).appearances();
                let multiple = inside.iter().filter(|id| self.units[id.0].every > 1);
                errors.extend(
                    multiple
                        .map(|id| BuildError::MultipleInsideNest(self.units[id.0].name.clone())),
                );
            }
        }
        self.check_corrections(schedule, errors);
        if let Coupling::Implicit(implicit) = &schedule.coupling {
            self.check_implicit(schedule, &implicit.per_port, errors);
        }
    }

    fn check_corrections(&mut self, schedule: &Schedule, errors: &mut Vec<BuildError>) {
        for id in schedule.corrected() {
            let unit = &mut self.units[id.0];
            match unit.asked(schedule.start, |part| part.step_correction().is_some()) {
                Ok(corrects) if corrects && unit.every == 1 => {}
                Ok(_) => errors.push(BuildError::CannotCorrect(unit.name.clone())),
                Err(fault) => errors.push(BuildError::Initial(fault)),
            }
        }
    }

    fn check_implicit(
        &mut self,
        schedule: &Schedule,
        tolerances: &[(String, f64)],
        errors: &mut Vec<BuildError>,
    ) {
        if let Some(id) = schedule.corrected().first() {
            let name = self.units[id.0].name.clone();
            errors.push(BuildError::TightAndCorrected(name));
        }
        for stage in &schedule.stages {
            if let Stage::Nested { stages, .. } = stage {
                let inside = Schedule::with_stages(1.0, stages.clone()).appearances();
                let names = inside.iter().map(|id| self.units[id.0].name.clone());
                errors.extend(names.map(BuildError::TightAtSeveralRates));
            }
        }
        for unit in &mut self.units {
            if unit.corrects_inputs {
                errors.push(BuildError::CorrectedTight(unit.name.clone()));
            }
            if unit.every > 1 {
                errors.push(BuildError::TightAtSeveralRates(unit.name.clone()));
            }
            match unit.asked(schedule.start, |part| part.state().is_some()) {
                Ok(true) => {}
                Ok(false) => errors.push(BuildError::CannotRollBack(unit.name.clone())),
                Err(fault) => errors.push(BuildError::Initial(fault)),
            }
        }
        for (index, unit) in self.units.iter().enumerate() {
            let all = (0..unit.ports.outputs().len()).map(OutputPort);
            let held = all.filter(|port| unit.ports.is_held(*port));
            let names = held.map(|port| self.output_name((SubsystemId(index), port)));
            errors.extend(names.map(BuildError::TightAndHeld));
        }
        for (port, _) in tolerances {
            let connected = |c: &PortConnection| self.output_name(c.from) == *port;
            if !self.connections.iter().any(connected) {
                errors.push(BuildError::UnknownTolerancePort(port.clone()));
            }
        }
    }

    /// Whose outputs are evaluated again after an exchange, and how often, or the names around a loop. A sample is one
    /// of the instant at which it is taken, so that sampled parts always are among them.
    pub(super) fn output_updates(&self, schedule: &Schedule) -> Result<(Vec<bool>, usize), String> {
        let takes_samples = |unit: &Unit| unit.ports.takes_samples();
        let is_explicit = matches!(schedule.coupling, Coupling::Explicit);
        let is_sampled = is_explicit && self.units.iter().any(takes_samples);
        let updates = |unit: &Unit| {
            takes_samples(unit) || schedule.output_update && unit.ports.has_feedthrough()
        };
        let updates: Vec<bool> = self.units.iter().map(updates).collect();
        let depth = match schedule.output_update {
            true => self.feedthrough_depth()?,
            // Sampled parts that answer each other at once see each other's samples one exchange later.
            false if is_sampled => self.depth_among(&updates).unwrap_or_default(),
            false => 0,
        };
        let passes = depth.max(usize::from(is_sampled));
        Ok((updates, passes))
    }

    /// Length of the longest chain of direct feedthrough, or the names around a loop.
    pub(super) fn feedthrough_depth(&self) -> Result<usize, String> {
        self.depth_among(&vec![true; self.units.len()])
    }

    /// The same for chains through these units alone.
    fn depth_among(&self, included: &[bool]) -> Result<usize, String> {
        let mut depth = 0;
        for (id, unit) in self
            .units
            .iter()
            .enumerate()
            .filter(|(id, _)| included[*id])
        {
            for component in 0..unit.ports.output_width() {
                let mut path = Vec::new();
                depth = depth.max(self.chain(SubsystemId(id), component, included, &mut path)?);
            }
        }
        Ok(depth)
    }

    fn chain(
        &self,
        id: SubsystemId,
        component: usize,
        included: &[bool],
        path: &mut Vec<(SubsystemId, usize)>,
    ) -> Result<usize, String> {
        if !included[id.0] {
            return Ok(0);
        }
        if let Some(start) = path.iter().position(|&step| step == (id, component)) {
            let name = |&(id, component): &(SubsystemId, usize)| {
                let port = self.ports(id).output_component_name(component);
                self.qualified(id, &port)
            };
            let names: Vec<_> = path[start..].iter().map(name).collect();
            return Err(names.join(" <- "));
        }
        path.push((id, component));
        let mut longest = 0;
        for &input in self.ports(id).direct_inputs(component) {
            for connection in self.connections.iter().filter(|c| c.to.0 == id) {
                let range = self.ports(id).input_range(connection.to.1);
                if range.contains(&input) {
                    let (sender, port) = connection.from;
                    let start = self.ports(sender).output_range(port).start;
                    let sent = start + input - range.start;
                    longest = longest.max(1 + self.chain(sender, sent, included, path)?);
                }
            }
        }
        path.pop();
        Ok(longest)
    }
}

fn has_zero_ratio(stages: &[Stage]) -> bool {
    stages.iter().any(|stage| match stage {
        Stage::Together(_) | Stage::Corrected(_) => false,
        Stage::Nested { ratio, stages } => *ratio == 0 || has_zero_ratio(stages),
    })
}
