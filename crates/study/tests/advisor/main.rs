//! What is advised, against a trial of everything. `OLDHAM_MODELS` says how many random models there are.

mod models;
mod sealed;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oldham_cosim::Cancel;
use oldham_stability::Decision;
use oldham_study::{
    Advice, AdvisorOptions, Assessed, Case, CompareOptions, ModelFile, Prices, Recommendation,
    StudyError, advise, compare, write_settings,
};

const DEFAULT_COUNT: u64 = 10;
/// How far the first choice may be from the best of all.
const NEAR: f64 = 2.0;
/// How far a prediction may be from the run.
const CLOSE: f64 = 3.0;
/// Errors below this are rounding, on which nothing depends.
const ROUNDING: f64 = 1e-9;
/// The same on every machine.
const PRICES: Prices = Prices {
    advance: 4.0,
    exchange: 1.0,
};

fn count() -> u64 {
    let count = std::env::var("OLDHAM_MODELS").ok();
    count.map_or(DEFAULT_COUNT, |count| count.parse().expect("a number"))
}

fn path_of(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    Path::new(folder).join(name).with_extension("toml")
}

fn example(name: &str) -> ModelFile {
    ModelFile::new(path_of(name))
}

fn advice(file: &ModelFile, checked: usize) -> Recommendation {
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let options = AdvisorOptions {
        granted: Duration::from_secs(600),
        prices: Some(PRICES),
        checked,
        ..AdvisorOptions::default()
    };
    advise(file, &model, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn at_equal_cost(one: &Assessed) -> f64 {
    one.at_equal_cost().unwrap_or(f64::INFINITY).max(ROUNDING)
}

#[test]
fn random_models_get_nearly_the_best_of_all_settings() {
    let (mut near, mut all) = (0, 0);
    let (mut close, mut predicted) = (0, 0);
    for n in 0..count() {
        let file = models::model(n);
        let quick = advice(&file, 5);
        let trial = advice(&file, usize::MAX);
        assert_eq!(quick.not_predicted, None, "{n}");
        let tried = || trial.run();
        let best = trial.choices.iter().map(at_equal_cost);
        let best = best.fold(f64::INFINITY, f64::min);
        let first = quick.first().unwrap_or_else(|| panic!("{n}: nothing"));
        assert_eq!(
            first.stability,
            Some(Decision::Stable),
            "{n}: {}",
            first.name
        );
        let there = tried().find(|one| one.name == first.name).expect("tried");
        assert_ne!(
            there.stability,
            Some(Decision::Unstable),
            "{n}: {}",
            first.name
        );
        let ratio = at_equal_cost(there) / best;
        all += 1;
        near += u64::from(ratio <= NEAR);
        let pairs = tried().filter(|one| one.error().is_some_and(|error| error > ROUNDING));
        let factors: Vec<f64> = pairs.filter_map(Assessed::misprediction).collect();
        let within = factors.iter().filter(|factor| **factor <= CLOSE).count();
        if !models::is_bent(n) {
            predicted += factors.len();
            close += within;
        }
        println!(
            "{n}{}: {} at {:.2e}, {ratio:.3} of the best; now {:?} {:.2e}; {within} of {} predictions close",
            match (models::has_black_box(n), models::is_bent(n)) {
                (true, true) => " sealed, bent",
                (true, false) => " sealed",
                (false, true) => " bent",
                (false, false) => "",
            },
            first.name,
            at_equal_cost(there),
            quick.present.stability,
            quick.present.error().unwrap_or(f64::INFINITY),
            factors.len(),
        );
    }
    println!("{near} of {all} near the best, {close} of {predicted} predictions close");
    assert!(10 * near >= 9 * all, "{near} of {all}");
    assert!(10 * close >= 8 * predicted, "{close} of {predicted}");
    assert!(predicted as u64 >= 10 * all);
}

/// Where force and motion are exchanged without delay, the coupling is the monolithic model.
#[test]
fn an_output_update_joins_the_two_masses_without_an_error() {
    let advice = advice(&example("two-mass-force-displacement"), 5);
    let first = advice.first().expect("a choice");
    let update = ("schedule.output_update".to_owned(), "true".to_owned());
    assert_eq!(first.settings, [update]);
    assert!(first.error().is_some_and(|error| error < ROUNDING));
    assert_eq!(advice.present.stability, Some(Decision::Unstable));
    let run = advice.present.run.as_ref().expect("a run");
    let (interface, made) = run.interface.clone().expect("an interface");
    assert_eq!(interface, "left.fc<->right.x2");
    assert!(made > 1000.0, "{made}");
}

/// Two masses and three springs lose nothing. Extrapolated by parabolas over long steps they do, and no mode grows.
#[test]
fn a_stable_coupling_that_drifts_is_told() {
    let of = |file: &ModelFile| {
        let model = file.read().unwrap();
        let case = Case::of(&model, file);
        let mut advice = Advice::on(&case, None);
        assert_eq!(advice.decision(), Some(Decision::Stable));
        advice.look_for_drift(&case, Duration::from_secs(60));
        advice.drift
    };
    let file = example("two-mass-force-displacement").set("simulation.step", 1e-2);
    let bent = file.clone().set("schedule.predictor", "second-order");
    let drift = of(&bent).expect("it drifts");
    assert_eq!(drift.interface, "left.fc<->right.x2");
    assert_eq!(drift.seconds, 10.0);
    // What the stored energy lacks at the end beside that of the monolithic model.
    let compared = compare(&bent, &bent.read().unwrap(), &CompareOptions::default()).unwrap();
    let energy = compared.variants[0].energy.as_ref().expect("an energy");
    let (value, reference) = energy.last().expect("an end");
    let off = value - reference;
    assert!(off < -0.3 * reference, "{off}");
    assert!(
        (drift.made - off).abs() < 1e-9 * reference,
        "{drift:?} {off}"
    );
    assert_eq!(of(&file.set("schedule.output_update", true)), None);
}

#[test]
fn a_model_without_a_coupling_is_refused() {
    let file = example("bouncing-mass");
    let model = file.read().unwrap();
    let refused = advise(&file, &model, &AdvisorOptions::default());
    assert!(matches!(refused, Err(StudyError::NothingToAdvise { .. })));
}

#[test]
fn a_search_can_be_ended() {
    let file = example("two-mass-force-displacement");
    let cancel = Cancel::default();
    cancel.request();
    let options = AdvisorOptions {
        cancel: Some(&cancel),
        ..AdvisorOptions::default()
    };
    let ended = advise(&file, &file.read().unwrap(), &options);
    assert!(matches!(ended, Err(StudyError::Cancelled)));
}

#[test]
fn what_there_was_no_time_for_is_named() {
    let file = example("two-mass-force-displacement");
    let options = AdvisorOptions {
        granted: Duration::from_nanos(1),
        ..AdvisorOptions::default()
    };
    let advice = advise(&file, &file.read().unwrap(), &options).unwrap();
    assert!(advice.first().is_none());
    let reason = advice.not_predicted.expect("a reason");
    assert!(reason.contains("no time"), "{reason}");
    let named = |what: &String| what.contains("were not run");
    assert!(advice.not_tried.iter().any(named), "{:?}", advice.not_tried);
}

/// A copy of the pair in a folder of its own.
fn copy(folder: &tempfile::TempDir) -> (PathBuf, String) {
    let path = folder.path().join("model.toml");
    let text = fs::read_to_string(path_of("two-mass-force-displacement")).unwrap();
    fs::write(&path, &text).unwrap();
    (path, text)
}

#[test]
fn what_is_advised_is_written_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, text) = copy(&folder);
    let file = ModelFile::new(&path);
    let found = advice(&file, 5);
    let written = write_settings(&file, &found.first().unwrap().settings).unwrap();
    assert_eq!(written.lines, ["output_update = true"]);
    let expected = format!("{text}output_update = true\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    assert!(advice(&ModelFile::new(&path), 5).is_fine());
}

#[test]
fn a_file_that_cannot_be_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, text) = copy(&folder);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let settings = vec![("schedule.output_update".to_owned(), "true".to_owned())];
    let refused = write_settings(&ModelFile::new(&path), &settings).unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let nowhere = ModelFile::of_text("model", text);
    assert!(write_settings(&nowhere, &settings).is_err());
}
