//! The linear model of recorded responses, for studies that record them by themselves.

use nalgebra::DMatrix;

use super::realisation::{Fineness, Record};

/// How the model is made.
const FINENESS: Fineness = Fineness {
    delays: 28,
    above_noise: 3.0,
};

/// A discrete linear model: x⁺ = A x + B u, y = C x + D u, where y stands behind the step in which u acts.
#[derive(Clone, Debug)]
pub struct Realised {
    /// States by states.
    pub a: DMatrix<f64>,
    /// States by inputs.
    pub b: DMatrix<f64>,
    /// Outputs by states.
    pub c: DMatrix<f64>,
    /// Outputs by inputs.
    pub d: DMatrix<f64>,
    /// What it misses of the responses, as a multiple of what it may.
    pub misfit: f64,
}

/// The model of responses to impulses, from the step of the impulse on, and of their errors; nothing if there are too few
/// responses, or if they have no decomposition.
pub fn realise(responses: Vec<DMatrix<f64>>, errors: Vec<DMatrix<f64>>) -> Option<Realised> {
    /// Below this no slow mode shows.
    const FEWEST: usize = 8;
    if responses.len() < FEWEST || errors.len() != responses.len() {
        return None;
    }
    let record = Record { responses, errors };
    let model = record.realise(FINENESS)?;
    let misfit = record.misfit(&model);
    Some(Realised {
        a: model.a,
        b: model.b,
        c: model.c,
        d: model.d,
        misfit,
    })
}
