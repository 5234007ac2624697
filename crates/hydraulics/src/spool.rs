//! A spool that takes time to follow its command.

/// How a spool moves, in travels of 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spool {
    /// Largest speed in 1/s.
    pub rate: f64,
    /// Time constant in s with which it approaches its command.
    pub lag: f64,
}

impl Spool {
    /// It is where it is told to be.
    pub const AT_ONCE: Self = Self {
        rate: f64::INFINITY,
        lag: 0.0,
    };

    /// Where it is after a time under a constant command: x' = (command - x)/lag, at most `rate`.
    pub(crate) fn after(&self, from: f64, command: f64, time: f64) -> f64 {
        let Self { rate, lag } = *self;
        let left = command - from;
        // As far as this it moves at its largest speed.
        let slow = (left.abs() - rate * lag).max(0.0);
        if slow >= rate * time {
            return from + left.signum() * rate * time;
        }
        if lag == 0.0 {
            return command;
        }
        let rest = time - slow / rate;
        let from = from + left.signum() * slow;
        command + (from - command) * (-rest / lag).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_follows_the_closed_form() {
        let at_once = Spool::AT_ONCE.after(0.2, 0.7, 1e-9);
        assert_eq!(at_once, 0.7);
        let limited = Spool {
            rate: 3.0,
            lag: 0.0,
        };
        assert!((limited.after(0.5, -1.0, 0.1) - 0.2).abs() < 1e-15);
        assert_eq!(limited.after(0.5, 0.4, 0.1), 0.4);
        let lagging = Spool {
            rate: f64::INFINITY,
            lag: 0.01,
        };
        let expected = 1.0 - (-2.0_f64).exp();
        assert!((lagging.after(0.0, 1.0, 0.02) - expected).abs() < 1e-15);
        // Half of the way at its speed, then by the lag; one step is as good as many.
        let both = Spool {
            rate: 2.0,
            lag: 0.25,
        };
        let mut x = 0.0;
        for _ in 0..1000 {
            x = both.after(x, 1.0, 1e-3);
        }
        let expected = 1.0 - 0.5 * (-(1.0 - 0.25) / 0.25_f64).exp();
        assert!((x - expected).abs() < 1e-12, "{x} {expected}");
        assert!((both.after(0.0, 1.0, 1.0) - expected).abs() < 1e-15);
    }
}
