//! An oscillator that does not show its state, as a foreign program does, and steps by the exact solution for inputs that
//! are straight within a step.

use nalgebra::{Matrix2, Vector2};
use oldham_cosim::{
    Conjugate, Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit, Visitor,
};
use oldham_model::{Context, Extensions, ForeignPart};
use schemars::JsonSchema;
use serde::Deserialize;

/// A mass at a wall, pushed by a force.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
pub struct Settings {
    mass: f64,
    stiffness: f64,
    damping: f64,
    position: f64,
    velocity: f64,
}

/// The kind `sealed`.
pub fn extensions() -> Extensions {
    let mut extensions = oldham_study::shipped_kinds().clone();
    extensions.subsystem("sealed", make);
    extensions
}

fn make(settings: Settings, _: &mut Context<'_>) -> Option<impl ForeignPart + use<>> {
    Some(move |_: usize| Ok(Box::new(Sealed::new(settings)) as Box<dyn Subsystem>))
}

struct Sealed {
    ports: Ports,
    of: Settings,
    x: Vector2<f64>,
}

impl Sealed {
    fn new(of: Settings) -> Self {
        let mut ports = Ports::new();
        let force = ports.add_input("push", Quantity::Scalar(Unit::NEWTON));
        let motion = ports.add_output("x", Quantity::Translation);
        ports.conjugate(Conjugate::GivesMotion { force, motion });
        // The acceleration follows the force at once.
        ports.feed_through(2, 0);
        Self {
            ports,
            of,
            x: Vector2::new(of.position, of.velocity),
        }
    }

    fn acceleration(&self, force: f64) -> f64 {
        (force - self.of.stiffness * self.x[0] - self.of.damping * self.x[1]) / self.of.mass
    }
}

impl Subsystem for Sealed {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut ends = [[0.0]; 2];
        inputs.at(from, &mut ends[0]);
        inputs.at(to, &mut ends[1]);
        let h = to - from;
        let a = Matrix2::new(
            0.0,
            1.0,
            -self.of.stiffness / self.of.mass,
            -self.of.damping / self.of.mass,
        );
        let b = Vector2::new(0.0, 1.0 / self.of.mass);
        // Van Loan's matrix: the state, the force and its rate.
        let mut whole = nalgebra::Matrix4::zeros();
        whole.fixed_view_mut::<2, 2>(0, 0).copy_from(&(a * h));
        whole.fixed_view_mut::<2, 1>(0, 2).copy_from(&(b * h));
        whole[(2, 3)] = 1.0;
        let whole = whole.exp();
        let [[first], [last]] = ends;
        let step = whole.fixed_view::<2, 2>(0, 0) * self.x;
        self.x = step
            + whole.fixed_view::<2, 1>(0, 2) * first
            + whole.fixed_view::<2, 1>(0, 3) * (last - first);
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs.copy_from_slice(&[self.x[0], self.x[1], self.acceleration(inputs[0])]);
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Sealed {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let mut words = self.x.iter().map(|x| x.to_bits()).collect();
        visitor.memory(&mut words);
        if visitor.replaces() {
            let both = self.x.iter_mut().zip(words);
            both.for_each(|(x, word)| *x = f64::from_bits(word));
        }
    }
}
