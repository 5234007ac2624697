//! Multibody dynamics: rigid bodies, joints, springs, beams, shells, contacts.
//!
//! A [`Model`] lists nodes (a position and an orientation each), [`Body`]s on nodes and
//! [`Element`]s between nodes. A [`System`] moves it: index-3 differential-algebraic equations in
//! redundant coordinates, the two-step method LMS2, Newton's iteration with an analytic Jacobian,
//! and a block factorisation that follows the structure of the model. Rigid mechanisms in contact are moved by
//! impulses instead.

mod assembly;
pub mod bench;
mod body;
mod consistency;
pub mod contact;
mod correction;
pub mod cut;
mod determinants;
mod drift;
mod drive;
pub mod element;
mod energy;
mod error;
mod explicit;
mod failure;
mod feedback;
mod flywheel;
mod folding;
mod foresight;
mod imperfection;
mod impulses;
mod integrator;
mod inverse_iteration;
pub mod joint;
mod jump;
mod kinks;
pub mod linear;
mod linearised;
mod misfit;
mod model;
mod modes;
mod moved;
mod newton;
mod node;
mod prescribed;
mod redundancy;
mod regimes;
mod relaxation;
mod retry;

mod rounding;
mod sensor;
mod sharing;
mod singular;
mod snapshot;
mod spinning;
mod stable;
mod start;
mod statics;
mod stopwatch;
mod subsystem;
mod system;
mod tree;

pub use body::Body;
pub use drive::{Drive, TimeFunction};
pub use element::beam::{
    Beam2, Beam3, BeamMesh, Curve, LineInertia, LineMesh, LineSample, Lumping, Material, MeshError,
    Profile, Section, straight_beam,
};
pub use element::shell::{
    Shell4, ShellError, ShellGrid, ShellMesh, ShellSection, SurfaceInertia, annulus, cylinder,
    mapped_shell, rectangle,
};
pub use element::{
    Bushing, Cable, Clearance, CompliantContact, CompliantLaw, CoordinateForce, Element, ElementId,
    ElementKind, ForceLaw, ForceMap, Hysteresis, InternalLoad, InternalState, Law, Load, NotLinear,
    PortWrench, Pulley, References, Rod, SectionState, Servo, SurfaceFriction, TensionFunction,
};
pub use error::{ModelError, Passage, SolveError};
pub use integrator::Method;
pub use joint::{
    AngleCounter, BristleRates, Bristles, Coordinate, Direction, DrivenCoordinate,
    ElasticTransmission, Frictional, Joint, LuGre, PlaneCurve, PointOnCurve, PrescribedMotion,
    PrescribedPose, RollingWheel, Row, Target, Transmission,
};
pub use linearised::{Entry, LeftOut, LinearisedMatrices};
pub use model::Model;
pub use modes::{Mode, ModeKind, Modes};
pub use node::{Marker, Motion, NodeId};
pub use oldham_space::{M3, Mat3, Pair, Quaternion, Scalar, V3, Vec3, rotation};
pub use redundancy::DegreesOfFreedom;
pub use sensor::{CustomSensor, LoadSensor, Measured, SectionSensor, Sensor};
pub use stopwatch::{KindTimes, Stopwatch};
pub use subsystem::{
    Along, Attached, ContactForce, CutParts, CutScheme, CutSettings, LineValue, MechanismPart,
    Needs, PartBuilder, PortedModel, Prescription, Received, Sent, Shared, SolverSettings,
    SubdomainConnection, SubdomainSolver,
};
pub use system::{Options, System};
pub use tree::Coordinates;
