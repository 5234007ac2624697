//! Structural compensation: the motion side evaluates the linear part of the coupling law itself.
//!
//! The force side sends only what the linear law leaves over. The motion side adds the law at its own micro
//! rate, with its own motion of that instant and the force side's motion continued by its derivatives;
//! the force side continues the motion side's motion in the same way.

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
    /// Motions of the force side and what the force grows with each of them.
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
    /// From the linearisation that the force side offers.
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
        let linear = simulation.linearise(site.force_side)?;
        let ports = simulation.ports(site.force_side);
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
        let force = plain.ports(site.force_side).output_range(site.force).start;
        let listen = own.iter().chain(&received).map(|(_, c)| (c.signal, 0.0));
        let law = Compensation {
            amended: vec![CompensatorRow::new(force, listen.collect())],
            ..Compensation::default()
        };
        let mut simulation = build(vec![(site.force_side, law)])?;
        let unknowns = own.len() + received.len();
        let steps = STEPS_PER_UNKNOWN * unknowns;
        // A constant column takes up preloads.
        let mut data = DMatrix::from_element(steps, unknowns + 1, 1.0);
        let mut forces = DVector::zeros(steps);
        for step in 0..steps {
            simulation.step().map_err(crate::AnalysisError::Fault)?;
            let force_side = simulation.known::<Compensated>(site.force_side);
            let readings = force_side.map_or(&[][..], Compensated::readings);
            for (column, value) in readings.iter().enumerate() {
                data[(step, column)] = *value;
            }
            forces[step] = simulation.outputs(site.force_side)[force];
        }
        let gains = least_squares(&data, &forces);
        let mean = forces.mean();
        let spread = forces.add_scalar(-mean);
        if spread.amax() <= DATA_TOLERANCE * mean.abs().max(f64::MIN_POSITIVE) {
            let force = &plain.ports(site.force_side).outputs()[site.force.0].name;
            let name = part_name(&plain, site.force_side);
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

    /// The compensations of both sides, for the micro steps with which force side and motion side integrate
    /// if they do so by semi-implicit Euler (zero otherwise).
    pub fn compensations(
        &self,
        simulation: &Simulation,
        micro_steps: [f64; 2],
    ) -> Vec<(SubsystemId, Compensation)> {
        vec![
            (
                self.site.force_side,
                self.force_side(simulation, micro_steps[1]),
            ),
            (
                self.site.motion_side,
                self.motion_side(simulation, micro_steps[0]),
            ),
        ]
    }

    fn force_side(&self, simulation: &Simulation, motion_side_step: f64) -> Compensation {
        let all = self.own.iter().chain(&self.received);
        let law = all.map(|(candidate, gain)| (candidate.signal, -gain));
        let ports = simulation.ports(self.site.force_side);
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
                vec![(self.site.motion_side, self.site.far)],
                motion_side_step,
            )],
            ..Compensation::default()
        }
    }

    fn motion_side(&self, simulation: &Simulation, force_side_step: f64) -> Compensation {
        let force_side = simulation.ports(self.site.force_side);
        let motion_side = simulation.ports(self.site.motion_side);
        let mut senders: Vec<(SubsystemId, OutputPort)> = Vec::new();
        let mut terms = Vec::new();
        let mut starts = Vec::new();
        let mut width = 0;
        for (candidate, gain) in self.own.iter().filter(|(_, gain)| *gain != 0.0) {
            let Signal::Own(component) = candidate.signal else {
                continue;
            };
            let port = (0..force_side.outputs().len())
                .map(OutputPort)
                .find(|&port| force_side.output_range(port).contains(&component))
                .expect("signals belong to ports");
            let sender = (self.site.force_side, port);
            let place = senders.iter().position(|known| *known == sender);
            let place = place.unwrap_or_else(|| {
                senders.push(sender);
                starts.push(width);
                width += force_side.output_range(port).len();
                senders.len() - 1
            });
            let offset = component - force_side.output_range(port).start;
            terms.push((Signal::RemoteSignal(starts[place] + offset), *gain));
        }
        let received = force_side.input_range(self.site.received).start;
        let own = motion_side.output_range(self.site.far).start;
        for (candidate, gain) in &self.received {
            if let Signal::Received(component) = candidate.signal {
                terms.push((Signal::Own(own + component - received), *gain));
            }
        }
        Compensation {
            running: vec![CompensatorRow::new(
                motion_side.input_range(self.site.applied).start,
                terms,
            )],
            remote: vec![remote(simulation, senders, force_side_step)],
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

/// Displacements and velocities of the force side and of what it receives, with their components.
type Motions = Vec<(usize, Candidate)>;

fn motions(simulation: &Simulation, site: &Site) -> (Motions, Motions) {
    let place = |candidate: Candidate| match candidate.signal {
        Signal::Own(component) | Signal::Received(component) | Signal::RemoteSignal(component) => {
            (component, candidate)
        }
    };
    let usable = |candidate: &Candidate| candidate.derivative < 2;
    let own = own_signals(simulation, site.force_side);
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
