//! Outputs that are held from sample to sample, as their receivers see them.

use oldham_cosim::{
    BuildError, Builder, Coupling, Hold, ImplicitSettings, InputPort, Inputs, OutputPort, Ports,
    Quantity, Reached, Schedule, Simulation, Snapshot, State, StepError, Subsystem, SubsystemId,
    Unit, Visitor,
};

/// Sends a new number every fifth step of 0.1 s.
struct Stairs(Ports);

impl Subsystem for Stairs {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = stair(t);
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Stairs {
    fn visit(&mut self, _: &mut dyn Visitor) {}
}

fn stair(t: f64) -> f64 {
    ((t + 1e-9) / 0.5).floor().powi(2)
}

/// Shows what it saw in its last advance: the input at start, middle and end, what it was before, and whether it jumped.
struct Witness {
    ports: Ports,
    seen: [f64; 5],
}

impl Subsystem for Witness {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        for (place, share) in [0.0, 0.5, 1.0].into_iter().enumerate() {
            inputs.at(from + share * (to - from), &mut self.seen[place..=place]);
        }
        self.seen[4] = f64::from(u8::from(inputs.have_jumped()));
        self.seen[3] = self.seen[0];
        inputs.undo_jump(&mut self.seen[3..4]);
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y.copy_from_slice(&self.seen);
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Witness {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.seen);
    }
}

fn build(coupling: Coupling, is_held: bool) -> (Result<Simulation, Vec<BuildError>>, SubsystemId) {
    let mut ports = Ports::new();
    let sent = ports.add_output("u", Quantity::Scalar(Unit::ONE));
    if is_held {
        ports.declare_held(sent);
    }
    let stairs = Stairs(ports);
    let mut ports = Ports::new();
    ports.add_input("u", Quantity::Scalar(Unit::ONE));
    ports.add_output("seen", Quantity::Array(Unit::ONE, 5));
    let witness = Witness {
        ports,
        seen: [0.0; 5],
    };
    let mut builder = Builder::new();
    let nothing = Box::new(Hold::new(0, &stairs.0));
    let from = builder.add("stairs", Box::new(stairs), nothing);
    // A predictor that would make slopes of steps.
    let hold = Box::new(Hold::new(2, &witness.ports));
    let to = builder.add("witness", Box::new(witness), hold);
    builder.connect((from, OutputPort(0)), (to, InputPort(0)));
    let schedule = Schedule {
        coupling,
        ..Schedule::jacobi(0.1, [from, to])
    };
    (builder.build(schedule), to)
}

#[test]
fn a_held_value_stays_over_the_step_and_its_jump_is_told_once() {
    let (simulation, witness) = build(Coupling::Explicit, true);
    let mut simulation = simulation.expect("a simulation");
    for step in 0..20 {
        let from = 0.1 * f64::from(step);
        let mut saved = Snapshot::default();
        saved.save(&mut simulation);
        simulation.step().expect("a step");
        let seen = simulation.outputs(witness).to_vec();
        let (now, before) = (stair(from), stair(from - 0.1).min(stair(from)));
        let before = if step == 0 { now } else { before };
        let jumped = f64::from(u8::from(now != before));
        assert_eq!(seen, [now, now, now, before, jumped], "step {step}");
        // What acted before is state: the step is the same when it is taken again.
        saved.restore(&mut simulation);
        simulation.step().expect("a step");
        assert_eq!(simulation.outputs(witness), seen, "step {step} again");
    }
}

#[test]
fn implicit_coupling_refuses_held_outputs_and_says_which() {
    let implicit = || Coupling::Implicit(ImplicitSettings::default());
    let (refused, _) = build(implicit(), true);
    let errors = refused.err().expect("problems");
    assert_eq!(errors, [BuildError::TightAndHeld("stairs.u".into())]);
    let message = errors[0].to_string();
    assert!(message.contains("explicit (loose) coupling"), "{message}");
    assert!(build(implicit(), false).0.is_ok());
}
