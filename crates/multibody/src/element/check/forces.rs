//! Springs, loads, cables and gears that give.

use super::{assert_derivatives, markers};
use crate::drive::Drive;
use crate::element::{
    Bushing, Cable, CoordinateForce, ForceMap, Hysteresis, InternalLoad, Law, Load, Rod, Servo,
};
use crate::joint::{Coordinate, ElasticTransmission, Transmission};
use crate::model::Model;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::{M3, Quaternion, Vec3};
use std::sync::Arc;

fn map() -> Arc<ForceMap> {
    let tensions = vec![-2.0, -1.0, 3.0, 5.0];
    Arc::new(ForceMap::new(vec![-5.0, 5.0], vec![-2.0, 2.0], tensions).unwrap())
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
        Law::Hysteresis(Hysteresis {
            stiffness: 3.0,
            ratio: 0.2,
            yield_at: 2.0,
            exponent: 1.5,
            // Elsewhere loading and unloading differ at standstill.
            softness: 1.0,
        }),
        Law::Given(map()),
        Law::Pulling(Box::new(Law::Given(map()))),
        Law::Stops {
            lower: -3.0,
            upper: -0.1,
            stiffness: 4.0,
            damping: 0.3,
        },
        Law::Motor {
            points: [(-2.0, 5.0), (3.0, -1.0)].into(),
            command: Drive::Constant(0.7),
        },
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
    let skewed = M3([[0.3, -0.4, 0.2], [0.1, 0.2, 0.7], [-0.2, 0.5, 0.4]]);
    bushing.coupling = skewed;
    bushing.damping_coupling = skewed * 0.2;
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
    model.element("bar", CoordinateForce::torsion_spring(a, b, 3.0, 0.4, 0.4));
    let cubic = Law::function(|angle, rate, _| 2.0 * angle.powi(3) + 0.1 * rate);
    model.element(
        "cubic",
        CoordinateForce::new(Coordinate::Angle, [a, b], cubic, 0.4),
    );
    for coordinate in [Coordinate::Angle, Coordinate::Slide] {
        let stops = Law::Stops {
            lower: -1.0,
            upper: 0.2,
            stiffness: 30.0,
            damping: 0.2,
        };
        model.element("stop", CoordinateForce::new(coordinate, [a, b], stops, 0.0));
        let motor = Law::Motor {
            points: [(-1.0, 3.0), (2.0, 0.5)].into(),
            command: Drive::Constant(-0.6),
        };
        model.element(
            "motor",
            CoordinateForce::new(coordinate, [a, b], motor, 0.0),
        );
    }
    let screw = Transmission::new(
        (Coordinate::Angle, [a, b], 0.7),
        (Coordinate::Slide, [a, b], -1.3),
    );
    model.element("screw", screw);
    assert_derivatives(model, 0.0, &[], 1e-8);
}

/// Nodes in any motion: also what the rate does where axes turn.
#[test]
fn servos() {
    let target = || Drive::differentiable(|t: f64| [0.3 * t, 0.3, 0.0]);
    for coordinate in [Coordinate::Angle, Coordinate::Slide] {
        for limit in [f64::INFINITY, 0.2] {
            for gains in [[7.0, 0.0], [0.0, 3.0], [2.0, 0.7]] {
                let mut model = Model::new();
                let ends = markers(&mut model, true);
                let servo = Servo::new(coordinate, ends, gains);
                let servo = servo.at_position(target()).limited(limit);
                model.element("servo", servo.clone());
                model.element("speed", servo.at_velocity(0.4));
                assert_derivatives(model, 0.0, &[], 1e-8);
            }
        }
    }
}

/// Under load: the forces turn with their axes.
#[test]
fn transmissions_under_load() {
    let mut model = Model::new();
    let [a, b] = markers(&mut model, false);
    let screw = Transmission::new(
        (Coordinate::Angle, [a, b], 0.7),
        (Coordinate::Slide, [b, a], -1.3),
    );
    model.element("screw", screw);
    assert_derivatives(model, 2.3, &[], 1e-8);
}

/// No joint keeps the axes aligned.
#[test]
fn torsion_springs_with_tilted_axes() {
    let mut model = Model::new();
    let [a, b] = markers(&mut model, false);
    model.element("bar", CoordinateForce::torsion_spring(a, b, 3.0, 0.0, 0.4));
    let cubic = Law::function(|angle, _, _| 2.0 * angle.powi(3));
    model.element(
        "cubic",
        CoordinateForce::new(Coordinate::Angle, [a, b], cubic, 0.4),
    );
    assert_derivatives(model, 0.0, &[], 1e-8);
}

/// Cables over three points, and teeth that give, with backlash and without.
#[test]
fn cables_and_elastic_transmissions() {
    let mut model = Model::new();
    let [a, b] = markers(&mut model, false);
    let turned = Quaternion::exp(Vec3::new(0.7, 0.1, -0.6));
    let c = model.node("c", Motion::at_rest(Vec3::new(0.3, 1.4, 0.9), turned));
    let c = Marker::on(c).offset(Vec3::new(0.1, -0.2, 0.05));
    let law = Law::Linear {
        stiffness: 3.0,
        damping: 0.5,
    };
    model.element("cable", Cable::new(&[a, b, c], 2.0, law));
    let ground = Marker::on(NodeId::GROUND).offset(Vec3::new(2.0, 0.1, 0.3));
    let pulling = Law::Pulling(Box::new(Law::Given(map())));
    model.element("rope", Cable::new(&[ground, c, a], 1.0, pulling));
    assert_derivatives(model, 0.0, &[], 1e-8);

    let mut model = Model::new();
    let carrier = model.node("carrier", Motion::at(Vec3::ZERO));
    let ends = [0.4, -0.3].map(|angle| {
        let turned = Quaternion::exp(Vec3::Z * angle);
        let wheel = model.node("wheel", Motion::at_rest(Vec3::Z * 0.3, turned));
        [Marker::on(carrier), Marker::on(wheel)]
    });
    let relation = || {
        Transmission::new(
            (Coordinate::Angle, ends[0], 0.7),
            (Coordinate::Slide, ends[1], -1.3),
        )
    };
    let stiff = Law::Linear {
        stiffness: 20.0,
        damping: 0.3,
    };
    model.element("mesh", ElasticTransmission::new(relation(), stiff));
    assert_derivatives(model, 0.0, &[], 1e-8);
}
