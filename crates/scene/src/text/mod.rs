//! A scene in characters, for machines without a browser.

mod places;
mod raster;

use oldham_multibody::Vec3;
use oldham_web::{Drawing, Film, Scene, Shape};

use crate::view::{View, ViewName};
use places::{Places, scale};
use raster::Raster;

/// Instants at which the extent of a motion is looked at.
const LOOKS: usize = 40;
/// Corners of what is round.
const ROUND: usize = 20;

/// Draws rows of a scene in Braille characters, all to the same scale.
pub struct TextView<'s> {
    scene: &'s Scene,
    view: View,
    columns: usize,
    lines: usize,
    /// The middle of the picture, and half of what it shows, in m.
    centre: [f64; 2],
    half: f64,
    /// Of displacements along a line.
    scale: f64,
}

impl<'s> TextView<'s> {
    /// For the rows of a film, in so many columns and lines of characters.
    pub fn new(film: &'s Film, view: ViewName, columns: usize, lines: usize) -> Self {
        let scene = &film.scene;
        let rows: Vec<&[f32]> = film.rows.chunks(scene.width.max(1)).collect();
        let step = rows.len().div_ceil(LOOKS).max(1);
        // Of what travels, the size of the thing itself counts, not that of its way.
        let looks = if scene.follow.is_some() {
            1
        } else {
            rows.len()
        };
        let looked = rows.iter().take(looks).step_by(step);
        let scale = scale(scene, &rows);
        let mut points = Vec::new();
        for row in looked {
            let places = Places::of(scene, row, scale);
            strokes(scene, &places, &mut |a, b| points.extend([a, b]));
        }
        let view = View::of(view, points.iter().copied());
        let mut text = Self {
            scene,
            view,
            columns: columns.max(10),
            lines: lines.max(4),
            centre: [0.0; 2],
            half: 1.0,
            scale,
        };
        text.frame(&points);
        text
    }

    /// Chooses what is shown: all points.
    fn frame(&mut self, points: &[Vec3]) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for &point in points {
            let flat = self.view.see(point);
            for axis in 0..2 {
                low[axis] = low[axis].min(flat[axis]);
                high[axis] = high[axis].max(flat[axis]);
            }
        }
        if points.is_empty() {
            return;
        }
        self.centre = [0, 1].map(|axis| 0.5 * (low[axis] + high[axis]));
        let [wide, tall] = self.dots();
        let needed = [high[0] - low[0], (high[1] - low[1]) * wide / tall];
        self.half = (0.52 * needed[0].max(needed[1])).max(1e-9);
    }

    fn dots(&self) -> [f64; 2] {
        [2.0 * self.columns as f64, 4.0 * self.lines as f64]
    }

    /// From where it is seen.
    pub fn label(&self) -> &'static str {
        self.view.label()
    }

    /// The picture of a row, line after line.
    pub fn draw(&self, row: &[f32]) -> String {
        let places = Places::of(self.scene, row, self.scale);
        let follow = self.scene.follow.map(|frame| places.point(frame));
        let centre = follow.map_or(self.centre, |point| self.view.see(point));
        let [wide, tall] = self.dots();
        let scale = 0.5 * wide / self.half;
        let mut raster = Raster::new(self.columns, self.lines);
        let dot = |point: Vec3| {
            let [x, y] = self.view.see(point);
            [
                0.5 * wide + (x - centre[0]) * scale,
                0.5 * tall - (y - centre[1]) * scale,
            ]
        };
        strokes(self.scene, &places, &mut |a, b| {
            raster.line(dot(a), dot(b));
        });
        raster.to_string()
    }
}

/// All lines of a scene.
fn strokes(scene: &Scene, places: &Places<'_>, stroke: &mut dyn FnMut(Vec3, Vec3)) {
    let through = |points: &[Vec3], stroke: &mut dyn FnMut(Vec3, Vec3)| {
        points.windows(2).for_each(|pair| stroke(pair[0], pair[1]));
    };
    for item in &scene.items {
        match &item.drawing {
            Drawing::Body { on, shape } => outline(shape, &mut |a, b| {
                stroke(places.within(on, a), places.within(on, b));
            }),
            Drawing::Bar { through: on } | Drawing::Beam { through: on, .. } => {
                let points: Vec<Vec3> = on.iter().map(|anchor| places.anchor(anchor)).collect();
                through(&points, stroke);
            }
            Drawing::Shell { nodes, faces, .. } => {
                for face in faces {
                    let corner = |i: usize| places.point(nodes[face[i % 4]]);
                    (0..4).for_each(|i| stroke(corner(i), corner(i + 1)));
                }
            }
            Drawing::Spring { ends } | Drawing::Actuator { ends } => {
                stroke(places.anchor(&ends[0]), places.anchor(&ends[1]));
            }
            Drawing::Joint { on, .. } | Drawing::Support { on } => {
                let point = places.anchor(on);
                stroke(point, point);
            }
            Drawing::Grains { at, stride, radii } => {
                for i in 0..radii.len() {
                    let point = places.numbers(at + stride * i);
                    stroke(point, point);
                }
            }
            Drawing::Arrow { .. } => {}
            // What is far longer than the rest would make the rest a dot.
            Drawing::Path { .. } | Drawing::Road(_) => {}
        }
    }
}

/// The lines of a shape in its own axes.
fn outline(shape: &Shape, stroke: &mut dyn FnMut(Vec3, Vec3)) {
    let mut ring = |centre: Vec3, u: Vec3, v: Vec3| {
        let point = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / ROUND as f64;
            centre + u * angle.cos() + v * angle.sin()
        };
        (0..ROUND).for_each(|i| stroke(point(i), point(i + 1)));
    };
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z];
    match shape {
        Shape::Sphere { radius } => {
            ring(Vec3::ZERO, x * *radius, y * *radius);
            ring(Vec3::ZERO, y * *radius, z * *radius);
            ring(Vec3::ZERO, z * *radius, x * *radius);
        }
        Shape::Cylinder { radius, length, .. } | Shape::Capsule { radius, length } => {
            for side in [-0.5, 0.5] {
                ring(x * (side * length), y * *radius, z * *radius);
            }
        }
        Shape::Wheel { radius, width } => {
            for side in [-0.5, 0.5] {
                ring(x * (side * width), y * *radius, z * *radius);
            }
        }
        Shape::Box { sides } => {
            let corner = |i: usize| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                Vec3::new(sign(0) * sides[0], sign(1) * sides[1], sign(2) * sides[2])
            };
            for i in 0..8_usize {
                for bit in [1, 2, 4] {
                    if i & bit == 0 {
                        stroke(corner(i), corner(i | bit));
                    }
                }
            }
        }
        Shape::Point => stroke(Vec3::ZERO, Vec3::ZERO),
        Shape::Mesh { points, triangles } => {
            let corner = |i: u32| {
                let [x, y, z] = points[i as usize].map(f64::from);
                Vec3::new(x, y, z)
            };
            for [a, b, c] in triangles {
                stroke(corner(*a), corner(*b));
                stroke(corner(*b), corner(*c));
                stroke(corner(*c), corner(*a));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_web::{Anchor, Frame, Item, Moves};

    /// A ball on a rail: it moves by as many characters as it should.
    #[test]
    fn what_moves_is_drawn_where_it_is() {
        let ball = Frame {
            name: "ball".into(),
            motion: Moves::Along {
                at: 0,
                base: [0.0; 3],
                room: None,
            },
        };
        let film = Film {
            scene: Scene {
                width: 1,
                frames: vec![ball],
                items: vec![Item {
                    name: "ball".into(),
                    group: None,
                    colour: None,
                    drawing: Drawing::Body {
                        on: Anchor::of(0),
                        shape: Shape::Point,
                    },
                }],
                ..Scene::default()
            },
            times: vec![0.0, 1.0],
            rows: vec![0.0, 10.0],
        };
        let view = TextView::new(&film, ViewName::Xz, 60, 5);
        let column = |row: &[f32]| {
            let text = view.draw(row);
            let line = text.lines().find(|line| !line.trim().is_empty());
            let line = line.expect("something is drawn");
            line.chars().position(|letter| letter != ' ').unwrap()
        };
        let (left, middle, right) = (column(&[0.0]), column(&[5.0]), column(&[10.0]));
        assert!(left <= 2 && right >= 57, "{left} {right}");
        assert!((29..=31).contains(&middle), "{middle}");
        assert_eq!(view.draw(&[5.0]).lines().count(), 5);
    }
}
