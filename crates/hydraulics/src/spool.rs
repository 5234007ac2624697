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

/// A controller that leads an actuator at a wanted speed by its spool: with the speed w that is wanted less that
/// which is there, the spool moves at κ' = -P w - D w' (Peiret 2020, Eq. 53), within its own limits. Towards 1 the
/// actuator shortens, hence the signs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedControl {
    /// P in 1/m.
    pub proportional: f64,
    /// D in s/m.
    pub derivative: f64,
}

impl SpeedControl {
    /// Moves a spool for a time at whose end the speed lacks `lack`. `memory` is κ + D w, from which no rate has to be
    /// differenced; where the spool is at a limit nothing winds up.
    pub(crate) fn lead(
        &self,
        spool: &Spool,
        memory: &mut f64,
        from: f64,
        lack: f64,
        time: f64,
        housing: [f64; 2],
    ) -> f64 {
        let command = *memory - self.proportional * lack * time - self.derivative * lack;
        let moved = spool
            .after(from, command, time)
            .clamp(housing[0], housing[1]);
        *memory = moved + self.derivative * lack;
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSING: [f64; 2] = [-0.5, 0.5];

    /// A lack that grows along a line: the spool moves along a parabola, and D takes part at once.
    #[test]
    fn a_speed_control_follows_the_closed_form() {
        let control = SpeedControl {
            proportional: 6.0,
            derivative: 1.0,
        };
        let (mut spool, mut memory, h) = (0.0, 0.0, 1e-5);
        for n in 1..=10_000 {
            let lack = 0.2 * f64::from(n) * h;
            spool = control.lead(&Spool::AT_ONCE, &mut memory, spool, lack, h, HOUSING);
        }
        let expected = -6.0 * 0.5 * 0.2 * 0.01 - 0.2 * 0.1;
        assert!((spool - expected).abs() < 2e-6, "{spool} {expected}");
    }

    /// At a limit of its speed, and then of its housing; it comes back as soon as the lack changes its sign.
    #[test]
    fn a_speed_control_does_not_wind_up() {
        let control = SpeedControl {
            proportional: 60.0,
            derivative: 0.0,
        };
        let limited = Spool {
            rate: 3.0,
            lag: 0.0,
        };
        let (mut spool, mut memory, h) = (0.0, 0.0, 1e-3);
        let mut lead = |lack: f64| {
            spool = control.lead(&limited, &mut memory, spool, lack, h, HOUSING);
            spool
        };
        assert!((lead(-1.0) - 3e-3).abs() < 1e-15);
        for _ in 0..1000 {
            assert!(lead(-1.0) <= 0.5);
        }
        assert!((lead(1.0) - 0.497).abs() < 1e-12);
    }

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
