//! Closed centre lines: a curve of continuous curvature through points, and how far along and beside it
//! a place is.

use super::LineProblem;

/// A closed curve through points, cubic between them, with continuous second derivatives.
#[derive(Clone, Debug)]
struct ClosedSpline {
    /// The parameter at each point, and at the first one again.
    knots: Vec<f64>,
    points: Vec<[f64; 3]>,
    /// Second derivatives at the points.
    bends: Vec<[f64; 3]>,
}

/// Sweeps by which the second derivatives are found: each makes the error at least three times smaller.
const SWEEPS: usize = 40;

impl ClosedSpline {
    fn through(knots: Vec<f64>, points: Vec<[f64; 3]>) -> Self {
        let count = points.len();
        let span = |i: usize| knots[i + 1] - knots[i];
        let mut bends = vec![[0.0; 3]; count];
        for _ in 0..SWEEPS {
            for i in 0..count {
                let (before, after) = ((i + count - 1) % count, (i + 1) % count);
                let (shorter, longer) = (span(before), span(i));
                for k in 0..3 {
                    let kink = (points[after][k] - points[i][k]) / longer
                        - (points[i][k] - points[before][k]) / shorter;
                    let known = shorter * bends[before][k] + longer * bends[after][k];
                    bends[i][k] = (6.0 * kink - known) / (2.0 * (shorter + longer));
                }
            }
        }
        Self {
            knots,
            points,
            bends,
        }
    }

    /// Place, first and second derivative at a part of a segment.
    fn at(&self, segment: usize, part: f64) -> [[f64; 3]; 3] {
        let next = (segment + 1) % self.points.len();
        let span = self.knots[segment + 1] - self.knots[segment];
        let (a, b) = (1.0 - part, part);
        std::array::from_fn(|order| {
            std::array::from_fn(|k| {
                let [p, q] = [self.points[segment][k], self.points[next][k]];
                let [m, n] = [self.bends[segment][k], self.bends[next][k]];
                match order {
                    0 => {
                        let cubic = (a * a * a - a) * m + (b * b * b - b) * n;
                        a * p + b * q + span * span / 6.0 * cubic
                    }
                    1 => {
                        let cubic = (3.0 * b * b - 1.0) * n - (3.0 * a * a - 1.0) * m;
                        (q - p) / span + span / 6.0 * cubic
                    }
                    _ => a * m + b * n,
                }
            })
        })
    }
}

/// A closed line whose parameter is the distance along it in plan.
#[derive(Clone, Debug)]
pub struct CentreLine {
    spline: ClosedSpline,
    length: f64,
    spacing: f64,
    /// How far to both sides a place knows where it is beside the line.
    reach: f64,
    cells: Cells,
}

/// Where a place is beside a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// Distance along the line to the nearest point of it, in m.
    pub along: f64,
    /// How far to the left of it, in m.
    pub left: f64,
    /// Height of the line there, and how it climbs over the distance.
    pub height: [f64; 2],
    /// How the distance along changes with x and y.
    pub along_by: [f64; 2],
    /// How the distance to the left changes with x and y.
    pub left_by: [f64; 2],
}

/// Distance of the points by which a line is found again, in m.
const SPACING: f64 = 0.5;
/// Parts of a segment by which its length is found.
const PARTS: usize = 16;
/// Side of a cell in m.
const CELL: f64 = 2.0;
/// Newton steps to the nearest point: from a quarter of a metre two are enough.
const STEPS: usize = 5;
/// A step of less than this is rounding, in m.
const ROUNDING: f64 = 1e-12;
/// Longest line in m.
const LONGEST: f64 = 20e3;
/// A gap at the end that is so many times the largest other one is no way to close a line.
const GAP: f64 = 4.0;

impl CentreLine {
    /// The closed curve through points, along which places up to `reach` beside it are found.
    pub fn through(given: &[[f64; 3]], reach: f64) -> Result<Self, LineProblem> {
        let mut points = given.to_vec();
        if points.len() > 1 && plan(points[0], points[points.len() - 1]) == 0.0 {
            points.pop();
        }
        if points.len() < 6 {
            return Err(LineProblem::Few(points.len()));
        }
        let count = points.len();
        let mut knots = vec![0.0];
        let mut widest = 0.0_f64;
        for i in 0..count {
            let distance = plan(points[i], points[(i + 1) % count]);
            if distance == 0.0 {
                return Err(LineProblem::Twice(points[i]));
            }
            if i + 1 == count && distance > GAP * widest {
                return Err(LineProblem::Open(distance));
            }
            widest = widest.max(distance);
            knots.push(knots[i] + distance);
        }
        if knots[count] > LONGEST {
            return Err(LineProblem::Long(knots[count]));
        }
        let curve = ClosedSpline::through(knots, points);
        let (points, length) = evenly(&curve);
        let spacing = length / points.len() as f64;
        let knots = (0..=points.len()).map(|i| i as f64 * spacing).collect();
        let spline = ClosedSpline::through(knots, points);
        let line = Self {
            cells: Cells::around(&spline.points, reach + spacing),
            spline,
            length,
            spacing,
            reach,
        };
        line.check()?;
        Ok(line)
    }

    /// Its length in plan, in m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The point at a distance along it, the direction in which it goes on, and its curvature in plan, positive
    /// to the left.
    pub fn at(&self, along: f64) -> ([f64; 3], [f64; 2], f64) {
        let (segment, part) = self.segment(along);
        let [point, rate, bend] = self.spline.at(segment, part);
        let speed = rate[0].hypot(rate[1]);
        let curvature = (rate[0] * bend[1] - rate[1] * bend[0]) / speed.powi(3);
        (point, [rate[0] / speed, rate[1] / speed], curvature)
    }

    fn segment(&self, along: f64) -> (usize, f64) {
        let relative = along.rem_euclid(self.length) / self.spacing;
        let segment = (relative.floor() as usize).min(self.spline.points.len() - 1);
        (segment, relative - segment as f64)
    }

    /// Where a place is beside the line; nothing of one that is farther away than the reach.
    pub fn beside(&self, x: f64, y: f64) -> Option<Beside> {
        let candidates = self.cells.near(x, y);
        let distance = |&i: &u32| {
            let [px, py, _] = self.spline.points[i as usize];
            (x - px) * (x - px) + (y - py) * (y - py)
        };
        let nearest = candidates
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let first = f64::from(*nearest) * self.spacing;
        let mut along = first;
        for _ in 0..STEPS {
            let (segment, part) = self.segment(along);
            let [point, rate, bend] = self.spline.at(segment, part);
            let away = [x - point[0], y - point[1]];
            let gap = away[0] * rate[0] + away[1] * rate[1];
            let slope = square(rate) - away[0] * bend[0] - away[1] * bend[1];
            if slope <= 0.0 {
                return None;
            }
            let before = along;
            along = (along + gap / slope).clamp(first - self.spacing, first + self.spacing);
            if (along - before).abs() < ROUNDING {
                break;
            }
        }
        let (segment, part) = self.segment(along);
        let [point, rate, bend] = self.spline.at(segment, part);
        let away = [x - point[0], y - point[1]];
        let speed = square(rate).sqrt();
        let left = (rate[0] * away[1] - rate[1] * away[0]) / speed;
        let slope = square(rate) - away[0] * bend[0] - away[1] * bend[1];
        (left.abs() <= self.reach && slope > 0.0).then(|| Beside {
            along: along.rem_euclid(self.length),
            left,
            height: [point[2], rate[2]],
            along_by: [rate[0] / slope, rate[1] / slope],
            left_by: [-rate[1] / speed, rate[0] / speed],
        })
    }

    /// Whether every place within reach has one nearest point.
    fn check(&self) -> Result<(), LineProblem> {
        let points = &self.spline.points;
        for i in 0..points.len() {
            let (point, _, curvature) = self.at(i as f64 * self.spacing);
            if curvature.abs() * self.reach >= 1.0 {
                return Err(LineProblem::Tight {
                    place: [point[0], point[1]],
                    radius: 1.0 / curvature.abs(),
                    reach: self.reach,
                });
            }
        }
        // Every fourth point: two metres are little beside what is between two stretches.
        let chosen: Vec<usize> = (0..points.len()).step_by(4).collect();
        let close = 2.0 * self.reach;
        let apart = |i: usize, j: usize| {
            let between = (j - i) as f64 * self.spacing;
            between.min(self.length - between)
        };
        for (place, &i) in chosen.iter().enumerate() {
            for &j in &chosen[place + 1..] {
                // Half a circle of the smallest radius that is allowed.
                let is_elsewhere = apart(i, j) > std::f64::consts::PI * self.reach;
                if is_elsewhere && plan(points[i], points[j]) < close {
                    return Err(LineProblem::Near {
                        places: [i, j].map(|i| [points[i][0], points[i][1]]),
                        reach: self.reach,
                    });
                }
            }
        }
        Ok(())
    }

    /// Points of the line at equal distances, about so far apart.
    pub fn evenly(&self, spacing: f64) -> impl Iterator<Item = f64> + use<> {
        let count = (self.length / spacing).round().max(1.0) as usize;
        let spacing = self.length / count as f64;
        (0..count).map(move |i| i as f64 * spacing)
    }
}

fn square(rate: [f64; 3]) -> f64 {
    rate[0] * rate[0] + rate[1] * rate[1]
}

/// Distance in plan.
fn plan(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Points at equal distances along a curve, and its length in plan.
fn evenly(curve: &ClosedSpline) -> (Vec<[f64; 3]>, f64) {
    // Distance at the ends of all parts of all segments, by Simpson's rule.
    let segments = curve.points.len();
    let mut distances = vec![0.0];
    for segment in 0..segments {
        let span = (curve.knots[segment + 1] - curve.knots[segment]) / PARTS as f64;
        let speed = |part: f64| square(curve.at(segment, part)[1]).sqrt();
        for part in 0..PARTS {
            let at = |more: f64| speed((part as f64 + more) / PARTS as f64);
            let mean = (at(0.0) + 4.0 * at(0.5) + at(1.0)) / 6.0;
            distances.push(distances[distances.len() - 1] + span * mean);
        }
    }
    let length = distances[distances.len() - 1];
    let count = (length / SPACING).round().max(8.0) as usize;
    let points = (0..count).map(|i| {
        let wanted = length * i as f64 / count as f64;
        let part = distances.partition_point(|known| *known <= wanted) - 1;
        let part = part.min(segments * PARTS - 1);
        let within = (wanted - distances[part]) / (distances[part + 1] - distances[part]);
        let place = ((part % PARTS) as f64 + within) / PARTS as f64;
        curve.at(part / PARTS, place)[0]
    });
    (points.collect(), length)
}

/// Squares of the plane, each with the points that are near.
#[derive(Clone, Debug)]
struct Cells {
    origin: [f64; 2],
    counts: [usize; 2],
    /// Where the points of each cell begin, and where those of the last one end.
    starts: Vec<u32>,
    points: Vec<u32>,
}

impl Cells {
    fn around(points: &[[f64; 3]], reach: f64) -> Self {
        let ends = |axis: usize| {
            let values = points.iter().map(|point| point[axis]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let ends = [ends(0), ends(1)];
        let origin = ends.map(|(low, _)| low - reach);
        let counts = ends.map(|(low, high)| ((high - low + 2.0 * reach) / CELL).ceil() as usize);
        let mut cells = vec![Vec::new(); counts[0] * counts[1]];
        // From the middle of a cell to its corner.
        let far = reach + CELL * std::f64::consts::FRAC_1_SQRT_2;
        for (i, point) in points.iter().enumerate() {
            let range = |axis: usize| {
                let at = |place: f64| ((place - origin[axis]) / CELL).floor().max(0.0) as usize;
                at(point[axis] - far)..=at(point[axis] + far).min(counts[axis] - 1)
            };
            for row in range(1) {
                for column in range(0) {
                    let middle = [column, row].map(|i| (i as f64 + 0.5) * CELL);
                    let away = [0, 1].map(|axis| origin[axis] + middle[axis] - point[axis]);
                    if away[0].hypot(away[1]) <= far {
                        cells[row * counts[0] + column].push(i as u32);
                    }
                }
            }
        }
        // What is nearest to any place of a cell is not much farther from its middle than what is nearest to that.
        for (i, cell) in cells.iter_mut().enumerate() {
            let [column, row] = [i % counts[0], i / counts[0]];
            let middle = [column, row].map(|i| (i as f64 + 0.5) * CELL);
            let distance = |i: u32| {
                let point = points[i as usize];
                let away = [0, 1].map(|axis| origin[axis] + middle[axis] - point[axis]);
                away[0].hypot(away[1])
            };
            let least = cell
                .iter()
                .map(|&i| distance(i))
                .fold(f64::INFINITY, f64::min);
            cell.retain(|&i| distance(i) <= least + CELL * std::f64::consts::SQRT_2);
        }
        let mut starts = vec![0];
        for cell in &cells {
            starts.push(starts[starts.len() - 1] + cell.len() as u32);
        }
        Self {
            origin,
            counts,
            starts,
            points: cells.concat(),
        }
    }

    fn near(&self, x: f64, y: f64) -> &[u32] {
        let cell = [x - self.origin[0], y - self.origin[1]].map(|place| (place / CELL).floor());
        let is_inside = |axis: usize| cell[axis] >= 0.0 && cell[axis] < self.counts[axis] as f64;
        if !(is_inside(0) && is_inside(1)) {
            return &[];
        }
        let cell = cell[1] as usize * self.counts[0] + cell[0] as usize;
        &self.points[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}
