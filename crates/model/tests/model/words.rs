//! What messages are made of.

use oldham_model::{Model, Overrides, Source, nearest, readable};

#[test]
fn slips_of_the_finger_find_their_name() {
    let keys = [
        "stiffness",
        "damping",
        "rest",
        "between",
        "force",
        "x1",
        "x2",
    ];
    let cases = [
        ("stifness", Some("stiffness")),
        ("stiff", Some("stiffness")),
        ("Damping", Some("damping")),
        ("bewteen", Some("between")),
        ("x3", Some("x1")),
        ("1x", Some("x1")),
        ("colour", None),
        ("y", None),
    ];
    for (written, expected) in cases {
        assert_eq!(nearest(written, keys), expected, "{written}");
    }
    assert_eq!(nearest("x", []), None);
}

#[test]
fn numbers_of_hundreds_of_digits_become_short() {
    let text = format!("is {}, not {} or x{}", 1e300, 1e-300, "1".repeat(40));
    let short = format!("is 1e300, not 1e-300 or x{}", "1".repeat(40));
    assert_eq!(readable(&text), short);
    assert_eq!(
        readable("0.001 s, 12.5 and `a_1.x`."),
        "0.001 s, 12.5 and `a_1.x`."
    );
    assert!(readable(&"wörter ".repeat(10_000)).len() < 4010);
}

#[test]
fn lines_and_columns_count_characters_from_one() {
    let source = Source::new("m.toml", "ä = 1\nöü = 2\n");
    let place = |span| source.locate(&span).to_string();
    assert_eq!(place(0..2), "m.toml:1:1");
    assert_eq!(place(5..6), "m.toml:1:5");
    assert_eq!(place(12..13), "m.toml:2:4");
    assert_eq!(place(8..9), "m.toml:2:1", "inside a character");
    assert_eq!(place(900..901), "m.toml:3:1", "past the end");
}

#[test]
fn a_file_of_nothing_but_mistakes_is_refused_as_a_whole() {
    let read = |text: String| Model::parse(&text, "m.toml", &Overrides::none()).unwrap_err();
    let problems = read("=\n".repeat(300_000));
    assert_eq!(problems.iter().len(), 1);
    assert!(problems.to_string().contains("mistakes of syntax"));
    assert!(read("=\n".repeat(20)).iter().len() > 1, "told one by one");
}
