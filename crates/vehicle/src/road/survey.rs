//! Roads from files: a height grid as comma-separated values.
//!
//! ```text
//! # x, y, z in m
//! 0.0, -1.0, 0.002
//! 0.0,  1.0, 0.004
//! 0.5, -1.0, 0.001
//! 0.5,  1.0, 0.003
//! ```
//!
//! The points may stand in any order, but must fill a rectangular grid of equal distances.

use super::grid::HeightGrid;
use std::collections::BTreeMap;
use std::fmt;

/// Something in a road file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadProblem {
    /// The line, if it is about one; the first is 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for RoadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.what, self.help)
    }
}

/// Relative differences of distances up to this are rounding.
const ROUNDING: f64 = 1e-3;
/// So many missing points are named.
const NAMED: usize = 3;

impl HeightGrid {
    /// Reads comma-separated x, y and z in m; all problems are told at once.
    pub fn parse(text: &str) -> Result<Self, Vec<RoadProblem>> {
        let mut problems = Vec::new();
        let mut points = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let content = line.split('#').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            match numbers(content) {
                Some(point) => points.push((point, line_number)),
                // A heading may stand above the first point.
                None if points.is_empty() && !content.contains(|c: char| c.is_ascii_digit()) => {}
                None => problems.push(RoadProblem {
                    line: Some(line_number),
                    what: format!("`{content}` is not x, y and z"),
                    help: "write three numbers in m with commas between them".to_owned(),
                }),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        filled(&points)
    }
}

fn numbers(content: &str) -> Option<[f64; 3]> {
    let mut fields = content
        .split([',', ';'])
        .map(|field| field.trim().parse::<f64>());
    let mut next = || fields.next()?.ok().filter(|number| number.is_finite());
    let point = [next()?, next()?, next()?];
    fields.next().is_none().then_some(point)
}

/// The grid of the points, if they fill one.
fn filled(points: &[([f64; 3], usize)]) -> Result<HeightGrid, Vec<RoadProblem>> {
    let mut problems = Vec::new();
    let axes = [0, 1].map(|axis| {
        let mut values: Vec<f64> = points.iter().map(|(point, _)| point[axis]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    });
    for (name, values) in ["x", "y"].into_iter().zip(&axes) {
        if values.len() < 2 {
            problems.push(RoadProblem {
                line: None,
                what: format!("a road needs at least two different values of {name}"),
                help: "give the heights on a grid".to_owned(),
            });
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let spacings = [0, 1].map(|axis| {
        let values = &axes[axis];
        (values[values.len() - 1] - values[0]) / (values.len() - 1) as f64
    });
    for (axis, name) in ["x", "y"].into_iter().enumerate() {
        let uneven = axes[axis]
            .windows(2)
            .find(|pair| ((pair[1] - pair[0]) / spacings[axis] - 1.0).abs() > ROUNDING);
        if let Some(pair) = uneven {
            problems.push(RoadProblem {
                line: None,
                what: format!(
                    "the values of {name} are not at equal distances: from {} to {} it is {}, on average {}",
                    pair[0],
                    pair[1],
                    pair[1] - pair[0],
                    spacings[axis]
                ),
                help: "fill the gap, or resample the road".to_owned(),
            });
        }
    }
    let counts = [axes[0].len(), axes[1].len()];
    let place = |axis: usize, value: f64| axes[axis].partition_point(|known| *known < value);
    let mut found: BTreeMap<[usize; 2], (f64, usize)> = BTreeMap::new();
    for &([x, y, z], line) in points {
        if let Some((_, first)) = found.insert([place(1, y), place(0, x)], (z, line)) {
            problems.push(RoadProblem {
                line: Some(line),
                what: format!("the point ({x}, {y}) is given twice, first in line {first}"),
                help: "keep one of them".to_owned(),
            });
        }
    }
    let all = (0..counts[1]).flat_map(|j| (0..counts[0]).map(move |i| [j, i]));
    let missing: Vec<[usize; 2]> = all.filter(|key| !found.contains_key(key)).collect();
    if !missing.is_empty() {
        let names = missing.iter().take(NAMED);
        let names: Vec<String> = names
            .map(|[j, i]| format!("({}, {})", axes[0][*i], axes[1][*j]))
            .collect();
        let more = if missing.len() > NAMED { ", ..." } else { "" };
        problems.push(RoadProblem {
            line: None,
            what: format!(
                "the road has {} gaps in its grid of {} × {} points: no height at {}{more}",
                missing.len(),
                counts[0],
                counts[1],
                names.join(", ")
            ),
            help: "give a height for every pair of x and y".to_owned(),
        });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let heights = found.into_values().map(|(z, _)| z).collect();
    Ok(HeightGrid::new(
        [axes[0][0], axes[1][0]],
        spacings,
        counts,
        heights,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_in_any_order() {
        let text = "x, y, z\n0.5, 1, 4\n0, -1, 1 # corner\n0, 1, 3\n0.5, -1, 2\n";
        let grid = HeightGrid::parse(text).unwrap();
        for (x, y, z) in [
            (0.0, -1.0, 1.0),
            (0.5, -1.0, 2.0),
            (0.0, 1.0, 3.0),
            (0.5, 1.0, 4.0),
        ] {
            assert_eq!(grid.at(x, y).0, z);
        }
    }

    #[test]
    fn gaps_are_named() {
        let text = "0,0,0\n1,0,0\n2,0,0\n0,1,0\n2,1,0\n";
        let problems = HeightGrid::parse(text).unwrap_err();
        assert_eq!(
            problems[0].what,
            "the road has 1 gaps in its grid of 3 × 2 points: no height at (1, 1)"
        );
        let problems = HeightGrid::parse("0,0,0\n0,zero,0\n0,0\n").unwrap_err();
        assert_eq!([problems[0].line, problems[1].line], [Some(2), Some(3)]);
        let uneven = HeightGrid::parse("0,0,0\n1,0,0\n3,0,0\n0,1,0\n1,1,0\n3,1,0\n").unwrap_err();
        assert!(
            uneven[0]
                .what
                .contains("from 0 to 1 it is 1, on average 1.5")
        );
        let twice = HeightGrid::parse("0,0,0\n1,0,0\n0,1,0\n1,1,0\n1,1,2\n").unwrap_err();
        assert_eq!(twice[0].line, Some(5));
    }
}
