//! Roads: a height above the plane z = 0, its slope and its friction, at every place.

mod grid;
mod profile;
mod survey;
mod track;

pub use grid::HeightGrid;
pub use profile::{RoughRoad, RoughnessClass};
pub use survey::RoadProblem;
pub use track::{Beside, CentreLine, KerbShape, LineProblem, Track, TrackShape, parse_line};

use oldham_space::Vec3;
use track::Under;

/// The ground on which wheels roll.
#[derive(Clone, Debug)]
pub struct Road {
    surface: Surface,
    /// Friction over that on which the tyres were measured.
    grip: f64,
}

#[derive(Clone, Debug)]
enum Surface {
    Plane { height: f64, slopes: [f64; 2] },
    Grid(HeightGrid),
    Track(Box<Track>),
}

/// The road beneath a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoadPoint {
    /// The point of the road straight below.
    pub place: Vec3,
    /// Normal to the road, upwards.
    pub normal: Vec3,
    /// Friction over that on which the tyres were measured.
    pub grip: f64,
}

impl Road {
    /// The plane z = 0.
    pub fn flat() -> Self {
        Self::plane(0.0, [0.0; 2])
    }

    /// A plane of this height at the origin, and with these slopes along x and y.
    pub fn plane(height: f64, slopes: [f64; 2]) -> Self {
        Self {
            surface: Surface::Plane { height, slopes },
            grip: 1.0,
        }
    }

    /// Heights on a grid.
    pub fn grid(grid: HeightGrid) -> Self {
        Self {
            surface: Surface::Grid(grid),
            grip: 1.0,
        }
    }

    /// A road along a closed line, and the land around it.
    pub fn track(track: Track) -> Self {
        Self {
            surface: Surface::Track(Box::new(track)),
            grip: 1.0,
        }
    }

    /// With this friction over that on which the tyres were measured.
    pub fn with_grip(self, grip: f64) -> Self {
        Self { grip, ..self }
    }

    /// The road beneath a point.
    pub fn under(&self, point: Vec3) -> RoadPoint {
        let under = |height, slopes| Under {
            height,
            slopes,
            grip: 1.0,
        };
        let [x, y] = [point[0], point[1]];
        let Under {
            height,
            slopes: [by_x, by_y],
            grip,
        } = match &self.surface {
            Surface::Plane { height, slopes } => {
                under(height + slopes[0] * x + slopes[1] * y, *slopes)
            }
            Surface::Grid(grid) => {
                let (height, slopes) = grid.at(x, y);
                under(height, slopes)
            }
            Surface::Track(track) => track.under(x, y),
        };
        RoadPoint {
            place: Vec3::new(x, y, height),
            normal: Vec3::new(-by_x, -by_y, 1.0).unit(),
            grip: self.grip * grip,
        }
    }
}
