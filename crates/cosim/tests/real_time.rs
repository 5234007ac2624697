//! Paced runs: deadlines, what is done when they are missed, and that nothing else is counted.

mod support;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oldham_cosim::{
    Builder, Clock, Discard, End, Fault, Hold, InMemory, Inputs, ManualClock, OnMiss, Outcome,
    Pacing, Ports, Reached, Recorder, Run, Schedule, Simulation, State, StepError, Subsystem, Tap,
};
use support::{Oscillator, right};

/// Where a step stalls, and for how long.
type Stall = Arc<dyn Fn(Duration) + Send + Sync>;

const STALL: Duration = Duration::from_millis(5);
const USUAL: Duration = Duration::from_micros(40);

/// An oscillator whose steps take some time of a clock, and a few of them very long.
struct Staller {
    inner: Oscillator,
    spends: Stall,
    stalls_at: Vec<u64>,
    step: u64,
}

impl Subsystem for Staller {
    fn ports(&self) -> &Ports {
        self.inner.ports()
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let is_stalled = self.stalls_at.contains(&self.step);
        (self.spends)(if is_stalled { STALL } else { USUAL });
        self.step += 1;
        self.inner.advance(from, to, inputs)
    }
    fn outputs(&mut self, t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        self.inner.outputs(t, u, y)
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()
    }
}

/// Steps of 1 ms; stalls in these.
fn simulation(spends: Stall, stalls_at: &[u64]) -> Simulation {
    let mut builder = Builder::new();
    let inner = right();
    let hold = Box::new(Hold::new(1, inner.ports()));
    let staller = Staller {
        inner,
        spends,
        stalls_at: stalls_at.to_vec(),
        step: 0,
    };
    let id = builder.add("staller", Box::new(staller), hold);
    builder.build(Schedule::jacobi(1e-3, [id])).unwrap()
}

/// A clock that goes on by what the steps spend, and a pace of 1 kHz by it.
fn by_hand(on_miss: OnMiss) -> (Stall, Pacing) {
    let clock = Arc::new(ManualClock::default());
    let pacing = Pacing {
        on_miss,
        clock: clock.clone(),
        ..Pacing::new(1.0)
    };
    (Arc::new(move |time| clock.pass(time)), pacing)
}

fn paced(simulation: &mut Simulation, steps: u64, pacing: Pacing) -> (Outcome, Vec<f64>) {
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        pace: Some(pacing),
        ..Run::new(steps, &mut rows)
    });
    (outcome, rows.times)
}

#[test]
fn a_run_that_slips_counts_exactly_the_stalls() {
    let (spends, pacing) = by_hand(OnMiss::Slip);
    let clock = pacing.clock.clone();
    let mut simulation = simulation(spends, &[10, 500, 501, 900]);
    let (outcome, times) = paced(&mut simulation, 1000, pacing);
    assert_eq!(outcome.end, Ok(End::Finished));
    assert_eq!(times.len(), 1001);
    let lateness = outcome.summary.lateness.unwrap();
    assert_eq!((lateness.missed, lateness.overruns), (4, 4));
    // Each stall of 5 ms loses 4 ms beyond its own period.
    assert!(
        (lateness.slipped - 0.016).abs() < 1e-9,
        "{}",
        lateness.slipped
    );
    let end = clock.now().as_secs_f64();
    assert!((end - (0.999 + 0.016 + 40e-6)).abs() < 1e-9, "{end}");
    assert_eq!(lateness.late_us, [0.0, 0.0, 0.0], "nothing else is late");
    assert_eq!(outcome.summary.step_us[2], 5000.0);
    assert!((outcome.summary.step_us[0] / 40.0 - 1.0).abs() < 0.03);
    // Four of a thousand steps are long: the 99th percentile does not see them, the next one does.
    assert!((outcome.summary.step_us[1] / 40.0 - 1.0).abs() < 0.03);
    assert!((outcome.summary.step_p999_us / 5000.0 - 1.0).abs() < 0.03);
    assert_eq!(outcome.summary.step_histogram, [(64.0, 996), (8192.0, 4)]);
}

/// The stalled step ends 5 ms after it was due. Those after it take 40 us each, one after the other, so
/// that the k-th of them ends at 5 ms + 40 k us and is late as long as this is later than k + 1 ms.
#[test]
fn a_run_that_drops_output_catches_up() {
    let (spends, pacing) = by_hand(OnMiss::DropOutput);
    let clock = pacing.clock.clone();
    let mut simulation = simulation(spends, &[10, 500]);
    let (outcome, times) = paced(&mut simulation, 1000, pacing);
    let lateness = outcome.summary.lateness.unwrap();
    let late = (0..100).filter(|k| 5000 + 40 * k > 1000 * (k + 1)).count() as u64;
    assert_eq!(late, 5);
    assert_eq!((lateness.missed, lateness.overruns), (2 * late, 2));
    assert_eq!(lateness.dropped_rows, 2 * late);
    assert_eq!(times.len() as u64, 1001 - 2 * late);
    assert!(
        !times.iter().any(|t| (0.0105..0.0155).contains(t)),
        "the late rows are left out"
    );
    assert_eq!(lateness.slipped, 0.0);
    assert!((clock.now().as_secs_f64() - (0.999 + 40e-6)).abs() < 1e-9);
}

/// The same steps are late, and all rows are there.
#[test]
fn a_run_that_only_catches_up_keeps_its_output() {
    let (spends, pacing) = by_hand(OnMiss::CatchUp);
    let clock = pacing.clock.clone();
    let mut simulation = simulation(spends, &[10, 500]);
    let (outcome, times) = paced(&mut simulation, 1000, pacing);
    let lateness = outcome.summary.lateness.unwrap();
    assert_eq!((lateness.missed, lateness.overruns), (10, 2));
    assert_eq!((lateness.dropped_rows, times.len()), (0, 1001));
    assert!((clock.now().as_secs_f64() - (0.999 + 40e-6)).abs() < 1e-9);
}

#[test]
fn a_run_that_is_to_stop_does_so_at_the_first_miss() {
    let (spends, pacing) = by_hand(OnMiss::Stop);
    let mut simulation = simulation(spends, &[10, 500]);
    let (outcome, times) = paced(&mut simulation, 1000, pacing);
    let Err(Fault::Deadline { t, late_us, .. }) = outcome.end else {
        panic!("{:?}", outcome.end);
    };
    assert!((t - 0.011).abs() < 1e-12 && (late_us - 4000.0).abs() < 1e-6);
    assert!(times.len() <= 13, "it ends within a step");
    assert_eq!(outcome.summary.lateness.unwrap().missed, 1);
    let text = outcome.end.unwrap_err().to_string();
    assert!(
        text.contains("0.011 s") && text.contains("--on-miss"),
        "{text}"
    );
}

#[test]
fn a_budget_may_be_shorter_than_the_period() {
    let (spends, pacing) = by_hand(OnMiss::Slip);
    let budget = Some(Duration::from_micros(30));
    let mut simulation = simulation(spends, &[]);
    let (outcome, _) = paced(&mut simulation, 100, Pacing { budget, ..pacing });
    let lateness = outcome.summary.lateness.unwrap();
    // Every step takes 40 us of the 30 that it may, and the next one can still begin in time.
    assert_eq!((lateness.missed, lateness.slipped), (100, 0.0));
    assert_eq!(lateness.budget_us, 30.0);
}

/// A clock by which every waiting ends late, as it does where a core is not to be had.
struct Sleepy(ManualClock);

impl Clock for Sleepy {
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn wait_until(&self, time: Duration) {
        self.0.wait_until(time + Duration::from_micros(1200));
    }
}

#[test]
fn a_step_that_is_woken_late_misses_without_an_overrun() {
    let clock = Arc::new(Sleepy(ManualClock::default()));
    let ours = clock.clone();
    let pacing = Pacing {
        on_miss: OnMiss::DropOutput,
        clock: clock.clone(),
        ..Pacing::new(1.0)
    };
    let mut simulation = simulation(Arc::new(move |time| ours.0.pass(time)), &[]);
    let (outcome, _) = paced(&mut simulation, 10, pacing);
    let lateness = outcome.summary.lateness.unwrap();
    assert_eq!((lateness.missed, lateness.overruns), (10, 0));
    assert_eq!(lateness.late_us[2], 1200.0);
}

/// On the clock of the wall there are at least the stalls; how many more is the machine's affair.
#[test]
fn stalls_on_the_wall_clock_are_counted() {
    let mut simulation = simulation(Arc::new(sleep), &[5, 50, 100]);
    let began = Instant::now();
    let (outcome, _) = paced(&mut simulation, 150, Pacing::new(1.0));
    let lateness = outcome.summary.lateness.unwrap();
    assert!(
        lateness.missed >= 3 && lateness.overruns >= 3,
        "{lateness:?}"
    );
    assert!(began.elapsed() >= Duration::from_millis(149 + 12));
    assert!(outcome.summary.step_us[2] >= 5000.0);
}

#[test]
fn every_thread_is_told_before_it_starts() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ears = told.clone();
    let (_, pacing) = by_hand(OnMiss::Slip);
    let mut simulation = support::jacobi_pair(1e-3, 1, 1);
    let outcome = simulation.run(Run {
        threads: 2,
        pace: Some(Pacing {
            thread_start: Some(Arc::new(move |thread| ears.lock().unwrap().push(thread))),
            ..pacing
        }),
        ..Run::new(10, &mut Discard)
    });
    assert_eq!(outcome.end, Ok(End::Finished));
    let mut told = told.lock().unwrap().clone();
    told.sort_unstable();
    assert_eq!(told, [0, 1]);
}

/// Somebody who looks on and takes time of the clock for it.
struct Onlooker {
    clock: Arc<ManualClock>,
    seen: usize,
}

impl Recorder for Onlooker {
    fn record(&mut self, _t: f64, _row: &[f64]) -> std::io::Result<()> {
        self.seen += 1;
        self.clock.pass(Duration::from_micros(7));
        Ok(())
    }
}

/// What is spent on rows belongs to the steps that show them, and to no other.
#[test]
fn looking_on_costs_the_steps_that_are_shown() {
    let clock = Arc::new(ManualClock::default());
    let ours = clock.clone();
    let mut simulation = simulation(Arc::new(move |time| ours.pass(time)), &[]);
    let mut onlooker = Onlooker {
        clock: clock.clone(),
        seen: 0,
    };
    let outcome = simulation.run(Run {
        record_every: u64::MAX,
        tap: Some(Tap {
            every: 10,
            columns: None,
            recorder: &mut onlooker,
        }),
        pace: Some(Pacing {
            clock,
            ..Pacing::new(1.0)
        }),
        ..Run::new(100, &mut Discard)
    });
    assert_eq!(onlooker.seen, 10);
    assert_eq!(outcome.summary.step_us[2], 47.0);
    assert!((outcome.summary.step_us[0] / 40.0 - 1.0).abs() < 0.03);
    assert_eq!(outcome.summary.lateness.unwrap().missed, 0);
}

/// The instants are absolute: an error of every single wait does not add up.
#[test]
fn waits_do_not_drift() {
    struct Grainy(AtomicU64, AtomicUsize);
    impl Clock for Grainy {
        fn now(&self) -> Duration {
            Duration::from_nanos(self.0.load(Ordering::Acquire))
        }
        fn wait_until(&self, time: Duration) {
            self.1.fetch_add(1, Ordering::Relaxed);
            let late = time.as_nanos() as u64 + 300_000;
            self.0.fetch_max(late, Ordering::AcqRel);
        }
    }
    let clock = Arc::new(Grainy(AtomicU64::new(0), AtomicUsize::new(0)));
    let pacing = Pacing {
        clock: clock.clone(),
        ..Pacing::new(1.0)
    };
    let mut simulation = simulation(Arc::new(|_| {}), &[]);
    let (outcome, _) = paced(&mut simulation, 1000, pacing);
    assert_eq!(clock.now(), Duration::from_nanos(999_300_000));
    assert_eq!(clock.1.load(Ordering::Relaxed), 1000);
    assert_eq!(outcome.summary.lateness.unwrap().missed, 0);
}
