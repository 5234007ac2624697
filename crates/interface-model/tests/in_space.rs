//! Motions that a fast subsystem sees within a macro step, against closed forms: a node in space, and a line.

use std::sync::{Arc, Mutex};

use oldham_cosim::{
    Hold, InputPort, Inputs, OutputPort, Ports, Quantity, Reached, StepError, Subsystem, Unit,
};
use oldham_interface_model::{Coordinate, Fed};

const STEPS: usize = 40;
const H: f64 = 0.02;

/// Sends constant forces, and remembers the motion that it has seen last.
struct Pusher {
    ports: Ports,
    forces: Vec<f64>,
    seen: Arc<Mutex<Vec<f64>>>,
}

impl Pusher {
    fn new(motion: Quantity, force: Quantity, forces: &[f64]) -> Self {
        let mut ports = Ports::new();
        ports.add_input("motion", motion);
        ports.add_output("force", force);
        Self {
            seen: Arc::new(Mutex::new(vec![0.0; ports.input_width()])),
            ports,
            forces: forces.to_vec(),
        }
    }
}

impl Subsystem for Pusher {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, _: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        inputs.at(to, &mut self.seen.lock().unwrap());
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs.copy_from_slice(&self.forces);
        Ok(())
    }
}

/// What it sees at the end of a macro step that begins with this motion, where nothing acted and each force alone
/// changes its own acceleration by this much.
fn seen_after(pusher: Pusher, motion: &[f64], mobility: &[f64]) -> Vec<f64> {
    let seen = Arc::clone(&pusher.seen);
    let coordinate = Coordinate::Pushed {
        position: InputPort(0),
        rate: None,
        force: OutputPort(0),
    };
    let mut fed = Fed::new(Box::new(pusher), &[coordinate], STEPS);
    let ports = fed.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    let count = mobility.len();
    let mut shown = vec![0.0; (count + 1) * (count + 2)];
    for (i, value) in mobility.iter().enumerate() {
        shown[i * (count + 2) + 2 + i] = *value;
    }
    inputs.receive(InputPort(0), 0.0, motion);
    inputs.receive(InputPort(1), 0.0, &shown);
    fed.advance(0.0, H, &mut inputs).unwrap();
    seen.lock().unwrap().clone()
}

/// Under a constant acceleration, for which Verlet's method is exact.
fn moved(x: f64, v: f64, a: f64) -> f64 {
    x + H * v + 0.5 * H * H * a
}

/// In the middle of the last step.
fn faster(v: f64, a: f64) -> f64 {
    v + (H - 0.5 * H / STEPS as f64) * a
}

#[test]
fn a_node_in_space_moves_and_turns_under_a_wrench() {
    let wrench = [3.0, -2.0, 5.0, 0.0, 0.0, 4.0];
    let pusher = Pusher::new(Quantity::Motion, Quantity::Wrench, &wrench);
    let mut motion = [0.0; 19];
    motion[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
    // A quarter turn about z.
    let half = std::f64::consts::FRAC_PI_4;
    motion[3..7].copy_from_slice(&[half.cos(), 0.0, 0.0, half.sin()]);
    motion[7..10].copy_from_slice(&[0.1, 0.2, 0.3]);
    motion[12] = 6.0;
    let seen = seen_after(pusher, &motion, &[0.5, 0.5, 0.5, 2.0, 2.0, 2.0]);
    for axis in 0..3 {
        let expected = moved(motion[axis], motion[7 + axis], 0.5 * wrench[axis]);
        assert!((seen[axis] - expected).abs() < 1e-13, "{axis}");
        let velocity = faster(motion[7 + axis], 0.5 * wrench[axis]);
        assert!((seen[7 + axis] - velocity).abs() < 1e-13, "{axis}");
        assert_eq!(seen[13 + axis], 0.5 * wrench[axis]);
    }
    let angle = moved(2.0 * half, 6.0, 8.0);
    let expected = [(0.5 * angle).cos(), 0.0, 0.0, (0.5 * angle).sin()];
    for (found, expected) in seen[3..7].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{seen:?}");
    }
    assert!((seen[12] - faster(6.0, 8.0)).abs() < 1e-13);
}

#[test]
fn a_motion_about_an_axis_takes_its_derivatives_along() {
    let torque = Quantity::Scalar(Unit::NEWTON_METRE);
    let pusher = Pusher::new(Quantity::Rotation, torque, &[7.0]);
    let seen = seen_after(pusher, &[0.4, -1.0, 0.0], &[0.25]);
    let expected = [moved(0.4, -1.0, 1.75), faster(-1.0, 1.75), 1.75];
    for (found, expected) in seen.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{seen:?}");
    }
}
