//! The section `[schedule.implicit]`: how a step iterates.

use oldham_cosim as cosim;

use super::Checker;
use crate::format::{Acceleration, DEFAULT_COLUMNS, Implicit, OnLimit};

/// Most iterations that quasi-Newton remembers: it solves a dense system of them.
const MAX_COLUMNS: u32 = 1000;
const FEWER_COLUMNS: &str = "as many as there are coupling variables are enough";

impl Checker<'_> {
    pub(super) fn implicit(&mut self, section: &Implicit) -> cosim::ImplicitSettings {
        let default = cosim::ImplicitSettings::default();
        let relative = self.number_or(&section.relative, default.relative);
        let absolute = self.number_or(&section.absolute, default.absolute);
        let max_iterations = section
            .max_iterations
            .as_ref()
            .and_then(|at| self.iterations(at));
        cosim::ImplicitSettings {
            relative: relative.unwrap_or(default.relative),
            absolute: absolute.unwrap_or(default.absolute),
            per_port: self.per_port(section),
            max_iterations: max_iterations.map_or(default.max_iterations, |count| count as usize),
            acceleration: self.acceleration(section),
            on_limit: match section.on_limit {
                Some(OnLimit::Accept) => cosim::OnLimit::Accept,
                Some(OnLimit::Fail) | None => cosim::OnLimit::Fail,
            },
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
        let relaxation = section.relaxation.as_ref().and_then(|at| self.number(at));
        let columns = section.columns.as_ref();
        let columns = columns.and_then(|at| self.count_up_to(at, MAX_COLUMNS, FEWER_COLUMNS));
        match section.acceleration.as_ref().map(|at| at.value) {
            Some(Acceleration::Fixed) => cosim::Acceleration::Fixed(relaxation.unwrap_or(1.0)),
            Some(Acceleration::Aitken) => cosim::Acceleration::Aitken(relaxation.unwrap_or(0.5)),
            Some(Acceleration::QuasiNewton) | None => cosim::Acceleration::QuasiNewton {
                columns: columns.map_or(DEFAULT_COLUMNS, |columns| columns as usize),
            },
        }
    }
}
