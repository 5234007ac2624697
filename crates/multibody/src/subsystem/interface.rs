//! What a part looks like at the forces and motions that it receives: effective mass, acceleration and resistance.
//!
//! Reference: A. Peiret, F. González, J. Kövecses, M. Teichmann, "Co-simulation of multibody systems
//! with contact using reduced interface models", Journal of Computational and Nonlinear Dynamics,
//! 2020, Eq. 5 to 7. The mobility is B (I - P) M⁻¹ Bᵀ, which the factors of [M Aᵀ; A 0] give column by
//! column. A motion that is received is a row of A: its right-hand side is the acceleration, its multiplier the force that
//! resists. So the same factors give the effective mass, the inverse of the mobility, without inverting. Contacts that pressed or stuck in the last step are eliminated besides, and those that slid keep their
//! forces (Eq. 36).

use super::MechanismPart;
use super::interface_jacobian::PrescribedNode;
use super::marker::{marker_motion, relative_acceleration};
use crate::contact::interface::ContactInterface;
use crate::error::SolveError;
use crate::integrator::{Method, Record};
use crate::linear::BlockLu;
use crate::newton::FactoredAt;
use crate::node::{Marker, Motion};
use crate::system::System;
use oldham_cosim::EffectiveInterface;
use oldham_space::Vec3;

/// A coordinate on which a received force does work, or whose motion is received.
#[derive(Clone, Copy, Debug)]
enum Coordinate {
    /// Driven by the constraint of this row.
    Driven(usize),
    /// A component of the motion of a node whose pose is prescribed by the constraint of this row.
    Prescribed {
        row: usize,
        node: usize,
        axis: usize,
    },
    /// The length between two points.
    Length([Marker; 2]),
    /// A point along an absolute axis.
    Along(Marker, usize),
    /// Its body about an absolute axis.
    About(Marker, usize),
    /// The coordinate of a joint between two markers.
    Joint(crate::joint::Coordinate, [Marker; 2]),
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
    in_contact: bool,
}

impl InterfaceFactors {
    fn new(system: &System) -> Self {
        Self {
            lu: system.lu.clone(),
            made: FactoredAt::default(),
            response: vec![0.0; system.work.residual.len()],
            records: system.state.now.clone(),
            contacts: ContactInterface::default(),
            in_contact: false,
        }
    }

    /// Exchanges the factors of the step with these. Weak pivots may have changed the layout of one of them.
    fn exchange(&mut self, system: &mut System) {
        std::mem::swap(&mut self.lu, &mut system.lu);
        std::mem::swap(&mut self.made, &mut system.work.factored);
        if !self.lu.is_laid_out_as(&system.lu) {
            system.assembly.connect(&system.lu);
        }
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
    let is_found = own.find(&mut part.system, inputs, is_shared).is_ok();
    if is_found {
        part.fill(&mut own, found);
    }
    if !is_shared {
        own.exchange(&mut part.system);
    }
    part.interface = Some(own);
    is_found
}

impl InterfaceFactors {
    /// Finds what contacts hold, and the accelerations without these.
    fn find(
        &mut self,
        system: &mut System,
        inputs: &[f64],
        is_shared: bool,
    ) -> Result<(), SolveError> {
        let time = system.state.time;
        system.find_acceleration_load(time, None, inputs);
        match is_shared {
            true => system.factor_next_step(time, inputs)?,
            false => system.factor_accelerations(time, inputs)?,
        }
        self.in_contact = system.is_in_contact();
        if self.in_contact {
            self.touch(system);
        }
        system.solve_residual();
        if self.in_contact {
            let contacts = system.contacts.as_ref().expect("they touch");
            let (h, motions) = (system.state.step, &system.motions);
            self.contacts
                .assemble(contacts, h, motions, &system.work.residual);
        }
        self.record(system);
        Ok(())
    }

    /// Finds the rows that contacts hold, and adds the forces of other contacts to the load.
    fn touch(&mut self, system: &mut System) {
        let unknowns = system.assembly.unknowns();
        let System {
            contacts,
            lu,
            motions,
            state,
            work,
            ..
        } = system;
        let contacts = contacts.as_mut().expect("they touch");
        let load = &mut work.residual[..unknowns];
        let (h, stamp) = (state.step, work.stamp);
        self.contacts
            .find(contacts, h, motions, stamp, load, |rows| lu.solve(rows));
    }

    /// Takes over motions, and the accelerations that were found.
    fn record(&mut self, system: &System) {
        let found = system.work.residual.chunks_exact(6);
        let motions = &system.motions[1..];
        for ((record, motion), d) in self.records[1..].iter_mut().zip(motions).zip(found) {
            record.motion = *motion;
            record.acceleration = Vec3::new(d[0], d[1], d[2]);
            record.angular_acceleration = Vec3::new(d[3], d[4], d[5]);
        }
    }
}

impl MechanismPart {
    fn fill(&mut self, own: &mut InterfaceFactors, found: &mut EffectiveInterface) {
        let count = found.inputs.len();
        let unknowns = self.system.assembly.unknowns();
        for column in 0..count {
            let by = self.coordinate(found.inputs[column]).expect("checked");
            found.answers[column] = match by {
                Coordinate::Driven(row) => self.system.work.residual[row],
                Coordinate::Prescribed { row, node, axis } => {
                    let Record {
                        acceleration,
                        angular_acceleration,
                        ..
                    } = own.records[node];
                    let spins = [acceleration, angular_acceleration];
                    let inertia = self.own_inertia(&own.records, node, spins, axis);
                    self.system.work.residual[row] + inertia
                }
                _ => by.acceleration(&own.records),
            };
            own.response.fill(0.0);
            by.push(&own.records, |row, force| own.response[row] += force);
            self.system.lu.solve(&mut own.response[..unknowns]);
            for row in 0..count {
                let coordinate = self.coordinate(found.inputs[row]).expect("checked");
                let mut moved = 0.0;
                coordinate.push(&own.records, |at, share| moved += share * own.response[at]);
                found.mobility[count * row + column] =
                    moved + self.moved_besides(&own.records, [coordinate, by]);
            }
            if own.in_contact {
                let contacts = self.system.contacts.as_ref().expect("they touch");
                own.contacts
                    .push_coordinate(contacts, &self.system.motions, &own.response);
            }
        }
        if own.in_contact {
            own.contacts.reduce(found);
        }
    }

    /// Inertia of the bodies of a node along a component of its motion. It is not among the loads on a prescribed node, but in
    /// the multipliers that hold it.
    fn own_inertia(
        &self,
        nodes: &[Record],
        node: usize,
        [a, alpha]: [Vec3; 2],
        axis: usize,
    ) -> f64 {
        let (inertia, motion) = (&self.system.assembly.inertia[node], &nodes[node].motion);
        let rate = inertia.momentum_rate(motion, a, alpha);
        match axis {
            0..3 => rate.linear[axis],
            _ => {
                let convected = motion.velocity.cross(inertia.momentum(motion).linear);
                (rate.angular + convected)[axis - 3]
            }
        }
    }

    /// What the bodies of a prescribed node add to how its load answers to its own acceleration.
    fn moved_besides(&self, nodes: &[Record], [of, by]: [Coordinate; 2]) -> f64 {
        match (of, by) {
            (
                Coordinate::Prescribed { node, axis, .. },
                Coordinate::Prescribed {
                    node: same,
                    axis: along,
                    ..
                },
            ) if node == same => {
                let accelerated = match along {
                    0..3 => [unit(along), Vec3::ZERO],
                    _ => [Vec3::ZERO, unit(along - 3)],
                };
                self.own_inertia(nodes, node, accelerated, axis)
                    - self.own_inertia(nodes, node, [Vec3::ZERO; 2], axis)
            }
            _ => 0.0,
        }
    }

    /// The coordinate on which a component of the inputs does work.
    fn coordinate(&self, input: usize) -> Option<Coordinate> {
        let mut thrusts = self.thrusts.iter();
        if let Some((ends, _)) = thrusts.find(|(_, component)| *component == input) {
            return Some(Coordinate::Length(*ends));
        }
        let mut pushed = self.pushed.iter();
        if let Some((of, ends, _)) = pushed.find(|(.., component)| *component == input) {
            return Some(Coordinate::Joint(*of, *ends));
        }
        let mut driven = self.driven.iter();
        if let Some((element, _)) = driven.find(|(_, acceleration)| *acceleration == input) {
            return Some(Coordinate::Driven(self.system.constraint_row(*element)));
        }
        let mut prescribed = self.prescribed.iter();
        let accelerations = |by: &PrescribedNode| by.motion + 13..by.motion + 19;
        if let Some(by) = prescribed.find(|by| accelerations(by).contains(&input)) {
            let axis = input - accelerations(by).start;
            return Some(Coordinate::Prescribed {
                row: self.system.constraint_row(by.joint) + axis,
                node: by.node.0,
                axis,
            });
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
    /// A unit force on it, as forces and moments on nodes, or a unit of its given acceleration: calls `add` with the row
    /// and the value.
    fn push(self, nodes: &[Record], mut add: impl FnMut(usize, f64)) {
        // At a point given from the node, in absolute axes.
        let mut wrench = |node: usize, arm: Vec3, force: Vec3, moment: Vec3| {
            // The ground does not move.
            let Some(row) = node.checked_sub(1) else {
                return;
            };
            let moment = moment + arm.cross(force);
            for axis in 0..3 {
                add(6 * row + axis, force[axis]);
                add(6 * row + 3 + axis, moment[axis]);
            }
        };
        let motion = |node: usize| &nodes[node].motion;
        let arm = |at: Marker| at.arm(motion(at.node.0));
        match self {
            Self::Driven(row) | Self::Prescribed { row, .. } => add(row, 1.0),
            Self::Length([a, b]) => {
                let [from, to] = [a, b].map(|end| marker_motion(&end, &nodes[end.node.0]).0);
                let along = (to.position - from.position).unit();
                wrench(a.node.0, arm(a), -along, Vec3::ZERO);
                wrench(b.node.0, arm(b), along, Vec3::ZERO);
            }
            Self::Along(at, axis) => wrench(at.node.0, arm(at), unit(axis), Vec3::ZERO),
            Self::About(at, axis) => wrench(at.node.0, arm(at), Vec3::ZERO, unit(axis)),
            Self::Joint(of, [a, b]) => {
                let axis = third_axis(&a, motion(a.node.0));
                match of {
                    crate::joint::Coordinate::Angle => {
                        wrench(a.node.0, arm(a), Vec3::ZERO, -axis);
                        wrench(b.node.0, arm(b), Vec3::ZERO, axis);
                    }
                    // Both forces act where the second marker is.
                    crate::joint::Coordinate::Slide => {
                        let point = motion(b.node.0).position + arm(b);
                        wrench(
                            a.node.0,
                            point - motion(a.node.0).position,
                            -axis,
                            Vec3::ZERO,
                        );
                        wrench(b.node.0, arm(b), axis, Vec3::ZERO);
                    }
                }
            }
        }
    }

    /// Its second derivative, where it is not given.
    fn acceleration(self, nodes: &[Record]) -> f64 {
        let at = |marker: Marker| marker_motion(&marker, &nodes[marker.node.0]);
        match self {
            Self::Driven(_) | Self::Prescribed { .. } => {
                unreachable!("a given motion is answered by a force")
            }
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
            Self::Joint(crate::joint::Coordinate::Slide, ends) => {
                relative_acceleration(ends, nodes)[2]
            }
            Self::Joint(crate::joint::Coordinate::Angle, [a, b]) => {
                let [first, second] = [a, b].map(|end| &nodes[end.node.0]);
                let axis = third_axis(&a, &first.motion);
                let [spin, other] = [first, second].map(|record| record.motion.angular_velocity);
                let apart = second.angular_acceleration - first.angular_acceleration;
                axis.dot(apart) + spin.cross(axis).dot(other)
            }
        }
    }
}

/// The axis of a joint at a marker, in absolute axes.
fn third_axis(at: &Marker, node: &Motion) -> Vec3 {
    node.rotation * at.orientation.rotate(Vec3::Z)
}

fn unit(axis: usize) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z][axis]
}
