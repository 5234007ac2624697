//! Joints and prescribed motions.

use super::{assert_derivatives, markers, two_nodes};
use crate::drive::Drive;
use crate::joint::{
    Coordinate, Direction, DrivenCoordinate, Joint, PlaneCurve, PointOnCurve, PrescribedPose,
    Target,
};
use crate::model::Model;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::{Quaternion, Vec3};

#[test]
fn joints() {
    type Make = fn(Marker, Marker) -> Joint;
    let makers: [Make; 14] = [
        Joint::clamp,
        Joint::spherical,
        Joint::revolute,
        Joint::prismatic,
        Joint::cylindrical,
        Joint::universal,
        Joint::planar,
        Joint::in_line,
        Joint::in_plane,
        |a, b| Joint::distance(a, b, 0.7),
        Joint::constant_velocity,
        |a, b| Joint::driven_prismatic(a, b, 0.4),
        |a, b| Joint::driven_cylindrical(a, b, Some(0.4.into()), Some(0.3.into())),
        |a, b| {
            let given = || Direction::Prescribed(Drive::function(|t| 0.4 * t));
            Joint::total(
                a,
                b,
                [Direction::Locked, Direction::Free, given()],
                [given(), Direction::Free, Direction::Locked],
            )
        },
    ];
    for make in makers {
        let mut model = Model::new();
        let [a, b] = markers(&mut model, false);
        model.element("joint", make(a, b));
        assert_derivatives(model, 1.7, &[], 1e-8);
    }
}

#[test]
fn prescribed_pose() {
    let mut model = Model::new();
    let [a, _] = two_nodes(&mut model, false);
    model.element("pose", PrescribedPose::new(a, 0));
    let mut inputs = vec![0.2; 19];
    inputs[3..7].copy_from_slice(&Quaternion::exp(Vec3::new(0.2, 0.3, 0.1)).0);
    assert_derivatives(model, 0.6, &inputs, 1e-8);
}

/// A point on a curve that is fixed to a moving node, away from its place.
#[test]
fn a_point_on_a_curve() {
    let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / 40.0;
    let points = (0..40).map(|i| [1.1 * angle(i).cos(), 0.8 * angle(i).sin()]);
    let curve = PlaneCurve::new(points.collect(), true).unwrap();
    let mut model = Model::new();
    let ends = markers(&mut model, false);
    model.element("cam", PointOnCurve::new(ends, curve));
    assert_derivatives(model, 1.7, &[], 1e-7);
}

/// The axes of a driven coordinate are aligned; multipliers pull.
#[test]
fn driven_coordinates() {
    for coordinate in [Coordinate::Angle, Coordinate::Slide] {
        let targets = [
            Target::Value(Drive::function(|t| 0.5 * t)),
            Target::Rate(Drive::function(|t| 0.5 * t)),
            Target::Motion(0),
        ];
        for target in targets {
            let mut model = Model::new();
            let tilted = Quaternion::exp(Vec3::new(0.3, -0.2, 0.5));
            let a = model.node("a", Motion::at_rest(Vec3::X, tilted));
            let turned = tilted.times(Quaternion::exp(Vec3::Z * 0.4));
            let b = model.node("b", Motion::at_rest(Vec3::new(1.0, 0.2, 0.3), turned));
            let ends = [Marker::on(a), Marker::on(b)];
            model.element("driven", DrivenCoordinate::new(coordinate, ends, target));
            assert_derivatives(model, 1.7, &[0.4, 0.2, 0.1], 1e-8);
        }
    }
}

#[test]
fn joint_to_ground() {
    let mut model = Model::new();
    let [a, _] = markers(&mut model, false);
    model.element("joint", Joint::revolute(Marker::on(NodeId::GROUND), a));
    assert_derivatives(model, 1.7, &[], 1e-8);
}
