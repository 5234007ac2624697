//! Plain tables for the terminal: text to the left, numbers to the right.

pub use oldham_results::number;

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

    /// A table with as many columns as its header.
    pub fn of(header: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        assert!(rows.iter().all(|row| row.len() == header.len()));
        Self { header, rows }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.header.len());
        self.rows.push(cells.to_vec());
    }

    /// The first column, and every other with a cell that does not start as numbers do.
    fn is_text(&self, column: usize) -> bool {
        let starts_as_number = |cell: &str| {
            let number = |c: char| c.is_ascii_digit() || "-+<>±".contains(c);
            cell.is_empty() || cell.starts_with(number) || matches!(cell, "NaN" | "inf")
        };
        let mut cells = self.rows.iter().map(|row| &row[column]);
        column == 0 || cells.any(|cell| !starts_as_number(cell))
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
        let is_text: Vec<_> = (0..widths.len())
            .map(|column| self.is_text(column))
            .collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).enumerate();
            let cells = padded.map(|(column, (cell, &width))| {
                let space = " ".repeat(width - cell.chars().count());
                if is_text[column] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_left_and_numbers_right() {
        let mut table = Table::new(["name", "value", "note"]);
        table.row(["a".into(), "1.5".into(), "10 s simulated".into()]);
        table.row(["long".into(), "-20".into(), "as printed".into()]);
        let lines: Vec<String> = table.to_string().lines().map(Into::into).collect();
        assert_eq!(lines[0], "  name  value  note");
        assert_eq!(lines[2], "  a       1.5  10 s simulated");
        assert_eq!(lines[3], "  long    -20  as printed");
    }
}
