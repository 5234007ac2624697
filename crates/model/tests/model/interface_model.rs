//! Fast subsystems that are fed by an interface model of a mechanism.

use crate::common::{History, coupled, example, read};

/// The manipulator with other settings.
fn manipulator(changes: &[(&str, &str)]) -> String {
    let mut text = example("hydraulic-manipulator");
    let model = ("predictor = \"dmd\"", "predictor = \"interface-model\"");
    for (from, to) in [model].iter().chain(changes) {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    text
}

fn lengths(run: &History) -> Vec<f64> {
    run.column("arm.lift.length")
}

/// At 20 ms a hold is unstable (Pikulinski et al., Sect. 3.3); with the model the arm moves as it does
/// in steps of 1 ms, and closer the shorter the step.
#[test]
fn long_steps_are_stable_with_the_interface_model() {
    let at = |step: &str| {
        let text = manipulator(&[
            ("step = 0.012", &format!("step = {step}")),
            ("duration = 9.996", "duration = 6.0"),
        ]);
        coupled(&read(&text).unwrap())
    };
    let reference = at("1e-3");
    let error = |step: &str, every: usize| {
        let found = lengths(&at(step));
        let expected = lengths(&reference);
        let expected = expected.iter().step_by(every);
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max)
    };
    let (short, long) = (error("5e-3", 5), error("0.02", 20));
    assert!(long < 0.01, "{long}");
    assert!(short < 0.5 * long, "{short} {long}");
}

fn refusal(changes: &[(&str, &str)]) -> String {
    match read(&manipulator(changes)).and_then(|model| model.simulation()) {
        Err(problems) => problems.to_string(),
        Ok(_) => panic!("a model with problems"),
    }
}

#[test]
fn what_cannot_be_modelled_is_refused_with_a_remedy() {
    let implicit = "[schedule]\ncoupling = \"implicit\"\n\n[excitation]";
    let told = refusal(&[("[excitation]", implicit)]);
    assert!(told.contains("use explicit coupling"), "{told}");
    let late = "[schedule]\nkind = \"gauss-seidel\"\norder = [\"arm\", \"oil\"]\n\n[excitation]";
    let told = refusal(&[("[excitation]", late)]);
    assert!(told.contains("let it advance first"), "{told}");
    let lost = refusal(&[
        (
            "[[connection]]\nfrom = \"arm.lift.length\"\nto = \"oil.lift.length\"\n",
            "",
        ),
        ("[excitation]", "[excitation]\n\"oil.lift.length\" = 0.5"),
    ]);
    assert!(
        lost.contains("sends no force whose motion it receives"),
        "{lost}"
    );
}

/// First the oil, then the arm with the force at the end of the step: closer than both at once.
#[test]
fn one_after_the_other_is_closer_than_both_at_once() {
    let text = |step: &str, kind: &str| {
        manipulator(&[
            ("step = 0.012", &format!("step = {step}")),
            ("duration = 9.996", "duration = 2.0"),
            (
                "[excitation]",
                &format!("[schedule]\n{kind}\n\n[excitation]"),
            ),
        ])
    };
    let run = |text: &str| lengths(&coupled(&read(text).unwrap()));
    let (together, after) = (
        "kind = \"jacobi\"",
        "kind = \"gauss-seidel\"\norder = [\"oil\", \"arm\"]",
    );
    let reference = run(&text("4e-4", after));
    let error = |kind: &str| {
        let found = run(&text("0.01", kind));
        let pairs = found.iter().zip(reference.iter().step_by(25));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (jacobi, sequential) = (error(together), error(after));
    assert!(sequential < jacobi, "{sequential} {jacobi}");
}
