//! A small oscillator for testing the engine: one mass, a wall spring, a coupling spring.
#![allow(dead_code, reason = "each test file uses its own part")]

use oldham_cosim::{
    Builder, Conjugate, Energy, EnergyBalance, Hold, InputPort, Inputs, OutputPort, Ports,
    Quantity, Reached, Schedule, Simulation, State, StepError, Subsystem, SubsystemId, Unit,
    Visitor,
};

pub const M: [f64; 2] = [1.0, 1.0];
pub const K: [f64; 2] = [10.0, 1000.0];
pub const KC: f64 = 100.0;
pub const V0: [f64; 2] = [100.0, -100.0];

/// What happens at a chosen time, to test the engine's care.
#[derive(Clone, Copy, PartialEq)]
pub enum Mishap {
    None,
    NotANumber(f64),
    Panic(f64),
    Stuck(f64),
    Event(f64),
}

/// `gets_motion`: the coupling spring belongs to this part and it gives the force; otherwise it
/// gets a force and gives its motion. Ports: input 0, outputs 0 = motion (x, v, a), 1 = force.
pub struct Oscillator {
    ports: Ports,
    mass: f64,
    stiffness: f64,
    coupling: Option<f64>,
    micro_steps: usize,
    pub mishap: Mishap,
    pub restarts: u64,
    pub savable: bool,
    x: f64,
    v: f64,
}

impl Oscillator {
    pub fn new(mass: f64, stiffness: f64, v: f64, coupling: Option<f64>) -> Self {
        let mut ports = Ports::new();
        let newton = Quantity::Scalar(Unit::NEWTON);
        if coupling.is_some() {
            let far = ports.add_input("far", Quantity::Translation);
            ports.add_output("motion", Quantity::Translation);
            let force = ports.add_output("force", newton);
            ports.feed_through(3, 0);
            ports.feed_through(2, 0);
            ports.conjugate(Conjugate::GivesForce { motion: far, force });
        } else {
            let force = ports.add_input("force", newton);
            let motion = ports.add_output("motion", Quantity::Translation);
            ports.feed_through(2, 0);
            ports.conjugate(Conjugate::GivesMotion { force, motion });
        }
        Self {
            ports,
            mass,
            stiffness,
            coupling,
            micro_steps: 1,
            mishap: Mishap::None,
            restarts: 0,
            savable: true,
            x: 0.0,
            v,
        }
    }

    pub fn micro_steps(mut self, n: usize) -> Self {
        self.micro_steps = n;
        self
    }

    fn acceleration(&self, u: &[f64]) -> f64 {
        let coupling = match self.coupling {
            Some(k) => -k * (self.x - u[0]),
            None => u[0],
        };
        (coupling - self.stiffness * self.x) / self.mass
    }
}

impl State for Oscillator {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.x));
        visitor.vector(std::slice::from_mut(&mut self.v));
        visitor.count(&mut self.restarts);
    }
}

impl Subsystem for Oscillator {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let due = |at: f64| from <= at && at < to;
        match self.mishap {
            Mishap::Panic(at) if due(at) => panic!("out of luck"),
            Mishap::Stuck(at) if due(at) => return Ok(Reached::end(from)),
            _ => {}
        }
        let h = (to - from) / self.micro_steps as f64;
        let mut u = [0.0; 3];
        let width = self.ports.input_width();
        for k in 0..self.micro_steps {
            inputs.at(from + k as f64 * h, &mut u[..width]);
            // Velocity Verlet: work and energy agree to second order.
            let half = self.v + 0.5 * h * self.acceleration(&u);
            self.x += h * half;
            inputs.at(from + (k as f64 + 0.999_999) * h, &mut u[..width]);
            self.v = half + 0.5 * h * self.acceleration(&u);
        }
        match self.mishap {
            Mishap::NotANumber(at) if due(at) => self.v = f64::NAN,
            Mishap::Event(at) if due(at) => {
                return Ok(Reached {
                    time: to,
                    event: true,
                });
            }
            _ => {}
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[..3].copy_from_slice(&[self.x, self.v, self.acceleration(u)]);
        if let Some(k) = self.coupling {
            y[3] = k * (self.x - u[0]);
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.savable.then_some(self as &mut dyn State)
    }

    fn restart(&mut self) {
        self.restarts += 1;
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
}

impl EnergyBalance for Oscillator {
    fn energy(&mut self, _t: f64, u: &[f64]) -> Energy {
        let spring = self
            .coupling
            .map_or(0.0, |k| 0.5 * k * (self.x - u[0]).powi(2));
        Energy {
            kinetic: 0.5 * self.mass * self.v * self.v,
            potential: 0.5 * self.stiffness * self.x * self.x + spring,
            ..Energy::default()
        }
    }
}

pub fn left() -> Oscillator {
    Oscillator::new(M[0], K[0], V0[0], Some(KC))
}

pub fn right() -> Oscillator {
    Oscillator::new(M[1], K[1], V0[1], None)
}

pub struct Pair {
    pub builder: Builder,
    pub left: SubsystemId,
    pub right: SubsystemId,
}

/// Left gives the force, right the motion.
pub fn pair(left: Oscillator, right: Oscillator, order: usize) -> Pair {
    let mut builder = Builder::new();
    let hold = |part: &Oscillator| Box::new(Hold::new(order, part.ports()));
    let (hold_left, hold_right) = (hold(&left), hold(&right));
    let left = builder.add("left", Box::new(left), hold_left);
    let right = builder.add("right", Box::new(right), hold_right);
    builder.connect((right, OutputPort(0)), (left, InputPort(0)));
    builder.connect((left, OutputPort(1)), (right, InputPort(0)));
    Pair {
        builder,
        left,
        right,
    }
}

pub fn jacobi_pair(step: f64, order: usize, micro_steps: usize) -> Simulation {
    let Pair {
        builder,
        left: a,
        right: b,
    } = pair(
        left().micro_steps(micro_steps),
        right().micro_steps(micro_steps),
        order,
    );
    builder.build(Schedule::jacobi(step, [a, b])).unwrap()
}

/// Exact motion of the undamped pair from x = 0, by its two modes.
pub fn exact(t: f64) -> [f64; 2] {
    // Modal solution of [[m1,0],[0,m2]] x'' + [[k1+kc,-kc],[-kc,k2+kc]] x = 0 with unit masses.
    let (a, b, c) = (K[0] + KC, K[1] + KC, KC);
    let mean = 0.5 * (a + b);
    let half = (0.25 * (a - b).powi(2) + c * c).sqrt();
    let mut x = [0.0; 2];
    for square in [mean - half, mean + half] {
        let shape = [c, a - square];
        let norm = shape[0].hypot(shape[1]);
        let shape = shape.map(|s| s / norm);
        let rate = shape[0] * V0[0] + shape[1] * V0[1];
        let omega = square.sqrt();
        let amplitude = rate / omega * (omega * t).sin();
        x[0] += shape[0] * amplitude;
        x[1] += shape[1] * amplitude;
    }
    x
}
