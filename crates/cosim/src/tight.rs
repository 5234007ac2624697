//! The leader's part of a tightly coupled step: judge the iterate, choose the next.

use crate::acceleration::Accelerator;
use crate::board::Board;
use crate::plan::Plan;
use crate::schedule::{OnLimit, Tight};
use crate::state::{State, Visitor};

/// What the leader decides after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Again,
    Converged,
    Accepted,
    Failed,
}

pub(crate) struct TightSolver {
    settings: Tight,
    accelerator: Accelerator,
    iterate: Vec<f64>,
    image: Vec<f64>,
    absolute: Vec<f64>,
    /// Largest magnitude that each exchanged value has had so far.
    largest: Vec<f64>,
    scale: Vec<f64>,
    iteration: usize,
    /// Component furthest from its tolerance, and its change.
    worst: (usize, f64),
}

impl TightSolver {
    pub fn new(settings: &Tight, plan: &Plan) -> Self {
        let absolute: Vec<f64> = plan
            .wires
            .iter()
            .flat_map(|wire| {
                let own = settings
                    .per_port
                    .iter()
                    .find(|(name, _)| *name == wire.name);
                let tolerance = own.map_or(settings.absolute, |(_, value)| *value);
                std::iter::repeat_n(tolerance, wire.width)
            })
            .collect();
        let size = absolute.len();
        Self {
            accelerator: Accelerator::new(settings.acceleration, size),
            settings: settings.clone(),
            iterate: vec![0.0; size],
            image: vec![0.0; size],
            absolute,
            largest: vec![0.0; size],
            scale: vec![1.0; size],
            iteration: 0,
            worst: (0, 0.0),
        }
    }

    /// Reads the first iterate.
    pub fn start(&mut self, plan: &Plan, board: &Board) {
        gather(plan, &mut self.iterate, board, |wire| wire.iterate);
        self.accelerator.start();
        self.iteration = 0;
    }

    /// Compares what was sent with the iterate; writes the next iterate, or the final values.
    /// `buffers` tells in which buffer each subsystem's outputs lie.
    pub fn judge(
        &mut self,
        plan: &Plan,
        board: &Board,
        buffers: impl Fn(usize) -> usize,
    ) -> Verdict {
        gather(plan, &mut self.image, board, |wire| {
            wire.sent + buffers(wire.sender.0) * plan.stride
        });
        self.iteration += 1;
        let verdict = self.compare();
        if verdict == Verdict::Again {
            let (iterate, image) = (&mut self.iterate, &self.image);
            self.accelerator.next(iterate, image, &self.scale);
        }
        let next = match verdict {
            Verdict::Again => &self.iterate,
            _ => &self.image,
        };
        let mut place = 0;
        for wire in &plan.wires {
            board.write(wire.iterate, &next[place..place + wire.width]);
            place += wire.width;
        }
        verdict
    }

    fn compare(&mut self) -> Verdict {
        let mut furthest = 0.0;
        self.worst = (0, 0.0);
        for i in 0..self.image.len() {
            self.largest[i] = self.largest[i].max(self.image[i].abs());
            let tolerance = self.absolute[i] + self.settings.relative * self.largest[i];
            // Components that are exactly zero so far must not be divided by.
            self.scale[i] = tolerance.max(f64::MIN_POSITIVE.sqrt());
            let change = (self.image[i] - self.iterate[i]).abs();
            if change / self.scale[i] > furthest {
                furthest = change / self.scale[i];
                self.worst = (i, change);
            }
        }
        if furthest <= 1.0 {
            Verdict::Converged
        } else if self.iteration < self.settings.max_iterations {
            Verdict::Again
        } else {
            match self.settings.on_limit {
                OnLimit::Accept => Verdict::Accepted,
                OnLimit::Fail => Verdict::Failed,
            }
        }
    }

    /// Iterates until rounding stops it, for analyses that difference the result.
    pub fn sharpen(&mut self) {
        self.settings.relative = 4.0 * f64::EPSILON;
        self.settings.on_limit = OnLimit::Accept;
        self.absolute.fill(0.0);
    }

    pub fn iterations(&self) -> usize {
        self.iteration
    }

    /// The port furthest from its tolerance and its last change.
    pub fn worst(&self, plan: &Plan) -> (String, f64) {
        let (mut component, change) = self.worst;
        for wire in &plan.wires {
            if component < wire.width {
                let name = match wire.components[component] {
                    "" => wire.name.clone(),
                    part => format!("{}.{part}", wire.name),
                };
                return (name, change);
            }
            component -= wire.width;
        }
        (String::new(), change)
    }
}

fn gather(
    plan: &Plan,
    into: &mut [f64],
    board: &Board,
    place: impl Fn(&crate::plan::Wire) -> usize,
) {
    let mut start = 0;
    for wire in &plan.wires {
        board.read(place(wire), &mut into[start..start + wire.width]);
        start += wire.width;
    }
}

impl State for TightSolver {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(&mut self.largest);
    }
}
