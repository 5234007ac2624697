//! Linear models as files: JSON, a table, or arrays for numpy.
//!
//! A file `.npz` is a ZIP archive of arrays, stored without compression, each as a file `.npy`: a magic word, a
//! header that is a literal of Python, and the numbers (NumPy Enhancement Proposal 1).

use nalgebra::{Complex, DMatrix};
use oldham_stability::LinearSignal;
use std::path::Path;

use crate::LinearModel;

/// How the matrices of a linear model are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearFormat {
    /// Everything, with names, units and poles.
    Json,
    /// One table: rows are the rates of the states, then the outputs; columns are the states, then
    /// the inputs.
    Csv,
    /// `A`, `B`, `C`, `D`, `poles` and the names `states`, `inputs`, `outputs`, as `numpy.load` reads them; of a
    /// model from sample to sample `sample_time` and `z_poles` too.
    Npz,
}

impl LinearFormat {
    /// The one that the end of a file's name stands for.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "npz" => Some(Self::Npz),
            _ => None,
        }
    }
}

impl LinearModel {
    /// The contents of a file of this format.
    pub fn file(&self, format: LinearFormat) -> Vec<u8> {
        match format {
            LinearFormat::Json => {
                let text = serde_json::to_string_pretty(self).expect("numbers and names");
                format!("{text}\n").into_bytes()
            }
            LinearFormat::Csv => self.table().into_bytes(),
            LinearFormat::Npz => self.arrays(),
        }
    }

    fn table(&self) -> String {
        let space = &self.space;
        let quoted = |name: &str| match name.contains([',', '"']) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.to_owned(),
        };
        let signal = |signal: &LinearSignal| quoted(&format!("{} [{}]", signal.name, signal.unit));
        let states = space.states.iter().map(|state| quoted(state));
        let first = match space.sample {
            None => "row".to_owned(),
            Some(period) => format!("row [sample time {period} s]"),
        };
        let mut header = vec![first];
        header.extend(states.clone());
        header.extend(space.inputs.iter().map(signal));
        let mut text = header.join(",");
        let what = if space.sample.is_some() {
            "next"
        } else {
            "d/dt"
        };
        let rates = states.map(|state| format!("{what} {state}"));
        let above = rates.zip(space.a.row_iter().zip(space.b.row_iter()));
        let outputs = space.outputs.iter().map(signal);
        let below = outputs.zip(space.c.row_iter().zip(space.d.row_iter()));
        for (name, (by_state, by_input)) in above.chain(below) {
            text += &format!("\n{name}");
            for value in by_state.iter().chain(by_input.iter()) {
                text += &format!(",{value:e}");
            }
        }
        text + "\n"
    }

    fn arrays(&self) -> Vec<u8> {
        let space = &self.space;
        let names = |signals: &[LinearSignal]| -> Vec<String> {
            signals.iter().map(|signal| signal.name.clone()).collect()
        };
        let mut archive = Archive::default();
        for (name, matrix) in [
            ("A", &space.a),
            ("B", &space.b),
            ("C", &space.c),
            ("D", &space.d),
        ] {
            archive.add(name, &matrix_array(matrix));
        }
        archive.add("states", &text_array(&space.states));
        archive.add("inputs", &text_array(&names(&space.inputs)));
        archive.add("outputs", &text_array(&names(&space.outputs)));
        let complex = |values: &[Complex<f64>]| {
            let numbers = values.iter().flat_map(|value| [value.re, value.im]);
            let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
            array("<c16", &format!("({},)", values.len()), false, &bytes)
        };
        archive.add("poles", &complex(&space.poles));
        if let Some(period) = space.sample {
            archive.add(
                "sample_time",
                &array("<f8", "()", false, &period.to_le_bytes()),
            );
            archive.add("z_poles", &complex(&space.multipliers));
        }
        archive.finish()
    }
}

/// Numbers by columns, as they are in memory.
fn matrix_array(matrix: &DMatrix<f64>) -> Vec<u8> {
    let bytes: Vec<u8> = matrix
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let shape = format!("({}, {})", matrix.nrows(), matrix.ncols());
    array("<f8", &shape, true, &bytes)
}

/// Texts, each as long as the longest, in four bytes a character.
fn text_array(texts: &[String]) -> Vec<u8> {
    let length = texts.iter().map(|text| text.chars().count());
    let longest = length.max().unwrap_or(0).max(1);
    let mut bytes = Vec::new();
    for text in texts {
        let characters = text.chars().map(u32::from);
        let filled = characters.chain(std::iter::repeat(0)).take(longest);
        bytes.extend(filled.flat_map(u32::to_le_bytes));
    }
    array(
        &format!("<U{longest}"),
        &format!("({},)", texts.len()),
        false,
        &bytes,
    )
}

/// A file `.npy` of version 1.
fn array(kind: &str, shape: &str, by_columns: bool, data: &[u8]) -> Vec<u8> {
    const ALIGNMENT: usize = 64;
    let order = if by_columns { "True" } else { "False" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    // Magic word, version, length of the header; the header ends with a line break.
    let before = 10;
    let filled = (before + header.len() + 1).next_multiple_of(ALIGNMENT);
    header += &" ".repeat(filled - before - header.len() - 1);
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a short header");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// A ZIP archive of files without compression.
#[derive(Default)]
struct Archive {
    files: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

/// The version of the format that is needed to read it: 2.0.
const VERSION: u16 = 20;

impl Archive {
    fn add(&mut self, name: &str, contents: &[u8]) {
        let name = format!("{name}.npy");
        let start = u32::try_from(self.files.len()).expect("less than 4 GB");
        let size = u32::try_from(contents.len()).expect("less than 4 GB");
        let mut common = Vec::new();
        common.extend(VERSION.to_le_bytes());
        // No flags, no compression, midnight of the first of January 1980.
        common.extend([0, 0, 0, 0, 0, 0, 0x21, 0]);
        common.extend(checksum(contents).to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        self.files.extend(b"PK\x03\x04");
        self.files.extend(&common);
        self.files.extend(name.as_bytes());
        self.files.extend(contents);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(&common);
        // No comment, first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(start.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let (start, size) = (self.files.len() as u32, self.directory.len() as u32);
        self.files.append(&mut self.directory);
        self.files.extend(b"PK\x05\x06\0\0\0\0");
        self.files.extend(self.count.to_le_bytes());
        self.files.extend(self.count.to_le_bytes());
        self.files.extend(size.to_le_bytes());
        self.files.extend(start.to_le_bytes());
        self.files.extend([0, 0]);
        self.files
    }
}

/// CRC-32 of the ISO 3309 polynomial, as ZIP wants it.
fn checksum(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            let carried = if crc & 1 == 1 { POLYNOMIAL } else { 0 };
            (crc >> 1) ^ carried
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that the standard gives for the digits one to nine.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn headers_of_arrays_are_aligned() {
        let file = array("<f8", "(2, 3)", true, &[0; 48]);
        assert_eq!(&file[..6], b"\x93NUMPY");
        assert_eq!((file.len() - 48) % 64, 0);
        assert_eq!(file[file.len() - 49], b'\n');
    }
}
