//! Dots in Braille characters: two beside each other and four above each other in each.

use std::fmt;

/// The first Braille character; the others follow by the bits of their dots.
const BLANK: u32 = 0x2800;
/// Bits of the dots, line after line.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

pub(super) struct Raster {
    columns: usize,
    cells: Vec<u8>,
}

impl Raster {
    pub fn new(columns: usize, lines: usize) -> Self {
        Self {
            columns,
            cells: vec![0; columns * lines],
        }
    }

    fn dot(&mut self, x: f64, y: f64) {
        let (wide, tall) = (2 * self.columns, 4 * (self.cells.len() / self.columns));
        if x >= 0.0 && y >= 0.0 && x < wide as f64 && y < tall as f64 {
            let (x, y) = (x as usize, y as usize);
            self.cells[y / 4 * self.columns + x / 2] |= BITS[y % 4][x % 2];
        }
    }

    /// From one place to another; what is outside is left out.
    pub fn line(&mut self, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) {
        if !(x0 + y0 + x1 + y1).is_finite() {
            return;
        }
        let far = 4.0 * (self.cells.len() + self.columns) as f64;
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).min(far).ceil();
        for i in 0..=steps as usize {
            let part = i as f64 / steps.max(1.0);
            self.dot(x0 + part * (x1 - x0), y0 + part * (y1 - y0));
        }
    }
}

impl fmt::Display for Raster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.cells.chunks(self.columns) {
            let letter = |&bits: &u8| match bits {
                0 => ' ',
                bits => char::from_u32(BLANK + u32::from(bits)).unwrap_or(' '),
            };
            let line: String = line.iter().map(letter).collect();
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
