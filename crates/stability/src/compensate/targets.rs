//! What the compensated co-simulation should move like: poles and the shapes that go with them.

use nalgebra::{Complex, DMatrix};
use oldham_cosim::Simulation;

use crate::compensate::rows::Architecture;
use crate::poles::{CoupledModel, Readout};
use crate::recurrence::{AnalysisError, eigenvalues, probe_with};

/// A motion that grows with one pole, as the corrected points see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// In the s-plane; of each pair the upper one.
    pub pole: Complex<f64>,
    /// Displacements at the corrected forces, the largest one.
    pub shape: Vec<Complex<f64>>,
}

/// Modes whose shape at the interface is smaller than this against the largest one are not seen
/// there, and need no compensation.
const UNSEEN: f64 = 1e-9;

impl Target {
    /// The modes of the monolithic system, as if every step were exact.
    pub fn exact(model: &CoupledModel, rows: &Architecture) -> Vec<Self> {
        let displacements = rows.displacements.iter();
        let readouts: Vec<_> = displacements
            .map(|&(part, component)| Readout::Output(part, component))
            .collect();
        let poles = model.monolithic().into_iter();
        poles
            .filter_map(|pole| {
                let shape = model.shape(pole, &readouts)?;
                Some(Self { pole, shape })
            })
            .collect()
    }

    /// The modes of a monolithic simulation as it is integrated. Its outputs bear the names of the
    /// parts' ports.
    pub fn of_monolithic(
        monolithic: &mut Simulation,
        names: &[String],
    ) -> Result<Vec<Self>, AnalysisError> {
        let place = |name: &String| monolithic.columns().iter().position(|c| c.name == *name);
        let places: Option<Vec<usize>> = names.iter().map(place).collect();
        let Some(places) = places else {
            return Ok(Vec::new());
        };
        let observe = |monolithic: &Simulation| {
            let outputs = monolithic.outputs(oldham_cosim::SubsystemId(0));
            places.iter().map(|&place| outputs[place]).collect()
        };
        let (recurrence, seen) = probe_with(monolithic, observe)?;
        let values = eigenvalues(recurrence.matrix()).ok_or(AnalysisError::NoEigenvalues)?;
        let upper = values
            .into_iter()
            .filter(|z| z.im >= 0.0 && z.norm() > UNSEEN);
        let mut targets: Vec<_> = upper
            .filter_map(|z| shape_of(recurrence.matrix(), &seen, z, recurrence.duration()))
            .collect();
        targets.sort_by(|a, b| a.pole.norm().total_cmp(&b.pole.norm()));
        Ok(targets)
    }
}

fn shape_of(
    matrix: &DMatrix<f64>,
    seen: &DMatrix<f64>,
    z: Complex<f64>,
    duration: f64,
) -> Option<Target> {
    let size = matrix.nrows();
    let shifted = matrix.map(Complex::from) - DMatrix::identity(size, size) * z;
    if !shifted.iter().all(|value| value.norm().is_finite()) {
        return None;
    }
    let directions = shifted.svd(false, true).v_t?;
    let state = directions.row(size.checked_sub(1)?).adjoint();
    let moved = seen.map(Complex::from) * &state;
    let largest = moved
        .iter()
        .copied()
        .max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    (largest.norm() > UNSEEN * state.norm()).then(|| Target {
        pole: z.ln() / duration,
        shape: moved.iter().map(|value| value / largest).collect(),
    })
}
