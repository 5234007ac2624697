//! Structural compensation: the taker evaluates the linear part of the coupling law itself.
//!
//! The giver sends only what the linear law leaves over. The taker adds the law at its own micro
//! rate, with its own motion of that instant and the giver's motion continued by its derivatives;
//! the giver continues the taker's motion in the same way.

use nalgebra::{DMatrix, DVector};
use oldham_compensation::{
    Compensated, Compensation, CompensatorRow, Kinematic, RemoteSignal, Signal,
};
use oldham_cosim::{OutputPort, Ports, Simulation, SubsystemId};

use crate::compensate::assignment::{Build, DesignError};
use crate::compensate::rows::{Candidate, own_signals, received_signals};
use crate::compensate::site::{Site, part_name};
use crate::recurrence::Recurrence;
use crate::spectrum::STABLE;

/// The force at an interface as a linear function of the motions on both sides.
#[derive(Clone, Debug)]
pub struct CouplingLaw {
    site: Site,
    /// Motions of the giver and what the force grows with each of them.
    pub own: Vec<(Candidate, f64)>,
    /// The received motion, likewise.
    pub received: Vec<(Candidate, f64)>,
    /// What the law leaves of the force, relative to it: zero for a linear spring and damper
    /// between motions that are sent.
    pub residual: f64,
    /// How it was found.
    pub origin: Origin,
}

/// Where a law comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the linearisation that the giver offers.
    Linearised,
    /// Fitted to what was exchanged.
    Identified,
}

/// Macro steps of exchange to which a law is fitted, for every unknown.
const STEPS_PER_UNKNOWN: usize = 20;
/// Directions of the data smaller than this against the largest are not believed.
const DATA_TOLERANCE: f64 = 1e-9;

impl CouplingLaw {
    /// The law at an interface: from the linearisation where there is one, else from the exchange.
    pub fn of(build: &Build<'_>, site: &Site) -> Result<Self, DesignError> {
        let mut simulation = build(Vec::new())?;
        match Self::linearised(&mut simulation, site) {
            Some(law) => Ok(law),
            None => Self::identified(build, site),
        }
    }

    fn linearised(simulation: &mut Simulation, site: &Site) -> Option<Self> {
        let linear = simulation.linearise(site.giver)?;
        let ports = simulation.ports(site.giver);
        let inputs = ports.input_width();
        let force = ports.output_range(site.force).start;
        let (own, received) = motions(simulation, site);
        let state_row = |output: usize| &linear.c[output * linear.states..][..linear.states];
        let matrix = DMatrix::from_fn(linear.states, own.len(), |state, column| {
            state_row(own[column].0)[state]
        });
        let wanted = DVector::from_column_slice(state_row(force));
        let gains = least_squares(&matrix, &wanted);
        let residual = relative(&(matrix * &gains - &wanted), &wanted);
        let direct = |component: usize| linear.d[force * inputs + component];
        Some(Self {
            site: *site,
            own: pair(own, gains.as_slice()),
            received: received
                .into_iter()
                .map(|(component, candidate)| (candidate, direct(component)))
                .collect(),
            residual,
            origin: Origin::Linearised,
        })
    }

    /// Fits the law to what a run of the model exchanges.
    pub fn identified(build: &Build<'_>, site: &Site) -> Result<Self, DesignError> {
        let plain = build(Vec::new())?;
        let (own, received) = motions(&plain, site);
        let force = plain.ports(site.giver).output_range(site.force).start;
        let listen = own.iter().chain(&received).map(|(_, c)| (c.signal, 0.0));
        let law = Compensation {
            amended: vec![CompensatorRow::new(force, listen.collect())],
            ..Compensation::default()
        };
        let mut simulation = build(vec![(site.giver, law)])?;
        let unknowns = own.len() + received.len();
        let steps = STEPS_PER_UNKNOWN * unknowns;
        // A constant column takes up preloads.
        let mut data = DMatrix::from_element(steps, unknowns + 1, 1.0);
        let mut forces = DVector::zeros(steps);
        for step in 0..steps {
            simulation.step().map_err(crate::AnalysisError::Fault)?;
            let giver = simulation.known::<Compensated>(site.giver);
            let readings = giver.map_or(&[][..], Compensated::readings);
            for (column, value) in readings.iter().enumerate() {
                data[(step, column)] = *value;
            }
            forces[step] = simulation.outputs(site.giver)[force];
        }
        let gains = least_squares(&data, &forces);
        let mean = forces.mean();
        let spread = forces.add_scalar(-mean);
        if spread.amax() <= DATA_TOLERANCE * mean.abs().max(f64::MIN_POSITIVE) {
            let force = &plain.ports(site.giver).outputs()[site.force.0].name;
            let name = part_name(&plain, site.giver);
            return Err(DesignError::NothingExchanged(format!("{name}.{force}")));
        }
        let residual = relative(&(data * &gains - &forces), &spread);
        let (first, second) = gains.as_slice().split_at(own.len());
        Ok(Self {
            site: *site,
            own: pair(own, first),
            received: pair(received, second),
            residual,
            origin: Origin::Identified,
        })
    }

    /// The compensations of both sides, for the micro steps with which giver and taker integrate
    /// if they do so by semi-implicit Euler (zero otherwise).
    pub fn compensations(
        &self,
        simulation: &Simulation,
        micro_steps: [f64; 2],
    ) -> Vec<(SubsystemId, Compensation)> {
        vec![
            (self.site.giver, self.giver(simulation, micro_steps[1])),
            (self.site.taker, self.taker(simulation, micro_steps[0])),
        ]
    }

    fn giver(&self, simulation: &Simulation, taker_step: f64) -> Compensation {
        let all = self.own.iter().chain(&self.received);
        let law = all.map(|(candidate, gain)| (candidate.signal, -gain));
        let ports = simulation.ports(self.site.giver);
        let force = ports.output_range(self.site.force).start;
        let start = ports.input_range(self.site.received).start;
        let width = ports.input_range(self.site.received).len();
        // What is predicted for the received motion is replaced by its continuation.
        let replaced = |component: usize| {
            let target = start + component;
            let terms = vec![
                (Signal::RemoteSignal(component), 1.0),
                (Signal::Received(target), -1.0),
            ];
            CompensatorRow::new(target, terms)
        };
        Compensation {
            running: (0..width).map(replaced).collect(),
            amended: vec![CompensatorRow::new(force, law.collect())],
            remote: vec![remote(
                simulation,
                vec![(self.site.taker, self.site.far)],
                taker_step,
            )],
            ..Compensation::default()
        }
    }

    fn taker(&self, simulation: &Simulation, giver_step: f64) -> Compensation {
        let giver = simulation.ports(self.site.giver);
        let taker = simulation.ports(self.site.taker);
        let mut senders: Vec<(SubsystemId, OutputPort)> = Vec::new();
        let mut terms = Vec::new();
        let mut starts = Vec::new();
        let mut width = 0;
        for (candidate, gain) in self.own.iter().filter(|(_, gain)| *gain != 0.0) {
            let Signal::Own(component) = candidate.signal else {
                continue;
            };
            let port = (0..giver.outputs().len())
                .map(OutputPort)
                .find(|&port| giver.output_range(port).contains(&component))
                .expect("signals belong to ports");
            let sender = (self.site.giver, port);
            let place = senders.iter().position(|known| *known == sender);
            let place = place.unwrap_or_else(|| {
                senders.push(sender);
                starts.push(width);
                width += giver.output_range(port).len();
                senders.len() - 1
            });
            let offset = component - giver.output_range(port).start;
            terms.push((Signal::RemoteSignal(starts[place] + offset), *gain));
        }
        let received = giver.input_range(self.site.received).start;
        let own = taker.output_range(self.site.far).start;
        for (candidate, gain) in &self.received {
            if let Signal::Received(component) = candidate.signal {
                terms.push((Signal::Own(own + component - received), *gain));
            }
        }
        Compensation {
            running: vec![CompensatorRow::new(
                taker.input_range(self.site.push).start,
                terms,
            )],
            remote: vec![remote(simulation, senders, giver_step)],
            ..Compensation::default()
        }
    }
}

/// A structural compensator that the recurrence confirms: spectral radius without and with it.
pub fn confirm(
    build: &Build<'_>,
    laws: &[CouplingLaw],
    micro_steps: &[[f64; 2]],
) -> Result<[f64; 2], DesignError> {
    let mut plain = build(Vec::new())?;
    let mut parts = Vec::new();
    for (law, steps) in laws.iter().zip(micro_steps) {
        parts.extend(law.compensations(&plain, *steps));
    }
    let before = crate::radius(&mut plain);
    let after = Recurrence::of(&mut build(Compensation::joined(parts))?)?.eigenvalues()?;
    let radius = [before, after.first().map_or(0.0, |z| z.norm())];
    if radius[1] > STABLE {
        return Err(DesignError::StructureUnstable { radius });
    }
    Ok(radius)
}

/// Displacements and velocities of the giver and of what it receives, with their components.
type Motions = Vec<(usize, Candidate)>;

fn motions(simulation: &Simulation, site: &Site) -> (Motions, Motions) {
    let place = |candidate: Candidate| match candidate.signal {
        Signal::Own(component) | Signal::Received(component) | Signal::RemoteSignal(component) => {
            (component, candidate)
        }
    };
    let usable = |candidate: &Candidate| candidate.derivative < 2;
    let own = own_signals(simulation, site.giver);
    let received = received_signals(simulation, site);
    (
        own.into_iter().filter(usable).map(place).collect(),
        received.into_iter().filter(usable).map(place).collect(),
    )
}

fn pair(motions: Motions, gains: &[f64]) -> Vec<(Candidate, f64)> {
    let candidates = motions.into_iter().map(|(_, candidate)| candidate);
    candidates.zip(gains.iter().copied()).collect()
}

fn remote(
    simulation: &Simulation,
    senders: Vec<(SubsystemId, OutputPort)>,
    step: f64,
) -> RemoteSignal {
    let mut ports = Ports::new();
    for &(part, port) in &senders {
        let output = &simulation.ports(part).outputs()[port.0];
        let name = format!("{}.{}", part_name(simulation, part), output.name);
        ports.add_input(name, output.quantity.clone());
    }
    let predictor = Box::new(Kinematic::new(step, &ports));
    RemoteSignal {
        senders,
        ports,
        predictor,
    }
}

/// The smallest solution, with columns scaled alike.
fn least_squares(matrix: &DMatrix<f64>, right: &DVector<f64>) -> DVector<f64> {
    // A law with NaN is no law.
    if !matrix
        .iter()
        .chain(right.iter())
        .all(|value| value.is_finite())
    {
        return DVector::zeros(matrix.ncols());
    }
    let sizes: Vec<f64> = matrix
        .column_iter()
        .map(|column| {
            if column.norm() > 0.0 {
                column.norm()
            } else {
                1.0
            }
        })
        .collect();
    let scaled = DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        matrix[(i, j)] / sizes[j]
    });
    let svd = scaled.svd(true, true);
    let bound = DATA_TOLERANCE * svd.singular_values.max();
    let solution = svd.solve(right, bound).expect("both bases were asked for");
    DVector::from_fn(sizes.len(), |i, _| solution[i] / sizes[i])
}

fn relative(error: &DVector<f64>, size: &DVector<f64>) -> f64 {
    let norm = size.norm();
    if norm > 0.0 { error.norm() / norm } else { 0.0 }
}
