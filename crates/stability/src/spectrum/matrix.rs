//! All modes, from the matrix of the recurrence.

use std::time::Duration;

use nalgebra::{Complex, DMatrix, DVector};
use oldham_cosim::Simulation;

use super::{EigenMode, QUICK, ROUNDING, Source, Spectrum, Way, doubt_turning};
use crate::eigen::Reduced;
use crate::examination::{AGREEMENT, Examiner, QUICK_AGREEMENT};
use crate::recurrence::{
    AnalysisError, Base, Recurrence, TimeBudget, other_recurrence, recurrence_about,
};
use crate::steady::{self, Split};
use crate::turn_and_speed::TurnAndSpeed;
use crate::turning::Turning;

/// Error of the dominant eigenvalue beyond which probes of other sizes are tried.
const SHARP: f64 = 1e-7;
/// Error beyond which an eigenvalue is looked at as one of several.
pub(crate) const VAGUE: f64 = 1e-5;
/// Distance from one within which eigenvalues may be copies of it.
const CLUSTER: f64 = 1e-2;
/// Two matrices may agree by chance.
const CAUTION: f64 = 10.0;

/// Modes of which the error is measured, and how close to the unit circle they are.
const EXAMINED: usize = 12;
const CLOSE: f64 = 1e-3;

/// What a step changes of the angle of what spins, at most, where it changes nothing.
const STEADY: f64 = 1e-6;

/// With how much care modes are looked at.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Care {
    /// The first modes are measured with changes of other sizes.
    Full,
    /// For searches that look at many simulations: only whether the dominant mode grows.
    Quick,
}

impl Care {
    fn is_quick(self) -> bool {
        self == Self::Quick
    }

    /// Modes that are examined at most.
    fn examined(self) -> usize {
        if self.is_quick() { 1 } else { EXAMINED }
    }
}

impl Spectrum {
    pub(super) fn from_matrix(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
        care: Care,
    ) -> Result<Self, AnalysisError> {
        let (recurrence, _) = recurrence_about(simulation, base.clone(), |_| Vec::new(), budget)?;
        let sizes = recurrence.sizes().to_vec();
        let found = Self::from_recurrence(simulation, recurrence, budget, care)?;
        if care.is_quick() || found.dominant_error() <= SHARP {
            return Ok(found);
        }
        // Changes of other sizes may tell more.
        let Some(recurrence) = other_recurrence(simulation, base, &sizes, budget)? else {
            return Ok(found);
        };
        let other = Self::from_recurrence(simulation, recurrence, budget, care)?;
        let is_sharper = other.dominant_error() < found.dominant_error();
        Ok(if is_sharper { other } else { found })
    }

    /// The modes of a recurrence with their errors.
    pub(super) fn from_recurrence(
        simulation: &mut Simulation,
        recurrence: Recurrence,
        budget: &TimeBudget,
        care: Care,
    ) -> Result<Self, AnalysisError> {
        let (is_quick, examined) = (care.is_quick(), care.examined());
        let without = without_angle(simulation, &recurrence);
        let matrix = without.as_ref().unwrap_or(recurrence.matrix());
        let reduced = Reduced::new(matrix).ok_or(AnalysisError::NoEigenvalues)?;
        let subspaces = reduced.subspaces();
        let values = match &subspaces {
            Some(subspaces) => Some(subspaces.values.clone()),
            None if is_quick => reduced.dominant_eigenvalues(),
            None => reduced.eigenvalues(),
        };
        let mut values = values.ok_or(AnalysisError::NoEigenvalues)?;
        let drift = match is_quick {
            true => None,
            false => set_drifts_apart(&reduced, &mut values),
        };
        values.retain(|value| value.im >= 0.0);
        let mut modes: Vec<EigenMode> = values.iter().copied().map(EigenMode::unexamined).collect();
        let mut mode = DVector::zeros(recurrence.matrix().nrows());
        // Searches ask only whether there is growth; what decays needs no error then.
        let is_wanted = |&place: &usize| match is_quick {
            true => place == 0 && values[0].norm() > 1.0,
            false => place == 0 || (place < examined && values[place].norm() > 1.0 - CLOSE),
        };
        let wanted: Vec<usize> = (0..values.len()).filter(is_wanted).collect();
        if !wanted.is_empty() {
            let (base, sizes) = (recurrence.base(), recurrence.sizes());
            let mut examiner = Examiner::new(
                simulation,
                base,
                sizes,
                &reduced,
                subspaces.as_ref(),
                budget,
            )?;
            let enough = if is_quick { QUICK_AGREEMENT } else { AGREEMENT };
            for place in wanted {
                budget.allow(Duration::ZERO)?;
                modes[place] = examiner.examine(values[place], enough)?;
                modes[place].beware_of_neighbours(place, &values);
            }
            // The others are known as well as those that were examined.
            let known = modes.iter().take(examined).map(|mode| mode.error);
            let error = known.filter(|e| e.is_finite()).fold(ROUNDING, f64::max);
            for mode in modes.iter_mut().skip(examined) {
                mode.error = error;
            }
            let along = (!is_quick).then(|| examiner.along(values[0], recurrence.matrix()));
            if let Some(along) = along.flatten() {
                mode = along;
            }
        }
        if modes.iter().any(|mode| mode.error > VAGUE) {
            compare_with_second_matrix(simulation, &recurrence, &mut modes, budget)?;
            for (place, mode) in modes.iter_mut().enumerate().take(examined) {
                mode.beware_of_neighbours(place, &values);
            }
        }
        let turning = recurrence.base().turning.as_ref();
        if drift.is_none() && turning.and_then(Turning::of_all).is_some() {
            set_speed_apart(&mut modes);
        }
        modes.extend(drift);
        modes.extend(without.is_some().then(|| steady::drift(0.0)));
        let varying = doubt_turning(&mut modes, recurrence.base().turning.as_ref());
        modes.sort_by(|a, b| {
            let order = b.is_growing().cmp(&a.is_growing());
            order.then(b.value.norm().total_cmp(&a.value.norm()))
        });
        let far = |mode: &EigenMode| mode.value.norm() + mode.error;
        let reach = modes.iter().map(far).fold(0.0, f64::max);
        recurrence.chart().base().restore(simulation);
        let duration = recurrence.duration();
        Ok(Self {
            reach,
            modes,
            way: Way::Dense,
            varying,
            duration,
            step: simulation.schedule().step,
            source: Source {
                chart: recurrence.into_chart(),
                mode: Some(mode),
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        })
    }
}

/// The matrix with zero in the place of an eigenvalue that is one, exactly: that of the angle of what spins. The speed is a link of a
/// chain beside it, which rounding would blur by its root; without the angle it stands alone. Left eigenvectors of the others are
/// orthogonal to the direction of the angle, so that they stay. (Wielandt's deflation.) Nothing where a step changes that direction.
fn without_angle(simulation: &mut Simulation, recurrence: &Recurrence) -> Option<DMatrix<f64>> {
    let base = recurrence.base();
    let turning = base.turning.as_ref()?;
    let angle = turning.of_spins(simulation, &base.chart)?;
    let led = recurrence.matrix() * &angle;
    let in_probes = |change: &DVector<f64>| {
        let both = change.iter().zip(recurrence.sizes());
        both.map(|(change, size)| change.abs() / size)
            .fold(0.0, f64::max)
    };
    let off = in_probes(&(led - &angle)) / in_probes(&angle);
    let unit = &angle / angle.norm_squared();
    (off <= STEADY).then(|| recurrence.matrix() - angle * unit.transpose())
}

/// Sets angle and speed of a rotor apart: what is linearised near a steady rotation only blurs them.
fn set_speed_apart(modes: &mut Vec<EigenMode>) {
    let values: Vec<Complex<f64>> = modes.iter().map(|mode| mode.value).collect();
    let Some(both) = TurnAndSpeed::among(&values, |_| None) else {
        return;
    };
    let errors: f64 = both.places.iter().map(|&place| modes[place].error).sum();
    let mut place = 0;
    modes.retain(|_| {
        place += 1;
        !both.places.contains(&(place - 1))
    });
    modes.push(EigenMode {
        value: Complex::from(1.0),
        error: ROUNDING,
    });
    let speed = EigenMode {
        value: both.speed,
        error: both.off + errors,
    };
    modes.extend(speed.is_growing().then_some(speed));
}

/// Errors to first order say nothing of multiple eigenvalues. How far these move is seen when the
/// matrix is made again with other sizes.
fn compare_with_second_matrix(
    simulation: &mut Simulation,
    recurrence: &Recurrence,
    modes: &mut [EigenMode],
    budget: &TimeBudget,
) -> Result<(), AnalysisError> {
    let Some(second) = recurrence.again(simulation, budget)? else {
        return Ok(());
    };
    for mode in modes.iter_mut().filter(|mode| mode.error > VAGUE) {
        let distances = second.iter().map(|value| (value - mode.value).norm());
        let moved = distances.fold(f64::INFINITY, f64::min);
        mode.error = mode.error.min(CAUTION * moved + ROUNDING);
    }
    Ok(())
}

/// Takes eigenvalues at one that belong together out of all, as one mode: copies in a chain move by the root of the
/// noise, and what is measured along one of them says nothing of that. Nothing where there are not several.
fn set_drifts_apart(reduced: &Reduced, values: &mut Vec<Complex<f64>>) -> Option<EigenMode> {
    let near = |value: &&Complex<f64>| (*value - 1.0).norm() < CLUSTER;
    if values.iter().filter(near).count() < 2 || reduced.matrix.nrows() > QUICK {
        return None;
    }
    let split = Split::of(&reduced.matrix).filter(|split| split.steady > 1)?;
    let drift = split.drift()?;
    let smallest = values.iter().map(|value| value.norm()).fold(1.0, f64::min);
    *values = split.others;
    // Where only the outer ones were wanted.
    values.retain(|value| value.norm() >= smallest);
    Some(drift)
}
