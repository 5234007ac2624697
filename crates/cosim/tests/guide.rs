//! The code of the guide's page on extending the engine compiles and does what the page says.

include!("../../../docs/src/code/extending.rs");
