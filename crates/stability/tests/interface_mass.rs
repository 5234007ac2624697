//! The interface-mass scheme on the linear problem of Fontana 2026 (Fig. 7 and 8, Table 1), against
//! spectral radii that were computed independently from the equations.

use oldham_cosim::{
    Builder, Hold, InputPort, IntegratedMotion, OutputPort, Predictor, RateExtrapolation, Schedule,
    Simulation, Stage, Subsystem,
};
use oldham_lumped::{
    Coordinates, Element, ElementKind, GhostSpec, Integrator, Lumped, NodeRef, NodeSpec, PortKind,
    PortSpec, Spec,
};
use oldham_stability::analyse;

const RHO: f64 = 0.6;
const STEP: f64 = 1e-3;
const K: f64 = 1e3;
const C: f64 = 10.0;

fn node(name: &str) -> NodeSpec {
    NodeSpec {
        name: name.into(),
        position: 0.01,
        velocity: 0.1,
    }
}

fn mass(node: NodeRef, mass: f64) -> Element {
    Element {
        name: "mass".into(),
        kind: ElementKind::Mass { node, mass },
    }
}

fn spring(ends: [NodeRef; 2]) -> Element {
    Element {
        name: "spring".into(),
        kind: ElementKind::Spring {
            ends,
            stiffness: K,
            damping: C,
            rest: 0.0,
        },
    }
}

fn port(name: &str, node: NodeRef, kind: PortKind) -> PortSpec {
    PortSpec {
        name: name.into(),
        node,
        kind,
    }
}

/// A mass between the wall and the interface node, whose position is prescribed.
fn side(own_mass: f64, integrator: Integrator) -> Spec {
    let (own, interface) = (NodeRef::node(0), NodeRef::ghost(0));
    let mut ghost = GhostSpec::new("interface");
    ghost.traced = true;
    Spec {
        coordinates: Coordinates::Translation,
        nodes: vec![node("own")],
        ghosts: vec![ghost],
        elements: vec![
            mass(own, own_mass),
            spring([NodeRef::Ground, own]),
            spring([own, interface]),
        ],
        inputs: vec![port("interface", interface, PortKind::Motion)],
        outputs: vec![
            port("force", interface, PortKind::Force),
            port("own", own, PortKind::Motion),
        ],
        integrator,
        micro_steps: 1,
        sends_tangent: false,
        tangents: Vec::new(),
    }
}

/// The coupling subsystem: both interface masses, rigidly joined, under the forces of both sides.
fn coupling(mass_of_both: f64, integrator: Integrator) -> Spec {
    let joint = NodeRef::node(0);
    Spec {
        coordinates: Coordinates::Translation,
        nodes: vec![node("joint")],
        ghosts: Vec::new(),
        elements: vec![mass(joint, mass_of_both)],
        inputs: vec![
            port("left", joint, PortKind::Force),
            port("right", joint, PortKind::Force),
        ],
        outputs: vec![port("joint", joint, PortKind::Motion)],
        integrator,
        micro_steps: 1,
        sends_tangent: false,
        tangents: Vec::new(),
    }
}

fn cut(interface_mass: f64, extrapolation: RateExtrapolation) -> Simulation {
    let lms2 = Integrator::Lms2 { rho: RHO };
    let mut builder = Builder::new();
    let mut add = |name: &str, spec: Spec, is_side: bool| {
        let part = Lumped::new(spec).unwrap();
        let predictor: Box<dyn Predictor> = if is_side {
            Box::new(IntegratedMotion::new(extrapolation, RHO, part.ports()))
        } else {
            Box::new(Hold::new(0, part.ports()))
        };
        builder.add(name, Box::new(part), predictor)
    };
    let left = add("left", side(2.0, lms2), true);
    let right = add("right", side(1.0, lms2), true);
    let joint = add("joint", coupling(interface_mass, lms2), false);
    for (index, part) in [left, right].into_iter().enumerate() {
        builder.connect((part, OutputPort(0)), (joint, InputPort(index)));
        builder.connect((joint, OutputPort(0)), (part, InputPort(0)));
    }
    let stages = vec![
        Stage::Together(vec![left, right]),
        Stage::Together(vec![joint]),
    ];
    builder.build(Schedule::with_stages(STEP, stages)).unwrap()
}

fn radius(simulation: &mut Simulation) -> f64 {
    analyse(simulation).unwrap().radius
}

#[test]
fn the_baseline_has_the_published_spectral_radius() {
    let loose = radius(&mut cut(3.0, RateExtrapolation::Hermite));
    assert!((loose - 0.998_736_772).abs() < 1e-9, "{loose:.12}");
}

#[test]
fn the_border_of_stability_is_an_interface_mass_of_24_935_grams() {
    let (mut unstable, mut stable) = (0.01, 0.1);
    while stable - unstable > 1e-7 {
        let middle = 0.5 * (stable + unstable);
        let mut simulation = cut(middle, RateExtrapolation::Hermite);
        if analyse(&mut simulation).unwrap().is_stable() {
            stable = middle;
        } else {
            unstable = middle;
        }
    }
    assert!((stable - 0.024935).abs() < 1e-6, "{stable}");
}
