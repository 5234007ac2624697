//! Poles of co-simulated systems against `papers/oracles/tamellin_poles.py`: exact roots of the transcendental equations of
//! Tamellin 2022 with a zero-order hold.

use oldham_model::{Model, Overrides};
use oldham_stability::{CoupledModel, Extrapolator};

fn coupled(file: &str) -> CoupledModel {
    let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
    let model = Model::read(path.as_ref(), &Overrides::none()).unwrap_or_else(|p| panic!("{p}"));
    CoupledModel::of(&mut model.simulation().unwrap()).unwrap()
}

/// Each mode's real and imaginary part, to the digits given.
fn check(file: &str, period: f64, expected: &[(f64, Option<f64>)], digits: f64) {
    let model = coupled(file);
    let poles = model.monolithic();
    assert_eq!(poles.len(), expected.len());
    for (start, (re, im)) in poles.iter().zip(expected) {
        for pade in [None, Some(6)] {
            let extrapolator = Extrapolator {
                pade,
                ..Extrapolator::hold(0, period)
            };
            let pole = model.primary(*start, extrapolator).unwrap();
            assert!(
                (pole.re - re).abs() < digits,
                "{file}: {pole} instead of {re}"
            );
            if let Some(im) = im {
                assert!(
                    (pole.im - im).abs() < 6e-4,
                    "{file}: {pole} instead of {im}"
                );
            }
        }
    }
}

#[test]
fn the_undamped_pair_at_1_ms() {
    let file = "two-mass-force-displacement.toml";
    check(
        file,
        1e-3,
        &[(-0.00446, Some(10.0)), (0.0544, Some(33.316))],
        6e-5,
    );
}

#[test]
fn the_damped_pair_at_1_and_4_ms() {
    check(
        "two-mass-damped.toml",
        1e-3,
        &[(-0.0946, None), (-0.0554, None)],
        6e-5,
    );
    check(
        "two-mass-damped.toml",
        4e-3,
        &[(-0.108, None), (0.107, None)],
        6e-4,
    );
}

#[test]
fn the_chain_of_four_at_3_ms() {
    let expected = [
        (-0.0118, None),
        (0.0305, None),
        (0.0175, None),
        (0.0632, None),
    ];
    check("four-mass-chain.toml", 3e-3, &expected, 6e-5);
}

#[test]
fn monolithic_poles_are_those_of_the_paper() {
    let poles = coupled("two-mass-damped.toml").monolithic();
    for (pole, (re, im)) in poles.iter().zip([(-0.0901, 9.9996), (-0.1099, 33.316)]) {
        assert!(
            (pole.re - re).abs() < 6e-5 && (pole.im - im).abs() < 6e-4,
            "{pole}"
        );
    }
}

/// Latent roots satisfy the equation and lie in the left half plane for this system.
#[test]
fn latent_roots_of_the_pair_are_stable() {
    let model = coupled("two-mass-force-displacement.toml");
    let latent = model.latent(Extrapolator::hold(0, 1e-3), 2);
    assert!(!latent.is_empty());
    assert!(latent.iter().all(|root| root.re < 0.0), "{latent:?}");
}

/// Shapes as Tamellin et al. (2022) print them in Table 1: 0.9950 and 0.0995, and the same the other way round with the other
/// sign.
#[test]
fn modes_have_the_printed_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let model = examples.join("two-mass-force-displacement.toml");
    let oldham = |more: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_oldham"));
        let command = command.current_dir(folder.path()).arg("poles");
        let output = command.arg(&model).arg(more).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let answer: serde_json::Value = serde_json::from_str(&oldham("--json")).unwrap();
    let names = answer["displacements"].as_array().unwrap();
    assert_eq!(names.len(), 2, "{names:?}");
    let expected = [[1.0, 0.0995 / 0.9950], [-0.0995 / 0.9950, 1.0]];
    for (mode, expected) in expected.into_iter().enumerate() {
        for (mass, expected) in expected.into_iter().enumerate() {
            let value = &answer["shapes"][mode]["monolithic"][mass];
            let [re, im] = [0, 1].map(|part| value[part].as_f64().unwrap());
            assert!(
                (re - expected).abs() < 2e-4 && im.abs() < 1e-9,
                "{mode}, {mass}: {re} {im}"
            );
        }
    }
    let text = oldham("--shapes");
    assert!(
        text.contains("left.x1") && text.contains("0.10000"),
        "{text}"
    );
}
