//! Plain tables for the terminal: text to the left, numbers to the right.

/// A table with a header.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// No rows yet.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self {
            header: header.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.header.len());
        self.rows.push(cells.to_vec());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]);
            let all = cells.chain([&self.header[column]]);
            all.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).enumerate();
            let cells = padded.map(|(column, (cell, &width))| {
                let space = " ".repeat(width - cell.chars().count());
                if column == 0 {
                    format!("{cell}{space}")
                } else {
                    format!("{space}{cell}")
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        writeln!(f, "  {}", line(&self.header))?;
        let rule: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
        writeln!(f, "  {}", rule.join("  "))?;
        for row in &self.rows {
            writeln!(f, "  {}", line(row))?;
        }
        Ok(())
    }
}

/// A number with four significant digits, in the shorter of plain and scientific form.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !value.is_finite() {
        value.to_string()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(1234.56), "1235");
        assert_eq!(number(0.0123456), "0.01235");
        assert_eq!(number(1.5e-7), "1.500e-7");
        assert_eq!(number(-2.0e9), "-2.000e9");
    }
}
