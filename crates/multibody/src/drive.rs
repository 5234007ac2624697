//! Drives: numbers that are given functions of time, or of the inputs.

use crate::element::{At, interval};
use crate::sensor::Measured;
use std::f64::consts::{PI, TAU};
use std::fmt;
use std::sync::Arc;

/// A given number.
#[derive(Clone)]
pub enum Drive {
    /// Always the same.
    Constant(f64),
    /// `from` until `start`, then a straight line to `to` at `end`.
    Ramp {
        /// Time at which it leaves `from`.
        start: f64,
        /// Time at which it reaches `to`.
        end: f64,
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
    },
    /// As a ramp, along half a period of a cosine.
    SmoothStep {
        /// Time at which it leaves `from`.
        start: f64,
        /// Time at which it reaches `to`.
        end: f64,
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
    },
    /// mean + amplitude sin(ω t + phase).
    Sine {
        /// Mean value.
        mean: f64,
        /// Amplitude.
        amplitude: f64,
        /// Angular frequency.
        omega: f64,
        /// Phase at time zero.
        phase: f64,
    },
    /// A sine whose frequency (in hertz) grows linearly in time.
    Chirp {
        /// Amplitude.
        amplitude: f64,
        /// Frequency at time zero.
        frequency: f64,
        /// Growth of the frequency per second.
        rate: f64,
    },
    /// Straight lines between points, constant beyond.
    Table(Arc<[(f64, f64)]>),
    /// Any function of time.
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
    /// A function of time that knows its derivatives.
    Differentiable(Arc<dyn TimeFunction>),
    /// A component of the input vector.
    Input(usize),
    /// A function of time and of what sensors read.
    Measured(Measured),
}

/// A function of time that knows its derivatives, and its kinks.
pub trait TimeFunction: Send + Sync {
    /// The value, the first and the second derivative.
    fn at(&self, t: f64) -> [f64; 3];

    /// A number that changes where the function passes a kink or a jump.
    fn side(&self, _t: f64) -> u64 {
        0
    }

    /// Whether it may jump.
    fn may_jump(&self) -> bool {
        false
    }
}

impl<F: Fn(f64) -> [f64; 3] + Send + Sync> TimeFunction for F {
    fn at(&self, t: f64) -> [f64; 3] {
        self(t)
    }
}

impl Drive {
    /// Always zero.
    pub const ZERO: Self = Self::Constant(0.0);

    /// A function of time.
    pub fn function(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(f))
    }

    /// A function of time with its first and second derivative.
    pub fn differentiable(f: impl TimeFunction + 'static) -> Self {
        Self::Differentiable(Arc::new(f))
    }

    /// The value at a state.
    #[inline]
    pub fn at(&self, at: &At<'_>) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Measured(measured) => measured.value(at),
            given => given.value(at.time, at.inputs),
        }
    }

    /// A number that changes where it passes a kink or a jump.
    pub(crate) fn side(&self, at: &At<'_>) -> u64 {
        let t = at.time;
        match self {
            Self::Ramp { start, end, .. } => u64::from(t >= *start) + u64::from(t >= *end),
            Self::Table(points) => interval(points, t),
            Self::Differentiable(f) => f.side(t),
            Self::Measured(measured) => measured.side(at),
            Self::Constant(_) | Self::SmoothStep { .. } | Self::Sine { .. } => 0,
            Self::Chirp { .. } | Self::Function(_) | Self::Input(_) => 0,
        }
    }

    /// Whether it may jump, or change in a way that its derivatives do not tell.
    pub(crate) fn may_jump(&self) -> bool {
        match self {
            Self::Input(_) | Self::Measured(_) => true,
            Self::Differentiable(f) => f.may_jump(),
            Self::Table(points) => points.windows(2).any(|pair| pair[1].0 <= pair[0].0),
            Self::Constant(_) | Self::Ramp { .. } | Self::SmoothStep { .. } => false,
            Self::Sine { .. } | Self::Chirp { .. } | Self::Function(_) => false,
        }
    }

    /// First and second derivative just after time `t`. Those of a function are forward
    /// differences over a few times `step`; an input is constant between communication points.
    pub fn derivatives(&self, t: f64, step: f64) -> [f64; 2] {
        match self {
            Self::Constant(_) | Self::Input(_) => [0.0; 2],
            Self::Ramp {
                start,
                end,
                from,
                to,
            } => match *start <= t && t < *end {
                true => [(to - from) / (end - start), 0.0],
                false => [0.0; 2],
            },
            Self::SmoothStep {
                start,
                end,
                from,
                to,
            } => {
                if t < *start || t >= *end {
                    return [0.0; 2];
                }
                let rate = PI / (end - start);
                let (sin, cos) = (rate * (t - start)).sin_cos();
                let half = 0.5 * (to - from) * rate;
                [half * sin, half * rate * cos]
            }
            Self::Sine {
                amplitude,
                omega,
                phase,
                ..
            } => {
                let (sin, cos) = (omega * t + phase).sin_cos();
                [amplitude * omega * cos, -amplitude * omega * omega * sin]
            }
            Self::Chirp {
                amplitude,
                frequency,
                rate,
            } => {
                let (sin, cos) = (TAU * t * (frequency + 0.5 * rate * t)).sin_cos();
                let omega = TAU * (frequency + rate * t);
                let growth = TAU * rate * cos - omega * omega * sin;
                [amplitude * omega * cos, amplitude * growth]
            }
            Self::Table(points) => [slope_after(points, t), 0.0],
            Self::Function(f) => {
                let mut sums = [0.0; 2];
                for (i, weights) in FORWARD.iter().enumerate() {
                    let value = f(t + i as f64 * step);
                    sums[0] += weights[0] * value;
                    sums[1] += weights[1] * value;
                }
                [sums[0] / step, sums[1] / (step * step)]
            }
            Self::Differentiable(f) => {
                let [_, first, second] = f.at(t);
                [first, second]
            }
            Self::Measured(_) => [f64::NAN; 2],
        }
    }

    /// The rate, where it is a function of time; zero where it follows an input or a sensor.
    pub(crate) fn rate(&self, t: f64) -> f64 {
        /// Of differences, in seconds.
        const STEP: f64 = 1e-4;
        match self {
            Self::Constant(_) | Self::Input(_) | Self::Measured(_) => 0.0,
            given => given.derivatives(t, STEP)[0],
        }
    }

    /// The value at time `t`; NaN for one that is measured.
    pub fn value(&self, t: f64, inputs: &[f64]) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Ramp {
                start,
                end,
                from,
                to,
            } => from + (to - from) * progress(t, *start, *end),
            Self::SmoothStep {
                start,
                end,
                from,
                to,
            } => from + (to - from) * 0.5 * (1.0 - (PI * progress(t, *start, *end)).cos()),
            Self::Sine {
                mean,
                amplitude,
                omega,
                phase,
            } => mean + amplitude * (omega * t + phase).sin(),
            Self::Chirp {
                amplitude,
                frequency,
                rate,
            } => amplitude * (TAU * t * (frequency + 0.5 * rate * t)).sin(),
            Self::Table(points) => interpolate(points, t),
            Self::Function(f) => f(t),
            Self::Differentiable(f) => f.at(t)[0],
            Self::Input(component) => inputs[*component],
            Self::Measured(_) => f64::NAN,
        }
    }
}

impl From<f64> for Drive {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl fmt::Debug for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Ramp { .. } => f.write_str("ramp"),
            Self::SmoothStep { .. } => f.write_str("smooth step"),
            Self::Sine { .. } => f.write_str("sine"),
            Self::Chirp { .. } => f.write_str("chirp"),
            Self::Table(points) => write!(f, "table of {} points", points.len()),
            Self::Function(_) | Self::Differentiable(_) => f.write_str("function"),
            Self::Input(component) => write!(f, "input {component}"),
            Self::Measured(measured) => measured.fmt(f),
        }
    }
}

/// Weights of f(0), f(ε), … f(5 ε) in the first and second derivative at 0, of fifth and fourth
/// order: forward differences, since a drive may begin there.
pub(crate) const FORWARD: [[f64; 2]; 6] = [
    [-137.0 / 60.0, 15.0 / 4.0],
    [5.0, -77.0 / 6.0],
    [-5.0, 107.0 / 6.0],
    [10.0 / 3.0, -13.0],
    [-5.0 / 4.0, 61.0 / 12.0],
    [1.0 / 5.0, -5.0 / 6.0],
];

/// Slope of a table just after `t`.
fn slope_after(points: &[(f64, f64)], t: f64) -> f64 {
    let after = points.partition_point(|&(x, _)| x <= t);
    match (after.checked_sub(1), points.get(after)) {
        (Some(before), Some(&(x1, y1))) => {
            let (x0, y0) = points[before];
            (y1 - y0) / (x1 - x0)
        }
        _ => 0.0,
    }
}

fn progress(t: f64, start: f64, end: f64) -> f64 {
    if t >= end {
        return 1.0;
    }
    ((t - start) / (end - start)).max(0.0)
}

pub(crate) fn interpolate(points: &[(f64, f64)], t: f64) -> f64 {
    let after = points.partition_point(|&(x, _)| x <= t);
    if after == 0 {
        return points[0].1;
    }
    let (x0, y0) = points[after - 1];
    let Some(&(x1, y1)) = points.get(after) else {
        return y0;
    };
    y0 + (y1 - y0) * (t - x0) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_and_steps_begin_and_end_where_they_should() {
        let (start, end, from, to) = (1.0, 3.0, 2.0, 6.0);
        let ramp = Drive::Ramp {
            start,
            end,
            from,
            to,
        };
        let step = Drive::SmoothStep {
            start,
            end,
            from,
            to,
        };
        for (t, expected) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (9.0, 6.0)] {
            assert!((ramp.value(t, &[]) - expected).abs() < 1e-12);
            assert!((step.value(t, &[]) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_table_is_constant_beyond_its_ends() {
        let table = Drive::Table(Arc::new([(0.0, 1.0), (1.0, 3.0), (2.0, 0.0)]));
        for (t, expected) in [(-1.0, 1.0), (0.5, 2.0), (1.0, 3.0), (1.5, 1.5), (5.0, 0.0)] {
            assert_eq!(table.value(t, &[]), expected);
        }
    }

    #[test]
    fn a_chirp_sweeps_its_frequency() {
        let chirp = Drive::Chirp {
            amplitude: 2.0,
            frequency: 1.0,
            rate: 2.0,
        };
        // Phase = 2π (t + t²): 1.5 turns at t = (√7 - 1)/2.
        let t = (7.0_f64.sqrt() - 1.0) / 2.0;
        assert!(chirp.value(t, &[]).abs() < 1e-12);
        assert_eq!(Drive::Input(1).value(0.0, &[4.0, 5.0]), 5.0);
    }
}
