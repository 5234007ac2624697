//! Decoders of binary formats may panic on damaged input; here that becomes an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::ReadProblem;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a decoder whose panics become errors: a program's panic hook has
/// nothing to tell then.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs a decoding step. After [`ReadProblem::Damaged`] the decoder must not be used again.
pub(super) fn caught<T>(decode: impl FnOnce() -> Result<T, ReadProblem>) -> Result<T, ReadProblem> {
    let before = DECODING.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    decoded.unwrap_or(Err(ReadProblem::Damaged))
}
