//! Outputs that seldom change are sent when they have changed, and are seen as if always sent.

use oldham_cosim::{
    Builder, Hold, InMemory, InputPort, Inputs, OutputPort, Ports, Quantity, Reached, Run,
    Schedule, Simulation, Snapshot, State, StepError, Subsystem, Unit, Visitor,
};

/// Steps after which the matrix changes.
const PERIOD: u64 = 10;

/// Counts its steps, and sends a matrix that follows the count in steps of a period.
struct Sender {
    ports: Ports,
    count: u64,
    says_so: bool,
}

impl Sender {
    fn matrix(&self) -> f64 {
        (self.count / PERIOD) as f64
    }
}

impl Subsystem for Sender {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        self.count += 1;
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = self.count as f64;
        y[1..5].fill(self.matrix());
        y[5] = -y[0];
        Ok(())
    }
    fn version(&self, output: OutputPort) -> Option<u64> {
        (output == OutputPort(1) && self.says_so).then_some(self.count / PERIOD)
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Sender {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.count);
    }
}

/// Sends what it has received.
struct Receiver(Ports, [f64; 5]);

impl Subsystem for Receiver {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        inputs.at(from, &mut self.1);
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y.copy_from_slice(&[self.1[0], self.1[1..].iter().sum()]);
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Receiver {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.1);
    }
}

fn simulation(says_so: bool) -> Simulation {
    let mut ports = Ports::new();
    ports.add_output("count", Quantity::Scalar(Unit::ONE));
    ports.add_output("matrix", Quantity::Tangent(2));
    ports.add_output("back", Quantity::Scalar(Unit::ONE));
    let sender = Sender {
        ports,
        count: 0,
        says_so,
    };
    let mut ports = Ports::new();
    ports.add_input("count", Quantity::Scalar(Unit::ONE));
    ports.add_input("matrix", Quantity::Tangent(2));
    ports.add_output("count", Quantity::Scalar(Unit::ONE));
    ports.add_output("sum", Quantity::Scalar(Unit::ONE));
    let receiver = Receiver(ports, [0.0; 5]);
    let mut builder = Builder::new();
    let hold = |part: &dyn Subsystem| Box::new(Hold::new(0, part.ports()));
    let (from, to) = (hold(&sender), hold(&receiver));
    let sender = builder.add("sender", Box::new(sender), from);
    let receiver = builder.add("receiver", Box::new(receiver), to);
    for port in [0, 1] {
        builder.connect((sender, OutputPort(port)), (receiver, InputPort(port)));
    }
    let schedule = Schedule::jacobi(1.0, [sender, receiver]);
    builder.build(schedule).unwrap()
}

/// All rows, and how many values were exchanged in these steps.
fn run(simulation: &mut Simulation, steps: u64, threads: usize) -> (Vec<Vec<f64>>, u64) {
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        threads,
        ..Run::new(steps, &mut rows)
    });
    outcome.end.unwrap();
    (rows.rows, outcome.summary.exchanges)
}

#[test]
fn a_matrix_is_sent_as_often_as_it_changes() {
    const STEPS: u64 = 95;
    let (always, _) = run(&mut simulation(false), STEPS, 1);
    for threads in [1, 2] {
        let mut seldom = simulation(true);
        // What the initial exchange has taken.
        let before = run(&mut seldom, 0, threads).1;
        let (rows, after) = run(&mut seldom, STEPS, threads);
        assert_eq!(rows, always[always.len() - rows.len()..]);
        assert_eq!(after - before, STEPS + STEPS / PERIOD);
    }
}

#[test]
fn a_restored_matrix_is_the_one_that_was_saved() {
    let mut seldom = simulation(true);
    run(&mut seldom, 25, 1);
    let mut saved = Snapshot::default();
    saved.save(&mut seldom);
    let (once, _) = run(&mut seldom, 30, 1);
    saved.restore(&mut seldom);
    let (again, _) = run(&mut seldom, 30, 1);
    assert_eq!(once[1..], again[1..]);
    let mut other = simulation(true);
    saved.restore(&mut other);
    let (elsewhere, _) = run(&mut other, 30, 1);
    assert_eq!(once[1..], elsewhere[1..]);
}
