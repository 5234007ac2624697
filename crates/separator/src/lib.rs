//! Separators: vertices of a graph without which it falls into parts of even cost.
//!
//! [`search`] looks for separators such that the largest part, the separator itself and the exchange between them cost
//! least time. Links may join any number of vertices. Costs are whole numbers, so that
//! every machine finds the same, and the search is bounded by counts.
//!
//! The search is multilevel: from each start the graph is coarsened along its tightest links, its coarsest form is bisected
//! again and again, and the separator is refined after Fiduccia and Mattheyses on the way back. Beside that every single vertex is tried.
//! Nothing here knows of mechanisms.
//!
//! # References
//! C. M. Fiduccia, R. M. Mattheyses, "A linear-time heuristic for improving network partitions", 19th Design Automation
//! Conference, 1982. C. Ashcraft, J. W. H. Liu, "Applications of the Dulmage–Mendelsohn decomposition and network flow to graph
//! bisection improvement", SIAM J. Matrix Anal. Appl. 19, 1998 (three-way labels).

mod begin;
mod coarsen;
mod deal;
mod graph;
mod labels;
mod pool;
mod random;
mod refine;
mod search;
mod sets;
mod single;

pub use graph::{Cost, Graph, Link, Vertex};
pub use labels::Price;
pub use pool::Separator;
pub use search::{Found, Settings, search};
