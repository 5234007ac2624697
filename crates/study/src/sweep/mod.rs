//! A model for many values of its parameters: how values are given ([`Variation`]), their combinations,
//! and all runs on all cores with an index ([`Sweep`]).

mod combine;
mod index;
mod journal;
mod merit;
mod random;
mod range;
mod runs;
mod shard;
mod variation;

pub use combine::{Draw, MOST_COMBINATIONS, combinations};
pub use index::SweepReport;
pub use journal::{JournalError, SweepRun, SweepStatus};
pub use merit::{Merit, MeritError};
pub use range::Range;
pub use runs::{MOST_RUNS, Sweep, SweepOptions, SweepProgress};
pub use shard::{NoShard, Shard};
pub use variation::{Values, Variation, VariationError};
