//! Finding the interfaces whose energy is balanced, while a simulation is built.

use crate::balance::{Interface, InterfaceKind, InterfaceWork, Measure, Side};
use crate::builder::{Builder, PortConnection};
use crate::fault::Fault;
use crate::port::{Conjugate, InputPort, OutputPort};
use crate::scale::Scale;
use crate::schedule::SubsystemId;

impl Builder {
    /// Finds the pairs of connections between two parts that are conjugate in power, and opens an
    /// work integral on both sides of each.
    pub(crate) fn find_interfaces(&mut self) -> Vec<Interface> {
        let mut interfaces = Vec::new();
        let connections = std::mem::take(&mut self.connections);
        for (index, &there) in connections.iter().enumerate() {
            let later = connections[index + 1..].iter();
            for &back in later.filter(|back| oppose(there, **back)) {
                let found = self.force_motion(there, back);
                let found = found.or_else(|| self.force_motion(back, there));
                interfaces.extend(found.or_else(|| self.motion_motion(there, back, &connections)));
            }
        }
        self.connections = connections;
        interfaces
    }

    /// Parts that send each other motions or forces, and have no interface that is balanced.
    pub(crate) fn without_energy_balance(&self, interfaces: &[Interface]) -> Vec<[String; 2]> {
        let is_mechanical = |c: &PortConnection| {
            let quantity = &self.ports(c.from.0).outputs()[c.from.1.0].quantity;
            quantity.is_motion() || quantity.is_force()
        };
        let iterated: Vec<&PortConnection> = self
            .connections
            .iter()
            .filter(|c| is_mechanical(c))
            .collect();
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for there in &iterated {
            let [a, b] = [there.from.0.0, there.to.0.0];
            let is_balanced = interfaces.iter().any(|interface| {
                let [(one, _), (other, _)] = interface.sides;
                [one, other] == [a, b] || [one, other] == [b, a]
            });
            let returns = iterated.iter().any(|back| oppose(**there, **back));
            // A controller has no energy that could be balanced.
            let is_supplied = |c: &PortConnection| self.supplied.contains(&c.to);
            let returns = returns
                && !iterated
                    .iter()
                    .any(|c| is_supplied(c) && (oppose(**there, **c) || c == there));
            if a < b && returns && !is_balanced && !pairs.contains(&[a, b]) {
                pairs.push([a, b]);
            }
        }
        let names = pairs.into_iter();
        names
            .map(|pair| pair.map(|unit| self.units[unit].name.clone()))
            .collect()
    }

    fn force_motion(&mut self, force: PortConnection, motion: PortConnection) -> Option<Interface> {
        if !keeps_power(force, motion) {
            return None;
        }
        let force_side = Conjugate::GivesForce {
            motion: motion.to.1,
            force: force.from.1,
        };
        let motion_side = Conjugate::GivesMotion {
            force: force.to.1,
            motion: motion.from.1,
        };
        let (a, b) = (force.from.0, force.to.0);
        let (ports_a, ports_b) = (self.ports(a), self.ports(b));
        if !ports_a.conjugates().contains(&force_side)
            || !ports_b.conjugates().contains(&motion_side)
        {
            return None;
        }
        let measure = Measure::of(
            &ports_a.inputs()[motion.to.1.0].quantity,
            &ports_a.outputs()[force.from.1.0].quantity,
        )?;
        let side_a = Side::GivesForce {
            motion: ports_a.input_range(motion.to.1).start,
            force: ports_a.output_range(force.from.1).start,
        };
        let side_b = Side::GivesMotion {
            force: ports_b.input_range(force.to.1).start,
            motion: ports_b.output_range(motion.from.1).start,
        };
        let name = self.interface_name(force, motion);
        let sides = [
            self.add_interface_work(a, side_a, measure),
            self.add_interface_work(b, side_b, measure),
        ];
        Some(Interface {
            name,
            kind: InterfaceKind::ForceMotion,
            sides,
        })
    }

    fn motion_motion(
        &mut self,
        there: PortConnection,
        back: PortConnection,
        all: &[PortConnection],
    ) -> Option<Interface> {
        if there.scale.is_some() || back.scale.is_some() {
            return None;
        }
        // A force that goes back to the owner of the motion makes an interface with that motion.
        let returns = |motion: PortConnection, force: OutputPort| {
            let mut all = all.iter();
            all.any(|c| c.from == (motion.to.0, force) && c.to.0 == motion.from.0)
        };
        let (side_b, measure, force) = self.keeps_force(there.to, back.from.1)?;
        let (side_a, _, other_force) = self.keeps_force(back.to, there.from.1)?;
        if returns(there, force) || returns(back, other_force) {
            return None;
        }
        let name = self.interface_name(there, back);
        let sides = [
            self.add_interface_work(there.from.0, side_a, measure),
            self.add_interface_work(there.to.0, side_b, measure),
        ];
        Some(Interface {
            name,
            kind: InterfaceKind::MotionMotion,
            sides,
        })
    }

    /// The side of a part that receives a motion, sends its own, and keeps the force to itself.
    fn keeps_force(
        &self,
        to: (SubsystemId, InputPort),
        own: OutputPort,
    ) -> Option<(Side, Measure, OutputPort)> {
        let ports = self.ports(to.0);
        ports.conjugates().iter().find_map(|pair| match *pair {
            Conjugate::GivesForce { motion, force } if motion == to.1 => {
                let quantity = &ports.inputs()[motion.0].quantity;
                let measure = Measure::of(quantity, &ports.outputs()[force.0].quantity)?;
                let side = Side::KeepsForce {
                    far: ports.input_range(motion).start,
                    own: ports.output_range(own).start,
                    force: ports.output_range(force).start,
                };
                Some((side, measure, force))
            }
            _ => None,
        })
    }

    /// Opens a work integral at every driven input whose work can be told and is not counted by the
    /// part itself: it is supplied from outside.
    pub(crate) fn track_work_of_drives(&mut self, start: f64) -> Result<(), Fault> {
        let mut driven = std::mem::take(&mut self.driven);
        let supplied = std::mem::take(&mut self.supplied);
        let mut dialled = self.dialled.clone();
        dialled.extend(&supplied);
        driven.extend(supplied);
        let mut counted = Vec::new();
        for (index, unit) in self.units.iter_mut().enumerate() {
            let own = driven.iter().filter(|(id, _)| id.0 == index);
            // What is set from outside jumps where a step begins: only the engine knows both sides of
            // the jump.
            let conjugates = unit.ports.conjugates();
            let jumps = |&&(id, port): &&(SubsystemId, InputPort)| {
                dialled.contains(&(id, port)) && conjugates.iter().any(|pair| pair.receives(port))
            };
            let own: Vec<InputPort> = own
                .filter(|drive| !jumps(drive))
                .map(|&(_, port)| port)
                .collect();
            let by_itself = unit.asked(start, |part| {
                let balance = part.energy_balance();
                balance.map_or_else(Vec::new, |balance| balance.supply(&own))
            })?;
            counted.extend(by_itself.into_iter().map(|port| (SubsystemId(index), port)));
        }
        for (id, port) in driven {
            if counted.contains(&(id, port)) {
                continue;
            }
            let ports = self.ports(id);
            let pair = ports.conjugates().iter().find(|pair| pair.receives(port));
            let (side, quantities, sign) = match pair {
                Some(&Conjugate::GivesForce { motion, force }) => (
                    Side::GivesForce {
                        motion: ports.input_range(motion).start,
                        force: ports.output_range(force).start,
                    },
                    (&ports.inputs()[motion.0], &ports.outputs()[force.0]),
                    -1.0,
                ),
                Some(&Conjugate::GivesMotion { force, motion }) => (
                    Side::GivesMotion {
                        force: ports.input_range(force).start,
                        motion: ports.output_range(motion).start,
                    },
                    (&ports.outputs()[motion.0], &ports.inputs()[force.0]),
                    1.0,
                ),
                None => continue,
            };
            let (motion, force) = quantities;
            if let Some(measure) = Measure::of(&motion.quantity, &force.quantity) {
                let work = InterfaceWork::new(side, measure);
                self.units[id.0].driven.push((work, sign));
            }
        }
        Ok(())
    }

    fn interface_name(&self, there: PortConnection, back: PortConnection) -> String {
        let (a, b) = (self.output_name(there.from), self.output_name(back.from));
        format!("{a}<->{b}")
    }

    fn add_interface_work(
        &mut self,
        id: SubsystemId,
        side: Side,
        measure: Measure,
    ) -> (usize, usize) {
        let works = &mut self.units[id.0].interface_works;
        works.push(InterfaceWork::new(side, measure));
        (id.0, works.len() - 1)
    }
}

/// Whether force times velocity is the same at both ends: a motion that arrives enlarged must meet
/// a force that arrives enlarged as much, as at the two ends of a lever, and no force is added.
fn keeps_power(force: PortConnection, motion: PortConnection) -> bool {
    let [force, motion] = [force, motion].map(|c| c.scale.unwrap_or(Scale::NONE));
    force.gain == motion.gain && force.offset == 0.0
}

/// Whether two connections lead between the same parts, one there and one back.
fn oppose(there: PortConnection, back: PortConnection) -> bool {
    there.from.0 == back.to.0 && there.to.0 == back.from.0
}
