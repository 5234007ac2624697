//! An instance of an FMU and what is done with it, where its library is loaded.

use serde::{Deserialize, Serialize};

use crate::channel::{Batch, Group};
use crate::description::{Interface, Kind};
use crate::exchange::{Integrator, ended, settle};
use crate::library::{Instance, Kept, Origin, Stepped, Watcher};

/// How often a step that an FMU discards is halved.
const HALVINGS: u32 = 10;
/// How many pieces a step may have that ends early.
const MOST_PIECES: usize = 100_000;
/// The part of a step that is rounding.
const ROUNDING: f64 = 1e-12;
/// How far a ratio of steps may be from a whole number.
const WHOLE: f64 = 1e-6;

/// All that it takes to make an instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub origin: Origin,
    /// Structural parameters, which are set before all others.
    pub structure: Vec<(Kind, u32, Vec<f64>)>,
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
    /// Whether inputs change within a step as predicted, not only from one to the next.
    pub interpolates: bool,
    /// Of model exchange: how many states and event indicators, and whether steps are told.
    pub exchange: Option<Exchanged>,
}

/// What is integrated.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Exchanged {
    pub states: usize,
    /// Nothing where the library must be asked.
    pub indicators: Option<usize>,
    pub wants_steps: bool,
}

/// What belongs to a state beside that of the FMU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Memory {
    t: f64,
    is_running: bool,
    /// The length of the next step of the integrator.
    step: f64,
    next_event: Option<f64>,
}

impl Memory {
    fn words(self) -> [u64; 4] {
        let flags = u64::from(self.is_running) | u64::from(self.next_event.is_some()) << 1;
        let numbers = [self.t, self.step, self.next_event.unwrap_or(0.0)];
        let [t, step, next] = numbers.map(f64::to_bits);
        [flags, t, step, next]
    }

    fn of([flags, t, step, next]: [u64; 4]) -> Self {
        Self {
            t: f64::from_bits(t),
            is_running: flags & 1 != 0,
            step: f64::from_bits(step),
            next_event: (flags & 2 != 0).then(|| f64::from_bits(next)),
        }
    }
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
    interpolates: bool,
    /// Inputs within a step.
    course: Course,
    integrator: Option<Integrator>,
    t: f64,
    /// Whether the initialisation is over.
    is_running: bool,
    /// When its next event is, if it is to be told then: of a co-simulation.
    next_event: Option<f64>,
    kept: Vec<(Kept, Memory)>,
}

impl Session {
    /// A new instance with its parameters.
    pub fn new(setup: &Setup, watcher: Watcher) -> Result<Self, String> {
        let instance = Instance::new(&setup.origin, watcher)?;
        if !setup.structure.is_empty() {
            instance.structure(&setup.structure)?;
        }
        for (kind, reference, values) in &setup.numbers {
            instance.set(kind, &[*reference], values)?;
        }
        for (reference, text) in &setup.texts {
            instance.set_text(*reference, text)?;
        }
        let integrator = match (setup.origin.interface, setup.exchange) {
            (Interface::ModelExchange, Some(exchange)) => {
                let count = exchange.indicators;
                let count = match count {
                    Some(count) => count,
                    None => instance.count_indicators()?.unwrap_or(0),
                };
                let Exchanged {
                    states,
                    wants_steps,
                    ..
                } = exchange;
                Some(Integrator::new(states, count, wants_steps, setup.tolerance))
            }
            _ => None,
        };
        instance.rest();
        Ok(Self {
            instance,
            integrator,
            interpolates: setup.interpolates,
            course: Course::default(),
            t: 0.0,
            is_running: false,
            next_event: None,
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
        self.t = t;
        self.instance.begin(self.tolerance, t)
    }

    /// Ends the initialisation with these inputs.
    pub fn start(&mut self, inputs: &[f64]) -> Result<(), String> {
        write(&mut self.received, &self.instance, inputs, false)?;
        self.instance.start()?;
        self.is_running = true;
        match &mut self.integrator {
            Some(integrator) => integrator.start(&self.instance, self.t),
            None if self.instance.has_events() => {
                self.next_event = settle(&self.instance, self.t)?.next;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Hands inputs over between steps: those that do not change at any time change at an event.
    fn hand_over(&mut self, inputs: &[f64]) -> Result<(), String> {
        let mut discrete = self.received.iter().filter(|batch| !batch.is_continuous());
        let is_event = self.is_running
            && self.instance.has_events()
            && discrete.any(|batch| batch.differs(inputs));
        if !is_event {
            let only_continuous = self.is_running && self.instance.has_events();
            return write(&mut self.received, &self.instance, inputs, only_continuous);
        }
        self.instance.enter_events()?;
        write(&mut self.received, &self.instance, inputs, false)?;
        let updated = settle(&self.instance, self.t)?;
        match &mut self.integrator {
            Some(integrator) => integrator.resume(&self.instance, updated.next),
            None => {
                self.next_event = updated.next;
                Ok(())
            }
        }
    }

    /// The outputs, with these inputs where they are given.
    pub fn outputs(&mut self, inputs: Option<&[f64]>, outputs: &mut [f64]) -> Result<(), String> {
        if let Some(inputs) = inputs {
            self.hand_over(inputs)?;
        }
        for batch in &mut self.sent {
            batch.read(&self.instance, outputs)?;
        }
        Ok(())
    }

    /// Takes so many steps, with the inputs of each and those at the end; says how often it called the FMU. Inputs
    /// are held within a step, or go from those at its beginning to those at its end.
    pub fn advance(
        &mut self,
        from: f64,
        to: f64,
        steps: usize,
        inputs: &[f64],
    ) -> Result<u64, String> {
        let at = |k: usize| from + (to - from) * k as f64 / steps as f64;
        let width = self.width;
        let mut calls = 0;
        for k in 0..steps {
            let now = &inputs[k * width..(k + 1) * width];
            let then = match self.interpolates {
                true => &inputs[(k + 1) * width..(k + 2) * width],
                false => now,
            };
            let (begin, end) = (at(k), at(k + 1));
            self.t = begin;
            self.hand_over(now)?;
            if self.interpolates || self.integrator.is_some() {
                self.course.set([begin, end], now, then);
            }
            match &mut self.integrator {
                Some(integrator) => {
                    let (received, course) = (&mut self.received, &mut self.course);
                    let mut feed = |instance: &Instance, t: f64| {
                        let given = course.at(t);
                        write(received, instance, given, true)
                    };
                    calls += integrator.advance(&self.instance, begin, end, &mut feed)?;
                }
                None => {
                    self.hand_over_rates()?;
                    self.leap(begin, end, 0, &mut calls)?;
                }
            }
            self.t = end;
        }
        Ok(calls)
    }

    /// Hands over how inputs change within a step that the FMU takes itself.
    fn hand_over_rates(&mut self) -> Result<(), String> {
        let Course { ends, times, .. } = &self.course;
        if self.interpolates {
            for batch in &mut self.received {
                let both = [&ends[0][..], &ends[1][..]];
                batch.write_rates(&self.instance, both, times[1] - times[0])?;
            }
        }
        Ok(())
    }

    /// One step of the FMU, halved where it discards it, and gone on with where it ends early.
    fn leap(&mut self, from: f64, to: f64, halvings: u32, calls: &mut u64) -> Result<(), String> {
        if let Some(fixed) = self.fixed_step {
            check_fixed(fixed, to - from)?;
        }
        let mut t = from;
        let mut pieces = 0;
        loop {
            let next = self.next_event.filter(|next| *next > t && *next < to);
            let end = next.unwrap_or(to);
            if t > self.course.times[0] && self.interpolates {
                let given = self.course.at(t);
                write(&mut self.received, &self.instance, given, true)?;
                self.hand_over_rates()?;
            }
            *calls += 1;
            pieces += 1;
            match self.instance.step(t, end - t)? {
                Stepped::To(reached, has_event) => {
                    if !(reached > t || has_event) || pieces > MOST_PIECES {
                        return Err(format!("it does not get on with a step at t = {t} s"));
                    }
                    // What is left by rounding is no step.
                    t = match end - reached <= ROUNDING * (end - t) {
                        true => end,
                        false => reached,
                    };
                    let is_due = self.next_event.is_some_and(|next| next <= t);
                    if self.instance.has_events() && (has_event || is_due) {
                        self.instance.enter_events()?;
                        self.next_event = settle(&self.instance, t)?.next;
                    }
                    if t >= to {
                        return Ok(());
                    }
                }
                Stepped::Ended => return Err(ended(t)),
                Stepped::Discarded if self.may_be_halved && halvings < HALVINGS => {
                    let middle = 0.5 * (t + end);
                    self.leap(t, middle, halvings + 1, calls)?;
                    self.leap(middle, end, halvings + 1, calls)?;
                    t = end;
                    if t >= to {
                        return Ok(());
                    }
                }
                Stepped::Discarded => {
                    let length = end - t;
                    return Err(format!("it discards a step of {length} s at t = {t} s"));
                }
            }
        }
    }

    fn memory(&self) -> Memory {
        let integrator = self.integrator.as_ref();
        Memory {
            t: self.t,
            is_running: self.is_running,
            step: integrator.map_or(0.0, |integrator| integrator.step),
            next_event: integrator.map_or(self.next_event, |integrator| integrator.next),
        }
    }

    /// Takes up what belongs to a state that the FMU has gone back to.
    fn remember(&mut self, memory: Memory) -> Result<(), String> {
        (self.t, self.is_running) = (memory.t, memory.is_running);
        // Which discrete inputs were handed over last is not known any more: all count as changed.
        self.received.iter_mut().for_each(Batch::forget);
        match &mut self.integrator {
            Some(integrator) => {
                (integrator.step, integrator.next) = (memory.step, memory.next_event);
                match memory.is_running {
                    true => integrator.renew(&self.instance),
                    false => Ok(()),
                }
            }
            None => {
                self.next_event = memory.next_event;
                Ok(())
            }
        }
    }

    /// Keeps the present state in a place.
    pub fn keep(&mut self, place: usize) -> Result<(), String> {
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, Default::default);
        }
        self.kept[place].1 = self.memory();
        self.instance.keep(&mut self.kept[place].0)
    }

    /// Goes back to the state in a place.
    pub fn return_to(&mut self, place: usize) -> Result<(), String> {
        let Some((kept, memory)) = self.kept.get(place) else {
            return Err("it has no such state".into());
        };
        self.instance.return_to(kept)?;
        let memory = *memory;
        self.remember(memory)
    }

    /// The present state as bytes.
    pub fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        self.instance.save(bytes)?;
        bytes.extend(
            self.memory()
                .words()
                .iter()
                .flat_map(|word| word.to_le_bytes()),
        );
        Ok(())
    }

    /// Goes back to a state.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let length = bytes.len().checked_sub(size_of::<[u64; 4]>());
        let (state, words) = bytes.split_at(length.ok_or("its saved state is cut off")?);
        self.instance.restore(state)?;
        let mut words = words
            .chunks_exact(8)
            .filter_map(|word| word.try_into().ok());
        let memory = std::array::from_fn(|_| words.next().map_or(0, u64::from_le_bytes));
        self.remember(Memory::of(memory))
    }

    /// Tells the process that watches that no call is running.
    pub fn rest(&self) {
        self.instance.rest();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.instance.keeps_states() {
            for (kept, _) in &mut self.kept {
                self.instance.free(kept);
            }
        }
    }
}

/// Inputs within a step: from those at its beginning to those at its end.
#[derive(Default)]
struct Course {
    times: [f64; 2],
    ends: [Vec<f64>; 2],
    between: Vec<f64>,
    is_held: bool,
}

impl Course {
    fn set(&mut self, times: [f64; 2], now: &[f64], then: &[f64]) {
        self.times = times;
        self.is_held = now == then;
        for (end, given) in self.ends.iter_mut().zip([now, then]) {
            end.clear();
            end.extend_from_slice(given);
        }
        self.between.clear();
        self.between.extend_from_slice(now);
    }

    fn at(&mut self, t: f64) -> &[f64] {
        if !self.is_held {
            let part = (t - self.times[0]) / (self.times[1] - self.times[0]);
            let [now, then] = &self.ends;
            for (value, (now, then)) in self.between.iter_mut().zip(now.iter().zip(then)) {
                *value = now + part * (then - now);
            }
        }
        &self.between
    }
}

/// Hands inputs over; only those that may change at any time where others need an event.
fn write(
    received: &mut [Batch],
    instance: &Instance,
    inputs: &[f64],
    only_continuous: bool,
) -> Result<(), String> {
    let all = received.iter_mut();
    for batch in all.filter(|batch| !only_continuous || batch.is_continuous()) {
        batch.write(instance, inputs)?;
    }
    Ok(())
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
