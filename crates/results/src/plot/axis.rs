//! The range that an axis covers, and where values lie in it.

use super::figure::Scale;

/// Below this share of the values' size a range is rounding noise, not variation.
const NOISE: f64 = 1e-12;
/// Smaller and larger numbers leave no room to calculate; nothing that is plotted on purpose is
/// of that size.
const TINY: f64 = 1e-290;
const HUGE: f64 = 1e300;

/// A range of values, never empty, on a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Axis {
    /// The range of all values that can be drawn, widened by a share of itself on both sides.
    pub(super) fn covering(values: impl Iterator<Item = f64>, scale: Scale, padding: f64) -> Self {
        let (low, high) = values
            .filter(|&value| is_drawable(scale, value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return Self::empty(scale);
        }
        Self::between(scale, low, high).padded(padding)
    }

    /// A given range; falls back to the range of an empty axis if it cannot be drawn.
    pub(super) fn limited(low: f64, high: f64, scale: Scale) -> Self {
        if !is_drawable(scale, low) || !is_drawable(scale, high) {
            return Self::empty(scale);
        }
        Self::between(scale, low.min(high), low.max(high))
    }

    fn empty(scale: Scale) -> Self {
        match scale {
            Scale::Linear => Self {
                scale,
                low: 0.0,
                high: 1.0,
            },
            Scale::Log => Self {
                scale,
                low: 1.0,
                high: 10.0,
            },
        }
    }

    /// A range of no extent is opened around its value.
    fn between(scale: Scale, low: f64, high: f64) -> Self {
        let size = low.abs().max(high.abs());
        let is_constant = high - low <= (NOISE * size).max(TINY);
        let (low, high) = match scale {
            _ if !is_constant => (low, high),
            Scale::Linear if size < TINY => (-1.0, 1.0),
            Scale::Linear => (low - 0.05 * size, high + 0.05 * size),
            Scale::Log => (low / 3.0, high * 3.0),
        };
        Self { scale, low, high }
    }

    /// The length of a linear axis.
    pub(super) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// The same about its middle, with at least this length.
    pub(super) fn widened(self, span: f64) -> Self {
        let more = 0.5 * (span - self.span()).max(0.0);
        Self {
            low: self.low - more,
            high: self.high + more,
            ..self
        }
    }

    fn padded(self, share: f64) -> Self {
        let Self { scale, low, high } = self;
        let (low, high) = match scale {
            Scale::Linear => {
                let margin = share * (high - low);
                (low - margin, high + margin)
            }
            Scale::Log => {
                // In logarithms: the ratio itself may be too large a number.
                let ratio = (share * (high.ln() - low.ln())).exp();
                (
                    (low / ratio).max(f64::MIN_POSITIVE),
                    (high * ratio).min(f64::MAX),
                )
            }
        };
        Self { scale, low, high }
    }

    /// Zero at the low end, one at the high end, beyond these outside; `None` leaves a gap.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        if !is_drawable(self.scale, value) {
            return None;
        }
        let [value, low, high] = [value, self.low, self.high].map(|value| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        });
        Some((value - low) / (high - low))
    }

    pub(super) fn contains(&self, value: f64) -> bool {
        // Less than can be seen, more than rounding.
        let slack = 1e-6;
        self.position(value)
            .is_some_and(|position| (-slack..=1.0 + slack).contains(&position))
    }
}

fn is_drawable(scale: Scale, value: f64) -> bool {
    value.abs() <= HUGE && (scale == Scale::Linear || value >= TINY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(values: &[f64]) -> Axis {
        Axis::covering(values.iter().copied(), Scale::Linear, 0.05)
    }

    #[test]
    fn values_lie_in_proportion() {
        let axis = Axis::limited(2.0, 6.0, Scale::Linear);
        assert_eq!(axis.position(3.0), Some(0.25));
        let axis = Axis::limited(1.0, 10_000.0, Scale::Log);
        assert!((axis.position(10.0).unwrap() - 0.25).abs() < 1e-15);
        assert_eq!(axis.position(-1.0), None);
        assert_eq!(axis.position(f64::NAN), None);
    }

    #[test]
    fn padding_is_a_share_of_the_range() {
        let axis = linear(&[0.0, f64::NAN, 10.0, f64::INFINITY]);
        assert_eq!((axis.low, axis.high), (-0.5, 10.5));
        let axis = Axis::covering([1.0, -5.0, 1e4].into_iter(), Scale::Log, 0.25);
        assert!((axis.low - 0.1).abs() < 1e-12);
        assert!((axis.high / 1e5 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn any_values_give_a_range_with_extent() {
        let awkward = [
            0.0,
            1.0,
            -7.0,
            1e-320,
            1e-300,
            1e300,
            f64::MAX,
            f64::MIN,
            f64::NAN,
            1.0 + 1e-15,
        ];
        for scale in [Scale::Linear, Scale::Log] {
            for first in awkward {
                for second in awkward {
                    let axis = Axis::covering([first, second].into_iter(), scale, 0.05);
                    assert!(axis.low < axis.high, "{first} {second} {axis:?}");
                    assert!(axis.low.is_finite() && axis.high.is_finite());
                    let middle = match scale {
                        Scale::Linear => axis.low / 2.0 + axis.high / 2.0,
                        Scale::Log => axis.low.sqrt() * axis.high.sqrt(),
                    };
                    let share = axis.position(middle).unwrap();
                    assert!((share - 0.5).abs() < 1e-3, "{axis:?} {share}");
                }
            }
        }
    }
}
