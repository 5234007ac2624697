//! The rows of a compensator for some interfaces: what may be fed back where, and gains for it.

use oldham_compensation::{Compensated, Compensation, CompensatorRow, Signal};
use oldham_cosim::{OutputPort, Ports, Quantity, Simulation, SubsystemId, Unit};

use nalgebra::DMatrix;

use crate::compensate::site::{Site, SiteError, part_name};
use crate::poles::{CoupledModel, Push, Readout};

/// A signal that a row may feed back.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Where it is read.
    pub signal: Signal,
    /// Such as `left.x1.v`.
    pub name: String,
    /// 0 for a displacement, 1 for a velocity, 2 for an acceleration.
    pub derivative: i32,
}

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds to a force input, sampled and held.
    Correct,
    /// Adds to a force as it is sent.
    Amend,
}

/// A row with all that it may feed back.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Whose inputs or outputs it changes.
    pub part: SubsystemId,
    /// How.
    pub action: Action,
    /// Component of the input vector, or of the output vector of an amendment.
    pub target: usize,
    /// Name of that component, such as `left.fc`.
    pub name: String,
    /// What it may feed back.
    pub candidates: Vec<Candidate>,
}

/// The compensator of one or several interfaces.
///
/// For each interface: a force on the force side from its own and the received motions, a force on the
/// motion side from its own motions, and an amendment of the force that is sent, from the force side's own
/// motions (Tamellin 2022, Eq. 24, 37 and 47).
#[derive(Clone, Debug)]
pub struct Architecture {
    /// All rows; those that correct come first.
    pub rows: Vec<Feedback>,
    /// Number of rows that correct.
    pub forces: usize,
    /// Displacements at these forces, in the same order.
    pub displacements: Vec<(SubsystemId, usize)>,
}

impl Architecture {
    /// With everything that may be fed back. Every force side must have a force input for corrections.
    pub fn new(simulation: &Simulation, sites: &[Site]) -> Result<Self, SiteError> {
        let (mut corrections, mut amendments) = (Vec::new(), Vec::new());
        let mut displacements = Vec::new();
        for site in sites {
            let (correction, near) = site.correction.ok_or_else(|| SiteError::NoForceInput {
                part: part_name(simulation, site.force_side),
            })?;
            let (force_side, motion_side) = (
                simulation.ports(site.force_side),
                simulation.ports(site.motion_side),
            );
            let own = own_signals(simulation, site.force_side);
            let mut seen = own.clone();
            seen.extend(received_signals(simulation, site));
            corrections.push(row(simulation, site.force_side, Action::Correct, {
                (force_side.input_range(correction).start, seen)
            }));
            displacements.push((site.force_side, force_side.output_range(near).start));
            corrections.push(row(simulation, site.motion_side, Action::Correct, {
                let far = own_signals(simulation, site.motion_side);
                (motion_side.input_range(site.applied).start, far)
            }));
            displacements.push((site.motion_side, motion_side.output_range(site.far).start));
            amendments.push(row(simulation, site.force_side, Action::Amend, {
                (force_side.output_range(site.force).start, own)
            }));
        }
        let forces = corrections.len();
        Ok(Self {
            rows: corrections.into_iter().chain(amendments).collect(),
            forces,
            displacements,
        })
    }

    /// Number of all candidates.
    pub fn unknowns(&self) -> usize {
        self.rows.iter().map(|row| row.candidates.len()).sum()
    }

    /// All candidates with the number of their row, in the order of gains.
    pub fn candidates(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(index, row)| row.candidates.iter().map(move |c| (index, c)))
    }

    /// Ports whose signals are among the candidates, such as `left.x1`, each once.
    pub fn signals(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, candidate) in self.candidates() {
            let port = port_of(&candidate.name);
            if !names.iter().any(|name| name == port) {
                names.push(port.into());
            }
        }
        names
    }

    /// Names of the displacements at the corrected forces, such as `left.x1.x`.
    pub fn displacement_names(&self, simulation: &Simulation) -> Vec<String> {
        let name = |&(part, component): &(SubsystemId, usize)| {
            let inner = simulation.ports(part).output_component_name(component);
            format!("{}.{inner}", part_name(simulation, part))
        };
        self.displacements.iter().map(name).collect()
    }

    /// Which candidates belong to one of these ports, such as `left.x1`, or to one of their
    /// components.
    pub fn choose(&self, signals: &[String]) -> Vec<bool> {
        let wanted = |name: &str| signals.iter().any(|s| s == name || s == port_of(name));
        self.candidates().map(|(_, c)| wanted(&c.name)).collect()
    }

    /// The compensations of all parts with these gains; a row takes away gain times signal.
    /// Signals with a gain of zero are left out.
    pub fn compensations(&self, gains: &[f64]) -> Vec<(SubsystemId, Compensation)> {
        self.with(gains, |gain| gain != 0.0)
    }

    /// The compensations with no gain at all, which still read every signal.
    pub fn listening(&self) -> Vec<(SubsystemId, Compensation)> {
        self.with(&vec![0.0; self.unknowns()], |_| true)
    }

    fn with(&self, gains: &[f64], keep: impl Fn(f64) -> bool) -> Vec<(SubsystemId, Compensation)> {
        assert_eq!(gains.len(), self.unknowns(), "a gain for every candidate");
        let mut parts: Vec<(SubsystemId, Compensation)> = Vec::new();
        let mut gains = gains.iter();
        for row in &self.rows {
            let terms = row.candidates.iter().map(|candidate| {
                let gain = *gains.next().expect("counted above");
                (candidate.signal, -gain)
            });
            let terms = terms.filter(|(_, gain)| keep(*gain)).collect();
            let place = match parts.iter().position(|(part, _)| *part == row.part) {
                Some(place) => place,
                None => {
                    parts.push((row.part, Compensation::default()));
                    parts.len() - 1
                }
            };
            let law = &mut parts[place].1;
            let rows = match row.action {
                Action::Correct => &mut law.sampled,
                Action::Amend => &mut law.amended,
            };
            rows.push(CompensatorRow::new(row.target, terms));
        }
        parts
    }

    /// The rows as pushes on a continuous model.
    pub(crate) fn pushes(&self) -> Vec<Push> {
        let push = |row: &Feedback| match row.action {
            Action::Correct => Push::Input(row.part, row.target),
            Action::Amend => Push::Sent(row.part, row.target),
        };
        self.rows.iter().map(push).collect()
    }

    /// The candidates as readouts at a continuous model.
    pub(crate) fn readouts(&self) -> Vec<Readout> {
        let readout = |(row, candidate): (usize, &Candidate)| {
            let part = self.rows[row].part;
            match candidate.signal {
                Signal::Own(component) => Readout::Output(part, component),
                Signal::Received(component) => Readout::Input(part, component),
                Signal::RemoteSignal(_) => unreachable!("no row listens to remote outputs"),
            }
        };
        self.candidates().map(readout).collect()
    }

    /// Gains as a matrix, rows by candidates.
    pub(crate) fn matrix(&self, gains: &[f64]) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(self.rows.len(), self.unknowns());
        for (column, (row, _)) in self.candidates().enumerate() {
            matrix[(row, column)] = gains[column];
        }
        matrix
    }

    /// A continuous model with these gains at work.
    pub fn applied_to(&self, model: CoupledModel, gains: &[f64]) -> CoupledModel {
        model.with_feedback(self.pushes(), self.readouts(), &-self.matrix(gains))
    }

    /// Place of a row among the rows of its part: sampled ones first, then amendments.
    pub(crate) fn place_in_part(&self, index: usize) -> usize {
        // Rows that correct stand before the others here too.
        let before = self.rows[..index].iter();
        before
            .filter(|row| row.part == self.rows[index].part)
            .count()
    }

    /// The readings of all rows, in the order of gains.
    pub(crate) fn readings(&self, simulation: &Simulation, into: &mut Vec<f64>) {
        for (index, row) in self.rows.iter().enumerate() {
            let before = self.rows[..index].iter();
            let start: usize = before
                .filter(|other| other.part == row.part)
                .map(|other| other.candidates.len())
                .sum();
            let part = simulation.known::<Compensated>(row.part);
            let readings = part.expect("every row belongs to a compensator").readings();
            into.extend(&readings[start..start + row.candidates.len()]);
        }
    }
}

/// `left.x1` of `left.x1.v`.
pub(crate) fn port_of(component: &str) -> &str {
    match component.rsplit_once('.') {
        Some((port, "x" | "v" | "a")) if port.contains('.') => port,
        _ => component,
    }
}

fn row(
    simulation: &Simulation,
    part: SubsystemId,
    action: Action,
    (target, candidates): (usize, Vec<Candidate>),
) -> Feedback {
    let ports = simulation.ports(part);
    let component = match action {
        Action::Correct => ports.input_component_name(target),
        Action::Amend => ports.output_component_name(target),
    };
    Feedback {
        part,
        action,
        target,
        name: format!("{}.{component}", part_name(simulation, part)),
        candidates,
    }
}

/// Displacements, velocities and accelerations that a quantity carries, by component.
fn derivatives(quantity: &Quantity) -> &'static [i32] {
    match quantity {
        Quantity::Translation | Quantity::Rotation => &[0, 1, 2],
        Quantity::Scalar(unit) if [Unit::METRE, Unit::RADIAN].contains(unit) => &[0],
        Quantity::Scalar(unit)
            if [Unit::METRE_PER_SECOND, Unit::RADIAN_PER_SECOND].contains(unit) =>
        {
            &[1]
        }
        Quantity::Scalar(unit)
            if [Unit::METRE_PER_SECOND2, Unit::RADIAN_PER_SECOND2].contains(unit) =>
        {
            &[2]
        }
        _ => &[],
    }
}

pub(crate) fn own_signals(simulation: &Simulation, part: SubsystemId) -> Vec<Candidate> {
    let ports = simulation.ports(part);
    let name = part_name(simulation, part);
    let of_port = |index: usize| {
        let start = ports.output_range(OutputPort(index)).start;
        let quantity = &ports.outputs()[index].quantity;
        let candidate = |(offset, &derivative): (usize, &i32)| Candidate {
            signal: Signal::Own(start + offset),
            name: format!("{name}.{}", ports.output_component_name(start + offset)),
            derivative,
        };
        derivatives(quantity)
            .iter()
            .enumerate()
            .map(candidate)
            .collect::<Vec<_>>()
    };
    (0..ports.outputs().len())
        .filter(|&index| !is_passed_on(ports, OutputPort(index)))
        .flat_map(of_port)
        .collect()
}

/// Whether an output's displacement is that of a received motion.
fn is_passed_on(ports: &Ports, port: OutputPort) -> bool {
    !ports
        .direct_inputs(ports.output_range(port).start)
        .is_empty()
        && derivatives(&ports.outputs()[port.0].quantity).first() == Some(&0)
}

pub(crate) fn received_signals(simulation: &Simulation, site: &Site) -> Vec<Candidate> {
    let ports = simulation.ports(site.force_side);
    let name = part_name(simulation, site.force_side);
    let start = ports.input_range(site.received).start;
    let quantity = &ports.inputs()[site.received.0].quantity;
    let candidate = |(offset, &derivative): (usize, &i32)| Candidate {
        signal: Signal::Received(start + offset),
        name: format!("{name}.{}", ports.input_component_name(start + offset)),
        derivative,
    };
    derivatives(quantity)
        .iter()
        .enumerate()
        .map(candidate)
        .collect()
}
