//! The coordinator's share of an implicit step: judge the iterate, choose the next.

use crate::acceleration::Accelerator;
use crate::exchange_buffer::ExchangeBuffer;
use crate::schedule::{ImplicitSettings, OnLimit};
use crate::state::{State, Visitor};
use crate::step_plan::StepPlan;

/// What is left of an accepted magnitude after a step: of one that does not come back, a third
/// after a thousand steps.
const FORGET: f64 = 0.999;

/// Changes of so many tolerances that do not fall any more are rounding ...
const ROUNDING: f64 = 100.0;
/// ... when so many iterations ...
const PATIENCE: usize = 5;
/// ... have not lowered them to this fraction.
const FALLS: f64 = 0.9;

/// What the coordinator decides after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IterationVerdict {
    Again,
    Converged,
    Accepted,
    Failed,
}

pub(crate) struct ImplicitSolver {
    settings: ImplicitSettings,
    accelerator: Accelerator,
    iterate: Vec<f64>,
    image: Vec<f64>,
    absolute: Vec<f64>,
    /// For each exchanged value, the first of those of the same port and unit: they share a scale,
    /// so that the rounding of a large one does not count as a change of a small one.
    representative: Vec<usize>,
    /// Largest magnitude in accepted steps, by representative; it is forgotten slowly. Iterates
    /// have no part in it: one that diverges would raise every tolerance without bound.
    accepted: Vec<f64>,
    /// Magnitude of the present iterate and its image, whichever is smaller, by representative.
    present: Vec<f64>,
    /// The larger of both at the first iteration.
    first: Vec<f64>,
    /// What makes components comparable in the search for the next iterate; the same throughout a
    /// step, or differences between iterations would mean nothing.
    weight: Vec<f64>,
    iteration: usize,
    /// Component furthest from its tolerance, and its change.
    worst: (usize, f64),
    /// Smallest change in this step, in tolerances, and the iteration in which it was found.
    best: (f64, usize),
}

impl ImplicitSolver {
    pub fn new(settings: &ImplicitSettings, plan: &StepPlan) -> Self {
        let absolute: Vec<f64> = plan
            .iterated
            .iter()
            .flat_map(|connection| {
                let own = settings
                    .per_port
                    .iter()
                    .find(|(name, _)| *name == connection.name);
                let tolerance = own.map_or(settings.absolute, |(_, value)| *value);
                std::iter::repeat_n(tolerance, connection.width)
            })
            .collect();
        let size = absolute.len();
        let mut representative = Vec::with_capacity(size);
        for connection in &plan.iterated {
            let start = representative.len();
            for unit in &connection.units {
                let first = connection.units.iter().position(|other| other == unit);
                representative.push(start + first.expect("it is one of them"));
            }
        }
        Self {
            accelerator: Accelerator::new(settings.acceleration, size),
            settings: settings.clone(),
            iterate: vec![0.0; size],
            image: vec![0.0; size],
            absolute,
            representative,
            accepted: vec![0.0; size],
            present: vec![0.0; size],
            first: vec![0.0; size],
            weight: vec![1.0; size],
            iteration: 0,
            worst: (0, 0.0),
            best: (f64::INFINITY, 0),
        }
    }

    /// Reads the first iterate.
    pub fn start(&mut self, plan: &StepPlan, exchange: &ExchangeBuffer) {
        gather(plan, &mut self.iterate, exchange, |connection| {
            connection.iterate
        });
        self.accelerator.start();
        self.iteration = 0;
    }

    /// Compares what was sent with the iterate; writes the next iterate, or the final values.
    /// `buffers` tells in which buffer each subsystem's outputs lie.
    pub fn judge(
        &mut self,
        plan: &StepPlan,
        exchange: &ExchangeBuffer,
        buffers: impl Fn(usize) -> usize,
    ) -> IterationVerdict {
        gather(plan, &mut self.image, exchange, |connection| {
            connection.sent + buffers(connection.sender.0) * plan.stride
        });
        self.iteration += 1;
        let verdict = self.compare();
        if verdict == IterationVerdict::Again {
            let (iterate, image) = (&mut self.iterate, &self.image);
            self.accelerator.next(iterate, image, &self.weight);
        } else {
            self.accept();
        }
        let next = match verdict {
            IterationVerdict::Again => &self.iterate,
            _ => &self.image,
        };
        let mut place = 0;
        for connection in &plan.iterated {
            exchange.write(connection.iterate, &next[place..place + connection.width]);
            place += connection.width;
        }
        verdict
    }

    fn compare(&mut self) -> IterationVerdict {
        self.take_measure();
        let mut furthest = 0.0;
        self.worst = (0, 0.0);
        for i in 0..self.image.len() {
            let tolerance = self.scale(i, self.present[self.representative[i]]);
            let change = (self.image[i] - self.iterate[i]).abs();
            if change / tolerance > furthest {
                furthest = change / tolerance;
                self.worst = (i, change);
            }
        }
        if furthest <= 1.0 || self.stagnates(furthest) {
            IterationVerdict::Converged
        } else if self.iteration < self.settings.max_iterations {
            IterationVerdict::Again
        } else {
            match self.settings.on_limit {
                OnLimit::Accept => IterationVerdict::Accepted,
                OnLimit::Fail => IterationVerdict::Failed,
            }
        }
    }

    /// Whether the changes, so many tolerances large, have stopped falling near enough to the
    /// tolerance to be the parts' rounding: that of a velocity at rest is that of positions,
    /// divided by the step.
    fn stagnates(&mut self, furthest: f64) -> bool {
        if self.iteration == 1 || furthest < FALLS * self.best.0 {
            self.best = (furthest, self.iteration);
        }
        let (best, at) = self.best;
        best <= ROUNDING && furthest <= 2.0 * best && self.iteration >= at + PATIENCE
    }

    /// Finds the present magnitudes, and at the first iteration of a step the weights.
    fn take_measure(&mut self) {
        let (image, iterate) = (&self.image, &self.iterate);
        gather_largest(&self.representative, &mut self.present, |i| {
            image[i].abs().min(iterate[i].abs())
        });
        if self.iteration > 1 {
            return;
        }
        gather_largest(&self.representative, &mut self.first, |i| {
            image[i].abs().max(iterate[i].abs())
        });
        for i in 0..self.weight.len() {
            self.weight[i] = self.scale(i, self.first[self.representative[i]]);
        }
    }

    /// The change of a value that no longer counts, when values of its port and unit have this
    /// size.
    fn scale(&self, i: usize, size: f64) -> f64 {
        let size = size.max(self.accepted[self.representative[i]]);
        let scale = self.absolute[i] + self.settings.relative * size;
        // Components that are exactly zero so far must not be divided by.
        scale.max(f64::MIN_POSITIVE.sqrt())
    }

    /// The step ends with the image.
    fn accept(&mut self) {
        self.accepted.iter_mut().for_each(|size| *size *= FORGET);
        for (i, &representative) in self.representative.iter().enumerate() {
            self.accepted[representative] = self.accepted[representative].max(self.image[i].abs());
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
    pub fn worst(&self, plan: &StepPlan) -> (String, f64) {
        let (mut component, change) = self.worst;
        for connection in &plan.iterated {
            if component < connection.width {
                let name = match &*connection.components[component] {
                    "" => connection.name.clone(),
                    part => format!("{}.{part}", connection.name),
                };
                return (name, change);
            }
            component -= connection.width;
        }
        (String::new(), change)
    }
}

/// The largest of the values that share a representative.
fn gather_largest(representative: &[usize], largest: &mut [f64], value: impl Fn(usize) -> f64) {
    largest.fill(0.0);
    for (i, &representative) in representative.iter().enumerate() {
        largest[representative] = largest[representative].max(value(i));
    }
}

fn gather(
    plan: &StepPlan,
    into: &mut [f64],
    exchange: &ExchangeBuffer,
    place: impl Fn(&crate::step_plan::IteratedConnection) -> usize,
) {
    let mut start = 0;
    for connection in &plan.iterated {
        exchange.read(
            place(connection),
            &mut into[start..start + connection.width],
        );
        start += connection.width;
    }
}

impl State for ImplicitSolver {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(&mut self.accepted);
    }
}
