//! Tests of the elements of this crate: their derivatives against differences.

use crate::model::Model;
use crate::node::Motion;
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// Two nodes in general poses.
pub(crate) fn two_nodes(model: &mut Model, moving: bool) -> [crate::node::NodeId; 2] {
    let speed = if moving { 1.0 } else { 0.0 };
    let turn = |v: Vec3| Quaternion::exp(v);
    let a = Motion::at_rest(Vec3::new(0.1, -0.4, 0.3), turn(Vec3::new(0.4, 0.9, -0.3))).moving(
        Vec3::new(0.3, 0.1, -0.5) * speed,
        Vec3::new(1.1, 0.2, 0.4) * speed,
    );
    let b = Motion::at_rest(Vec3::new(1.2, 0.5, -0.2), turn(Vec3::new(-0.2, 0.7, 0.5))).moving(
        Vec3::new(-0.2, 0.8, 0.1) * speed,
        Vec3::new(0.3, -0.7, 0.9) * speed,
    );
    [model.node("a", a), model.node("b", b)]
}

mod tests {
    use super::*;
    use crate::assembly::{Assembly, EvaluationPoint};
    use crate::drive::Drive;
    use crate::element::{
        Bushing, InternalLoad, Law, Load, Rod, TorsionSpring, Weights, assert_derivatives,
    };
    use crate::joint::{
        Coordinate, Direction, Frictional, Joint, LuGre, PrescribedPose, Transmission,
    };
    use crate::node::{Marker, NodeId};
    use oldham_space::M3;

    const STEP: f64 = 1e-6;

    fn markers(model: &mut Model, moving: bool) -> [Marker; 2] {
        let [a, b] = two_nodes(model, moving);
        [
            Marker::on(a)
                .offset(Vec3::new(0.2, 0.1, -0.3))
                .oriented(Quaternion::exp(Vec3::new(0.1, 0.2, 0.3))),
            Marker::on(b)
                .offset(Vec3::new(-0.1, 0.3, 0.2))
                .oriented(Quaternion::exp(Vec3::new(-0.3, 0.2, 0.1))),
        ]
    }

    #[test]
    fn joints() {
        type Make = fn(Marker, Marker) -> Joint;
        let makers: [Make; 11] = [
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
            element.violation_derivatives(&at.of(placed), 1e-3, &mut found);
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
            .violation_derivatives(&at.of(placed), 1e-3, &mut found);
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

    #[test]
    fn prescribed_pose() {
        let mut model = Model::new();
        let [a, _] = two_nodes(&mut model, false);
        model.element("pose", PrescribedPose::new(a, 0));
        let mut inputs = vec![0.2; 19];
        inputs[3..7].copy_from_slice(&Quaternion::exp(Vec3::new(0.2, 0.3, 0.1)).0);
        assert_derivatives(model, 0.6, &inputs, 1e-8);
    }

    /// Springs at rest: the derivative of damping forces by poses is neglected on purpose.
    #[test]
    fn springs_and_loads() {
        for law in [
            Law::Linear {
                stiffness: 3.0,
                damping: 0.5,
            },
            Law::Table {
                points: [(-5.0, -2.0), (0.0, 0.0), (5.0, 9.0)].into(),
                damping: 0.2,
            },
            Law::function(|e, v, t| 2.0 * e * e * e + 0.3 * v + t),
        ] {
            let mut model = Model::new();
            let [a, b] = markers(&mut model, false);
            model.element("rod", Rod::new(a, b, 0.6, law));
            assert_derivatives(model, 0.0, &[], 1e-8);
        }
        let mut model = Model::new();
        let [a, b] = markers(&mut model, false);
        let mut bushing = Bushing::new(a, b);
        let full = M3([[3.0, 0.4, 0.2], [0.4, 2.0, 0.1], [0.2, 0.1, 4.0]]);
        bushing.stiffness = full;
        bushing.damping = full * 0.3;
        bushing.rotational_stiffness = full * 0.7;
        bushing.rotational_damping = full * 0.1;
        let cubic = |axis| (axis, Law::function(|e, v, _| e * e * e + 0.2 * v));
        bushing.laws = vec![cubic(0), cubic(2)];
        bushing.rotational_laws = vec![cubic(1)];
        model.element("bushing", bushing);
        let drives = || [0.4, -0.7, 1.1].map(Drive::Constant);
        model.element("load", Load::fixed(a, drives(), drives()));
        model.element("follower", Load::follower(b, drives(), drives()));
        for (name, follower) in [("internal", false), ("internal follower", true)] {
            let load = InternalLoad::new(a, b.node, drives(), drives(), follower);
            model.element(name, load);
        }
        assert_derivatives(model, 0.0, &[], 1e-8);
    }

    /// Axes aligned, as a joint would keep them, and at rest but for the relative turn.
    #[test]
    fn torsion_springs_and_transmissions() {
        let mut model = Model::new();
        let a = model.node("a", Motion::at(Vec3::ZERO));
        let turned = Quaternion::exp(Vec3::Z * 0.4);
        let b = model.node("b", Motion::at_rest(Vec3::Z * 0.3, turned));
        let (a, b) = (Marker::on(a), Marker::on(b));
        model.element("bar", TorsionSpring::new(a, b, 3.0, 0.4, 0.4));
        let cubic = Law::function(|angle, rate, _| 2.0 * angle.powi(3) + 0.1 * rate);
        model.element("stop", TorsionSpring::with_law(a, b, cubic, 0.4));
        let screw = Transmission::new(
            (Coordinate::Angle, [a, b], 0.7),
            (Coordinate::Slide, [a, b], -1.3),
        );
        model.element("screw", screw);
        assert_derivatives(model, 0.0, &[], 1e-8);
    }

    #[test]
    fn friction() {
        let law = LuGre {
            coulomb: 0.3,
            stiction: 0.3,
            stribeck: 0.1,
            stiffness: 10.0,
            damping: 0.2,
            viscous: 0.1,
        };
        let mut model = Model::new();
        let a = model.node("a", Motion::at(Vec3::ZERO));
        let b = model.node("b", Motion::at(Vec3::ZERO));
        let (a, b) = (Marker::on(a), Marker::on(b));
        model.element("pin", Frictional::revolute(a, b, 0.2, 5.0, law));
        model.element("rail", Frictional::prismatic(a, b, 5.0, law));
        assert_derivatives(model, 0.0, &[], 1e-6);
    }

    /// Friction grows with the reactions: the columns of the multipliers against differences.
    #[test]
    fn friction_by_multipliers() {
        let law = LuGre {
            coulomb: 0.3,
            stiction: 0.3,
            stribeck: 0.1,
            stiffness: 10.0,
            damping: 0.2,
            viscous: 0.1,
        };
        let mut model = Model::new();
        let spin = Vec3::Z * 0.7;
        let a = model.node("a", Motion::at(Vec3::ZERO));
        let b = model.node("b", Motion::at(Vec3::ZERO).moving(spin, spin));
        let (a, b) = (Marker::on(a), Marker::on(b));
        model.element("pin", Frictional::revolute(a, b, 0.2, 5.0, law));
        model.element("rail", Frictional::prismatic(a, b, 5.0, law));
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        let (assembly, _) = Assembly::new(model);
        let given: Vec<f64> = (0..assembly.constraints).map(|i| 1.0 + i as f64).collect();
        let at = |multipliers: &[f64]| {
            let here = EvaluationPoint {
                time: 0.0,
                motions: &motions,
                multipliers,
                inputs: &[],
                input_time: 0.0,
                load_factor: 1.0,
                memory: &vec![0.01; assembly.memory],
                elapsed: 0.01,
            };
            let mut values = vec![0.0; assembly.residual_length()];
            assembly.element_residual(&here, &mut values);
            let weights = Weights {
                mass: 0.0,
                damping: 1.0,
                stiffness: 1.0,
            };
            (values, assembly.dense(&here, weights))
        };
        let (n, nodes) = (assembly.unknowns(), 6 * assembly.nodes());
        let (_, matrix) = at(&given);
        for k in 0..assembly.constraints {
            let moved = |step: f64| {
                let mut changed = given.clone();
                changed[k] += step;
                at(&changed).0
            };
            let (plus, minus) = (moved(STEP), moved(-STEP));
            for row in 0..nodes {
                let expected = -(plus[row] - minus[row]) / (2.0 * STEP);
                let found = matrix[(nodes + k) * n + row];
                assert!(
                    (found - expected).abs() < 1e-7,
                    "{row} {k}: {found} {expected}"
                );
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
}
