//! How high a machine must be to stand on the ground.

use oldham_space::Vec3;

use crate::machine::{Form, Machine, Solid};
use crate::meshes::Meshes;
use crate::pose::{Pose, about};

/// How far above the ground the lowest shape begins, in m.
const CLEAR: f64 = 1e-3;

impl Machine {
    /// Lifts what moves freely so that its lowest shape, with all joints where they start, is just above the height zero. Gives by
    /// how much.
    pub fn stand(&mut self, meshes: &Meshes) -> Option<f64> {
        let mut places: Vec<Pose> = Vec::new();
        let mut lowest = f64::INFINITY;
        for node in &self.nodes {
            let parent = node.parent.map_or(Pose::default(), |parent| places[parent]);
            let mut place = parent.then(&node.origin);
            if let Some(joint) = &node.joint {
                place = place.then(&match joint.kind {
                    crate::machine::JointKind::Slide => Pose::at(joint.axis * joint.start),
                    _ => Pose {
                        axes: about(joint.axis, joint.start),
                        ..Pose::default()
                    },
                });
            }
            places.push(place);
            let shapes = node.content.shapes.iter();
            let depths = shapes.filter_map(|solid| bottom(solid, &place, meshes));
            lowest = depths.fold(lowest, f64::min);
        }
        if !lowest.is_finite() {
            return None;
        }
        let lift = CLEAR - lowest;
        let roots = self.nodes.iter_mut();
        for root in roots.filter(|node| node.parent.is_none() && node.joint.is_none()) {
            root.origin.origin += Vec3::Z * lift;
        }
        Some(lift)
    }
}

/// The height of the lowest point of a shape.
fn bottom(solid: &Solid, node: &Pose, meshes: &Meshes) -> Option<f64> {
    let at = node.then(&solid.at);
    // Down, in axes of the shape.
    let down = at.axes.transpose() * Vec3::Z * -1.0;
    let [x, y, z] = down.0;
    let farthest = |points: &[Vec3]| {
        let along = points.iter().map(|point| point.dot(down));
        along.fold(f64::NEG_INFINITY, f64::max)
    };
    let reach = match &solid.form {
        Form::Box(sides) => {
            let [a, b, c] = sides.map(|side| 0.5 * side);
            a * x.abs() + b * y.abs() + c * z.abs()
        }
        Form::Sphere(radius) => *radius,
        Form::Cylinder(radius, length) => radius * x.hypot(y) + 0.5 * length * z.abs(),
        Form::Capsule(radius, length) => radius + 0.5 * length * z.abs(),
        Form::Ellipsoid([a, b, c]) => (a * x).hypot(b * y).hypot(c * z),
        Form::Mesh(number, scale) => {
            let mesh = meshes.mesh(*number).clone().scaled(*scale);
            farthest(&oldham_mesh::extreme_points(&mesh))
        }
        Form::Points(points) => farthest(points),
        Form::Plane => return None,
    };
    Some(at.origin.0[2] - reach)
}
