//! A fast subsystem that integrates its own model of the interface.

use oldham_cosim::{
    Accuracy, Counters, Energy, EnergyBalance, Hold, InputPort, Inputs, OutputPort, Ports, Reached,
    State, StepError, Subsystem, Visitor,
};

use crate::meeting::Meeting;
use crate::{PORT, quantity};

/// A coordinate at which a fast subsystem meets a mechanism, or a node in space, by the ports of the fast subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Receives the position: a number, or a motion with its derivatives.
    pub position: InputPort,
    /// Receives the rate of a number, if anything does.
    pub rate: Option<InputPort>,
    /// Sends the force, or the wrench on the node.
    pub force: OutputPort,
}

/// How interface model and fast subsystem go along together, step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// The model moves under the forces at the start of a step, and within it the fast subsystem sees the line along
    /// which it has moved.
    #[default]
    Merged,
    /// Both at once, as in the paper: the fast subsystem sees the motion at the start of a step, held, and the model
    /// the forces there.
    Jacobi,
    /// The fast subsystem first, with the motion at the start of the step, held; then the model under the forces at
    /// its end.
    Sequential,
}

/// A fast subsystem with one more input, [`PORT`], after its own.
///
/// Between communication points it takes a given number of steps. In each of them the positions and
/// rates of its coordinates are those of the interface model under its own forces (Eq. 45); its other
/// inputs are as usual. The model starts anew from what the mechanism sends. It holds no energy of its own.
pub struct Fed {
    inner: Box<dyn Subsystem>,
    ports: Ports,
    model: Model,
    steps: usize,
    arrangement: Arrangement,
    /// What the inner subsystem receives within a step.
    inner_inputs: Inputs,
    /// The outer inputs at the end of a step.
    offered: Vec<f64>,
    /// What the inner subsystem sees at start and end of a step.
    start: Vec<f64>,
    end: Vec<f64>,
    outputs: Vec<f64>,
}

/// The motions of all coordinates.
#[derive(Clone, Debug)]
struct Model {
    meetings: Vec<Meeting>,
    /// The output that is the force on each degree of freedom.
    forces: Vec<usize>,
    accelerations: Vec<f64>,
    /// First component of the shown interface.
    shown: usize,
    /// Zero before the first step, then one.
    started: u64,
}

impl Model {
    fn new(coordinates: &[Coordinate], ports: &Ports) -> Self {
        let each = coordinates.iter();
        let meetings: Vec<_> = each.map(|each| Meeting::new(each, ports)).collect();
        let forces: Vec<usize> = meetings.iter().flat_map(|m| m.forces.clone()).collect();
        Self {
            accelerations: vec![0.0; forces.len()],
            meetings,
            forces,
            shown: ports.input_width(),
            started: 0,
        }
    }

    /// Starts anew from what the mechanism sent.
    fn start(&mut self, inputs: &[f64]) {
        let meetings = self.meetings.iter_mut();
        meetings.for_each(|meeting| meeting.start(inputs));
        self.started = 1;
    }

    /// Whether the inputs are those from which the last step began: then the model knows more.
    fn is_ahead_of(&self, inputs: &[f64]) -> bool {
        let mut meetings = self.meetings.iter();
        self.started == 1 && meetings.all(|meeting| meeting.is_as_received(inputs))
    }

    /// One step of the model under these forces (Eq. 45).
    fn step(&mut self, inputs: &[f64], outputs: &[f64], size: f64) {
        let count = self.forces.len();
        let shown = &inputs[self.shown..];
        let acted = |column: usize| shown[(count + 2) * column + 1];
        let rows = shown.chunks_exact(count + 2);
        for (sum, row) in self.accelerations.iter_mut().zip(rows) {
            *sum = row[0];
            for (column, mobility) in row[2..].iter().enumerate() {
                *sum += mobility * (outputs[self.forces[column]] - acted(column));
            }
        }
        let mut rest = &self.accelerations[..];
        for meeting in &mut self.meetings {
            let (own, others) = rest.split_at(meeting.degrees_of_freedom());
            meeting.step(own, size);
            rest = others;
        }
    }

    /// Puts the model's motion among the inputs of the inner subsystem.
    fn show(&self, inputs: &mut [f64]) {
        self.meetings
            .iter()
            .for_each(|meeting| meeting.show(inputs));
    }
}

impl Fed {
    /// A subsystem that takes this many steps of its own for every macro step, instead of one.
    pub fn new(inner: Box<dyn Subsystem>, coordinates: &[Coordinate], steps: usize) -> Self {
        let own = inner.ports();
        let mut ports = own.clone();
        let model = Model::new(coordinates, own);
        ports.add_input(PORT, quantity(model.forces.len()));
        Self {
            model,
            inner_inputs: Inputs::new(own, Box::new(Hold::new(1, own))),
            offered: vec![0.0; ports.input_width()],
            start: vec![0.0; own.input_width()],
            end: vec![0.0; own.input_width()],
            outputs: vec![0.0; own.output_width()],
            ports,
            steps: steps.max(1),
            arrangement: Arrangement::default(),
            inner,
        }
    }

    /// The same in another arrangement.
    pub fn arranged(self, arrangement: Arrangement) -> Self {
        Self {
            arrangement,
            ..self
        }
    }

    /// Lets the inner subsystem see the line from start to end.
    fn hand_over(&mut self, from: f64, to: f64) {
        for index in 0..self.inner.ports().inputs().len() {
            let port = InputPort(index);
            let range = self.inner.ports().input_range(port);
            self.inner_inputs
                .receive(port, from, &self.start[range.clone()]);
            self.inner_inputs.receive(port, to, &self.end[range]);
        }
    }

    /// The inputs as the inner subsystem sees them at the time reached.
    fn seen(&mut self, inputs: &[f64]) {
        let own = self.start.len();
        self.start.copy_from_slice(&inputs[..own]);
        if self.model.is_ahead_of(inputs) {
            self.model.show(&mut self.start);
        }
    }
}

impl Subsystem for Fed {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let size = (to - from) / self.steps as f64;
        let own = self.start.len();
        inputs.at(from, &mut self.offered);
        self.model.start(&self.offered);
        self.start.copy_from_slice(&self.offered[..own]);
        let mut reached = from;
        for index in 1..=self.steps {
            let next = from + (to - from) * (index as f64 / self.steps as f64);
            inputs.at(next, &mut self.offered);
            self.end.copy_from_slice(&self.offered[..own]);
            if self.arrangement != Arrangement::Sequential {
                self.inner
                    .outputs(reached, &self.start, &mut self.outputs)?;
            }
            if self.arrangement == Arrangement::Merged {
                self.model.step(&self.offered, &self.outputs, size);
            }
            self.model.show(&mut self.end);
            self.hand_over(reached, next);
            let stepped = self.inner.advance(reached, next, &mut self.inner_inputs)?;
            if stepped.time < next {
                let message = "a subsystem that is fed by an interface model must take whole steps";
                return Err(StepError::Foreign(message.into()));
            }
            if self.arrangement == Arrangement::Sequential {
                self.inner.outputs(next, &self.end, &mut self.outputs)?;
            }
            if self.arrangement != Arrangement::Merged {
                self.model.step(&self.offered, &self.outputs, size);
                self.model.show(&mut self.end);
            }
            std::mem::swap(&mut self.start, &mut self.end);
            reached = next;
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.seen(inputs);
        self.inner.outputs(t, &self.start, outputs)
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        self.inner.version(output)
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn work(&self) -> f64 {
        self.steps as f64 * self.inner.work()
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        let can = self.inner.state().is_some();
        can.then_some(self as &mut dyn State)
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        let can = self.inner.energy_balance().is_some();
        can.then_some(self as &mut dyn EnergyBalance)
    }

    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        self.inner.accuracy()
    }
}

impl EnergyBalance for Fed {
    fn energy(&mut self, t: f64, inputs: &[f64]) -> Energy {
        self.seen(inputs);
        let balance = self.inner.energy_balance();
        balance.map_or_else(Energy::default, |balance| balance.energy(t, &self.start))
    }

    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let balance = self.inner.energy_balance();
        balance.map_or_else(Vec::new, |balance| balance.supply(given))
    }
}

impl State for Fed {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if let Some(inner) = self.inner.state() {
            inner.visit(visitor);
        }
        let meetings = self.model.meetings.iter_mut();
        meetings.for_each(|meeting| meeting.visit(visitor));
        visitor.count(&mut self.model.started);
        self.inner_inputs.visit(visitor);
    }

    fn is_chartable(&mut self) -> bool {
        let inner = self.inner.state();
        inner.is_none_or(|inner| inner.is_chartable())
    }
}
