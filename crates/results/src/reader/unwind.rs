//! Decoders of binary formats may panic on damaged input; here that becomes an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::ReadProblem;

/// Runs a decoding step. After [`ReadProblem::Damaged`] the decoder must not be used again.
pub(super) fn caught<T>(decode: impl FnOnce() -> Result<T, ReadProblem>) -> Result<T, ReadProblem> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or(Err(ReadProblem::Damaged))
}
