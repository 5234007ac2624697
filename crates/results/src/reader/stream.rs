//! Reads the stream of a run that is still going on, or was interrupted.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;

use super::error::ReadProblem;
use super::numbers::Numbers;
use super::table::Table;
use super::unwind::caught;

/// Continuation marker and a length of zero: the end that only a finished run writes.
const END_MARKER: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Longest stream that is read.
const MOST_BYTES: u64 = 8 << 30;

/// All complete batches. A kill tears the stream anywhere, so what follows the last complete
/// batch is left out, and the table says that it is not complete.
pub(super) fn read(path: &Path) -> Result<Table, ReadProblem> {
    let mut bytes = oldham_files::read(path, MOST_BYTES)?;
    let ends_well = bytes.ends_with(&END_MARKER);
    if is_header_alone(&bytes) {
        // The decoder looks at the header only when something follows it.
        bytes.extend(END_MARKER);
    }
    let mut rest = Buffer::from(bytes);
    let mut decoder = StreamDecoder::new();

    // The first call decodes the header, and a batch if there is one.
    let mut next = caught(|| Ok(decoder.decode(&mut rest)?));
    let Some(schema) = decoder.schema() else {
        return Err(next.err().unwrap_or(ReadProblem::NoHeader));
    };
    let mut numbers = Numbers::new(&schema)?;
    let torn = loop {
        match next.and_then(|batch| take(batch, &mut numbers)) {
            Ok(Step::Taken) => next = caught(|| Ok(decoder.decode(&mut rest)?)),
            Ok(Step::End) => break false,
            Err(_) => break true,
        }
    };
    numbers.into_table(ends_well && !torn)
}

/// A message starts with a marker of four bytes and its length in the next four.
fn is_header_alone(bytes: &[u8]) -> bool {
    let length = bytes.get(4..8).and_then(|length| length.try_into().ok());
    length.is_some_and(|length| bytes.len() - 8 == u32::from_le_bytes(length) as usize)
}

enum Step {
    Taken,
    End,
}

fn take(batch: Option<RecordBatch>, numbers: &mut Numbers) -> Result<Step, ReadProblem> {
    let Some(batch) = batch else {
        return Ok(Step::End);
    };
    numbers.extend(&batch)?;
    Ok(Step::Taken)
}
