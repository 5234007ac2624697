//! Tracks: a road along a closed centre line, with kerbs in its corners and land around it.
//!
//! Heights are those of the line within the road, its kerbs and a verge, and go over into the land, which is as high as
//! the line nearby. The slope is continuous everywhere.

mod kerb;
mod line;
mod picture;
mod survey;

use super::grid::HeightGrid;
use super::profile::RoughRoad;
use kerb::Kerb;
use std::fmt;

pub use kerb::KerbShape;
pub use line::{Beside, CentreLine};
pub use survey::parse_line;

/// What a track is made of, besides its centre line.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackShape {
    /// Of the road between its kerbs, in m.
    pub width: f64,
    /// In corners, if there are any.
    pub kerbs: Option<KerbShape>,
    /// Width in m over which the road goes over into the land.
    pub verge: f64,
    /// Friction beside the road and its kerbs over that on which the tyres were measured, as far as that of the
    /// road is one.
    pub verge_grip: f64,
    /// Density of the height at 0.1 1/m in m³, and the seed, of a rough road.
    pub roughness: Option<(f64, u64)>,
    /// Distance of the cones along both edges, if there are any, in m.
    pub cones: Option<f64>,
    /// Where sectors end, as distances along the line from the start, in m.
    pub sectors: Vec<f64>,
}

/// A road along a closed line. The lap begins at the first point of the line.
#[derive(Clone, Debug)]
pub struct Track {
    line: CentreLine,
    shape: TrackShape,
    kerbs: Vec<Kerb>,
    /// Along and across the line.
    roughness: Option<HeightGrid>,
    /// Heights away from the road; zero if there are none.
    land: Option<HeightGrid>,
}

/// Why a line is no centre line of a road.
#[derive(Clone, Debug, PartialEq)]
pub enum LineProblem {
    /// So many points only.
    Few(usize),
    /// A point follows itself.
    Twice([f64; 3]),
    /// The last point is so far from the first.
    Open(f64),
    /// It is so long.
    Long(f64),
    /// A corner in which the road would fold.
    Tight {
        /// Where.
        place: [f64; 2],
        /// Of the corner, in m.
        radius: f64,
        /// Half the width of road, kerbs and verges, in m.
        reach: f64,
    },
    /// Two stretches whose roads or verges would meet.
    Near {
        /// Where.
        places: [[f64; 2]; 2],
        /// Half the width of road, kerbs and verges, in m.
        reach: f64,
    },
    /// A sector that ends nowhere on the lap, or before the one before.
    Sector(f64),
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Few(count) => write!(f, "a closed line needs six points, there are {count}"),
            Self::Twice([x, y, _]) => write!(f, "the point ({x}, {y}) follows itself"),
            Self::Open(gap) => write!(f, "the last point is {gap:.1} m from the first"),
            Self::Long(length) => write!(f, "the line is {length:.0} m long, at most 20 km fit"),
            Self::Tight {
                place: [x, y],
                radius,
                reach,
            } => write!(
                f,
                "the corner at ({x:.1}, {y:.1}) has a radius of {radius:.1} m, road, kerb and verge reach {reach:.1} m \
                 to each side"
            ),
            Self::Near {
                places: [[x, y], [u, v]],
                reach,
            } => write!(
                f,
                "the stretches at ({x:.1}, {y:.1}) and ({u:.1}, {v:.1}) are too close to each other: road, kerb \
                 and verge reach {reach:.1} m to each side"
            ),
            Self::Sector(end) => write!(
                f,
                "a sector that ends at {end} m is not on the lap, or not after the one before"
            ),
        }
    }
}

impl LineProblem {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Few(_) => "give points every few metres, in the order in which they are driven",
            Self::Twice(_) => "leave one of them out",
            Self::Open(_) => "give all points around the lap; the line closes itself",
            Self::Long(_) => "check that coordinates are in m",
            Self::Tight { .. } => {
                "make `width`, `kerbs.width` or `verge` smaller, or the corner wider"
            }
            Self::Near { .. } => "make `width` or `verge` smaller, or move the line",
            Self::Sector(_) => "give distances from the start that rise and are less than the lap",
        }
    }
}

/// The road under a place: its height and slopes, and friction over that of the road.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Under {
    pub height: f64,
    pub slopes: [f64; 2],
    pub grip: f64,
}

/// Width in m over which the friction changes beside the road.
const GRIP_EDGE: f64 = 0.3;
/// Roughness repeats after about so much, in m.
const ROUGH_LENGTH: f64 = 50.0;
/// Distance of the points of the land, and how far it goes on around the track, in m.
const LAND_SPACING: f64 = 4.0;
const LAND_MARGIN: f64 = 60.0;
/// Distance in m over which heights of the land are means of those of the line.
const LAND_BLUR: f64 = 12.0;

impl Track {
    /// A track along a line through points.
    pub fn new(points: &[[f64; 3]], shape: TrackShape) -> Result<Self, LineProblem> {
        let reach = shape.reach();
        let line = CentreLine::through(points, reach)?;
        let mut before = 0.0;
        for &end in &shape.sectors {
            if !(end > before && end < line.length()) {
                return Err(LineProblem::Sector(end));
            }
            before = end;
        }
        let kerbs = match &shape.kerbs {
            Some(kerb) => kerb.along(&line),
            None => Vec::new(),
        };
        let roughness = shape.roughness.map(|(density, seed)| {
            let pieces = (line.length() / ROUGH_LENGTH).round().max(1.0);
            let road = RoughRoad {
                density,
                length: line.length() / pieces,
                width: 2.0 * reach,
                seed,
            };
            road.grid()
        });
        let land = points
            .iter()
            .any(|point| point[2] != 0.0)
            .then(|| land(&line));
        Ok(Self {
            line,
            shape,
            kerbs,
            roughness,
            land,
        })
    }

    /// Its centre line.
    pub fn line(&self) -> &CentreLine {
        &self.line
    }

    pub(super) fn under(&self, x: f64, y: f64) -> Under {
        let (land, land_by) = match &self.land {
            Some(land) => land.at(x, y),
            None => (0.0, [0.0; 2]),
        };
        let Some(beside) = self.line.beside(x, y) else {
            return Under {
                height: land,
                slopes: land_by,
                grip: self.shape.verge_grip,
            };
        };
        let Beside { along, left, .. } = beside;
        let [mut height, mut by_along] = beside.height;
        let mut by_left = 0.0;
        if let (Some(shape), Some(kerb)) = (&self.shape.kerbs, self.kerb(along, left)) {
            let [more, along_by, left_by] =
                shape.height(kerb, &self.line, along, left, self.half());
            height += more;
            by_along += along_by;
            by_left += left_by;
        }
        if let Some(grid) = &self.roughness {
            let (more, [along_by, left_by]) = grid.at(along, left);
            height += more;
            by_along += along_by;
            by_left += left_by;
        }
        let aside = left.abs();
        let (gone, gone_by) = smooth((aside - self.shape.firm()) / self.shape.verge);
        let (share, share_by) = (1.0 - gone, -gone_by / self.shape.verge * left.signum());
        let slope = |axis: usize| {
            let road = by_along * beside.along_by[axis] + by_left * beside.left_by[axis];
            let over = share_by * beside.left_by[axis] * (height - land);
            land_by[axis] + share * (road - land_by[axis]) + over
        };
        let (off, _) = smooth((aside - self.shape.paved()) / GRIP_EDGE);
        Under {
            height: land + share * (height - land),
            slopes: [slope(0), slope(1)],
            grip: 1.0 + off * (self.shape.verge_grip - 1.0),
        }
    }

    /// Half the width between the kerbs.
    fn half(&self) -> f64 {
        0.5 * self.shape.width
    }

    fn kerb(&self, along: f64, left: f64) -> Option<&Kerb> {
        let mut kerbs = self.kerbs.iter();
        kerbs.find(|kerb| kerb.is_left == (left > 0.0) && kerb.holds(along))
    }
}

impl TrackShape {
    /// Half the width of road and kerbs.
    fn paved(&self) -> f64 {
        0.5 * self.width + self.kerbs.as_ref().map_or(0.0, |kerb| kerb.width)
    }

    /// Half the width over which the road is as high as its line.
    fn firm(&self) -> f64 {
        self.paved() + self.kerbs.as_ref().map_or(0.0, |_| kerb::FALL)
    }

    /// Half the width of everything.
    pub fn reach(&self) -> f64 {
        self.firm() + self.verge
    }
}

/// Heights of the land: at each point the mean of those of the line, the nearest with the greatest weight.
fn land(line: &CentreLine) -> HeightGrid {
    let known: Vec<[f64; 3]> = line.evenly(2.0).map(|along| line.at(along).0).collect();
    let ends = [0, 1].map(|axis| {
        let values = known.iter().map(|point| point[axis]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        [low - LAND_MARGIN, high + LAND_MARGIN]
    });
    let counts = ends.map(|[low, high]| ((high - low) / LAND_SPACING).ceil() as usize + 1);
    let origin = ends.map(|[low, _]| low);
    let mut heights = Vec::with_capacity(counts[0] * counts[1]);
    for row in 0..counts[1] {
        for column in 0..counts[0] {
            let place = [column, row].map(|i| i as f64 * LAND_SPACING);
            let (mut sum, mut weights) = (0.0, 0.0);
            for [x, y, z] in &known {
                let away = [origin[0] + place[0] - x, origin[1] + place[1] - y];
                let square = away[0] * away[0] + away[1] * away[1] + LAND_BLUR * LAND_BLUR;
                let weight = 1.0 / (square * square);
                sum += weight * z;
                weights += weight;
            }
            heights.push(sum / weights);
        }
    }
    HeightGrid::new(origin, [LAND_SPACING; 2], counts, heights)
}

/// From 0 at 0 to 1 at 1 with level ends, and its slope.
fn smooth(x: f64) -> (f64, f64) {
    let x = x.clamp(0.0, 1.0);
    (x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x))
}
