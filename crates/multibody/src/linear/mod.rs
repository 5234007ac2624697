//! The linear solver: block LU along the model's own structure.
//!
//! Unknowns come in blocks: six for a node, a few multipliers for a joint. The pattern and the
//! elimination order are found once (`symbolic`); a factorisation is then a sequence of small
//! dense fronts (`front`) without any allocation. Chains become block tridiagonal by themselves.
//! Nothing here knows mechanics.

mod equilibrate;
mod front;
mod lu;
mod order;
mod symbolic;

pub use lu::{BlockLu, Prescribed, SingularPivot};
pub use symbolic::{Destination, Structure};
