//! Fast subsystems that integrate a model of the interface at which they meet a mechanism.

use oldham_cosim::{
    Accuracy, Counters, Energy, EnergyBalance, InputCorrection, InputPort, Inputs,
    InterfaceResponse, Linearisable, Linearisation, OutputPort, Ports, Reached, Remote, Replay,
    SequenceModel, State, StepCorrection, StepError, Subsystem, Switches, Together, Visitor,
};

use crate::fast::{Fast, FastSubsystem};
use crate::meeting::Coordinate;
use crate::model::{Model, drift};
use crate::{PORT, quantity};

/// How interface model and fast subsystems go along together, step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// Verlet's method: the model goes along a straight line with the velocity of the middle of a step, which the fast
    /// subsystem sees, and forces at both ends make half of its change each. It feeds nothing that swings and is of second
    /// order.
    #[default]
    Merged,
    /// Both at once, as in the paper: the fast subsystem sees the motion at the start of a step, held, and the model
    /// the forces there.
    Jacobi,
    /// The fast subsystem first, with the motion at the start of the step, held; then the model under the forces at
    /// its end.
    Sequential,
}

/// A fast subsystem, or several at one mechanism, with one more input, [`PORT`], after their own.
///
/// Between communication points they take a given number of steps. In each of them the positions and
/// rates of their coordinates are those of the interface model under the forces of all of them (Eq. 45); their other
/// inputs are as usual. The model starts anew from what the mechanism sends. It holds no energy of its own.
pub struct Fed {
    fast: Vec<Fast>,
    ports: Ports,
    model: Model,
    steps: usize,
    arrangement: Arrangement,
    brings_momentum: bool,
    /// The outer inputs at the end of a step.
    offered: Vec<f64>,
    /// First component of the shown interface.
    shown: usize,
    /// Zero before the first step, then one.
    started: u64,
}

impl Fed {
    /// A subsystem that takes this many steps of its own for every macro step, instead of one.
    pub fn new(inner: Box<dyn Subsystem>, coordinates: &[Coordinate], steps: usize) -> Self {
        Self::gathered(vec![FastSubsystem {
            name: String::new(),
            subsystem: inner,
            coordinates: coordinates.to_vec(),
            steps,
        }])
    }

    /// Several subsystems that share one model; all take the steps of the finest of them.
    pub fn gathered(all: Vec<FastSubsystem>) -> Self {
        let steps = all.iter().map(|one| one.steps).max().unwrap_or(1).max(1);
        let mut ports = Ports::new();
        let is_one = all.len() == 1;
        let fast: Vec<Fast> = all
            .into_iter()
            .map(|one| {
                let prefix = match is_one {
                    true => String::new(),
                    false => format!("{}.", one.name),
                };
                Fast::new(one, &mut ports, &prefix)
            })
            .collect();
        let model = Model::new(&fast);
        let shown = ports.input_width();
        ports.add_input(PORT, quantity(model.rows()));
        Self {
            model,
            offered: vec![0.0; ports.input_width()],
            shown,
            ports,
            steps,
            arrangement: Arrangement::default(),
            brings_momentum: false,
            started: 0,
            fast,
        }
    }

    /// The same in another arrangement.
    pub fn arranged(self, arrangement: Arrangement) -> Self {
        Self {
            arrangement,
            ..self
        }
    }

    /// The same, with forces that bring the mechanism the momentum that was spent over the step, where it tells how it makes momentum
    /// of a force; otherwise forces are those at the end of the step. For a mechanism that advances after them, holds
    /// what it receives, and has no other fast subsystem with a model.
    pub fn bringing_momentum(self) -> Self {
        Self {
            brings_momentum: true,
            ..self
        }
    }

    /// The fast subsystems, each of which takes all steps of a macro step.
    fn together(&self) -> Together<impl Iterator<Item = &dyn Subsystem>> {
        let parts = self.fast.iter().map(|one| &*one.inner);
        Together::new(parts, self.steps as u64)
    }

    /// Whether the inputs are those from which the last step began: then the model knows more.
    fn is_ahead_of(&self, inputs: &[f64]) -> bool {
        let mut fast = self.fast.iter();
        self.started == 1 && fast.all(|one| one.is_as_received(inputs))
    }

    /// Accelerations that are sent belong to the forces of the mechanism under just these accelerations, whatever was
    /// received.
    fn agree(&mut self, t: f64, shown: &[f64]) -> Result<(), StepError> {
        for one in &mut self.fast {
            one.believe();
            one.evaluate(t)?;
        }
        self.model.learn(t, &mut self.fast)?;
        self.model.resist(t, shown, &mut self.fast)
    }

    /// The steps of a macro step, in which model and fast subsystems go along as one. Says whether there was an event.
    fn step_merged(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<bool, StepError> {
        let size = (to - from) / self.steps as f64;
        let mut event = false;
        for index in 0..self.steps {
            let next = self.time(from, to, index + 1);
            self.look_at_interface(self.time(from, to, index))?;
            let (fast, model) = (&mut self.fast[..], &mut self.model);
            if index > 0 {
                model.end_step(&self.offered[self.shown..], fast, size);
            }
            inputs.at(next, &mut self.offered);
            model.begin_step(&self.offered[self.shown..], fast, size);
            fast.iter_mut().for_each(Fast::know);
            drift(fast, size);
            for one in fast.iter_mut() {
                event |= one.advance(next, &self.offered)?;
            }
            model.foresee_end(fast, size);
            fast.iter_mut().for_each(|one| one.finish(next));
        }
        self.look_at_interface(to)?;
        let (fast, model) = (&mut self.fast[..], &mut self.model);
        model.end_step(&self.offered[self.shown..], fast, size);
        fast.iter_mut().for_each(Fast::know);
        Ok(event)
    }

    /// The steps of a macro step, in which each sees what the other did last. Says whether there was an event.
    fn step_apart(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<bool, StepError> {
        let mut event = false;
        let is_sequential = self.arrangement == Arrangement::Sequential;
        let size = (to - from) / self.steps as f64;
        for index in 0..self.steps {
            let (reached, next) = (self.time(from, to, index), self.time(from, to, index + 1));
            if !is_sequential || self.model.is_moved() {
                self.look_at_interface(reached)?;
            }
            inputs.at(next, &mut self.offered);
            for one in &mut self.fast {
                event |= one.advance(next, &self.offered)?;
                if is_sequential {
                    one.evaluate_end(next)?;
                }
            }
            let shown = &self.offered[self.shown..];
            self.model.step(shown, &mut self.fast, size);
            self.fast.iter_mut().for_each(|one| one.finish(next));
        }
        Ok(event)
    }

    /// The start of a step within a macro step.
    fn time(&self, from: f64, to: f64, index: usize) -> f64 {
        from + (to - from) * (index as f64 / self.steps as f64)
    }

    /// What all fast subsystems send now, and the forces on what they move.
    fn look_at_interface(&mut self, t: f64) -> Result<(), StepError> {
        for one in &mut self.fast {
            one.evaluate(t)?;
        }
        match self.model.is_moved() {
            true => {
                let shown = &self.offered[self.shown..];
                self.model.resist(t, shown, &mut self.fast)
            }
            false => Ok(()),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Subsystem for Fed {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        inputs.at(from, &mut self.offered);
        for one in &mut self.fast {
            one.start(from, &self.offered);
        }
        self.started = 1;
        if self.model.is_moved() {
            self.model.learn(from, &mut self.fast)?;
        }
        self.model.momentum.begin();
        let event = match self.arrangement {
            Arrangement::Merged => self.step_merged(from, to, inputs)?,
            Arrangement::Jacobi | Arrangement::Sequential => self.step_apart(from, to, inputs)?,
        };
        self.model
            .momentum
            .finish(to - from, &self.offered[self.shown..]);
        Ok(Reached { time: to, event })
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let is_ahead = self.is_ahead_of(inputs);
        for one in &mut self.fast {
            one.look(inputs, is_ahead);
        }
        if self.model.is_moved() && !is_ahead {
            self.agree(t, &inputs[self.shown..])?;
        }
        for (index, one) in self.fast.iter_mut().enumerate() {
            let own = one.outputs(t, outputs)?;
            if self.brings_momentum && is_ahead {
                self.model.bring_momentum(index, one, own);
            }
        }
        Ok(())
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        let mut fast = self.fast.iter();
        let sender = fast.find(|one| one.output_ports.contains(&output.0))?;
        let own = OutputPort(output.0 - sender.output_ports.start);
        sender.inner.version(own)
    }

    /// The shared model knows all of them, so that all are found.
    fn some_outputs(
        &mut self,
        _wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.outputs(t, inputs, outputs)
    }

    fn restart(&mut self) {
        self.fast.iter_mut().for_each(|one| one.inner.restart());
    }

    fn work(&self) -> f64 {
        self.together().work()
    }

    fn counters(&self) -> Counters {
        self.together().counters()
    }

    fn pattern(&self) -> u64 {
        self.together().pattern()
    }

    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        for one in &mut self.fast {
            one.switches(t, inputs, found);
        }
    }

    /// If all have one.
    fn state(&mut self) -> Option<&mut dyn State> {
        let can = self.fast.iter_mut().all(|one| one.inner.state().is_some());
        can.then_some(self as &mut dyn State)
    }

    /// If all have one.
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        let mut fast = self.fast.iter_mut();
        let can = fast.all(|one| one.inner.energy_balance().is_some());
        can.then_some(self as &mut dyn EnergyBalance)
    }

    /// The model has gone along with the step: its end is not taken back.
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        None
    }

    /// Where the model finds forces, or where a fast subsystem changes its inputs itself.
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        let mut fast = self.fast.iter_mut();
        let can = self.model.is_moved() || fast.any(|one| one.inner.input_correction().is_some());
        can.then_some(self as &mut dyn InputCorrection)
    }

    /// If any of them has one: others need none.
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        let mut fast = self.fast.iter_mut();
        let can = fast.any(|one| one.inner.accuracy().is_some());
        can.then_some(self as &mut dyn Accuracy)
    }

    /// If all are.
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        let mut fast = self.fast.iter_mut();
        let can = fast.all(|one| one.inner.linearisable().is_some());
        can.then_some(self as &mut dyn Linearisable)
    }

    /// The loop goes on with what each step gives.
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        None
    }

    /// Fresh ones would have to be led together, with the model between them.
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        None
    }

    /// A loop over steps with a model answers with the model, not as a mechanism.
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        None
    }
}

/// That of the fast subsystems beside each other, without the model: it stands for a motion between communication
/// points, which a linear system does not have.
#[deny(clippy::missing_trait_methods)]
impl Linearisable for Fed {
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        let mut all = Vec::with_capacity(self.fast.len());
        for one in &mut self.fast {
            all.push(one.linearise(t, inputs)?);
        }
        // Continuous and sampled subsystems, or samples at different times, are no one linear system.
        let sample = all.first()?.sample;
        if all.iter().any(|one| one.sample != sample) {
            return None;
        }
        let states = all.iter().map(|one| one.states).sum();
        let (inputs, outputs) = (self.ports.input_width(), self.ports.output_width());
        let mut whole = Linearisation {
            states,
            a: vec![0.0; states * states],
            b: vec![0.0; states * inputs],
            c: vec![0.0; outputs * states],
            d: vec![0.0; outputs * inputs],
            sample,
        };
        let mut first = 0;
        for (one, fast) in all.iter().zip(&self.fast) {
            let n = one.states;
            let [u, y] = [&fast.inputs, &fast.outputs];
            put(&mut whole.a, states, (first, first), &one.a, n);
            put(&mut whole.b, inputs, (first, u.start), &one.b, u.len());
            put(&mut whole.c, states, (y.start, first), &one.c, n);
            put(&mut whole.d, inputs, (y.start, u.start), &one.d, u.len());
            first += n;
        }
        Some(whole)
    }

    fn not_linear(&mut self) -> Option<String> {
        let mut reasons = self
            .fast
            .iter_mut()
            .filter_map(|one| one.inner.linearisable());
        reasons.find_map(|inner| inner.not_linear())
    }

    fn state_names(&mut self) -> Vec<String> {
        let is_one = self.fast.len() == 1;
        let names = self.fast.iter_mut().flat_map(|one| {
            let names = one.inner.linearisable().map(|inner| inner.state_names());
            let prefix = &one.prefix;
            let named = |name: String| match is_one {
                true => name,
                false => format!("{prefix}{name}"),
            };
            names
                .unwrap_or_default()
                .into_iter()
                .map(named)
                .collect::<Vec<_>>()
        });
        names.collect()
    }

    /// The loop over its steps is none.
    fn sequence_model(&mut self, _t: f64, _step: f64, _inputs: &[f64]) -> Option<SequenceModel> {
        None
    }
}

/// Writes a block of so many columns into a matrix of so many columns.
fn put(whole: &mut [f64], width: usize, at: (usize, usize), block: &[f64], columns: usize) {
    if columns == 0 {
        return;
    }
    for (row, values) in block.chunks_exact(columns).enumerate() {
        let place = (at.0 + row) * width + at.1;
        whole[place..place + columns].copy_from_slice(values);
    }
}

#[deny(clippy::missing_trait_methods)]
impl Accuracy for Fed {
    fn require_accuracy(&mut self, relative: f64) {
        let all = self.fast.iter_mut().filter_map(|one| one.inner.accuracy());
        all.for_each(|accuracy| accuracy.require_accuracy(relative));
    }

    fn sharpen(&mut self) {
        let all = self.fast.iter_mut().filter_map(|one| one.inner.accuracy());
        all.for_each(Accuracy::sharpen);
    }
}

/// What acts at the end of a step is the force that the model has found, not the one received at its start.
/// Fast subsystems that change their inputs do so at every step of their own, as they advance.
#[deny(clippy::missing_trait_methods)]
impl InputCorrection for Fed {
    fn begin_step(&mut self, _t: f64, _inputs: &mut Inputs) -> Result<(), StepError> {
        Ok(())
    }

    fn correct_inputs(&mut self, t: f64, inputs: &mut [f64]) {
        if self.is_ahead_of(inputs) {
            let fast = self.fast.iter().filter(|one| one.moves());
            fast.for_each(|one| one.correct(inputs));
        }
        self.fast
            .iter_mut()
            .for_each(|one| one.correct_inputs(t, inputs));
    }
}

#[deny(clippy::missing_trait_methods)]
impl EnergyBalance for Fed {
    fn energy(&mut self, t: f64, inputs: &[f64]) -> Energy {
        let is_ahead = self.is_ahead_of(inputs);
        let mut sum = Energy::default();
        for one in &mut self.fast {
            one.look(inputs, is_ahead);
            sum = sum + one.energy(t);
        }
        sum
    }

    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let mut own = Vec::new();
        for one in &mut self.fast {
            let first = one.input_ports.start;
            let ports = given
                .iter()
                .filter(|port| one.input_ports.contains(&port.0));
            let ports: Vec<InputPort> = ports.map(|port| InputPort(port.0 - first)).collect();
            if let Some(balance) = one.inner.energy_balance() {
                let supplied = balance.supply(&ports).into_iter();
                own.extend(supplied.map(|port| InputPort(first + port.0)));
            }
        }
        own
    }
}

#[deny(clippy::missing_trait_methods)]
impl State for Fed {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.fast.iter_mut().for_each(|one| one.visit(visitor));
        visitor.count(&mut self.started);
        if self.brings_momentum {
            self.model.momentum.visit(visitor);
        }
    }

    fn is_chartable(&mut self) -> bool {
        let mut states = self.fast.iter_mut().map(|one| one.inner.state());
        states.all(|state| state.is_none_or(|state| state.is_chartable()))
    }
}
