//! Why a learning predictor cannot be made.

use oldham_cosim::{InputPort, OutputPort};

/// A setting that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DmdError {
    /// Nothing to choose from.
    #[error("no window is given; give at least one window length")]
    NoCandidates,
    /// Fewer pairs than unknowns.
    #[error(
        "a window of {window} pairs cannot determine a model of {received} received and {sent} sent signals with {delays} delays; it needs at least {needed} pairs"
    )]
    WindowTooShort {
        /// Pairs asked for.
        window: usize,
        /// Pairs needed.
        needed: usize,
        /// Received components.
        received: usize,
        /// Sent components.
        sent: usize,
        /// Delays asked for.
        delays: usize,
    },
    /// The truncation is no fraction.
    #[error("the rank truncation must lie between 0 and 1")]
    Truncation,
    /// The subsystem receives nothing.
    #[error("the subsystem has no inputs, so there is nothing to predict")]
    NothingReceived,
    /// An input that does not exist.
    #[error("the subsystem has no input number {}", .0.0)]
    NoSuchInput(InputPort),
    /// A control that does not exist.
    #[error("the subsystem has no output number {}", .0.0)]
    NoSuchOutput(OutputPort),
}
