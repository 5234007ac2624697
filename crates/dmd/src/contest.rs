//! Which model is used: the rivals take turns in predicting beside the one in use, and one that
//! is clearly better over several turns takes its place.

use oldham_cosim::Visitor;

use crate::skill::{NOISE, mix};

/// Turns before a rival can win.
const TURNS: u64 = 6;
/// A rival wins with this fraction of the mean square error of the model in use.
const ADVANTAGE: f64 = 0.5;

/// The standing of all candidates.
#[derive(Clone, Debug)]
pub(crate) struct Contest {
    in_use: u64,
    standings: Vec<Standing>,
    switches: u64,
}

/// A rival against the model in use, over the same steps.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    turns: u64,
    own: f64,
    of_model_in_use: f64,
}

impl Contest {
    pub fn new(candidates: usize) -> Self {
        Self {
            in_use: 0,
            standings: vec![Standing::default(); candidates],
            switches: 0,
        }
    }

    /// The candidate in use.
    pub fn in_use(&self) -> usize {
        self.in_use as usize
    }

    /// How often the model in use was changed.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// The rival whose turn it is when so many snapshots were taken.
    pub fn rival(&self, snapshots: u64) -> Option<usize> {
        let others = self.standings.len() as u64 - 1;
        let turn = snapshots.checked_rem(others)?;
        Some((turn + u64::from(turn >= self.in_use)) as usize)
    }

    /// Notes a rival's squared error beside that of the model in use.
    pub fn judge(&mut self, rival: usize, own: f64, of_model_in_use: f64) {
        let standing = &mut self.standings[rival];
        if standing.turns == 0 {
            (standing.own, standing.of_model_in_use) = (own, of_model_in_use);
        } else {
            standing.own = mix(standing.own, own);
            standing.of_model_in_use = mix(standing.of_model_in_use, of_model_in_use);
        }
        standing.turns += 1;
        let bar = ADVANTAGE * standing.of_model_in_use;
        if standing.turns >= TURNS && bar > NOISE && standing.own < bar {
            self.in_use = rival as u64;
            self.switches += 1;
            self.standings.fill(Standing::default());
        }
    }

    /// Starts anew with the first candidate.
    pub fn restart(&mut self) {
        self.in_use = 0;
        self.standings.fill(Standing::default());
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.in_use);
        visitor.count(&mut self.switches);
        for standing in &mut self.standings {
            visitor.count(&mut standing.turns);
            visitor.fixed(std::slice::from_mut(&mut standing.own));
            visitor.fixed(std::slice::from_mut(&mut standing.of_model_in_use));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rival_gets_its_turn_and_the_model_in_use_none() {
        let mut contest = Contest::new(3);
        contest.in_use = 1;
        let turns: Vec<_> = (0..4).map(|k| contest.rival(k)).collect();
        assert_eq!(turns, [Some(0), Some(2), Some(0), Some(2)]);
        assert_eq!(Contest::new(1).rival(5), None);
    }

    #[test]
    fn only_a_lasting_and_clear_advantage_wins() {
        let mut contest = Contest::new(2);
        for _ in 0..100 {
            contest.judge(1, 0.9, 1.0);
        }
        assert_eq!(contest.in_use(), 0, "not clear");
        contest.restart();
        for _ in 0..TURNS - 1 {
            contest.judge(1, 0.1, 1.0);
        }
        assert_eq!(contest.in_use(), 0, "not lasting");
        contest.judge(1, 0.1, 1.0);
        assert_eq!((contest.in_use(), contest.switches()), (1, 1));
    }
}
