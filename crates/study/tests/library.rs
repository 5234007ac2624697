//! What the command does, done by a library user.

use oldham_cosim::Cancel;
use oldham_results::read;
use oldham_study::{
    CompareOptions, ModelFile, PreparedRun, Range, RunOptions, Scheme, StabilityStudy, StudyError,
    Variation, checkpoint_path, compare, solve_in_memory,
};

fn example(name: &str) -> ModelFile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    ModelFile::new(format!("{folder}/{name}.toml"))
}

#[test]
fn a_run_continues_where_another_ended() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, first, rest] = ["whole", "first", "rest"].map(|name| folder.path().join(name));
    let [whole, first, rest] = [whole, first, rest].map(|path| path.with_extension("csv"));
    let file = example("two-mass-tight").set("simulation.duration", 2.0);
    let solve = |file: &ModelFile, out: &std::path::Path, options: RunOptions| {
        let model = file.read().unwrap();
        let run = PreparedRun::new(file, &model, out, &options).unwrap();
        assert_eq!(run.solve(None, &mut |_| {}).unwrap().status(), "finished");
        read(out).unwrap()
    };
    let whole = solve(&file, &whole, RunOptions::default());
    let save = RunOptions {
        checkpoint_every: Some(1.0),
        ..RunOptions::default()
    };
    let half = file.clone().set("simulation.duration", 1.0);
    solve(&half, &first, save);
    let go_on = RunOptions {
        resume: Some(checkpoint_path(&first)),
        ..RunOptions::default()
    };
    let rest = solve(&file, &rest, go_on);
    let last = |table: &oldham_results::Table| {
        let names = table.names().filter(|name| !name.starts_with("exchange."));
        let value = |name| *table.column(name).unwrap().last().unwrap();
        names.map(value).collect::<Vec<f64>>()
    };
    assert_eq!(whole.time().last(), rest.time().last());
    assert_eq!(last(&whole), last(&rest));
}

#[test]
fn a_finished_state_leaves_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run.csv");
    let file = example("two-mass-tight").set("simulation.duration", 1.0);
    let model = file.read().unwrap();
    let save = RunOptions {
        checkpoint_every: Some(1.0),
        ..RunOptions::default()
    };
    let run = PreparedRun::new(&file, &model, &out, &save).unwrap();
    run.solve(None, &mut |_| {}).unwrap();
    let again = RunOptions {
        resume: Some(checkpoint_path(&out)),
        force: true,
        ..RunOptions::default()
    };
    let refused = PreparedRun::new(&file, &model, &out, &again).err();
    assert!(matches!(refused, Some(StudyError::NothingLeft { .. })));
}

#[test]
fn whoever_cancels_is_obeyed() {
    let cancel = Cancel::default();
    cancel.request();
    let file = example("two-mass-tight");
    let model = file.read().unwrap();
    let options = CompareOptions {
        cancel: Some(&cancel),
        ..CompareOptions::default()
    };
    let compared = compare(&file, &model, &options);
    assert!(matches!(compared, Err(StudyError::Cancelled)));
    let solved = solve_in_memory(&model, 1, Some(&cancel), &mut |_| {});
    assert!(matches!(solved, Err(StudyError::Cancelled)));
}

#[test]
fn a_text_is_a_model_file_too() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let text = std::fs::read_to_string(format!("{folder}/two-mass-damped.toml")).unwrap();
    // ANCHOR: compare
    let file = ModelFile::of_text("typed in", text);
    let model = file.read().unwrap();
    let vary = [Variation::list("kc", [100, 200])];
    let options = CompareOptions {
        vary: &vary,
        ..CompareOptions::default()
    };
    let comparison = compare(&file, &model, &options).unwrap();
    for variant in &comparison.variants {
        let worst = variant.worst().expect("a signal");
        println!("{}: {:?} of {}", variant.name, worst.error, worst.name);
    }
    // ANCHOR_END: compare
    let answer = serde_json::to_value(&comparison).unwrap();
    assert_eq!(answer["reference"], "monolithic");
    assert_eq!(answer["variants"][1]["set"][0], "kc=200");
    assert!(answer["variants"][0]["error"].as_f64().unwrap() < 1.0);
}

#[test]
fn borders_and_maps_come_as_data() {
    let file = example("two-mass-damped");
    let model = file.read().unwrap();
    let updated = Scheme::parse("schedule.output_update=true").unwrap();
    let study = StabilityStudy::new(&file, &model, vec![updated], false).unwrap();
    let steps = Range::between("simulation.step", 1e-4, 1e-1);
    let borders = study.borders(&steps).unwrap();
    let [own, updated] = borders.schemes.as_slice() else {
        panic!("two schemes");
    };
    assert!(updated.critical() != own.critical(), "{borders:?}");
    let [x, y] = [("kc", 10.0, 1e3), ("m2", 0.1, 10.0)]
        .map(|(key, low, high)| Range::between(key, low, high).points(3));
    let map = study.map(&x, &y, &|_| {}).unwrap();
    let answer = serde_json::to_value(&map).unwrap();
    assert_eq!(answer["maps"][0]["points"], 9);
    assert!(map.figure().to_svg().contains("as in the file"));
    let unknown = study.curve(&Range::around("nothing"), &|_| {}).unwrap_err();
    assert!(matches!(unknown, StudyError::Unknown { .. }));
    assert!(Scheme::parse("nothing").is_err());
}

/// Two servos that command each other: the sum of their positions stays, the difference decays.
const SERVOS: &str = r#"
model.name = "Servos"
[parameters]
T = 0.2
[simulation]
duration = 1.0
step = 0.1
[servo.one]
lag = "T"
start = 1.0
[servo.two]
lag = "T"
[[connection]]
from = "one.position"
to = "two.command"
[[connection]]
from = "two.position"
to = "one.command"
"#;

#[test]
fn studies_read_models_with_extensions_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servos.toml");
    std::fs::write(&path, SERVOS).unwrap();
    assert!(ModelFile::new(&path).read().is_err());
    for file in [ModelFile::new(&path), ModelFile::of_text("servos", SERVOS)] {
        let file = file.with_extensions(oldham_outside_test::extensions());
        let model = file.read().unwrap();
        let study = StabilityStudy::new(&file, &model, Vec::new(), false).unwrap();
        let range = Range::between("T", 0.1, 0.4).points(3);
        let curve = study.curve(&range, &|_| {}).unwrap();
        let [radii] = curve.schemes.as_slice() else {
            panic!("one scheme");
        };
        let is_one = |radius: &f64| (radius - 1.0).abs() < 1e-6;
        assert!(radii.radius.iter().all(is_one), "{radii:?}");
        let vary = [Variation::list("T", [0.2, 0.3])];
        let options = CompareOptions {
            vary: &vary,
            reference: Some("converged"),
            ..CompareOptions::default()
        };
        let comparison = compare(&file, &model, &options).unwrap();
        assert_eq!(comparison.variants.len(), 2);
    }
}
