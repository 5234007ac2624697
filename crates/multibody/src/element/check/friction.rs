//! Friction in joints.

use super::{STEP, assert_derivatives, assert_velocity_derivatives, markers};
use crate::assembly::{Assembly, EvaluationPoint};
use crate::element::Weights;
use crate::joint::{Frictional, LuGre};
use crate::model::Model;
use crate::node::{Marker, Motion};
use oldham_space::Vec3;

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
    for (name, make) in FRICTIONAL {
        model.element(name, make(a, b, 0.2, 5.0, law));
    }
    assert_derivatives(model, 0.0, &[], 1e-6);
}

type MakeFrictional = fn(Marker, Marker, f64, f64, LuGre) -> Frictional;

const FRICTIONAL: [(&str, MakeFrictional); 4] = [
    ("sleeve", Frictional::cylindrical),
    ("ball", Frictional::spherical),
    ("cross", Frictional::universal),
    ("face", Frictional::planar),
];

/// Sliding in all directions at once, with reactions: by velocities alone, since the change of
/// viscous forces with the pose is left out.
#[test]
fn friction_while_sliding() {
    let law = LuGre {
        coulomb: 0.3,
        stiction: 0.4,
        stribeck: 0.5,
        stiffness: 10.0,
        damping: 0.2,
        viscous: 0.1,
    };
    for (name, make) in FRICTIONAL {
        let mut model = Model::new();
        let [a, b] = markers(&mut model, true);
        model.element(name, make(a, b, 0.2, 5.0, law));
        assert_velocity_derivatives(model, 1.7, &[], 1e-7);
    }
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
    for (name, make) in FRICTIONAL {
        model.element(name, make(a, b, 0.2, 5.0, law));
    }
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
            regimes: &[],
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
