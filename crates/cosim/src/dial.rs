//! Inputs that are set from outside while a simulation runs: by a driver, a slider, another program.
//!
//! A [`Dial`] may be set at any time from any thread. The engine looks at it once, when a macro step
//! begins, and what it shows holds for the whole step: so a run depends on what it shows at its steps
//! alone. That is a value, which is held, or a polynomial in time, of which the parts see the value at the
//! time for which they ask. The value at the beginning of each step is recorded beside the outputs; both
//! belong to the state, and values can be played back.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::held;
use crate::inputs::Source;
use crate::state::Visitor;

/// The highest derivative that a polynomial of a dial has: exact integrators take cubic inputs.
pub const DIAL_ORDER: usize = 3;

/// The handle by which an external input is set.
#[derive(Clone, Debug)]
pub struct Dial {
    shown: Arc<Mutex<Curve>>,
}

impl Dial {
    /// Shows these values.
    pub fn new(initial: &[f64]) -> Self {
        Self {
            shown: Arc::new(Mutex::new(Curve::held(initial))),
        }
    }

    /// From the next macro step on the input has these values, all of them together.
    ///
    /// # Panics
    /// If their number is not that of the input.
    pub fn set(&self, values: &[f64]) {
        self.with(|shown| {
            shown.values.copy_from_slice(values);
            shown.slopes.fill(0.0);
        });
    }

    /// From the next macro step on the input follows a polynomial that has these values at `time` and these
    /// derivatives there: the first ones of all values, then the second ones, up to [`DIAL_ORDER`]; those that are not
    /// given are zero.
    ///
    /// # Panics
    /// If the number of values is not that of the input, or there are more derivatives than that.
    pub fn follow(&self, time: f64, values: &[f64], derivatives: &[f64]) {
        self.with(|shown| {
            shown.from = time;
            shown.values.copy_from_slice(values);
            shown.slopes.fill(0.0);
            shown.slopes[..derivatives.len()].copy_from_slice(derivatives);
        });
    }

    fn with(&self, work: impl FnOnce(&mut Curve)) {
        work(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Values at a time with their derivatives.
#[derive(Clone, Debug)]
struct Curve {
    from: f64,
    values: Vec<f64>,
    /// Order by order; all zero where the values are held.
    slopes: Vec<f64>,
}

impl Curve {
    fn held(values: &[f64]) -> Self {
        Self {
            from: 0.0,
            values: values.into(),
            slopes: vec![0.0; DIAL_ORDER * values.len()],
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.from = other.from;
        self.values.copy_from_slice(&other.values);
        self.slopes.copy_from_slice(&other.slopes);
    }

    fn at(&self, t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.values);
        if self.slopes.iter().all(|slope| *slope == 0.0) {
            return;
        }
        let (elapsed, mut weight) = (t - self.from, 1.0);
        for (order, slopes) in self.slopes.chunks_exact(out.len().max(1)).enumerate() {
            weight *= elapsed / (order + 1) as f64;
            for (value, slope) in out.iter_mut().zip(slopes) {
                *value += weight * slope;
            }
        }
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(std::slice::from_mut(&mut self.from));
        visitor.fixed(&mut self.values);
        visitor.fixed(&mut self.slopes);
    }
}

/// An input that follows a dial, or what a dial showed in an earlier run.
pub(crate) struct ExternalInput {
    /// What it is called in the results.
    pub name: String,
    dial: Dial,
    /// What holds for the present step.
    curve: Curve,
    /// Its values at the beginning of the step.
    held: Vec<f64>,
    /// What acted as the last advance ended; within a step this is what it begins with.
    acted: Vec<f64>,
    /// What the dial shows, as far as it is state.
    shown: Curve,
    /// Values of each macro step since the initial time, one after the other.
    script: Option<Arc<[f64]>>,
}

impl ExternalInput {
    pub fn new(name: &str, dial: Dial, width: usize) -> Self {
        let mut curve = Curve::held(&vec![0.0; width]);
        dial.with(|shown| curve.copy_from(shown));
        Self {
            name: name.into(),
            dial,
            shown: curve.clone(),
            acted: curve.values.clone(),
            held: curve.values.clone(),
            curve,
            script: None,
        }
    }

    pub fn dial(&self) -> Dial {
        self.dial.clone()
    }

    pub fn held(&self) -> &[f64] {
        &self.held
    }

    /// Takes its jump back from these inputs, and says whether there is one.
    pub fn undo_jump(&self, range: &Range<usize>, inputs: &mut [f64]) -> bool {
        held::undo(range, &self.held, &self.acted, inputs)
    }

    pub fn has_jumped(&self) -> bool {
        self.held != self.acted
    }

    /// What holds has acted.
    pub fn pass_jump(&mut self) {
        self.acted.copy_from_slice(&self.held);
    }

    /// From now on the values are those of an earlier run; after its end, the last ones.
    pub fn replay(&mut self, script: Arc<[f64]>) {
        self.script = Some(script);
    }

    /// Macro step n begins, at time t.
    pub fn sample(&mut self, n: u64, t: f64) {
        let width = self.held.len();
        // What it follows has gone on since the last step began: that is no jump.
        if self.acted == self.held {
            self.curve.at(t, &mut self.acted);
        }
        match &self.script {
            None => {
                self.dial.with(|shown| self.curve.copy_from(shown));
                self.curve.at(t, &mut self.held);
            }
            Some(script) => {
                let last = (script.len() / width).saturating_sub(1);
                let start = usize::try_from(n).unwrap_or(last).min(last) * width;
                if let Some(values) = script.get(start..start + width) {
                    self.held.copy_from_slice(values);
                    self.curve.values.copy_from_slice(values);
                    self.curve.slopes.fill(0.0);
                }
            }
        }
    }

    /// Whoever turns the dial goes on from what it showed when the state was saved.
    pub fn turn_dial(&self) {
        self.dial.with(|shown| shown.copy_from(&self.shown));
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self.script {
            _ if visitor.replaces() => {}
            Some(_) => self.shown.copy_from(&self.curve),
            None => self.dial.with(|now| self.shown.copy_from(now)),
        }
        self.curve.visit(visitor);
        visitor.fixed(&mut self.held);
        visitor.fixed(&mut self.acted);
        self.shown.visit(visitor);
    }
}

impl Source for ExternalInput {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        self.curve.at(t, out);
    }

    fn origin(&self) -> Option<&str> {
        Some(&self.name)
    }
}
