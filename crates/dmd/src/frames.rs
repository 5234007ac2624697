//! The newest snapshots: what was received and sent at each communication point.

use oldham_cosim::Visitor;

/// A ring of snapshots. One that is overwritten is gone; [`Frames::restart`] forgets all but the
/// newest.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    received: usize,
    width: usize,
    /// Snapshot by snapshot: received components, then sent ones.
    values: Vec<f64>,
    times: Vec<f64>,
    /// One where the step to a snapshot was out of line with those before, else zero.
    outliers: Vec<u64>,
    /// Snapshots opened since the last restart.
    count: u64,
}

impl Frames {
    pub fn new(capacity: usize, received: usize, sent: usize) -> Self {
        let width = received + sent;
        Self {
            received,
            width,
            values: vec![0.0; capacity * width],
            times: vec![0.0; capacity],
            outliers: vec![0; capacity],
            count: 0,
        }
    }

    /// Snapshots opened since the last restart; the first has the index 0.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Time of the newest snapshot.
    pub fn newest_time(&self) -> Option<f64> {
        self.count.checked_sub(1).map(|newest| self.time(newest))
    }

    /// Time between the two newest snapshots.
    pub fn step(&self) -> Option<f64> {
        let newest = self.count.checked_sub(1)?;
        let before = newest.checked_sub(1)?;
        Some(self.time(newest) - self.time(before))
    }

    /// Whether a snapshot is still there.
    pub fn holds(&self, index: u64) -> bool {
        index < self.count && self.count - index <= self.times.len() as u64
    }

    pub fn time(&self, index: u64) -> f64 {
        self.times[self.slot(index)]
    }

    /// Whether the step to a snapshot was out of line.
    pub fn is_outlier(&self, index: u64) -> bool {
        self.outliers[self.slot(index)] > 0
    }

    /// The step to the newest snapshot is out of line: nothing is to be learned from it.
    pub fn mark_outlier(&mut self) {
        let slot = self.slot(self.count - 1);
        self.outliers[slot] = 1;
    }

    /// All components of a snapshot.
    pub fn signals(&self, index: u64) -> &[f64] {
        let start = self.slot(index) * self.width;
        &self.values[start..start + self.width]
    }

    /// Received components of a snapshot.
    pub fn received(&self, index: u64) -> &[f64] {
        &self.signals(index)[..self.received]
    }

    /// Received components of the newest snapshot.
    pub fn newest_received(&mut self) -> &mut [f64] {
        let start = self.slot(self.count - 1) * self.width;
        &mut self.values[start..start + self.received]
    }

    /// Sent components of the newest snapshot.
    pub fn newest_sent(&mut self) -> &mut [f64] {
        let start = self.slot(self.count - 1) * self.width;
        &mut self.values[start + self.received..start + self.width]
    }

    /// Starts a snapshot at time t with the received values of the one before.
    pub fn open(&mut self, t: f64) {
        self.count += 1;
        let slot = self.slot(self.count - 1);
        self.times[slot] = t;
        self.outliers[slot] = 0;
        let to = slot * self.width;
        if self.count > 1 {
            let from = self.slot(self.count - 2) * self.width;
            self.values.copy_within(from..from + self.received, to);
        } else {
            self.values[to..to + self.received].fill(0.0);
        }
    }

    /// Moves the newest snapshot in time.
    pub fn redate(&mut self, t: f64) {
        let slot = self.slot(self.count - 1);
        self.times[slot] = t;
    }

    /// Forgets all but the newest snapshot.
    pub fn restart(&mut self) {
        if self.count > 1 {
            let slot = self.slot(self.count - 1);
            let from = slot * self.width;
            self.values.copy_within(from..from + self.width, 0);
            self.times[0] = self.times[slot];
            self.outliers[0] = 0;
            self.count = 1;
        }
    }

    /// Everything, by age: a recurrence keeps its coordinates while the ring turns.
    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.count);
        let capacity = self.times.len();
        for age in 0..capacity {
            let newest = (self.count as usize + capacity - 1) % capacity;
            let slot = (newest + capacity - age) % capacity;
            visitor.fixed(&mut self.times[slot..=slot]);
            visitor.count(&mut self.outliers[slot]);
            visitor.vector(&mut self.values[slot * self.width..(slot + 1) * self.width]);
        }
    }

    /// Copies the contents, to find out later whether they were changed.
    pub fn copy_to(&self, memory: &mut Memory) {
        memory.count = self.count;
        memory.values.clone_from(&self.values);
        memory.times.clone_from(&self.times);
        memory.outliers.clone_from(&self.outliers);
    }

    /// Whether the contents are, bit by bit, those of the memory.
    pub fn equals(&self, memory: &Memory) -> bool {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        self.count == memory.count
            && same(&self.values, &memory.values)
            && same(&self.times, &memory.times)
            && self.outliers == memory.outliers
    }

    /// Room for the contents.
    pub fn memory(&self) -> Memory {
        Memory {
            count: self.count,
            values: self.values.clone(),
            times: self.times.clone(),
            outliers: self.outliers.clone(),
        }
    }

    fn slot(&self, index: u64) -> usize {
        debug_assert!(self.holds(index), "a snapshot that is gone");
        (index % self.times.len() as u64) as usize
    }
}

/// Remembered contents of [`Frames`].
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    count: u64,
    values: Vec<f64>,
    times: Vec<f64>,
    outliers: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_newest_snapshots_and_restarts_from_the_last() {
        let mut frames = Frames::new(3, 1, 1);
        for k in 0..5 {
            frames.open(f64::from(k));
            frames.newest_received()[0] = f64::from(10 * k);
            frames.newest_sent()[0] = f64::from(-k);
        }
        assert!(!frames.holds(1) && frames.holds(2) && !frames.holds(5));
        assert_eq!(frames.signals(3), [30.0, -3.0]);
        assert_eq!(frames.step(), Some(1.0));
        frames.restart();
        assert_eq!((frames.count(), frames.newest_time()), (1, Some(4.0)));
        assert_eq!(frames.signals(0), [40.0, -4.0]);
        assert_eq!(frames.step(), None);
    }

    struct Collector(Vec<f64>);

    impl Visitor for Collector {
        fn vector(&mut self, values: &mut [f64]) {
            self.0.extend_from_slice(values);
        }
        fn rotation(&mut self, _: &mut [f64; 4]) {}
        fn fixed(&mut self, _: &mut [f64]) {}
        fn count(&mut self, _: &mut u64) {}
        fn memory(&mut self, _: &mut Vec<u64>) {}
    }

    #[test]
    fn the_newest_snapshot_is_visited_first_wherever_the_ring_stands() {
        let mut frames = Frames::new(3, 1, 0);
        for k in 0..10 {
            frames.open(f64::from(k));
            frames.newest_received()[0] = f64::from(k);
            let mut collector = Collector(Vec::new());
            frames.visit(&mut collector);
            let expected: Vec<f64> = (0..3).map(|age| f64::from((k - age).max(0))).collect();
            assert_eq!(collector.0, expected);
        }
    }

    #[test]
    fn a_new_snapshot_holds_what_was_received_before() {
        let mut frames = Frames::new(3, 2, 0);
        frames.open(0.0);
        frames.newest_received().copy_from_slice(&[1.0, 2.0]);
        frames.open(1.0);
        frames.newest_received()[0] = 3.0;
        assert_eq!(frames.received(1), [3.0, 2.0]);
    }
}
