//! Which signals of results are more than constants.

use std::collections::HashMap;

use crate::reader::Table;

/// Components of motions that follow from others: rates, accelerations, and orientations as quaternions.
const DERIVED: [&str; 18] = [
    "v", "a", "q0", "q1", "q2", "q3", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "alx",
    "aly", "alz",
];
/// A change that is less than this fraction of the signal is none.
const CONSTANT: f64 = 1e-9;
/// The same for the largest of the components of its port.
const ROUNDING: f64 = 1e-12;

/// Whether a signal follows from others of its port.
pub fn is_derived(name: &str) -> bool {
    let component = name.rsplit('.').next().unwrap_or_default();
    DERIVED.contains(&component)
}

/// What is needed to tell constants from signals that change. Each column is looked at once: results of particles
/// have a hundred thousand.
pub struct Changing<'t> {
    tables: Vec<(&'t Table, HashMap<&'t str, f64>)>,
}

impl<'t> Changing<'t> {
    /// Looks at all columns.
    pub fn new(tables: &'t [Table]) -> Self {
        let tables = tables.iter().map(|table| (table, sizes(table)));
        Self {
            tables: tables.collect(),
        }
    }

    /// Whether a signal is more than a constant anywhere, rounding apart: that of its own values, and that of
    /// the other components of its port, such as of a force beside which there is no moment.
    pub fn is(&self, name: &str) -> bool {
        self.tables.iter().any(|(table, sizes)| {
            let Some(values) = table.column(name) else {
                return false;
            };
            let [low, high] = range(values);
            let (span, size) = (high - low, low.abs().max(high.abs()));
            let largest = port_of(name).and_then(|port| sizes.get(port));
            span > CONSTANT * size && span > ROUNDING * largest.copied().unwrap_or(0.0)
        })
    }
}

/// The largest value of each port, derived components left out.
fn sizes(table: &Table) -> HashMap<&str, f64> {
    let mut sizes: HashMap<&str, f64> = HashMap::new();
    for (place, name) in table.names().enumerate() {
        if let Some(port) = port_of(name).filter(|_| !is_derived(name)) {
            let [low, high] = range(table.at(place));
            let size = sizes.entry(port).or_default();
            *size = size.max(low.abs()).max(high.abs());
        }
    }
    sizes
}

fn port_of(name: &str) -> Option<&str> {
    Some(name.rsplit_once('.')?.0)
}

fn range(values: &[f64]) -> [f64; 2] {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}
