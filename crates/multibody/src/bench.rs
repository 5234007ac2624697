//! Models whose time per step is a figure of merit, and the stopwatch.

mod robots;

pub use robots::{ball_chain, four_bar, standing_humanoid};

use crate::{
    BeamMesh, Body, Drive, Joint, LineInertia, Load, Lumping, Marker, Mat3, Model, Motion, NodeId,
    Options, Section, ShellGrid, ShellMesh, ShellSection, SolveError, SurfaceInertia, System, Vec3,
    mapped_shell, rectangle, straight_beam,
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
/// Its mass is lumped as points, as in the computations that it is compared with.
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
        lumping: Lumping::Points,
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

/// Links on which each hinge of a robot arm with six axes sits; none on the ground.
pub const ARM: [Option<usize>; 6] = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];

/// The same of a binary tree of five levels.
pub const TREE: [Option<usize>; 31] = {
    let mut parents = [None; 31];
    let mut link = 1;
    while link < 31 {
        parents[link] = Some((link - 1) / 2);
        link += 1;
    }
    parents
};

/// The same of a body that hangs by its spine: two arms, a head and two legs.
pub const HUMANOID: [Option<usize>; 28] = {
    const ON: [usize; 27] = [
        0, 1, 2, 3, 4, 5, 2, 7, 8, 9, 2, 11, 12, 0, 14, 15, 16, 17, 18, 0, 20, 21, 22, 23, 24, 1,
        26,
    ];
    let mut parents = [None; 28];
    let mut link = 1;
    while link < 28 {
        parents[link] = Some(ON[link - 1]);
        link += 1;
    }
    parents
};

/// A tree of hinges under gravity that swings from its zero position, and its last node. `benches/robots_peer.py` makes
/// the same for MuJoCo.
pub fn hinged_tree(parents: &[Option<usize>]) -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    // Node, hinge, velocity of the hinge and angular velocity of each link.
    let mut links: Vec<(NodeId, Vec3, [Vec3; 2])> = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        let k = index as f64;
        let (carrier, hinge, [velocity, spin]) = match parent {
            None => (NodeId::GROUND, Vec3::ZERO, [Vec3::ZERO; 2]),
            Some(parent) => {
                let (node, place, [velocity, spin]) = links[*parent];
                let arm = Vec3::new((1.3 * k).cos(), (1.3 * k).sin(), -0.5) * 0.25;
                (node, place + arm, [velocity + spin.cross(arm), spin])
            }
        };
        let axis = [Vec3::Y, Vec3::X, Vec3::Z][index % 3];
        let spin = spin + axis * (0.5 * (2.0 * k + 1.0).sin());
        let arm = Vec3::new((0.7 * k).cos(), (0.7 * k).sin(), -0.5) * 0.1;
        let motion = Motion::at(hinge + arm).moving(velocity + spin.cross(arm), spin);
        let node = model.node(format!("link {index}"), motion);
        let inertia = Mat3::diagonal(0.010, 0.012, 0.014);
        model.body(node, Body::centred(1.0 + 0.5 * k.cos(), inertia));
        let [a, b] = [carrier, node].map(|n| model.axis_marker(n, hinge, axis));
        model.element(format!("hinge {index}"), Joint::revolute(a, b));
        links.push((node, hinge, [velocity, spin]));
    }
    let last = links[links.len() - 1].0;
    (model, last)
}

/// The shell of Fontana 2026, Sect. 5.2, as a model and its nodes: 1 m × 0.2 m × 1 mm, density
/// 1000, both short ends clamped, its middle line pushed up by a force that grows smoothly to 20 N
/// in 1 s. The number of elements along the shell must be even.
pub fn clamped_shell(divisions: [usize; 2]) -> (Model, ShellGrid) {
    let mut model = Model::new();
    let (length, width, thickness) = (1.0, 0.2, 0.001);
    let mesh = ShellMesh {
        divisions,
        closed: false,
        section: ShellSection::isotropic(6.825e7, 0.3, thickness),
        inertia: SurfaceInertia::uniform(1000.0, thickness),
    };
    let corner = Vec3::new(-0.5 * length, -0.5 * width, 0.0);
    let surface = rectangle(corner, Vec3::X * length, Vec3::Y * width);
    let grid = mapped_shell(&mut model, "shell", &mesh, surface).expect("rectangles are proper");
    let [last_column, last_row] = divisions;
    for row in 0..=last_row {
        for column in [0, last_column] {
            let node = grid.node(column, row);
            let place = model.nodes[node.0].initial.position;
            let [a, b] = [NodeId::GROUND, node].map(|n| model.marker(n, place));
            model.element(format!("clamp {column}.{row}"), Joint::clamp(a, b));
        }
        let is_side = row == 0 || row == last_row;
        let share = if is_side { 0.5 } else { 1.0 } / last_row as f64;
        let push = Drive::SmoothStep {
            start: 0.0,
            end: 1.0,
            from: 0.0,
            to: 20.0 * share,
        };
        let middle = Marker::on(grid.node(last_column / 2, row));
        let load = Load::fixed(
            middle,
            [Drive::ZERO, Drive::ZERO, push],
            [Drive::ZERO, Drive::ZERO, Drive::ZERO],
        );
        model.element(format!("push {row}"), load);
    }
    (model, grid)
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
