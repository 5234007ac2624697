//! `--set key=value`.

use oldham_model::{Model, Overrides, Problems};

use crate::common::example;

fn set(pairs: &[(&str, &str)]) -> Result<Model, Problems> {
    let pairs = pairs
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let text = example("two-mass-force-displacement");
    Model::parse(&text, "test.toml", &Overrides(pairs.collect()))
}

#[test]
fn values_are_replaced_wherever_they_are() {
    let model = set(&[
        ("simulation.step", "0.01"),
        ("simulation.duration", "\"50 * m1\""),
        ("m1", "2"),
        ("schedule.predictor", "first-order"),
        ("lumped.left.micro_steps", "4"),
        ("simulation.threads", "2"),
        ("record.signals", "[\"left.x1.x\"]"),
    ]);
    let model = model.unwrap();
    assert_eq!(
        (model.step(), model.duration(), model.steps()),
        (0.01, 100.0, 10_000)
    );
    assert_eq!(model.threads(), 2);
    assert_eq!(model.signals().unwrap().count(), 1);
}

/// What is no TOML value is a text: an expression or a word without quotes.
#[test]
fn quotes_can_be_left_out() {
    let model = set(&[
        ("simulation.duration", "2 * m1"),
        ("model.name", "Renamed, twice"),
    ]);
    let model = model.unwrap();
    assert_eq!((model.duration(), model.name()), (2.0, "Renamed, twice"));
}

#[test]
fn the_last_of_several_overrides_holds() {
    let model = set(&[("simulation.step", "0.5"), ("simulation.step", "0.25")]).unwrap();
    assert_eq!(model.steps(), 40);
}

#[test]
fn problems_point_at_the_override() {
    let cases = [
        ("simulation.step", "-1", 17, "must be positive", ""),
        (
            "simulation.stp",
            "1",
            12,
            "unknown key `stp`",
            "did you mean `step`?",
        ),
        (
            "schedule.kind",
            "jacobbi",
            15,
            "cannot be `jacobbi`",
            "did you mean `jacobi`?",
        ),
        ("k11", "3", 1, "no parameter `k11`", "did you mean `k1`?"),
        (
            "step",
            "1",
            1,
            "no parameter `step`",
            "did you mean `simulation.step`?",
        ),
        (
            "parameters.kk",
            "3",
            12,
            "nothing called `kk`",
            "did you mean `k",
        ),
        (
            "lumped.lift.micro_steps",
            "3",
            8,
            "nothing called `lift`",
            "did you mean `left`?",
        ),
        (
            "lumped.left.masses.x1.mass",
            "1 +",
            28,
            "the expression ends",
            "",
        ),
        (
            "lumped.left.masses.x1.mass",
            "m1 + mm",
            33,
            "`mm` is no parameter",
            "",
        ),
        ("simulation.step.x", "1", 12, "`step` is no table", ""),
        (
            "excitation",
            "{ \"right.push\" = 1 }",
            14,
            "is fed twice",
            "`left.fc`",
        ),
        ("record.signals", "[1]", 17, "must be a string", ""),
        ("a b", "1", 1, "`a b` is no key", ""),
        ("", "1", 1, "`` is no key", ""),
        ("a=1\nb", "1", 1, "is no key", ""),
    ];
    for (key, value, column, message, help) in cases {
        let problems = set(&[("m2", "1"), (key, value)]).expect_err(key);
        let found = problems.iter().any(|problem| {
            let place = problems.locate(problem);
            place.name == "--set"
                && place.text == format!("{key}={value}")
                && place.column == column
                && problem.message.contains(message)
                && problem.help.as_deref().unwrap_or_default().contains(help)
        });
        assert!(
            found && problems.iter().len() == 1,
            "{key}={value}:\n{problems}"
        );
    }
}

#[test]
fn ports_can_be_given_in_tables_that_name_ports() {
    let tolerance = ("schedule.implicit.ports.\"left.fc\"", "1e-6");
    assert!(set(&[("schedule.coupling", "implicit"), tolerance]).is_ok());
}

/// Another kind may be tried without touching the file's list; a list that is given beside a kind
/// that does not look at it is a mistake.
#[test]
fn a_list_that_the_given_kind_ignores_is_told() {
    let order = ("schedule.order", r#"["right", "left"]"#);
    assert!(set(&[order, ("schedule.kind", "gauss-seidel")]).is_ok());
    for kind in [&[][..], &[("schedule.kind", "jacobi")]] {
        let problems = set(&[&[order], kind].concat()).unwrap_err().to_string();
        assert!(problems.contains("`order` has no meaning"), "{problems}");
    }
}
