//! Regions of a map in which a scheme is unstable, and why it is so in each.

use std::cmp::Reverse;
use std::collections::VecDeque;

use serde::Serialize;

/// Regions that are explained at most: the largest ones.
const MOST: usize = 6;

/// Points of a map that hang together and are unstable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// How many points it has.
    pub points: usize,
    /// The parameter to the right at the point that is farthest from its border.
    pub x: f64,
    /// The parameter upwards there.
    pub y: f64,
    /// What grows there.
    pub cause: Option<Cause>,
}

/// Why a model is unstable at a point: the mode that grows fastest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// Its frequency in hertz.
    pub frequency: f64,
    /// Its growth in 1/s.
    pub growth: f64,
    /// The interface at which the exchange feeds it.
    pub interface: Option<String>,
    /// Whether the model has it without the coupling.
    pub own: bool,
}

impl Region {
    /// What it is called in a legend.
    pub fn label(&self) -> String {
        let Some(cause) = &self.cause else {
            return "unstable, not analysed further".into();
        };
        let place = match (&cause.interface, cause.own) {
            (_, true) => "the model's own".to_owned(),
            (Some(interface), false) => format!("at {interface}"),
            (None, false) => "of the coupling".to_owned(),
        };
        format!("unstable: {:.4} Hz, {place}", cause.frequency)
    }
}

/// The largest regions of a grid with so many columns, each by its size and the place of its point that is farthest from
/// its border.
pub(super) fn regions(columns: usize, is_unstable: &[bool]) -> Vec<(usize, usize)> {
    let depths = depths(columns, is_unstable);
    let mut seen = vec![false; is_unstable.len()];
    let mut found = Vec::new();
    for start in 0..is_unstable.len() {
        if seen[start] || !is_unstable[start] {
            continue;
        }
        seen[start] = true;
        let (mut waiting, mut points, mut deepest) = (vec![start], 0, start);
        while let Some(place) = waiting.pop() {
            points += 1;
            let rank = |place: usize| (depths[place], Reverse(place));
            if rank(place) > rank(deepest) {
                deepest = place;
            }
            for beside in neighbours(columns, is_unstable.len(), place) {
                if is_unstable[beside] && !seen[beside] {
                    seen[beside] = true;
                    waiting.push(beside);
                }
            }
        }
        found.push((points, deepest));
    }
    found.sort_by_key(|&(points, place)| (Reverse(points), place));
    found.truncate(MOST);
    found
}

/// How many points it is from each unstable one to a stable one. The edge of the map is no border.
fn depths(columns: usize, is_unstable: &[bool]) -> Vec<usize> {
    let mut depths = vec![usize::MAX; is_unstable.len()];
    let mut waiting = VecDeque::new();
    for (place, &is_unstable) in is_unstable.iter().enumerate() {
        if !is_unstable {
            depths[place] = 0;
            waiting.push_back(place);
        }
    }
    while let Some(place) = waiting.pop_front() {
        for beside in neighbours(columns, is_unstable.len(), place) {
            if depths[beside] == usize::MAX {
                depths[beside] = depths[place] + 1;
                waiting.push_back(beside);
            }
        }
    }
    depths
}

fn neighbours(columns: usize, points: usize, place: usize) -> impl Iterator<Item = usize> {
    let column = place % columns;
    let left = (column > 0).then(|| place - 1);
    let right = (column + 1 < columns).then_some(place + 1);
    let below = place.checked_sub(columns);
    let above = Some(place + columns).filter(|above| *above < points);
    [left, right, below, above].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_found_with_their_middles() {
        let rows = [
            "#####..#.", //
            "#####....", //
            "#####..##", //
            "#####..##", //
            "#####..##", //
        ];
        let grid: Vec<bool> = rows.concat().chars().map(|c| c == '#').collect();
        let found = regions(9, &grid);
        // The edge is no border: the first region is deepest at the left edge.
        assert_eq!(found, [(25, 0), (6, 8 + 3 * 9), (1, 7)]);
        assert!(regions(3, &[false; 9]).is_empty());
        assert_eq!(regions(3, &[true; 9]), [(9, 0)]);
    }
}
