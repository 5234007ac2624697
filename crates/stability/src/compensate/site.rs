//! Where a compensator can act: a force that crosses an interface, and the motion that comes back.

use oldham_cosim::{
    Conjugate, InputPort, OutputPort, Ports, Quantity, Simulation, SubsystemId, Unit,
};

/// An interface along one line or about one axis.
///
/// The *force side* receives a motion and sends the force that it exerts on whoever owns that motion;
/// the *motion side* receives the force and sends the motion of the point where it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Sends the force; driven by the motion.
    pub force_side: SubsystemId,
    /// The force it sends.
    pub force: OutputPort,
    /// The motion it receives.
    pub received: InputPort,
    /// A force input of the force side that a compensator may use, and the motion sent from there.
    pub correction: Option<(InputPort, OutputPort)>,
    /// Receives the force.
    pub motion_side: SubsystemId,
    /// Where it receives it.
    pub applied: InputPort,
    /// Its motion at the interface.
    pub far: OutputPort,
}

/// Why an interface cannot be compensated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// Nobody receives the force.
    #[error("`{force}` is connected to no force input")]
    NotConnected {
        /// The force output.
        force: String,
    },
    /// A gain lies between the force and whoever receives it.
    #[error("`{force}` is connected with a gain; a compensator takes interfaces without one")]
    Scaled {
        /// The force output.
        force: String,
    },
    /// The output or input is no force along a line or about an axis.
    #[error(
        "`{port}` carries a {quantity}; a compensator takes forces along one line or moments about one axis"
    )]
    NotAForce {
        /// The port.
        port: String,
        /// What it carries.
        quantity: String,
    },
    /// The sender of the force receives no motion to go with it.
    #[error(
        "`{part}` receives no motion from `{other}` that `{force}` would act on: this is no force-displacement coupling"
    )]
    NoMotionBack {
        /// The sender of the force.
        part: String,
        /// Its receiver.
        other: String,
        /// The force.
        force: String,
    },
    /// The motion-driven side has no free force input.
    #[error(
        "`{part}`, the force side, offers no free force input that a compensator could correct it with; add a force input on the mass where the coupling acts, and send the motion of that mass"
    )]
    NoForceInput {
        /// The motion-driven side.
        part: String,
    },
    /// The motion where a correcting force acts is not sent.
    #[error(
        "`{part}` does not send the motion of the point where `{input}` acts; add an output of it"
    )]
    NoMotionThere {
        /// The part.
        part: String,
        /// The force input.
        input: String,
    },
}

impl Site {
    /// The interface that a force output belongs to. `correction` is the force input of the sender
    /// to be used; without, the first one that no connection feeds, if there is one.
    pub fn of(
        simulation: &Simulation,
        (force_side, force): (SubsystemId, OutputPort),
        correction: Option<InputPort>,
    ) -> Result<Self, SiteError> {
        let name = |id: SubsystemId| part_name(simulation, id);
        let ports = simulation.ports(force_side);
        let force_name = format!("{}.{}", name(force_side), ports.outputs()[force.0].name);
        check_force(&force_name, &ports.outputs()[force.0].quantity)?;
        let from = ports.output_range(force).start;
        let connections = simulation.connections();
        let there = connections
            .iter()
            .find(|wire| wire.from == force_side && wire.output == from)
            .ok_or(SiteError::NotConnected {
                force: force_name.clone(),
            })?;
        if there.gain != 1.0 {
            return Err(SiteError::Scaled { force: force_name });
        }
        let motion_side = there.to;
        let applied = input_at(simulation.ports(motion_side), there.input);
        let no_motion = || SiteError::NoMotionBack {
            part: name(force_side),
            other: name(motion_side),
            force: force_name.clone(),
        };
        let received = ports.conjugates().iter().find_map(|pair| match *pair {
            Conjugate::GivesForce { motion, force: f } if f == force => Some(motion),
            _ => None,
        });
        let received = received.ok_or_else(no_motion)?;
        let back = connections.iter().find(|wire| {
            wire.from == motion_side
                && wire.to == force_side
                && wire.input == ports.input_range(received).start
        });
        let back = back.ok_or_else(no_motion)?;
        if back.gain != 1.0 {
            return Err(SiteError::Scaled { force: force_name });
        }
        let far = output_at(simulation.ports(motion_side), back.output);
        let correction = match correction {
            Some(given) => {
                let input = &ports.inputs()[given.0];
                check_force(
                    &format!("{}.{}", name(force_side), input.name),
                    &input.quantity,
                )?;
                Some((given, motion_at(simulation, force_side, given)?))
            }
            None => free_force(simulation, force_side),
        };
        Ok(Self {
            force_side,
            force,
            received,
            correction,
            motion_side,
            applied,
            far,
        })
    }

    /// All interfaces at which a force goes one way and a motion comes back.
    pub fn all(simulation: &Simulation) -> Vec<Result<Self, SiteError>> {
        let mut found = Vec::new();
        for id in (0..simulation.names().count()).map(SubsystemId) {
            for pair in simulation.ports(id).conjugates() {
                if let Conjugate::GivesForce { force, .. } = *pair {
                    match Self::of(simulation, (id, force), None) {
                        // A force that stays inside belongs to another kind of coupling.
                        Err(SiteError::NotConnected { .. }) => {}
                        site => found.push(site),
                    }
                }
            }
        }
        found
    }
}

pub(crate) fn part_name(simulation: &Simulation, id: SubsystemId) -> String {
    let mut names = simulation.names();
    names.nth(id.0).expect("the subsystem exists").to_owned()
}

fn check_force(port: &str, quantity: &Quantity) -> Result<(), SiteError> {
    match quantity {
        Quantity::Scalar(unit) if *unit == Unit::NEWTON || *unit == Unit::NEWTON_METRE => Ok(()),
        other => Err(SiteError::NotAForce {
            port: port.into(),
            quantity: other.to_string(),
        }),
    }
}

fn input_at(ports: &Ports, start: usize) -> InputPort {
    let inputs = (0..ports.inputs().len()).map(InputPort);
    let mut here = inputs.filter(|&port| ports.input_range(port).start == start);
    here.next().expect("connections end at ports")
}

fn output_at(ports: &Ports, start: usize) -> OutputPort {
    let outputs = (0..ports.outputs().len()).map(OutputPort);
    let mut here = outputs.filter(|&port| ports.output_range(port).start == start);
    here.next().expect("connections start at ports")
}

/// The motion output of the point where a force input acts.
fn motion_at(
    simulation: &Simulation,
    part: SubsystemId,
    input: InputPort,
) -> Result<OutputPort, SiteError> {
    let ports = simulation.ports(part);
    let found = ports.conjugates().iter().find_map(|pair| match *pair {
        Conjugate::GivesMotion { force, motion } if force == input => Some(motion),
        _ => None,
    });
    found.ok_or_else(|| SiteError::NoMotionThere {
        part: part_name(simulation, part),
        input: ports.inputs()[input.0].name.clone(),
    })
}

/// The first force input that no connection feeds and whose motion is sent, with that motion.
fn free_force(simulation: &Simulation, part: SubsystemId) -> Option<(InputPort, OutputPort)> {
    let ports = simulation.ports(part);
    let connections = simulation.connections();
    ports.conjugates().iter().find_map(|pair| match *pair {
        Conjugate::GivesMotion { force, motion } => {
            let start = ports.input_range(force).start;
            let fed = connections
                .iter()
                .any(|wire| wire.to == part && wire.input == start);
            let is_force = check_force("", &ports.inputs()[force.0].quantity).is_ok();
            (!fed && is_force).then_some((force, motion))
        }
        Conjugate::GivesForce { .. } => None,
    })
}
