//! Statics and modes of a mechanism on its own.

use oldham_cosim::Unit;
use oldham_multibody::{
    DegreesOfFreedom, MechanismPart, Modes, Motion, NodeId, PortedModel, Sent, SolveError, Vec3,
};

use super::spec::initial_inputs;
use super::{MechanismSpec, NamedJoint, PartitionReport, Pose, Sketch};
use crate::model::{Content, Model};

/// A multibody part of a model on its own: its inputs stay as they are before the first exchange.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'m> {
    name: &'m str,
    spec: &'m MechanismSpec,
    start: f64,
}

/// A mechanism at rest.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The poses of all nodes, the ground first.
    pub poses: Vec<Pose>,
    /// What actuators carry.
    pub loads: Vec<ActuatorLoad>,
    /// What the joints carry.
    pub reactions: Vec<JointReaction>,
}

/// What an actuator carries at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorLoad {
    /// Its name.
    pub actuator: String,
    /// Positive where it pushes.
    pub load: f64,
    /// Its unit.
    pub unit: Unit,
    /// Whether the actuator was held, and this load found. Else others hold the same already, and this is what it starts with.
    pub is_found: bool,
}

/// What a joint exerts on its second node, in its own axes as they are fixed to the first.
#[derive(Clone, Debug, PartialEq)]
pub struct JointReaction {
    /// The name of the joint.
    pub joint: String,
    /// In N.
    pub force: Vec3,
    /// In N.m, about the joint.
    pub moment: Vec3,
}

/// The configuration about which modes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// As the model starts.
    Start,
    /// Static equilibrium.
    Equilibrium,
}

impl Model {
    /// Its multibody parts.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism<'_>> {
        self.spec.parts.iter().filter_map(|part| {
            let Content::Multibody(spec) = &part.content else {
                return None;
            };
            Some(Mechanism {
                name: &part.name,
                spec,
                start: self.spec.clock.start,
            })
        })
    }
}

impl<'m> Mechanism<'m> {
    /// The name of the part.
    pub fn name(&self) -> &'m str {
        self.name
    }

    /// Nodes and elements, uncut.
    pub fn model(&self) -> &'m oldham_multibody::Model {
        &self.spec.whole.model
    }

    /// How many steps of its own it takes in a macro step.
    pub fn micro_steps(&self) -> usize {
        self.spec.micro_steps
    }

    /// What there is to draw.
    pub fn sketch(&self) -> &'m Sketch {
        &self.spec.sketch
    }

    /// Outputs that show the force of an element on a node, with that node.
    pub fn shown_forces(&self) -> impl Iterator<Item = (&'m str, NodeId)> {
        let PortedModel { model, outputs, .. } = &self.spec.whole;
        outputs.iter().filter_map(|(name, sent)| match sent {
            Sent::Reaction { element, node } => {
                let node = model.nodes_of(*element).get(*node)?;
                Some((name.as_str(), *node))
            }
            _ => None,
        })
    }

    /// The acceleration of gravity in m/s².
    pub fn gravity(&self) -> Vec3 {
        self.spec.whole.model.acceleration_of_gravity()
    }

    /// In how many ways it can move, in the given position.
    pub fn degrees_of_freedom(&self) -> DegreesOfFreedom {
        self.spec.whole.degrees_of_freedom(self.start)
    }

    /// How it is cut, if it is.
    pub fn partition(&self) -> Option<PartitionReport> {
        let cutting = self.spec.cutting.as_ref()?;
        Some(PartitionReport::of(self.spec, cutting))
    }

    /// The poses of all nodes as they are given, the ground first.
    pub fn given(&self) -> Vec<Pose> {
        let nodes = self.spec.whole.model.moving_nodes();
        let given = nodes.map(|(_, motion)| Pose::from(motion));
        std::iter::once(Pose::ABSOLUTE).chain(given).collect()
    }

    /// Its solver at the initial state, uncut: for those who advance it by themselves.
    pub fn solver(&self) -> Result<MechanismPart, SolveError> {
        let whole = self.spec.balanced(self.start)?;
        let part = whole
            .builder()
            .build(self.spec.options, self.spec.micro_steps);
        Ok(part.expect("a checked model has no mistakes in its data"))
    }

    /// The mechanism at rest under the loads of a time, by default that of the start, which are
    /// raised in `steps` steps.
    pub fn equilibrium(&self, time: Option<f64>, steps: usize) -> Result<Rest, SolveError> {
        let time = time.unwrap_or(self.start);
        let held = self.spec.held(time);
        let (mut part, _) = built(&held.model, self.spec);
        let inputs = held.inputs(&part);
        let system = part.system_mut();
        system.equilibrium(time, steps, &inputs)?;
        let reaction = |joint: &NamedJoint| {
            let (force, moment) = system.reaction(joint.element, joint.ends, &inputs)?;
            Ok(JointReaction {
                joint: joint.name.clone(),
                force,
                moment,
            })
        };
        let reactions: Result<_, SolveError> = self.spec.joints.iter().map(reaction).collect();
        let lines = self.spec.static_lines.iter();
        let loads = lines.zip(held.loads(&part));
        let loads = loads.map(|(line, (load, is_found))| ActuatorLoad {
            actuator: line.name.clone(),
            load,
            unit: line.unit(),
            is_found,
        });
        Ok(Rest {
            poses: self.poses(&part),
            loads: loads.collect(),
            reactions: reactions?,
        })
    }

    /// The lowest `count` vibrations, and the poses about which they are found. `near` is a
    /// frequency in hertz around which they are searched; by default from zero on. Where the
    /// mechanism turns, they are those about the steady rotation near its start.
    pub fn vibrations(
        &self,
        about: About,
        count: usize,
        near: Option<f64>,
    ) -> Result<(Vec<Pose>, Modes), SolveError> {
        let (mut part, inputs) = built(&self.spec.balanced(self.start)?, self.spec);
        let system = part.system_mut();
        match about {
            // Static loads are those of an equilibrium, which they may not hold.
            About::Equilibrium if !self.spec.starts_under_static_loads() => {
                system.equilibrium(self.start, 4, &inputs)?;
            }
            _ => system.start(self.start, &inputs)?,
        }
        self.modes_of(part, &inputs, count, near)
    }

    /// The same about a motion of all nodes but the ground at the start, such as a steady one.
    pub fn vibrations_about(
        &self,
        motions: &[Motion],
        count: usize,
        near: Option<f64>,
    ) -> Result<(Vec<Pose>, Modes), SolveError> {
        let mut whole = self.spec.balanced(self.start)?;
        let nodes: Vec<NodeId> = whole.model.moving_nodes().map(|(node, _)| node).collect();
        for (node, motion) in nodes.into_iter().zip(motions) {
            whole.model.place(node, *motion);
        }
        let (mut part, inputs) = built(&whole, self.spec);
        part.system_mut().start(self.start, &inputs)?;
        self.modes_of(part, &inputs, count, near)
    }

    fn modes_of(
        &self,
        mut part: MechanismPart,
        inputs: &[f64],
        count: usize,
        near: Option<f64>,
    ) -> Result<(Vec<Pose>, Modes), SolveError> {
        if self.degrees_of_freedom().count() == 0 {
            let none = Modes {
                is_steady: true,
                degrees_of_freedom: Some(0),
                ..Modes::default()
            };
            return Ok((self.poses(&part), none));
        }
        let modes = part.system_mut().modes(count, near, inputs)?;
        Ok((self.poses(&part), modes))
    }

    fn poses(&self, part: &MechanismPart) -> Vec<Pose> {
        let nodes = self.spec.whole.model.moving_nodes();
        let reached = nodes.map(|(node, _)| Pose::from(part.system().motion(node)));
        std::iter::once(Pose::ABSOLUTE).chain(reached).collect()
    }
}

/// A solver of a checked mechanism, and its inputs before the first exchange. Contacts hold nothing in statics and in modes.
fn built(whole: &PortedModel, spec: &MechanismSpec) -> (MechanismPart, Vec<f64>) {
    let whole = whole.without_contacts();
    let part = whole.builder().build(spec.options, spec.micro_steps);
    let part = part.expect("a checked model has no mistakes in its data");
    let inputs = initial_inputs(&part);
    (part, inputs)
}
