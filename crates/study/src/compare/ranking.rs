//! Which signal is furthest from the reference, on scales that noise cannot win.
//!
//! A difference is measured by the largest range that any signal of the same kind has in the
//! reference: the acceleration of a node that is held, whose own range is rounding, does not count
//! beside those of nodes that move. Where a kind as a whole is rounding, as the moments of a truss
//! are, it is told by its counterpart: moments by forces and the size of the model.

use std::collections::HashMap;

use oldham_cosim::Column;

use super::Tried;
use super::stretch::Channel;

/// What a signal is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A component of an orientation.
    Orientation,
    /// A quantity with this unit.
    Of(String),
}

impl Kind {
    /// What the signal of a column is.
    pub fn of(column: &Column) -> Self {
        let unit = column.unit.to_string();
        let component = column.name.rsplit('.').next().unwrap_or("");
        match unit == "1" && matches!(component, "q0" | "q1" | "q2" | "q3") {
            true => Self::Orientation,
            false => Self::Of(unit),
        }
    }

    /// A velocity or an acceleration: it shows less to the eye than what it is the rate of.
    pub fn is_rate(&self) -> bool {
        match self {
            Self::Orientation => false,
            Self::Of(unit) => unit.ends_with("/s") || unit.ends_with("/s2"),
        }
    }
}

/// A kind that varies less than this beside its counterpart shows nothing but rounding.
const QUIET: f64 = 1e-6;

/// Kinds that belong together, the first being the second times a length.
const COUNTERPARTS: [(&str, &str); 4] = [
    ("N.m", "N"),
    ("m", "rad"),
    ("m/s", "rad/s"),
    ("m/s2", "rad/s2"),
];

/// The error of each channel, where it has one.
pub fn errors(kinds: &[Kind], channels: &[Channel]) -> Vec<Option<f64>> {
    let mut widest: HashMap<&Kind, f64> = HashMap::new();
    let mut length = 0.0_f64;
    for (kind, channel) in kinds
        .iter()
        .zip(channels)
        .filter(|(_, channel)| channel.is_defined())
    {
        let width = widest.entry(kind).or_default();
        *width = width.max(channel.range());
        if *kind == Kind::Of("m".into()) {
            length = length.max(channel.size);
        }
    }
    let is_quiet = |kind: &Kind| {
        let Kind::Of(unit) = kind else {
            return false;
        };
        let width = |unit: &str| widest.get(&Kind::Of(unit.into())).copied().unwrap_or(0.0);
        COUNTERPARTS.iter().any(|&(long, short)| match unit {
            _ if length == 0.0 => false,
            unit if unit == long => width(long) < QUIET * length * width(short),
            unit if unit == short => length * width(short) < QUIET * width(long),
            _ => false,
        })
    };
    let error = |(kind, channel): (&Kind, &Channel)| {
        let width = widest.get(kind).copied().unwrap_or(0.0);
        (channel.is_defined() && width > 0.0 && !is_quiet(kind)).then(|| channel.rms() / width)
    };
    kinds.iter().zip(channels).map(error).collect()
}

/// The signal to draw: the one asked for, or the one that shows the differences best. Variants that
/// were stopped count only where all were, orientations only where nothing else differs.
pub fn drawn(wanted: Option<&str>, tried: &[Tried]) -> Option<String> {
    if let Some(wanted) = wanted {
        return Some(wanted.to_owned());
    }
    let ran = |variant: &&Tried| variant.outcome.end.is_ok();
    let any_ran = tried.iter().any(|variant| ran(&variant));
    let counted = tried.iter().filter(|variant| ran(variant) || !any_ran);
    let key = |signal: &super::Signal| {
        let error = signal.error.unwrap_or(0.0);
        let plain = signal.kind != Kind::Orientation;
        (plain && error > 0.0, plain && !signal.kind.is_rate(), error)
    };
    let signals = counted.flat_map(|variant| &variant.signals);
    let best = signals.max_by(|a, b| {
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    });
    best.map(|signal| signal.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A channel with this range of the reference, off by this much.
    fn channel(range: f64, off: f64) -> Channel {
        let mut channel = Channel::new(None);
        channel.take(0.0, off, 0.0);
        channel.take(1.0, range + off, range);
        channel
    }

    #[test]
    fn noise_cannot_win() {
        let [m, n, moment] = ["m", "N", "N.m"].map(|unit| Kind::Of(unit.into()));
        let kinds = [m.clone(), m, n, moment];
        // The second displacement is rounding, wrong by as much as it is large; so are the moments.
        let channels = [
            channel(2.0, 1e-3),
            channel(1e-15, 1e-15),
            channel(50.0, 1e-2),
            channel(2e-7, 2e-7),
        ];
        let errors = errors(&kinds, &channels);
        assert!((errors[0].unwrap() - 5e-4).abs() < 1e-15);
        assert!(errors[1].unwrap() < 1e-14);
        assert!((errors[2].unwrap() - 2e-4).abs() < 1e-15);
        assert_eq!(errors[3], None);
    }

    #[test]
    fn moments_count_where_they_are_no_rounding() {
        let kinds = ["m", "N", "N.m"].map(|unit| Kind::Of(unit.into()));
        let channels = [channel(2.0, 0.0), channel(50.0, 0.0), channel(0.1, 0.01)];
        let error = errors(&kinds, &channels)[2].unwrap();
        assert!((error - 0.1).abs() < 1e-12, "{error}");
    }
}
