//! What is drawn of a mechanism in one configuration.

use std::f64::consts::TAU;

use oldham_model::{Outline, Pose, Shape, Sketch, Solid, Symbol, Telescope};
use oldham_multibody::{Marker, NodeId, Vec3};

use super::View;

/// Corners of what is round.
const CORNERS: usize = 16;
/// Turns of a spring.
const TURNS: usize = 6;

/// Half the width of a coil over the size of the mechanism.
const COIL: f64 = 0.03;
/// Of a cylinder or a damper over its length at the start: where its tube begins and ends, how long its rod is, and half
/// its width.
const EYE: f64 = 0.15;
const TUBE: f64 = 0.6;
const ROD: f64 = 0.6;
const WIDE: f64 = 0.06;

/// How a mark looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Face of a body.
    Face,
    /// A link, or a rigid rod.
    Link,
    /// A beam.
    Beam,
    /// A spring.
    Spring,
    /// A damper.
    Damper,
    /// The tube of a cylinder.
    Tube,
    /// The rod of a cylinder.
    Rod,
    /// A guide.
    Guide,
    /// A pin: a dot of fixed size.
    Pin,
    /// A node or a centre of mass: a small dot.
    Dot,
    /// Where something is attached to the ground: a symbol of fixed size.
    Ground,
    /// A clamp at the ground, which lets nothing turn.
    Clamp,
    /// A node of one of several pieces, in the piece's colour.
    Member(usize),
    /// An element of such a piece.
    Tie(usize),
    /// A ring around a node between pieces.
    Ring,
    /// The force of a contact.
    Contact,
}

/// Points to be drawn in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// In which way.
    pub ink: Ink,
    /// One point for pins, dots and the ground.
    pub points: Vec<Vec3>,
}

/// Where the nodes of a mechanism are, in one configuration or in several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    low: Vec3,
    high: Vec3,
    /// Largest distance of two nodes from the first one.
    size: f64,
}

impl Extent {
    /// Of nodes at `poses`, the ground first.
    pub fn of(poses: &[Pose]) -> Self {
        let places = || poses.iter().map(|pose| pose.position);
        let from = poses.get(1).map_or(Vec3::ZERO, |pose| pose.position);
        let start = places().next().unwrap_or(Vec3::ZERO);
        Self {
            low: places().fold(start, |a, b| by_component(a, b, f64::min)),
            high: places().fold(start, |a, b| by_component(a, b, f64::max)),
            size: places().map(|at| (at - from).norm()).fold(0.0, f64::max),
        }
    }

    /// Of this one and another.
    pub fn with(self, other: Self) -> Self {
        Self {
            low: by_component(self.low, other.low, f64::min),
            high: by_component(self.high, other.high, f64::max),
            size: self.size.max(other.size),
        }
    }
}

fn by_component(a: Vec3, b: Vec3, of: fn(f64, f64) -> f64) -> Vec3 {
    Vec3::new(of(a[0], b[0]), of(a[1], b[1]), of(a[2], b[2]))
}

/// All marks of a mechanism whose nodes are at `poses`, the ground first.
pub fn marks(sketch: &Sketch, poses: &[Pose], view: &View) -> Vec<Mark> {
    marks_within(Extent::of(poses), sketch, poses, view)
}

/// The same where the nodes go farther than that: what is as large as the mechanism is the same in all frames of a motion.
pub(crate) fn marks_within(
    extent: Extent,
    sketch: &Sketch,
    poses: &[Pose],
    view: &View,
) -> Vec<Mark> {
    let canvas = Canvas {
        extent,
        sketch,
        poses,
        view,
    };
    let mut marks = Vec::new();
    canvas.planes(&mut marks);
    canvas.guides(&mut marks);
    canvas.bodies(&mut marks);
    canvas.outlines(&mut marks);
    canvas.joints(&mut marks);
    marks
}

struct Canvas<'a> {
    extent: Extent,
    sketch: &'a Sketch,
    poses: &'a [Pose],
    view: &'a View,
}

impl Canvas<'_> {
    fn pose(&self, node: NodeId) -> &Pose {
        &self.poses[node.index()]
    }

    fn place(&self, marker: &Marker) -> Vec3 {
        self.pose(marker.node).point(marker.offset)
    }

    /// A square of each half space, about as large as the mechanism; on the ground below where it is.
    fn planes(&self, marks: &mut Vec<Mark>) {
        let Extent { low, high, size } = self.extent;
        let half = (0.75 * size).max(0.6 * (high - low).norm());
        for plane in &self.sketch.planes {
            let pose = self.pose(plane.node);
            let axes = plane.orientation.matrix();
            let [across, along] = [0, 1].map(|i| axes.column(i));
            let mut centre = plane.offset;
            if plane.node == NodeId::GROUND {
                let away = (low + high) * 0.5 - pose.point(centre);
                centre += across * across.dot(away) + along * along.dot(away);
            }
            let at = |(i, j): (f64, f64)| pose.point(centre + (across * i + along * j) * half);
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let mut points = corners.map(at).to_vec();
            points.push(points[0]);
            marks.push(Mark {
                ink: Ink::Guide,
                points,
            });
        }
    }

    fn guides(&self, marks: &mut Vec<Mark>) {
        for (symbol, [a, b]) in &self.sketch.joints {
            let grounded = [a, b].into_iter().find(|end| end.node == NodeId::GROUND);
            if let (Symbol::Slide, Some(end)) = (symbol, grounded) {
                let axis = self
                    .pose(end.node)
                    .direction(end.orientation.matrix().column(2));
                let reach = axis * (0.4 * self.extent.size);
                let place = self.place(end);
                marks.push(Mark {
                    ink: Ink::Guide,
                    points: vec![place - reach, place + reach],
                });
            }
        }
    }

    fn bodies(&self, marks: &mut Vec<Mark>) {
        for solid in &self.sketch.bodies {
            let node = self.pose(solid.node);
            let body = Pose {
                position: node.point(solid.centre),
                orientation: node.orientation.times(solid.orientation),
            };
            match &solid.shape {
                Some(shape) => self.shape(shape, &body, marks),
                None => self.links(solid, body.position, marks),
            }
        }
    }

    /// A body of unknown shape: lines from its centre to all that is attached to it.
    fn links(&self, solid: &Solid, centre: Vec3, marks: &mut Vec<Mark>) {
        let joints = self.sketch.joints.iter().flat_map(|(_, ends)| ends);
        let springs = self.sketch.outlines.iter().flat_map(ends);
        for marker in joints
            .chain(springs)
            .filter(|marker| marker.node == solid.node)
        {
            marks.push(Mark {
                ink: Ink::Link,
                points: vec![centre, self.place(marker)],
            });
        }
        marks.push(dot(Ink::Dot, centre));
    }

    fn shape(&self, shape: &Shape, body: &Pose, marks: &mut Vec<Mark>) {
        let mut face = |points: Vec<Vec3>| {
            let points = points.into_iter().map(|point| body.point(point)).collect();
            marks.push(Mark {
                ink: Ink::Face,
                points,
            });
        };
        match *shape {
            Shape::Box(sides) => box_faces(sides).into_iter().for_each(&mut face),
            Shape::Tube { outer, length, .. } => self.tube(outer, length, body, marks),
            Shape::Sphere(radius) => marks.push(ball(body.position, radius, self.view)),
            Shape::Rod(length) => marks.push(Mark {
                ink: Ink::Link,
                points: [-0.5, 0.5]
                    .map(|x| body.point(Vec3::X * (x * length)))
                    .to_vec(),
            }),
        }
    }

    /// The silhouette of a tube along x, and its lids. Both, because in an animation the one that faces the
    /// viewer would change.
    fn tube(&self, radius: f64, length: f64, body: &Pose, marks: &mut Vec<Mark>) {
        let rim = |end: f64, angle: f64| {
            let around = Vec3::new(0.0, angle.cos(), angle.sin()) * radius;
            body.point(Vec3::X * (end * length) + around)
        };
        let axis = self.view.see(body.direction(Vec3::X));
        let seen = |angle: f64| self.view.see(rim(0.0, angle) - body.position);
        let beside = |angle: f64| axis[0] * seen(angle)[1] - axis[1] * seen(angle)[0];
        let beyond = |angle: f64| axis[0] * seen(angle)[0] + axis[1] * seen(angle)[1];
        // Where the rim is farthest from the axis; from there its outer half is gone around.
        let top = beside(TAU / 4.0).atan2(beside(0.0));
        let turn = beyond(top + TAU / 4.0).signum();
        let half =
            |end: f64, from: f64| (0..=CORNERS / 2).map(move |i| rim(end, from + turn * corner(i)));
        let outline = half(0.5, top).chain(half(-0.5, top + turn * TAU / 2.0));
        let lid = |end: f64| (0..CORNERS).map(|i| rim(end, corner(i))).collect();
        for points in [outline.collect(), lid(0.5), lid(-0.5)] {
            marks.push(Mark {
                ink: Ink::Face,
                points,
            });
        }
    }

    fn outlines(&self, marks: &mut Vec<Mark>) {
        for outline in &self.sketch.outlines {
            for end in ends(outline) {
                if end.node == NodeId::GROUND {
                    marks.push(dot(Ink::Ground, self.place(end)));
                }
            }
            let mark = match outline {
                Outline::Beam(nodes) => Mark {
                    ink: Ink::Beam,
                    points: nodes.iter().map(|&node| self.pose(node).position).collect(),
                },
                Outline::Face(nodes) => Mark {
                    ink: Ink::Face,
                    points: nodes.map(|node| self.pose(node).position).to_vec(),
                },
                Outline::Cable(points) | Outline::Profile(points) => Mark {
                    ink: Ink::Spring,
                    points: points.iter().map(|point| self.place(point)).collect(),
                },
                Outline::Wheel { rim, axis, radius } => Mark {
                    ink: Ink::Face,
                    points: self.circle(*rim, *axis, *radius),
                },
                Outline::Spring([a, b]) => Mark {
                    ink: Ink::Spring,
                    points: self.coil(self.place(a), self.place(b), COIL * self.extent.size),
                },
                Outline::Damper(damper) => {
                    self.dashpot(damper, marks);
                    continue;
                }
                Outline::Strut(strut) => {
                    self.dashpot(strut, marks);
                    let [a, b] = strut.ends.each_ref().map(|end| self.place(end));
                    Mark {
                        ink: Ink::Spring,
                        points: self.coil(a, b, 2.0 * WIDE * strut.length),
                    }
                }
                Outline::Actuator(cylinder) => {
                    self.cylinder(cylinder, marks);
                    continue;
                }
                // Beside a road of hundreds of metres nothing else would be seen.
                Outline::Road(_) => continue,
            };
            marks.push(mark);
        }
    }

    /// A circle about an axis of a node.
    fn circle(&self, node: NodeId, axis: Vec3, radius: f64) -> Vec<Vec3> {
        let [u, v] = across(axis);
        let at = |angle: f64| (u * angle.cos() + v * angle.sin()) * radius;
        let pose = self.pose(node);
        (0..CORNERS).map(|i| pose.point(at(corner(i)))).collect()
    }

    /// A direction that is seen at right angles to a line, of this length.
    fn beside(&self, line: Vec3, length: f64) -> Vec3 {
        let [x, y] = self.view.see(line);
        self.view.around(Vec3::ZERO, length, y.atan2(x) + TAU / 4.0)
    }

    /// A tube on the first end and a rod with a piston on the second, which slides in it: where the tube begins and
    /// ends, where the piston is, and half its width.
    fn telescope(&self, drawn: &Telescope) -> ([Vec3; 5], Vec3) {
        let [a, b] = drawn.ends.each_ref().map(|end| self.place(end));
        let along = (b - a).unit();
        let tube = [EYE, TUBE].map(|part| a + along * (part * drawn.length));
        // A rod never leaves its tube, nor goes through its bottom.
        let reach = (b - a).norm();
        let piston = (reach - ROD * drawn.length)
            .clamp(EYE * drawn.length, TUBE * drawn.length)
            .min(reach);
        let piston = a + along * piston;
        let points = [a, tube[0], tube[1], piston, b];
        (points, self.beside(b - a, WIDE * drawn.length))
    }

    /// A cup in which a piston moves.
    fn dashpot(&self, drawn: &Telescope, marks: &mut Vec<Mark>) {
        let ([a, bottom, rim, piston, b], half) = self.telescope(drawn);
        let lines = [
            vec![a, bottom],
            vec![rim + half, bottom + half, bottom - half, rim - half],
            vec![piston + half * 0.8, piston - half * 0.8],
            vec![piston, b],
        ];
        marks.extend(lines.map(|points| Mark {
            ink: Ink::Damper,
            points,
        }));
    }

    /// A closed tube with a rod.
    fn cylinder(&self, drawn: &Telescope, marks: &mut Vec<Mark>) {
        let ([a, bottom, rim, piston, b], half) = self.telescope(drawn);
        let tube = vec![rim + half, bottom + half, bottom - half, rim - half];
        let lines = [
            (Ink::Link, vec![a, bottom]),
            (Ink::Rod, vec![piston, b]),
            (Ink::Tube, tube),
        ];
        marks.extend(lines.map(|(ink, points)| Mark { ink, points }));
    }

    /// A zigzag that faces the viewer.
    fn coil(&self, a: Vec3, b: Vec3, half: f64) -> Vec<Vec3> {
        let across = self.beside(b - a, half);
        let between = |part: f64, side: f64| a + (b - a) * part + across * side;
        let mut points = vec![a, between(0.2, 0.0)];
        for turn in 0..2 * TURNS {
            let side = if turn % 2 == 0 { 1.0 } else { -1.0 };
            let part = 0.2 + 0.6 * (turn as f64 + 0.5) / (2 * TURNS) as f64;
            points.push(between(part, side));
        }
        points.extend([between(0.8, 0.0), b]);
        points
    }

    fn joints(&self, marks: &mut Vec<Mark>) {
        for (symbol, [a, b]) in &self.sketch.joints {
            let ends = [a, b].map(|end| self.place(end));
            if *symbol == Symbol::Rod {
                marks.push(Mark {
                    ink: Ink::Link,
                    points: ends.to_vec(),
                });
            }
            for (end, place) in [a, b].into_iter().zip(ends) {
                if end.node == NodeId::GROUND && !matches!(symbol, Symbol::Slide | Symbol::Point) {
                    let ink = match symbol {
                        Symbol::Clamp => Ink::Clamp,
                        _ => Ink::Ground,
                    };
                    marks.push(dot(ink, place));
                }
            }
            let on_guide = [a, b].into_iter().any(|end| end.node == NodeId::GROUND);
            match symbol {
                Symbol::Slide if on_guide => marks.push(dot(Ink::Dot, ends[1])),
                Symbol::Pin | Symbol::Slide | Symbol::Point => {
                    marks.push(dot(Ink::Pin, ends[1]));
                }
                Symbol::Rod => marks.extend(ends.map(|end| dot(Ink::Pin, end))),
                Symbol::Clamp => {}
            }
        }
    }
}

/// A sphere as it is seen.
pub(crate) fn ball(centre: Vec3, radius: f64, view: &View) -> Mark {
    Mark {
        ink: Ink::Face,
        points: (0..CORNERS)
            .map(|i| view.around(centre, radius, corner(i)))
            .collect(),
    }
}

/// An arrow from a point, with a head of a fifth of its length that faces the viewer.
pub(crate) fn arrow(from: Vec3, along: Vec3, view: &View) -> Mark {
    let tip = from + along;
    let aside = view.aside(along) * (0.1 * along.norm());
    let [left, right] = [aside, -aside].map(|aside| tip - along * 0.2 + aside);
    Mark {
        ink: Ink::Contact,
        points: vec![from, tip, left, tip, right],
    }
}

/// Where a spring or an actuator is attached.
fn ends(outline: &Outline) -> &[Marker] {
    match outline {
        Outline::Spring(ends) => ends,
        Outline::Damper(drawn) | Outline::Strut(drawn) | Outline::Actuator(drawn) => &drawn.ends,
        Outline::Cable(points) => points,
        Outline::Beam(_)
        | Outline::Face(_)
        | Outline::Profile(_)
        | Outline::Wheel { .. }
        | Outline::Road(_) => &[],
    }
}

/// Two directions that are normal to an axis and to each other, of length one.
pub(crate) fn across(axis: Vec3) -> [Vec3; 2] {
    let aside = if axis[2].abs() < 0.9 * axis.norm() {
        Vec3::Z
    } else {
        Vec3::X
    };
    let first = aside.cross(axis).unit();
    [first, axis.unit().cross(first)]
}

fn dot(ink: Ink, place: Vec3) -> Mark {
    Mark {
        ink,
        points: vec![place],
    }
}

fn corner(i: usize) -> f64 {
    TAU * i as f64 / CORNERS as f64
}

fn box_faces(sides: [f64; 3]) -> Vec<Vec<Vec3>> {
    let mut faces = Vec::new();
    for normal in 0..3 {
        let (u, v) = ((normal + 1) % 3, (normal + 2) % 3);
        for end in [-0.5, 0.5] {
            let corner = |(a, b): (f64, f64)| {
                let mut point = Vec3::ZERO;
                point[normal] = end * sides[normal];
                point[u] = a * sides[u];
                point[v] = b * sides[v];
                point
            };
            let around = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
            faces.push(around.map(corner).to_vec());
        }
    }
    faces
}

#[cfg(test)]
mod tests {
    use super::super::ViewName;
    use super::*;
    use oldham_multibody::Quaternion;

    #[test]
    fn a_tube_seen_from_its_side_is_a_rectangle() {
        let view = View::of(ViewName::Xy, std::iter::empty());
        let (sketch, poses) = (Sketch::default(), []);
        let canvas = Canvas {
            extent: Extent::of(&poses),
            sketch: &sketch,
            poses: &poses,
            view: &view,
        };
        let body = Pose {
            position: Vec3::new(3.0, 4.0, 0.0),
            orientation: Quaternion::exp(Vec3::new(0.0, 0.0, 0.5)),
        };
        let mut marks = Vec::new();
        canvas.tube(0.1, 2.0, &body, &mut marks);
        let back = body.orientation.matrix().transpose();
        let corners = marks[0]
            .points
            .iter()
            .map(|&point| back * (point - body.position));
        let mut reach = [0.0_f64; 2];
        for corner in corners {
            assert!((corner[0].abs() - 1.0).abs() < 1e-12);
            reach = [reach[0].max(corner[1]), reach[1].min(corner[1])];
        }
        assert!((reach[0] - 0.1).abs() < 1e-12 && (reach[1] + 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_silhouette_of_a_tube_covers_all_of_it() {
        let view = View::of(ViewName::Iso, std::iter::empty());
        let (sketch, poses) = (Sketch::default(), []);
        let canvas = Canvas {
            extent: Extent::of(&poses),
            sketch: &sketch,
            poses: &poses,
            view: &view,
        };
        for turn in [
            Vec3::ZERO,
            Vec3::new(0.4, -1.1, 2.0),
            Vec3::new(-2.0, 0.3, 0.9),
        ] {
            let body = Pose {
                position: Vec3::ZERO,
                orientation: Quaternion::exp(turn),
            };
            let mut marks = Vec::new();
            canvas.tube(0.2, 1.0, &body, &mut marks);
            let outline: Vec<_> = marks[0].points.iter().map(|&p| view.see(p)).collect();
            let angles = (0..CORNERS).map(corner);
            for angle in angles {
                let direction = [angle.cos(), angle.sin()];
                let height = |p: &[f64; 2]| direction[0] * p[0] + direction[1] * p[1];
                let reached = outline.iter().map(height).fold(f64::MIN, f64::max);
                for (end, at) in [0.5, -0.5]
                    .into_iter()
                    .flat_map(|e| (0..64).map(move |i| (e, i)))
                {
                    let rim = TAU * f64::from(at) / 64.0;
                    let point = Vec3::new(end, 0.2 * rim.cos(), 0.2 * rim.sin());
                    let seen = height(&view.see(body.point(point)));
                    // A polygon inside the circle misses up to 1 - cos(pi/16) of the radius.
                    assert!(seen < reached + 0.2 * 0.02, "{turn:?} {seen} {reached}");
                }
            }
        }
    }
}
