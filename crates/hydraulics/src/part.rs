//! The network as the engine drives it.
//!
//! The method is the L-stable two-stage SDIRK of second order (Alexander 1977). Each stage is solved by Newton's method,
//! for all unknowns of an island at once; a single one is kept between bounds, so that it is always found.

use oldham_cosim::{
    Conjugate, Counters, Energy, EnergyBalance, Inputs, Linearisable, Ports, Quantity, Reached,
    State, StepError, Subsystem, Unit, Visitor,
};
use oldham_space::solve_dense;

use crate::cylinder::Cylinder;
use crate::element::{Chambers, Element};
use crate::equations::{Equations, Island, Stage, Through};
use crate::network::{Balance, Named, Network, Place, Received, Sent};
use crate::sdirk::{GAMMA, STAGES};

const MOST_ITERATIONS: usize = 60;
/// Enough for bisection alone.
const MOST_BISECTIONS: usize = 100;
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
    work: [f64; 2],
    /// Energy that comes with each unit of flow to a tank.
    tank_heads: Vec<f64>,
    /// Why there was no linear model when one was last asked for.
    pub(crate) refused: Option<String>,
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
    heads: Vec<f64>,
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

    /// Change at which an unknown counts as found.
    fn allowed(&self, unknown: usize) -> f64 {
        let x = self.x[unknown].abs();
        match self.equations.network.volumes.get(unknown) {
            Some(volume) if volume.value.balance == Balance::Volume => TOLERANCE * x.max(1.0),
            Some(_) => TOLERANCE,
            None => RELATIVE * x + ABSOLUTE,
        }
    }

    /// Rates and derivatives of an island where it is.
    fn evaluate(&mut self, island: &Island, span: f64) {
        let n = island.unknowns.len();
        let Scratch {
            known,
            rates,
            matrix,
            ..
        } = &mut self.scratch;
        let stage = Stage { known, span };
        let matrix = &mut matrix[..n * n];
        self.equations
            .evaluate(island, &self.x, stage, rates, matrix);
    }

    /// Solves x − span · x' = known for all unknowns.
    fn stage(&mut self, span: f64) -> Result<(), StepError> {
        let islands = std::mem::take(&mut self.equations.islands);
        let mut solved = Ok(());
        for island in &islands {
            solved = match island.unknowns[..] {
                [unknown] => self.solve_one(island, unknown, span),
                _ => self.solve_island(island, span),
            };
            if solved.is_err() {
                break;
            }
        }
        self.equations.islands = islands;
        self.equations.evaluate_loose();
        solved
    }

    /// The same for an island with a single unknown: what flows in falls as the pressure rises, so that its residual grows
    /// with it, and there is one solution.
    fn solve_one(&mut self, island: &Island, unknown: usize, span: f64) -> Result<(), StepError> {
        let known = self.scratch.known[unknown];
        let residual = |part: &mut Self| {
            part.evaluate(island, span);
            let rate = part.scratch.rates[unknown];
            let slope = 1.0 - span * part.scratch.matrix[0];
            (part.x[unknown] - span * rate - known, slope)
        };
        let (mut r, mut slope) = residual(self);
        if !r.is_finite() {
            return Err(self.not_finite(unknown, r));
        }
        // The residual grows at least half as fast as the unknown: density counts for less than the pressure.
        let x = self.x[unknown];
        let (mut low, mut high) = (x - 2.0 * r.abs(), x + 2.0 * r.abs());
        for _ in 0..MOST_BISECTIONS {
            self.counters.iterations += 1;
            let x = self.x[unknown];
            if r > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - r / slope;
            let allowed = self.allowed(unknown);
            // Strictly inside, or two kinks could send it to and fro between the ends; but not where only rounding is left.
            let is_inside = low < newton && newton < high;
            let next = match is_inside || (newton - x).abs() <= allowed {
                true => newton,
                false => 0.5 * (low + high),
            };
            self.x[unknown] = next;
            let is_found = (next - x).abs() <= allowed;
            (r, slope) = residual(self);
            if is_found {
                break;
            }
        }
        Ok(())
    }

    /// The same for an island with several unknowns.
    fn solve_island(&mut self, island: &Island, span: f64) -> Result<(), StepError> {
        let n = island.unknowns.len();
        let mut worst = (0.0_f64, 0);
        for iteration in 0..MOST_ITERATIONS {
            self.evaluate(island, span);
            let Scratch {
                known,
                rates,
                right,
                matrix,
                ..
            } = &mut self.scratch;
            let (matrix, right) = (&mut matrix[..n * n], &mut right[..n]);
            for (i, &unknown) in island.unknowns.iter().enumerate() {
                right[i] = known[unknown] + span * rates[unknown] - self.x[unknown];
                for entry in &mut matrix[i * n..(i + 1) * n] {
                    *entry *= -span;
                }
                matrix[i * n + i] += 1.0;
            }
            self.counters.iterations += 1;
            self.counters.factorisations += 1;
            if !solve_dense(matrix, right) {
                return Err(self.singular(island.unknowns[0]));
            }
            let share = if iteration < PATIENCE { 1.0 } else { 0.5 };
            worst = (0.0, island.unknowns[0]);
            for (i, &unknown) in island.unknowns.iter().enumerate() {
                let change = self.scratch.right[i];
                self.x[unknown] += share * change;
                let size = change.abs() / self.allowed(unknown);
                if size > worst.0 || size.is_nan() {
                    worst = (size, unknown);
                }
            }
            if worst.0 <= 1.0 {
                self.evaluate(island, span);
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
    fn singular(&self, unknown: usize) -> StepError {
        StepError::Singular {
            unknown: self.name_of(unknown),
        }
    }

    #[cold]
    fn not_finite(&self, unknown: usize, value: f64) -> StepError {
        StepError::NotFinite {
            law: self.name_of(unknown),
            value,
            at: format!("inputs {:?}", self.scratch.inputs),
        }
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

    /// Energy that comes with each unit of flow at a place.
    fn head(&self, place: Place) -> f64 {
        match place {
            Place::Volume(volume) => self.scratch.heads[volume],
            Place::Tank(tank) => self.tank_heads[tank],
        }
    }

    /// The same at both ends of an element. A chamber that counts volume receives oil from a tank at its own pressure: what is
    /// lost by throttling before lies outside of the balance, which it would drown.
    fn heads(&self, ends: [Place; 2]) -> [f64; 2] {
        let volumes = &self.equations.network.volumes;
        let counts_volume = |volume: usize| volumes[volume].value.balance == Balance::Volume;
        match ends {
            [Place::Tank(_), Place::Volume(volume)] | [Place::Volume(volume), Place::Tank(_)]
                if counts_volume(volume) =>
            {
                [self.scratch.heads[volume]; 2]
            }
            _ => ends.map(|end| self.head(end)),
        }
    }

    /// Dissipated and supplied power.
    fn powers(&mut self) -> [f64; 2] {
        for (index, head) in self.scratch.heads.iter_mut().enumerate() {
            *head = self.equations.head_of_volume(index);
        }
        let inputs = &self.scratch.inputs;
        let [mut dissipated, mut supplied] = [0.0; 2];
        for (index, named) in self.equations.network.elements.iter().enumerate() {
            if let Element::Chambers(chambers) = &named.value {
                let [passive, from_tanks] = self.cylinder_powers(index, chambers);
                dissipated += passive;
                supplied += from_tanks;
                continue;
            }
            let Through { ends, flow } = self.equations.through(index);
            let [from, to] = self.heads(ends);
            match (&named.value, self.equations.states[index]) {
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
                    let rate = self.equations.received(index, inputs);
                    dissipated += flow * (from - to) - self.torque(index, inputs) * rate;
                }
                _ => dissipated += flow * (from - to),
            }
            let crossing = match named.value {
                Element::Accumulator(gas) => [Some((gas.at, flow * from)), None],
                _ => [Some((ends[0], flow * from)), Some((ends[1], -flow * to))],
            };
            for (end, out) in crossing.into_iter().flatten() {
                if matches!(end, Place::Tank(_)) {
                    supplied += out;
                }
            }
        }
        [dissipated, supplied]
    }

    /// What friction and stops take, and what tanks give to chambers that are open to them.
    fn cylinder_powers(&self, index: usize, chambers: &Chambers) -> [f64; 2] {
        let [length, rate] = self.equations.moved(index, &self.scratch.inputs);
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
    fn torque(&self, index: usize, inputs: &[f64]) -> f64 {
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
            match (&named.value, &self.equations.states[index]) {
                (Element::Chambers(chambers), _) => {
                    let [length, rate] = self.equations.moved(index, inputs);
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

fn ports(network: &Network) -> Ports {
    let mut ports = Ports::new();
    let cubic = |unit: &'static str| Quantity::Scalar(Unit(unit.into()));
    let elements = network.elements.len();
    // Rotations of shafts, lengths and rates of cylinders.
    let mut motions = vec![[None; 2]; elements];
    for Named { name, value } in &network.received {
        match *value {
            Received::Flow(_) => {
                ports.add_input(name, cubic("m3/s"));
            }
            Received::Shaft(element) => {
                motions[element][0] = Some(ports.add_input(name, Quantity::Rotation));
            }
            Received::Opening(_) | Received::Spool(_) => {
                ports.add_input(name, Quantity::Scalar(Unit::ONE));
            }
            Received::Length(element) => {
                let metre = Quantity::Scalar(Unit::METRE);
                let centre = match &network.elements[element].value {
                    Element::Chambers(chambers) => chambers.cylinder.centre,
                    _ => 0.0,
                };
                let length = ports.add_input_with(name, metre, vec![centre]);
                motions[element][0] = Some(length);
            }
            Received::Rate(element) => {
                let speed = Quantity::Scalar(Unit::METRE_PER_SECOND);
                motions[element][1] = Some(ports.add_input(name, speed));
            }
            Received::Speed(_) => {
                ports.add_input(name, Quantity::Scalar(Unit::METRE_PER_SECOND));
            }
        }
    }
    for Named { name, value } in &network.sent {
        match *value {
            Sent::Pressure(_) => {
                ports.add_output(name, Quantity::Scalar(Unit::PASCAL));
            }
            Sent::Flow(_) => {
                ports.add_output(name, cubic("m3/s"));
            }
            Sent::Oil(_) => {
                ports.add_output(name, cubic("m3"));
            }
            Sent::Spool(_) => {
                ports.add_output(name, Quantity::Scalar(Unit::ONE));
            }
            Sent::Torque(element) => {
                let torque = Quantity::Scalar(Unit::NEWTON_METRE);
                let force = ports.add_output(name, torque);
                let (Element::Motor(motor), [Some(motion), _]) =
                    (&network.elements[element].value, motions[element])
                else {
                    continue;
                };
                if motor.friction != 0.0 {
                    let rate = ports.input_range(motion).start + 1;
                    ports.feed_through(ports.output_range(force).start, rate);
                }
                ports.conjugate(Conjugate::GivesForce { motion, force });
            }
            Sent::Force(element) => {
                let force = ports.add_output(name, Quantity::Scalar(Unit::NEWTON));
                let component = ports.output_range(force).start;
                for input in motions[element].into_iter().flatten() {
                    ports.feed_through(component, ports.input_range(input).start);
                }
                if let [Some(motion), _] = motions[element] {
                    ports.conjugate(Conjugate::GivesForce { motion, force });
                }
            }
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Orifice;
    use crate::fluid::Fluid;
    use crate::network::Volume;

    /// Of a piston that displaces and takes no room.
    const TINY: f64 = 1e-15;

    /// A chamber between a pump, a tank and a piston that moves so fast that it grows at this rate.
    fn chamber(volume: f64, open: f64, growth: f64, span: f64) -> NetworkPart {
        let [v, pump, tank] = [Place::Volume(0), Place::Tank(0), Place::Tank(1)];
        let edge = |ends, open: f64| {
            Element::Orifice(Orifice {
                is_one_way: true,
                ..Orifice::new(ends, open * 5e-4, 0.67)
            })
        };
        let piston = Element::Chambers(Chambers {
            ends: [tank, v],
            cylinder: Cylinder::new([TINY; 2], 1.0, 1.0),
        });
        let elements = [edge([pump, v], open), edge([v, tank], 1.0 - open), piston];
        let volume = Volume {
            volume,
            pressure: 3e6,
            balance: Balance::Volume,
        };
        let mut part = NetworkPart::new(&Network::new(
            Fluid::new(850.0, 6.53e-10, -1.19e-18),
            vec![Named::new("v", volume)],
            vec![Named::new("pump", 7.6e6), Named::new("tank", 1e5)],
            elements.map(|it| Named::new("e", it)).to_vec(),
        ));
        part.equations.see(&[1.0, growth / TINY], &[]);
        part.scratch.known.copy_from_slice(&part.x);
        part.stage(span).unwrap();
        part
    }

    #[test]
    fn every_stage_of_a_chamber_is_solved_however_stiff_it_is() {
        for growth in [-0.5, -1e-3, 0.0, 1e-3, 0.5] {
            for volume in [1e-9, 1e-6, 1e-3] {
                for open in [0.0, 0.45, 1.0] {
                    for span in [1e-6, 1e-4, 1.0] {
                        let part = chamber(volume, open, growth, span);
                        let (x, Scratch { rates, matrix, .. }) = (part.x[0], &part.scratch);
                        let known = part.scratch.known[0];
                        let slope = 1.0 - span * matrix[0];
                        let residual = (x - span * rates[0] - known) / slope;
                        let what = format!("{growth} {volume} {open} {span}: {residual}");
                        assert!(residual.abs() < 1e-11 * x.abs().max(1.0), "{what}");
                        let iterations = part.counters.iterations;
                        assert!(iterations < MOST_BISECTIONS as u64, "{what}");
                        assert!(part.pressure(0) >= 0.0);
                    }
                }
            }
        }
    }
}
