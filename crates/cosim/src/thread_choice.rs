//! How many threads pay, by trial.
//!
//! Threads in lockstep are as fast as the slowest of them. Where another program takes a core, or
//! where the parts are small, fewer threads are faster. So when threads sleep at the barrier, because
//! another one takes far longer than usual, a stretch of the run is done by one thread, and the
//! faster way is kept; from time to time the other one is tried again. The results do not depend
//! on it.

use std::time::{Duration, Instant};

/// How long a trial lasts, at least.
const TRIAL: Duration = Duration::from_millis(20);
/// Steps of a trial, at least.
const TRIAL_STEPS: u64 = 16;
/// Time until the next trial: at first, after one thread has won, and at most.
const SOON: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_secs(4);
/// The other way must be so much faster.
const BETTER: f64 = 1.05;
/// Share of their time for which threads sleep, from which on a trial is worth it.
const SLEEPING: f64 = 0.1;

/// The choice between all threads and one.
pub(crate) struct ThreadChoice {
    most: usize,
    now: usize,
    /// Steps per second with all threads and with one, as last seen.
    rates: [Option<f64>; 2],
    is_trial: bool,
    since: Instant,
    first: u64,
    /// When the other way is tried next, counted from `since`.
    pause: Duration,
    is_fixed: bool,
}

impl ThreadChoice {
    pub fn new(most: usize, now: Instant, first: u64) -> Self {
        Self {
            most,
            now: most,
            rates: [None; 2],
            is_trial: false,
            since: now,
            first,
            pause: SOON,
            is_fixed: false,
        }
    }

    /// Always so many.
    pub fn fixed(threads: usize, now: Instant) -> Self {
        Self {
            is_fixed: true,
            ..Self::new(threads, now, 0)
        }
    }

    /// Threads of the coming stretch.
    pub fn threads(&self) -> usize {
        self.now
    }

    /// Whether the stretch should end now, when `steps` are done and threads have slept for a
    /// share of their time since the stretch began.
    pub fn is_over(&self, now: Instant, steps: u64, sleeping: impl FnOnce() -> f64) -> bool {
        if self.most == 1 || self.is_fixed {
            return false;
        }
        let spent = now - self.since;
        if self.is_trial {
            return spent >= TRIAL && steps >= self.first + TRIAL_STEPS;
        }
        spent >= self.pause && (self.now == 1 || sleeping() > SLEEPING || spent >= LATE)
    }

    /// A stretch has ended: chooses the next one.
    pub fn choose(&mut self, now: Instant, steps: u64, sleeping: f64) {
        if self.most == 1 || self.is_fixed {
            return;
        }
        let rate = (steps - self.first) as f64 / (now - self.since).as_secs_f64().max(1e-9);
        let (this, other) = (usize::from(self.now == 1), usize::from(self.now != 1));
        self.rates[this] = Some(rate);
        let is_slower = self.rates[other].is_some_and(|known| known > BETTER * rate);
        if self.is_trial {
            // Back, unless this way is clearly the faster one.
            let is_faster = self.rates[other].is_none_or(|known| rate > BETTER * known);
            match is_faster {
                true if self.now == 1 => self.pause = LATER,
                true => self.pause = SOON,
                false => {
                    self.switch();
                    self.pause = (2 * self.pause).min(LATE);
                }
            }
            self.is_trial = false;
        } else if self.now == 1 || sleeping > SLEEPING || is_slower {
            self.switch();
            self.is_trial = true;
        }
        (self.since, self.first) = (now, steps);
    }

    fn switch(&mut self) {
        self.now = match self.now {
            1 => self.most,
            _ => 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a run with given speeds and sleeping; gives the share of time with all threads.
    fn play(seconds: f64, speed: impl Fn(usize) -> f64, sleeping: impl Fn(usize) -> f64) -> f64 {
        let start = Instant::now();
        let mut choice = ThreadChoice::new(2, start, 0);
        let (mut time, mut steps, mut together) = (0.0, 0_u64, 0.0);
        while time < seconds {
            let threads = choice.threads();
            let tick = 1e-3;
            time += tick;
            steps += (speed(threads) * tick) as u64;
            if threads == 2 {
                together += tick;
            }
            let now = start + Duration::from_secs_f64(time);
            if choice.is_over(now, steps, || sleeping(threads)) {
                choice.choose(now, steps, sleeping(threads));
            }
        }
        together / seconds
    }

    #[test]
    fn a_balanced_run_on_a_quiet_machine_keeps_all_threads() {
        let share = play(10.0, |threads| 1e5 * 0.9 * threads as f64, |_| 0.05);
        assert!(share > 0.999, "{share}");
    }

    fn two_are_faster_by(factor: f64) -> impl Fn(usize) -> f64 {
        move |threads| 1e5 * if threads == 2 { factor } else { 1.0 }
    }

    #[test]
    fn a_run_that_waits_but_is_faster_together_loses_little() {
        let share = play(20.0, two_are_faster_by(1.3), |_| 0.5);
        assert!(share > 0.97, "{share}");
    }

    #[test]
    fn a_run_that_is_faster_alone_goes_alone() {
        let share = play(20.0, two_are_faster_by(0.5), |_| 0.5);
        assert!(share < 0.05, "{share}");
    }
}
