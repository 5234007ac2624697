//! Extrapolation of motions by the derivatives that are sent with them.

use oldham_cosim::{
    InputPort, MOTION_QUATERNION, Port, Ports, Predictor, Quantity, State, Visitor,
};
use oldham_space::{Quaternion, V3};

/// Continues a received motion with its acceleration held: `x + s v + s (s + h) a / 2`,
/// `v + s a`, a time s after the sample. With h the micro step of a semi-implicit sender this is
/// what its integrator makes of a constant acceleration; with h = 0 it is the parabola. Everything
/// that is no complete motion is held.
#[derive(Clone, Debug)]
pub struct Kinematic {
    micro_step: f64,
    ports: Vec<Sample>,
}

#[derive(Clone, Debug)]
struct Sample {
    start: usize,
    shape: Shape,
    is_coordinate: bool,
    count: u64,
    time: f64,
    values: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Held,
    Line,
    Spatial,
}

impl Kinematic {
    /// For these ports, when senders integrate with this micro step (zero for other integrators
    /// than semi-implicit Euler).
    pub fn new(micro_step: f64, ports: &Ports) -> Self {
        let sample = |(index, port): (usize, &Port)| Sample {
            start: ports.input_range(InputPort(index)).start,
            shape: match port.quantity {
                Quantity::Translation | Quantity::Rotation => Shape::Line,
                Quantity::Motion => Shape::Spatial,
                _ => Shape::Held,
            },
            is_coordinate: port.quantity.is_coordinate(),
            count: 0,
            time: 0.0,
            values: vec![0.0; port.quantity.width()],
        };
        let ports = ports.inputs().iter().enumerate().map(sample).collect();
        Self { micro_step, ports }
    }
}

impl State for Kinematic {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for port in &mut self.ports {
            visitor.count(&mut port.count);
            visitor.fixed(std::slice::from_mut(&mut port.time));
            // A port that nothing feeds has no samples: its memory is no coordinate of the motion,
            // and neither is a tangent.
            if port.count == 0 || !port.is_coordinate {
                visitor.fixed(&mut port.values);
            } else {
                visitor.vector(&mut port.values);
            }
        }
    }
}

impl Predictor for Kinematic {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let port = &mut self.ports[port.0];
        port.count = 1;
        port.time = t;
        port.values.copy_from_slice(values);
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        for port in self.ports.iter().filter(|port| port.count > 0) {
            let out = &mut inputs[port.start..][..port.values.len()];
            port.continued(t - port.time, self.micro_step, out);
        }
    }

    fn reset(&mut self) {}
}

impl Sample {
    fn continued(&self, s: f64, micro_step: f64, out: &mut [f64]) {
        let sent = &self.values;
        out.copy_from_slice(sent);
        let half = 0.5 * s * (s + micro_step);
        match self.shape {
            Shape::Held => {}
            Shape::Line => {
                out[0] = sent[0] + s * sent[1] + half * sent[2];
                out[1] = sent[1] + s * sent[2];
            }
            Shape::Spatial => {
                let mut turn = [0.0; 3];
                for axis in 0..3 {
                    out[axis] = sent[axis] + s * sent[7 + axis] + half * sent[13 + axis];
                    out[7 + axis] = sent[7 + axis] + s * sent[13 + axis];
                    turn[axis] = s * sent[10 + axis] + half * sent[16 + axis];
                    out[10 + axis] = sent[10 + axis] + s * sent[16 + axis];
                }
                let before = sent[MOTION_QUATERNION].try_into().expect("four components");
                let after = Quaternion::exp(V3(turn)).times(Quaternion(before));
                out[MOTION_QUATERNION].copy_from_slice(&after.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_cosim::Unit;

    /// Semi-implicit Euler under a constant acceleration, step by step.
    #[test]
    fn a_constant_acceleration_is_continued_as_the_sender_integrates_it() {
        let (h, a) = (0.01, 3.0);
        let mut ports = Ports::new();
        ports.add_input("far", Quantity::Translation);
        ports.add_input("load", Quantity::Scalar(Unit::NEWTON));
        let mut kinematic = Kinematic::new(h, &ports);
        let (mut x, mut v) = (0.5, -2.0);
        kinematic.receive(InputPort(0), 1.0, &[x, v, a]);
        kinematic.receive(InputPort(1), 1.0, &[7.0]);
        let mut inputs = [0.0; 4];
        for step in 1..=5 {
            v += h * a;
            x += h * v;
            kinematic.predict(1.0 + h * f64::from(step), None, &mut inputs);
            assert!((inputs[0] - x).abs() < 1e-14 && (inputs[1] - v).abs() < 1e-14);
            assert_eq!(inputs[2..], [a, 7.0]);
        }
    }

    /// A steady turn about a fixed axis is known exactly.
    #[test]
    fn a_steady_turn_is_continued_exactly() {
        let mut ports = Ports::new();
        ports.add_input("hand", Quantity::Motion);
        let mut kinematic = Kinematic::new(0.0, &ports);
        let mut motion = Quantity::Motion.zero();
        motion[12] = 2.0;
        kinematic.receive(InputPort(0), 0.0, &motion);
        let mut inputs = vec![0.0; 19];
        kinematic.predict(0.3, None, &mut inputs);
        assert!((inputs[3] - 0.3_f64.cos()).abs() < 1e-15);
        assert!((inputs[6] - 0.3_f64.sin()).abs() < 1e-15);
    }
}
