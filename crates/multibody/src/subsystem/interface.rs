//! What a part looks like at the forces that it receives: effective mass and acceleration.
//!
//! Reference: A. Peiret, F. González, J. Kövecses, M. Teichmann, "Co-simulation of multibody systems
//! with contact using reduced interface models", Journal of Computational and Nonlinear Dynamics,
//! 2020, Eq. 5 to 7. The mobility is B (I - P) M⁻¹ Bᵀ, which the factors of [M Aᵀ; A 0] give column by
//! column. Contacts that pressed or stuck in the last step are eliminated besides, and those that slid keep their
//! forces (Eq. 36).

use super::{MechanismPart, marker_motion};
use crate::contact::interface::ContactInterface;
use crate::integrator::{Method, Record};
use crate::linear::BlockLu;
use crate::newton::FactoredAt;
use crate::node::Marker;
use crate::system::System;
use oldham_cosim::EffectiveInterface;
use oldham_space::Vec3;

/// A coordinate on which a received force does work.
#[derive(Clone, Copy, Debug)]
enum Coordinate {
    /// The length between two points.
    Length([Marker; 2]),
    /// A point along an absolute axis.
    Along(Marker, usize),
    /// Its body about an absolute axis.
    About(Marker, usize),
}

/// Factors of their own: those of the step stay as they are.
#[derive(Clone, Debug)]
pub(super) struct InterfaceFactors {
    lu: BlockLu,
    made: FactoredAt,
    response: Vec<f64>,
    /// The nodes with the accelerations that were found.
    records: Vec<Record>,
    contacts: ContactInterface,
}

impl InterfaceFactors {
    fn new(system: &System) -> Self {
        Self {
            lu: system.lu.clone(),
            made: FactoredAt::default(),
            response: vec![0.0; system.work.residual.len()],
            records: system.state.now.clone(),
            contacts: ContactInterface::default(),
        }
    }

    /// Exchanges the factors of the step with these.
    fn exchange(&mut self, system: &mut System) {
        std::mem::swap(&mut self.lu, &mut system.lu);
        std::mem::swap(&mut self.made, &mut system.work.factored);
    }
}

/// Accelerations and mobility at the wanted inputs; false where one of them is no force on a
/// coordinate, or where the accelerations cannot be found.
pub(super) fn effective(
    part: &mut MechanismPart,
    inputs: &[f64],
    found: &mut EffectiveInterface,
) -> bool {
    let is_known = |&input: &usize| part.coordinate(input).is_some();
    if !found.inputs.iter().all(is_known) {
        return false;
    }
    let mut own = part
        .interface
        .take()
        .unwrap_or_else(|| Box::new(InterfaceFactors::new(&part.system)));
    // The matrix of impulses is the same here and in the next step, which takes it from here.
    let is_shared = part.system.options.method == Method::Impulses;
    if !is_shared {
        own.exchange(&mut part.system);
    }
    let time = part.system.state.time;
    let is_found = match is_shared {
        true => part
            .system
            .find_accelerations_by_stage(time, inputs)
            .is_ok(),
        false => part.system.find_accelerations(time, inputs).is_ok(),
    };
    if is_found {
        own.record(&part.system);
        own.touch(&mut part.system);
        part.fill(&mut own, found);
        part.hold_contacts(&mut own, found);
    }
    if !is_shared {
        own.exchange(&mut part.system);
    }
    part.interface = Some(own);
    is_found
}

impl InterfaceFactors {
    /// Takes over motions, and the accelerations that were found.
    fn record(&mut self, system: &System) {
        self.records.copy_from_slice(&system.state.now);
        let found = system.work.residual.chunks_exact(6);
        for (record, d) in self.records[1..].iter_mut().zip(found) {
            record.acceleration = Vec3::new(d[0], d[1], d[2]);
            record.angular_acceleration = Vec3::new(d[3], d[4], d[5]);
        }
    }
}

impl InterfaceFactors {
    /// Finds what the contacts hold, and adds what the others do to the accelerations.
    fn touch(&mut self, system: &mut System) {
        let unknowns = system.assembly.unknowns();
        let System {
            contacts,
            lu,
            motions,
            state,
            ..
        } = system;
        let Some(contacts) = contacts.as_ref().filter(|all| all.report.pressed > 0) else {
            return;
        };
        let load = &mut self.response[..unknowns];
        self.contacts
            .find(contacts, state.step, motions, load, |rows| lu.solve(rows));
        let found = self.response.chunks_exact(6);
        for (record, d) in self.records[1..].iter_mut().zip(found) {
            record.acceleration += Vec3::new(d[0], d[1], d[2]);
            record.angular_acceleration += Vec3::new(d[3], d[4], d[5]);
        }
    }
}

impl MechanismPart {
    /// Takes the contacts that hold into account.
    fn hold_contacts(&self, own: &mut InterfaceFactors, found: &mut EffectiveInterface) {
        let contacts = self.system.contacts.as_ref();
        if contacts.is_none_or(|all| all.report.pressed == 0) {
            return;
        }
        let InterfaceFactors {
            contacts, records, ..
        } = own;
        let six = |linear: Vec3, angular: Vec3, at: usize| match at % 6 {
            axis @ 0..3 => linear[axis],
            axis => angular[axis - 3],
        };
        let wanted = std::mem::take(&mut found.inputs);
        contacts.reduce(
            self.system.state.step,
            |at| {
                let motion = &records[1 + at / 6].motion;
                six(motion.velocity, motion.angular_velocity, at)
            },
            |at| {
                let record = &records[1 + at / 6];
                six(record.acceleration, record.angular_acceleration, at)
            },
            found,
            |i, add| {
                let coordinate = self.coordinate(wanted[i]).expect("checked");
                coordinate.push(records, add);
            },
            wanted.len(),
        );
        found.inputs = wanted;
    }

    fn fill(&mut self, own: &mut InterfaceFactors, found: &mut EffectiveInterface) {
        let count = found.inputs.len();
        for column in 0..count {
            let coordinate = self.coordinate(found.inputs[column]).expect("checked");
            found.acceleration[column] = coordinate.acceleration(&own.records);
            own.response.fill(0.0);
            coordinate.push(&own.records, |row, force| own.response[row] += force);
            let unknowns = self.system.assembly.unknowns();
            self.system.lu.solve(&mut own.response[..unknowns]);
            for row in 0..count {
                let coordinate = self.coordinate(found.inputs[row]).expect("checked");
                let mut moved = 0.0;
                coordinate.push(&own.records, |at, share| moved += share * own.response[at]);
                found.mobility[count * row + column] = moved;
            }
        }
    }

    /// The coordinate on which a component of the inputs does work.
    fn coordinate(&self, input: usize) -> Option<Coordinate> {
        let mut thrusts = self.thrusts.iter();
        if let Some((ends, _)) = thrusts.find(|(_, component)| *component == input) {
            return Some(Coordinate::Length(*ends));
        }
        let mut loaded = self.loaded.iter();
        let (at, first) = loaded.find(|(_, first)| (*first..first + 6).contains(&input))?;
        Some(match input - first {
            axis @ 0..3 => Coordinate::Along(*at, axis),
            axis => Coordinate::About(*at, axis - 3),
        })
    }
}

impl Coordinate {
    /// A unit force on it, as forces and moments on nodes: calls `add` with the row and the value.
    fn push(self, nodes: &[Record], mut add: impl FnMut(usize, f64)) {
        let mut wrench = |at: Marker, force: Vec3, moment: Vec3| {
            // The ground does not move.
            let Some(node) = at.node.0.checked_sub(1) else {
                return;
            };
            let arm = at.arm(&nodes[at.node.0].motion);
            let moment = moment + arm.cross(force);
            for axis in 0..3 {
                add(6 * node + axis, force[axis]);
                add(6 * node + 3 + axis, moment[axis]);
            }
        };
        match self {
            Self::Length([a, b]) => {
                let [from, to] = [a, b].map(|end| marker_motion(&end, &nodes[end.node.0]).0);
                let along = (to.position - from.position).unit();
                wrench(a, -along, Vec3::ZERO);
                wrench(b, along, Vec3::ZERO);
            }
            Self::Along(at, axis) => wrench(at, unit(axis), Vec3::ZERO),
            Self::About(at, axis) => wrench(at, Vec3::ZERO, unit(axis)),
        }
    }

    /// Its second derivative.
    fn acceleration(self, nodes: &[Record]) -> f64 {
        let at = |marker: Marker| marker_motion(&marker, &nodes[marker.node.0]);
        match self {
            Self::Length(ends) => {
                let [(a, a_rate), (b, b_rate)] = ends.map(at);
                let (between, rate) = (b.position - a.position, b.velocity - a.velocity);
                let length = between.norm();
                let along = between * (1.0 / length);
                let turning = rate - along * rate.dot(along);
                (b_rate - a_rate).dot(along) + turning.dot(turning) / length
            }
            Self::Along(marker, axis) => at(marker).1[axis],
            Self::About(marker, axis) => nodes[marker.node.0].angular_acceleration[axis],
        }
    }
}

fn unit(axis: usize) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z][axis]
}
