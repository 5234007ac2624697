//! How determinants change within a step: where one is next to zero, so is a singular position.
//!
//! Each front of the factorisation has its own, so that a loop of joints which nears its position is
//! not hidden by another one that leaves its own.

use crate::linear::BlockLu;

/// A determinant that falls to this fraction within a step is next to zero: the step comes closer
/// to a singular position than a third of its own length.
const FALLING: f64 = 0.25;

/// Scratch memory: logarithms at the start of a step, at the stage before, and now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Determinants {
    start: Vec<f64>,
    last: Vec<f64>,
    now: Vec<f64>,
    has_varied: bool,
}

impl Determinants {
    pub fn new(lu: &BlockLu) -> Self {
        let room = || Vec::with_capacity(lu.fronts());
        Self {
            start: room(),
            last: room(),
            now: room(),
            has_varied: false,
        }
    }

    /// The factors are those of the start of a step.
    pub fn begin(&mut self, lu: &BlockLu) {
        self.take(lu);
        self.start.clone_from(&self.now);
        self.has_varied = false;
    }

    /// The factors are those of the next stage.
    pub fn follow(&mut self, lu: &BlockLu) {
        std::mem::swap(&mut self.last, &mut self.now);
        self.take(lu);
        let [fall, rise] = extremes(&self.start, &self.now);
        self.has_varied |= is_much(fall) || is_much(rise);
    }

    /// Whether one is next to zero now, and was not at the start.
    pub fn have_fallen(&self) -> bool {
        is_much(extremes(&self.start, &self.now)[0])
    }

    /// Whether one fell, or rose, at some stage.
    pub fn have_varied(&self) -> bool {
        self.has_varied
    }

    /// Whether one is not what it was at the stage before.
    pub fn have_jumped(&self) -> bool {
        extremes(&self.last, &self.now).into_iter().any(is_much)
    }

    fn take(&mut self, lu: &BlockLu) {
        self.now.clear();
        self.now.extend(lu.log_determinants());
    }
}

fn is_much(change: f64) -> bool {
    change > -FALLING.ln()
}

/// The largest fall and the largest rise, of a determinant or of all together.
fn extremes(from: &[f64], to: &[f64]) -> [f64; 2] {
    let all = to.iter().sum::<f64>() - from.iter().sum::<f64>();
    let mut found = [-all, all];
    // Weak pivots have joined fronts in between: then there is nothing to compare one by one.
    if from.len() == to.len() {
        for (from, to) in from.iter().zip(to) {
            found = [found[0].max(from - to), found[1].max(to - from)];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(start: &[f64], now: &[f64]) -> Determinants {
        Determinants {
            start: start.to_vec(),
            now: now.to_vec(),
            ..Determinants::default()
        }
    }

    /// Only their product was looked at.
    #[test]
    fn a_loop_that_nears_its_position_was_hidden_by_one_that_leaves_its_own() {
        assert!(changed(&[0.0, 0.0], &[-2.0, 2.0]).have_fallen());
        assert!(!changed(&[0.0, 0.0], &[-1.0, 2.0]).have_fallen());
        assert!(!changed(&[0.0, 0.0], &[2.0, 2.0]).have_fallen());
    }

    #[test]
    fn several_loops_near_their_positions_together() {
        assert!(changed(&[0.0, 0.0], &[-0.8, -0.8]).have_fallen());
        assert!(changed(&[0.0, 0.0], &[-1.6]).have_fallen());
    }
}
