//! A capsule against a convex solid. Along the capsule's segment the distance from a convex solid is a
//! convex function: its least values are an interval, whose ends are contact points.

use super::Point;
use super::convex::{edge, golden};
use crate::shape::{Pose, Shape};

/// Points of a capsule `b` near `a`: the two ends of the flat part of the distance, and the ends of
/// the segment where they are near as well.
pub fn collide(
    a: &Shape,
    at_a: &Pose,
    half_length: f64,
    radius: f64,
    at_b: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let axis = at_b.axes.column(2) * half_length;
    let place = |t: f64| at_b.position + axis * t;
    let distance = |t: f64| a.distance(at_a.locate(place(t)));

    let lowest = golden(&distance);
    let least = distance(lowest);
    if least - radius >= reach {
        return;
    }
    let flat = least + 1e-9 * radius;
    let low = edge(&distance, flat, lowest, -1.0);
    let high = edge(&distance, flat, lowest, 1.0);
    let mut touch = |feature: u32, t: f64| {
        let tip = place(t);
        let near = a.nearest(at_a.locate(tip));
        let gap = near.distance - radius;
        if gap < reach {
            let normal = at_a.axes * near.normal;
            out.push(Point {
                feature,
                position: tip - normal * (radius + 0.5 * gap),
                normal,
                gap,
            });
        }
    };
    if (high - low) * half_length > 1e-3 * radius {
        touch(0, low);
        touch(1, high);
    } else {
        touch(0, lowest);
    }
    if low > -1.0 {
        touch(2, -1.0);
    }
    if high < 1.0 {
        touch(3, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_space::Vec3;

    fn points(a: &Shape, b: Pose, half_length: f64, radius: f64) -> Vec<Point> {
        let mut out = Vec::new();
        collide(a, &Pose::default(), half_length, radius, &b, 0.01, &mut out);
        out
    }

    #[test]
    fn a_capsule_across_a_narrow_box_rests_on_both_of_its_edges() {
        let narrow = Shape::Box {
            half: Vec3::new(0.1, 0.5, 0.2),
        };
        // The segment along x, half a metre to both sides, 0.05 m above the top.
        let axes = oldham_space::Mat3::from_columns(Vec3::Y, Vec3::Z, Vec3::X);
        let at = Pose {
            position: Vec3::new(0.0, 0.0, 0.25),
            axes,
        };
        let found = points(&narrow, at, 0.5, 0.05);
        assert_eq!(found.len(), 2);
        for (point, x) in found.iter().zip([-0.1, 0.1]) {
            assert!((point.position[0] - x).abs() < 1e-4, "{point:?}");
            // The flat part is known to 1e-9 radii.
            assert!(point.gap.abs() < 1.1e-9 * 0.05);
        }
    }

    #[test]
    fn crossed_capsules_touch_once_where_their_segments_cross() {
        let lying = Shape::Capsule {
            half_length: 1.0,
            radius: 0.1,
        };
        let axes = oldham_space::Mat3::from_columns(Vec3::Y, Vec3::Z, Vec3::X);
        let at = Pose {
            position: Vec3::new(0.3, 0.205, 0.2),
            axes,
        };
        let found = points(&lying, at, 1.0, 0.1);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - 0.005).abs() < 1e-15);
        assert!((found[0].position - Vec3::new(0.0, 0.1025, 0.2)).norm() < 1e-7);
        assert!((found[0].normal - Vec3::Y).norm() < 1e-7);
    }
}
