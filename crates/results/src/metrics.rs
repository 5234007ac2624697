//! How far a result is from a reference, in the measures that the literature uses.
//!
//! Each takes samples at the same times; [`crate::resample()`] brings them there.
//!
//! - Tamellin et al. (2022): [`nrms`]
//! - Pikuliński et al.: [`nmse`]
//! - Zhang et al.: [`l1`]
//! - Peiret et al.: [`rms`]

/// Why two signals cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// No samples, or no signals.
    #[error("there is nothing to compare")]
    Empty,
    /// Different numbers of samples, or of signals.
    #[error("{values} values cannot be compared with {reference} reference values")]
    UnequalLengths {
        /// Samples (or signals) of the result.
        values: usize,
        /// Samples (or signals) of the reference.
        reference: usize,
    },
    /// The measure divides by the reference's variation, or by its size, which is zero.
    #[error("the reference does not vary, so an error relative to it is not defined")]
    ConstantReference,
}

/// Normalised root mean square error, Tamellin et al. (2022), Eq. 42:
///
/// sqrt(Σ (x − x_ref)² / T) / (max x_ref − min x_ref), with T the number of samples.
///
/// A reference that is conserved varies by rounding only: it counts as one that does not vary, see [`of_size`].
pub fn nrms(values: &[f64], reference: &[f64]) -> Result<f64, MetricError> {
    let error = rms(values, reference)?;
    let greatest = reference.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = reference.iter().copied().fold(f64::INFINITY, f64::min);
    relative(error, variation(least, greatest))
}

/// How far a signal between these values varies; not at all if that is rounding.
pub fn variation(least: f64, greatest: f64) -> f64 {
    /// Of the size of a signal; long sums of roundings stay below.
    const ROUNDING: f64 = 1e-9;
    let range = greatest - least;
    match range > ROUNDING * greatest.abs().max(least.abs()) {
        true => range,
        false => 0.0,
    }
}

/// Root mean square error relative to the root mean square of the reference: for quantities that are conserved, whose range
/// says nothing.
pub fn of_size(values: &[f64], reference: &[f64]) -> Result<f64, MetricError> {
    let error = rms(values, reference)?;
    let squares: f64 = reference.iter().map(|x| x * x).sum();
    relative(error, (squares / reference.len() as f64).sqrt())
}

/// Normalised mean square error over several signals, Pikuliński et al., Eq. 21:
///
/// 1/s · Σ_i Σ_j ε_ij² / σ_i², with s signals of l samples each.
///
/// σ_i is the standard deviation of the i-th reference signal over all its samples (divided by
/// l). The printed equation has σ_j, a misprint: j counts the samples, and a single sample has no
/// deviation. As printed, the sum over the samples is not divided by their number.
pub fn nmse(values: &[&[f64]], reference: &[&[f64]]) -> Result<f64, MetricError> {
    check_lengths(values.len(), reference.len())?;
    let mut sum = 0.0;
    for (signal, reference) in values.iter().zip(reference) {
        let squares = sum_of_squares(signal, reference)?;
        sum += relative(squares, variance(reference))?;
    }
    Ok(sum / values.len() as f64)
}

/// Relative error in the L1 norm, Zhang et al., Eq. 47: Σ |x − x_ref| / Σ |x_ref|.
pub fn l1(values: &[f64], reference: &[f64]) -> Result<f64, MetricError> {
    check_lengths(values.len(), reference.len())?;
    let error: f64 = differences(values, reference).map(f64::abs).sum();
    relative(error, reference.iter().copied().map(f64::abs).sum())
}

/// Root mean square error, Peiret et al., Eq. 55: sqrt(1/N Σ (x − x_ref)²).
pub fn rms(values: &[f64], reference: &[f64]) -> Result<f64, MetricError> {
    let squares = sum_of_squares(values, reference)?;
    Ok((squares / values.len() as f64).sqrt())
}

fn check_lengths(values: usize, reference: usize) -> Result<(), MetricError> {
    if values != reference {
        return Err(MetricError::UnequalLengths { values, reference });
    }
    if values == 0 {
        return Err(MetricError::Empty);
    }
    Ok(())
}

fn differences(values: &[f64], reference: &[f64]) -> impl Iterator<Item = f64> {
    values.iter().zip(reference).map(|(x, x_ref)| x - x_ref)
}

fn sum_of_squares(values: &[f64], reference: &[f64]) -> Result<f64, MetricError> {
    check_lengths(values.len(), reference.len())?;
    Ok(differences(values, reference)
        .map(|error| error * error)
        .sum())
}

fn variance(samples: &[f64]) -> f64 {
    // The mean of equal samples may differ from them by rounding, which would pass for variation.
    if samples.iter().all(|&sample| sample == samples[0]) {
        return 0.0;
    }
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count
}

fn relative(error: f64, scale: f64) -> Result<f64, MetricError> {
    if scale == 0.0 {
        return Err(MetricError::ConstantReference);
    }
    Ok(error / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: [f64; 4] = [0.0, 2.0, 4.0, 2.0];
    const VALUES: [f64; 4] = [1.0, 2.0, 2.0, 0.0];

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-15
    }

    #[test]
    fn root_mean_squares_by_hand() {
        // Errors 1, 0, -2, -2: squares sum to 9, over 4 samples; the range is 4.
        assert!(close(rms(&VALUES, &REFERENCE).unwrap(), 1.5));
        assert!(close(nrms(&VALUES, &REFERENCE).unwrap(), 0.375));
    }

    /// An energy that only rounding moves: its range is no measure of it.
    #[test]
    fn errors_of_what_is_conserved_are_relative_to_its_size() {
        let conserved = [100.0, 100.0 + 2e-13, 100.0 - 1e-13, 100.0];
        let grown = [100.0, 101.0, 102.0, 103.0];
        assert_eq!(
            nrms(&grown, &conserved),
            Err(MetricError::ConstantReference)
        );
        // Errors 0, 1, 2, 3: the root of 14/4, of 100.
        let wanted = 3.5_f64.sqrt() / 100.0;
        assert!((of_size(&grown, &conserved).unwrap() - wanted).abs() < 1e-14);
        assert_eq!(
            of_size(&grown, &[0.0; 4]),
            Err(MetricError::ConstantReference)
        );
    }

    #[test]
    fn l1_by_hand() {
        // Errors sum to 5 in size, the reference to 8.
        assert!(close(l1(&VALUES, &REFERENCE).unwrap(), 0.625));
    }

    #[test]
    fn nmse_by_hand() {
        // The first reference has mean 2 and variance 2: 9/2. The second has mean 0 and
        // variance 1, with one error of 0.5: 0.25. Half the sum is 2.375.
        let second = [1.0, -1.0, 1.0, -1.0];
        let near_second = [1.0, -1.0, 1.5, -1.0];
        let value = nmse(&[&VALUES, &near_second], &[&REFERENCE, &second]).unwrap();
        assert!(close(value, 2.375));
    }

    #[test]
    fn no_error_is_zero() {
        assert_eq!(rms(&REFERENCE, &REFERENCE), Ok(0.0));
        assert_eq!(nrms(&REFERENCE, &REFERENCE), Ok(0.0));
        assert_eq!(l1(&REFERENCE, &REFERENCE), Ok(0.0));
        assert_eq!(nmse(&[&REFERENCE], &[&REFERENCE]), Ok(0.0));
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let unequal = Err(MetricError::UnequalLengths {
            values: 4,
            reference: 1,
        });
        for metric in [rms, nrms, l1] {
            assert_eq!(metric(&[], &[]), Err(MetricError::Empty));
            assert_eq!(metric(&VALUES, &[1.0]), unequal);
        }
        assert_eq!(nmse(&[], &[]), Err(MetricError::Empty));
        assert_eq!(nmse(&[&VALUES], &[&[1.0]]), unequal);
        let constant = [0.1; 4];
        let undefined = Err(MetricError::ConstantReference);
        assert_eq!(nrms(&VALUES, &constant), undefined);
        assert_eq!(nmse(&[&VALUES], &[&constant]), undefined);
        assert_eq!(l1(&VALUES, &[0.0; 4]), undefined);
        assert!(rms(&VALUES, &constant).is_ok());
    }
}
