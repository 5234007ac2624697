//! The paper's continuous model D(s) of a system, with the conditions for its gains.

use nalgebra::Complex;
use oldham_stability::compensate::{Architecture, Candidate, Conditions, Site, Target};
use oldham_stability::{CoupledModel, Extrapolator};

use super::scatter::Poles;
use super::scenario::{Scenario, Way};
use crate::item::PaperError;

/// Singular values below this part of the largest are left out.
const TRUNCATION: f64 = 1e-7;

/// A system with its compensator on the continuous model.
pub(super) struct Continuous {
    pub rows: Architecture,
    pub targets: Vec<Target>,
    pub conditions: Conditions,
    pub hold: Extrapolator,
    pub plain: CoupledModel,
}

impl Continuous {
    pub fn of(scenario: &Scenario) -> Result<Self, PaperError> {
        let model = scenario.model(Way::Plain)?;
        let mut simulation = model.simulation()?;
        let sites: Result<Vec<_>, _> = Site::all(&simulation).into_iter().collect();
        let rows = Architecture::new(&simulation, &sites?)?;
        let plain = CoupledModel::of(&mut simulation)?;
        let targets = Target::exact(&plain, &rows);
        let hold = Extrapolator::hold(0, model.step());
        let conditions = Conditions::continuous(&plain, hold, &rows, &targets);
        Ok(Self {
            conditions: conditions.ok_or(PaperError::NoConditions)?,
            rows,
            targets,
            hold,
            plain,
        })
    }

    pub fn everything(&self) -> Vec<bool> {
        vec![true; self.rows.unknowns()]
    }

    pub fn gains(&self) -> Vec<f64> {
        self.conditions
            .smallest_gains(&self.everything(), TRUNCATION)
    }

    /// The same system with gains at work.
    pub fn compensated(
        &self,
        scenario: &Scenario,
        gains: &[f64],
    ) -> Result<CoupledModel, PaperError> {
        let mut simulation = scenario.model(Way::Plain)?.simulation()?;
        let model = CoupledModel::of(&mut simulation)?;
        Ok(self.rows.applied_to(model, gains))
    }

    pub fn primary(&self, model: &CoupledModel) -> Poles {
        let starts = self.targets.iter().map(|target| target.pole);
        let found = starts.map(|start| model.primary(start, self.hold));
        let missing = Complex::new(f64::NAN, f64::NAN);
        found.map(|pole| pole.unwrap_or(missing)).collect()
    }

    pub fn wanted(&self) -> Poles {
        self.targets.iter().map(|target| target.pole).collect()
    }

    /// Gains as a table of a model file.
    pub fn table(&self, gains: &[f64]) -> String {
        let of_row = |wanted: usize| {
            let pairs = self.rows.candidates().zip(gains);
            let entry = |((row, candidate), gain): ((usize, &Candidate), &f64)| {
                // Without the subsystem's name.
                let (_, name) = candidate.name.split_once('.')?;
                (row == wanted).then(|| format!("\"{name}\" = {gain:?}"))
            };
            pairs.filter_map(entry).collect::<Vec<_>>().join(", ")
        };
        format!(
            "{{ force_side = {{ {} }}, motion_side = {{ {} }}, sent_force = {{ {} }} }}",
            of_row(0),
            of_row(1),
            of_row(2)
        )
    }

    /// The size of gains, in which they are all like a stiffness.
    pub fn size(&self, gains: &[f64]) -> f64 {
        let poles = self.targets.iter().map(|target| target.pole.norm());
        let mean = poles.clone().sum::<f64>() / poles.count() as f64;
        let pairs = self.rows.candidates().zip(gains);
        let squares =
            pairs.map(|((_, candidate), gain)| (gain * mean.powi(candidate.derivative)).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Gains that meet the same conditions, from numbers between -1 and 1 along the free directions (k_r of Eq. 27).
    pub fn moved(&self, gains: &[f64], mut draw: impl FnMut() -> f64) -> Vec<f64> {
        let mut moved = gains.to_vec();
        for direction in self
            .conditions
            .free_directions(&self.everything(), TRUNCATION)
        {
            let share = draw();
            for (gain, direction) in moved.iter_mut().zip(direction) {
                *gain += share * direction;
            }
        }
        moved
    }
}
