//! What a road looks like.

use oldham_multibody::Vec3;

/// A road along a closed centre line, and the land around it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadSketch {
    /// Of the centre line in plan, in m.
    pub length: f64,
    /// Where the points of a cross-section are, in m to the left of the centre line, from left to right: the ends of the
    /// verges, the tops of kerbs if there are any, the edges, the middle.
    pub across: Vec<f64>,
    /// Points of the cross-sections at equal distances from the start on, one cross-section after the other.
    pub sections: Vec<Vec3>,
    /// Kerbs: from which cross-section to which, counted beyond the lap where they go beyond the start, and whether
    /// they are on the left.
    pub kerbs: Vec<(i64, i64, bool)>,
    /// Where cones stand on the left and on the right.
    pub cones: Vec<[Vec3; 2]>,
    /// Left and right end of the lines at which times are taken: the start, then the ends of sectors.
    pub gates: Vec<[Vec3; 2]>,
    /// None where the land is level at zero.
    pub land: Option<LandSketch>,
}

/// Heights of the land at equal distances along x and y.
#[derive(Clone, Debug, PartialEq)]
pub struct LandSketch {
    /// The first point, in m.
    pub origin: [f64; 2],
    /// Distance of the points in m.
    pub spacing: f64,
    /// How many there are along x.
    pub columns: usize,
    /// In m, row by row of equal y.
    pub heights: Vec<f64>,
}
