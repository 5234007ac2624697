//! An FMU that cannot save its state: what was done to its instance, so that a fresh one can be led to where it is.

use std::sync::Arc;

use oldham_cosim::Ticket;

use crate::part::Phase;
use crate::session::Setup;

/// Calls that a fresh instance is led through at most when that is first asked for, and numbers among them.
const MOST_CALLS: usize = 4096;
const MOST_NUMBERS: usize = 1 << 20;
/// How many times as many there may be in the end: an analysis leads it on.
const LONGER: usize = 16;

/// A call that changes an instance.
pub(crate) enum Call {
    Initialise(f64),
    Start(f64, Box<[f64]>),
    Advance([f64; 2], Box<[f64]>),
    /// Outputs that were asked for with inputs.
    Outputs(f64, Box<[f64]>),
}

impl Call {
    fn numbers(&self) -> usize {
        match self {
            Self::Initialise(_) => 0,
            Self::Start(_, given) | Self::Advance(_, given) | Self::Outputs(_, given) => {
                given.len()
            }
        }
    }
}

/// The calls that an instance has got since it was made, in their order.
#[derive(Clone, Default)]
struct Calls {
    all: Vec<Arc<Call>>,
    numbers: usize,
    /// There were too many: they are not known any more.
    is_lost: bool,
}

impl Calls {
    fn are(&self, other: &Self) -> bool {
        let last = |calls: &Self| calls.all.last().cloned();
        let same_end = match (last(self), last(other)) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a, &b),
            (None, None) => true,
            _ => false,
        };
        same_end && self.all.len() == other.all.len() && !self.is_lost && !other.is_lost
    }
}

/// A state that an instance is led to.
struct Led {
    calls: Calls,
    phase: Phase,
    owner: Arc<()>,
}

/// All that it takes to lead a fresh instance to where one is.
pub(crate) struct Anew {
    /// How instances are made.
    pub setup: Setup,
    calls: Calls,
    /// Its state is asked for.
    pub is_wanted: bool,
    /// The instance is not where these calls lead.
    is_due: bool,
    owner: Arc<()>,
}

impl Anew {
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            calls: Calls::default(),
            is_wanted: false,
            is_due: false,
            owner: Arc::new(()),
        }
    }

    /// From now on its state is asked for; or why it has none.
    pub fn want(&mut self) -> Result<(), String> {
        if self.calls.is_lost {
            return Err(format!(
                "cannot save its state, and has come further than the {MOST_CALLS} calls through which a fresh instance is led there; look at an earlier time"
            ));
        }
        self.is_wanted = true;
        Ok(())
    }

    /// Notes what is done to the instance.
    pub fn note(&mut self, call: impl FnOnce() -> Call) {
        if self.calls.is_lost {
            return;
        }
        let call = call();
        self.calls.numbers += call.numbers();
        self.calls.all.push(Arc::new(call));
        let longer = if self.is_wanted { LONGER } else { 1 };
        let is_long = self.calls.all.len() > longer * MOST_CALLS;
        if is_long || self.calls.numbers > longer * MOST_NUMBERS {
            self.calls = Calls {
                is_lost: true,
                ..Calls::default()
            };
        }
    }

    /// What stands for the present state.
    pub fn ticket(&self, phase: Phase) -> Ticket {
        Arc::new(Led {
            calls: self.calls.clone(),
            phase,
            owner: self.owner.clone(),
        })
    }

    /// The state of a ticket becomes the present one: an instance is led there when it is called next. Says how far that
    /// has come.
    pub fn return_to(&mut self, ticket: &Ticket) -> Result<Phase, String> {
        let led = ticket.downcast_ref::<Led>();
        let own = led.filter(|led| Arc::ptr_eq(&led.owner, &self.owner));
        let led = own.ok_or("the state is of another instance")?;
        if led.calls.is_lost {
            return Err("it came too far for a fresh instance to be led there".into());
        }
        if !self.calls.are(&led.calls) {
            self.calls = led.calls.clone();
            self.is_due = true;
        }
        Ok(led.phase)
    }

    /// The calls that a fresh instance needs before anything else is done, if one is needed.
    pub fn due(&mut self) -> Option<Vec<Arc<Call>>> {
        std::mem::take(&mut self.is_due).then(|| self.calls.all.clone())
    }
}
