//! Thins long series to what can be seen.

use std::collections::HashSet;

use super::svg::Point;

/// Points closer than this, across, lie in one column of the finished picture.
const COLUMN: f64 = 0.5;

/// Unbroken pieces of a line; `None` breaks it.
///
/// Of consecutive points in one pixel column, the first, the lowest, the highest and the last
/// stay: the picture is the same, and a line of a million points stays small.
pub(super) fn pieces(points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut run = None;
    for point in points {
        run = match (run, point) {
            (None, point) => point.map(Run::new),
            (Some(run), Some(point)) if run.takes(point) => Some(run.with(point)),
            (Some(run), point) => {
                run.end(&mut piece);
                if point.is_none() {
                    pieces.push(std::mem::take(&mut piece));
                }
                point.map(Run::new)
            }
        };
    }
    if let Some(run) = run {
        run.end(&mut piece);
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Consecutive points in one pixel column, numbered in order.
#[derive(Clone, Copy)]
struct Run {
    count: usize,
    first: Point,
    lowest: (usize, Point),
    highest: (usize, Point),
    last: Point,
}

impl Run {
    fn new(point: Point) -> Self {
        Self {
            count: 1,
            first: point,
            lowest: (0, point),
            highest: (0, point),
            last: point,
        }
    }

    fn takes(&self, point: Point) -> bool {
        column(point) == column(self.first)
    }

    fn with(mut self, point: Point) -> Self {
        let index = self.count;
        if point.1 < self.lowest.1.1 {
            self.lowest = (index, point);
        }
        if point.1 > self.highest.1.1 {
            self.highest = (index, point);
        }
        self.last = point;
        self.count += 1;
        self
    }

    fn end(self, piece: &mut Vec<Point>) {
        let mut kept = [
            (0, self.first),
            self.lowest,
            self.highest,
            (self.count - 1, self.last),
        ];
        kept.sort_by_key(|&(index, _)| index);
        let mut previous = None;
        for (index, point) in kept {
            if previous != Some(index) {
                piece.push(point);
            }
            previous = Some(index);
        }
    }
}

fn column(point: Point) -> i64 {
    (point.0 / COLUMN).floor() as i64
}

/// Markers that would lie on one another are drawn once.
pub(super) fn markers(points: impl Iterator<Item = Option<Point>>) -> Vec<Point> {
    let mut taken = HashSet::new();
    let cell = |(x, y): Point| ((x / COLUMN).round() as i64, (y / COLUMN).round() as i64);
    points
        .flatten()
        .filter(|&point| taken.insert(cell(point)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [(0.0, 1.0), (1.0, 5.0), (2.0, 3.0)];
        assert_eq!(pieces(points.iter().copied().map(Some)), [points]);
    }

    #[test]
    fn gaps_break_the_line_and_lone_points_stay() {
        let points = [
            Some((0.0, 0.0)),
            None,
            None,
            Some((5.0, 1.0)),
            Some((6.0, 1.0)),
        ];
        let expected = vec![vec![(0.0, 0.0)], vec![(5.0, 1.0), (6.0, 1.0)]];
        assert_eq!(pieces(points.into_iter()), expected);
        assert!(pieces(std::iter::empty()).is_empty());
        assert!(pieces([None, None].into_iter()).is_empty());
    }

    #[test]
    fn a_million_points_become_few_and_keep_their_envelope() {
        let count = 1_000_000;
        let point = |i: usize| {
            let share = i as f64 / count as f64;
            Some((600.0 * share, 100.0 * (4000.0 * share).sin()))
        };
        let pieces = pieces((0..count).map(point));
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() <= 4 * 1201, "{}", pieces[0].len());
        // Each pixel column holds half a period or more: the line reaches both envelopes often.
        let tops = pieces[0].iter().filter(|point| point.1 > 99.9).count();
        assert!(tops > 500, "{tops}");
        assert!(markers((0..count).map(point)).len() < 500_000);
    }

    #[test]
    fn a_spike_survives() {
        let line = (0..10_000).map(|i| (f64::from(i) * 0.01, if i == 5_003 { 9.0 } else { 0.0 }));
        let pieces = pieces(line.map(Some));
        assert!(pieces[0].contains(&(50.03, 9.0)));
    }
}
