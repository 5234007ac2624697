//! Tables as functions of one or two numbers.

use std::fmt;

/// What lies between the points of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Straight lines; of a map of two numbers, bilinear patches.
    #[default]
    Linear,
    /// Cubics with a continuous slope that never overshoot the points (Fritsch and Carlson).
    Cubic,
}

/// What lies beyond the ends of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// The value at the end.
    #[default]
    Hold,
    /// The straight line with the slope at the end.
    Extrapolate,
    /// Nothing: NaN, at which a run stops and says where.
    Refuse,
}

/// Why numbers make no table.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// Fewer than two points along an axis.
    #[error("a table needs two points at least, not {0}")]
    TooFew(usize),
    /// Points that do not go on in one direction.
    #[error("the abscissa must increase: {next} follows {before}")]
    NotIncreasing {
        /// The place of the later one, from zero.
        place: usize,
        /// The earlier one.
        before: f64,
        /// The later one.
        next: f64,
    },
    /// NaN or infinity.
    #[error("point {} of the table is {value}", place + 1)]
    NotFinite {
        /// Its place, from zero.
        place: usize,
        /// What stands there.
        value: f64,
    },
    /// Not one value for each point.
    #[error("{expected} values are needed, one for each point, not {found}")]
    WrongCount {
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
}

/// A function of one or two numbers through given points.
#[derive(Clone, PartialEq)]
pub struct Table {
    axes: Vec<Axis>,
    /// For each point, the first axis slowest: the value, then the slopes by x, by y and by both,
    /// as far as the interpolation has them.
    coefficients: Vec<f64>,
    /// Coefficients of a point.
    stride: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    points: Vec<f64>,
    interpolation: Interpolation,
    outside: Outside,
}

/// A function of two numbers with its derivatives.
pub(crate) struct Gradient {
    pub value: f64,
    pub x: f64,
    pub y: f64,
    pub xx: f64,
    pub xy: f64,
    pub yy: f64,
}

/// The two points around a number, and what values (first) and slopes (second) there contribute to
/// the function and its first two derivatives.
struct Weights {
    first: usize,
    value: [[f64; 3]; 2],
    slope: [[f64; 3]; 2],
}

impl Table {
    /// A function of one number.
    pub fn new(
        x: &[f64],
        values: &[f64],
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Self, TableError> {
        Self::over(vec![Axis::new(x, interpolation, outside)?], values)
    }

    /// A function of two numbers; the values run along `y` first.
    pub fn map(
        x: &[f64],
        y: &[f64],
        values: &[f64],
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Self, TableError> {
        let axes = [x, y].map(|points| Axis::new(points, interpolation, outside));
        let [x, y] = axes;
        Self::over(vec![x?, y?], values)
    }

    fn over(axes: Vec<Axis>, values: &[f64]) -> Result<Self, TableError> {
        let expected = axes.iter().map(|axis| axis.points.len()).product();
        if values.len() != expected {
            return Err(TableError::WrongCount {
                expected,
                found: values.len(),
            });
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let value = values[place];
            return Err(TableError::NotFinite { place, value });
        }
        let stride = 1 << axes.len();
        let mut coefficients = vec![0.0; stride * values.len()];
        for (slots, value) in coefficients.chunks_exact_mut(stride).zip(values) {
            slots[0] = *value;
        }
        let mut table = Self {
            axes,
            coefficients,
            stride,
        };
        table.find_slopes();
        Ok(table)
    }

    /// Slopes along the first axis, then of values and slopes along the second one.
    fn find_slopes(&mut self) {
        if self.axes[0].interpolation == Interpolation::Linear {
            return;
        }
        let rows = self.axes[0].points.len();
        let columns = self.coefficients.len() / self.stride / rows;
        for column in 0..columns {
            let place = |row: usize| (row * columns + column) * self.stride;
            let along: Vec<f64> = (0..rows).map(|row| self.coefficients[place(row)]).collect();
            let slopes = monotone_slopes(&self.axes[0].points, &along);
            for (row, slope) in slopes.into_iter().enumerate() {
                let at = (row * columns + column) * self.stride + 1;
                self.coefficients[at] = slope;
            }
        }
        if self.axes.len() < 2 {
            return;
        }
        for row in 0..rows {
            for kind in 0..2 {
                let place = |column: usize| (row * columns + column) * self.stride + kind;
                let along: Vec<f64> = (0..columns).map(|c| self.coefficients[place(c)]).collect();
                let slopes = monotone_slopes(&self.axes[1].points, &along);
                for (column, slope) in slopes.into_iter().enumerate() {
                    let at = (row * columns + column) * self.stride + kind + 2;
                    self.coefficients[at] = slope;
                }
            }
        }
    }

    /// How many arguments it takes.
    pub fn arguments(&self) -> usize {
        self.axes.len()
    }

    /// Where the points of an axis begin and end.
    pub fn range(&self, axis: usize) -> [f64; 2] {
        let points = &self.axes[axis].points;
        [points[0], points[points.len() - 1]]
    }

    /// A number that changes where the function has a corner along an axis.
    pub(crate) fn cell(&self, axis: usize, x: f64) -> usize {
        self.axes.get(axis).map_or(0, |axis| axis.cell(x))
    }

    /// The value of a function of one number.
    pub fn at(&self, x: f64) -> f64 {
        self.with_derivatives(x)[0]
    }

    /// The value of a function of two numbers.
    pub fn at_both(&self, x: f64, y: f64) -> f64 {
        self.with_gradient(x, y).value
    }

    /// Value, first and second derivative of a function of one number.
    pub fn with_derivatives(&self, x: f64) -> [f64; 3] {
        let weights = self.axes[0].weights(x);
        [0, 1, 2].map(|order| {
            let mut sum = 0.0;
            for end in 0..2 {
                let at = (weights.first + end) * self.stride;
                sum += weights.value[end][order] * self.coefficients[at];
                sum += weights.slope[end][order] * self.coefficients[at + 1];
            }
            sum
        })
    }

    pub(crate) fn with_gradient(&self, x: f64, y: f64) -> Gradient {
        let (along_x, along_y) = (self.axes[0].weights(x), self.axes[1].weights(y));
        let columns = self.axes[1].points.len();
        let derivative = |by_x: usize, by_y: usize| {
            let mut sum = 0.0;
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let at = ((along_x.first + i) * columns + along_y.first + j) * self.stride;
                let [value, by_row, by_column, by_both] = *self.coefficients[at..]
                    .first_chunk()
                    .expect("four coefficients a point");
                let (vx, sx) = (along_x.value[i][by_x], along_x.slope[i][by_x]);
                let (vy, sy) = (along_y.value[j][by_y], along_y.slope[j][by_y]);
                sum += (vx * value + sx * by_row) * vy + (vx * by_column + sx * by_both) * sy;
            }
            sum
        };
        Gradient {
            value: derivative(0, 0),
            x: derivative(1, 0),
            y: derivative(0, 1),
            xx: derivative(2, 0),
            xy: derivative(1, 1),
            yy: derivative(0, 2),
        }
    }
}

impl fmt::Debug for Table {
    /// Every number, so that a digest of it tells two tables apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table {:?} {:?}", self.axes, self.coefficients)
    }
}

impl Axis {
    fn new(
        points: &[f64],
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Self, TableError> {
        if points.len() < 2 {
            return Err(TableError::TooFew(points.len()));
        }
        if let Some(place) = points.iter().position(|point| !point.is_finite()) {
            let value = points[place];
            return Err(TableError::NotFinite { place, value });
        }
        if let Some(place) = points.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(TableError::NotIncreasing {
                place: place + 1,
                before: points[place],
                next: points[place + 1],
            });
        }
        Ok(Self {
            points: points.to_vec(),
            interpolation,
            outside,
        })
    }

    /// The interval between two corners; cubics have none but the ends.
    fn cell(&self, x: f64) -> usize {
        let last = self.points.len() - 1;
        let after = self.points.partition_point(|&point| point <= x);
        match (self.interpolation, self.outside) {
            // The first and the last line go on.
            (Interpolation::Linear, Outside::Extrapolate) => after.clamp(1, last),
            (Interpolation::Linear, _) => after,
            (Interpolation::Cubic, Outside::Extrapolate) => 0,
            (Interpolation::Cubic, _) => after.min(1) + after / (last + 1),
        }
    }

    fn weights(&self, x: f64) -> Weights {
        let last = self.points.len() - 1;
        let after = self.points.partition_point(|&point| point <= x);
        let first = after.clamp(1, last) - 1;
        let (from, to) = (self.points[first], self.points[first + 1]);
        let inside = x.clamp(self.points[0], self.points[last]);
        let mut weights = self.within(first, (inside - from) / (to - from), to - from);
        let beyond = x - inside;
        if beyond == 0.0 && !x.is_nan() {
            return weights;
        }
        let kinds = [&mut weights.value, &mut weights.slope];
        for weight in kinds.into_iter().flatten() {
            *weight = match self.outside {
                Outside::Hold => [weight[0], 0.0, 0.0],
                Outside::Extrapolate => [weight[0] + beyond * weight[1], weight[1], 0.0],
                Outside::Refuse => [f64::NAN; 3],
            };
        }
        weights
    }

    /// At the fraction `s` of an interval of this width.
    fn within(&self, first: usize, s: f64, width: f64) -> Weights {
        if self.interpolation == Interpolation::Linear {
            let slope = 1.0 / width;
            return Weights {
                first,
                value: [[1.0 - s, -slope, 0.0], [s, slope, 0.0]],
                slope: [[0.0; 3]; 2],
            };
        }
        // Hermite's cubics, with derivatives by x.
        let rest = 1.0 - s;
        let (d, dd) = (1.0 / width, 1.0 / (width * width));
        let rise = s * s * (3.0 - 2.0 * s);
        let rise_rate = 6.0 * s * rest * d;
        let rise_second = (6.0 - 12.0 * s) * dd;
        Weights {
            first,
            value: [
                [1.0 - rise, -rise_rate, -rise_second],
                [rise, rise_rate, rise_second],
            ],
            slope: [
                [
                    s * rest * rest * width,
                    rest * (1.0 - 3.0 * s),
                    (6.0 * s - 4.0) * d,
                ],
                [
                    -s * s * rest * width,
                    s * (3.0 * s - 2.0),
                    (6.0 * s - 2.0) * d,
                ],
            ],
        }
    }
}

/// Slopes at the points with which cubics rise and fall as the points do: harmonic means of the
/// secants (Fritsch and Butland 1984), and three-point slopes at the ends, limited.
fn monotone_slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let widths: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rises = y.windows(2).zip(&widths);
    let secants: Vec<f64> = rises
        .map(|(pair, width)| (pair[1] - pair[0]) / width)
        .collect();
    if secants.len() == 1 {
        return vec![secants[0]; 2];
    }
    let inner = secants.windows(2).zip(widths.windows(2)).map(|(s, w)| {
        if s[0] * s[1] <= 0.0 {
            return 0.0;
        }
        let (a, b) = (2.0 * w[1] + w[0], w[1] + 2.0 * w[0]);
        (a + b) / (a / s[0] + b / s[1])
    });
    let end = |s0: f64, s1: f64, w0: f64, w1: f64| {
        let slope = ((2.0 * w0 + w1) * s0 - w0 * s1) / (w0 + w1);
        if slope * s0 <= 0.0 {
            0.0
        } else if s0 * s1 <= 0.0 && slope.abs() > 3.0 * s0.abs() {
            3.0 * s0
        } else {
            slope
        }
    };
    let n = secants.len();
    let mut slopes = vec![end(secants[0], secants[1], widths[0], widths[1])];
    slopes.extend(inner);
    slopes.push(end(
        secants[n - 1],
        secants[n - 2],
        widths[n - 1],
        widths[n - 2],
    ));
    slopes
}
