//! Cuts of mechanisms: how one is cut, what its pieces cost, and where it should be cut.
//!
//! A [`CutMechanism`] shows a cut as it is. A [`CostTable`] says what elements, nodes and copies cost in a step, as measured on
//! this machine or estimated by matrix entries. [`find_cut`] looks for the cut with the shortest step: a search on the graph
//! (`oldham_separator`), then the rules of cuts, the verdict on stability, and short runs.

mod candidate;
mod candidates;
mod costs;
mod error;
mod fit;
mod graph;
mod ledger;
mod measure;
mod report;
mod search;
mod trial;
mod write;

pub use candidate::CandidateCut;
pub use candidates::Searched;
pub use costs::{CostTable, Fit, KindCost};
pub use error::PartitionError;
pub use ledger::{CostLedger, ledger_path};
pub use measure::measure_costs;
pub use report::{CutMechanism, partitions};
pub use search::{CutSearch, CutStability, Expectation, SearchedCut, find_cut, mechanism_named};
pub use write::write_cut;
