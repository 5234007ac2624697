//! Vectors, directions and lists of numbers.

use oldham_multibody::{Mat3, Quaternion, Vec3};

use crate::check::Checker;
use crate::check::keys::{all, read_or};
use crate::format::multibody::{Orientation, Pairs, Vector};
use crate::format::{At, Number};
use crate::mechanism::Pose;
use crate::source::Span;

/// An orientation beyond this angle, in rad, is likely given in degrees.
const MANY_TURNS: f64 = 4.0 * std::f64::consts::PI;

impl Checker<'_> {
    /// So many numbers; `what` says which.
    pub(crate) fn numbers<const N: usize, T: Number>(
        &mut self,
        list: &At<Vec<At<T>>>,
        what: &str,
    ) -> Option<[f64; N]> {
        let values = self.list(&list.value);
        if list.value.len() != N {
            let message = format!("{N} numbers are needed: {what}");
            let label = format!("has {}", list.value.len());
            self.report(&list.span, message).label(label);
            return None;
        }
        values?.try_into().ok()
    }

    /// Six rows of six numbers.
    pub(crate) fn six_rows(&mut self, rows: &At<Pairs>) -> Option<[[f64; 6]; 6]> {
        if rows.value.len() != 6 {
            let message = format!("six rows are needed, not {}", rows.value.len());
            self.report(&rows.span, message);
            return None;
        }
        let each = rows.value.iter();
        let read = all(each.map(|row| self.numbers(row, "a row of the matrix")));
        read?.try_into().ok()
    }

    /// Three components.
    pub(crate) fn three<A, T>(
        &mut self,
        list: &At<Vec<At<A>>>,
        read: impl Fn(&mut Self, &At<A>) -> Option<T>,
    ) -> Option<[T; 3]> {
        let values = all(list.value.iter().map(|at| read(self, at)));
        if list.value.len() != 3 {
            let message = format!("three components are needed, not {}", list.value.len());
            self.report(&list.span, message);
            return None;
        }
        values?.try_into().ok()
    }

    pub(crate) fn vector(&mut self, list: &At<Vector>) -> Option<Vec3> {
        let [x, y, z] = self.numbers(list, "the components of a vector")?;
        Some(Vec3::new(x, y, z))
    }

    pub(crate) fn vector_or_zero(&mut self, list: &Option<At<Vector>>) -> Option<Vec3> {
        read_or(list, Vec3::ZERO, |list| self.vector(list))
    }

    /// A vector of length one.
    pub(crate) fn direction(&mut self, list: &At<Vector>) -> Option<Vec3> {
        let vector = self.vector(list)?;
        let length = vector.norm();
        if length > 0.0 && length.is_finite() {
            return Some(vector * (1.0 / length));
        }
        let message = "a direction must have a length";
        self.report(&list.span, message)
            .label(format!("its length is {length}"));
        None
    }

    /// Outer and inner radius, and more.
    pub(crate) fn radii<const N: usize>(
        &mut self,
        list: &At<Vector>,
        what: &str,
    ) -> Option<[f64; N]> {
        let values: [f64; N] = self.numbers(list, what)?;
        let (outer, inner) = (values[0], values[1]);
        if inner >= 0.0 && outer > inner && values[2..].iter().all(|&length| length > 0.0) {
            return Some(values);
        }
        let message = "lengths must be positive, and the outer radius larger than the inner one";
        self.report(&list.span, message).label(what);
        None
    }

    /// Pairs whose first numbers rise.
    pub(crate) fn rising_pairs(
        &mut self,
        pairs: &At<Pairs>,
        what: &str,
    ) -> Option<Vec<(f64, f64)>> {
        let points = self.pairs(pairs, what)?;
        let falls = points.windows(2).position(|pair| pair[1].0 <= pair[0].0);
        if let Some(place) = falls {
            self.report(
                &pairs.value[place + 1].span,
                "the first numbers of the pairs must rise",
            )
            .label("not above the one before")
            .help("sort them, and give each once");
            return None;
        }
        Some(points)
    }

    /// At least one pair.
    pub(crate) fn pairs(&mut self, pairs: &At<Pairs>, what: &str) -> Option<Vec<(f64, f64)>> {
        if pairs.value.is_empty() {
            let message = format!("at least one pair is needed: {what}");
            self.report(&pairs.span, message);
            return None;
        }
        let pair = |pair| self.numbers(pair, what).map(|[x, y]| (x, y));
        all(pairs.value.iter().map(pair))
    }

    /// Two of something, such as nodes; `what` says of what.
    pub(crate) fn two<'l, T>(
        &mut self,
        list: &'l At<Vec<At<T>>>,
        what: &str,
    ) -> Option<[&'l At<T>; 2]> {
        if let [a, b] = &list.value[..] {
            return Some([a, b]);
        }
        let message = format!("two {what} are needed, not {}", list.value.len());
        self.report(&list.span, message);
        None
    }

    /// An orientation in a frame, as an absolute one.
    pub(crate) fn orientation_in(
        &mut self,
        frame: &Pose,
        given: &Option<At<Orientation>>,
    ) -> Option<Quaternion> {
        read_or(given, frame.orientation, |given| {
            Some(frame.orientation.times(self.orientation(given)?))
        })
    }

    pub(crate) fn orientation(&mut self, given: &At<Orientation>) -> Option<Quaternion> {
        let o = &given.value;
        let turn = o.axis.is_some() || o.angle.is_some();
        let axes = [&o.x, &o.y, &o.z];
        let ways = [
            ("axis` and `angle", turn),
            ("x` and `y` or `z", axes.iter().any(|axis| axis.is_some())),
            ("euler", o.euler.is_some()),
            ("vector", o.vector.is_some()),
            ("quaternion", o.quaternion.is_some()),
            ("matrix", o.matrix.is_some()),
        ];
        let what = ["the orientation is given in", "ways"];
        self.one_way(&given.span, &ways, what)?;
        if let Some(euler) = &o.euler {
            let [a, b, c] = self.numbers(euler, "three angles")?;
            let about = |axis: Vec3, angle: f64| Quaternion::exp(axis * angle);
            return Some(
                about(Vec3::X, a)
                    .times(about(Vec3::Y, b))
                    .times(about(Vec3::Z, c)),
            );
        }
        if let Some(vector) = &o.vector {
            return Some(Quaternion::exp(self.vector(vector)?));
        }
        if let Some(list) = &o.quaternion {
            return self.quaternion(list);
        }
        if let Some(rows) = &o.matrix {
            return self.rotation_matrix(rows);
        }
        if axes.iter().any(|axis| axis.is_some()) {
            return self.two_directions(axes, &given.span);
        }
        let (Some(axis), Some(angle)) = (&o.axis, &o.angle) else {
            let message = "an axis needs an angle, and an angle an axis";
            self.report_missing(&given.span, message);
            return None;
        };
        let (axis, angle) = (self.direction(axis), self.number(angle));
        if let Some(angle) = angle {
            self.remark_on_angle("an orientation", angle);
        }
        Some(Quaternion::exp(axis? * angle?))
    }

    /// An angle that is likely given in degrees.
    pub(crate) fn remark_on_angle(&mut self, what: &str, angle: f64) {
        if angle.abs() > MANY_TURNS {
            self.notes.push(format!(
                "{what} is turned by {angle} rad, {:.1} revolutions: if these are degrees, write \"{angle} deg\"",
                angle / std::f64::consts::TAU
            ));
        }
    }

    fn quaternion(&mut self, list: &At<Vector>) -> Option<Quaternion> {
        let values: [f64; 4] = self.numbers(list, "a quaternion, the scalar first")?;
        let size = values.iter().map(|q| q * q).sum::<f64>().sqrt();
        if size > 0.0 && size.is_finite() {
            return Some(Quaternion(values.map(|q| q / size)));
        }
        self.report(&list.span, "a quaternion must not be zero");
        None
    }

    /// The orientation whose axes point in these directions, of which two are given.
    fn two_directions(
        &mut self,
        axes: [&Option<At<Vector>>; 3],
        place: &Span,
    ) -> Option<Quaternion> {
        let given = axes.iter().enumerate();
        let given = given.filter_map(|(index, axis)| Some((index, axis.as_ref()?)));
        let given: Vec<(usize, &At<Vector>)> = given.collect();
        let [(i, first), (j, second)] = given[..] else {
            let message = format!("two of `x`, `y` and `z` are needed, not {}", given.len());
            self.report_missing(place, message);
            return None;
        };
        let (along, beside) = (self.direction(first), self.direction(second));
        let (along, beside) = (along?, beside?);
        let rest = beside - along * along.dot(beside);
        if rest.norm() < PARALLEL {
            let message = "both axes point the same way";
            self.report(&second.span, message)
                .help("give a direction that is not parallel to the other one");
            return None;
        }
        let beside = rest * (1.0 / rest.norm());
        let mut columns = [Vec3::ZERO; 3];
        (columns[i], columns[j]) = (along, beside);
        let k = 3 - i - j;
        columns[k] = columns[(k + 1) % 3].cross(columns[(k + 2) % 3]);
        Some(Quaternion::from_matrix(&Mat3::from_columns(
            columns[0], columns[1], columns[2],
        )))
    }

    /// The orientation whose axes are the columns of a matrix.
    fn rotation_matrix(&mut self, rows: &At<Vec<At<Vector>>>) -> Option<Quaternion> {
        let [a, b, c] = &rows.value[..] else {
            let message = format!("a rotation matrix has three rows, not {}", rows.value.len());
            self.report(&rows.span, message);
            return None;
        };
        let [a, b, c] = [a, b, c].map(|row| self.vector(row));
        let matrix = Mat3::from_columns(a?, b?, c?).transpose();
        let turned = Quaternion::from_matrix(&matrix);
        let rounded = turned.matrix();
        let off = |axis: Vec3| (matrix * axis - rounded * axis).norm();
        let worst = [Vec3::X, Vec3::Y, Vec3::Z].map(off);
        let worst = worst.into_iter().fold(0.0, f64::max);
        if worst <= NOT_TURNED {
            return Some(turned);
        }
        let message = format!("this is no rotation: an axis is off by {worst:.1e}");
        self.report(&rows.span, message).help(
            "the columns are perpendicular unit vectors, right-handed; two directions `x`, `y` need no such care",
        );
        None
    }
}

/// Directions whose difference is less than this are parallel.
const PARALLEL: f64 = 1e-6;
/// What rounding in a file may do to a rotation matrix.
const NOT_TURNED: f64 = 1e-5;
