//! One subsystem inside a simulation: with its inputs, its accounts and its places on the board.

mod compensation;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::balance::Account;
use crate::board::Board;
use crate::fault::Fault;
use crate::inputs::Inputs;
use crate::port::{InputPort, OutputPort, Ports};
use crate::schedule::SubsystemId;
use crate::sequence::SequenceModel;
use crate::state::{Snapshot, State, Visitor};
use crate::subsystem::{Counters, Energy, Linearisation, StepError, Subsystem};

/// Energy cells of a unit on the board: kinetic, potential, dissipated, supplied.
pub(crate) const ENERGY_CELLS: usize = 4;

/// A connection, seen from its receiver.
#[derive(Clone)]
pub(crate) struct Link {
    pub sender: SubsystemId,
    /// The sender releases its outputs every so many macro steps.
    pub every: u64,
    pub port: InputPort,
    /// Place of the value in the receiver's input vector.
    pub input: Range<usize>,
    /// Place of the value among the sender's outputs on the board (first of the two buffers).
    pub sent: usize,
    /// Place of the iterate of a tight step on the board.
    pub iterate: usize,
    /// Place of the sender's event flag on the board (first of the two buffers).
    pub event: usize,
}

/// Which senders have sent.
#[derive(Clone, Copy)]
pub(crate) enum Delivery {
    /// All of them.
    All,
    /// Those whose outputs depend directly on inputs.
    Refreshed,
    /// The members of this phase.
    Phase(usize),
}

/// The connections that lead to a unit, sorted once by when their senders send.
#[derive(Default)]
pub(crate) struct Links {
    all: Vec<Link>,
    refreshed: Vec<Link>,
    by_phase: Vec<Vec<Link>>,
}

impl Links {
    /// `sends` tells for each phase which subsystems send in it, `refreshes` which of them have
    /// direct feedthrough.
    pub fn new(all: Vec<Link>, sends: &[Vec<bool>], refreshes: &[bool]) -> Self {
        let of = |sends: &[bool]| -> Vec<Link> {
            let links = all.iter().filter(|link| sends[link.sender.0]);
            links.cloned().collect()
        };
        Self {
            refreshed: of(refreshes),
            by_phase: sends.iter().map(|sends| of(sends)).collect(),
            all,
        }
    }

    fn of(&self, delivery: Delivery) -> &[Link] {
        match delivery {
            Delivery::Phase(phase) => &self.by_phase[phase],
            Delivery::Refreshed => &self.refreshed,
            Delivery::All => &self.all,
        }
    }

    pub fn all(&self) -> &[Link] {
        &self.all
    }
}

impl Link {
    /// Whether the sender releases its outputs when so many macro steps are done.
    fn is_due(&self, steps_done: u64) -> bool {
        self.every == 1 || steps_done.is_multiple_of(self.every)
    }
}

/// What the leader wants to know besides the outputs.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub energy: bool,
    /// The accounts of interfaces, up to the exchange that was just made.
    pub accounts: bool,
}

/// Where a unit writes on the board.
pub(crate) struct Places {
    /// Outputs, then the event flag; the second buffer follows at `stride`.
    pub outputs: usize,
    pub stride: usize,
    /// Outputs, works of the accounts and energies, for the leader.
    pub report: usize,
}

pub(crate) struct Unit {
    pub name: String,
    pub subsystem: Box<dyn Subsystem>,
    pub inputs: Inputs,
    pub links: Links,
    /// Connections that only the compensator listens to.
    remote: Links,
    pub accounts: Vec<Account>,
    pub places: Places,
    /// Advances every so many macro steps, over as many.
    pub every: u64,
    input_values: Vec<f64>,
    output_values: Vec<f64>,
    /// What the others may see; lags behind `output_values` when `every` is more than one.
    released: Vec<f64>,
    /// One value of any link.
    transfer: Vec<f64>,
    event: bool,
    saved: Snapshot,
    /// Values received since the start.
    pub received: u64,
    /// Work at inputs that are driven from outside, and whether it is taken or given.
    pub driven: Vec<(Account, f64)>,
    starting: Starting,
    /// Whether work is accounted for.
    keeps_accounts: bool,
    /// The accounts of the coming step are opened already, and nothing has arrived since.
    is_open: bool,
}

/// The outputs that accounts need at the start of a step.
enum Starting {
    Nothing,
    Few(Vec<OutputPort>),
    /// Also where only most of them are needed: to pick them out would take longer.
    All,
}

impl Starting {
    fn is_any(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// The ports to which these places in the output vector belong.
    fn new(places: &[usize], ports: &Ports) -> Self {
        let all = (0..ports.outputs().len()).map(OutputPort);
        let is_needed = |port: &OutputPort| {
            let range = ports.output_range(*port);
            places.iter().any(|place| range.contains(place))
        };
        let needed: Vec<OutputPort> = all.filter(is_needed).collect();
        let widths = needed.iter().map(|&port| ports.output_range(port).len());
        let width: usize = widths.sum();
        if needed.is_empty() {
            Self::Nothing
        } else if 2 * width < ports.output_width() {
            Self::Few(needed)
        } else {
            Self::All
        }
    }
}

impl Unit {
    pub fn new(name: String, subsystem: Box<dyn Subsystem>, inputs: Inputs) -> Self {
        let ports = subsystem.ports();
        let (wide, tall) = (ports.input_width(), ports.output_width());
        Self {
            name,
            inputs,
            links: Links::default(),
            remote: Links::default(),
            accounts: Vec::new(),
            places: Places {
                outputs: 0,
                stride: 0,
                report: 0,
            },
            every: 1,
            input_values: vec![0.0; wide],
            output_values: vec![0.0; tall],
            released: vec![0.0; tall],
            transfer: vec![0.0; wide],
            event: false,
            saved: Snapshot::default(),
            received: 0,
            driven: Vec::new(),
            starting: Starting::Nothing,
            keeps_accounts: true,
            is_open: false,
            subsystem,
        }
    }

    /// Corrects the step for what has arrived since, and evaluates the outputs again.
    pub fn correct(&mut self, from: f64, to: f64) -> Result<(), Fault> {
        self.inputs.at(to, &mut self.input_values);
        let corrected = self.subsystem.correct(to, &self.input_values);
        corrected.map_err(|cause| self.step_fault(from, cause))?;
        self.evaluate_known(to)?;
        self.close_accounts(to - from);
        Ok(())
    }

    /// A panic in a part is a fault of that part. While threads run in lockstep, the crew sees to
    /// that; this is for work outside of a run.
    pub fn guarded<T>(
        &mut self,
        t: f64,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let attempt = catch_unwind(AssertUnwindSafe(|| work(self)));
        attempt.unwrap_or_else(|panic| {
            Err(Fault::Panic {
                subsystem: self.name.clone(),
                t,
                message: panic_message(panic.as_ref()),
            })
        })
    }

    /// What fails because it is driven by what is no number is not to blame itself.
    fn driven_fault(&mut self, times: [f64; 2]) -> Option<Fault> {
        let found = times
            .into_iter()
            .find_map(|t| Some((t, self.inputs.broken_source(t)?)));
        found.map(|(t, (place, value, origin))| Fault::Driven {
            subsystem: self.name.clone(),
            port: self.subsystem.ports().input_component_name(place),
            origin,
            value,
            t,
        })
    }

    /// Advances, evaluates the outputs with the inputs predicted for the end, checks them.
    pub fn advance(&mut self, from: f64, to: f64) -> Result<(), Fault> {
        let outputs_are_fresh = self.compensate(from)?;
        self.open_accounts(from, outputs_are_fresh)?;
        self.event = false;
        let tolerance = 1e-9 * (to - from);
        let mut t = from;
        while t < to - tolerance {
            let reached = self.subsystem.advance(t, to, &mut self.inputs);
            let reached = reached.map_err(|cause| {
                let driven = self.driven_fault([t, to]);
                driven.unwrap_or_else(|| self.step_fault(t, cause))
            })?;
            if reached.time <= t {
                let subsystem = self.name.clone();
                return Err(Fault::NoProgress { subsystem, t });
            }
            self.event |= reached.event;
            t = reached.time;
        }
        self.evaluate(to)?;
        self.close_accounts(to - from);
        Ok(())
    }

    fn close_accounts(&mut self, h: f64) {
        self.is_open = false;
        if !self.keeps_accounts {
            return;
        }
        for account in all(&mut self.accounts, &mut self.driven) {
            account.close(&self.input_values, &self.output_values, h);
        }
    }

    /// Closes the accounts of the step of length `h` again, with inputs that were corrected since.
    pub fn settle_accounts(&mut self, to: f64, h: f64) {
        if !self.keeps_accounts {
            return;
        }
        self.inputs.at(to, &mut self.input_values);
        for account in all(&mut self.accounts, &mut self.driven) {
            account.close(&self.input_values, &self.released, h);
        }
    }

    fn open_accounts(&mut self, t: f64, outputs_are_fresh: bool) -> Result<(), Fault> {
        if self.is_open || !self.has_accounts() {
            return Ok(());
        }
        // Motions are those of the end of the last step; forces must be evaluated anew.
        if outputs_are_fresh {
            self.inputs.at(t, &mut self.input_values);
        } else if self.inputs.compensator().is_some() && self.starting.is_any() {
            self.evaluate(t)?;
        } else {
            self.inputs.at(t, &mut self.input_values);
            let (inputs, outputs) = (&self.input_values, &mut self.output_values);
            let evaluated = match &self.starting {
                Starting::Nothing => Ok(()),
                Starting::Few(ports) => self.subsystem.some_outputs(ports, t, inputs, outputs),
                Starting::All => self.subsystem.outputs(t, inputs, outputs),
            };
            evaluated.map_err(|cause| self.step_fault(t, cause))?;
        }
        for account in all(&mut self.accounts, &mut self.driven) {
            account.open(&self.input_values, &self.output_values);
        }
        Ok(())
    }

    /// Whether there is any work to account for.
    fn has_accounts(&self) -> bool {
        self.keeps_accounts && !(self.accounts.is_empty() && self.driven.is_empty())
    }

    /// From now on the accounts are kept, starting with what is known at time t, or are not.
    pub fn keep_accounts(&mut self, keep: bool, t: f64) {
        // The state may have been set from outside since the outputs were evaluated.
        if keep && !self.keeps_accounts && self.every == 1 && self.evaluate(t).is_ok() {
            for account in all(&mut self.accounts, &mut self.driven) {
                account.begin(&self.input_values, &self.output_values);
            }
        }
        self.keeps_accounts = keep;
        self.is_open = false;
    }

    /// The work of an account up to now: with the jump of what was received in the exchange that was
    /// just made, where [`Unit::take_stock`] has found it.
    pub fn work_at(&self, account: usize) -> f64 {
        match self.is_open {
            true => self.accounts[account].opened(),
            false => self.accounts[account].work(),
        }
    }

    /// Opens the accounts of the coming step now, so that they contain the exchange that was just
    /// made. A compensated part opens them when its forces are found, as its step begins.
    pub fn take_stock(&mut self, t: f64) -> Result<(), Fault> {
        if self.inputs.compensator().is_some() || !self.has_accounts() {
            return Ok(());
        }
        self.open_accounts(t, false)?;
        self.is_open = true;
        Ok(())
    }

    /// The outputs at time t with the inputs predicted for it.
    pub fn evaluate(&mut self, t: f64) -> Result<(), Fault> {
        match self.inputs.compensator() {
            None => self.evaluate_once(t),
            Some(_) => self.evaluate_compensated(t),
        }
    }

    fn evaluate_once(&mut self, t: f64) -> Result<(), Fault> {
        self.inputs.at(t, &mut self.input_values);
        self.evaluate_known(t)
    }

    /// The outputs at time t with the inputs at hand.
    fn evaluate_known(&mut self, t: f64) -> Result<(), Fault> {
        let outputs = &mut self.output_values;
        let evaluated = self.subsystem.outputs(t, &self.input_values, outputs);
        evaluated.map_err(|cause| self.step_fault(t, cause))?;
        match self.output_values.iter().position(|y| !y.is_finite()) {
            None => Ok(()),
            Some(component) => {
                let fault = Fault::NotFinite {
                    subsystem: self.name.clone(),
                    port: self.subsystem.ports().output_component_name(component),
                    value: self.output_values[component],
                    t,
                };
                Err(self.driven_fault([t, t]).unwrap_or(fault))
            }
        }
    }

    fn step_fault(&self, t: f64, cause: StepError) -> Fault {
        Fault::Step {
            subsystem: self.name.clone(),
            t,
            cause,
        }
    }

    /// From now on the others may see the outputs.
    pub fn release(&mut self) {
        // Whoever reads `output_values` next evaluates them first.
        std::mem::swap(&mut self.released, &mut self.output_values);
    }

    /// The initial exchange is done: accounts start from what is known now.
    pub fn begin(&mut self, t: f64) {
        self.inputs.at(t, &mut self.input_values);
        for account in all(&mut self.accounts, &mut self.driven) {
            account.begin(&self.input_values, &self.released);
        }
        let places = all(&mut self.accounts, &mut self.driven).flat_map(|a| a.starting_outputs());
        self.starting = Starting::new(&places.collect::<Vec<_>>(), self.subsystem.ports());
    }

    /// Sends what is released.
    pub fn publish(&mut self, t: f64, board: &Board, buffer: usize) {
        let start = self.places.outputs + buffer * self.places.stride;
        board.write(start, &self.released);
        if self.inputs.compensator().is_some() {
            self.publish_amendments(start, board);
        }
        board.write(
            start + self.released.len(),
            &[f64::from(u8::from(self.event))],
        );
        self.inputs.sent(t, &self.released);
    }

    /// Takes what was sent at time t, when so many macro steps are done.
    pub fn pull(
        &mut self,
        t: f64,
        board: &Board,
        buffer: usize,
        delivery: Delivery,
        steps_done: u64,
    ) {
        self.is_open = false;
        let shift = buffer * self.places.stride;
        let mut event = false;
        for link in self.links.of(delivery) {
            if !link.is_due(steps_done) {
                continue;
            }
            let values = &mut self.transfer[..link.input.len()];
            board.read(link.sent + shift, values);
            self.inputs.receive(link.port, t, values);
            self.received += 1;
            event |= board.get(link.event + shift) != 0.0;
        }
        if !self.remote.all.is_empty() {
            self.pull_remote(t, board, shift, delivery, steps_done);
        }
        if event {
            self.restart();
        }
    }

    /// Takes the iterate of a tight step as the inputs at time t.
    pub fn pull_iterate(&mut self, t: f64, board: &Board) {
        self.is_open = false;
        for link in &self.links.all {
            let values = &mut self.transfer[..link.input.len()];
            board.read(link.iterate, values);
            self.inputs.receive(link.port, t, values);
        }
        self.received += self.links.all.len() as u64;
    }

    /// Writes the predicted inputs at time t as the first iterate of a tight step.
    pub fn predict_iterate(&mut self, t: f64, board: &Board) {
        self.inputs.at(t, &mut self.input_values);
        for link in &self.links.all {
            board.write(link.iterate, &self.input_values[link.input.clone()]);
        }
    }

    /// The one call after an event: histories of inputs and integrator start anew.
    pub fn restart(&mut self) {
        self.is_open = false;
        self.inputs.reset();
        self.subsystem.restart();
    }

    /// Tells the leader everything that is recorded or balanced.
    pub fn report(&mut self, t: f64, asked: Asked, board: &Board) -> Result<(), Fault> {
        let mut place = self.places.report;
        board.write(place, &self.released);
        place += self.released.len();
        if asked.accounts {
            self.take_stock(t)?;
        }
        for account in 0..self.accounts.len() {
            board.write(place, &[self.work_at(account)]);
            place += 1;
        }
        if asked.energy
            && let Some(energy) = self.energy(t)
        {
            let cells = [
                energy.kinetic,
                energy.potential,
                energy.dissipated,
                energy.supplied,
            ];
            board.write(place, &cells);
        }
        Ok(())
    }

    pub fn linearise(&mut self, t: f64) -> Option<Linearisation> {
        self.inputs.at(t, &mut self.input_values);
        self.subsystem.linearise(t, &self.input_values)
    }

    pub fn sequence_model(&mut self, t: f64) -> Option<SequenceModel> {
        self.inputs.at(t, &mut self.input_values);
        self.subsystem.sequence_model(t, &self.input_values)
    }

    /// Width of the report on the board.
    pub fn report_width(&self) -> usize {
        self.released.len() + self.accounts.len() + ENERGY_CELLS
    }

    /// The energy account at the time reached, with the inputs as they are known there.
    pub fn energy(&mut self, t: f64) -> Option<Energy> {
        self.inputs.at(t, &mut self.input_values);
        let mut energy = self.subsystem.energy(t, &self.input_values)?;
        let driven = self.driven.iter();
        energy.supplied += driven
            .map(|(account, sign)| sign * account.work())
            .sum::<f64>();
        Some(energy)
    }

    /// The outputs that are visible to others.
    pub fn visible_outputs(&self) -> &[f64] {
        &self.released
    }

    pub fn counters(&self) -> Counters {
        self.subsystem.counters()
    }

    pub fn work(&self) -> f64 {
        self.subsystem.work()
    }

    pub fn can_roll_back(&mut self) -> bool {
        self.subsystem.state().is_some()
    }

    pub fn save(&mut self) {
        let mut saved = std::mem::take(&mut self.saved);
        saved.save(self);
        self.saved = saved;
    }

    pub fn roll_back(&mut self) {
        let saved = std::mem::take(&mut self.saved);
        saved.restore(self);
        self.saved = saved;
    }
}

impl State for Unit {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.is_open = false;
        if let Some(state) = self.subsystem.state() {
            state.visit(visitor);
        }
        self.inputs.visit(visitor);
        if self.every > 1 {
            // Advanced, but not yet released.
            visitor.vector(&mut self.output_values);
            visitor.vector(&mut self.released);
        }
        for account in all(&mut self.accounts, &mut self.driven) {
            account.visit(visitor);
        }
    }
}

/// All accounts of a unit: at interfaces, and at inputs driven from outside.
fn all<'a>(
    interfaces: &'a mut [Account],
    driven: &'a mut [(Account, f64)],
) -> impl Iterator<Item = &'a mut Account> {
    let driven = driven.iter_mut().map(|(account, _)| account);
    interfaces.iter_mut().chain(driven)
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let owned = || panic.downcast_ref::<String>().cloned();
    text.or_else(owned).unwrap_or_else(|| "no message".into())
}
