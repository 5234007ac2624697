//! Why no cut was found, or could not be written.

use std::path::PathBuf;

/// Why there is no cut.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PartitionError {
    /// Several mechanisms, of which one is to be cut.
    #[error("the model has several mechanisms: {}; say with --mechanism which one is to be cut", .names.join(", "))]
    WhichMechanism {
        /// Their names.
        names: Vec<String>,
    },
    /// A mechanism that is cut.
    #[error(
        "`{mechanism}` is cut already; to look for another cut, take this one away: --set 'multibody.{mechanism}.cut='"
    )]
    AlreadyCut {
        /// The mechanism.
        mechanism: String,
    },
    /// No cut in so many parts, but one in fewer.
    #[error(
        "`{mechanism}` cannot be cut into {parts} parts: {reason}; {most} parts are the most that were found"
    )]
    TooManyParts {
        /// The mechanism.
        mechanism: String,
        /// As asked for.
        parts: usize,
        /// Which rule forbids it.
        reason: String,
        /// What was found.
        most: usize,
    },
    /// No cut at all.
    #[error("`{mechanism}` cannot be cut: {reason}; {instead}")]
    NoCut {
        /// The mechanism.
        mechanism: String,
        /// Which rule forbids it.
        reason: String,
        /// What can be done instead.
        instead: String,
    },
    /// All good cuts are unstable.
    #[error(
        "the {analysed} best cuts of `{mechanism}` are unstable with steps of {step} s; try a shorter step, such as --set simulation.step={shorter}"
    )]
    Unstable {
        /// The mechanism.
        mechanism: String,
        /// How many were analysed.
        analysed: usize,
        /// The macro step in s.
        step: f64,
        /// Half of it.
        shorter: f64,
    },
    /// The costs cannot be kept.
    #[error("the costs cannot be kept in {path}: {reason}", path = path.display())]
    NotKept {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The section cannot be added to the file.
    #[error("the cut cannot be written to {path}: {reason}; add it by hand:\n{section}", path = path.display())]
    NotWritten {
        /// The model file.
        path: PathBuf,
        /// Why not.
        reason: String,
        /// What was to be added.
        section: String,
    },
}
