//! Mechanisms: multibody parts as plain data from which solvers and pictures are made.
//!
//! A [`MechanismSpec`] is a model with its ports; it can be built any number of times. A
//! [`Mechanism`] is the same thing seen from outside: its statics, its modes and what to draw.

mod analysis;
mod cutting;
mod partition;
mod pose;
mod road;
mod sketch;
mod solid;
mod spec;
mod static_loads;
mod surface;

pub use analysis::{About, ActuatorLoad, JointReaction, Mechanism, Rest};
pub use partition::{InterfaceNode, OwnedElement, PartitionReport, SubdomainReport};
pub use pose::Pose;
pub use road::{LandSketch, RoadSketch};
pub use sketch::{
    Look, MeshFile, Outline, ParticleSketch, SectionLoad, Shape, Sketch, Solid, Symbol, Telescope,
    VisualSketch,
};

pub(crate) use cutting::{Cutting, Order};
pub(crate) use solid::solid_inertia;
pub(crate) use spec::{MechanismSpec, NamedJoint};
pub(crate) use static_loads::{Carried, StaticLine};
pub(crate) use surface::{ShellSpec, Surface};

/// The prefix of the ports that show all nodes.
pub(crate) const NODE_PORTS: &str = "nodes.";

/// The prefix of the ports that show where particles are.
pub(crate) const PARTICLE_PORTS: &str = "particles.";
/// The prefix of the ports that show the loads of contacts on nodes.
pub(crate) const CONTACT_PORTS: &str = "contacts.";

/// The prefix of the ports that show what sensors measure.
pub(crate) const SENSOR_PORTS: &str = "sensors.";

/// The prefix of the ports that show what sections of beams and shells feel.
pub(crate) const SECTION_PORTS: &str = "sections.";

/// Components of a motion that a picture needs: position and orientation.
pub(crate) const POSE_COMPONENTS: [&str; 7] = ["px", "py", "pz", "q0", "q1", "q2", "q3"];
