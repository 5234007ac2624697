//! Programs in any language as subsystems, over sockets or shared memory.
//!
//! In model files a program is a section `[process.NAME]` ([`register`]): its ports, where its socket is, who listens. Two
//! protocols are known: frames with a handshake (`framed`), which says names and units and may have states to go back to, and
//! raw doubles (`raw`), one block each way per exchange, as the streams of other multibody programs have them.

mod conversation;
mod format;
mod framed;
mod part;
mod raw;
mod shared;
mod stream;

pub use format::register;
