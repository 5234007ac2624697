//! Cuts that are found against those that were made by hand.

use std::path::{Path, PathBuf};

use oldham_model::Model;
use oldham_study::{
    CutSearch, CutStability, ModelFile, PartitionError, StudyError, find_cut, mechanism_named,
};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
        .with_extension("toml")
}

/// A model without its cut.
fn uncut(name: &str, mechanism: &str) -> ModelFile {
    let file = ModelFile::new(example(name));
    let cut = format!("multibody.{mechanism}.cut");
    let without = file.clone().set(cut, "");
    match without.read() {
        Ok(_) => without,
        Err(_) => file,
    }
}

fn found(file: &ModelFile, mechanism: &str, parts: usize) -> Result<CutSearch, StudyError> {
    let model = file.read()?;
    find_cut(file, &model, Some(mechanism), parts, None, &mut |_| {})
}

/// How much faster a cut may be, by the load that `oldham partition` shows, and its number of parts.
fn speed_up(model: &Model, mechanism: &str) -> (f64, usize) {
    let mechanism = mechanism_named(model, Some(mechanism)).unwrap();
    let partition = mechanism.partition().unwrap();
    let parts = partition.pieces.iter().filter(|piece| !piece.is_coupling);
    (partition.speed_up(), parts.count())
}

/// The cuts of the examples were made by those who knew the models.
#[test]
fn never_much_worse_than_the_cuts_of_the_examples() {
    let mut cases = vec![
        ("cut-beam", "beam"),
        ("cut-beam-three", "beam"),
        ("rotor", "rotor"),
        ("cut-shell", "plate"),
        ("cut-double-pendulum", "pendulum"),
        ("cut-active-beam", "beam"),
        ("cut-chain", "chain"),
    ];
    // Some 20 s: its analysis takes longer than is granted.
    if std::env::var("OLDHAM_SOAK").is_ok() {
        cases.push(("formula-student", "car"));
    }
    for (name, mechanism) in cases {
        let by_hand = ModelFile::new(example(name)).read().unwrap();
        let (wanted, parts) = speed_up(&by_hand, mechanism);
        let file = uncut(name, mechanism);
        let found =
            found(&file, mechanism, parts).unwrap_or_else(|error| panic!("{name}: {error}"));
        let best = &found.cuts[0];
        let model = file.with(&[best.cut.setting()]).read().unwrap();
        let (reached, count) = speed_up(&model, mechanism);
        println!(
            "{name}: {:?} {reached:.3}, by hand {wanted:.3}",
            best.cut.at
        );
        assert_eq!(count, parts, "{name}");
        assert!(reached > wanted / 1.1, "{name}: {reached} against {wanted}");
        assert_ne!(best.stability, CutStability::Unstable, "{name}");
        assert!(
            best.measured.is_some_and(|step| step > 0.0),
            "{name}: it runs"
        );
    }
}

#[test]
fn the_same_is_found_every_time() {
    let file = uncut("cut-shell", "plate");
    let [a, b] = [(); 2].map(|()| found(&file, "plate", 2).unwrap());
    let cuts = |search: &CutSearch| -> Vec<_> {
        let cuts = search.cuts.iter();
        cuts.map(|it| (it.cut.clone(), it.expected)).collect()
    };
    assert_eq!(cuts(&a), cuts(&b));
    assert_eq!(a.searched, b.searched);
}

/// A serial arm of rigid bodies: the rule is named, and what runs in parallel as it is.
#[test]
fn a_rigid_arm_is_refused_with_the_rule_and_what_there_is_instead() {
    let file = ModelFile::new(example("robot-arm"));
    let error = found(&file, "arm", 2).unwrap_err();
    let StudyError::Partition(PartitionError::NoCut {
        reason, instead, ..
    }) = &error
    else {
        panic!("{error}");
    };
    assert!(reason.contains("rigid bodies"), "{reason}");
    assert!(reason.contains("joints alone"), "{reason}");
    assert!(instead.contains("`motors`"), "{instead}");
}

#[test]
fn more_parts_than_can_be_are_refused_with_the_most_that_can() {
    let file = uncut("rotor", "rotor");
    let error = found(&file, "rotor", 40).unwrap_err();
    let StudyError::Partition(PartitionError::TooManyParts { most, .. }) = &error else {
        panic!("{error}");
    };
    assert!((4..40).contains(most), "{most}");
    assert!(found(&file, "rotor", *most).is_ok());
}

#[test]
fn what_is_cut_already_is_not_cut_again() {
    let file = ModelFile::new(example("cut-beam"));
    let error = found(&file, "beam", 2).unwrap_err().to_string();
    assert!(error.contains("--set 'multibody.beam.cut='"), "{error}");
}
