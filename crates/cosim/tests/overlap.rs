//! Parts with a longer step of their own advance beside the others, with the same bits.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oldham_cosim::{
    Builder, EnergyBalance, Fault, Hold, InMemory, InputPort, Inputs, OutputPort, Ports, Reached,
    Run, Schedule, Simulation, State, StepError, Subsystem, SubsystemId,
};
use support::{Mishap, Oscillator, left, right};

/// An oscillator that takes long, says so, and can be asked how many were advancing at once.
struct Heavy {
    inner: Oscillator,
    sleep: Duration,
    count: Arc<Count>,
}

/// Parts that advance now, and the most at once.
#[derive(Default)]
struct Count {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Subsystem for Heavy {
    fn ports(&self) -> &Ports {
        self.inner.ports()
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let now = self.count.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.count.most.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(self.sleep);
        let reached = self.inner.advance(from, to, inputs);
        self.count.now.fetch_sub(1, Ordering::SeqCst);
        reached
    }
    fn outputs(&mut self, t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        self.inner.outputs(t, u, y)
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()
    }
    fn restart(&mut self) {
        self.inner.restart();
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        self.inner.energy_balance()
    }
    fn work(&self) -> f64 {
        1e6
    }
}

/// Two pairs, in each of which one side is slow, with other lengths of their steps.
fn model(sleep: Duration, mishap: Mishap, change: impl Fn(&mut Schedule)) -> Simulation {
    counted(sleep, mishap, change, &Arc::default())
}

fn counted(
    sleep: Duration,
    mishap: Mishap,
    change: impl Fn(&mut Schedule),
    count: &Arc<Count>,
) -> Simulation {
    let mut builder = Builder::new();
    let mut ids: Vec<SubsystemId> = Vec::new();
    for (name, every) in [("a", 3), ("b", 4)] {
        let mut slow = right();
        slow.mishap = mishap;
        let fast = left();
        let holds = [Hold::new(2, fast.ports()), Hold::new(1, slow.ports())];
        let [hold_fast, hold_slow] = holds.map(Box::new);
        let fast = builder.add(&format!("{name}.fast"), Box::new(fast), hold_fast);
        let slow = Heavy {
            inner: slow,
            sleep,
            count: Arc::clone(count),
        };
        let slow = builder.add(&format!("{name}.slow"), Box::new(slow), hold_slow);
        builder.every(slow, every);
        builder.connect((slow, OutputPort(0)), (fast, InputPort(0)));
        builder.connect((fast, OutputPort(1)), (slow, InputPort(0)));
        ids.extend([fast, slow]);
    }
    let mut schedule = Schedule::jacobi(1e-3, ids);
    change(&mut schedule);
    builder.build(schedule).unwrap()
}

fn quick(change: impl Fn(&mut Schedule)) -> Simulation {
    model(Duration::ZERO, Mishap::None, change)
}

fn rows(simulation: &mut Simulation, threads: usize, every: u64, lengths: &[u64]) -> InMemory {
    let mut recorded = InMemory::default();
    for &steps in lengths {
        let run = Run {
            threads,
            record_every: every,
            ..Run::new(steps, &mut recorded)
        };
        simulation.run(run).end.unwrap();
    }
    recorded
}

fn bits(recorded: &InMemory) -> Vec<u64> {
    let numbers = recorded.rows.iter().flatten();
    numbers.map(|value| value.to_bits()).collect()
}

#[test]
fn overlapping_parts_give_the_same_bits_on_any_number_of_threads() {
    let plain = |_: &mut Schedule| {};
    let updated = |schedule: &mut Schedule| schedule.output_update = true;
    let events = |schedule: &mut Schedule| schedule.events = vec![0.0055, 0.0131, 0.024];
    let changes: [&dyn Fn(&mut Schedule); 3] = [&plain, &updated, &events];
    for change in changes {
        for every in [1, 5] {
            let reference = bits(&rows(&mut quick(change), 1, every, &[61]));
            for threads in [2, 4, 8] {
                let found = bits(&rows(&mut quick(change), threads, every, &[61]));
                assert_eq!(found, reference, "{threads} threads, every {every}");
            }
        }
        // Whole rows at every step, also where runs end in the middle of long steps.
        let reference = bits(&rows(&mut quick(change), 1, 1, &[61]));
        let pieces = bits(&rows(&mut quick(change), 4, 1, &[1, 4, 2, 7, 47]));
        assert_eq!(pieces, reference, "in pieces");
    }
}

/// What is recorded of a slow part in one row is of one time, that of its last release.
#[test]
fn energies_of_slow_parts_belong_to_their_outputs() {
    for (threads, every) in [(1, 1), (3, 1), (1, 5), (3, 5)] {
        let (mass, stiffness) = (2.0, 100.0);
        let part = Oscillator::new(mass, stiffness, 3.0, None);
        let hold = Hold::new(1, part.ports());
        let mut builder = Builder::new();
        let slow = builder.add("slow", Box::new(part), Box::new(hold));
        builder.every(slow, 4);
        let mut simulation = builder.build(Schedule::jacobi(1e-2, [slow])).unwrap();
        let names = simulation.columns().iter().map(|column| &column.name);
        let names: Vec<String> = names.cloned().collect();
        let place = |name: &str| names.iter().position(|other| other == name).unwrap();
        let (x, v) = (place("slow.motion.x"), place("slow.motion.v"));
        let recorded = rows(&mut simulation, threads, every, &[23]);
        assert!(recorded.rows.len() > 4);
        for row in &recorded.rows {
            let energy = 0.5 * (mass * row[v] * row[v] + stiffness * row[x] * row[x]);
            let told = row[place("energy.total")];
            assert!((told - energy).abs() <= 1e-12 * energy, "{told} {energy}");
        }
    }
}

#[test]
fn a_checkpoint_in_the_middle_of_a_long_step_is_whole() {
    let mut one = quick(|_| {});
    rows(&mut one, 4, 1, &[13]);
    let saved = one.checkpoint("model").unwrap();
    let reference = bits(&rows(&mut one, 1, 1, &[40]));
    let mut other = quick(|_| {});
    other.restore(&saved, "model").unwrap();
    assert_eq!(bits(&rows(&mut other, 4, 1, &[40])), reference);
}

#[test]
fn slow_parts_advance_at_the_same_time() {
    let count = Arc::default();
    let mut simulation = counted(Duration::from_millis(20), Mishap::None, |_| {}, &count);
    let started = Instant::now();
    let mut recorded = InMemory::default();
    // Energies are recorded too: they are those of the last release, for which nobody waits.
    let run = Run {
        threads: 3,
        ..Run::new(12, &mut recorded)
    };
    let summary = simulation.run(run).summary;
    assert_eq!(
        count.most.load(Ordering::SeqCst),
        2,
        "{:?}",
        started.elapsed()
    );
    // Time per part: one advance of 20 ms in three steps, and in four.
    let work = |name: &str| {
        let mut parts = summary.parts.iter();
        parts
            .find(|part| part.name == name)
            .unwrap()
            .work_us
            .unwrap()
    };
    assert!(work("a.slow") > 6000.0 && work("b.slow") > 4900.0);
    assert!(work("a.fast") < 1000.0);
}

#[test]
fn a_fault_of_a_slow_part_ends_the_run_at_the_same_step() {
    for mishap in [
        Mishap::Panic(0.0105),
        Mishap::Stuck(0.0105),
        Mishap::NotANumber(0.0105),
    ] {
        let outcomes = [1, 2, 4].map(|threads| {
            let mut simulation = model(Duration::ZERO, mishap, |_| {});
            let mut recorded = InMemory::default();
            let run = Run {
                threads,
                ..Run::new(60, &mut recorded)
            };
            let fault = simulation.run(run).end.unwrap_err();
            let is_named = match &fault {
                Fault::Panic { subsystem, .. }
                | Fault::NoProgress { subsystem, .. }
                | Fault::NotFinite { subsystem, .. } => subsystem.ends_with(".slow"),
                _ => false,
            };
            assert!(is_named, "{fault:?}");
            (
                simulation.steps_done(),
                recorded.rows.len(),
                fault.to_string(),
            )
        });
        assert!(
            outcomes.iter().all(|outcome| *outcome == outcomes[0]),
            "{outcomes:?}"
        );
    }
}
