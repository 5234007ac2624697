//! Why a step was not found: as a plain value, since it may be taken again in shorter pieces, and
//! in words once there is no hope.

use crate::assembly::EvaluationPoint;
use crate::error::SolveError;
use crate::system::System;

/// Why the iteration of a step ended without a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The corrections did not become small.
    NotConverged {
        iterations: usize,
        /// The last two, as lengths; NaN where there are none.
        corrections: [f64; 2],
        /// The unknown with the largest.
        worst: usize,
    },
    /// The matrix has no inverse.
    Singular {
        /// The unknown at whose turn it showed.
        unknown: usize,
    },
    /// A beam element passes half a turn between its nodes.
    Folded {
        /// Its place.
        element: usize,
    },
    /// An element gives forces that are not finite.
    NotFinite {
        /// Its place.
        element: usize,
    },
}

impl System {
    /// The failure in words.
    pub(crate) fn explain(&self, time: f64, failure: Failure) -> SolveError {
        if let Some((element, angle)) = self.folded_most() {
            return self.folded(time, element, angle);
        }
        match failure {
            Failure::NotConverged {
                iterations,
                corrections,
                worst,
            } => SolveError::NotConverged {
                time,
                iterations,
                corrections: corrections.into_iter().filter(|c| !c.is_nan()).collect(),
                worst: self.assembly.name_of(worst).to_owned(),
                pieces: 1,
                feedback: self.assembly.driven_by_sensors(),
            },
            Failure::Singular { unknown } => self.singular(time, unknown),
            Failure::Folded { element } => self.folded(time, element, self.bend(element)),
            Failure::NotFinite { element } => SolveError::NotFinite {
                time,
                element: self.assembly.elements[element].name.clone(),
                feedback: self.assembly.driven_by_sensors(),
            },
        }
    }

    fn folded(&self, time: f64, element: usize, angle: f64) -> SolveError {
        SolveError::Folded {
            time,
            element: self.assembly.elements[element].name.clone(),
            degrees: angle.to_degrees(),
            pieces: 1,
        }
    }

    pub(crate) fn singular(&self, time: f64, unknown: usize) -> SolveError {
        SolveError::Singular {
            time,
            unknown: self.assembly.name_of(unknown).to_owned(),
            pieces: 1,
        }
    }

    /// The first element of the trial state whose forces are not finite.
    pub(crate) fn find_not_finite(&self, time: f64, inputs: &[f64]) -> Option<Failure> {
        let at = EvaluationPoint {
            time,
            input_time: time,
            ..self.evaluation_point(inputs)
        };
        let element = self.assembly.not_finite(&at)?;
        Some(Failure::NotFinite { element })
    }

    pub(crate) fn not_finite(&self, time: f64, inputs: &[f64]) -> Option<SolveError> {
        let failure = self.find_not_finite(time, inputs)?;
        Some(self.explain(time, failure))
    }

    pub(crate) fn not_converged(
        &self,
        time: f64,
        iterations: usize,
        size: f64,
        worst: usize,
    ) -> SolveError {
        let corrections = [f64::NAN, size];
        let failure = Failure::NotConverged {
            iterations,
            corrections,
            worst,
        };
        self.explain(time, failure)
    }
}
