//! Feedback beside the inputs: loops are solved, amendments are sent, all of it is state.

#[path = "../../cosim/tests/support/mod.rs"]
mod support;

mod pair;

use oldham_compensation::{
    Compensated, Compensation, CompensatorRow, Kinematic, RemoteSignal, Signal,
};
use oldham_cosim::{
    BuildError, Builder, Fault, Hold, ImplicitSettings, Inputs, OutputPort, Ports, Quantity,
    Reached, Schedule, Simulation, Snapshot, State, StepError, Subsystem, SubsystemId, Unit,
    Visitor,
};
use pair::compensated_pair;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{KC, Oscillator, Pair, left, right};

const STEP: f64 = 1e-3;
const FORCE_INPUT: usize = 0;
const FORCE_OUTPUT: usize = 3;
const X: usize = 0;
const V: usize = 1;
const A: usize = 2;

fn sampled(target: usize, terms: &[(Signal, f64)]) -> Compensation {
    Compensation {
        sampled: vec![CompensatorRow::new(target, terms.to_vec())],
        ..Compensation::default()
    }
}

/// A mass on a spring whose compensator pushes with -d times its own acceleration.
fn heavier(mass: f64, stiffness: f64, d: f64) -> Result<(Simulation, SubsystemId), Fault> {
    let part = Oscillator::new(mass, stiffness, 3.0, None);
    let hold = Hold::new(0, part.ports());
    let mut builder = Builder::new();
    let law = sampled(FORCE_INPUT, &[(Signal::Own(A), -d)]);
    let id = Compensated::add_to(&mut builder, "part", Box::new(part), Box::new(hold), law);
    let mut simulation = builder
        .build(Schedule::jacobi(STEP, [id]))
        .expect("it builds");
    simulation.steps(1)?;
    Ok((simulation, id))
}

/// a = (-k x - d a) / m means a = -k x / (m + d): in the same step, not one later.
#[test]
fn a_loop_through_the_acceleration_is_solved_not_lagged() {
    let (mass, stiffness, d) = (2.0, 500.0, 7.0);
    let (mut simulation, id) = heavier(mass, stiffness, d).unwrap();
    for _ in 0..50 {
        let x = simulation.outputs(id)[X];
        simulation.step().unwrap();
        let wanted = -stiffness * x / (mass + d);
        let part = simulation
            .known::<Compensated>(id)
            .expect("it is compensated");
        let read = part.readings()[0];
        assert!(
            (read - wanted).abs() <= 1e-12 * wanted.abs(),
            "{read} {wanted}"
        );
    }
}

#[test]
fn gains_that_cancel_the_mass_are_named() {
    let Err(Fault::Step {
        subsystem, cause, ..
    }) = heavier(2.0, 500.0, -2.0)
    else {
        panic!("a loop without solution was solved");
    };
    assert_eq!(subsystem, "part");
    assert!(matches!(cause, StepError::Singular { .. }), "{cause}");
}

#[test]
fn an_amendment_is_sent_but_not_recorded() {
    let built = |amended: Vec<CompensatorRow>| {
        let law = Compensation {
            amended,
            ..Compensation::default()
        };
        let Pair {
            builder,
            left,
            right,
        } = compensated_pair((left(), Some(law)), (right(), None), 0);
        (
            builder
                .build(Schedule::jacobi(STEP, [left, right]))
                .unwrap(),
            left,
            right,
        )
    };
    let gain = 0.25;
    let (mut plain, ..) = built(Vec::new());
    let (mut amended, left, right) = built(vec![CompensatorRow::new(
        FORCE_OUTPUT,
        vec![(Signal::Own(V), gain)],
    )]);
    let recorded = plain.outputs(left).len();
    assert_eq!(
        plain.outputs(left),
        &amended.outputs(left)[..recorded],
        "recorded as it is"
    );
    assert_eq!(plain.columns(), amended.columns());
    let v = amended.outputs(left)[V];
    for simulation in [&mut plain, &mut amended] {
        simulation.step().unwrap();
    }
    // The held force differs by gain times v, so the velocity by that over the step, to first
    // order.
    let difference = amended.outputs(right)[V] - plain.outputs(right)[V];
    assert!(
        (difference / (STEP * gain * v) - 1.0).abs() < 1e-3,
        "{difference}"
    );
}

/// Rows of every kind at once.
fn everything() -> Simulation {
    let mut ports = Ports::new();
    ports.add_input("near", Quantity::Translation);
    let predictor = Box::new(Kinematic::new(0.0, &ports));
    let mut law = sampled(
        FORCE_INPUT,
        &[(Signal::Own(V), -0.05), (Signal::Own(A), -0.01)],
    );
    law.running = vec![CompensatorRow::new(
        FORCE_INPUT,
        vec![(Signal::Own(X), -1.0), (Signal::RemoteSignal(0), 1.0)],
    )];
    law.remote = vec![RemoteSignal {
        senders: vec![(SubsystemId(0), OutputPort(0))],
        ports,
        predictor,
    }];
    let amendment = Compensation {
        amended: vec![CompensatorRow::new(
            FORCE_OUTPUT,
            vec![(Signal::Received(X), 1.0)],
        )],
        ..Compensation::default()
    };
    let (left, right) = (left().micro_steps(3), right().micro_steps(2));
    let Pair {
        builder,
        left,
        right,
    } = compensated_pair((left, Some(amendment)), (right, Some(law)), 0);
    builder
        .build(Schedule::jacobi(STEP, [left, right]))
        .unwrap()
}

#[test]
fn a_restored_compensator_continues_with_the_same_bits() {
    let mut simulation = everything();
    simulation.steps(37).unwrap();
    let mut saved = Snapshot::default();
    saved.save(&mut simulation);
    simulation.steps(50).unwrap();
    let mut once = Snapshot::default();
    once.save(&mut simulation);
    let mut other = everything();
    saved.restore(&mut other);
    other.steps(50).unwrap();
    let mut again = Snapshot::default();
    again.save(&mut other);
    assert_eq!(once, again);
}

/// Two compensations of one part act as their sum.
#[test]
fn merged_compensations_add_up() {
    let final_state = |laws: Vec<Compensation>| {
        let laws = laws.into_iter().map(|law| (SubsystemId(1), law)).collect();
        let law = Compensation::joined(laws).pop().map(|(_, law)| law);
        let Pair {
            builder,
            left,
            right,
        } = compensated_pair((left(), None), (right(), law), 0);
        let mut simulation = builder
            .build(Schedule::jacobi(STEP, [left, right]))
            .unwrap();
        simulation.steps(100).unwrap();
        simulation.outputs(right).to_vec()
    };
    let row = |gain: f64| sampled(FORCE_INPUT, &[(Signal::Own(V), gain)]);
    let h_kc = STEP * KC;
    let (split, whole) = (
        final_state(vec![row(-0.3 * h_kc), row(-0.7 * h_kc)]),
        final_state(vec![row(-h_kc)]),
    );
    for (a, b) in split.iter().zip(&whole) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn implicit_coupling_leaves_nothing_to_compensate() {
    let law = sampled(FORCE_INPUT, &[]);
    let Pair {
        builder,
        left,
        right,
    } = compensated_pair((left(), None), (right(), Some(law)), 1);
    let schedule = Schedule::jacobi(STEP, [left, right]).implicit(ImplicitSettings::default());
    let errors = builder.build(schedule).err().expect("it is refused");
    assert_eq!(errors, [BuildError::CorrectedTight("right".into())]);
}

/// What the compensator adds acts, so the work at the interface is done by it: the energy that the
/// exchange creates is that of forces which both sides see alike.
#[test]
fn the_work_at_an_interface_is_that_of_the_force_that_acts() {
    let created = |law: Option<Compensation>| {
        let pair = compensated_pair((left(), None), (right(), law), 0);
        let schedule = Schedule::jacobi(STEP, [pair.left, pair.right]);
        let mut simulation = pair.builder.build(schedule).unwrap();
        simulation.steps(1).unwrap();
        let moved = [pair.left, pair.right].map(|part| simulation.outputs(part)[X]);
        (simulation.created()[0], moved)
    };
    let force = 3.0;
    let pushing = Compensation {
        running: vec![CompensatorRow {
            offset: force,
            ..CompensatorRow::new(FORCE_INPUT, Vec::new())
        }],
        ..Compensation::default()
    };
    let (plain, _) = created(None);
    let (pushed, [left, right]) = created(Some(pushing));
    // It acts along the path of the right mass. That is longer by force h^2 / 2, since the mass is one,
    // and when this arrives the left side gives its own force along it.
    let longer = 0.5 * force * STEP * STEP;
    let expected = force * right - KC * (left - right) * longer;
    let difference = pushed - plain;
    assert!(
        (difference - expected).abs() <= 1e-7 * expected.abs(),
        "{difference} {expected}"
    );
}

/// A mass that shows only where it is and how fast: these do not change with the force at once.
struct Sledge {
    ports: Ports,
    motion: [f64; 2],
    evaluations: Arc<AtomicU64>,
}

impl Subsystem for Sledge {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut force = [0.0];
        inputs.at(from, &mut force);
        self.motion[1] += (to - from) * force[0];
        self.motion[0] += (to - from) * self.motion[1];
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, _inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        outputs.copy_from_slice(&self.motion);
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Sledge {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.motion);
    }
}

/// A damper as a sampled row takes (1 - h d) of the velocity in each step. The velocity that it samples is that which was
/// sent: the mass is not asked a second time.
#[test]
fn outputs_that_do_not_answer_at_once_are_evaluated_once_a_step() {
    let (d, evaluations) = (40.0, Arc::<AtomicU64>::default());
    let mut ports = Ports::new();
    ports.add_input("force", Quantity::Scalar(Unit::NEWTON));
    ports.add_output("x", Quantity::Scalar(Unit::METRE));
    ports.add_output("v", Quantity::Scalar(Unit::METRE_PER_SECOND));
    let hold = Hold::new(0, &ports);
    let sledge = Sledge {
        ports,
        motion: [0.0, 2.0],
        evaluations: Arc::clone(&evaluations),
    };
    let mut builder = Builder::new();
    let law = sampled(0, &[(Signal::Own(V), -d)]);
    let id = Compensated::add_to(
        &mut builder,
        "sledge",
        Box::new(sledge),
        Box::new(hold),
        law,
    );
    let schedule = Schedule::jacobi(STEP, [id]);
    let mut simulation = builder.build(schedule).expect("it builds");
    simulation.steps(3).unwrap();
    let before = evaluations.load(Ordering::Relaxed);
    simulation.steps(100).unwrap();
    assert_eq!(evaluations.load(Ordering::Relaxed) - before, 100);
    let expected = 2.0 * (1.0 - STEP * d).powi(103);
    let found = simulation.outputs(id)[V];
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let mut saved = Snapshot::default();
    saved.save(&mut simulation);
    saved.restore(&mut simulation);
    simulation.steps(1).unwrap();
    let found = simulation.outputs(id)[V] / found;
    assert!((found - (1.0 - STEP * d)).abs() < 1e-12, "{found}");
}
