//! Shapes, and the distance of a point from them.

use std::sync::Arc;

use oldham_space::{Mat3, Vec3};

use crate::error::ContactError;
use crate::field::HeightField;
use crate::polytope::Polytope;

/// Where a shape is: the origin of its frame, and its axes as columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Origin of the frame.
    pub position: Vec3,
    /// Axes of the frame, as columns.
    pub axes: Mat3,
}

impl Default for Pose {
    fn default() -> Self {
        Self::at(Vec3::ZERO)
    }
}

impl Pose {
    /// At a point, with the absolute axes.
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            axes: Mat3::IDENTITY,
        }
    }

    /// A point of the frame in absolute coordinates.
    #[inline(always)]
    pub fn place(&self, local: Vec3) -> Vec3 {
        self.position + self.axes * local
    }

    /// An absolute point in coordinates of the frame.
    #[inline(always)]
    pub fn locate(&self, point: Vec3) -> Vec3 {
        self.axes.transpose_mul(point - self.position)
    }

    /// A frame given in this one, in absolute terms.
    pub fn then(&self, inner: &Pose) -> Self {
        Self {
            position: self.place(inner.position),
            axes: self.axes * inner.axes,
        }
    }
}

/// The wall of a can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wall {
    /// A smooth cylinder.
    Round,
    /// A prism of this many flat walls that touch the cylinder from outside. Wall k faces the
    /// axis from the direction 2πk/n.
    Facets(usize),
}

/// A shape in its own frame. The long axis of capsules, cylinders and cans is the third one.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// The half space below the plane of the first two axes.
    Plane,
    /// A cuboid about the origin.
    Box {
        /// Half of each edge.
        half: Vec3,
    },
    /// All points within a radius of a segment about the origin.
    Capsule {
        /// Half the length of the segment.
        half_length: f64,
        /// Its radius.
        radius: f64,
    },
    /// A solid cylinder about the origin.
    Cylinder {
        /// Half its length.
        half_length: f64,
        /// Its radius.
        radius: f64,
    },
    /// A convex solid with flat faces.
    Mesh(Arc<Polytope>),
    /// A container seen from inside.
    Can(Can),
    /// A height field, solid below.
    Field(Arc<HeightField>),
}

/// A container along the third axis, its floor in the plane of the first two.
#[derive(Clone, Debug, PartialEq)]
pub struct Can {
    pub(crate) radius: f64,
    pub(crate) height: Option<f64>,
    /// Outward directions of flat walls; none for a round wall.
    pub(crate) directions: Vec<[f64; 2]>,
}

impl Can {
    /// A container of this inscribed radius; a height where it has a lid.
    pub fn new(radius: f64, height: Option<f64>, wall: Wall) -> Self {
        let directions = match wall {
            Wall::Round => Vec::new(),
            Wall::Facets(n) => (0..n)
                .map(|k| std::f64::consts::TAU * k as f64 / n as f64)
                .map(|angle| [angle.cos(), angle.sin()])
                .collect(),
        };
        Self {
            radius,
            height,
            directions,
        }
    }

    /// The inscribed radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether its wall is round.
    pub(crate) fn is_round(&self) -> bool {
        self.directions.is_empty()
    }

    /// The height, if there is a lid.
    pub fn height(&self) -> Option<f64> {
        self.height
    }

    /// Calls `touch(feature, distance, normal)` for each wall within `reach` of a point of the
    /// frame; normals point into the can. Features: 0 the floor, 1 the lid, 2 + k the walls.
    #[inline(always)]
    pub(crate) fn walls(&self, at: Vec3, reach: f64, mut touch: impl FnMut(u32, f64, Vec3)) {
        let [x, y, z] = at.0;
        if z < reach {
            touch(0, z, Vec3::Z);
        }
        if let Some(height) = self.height
            && height - z < reach
        {
            touch(1, height - z, -Vec3::Z);
        }
        let inner = self.radius - reach;
        if inner > 0.0 && x * x + y * y <= inner * inner {
            return;
        }
        if self.is_round() {
            let distance = (x * x + y * y).sqrt();
            if self.radius - distance < reach && distance > 0.0 {
                let normal = Vec3::new(-x / distance, -y / distance, 0.0);
                touch(2, self.radius - distance, normal);
            }
        }
        for (k, &[c, s]) in self.directions.iter().enumerate() {
            let distance = self.radius - (c * x + s * y);
            if distance < reach {
                touch(2 + k as u32, distance, Vec3::new(-c, -s, 0.0));
            }
        }
    }

    /// Distance of the nearest wall; negative outside.
    pub fn distance(&self, at: Vec3) -> f64 {
        let mut nearest = f64::INFINITY;
        self.walls(at, f64::INFINITY, |_, distance, _| {
            nearest = nearest.min(distance);
        });
        nearest
    }
}

/// The surface point of a solid that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// How far the point is outside; negative within the solid.
    pub distance: f64,
    /// Outward normal there.
    pub normal: Vec3,
}

impl Shape {
    /// Refuses sizes that are not positive and finite.
    pub(crate) fn check(&self, body: usize) -> Result<(), ContactError> {
        let sizes: &[f64] = match self {
            Self::Plane => &[],
            Self::Mesh(polytope) => &[polytope.thickness()],
            Self::Field(ground) => &[ground.size()],
            Self::Sphere { radius } => &[*radius],
            Self::Box { half } => &half.0,
            Self::Capsule {
                half_length,
                radius,
            }
            | Self::Cylinder {
                half_length,
                radius,
            } => &[*half_length, *radius],
            Self::Can(can) => {
                if matches!(can.directions.len(), 1 | 2) {
                    return Err(ContactError::OpenCan {
                        body,
                        facets: can.directions.len(),
                    });
                }
                &[can.radius, can.height.unwrap_or(1.0)]
            }
        };
        match sizes.iter().find(|s| !(**s > 0.0 && s.is_finite())) {
            Some(&size) => Err(ContactError::Size { body, size }),
            None => Ok(()),
        }
    }

    /// Radius of a ball about the origin that holds the solid; infinite for planes, cans and grounds.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Box { half } => half.norm(),
            Self::Capsule {
                half_length,
                radius,
            } => half_length + radius,
            Self::Cylinder {
                half_length,
                radius,
            } => half_length.hypot(*radius),
            Self::Mesh(polytope) => polytope.bounding_radius(),
            Self::Plane | Self::Can(_) | Self::Field(_) => f64::INFINITY,
        }
    }

    /// The smallest radius or half thickness of a solid; infinite for faces.
    pub fn smallest(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Cylinder {
                radius,
                half_length,
            } => radius.min(*half_length),
            Self::Box { half } => half[0].min(half[1]).min(half[2]),
            Self::Mesh(polytope) => 0.5 * polytope.thickness(),
            Self::Plane | Self::Can(_) | Self::Field(_) => f64::INFINITY,
        }
    }

    /// What the shape is called in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Plane => "plane",
            Self::Box { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Mesh(_) => "mesh",
            Self::Can(_) => "can",
            Self::Field(_) => "height field",
        }
    }

    /// Distance of a point of the frame from the solid, negative within it; of a ground at least that from its highest point.
    pub fn distance(&self, at: Vec3) -> f64 {
        match self {
            Self::Can(can) => can.distance(at),
            Self::Field(ground) => ground.clearance(at),
            _ => self.nearest(at).distance,
        }
    }

    /// The nearest surface point of a solid; a can's nearest wall; for a ground what [`distance`](Self::distance) says.
    pub fn nearest(&self, at: Vec3) -> Nearest {
        match self {
            Self::Plane => Nearest {
                distance: at[2],
                normal: Vec3::Z,
            },
            Self::Sphere { radius } => ball(at, *radius),
            Self::Capsule {
                half_length,
                radius,
            } => {
                let along = at[2].clamp(-half_length, *half_length);
                ball(at - Vec3::Z * along, *radius)
            }
            Self::Box { half } => near_box(at, *half),
            Self::Cylinder {
                half_length,
                radius,
            } => near_cylinder(at, *half_length, *radius),
            Self::Mesh(polytope) => polytope.nearest(at),
            Self::Field(ground) => Nearest {
                distance: ground.clearance(at),
                normal: Vec3::Z,
            },
            Self::Can(can) => {
                let mut nearest = Nearest {
                    distance: f64::INFINITY,
                    normal: Vec3::Z,
                };
                can.walls(at, f64::INFINITY, |_, distance, normal| {
                    if distance < nearest.distance {
                        nearest = Nearest { distance, normal };
                    }
                });
                nearest
            }
        }
    }
}

fn ball(from_centre: Vec3, radius: f64) -> Nearest {
    let length = from_centre.norm();
    let normal = if length > 0.0 {
        from_centre * (1.0 / length)
    } else {
        Vec3::Z
    };
    Nearest {
        distance: length - radius,
        normal,
    }
}

fn near_box(at: Vec3, half: Vec3) -> Nearest {
    let outside = Vec3::new(
        at[0] - at[0].clamp(-half[0], half[0]),
        at[1] - at[1].clamp(-half[1], half[1]),
        at[2] - at[2].clamp(-half[2], half[2]),
    );
    let distance = outside.norm();
    if distance > 0.0 {
        return Nearest {
            distance,
            normal: outside * (1.0 / distance),
        };
    }
    // Within: out through the nearest face.
    let mut nearest = Nearest {
        distance: f64::NEG_INFINITY,
        normal: Vec3::Z,
    };
    for axis in 0..3 {
        let distance = at[axis].abs() - half[axis];
        if distance > nearest.distance {
            nearest.distance = distance;
            nearest.normal = Vec3::ZERO;
            nearest.normal[axis] = 1.0_f64.copysign(at[axis]);
        }
    }
    nearest
}

fn near_cylinder(at: Vec3, half_length: f64, radius: f64) -> Nearest {
    let [x, y, z] = at.0;
    let from_axis = x.hypot(y);
    let outward = if from_axis > 0.0 {
        Vec3::new(x / from_axis, y / from_axis, 0.0)
    } else {
        Vec3::X
    };
    let upward = Vec3::Z * 1.0_f64.copysign(z);
    let (side, end) = (from_axis - radius, z.abs() - half_length);
    if side > 0.0 && end > 0.0 {
        let distance = side.hypot(end);
        return Nearest {
            distance,
            normal: (outward * side + upward * end) * (1.0 / distance),
        };
    }
    if side > end {
        Nearest {
            distance: side,
            normal: outward,
        }
    } else {
        Nearest {
            distance: end,
            normal: upward,
        }
    }
}
