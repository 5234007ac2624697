//! The network as the engine drives it.
//!
//! The method is the L-stable two-stage SDIRK of second order (Alexander 1977).

use oldham_cosim::{
    Counters, EnergyBalance, Inputs, Linearisable, Ports, Reached, State, StepError, Subsystem,
    Visitor,
};

use crate::cylinder::Cylinder;
use crate::element::{Chambers, Element};
use crate::equations::Equations;
use crate::network::{Network, Place, Sent};
use crate::ports::ports;
use crate::sdirk::{GAMMA, STAGES};

/// A hydraulic network that is being simulated.
///
/// A source `name` receives `name.flow` in m³/s, a motor the motion of its shaft, `name.shaft`, and sends `name.torque`.
/// A variable orifice receives `name.opening` from 0 to 1, a cylinder `name.length` and `name.rate`, and sends `name.force`.
/// Sent are `name.p` of every volume, `name.flow` of every line and `name.oil` of every accumulator. Nothing is allocated
/// after construction.
#[derive(Clone, Debug)]
pub struct NetworkPart {
    pub(crate) equations: Equations,
    ports: Ports,
    micro_steps: usize,
    pub(crate) x: Vec<f64>,
    /// Displacements of the spools from their neutral positions.
    pub(crate) spools: Vec<f64>,
    /// What speed controls remember.
    pub(crate) memories: Vec<f64>,
    /// Zero until the first step: then it is known where the cylinders start.
    pub(crate) started: u64,
    /// Work since the start: dissipated, supplied.
    pub(crate) work: [f64; 2],
    /// Energy that comes with each unit of flow to a tank.
    pub(crate) tank_heads: Vec<f64>,
    /// Why there was no linear model when one was last asked for.
    pub(crate) refused: Option<String>,
    pub(crate) scratch: Scratch,
    pub(crate) counters: Counters,
}

#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    pub(crate) inputs: Vec<f64>,
    pub(crate) known: Vec<f64>,
    pub(crate) rates: Vec<f64>,
    pub(crate) right: Vec<f64>,
    pub(crate) matrix: Vec<f64>,
    pub(crate) heads: Vec<f64>,
}

impl NetworkPart {
    /// At its initial state.
    pub fn new(network: &Network) -> Self {
        let equations = Equations::new(network);
        let (n, ports) = (equations.unknowns, ports(network));
        let x = equations.initial();
        let tanks = network
            .tanks
            .iter()
            .map(|tank| equations.head_at(tank.value));
        let largest = equations.islands.iter().map(|it| it.unknowns.len());
        let largest = largest.max().unwrap_or(0);
        Self {
            started: 0,
            micro_steps: network.micro_steps.max(1),
            tank_heads: tanks.collect(),
            refused: None,
            scratch: Scratch {
                inputs: vec![0.0; ports.input_width()],
                known: vec![0.0; n],
                rates: vec![0.0; n],
                right: vec![0.0; largest],
                matrix: vec![0.0; largest * largest],
                heads: vec![0.0; network.volumes.len()],
            },
            spools: vec![0.0; network.spools.len()],
            memories: vec![0.0; network.spools.len()],
            ports,
            equations,
            x,
            work: [0.0; 2],
            counters: Counters::default(),
        }
    }

    /// The pressure of a volume in Pa.
    pub fn pressure(&self, volume: usize) -> f64 {
        self.equations.pressure_at(Place::Volume(volume), &self.x)
    }

    /// Oil in the network, as volume at zero pressure: with tanks and sources left out it stays the same.
    pub fn content(&self) -> f64 {
        let Network {
            volumes, elements, ..
        } = &self.equations.network;
        let in_volumes = (0..volumes.len()).map(|index| self.equations.content(index, &self.x));
        let in_volumes: f64 = in_volumes.sum();
        let states = elements.iter().zip(&self.equations.states);
        let in_gas = states.map(|(named, state)| match (&named.value, state) {
            (Element::Accumulator(_), Some(own)) => self.x[*own],
            _ => 0.0,
        });
        in_volumes + in_gas.sum::<f64>()
    }

    #[cold]
    pub(crate) fn name_of(&self, unknown: usize) -> String {
        let Network {
            volumes, elements, ..
        } = &self.equations.network;
        if let Some(volume) = volumes.get(unknown) {
            return volume.name.clone();
        }
        let mut states = self.equations.states.iter();
        let place = states.position(|state| *state == Some(unknown));
        place.map_or_else(String::new, |place| elements[place].name.clone())
    }

    /// Whether every piston is near its cylinder: stops let it pass by millimetres, not by its stroke.
    fn check_lengths(&self) -> Result<(), StepError> {
        for (index, Chambers { cylinder, .. }) in self.equations.network.cylinders() {
            let [length, _] = self.equations.moved(index, &self.scratch.inputs);
            let out = (length - cylinder.centre).abs();
            if out.is_nan() || out > 1.5 * cylinder.stroke {
                let name = &self.equations.network.elements[index].name;
                return Err(gone(name, cylinder, length));
            }
        }
        Ok(())
    }

    /// Moves the spools for a time at whose end they are told what the inputs say.
    fn move_spools(&mut self, time: f64) {
        let Self {
            equations, scratch, ..
        } = self;
        for (index, named) in equations.network.spools.iter().enumerate() {
            let valve = &named.value;
            let command = equations.commands[index].map_or(0.0, |place| scratch.inputs[place]);
            let place = &mut self.spools[index];
            *place = match valve.control {
                None => valve.spool.after(*place, command, time),
                Some((control, cylinder)) => {
                    let [_, rate] = equations.moved(cylinder, &scratch.inputs);
                    let memory = &mut self.memories[index];
                    let housing = valve.housing();
                    control.lead(&valve.spool, memory, *place, command - rate, time, housing)
                }
            };
        }
    }

    fn step(&mut self, from: f64, size: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.scratch.known.copy_from_slice(&self.x);
        let mut reached = 0.0;
        for (node, weight) in STAGES {
            inputs.at(from + node * size, &mut self.scratch.inputs);
            self.check_lengths()?;
            self.move_spools((node - reached) * size);
            reached = node;
            self.equations.see(&self.scratch.inputs, &self.spools);
            self.stage(GAMMA * size)?;
            let rates = self.scratch.known.iter_mut().zip(&self.scratch.rates);
            rates.for_each(|(known, rate)| *known += weight * size * rate);
            let powers = self.powers();
            for (work, power) in self.work.iter_mut().zip(powers) {
                *work += weight * size * power;
            }
        }
        // The last stage is the end of the step; as a sum of rates it has lost no oil to the tolerance of Newton's method.
        self.x.copy_from_slice(&self.scratch.known);
        self.counters.micro_steps += 1;
        Ok(())
    }

    /// Force of a cylinder, positive when it pushes.
    fn force(&self, index: usize, inputs: &[f64]) -> f64 {
        let Element::Chambers(chambers) = &self.equations.network.elements[index].value else {
            return 0.0;
        };
        let [length, rate] = self.equations.moved(index, inputs);
        let ends = chambers.ends;
        let pressures = ends.map(|end| self.equations.pressure_at(end, &self.x));
        let Chambers { cylinder, .. } = chambers;
        cylinder.thrust(pressures) + cylinder.passive(length, rate).force
    }

    /// Sees where its cylinders are. Before the first step these lengths are where they start, at the initial pressures.
    pub(crate) fn see(&mut self, inputs: &[f64]) {
        self.equations.see(inputs, &self.spools);
        if self.started == 0 && self.equations.is_filled_at_the_start() {
            self.equations.fill(&mut self.x);
        }
    }

    /// Rates of all unknowns where they are, and what they depend on is as it is seen.
    pub(crate) fn rates(&mut self) -> &[f64] {
        self.scratch.known.copy_from_slice(&self.x);
        let islands = std::mem::take(&mut self.equations.islands);
        for island in &islands {
            // No step: of an accumulator that is empty nothing flows out.
            self.evaluate(island, f64::MIN_POSITIVE);
        }
        self.equations.islands = islands;
        &self.scratch.rates
    }

    /// Torque of a motor on its shaft.
    pub(crate) fn torque(&self, index: usize, inputs: &[f64]) -> f64 {
        let Element::Motor(motor) = self.equations.network.elements[index].value else {
            return 0.0;
        };
        let [a, b] = motor
            .ends
            .map(|end| self.equations.pressure_at(end, &self.x));
        let rate = self.equations.received(index, inputs);
        motor.displacement * (a - b) - motor.friction * rate
    }

    /// What it sends at a port.
    fn sent(&self, what: Sent, inputs: &[f64]) -> f64 {
        match what {
            Sent::Pressure(volume) => self.pressure(volume),
            Sent::Flow(element) | Sent::Oil(element) => {
                self.equations.states[element].map_or(0.0, |own| self.x[own])
            }
            Sent::Torque(element) => self.torque(element, inputs),
            Sent::Force(element) => self.force(element, inputs),
            Sent::Spool(spool) => {
                self.equations.network.spools[spool].value.neutral + self.spools[spool]
            }
        }
    }
}

impl Subsystem for NetworkPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let size = (to - from) / self.micro_steps as f64;
        if self.started == 0 {
            inputs.at(from, &mut self.scratch.inputs);
            let inputs = std::mem::take(&mut self.scratch.inputs);
            self.see(&inputs);
            self.scratch.inputs = inputs;
            self.started = 1;
        }
        for index in 0..self.micro_steps {
            let begin = from + (to - from) * (index as f64 / self.micro_steps as f64);
            self.step(begin, size, inputs)?;
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.see(inputs);
        let sent = &self.equations.network.sent;
        for (port, value) in sent.iter().zip(outputs) {
            *value = self.sent(port.value, inputs);
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Some(self)
    }

    fn work(&self) -> f64 {
        let islands = self.equations.islands.iter();
        let work = islands.map(|island| match island.unknowns.len() {
            1 => 1.0,
            n => 4.0 + (n * n) as f64,
        });
        self.micro_steps as f64 * work.sum::<f64>()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

impl State for NetworkPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.x);
        let spools = &self.equations.network.spools;
        if spools.iter().any(|named| named.value.follows()) {
            visitor.vector(&mut self.spools);
        }
        if spools.iter().any(|named| named.value.control.is_some()) {
            visitor.vector(&mut self.memories);
        }
        if self.equations.is_filled_at_the_start() {
            visitor.count(&mut self.started);
        }
        visitor.fixed(&mut self.work);
    }
}

#[cold]
fn gone(name: &str, cylinder: &Cylinder, length: f64) -> StepError {
    let [low, high] = cylinder.lengths();
    let place = match length.is_finite() {
        true => format!("its length is {length:.3e} m"),
        false => "its length is not finite".to_owned(),
    };
    let message = format!(
        "actuator `{name}` is torn from its cylinder: {place}, which has {low} m to {high} m; the coupling is unstable, or \
         something pulls harder than the end stops hold: take a smaller step, or look at the loads there"
    );
    StepError::Foreign(message)
}
