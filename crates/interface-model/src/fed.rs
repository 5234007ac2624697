//! A fast subsystem that integrates its own model of the interface.

use oldham_cosim::{
    Accuracy, Counters, Energy, EnergyBalance, Hold, InputPort, Inputs, OutputPort, Ports, Reached,
    State, StepError, Subsystem, Visitor,
};

use crate::{PORT, quantity};

/// A coordinate at which a fast subsystem meets a mechanism, by the ports of the fast subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Receives the position.
    pub position: InputPort,
    /// Receives its rate, if anything does.
    pub rate: Option<InputPort>,
    /// Sends the force.
    pub force: OutputPort,
}

/// A fast subsystem with one more input, [`PORT`], after its own.
///
/// Between communication points it takes a given number of steps. In each of them the positions and
/// rates of its coordinates are those of the interface model under its own forces (Eq. 45, with the
/// forces at the start of the step); its other inputs are as usual. The model starts anew from what the
/// mechanism sends. It holds no energy of its own.
pub struct Fed {
    inner: Box<dyn Subsystem>,
    ports: Ports,
    model: Model,
    steps: usize,
    /// What the inner subsystem receives within a step.
    inner_inputs: Inputs,
    /// The outer inputs at the end of a step.
    offered: Vec<f64>,
    /// What the inner subsystem sees at start and end of a step.
    start: Vec<f64>,
    end: Vec<f64>,
    outputs: Vec<f64>,
}

/// Positions and rates of the coordinates, and what they were when the mechanism last sent them.
#[derive(Clone, Debug)]
struct Model {
    coordinates: Vec<Components>,
    /// Position and rate of each coordinate, at the time reached.
    motion: Vec<[f64; 2]>,
    /// The same as they were received when the last step began.
    received: Vec<[f64; 2]>,
    /// First component of the shown interface.
    shown: usize,
    /// Zero before the first step, then one.
    started: u64,
}

/// Places in the vectors of the fast subsystem.
#[derive(Clone, Copy, Debug)]
struct Components {
    position: usize,
    rate: Option<usize>,
    force: usize,
}

impl Model {
    fn new(coordinates: &[Coordinate], ports: &Ports) -> Self {
        let places = coordinates.iter().map(|coordinate| Components {
            position: ports.input_range(coordinate.position).start,
            rate: coordinate.rate.map(|port| ports.input_range(port).start),
            force: ports.output_range(coordinate.force).start,
        });
        Self {
            coordinates: places.collect(),
            motion: vec![[0.0; 2]; coordinates.len()],
            received: vec![[0.0; 2]; coordinates.len()],
            shown: ports.input_width(),
            started: 0,
        }
    }

    /// What is received of a coordinate. Without its rate the one of the model goes on.
    fn received(&self, index: usize, inputs: &[f64]) -> [f64; 2] {
        let Components { position, rate, .. } = self.coordinates[index];
        let rate = rate.map_or(self.motion[index][1], |rate| inputs[rate]);
        [inputs[position], rate]
    }

    /// Starts anew from what the mechanism sent.
    fn start(&mut self, inputs: &[f64]) {
        for index in 0..self.coordinates.len() {
            self.received[index] = self.received(index, inputs);
        }
        self.motion.copy_from_slice(&self.received);
        self.started = 1;
    }

    /// Whether the inputs are those from which the last step began: then the model knows more.
    fn is_ahead_of(&self, inputs: &[f64]) -> bool {
        let mut places = self.coordinates.iter().zip(&self.received);
        let is_old = |(at, received): (&Components, &[f64; 2])| {
            let rate = at.rate.is_none_or(|rate| inputs[rate] == received[1]);
            inputs[at.position] == received[0] && rate
        };
        self.started == 1 && places.all(is_old)
    }

    /// One step of the model under these forces (Eq. 45).
    fn step(&mut self, inputs: &[f64], outputs: &[f64], size: f64) {
        let count = self.coordinates.len();
        let shown = inputs[self.shown..].chunks_exact(count + 2);
        let acted = |column: usize| inputs[self.shown + (count + 2) * column + 1];
        for (motion, row) in self.motion.iter_mut().zip(shown) {
            let mut acceleration = row[0];
            for (column, mobility) in row[2..].iter().enumerate() {
                let force = outputs[self.coordinates[column].force];
                acceleration += mobility * (force - acted(column));
            }
            motion[1] += size * acceleration;
            motion[0] += size * motion[1];
        }
    }

    /// Puts the model's motion among the inputs of the inner subsystem.
    fn show(&self, inputs: &mut [f64]) {
        for (at, [position, rate]) in self.coordinates.iter().zip(&self.motion) {
            inputs[at.position] = *position;
            if let Some(place) = at.rate {
                inputs[place] = *rate;
            }
        }
    }
}

impl Fed {
    /// A subsystem that takes this many steps of its own for every macro step, instead of one.
    pub fn new(inner: Box<dyn Subsystem>, coordinates: &[Coordinate], steps: usize) -> Self {
        let own = inner.ports();
        let mut ports = own.clone();
        ports.add_input(PORT, quantity(coordinates.len()));
        Self {
            model: Model::new(coordinates, own),
            inner_inputs: Inputs::new(own, Box::new(Hold::new(1, own))),
            offered: vec![0.0; ports.input_width()],
            start: vec![0.0; own.input_width()],
            end: vec![0.0; own.input_width()],
            outputs: vec![0.0; own.output_width()],
            ports,
            steps: steps.max(1),
            inner,
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
            self.inner
                .outputs(reached, &self.start, &mut self.outputs)?;
            inputs.at(next, &mut self.offered);
            self.model.step(&self.offered, &self.outputs, size);
            self.end.copy_from_slice(&self.offered[..own]);
            self.model.show(&mut self.end);
            self.hand_over(reached, next);
            let stepped = self.inner.advance(reached, next, &mut self.inner_inputs)?;
            if stepped.time < next {
                let message = "a subsystem that is fed by an interface model must take whole steps";
                return Err(StepError::Foreign(message.into()));
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
        for motion in &mut self.model.motion {
            visitor.vector(motion);
        }
        for received in &mut self.model.received {
            visitor.fixed(received);
        }
        visitor.count(&mut self.model.started);
        self.inner_inputs.visit(visitor);
    }

    fn is_chartable(&mut self) -> bool {
        let inner = self.inner.state();
        inner.is_none_or(|inner| inner.is_chartable())
    }
}
