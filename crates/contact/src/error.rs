//! What can go wrong, and what to do about it.

use thiserror::Error;

/// A mistake in a description, or a step that cannot be taken.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ContactError {
    /// A shape without extent.
    #[error("body {body}: a size of its shape is {size}; sizes must be positive and finite")]
    Size {
        /// The body.
        body: usize,
        /// The size.
        size: f64,
    },
    /// A can whose flat walls do not close.
    #[error("body {body}: a can of {facets} flat walls is open; give at least 3, or a round wall")]
    OpenCan {
        /// The body.
        body: usize,
        /// How many walls it has.
        facets: usize,
    },
    /// A mass or moment of inertia that no body has.
    #[error("body {body}: {what} is {value}; it must be positive and finite")]
    Inertia {
        /// The body.
        body: usize,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A surface with a coefficient out of its range.
    #[error("surface: {what} is {value}; it must be {range}")]
    Surface {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// Bodies that overlap at the start.
    #[error(
        "bodies {first} and {second} overlap by {depth:e} m at the start ({pairs} contacts overlap \
         in all); move them apart, or let the start be resolved"
    )]
    Overlap {
        /// The first body of the deepest overlap.
        first: usize,
        /// The second body.
        second: usize,
        /// How deep.
        depth: f64,
        /// How many contacts overlap.
        pairs: usize,
    },
    /// A body has left the domain.
    #[error(
        "body {body} has left the domain at t = {time} s: it is at ({x:e}, {y:e}, {z:e}) m; \
         a wall is missing, or it was passed within one step"
    )]
    Lost {
        /// The body.
        body: usize,
        /// When.
        time: f64,
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// Where.
        z: f64,
    },
    /// A pose or velocity is NaN or infinite.
    #[error("body {body}: its motion is not finite at t = {time} s")]
    NotFinite {
        /// The body.
        body: usize,
        /// When.
        time: f64,
    },
    /// A step that is not positive.
    #[error("the step is {step} s; it must be positive and finite")]
    Step {
        /// The step.
        step: f64,
    },
    /// A state that belongs to another scene.
    #[error("the state has {found} words, this scene needs {needed}")]
    State {
        /// What was given.
        found: usize,
        /// What is needed.
        needed: usize,
    },
}
