//! A linear part that shows its state, or hides it as a foreign program does.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit, Visitor};

use crate::random::Random;

/// Which inputs a step takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// Those at its start.
    First,
    /// The mean of those at its start and its end.
    Mean,
}

/// x⁺ = A x + B u and what is not linear; y = C x + D u.
#[derive(Clone, Debug)]
pub struct System {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
    pub takes: Takes,
    /// Steps after which its input is sampled anew.
    pub sampled: u64,
}

/// What makes a part hard to measure.
#[derive(Clone, Debug, Default)]
pub struct Hardness {
    /// In every step and output, relative to sizes.
    pub noise: f64,
    /// Of a cubic law along a direction of the state: b, w.
    pub bend: Option<(DVector<f64>, DVector<f64>)>,
    pub x_sizes: DVector<f64>,
    pub y_sizes: DVector<f64>,
}

pub struct Part {
    system: System,
    hardness: Hardness,
    ports: Ports,
    x: DVector<f64>,
    held: DVector<f64>,
    count: u64,
    is_hidden: bool,
    /// Never saved, as noise is not.
    random: Random,
    values: Vec<f64>,
}

impl Part {
    pub fn new(system: System, hardness: Hardness, is_hidden: bool, seed: u64) -> Self {
        let mut ports = Ports::new();
        let (wide, tall) = (system.b.ncols(), system.c.nrows());
        ports.add_input("u", Quantity::Array(Unit::ONE, wide));
        ports.add_output("y", Quantity::Array(Unit::ONE, tall));
        for i in 0..tall {
            for j in (0..wide).filter(|&j| system.d[(i, j)] != 0.0) {
                ports.feed_through(i, j);
            }
        }
        Self {
            x: DVector::zeros(system.a.nrows()),
            held: DVector::zeros(wide),
            values: vec![0.0; wide],
            system,
            hardness,
            ports,
            count: 0,
            is_hidden,
            random: Random(seed),
        }
    }

    fn input(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> DVector<f64> {
        inputs.at(from, &mut self.values);
        let mut u = DVector::from_row_slice(&self.values);
        if self.system.takes == Takes::Mean {
            inputs.at(to, &mut self.values);
            u = 0.5 * (u + DVector::from_row_slice(&self.values));
        }
        u
    }
}

impl Subsystem for Part {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let u = self.input(from, to, inputs);
        if self.count.is_multiple_of(self.system.sampled) {
            self.held = u;
        }
        self.count += 1;
        let mut next = &self.system.a * &self.x + &self.system.b * &self.held;
        if let Some((b, w)) = &self.hardness.bend {
            let e = w.dot(&self.x);
            next += b * (0.5 * e * e + e * e * e);
        }
        if self.hardness.noise > 0.0 {
            for (x, size) in next.iter_mut().zip(&self.hardness.x_sizes) {
                *x += self.hardness.noise * size * self.random.normal();
            }
        }
        self.x = next;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let y = &self.system.c * &self.x + &self.system.d * DVector::from_row_slice(inputs);
        outputs.copy_from_slice(y.as_slice());
        if self.hardness.noise > 0.0 {
            for (y, size) in outputs.iter_mut().zip(&self.hardness.y_sizes) {
                *y += self.hardness.noise * size * self.random.normal();
            }
        }
        Ok(())
    }

    fn pattern(&self) -> u64 {
        if self.is_hidden {
            1
        } else {
            self.system.sampled
        }
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Part {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.count);
        if !self.is_hidden {
            visitor.vector(self.x.as_mut_slice());
            visitor.vector(self.held.as_mut_slice());
            return;
        }
        let all = self.x.iter().chain(&self.held);
        let mut words: Vec<u64> = all.map(|x| x.to_bits()).collect();
        visitor.memory(&mut words);
        if visitor.replaces() {
            let all = self.x.iter_mut().chain(&mut self.held);
            all.zip(words)
                .for_each(|(x, word)| *x = f64::from_bits(word));
        }
    }
}
