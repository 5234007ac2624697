//! TOML as people write it.

use oldham_space::{Mat3, Quaternion, Vec3};

/// Rows of a table.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(String, String)>);

impl Table {
    /// An entry with keys of its own.
    pub fn row(&mut self, name: &str, keys: Vec<(&'static str, String)>) {
        let keys: Vec<String> = keys
            .into_iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        self.0
            .push((name.to_owned(), format!("{{ {} }}", keys.join(", "))));
    }

    /// An entry with a value and a comment.
    pub fn value(&mut self, name: &str, value: String, comment: &str) {
        self.0
            .push((name.to_owned(), format!("{value}  # {comment}")));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_rows(&self, header: &str) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let rows: String = self
            .0
            .iter()
            .map(|(name, value)| format!("{name} = {value}\n"))
            .collect();
        format!("\n[{header}]\n{rows}")
    }

    /// Values in line with each other.
    pub fn as_values(&self, header: &str) -> String {
        self.as_rows(header)
    }
}

/// A number that reads back as the same bits.
pub(super) fn number(value: f64) -> String {
    // Minus zero is of no use to anybody.
    let text = format!("{:?}", value + 0.0);
    match text.strip_suffix(".0") {
        Some(whole) if whole.len() < 16 => whole.to_owned(),
        _ => text,
    }
}

pub(super) fn vector(vector: Vec3) -> String {
    format!("[{}]", vector.0.map(number).join(", "))
}

/// A text between quotation marks.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            c if c.is_control() => quoted += &format!("\\u{:04X}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Axes other than those of the frame: about one of these, if that is what they are, else as a quaternion.
pub(super) fn orientation(axes: &Mat3) -> Option<String> {
    if *axes == Mat3::IDENTITY {
        return None;
    }
    for (i, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
        if axes.column(i) == axis {
            let [b, c] = [(i + 1) % 3, (i + 2) % 3];
            let angle = axes.0[c][b].atan2(axes.0[b][b]);
            return Some(format!(
                "{{ axis = {}, angle = {} }}",
                vector(axis),
                number(angle)
            ));
        }
    }
    let quaternion = Quaternion::from_matrix(axes).normalised();
    let values = quaternion.0.map(number).join(", ");
    Some(format!("{{ quaternion = [{values}] }}"))
}
