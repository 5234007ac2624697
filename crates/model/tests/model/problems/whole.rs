//! What concerns a file as a whole.

use super::{GOOD, problems};

#[test]
fn syntax_errors_have_their_line() {
    for (text, line) in [
        ("[model\nname = 1", 1),
        ("a = 1\nb = ", 2),
        ("x = 'a\n", 1),
        ("a = 1\n\na = 2\n", 3),
    ] {
        let problems = problems(text);
        let first = problems.iter().next().expect("a problem");
        assert_eq!(problems.locate(first).line, line, "{problems}");
    }
}

#[test]
fn a_monolithic_model_that_is_asked_for_must_be_possible() {
    let law = GOOD.replace("stiffness = 100", "force = \"100 * d^3\"");
    let text = law + "[monolithic]\nintegrator = \"exact\"\n";
    let problems = problems(&text);
    assert!(problems.to_string().contains("nonlinear"), "{problems}");
}

#[test]
fn an_empty_file_says_what_is_missing() {
    let problems = problems("");
    let text = problems.to_string();
    for missing in [
        "`model` is missing",
        "`simulation` is missing",
        "no subsystem",
    ] {
        assert!(text.contains(missing), "{text}");
    }
}

/// Structure, names, numbers, references and wiring of one file, all at once and in its order.
#[test]
fn all_problems_are_reported_at_once() {
    let text = GOOD
        .replace("step = 1e-2", "step = -1e-2")
        .replace("mass = 1.0", "mass = -1.0")
        .replace("velocity = 1.0", "velocty = 1.0")
        .replace("[\"x1\", \"far\"]", "[\"x1\", \"fat\"]")
        .replace("left.fc", "left.fx")
        .replace("\"sin(t)\"", "\"sin(s)\"");
    let problems = problems(&text);
    let messages: Vec<_> = problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    let expected = [
        "must be positive",
        "unknown key `velocty`",
        "there is no node `fat`",
        "must be positive: it is a mass",
        "`s` is no parameter",
        "`left` has no output `fx`",
    ];
    assert_eq!(messages.len(), expected.len(), "{problems}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.contains(expected), "{message}");
    }
}

/// What was unreadable is reported once, and not a second time for being absent.
#[test]
fn one_mistake_makes_one_problem() {
    for (good, bad) in [
        ("stiffness = 100", "stiffness = true"),
        ("{ force = \"x2\" }", "{ forse = \"x2\" }"),
        ("{ motion = \"far\" }", "7"),
        ("x2 = { mass = 1.0 }", "x2 = 1.0"),
        ("[lumped.left.masses]", "[lumped.left.mases]"),
    ] {
        let problems = problems(&GOOD.replace(good, bad));
        assert_eq!(problems.iter().len(), 1, "{bad}:\n{problems}");
    }
}

#[test]
fn at_most_a_hundred_problems_are_listed() {
    let lines = (0..150).map(|i| format!("bad-{i:03} = \"unknown\"\n"));
    let text = GOOD.replace(
        "[parameters]\n",
        &("[parameters]\n".to_owned() + &lines.collect::<String>()),
    );
    let problems = problems(&text);
    assert_eq!(problems.iter().len(), oldham_model::MAX_PROBLEMS);
    assert_eq!(problems.unlisted(), 200);
    assert!(problems.to_string().ends_with("and 200 more"));
}
