//! What the solver of a part's contacts has done, as the part tells it: the engine only adds it up, and says where steps were not met.

use serde::Serialize;

/// Steps with contacts of a part, and how they were solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ContactCounters {
    /// Steps with contacts.
    pub steps: u64,
    /// Steps in which the law of contact is missed by more than the tolerance.
    pub unmet: u64,
    /// The largest residual of these steps in m/s.
    pub worst_residual: f64,
    /// How groups of contacts that share bodies were solved.
    pub islands: IslandCounters,
}

/// Groups of contacts that share bodies, by the method that solved them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IslandCounters {
    /// Impulses of the step before, which still held.
    pub kept: u64,
    /// Sweeps over the contacts.
    pub sweeps: u64,
    /// A smoothing Newton method.
    pub smoothing: u64,
    /// A semismooth Newton method.
    pub newton: u64,
    /// An interior-point method.
    pub interior: u64,
    /// Sweeps after all of these.
    pub last_sweeps: u64,
    /// Both of Newton's methods from far away.
    pub far_away: u64,
    /// None of them.
    pub unmet: u64,
}

impl ContactCounters {
    /// To be told to another process.
    pub(crate) fn words(&self) -> [u64; 11] {
        let islands = self.islands;
        [
            self.steps,
            self.unmet,
            self.worst_residual.to_bits(),
            islands.kept,
            islands.sweeps,
            islands.smoothing,
            islands.newton,
            islands.interior,
            islands.last_sweeps,
            islands.far_away,
            islands.unmet,
        ]
    }

    /// As another process has told it.
    pub(crate) fn of_words(next: &mut impl FnMut() -> u64) -> Self {
        Self {
            steps: next(),
            unmet: next(),
            worst_residual: f64::from_bits(next()),
            islands: IslandCounters {
                kept: next(),
                sweeps: next(),
                smoothing: next(),
                newton: next(),
                interior: next(),
                last_sweeps: next(),
                far_away: next(),
                unmet: next(),
            },
        }
    }

    /// What a user should know of it.
    pub(crate) fn note(&self) -> Option<String> {
        (self.unmet > 0).then(|| {
            format!(
                "misses the law of contact by more than its `residual` in {} of {} steps with contacts, by {:.2e} m/s at most: take a smaller step, or a larger `residual` where that much does not matter",
                self.unmet, self.steps, self.worst_residual,
            )
        })
    }
}

impl std::ops::Add for ContactCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (one, two) = (self.islands, other.islands);
        Self {
            steps: self.steps + other.steps,
            unmet: self.unmet + other.unmet,
            worst_residual: self.worst_residual.max(other.worst_residual),
            islands: IslandCounters {
                kept: one.kept + two.kept,
                sweeps: one.sweeps + two.sweeps,
                smoothing: one.smoothing + two.smoothing,
                newton: one.newton + two.newton,
                interior: one.interior + two.interior,
                last_sweeps: one.last_sweeps + two.last_sweeps,
                far_away: one.far_away + two.far_away,
                unmet: one.unmet + two.unmet,
            },
        }
    }
}
