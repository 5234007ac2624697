//! Statics and modes of a mechanism on its own.

use oldham_multibody::{Freedoms, MechanismPart, Modes, SolveError, Vec3};

use super::spec::initial_inputs;
use super::{MechanismSpec, PartitionReport, Pose, Sketch};
use crate::model::{Content, Model};

/// A multibody part of a model on its own: its inputs stay as they are before the first exchange.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'m> {
    name: &'m str,
    spec: &'m MechanismSpec,
    start: f64,
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

    /// What there is to draw.
    pub fn sketch(&self) -> &'m Sketch {
        &self.spec.sketch
    }

    /// The acceleration of gravity in m/s².
    pub fn gravity(&self) -> Vec3 {
        self.spec.whole.model.acceleration_of_gravity()
    }

    /// In how many ways it can move, in the given position.
    pub fn freedoms(&self) -> Freedoms {
        self.spec.whole.freedoms(self.start)
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

    /// The poses of all nodes at rest under the loads of a time, by default that of the start,
    /// which are raised in `steps` steps.
    pub fn equilibrium(&self, time: Option<f64>, steps: usize) -> Result<Vec<Pose>, SolveError> {
        let (mut part, inputs) = self.part();
        let time = time.unwrap_or(self.start);
        part.system_mut().equilibrium(time, steps, &inputs)?;
        Ok(self.poses(&part))
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
        let (mut part, inputs) = self.part();
        match about {
            About::Start => part.system_mut().start(self.start, &inputs)?,
            About::Equilibrium => part.system_mut().equilibrium(self.start, 4, &inputs)?,
        }
        if self.freedoms().degrees() == 0 {
            let none = Modes {
                is_steady: true,
                freedoms: Some(0),
                ..Modes::default()
            };
            return Ok((self.poses(&part), none));
        }
        let modes = part.system_mut().modes(count, near, &inputs)?;
        Ok((self.poses(&part), modes))
    }

    fn part(&self) -> (MechanismPart, Vec<f64>) {
        let part = self.spec.unsettled_part();
        let part = part.expect("a checked model has no mistakes in its data");
        let inputs = initial_inputs(&part);
        (part, inputs)
    }

    fn poses(&self, part: &MechanismPart) -> Vec<Pose> {
        let nodes = self.spec.whole.model.moving_nodes();
        let reached = nodes.map(|(node, _)| Pose::from(part.system().motion(node)));
        std::iter::once(Pose::ABSOLUTE).chain(reached).collect()
    }
}
