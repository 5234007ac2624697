//! A height field: heights over a grid.

use oldham_space::Vec3;

/// Why heights are no ground.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// Too few rows or columns, or a row that is longer than the first.
    #[error("heights need at least two rows of the same length, of two numbers or more")]
    Grid,
    /// A spacing or a height out of range.
    #[error("the spacing of the grid must be positive, and all heights finite")]
    Number,
}

/// Heights at the points of a grid, in the middle of which is the origin. Each cell is two triangles; what is below is solid.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// Row by row: the first axis runs within a row, the second from row to row.
    heights: Vec<f64>,
    counts: [usize; 2],
    spacing: [f64; 2],
    lowest: f64,
    highest: f64,
}

/// A triangle of the ground, counterclockwise as seen from above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub corners: [Vec3; 3],
    pub number: u32,
}

/// An edge of the ground from which it falls away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ridge {
    pub ends: [Vec3; 2],
    /// Of the triangles on both sides, upward; horizontal where the ground ends.
    pub normals: [Vec3; 2],
    pub number: u32,
}

/// The normals of the triangles to the left and to the right of an edge, given by what is opposite, if the ground falls away from it.
fn ridge([start, end]: [Vec3; 2], opposite: [Option<Vec3>; 2]) -> Option<[Vec3; 2]> {
    let along = end - start;
    let [left, right] = opposite;
    let falls = match (left, right) {
        (Some(left), Some(right)) => {
            let normal = along.cross(left - start).unit();
            normal.dot(right - start) < -1e-9 * along.norm()
        }
        _ => true,
    };
    let border = along.cross(Vec3::Z).unit();
    falls.then(|| {
        [
            left.map_or(-border, |left| along.cross(left - start).unit()),
            right.map_or(border, |right| (right - start).cross(along).unit()),
        ]
    })
}

impl HeightField {
    /// A height field: heights over a grid with these distances along the first and the second axis.
    pub fn new(rows: &[Vec<f64>], spacing: [f64; 2]) -> Result<Self, FieldError> {
        let width = rows.first().map_or(0, Vec::len);
        if rows.len() < 2 || width < 2 || rows.iter().any(|row| row.len() != width) {
            return Err(FieldError::Grid);
        }
        let heights: Vec<f64> = rows.iter().flatten().copied().collect();
        let is_length = |s: f64| s > 0.0 && s.is_finite();
        if !spacing.into_iter().all(is_length) || heights.iter().any(|z| !z.is_finite()) {
            return Err(FieldError::Number);
        }
        Ok(Self {
            lowest: heights.iter().copied().fold(f64::INFINITY, f64::min),
            highest: heights.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            heights,
            counts: [width, rows.len()],
            spacing,
        })
    }

    /// Points along the first and the second axis.
    pub fn counts(&self) -> [usize; 2] {
        self.counts
    }

    /// A point of the grid.
    pub fn point(&self, i: usize, j: usize) -> Vec3 {
        let along = |k: usize, axis: usize| {
            (k as f64 - 0.5 * (self.counts[axis] - 1) as f64) * self.spacing[axis]
        };
        Vec3::new(
            along(i, 0),
            along(j, 1),
            self.heights[j * self.counts[0] + i],
        )
    }

    /// Half the length of the shorter side.
    pub(crate) fn size(&self) -> f64 {
        0.5 * self.spacing[0].min(self.spacing[1])
    }

    /// A lower bound of the distance of a point that is above all heights; zero for others.
    pub(crate) fn clearance(&self, at: Vec3) -> f64 {
        (at[2] - self.highest).max(0.0)
    }

    /// The indices of the grid's cells within a distance of a point along one axis.
    fn cells(&self, at: f64, within: f64, axis: usize) -> std::ops::Range<usize> {
        let cells = self.counts[axis] - 1;
        let place = |x: f64| x / self.spacing[axis] + 0.5 * cells as f64;
        let low = place(at - within).floor().clamp(0.0, cells as f64);
        let high = (place(at + within).floor() + 1.0).clamp(0.0, cells as f64);
        low as usize..high as usize
    }

    /// Calls `take` with every triangle of the cells within a horizontal distance of a point.
    pub(crate) fn triangles(&self, at: Vec3, within: f64, mut take: impl FnMut(Triangle)) {
        if at[2] - within > self.highest {
            return;
        }
        for j in self.cells(at[1], within, 1) {
            for i in self.cells(at[0], within, 0) {
                let [a, b, c, d] =
                    [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.point(i, j));
                let number = 2 * (j * (self.counts[0] - 1) + i) as u32;
                take(Triangle {
                    corners: [a, b, c],
                    number,
                });
                take(Triangle {
                    corners: [a, c, d],
                    number: number + 1,
                });
            }
        }
    }

    /// Whether the ground falls away from a grid point on both sides along some line of the grid, or ends there.
    fn is_crest(&self, i: usize, j: usize) -> bool {
        let [width, depth] = self.counts;
        let height = |i: usize, j: usize| self.heights[j * width + i];
        if i == 0 || j == 0 || i + 1 == width || j + 1 == depth {
            return true;
        }
        let here = height(i, j);
        let flat = 1e-9 * self.size();
        [
            (height(i - 1, j), height(i + 1, j)),
            (height(i, j - 1), height(i, j + 1)),
            (height(i - 1, j - 1), height(i + 1, j + 1)),
            (height(i - 1, j + 1), height(i + 1, j - 1)),
        ]
        .into_iter()
        .any(|(one, other)| here > 0.5 * (one + other) + flat)
    }

    /// Calls `take` with the crests among the grid points within a horizontal distance of a point, and their numbers.
    pub(crate) fn crests(&self, at: Vec3, within: f64, mut take: impl FnMut(u32, Vec3)) {
        if at[2] - within > self.highest || at[2] + within < self.lowest {
            return;
        }
        let ranges = [0, 1].map(|axis| {
            let cells = self.cells(at[axis], within, axis);
            cells.start..(cells.end + 1).min(self.counts[axis])
        });
        for j in ranges[1].clone() {
            for i in ranges[0].clone() {
                let point = self.point(i, j);
                let [dx, dy] = [0, 1].map(|k: usize| (point[k] - at[k]).abs());
                if dx <= within && dy <= within && self.is_crest(i, j) {
                    take((j * self.counts[0] + i) as u32, point);
                }
            }
        }
    }

    /// Calls `take` with the ridges within a horizontal distance of a point: edges from which the ground falls away on both sides, or where it ends.
    pub(crate) fn ridges(&self, at: Vec3, within: f64, mut take: impl FnMut(Ridge)) {
        if at[2] - within > self.highest || at[2] + within < self.lowest {
            return;
        }
        let [width, depth] = self.counts;
        let ranges = [0, 1].map(|axis| {
            let cells = self.cells(at[axis], within, axis);
            cells.start..(cells.end + 1).min(self.counts[axis])
        });
        for j in ranges[1].clone() {
            for i in ranges[0].clone() {
                let point = |right: isize, up: isize| {
                    let (i, j) = (i.checked_add_signed(right)?, j.checked_add_signed(up)?);
                    (i < width && j < depth).then(|| self.point(i, j))
                };
                // To the right, upwards, and the diagonal: the far end, and what is opposite in the triangles on both sides.
                let edges = [
                    (point(1, 0), [point(1, 1), point(0, -1)]),
                    (point(0, 1), [point(-1, 0), point(1, 1)]),
                    (point(1, 1), [point(0, 1), point(1, 0)]),
                ];
                for (kind, (end, opposite)) in edges.into_iter().enumerate() {
                    let ends = end.map(|end| [self.point(i, j), end]);
                    if let Some(normals) = ends.and_then(|ends| ridge(ends, opposite)) {
                        take(Ridge {
                            ends: ends.expect("it has normals"),
                            normals,
                            number: (3 * (j * width + i) + kind) as u32,
                        });
                    }
                }
            }
        }
    }

    /// The triangle under or over a point; nothing beside the grid.
    pub(crate) fn under(&self, at: Vec3) -> Option<Triangle> {
        let mut found = None;
        self.triangles(
            Vec3::new(at[0], at[1], f64::NEG_INFINITY),
            0.0,
            |triangle| {
                if found.is_none() && triangle.holds(at) {
                    found = Some(triangle);
                }
            },
        );
        found
    }
}

impl Triangle {
    /// Upward.
    pub fn normal(&self) -> Vec3 {
        let [a, b, c] = self.corners;
        (b - a).cross(c - a).unit()
    }

    /// Whether a point is over or under it.
    fn holds(&self, at: Vec3) -> bool {
        let flat = |v: Vec3| Vec3::new(v[0], v[1], 0.0);
        let left = |i: usize| {
            let (from, to) = (self.corners[i], self.corners[(i + 1) % 3]);
            flat(to - from).cross(flat(at - from))[2]
        };
        (0..3).all(|i| left(i) >= 0.0)
    }

    /// The nearest of its points.
    pub fn nearest(&self, at: Vec3) -> Vec3 {
        let normal = self.normal();
        let [a, b, c] = self.corners;
        let height = normal.dot(at - a);
        let foot = at - normal * height;
        let mut best = (f64::INFINITY, foot);
        let mut is_within = true;
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let along = to - from;
            if normal.cross(along).dot(foot - from) < 0.0 {
                is_within = false;
            }
            let t = ((at - from).dot(along) / along.dot(along)).clamp(0.0, 1.0);
            let point = from + along * t;
            let square = (at - point).dot(at - point);
            if square < best.0 {
                best = (square, point);
            }
        }
        if is_within { foot } else { best.1 }
    }
}
