//! Results of a simulation: written while it runs, read back, compared and plotted.

mod changing;
mod csv;
pub mod metrics;
mod number;
pub mod plot;
pub mod reader;
mod resample;
mod schema;
pub mod writer;

pub use changing::{Changing, is_derived};
pub use number::number;
pub use oldham_cosim::Column;
pub use reader::{Table, read, read_some};
pub use resample::{ResampleError, resample};
pub use schema::Metadata;
pub use writer::ResultWriter;
