//! Several ranks share a simulation: the same bits as one machine, whatever fails.

mod support;

use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use oldham_cosim::{
    Acceleration, Builder, Cancel, End, Fault, Hold, ImplicitSettings, InMemory, InputPort,
    OnLimit, Outcome, OutputPort, Portions, Ranks, Recorder, Run, Schedule, SharingError,
    Simulation, Stage, Subsystem, SubsystemId,
};
use serde_json::Value;
use support::{Mishap, Oscillator, left, right};

/// Ranks that are threads of this test.
struct Board {
    given: Mutex<Vec<Vec<u64>>>,
    gate: Barrier,
}

struct Member {
    rank: usize,
    size: usize,
    board: Arc<Board>,
}

impl Ranks for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, given: &[u64], portions: &Portions, all: &mut [u64]) {
        self.board.given.lock().unwrap()[self.rank] = given.to_vec();
        self.board.gate.wait();
        {
            let words = self.board.given.lock().unwrap();
            for (rank, words) in words.iter().enumerate() {
                all[portions.range(rank)].copy_from_slice(words);
            }
        }
        self.board.gate.wait();
    }

    fn abort(&self, cause: &str) -> ! {
        // The other threads would wait for ever.
        eprintln!("rank {} ends the test: {cause}", self.rank);
        std::process::abort()
    }
}

/// What each of so many ranks makes of its turn.
fn on_ranks<T: Send>(size: usize, turn: impl Fn(Arc<dyn Ranks>) -> T + Sync) -> Vec<T> {
    let board = Arc::new(Board {
        given: Mutex::new(vec![Vec::new(); size]),
        gate: Barrier::new(size),
    });
    std::thread::scope(|scope| {
        let member = |rank| {
            let board = Arc::clone(&board);
            Arc::new(Member { rank, size, board })
        };
        let turn = &turn;
        let ranks: Vec<_> = (0..size)
            .map(|rank| {
                let member = member(rank);
                scope.spawn(move || turn(member))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// How the parts are coupled.
#[derive(Clone, Copy, Debug)]
enum Way {
    Jacobi,
    Sequential,
    Implicit,
    ImplicitSequential,
    Slow,
    Nested,
}

const WAYS: [Way; 6] = [
    Way::Jacobi,
    Way::Sequential,
    Way::Implicit,
    Way::ImplicitSequential,
    Way::Slow,
    Way::Nested,
];

/// Two pairs of oscillators, of which one part may have a mishap.
fn model(way: Way, mishap: Option<(usize, Mishap)>) -> Simulation {
    let mut builder = Builder::new();
    let mut ids: Vec<SubsystemId> = Vec::new();
    let mut add = |builder: &mut Builder, name: &str, mut part: Oscillator, order| {
        if let Some((unlucky, mishap)) = mishap
            && unlucky == ids.len()
        {
            part.mishap = mishap;
        }
        let hold = Hold::new(order, part.ports());
        let id = builder.add(name, Box::new(part), Box::new(hold));
        ids.push(id);
        id
    };
    for (name, order) in [("a", 1), ("b", 2)] {
        let fast = add(&mut builder, &format!("{name}.left"), left(), order);
        let slow = add(&mut builder, &format!("{name}.right"), right(), order);
        builder.connect((slow, OutputPort(0)), (fast, InputPort(0)));
        builder.connect((fast, OutputPort(1)), (slow, InputPort(0)));
    }
    if matches!(way, Way::Slow) {
        builder.every(ids[1], 3);
        builder.every(ids[3], 4);
    }
    let step = 1e-3;
    let implicit = |acceleration| ImplicitSettings {
        max_iterations: 20,
        relative: 1e-8,
        absolute: 1e-9,
        per_port: Vec::new(),
        acceleration,
        on_limit: OnLimit::Accept,
    };
    let mut schedule = match way {
        Way::Jacobi => Schedule::jacobi(step, ids).with_output_update(),
        // The part that advances first needs nothing from the last one.
        Way::Sequential => Schedule::gauss_seidel(step, [ids[0], ids[2], ids[1], ids[3]]),
        Way::Implicit => Schedule::jacobi(step, ids).implicit(implicit(Acceleration::Aitken(0.7))),
        Way::ImplicitSequential => {
            Schedule::gauss_seidel(step, ids).implicit(implicit(Acceleration::Fixed(1.0)))
        }
        Way::Slow => Schedule::jacobi(step, ids),
        Way::Nested => {
            let nested = Stage::Nested {
                ratio: 3,
                stages: vec![Stage::Together(vec![ids[0], ids[1]])],
            };
            let rest = Stage::Together(vec![ids[2], ids[3]]);
            Schedule::with_stages(step, vec![nested, rest])
        }
    };
    if matches!(way, Way::Jacobi | Way::Slow) {
        schedule.events = vec![0.012, 0.036];
    }
    builder.build(schedule).unwrap()
}

/// All that a run leaves behind, but for its times.
#[derive(Debug, PartialEq)]
struct Trace {
    ends: Vec<Result<End, String>>,
    rows: Vec<(u64, Vec<u64>)>,
    checkpoints: Vec<Vec<u8>>,
    summary: Value,
}

fn without_times(outcome: &Outcome) -> Value {
    let mut summary = serde_json::to_value(&outcome.summary).unwrap();
    let timed = [
        "wall",
        "real_time_factor",
        "threads",
        "step_us",
        "step_p999_us",
        "step_histogram",
        "split_us",
        "ranks",
    ];
    let table = summary.as_object_mut().unwrap();
    timed.iter().for_each(|key| drop(table.remove(*key)));
    for part in table["parts"].as_array_mut().unwrap() {
        part.as_object_mut().unwrap().remove("work_us");
    }
    summary
}

/// Runs in pieces, each of which ends with a checkpoint.
fn trace(simulation: &mut Simulation, threads: usize, pieces: &[u64]) -> Trace {
    let mut recorded = InMemory::default();
    let (mut ends, mut checkpoints) = (Vec::new(), Vec::new());
    let mut summary = Value::Null;
    for &steps in pieces {
        let outcome = simulation.run(Run {
            threads,
            record_every: 3,
            energy_bound: Some(100.0),
            ..Run::new(steps, &mut recorded)
        });
        summary = without_times(&outcome);
        let failed = outcome.end.is_err();
        ends.push(outcome.end.map_err(|fault| fault.to_string()));
        if failed {
            break;
        }
        checkpoints.push(simulation.checkpoint("model").unwrap().bytes());
    }
    let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect();
    let times = recorded.times.iter().map(|t| t.to_bits());
    Trace {
        ends,
        rows: times.zip(recorded.rows.iter().map(bits)).collect(),
        checkpoints,
        summary,
    }
}

const PIECES: [u64; 3] = [40, 1, 90];

fn shared(ranks: Arc<dyn Ranks>, mut simulation: Simulation, threads: usize) -> Trace {
    simulation.share(ranks).unwrap();
    trace(&mut simulation, threads, &PIECES)
}

#[test]
fn any_number_of_ranks_and_threads_gives_the_same_bits() {
    for way in WAYS {
        let alone = trace(&mut model(way, None), 1, &PIECES);
        assert_eq!(alone.ends, vec![Ok(End::Finished); 3], "{way:?}");
        for threads in [2, 4] {
            let together = trace(&mut model(way, None), threads, &PIECES);
            assert!(together == alone, "{way:?}, {threads} threads");
        }
        for (ranks, threads) in [(1, 2), (2, 1), (2, 2), (3, 1), (5, 1)] {
            let traces = on_ranks(ranks, |ranks| shared(ranks, model(way, None), threads));
            for (rank, trace) in traces.iter().enumerate() {
                let told = format!("{way:?}, rank {rank} of {ranks}, {threads} threads");
                assert!(*trace == alone, "{told}:\n{trace:?}\n{alone:?}");
            }
        }
    }
}

#[test]
fn a_fault_on_one_rank_ends_all_with_the_same_words() {
    let at = 0.0205;
    let mishaps = [Mishap::NotANumber(at), Mishap::Panic(at), Mishap::Stuck(at)];
    std::panic::set_hook(Box::new(|_| {}));
    for way in WAYS {
        for mishap in mishaps {
            for part in 0..4 {
                let unlucky = || model(way, Some((part, mishap)));
                let alone = trace(&mut unlucky(), 1, &PIECES);
                assert!(alone.ends[0].is_err());
                for (ranks, threads) in [(2, 1), (3, 2)] {
                    let traces = on_ranks(ranks, |ranks| shared(ranks, unlucky(), threads));
                    for trace in traces {
                        assert_eq!(trace.ends, alone.ends, "{way:?}, part {part}");
                        assert!(trace.rows == alone.rows, "{way:?}, part {part}");
                    }
                }
            }
        }
    }
    let _ = std::panic::take_hook();
}

/// A disk that is full after some rows.
struct Full(usize);

impl Recorder for Full {
    fn record(&mut self, _: f64, _: &[f64]) -> std::io::Result<()> {
        self.0 = self
            .0
            .checked_sub(1)
            .ok_or(std::io::Error::other("disk full"))?;
        Ok(())
    }
}

#[test]
fn what_the_first_rank_cannot_record_ends_all() {
    for rows in [0, 1, 5] {
        let ends = on_ranks(3, |ranks| {
            let mut simulation = model(Way::Jacobi, None);
            let mut full = Full(if ranks.rank() == 0 { rows } else { usize::MAX });
            simulation.share(ranks).unwrap();
            let outcome = simulation.run(Run::new(100, &mut full));
            (outcome.end.unwrap_err(), outcome.summary.steps)
        });
        let steps = ends[0].1;
        for (rank, (fault, done)) in ends.into_iter().enumerate() {
            assert!(fault.to_string().contains("disk full"), "{fault}");
            assert_eq!(matches!(fault, Fault::OnRank { rank: 0, .. }), rank > 0);
            assert_eq!(done, steps);
        }
    }
}

#[test]
fn a_wish_to_end_on_any_rank_ends_all_after_the_same_step() {
    for way in WAYS {
        let ends = on_ranks(3, |ranks| {
            let mut simulation = model(way, None);
            let cancel = Cancel::default();
            let is_asked = ranks.rank() == 1;
            simulation.share(ranks).unwrap();
            let wish = cancel.clone();
            std::thread::scope(|scope| {
                if is_asked {
                    scope.spawn(move || {
                        std::thread::sleep(Duration::from_millis(5));
                        wish.request();
                    });
                }
                let mut recorder = oldham_cosim::Discard;
                let run = Run {
                    cancel: Some(cancel),
                    record_every: 1000,
                    ..Run::new(100_000_000, &mut recorder)
                };
                let outcome = simulation.run(run);
                (outcome.end, outcome.summary.steps)
            })
        });
        assert_eq!(ends[0].0, Ok(End::Cancelled), "{way:?}");
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    }
}

/// One exchange a step, two more for a reported one, two at the end.
#[test]
fn an_explicit_step_has_one_meeting() {
    let summaries = on_ranks(2, |ranks| {
        let mut simulation = support::jacobi_pair(1e-3, 1, 1);
        simulation.share(ranks).unwrap();
        let mut recorder = oldham_cosim::Discard;
        let run = Run {
            record_every: 10,
            ..Run::new(30, &mut recorder)
        };
        simulation.run(run).summary
    });
    for summary in &summaries {
        let meetings: Vec<u64> = summary.ranks.iter().map(|rank| rank.meetings).collect();
        assert_eq!(meetings, [30 + 2 * 3 + 2; 2]);
    }
    let parts: Vec<usize> = summaries[0]
        .ranks
        .iter()
        .map(|rank| rank.parts.len())
        .collect();
    assert_eq!(parts, [1, 1]);
}

#[test]
fn a_part_that_keeps_its_state_to_itself_is_refused() {
    let refused = on_ranks(2, |ranks| {
        let mut secretive = right();
        secretive.savable = false;
        let pair = support::pair(left(), secretive, 1);
        let schedule = Schedule::jacobi(1e-3, [pair.left, pair.right]);
        let mut simulation = pair.builder.build(schedule).unwrap();
        simulation.share(ranks).unwrap_err()
    });
    assert_eq!(refused[0], SharingError::NoState("right".into()));
}
