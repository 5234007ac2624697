//! The network as the engine drives it.
//!
//! The method is the L-stable two-stage SDIRK of second order (Alexander 1977), as for the chambers of cylinders; each
//! stage is solved by Newton's method for all unknowns at once.

use oldham_cosim::{
    Conjugate, Counters, Energy, EnergyBalance, Inputs, Linearisable, Linearisation, Ports,
    Quantity, Reached, State, StepError, Subsystem, Unit, Visitor,
};
use oldham_space::solve_dense;

use crate::element::{Chambers, Element};
use crate::equations::{Equations, Stage, Through};
use crate::network::{Network, Place};
use crate::sdirk::{GAMMA, STAGES};

const MOST_ITERATIONS: usize = 60;
/// Valves that open and close in turn are brought to rest by half steps from this iteration on.
const PATIENCE: usize = 12;
/// Change at which the compression is solved for: a tenth of a millipascal; and of other unknowns, relative and in m³ or m³/s.
const TOLERANCE: f64 = 1e-13;
const RELATIVE: f64 = 1e-11;
const ABSOLUTE: f64 = 1e-15;

/// A hydraulic network that is being simulated.
///
/// A source `name` receives `name.flow` in m³/s, a motor the motion of its shaft, `name.shaft`, and sends `name.torque`.
/// A variable orifice receives `name.opening` from 0 to 1, a cylinder `name.length` and `name.rate`, and sends `name.force`.
/// Sent are `name.p` of every volume, `name.flow` of every line and `name.oil` of every accumulator. Nothing is allocated
/// after construction.
#[derive(Clone, Debug)]
pub struct NetworkPart {
    equations: Equations,
    ports: Ports,
    micro_steps: usize,
    x: Vec<f64>,
    /// Zero until the first step: then it is known where the cylinders start.
    started: u64,
    /// Work since the start: dissipated, supplied.
    work: [f64; 2],
    scratch: Scratch,
    counters: Counters,
}

#[derive(Clone, Debug)]
struct Scratch {
    inputs: Vec<f64>,
    known: Vec<f64>,
    rates: Vec<f64>,
    right: Vec<f64>,
    matrix: Vec<f64>,
}

impl NetworkPart {
    /// At its initial state.
    pub fn new(network: &Network) -> Self {
        let equations = Equations::new(network);
        let (n, ports) = (equations.unknowns, ports(network));
        Self {
            x: equations.initial(),
            started: 0,
            micro_steps: network.micro_steps.max(1),
            scratch: Scratch {
                inputs: vec![0.0; ports.input_width()],
                known: vec![0.0; n],
                rates: vec![0.0; n],
                right: vec![0.0; n],
                matrix: vec![0.0; n * n],
            },
            ports,
            equations,
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
        let in_gas = states.map(|(named, state)| match (named.value, state) {
            (Element::Accumulator(_), Some(own)) => self.x[*own],
            _ => 0.0,
        });
        in_volumes + in_gas.sum::<f64>()
    }

    /// Solves x − span · x' = known for the unknowns.
    fn stage(&mut self, span: f64) -> Result<(), StepError> {
        let n = self.equations.unknowns;
        let mut worst = (0.0_f64, 0);
        for iteration in 0..MOST_ITERATIONS {
            let Scratch {
                inputs,
                known,
                rates,
                right,
                matrix,
            } = &mut self.scratch;
            let stage = Stage { known, span };
            self.equations
                .evaluate(&self.x, inputs, stage, rates, matrix);
            for i in 0..n {
                right[i] = known[i] + span * rates[i] - self.x[i];
                for entry in &mut matrix[i * n..(i + 1) * n] {
                    *entry *= -span;
                }
                matrix[i * n + i] += 1.0;
            }
            self.counters.iterations += 1;
            self.counters.factorisations += 1;
            if !solve_dense(matrix, right) {
                return Err(self.singular());
            }
            let share = if iteration < PATIENCE { 1.0 } else { 0.5 };
            worst = (0.0, 0);
            let volumes = self.equations.network.volumes.len();
            for (i, (x, change)) in self.x.iter_mut().zip(&*right).enumerate() {
                *x += share * *change;
                let allowed = match i < volumes {
                    true => TOLERANCE,
                    false => RELATIVE * x.abs() + ABSOLUTE,
                };
                let size = change.abs() / allowed;
                if size > worst.0 || size.is_nan() {
                    worst = (size, i);
                }
            }
            if worst.0 <= 1.0 {
                let stage = Stage { known, span };
                self.equations
                    .evaluate(&self.x, inputs, stage, rates, matrix);
                return Ok(());
            }
            if !worst.0.is_finite() {
                break;
            }
        }
        Err(StepError::NotConverged {
            iterations: MOST_ITERATIONS,
            residual: worst.0,
            worst: self.name_of(worst.1),
        })
    }

    #[cold]
    fn singular(&self) -> StepError {
        StepError::Singular {
            unknown: self.name_of(0),
        }
    }

    #[cold]
    fn name_of(&self, unknown: usize) -> String {
        let Network {
            volumes, elements, ..
        } = &self.equations.network;
        if let Some(volume) = volumes.get(unknown) {
            return volume.name.clone();
        }
        let place = self
            .equations
            .states
            .iter()
            .position(|s| *s == Some(unknown));
        place.map_or_else(String::new, |place| elements[place].name.clone())
    }

    fn step(&mut self, from: f64, size: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.scratch.known.copy_from_slice(&self.x);
        for (node, weight) in STAGES {
            inputs.at(from + node * size, &mut self.scratch.inputs);
            self.equations.see(&self.scratch.inputs);
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

    /// Energy that comes with each unit of flow at a place.
    fn head(&self, place: Place) -> f64 {
        let fluid = &self.equations.network.fluid;
        let p = self.equations.pressure_at(place, &self.x);
        fluid.enthalpy(p) / fluid.log_density(p).exp()
    }

    /// Dissipated and supplied power.
    fn powers(&self) -> [f64; 2] {
        let inputs = &self.scratch.inputs;
        let [mut dissipated, mut supplied] = [0.0; 2];
        for (index, named) in self.equations.network.elements.iter().enumerate() {
            if let Element::Chambers(chambers) = named.value {
                let [passive, from_tanks] = self.cylinder_powers(index, &chambers);
                dissipated += passive;
                supplied += from_tanks;
                continue;
            }
            let rates = &self.scratch.rates;
            let Through { ends, flow } = self.equations.through(index, &self.x, rates, inputs);
            let [from, to] = ends.map(|end| self.head(end));
            match (named.value, self.equations.states[index]) {
                (Element::Source { .. }, _) => supplied += flow * (to - from),
                (Element::Accumulator(gas), Some(own)) => {
                    dissipated += flow * (from - gas.gas(self.x[own]).0);
                }
                (Element::Line(line), _) => {
                    let [a, b] = ends.map(|end| self.equations.pressure_at(end, &self.x));
                    let moved = flow * (a - b - line.resistance * flow);
                    dissipated += flow * (from - to) - moved;
                }
                (Element::Motor(_), _) => {
                    let rate = self.equations.inputs[index].map_or(0.0, |place| inputs[place]);
                    dissipated += flow * (from - to) - self.torque(index, inputs) * rate;
                }
                _ => dissipated += flow * (from - to),
            }
            let crossing = match named.value {
                Element::Accumulator(gas) => [Some((gas.at, flow)), None],
                _ => [Some((ends[0], flow)), Some((ends[1], -flow))],
            };
            for (end, out) in crossing.into_iter().flatten() {
                if matches!(end, Place::Tank(_)) {
                    supplied += out * self.head(end);
                }
            }
        }
        [dissipated, supplied]
    }

    /// Length and rate that a cylinder receives.
    fn moved(&self, index: usize, inputs: &[f64]) -> [f64; 2] {
        let first = self.equations.inputs[index].expect("a cylinder receives its motion");
        [inputs[first], inputs[first + 1]]
    }

    /// What friction and stops take, and what tanks give to chambers that are open to them.
    fn cylinder_powers(&self, index: usize, chambers: &Chambers) -> [f64; 2] {
        let [length, rate] = self.moved(index, &self.scratch.inputs);
        let ends = chambers.ends.into_iter();
        let given = ends
            .zip(chambers.cylinder.growths(rate))
            .map(|(end, growth)| match end {
                Place::Tank(_) => growth * self.equations.pressure_at(end, &self.x),
                Place::Volume(_) => 0.0,
            });
        let passive = chambers.cylinder.passive(length, rate);
        [passive.dissipated, given.sum()]
    }

    /// Force of a cylinder, positive when it pushes.
    fn force(&self, index: usize, chambers: &Chambers, inputs: &[f64]) -> f64 {
        let [length, rate] = self.moved(index, inputs);
        let ends = chambers.ends;
        let pressures = ends.map(|end| self.equations.pressure_at(end, &self.x));
        let Chambers { cylinder, .. } = chambers;
        cylinder.thrust(pressures) + cylinder.passive(length, rate).force
    }

    /// Sees where its cylinders are. Before the first step these lengths are where they start, at the initial pressures.
    fn see(&mut self, inputs: &[f64]) {
        self.equations.see(inputs);
        if self.started == 0 {
            self.equations.fill(&mut self.x);
        }
    }

    /// Torque of a motor on its shaft.
    fn torque(&self, index: usize, inputs: &[f64]) -> f64 {
        let Element::Motor(motor) = self.equations.network.elements[index].value else {
            return 0.0;
        };
        let [a, b] = motor
            .ends
            .map(|end| self.equations.pressure_at(end, &self.x));
        let rate = self.equations.inputs[index].map_or(0.0, |place| inputs[place]);
        motor.displacement * (a - b) - motor.friction * rate
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
            self.equations.see(&self.scratch.inputs);
            self.equations.fill(&mut self.x);
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
        let volumes = self.equations.network.volumes.len();
        for (i, value) in outputs[..volumes].iter_mut().enumerate() {
            *value = self.equations.pressure_at(Place::Volume(i), &self.x);
        }
        let mut next = volumes;
        for (index, named) in self.equations.network.elements.iter().enumerate() {
            let value = match (named.value, self.equations.states[index]) {
                (_, Some(own)) => self.x[own],
                (Element::Motor(_), None) => self.torque(index, inputs),
                (Element::Chambers(chambers), None) => self.force(index, &chambers, inputs),
                _ => continue,
            };
            outputs[next] = value;
            next += 1;
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
        let n = self.equations.unknowns as f64;
        self.micro_steps as f64 * (4.0 + n * n)
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

impl EnergyBalance for NetworkPart {
    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        self.see(inputs);
        let mut energy = Energy {
            dissipated: self.work[0],
            supplied: self.work[1],
            ..Energy::default()
        };
        let Network {
            fluid,
            volumes,
            elements,
            ..
        } = &self.equations.network;
        for index in 0..volumes.len() {
            let sigma = self.equations.log_density(index, &self.x);
            energy.potential += fluid.stored(sigma, self.equations.volume(index));
        }
        for (index, named) in elements.iter().enumerate() {
            match (named.value, &self.equations.states[index]) {
                (Element::Chambers(chambers), _) => {
                    let [length, rate] = self.moved(index, inputs);
                    energy.potential += chambers.cylinder.passive(length, rate).stored;
                }
                (Element::Line(line), Some(own)) => {
                    energy.kinetic += 0.5 * line.inertance * self.x[*own] * self.x[*own];
                }
                (Element::Accumulator(gas), Some(own)) => {
                    energy.potential += gas.stored(self.x[*own]);
                }
                _ => {}
            }
        }
        energy
    }
}

impl State for NetworkPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.x);
        visitor.count(&mut self.started);
        visitor.fixed(&mut self.work);
    }
}

impl Linearisable for NetworkPart {
    /// There is none: flows and pressures are determined by equations that are solved at once.
    fn linearise(&mut self, _t: f64, _inputs: &[f64]) -> Option<Linearisation> {
        None
    }

    fn not_linear(&mut self) -> Option<String> {
        Some("is a hydraulic network, whose implicit equations have no linear model yet".into())
    }
}

fn ports(network: &Network) -> Ports {
    let mut ports = Ports::new();
    let cubic = |unit: &'static str| Quantity::Scalar(Unit(unit.into()));
    for volume in &network.volumes {
        let pascal = Quantity::Scalar(Unit::PASCAL);
        ports.add_output(format!("{}.p", volume.name), pascal);
    }
    for named in &network.elements {
        let name = &named.name;
        match named.value {
            Element::Source { .. } => {
                ports.add_input(format!("{name}.flow"), cubic("m3/s"));
            }
            Element::Line(_) => {
                ports.add_output(format!("{name}.flow"), cubic("m3/s"));
            }
            Element::Accumulator(_) => {
                ports.add_output(format!("{name}.oil"), cubic("m3"));
            }
            Element::Motor(motor) => {
                let motion = ports.add_input(format!("{name}.shaft"), Quantity::Rotation);
                let torque = Quantity::Scalar(Unit::NEWTON_METRE);
                let force = ports.add_output(format!("{name}.torque"), torque);
                if motor.friction != 0.0 {
                    let [out, rate] = [
                        ports.output_range(force).start,
                        ports.input_range(motion).start + 1,
                    ];
                    ports.feed_through(out, rate);
                }
                ports.conjugate(Conjugate::GivesForce { motion, force });
            }
            Element::Chambers(Chambers { cylinder, .. }) => {
                let metre = Quantity::Scalar(Unit::METRE);
                let centre = vec![cylinder.centre];
                let length = ports.add_input_with(format!("{name}.length"), metre, centre);
                let speed = Quantity::Scalar(Unit::METRE_PER_SECOND);
                let rate = ports.add_input(format!("{name}.rate"), speed);
                let newton = Quantity::Scalar(Unit::NEWTON);
                let force = ports.add_output(format!("{name}.force"), newton);
                let component = ports.output_range(force).start;
                for input in [length, rate] {
                    ports.feed_through(component, ports.input_range(input).start);
                }
                ports.conjugate(Conjugate::GivesForce {
                    motion: length,
                    force,
                });
            }
            Element::Orifice {
                is_variable: true, ..
            } => {
                ports.add_input(format!("{name}.opening"), Quantity::Scalar(Unit::ONE));
            }
            Element::Orifice { .. } | Element::OneWay { .. } => {}
        }
    }
    ports
}
