//! Drawings of mechanisms: what there is (a sketch), where it is (poses), from where it is seen
//! (a view), and a page to put it on.
//!
//! The marks of a mechanism are the same from frame to frame, only their points move; that is what
//! lets an SVG animate them. Nothing here solves anything: poses come from a result ([`History`]),
//! from statics or from modes.
//!
//! ```
//! use oldham_model::{Model, Overrides};
//! use oldham_scene::{Page, View, ViewName, marks};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slider-crank.toml");
//! let model = Model::read(path.as_ref(), &Overrides::none())?;
//! let mechanism = model.mechanisms().next().expect("a mechanism");
//! let poses = mechanism.given();
//! let view = View::of(ViewName::Auto, poses.iter().skip(1).map(|pose| pose.position));
//! let page = Page::new(model.name(), view).layer(marks(mechanism.sketch(), &poses, &view), 1.0);
//! assert!(page.to_svg().starts_with("<svg"));
//! # Ok::<(), oldham_model::Problems>(())
//! ```

mod history;
mod marks;
mod modes;
mod motion;
mod page;
mod partition;
mod save;
mod staging;
mod statics;
mod text;
mod view;

pub use history::{History, NoPoses};
pub use marks::{Ink, Mark, marks};
pub use modes::{mode_animations, mode_grid, mode_pages};
pub use motion::{AnimationSettings, animation};
pub use oldham_model::{
    MeshFile, Outline, ParticleSketch, Pose, SectionLoad, Shape, Sketch, Solid, Symbol,
};
pub use page::{Animation, Page};
pub use partition::partition_page;
pub use save::{OVERLAID_FRAMES, SceneError, save, save_animation, save_png, write};
pub use staging::{Showing, Staging};
pub use statics::statics_page;
pub use text::TextView;
pub use view::{Flat, View, ViewName};
