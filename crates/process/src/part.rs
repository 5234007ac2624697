//! A program as a subsystem.

use std::sync::{Arc, Mutex, PoisonError};

use oldham_cosim::{
    ForeignState, Inputs, Ports, Reached, Remote, State, StepError, Subsystem, Ticket, Visitor,
};

use crate::conversation::Conversation;

/// A program that was met and has not taken a step, for the next one who needs it.
pub(crate) type Kept = Arc<Mutex<Option<Box<dyn Conversation>>>>;

/// A program that takes part in a co-simulation.
pub(crate) struct ProcessPart {
    ports: Ports,
    /// Nothing only while it is given back.
    conversation: Option<Box<dyn Conversation>>,
    kept: Kept,
    feeds_through: bool,
    keeps_states: bool,
    has_begun: bool,
    is_begun: bool,
    /// Inputs at the start and at the end of a step.
    before: Vec<f64>,
    after: Vec<f64>,
    /// The outputs that are known, and the inputs that belong to them.
    known: Option<(Vec<f64>, Vec<f64>)>,
    failure: Option<String>,
    present: Option<Ticket>,
    next: u64,
    free: Arc<Mutex<Vec<u64>>>,
    steps: u64,
}

/// A state that the program keeps under a number.
struct KeptState {
    number: u64,
    has_begun: bool,
    free: Arc<Mutex<Vec<u64>>>,
}

impl Drop for KeptState {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.number);
    }
}

impl ProcessPart {
    pub fn new(ports: Ports, conversation: Box<dyn Conversation>, kept: Kept) -> Self {
        Self {
            feeds_through: ports.has_feedthrough(),
            keeps_states: conversation.keeps_states(),
            before: vec![0.0; ports.input_width()],
            after: vec![0.0; ports.input_width()],
            ports,
            conversation: Some(conversation),
            kept,
            has_begun: false,
            is_begun: false,
            known: None,
            failure: None,
            present: None,
            next: 0,
            free: Arc::default(),
            steps: 0,
        }
    }

    fn program(&mut self) -> Result<&mut Box<dyn Conversation>, String> {
        self.conversation
            .as_mut()
            .ok_or_else(|| "it is gone".into())
    }

    fn check(&mut self) -> Result<(), StepError> {
        match self.failure.take() {
            Some(failure) => Err(StepError::Foreign(failure)),
            None => Ok(()),
        }
    }

    fn begin_step(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.check()?;
        inputs.at(from, &mut self.before);
        inputs.at(to, &mut self.after);
        self.present = None;
        self.known = None;
        self.has_begun = true;
        let Self {
            conversation,
            before,
            after,
            ..
        } = self;
        let Some(program) = conversation else {
            return Err(StepError::Foreign("it is gone".into()));
        };
        program
            .begin(from, to, [before, after])
            .map_err(StepError::Foreign)
    }

    fn note(&mut self, done: Result<(), String>) {
        if let Err(failure) = done {
            self.failure.get_or_insert(failure);
        }
    }
}

impl Subsystem for ProcessPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        if !std::mem::take(&mut self.is_begun) {
            self.begin_step(from, to, inputs)?;
        }
        let mut outputs = vec![0.0; self.ports.output_width()];
        let program = self.program().map_err(StepError::Foreign)?;
        let finished = program.finish(&mut outputs, &|| inputs.is_cancelled());
        finished.map_err(StepError::Foreign)?;
        self.steps += 1;
        self.known = Some((self.after.clone(), outputs));
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.check()?;
        if let Some((known, found)) = &self.known
            && (same(known, inputs) || (self.has_begun && !self.feeds_through))
        {
            outputs.copy_from_slice(found);
            return Ok(());
        }
        let (has_begun, program) = (self.has_begun, self.program());
        let asked = program.and_then(|program| match has_begun {
            false => program.start(t, inputs, outputs),
            true => program.outputs(t, inputs, outputs),
        });
        asked.map_err(StepError::Foreign)?;
        self.known = Some((inputs.to_vec(), outputs.to_vec()));
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        match self.keeps_states {
            true => Some(self),
            false => None,
        }
    }

    fn remote(&mut self) -> Option<&mut dyn Remote> {
        Some(self)
    }

    fn counters(&self) -> oldham_cosim::Counters {
        oldham_cosim::Counters {
            micro_steps: self.steps,
            ..Default::default()
        }
    }
}

impl Remote for ProcessPart {
    fn begin(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.begin_step(from, to, inputs)?;
        self.is_begun = true;
        Ok(())
    }
}

/// Whether all numbers have the same bits.
fn same(one: &[f64], other: &[f64]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(a, b)| a.to_bits() == b.to_bits())
}

impl State for ProcessPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.foreign(self);
    }
}

impl ForeignState for ProcessPart {
    fn ticket(&mut self) -> Ticket {
        if let Some(present) = &self.present {
            return present.clone();
        }
        let freed = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let number = freed.unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        if self.has_begun {
            let kept = self.program().and_then(|program| program.keep(number));
            self.note(kept);
        }
        let ticket: Ticket = Arc::new(KeptState {
            number,
            has_begun: self.has_begun,
            free: self.free.clone(),
        });
        self.present = Some(ticket.clone());
        ticket
    }

    fn return_to(&mut self, ticket: &Ticket) {
        let present = self.present.as_ref();
        if present.is_some_and(|present| Arc::ptr_eq(present, ticket)) {
            return;
        }
        let kept = ticket.downcast_ref::<KeptState>();
        let own = kept.filter(|kept| Arc::ptr_eq(&kept.free, &self.free));
        let Some(kept) = own else {
            return self.note(Err("the state is of another program".into()));
        };
        self.known = None;
        let returned = match kept.has_begun {
            true => self
                .program()
                .and_then(|program| program.return_to(kept.number)),
            // It starts anew when it is asked for outputs.
            false => Ok(()),
        };
        self.has_begun = kept.has_begun;
        self.is_begun = false;
        self.present = Some(ticket.clone());
        self.note(returned);
    }

    fn can_be_kept(&self) -> bool {
        false
    }

    fn keep(&mut self, _: &mut Vec<u64>) {
        self.note(Err("its state cannot be written".into()));
    }

    fn take(&mut self, _: &[u64]) {
        self.note(Err("its state cannot be read".into()));
    }
}

impl Drop for ProcessPart {
    /// A program that has not taken a step is there for the next one.
    fn drop(&mut self) {
        if let Some(conversation) = self.conversation.take()
            && conversation.may_be_used_again()
            && self.failure.is_none()
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert(conversation);
        }
    }
}
