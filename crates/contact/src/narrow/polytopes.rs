//! Two convex solids with flat faces: the axis that separates them most, then the points of the faces or edges that
//! meet there, and those of the best face beside edges that do. The gap is measured along that axis.
//!
//! Axes are the normals of faces and the common perpendiculars of edges. Of these only pairs of edges count whose arcs
//! on the Gauss maps of the two solids cross: they make a face of the Minkowski difference.
//!
//! Reference: D. Gregorius, "The separating axis test between convex polyhedra", Game Developers Conference 2013.

use oldham_space::Vec3;

use super::{Point, manifold};
use crate::polytope::{Polytope, Solid};
use crate::shape::Pose;

/// A face is preferred to a pair of edges, and a face of the first solid to one of the second, unless they separate by so much
/// more, relative to the solids.
const PREFERENCE: f64 = 1e-6;
/// Edges whose directions are nearer than this add nothing to the faces beside them.
const PARALLEL: f64 = 1e-6;

/// A solid and where it is.
type Placed<'a> = (&'a Solid<'a>, &'a Pose);

/// Points of two solids; normals point from the first to the second.
pub fn collide(a: Placed<'_>, b: Placed<'_>, reach: f64, out: &mut Vec<Point>) {
    let start = out.len();
    let (of_a, face_a) = best_face(a, b);
    if of_a >= reach {
        return;
    }
    let (of_b, face_b) = best_face(b, a);
    if of_b >= reach {
        return;
    }
    let size = a.0.support(Vec3::X).0.abs() + b.0.support(Vec3::X).0.abs();
    let preference = PREFERENCE * size;
    let of_faces = of_a.max(of_b);
    let crossing = best_edges(a, b, of_faces + preference);
    if let Some(crossing) = &crossing {
        if crossing.gap >= reach {
            return;
        }
        out.push(crossing.point());
    }
    let is_alone = crossing.is_none();
    if of_b > of_a + preference {
        clip(b, face_b, a, (1, -1.0, is_alone), reach, out);
    } else {
        clip(a, face_a, b, (0, 1.0, is_alone), reach, out);
    }
    if !is_alone {
        let size = a.0.vertex(0).norm() + b.0.vertex(0).norm();
        manifold::beside_edges(out, start, size);
    }
    manifold::reduce(out, start);
}

/// The face of the first solid that is farthest from the second: its distance and its number.
fn best_face((a, at_a): Placed<'_>, (b, at_b): Placed<'_>) -> (f64, usize) {
    let offset = at_a.locate(at_b.position);
    let mut best = (f64::NEG_INFINITY, 0);
    for (i, face) in a.faces().iter().enumerate() {
        let (far, _) = b.support(-at_b.axes.transpose_mul(at_a.axes * face.normal));
        let separation = face.normal.dot(offset) - far - a.offset(i);
        if separation > best.0 {
            best = (separation, i);
        }
    }
    best
}

/// Two edges that cross.
struct Crossing {
    edges: [usize; 2],
    /// Nearest points of their lines.
    ends: [Vec3; 2],
    normal: Vec3,
    gap: f64,
}

impl Crossing {
    fn point(&self) -> Point {
        Point {
            feature: 1 << 30 | (self.edges[0] as u32) << 8 | self.edges[1] as u32,
            position: (self.ends[0] + self.ends[1]) * 0.5,
            normal: self.normal,
            gap: self.gap,
        }
    }
}

/// The pair of edges that separates by more than faces do, and most.
fn best_edges((a, at_a): Placed<'_>, (b, at_b): Placed<'_>, otherwise: f64) -> Option<Crossing> {
    let mut best: Option<Crossing> = None;
    let mut most = otherwise;
    for (j, second) in b.edges().iter().enumerate() {
        // The second solid's edge in the frame of the first, its normals turned round.
        let [q, q_end] = second.ends.map(|v| at_a.locate(at_b.place(b.vertex(v))));
        let along_b = q_end - q;
        let [c, d] = second.faces.map(|f| {
            -at_a
                .axes
                .transpose_mul(at_b.axes * b.faces()[f as usize].normal)
        });
        let d_c = d.cross(c);
        for (i, first) in a.edges().iter().enumerate() {
            let [n, m] = first.faces.map(|f| a.faces()[f as usize].normal);
            let m_n = m.cross(n);
            let (over, under) = (c.dot(m_n), d.dot(m_n));
            let (left, right) = (n.dot(d_c), m.dot(d_c));
            let arcs_cross = over * under < 0.0 && left * right < 0.0 && over * right > 0.0;
            if !arcs_cross {
                continue;
            }
            let [p, p_end] = first.ends.map(|v| a.vertex(v));
            let along_a = p_end - p;
            let across = along_a.cross(along_b);
            let length = across.norm();
            if length <= PARALLEL * along_a.norm() * along_b.norm() {
                continue;
            }
            // Away from the first solid, as both its faces look.
            let outward = across.dot(n + m);
            let normal = across * (1.0_f64.copysign(outward) / length);
            let gap = normal.dot(q - p);
            if gap > most {
                most = gap;
                let (on_a, on_b) = nearest_of_lines((p, along_a), (q, along_b));
                best = Some(Crossing {
                    edges: [i, j],
                    ends: [at_a.place(on_a), at_a.place(on_b)],
                    normal: at_a.axes * normal,
                    gap,
                });
            }
        }
    }
    best
}

/// The nearest points of two lines that are not parallel, each a point and a direction.
fn nearest_of_lines((p, d): (Vec3, Vec3), (q, e): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let between = q - p;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let determinant = dd * ee - de * de;
    let (s, t) = (between.dot(d), between.dot(e));
    (
        p + d * ((s * ee - t * de) / determinant),
        q + e * ((s * de - t * dd) / determinant),
    )
}

/// A face of one solid clips the facing face of the other. `which` says which solid this is, whether normals turn, and whether edges
/// do not meet beside it.
fn clip(
    (a, at_a): Placed<'_>,
    face: usize,
    (b, at_b): Placed<'_>,
    (which, turn, is_alone): (u32, f64, bool),
    reach: f64,
    out: &mut Vec<Point>,
) {
    let own = &a.faces()[face];
    let normal = at_a.axes * own.normal;
    let seen = at_b.axes.transpose_mul(normal);
    let mut facing = (f64::INFINITY, 0);
    for (i, other) in b.faces().iter().enumerate() {
        let along = other.normal.dot(seen);
        if along < facing.0 {
            facing = (along, i);
        }
    }
    let mut polygon = Polygon::default();
    for &corner in &b.faces()[facing.1].corners {
        polygon.push(at_a.locate(at_b.place(b.vertex(corner))));
    }
    let count = own.corners.len();
    for i in 0..count {
        let from = a.vertex(own.corners[i]);
        let to = a.vertex(own.corners[(i + 1) % count]);
        polygon.cut(from, own.normal.cross(to - from));
    }
    if polygon.count == 0 && is_alone {
        // Past the sides of the face by rounding: the vertex that is nearest to its plane.
        let (_, vertex) = b.support(-seen);
        polygon.push(at_a.locate(at_b.place(vertex)));
    }
    let offset = a.offset(face);
    for (k, &local) in polygon.points().iter().enumerate() {
        let gap = own.normal.dot(local) - offset;
        if gap < reach {
            out.push(Point {
                feature: which << 24 | (face as u32) << 16 | (facing.1 as u32) << 8 | k as u32,
                position: at_a.place(local) - normal * (0.5 * gap),
                normal: normal * turn,
                gap,
            });
        }
    }
}

/// Corners of the clipped face, and one more for each side that clips it.
const ROOM: usize = 2 * Polytope::MOST_POINTS;

struct Polygon {
    corners: [Vec3; ROOM],
    count: usize,
}

impl Default for Polygon {
    fn default() -> Self {
        Self {
            corners: [Vec3::ZERO; ROOM],
            count: 0,
        }
    }
}

impl Polygon {
    fn push(&mut self, corner: Vec3) {
        if self.count < ROOM {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }

    fn points(&self) -> &[Vec3] {
        &self.corners[..self.count]
    }

    /// Keeps what is on the inner side of a plane.
    fn cut(&mut self, on: Vec3, inward: Vec3) {
        let mut kept = Self::default();
        for i in 0..self.count {
            let (here, next) = (self.corners[i], self.corners[(i + 1) % self.count]);
            let (inside, ahead) = (inward.dot(here - on), inward.dot(next - on));
            if inside >= 0.0 {
                kept.push(here);
            }
            if inside * ahead < 0.0 {
                kept.push(here + (next - here) * (inside / (inside - ahead)));
            }
        }
        *self = kept;
    }
}
