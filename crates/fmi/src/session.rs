//! An instance of an FMU and what is done with it, where its library is loaded.

use serde::{Deserialize, Serialize};

use crate::channel::{Batch, Group};
use crate::description::Kind;
use crate::library::{Instance, Kept, Origin, Stepped, Watcher};

/// How often a step that an FMU discards is halved.
const HALVINGS: u32 = 10;
/// How far a ratio of steps may be from a whole number.
const WHOLE: f64 = 1e-6;

/// All that it takes to make an instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub origin: Origin,
    /// Parameters and start values: kinds, references and numbers as the FMU takes them.
    pub numbers: Vec<(Kind, u32, Vec<f64>)>,
    pub texts: Vec<(u32, String)>,
    /// What it receives and sends, by places among the numbers of ports.
    pub received: Vec<Group>,
    pub sent: Vec<Group>,
    /// How many numbers are received and sent.
    pub widths: [usize; 2],
    pub tolerance: Option<f64>,
    pub fixed_step: Option<f64>,
    pub may_be_halved: bool,
}

/// An instance.
pub(crate) struct Session {
    instance: Instance,
    received: Vec<Batch>,
    sent: Vec<Batch>,
    width: usize,
    tolerance: Option<f64>,
    fixed_step: Option<f64>,
    may_be_halved: bool,
    kept: Vec<Kept>,
}

impl Session {
    /// A new instance with its parameters.
    pub fn new(setup: &Setup, watcher: Watcher) -> Result<Self, String> {
        let instance = Instance::new(&setup.origin, watcher)?;
        for (kind, reference, values) in &setup.numbers {
            instance.set(kind, &[*reference], values)?;
        }
        for (reference, text) in &setup.texts {
            instance.set_text(*reference, text)?;
        }
        instance.rest();
        Ok(Self {
            instance,
            received: setup.received.iter().map(Batch::new).collect(),
            sent: setup.sent.iter().map(Batch::new).collect(),
            width: setup.widths[0],
            tolerance: setup.tolerance,
            fixed_step: setup.fixed_step,
            may_be_halved: setup.may_be_halved,
            kept: Vec::new(),
        })
    }

    /// Begins the initialisation.
    pub fn initialise(&mut self, t: f64) -> Result<(), String> {
        self.instance.begin(self.tolerance, t)
    }

    fn write(&mut self, inputs: &[f64]) -> Result<(), String> {
        for batch in &mut self.received {
            batch.write(&self.instance, inputs)?;
        }
        Ok(())
    }

    /// Ends the initialisation with these inputs.
    pub fn start(&mut self, inputs: &[f64]) -> Result<(), String> {
        self.write(inputs)?;
        self.instance.start()
    }

    /// The outputs, with these inputs where they are given.
    pub fn outputs(&mut self, inputs: Option<&[f64]>, outputs: &mut [f64]) -> Result<(), String> {
        if let Some(inputs) = inputs {
            self.write(inputs)?;
        }
        for batch in &mut self.sent {
            batch.read(&self.instance, outputs)?;
        }
        Ok(())
    }

    /// Takes as many steps as there are inputs, which are held within each; says how often it called the FMU.
    pub fn advance(
        &mut self,
        from: f64,
        to: f64,
        steps: usize,
        inputs: &[f64],
    ) -> Result<u64, String> {
        let at = |k: usize| from + (to - from) * k as f64 / steps as f64;
        let mut calls = 0;
        for k in 0..steps {
            self.write(&inputs[k * self.width..(k + 1) * self.width])?;
            self.leap(at(k), at(k + 1), 0, &mut calls)?;
        }
        Ok(calls)
    }

    /// One step of the FMU, halved where it discards it.
    fn leap(&mut self, from: f64, to: f64, halvings: u32, calls: &mut u64) -> Result<(), String> {
        if let Some(fixed) = self.fixed_step {
            check_fixed(fixed, to - from)?;
        }
        *calls += 1;
        match self.instance.step(from, to - from)? {
            Stepped::Done => Ok(()),
            Stepped::Ended => Err(format!(
                "it asks for the end of the simulation at t = {from} s"
            )),
            Stepped::Discarded if self.may_be_halved && halvings < HALVINGS => {
                let middle = 0.5 * (from + to);
                self.leap(from, middle, halvings + 1, calls)?;
                self.leap(middle, to, halvings + 1, calls)
            }
            Stepped::Discarded => Err(format!(
                "it discards a step of {} s at t = {from} s",
                to - from
            )),
        }
    }

    /// Keeps the present state in a place.
    pub fn keep(&mut self, place: usize) -> Result<(), String> {
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, Kept::default);
        }
        self.instance.keep(&mut self.kept[place])
    }

    /// Goes back to the state in a place.
    pub fn return_to(&mut self, place: usize) -> Result<(), String> {
        match self.kept.get(place) {
            Some(kept) => self.instance.return_to(kept),
            None => Err("it has no such state".into()),
        }
    }

    /// The present state as bytes.
    pub fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        self.instance.save(bytes)
    }

    /// Goes back to a state.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.instance.restore(bytes)
    }

    /// Tells the process that watches that no call is running.
    pub fn rest(&self) {
        self.instance.rest();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.instance.keeps_states() {
            for kept in &mut self.kept {
                self.instance.free(kept);
            }
        }
    }
}

/// Whether a step is a multiple of the only one that an FMU can do.
pub(crate) fn check_fixed(fixed: f64, step: f64) -> Result<(), String> {
    let ratio = step / fixed;
    if (ratio - ratio.round()).abs() > WHOLE * ratio.max(1.0) || ratio < 1.0 - WHOLE {
        return Err(format!(
            "its own step of {fixed} s does not divide the step of {step} s; choose a macro step or micro steps that are \
             multiples of it"
        ));
    }
    Ok(())
}
