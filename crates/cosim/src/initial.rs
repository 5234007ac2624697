//! The exchange at the initial time: outputs that depend on each other at once.
//!
//! Outputs are evaluated and delivered until they no longer change, however long the chain of direct feedthrough. Where they depend on each other
//! in a loop, that is a fixed-point iteration. It diverges where the loop amplifies, as a heavy body does that answers the acceleration of a light one with
//! its inertia. Then the loop is solved by quasi-Newton steps, which need as many passes as it has dimensions.

use std::ops::Range;

use crate::acceleration::Accelerator;
use crate::fault::Fault;
use crate::incoming::Delivery;
use crate::port::Quantity;
use crate::schedule::Acceleration;
use crate::simulation::Simulation;

/// Passes after which the plain iteration is given up, and the solution of the loop, too.
pub(crate) const INITIAL_PASSES: usize = 50;
/// From this pass on a change of the outputs by rounding does not count.
const ROUNDING_PASSES: usize = 4;
const INITIAL_ROUNDING: f64 = 1e-12;
/// A change in the last pass that is worth a note, since it is more than rounding errors.
const UNSETTLED: f64 = 1e-10;
/// A loop is solved when a pass changes the outputs by less than this, and no further pass lowers that: what is left is the rounding of the parts, such as of stiff
/// beams whose nodes weigh little.
const SOLVED: f64 = 1e-6;
/// Changes that the quasi-Newton steps remember: two for each component of two interfaces.
const REMEMBERED: usize = 24;

impl Simulation {
    /// Before the first exchange every input has its initial value; after it, the first held
    /// samples are the true outputs at the initial time.
    pub(crate) fn exchange_initially(&mut self) -> Result<(), Fault> {
        self.evaluate_initially()?;
        let first = self.released();
        // A loop that amplifies may come to numbers that a part refuses: that is not the verdict yet.
        let plain = self.repeat_initially();
        if matches!(plain, Ok(change) if change <= UNSETTLED) {
            return Ok(());
        }
        let solved = self.solve_initial_loop(first);
        if matches!(solved, Ok(change) if change <= SOLVED) {
            return Ok(());
        }
        plain.and(solved)?;
        self.tally.notes.push(
            "the outputs at the initial time depend on each other in a loop that does not converge; the run starts from its last values".into(),
        );
        Ok(())
    }

    /// Delivers and evaluates until nothing changes; the last change.
    fn repeat_initially(&mut self) -> Result<f64, Fault> {
        let mut before = self.released();
        let mut change = f64::INFINITY;
        self.deliver_initially()?;
        for pass in 1..INITIAL_PASSES {
            self.evaluate_initially()?;
            self.deliver_initially()?;
            let now = self.released();
            change = self.largest_change(&before, &now);
            if change == 0.0 || (pass >= ROUNDING_PASSES && change <= INITIAL_ROUNDING) {
                break;
            }
            before = now;
        }
        Ok(change)
    }

    /// Solves the loop by quasi-Newton steps, starting with these outputs; the last change.
    fn solve_initial_loop(&mut self, mut iterate: Vec<f64>) -> Result<f64, Fault> {
        let columns = REMEMBERED;
        let mut accelerator =
            Accelerator::new(Acceleration::QuasiNewton { columns }, iterate.len());
        accelerator.start();
        // Whole numbers and truths are not mixed.
        let counted = self.extremes(&iterate, &iterate).into_iter();
        let counted: Vec<Range<usize>> = counted
            .filter(|(extreme, _)| matches!(extreme.quantity, Quantity::Whole | Quantity::Flag))
            .flat_map(|(_, ranges)| ranges)
            .collect();
        let mut scale = None;
        let (mut change, mut best) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..INITIAL_PASSES {
            let mut rest = &iterate[..];
            for unit in &mut self.units {
                rest = unit.release_instead(rest);
            }
            self.deliver_initially()?;
            self.evaluate_initially()?;
            let image = self.released();
            change = self.largest_change(&iterate, &image);
            if change <= INITIAL_ROUNDING || (change <= SOLVED && change >= best) {
                break;
            }
            best = best.min(change);
            let scale = scale.get_or_insert_with(|| self.sizes(&image));
            accelerator.next(&mut iterate, &image, scale);
            for range in &counted {
                iterate[range.clone()].copy_from_slice(&image[range.clone()]);
            }
        }
        self.deliver_initially()?;
        Ok(change)
    }

    fn evaluate_initially(&mut self) -> Result<(), Fault> {
        let t = self.plan.step_time(0);
        for unit in &mut self.units {
            unit.guarded(t, |unit| {
                unit.evaluate(t)?;
                unit.release();
                Ok(())
            })?;
        }
        Ok(())
    }

    fn deliver_initially(&mut self) -> Result<(), Fault> {
        let t = self.plan.step_time(0);
        let exchange = &self.exchange;
        for unit in &mut self.units {
            unit.guarded(t, |unit| {
                unit.publish(t, exchange, 0);
                Ok(())
            })?;
        }
        for unit in &mut self.units {
            unit.guarded(t, |unit| {
                unit.pull(t, exchange, 0, Delivery::All, 0);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The outputs of all units.
    fn released(&self) -> Vec<f64> {
        let all = self.units.iter().flat_map(|unit| unit.visible_outputs());
        all.copied().collect()
    }

    /// The largest change of an output from one pass to the next, relative to the largest value of
    /// its quantity: where nothing is transmitted, a port has nothing but rounding.
    fn largest_change(&self, before: &[f64], now: &[f64]) -> f64 {
        let extremes = self.extremes(before, now);
        let relative = extremes.iter().map(|(extreme, _)| extreme.relative());
        relative.fold(0.0, f64::max)
    }

    /// For each output the largest value of its quantity, where that is not zero.
    fn sizes(&self, outputs: &[f64]) -> Vec<f64> {
        let mut sizes = vec![1.0; outputs.len()];
        for (extreme, ranges) in self.extremes(outputs, outputs) {
            if extreme.size > 0.0 {
                (ranges.into_iter()).for_each(|range| sizes[range].fill(extreme.size));
            }
        }
        sizes
    }

    /// Largest values and changes by quantity, and the places of its ports.
    fn extremes(&self, before: &[f64], now: &[f64]) -> Vec<(Extreme<'_>, Vec<Range<usize>>)> {
        let mut start = 0;
        let mut extremes: Vec<(Extreme<'_>, Vec<Range<usize>>)> = Vec::new();
        let units = self.units.iter();
        for port in units.flat_map(|unit| unit.ports.outputs()) {
            let range = start..start + port.quantity.width();
            start = range.end;
            let mut known = extremes.iter();
            let index = known.position(|(extreme, _)| *extreme.quantity == port.quantity);
            let index = index.unwrap_or_else(|| {
                extremes.push((Extreme::of(&port.quantity), Vec::new()));
                extremes.len() - 1
            });
            let (extreme, ranges) = &mut extremes[index];
            extreme.include(&before[range.clone()], &now[range.clone()]);
            ranges.push(range);
        }
        extremes
    }
}

/// The largest value and the largest change of all outputs of one quantity.
struct Extreme<'q> {
    quantity: &'q Quantity,
    size: f64,
    change: f64,
}

impl<'q> Extreme<'q> {
    fn of(quantity: &'q Quantity) -> Self {
        Self {
            quantity,
            size: 0.0,
            change: 0.0,
        }
    }

    fn include(&mut self, before: &[f64], now: &[f64]) {
        for (old, new) in before.iter().zip(now) {
            self.size = self.size.max(new.abs());
            self.change = self.change.max((new - old).abs());
        }
    }

    fn relative(&self) -> f64 {
        match self.change {
            0.0 => 0.0,
            change => change / self.size,
        }
    }
}
