//! The only memory that the threads of a run share: the exchange buffer.
//!
//! Cells are relaxed atomics, which cost the same as plain loads and stores; the barrier between
//! writing and reading gives the ordering.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Cells between what different threads write: two cache lines, which some processors fetch together.
const APART: usize = 16;

pub(crate) struct ExchangeBuffer {
    cells: Box<[AtomicU64]>,
}

impl ExchangeBuffer {
    pub fn new(size: usize) -> Self {
        Self {
            cells: (0..size).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub fn write(&self, start: usize, values: &[f64]) {
        for (cell, value) in self.cells[start..].iter().zip(values) {
            cell.store(value.to_bits(), Relaxed);
        }
    }

    pub fn read(&self, start: usize, values: &mut [f64]) {
        for (cell, value) in self.cells[start..].iter().zip(values) {
            *value = f64::from_bits(cell.load(Relaxed));
        }
    }

    pub fn write_word(&self, place: usize, word: u64) {
        self.cells[place].store(word, Relaxed);
    }

    pub fn word(&self, place: usize) -> u64 {
        self.cells[place].load(Relaxed)
    }

    pub fn get(&self, place: usize) -> f64 {
        f64::from_bits(self.cells[place].load(Relaxed))
    }
}

/// Hands out the places of the exchange buffer while a simulation is built.
#[derive(Default)]
pub(crate) struct Layout {
    size: usize,
}

impl Layout {
    pub fn claim(&mut self, width: usize) -> Range<usize> {
        self.size += width;
        self.size - width..self.size
    }

    /// What follows lies on other cache lines: two threads that write there do not disturb each other.
    pub fn separate(&mut self) {
        self.size += APART;
    }

    pub fn exchange(&self) -> ExchangeBuffer {
        ExchangeBuffer::new(self.size)
    }
}
