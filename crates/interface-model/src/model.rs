//! The interface of a mechanism under what all its fast subsystems do.
//!
//! With u the forces of those that push and the accelerations of those that move, the mechanism answers with
//! y = y₀ + G (u − u₀): accelerations to forces, and forces to accelerations. G has the cross terms: what one fast subsystem does is
//! felt by all others at once.
//!
//! The force on a fast subsystem that moves the mechanism depends on its acceleration, and that on the force. With W the
//! change of these accelerations with the forces, y is where both agree; as long as that is linear, one step of Newton's
//! method finds it.

use oldham_cosim::StepError;
use oldham_space::solve_dense;

use crate::fast::Fast;
use crate::meeting::{Meeting, Moved};

/// Steps of Newton's method for the forces on what is moved, at most, and the change at which it ends.
const MOST_ITERATIONS: usize = 4;
const TOLERANCE: f64 = 1e-10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// For each row of the interface the fast subsystem, and which of its outputs causes the answer.
    causes: Vec<(usize, usize)>,
    answers: Vec<f64>,
    /// What is moved: its row, the fast subsystem and the place among its meetings.
    moved: Vec<(usize, usize, usize)>,
    /// W, and room for Newton's method.
    feedthrough: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl Model {
    pub fn new(fast: &[Fast]) -> Self {
        let (mut causes, mut moved) = (Vec::new(), Vec::new());
        for (index, one) in fast.iter().enumerate() {
            for (place, meeting) in one.meetings.iter().enumerate() {
                if matches!(meeting, Meeting::Moved(_)) {
                    moved.push((causes.len(), index, place));
                }
                causes.extend(meeting.causes().map(|output| (index, output)));
            }
        }
        let many = moved.len();
        Self {
            answers: vec![0.0; causes.len()],
            causes,
            moved,
            feedthrough: vec![0.0; many * many],
            matrix: vec![0.0; many * many],
            right: vec![0.0; many],
        }
    }

    /// Rows of the interface.
    pub fn rows(&self) -> usize {
        self.causes.len()
    }

    /// Whether any fast subsystem moves the mechanism.
    pub fn is_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// How the mechanism answers to what is sent now.
    fn answer(&mut self, shown: &[f64], fast: &[Fast]) {
        let count = self.causes.len();
        let acted = |column: usize| shown[(count + 2) * column + 1];
        for (sum, row) in self.answers.iter_mut().zip(shown.chunks_exact(count + 2)) {
            *sum = row[0];
            for (column, mobility) in row[2..].iter().enumerate() {
                let (sender, output) = self.causes[column];
                *sum += mobility * (fast[sender].sent[output] - acted(column));
            }
        }
    }

    /// One step of the model under what is sent (Eq. 45).
    pub fn step(&mut self, shown: &[f64], fast: &mut [Fast], size: f64) {
        self.answer(shown, fast);
        let mut rest = &self.answers[..];
        for meeting in fast.iter_mut().flat_map(|one| &mut one.meetings) {
            let (own, others) = rest.split_at(meeting.causes().len());
            meeting.step(own, size);
            rest = others;
        }
    }

    /// Finds how accelerations change with the forces on what is moved, at the start of a macro step.
    pub fn learn(&mut self, t: f64, fast: &mut [Fast]) -> Result<(), StepError> {
        let many = self.moved.len();
        self.feedthrough.fill(0.0);
        for column in 0..many {
            let (_, index, place) = self.moved[column];
            let one = &mut fast[index];
            let before = moved(one, place).resistance;
            // Accelerations are linear in forces, but for laws that know the force: any change of its size will do.
            let change = before.abs().max(1.0);
            for (value, share) in [(before + change, 1.0), (before, -1.0)] {
                moved(one, place).resistance = value;
                one.know();
                one.evaluate(t)?;
                for row in 0..many {
                    let (_, of, other) = self.moved[row];
                    if of == index {
                        let output = moved(one, other).acceleration;
                        self.feedthrough[row * many + column] += share * one.sent[output] / change;
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the forces on what is moved that belong to the accelerations that they cause.
    pub fn resist(&mut self, t: f64, shown: &[f64], fast: &mut [Fast]) -> Result<(), StepError> {
        let (count, many) = (self.causes.len(), self.moved.len());
        for _ in 0..MOST_ITERATIONS {
            self.answer(shown, fast);
            let mut is_found = true;
            for (right, &(row, index, place)) in self.right.iter_mut().zip(&self.moved) {
                let force = moved(&mut fast[index], place).resistance;
                let answer = self.answers[row];
                *right = answer - force;
                is_found &= right.abs() <= TOLERANCE * (answer.abs() + force.abs());
            }
            if is_found {
                return Ok(());
            }
            for (i, &(row, ..)) in self.moved.iter().enumerate() {
                for j in 0..many {
                    let through = self.moved.iter().enumerate().map(|(k, &(column, ..))| {
                        shown[(count + 2) * row + 2 + column] * self.feedthrough[k * many + j]
                    });
                    let own = if i == j { 1.0 } else { 0.0 };
                    self.matrix[i * many + j] = own - through.sum::<f64>();
                }
            }
            if !solve_dense(&mut self.matrix, &mut self.right) {
                let message = "no force on it belongs to its acceleration: together with the mechanism it has no mass";
                return Err(StepError::Foreign(message.into()));
            }
            for (change, &(_, index, place)) in self.right.iter().zip(&self.moved) {
                moved(&mut fast[index], place).resistance += change;
            }
            for one in fast.iter_mut().filter(|one| one.moves()) {
                one.know();
                one.evaluate(t)?;
            }
        }
        Ok(())
    }
}

fn moved(one: &mut Fast, place: usize) -> &mut Moved {
    match &mut one.meetings[place] {
        Meeting::Moved(moved) => moved,
        Meeting::Pushed(_) => unreachable!("only what is moved is listed"),
    }
}
