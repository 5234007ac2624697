//! Runs that wait and go on, before somebody who looks on.

use std::io;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use oldham_cosim::{Cancel, End, Recorder};
use oldham_study::{ModelFile, Onlooker, Pause, PreparedRun, RunOptions};

fn cart() -> ModelFile {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    ModelFile::new(format!("{examples}/driven-cart.toml")).set("simulation.duration", 0.2)
}

/// Does something when a time is reached, once.
struct At<F: FnMut()> {
    time: f64,
    act: F,
    rows: usize,
}

impl<F: FnMut()> Recorder for At<F> {
    fn record(&mut self, t: f64, _row: &[f64]) -> io::Result<()> {
        self.rows += 1;
        if t >= self.time {
            self.time = f64::INFINITY;
            (self.act)();
        }
        Ok(())
    }
}

#[test]
fn a_paused_run_has_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, paused) = (
        folder.path().join("a.parquet"),
        folder.path().join("b.parquet"),
    );
    let file = cart();
    let model = file.read().unwrap();
    let options = RunOptions::default();
    let run = PreparedRun::new(&file, &model, &plain, &options).unwrap();
    run.solve(None, &mut |_| {}).unwrap();

    let pause = Pause::default();
    let waits = pause.clone();
    let mut recorder = At {
        time: 0.1,
        act: move || {
            waits.pause();
            let waits = waits.clone();
            spawn(move || {
                sleep(Duration::from_millis(150));
                waits.go_on();
            });
        },
        rows: 0,
    };
    let began = Instant::now();
    let run = PreparedRun::new(&file, &model, &paused, &options).unwrap();
    let onlooker = Onlooker {
        every: 1,
        columns: vec![0],
        recorder: &mut recorder,
        pause,
    };
    let report = run.solve_before(Some(onlooker), None, &mut |_| {}).unwrap();
    assert_eq!(report.outcome.end, Ok(End::Finished));
    assert!(began.elapsed() >= Duration::from_millis(150));
    assert_eq!(recorder.rows as u64, model.steps());
    assert!(std::fs::read(plain).unwrap() == std::fs::read(paused).unwrap());
}

#[test]
fn a_run_that_waits_can_be_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = cart();
    let model = file.read().unwrap();
    let options = RunOptions::default();
    for by_user in [false, true] {
        let out = folder.path().join(format!("{by_user}.parquet"));
        let (pause, cancel) = (Pause::default(), Cancel::default());
        let (waits, user) = (pause.clone(), cancel.clone());
        let mut recorder = At {
            time: 0.1,
            act: move || {
                waits.pause();
                let (waits, user) = (waits.clone(), user.clone());
                spawn(move || {
                    sleep(Duration::from_millis(50));
                    if by_user { user.request() } else { waits.end() }
                });
            },
            rows: 0,
        };
        let run = PreparedRun::new(&file, &model, &out, &options).unwrap();
        let onlooker = Onlooker {
            every: 1,
            columns: vec![0],
            recorder: &mut recorder,
            pause,
        };
        let report = run
            .solve_before(Some(onlooker), Some(&cancel), &mut |_| {})
            .unwrap();
        assert_eq!(report.outcome.end, Ok(End::Cancelled));
        let table = oldham_results::read(&report.results).unwrap();
        assert!(
            table.rows() >= 101 && table.rows() < 110,
            "{}",
            table.rows()
        );
    }
}

#[test]
fn a_paced_run_keeps_the_time_of_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("paced.parquet");
    let file = cart();
    let model = file.read().unwrap();
    let options = RunOptions {
        real_time: Some(2.0),
        ..RunOptions::default()
    };
    let began = Instant::now();
    let run = PreparedRun::new(&file, &model, &out, &options).unwrap();
    let report = run.solve(None, &mut |_| {}).unwrap();
    // The last step begins one step before the end.
    let least = (model.duration() - model.step()) / 2.0;
    assert!(began.elapsed().as_secs_f64() >= least);
    assert!(report.outcome.summary.lateness.is_some());
}
