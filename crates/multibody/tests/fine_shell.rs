//! A fine mesh of a thin shell has rotary inertias many orders below its stiffness; the solver's
//! scaling must not take them for nothing.

use oldham_multibody::bench::clamped_shell;
use oldham_multibody::{
    Joint, Model, NodeId, Options, ShellMesh, ShellSection, SurfaceInertia, System, Vec3,
    mapped_shell, rectangle,
};

fn starts_and_steps(model: Model) {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..5 {
        system.step(1e-3, &[]).unwrap();
    }
}

#[test]
fn a_fine_mesh_of_a_thin_shell_starts_and_steps() {
    starts_and_steps(clamped_shell([16, 8]).0);
}

/// Foils down to a thickness of a micrometre: rotary inertias of 1e-20 kg m².
#[test]
fn foils_of_any_thickness_start_and_step() {
    for thickness in [1e-2, 1e-4, 1e-6] {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -9.81));
        let mesh = ShellMesh {
            divisions: [12, 6],
            closed: false,
            section: ShellSection::isotropic(7e10, 0.3, thickness),
            inertia: SurfaceInertia::uniform(2700.0, thickness),
        };
        let surface = rectangle(Vec3::ZERO, Vec3::X, Vec3::Y * 0.2);
        let grid = mapped_shell(&mut model, "foil", &mesh, surface).unwrap();
        for row in 0..=6 {
            let node = grid.node(0, row);
            let place = model.initial(node).position;
            let [a, b] = [NodeId::GROUND, node].map(|n| model.marker(n, place));
            model.element(format!("clamp {row}"), Joint::clamp(a, b));
        }
        starts_and_steps(model);
    }
}
