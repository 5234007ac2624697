//! Parts joined through their interface tangents.

use oldham_cosim::{Builder, Hold, Predictor, Schedule, Simulation, Stage, Subsystem, SubsystemId};
use oldham_multibody::bench::hanging_beam;
use oldham_multibody::{
    BeamMesh, Body, Joint, LineInertia, Lumping, Mat3, MechanismPart, Method, Model, Motion,
    NodeId, Options, PartBuilder, Section, System, Vec3, straight_beam,
};
use oldham_prediction::{IntegratedMotion, RateExtrapolation};

const H: f64 = 1e-4;
const RHO: f64 = 0.6;

fn options() -> Options {
    Options {
        method: Method::Lms2 { rho: RHO },
        tolerance: 1e-9,
        ..Options::default()
    }
}

/// The stretch of the hanging beam between two places, hinged where it ends at a support.
fn stretch(from: f64, to: f64, elements: usize, damping: f64) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let mesh = BeamMesh {
        from: Vec3::X * from,
        to: Vec3::X * to,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([1e6, 0.6e6, 0.6e6, 1e3, 2e3, 1e4]).damped(damping),
        inertia: LineInertia {
            mass: 5.0,
            rotary: [0.1, 0.05, 0.05],
        },
        // As the coupling below, whose nodes carry points.
        lumping: Lumping::Points,
    };
    let nodes = straight_beam(&mut model, "beam", &mesh);
    for (place, node) in [(from, nodes[0]), (to, nodes[2 * elements])] {
        if place == 0.0 || place == 24.0 {
            let place = Vec3::X * place;
            let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, place, Vec3::Y));
            model.element("hinge", Joint::revolute(a, b));
        }
    }
    (model, nodes)
}

/// The beam in equal parts, joined at their common nodes.
struct CutBeam {
    simulation: Simulation,
    coupling: SubsystemId,
    first_motion: usize,
}

fn cut_beam(parts: usize, elements: usize, damping: f64, corrected: bool) -> CutBeam {
    let mut builder = Builder::new();
    let length = 24.0 / parts as f64;
    // The copies in the parts carry their own weight.
    let mut joint = Model::new();
    let share = 24.0 / elements as f64 / 4.0;
    let nodes: Vec<NodeId> = (1..parts)
        .map(|k| {
            let node = joint.node(
                format!("cut {k}"),
                Motion::at(Vec3::X * (length * k as f64)),
            );
            let inertia = Mat3::diagonal(0.1, 0.05, 0.05) * (2.0 * share);
            joint.body(node, Body::centred(5.0 * 2.0 * share, inertia));
            node
        })
        .collect();
    let mut owner = PartBuilder::new(joint);
    let mut ids = Vec::new();
    let mut wires = Vec::new();
    for k in 0..parts {
        let (from, to) = (length * k as f64, length * (k + 1) as f64);
        let (model, inner) = stretch(from, to, elements / parts, damping);
        let mut part = PartBuilder::new(model);
        let mut ends = Vec::new();
        if k > 0 {
            ends.push((inner[0], nodes[k - 1]));
        }
        if k + 1 < parts {
            ends.push((*inner.last().unwrap(), nodes[k]));
        }
        let ports: Vec<_> = ends
            .iter()
            .enumerate()
            .map(|(i, (own, _))| part.prescribe(&format!("end{i}"), *own))
            .collect();
        let outer: Vec<NodeId> = ends.iter().map(|(_, node)| *node).collect();
        let shared = part.share_tangent();
        let attached = owner.attach(&format!("part{k}"), &outer);
        let part = part.build(options(), 1).unwrap();
        let predictor = IntegratedMotion::new(RateExtrapolation::Hermite, RHO, part.ports());
        let id = builder.add(&format!("part{k}"), Box::new(part), Box::new(predictor));
        ids.push(id);
        wires.push((id, ports, shared, attached));
    }
    let owner: MechanismPart = owner.build(options(), 1).unwrap();
    let first_motion = owner.ports().output_range(wires[0].3.motions[0]).start;
    let hold: Box<dyn Predictor> = Box::new(Hold::new(0, owner.ports()));
    let coupling = builder.add("coupling", Box::new(owner), hold);
    for (id, ports, shared, attached) in wires {
        for (i, (motion, load)) in ports.into_iter().enumerate() {
            builder.connect((coupling, attached.motions[i]), (id, motion));
            builder.connect((id, load), (coupling, attached.loads[i]));
            builder.connect((id, shared.found_at[i]), (coupling, attached.found_at[i]));
        }
        if corrected {
            builder.connect((id, shared.tangent), (coupling, attached.tangent));
        }
    }
    let mut stages = vec![
        Stage::Together(ids.clone()),
        Stage::Together(vec![coupling]),
    ];
    if corrected {
        stages.push(Stage::Corrected(ids));
    }
    let simulation = builder.build(Schedule::with_stages(H, stages)).unwrap();
    CutBeam {
        simulation,
        coupling,
        first_motion,
    }
}

impl CutBeam {
    fn height(&self) -> f64 {
        self.simulation.outputs(self.coupling)[self.first_motion + 2]
    }
}

fn whole_height(elements: usize, damping: f64, node: usize, steps: usize) -> f64 {
    let (model, nodes) = hanging_beam(elements, damping);
    let mut system = System::new(model, options()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..steps {
        system.step(H, &[]).unwrap();
    }
    system.motion(nodes[node]).position[2]
}

#[test]
fn a_heavily_damped_beam_in_parts_moves_as_one() {
    for (parts, node) in [(2, 12), (3, 8)] {
        let mut cut = cut_beam(parts, 12, 0.05, true);
        for steps in [1_usize, 10, 1000] {
            let done = cut.simulation.steps_done() as usize;
            cut.simulation.steps((steps - done) as u64).unwrap();
            let whole = whole_height(12, 0.05, node, steps);
            let difference = (cut.height() - whole).abs();
            assert!(
                difference <= 1e-10 * whole.abs().max(1e-6),
                "{difference:e}"
            );
        }
    }
}

/// The plain scheme knows only the mass of the interface, which heavy damping makes unstable.
#[test]
fn without_the_tangent_heavy_damping_breaks_it() {
    let mut cut = cut_beam(2, 12, 0.05, false);
    let outcome = cut.simulation.steps(100);
    assert!(outcome.is_err() || cut.height().abs() > 1.0);
}

#[test]
fn without_damping_the_plain_scheme_is_enough() {
    let mut cut = cut_beam(2, 12, 0.0, false);
    cut.simulation.steps(1000).unwrap();
    let whole = whole_height(12, 0.0, 12, 1000);
    assert!((cut.height() - whole).abs() < 1e-7 * whole.abs());
}
