//! Elements that carry loads, and which of these the same pressures have to carry.

use crate::element::Element;
use crate::network::{Network, Place};

use super::Load;

/// Less than this fraction of a row that others leave of it is rounding.
const DEPENDENT: f64 = 1e-10;
/// Loads that the same pressures carry agree to this fraction.
const AGREE: f64 = 1e-9;

/// An element that carries a load.
#[derive(Debug)]
pub(super) struct Bearer<'n> {
    pub name: &'n str,
    /// Its place among the elements.
    pub element: usize,
    /// Units of its load and of its rate.
    pub units: [&'static str; 2],
    pub ends: [Place; 2],
    /// Volumes that it takes from its ends per unit of way.
    pub growths: [f64; 2],
    /// What its pressures have to exert.
    pub force: f64,
    /// How its volumes are made of those of independent bearers, by the places of these: 1 of itself if it is one.
    pub shares: Vec<(usize, f64)>,
    is_independent: bool,
    /// The spool whose position holds it.
    pub held_by: Option<usize>,
}

impl Bearer<'_> {
    /// Oil in m³ that it moves per unit of way.
    pub fn displacement(&self) -> f64 {
        self.growths[0].abs().max(self.growths[1].abs())
    }

    /// Its place among the independent ones.
    pub fn own_place(&self) -> Option<usize> {
        self.is_independent.then(|| self.shares[0].0)
    }
}

/// The elements that carry loads, given what each of them receives; and how many of them are independent.
pub(super) fn bearers<'n>(
    network: &'n Network,
    loads: &[Load],
    input: impl Fn(usize) -> f64,
) -> Result<(Vec<Bearer<'n>>, usize), String> {
    let mut found = Vec::new();
    for load in loads {
        let named = &network.elements[load.element];
        let (ends, growths, passive, units) = match named.value {
            Element::Chambers(chambers) => {
                let cylinder = chambers.cylinder;
                let stop = cylinder.passive(input(load.element), 0.0).force;
                (chambers.ends, cylinder.growths(1.0), stop, ["N", "m/s"])
            }
            Element::Motor(motor) => {
                let d = motor.displacement;
                (motor.ends, [d, -d], 0.0, ["N.m", "rad/s"])
            }
            _ => continue,
        };
        let bearer = Bearer {
            name: &named.name,
            element: load.element,
            units,
            ends,
            growths,
            force: load.force - passive,
            shares: Vec::new(),
            is_independent: false,
            held_by: None,
        };
        can_carry(network, &bearer)?;
        found.push(bearer);
    }
    let independent = share(network, &mut found)?;
    Ok((found, independent))
}

/// Two tanks exert what they exert.
fn can_carry(network: &Network, one: &Bearer<'_>) -> Result<(), String> {
    if one.ends.iter().any(|end| matches!(end, Place::Volume(_))) {
        return Ok(());
    }
    let exerted = exerted_by_tanks(network, one);
    Err(format!(
        "`{}` lies between tanks, which push with {exerted:.4e} {}, and its load is {:.4e}: lead one of its ends to a volume",
        one.name, one.units[0], one.force
    ))
}

fn exerted_by_tanks(network: &Network, one: &Bearer<'_>) -> f64 {
    let ends = one.ends.into_iter().zip(one.growths);
    let exerted = ends.map(|(end, growth)| match end {
        Place::Tank(index) => growth * network.tanks[index].value,
        Place::Volume(_) => 0.0,
    });
    exerted.sum()
}

/// A row gᵀ of the volumes, as far as earlier ones leave something of it, with the load that they leave.
struct Row {
    entries: Vec<f64>,
    /// Of which bearers it is made.
    parts: Vec<f64>,
    load: f64,
    pivot: usize,
}

/// Finds the bearers whose volumes are made of those of others: their loads must be, too. They then move with the others.
fn share(network: &Network, bearers: &mut [Bearer<'_>]) -> Result<usize, String> {
    let mut rows: Vec<Row> = Vec::new();
    let mut places = vec![None; bearers.len()];
    for index in 0..bearers.len() {
        let mut row = Row::of(network, bearers, index);
        let size = row.size();
        let mut load_size = row.load.abs();
        for known in &rows {
            let factor = row.entries[known.pivot];
            load_size = load_size.max((factor * known.load).abs());
            row.subtract(factor, known);
        }
        if row.size() > DEPENDENT * size {
            places[index] = Some(rows.len());
            bearers[index].shares = vec![(rows.len(), 1.0)];
            bearers[index].is_independent = true;
            row.normalise();
            rows.push(row);
            continue;
        }
        if row.load.abs() > AGREE * load_size {
            return Err(contradiction(bearers, &row.parts));
        }
        // Nothing is left of it: what was taken away is what it is made of.
        let others = places.iter().zip(&row.parts).take(index);
        let shares = others.filter_map(|(place, part)| Some(((*place)?, -part)));
        bearers[index].shares = shares.filter(|(_, share)| *share != 0.0).collect();
    }
    Ok(rows.len())
}

impl Row {
    fn of(network: &Network, bearers: &[Bearer<'_>], index: usize) -> Self {
        let one = &bearers[index];
        let mut entries = vec![0.0; network.volumes.len()];
        for (end, growth) in one.ends.into_iter().zip(one.growths) {
            if let Place::Volume(volume) = end {
                entries[volume] += growth;
            }
        }
        let mut parts = vec![0.0; bearers.len()];
        parts[index] = 1.0;
        Self {
            entries,
            parts,
            load: one.force - exerted_by_tanks(network, one),
            pivot: 0,
        }
    }

    fn size(&self) -> f64 {
        let sizes = self.entries.iter().map(|entry| entry.abs());
        sizes.fold(0.0, f64::max)
    }

    /// Its largest entry becomes one.
    fn normalise(&mut self) {
        let entries = self.entries.iter().enumerate();
        let largest = entries.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (pivot, by) = largest.map_or((0, 1.0), |(pivot, by)| (pivot, *by));
        self.pivot = pivot;
        let all = self.entries.iter_mut().chain(&mut self.parts);
        all.for_each(|value| *value /= by);
        self.load /= by;
    }

    fn subtract(&mut self, factor: f64, other: &Self) {
        let [mine, others] = [&mut self.entries, &mut self.parts];
        let pairs = mine.iter_mut().zip(&other.entries);
        pairs.for_each(|(a, b)| *a -= factor * b);
        let pairs = others.iter_mut().zip(&other.parts);
        pairs.for_each(|(a, b)| *a -= factor * b);
        self.load -= factor * other.load;
    }
}

fn contradiction(bearers: &[Bearer<'_>], parts: &[f64]) -> String {
    let takes_part = bearers.iter().zip(parts).filter(|(_, part)| **part != 0.0);
    let names: Vec<String> = takes_part
        .map(|(one, _)| format!("`{}` ({:.4e} {})", one.name, one.force, one.units[0]))
        .collect();
    match names.len() {
        1 => format!(
            "both ends of {} are in one volume, and no pressure pushes there",
            names[0]
        ),
        _ => format!(
            "the same pressures have to carry the loads of {}, which do not fit each other",
            names.join(", ")
        ),
    }
}
