//! The circuit as the engine drives it.

use oldham_cosim::{
    Conjugate, Counters, Energy, EnergyBalance, Inputs, Linearisable, Ports, Quantity, Reached,
    State, StepError, Subsystem, Unit, Visitor,
};

use crate::chamber::{Surroundings, step};
use crate::circuit::{Actuator, Circuit, Supply};
use crate::cylinder::Cylinder;
use crate::equilibrium::Equilibrium;
use crate::error::CircuitErrors;
use crate::fluid::Fluid;
use crate::sdirk::STAGES;
use crate::spool::Spool;

/// Inputs of an actuator: length, rate, command.
const RECEIVED: usize = 3;
/// Outputs of an actuator: force, both pressures, and where a speed control has put its spool.
fn sent(actuator: &Actuator) -> usize {
    3 + usize::from(actuator.control.is_some())
}

/// A hydraulic circuit that is being simulated.
///
/// For each actuator `name` it receives `name.length` and `name.rate` of the line along which the
/// actuator acts, and `name.spool`, the displacement of the spool from its neutral position, or with a
/// speed control `name.speed`, the rate that is wanted, and then it sends `name.spool`; it sends `name.force`, positive when the actuator pushes, with friction and end stops, and the
/// pressures `name.p1` and `name.p2`. Nothing is allocated after construction.
#[derive(Clone, Debug)]
pub struct Hydraulics {
    fluid: Fluid,
    supply: Supply,
    pub(crate) actuators: Vec<Actuator>,
    starts: Vec<Equilibrium>,
    micro_steps: usize,
    ports: Ports,
    /// Logarithms of the relative density, two for each actuator.
    pub(crate) chambers: Vec<f64>,
    /// Displacements of the spools from their neutral positions.
    pub(crate) spools: Vec<f64>,
    /// What speed controls remember.
    memories: Vec<f64>,
    /// Work since the start: dissipated, supplied.
    work: [f64; 2],
    /// The inputs at both stages of a step.
    at_stages: [Vec<f64>; 2],
    counters: Counters,
}

/// What an actuator receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub length: f64,
    pub rate: f64,
    /// Of the spool, or the speed that is wanted.
    pub command: f64,
}

impl Received {
    pub fn of(inputs: &[f64], actuator: usize) -> Self {
        let [length, rate, command] = *inputs[RECEIVED * actuator..]
            .first_chunk()
            .expect("three inputs an actuator");
        Self {
            length,
            rate,
            command,
        }
    }
}

impl Hydraulics {
    /// Checks the circuit and solves for its equilibrium; reports all problems at once.
    pub fn new(circuit: &Circuit) -> Result<Self, CircuitErrors> {
        circuit.check()?;
        let (mut starts, mut problems) = (Vec::new(), Vec::new());
        for actuator in &circuit.actuators {
            match actuator.start(&circuit.supply) {
                Ok(start) => starts.push(start),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(CircuitErrors(problems));
        }
        let pressures = starts.iter().flat_map(|start| start.pressures);
        let ports = ports(&circuit.actuators);
        let inputs = ports.initial_inputs().to_vec();
        Ok(Self {
            chambers: pressures.map(|p| circuit.fluid.log_density(p)).collect(),
            fluid: circuit.fluid,
            supply: circuit.supply,
            actuators: circuit.actuators.clone(),
            starts,
            micro_steps: circuit.micro_steps.max(1),
            ports,
            spools: vec![0.0; circuit.actuators.len()],
            memories: vec![0.0; circuit.actuators.len()],
            work: [0.0; 2],
            at_stages: [inputs.clone(), inputs],
            counters: Counters::default(),
        })
    }

    /// The neutral position of a spool.
    pub fn neutral(&self, actuator: usize) -> f64 {
        self.starts[actuator].spool
    }

    /// Present pressures of an actuator in Pa.
    pub fn pressures(&self, actuator: usize) -> [f64; 2] {
        let pressure = |i: usize| self.fluid.pressure(self.chambers[2 * actuator + i]);
        [pressure(0), pressure(1)]
    }

    /// What acts on a chamber of an actuator.
    pub(crate) fn surroundings(
        &self,
        actuator: usize,
        chamber: usize,
        received: Received,
        spool: f64,
    ) -> Surroundings<'_> {
        let Actuator {
            cylinder,
            valve,
            safety,
            ..
        } = &self.actuators[actuator];
        let spool = self.neutral(actuator) + spool;
        Surroundings {
            fluid: &self.fluid,
            valve,
            safety,
            supply: &self.supply,
            open: valve.openings(spool, chamber),
            volume: cylinder.volumes(received.length)[chamber],
            growth: cylinder.growths(received.rate)[chamber],
        }
    }

    /// Moves a spool as it is told at both stages of a step; gives where it is at each.
    fn move_spool(&mut self, actuator: usize, received: &[Received; 2], size: f64) -> [f64; 2] {
        let Actuator { spool, control, .. } = self.actuators[actuator];
        let neutral = self.neutral(actuator);
        let place = &mut self.spools[actuator];
        let mut reached = 0.0;
        let mut places = [0.0; 2];
        for (stage, (at, (node, _))) in received.iter().zip(STAGES).enumerate() {
            let time = (node - reached) * size;
            reached = node;
            *place = match control {
                None => spool.after(*place, at.command, time),
                Some(control) => {
                    let (memory, lack) = (&mut self.memories[actuator], at.command - at.rate);
                    let housing = [-neutral, 1.0 - neutral];
                    control.lead(&spool, memory, *place, lack, time, housing)
                }
            };
            places[stage] = *place;
        }
        places
    }

    /// Whether every piston is near its cylinder: stops let it pass by millimetres, not by its stroke.
    fn check_lengths(&self) -> Result<(), StepError> {
        for (index, Actuator { name, cylinder, .. }) in self.actuators.iter().enumerate() {
            let length = Received::of(&self.at_stages[1], index).length;
            let out = (length - cylinder.centre).abs();
            if out.is_nan() || out > 1.5 * cylinder.stroke {
                return Err(gone(name, cylinder, length));
            }
        }
        Ok(())
    }

    /// One step of all chambers; the inputs at its stages are there already.
    fn step(&mut self, size: f64) -> Result<(), StepError> {
        for actuator in 0..self.actuators.len() {
            let received = [0, 1].map(|stage| Received::of(&self.at_stages[stage], actuator));
            let spools = self.move_spool(actuator, &received, size);
            for chamber in 0..2 {
                let stages = [0, 1].map(|stage| {
                    self.surroundings(actuator, chamber, received[stage], spools[stage])
                });
                let index = 2 * actuator + chamber;
                let mut iterations = 0;
                let stepped = step(stages, self.chambers[index], size, &mut iterations)?;
                self.chambers[index] = stepped.log_density;
                self.work[1] += stepped.supplied;
                self.counters.iterations += iterations;
            }
            for (at, (_, weight)) in received.iter().zip(STAGES) {
                let passive = self.actuators[actuator]
                    .cylinder
                    .passive(at.length, at.rate);
                self.work[0] += weight * size * passive.dissipated;
            }
        }
        self.counters.micro_steps += 1;
        Ok(())
    }
}

impl Subsystem for Hydraulics {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let size = (to - from) / self.micro_steps as f64;
        for index in 0..self.micro_steps {
            for (values, (node, _)) in self.at_stages.iter_mut().zip(STAGES) {
                let fraction = (index as f64 + node) / self.micro_steps as f64;
                inputs.at(from + (to - from) * fraction, values);
            }
            self.check_lengths()?;
            self.step(size)?;
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let mut rest = outputs;
        for actuator in 0..self.actuators.len() {
            let (own, others) = rest.split_at_mut(sent(&self.actuators[actuator]));
            rest = others;
            let received = Received::of(inputs, actuator);
            let pressures = self.pressures(actuator);
            let cylinder = &self.actuators[actuator].cylinder;
            let passive = cylinder.passive(received.length, received.rate);
            own[0] = cylinder.thrust(pressures) + passive.force;
            own[1..3].copy_from_slice(&pressures);
            if let Some(spool) = own.get_mut(3) {
                *spool = self.neutral(actuator) + self.spools[actuator];
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn work(&self) -> f64 {
        (self.micro_steps * self.chambers.len()) as f64
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Some(self)
    }
}

impl EnergyBalance for Hydraulics {
    /// Compressed fluid and end stops are stored; supplied is what passed the valves, at the
    /// pressure of the chamber.
    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        let mut energy = Energy {
            dissipated: self.work[0],
            supplied: self.work[1],
            ..Energy::default()
        };
        for (actuator, Actuator { cylinder, .. }) in self.actuators.iter().enumerate() {
            let received = Received::of(inputs, actuator);
            energy.potential += cylinder.passive(received.length, received.rate).stored;
            for (chamber, volume) in cylinder.volumes(received.length).into_iter().enumerate() {
                let log_density = self.chambers[2 * actuator + chamber];
                energy.potential += self.fluid.stored(log_density, volume);
            }
        }
        energy
    }
}

impl State for Hydraulics {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.chambers);
        let is_controlled = |actuator: &Actuator| actuator.control.is_some();
        let follows = |actuator: &Actuator| actuator.spool != Spool::AT_ONCE;
        if self
            .actuators
            .iter()
            .any(|a| follows(a) || is_controlled(a))
        {
            visitor.vector(&mut self.spools);
        }
        if self.actuators.iter().any(is_controlled) {
            visitor.vector(&mut self.memories);
        }
        visitor.fixed(&mut self.work);
    }
}

#[cold]
fn gone(name: &str, cylinder: &Cylinder, length: f64) -> StepError {
    let [low, high] = [-0.5, 0.5].map(|share| cylinder.centre + share * cylinder.stroke);
    let place = match length.is_finite() {
        true => format!("its length is {length:.3e} m"),
        false => "its length is no number".to_owned(),
    };
    let message = format!(
        "actuator `{name}` is torn from its cylinder: {place}, which has {low} m to {high} m; the coupling is unstable, or \
         something pulls harder than the end stops hold: take a smaller step, or look at the loads there"
    );
    StepError::Foreign(message)
}

fn ports(actuators: &[Actuator]) -> Ports {
    let mut ports = Ports::new();
    let pascal = || Quantity::Scalar(Unit::PASCAL);
    for Actuator {
        name,
        cylinder,
        control,
        ..
    } in actuators
    {
        let metre = Quantity::Scalar(Unit::METRE);
        let length = ports.add_input_with(format!("{name}.length"), metre, vec![cylinder.centre]);
        let rate = Quantity::Scalar(Unit::METRE_PER_SECOND);
        let rate = ports.add_input(format!("{name}.rate"), rate);
        match control {
            None => ports.add_input(format!("{name}.spool"), Quantity::Scalar(Unit::ONE)),
            Some(_) => {
                let speed = Quantity::Scalar(Unit::METRE_PER_SECOND);
                ports.add_input(format!("{name}.speed"), speed)
            }
        };
        let force = ports.add_output(format!("{name}.force"), Quantity::Scalar(Unit::NEWTON));
        ports.add_output(format!("{name}.p1"), pascal());
        ports.add_output(format!("{name}.p2"), pascal());
        if control.is_some() {
            ports.add_output(format!("{name}.spool"), Quantity::Scalar(Unit::ONE));
        }
        let component = ports.output_range(force).start;
        for input in [length, rate] {
            ports.feed_through(component, ports.input_range(input).start);
        }
        ports.conjugate(Conjugate::GivesForce {
            motion: length,
            force,
        });
    }
    ports
}
