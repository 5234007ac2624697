//! The TOML model format of Oldham: read, validate, assemble.
//!
//! [`Model::read`] takes a file to a checked [`Model`], or to [`Problems`]: everything that is
//! wrong with it at once, each with its place in the text and, where a name is misspelt, the
//! nearest valid one. [`Model::simulation`] makes the coupled simulation, [`Model::monolithic`]
//! the same model without any exchange.
//!
//! ```
//! use oldham_model::{Model, Overrides};
//!
//! let text = r#"
//!     [model]
//!     name = "Oscillator"
//!     [parameters]
//!     k = 100.0
//!     [simulation]
//!     duration = 1.0
//!     step = "1 / k"
//!     [lumped.one]
//!     integrator = "exact"
//!     masses.x = { mass = 1.0, velocity = 1.0 }
//!     springs.wall = { between = ["ground", "x"], stiffness = "k" }
//!     outputs.x = { motion = "x" }
//! "#;
//! let model = Model::parse(text, "oscillator.toml", &Overrides::none())?;
//! assert_eq!(model.steps(), 100);
//!
//! let typo = text.replace("stiffness", "stifness");
//! let problems = Model::parse(&typo, "oscillator.toml", &Overrides::none()).unwrap_err();
//! assert!(problems.to_string().contains("did you mean `stiffness`?"));
//! # Ok::<(), oldham_model::Problems>(())
//! ```

mod alone;
mod assemble;
mod at_rest;
mod chain;
mod check;
mod compensation;
mod data;
mod expansion;
mod extensions;
mod format;
mod implicit;
mod interface_model;
mod kinds;
mod limits;
mod loops;
mod mechanism;
mod model;
mod overrides;
mod parameters;
mod problem;
mod quantity;
mod range;
mod read;
mod record;
mod reference;
mod reference_pages;
mod renamed;
mod reuse;
mod schema;
mod source;
mod structure;
mod suggest;
mod template;
mod tree;
mod words;

pub use alone::{AloneError, FedInput};
pub use assemble::ChoosePredictor;
pub use at_rest::RestingPart;
pub use chain::{Chain, ChainLink, ChainPoint};
pub use compensation::gains::{Gains, GainsError};
pub use compensation::{Approach, CompensationError, Offer};
pub use data::DataFile;
pub use extensions::{
    AtRest, Companion, Context, Extensions, ForeignJoint, ForeignPart, LoadBearing, NoRest,
    PredictorFactory, RestingValue, Site, Stroke, WantedLoad,
};
pub use format::{At, Entry, Formula, Named, TimeFunction};
pub use limits::{MAX_BYTES, MAX_DEPTH, MAX_TOKENS};
pub use mechanism::{
    About, ActuatorLoad, InterfaceNode, JointReaction, LandSketch, Look, Mechanism, MeshFile,
    Outline, OwnedElement, ParticleSketch, PartitionReport, Pose, Rest, RoadSketch, SectionLoad,
    Shape, Sketch, Solid, SubdomainReport, Symbol, Telescope, VisualSketch,
};
pub use model::{Cockpit, ExternalInput, Feedback, Gauge, Model, Seat};
pub use oldham_lumped::{Integrator, StageInputs};
pub use overrides::Overrides;
pub use problem::{MAX_PROBLEMS, Problem, Problems};
pub use quantity::unit_ratio;
pub use record::matching;
pub use reference::reference_markdown;
pub use reference_pages::ReferencePage;
pub use schema::schema;
pub use source::{Location, Source, Span};
pub use suggest::nearest;
pub use template::Template;
pub use words::readable;
