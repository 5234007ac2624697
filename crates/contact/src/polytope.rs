//! Convex solids with flat faces: the hull of some points.

use std::sync::LazyLock;

use oldham_space::{V3, Vec3};

use crate::shape::{Nearest, Shape};

/// A convex solid with flat faces, made once from its corners.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    vertices: Vec<Vec3>,
    faces: Vec<Face>,
    edges: Vec<Edge>,
}

/// A flat face.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    /// Out of the solid.
    pub normal: Vec3,
    /// Its vertices, counterclockwise as seen from outside.
    pub corners: Vec<u8>,
}

/// Where two faces meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub ends: [u8; 2],
    pub faces: [u8; 2],
}

/// Why points have no hull that contact can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HullError {
    /// Too few of them, or all in one plane.
    #[error("the points lie in one plane; a solid needs at least four that do not")]
    Flat,
    /// More corners than contact takes.
    #[error("{count} points; a convex solid has at most {most} here", most = Polytope::MOST_POINTS)]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("the coordinates of its points must be finite")]
    NotFinite,
}

/// Points count as lying in a plane within this share of the solid's size.
const FLAT: f64 = 1e-9;

impl Polytope {
    /// Most points of a solid.
    pub const MOST_POINTS: usize = 64;

    /// The convex hull of points. Those inside, and those within faces and edges, are left out.
    pub fn hull(points: &[Vec3]) -> Result<Self, HullError> {
        if points.iter().any(|p| p.0.iter().any(|x| !x.is_finite())) {
            return Err(HullError::NotFinite);
        }
        if points.len() > Self::MOST_POINTS {
            let count = points.len();
            return Err(HullError::TooMany { count });
        }
        let middle =
            points.iter().fold(Vec3::ZERO, |sum, p| sum + *p) * (1.0 / points.len().max(1) as f64);
        let size = points
            .iter()
            .fold(0.0, |most: f64, p| most.max((*p - middle).norm()));
        let mut faces: Vec<Face> = Vec::new();
        // Every plane through three points that leaves all others on one side is a face: points are few.
        for i in 0..points.len() {
            for j in i + 1..points.len() {
                for k in j + 1..points.len() {
                    let across = (points[j] - points[i]).cross(points[k] - points[i]);
                    if across.norm() <= FLAT * size * size {
                        continue;
                    }
                    for normal in [across.unit(), -across.unit()] {
                        add_face(points, points[i], normal, FLAT * size, &mut faces);
                    }
                }
            }
        }
        if faces.len() < 4 {
            return Err(HullError::Flat);
        }
        Self::from_faces(points, faces).ok_or(HullError::Flat)
    }

    /// Keeps the points that are corners, and finds the edges.
    fn from_faces(points: &[Vec3], mut faces: Vec<Face>) -> Option<Self> {
        let mut number = [None; Self::MOST_POINTS];
        let mut vertices = Vec::new();
        for (i, place) in number.iter_mut().enumerate().take(points.len()) {
            if faces.iter().any(|face| face.corners.contains(&(i as u8))) {
                *place = Some(vertices.len() as u8);
                vertices.push(points[i]);
            }
        }
        for corner in faces.iter_mut().flat_map(|face| &mut face.corners) {
            *corner = number[*corner as usize].expect("corners are kept");
        }
        let mut edges: Vec<Edge> = Vec::new();
        let mut open = 0;
        for (f, face) in faces.iter().enumerate() {
            for (i, &from) in face.corners.iter().enumerate() {
                let to = face.corners[(i + 1) % face.corners.len()];
                let twin = edges.iter_mut().find(|edge| edge.ends == [to, from]);
                match twin {
                    Some(edge) => {
                        edge.faces[1] = f as u8;
                        open -= 1;
                    }
                    None => {
                        edges.push(Edge {
                            ends: [from, to],
                            faces: [f as u8; 2],
                        });
                        open += 1;
                    }
                }
            }
        }
        // Euler's formula: a closed surface.
        let is_closed = open == 0 && vertices.len() + faces.len() == edges.len() + 2;
        is_closed.then_some(Self {
            vertices,
            faces,
            edges,
        })
    }

    /// The same solid elsewhere.
    pub fn moved(mut self, by: Vec3) -> Self {
        self.vertices.iter_mut().for_each(|v| *v += by);
        self
    }

    /// The corners.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The corners of each face, counterclockwise as seen from outside.
    pub fn faces(&self) -> impl Iterator<Item = impl Iterator<Item = Vec3> + '_> + '_ {
        let corner = |&i: &u8| self.vertices[i as usize];
        self.faces
            .iter()
            .map(move |face| face.corners.iter().map(corner))
    }

    /// Radius of a ball about the origin that holds it.
    pub(crate) fn bounding_radius(&self) -> f64 {
        let each = self.vertices.iter();
        each.fold(0.0, |most: f64, v| most.max(v.norm()))
    }

    /// The smallest distance of a face from the one opposite: a size that is zero for no solid.
    pub(crate) fn thickness(&self) -> f64 {
        let width = |face: &Face| {
            let first = self.vertices[face.corners[0] as usize];
            let depths = self.vertices.iter().map(|v| face.normal.dot(first - *v));
            depths.fold(0.0, f64::max)
        };
        self.faces.iter().map(width).fold(f64::INFINITY, f64::min)
    }

    /// The nearest surface point.
    pub(crate) fn nearest(&self, at: Vec3) -> Nearest {
        let solid = Solid {
            polytope: self,
            scale: Vec3::new(1.0, 1.0, 1.0),
        };
        let mut inside = Nearest {
            distance: f64::NEG_INFINITY,
            normal: Vec3::Z,
        };
        let (mut square, mut toward) = (f64::INFINITY, Vec3::ZERO);
        for (f, face) in self.faces.iter().enumerate() {
            let height = face.normal.dot(at) - solid.offset(f);
            if height > inside.distance {
                inside = Nearest {
                    distance: height,
                    normal: face.normal,
                };
            }
            if height > 0.0 {
                let away = at - solid.nearest_of_face(f, at);
                if away.dot(away) < square {
                    (square, toward) = (away.dot(away), away);
                }
            }
        }
        if inside.distance <= 0.0 {
            return inside;
        }
        let distance = square.sqrt();
        Nearest {
            distance,
            normal: toward * (1.0 / distance),
        }
    }
}

/// Adds the face in a plane, if all points are below it and it is not known yet.
fn add_face(points: &[Vec3], on: Vec3, normal: Vec3, flat: f64, faces: &mut Vec<Face>) {
    let height = |p: &Vec3| normal.dot(*p - on);
    if points.iter().any(|p| height(p) > flat) {
        return;
    }
    let within: Vec<u8> = (0..points.len())
        .filter(|&i| height(&points[i]) >= -flat)
        .map(|i| i as u8)
        .collect();
    let corners = around(points, &within, normal, flat);
    let holds = |face: &Face| corners.iter().all(|corner| face.corners.contains(corner));
    if corners.len() >= 3 && !faces.iter().any(holds) {
        faces.push(Face { normal, corners });
    }
}

/// The corners of points in a plane, counterclockwise about its normal (Jarvis' march).
fn around(points: &[Vec3], within: &[u8], normal: Vec3, flat: f64) -> Vec<u8> {
    let at = |i: u8| points[i as usize];
    let axis = normal.perpendicular();
    let lowest = within
        .iter()
        .copied()
        .min_by(|&a, &b| axis.dot(at(a)).total_cmp(&axis.dot(at(b))));
    let Some(mut first) = lowest else {
        return Vec::new();
    };
    // Of several lowest points the last one about the normal, so that the first is a corner.
    let along = normal.cross(axis);
    for &i in within {
        let level = (axis.dot(at(i) - at(first))).abs() <= flat;
        if level && along.dot(at(i) - at(first)) > flat {
            first = i;
        }
    }
    let mut corners = vec![first];
    while corners.len() <= within.len() {
        let here = at(corners[corners.len() - 1]);
        let mut next: Option<u8> = None;
        for &i in within {
            let way = at(i) - here;
            if way.norm() <= flat {
                continue;
            }
            let better = next.is_none_or(|best| {
                let to_best = at(best) - here;
                let turn = normal.dot(to_best.cross(way)) / to_best.norm();
                turn < -flat || (turn <= flat && way.norm() > to_best.norm())
            });
            if better {
                next = Some(i);
            }
        }
        match next {
            Some(next) if next != first => corners.push(next),
            _ => break,
        }
    }
    corners
}

/// A polytope stretched along its axes: a box is a stretched cube.
#[derive(Clone, Copy)]
pub(crate) struct Solid<'a> {
    polytope: &'a Polytope,
    scale: Vec3,
}

/// Half a metre to every side of each axis, times two.
static CUBE: LazyLock<Polytope> = LazyLock::new(|| {
    let sign = |bit: usize| if bit & 1 == 1 { 1.0 } else { -1.0 };
    let corners: Vec<Vec3> = (0..8)
        .map(|i| Vec3::new(sign(i), sign(i >> 1), sign(i >> 2)))
        .collect();
    Polytope::hull(&corners).expect("a cube is a solid")
});

impl<'a> Solid<'a> {
    /// The flat faces of a shape; nothing for one that is round.
    pub fn of(shape: &'a Shape) -> Option<Self> {
        match shape {
            Shape::Box { half } => Some(Self {
                polytope: &CUBE,
                scale: *half,
            }),
            Shape::Mesh(polytope) => Some(Self {
                polytope,
                scale: Vec3::new(1.0, 1.0, 1.0),
            }),
            _ => None,
        }
    }

    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        (0..self.polytope.vertices.len()).map(|i| self.vertex(i as u8))
    }

    pub fn vertex(&self, i: u8) -> Vec3 {
        let v = self.polytope.vertices[i as usize];
        V3([0, 1, 2].map(|k: usize| v[k] * self.scale[k]))
    }

    pub fn faces(&self) -> &'a [Face] {
        &self.polytope.faces
    }

    pub fn edges(&self) -> &'a [Edge] {
        &self.polytope.edges
    }

    /// Distance of a face's plane from the origin, along its normal.
    pub fn offset(&self, face: usize) -> f64 {
        let face = &self.polytope.faces[face];
        face.normal.dot(self.vertex(face.corners[0]))
    }

    /// The farthest vertex along a direction; the first of equals.
    pub fn support(&self, along: Vec3) -> (f64, Vec3) {
        let mut best = (f64::NEG_INFINITY, Vec3::ZERO);
        for vertex in self.vertices() {
            let far = vertex.dot(along);
            if far > best.0 {
                best = (far, vertex);
            }
        }
        best
    }

    /// How far a point is within the sides of a face, seen along its normal; negative beside it.
    pub fn within_face(&self, face: usize, at: Vec3) -> f64 {
        let face = &self.polytope.faces[face];
        let count = face.corners.len();
        let side = |i: usize| {
            let (from, to) = (
                self.vertex(face.corners[i]),
                self.vertex(face.corners[(i + 1) % count]),
            );
            let inward = face.normal.cross((to - from).unit());
            inward.dot(at - from)
        };
        (0..count).map(side).fold(f64::INFINITY, f64::min)
    }

    /// The nearest point of a face.
    fn nearest_of_face(&self, index: usize, at: Vec3) -> Vec3 {
        let face = &self.polytope.faces[index];
        if self.within_face(index, at) >= 0.0 {
            let height = face.normal.dot(at) - self.offset(index);
            return at - face.normal * height;
        }
        let count = face.corners.len();
        let mut best = (f64::INFINITY, Vec3::ZERO);
        for i in 0..count {
            let (from, to) = (
                self.vertex(face.corners[i]),
                self.vertex(face.corners[(i + 1) % count]),
            );
            let along = to - from;
            let t = ((at - from).dot(along) / along.dot(along)).clamp(0.0, 1.0);
            let point = from + along * t;
            let square = (at - point).dot(at - point);
            if square < best.0 {
                best = (square, point);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_has_six_faces_and_twelve_edges() {
        assert_eq!(
            (CUBE.vertices.len(), CUBE.faces.len(), CUBE.edges.len()),
            (8, 6, 12)
        );
        for face in &CUBE.faces {
            assert_eq!(face.corners.len(), 4);
            let [a, b, c] = [0, 1, 2].map(|i: usize| CUBE.vertices[face.corners[i] as usize]);
            assert!(
                (b - a).cross(c - b).dot(face.normal) > 0.0,
                "counterclockwise"
            );
        }
    }

    /// Points within the solid, its faces and its edges are no corners.
    #[test]
    fn points_within_are_left_out() {
        let mut points = CUBE.vertices.clone();
        points.extend([Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::X]);
        let hull = Polytope::hull(&points).unwrap();
        assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6));
        let flat: Vec<Vec3> = (0..6)
            .map(|i| Vec3::new(i as f64, (i * i) as f64, 0.0))
            .collect();
        assert_eq!(Polytope::hull(&flat), Err(HullError::Flat));
        assert_eq!(Polytope::hull(&[]), Err(HullError::Flat));
        let nan = Polytope::hull(&[Vec3::X * f64::NAN]);
        assert_eq!(nan, Err(HullError::NotFinite));
    }

    /// Distances of the cube as a polytope are those of a box.
    #[test]
    fn distances_are_those_of_a_box() {
        let as_box = Shape::Box {
            half: Vec3::new(1.0, 1.0, 1.0),
        };
        for k in 0..200 {
            let t = k as f64;
            let at = Vec3::new((1.1 * t).sin(), (2.3 * t).cos(), (0.7 * t).sin()) * 2.5;
            let (one, other) = (CUBE.nearest(at), as_box.nearest(at));
            assert!((one.distance - other.distance).abs() < 1e-14);
            assert!((one.normal - other.normal).norm() < 1e-12, "{at:?}");
        }
    }
}
