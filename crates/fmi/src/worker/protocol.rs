//! What host and worker say to each other: a request and an answer in the cells of their shared memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// The call that runs in the library.
pub const CALL: usize = 0;
/// What is asked.
pub const REQUEST: usize = 1;
/// How it ended: one of the following.
pub const STATUS: usize = 2;
/// How often the worker looks before it sleeps.
pub const SPINS: usize = 3;
/// Numbers that go with a request or an answer.
pub const FIRST: usize = 4;
/// Values and bytes begin here.
pub const VALUES: usize = 16;
/// Cells for bytes at least: longer ones go in pieces.
pub const ROOM: usize = 8192;

/// It was done.
pub const DONE: u64 = 0;
/// It failed, for a reason in bytes.
pub const FAILED: u64 = 1;

/// What a worker is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Request {
    /// A piece of a setup: where it begins, how long it is, how long all is. With the last one an instance is made.
    Open = 1,
    /// To begin the initialisation at a time.
    Initialise,
    /// To end it with inputs.
    Start,
    /// The outputs, with inputs if there are any.
    Outputs,
    /// An advance: from, to, steps, whether outputs at its end are wanted with inputs; inputs of each step and of the end.
    Advance,
    /// To keep its state in a place.
    Keep,
    /// To go back to one.
    Return,
    /// Its state as bytes: where a piece begins. With the first one the state is saved.
    Save,
    /// A piece of a state: where it begins, how long it is, how long all is. With the last one it is restored.
    Restore,
    /// The end of the instance.
    Close,
}

impl Request {
    const ALL: [Self; 10] = [
        Self::Open,
        Self::Initialise,
        Self::Start,
        Self::Outputs,
        Self::Advance,
        Self::Keep,
        Self::Return,
        Self::Save,
        Self::Restore,
        Self::Close,
    ];

    /// Of its number.
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u64 == number)
    }
}

pub fn set(cells: &[AtomicU64], place: usize, value: u64) {
    cells[place].store(value, Ordering::Relaxed);
}

pub fn get(cells: &[AtomicU64], place: usize) -> u64 {
    cells[place].load(Ordering::Relaxed)
}

pub fn put_values(cells: &[AtomicU64], start: usize, values: &[f64]) {
    for (cell, value) in cells[start..].iter().zip(values) {
        cell.store(value.to_bits(), Ordering::Relaxed);
    }
}

pub fn take_values(cells: &[AtomicU64], start: usize, values: &mut [f64]) {
    for (cell, value) in cells[start..].iter().zip(values) {
        *value = f64::from_bits(cell.load(Ordering::Relaxed));
    }
}

pub fn put_bytes(cells: &[AtomicU64], bytes: &[u8]) {
    for (cell, chunk) in cells[VALUES..].iter().zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        cell.store(u64::from_le_bytes(word), Ordering::Relaxed);
    }
}

/// So many bytes, or as many as there is room for.
pub fn take_bytes(cells: &[AtomicU64], count: usize) -> Vec<u8> {
    let words = cells[VALUES..].iter().take(count.div_ceil(8));
    let bytes = words.flat_map(|cell| cell.load(Ordering::Relaxed).to_le_bytes());
    bytes.take(count).collect()
}

/// Bytes that go in one piece.
pub fn room(cells: &[AtomicU64]) -> usize {
    (cells.len() - VALUES) * 8
}
