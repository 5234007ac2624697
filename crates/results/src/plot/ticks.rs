//! Where an axis is marked: steps of 1, 2 or 5 times a power of ten, or decades.

use super::axis::Axis;
use super::figure::Scale;
use super::label::Label;

/// Sizes between these powers of ten are written out; others share a power at the axis.
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -2..=4;

/// A labelled value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Label,
}

/// The marks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    /// With label and grid line.
    pub(super) major: Vec<Tick>,
    /// Without.
    pub(super) minor: Vec<f64>,
    /// Power of ten that all labels are to be multiplied by, if it is not zero.
    pub(super) power: i32,
}

impl Ticks {
    /// About `most` labelled ticks, never many more.
    pub(super) fn of(axis: &Axis, most: usize) -> Self {
        let most = most.max(1);
        match axis.scale {
            Scale::Linear => linear(axis, most),
            Scale::Log => logarithmic(axis, most),
        }
    }
}

fn linear(axis: &Axis, most: usize) -> Ticks {
    let (mantissa, exponent) = step(axis, most);
    let size = mantissa * power_of_ten(exponent);
    let power = common_power(axis);
    let decimals = (power - exponent).max(0) as usize;
    let first = (axis.low / size).floor() as i64;
    let last = (axis.high / size).ceil() as i64;
    let tick = |index: i64| {
        let value = index as f64 * size;
        Tick {
            value,
            label: Label::decimal(value / power_of_ten(power), decimals),
        }
    };
    Ticks {
        major: (first..=last)
            .map(tick)
            .filter(|tick| axis.contains(tick.value))
            .collect(),
        minor: Vec::new(),
        power,
    }
}

/// Mantissa and exponent of the smallest step that gives at most `most` intervals.
fn step(axis: &Axis, most: usize) -> (f64, i32) {
    let raw = (axis.high - axis.low) / most as f64;
    let exponent = raw.log10().floor() as i32;
    let leading = raw / power_of_ten(exponent);
    match leading {
        // A little slack: the division may round up.
        _ if leading <= 1.0 + 1e-9 => (1.0, exponent),
        _ if leading <= 2.0 + 1e-9 => (2.0, exponent),
        _ if leading <= 5.0 + 1e-9 => (5.0, exponent),
        _ => (1.0, exponent + 1),
    }
}

fn common_power(axis: &Axis) -> i32 {
    let exponent = axis.low.abs().max(axis.high.abs()).log10().floor() as i32;
    if PLAIN_EXPONENTS.contains(&exponent) {
        0
    } else {
        3 * exponent.div_euclid(3)
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    10_f64.powi(exponent)
}

fn logarithmic(axis: &Axis, most: usize) -> Ticks {
    let first = axis.low.log10().floor() as i32;
    let last = axis.high.log10().ceil() as i32;
    let decades: Vec<i32> = (first..=last)
        .filter(|&exponent| axis.contains(power_of_ten(exponent)))
        .collect();
    if decades.len() >= 2 {
        return by_decades(axis, &decades, most);
    }
    let ticks = by_mantissas(axis, first..=last);
    if (2..=most.max(4)).contains(&ticks.major.len()) {
        ticks
    } else {
        linear(axis, most)
    }
}

fn by_decades(axis: &Axis, decades: &[i32], most: usize) -> Ticks {
    let stride = decades.len().div_ceil(most) as i32;
    let major = decades
        .iter()
        .filter(|&exponent| exponent % stride == 0)
        .map(|&exponent| Tick {
            value: power_of_ten(exponent),
            label: Label::power("", exponent),
        })
        .collect();
    let minor = if stride == 1 {
        mantissas_between(axis, decades)
    } else {
        decades.iter().copied().map(power_of_ten).collect()
    };
    Ticks {
        major,
        minor,
        power: 0,
    }
}

/// Two to nine times each decade, also below the first one.
fn mantissas_between(axis: &Axis, decades: &[i32]) -> Vec<f64> {
    let first = decades[0] - 1;
    let last = decades[decades.len() - 1];
    (first..=last)
        .flat_map(|exponent| (2..10).map(move |m| f64::from(m) * power_of_ten(exponent)))
        .filter(|&value| axis.contains(value))
        .collect()
}

/// One, two and five times each power of ten, for axes of little more than a decade.
fn by_mantissas(axis: &Axis, exponents: std::ops::RangeInclusive<i32>) -> Ticks {
    let tick = |(exponent, mantissa): (i32, f64)| Tick {
        value: mantissa * power_of_ten(exponent),
        label: if PLAIN_EXPONENTS.contains(&exponent) {
            let decimals = (-exponent).max(0) as usize;
            Label::decimal(mantissa * power_of_ten(exponent), decimals)
        } else {
            Label::power(&format!("{mantissa}\u{d7}"), exponent)
        },
    };
    let major: Vec<_> = exponents
        .flat_map(|exponent| [1.0, 2.0, 5.0].map(|mantissa| (exponent, mantissa)))
        .map(tick)
        .filter(|tick| axis.contains(tick.value))
        .collect();
    Ticks {
        major,
        minor: Vec::new(),
        power: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, scale: Scale, most: usize) -> Vec<String> {
        let ticks = Ticks::of(&Axis::limited(low, high, scale), most);
        let text = |tick: &Tick| {
            let exponent = tick.label.exponent.as_ref();
            let exponent = exponent.map(|exponent| format!("^{exponent}"));
            tick.label.text.clone() + &exponent.unwrap_or_default()
        };
        ticks.major.iter().map(text).collect()
    }

    #[test]
    fn steps_are_one_two_or_five_and_labels_are_round() {
        let texts = |low, high, most| texts(low, high, Scale::Linear, most);
        assert_eq!(
            texts(0.0, 0.5, 5),
            ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(
            texts(-1.1, 1.1, 5),
            ["\u{2212}1.0", "\u{2212}0.5", "0.0", "0.5", "1.0"]
        );
        assert_eq!(texts(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
    }

    #[test]
    fn large_and_small_numbers_share_a_power() {
        let ticks = Ticks::of(&Axis::limited(0.0, 2.4e7, Scale::Linear), 3);
        assert_eq!(ticks.power, 6);
        assert_eq!(texts(0.0, 2.4e7, Scale::Linear, 3), ["0", "10", "20"]);
        let ticks = Ticks::of(&Axis::limited(0.0, 3e-7, Scale::Linear), 3);
        assert_eq!(ticks.power, -9);
        assert_eq!(
            texts(0.0, 3e-7, Scale::Linear, 3),
            ["0", "100", "200", "300"]
        );
    }

    #[test]
    fn a_small_range_far_from_zero_keeps_its_digits() {
        let texts = texts(1e6, 1e6 + 0.004, Scale::Linear, 2);
        assert_eq!(texts, ["1.000000000", "1.000000002", "1.000000004"]);
    }

    #[test]
    fn log_axes_have_decades_thinned_out() {
        let texts = |low, high, most| texts(low, high, Scale::Log, most);
        assert_eq!(
            texts(1e-4, 1e-1, 6),
            [
                "10^\u{2212}4",
                "10^\u{2212}3",
                "10^\u{2212}2",
                "10^\u{2212}1"
            ]
        );
        assert_eq!(
            texts(1e-9, 1.0, 4),
            ["10^\u{2212}9", "10^\u{2212}6", "10^\u{2212}3", "10^0"]
        );
        assert_eq!(texts(1.5, 12.0, 5), ["2", "5", "10"]);
        assert_eq!(texts(0.02, 0.11, 5), ["0.02", "0.05", "0.1"]);
        assert_eq!(
            texts(3.0, 4.0, 5),
            ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]
        );
        let minor = Ticks::of(&Axis::limited(1.0, 100.0, Scale::Log), 5).minor;
        assert_eq!(minor.len(), 16);
    }

    #[test]
    fn ticks_stay_few_on_any_axis() {
        let sizes = [1e-300, 1e-12, 0.3, 1.0, 7.0, 1e15, 1e300, f64::MAX];
        for scale in [Scale::Linear, Scale::Log] {
            for low in sizes {
                for high in sizes {
                    let axis = Axis::limited(low, high, scale);
                    for most in 1..10 {
                        let ticks = Ticks::of(&axis, most);
                        assert!(ticks.major.len() <= most.max(4) + 1, "{axis:?} {most}");
                        assert!(ticks.major.iter().all(|tick| axis.contains(tick.value)));
                    }
                }
            }
        }
    }
}
