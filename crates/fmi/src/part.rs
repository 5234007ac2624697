//! An FMU as a subsystem.

use std::sync::{Arc, Mutex, PoisonError};

use oldham_cosim::{
    ForeignState, Inputs, Ports, Reached, Remote, Replay, State, StepError, Subsystem, Ticket,
    Visitor,
};

use crate::anew::{Anew, Call};
use crate::bundle::Bundle;
use crate::description::{
    Causality, Description, Interface, Kind, ModelExchange, Variability, Variable,
};
use crate::package::Package;
use crate::plan::{Derived, Plan};
use crate::runner::Runner;
use crate::session::{Exchanged, Setup};
use crate::worker::Proxy;

/// The value of a parameter, or the start value of another variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number, in SI; an array is filled with it.
    Number(f64),
    /// The numbers of an array, in SI.
    Numbers(Vec<f64>),
    /// True or false.
    Flag(bool),
    /// Text, or the name of an enumeration.
    Text(String),
}

/// Where the library of an FMU runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Where {
    /// In this process: fastest, and a crash of it is one of this process.
    Here,
    /// In a process of its own, which is ended when a call takes longer than so many seconds.
    Away {
        /// The longest call in s.
        timeout: f64,
    },
}

/// What a model says of an FMU.
#[derive(Clone, Debug)]
pub struct Options {
    /// Parameters and start values, by the names of variables.
    pub settings: Vec<(String, Setting)>,
    /// Variables that are one port.
    pub bundles: Vec<Bundle>,
    /// The relative tolerance of its solver.
    pub tolerance: Option<f64>,
    /// Where it runs.
    pub place: Where,
    /// Which of its interfaces is used; co-simulation where it has both and nothing is said.
    pub interface: Option<Interface>,
    /// Whether inputs go on within its steps as they are predicted, where the FMU can do that. Else they are held.
    pub interpolates: bool,
}

impl Options {
    /// The interface of an FMU that is used, if it has that.
    pub fn interface_of(&self, description: &Description) -> Result<Interface, String> {
        let has_steps = description.co_simulation.is_some();
        let has_rates = description.model_exchange.is_some();
        match (self.interface, has_steps, has_rates) {
            (None | Some(Interface::CoSimulation), true, _) => Ok(Interface::CoSimulation),
            (None | Some(Interface::ModelExchange), _, true) => Ok(Interface::ModelExchange),
            (Some(Interface::CoSimulation), ..) => {
                Err("it is not made for co-simulation, but for model exchange".into())
            }
            (Some(Interface::ModelExchange), ..) => {
                Err("it is not made for model exchange, but for co-simulation".into())
            }
            (None, ..) => Err("it is made neither for co-simulation nor for model exchange".into()),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            bundles: Vec::new(),
            tolerance: None,
            place: Where::Here,
            interface: None,
            interpolates: true,
        }
    }
}

/// An instance of an FMU that takes part in a co-simulation.
///
/// Inputs are held within a step of the FMU, or go on within it as they are predicted where the FMU can do that. Outputs
/// that depend on inputs at once are asked for with the inputs that the schedule gives.
pub struct FmuPart {
    ports: Ports,
    runner: Runner,
    received: Vec<Derived>,
    sent: Vec<Derived>,
    /// Numbers that are received and sent, those behind the ports among them.
    widths: [usize; 2],
    micro_steps: usize,
    interpolates: bool,
    has_state: bool,
    has_bytes: bool,
    /// Whether some output depends on an input at once.
    feeds_through: bool,
    phase: Phase,
    /// Inputs of all steps of an advance, one after the other.
    given: Vec<f64>,
    found: Vec<f64>,
    /// Numbers whose rates are asked for, as they were when the last step began, and how long that is ago.
    before: Vec<f64>,
    span: f64,
    /// Its advance has begun elsewhere.
    is_begun: bool,
    /// Why its state could not be saved or restored: told at the next call.
    failure: Option<String>,
    /// What stands for the present state, as long as that is so.
    present: Option<Ticket>,
    places: Arc<Mutex<Places>>,
    /// How it is made anew, where it cannot save its state.
    anew: Option<Box<Anew>>,
    steps: u64,
}

/// Places of states that the FMU keeps: those that nobody needs are used again.
#[derive(Default)]
struct Places {
    free: Vec<usize>,
    count: usize,
}

/// A state that the FMU keeps.
struct KeptState {
    place: usize,
    phase: Phase,
    places: Arc<Mutex<Places>>,
}

impl Drop for KeptState {
    fn drop(&mut self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.free.push(self.place);
    }
}

/// How far an instance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Made,
    Initialising,
    Running,
}

impl Phase {
    fn number(self) -> u64 {
        match self {
            Self::Made => 0,
            Self::Initialising => 1,
            Self::Running => 2,
        }
    }

    fn of(number: u64) -> Self {
        match number {
            0 => Self::Made,
            1 => Self::Initialising,
            _ => Self::Running,
        }
    }
}

/// A setting as a number in SI, where it fits the variable.
fn number(variable: &Variable, setting: &Setting) -> Option<f64> {
    match (&variable.kind, setting) {
        (Kind::Boolean, Setting::Flag(flag)) => Some(f64::from(u8::from(*flag))),
        (Kind::Enumeration(items), Setting::Text(text)) => {
            let item = items.iter().find(|(name, _)| name == text)?;
            Some(item.1 as f64)
        }
        (Kind::Float64 | Kind::Float32, Setting::Number(value)) => Some(*value),
        (Kind::Whole(..) | Kind::Enumeration(_), Setting::Number(value))
            if value.fract() == 0.0 =>
        {
            Some(*value)
        }
        _ => None,
    }
}

/// Whether a setting fits a variable; the error says what does.
pub(crate) fn fits(variable: &Variable, setting: &Setting) -> Result<(), String> {
    let is_open = match variable.causality {
        Causality::Parameter | Causality::StructuralParameter | Causality::Input => true,
        Causality::Output | Causality::Local => {
            variable.start.is_some() && variable.variability != Variability::Constant
        }
        _ => false,
    };
    if !is_open {
        return Err("its value follows from others and cannot be given".into());
    }
    if variable.kind == Kind::String && matches!(setting, Setting::Text(_)) {
        return Ok(());
    }
    if let Setting::Numbers(numbers) = setting {
        let width = variable.width();
        return match variable.kind.is_real() {
            false => Err(format!("it is a {}", variable.kind.word())),
            true if width.is_some_and(|width| width != numbers.len()) => Err(format!(
                "it has {} numbers, not {}",
                width.unwrap_or(0),
                numbers.len()
            )),
            true => Ok(()),
        };
    }
    match number(variable, setting) {
        Some(_) => Ok(()),
        None => Err(match &variable.kind {
            Kind::Enumeration(items) => {
                let names: Vec<String> = items
                    .iter()
                    .map(|(name, _)| format!("\"{name}\""))
                    .collect();
                format!("it is an enumeration: possible are {}", names.join(", "))
            }
            Kind::Boolean => "it is a Boolean: possible are true and false".into(),
            kind => format!("it is a {}", kind.word()),
        }),
    }
}

/// A description with the lengths of arrays that follow from these settings.
pub(crate) fn structured(description: &Description, settings: &[(String, Setting)]) -> Description {
    description.with_structure(|variable| {
        let mut all = settings.iter();
        let (_, setting) = all.find(|(name, _)| *name == variable.name)?;
        number(variable, setting)
    })
}

fn exchanged(can: &ModelExchange, description: &Description) -> Exchanged {
    let width = |reference: &u32| {
        let mut all = description.variables.iter();
        let variable = all.find(|variable| variable.reference == *reference);
        variable.and_then(Variable::width).unwrap_or(1)
    };
    Exchanged {
        states: can.derivatives.iter().map(width).sum(),
        indicators: can.event_indicators,
        wants_steps: can.wants_steps,
    }
}

/// Clocks are not ticked here: an FMU that needs it is refused by name.
pub(crate) fn refuse_clocks(description: &Description, interface: Interface) -> Result<(), String> {
    let has_events = match interface {
        Interface::ModelExchange => true,
        Interface::CoSimulation => {
            let can = description.co_simulation.as_ref();
            can.is_some_and(|can| can.has_event_mode)
        }
    };
    let mut inputs = description.of(Causality::Input);
    match inputs.find(|variable| variable.kind == Kind::Clock) {
        Some(clock) if has_events => Err(format!(
            "it needs its clock `{}` to be ticked, which is not supported",
            clock.name
        )),
        _ => Ok(()),
    }
}

impl FmuPart {
    /// A new instance that takes so many steps within a macro step.
    pub fn new(
        package: &Arc<Package>,
        options: &Options,
        micro_steps: usize,
    ) -> Result<Self, String> {
        let description = structured(package.description(), &options.settings);
        let interface = options.interface_of(&description)?;
        refuse_clocks(&description, interface)?;
        let plan = Plan::of(&description, &options.settings, &options.bundles)
            .map_err(|(_, error)| error.message)?;
        let origin = package.origin(interface);
        let (has_state, has_bytes) = (origin.has_state, origin.has_bytes);
        let steps = description.co_simulation.as_ref();
        let steps = steps.filter(|_| interface == Interface::CoSimulation);
        let exchange = description.model_exchange.as_ref();
        let exchange = exchange.filter(|_| interface == Interface::ModelExchange);
        let mut setup = Setup {
            structure: Vec::new(),
            numbers: Vec::new(),
            texts: Vec::new(),
            received: plan.received.groups,
            sent: plan.sent.groups,
            widths: [plan.received.width, plan.sent.width],
            tolerance: options.tolerance,
            fixed_step: steps.and_then(|can| can.fixed_step),
            may_be_halved: steps.is_some_and(|can| can.has_variable_step),
            interpolates: options.interpolates && (exchange.is_some() || origin.takes_rates),
            exchange: exchange.map(|can| exchanged(can, &description)),
            origin,
        };
        for (name, setting) in &options.settings {
            let variable = description
                .variable(name)
                .ok_or_else(|| format!("it has no variable `{name}`"))?;
            fits(variable, setting).map_err(|error| format!("`{name}`: {error}"))?;
            let conversion = &variable.conversion;
            let values = match (setting, number(variable, setting)) {
                (Setting::Text(text), None) => {
                    setup.texts.push((variable.reference, text.clone()));
                    continue;
                }
                (Setting::Numbers(numbers), _) => {
                    let numbers = numbers.iter();
                    numbers.map(|number| conversion.from_si(*number)).collect()
                }
                (_, Some(value)) => {
                    vec![conversion.from_si(value); variable.width().unwrap_or(1)]
                }
                _ => continue,
            };
            let numbers = match variable.causality {
                Causality::StructuralParameter => &mut setup.structure,
                _ => &mut setup.numbers,
            };
            numbers.push((variable.kind.clone(), variable.reference, values));
        }
        let micro_steps = micro_steps.max(1);
        let widths = setup.widths;
        let feeds_through = plan.ports.has_feedthrough();
        let runner = match options.place {
            Where::Here => Runner::here(&setup, package)?,
            Where::Away { timeout } => {
                let proxy = Proxy::new(&setup, package, micro_steps, feeds_through, timeout)?;
                Runner::Away(Box::new(proxy))
            }
        };
        let rates = plan.sent.derived.iter();
        let rates = rates.filter(|derived| matches!(derived, Derived::Rate { .. }));
        Ok(Self {
            before: vec![0.0; rates.count()],
            span: 0.0,
            feeds_through,
            interpolates: setup.interpolates,
            given: vec![0.0; widths[0] * (micro_steps + 1)],
            found: vec![0.0; widths[1]],
            received: plan.received.derived,
            sent: plan.sent.derived,
            widths,
            ports: plan.ports,
            runner,
            micro_steps,
            has_state,
            has_bytes,
            phase: Phase::Made,
            is_begun: false,
            failure: None,
            present: None,
            places: Arc::default(),
            anew: (!has_state).then(|| Box::new(Anew::new(setup))),
            steps: 0,
        })
    }

    fn check(&mut self) -> Result<(), StepError> {
        if let Some(failure) = self.failure.take() {
            return Err(StepError::Foreign(failure));
        }
        self.lead().map_err(StepError::Foreign)
    }

    /// Leads a fresh instance to the present state, if this is to be another than it was.
    fn lead(&mut self) -> Result<(), String> {
        let Some((anew, calls)) = self.anew.as_deref_mut().and_then(|anew| {
            let calls = anew.due()?;
            Some((anew, calls))
        }) else {
            return Ok(());
        };
        self.runner.renew(&anew.setup)?;
        for call in calls {
            match &*call {
                Call::Initialise(t) => self.runner.initialise(*t)?,
                Call::Start(t, given) => self.runner.start(*t, given)?,
                Call::Advance([from, to], given) => {
                    self.runner.begin(*from, *to, self.micro_steps, given)?;
                    self.runner.finish(&|| false)?;
                }
                Call::Outputs(t, given) => {
                    self.runner.outputs(*t, Some(given), &mut self.found)?;
                }
            }
        }
        Ok(())
    }

    /// Notes what is done to the instance, where another one must be led to the same state.
    fn log(&mut self, call: impl FnOnce(&[f64]) -> Call) {
        if let Some(anew) = &mut self.anew {
            anew.note(|| call(&self.given));
        }
    }

    fn initialise(&mut self, t: f64) -> Result<(), String> {
        if self.phase == Phase::Made {
            self.present = None;
            self.log(|_| Call::Initialise(t));
            self.runner.initialise(t)?;
            self.phase = Phase::Initialising;
        }
        Ok(())
    }

    /// The inputs at time t, and what follows from them, for one of the steps.
    fn take(&mut self, t: f64, step: usize, inputs: &mut Inputs) {
        let given = &mut self.given[step * self.widths[0]..(step + 1) * self.widths[0]];
        inputs.at(t, &mut given[..self.ports.input_width()]);
        for derived in &self.received {
            derived.find(given);
        }
    }

    /// Begins an advance; where the library runs here, it is done then.
    fn begin_step(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.check()?;
        let mut begin = || {
            self.initialise(from)?;
            if self.phase == Phase::Initialising {
                self.take(from, 0, inputs);
                self.present = None;
                let width = self.widths[0];
                self.log(|given| Call::Start(from, given[..width].into()));
                self.runner.start(from, &self.given[..width])?;
                self.phase = Phase::Running;
            }
            if !self.before.is_empty() {
                self.note_before(from)?;
                self.span = to - from;
            }
            let steps = self.micro_steps;
            let at = |k: usize| from + (to - from) * k as f64 / steps as f64;
            (0..steps).for_each(|k| self.take(at(k), k, inputs));
            if self.interpolates || self.runner.looks_ahead() {
                self.take(to, steps, inputs);
            }
            self.present = None;
            self.log(|given| Call::Advance([from, to], given.into()));
            self.runner.begin(from, to, steps, &self.given)
        };
        begin().map_err(StepError::Foreign)
    }

    /// What is differentiated, as it is now.
    fn note_before(&mut self, t: f64) -> Result<(), String> {
        self.runner.outputs(t, None, &mut self.found)?;
        let mut next = 0;
        for derived in &self.sent {
            if let Derived::Rate { of, .. } = derived {
                self.before[next] = self.found[*of];
                next += 1;
            }
        }
        Ok(())
    }

    /// The numbers that were read become those of the ports.
    fn show(&mut self, outputs: &mut [f64]) {
        let mut next = 0;
        for derived in &self.sent {
            derived.find(&mut self.found);
            if let Derived::Rate { of, rate } = *derived {
                self.found[rate] = match self.span > 0.0 {
                    true => (self.found[of] - self.before[next]) / self.span,
                    false => 0.0,
                };
                next += 1;
            }
        }
        let width = outputs.len();
        outputs.copy_from_slice(&self.found[..width]);
    }
}

impl Subsystem for FmuPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        if !std::mem::take(&mut self.is_begun) {
            self.begin_step(from, to, inputs)?;
        }
        let finished = self.runner.finish(&|| inputs.is_cancelled());
        self.steps += finished.map_err(StepError::Foreign)?;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.check()?;
        let mut read = || {
            self.initialise(t)?;
            let writes = self.feeds_through || self.phase == Phase::Initialising;
            if writes {
                let given = &mut self.given[..self.widths[0]];
                given[..inputs.len()].copy_from_slice(inputs);
                for derived in &self.received {
                    derived.find(given);
                }
            }
            if writes {
                let width = self.widths[0];
                self.log(|given| Call::Outputs(t, given[..width].into()));
            }
            let given = writes.then_some(&self.given[..self.widths[0]]);
            if self.sent.is_empty() {
                return self.runner.outputs(t, given, outputs).map(|called| {
                    if writes && called {
                        self.present = None;
                    }
                });
            }
            let called = self.runner.outputs(t, given, &mut self.found)?;
            if writes && called {
                self.present = None;
            }
            self.show(outputs);
            Ok(())
        };
        read().map_err(StepError::Foreign)
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        let by_replay = self.anew.as_ref().is_some_and(|anew| anew.is_wanted);
        match self.has_state || by_replay {
            true => Some(self),
            false => None,
        }
    }

    fn replay(&mut self) -> Option<&mut dyn Replay> {
        self.anew.as_deref_mut().map(|anew| anew as &mut dyn Replay)
    }

    fn remote(&mut self) -> Option<&mut dyn Remote> {
        match self.runner {
            Runner::Here { .. } => None,
            Runner::Away(_) => Some(self),
        }
    }

    fn counters(&self) -> oldham_cosim::Counters {
        oldham_cosim::Counters {
            micro_steps: self.steps,
            ..Default::default()
        }
    }
}

impl Remote for FmuPart {
    fn begin(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.begin_step(from, to, inputs)?;
        self.is_begun = true;
        Ok(())
    }
}

impl Replay for Anew {
    fn by_replay(&mut self) -> Result<(), String> {
        self.want()
    }
}

impl State for FmuPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(&mut self.before);
        visitor.fixed(std::slice::from_mut(&mut self.span));
        visitor.foreign(self);
    }
}

impl FmuPart {
    /// A failure of something that cannot tell.
    fn note(&mut self, done: Result<(), String>) {
        if let Err(failure) = done {
            self.failure.get_or_insert(failure);
        }
    }
}

impl ForeignState for FmuPart {
    fn ticket(&mut self) -> Ticket {
        if let Some(present) = &self.present {
            return present.clone();
        }
        if let Some(anew) = &self.anew {
            return anew.ticket(self.phase);
        }
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.free.pop().unwrap_or_else(|| {
                places.count += 1;
                places.count - 1
            })
        };
        if self.phase != Phase::Made {
            let kept = self.runner.keep(place);
            self.note(kept);
        }
        let ticket: Ticket = Arc::new(KeptState {
            place,
            phase: self.phase,
            places: self.places.clone(),
        });
        self.present = Some(ticket.clone());
        ticket
    }

    fn return_to(&mut self, ticket: &Ticket) {
        let is_present = self.present.as_ref();
        if is_present.is_some_and(|present| Arc::ptr_eq(present, ticket)) {
            return;
        }
        if let Some(anew) = &mut self.anew {
            let returned = anew.return_to(ticket).map(|phase| self.phase = phase);
            self.is_begun = false;
            return self.note(returned);
        }
        let kept = ticket.downcast_ref::<KeptState>();
        let own = kept.filter(|kept| Arc::ptr_eq(&kept.places, &self.places));
        let Some(kept) = own else {
            return self.note(Err("the state is of another instance".into()));
        };
        let returned = match (kept.phase, self.phase) {
            (Phase::Made, Phase::Made) => Ok(()),
            (Phase::Made, _) => Err("it cannot go back to before its initialisation".into()),
            _ => self.runner.return_to(kept.place),
        };
        self.phase = kept.phase;
        self.is_begun = false;
        self.present = Some(ticket.clone());
        self.note(returned);
    }

    fn can_be_kept(&self) -> bool {
        self.has_bytes
    }

    /// How far it has come, how many bytes there are, and these.
    fn keep(&mut self, words: &mut Vec<u64>) {
        let mut bytes = Vec::new();
        if self.phase != Phase::Made {
            let saved = self.runner.save(&mut bytes);
            self.note(saved);
        }
        words.push(self.phase.number());
        words.push(bytes.len() as u64);
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        words.extend(bytes.chunks(8).map(word));
    }

    fn take(&mut self, words: &[u64]) {
        let [phase, count, words @ ..] = words else {
            return self.note(Err("its saved state is cut off".into()));
        };
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let bytes: Vec<u8> = bytes.take(*count as usize).collect();
        let (before, phase) = (self.phase, Phase::of(*phase));
        self.present = None;
        self.is_begun = false;
        let mut restore = || match (before, phase) {
            (Phase::Made, Phase::Made) => Ok(()),
            (_, Phase::Made) => Err("it cannot go back to before its initialisation".to_owned()),
            (Phase::Made, _) => {
                self.runner.initialise(0.0)?;
                self.runner.restore(&bytes)
            }
            _ => self.runner.restore(&bytes),
        };
        let restored = restore();
        self.phase = phase;
        self.note(restored);
    }
}
