//! Faults are stopped where they appear, and named; runs are repeatable, resumable, interruptible.

mod support;

use oldham_cosim::{
    BuildError, Builder, Cancel, Checkpoint, CheckpointError, Discard, End, Fault, Hold,
    ImplicitSettings, InMemory, InputPort, Inputs, OutputPort, Ports, Reached, Recorder, Run,
    Schedule, Simulation, StepError, Subsystem,
};
use support::{Mishap, Oscillator, Pair, jacobi_pair, left, pair, right};

fn with_mishap(mishap: Mishap) -> Simulation {
    let mut bad = right();
    bad.mishap = mishap;
    let Pair {
        builder,
        left,
        right,
    } = pair(left(), bad, 0);
    builder
        .build(Schedule::jacobi(1e-3, [left, right]))
        .unwrap()
}

#[test]
fn not_a_number_stops_at_the_port_where_it_appears() {
    for threads in [1, 2] {
        let mut recorded = InMemory::default();
        let mut run = Run::new(100, &mut recorded);
        run.threads = threads;
        let fault = with_mishap(Mishap::NotANumber(0.0205))
            .run(run)
            .end
            .unwrap_err();
        let Fault::NotFinite {
            subsystem, port, t, ..
        } = &fault
        else {
            panic!("{fault}");
        };
        assert_eq!((subsystem.as_str(), port.as_str()), ("right", "motion.v"));
        assert!((t - 0.021).abs() < 1e-12);
        assert_eq!(recorded.times.len(), 21, "the rows before are kept");
        assert!(
            recorded
                .rows
                .iter()
                .flatten()
                .all(|value| value.is_finite())
        );
    }
}

#[test]
fn a_panicking_part_is_named_and_nobody_hangs() {
    std::panic::set_hook(Box::new(|_| {}));
    for threads in [1, 2] {
        let mut nowhere = Discard;
        let mut run = Run::new(100, &mut nowhere);
        run.threads = threads;
        let fault = with_mishap(Mishap::Panic(0.0105)).run(run);
        let message = fault.end.unwrap_err().to_string();
        assert!(
            message.starts_with("`right` panicked at t = 0.01"),
            "{message}"
        );
        assert!(message.contains("out of luck"));
    }
    let _ = std::panic::take_hook();
}

#[test]
fn a_part_that_does_not_move_on_is_named() {
    let fault = with_mishap(Mishap::Stuck(0.0105)).run(Run::new(100, &mut Discard));
    assert!(matches!(fault.end, Err(Fault::NoProgress { subsystem, .. }) if subsystem == "right"));
}

#[test]
fn an_event_restarts_those_who_hear_of_it() {
    let mut simulation = with_mishap(Mishap::Event(0.0105));
    simulation.run(Run::new(20, &mut Discard)).end.unwrap();
    let words = |simulation: &mut Simulation, name: &str| {
        let id = simulation.find(name).unwrap();
        let mut snapshot = oldham_cosim::Snapshot::default();
        snapshot.save(simulation.subsystem(id).state().unwrap());
        *snapshot.words().last().unwrap()
    };
    assert_eq!(words(&mut simulation, "left"), 1);
}

#[test]
fn a_scheduled_event_restarts_everybody_once() {
    let Pair {
        builder,
        left,
        right,
    } = pair(left(), right(), 1);
    let mut schedule = Schedule::jacobi(1e-3, [left, right]);
    schedule.events = vec![0.005, 0.0125];
    let mut simulation = builder.build(schedule).unwrap();
    simulation.run(Run::new(20, &mut Discard)).end.unwrap();
    for name in ["left", "right"] {
        let id = simulation.find(name).unwrap();
        let mut snapshot = oldham_cosim::Snapshot::default();
        snapshot.save(simulation.subsystem(id).state().unwrap());
        assert_eq!(*snapshot.words().last().unwrap(), 2, "{name}");
    }
}

/// Four parts in a ring of springs, so that threads have something to disagree on.
fn ring(implicit: bool) -> Simulation {
    let mut builder = Builder::new();
    let ids: Vec<_> = (0..4)
        .map(|i| {
            let part = if i % 2 == 0 {
                Oscillator::new(1.0 + 0.1 * f64::from(i), 10.0, 100.0, Some(70.0))
            } else {
                Oscillator::new(1.0, 900.0, -50.0, None)
            };
            let hold = Hold::new(1, part.ports());
            builder.add(&format!("p{i}"), Box::new(part), Box::new(hold))
        })
        .collect();
    for pair in ids.chunks(2) {
        builder.connect((pair[1], OutputPort(0)), (pair[0], InputPort(0)));
        builder.connect((pair[0], OutputPort(1)), (pair[1], InputPort(0)));
    }
    let mut schedule = Schedule::jacobi(1e-3, ids);
    if implicit {
        schedule = schedule.implicit(ImplicitSettings::default());
    }
    builder.build(schedule).unwrap()
}

fn bits(recorded: &InMemory) -> Vec<u64> {
    recorded
        .rows
        .iter()
        .flatten()
        .map(|value| value.to_bits())
        .collect()
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for implicit in [false, true] {
        let run = |threads| {
            let mut recorded = InMemory::default();
            let mut run = Run::new(200, &mut recorded);
            run.threads = threads;
            ring(implicit).run(run).end.unwrap();
            bits(&recorded)
        };
        let one = run(1);
        for threads in [2, 3, 4, 8] {
            for _ in 0..3 {
                assert!(run(threads) == one, "{threads} threads, tight: {implicit}");
            }
        }
    }
}

#[test]
fn continuing_from_a_checkpoint_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for implicit in [false, true] {
        let mut whole = InMemory::default();
        ring(implicit).run(Run::new(60, &mut whole)).end.unwrap();
        for at in (3..60).step_by(3) {
            let mut first = ring(implicit);
            first.run(Run::new(at, &mut Discard)).end.unwrap();
            let path = folder.path().join(format!("{at}.checkpoint"));
            first.checkpoint("model").unwrap().write(&path).unwrap();
            let mut second = ring(implicit);
            second
                .restore(&Checkpoint::read(&path).unwrap(), "model")
                .unwrap();
            let mut rest = InMemory::default();
            second.run(Run::new(60 - at, &mut rest)).end.unwrap();
            let width = whole.rows[0].len();
            assert!(
                bits(&rest) == bits(&whole)[(at as usize + 1) * width..],
                "from {at}"
            );
        }
    }
}

#[test]
fn a_multirate_run_continues_between_two_releases() {
    let build = || {
        let p = pair(left(), right(), 1);
        let mut builder = p.builder;
        builder.every(p.right, 4);
        builder
            .build(Schedule::jacobi(1e-3, [p.left, p.right]))
            .unwrap()
    };
    let mut whole = InMemory::default();
    build().run(Run::new(30, &mut whole)).end.unwrap();
    for at in 1..20 {
        let mut first = build();
        first.run(Run::new(at, &mut Discard)).end.unwrap();
        let saved = first.checkpoint("m").unwrap();
        let mut second = build();
        second.restore(&saved, "m").unwrap();
        let mut rest = InMemory::default();
        second.run(Run::new(30 - at, &mut rest)).end.unwrap();
        let width = whole.rows[0].len();
        assert!(
            bits(&rest) == bits(&whole)[(at as usize + 1) * width..],
            "from {at}"
        );
    }
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let saved = jacobi_pair(1e-3, 0, 1).checkpoint("model").unwrap();
    saved.write(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for (index, byte) in [(3, 1), (20, 1), (whole.len() - 30, 1), (whole.len() - 1, 1)] {
        let mut bytes = whole.clone();
        bytes[index] ^= byte;
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(
            Checkpoint::read(&path),
            Err(CheckpointError::Damaged { .. })
        ));
    }
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(Checkpoint::read(&path).is_err());
    }
    let mut other_step = jacobi_pair(2e-3, 0, 1);
    assert!(matches!(
        other_step.restore(&saved, "model"),
        Err(CheckpointError::OtherModel { .. })
    ));
    let mut other_text = jacobi_pair(1e-3, 0, 1);
    assert!(matches!(
        other_text.restore(&saved, "changed"),
        Err(CheckpointError::OtherModel { .. })
    ));
}

/// The same checkpoint with something else in its header, as another program would have written it.
fn with_header(bytes: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[16..16 + length].to_vec()).unwrap();
    let header = change(header);
    let mut changed = bytes[..8].to_vec();
    changed.extend((header.len() as u64).to_le_bytes());
    changed.extend(header.as_bytes());
    changed.extend(&bytes[16 + length..bytes.len() - 4]);
    let checksum = crc32fast::hash(&changed);
    changed.extend(checksum.to_le_bytes());
    changed
}

/// A state of as many words may mean something else to another version, and to another build of the same one.
#[test]
fn a_checkpoint_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    jacobi_pair(1e-3, 0, 1)
        .checkpoint("model")
        .unwrap()
        .write(&path)
        .unwrap();
    let whole = std::fs::read(&path).unwrap();
    let read = |change: &dyn Fn(String) -> String| {
        std::fs::write(&path, with_header(&whole, change)).unwrap();
        let saved = Checkpoint::read(&path).unwrap();
        jacobi_pair(1e-3, 0, 1).restore(&saved, "model")
    };
    assert!(read(&|header| header).is_ok());
    let version = concat!("\"program\":\"", env!("CARGO_PKG_VERSION"), "\"");
    let newer = read(&|header| header.replace(version, "\"program\":\"99.0.0\""));
    let message = newer.unwrap_err().to_string();
    assert!(message.contains("made by version 99.0.0"), "{message}");
    // Before versions were written.
    let older = read(&|header| header.replace(&format!("{version},"), ""));
    let message = older.unwrap_err().to_string();
    assert!(message.contains("made by an earlier version"), "{message}");
    let other_layout = read(&|header| header.replace("\"layout\":", "\"layout\":1"));
    let message = other_layout.unwrap_err().to_string();
    assert!(message.contains("laid out otherwise"), "{message}");
}

struct CancelAt(Cancel, f64);

impl Recorder for CancelAt {
    fn record(&mut self, t: f64, _row: &[f64]) -> std::io::Result<()> {
        if t >= self.1 {
            self.0.request();
        }
        Ok(())
    }
}

#[test]
fn a_cancelled_run_ends_within_two_steps() {
    for threads in [1, 2] {
        let cancel = Cancel::default();
        let mut recorder = CancelAt(cancel.clone(), 0.05);
        let mut run = Run::new(10_000, &mut recorder);
        run.threads = threads;
        run.cancel = Some(cancel);
        let mut simulation = jacobi_pair(1e-3, 0, 1);
        let outcome = simulation.run(run);
        assert_eq!(outcome.end, Ok(End::Cancelled));
        assert!(simulation.time() <= 0.0521);
    }
}

struct FullDisk(u64);

impl Recorder for FullDisk {
    fn record(&mut self, _t: f64, _row: &[f64]) -> std::io::Result<()> {
        self.0 += 1;
        if self.0 > 10 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

#[test]
fn a_full_disk_ends_the_run_with_its_reason() {
    let fault = jacobi_pair(1e-3, 0, 1).run(Run::new(100, &mut FullDisk(0)));
    assert!(matches!(fault.end, Err(Fault::Recording { t, .. }) if (t - 0.01).abs() < 1e-12));
}

#[test]
fn a_diverging_run_is_stopped_and_the_interface_named() {
    let mut simulation = jacobi_pair(1e-2, 0, 10);
    let mut nowhere = Discard;
    let mut run = Run::new(100_000, &mut nowhere);
    run.energy_bound = Some(100.0);
    let message = simulation.run(run).end.unwrap_err().to_string();
    assert!(message.contains("left.force<->right.motion"), "{message}");
    assert!(message.contains("implicit (tight) coupling"), "{message}");
}

#[test]
fn all_mistakes_of_a_model_are_reported_at_once() {
    let p = pair(left(), right(), 0);
    let mut builder = p.builder;
    builder.connect((p.right, OutputPort(0)), (p.right, InputPort(0)));
    builder.every(p.left, 0);
    let errors = builder
        .build(Schedule::jacobi(-1.0, [p.left]))
        .err()
        .unwrap();
    let has = |wanted: fn(&BuildError) -> bool| errors.iter().any(wanted);
    assert!(has(|e| matches!(e, BuildError::QuantityMismatch { .. })));
    assert!(has(
        |e| matches!(e, BuildError::FedTwice(port) if port == "right.force")
    ));
    assert!(has(|e| matches!(e, BuildError::BadStep(_))));
    assert!(has(|e| matches!(e, BuildError::ZeroRatio)));
    assert!(has(|e| matches!(
        e,
        BuildError::NotOnceInSchedule { times: 0, .. }
    )));
}

#[test]
fn rollback_is_refused_where_a_part_cannot() {
    let mut stiff = right();
    stiff.savable = false;
    let p = pair(left(), stiff, 1);
    let schedule = Schedule::jacobi(1e-3, [p.left, p.right]).implicit(ImplicitSettings::default());
    let errors = p.builder.build(schedule).err().unwrap();
    assert_eq!(errors, [BuildError::CannotRollBack("right".into())]);
}

/// A part that nobody listens to.
struct Silent(Ports);

impl Subsystem for Silent {
    fn ports(&self) -> &Ports {
        &self.0
    }

    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Result<(), StepError> {
        Ok(())
    }
}

#[test]
fn without_outputs_none_depend_on_each_other() {
    let mut builder = Builder::new();
    let hold = Hold::new(0, &Ports::new());
    let part = builder.add("part", Box::new(Silent(Ports::new())), Box::new(hold));
    let mut simulation = builder.build(Schedule::jacobi(1e-3, [part])).unwrap();
    let outcome = simulation.run(Run::new(1, &mut Discard));
    let notes = outcome.summary.notes;
    assert!(notes.iter().all(|note| !note.contains("loop")), "{notes:?}");
}
