//! Runs that wait and go on, before somebody who looks on.

use std::io;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use oldham_cosim::{Cancel, End, Recorder};
use oldham_study::{ModelFile, Onlooker, Pause, Place, PreparedRun, RealTime, RunOptions};

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
    let mut run = PreparedRun::new(&file, &model, &paused, &options).unwrap();
    let onlooker = Onlooker {
        every: 1,
        columns: vec![0],
        recorder: &mut recorder,
        pause,
    };
    let report = run
        .take(&paused, Some(onlooker), None, &mut |_| {})
        .unwrap();
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
        let mut run = PreparedRun::new(&file, &model, &out, &options).unwrap();
        let onlooker = Onlooker {
            every: 1,
            columns: vec![0],
            recorder: &mut recorder,
            pause,
        };
        let report = run
            .take(&out, Some(onlooker), Some(&cancel), &mut |_| {})
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
        real_time: Some(RealTime::new(2.0)),
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

/// Goes back to the start, saves, and goes back to what was saved: each take is the piece of the plain
/// run that it should be, to the bit.
#[test]
fn a_run_goes_back_to_its_start_and_to_what_it_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let file = cart();
    let model = file.read().unwrap();
    let (out, options) = (path("plain.csv"), RunOptions::default());
    let run = PreparedRun::new(&file, &model, &out, &options);
    let plain = run.unwrap().solve(None, &mut |_| {}).unwrap();
    let plain = oldham_results::read(&plain.results).unwrap();

    let options = RunOptions {
        returns: true,
        ..RunOptions::default()
    };
    let out = path("takes.csv");
    let mut run = PreparedRun::new(&file, &model, &out, &options).unwrap();
    assert!(run.can_return());
    let pause = Pause::default();
    let mut take = |name: &str, at: f64, act: &dyn Fn(&Pause)| {
        let wishes = pause.clone();
        let mut recorder = At {
            time: at,
            act: move || act(&wishes),
            rows: 0,
        };
        let onlooker = Onlooker {
            every: 1,
            columns: vec![0],
            recorder: &mut recorder,
            pause: pause.clone(),
        };
        let report = run
            .take(&path(name), Some(onlooker), None, &mut |_| {})
            .unwrap();
        let place = pause.take_return();
        if let Some(place) = place {
            run.go_back(place).unwrap();
        }
        (report, place)
    };
    let (first, place) = take("1.csv", 0.05, &|pause| pause.go_back(Place::Start));
    assert_eq!(place, Some(Place::Start));
    let (second, place) = take("2.csv", 0.1, &Pause::save);
    assert_eq!(
        (second.outcome.end.clone(), place),
        (Ok(End::Finished), None)
    );
    run.go_back(Place::Saved).unwrap();
    let mut rest = At {
        time: f64::INFINITY,
        act: || {},
        rows: 0,
    };
    let onlooker = Onlooker {
        every: 1,
        columns: vec![0],
        recorder: &mut rest,
        pause: pause.clone(),
    };
    let third = run.take(&path("3.csv"), Some(onlooker), None, &mut |_| {});
    let third = third.unwrap();
    assert_eq!(third.outcome.end, Ok(End::Finished));

    for (report, begins_at) in [(first, 0.0), (second, 0.0), (third, 0.1)] {
        let table = oldham_results::read(&report.results).unwrap();
        let shift = plain.time().iter().position(|t| *t == table.time()[0]);
        let shift = shift.unwrap();
        assert!((table.time()[0] - begins_at).abs() < 0.004);
        for name in table.names().filter(|name| !name.starts_with("energy")) {
            let (there, here) = (plain.column(name).unwrap(), table.column(name).unwrap());
            assert_eq!(there[shift..shift + here.len()], *here, "{name}");
        }
    }
}

/// Whatever signals are chosen, external inputs are recorded: the run can be replayed.
#[test]
fn what_was_set_is_recorded_beside_chosen_signals() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.csv");
    let file = cart().set("record.signals", "[\"cart.load.x\"]");
    let model = file.read().unwrap();
    let options = RunOptions::default();
    let run = PreparedRun::new(&file, &model, &out, &options).unwrap();
    run.solve(None, &mut |_| {}).unwrap();
    let table = oldham_results::read(&out).unwrap();
    let names: Vec<&str> = table.names().filter(|name| *name != "time").collect();
    assert_eq!(names, ["cart.load.x", "driver.push"]);
    let options = RunOptions {
        replay: Some(out),
        ..RunOptions::default()
    };
    let again = folder.path().join("b.csv");
    assert!(PreparedRun::new(&file, &model, &again, &options).is_ok());
}

/// A save is requested in the stretch that ends with a fault. The state of the failed step had replaced the good one, the fault
/// was dropped, and the run went on.
#[test]
fn a_fault_is_not_driven_over_by_a_wish_to_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = r#"
        [model]
        name = "A law that ends"
        [simulation]
        duration = 0.2
        step = 0.01
        [lumped.cart]
        integrator = "rk4"
        masses.x = { mass = 1, velocity = 1 }
        springs.s = { between = ["ground", "x"], force = "sqrt(0.055 - d)" }
    "#;
    std::fs::write(path("ends.toml"), text).unwrap();
    let file = ModelFile::new(path("ends.toml").display().to_string());
    let model = file.read().unwrap();
    let options = RunOptions {
        returns: true,
        ..RunOptions::default()
    };
    // Wherever it is wished, before the failing step and in the last row before it.
    for at in [0.02, 0.03, 0.04, 0.05, 0.06] {
        let out = path(&format!("{at}.csv"));
        let mut run = PreparedRun::new(&file, &model, &out, &options).unwrap();
        let pause = Pause::default();
        let wishes = pause.clone();
        let mut recorder = At {
            time: at - 1e-9,
            act: move || wishes.save(),
            rows: 0,
        };
        let onlooker = Onlooker {
            every: 1,
            columns: vec![0],
            recorder: &mut recorder,
            pause: pause.clone(),
        };
        let take = run.take(
            &path(&format!("take-{at}.csv")),
            Some(onlooker),
            None,
            &mut |_| {},
        );
        let report = take.unwrap();
        let fault = report.outcome.end.expect_err("the law has no value there");
        assert!(fault.to_string().contains("`cart`"), "{fault}");
    }
}
