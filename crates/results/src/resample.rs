//! Brings a signal to the times of another, so that results with different steps compare.

use std::cmp::Ordering;

/// Why a signal could not be resampled.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ResampleError {
    /// The signal has no samples.
    #[error("there are no samples to interpolate")]
    Empty,
    /// Times and values differ in number.
    #[error("{times} times do not go with {values} values")]
    UnequalLengths {
        /// Number of times.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// Times go back, or are NaN.
    #[error("the times do not increase after sample {index}")]
    NotIncreasing {
        /// Position of the sample before the offending one.
        index: usize,
    },
    /// A time lies outside the signal; nothing is extrapolated.
    #[error("time {time} lies outside the samples, which go from {first} to {last}")]
    Outside {
        /// The time asked for.
        time: f64,
        /// First sample.
        first: f64,
        /// Last sample.
        last: f64,
    },
}

/// Values at the times `at`, linearly between the samples. If the grids coincide, the values come
/// back unchanged.
///
/// Two samples may share a time (a jump): on another grid, the later one holds there.
pub fn resample(times: &[f64], values: &[f64], at: &[f64]) -> Result<Vec<f64>, ResampleError> {
    check(times, values)?;
    if at == times {
        return Ok(values.to_vec());
    }
    let first = times[0];
    let last = times[times.len() - 1];
    at.iter()
        .map(|&time| {
            if time >= first && time <= last {
                Ok(value_at(times, values, time))
            } else {
                Err(ResampleError::Outside { time, first, last })
            }
        })
        .collect()
}

fn check(times: &[f64], values: &[f64]) -> Result<(), ResampleError> {
    if times.len() != values.len() {
        return Err(ResampleError::UnequalLengths {
            times: times.len(),
            values: values.len(),
        });
    }
    if times.is_empty() {
        return Err(ResampleError::Empty);
    }
    let disorder = times.windows(2).position(|pair| {
        // A time that is NaN compares with nothing.
        !pair[0].partial_cmp(&pair[1]).is_some_and(Ordering::is_le)
    });
    match disorder {
        Some(index) => Err(ResampleError::NotIncreasing { index }),
        None => Ok(()),
    }
}

/// `time` lies between the first and the last sample.
fn value_at(times: &[f64], values: &[f64], time: f64) -> f64 {
    let left = times.partition_point(|&sample| sample <= time) - 1;
    if times[left] == time || left + 1 == times.len() {
        return values[left];
    }
    let share = (time - times[left]) / (times[left + 1] - times[left]);
    values[left] + share * (values[left + 1] - values[left])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coinciding_grid_gives_the_samples_back() {
        let times: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i)).collect();
        let values: Vec<f64> = times.iter().map(|t| t.sin() / 3.0).collect();
        assert_eq!(resample(&times, &values, &times).unwrap(), values);
    }

    #[test]
    fn a_gap_does_not_spread_to_its_neighbours() {
        let values = [1.0, f64::NAN, 3.0];
        let back = resample(&[0.0, 1.0, 2.0], &values, &[0.0, 2.0]).unwrap();
        assert_eq!(back, [1.0, 3.0]);
    }

    #[test]
    fn a_line_is_interpolated_exactly() {
        let back = resample(&[0.0, 2.0, 3.0], &[1.0, 5.0, 7.0], &[0.5, 1.0, 2.5]);
        assert_eq!(back.unwrap(), [2.0, 3.0, 6.0]);
    }

    #[test]
    fn the_error_falls_with_the_square_of_the_step() {
        let error = |count: u32| {
            let step = 1.0 / f64::from(count);
            let times: Vec<f64> = (0..=count).map(|i| step * f64::from(i)).collect();
            let values: Vec<f64> = times.iter().map(|t| t.exp()).collect();
            let middles: Vec<f64> = times[1..].iter().map(|t| t - step / 2.0).collect();
            let found = resample(&times, &values, &middles).unwrap();
            let errors = found.iter().zip(&middles).map(|(x, t)| (x - t.exp()).abs());
            errors.fold(0.0, f64::max)
        };
        let ratio = error(50) / error(100);
        assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn a_jump_takes_the_later_value() {
        let back = resample(&[0.0, 1.0, 1.0, 2.0], &[0.0, 0.0, 5.0, 5.0], &[1.0, 1.5]);
        assert_eq!(back.unwrap(), [5.0, 5.0]);
    }

    #[test]
    fn a_coinciding_grid_keeps_both_sides_of_a_jump() {
        let times = [0.0, 1.0, 1.0];
        assert_eq!(
            resample(&times, &[0.0, 1.0, 2.0], &times).unwrap(),
            [0.0, 1.0, 2.0]
        );
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(resample(&[], &[], &[0.0]), Err(ResampleError::Empty));
        let unequal = ResampleError::UnequalLengths {
            times: 1,
            values: 0,
        };
        assert_eq!(resample(&[0.0], &[], &[]), Err(unequal));
        let disorder = Err(ResampleError::NotIncreasing { index: 0 });
        assert_eq!(resample(&[1.0, 0.0], &[0.0; 2], &[]), disorder);
        assert_eq!(resample(&[0.0, f64::NAN], &[0.0; 2], &[]), disorder);
        let outside = |time| ResampleError::Outside {
            time,
            first: 0.0,
            last: 1.0,
        };
        let ask = |time| resample(&[0.0, 1.0], &[0.0; 2], &[time]);
        assert_eq!(ask(1.5), Err(outside(1.5)));
        assert!(ask(f64::NAN).is_err());
        assert_eq!(resample(&[2.0], &[7.0], &[2.0]).unwrap(), [7.0]);
    }
}
