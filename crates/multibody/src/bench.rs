//! Models whose time per step is a figure of merit, and the stopwatch.

use crate::{
    BeamMesh, Body, Joint, LineInertia, Mat3, Model, Motion, NodeId, Options, Section, SolveError,
    System, Vec3, straight_beam,
};
use oldham_cosim::Counters;
use std::time::Instant;

/// What a timed run found.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Best time per step over the repetitions, in microseconds.
    pub microseconds: f64,
    /// Work of the last repetition.
    pub counters: Counters,
}

/// The beam of Fontana 2026, Sect. 5.1, as a model and its nodes: 24 m, both ends hinged about the
/// horizontal axis across the beam and fixed in all translations, from straight under gravity.
pub fn hanging_beam(elements: usize, damping: f64) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X * 24.0,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([1e6, 0.6e6, 0.6e6, 1e3, 2e3, 1e4]).damped(damping),
        inertia: LineInertia {
            mass: 5.0,
            rotary: [0.1, 0.05, 0.05],
        },
    };
    let nodes = straight_beam(&mut model, "beam", &mesh);
    for (name, node) in [
        ("left hinge", nodes[0]),
        ("right hinge", nodes[2 * elements]),
    ] {
        let place = model.nodes[node.0].initial.position;
        let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, place, Vec3::Y));
        model.element(name, Joint::revolute(a, b));
    }
    (model, nodes)
}

/// A chain of rigid links joined by universal joints, swinging in space from a straight start.
pub fn spatial_chain(links: usize) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let length = 0.5;
    let mut nodes = vec![NodeId::GROUND];
    for i in 0..links {
        let centre = Vec3::X * ((i as f64 + 0.5) * length);
        let spin = Vec3::new(0.3, 0.0, 0.4);
        let motion = Motion::at(centre).moving(spin.cross(centre), spin);
        let node = model.node(format!("link {i}"), motion);
        model.body(
            node,
            Body::centred(1.0, Mat3::diagonal(0.002, 0.022, 0.022)),
        );
        let place = Vec3::X * (i as f64 * length);
        let [a, b] = [nodes[i], node].map(|n| model.marker(n, place));
        model.element(format!("joint {i}"), Joint::universal(a, b));
        nodes.push(node);
    }
    (model, nodes)
}

/// Times `steps` steps of a model from its start, best of `repetitions`.
pub fn time(
    model: impl Fn() -> Model,
    options: Options,
    h: f64,
    steps: usize,
    repetitions: usize,
) -> Result<Timing, SolveError> {
    let mut timing = Timing {
        microseconds: f64::INFINITY,
        counters: Counters::default(),
    };
    for _ in 0..repetitions {
        let mut system = System::new(model(), options).expect("a model of this module is valid");
        system.start(0.0, &[])?;
        let start = Instant::now();
        for _ in 0..steps {
            system.step(h, &[])?;
        }
        let spent = start.elapsed().as_secs_f64() * 1e6 / steps as f64;
        timing.microseconds = timing.microseconds.min(spent);
        timing.counters = system.counters();
    }
    Ok(timing)
}
