//! Drawings of mechanisms: what there is (a sketch), where it is (poses), from where it is seen
//! (a view), and a page to put it on.
//!
//! The marks of a mechanism are the same from frame to frame, only their points move; that is what
//! lets an SVG animate them.

mod marks;
mod page;
mod view;

pub use marks::{Ink, Mark, marks};
pub use page::{Film, Page};
pub use view::{View, ViewName};
