//! Several fast subsystems at one mechanism, and fast subsystems that move it.

mod common;

use common::{PUSHED, at_end, element, port, spring};
use oldham_cosim::{Hold, InputPort, Inputs, OutputPort, Subsystem};
use oldham_interface_model::{Arrangement, Coordinate, FastSubsystem, Fed};
use oldham_lumped::{
    Coordinates, ElementKind, Integrator, Lumped, NodeRef, NodeSpec, PortKind, Spec,
};

/// Two coordinates that feel each other by inertia alone.
const MASSES: [f64; 4] = [3.0, 2.0, 2.0, 4.0];
const STIFFNESSES: [f64; 2] = [2e4, 3e4];
const DAMPING: f64 = 1000.0;
const START: [f64; 2] = [0.01, -0.02];

fn node(name: &str, position: f64) -> NodeSpec {
    NodeSpec {
        name: name.into(),
        position,
        velocity: 0.0,
    }
}

/// Force of a spring with its friction.
fn force(coordinate: usize, x: f64, v: f64) -> f64 {
    -STIFFNESSES[coordinate] * x - DAMPING * v
}

fn fast(name: &str, coordinate: usize, steps: usize) -> FastSubsystem {
    FastSubsystem {
        name: name.into(),
        subsystem: Box::new(spring(STIFFNESSES[coordinate], DAMPING, 1)),
        coordinates: vec![PUSHED],
        steps,
    }
}

fn both(steps: [usize; 2]) -> Fed {
    Fed::gathered(vec![fast("a", 0, steps[0]), fast("b", 1, steps[1])])
}

/// The inverse of the mass matrix.
fn mobility() -> [f64; 4] {
    let [a, b, c, d] = MASSES;
    let det = a * d - b * c;
    [d / det, -b / det, -c / det, a / det]
}

/// Within a macro step both springs take the steps of Verlet's method of the whole, cross terms and all; friction sees at the end of
/// a step the velocity that its start foretells.
#[test]
fn within_a_step_they_feel_each_other() {
    let (steps, size) = (8, 1e-3);
    let mut fed = both([steps; 2]);
    let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
    let [m11, m12, m21, m22] = mobility();
    let (mut x, mut v) = (START, [0.1, 0.3]);
    // The mechanism shows its accelerations under forces that are not the present ones.
    let acted = [-50.0, 20.0];
    let shown = [
        m11 * acted[0] + m12 * acted[1],
        acted[0],
        m11,
        m12,
        m21 * acted[0] + m22 * acted[1],
        acted[1],
        m21,
        m22,
        // Nothing is told about momentum.
        0.0,
        0.0,
        0.0,
        0.0,
    ];
    let received: [&[f64]; 5] = [&[x[0]], &[v[0]], &[x[1]], &[v[1]], &shown];
    for (index, values) in received.into_iter().enumerate() {
        inputs.receive(InputPort(index), 0.0, values);
    }
    let end = steps as f64 * size;
    fed.advance(0.0, end, &mut inputs).unwrap();
    let accelerations = |x: [f64; 2], v: [f64; 2]| {
        let f = [0, 1].map(|i| force(i, x[i], v[i]));
        [m11 * f[0] + m12 * f[1], m21 * f[0] + m22 * f[1]]
    };
    let mut a = accelerations(x, v);
    for _ in 0..steps {
        let middle = [0, 1].map(|i| v[i] + 0.5 * size * a[i]);
        x = [0, 1].map(|i| x[i] + size * middle[i]);
        let foretold = [0, 1].map(|i| v[i] + size * a[i]);
        a = accelerations(x, foretold);
        v = [0, 1].map(|i| middle[i] + 0.5 * size * a[i]);
    }
    let (_, outputs) = at_end(&mut fed, &mut inputs, end);
    for i in 0..2 {
        let expected = force(i, x[i], v[i]);
        assert!((outputs[i] - expected).abs() < 1e-9 * expected.abs(), "{i}");
    }
    assert_eq!(fed.ports().input("b.x"), Some(InputPort(2)));
    assert_eq!(fed.counters().micro_steps, 2 * steps as u64);
}

#[test]
fn all_take_the_steps_of_the_finest() {
    for arrangement in [
        Arrangement::Merged,
        Arrangement::Jacobi,
        Arrangement::Sequential,
    ] {
        for given in [1, 5, 12] {
            let mut fed = both([12, given]).arranged(arrangement);
            let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
            fed.advance(0.0, 0.012, &mut inputs).unwrap();
            assert_eq!(fed.counters().micro_steps, 2 * 12, "{given}");
        }
    }
}

/// Forces at the end of one macro step against those of the whole, solved at once in fine steps.
#[test]
fn cross_terms_make_the_error_smaller() {
    let (end, v0) = (0.005, [0.5, -0.3]);
    let m = mobility();
    let accelerations = |x: [f64; 2], v: [f64; 2]| {
        let f = [0, 1].map(|i| force(i, x[i], v[i]));
        [m[0] * f[0] + m[1] * f[1], m[2] * f[0] + m[3] * f[1]]
    };
    // The classical Runge–Kutta method of fourth order.
    let (mut x, mut v, n) = (START, v0, 500);
    let h = end / f64::from(n);
    let add = |a: [f64; 2], b: [f64; 2], s: f64| [a[0] + s * b[0], a[1] + s * b[1]];
    for _ in 0..n {
        let k1 = (v, accelerations(x, v));
        let k2 = add(v, k1.1, 0.5 * h);
        let k2 = (k2, accelerations(add(x, k1.0, 0.5 * h), k2));
        let k3 = add(v, k2.1, 0.5 * h);
        let k3 = (k3, accelerations(add(x, k2.0, 0.5 * h), k3));
        let k4 = add(v, k3.1, h);
        let k4 = (k4, accelerations(add(x, k3.0, h), k4));
        for (stage, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
            x = add(x, stage.0, weight * h / 6.0);
            v = add(v, stage.1, weight * h / 6.0);
        }
    }
    let expected = [0, 1].map(|i| force(i, x[i], v[i]));
    let steps = 400;
    let acted = [0, 1].map(|i| force(i, START[i], v0[i]));
    let a = accelerations(START, v0);
    let predicted = |mut fed: Fed, coordinates: &[usize]| -> Vec<f64> {
        let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
        let mut shown = Vec::new();
        for (place, &i) in coordinates.iter().enumerate() {
            inputs.receive(InputPort(2 * place), 0.0, &[START[i]]);
            inputs.receive(InputPort(2 * place + 1), 0.0, &[v0[i]]);
            shown.extend([a[i], acted[i]]);
            shown.extend(coordinates.iter().map(|&j| m[2 * i + j]));
        }
        shown.extend(vec![0.0; coordinates.len() + 2]);
        inputs.receive(InputPort(2 * coordinates.len()), 0.0, &shown);
        fed.advance(0.0, end, &mut inputs).unwrap();
        at_end(&mut fed, &mut inputs, end).1
    };
    let shared = predicted(both([steps; 2]), &[0, 1]);
    for i in 0..2 {
        let alone = predicted(Fed::gathered(vec![fast("one", i, steps)]), &[i]);
        let error = |found: f64| (found - expected[i]).abs();
        let (with, without) = (error(shared[i]), error(alone[0]));
        assert!(with < 0.02 * without, "{i}: {with} {without}");
    }
}

/// A mass on a spring that moves something.
fn mover(mass: f64, stiffness: f64) -> Lumped {
    let at = NodeRef::node(0);
    let mut spec = Spec::new(Coordinates::Translation, Integrator::SemiImplicitEuler);
    spec.nodes = vec![node("mass", START[0])];
    spec.elements = vec![
        element(ElementKind::Mass { node: at, mass }),
        element(ElementKind::Spring {
            ends: [NodeRef::Ground, at],
            stiffness,
            damping: 0.0,
            rest: 0.0,
        }),
    ];
    spec.inputs = vec![port("load", at, PortKind::Force)];
    spec.outputs = vec![port("motion", at, PortKind::Motion)];
    Lumped::new(spec).unwrap()
}

/// It moves a mass a hundred times its own, whose force is found with the acceleration that it causes: the steps are those of
/// semi-implicit Euler of both masses.
#[test]
fn what_moves_a_heavy_mass_moves_as_both_would() {
    let (own, other, stiffness) = (0.05, 5.0, 2e4);
    let (steps, size) = (10, 1e-4);
    for arrangement in [
        Arrangement::Merged,
        Arrangement::Jacobi,
        Arrangement::Sequential,
    ] {
        let coordinate = Coordinate::Moved {
            motion: OutputPort(0),
            force: InputPort(0),
        };
        let mover = Box::new(mover(own, stiffness));
        let mut fed = Fed::new(mover, &[coordinate], steps).arranged(arrangement);
        let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
        // The force of the other mass under an acceleration that is not the present one, and something pushes it.
        let (push, acted) = (7.0, 3.0);
        inputs.receive(InputPort(0), 0.0, &[12.0]);
        inputs.receive(
            InputPort(1),
            0.0,
            &[push - other * acted, acted, -other, 0.0, 0.0, 0.0],
        );
        let end = steps as f64 * size;
        fed.advance(0.0, end, &mut inputs).unwrap();
        let (mut x, mut v) = (START[0], 0.0);
        for _ in 0..steps {
            v += size * (push - stiffness * x) / (own + other);
            x += size * v;
        }
        let (_, outputs) = at_end(&mut fed, &mut inputs, end);
        for (found, expected) in outputs.iter().zip([x, v]) {
            let error = (found - expected).abs();
            assert!(error < 1e-12 * expected.abs(), "{arrangement:?}: {found}");
        }
    }
}
