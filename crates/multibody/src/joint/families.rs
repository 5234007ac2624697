//! The usual joints as lists of rows. The third axis of the first marker is the joint's axis.

use super::{Joint, Row};
use crate::drive::Drive;
use crate::node::Marker;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// What a total joint does with one of its six components.
#[derive(Clone, Debug, Default)]
pub enum Direction {
    /// Nothing.
    #[default]
    Free,
    /// Keeps it at zero.
    Locked,
    /// Prescribes it.
    Prescribed(Drive),
}

impl Direction {
    fn target(&self) -> Option<Drive> {
        match self {
            Self::Free => None,
            Self::Locked => Some(Drive::ZERO),
            Self::Prescribed(drive) => Some(drive.clone()),
        }
    }
}

impl Joint {
    /// Rigid connection.
    pub fn clamp(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [point(), locked_axes()].concat())
    }

    /// The markers coincide.
    pub fn spherical(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, point())
    }

    /// The markers coincide and share their third axis.
    pub fn revolute(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [point(), common_axis()].concat())
    }

    /// The second marker slides along the third axis of the first without turning.
    pub fn prismatic(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [line(), locked_axes()].concat())
    }

    /// The second marker slides along the common third axis and turns about it.
    pub fn cylindrical(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [line(), common_axis()].concat())
    }

    /// The markers coincide; the first axis of the first and the second axis of the second, the
    /// arms of the cross, stay at right angles.
    pub fn universal(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [point(), vec![Row::perpendicular(X, Y)]].concat())
    }

    /// The markers coincide, and neither turns about its third axis relative to the other: shafts
    /// along these axes turn at the same speed, whatever the angle between them.
    pub fn constant_velocity(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [point(), vec![Row::turn(Z)]].concat())
    }

    /// The second marker stays in the plane normal to the common third axis.
    pub fn planar(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, [common_axis(), plane()].concat())
    }

    /// The second marker stays on the third axis of the first.
    pub fn in_line(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, line())
    }

    /// The second marker stays in the plane normal to the third axis of the first.
    pub fn in_plane(a: Marker, b: Marker) -> Self {
        Self::from_rows(a, b, plane())
    }

    /// The distance of the markers is given: a massless rigid rod.
    pub fn distance(a: Marker, b: Marker, length: impl Into<Drive>) -> Self {
        Self::from_rows(a, b, vec![Row::distance(length)])
    }

    /// The markers coincide and share their third axis; the angle about it is given.
    pub fn driven_revolute(a: Marker, b: Marker, angle: impl Into<Drive>) -> Self {
        Self::from_rows(a, b, [point(), locked_axes()].concat()).turning([
            Drive::ZERO,
            Drive::ZERO,
            angle.into(),
        ])
    }

    /// The second marker slides along the third axis of the first without turning; how far is given.
    pub fn driven_prismatic(a: Marker, b: Marker, slide: impl Into<Drive>) -> Self {
        let along = vec![Row::along(Z, slide)];
        Self::from_rows(a, b, [line(), along, locked_axes()].concat())
    }

    /// The second marker slides along the common third axis and turns about it, one of both or both
    /// as given.
    pub fn driven_cylindrical(
        a: Marker,
        b: Marker,
        slide: Option<Drive>,
        angle: Option<Drive>,
    ) -> Self {
        let along = slide.map(|slide| Row::along(Z, slide));
        let axes = match angle {
            Some(_) => locked_axes(),
            None => common_axis(),
        };
        let rows = [line(), along.into_iter().collect(), axes].concat();
        let angle = angle.unwrap_or(Drive::ZERO);
        Self::from_rows(a, b, rows).turning([Drive::ZERO, Drive::ZERO, angle])
    }

    /// Any subset of the six relative components, in the axes of the first marker: displacement,
    /// then rotation vector. With the ground as first node it is a total pin joint.
    pub fn total(a: Marker, b: Marker, displacement: [Direction; 3], turn: [Direction; 3]) -> Self {
        let mut rows = Vec::new();
        for (axis, direction) in displacement.iter().enumerate() {
            rows.extend(direction.target().map(|target| Row::along(axis, target)));
        }
        for (axis, direction) in turn.iter().enumerate() {
            rows.extend(direction.target().map(|_| Row::turn(axis)));
        }
        let turn = turn.map(|direction| direction.target().unwrap_or(Drive::ZERO));
        Self::from_rows(a, b, rows).turning(turn)
    }
}

fn point() -> Vec<Row> {
    [X, Y, Z].map(|axis| Row::along(axis, 0.0)).to_vec()
}

fn line() -> Vec<Row> {
    [X, Y].map(|axis| Row::along(axis, 0.0)).to_vec()
}

fn plane() -> Vec<Row> {
    vec![Row::along(Z, 0.0)]
}

fn common_axis() -> Vec<Row> {
    vec![Row::perpendicular(X, Z), Row::perpendicular(Y, Z)]
}

fn locked_axes() -> Vec<Row> {
    [X, Y, Z].map(Row::turn).to_vec()
}
