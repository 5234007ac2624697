//! A fine mesh of a thin shell has rotary inertias many orders below its stiffness; the solver's
//! scaling must not take them for nothing.

use oldham_multibody::bench::clamped_shell;
use oldham_multibody::{Options, System};

#[test]
fn a_fine_mesh_of_a_thin_shell_starts_and_steps() {
    let (model, _) = clamped_shell([16, 8]);
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..5 {
        system.step(1e-3, &[]).unwrap();
    }
}
