//! Step times: a histogram of fixed size, so that a run of any length costs no memory.

use std::time::{Duration, Instant};

/// Sub-buckets per octave: quantiles are good to about 3 %.
const FINE: usize = 32;
const OCTAVES: usize = 40;

/// Counts of step times in nanoseconds, in logarithmic buckets.
#[derive(Clone, Debug)]
pub struct StepTimes {
    counts: Box<[u64]>,
    total: u64,
    longest: u64,
}

impl Default for StepTimes {
    fn default() -> Self {
        Self {
            counts: vec![0; FINE * OCTAVES].into_boxed_slice(),
            total: 0,
            longest: 0,
        }
    }
}

impl StepTimes {
    /// Adds one step.
    pub fn add(&mut self, nanoseconds: u64) {
        self.add_many(nanoseconds, 1);
    }

    /// Adds steps that took this long each.
    pub fn add_many(&mut self, nanoseconds: u64, steps: u64) {
        self.counts[bucket(nanoseconds)] += steps;
        self.total += steps;
        self.longest = self.longest.max(nanoseconds);
    }

    /// Number of steps.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The longest step in microseconds.
    pub fn longest_us(&self) -> f64 {
        self.longest as f64 / 1e3
    }

    /// Median, 99th percentile and longest, in microseconds.
    pub fn median_p99_longest_us(&self) -> [f64; 3] {
        [
            self.quantile_us(0.5),
            self.quantile_us(0.99),
            self.longest_us(),
        ]
    }

    /// Counts by powers of two of a microsecond: steps that took less than so many microseconds, and
    /// not less than half of that; those below one microsecond together.
    pub fn octaves(&self) -> Vec<(f64, u64)> {
        let mut counts: Vec<(f64, u64)> = Vec::with_capacity(OCTAVES);
        for (index, &count) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let below = (middle(index) / 1e3).log2().floor().max(-1.0) + 1.0;
            let below = below.exp2();
            match counts.last_mut() {
                Some((last, total)) if *last == below => *total += count,
                _ => counts.push((below, count)),
            }
        }
        counts
    }

    /// The time in microseconds that the given fraction of the steps does not exceed.
    pub fn quantile_us(&self, fraction: f64) -> f64 {
        let wanted = (fraction * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return middle(index).min(self.longest as f64) / 1e3;
            }
        }
        self.longest_us()
    }
}

fn bucket(nanoseconds: u64) -> usize {
    if nanoseconds < FINE as u64 {
        return nanoseconds as usize;
    }
    let octave = nanoseconds.ilog2() as usize - FINE.ilog2() as usize;
    let fine = (nanoseconds >> octave) as usize - FINE;
    ((octave + 1) * FINE + fine).min(FINE * OCTAVES - 1)
}

fn middle(index: usize) -> f64 {
    if index < FINE {
        return index as f64;
    }
    let (octave, fine) = (index / FINE - 1, index % FINE);
    (FINE as f64 + fine as f64 + 0.5) * (octave as f64).exp2()
}

/// Times steps as they end. Steps shorter than a microsecond are timed in groups, or reading the
/// clock would be a good part of what is measured.
pub(crate) struct Stopwatch {
    last: Instant,
    pending: u64,
    group: u64,
}

const GROUP: u64 = 16;
const SHORT_NS: u64 = 1000;

impl Stopwatch {
    pub fn start() -> Self {
        Self {
            last: Instant::now(),
            pending: 0,
            group: 1,
        }
    }

    /// Whether a step that ended is timed later, together with others.
    #[inline]
    pub fn passes(&mut self) -> bool {
        self.pending += 1;
        self.pending < self.group
    }

    /// The step that ended completes a group, which is timed now. Returns the time.
    pub fn lap(&mut self, times: &mut StepTimes) -> Instant {
        let now = Instant::now();
        let each = (now - self.last).as_nanos() as u64 / self.pending;
        times.add_many(each, self.pending);
        self.group = if each < SHORT_NS { GROUP } else { 1 };
        self.pending = 0;
        self.last = now;
        now
    }

    /// The run ended: steps that wait for their group are timed now.
    pub fn stop(&mut self, times: &mut StepTimes) {
        let elapsed = self.last.elapsed().as_nanos() as u64;
        if let Some(each) = elapsed.checked_div(self.pending) {
            times.add_many(each, self.pending);
            self.pending = 0;
        }
    }
}

/// Time that a part has worked, from the steps that were looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    time: Duration,
    steps: u64,
}

impl Spent {
    /// It worked so long for so many macro steps.
    pub fn add(&mut self, time: Duration, steps: u64) {
        self.time += time;
        self.steps += steps;
    }

    /// Microseconds per macro step.
    pub fn mean_us(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.time.as_secs_f64() * 1e6 / self.steps as f64)
    }

    /// To be told to another process.
    pub fn words(&self) -> [u64; 2] {
        [self.time.as_nanos() as u64, self.steps]
    }

    /// As another process has told it.
    pub fn of_words(next: &mut impl FnMut() -> u64) -> Self {
        Self {
            time: Duration::from_nanos(next()),
            steps: next(),
        }
    }
}

/// Where the time of a step goes, from a sample of the steps: reading the clock in each of them
/// would be a good part of what is measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Split {
    total: Duration,
    work: Duration,
    waiting: Duration,
    steps: u64,
}

/// One of so many steps is looked at.
const SAMPLED: u64 = 64;

impl Split {
    /// Whether step n is looked at.
    pub fn is_due(n: u64) -> bool {
        n.is_multiple_of(SAMPLED)
    }

    /// A part advanced or was corrected, for so many of its steps.
    pub fn worked(&mut self, time: Duration, part: &mut Spent, steps: u64) {
        self.work += time;
        part.add(time, steps);
    }

    /// The others were waited for.
    pub fn waited(&mut self, time: Duration) {
        self.waiting += time;
    }

    /// A step took so long.
    pub fn stepped(&mut self, time: Duration) {
        self.total += time;
        self.steps += 1;
    }

    /// Adds what another thread saw.
    pub fn add(&mut self, other: &Self) {
        self.total += other.total;
        self.work += other.work;
        self.waiting += other.waiting;
        self.steps += other.steps;
    }

    /// Microseconds per step and thread: work, waiting, and the rest.
    pub fn mean_us(&self) -> Option<[f64; 3]> {
        if self.steps == 0 {
            return None;
        }
        let rest = self.total.saturating_sub(self.work + self.waiting);
        let mean = |time: Duration| time.as_secs_f64() * 1e6 / self.steps as f64;
        Some([self.work, self.waiting, rest].map(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_good_to_a_few_percent() {
        let mut times = StepTimes::default();
        (1..=100_000).for_each(|step| times.add(step * 10));
        assert!((times.quantile_us(0.5) / 500.0 - 1.0).abs() < 0.03);
        assert!((times.quantile_us(0.99) / 990.0 - 1.0).abs() < 0.03);
        assert_eq!(times.longest_us(), 1000.0);
        let octaves = times.octaves();
        assert_eq!(octaves.iter().map(|(_, count)| count).sum::<u64>(), 100_000);
        assert_eq!((octaves[0].0, octaves.last().unwrap().0), (1.0, 1024.0));
        // From 256 to 512 microseconds there are 25600 steps, but for the width of a bucket.
        let half = octaves.iter().find(|(below, _)| *below == 512.0).unwrap().1;
        assert!((half as f64 / 25_600.0 - 1.0).abs() < 0.05, "{half}");
    }
}
