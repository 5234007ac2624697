//! Two pendula whose tips a spring joins, Sect. 3.2: point masses at the ends of massless links, in
//! absolute angles and with the paper's semi-implicit Euler steps, which no multibody part takes.

use oldham_cosim::{
    Builder, Energy, EnergyBalance, Hold, InputPort, Inputs, OutputPort, Ports, Predictor,
    Quantity, Reached, Schedule, Simulation, StepError, Subsystem, Unit,
};

const GRAVITY: f64 = 9.81;
const SPRING: f64 = 50.0;
const LINK: f64 = 0.5;

/// A chain of links that hangs at a fixed point; angles from the horizontal, absolute.
struct Chain {
    anchor: [f64; 2],
    length: f64,
    mass: f64,
    angles: Vec<f64>,
    rates: Vec<f64>,
}

impl Chain {
    /// All links at this angle, at rest.
    fn new(anchor: [f64; 2], links: usize, length: f64, mass: f64, angle: f64) -> Self {
        Self {
            anchor,
            length,
            mass,
            angles: vec![angle; links],
            rates: vec![0.0; links],
        }
    }

    /// Position and velocity of the end of link `last`.
    fn joint(&self, last: usize) -> [f64; 4] {
        let mut joint = [self.anchor[0], self.anchor[1], 0.0, 0.0];
        for (angle, rate) in self.angles.iter().zip(&self.rates).take(last + 1) {
            let (sine, cosine) = angle.sin_cos();
            joint[0] += self.length * cosine;
            joint[1] += self.length * sine;
            joint[2] -= self.length * sine * rate;
            joint[3] += self.length * cosine * rate;
        }
        joint
    }

    fn tip(&self) -> [f64; 4] {
        self.joint(self.angles.len() - 1)
    }

    fn energy(&self) -> Energy {
        let mut energy = Energy::default();
        for joint in (0..self.angles.len()).map(|link| self.joint(link)) {
            energy.kinetic += 0.5 * self.mass * (joint[2] * joint[2] + joint[3] * joint[3]);
            energy.potential += self.mass * GRAVITY * joint[1];
        }
        energy
    }

    /// A semi-implicit Euler step under a force on the tip (Eq. 23).
    fn step(&mut self, h: f64, force: [f64; 2]) {
        let links = self.angles.len();
        let mut matrix = vec![0.0; links * links];
        let mut right = vec![0.0; links];
        for i in 0..links {
            let (sine, cosine) = self.angles[i].sin_cos();
            let carried = (links - i) as f64 * self.mass;
            right[i] = self.length * (cosine * (force[1] - carried * GRAVITY) - sine * force[0]);
            for j in 0..links {
                let inertia = (links - i.max(j)) as f64 * self.mass * self.length * self.length;
                let (sine, cosine) = (self.angles[i] - self.angles[j]).sin_cos();
                matrix[i * links + j] = inertia * cosine;
                right[i] -= inertia * sine * self.rates[j] * self.rates[j];
            }
        }
        eliminate(&mut matrix, &mut right);
        for (rate, acceleration) in self.rates.iter_mut().zip(right) {
            *rate += h * acceleration;
        }
        for (angle, rate) in self.angles.iter_mut().zip(&self.rates) {
            *angle += h * rate;
        }
    }
}

/// Gauss elimination; a mass matrix needs no pivoting. The solution replaces the right-hand side.
fn eliminate(matrix: &mut [f64], right: &mut [f64]) {
    let size = right.len();
    for k in 0..size {
        for i in k + 1..size {
            let factor = matrix[i * size + k] / matrix[k * size + k];
            for j in k..size {
                matrix[i * size + j] -= factor * matrix[k * size + j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..size).rev() {
        for j in k + 1..size {
            right[k] -= matrix[k * size + j] * right[j];
        }
        right[k] /= matrix[k * size + k];
    }
}

/// The single pendulum with the spring: takes the motion of the other tip, gives the force on it.
struct WithSpring {
    chain: Chain,
    ports: Ports,
}

impl WithSpring {
    /// Force on the other tip.
    fn pull(&self, other: &[f64]) -> [f64; 2] {
        let tip = self.chain.tip();
        [0, 1].map(|axis| SPRING * (tip[axis] - other[axis]))
    }
}

impl Subsystem for WithSpring {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut other = [0.0; 4];
        inputs.at(from, &mut other);
        let pull = self.pull(&other);
        self.chain.step(to - from, pull.map(|force| -force));
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs.copy_from_slice(&self.pull(inputs));
        Ok(())
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
}

impl EnergyBalance for WithSpring {
    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        let [x, y] = self.pull(inputs);
        let spring = Energy {
            potential: 0.5 * (x * x + y * y) / SPRING,
            ..Energy::default()
        };
        self.chain.energy() + spring
    }
}

/// The chain of links: takes the force on its tip, gives the motion of the tip.
struct Driven {
    chain: Chain,
    ports: Ports,
}

impl Subsystem for Driven {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut force = [0.0; 2];
        inputs.at(from, &mut force);
        self.chain.step(to - from, force);
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, _inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs.copy_from_slice(&self.chain.tip());
        Ok(())
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
}

impl EnergyBalance for Driven {
    fn energy(&mut self, _t: f64, _inputs: &[f64]) -> Energy {
        self.chain.energy()
    }
}

fn motion() -> [(&'static str, Quantity); 4] {
    let scalar = Quantity::Scalar;
    [
        ("x", scalar(Unit::METRE)),
        ("y", scalar(Unit::METRE)),
        ("vx", scalar(Unit::METRE_PER_SECOND)),
        ("vy", scalar(Unit::METRE_PER_SECOND)),
    ]
}

fn force() -> [(&'static str, Quantity); 2] {
    ["fx", "fy"].map(|name| (name, Quantity::Scalar(Unit::NEWTON)))
}

/// A single pendulum `single` against a chain of `links` links `chain`, both horizontal at first, tips
/// together, in Jacobi steps of 1 ms. With an output update, and since a step reads its inputs once,
/// the pair is the monolithic solution.
pub(super) fn pendula(
    links: usize,
    predictor: impl FnOnce(&Ports) -> Box<dyn Predictor>,
    output_update: bool,
) -> Simulation {
    let mut ports = Ports::new();
    for (name, quantity) in motion() {
        ports.add_input(name, quantity);
    }
    for (name, quantity) in force() {
        ports.add_output(name, quantity);
    }
    for (output, input) in [(0, 0), (1, 1)] {
        ports.feed_through(output, input);
    }
    let single = WithSpring {
        chain: Chain::new([0.0, 0.0], 1, 2.0, 1.0, 0.0),
        ports,
    };
    let mut ports = Ports::new();
    for (name, quantity) in force() {
        ports.add_input(name, quantity);
    }
    for (name, quantity) in motion() {
        ports.add_output(name, quantity);
    }
    let anchor = [2.0 + LINK * links as f64, 0.0];
    let chain = Driven {
        chain: Chain::new(anchor, links, LINK, 0.1, std::f64::consts::PI),
        ports,
    };
    let mut builder = Builder::new();
    let learning = predictor(single.ports());
    let holding = Box::new(Hold::new(0, chain.ports()));
    let single = builder.add("single", Box::new(single), learning);
    let chain = builder.add("chain", Box::new(chain), holding);
    for port in 0..4 {
        builder.connect((chain, OutputPort(port)), (single, InputPort(port)));
    }
    for port in 0..2 {
        builder.connect((single, OutputPort(port)), (chain, InputPort(port)));
    }
    let jacobi = Schedule::jacobi(1e-3, [single, chain]);
    let schedule = if output_update {
        jacobi.with_output_update()
    } else {
        jacobi
    };
    builder.build(schedule).expect("the pendula fit together")
}
