//! One subsystem inside a simulation: with its inputs, its work integrals and its places in the
//! exchange buffer.

mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::abilities::{Energy, Linearisable};
use crate::balance::InterfaceWork;
use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::incoming::{Delivery, IncomingConnections};
use crate::inputs::Inputs;
use crate::port::{InputPort, OutputPort, Ports};
use crate::predictor::Predictor;
use crate::seldom::{KnownVersions, SeldomOutputs};
use crate::simulation::Moment;
use crate::slow::Mail;
use crate::state::{Snapshot, State, Visitor};
use crate::stats::Spent;
use crate::subsystem::{Counters, StepError, Subsystem};
use crate::switches::Switches;
use work::{Motion, all};

/// Energy cells of a unit in the exchange buffer: kinetic, potential, dissipated, supplied.
pub(crate) const ENERGY_CELLS: usize = 4;

/// What the coordinator wants to know besides the outputs.
#[derive(Clone, Copy)]
pub(crate) struct ReportRequest {
    pub energy: bool,
    /// The work of interfaces, up to the exchange that was just made.
    pub interface_works: bool,
}

/// Where a unit writes in the exchange buffer.
#[derive(Default)]
pub(crate) struct Places {
    /// Outputs, the event flag, numbers of what seldom changes; the second buffer follows at
    /// `stride`.
    pub outputs: usize,
    pub stride: usize,
    /// Outputs, work at interfaces and energies, for the coordinator.
    pub report: usize,
}

pub(crate) struct Unit {
    pub name: String,
    pub subsystem: Box<dyn Subsystem>,
    /// What the subsystem said of them when it was added.
    pub ports: Ports,
    pub inputs: Inputs,
    pub incoming: Arc<IncomingConnections>,
    /// What of its outputs seldom changes, and what it knows of such outputs of others.
    pub seldom: SeldomOutputs,
    pub known: KnownVersions,
    /// Room for what arrives while a slow unit advances.
    pub mail: Mail,
    /// Time of advances.
    pub spent: Spent,
    pub told: Told,
    pub interface_works: Vec<InterfaceWork>,
    pub places: Places,
    /// Advances every so many macro steps, over as many.
    pub every: u64,
    /// Own macro steps after which what its part does repeats.
    pub pattern: u64,
    /// Whether what it receives is not what acts.
    pub corrects_inputs: bool,
    input_values: Vec<f64>,
    output_values: Vec<f64>,
    /// What the others may see; lags behind `output_values` when `every` is more than one.
    released: Vec<f64>,
    /// With them: the work at interfaces, and the energy where somebody asked.
    pub told_balance: Vec<f64>,
    /// One value of any connection.
    transfer: Vec<f64>,
    event: bool,
    saved: Snapshot,
    /// Values received since the start.
    pub received: u64,
    /// Work at inputs that are driven from outside, and whether it is taken or given.
    pub driven: Vec<(InterfaceWork, f64)>,
    start_outputs: Vec<OutputPort>,
    /// For each work integral, how its motion goes on.
    motions: Vec<Motion>,
    /// Whether work is integrated.
    tracks_work: bool,
    /// The work integrals of the coming step are opened already, and nothing has arrived since.
    is_open: bool,
    /// Its part works elsewhere.
    pub is_remote: bool,
    /// Another rank advances it; this one knows what it sends, and at the end of a run its state.
    pub is_elsewhere: bool,
    /// What came of beginning the step that it is in, if it has begun.
    begun: Option<Result<(), Fault>>,
}

/// What a part and its predictor tell of themselves, when they were last asked.
#[derive(Default)]
pub(crate) struct Told {
    pub work: f64,
    pub counters: Counters,
    pub note: Option<String>,
}

impl Unit {
    /// Asks a subsystem what there is to know before a simulation is built.
    pub fn new(name: &str, mut part: Box<dyn Subsystem>, predictor: Box<dyn Predictor>) -> Self {
        let corrects_inputs = part.input_correction().is_some();
        let is_remote = part.remote().is_some();
        let ports = part.ports().clone();
        let (wide, tall) = (ports.input_width(), ports.output_width());
        Self {
            name: name.into(),
            inputs: Inputs::new(&ports, predictor),
            incoming: Arc::default(),
            seldom: SeldomOutputs::of(part.as_ref(), &ports),
            known: KnownVersions::default(),
            mail: Mail::default(),
            spent: Spent::default(),
            told: Told::default(),
            interface_works: Vec::new(),
            places: Places::default(),
            every: 1,
            pattern: 1,
            corrects_inputs,
            input_values: vec![0.0; wide],
            output_values: vec![0.0; tall],
            released: vec![0.0; tall],
            told_balance: Vec::new(),
            transfer: vec![0.0; wide],
            event: false,
            saved: Snapshot::default(),
            received: 0,
            driven: Vec::new(),
            start_outputs: Vec::new(),
            motions: Vec::new(),
            tracks_work: true,
            is_open: false,
            is_remote,
            is_elsewhere: false,
            begun: None,
            subsystem: part,
            ports,
        }
    }

    /// Corrects the step for what has arrived since, and evaluates the outputs again.
    pub fn correct(&mut self, from: f64, to: f64) -> Result<(), Fault> {
        self.find_acted(to);
        let corrected = match self.subsystem.step_correction() {
            Some(correction) => correction.correct(to, &self.input_values),
            None => Ok(()),
        };
        corrected.map_err(|cause| self.step_fault(from, cause))?;
        self.evaluate_known(to)?;
        self.correct_inputs(to);
        self.close_work_integrals(to - from);
        Ok(())
    }

    /// A panic in a part is a fault of that part. While threads run in lockstep, the worker sees to
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

    /// What its part answers; a panic is a fault of that part.
    pub fn asked<T>(
        &mut self,
        t: f64,
        question: impl FnOnce(&mut dyn Subsystem) -> T,
    ) -> Result<T, Fault> {
        self.guarded(t, |unit| Ok(question(unit.subsystem.as_mut())))
    }

    /// Works with its part by itself.
    pub fn alone<T>(
        &mut self,
        time: f64,
        step: f64,
        work: impl FnOnce(&mut dyn Subsystem, Moment<'_>) -> Result<T, StepError>,
    ) -> Result<T, Fault> {
        self.is_open = false;
        self.inputs.at(time, &mut self.input_values);
        let moment = Moment {
            time,
            step,
            inputs: &self.input_values,
        };
        let worked = work(self.subsystem.as_mut(), moment);
        worked.map_err(|cause| self.step_fault(time, cause))
    }

    /// Puts another part with the same ports in the place of its own, which is given back.
    pub fn replace(&mut self, mut other: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
        let ports = other.ports();
        let widths = |ports: &Ports| (ports.input_width(), ports.output_width());
        assert_eq!(widths(ports), widths(&self.ports), "other ports");
        self.is_open = false;
        self.seldom.forget();
        self.pattern = other.pattern();
        self.is_remote = other.remote().is_some();
        std::mem::replace(&mut self.subsystem, other)
    }

    /// What fails because it is driven by NaN is not to blame itself.
    fn driven_fault(&mut self, times: [f64; 2]) -> Option<Fault> {
        let found = times
            .into_iter()
            .find_map(|t| Some((t, self.inputs.broken_source(t)?)));
        found.map(|(t, (place, value, origin))| Fault::Driven {
            subsystem: self.name.clone(),
            port: self.ports.input_component_name(place),
            origin,
            value,
            t,
        })
    }

    /// Advances, evaluates the outputs with the inputs predicted for the end, checks them.
    pub fn advance(&mut self, from: f64, to: f64) -> Result<(), Fault> {
        let begun = match self.begun.take() {
            Some(begun) => begun,
            None => self.begin_step(from),
        };
        let advanced = begun.and_then(|()| self.advance_begun(from, to));
        self.inputs.reach(to);
        advanced
    }

    /// Begins an advance that is done elsewhere; [`advance`](Self::advance) waits for it, and tells what went wrong.
    pub fn begin_away(&mut self, from: f64, to: f64) {
        let begun = self.begin_step(from).and_then(|()| {
            let begun = match self.subsystem.remote() {
                Some(remote) => remote.begin(from, to, &mut self.inputs),
                None => Ok(()),
            };
            begun.map_err(|cause| {
                let driven = self.driven_fault([from, to]);
                driven.unwrap_or_else(|| self.step_fault(from, cause))
            })
        });
        self.begun = Some(begun);
    }

    fn begin_step(&mut self, from: f64) -> Result<(), Fault> {
        self.inputs.begin_advance(from);
        if self.corrects_inputs {
            self.begin_corrected_step(from)?;
        }
        self.open_work_integrals(from)?;
        self.event = false;
        Ok(())
    }

    fn advance_begun(&mut self, from: f64, to: f64) -> Result<(), Fault> {
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
            self.inputs.pass_jump();
            self.event |= reached.event;
            t = reached.time;
        }
        self.evaluate(to)?;
        self.close_work_integrals(to - from);
        Ok(())
    }

    /// The inputs at the end of the last advance: what is held is what acted over it, whatever has arrived since.
    fn find_acted(&mut self, to: f64) {
        self.inputs.at(to, &mut self.input_values);
        self.inputs.undo_jump(&mut self.input_values);
    }

    #[inline(never)]
    fn begin_corrected_step(&mut self, t: f64) -> Result<(), Fault> {
        let begun = match self.subsystem.input_correction() {
            Some(correction) => correction.begin_step(t, &mut self.inputs),
            None => Ok(()),
        };
        begun.map_err(|cause| self.step_fault(t, cause))
    }

    /// The inputs at hand become those that act.
    #[inline]
    fn correct_inputs(&mut self, t: f64) {
        if self.corrects_inputs
            && let Some(correction) = self.subsystem.input_correction()
        {
            correction.correct_inputs(t, &mut self.input_values);
        }
    }

    /// The outputs at time t with the inputs predicted for it.
    pub fn evaluate(&mut self, t: f64) -> Result<(), Fault> {
        self.inputs.at(t, &mut self.input_values);
        self.evaluate_known(t)?;
        self.correct_inputs(t);
        Ok(())
    }

    /// The outputs at time t with the inputs at hand.
    fn evaluate_known(&mut self, t: f64) -> Result<(), Fault> {
        let outputs = &mut self.output_values;
        let evaluated = self.subsystem.outputs(t, &self.input_values, outputs);
        evaluated.map_err(|cause| self.step_fault(t, cause))?;
        let broken = match self.seldom.is_empty() {
            true => self.output_values.iter().position(|y| !y.is_finite()),
            false => {
                let subsystem = self.subsystem.as_ref();
                self.seldom.evaluated(subsystem, &self.output_values)
            }
        };
        match broken {
            None => Ok(()),
            Some(component) => {
                let fault = Fault::NotFinite {
                    subsystem: self.name.clone(),
                    port: self.ports.output_component_name(component),
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

    /// Releases the first of these values instead of its own; the values left for others.
    pub fn release_instead<'v>(&mut self, values: &'v [f64]) -> &'v [f64] {
        let (own, rest) = values.split_at(self.released.len());
        self.released.copy_from_slice(own);
        rest
    }

    /// What the others may see of it: outputs, and what it last told of work and energy.
    pub fn shown(&self) -> Vec<f64> {
        let released = self.released.iter().chain(&self.told_balance);
        released.copied().collect()
    }

    /// Shows these values instead, which are those of the same unit elsewhere.
    pub fn show_instead(&mut self, words: &[u64]) {
        let shown = self.released.iter_mut().chain(&mut self.told_balance);
        for (value, word) in shown.zip(words) {
            *value = f64::from_bits(*word);
        }
    }

    /// Sends what is released.
    pub fn publish(&mut self, t: f64, exchange: &ExchangeBuffer, buffer: usize) {
        let start = self.places.outputs + buffer * self.places.stride;
        let event = start + self.released.len();
        match self.seldom.is_empty() {
            true => exchange.write(start, &self.released),
            false => {
                let outputs = &self.released;
                self.seldom
                    .publish(outputs, exchange, start, event + 1, buffer);
            }
        }
        exchange.write(event, &[f64::from(u8::from(self.event))]);
        self.inputs.sent(t, &self.released);
    }

    /// Takes what was sent at time t, when so many macro steps are done.
    pub fn pull(
        &mut self,
        t: f64,
        exchange: &ExchangeBuffer,
        buffer: usize,
        delivery: Delivery,
        steps_done: u64,
    ) {
        self.is_open = false;
        let shift = buffer * self.places.stride;
        let mut event = false;
        for incoming_connection in self.incoming.of(delivery) {
            if !incoming_connection.is_due(steps_done) {
                continue;
            }
            event |= exchange.get(incoming_connection.event + shift) != 0.0;
            if let Some((place, known)) = incoming_connection.version
                && !self.known.is_news(known, exchange.word(place + shift))
            {
                continue;
            }
            let values = &mut self.transfer[..incoming_connection.input.len()];
            exchange.read(incoming_connection.sent + shift, values);
            incoming_connection.scale(values);
            self.inputs.receive(incoming_connection.port, t, values);
            self.received += 1;
        }
        if event {
            self.restart();
        }
    }

    /// Takes a value that was sent at time t.
    pub fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.is_open = false;
        self.inputs.receive(port, t, values);
        self.received += 1;
    }

    /// Macro step n begins at time t.
    pub fn read_dials(&mut self, n: u64, t: f64, exchange: &ExchangeBuffer) {
        if n.is_multiple_of(self.every) {
            self.inputs.sample(n, t);
            self.report_external(exchange);
        }
    }

    /// Tells the coordinator what is set from outside.
    fn report_external(&self, exchange: &ExchangeBuffer) {
        let mut place = self.places.report + self.released.len() + self.interface_works.len();
        place += ENERGY_CELLS;
        for input in self.inputs.external() {
            exchange.write(place, input.held());
            place += input.held().len();
        }
    }

    /// Whether it can advance while the others go on: what it receives can wait.
    pub fn can_overlap(&self) -> bool {
        self.every > 1
    }

    /// Takes the iterate of an implicit step as the inputs at time t.
    pub fn pull_iterate(&mut self, t: f64, exchange: &ExchangeBuffer) {
        self.is_open = false;
        self.known.forget();
        for incoming_connection in &self.incoming.all {
            let values = &mut self.transfer[..incoming_connection.input.len()];
            exchange.read(incoming_connection.iterate, values);
            incoming_connection.scale(values);
            self.inputs.receive(incoming_connection.port, t, values);
        }
        self.received += self.incoming.all.len() as u64;
    }

    /// Writes the predicted inputs at time t as the first iterate of an implicit step.
    pub fn predict_iterate(&mut self, t: f64, exchange: &ExchangeBuffer) {
        self.inputs.at(t, &mut self.input_values);
        for incoming_connection in &self.incoming.all {
            // The iterate is what is sent, not what is received.
            let values = &mut self.transfer[..incoming_connection.input.len()];
            values.copy_from_slice(&self.input_values[incoming_connection.input.clone()]);
            if let Some(scale) = incoming_connection.scale {
                scale.undo(values);
            }
            exchange.write(incoming_connection.iterate, values);
        }
    }

    /// The one call after an event: histories of inputs and integrator start anew.
    pub fn restart(&mut self) {
        self.is_open = false;
        self.inputs.reset();
        self.subsystem.restart();
    }

    /// Tells the coordinator everything that is recorded or balanced.
    pub fn report(
        &mut self,
        t: f64,
        request: ReportRequest,
        exchange: &ExchangeBuffer,
    ) -> Result<(), Fault> {
        if request.interface_works {
            self.take_stock(t)?;
        }
        let works = self.interface_works.len();
        for work_index in 0..works {
            self.told_balance[work_index] = self.work_at(work_index);
        }
        if request.energy
            && let Some(energy) = self.energy(t)
        {
            self.told_balance[works..].copy_from_slice(&energy.terms());
        }
        self.show(exchange);
        Ok(())
    }

    /// Tells the coordinator what it told before.
    pub fn show(&mut self, exchange: &ExchangeBuffer) {
        let place = self.places.report;
        self.seldom.write_others(&self.released, exchange, place);
        exchange.write(place + self.released.len(), &self.told_balance);
        self.report_external(exchange);
    }

    /// What its part answers as one that can be linearised, given the inputs at time t.
    pub fn linear<T>(
        &mut self,
        t: f64,
        question: impl FnOnce(&mut dyn Linearisable, &[f64]) -> T,
    ) -> Result<Option<T>, Fault> {
        self.guarded(t, |unit| {
            unit.inputs.at(t, &mut unit.input_values);
            let part = unit.subsystem.linearisable();
            Ok(part.map(|part| question(part, &unit.input_values)))
        })
    }

    /// Width of the report in the exchange buffer.
    pub fn report_width(&self) -> usize {
        let external: usize = self.inputs.external().map(|input| input.held().len()).sum();
        self.released.len() + self.interface_works.len() + ENERGY_CELLS + external
    }

    /// The energy balance at the time reached, with the inputs as they are known there.
    pub fn energy(&mut self, t: f64) -> Option<Energy> {
        self.find_acted(t);
        let balance = self.subsystem.energy_balance()?;
        let mut energy = balance.energy(t, &self.input_values);
        let driven = self.driven.iter();
        energy.supplied += driven.map(|(work, sign)| sign * work.work()).sum::<f64>();
        Some(energy)
    }

    /// What its part tells of its kinks.
    pub fn switches(&mut self, t: f64, found: &mut Switches) {
        self.inputs.at(t, &mut self.input_values);
        found.of_part(&self.name);
        self.subsystem.switches(t, &self.input_values, found);
    }

    /// The outputs that are visible to others.
    pub fn visible_outputs(&self) -> &[f64] {
        &self.released
    }

    /// Asks what its part and its predictor tell of themselves.
    pub fn ask(&mut self) {
        if self.is_elsewhere {
            return;
        }
        self.told = Told {
            work: self.subsystem.work(),
            counters: self.subsystem.counters(),
            note: self.inputs.note(),
        };
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
        if visitor.replaces() {
            self.seldom.forget();
            self.known.forget();
        }
        if let Some(state) = self.subsystem.state() {
            state.visit(visitor);
        }
        self.inputs.visit(visitor);
        if self.every > 1 {
            // Advanced, but not yet released.
            visitor.vector(&mut self.output_values);
            visitor.vector(&mut self.released);
            visitor.fixed(&mut self.told_balance);
        }
        for work in all(&mut self.interface_works, &mut self.driven) {
            work.visit(visitor);
        }
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let owned = || panic.downcast_ref::<String>().cloned();
    text.or_else(owned).unwrap_or_else(|| "no message".into())
}
