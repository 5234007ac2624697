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
use crate::meeting::Meeting;
use crate::momentum::Momentum;

/// Steps of Newton's method for the forces on what is moved, at most, and the change at which it ends.
const MOST_ITERATIONS: usize = 4;
const TOLERANCE: f64 = 1e-10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// For each row of the interface the fast subsystem, and which of its outputs causes the answer.
    causes: Vec<(usize, usize)>,
    answers: Vec<f64>,
    /// What is moved, a degree of freedom each.
    moved: Vec<MovedRow>,
    /// W, and room for Newton's method.
    feedthrough: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    /// Spent in the present macro step.
    pub momentum: Momentum,
}

impl Model {
    pub fn new(fast: &[Fast]) -> Self {
        let (mut causes, mut moved) = (Vec::new(), Vec::new());
        for (index, one) in fast.iter().enumerate() {
            for (place, meeting) in one.meetings.iter().enumerate() {
                for (component, output) in meeting.causes().enumerate() {
                    if !meeting.is_pushed() {
                        moved.push(MovedRow {
                            row: causes.len(),
                            fast: index,
                            place,
                            component,
                        });
                    }
                    causes.push((index, output));
                }
            }
        }
        let many = moved.len();
        Self {
            answers: vec![0.0; causes.len()],
            momentum: Momentum::new(causes.len()),
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

    /// Puts the forces that bring the momentum of the last step in place of those that are sent by one of the fast
    /// subsystems.
    pub fn bring_momentum(&self, sender: usize, one: &Fast, sent: &mut [f64]) {
        let pushed = one.meetings.iter().filter(|meeting| meeting.is_pushed());
        for output in pushed.flat_map(Meeting::causes) {
            let row = self
                .causes
                .iter()
                .position(|&cause| cause == (sender, output));
            if let Some(force) = row.and_then(|row| self.momentum.force(row)) {
                sent[output] = force;
            }
        }
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

    /// A step of semi-implicit Euler under what is sent (Eq. 45).
    pub fn step(&mut self, shown: &[f64], fast: &mut [Fast], size: f64) {
        self.answer(shown, fast);
        self.kick(fast, size);
        self.spend(fast, size);
        drift(fast, size);
    }

    /// Begins a step of Verlet's method under what is sent: velocities become those of its middle.
    pub fn begin_step(&mut self, shown: &[f64], fast: &mut [Fast], size: f64) {
        self.answer(shown, fast);
        self.kick(fast, 0.5 * size);
        self.spend(fast, 0.5 * size);
    }

    /// Velocities become those of its end, if what was sent at its start still acted there.
    pub fn foresee_end(&mut self, fast: &mut [Fast], size: f64) {
        self.kick(fast, 0.5 * size);
    }

    /// Ends the step under what is sent at its end.
    pub fn end_step(&mut self, shown: &[f64], fast: &mut [Fast], size: f64) {
        self.kick(fast, -0.5 * size);
        self.answer(shown, fast);
        self.kick(fast, 0.5 * size);
        self.spend(fast, 0.5 * size);
    }

    /// The answers act for some time.
    fn kick(&self, fast: &mut [Fast], time: f64) {
        let mut rest = &self.answers[..];
        for meeting in fast.iter_mut().flat_map(|one| &mut one.meetings) {
            let (own, others) = rest.split_at(meeting.causes().len());
            meeting.kick(own, time);
            rest = others;
        }
    }

    /// What is sent acts for some time.
    fn spend(&mut self, fast: &[Fast], time: f64) {
        for (row, &(sender, output)) in self.causes.iter().enumerate() {
            self.momentum.spend(row, fast[sender].sent[output], time);
        }
    }

    /// Finds how accelerations change with the forces on what is moved, at the start of a macro step.
    pub fn learn(&mut self, t: f64, fast: &mut [Fast]) -> Result<(), StepError> {
        let many = self.moved.len();
        self.feedthrough.fill(0.0);
        for column in 0..many {
            let by = self.moved[column];
            let one = &mut fast[by.fast];
            let before = *by.resistance(one);
            // Accelerations are linear in forces, but for laws that know the force: any change of its size will do.
            let change = before.abs().max(1.0);
            for (value, share) in [(before + change, 1.0), (before, -1.0)] {
                *by.resistance(one) = value;
                one.know();
                one.evaluate(t)?;
                for row in 0..many {
                    let of = self.moved[row];
                    if of.fast == by.fast {
                        let (_, output) = self.causes[of.row];
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
            for (right, moved) in self.right.iter_mut().zip(&self.moved) {
                let force = *moved.resistance(&mut fast[moved.fast]);
                let answer = self.answers[moved.row];
                *right = answer - force;
                is_found &= right.abs() <= TOLERANCE * (answer.abs() + force.abs());
            }
            if is_found {
                return Ok(());
            }
            for (i, of) in self.moved.iter().enumerate() {
                for j in 0..many {
                    let through = self.moved.iter().enumerate().map(|(k, by)| {
                        shown[(count + 2) * of.row + 2 + by.row] * self.feedthrough[k * many + j]
                    });
                    let own = if i == j { 1.0 } else { 0.0 };
                    self.matrix[i * many + j] = own - through.sum::<f64>();
                }
            }
            if !solve_dense(&mut self.matrix, &mut self.right) {
                let message = "no force on it belongs to its acceleration: together with the mechanism it has no mass";
                return Err(StepError::Foreign(message.into()));
            }
            for (change, moved) in self.right.iter().zip(&self.moved) {
                *moved.resistance(&mut fast[moved.fast]) += change;
            }
            for one in fast.iter_mut().filter(|one| one.moves()) {
                one.know();
                one.evaluate(t)?;
            }
        }
        Ok(())
    }
}

/// All coordinates go on for some time with the velocities that they have.
pub(crate) fn drift(fast: &mut [Fast], time: f64) {
    for meeting in fast.iter_mut().flat_map(|one| &mut one.meetings) {
        meeting.drift(time);
    }
}

/// A degree of freedom that is moved.
#[derive(Clone, Copy, Debug)]
struct MovedRow {
    /// Of the interface.
    row: usize,
    /// The fast subsystem that moves it, the place among its meetings, and the component there.
    fast: usize,
    place: usize,
    component: usize,
}

impl MovedRow {
    /// The force that resists, as the fast subsystem sees it.
    fn resistance(self, one: &mut Fast) -> &mut f64 {
        match &mut one.meetings[self.place] {
            Meeting::Moved(moved) => &mut moved.resistance[self.component],
            Meeting::Pushed(_) => unreachable!("only what is moved is listed"),
        }
    }
}
