//! Inputs that are set from outside while a simulation runs: by a driver, a slider, another program.
//!
//! A [`Dial`] may be set at any time from any thread. The engine looks at it once, when a macro step
//! begins, and that value holds for the whole step: so a run depends on the values at its steps
//! alone. They are recorded beside the outputs, belong to the state, and can be played back.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::held;
use crate::inputs::Source;
use crate::state::Visitor;

/// The handle by which an external input is set.
#[derive(Clone, Debug)]
pub struct Dial {
    values: Arc<Mutex<Box<[f64]>>>,
}

impl Dial {
    /// Shows these values.
    pub fn new(initial: &[f64]) -> Self {
        Self {
            values: Arc::new(Mutex::new(initial.into())),
        }
    }

    /// From the next macro step on the input has these values, all of them together.
    ///
    /// # Panics
    /// If their number is not that of the input.
    pub fn set(&self, values: &[f64]) {
        self.with(|shown| shown.copy_from_slice(values));
    }

    fn with(&self, work: impl FnOnce(&mut [f64])) {
        work(&mut self.values.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// An input that follows a dial, or what a dial showed in an earlier run.
pub(crate) struct ExternalInput {
    /// What it is called in the results.
    pub name: String,
    dial: Dial,
    /// What holds for the present step.
    held: Vec<f64>,
    /// What held over the last advance.
    acted: Vec<f64>,
    /// What the dial shows, as far as it is state.
    shown: Vec<f64>,
    /// Values of each macro step since the initial time, one after the other.
    script: Option<Arc<[f64]>>,
}

impl ExternalInput {
    pub fn new(name: &str, dial: Dial, width: usize) -> Self {
        let mut held = vec![0.0; width];
        dial.with(|shown| held.copy_from_slice(shown));
        Self {
            name: name.into(),
            dial,
            shown: held.clone(),
            acted: held.clone(),
            held,
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

    /// Macro step n begins.
    pub fn sample(&mut self, n: u64) {
        let width = self.held.len();
        match &self.script {
            None => self.dial.with(|shown| self.held.copy_from_slice(shown)),
            Some(script) => {
                let last = (script.len() / width).saturating_sub(1);
                let start = usize::try_from(n).unwrap_or(last).min(last) * width;
                if let Some(values) = script.get(start..start + width) {
                    self.held.copy_from_slice(values);
                }
            }
        }
    }

    /// Whoever turns the dial goes on from what it showed when the state was saved.
    pub fn turn_dial(&self) {
        self.dial.set(&self.shown);
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self.script {
            _ if visitor.replaces() => {}
            Some(_) => self.shown.copy_from_slice(&self.held),
            None => self.dial.with(|now| self.shown.copy_from_slice(now)),
        }
        visitor.fixed(&mut self.held);
        visitor.fixed(&mut self.acted);
        visitor.fixed(&mut self.shown);
    }
}

impl Source for ExternalInput {
    fn value(&mut self, _t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.held);
    }

    fn origin(&self) -> Option<&str> {
        Some(&self.name)
    }
}
