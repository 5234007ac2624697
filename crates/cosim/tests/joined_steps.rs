//! Steps that begin while others still end the last one: two parts that correct their steps, and a hub
//! between them that alone hears of the correction.

use oldham_cosim::{
    Builder, Discard, Hold, InputPort, Inputs, Outcome, OutputPort, Ports, Quantity, Reached, Run,
    Schedule, Simulation, Stage, State, StepCorrection, StepError, Subsystem, Unit, Visitor,
};

const STEP: f64 = 1e-3;

/// x' = rate (u - x), corrected for the u that arrives at the end of a step.
struct Part {
    ports: Ports,
    rate: f64,
    x: f64,
    used: f64,
    /// When its correction fails.
    fails_after: f64,
}

impl Part {
    fn new(rate: f64, fails_after: f64) -> Self {
        let mut ports = Ports::new();
        ports.add_input("u", Quantity::Scalar(Unit::ONE));
        ports.add_output("x", Quantity::Scalar(Unit::ONE));
        Self {
            ports,
            rate,
            x: rate,
            used: 0.0,
            fails_after,
        }
    }
}

impl State for Part {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.x));
    }
}

impl Subsystem for Part {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut u = [0.0];
        inputs.at(to, &mut u);
        self.used = u[0];
        self.x += (to - from) * self.rate * (u[0] - self.x);
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = self.x;
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        Some(self)
    }
}

impl StepCorrection for Part {
    fn correct(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError> {
        if t > self.fails_after {
            return Err(StepError::Foreign("out of luck".into()));
        }
        self.x += STEP * self.rate * (inputs[0] - self.used);
        Ok(())
    }
}

/// Gives the mean of what it gets, and remembers all of it.
struct Hub {
    ports: Ports,
    mean: f64,
    heard: f64,
}

impl Hub {
    fn new() -> Self {
        let mut ports = Ports::new();
        for name in ["a", "b"] {
            ports.add_input(name, Quantity::Scalar(Unit::ONE));
        }
        for name in ["mean", "heard"] {
            ports.add_output(name, Quantity::Scalar(Unit::ONE));
        }
        Self {
            ports,
            mean: 0.0,
            heard: 0.0,
        }
    }
}

impl Subsystem for Hub {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The values at the start of the step are those that were corrected.
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut got = [0.0; 2];
        for (weight, t) in [(1.0, from), (0.5, to)] {
            inputs.at(t, &mut got);
            self.heard = 0.9 * self.heard + weight * (got[0] - got[1]);
        }
        self.mean = 0.5 * (got[0] + got[1]) + 0.01 * self.heard;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs.copy_from_slice(&[self.mean, self.heard]);
        Ok(())
    }
}

fn simulation(fails_after: f64) -> Simulation {
    let mut builder = Builder::new();
    let parts = [
        ("left", Part::new(3.0, fails_after)),
        ("right", Part::new(7.0, f64::MAX)),
    ];
    let parts = parts.map(|(name, part)| {
        let hold = Hold::new(1, part.ports());
        builder.add(name, Box::new(part), Box::new(hold))
    });
    let hub = Hub::new();
    let hold = Hold::new(1, hub.ports());
    let hub = builder.add("hub", Box::new(hub), Box::new(hold));
    for (index, part) in parts.into_iter().enumerate() {
        builder.connect((part, OutputPort(0)), (hub, InputPort(index)));
        builder.connect((hub, OutputPort(0)), (part, InputPort(0)));
    }
    let stages = vec![
        Stage::Together(parts.to_vec()),
        Stage::Together(vec![hub]),
        Stage::Corrected(parts.to_vec()),
    ];
    builder.build(Schedule::with_stages(STEP, stages)).unwrap()
}

/// A step that is recorded ends with its barrier.
fn run(simulation: &mut Simulation, threads: usize, record_every: u64) -> Outcome {
    simulation.run(Run {
        threads,
        record_every,
        ..Run::new(400, &mut Discard)
    })
}

#[test]
fn joined_steps_give_the_bits_of_separate_ones_with_any_number_of_threads() {
    let mut found = Vec::new();
    for threads in [1, 2, 3] {
        for record_every in [1, 7, u64::MAX] {
            let mut simulation = simulation(f64::MAX);
            let outcome = run(&mut simulation, threads, record_every);
            outcome.end.unwrap();
            let ids = ["left", "right", "hub"].map(|name| simulation.find(name).unwrap());
            let ends = ids.map(|id| simulation.outputs(id).to_vec()).concat();
            found.push((outcome.summary.exchanges, ends));
        }
    }
    assert!(found[0].1[0] != found[0].1[1], "{:?}", found[0]);
    for other in &found[1..] {
        assert_eq!(*other, found[0]);
    }
}

#[test]
fn a_fault_in_a_correction_belongs_to_its_own_step() {
    for threads in [1, 2, 3] {
        for record_every in [1, u64::MAX] {
            let outcome = run(&mut simulation(0.1005), threads, record_every);
            let fault = outcome.end.expect_err("a fault").to_string();
            assert!(
                fault.contains("`left`") && fault.contains("out of luck"),
                "{fault}"
            );
            assert_eq!(outcome.summary.steps, 100, "{threads} threads");
        }
    }
}
