//! The section `[schedule.implicit]`: how a step iterates.

use oldham_cosim as cosim;

use super::Checker;
use super::keys::read;
use crate::format::{Acceleration, DEFAULT_COLUMNS, Implicit, OnLimit};

impl Checker<'_> {
    pub(super) fn implicit(&mut self, section: &Implicit) -> cosim::ImplicitSettings {
        let default = cosim::ImplicitSettings::default();
        let relative = self.number_or(&section.relative, default.relative);
        let absolute = self.number_or(&section.absolute, default.absolute);
        let max_iterations = read(&section.max_iterations, |at| self.count(at));
        cosim::ImplicitSettings {
            relative: relative.unwrap_or(default.relative),
            absolute: absolute.unwrap_or(default.absolute),
            per_port: self.per_port(section),
            max_iterations: max_iterations.map_or(default.max_iterations, |count| count as usize),
            acceleration: self.acceleration(section),
            on_limit: section.on_limit.unwrap_or(OnLimit::Fail).into(),
        }
    }

    fn per_port(&mut self, section: &Implicit) -> Vec<(String, f64)> {
        let mut tolerances = Vec::new();
        for entry in &section.ports {
            let tolerance = self.number(&entry.value);
            tolerances.extend(tolerance.map(|value| (entry.name.value.clone(), value)));
        }
        tolerances
    }

    fn acceleration(&mut self, section: &Implicit) -> cosim::Acceleration {
        let relaxation = self.required(&section.relaxation);
        let columns = read(&section.columns, |at| self.count(at));
        match section.acceleration.as_ref().map(|at| at.value) {
            Some(Acceleration::Fixed) => cosim::Acceleration::Fixed(relaxation.unwrap_or(1.0)),
            Some(Acceleration::Aitken) => cosim::Acceleration::Aitken(relaxation.unwrap_or(0.5)),
            Some(Acceleration::QuasiNewton) | None => cosim::Acceleration::QuasiNewton {
                columns: columns.map_or(DEFAULT_COLUMNS, |columns| columns as usize),
            },
        }
    }
}
