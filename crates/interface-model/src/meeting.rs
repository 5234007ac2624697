//! Where a fast subsystem meets a mechanism: how the motion there is laid out, and how it goes on under accelerations.

use oldham_cosim::{Ports, Quantity, Visitor};
use oldham_space::{Quaternion, Vec3};

use crate::fed::Coordinate;

/// A meeting, by places in the vectors of the fast subsystem.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    layout: Layout,
    /// Components of the force, one for each degree of freedom.
    pub forces: std::ops::Range<usize>,
    /// As it was received last, and as it is at the time reached, both laid out as messages are.
    received: Vec<f64>,
    motion: Vec<f64>,
}

/// How a motion arrives.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// A number, and its rate if that arrives too.
    Numbers {
        position: usize,
        rate: Option<usize>,
    },
    /// Displacement, velocity and acceleration along a line or about an axis, from this component on.
    Line(usize),
    /// Motion of a node in space.
    Space(usize),
}

impl Meeting {
    pub fn new(coordinate: &Coordinate, ports: &Ports) -> Self {
        let position = ports.input_range(coordinate.position).start;
        let layout = match ports.inputs()[coordinate.position.0].quantity {
            Quantity::Translation | Quantity::Rotation => Layout::Line(position),
            Quantity::Motion => Layout::Space(position),
            _ => Layout::Numbers {
                position,
                rate: coordinate.rate.map(|port| ports.input_range(port).start),
            },
        };
        let width = match layout {
            Layout::Numbers { .. } => 2,
            Layout::Line(_) => 3,
            Layout::Space(_) => Quantity::Motion.width(),
        };
        Self {
            layout,
            forces: ports.output_range(coordinate.force),
            received: vec![0.0; width],
            motion: vec![0.0; width],
        }
    }

    /// Velocities that forces change.
    pub fn degrees_of_freedom(&self) -> usize {
        match self.layout {
            Layout::Numbers { .. } | Layout::Line(_) => 1,
            Layout::Space(_) => 6,
        }
    }

    /// Starts anew from what the mechanism sent. Without its rate that of the model goes on.
    pub fn start(&mut self, inputs: &[f64]) {
        match self.layout {
            Layout::Numbers { position, rate } => {
                let rate = rate.map_or(self.motion[1], |rate| inputs[rate]);
                self.received.copy_from_slice(&[inputs[position], rate]);
            }
            Layout::Line(first) | Layout::Space(first) => {
                let width = self.received.len();
                self.received.copy_from_slice(&inputs[first..first + width]);
            }
        }
        self.motion.copy_from_slice(&self.received);
    }

    /// Whether the inputs are those from which it started.
    pub fn is_as_received(&self, inputs: &[f64]) -> bool {
        match self.layout {
            Layout::Numbers { position, rate } => {
                let same = rate.is_none_or(|rate| inputs[rate] == self.received[1]);
                inputs[position] == self.received[0] && same
            }
            Layout::Line(first) | Layout::Space(first) => {
                inputs[first..first + self.received.len()] == self.received[..]
            }
        }
    }

    /// Puts the motion among the inputs of the fast subsystem.
    pub fn show(&self, inputs: &mut [f64]) {
        match self.layout {
            Layout::Numbers { position, rate } => {
                inputs[position] = self.motion[0];
                if let Some(place) = rate {
                    inputs[place] = self.motion[1];
                }
            }
            Layout::Line(first) | Layout::Space(first) => {
                inputs[first..first + self.motion.len()].copy_from_slice(&self.motion);
            }
        }
    }

    /// One step of semi-implicit Euler (Eq. 45).
    pub fn step(&mut self, accelerations: &[f64], size: f64) {
        match (self.layout, accelerations, &mut self.motion[..]) {
            (Layout::Numbers { .. }, [a], [x, v]) => {
                *v += size * a;
                *x += size * *v;
            }
            (Layout::Line(_), [now], [x, v, a]) => {
                *a = *now;
                *v += size * *a;
                *x += size * *v;
            }
            (Layout::Space(_), now, motion) => move_in_space(motion, now, size),
            _ => unreachable!("as many accelerations as degrees of freedom"),
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self.layout {
            Layout::Numbers { .. } | Layout::Line(_) => visitor.vector(&mut self.motion),
            Layout::Space(_) => {
                let (place, rest) = self.motion.split_at_mut(3);
                let (orientation, rates) = rest.split_first_chunk_mut().expect("a quaternion");
                visitor.vector(place);
                visitor.rotation(orientation);
                visitor.vector(rates);
            }
        }
        visitor.fixed(&mut self.received);
    }
}

/// A node in space: the angular velocity is in the absolute frame.
fn move_in_space(motion: &mut [f64], accelerations: &[f64], size: f64) {
    let (pose, rates) = motion.split_at_mut(7);
    let (velocities, second) = rates.split_at_mut(6);
    second.copy_from_slice(accelerations);
    for (v, a) in velocities.iter_mut().zip(accelerations) {
        *v += size * a;
    }
    for (x, v) in pose.iter_mut().zip(&velocities[..3]) {
        *x += size * v;
    }
    let turn = Vec3::new(velocities[3], velocities[4], velocities[5]) * size;
    let [q0, q1, q2, q3] = [pose[3], pose[4], pose[5], pose[6]];
    let turned = Quaternion::exp(turn)
        .times(Quaternion([q0, q1, q2, q3]))
        .normalised();
    pose[3..].copy_from_slice(&turned.0);
}
