//! Records as Linux writes them: `struct input_event` of `linux/input.h`.

use std::time::Duration;

/// Seconds and microseconds, a machine word each.
const WORD: usize = size_of::<usize>();
/// Bytes of a record: the time, then kind, code and value.
pub const RECORD: usize = 2 * WORD + 8;

const SYNCHRONISATION: u16 = 0;
const KEY: u16 = 1;
const ABSOLUTE: u16 = 3;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened, by the clock of the system.
    pub time: Duration,
    /// The kind of event.
    pub kind: u16,
    /// What of this kind.
    pub code: u16,
    /// How much of it.
    pub value: i32,
}

/// What a record means to whoever drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An axis has this reading.
    Axis(u16, i32),
    /// A button was pressed.
    Pressed(u16),
    /// Everything that belongs together was told.
    Report,
    /// More happened than the system could keep: readings must be asked for.
    Dropped,
    /// Nothing that is used here.
    Other,
}

impl Event {
    /// Reads a record.
    pub fn from_bytes(record: &[u8; RECORD]) -> Self {
        let word = |at: usize| {
            let mut bytes = [0; WORD];
            bytes.copy_from_slice(&record[at..at + WORD]);
            usize::from_ne_bytes(bytes) as u64
        };
        let half = |at: usize| u16::from_ne_bytes([record[at], record[at + 1]]);
        let end = 2 * WORD;
        let value = [
            record[end + 4],
            record[end + 5],
            record[end + 6],
            record[end + 7],
        ];
        Self {
            // A damaged recording may claim any time.
            time: Duration::from_secs(word(0)).saturating_add(Duration::from_micros(word(WORD))),
            kind: half(end),
            code: half(end + 2),
            value: i32::from_ne_bytes(value),
        }
    }

    /// The whole records among these bytes.
    pub fn all(bytes: &[u8]) -> impl Iterator<Item = Self> + '_ {
        bytes.as_chunks().0.iter().map(Self::from_bytes)
    }

    /// What it means.
    pub fn what(&self) -> What {
        match (self.kind, self.code, self.value) {
            (SYNCHRONISATION, 0, _) => What::Report,
            (SYNCHRONISATION, 3, _) => What::Dropped,
            // Two is a key that repeats because it is held.
            (KEY, code, 1) => What::Pressed(code),
            (ABSOLUTE, code, reading) => What::Axis(code, reading),
            _ => What::Other,
        }
    }
}
