//! Time derivatives of constraints.

use super::{markers, two_nodes};
use crate::assembly::{Assembly, EvaluationPoint};
use crate::drive::Drive;
use crate::joint::{
    Coordinate, Direction, DrivenCoordinate, Joint, PrescribedPose, Target, Transmission,
};
use crate::model::Model;
use crate::node::{Marker, Motion};
use oldham_space::{Quaternion, Vec3};

/// First and second time derivatives of all violations against differences, for nodes that
/// keep their velocities.
fn assert_time_derivatives(model: Model, time: f64, inputs: &[f64], tolerance: f64) {
    let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
    let (assembly, _) = Assembly::new(model);
    let multipliers = vec![0.0; assembly.constraints];
    let nothing = vec![0.0; assembly.memory];
    let mut memory = nothing.clone();
    let first = EvaluationPoint::new(time, &motions, &multipliers, inputs, &nothing);
    assembly.remember(&first, &mut memory);
    let at = EvaluationPoint::new(time, &motions, &multipliers, inputs, &memory);
    let violations = |dt: f64| {
        let extrapolated: Vec<Motion> = motions
            .iter()
            .map(|motion| motion.extrapolated(dt))
            .collect();
        let mut values = vec![0.0; assembly.residual_length()];
        let later = EvaluationPoint {
            time: time + dt,
            motions: &extrapolated,
            ..at
        };
        assembly.violations(&later, &mut values);
        let rows = 6 * assembly.nodes()..assembly.unknowns();
        values[rows]
            .iter()
            .map(|value| -value)
            .collect::<Vec<f64>>()
    };
    let step = 1e-3;
    let values = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| violations(k * step));
    for placed in &assembly.elements {
        assert!(placed.element.knows_derivatives());
        let mut found = vec![[0.0; 2]; placed.multipliers.len()];
        let element = &placed.element;
        element.violation_derivatives(&at.of(placed, &assembly.elements), 1e-3, &mut found);
        for (row, found) in placed.multipliers.clone().zip(found) {
            let sum = |weights: [f64; 5]| -> f64 {
                weights.iter().zip(&values).map(|(w, v)| w * v[row]).sum()
            };
            let expected = [
                sum([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * step),
                sum([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * step * step),
            ];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < tolerance * (1.0 + expected.abs()),
                    "{} row {row}: {found} instead of {expected}",
                    placed.name
                );
            }
        }
    }
}

#[test]
fn constraints_know_their_time_derivatives() {
    type Make = fn(Marker, Marker) -> Joint;
    let makers: [Make; 8] = [
        Joint::clamp,
        Joint::spherical,
        Joint::revolute,
        Joint::cylindrical,
        Joint::universal,
        |a, b| Joint::distance(a, b, Drive::function(|t| 0.7 + 0.2 * (3.0 * t).sin())),
        |a, b| {
            let sine = Drive::Sine {
                mean: 0.1,
                amplitude: 0.4,
                omega: 2.0,
                phase: 0.3,
            };
            Joint::driven_revolute(a, b, sine)
        },
        |a, b| {
            let given = |k: f64| {
                let chirp = Drive::Chirp {
                    amplitude: 0.3 * k,
                    frequency: 0.2,
                    rate: 0.4,
                };
                Direction::Prescribed(chirp)
            };
            Joint::total(
                a,
                b,
                [Direction::Locked, Direction::Free, given(0.4)],
                [given(1.0), given(-0.7), Direction::Locked],
            )
        },
    ];
    for make in makers {
        let mut model = Model::new();
        let [a, b] = markers(&mut model, true);
        model.element("joint", make(a, b));
        assert_time_derivatives(model, 0.6, &[], 1e-7);
    }
    let mut model = Model::new();
    let [a, _] = two_nodes(&mut model, true);
    model.element("pose", PrescribedPose::new(a, 0));
    let mut inputs: Vec<f64> = (0..19).map(|i| 0.1 + 0.05 * f64::from(i)).collect();
    inputs[3..7].copy_from_slice(&Quaternion::exp(Vec3::new(0.2, 0.3, 0.1)).0);
    assert_time_derivatives(model, 0.6, &inputs, 1e-7);
}

/// About a fixed axis, with a target that moves on.
#[test]
fn driven_coordinates_know_their_time_derivatives() {
    for coordinate in [Coordinate::Angle, Coordinate::Slide] {
        let speed = || Drive::Sine {
            mean: 0.3,
            amplitude: 0.5,
            omega: 2.0,
            phase: 0.4,
        };
        let targets = [
            Target::Value(speed()),
            Target::Rate(speed()),
            Target::Motion(0),
        ];
        for target in targets {
            let mut model = Model::new();
            let a = model.node("a", Motion::at(Vec3::ZERO));
            let moving = Motion::at(Vec3::Z * 0.2).moving(Vec3::Z * 0.7, Vec3::Z * -0.9);
            let b = model.node("b", moving);
            let ends = [Marker::on(a), Marker::on(b)];
            model.element("driven", DrivenCoordinate::new(coordinate, ends, target));
            assert_time_derivatives(model, 0.6, &[0.4, 0.2, 0.1], 1e-7);
        }
    }
}

/// About axes that are tilted and turn.
#[test]
fn a_twist_knows_its_time_derivatives() {
    let target = Target::Value(Drive::ZERO);
    let mut model = Model::new();
    let ends = two_nodes(&mut model, true).map(Marker::on);
    model.element(
        "driven",
        DrivenCoordinate::new(Coordinate::Angle, ends, target),
    );
    assert_time_derivatives(model, 0.6, &[], 1e-7);
}

/// A screw whose carrier turns; its axes stay aligned.
#[test]
fn transmissions_know_their_time_derivatives() {
    let mut model = Model::new();
    let carrier = Vec3::new(0.3, -0.5, 0.8);
    let axis = Vec3::Z;
    let a = Motion::at(Vec3::ZERO).moving(Vec3::new(0.1, 0.2, 0.3), carrier);
    let a = model.node("a", a);
    let place = Vec3::Z * 0.3;
    let spin = carrier + axis * 1.7;
    let velocity = Vec3::new(0.1, 0.2, 0.3) + carrier.cross(place) + axis * 0.4;
    let b = model.node("b", Motion::at(place).moving(velocity, spin));
    let (a, b) = (Marker::on(a), Marker::on(b));
    let screw = Transmission::new(
        (Coordinate::Angle, [a, b], 0.7),
        (Coordinate::Slide, [a, b], -1.3),
    );
    model.element("screw", screw);
    let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
    let (assembly, _) = Assembly::new(model);
    let at = EvaluationPoint::new(0.0, &motions, &[0.0], &[], &[0.0; 3]);
    let placed = &assembly.elements[0];
    let mut found = [[0.0; 2]];
    placed
        .element
        .violation_derivatives(&at.of(placed, &assembly.elements), 1e-3, &mut found);
    // The angle turns at 1.7, the slide moves at 0.4; the spins keep their directions while
    // the axis turns with the carrier.
    assert!((found[0][0] - (0.7 * 1.7 - 1.3 * 0.4)).abs() < 1e-14);
    let angle = carrier.cross(axis).dot(spin);
    // The line from a to b: its second derivative along the turning axis.
    let line = place;
    let line_rate = carrier.cross(place) + axis * 0.4;
    let (axis_rate, axis_second) = (carrier.cross(axis), carrier.cross(carrier.cross(axis)));
    let slide = axis_second.dot(line) + 2.0 * axis_rate.dot(line_rate);
    assert!((found[0][1] - (0.7 * angle - 1.3 * slide)).abs() < 1e-14);
}
