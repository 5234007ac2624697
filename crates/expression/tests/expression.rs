//! Expressions against the rules of written mathematics and against Rust's own functions.

use oldham_expression::{Expression, ExpressionError, MAX_DEPTH, MAX_LENGTH};

fn value(text: &str) -> f64 {
    let expression = Expression::parse(text, &[]).expect(text);
    expression.constant().expect("no variables")
}

fn error(text: &str) -> ExpressionError {
    Expression::parse(text, &["d", "v"]).expect_err(text)
}

#[test]
fn operators_bind_as_in_written_mathematics() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("2-3+4", 3.0),
        ("2-3-4", -5.0),
        ("8/2*4", 16.0),
        ("8/2/4", 1.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("(-2)^2", 4.0),
        ("--3", 3.0),
        ("2*-3", -6.0),
        ("1e-3", 1e-3),
        ("2E+3", 2e3),
        (".5", 0.5),
        ("2.", 2.0),
        ("max(min(1, 2), max(3, 4))*2", 8.0),
        ("1 + min(4, max(2, 3))", 4.0),
        ("sgn(0) + sign(-3) + step(0)", 0.0),
        ("step(-1e-300)", 0.0),
        ("\t1\n+ 1 ", 2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_and_constants_are_those_of_rust() {
    let x: f64 = 0.3;
    let at = |text: &str| Expression::parse(text, &["x"]).expect(text).eval(&[x]);
    assert_eq!(at("sin(x)+cos(x)"), x.sin() + x.cos());
    assert_eq!(at("tan(x)*asin(x)"), x.tan() * x.asin());
    assert_eq!(at("acos(x)-atan(x)"), x.acos() - x.atan());
    assert_eq!(at("atan2(x, -1)"), x.atan2(-1.0));
    assert_eq!(at("sqrt(x)/cbrt(x)"), x.sqrt() / x.cbrt());
    assert_eq!(at("exp(x)+ln(x)+log(x)"), x.exp() + x.ln() + x.ln());
    assert_eq!(at("log10(x)"), x.log10());
    assert_eq!(
        at("tanh(x)+sinh(x)+cosh(x)"),
        x.tanh() + x.sinh() + x.cosh()
    );
    assert_eq!(at("floor(x)+ceil(x)+abs(-x)"), 1.0 + x);
    assert_eq!(at("x^2.5"), x.powf(2.5));
    assert!((at("x^3 + x^-2") - (x * x * x + 1.0 / (x * x))).abs() < 1e-14);
    assert_eq!(value("pi"), std::f64::consts::PI);
    assert_eq!(value("ln(e)"), 1.0);
}

#[test]
fn values_are_matched_by_the_callers_order() {
    let law = Expression::parse("zeta - 2*alpha", &["zeta", "unused", "alpha"]).unwrap();
    assert_eq!(law.eval(&[10.0, f64::NAN, 3.0]), 4.0);
    assert_eq!(law.variables_used().collect::<Vec<_>>(), ["zeta", "alpha"]);
    assert!(law.uses("alpha") && !law.uses("unused"));
    assert_eq!(law.constant(), None);
    assert_eq!(law.text(), "zeta - 2*alpha");
}

#[test]
fn a_variable_may_shadow_a_constant_or_begin_like_a_function() {
    let law = Expression::parse("e + maximum + sin", &["e", "maximum", "sin"]).unwrap();
    assert_eq!(law.eval(&[1.0, 2.0, 3.0]), 6.0);
}

#[test]
fn a_division_by_zero_is_infinite_and_no_error() {
    assert_eq!(value("1/0"), f64::INFINITY);
    assert!(value("0/0").is_nan());
}

#[test]
fn unknown_names_come_with_the_allowed_ones() {
    let ExpressionError::UnknownVariable {
        name,
        position,
        allowed,
    } = error("2*d + vv")
    else {
        panic!("wrong kind of error");
    };
    assert_eq!((name.as_str(), position), ("vv", 7));
    assert_eq!(allowed, ["d", "v", "pi", "e"]);
    assert!(matches!(
        error("sinus(d)"),
        ExpressionError::UnknownFunction { position: 1, .. }
    ));
}

#[test]
fn mistakes_are_named_with_their_place() {
    use ExpressionError as E;
    assert_eq!(error(""), E::Empty);
    assert_eq!(error(" \t "), E::Empty);
    assert!(matches!(error("d d"), E::Unexpected { position: 3, .. }));
    assert!(matches!(error("2 d"), E::Unexpected { position: 3, .. }));
    assert!(matches!(error("d)"), E::Unexpected { position: 2, .. }));
    assert!(matches!(error("()"), E::Unexpected { position: 2, .. }));
    assert!(matches!(error("(d, v)"), E::Unexpected { position: 3, .. }));
    assert!(matches!(error("d*/v"), E::Unexpected { position: 3, .. }));
    assert!(matches!(error("(d"), E::UnexpectedEnd { .. }));
    assert!(matches!(error("d+"), E::UnexpectedEnd { .. }));
    assert!(matches!(error("1.2.3"), E::BadNumber { position: 1, .. }));
    assert!(matches!(error("d+1e"), E::BadNumber { position: 3, .. }));
    assert!(matches!(
        error("d+€"),
        E::UnexpectedCharacter {
            character: '€',
            position: 3
        }
    ));
    assert!(matches!(
        error("αβ*2"),
        E::UnknownVariable { position: 1, .. }
    ));
    assert!(matches!(
        error("αβ€"),
        E::UnexpectedCharacter { position: 3, .. }
    ));
    assert!(matches!(
        error("max(d)"),
        E::WrongArgumentCount {
            expected: "2 arguments or more",
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        error("sin()"),
        E::WrongArgumentCount {
            expected: "1 argument",
            found: 0,
            ..
        }
    ));
    assert!(matches!(
        error("sin(d,v)"),
        E::WrongArgumentCount {
            expected: "1 argument",
            found: 2,
            ..
        }
    ));
}

#[test]
fn conditions_are_one_or_zero() {
    for (text, expected) in [
        ("1 < 2", 1.0),
        ("2 <= 1", 0.0),
        ("2 >= 2", 1.0),
        ("1 + 1 == 2", 1.0),
        ("1 != 1", 0.0),
        ("1 > 2 or 2 > 1 and 1 > 2", 0.0),
        ("not 1 > 2 and 3 > 2", 1.0),
        ("not not 5", 1.0),
        ("-(2 > 1)", -1.0),
        ("if(2 > 1 and 3 > 1, 10, 20)", 10.0),
        ("if(0, 1/0, 7)", 7.0),
        ("clamp(5, -1, 1) + clamp(-5, -1, 1)", 0.0),
        (
            "deadzone(5, -1, 1) + deadzone(0.3, -1, 1) - deadzone(-3, -1, 1)",
            6.0,
        ),
        ("min(3, 1, 2) + max(1, 4, 2, 3)", 5.0),
        ("mod(-1, 3) + mod(7, 3)", 3.0),
        ("round(2.6) + hypot(3, 4)", 8.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn mistakes_in_conditions_say_what_to_write() {
    use ExpressionError as E;
    assert!(matches!(error("d = 1"), E::SingleEquals { position: 3 }));
    assert!(matches!(
        error("0 < d < 1"),
        E::ChainedComparison { position: 7 }
    ));
    assert!(matches!(error("d ! 1"), E::Unexpected { position: 3, .. }));
    assert!(matches!(error("d and"), E::UnexpectedEnd { .. }));
    assert!(matches!(
        error("and(d, v)"),
        E::Unexpected { position: 1, .. }
    ));
    assert!(matches!(
        error("if(d, v)"),
        E::WrongArgumentCount { found: 2, .. }
    ));
}

#[test]
fn unicode_names_are_variables() {
    let law = Expression::parse("2*Δℓ", &["Δℓ"]).unwrap();
    assert_eq!(law.eval(&[1.5]), 3.0);
}

#[test]
fn overlong_and_overdeep_texts_are_refused_without_a_stack_overflow() {
    let long = "1+".repeat(MAX_LENGTH / 2) + "1";
    assert!(matches!(error(&long), ExpressionError::TooLong { .. }));
    assert!(matches!(
        error(&"(".repeat(100_000)),
        ExpressionError::TooLong { .. }
    ));
    for piece in ["(", "sin(", "2^", "max(d,", "-(", "not "] {
        let deep = piece.repeat(MAX_DEPTH + 1);
        assert!(
            matches!(error(&deep), ExpressionError::TooDeep { .. }),
            "{piece}"
        );
    }
}

/// The worst that the limits let through: several pending operands at every level.
#[test]
fn the_deepest_accepted_nesting_evaluates() {
    let levels = MAX_DEPTH / 2;
    let text = "1+0*d^max(d,".repeat(levels) + "d" + &")".repeat(levels);
    let law = Expression::parse(&text, &["d"]).unwrap();
    assert_eq!(law.eval(&[2.0]), 1.0);
    assert_eq!(value(&("-".repeat(MAX_LENGTH - 1) + "1")), -1.0);
    assert_eq!(
        value(&("1+".repeat(MAX_LENGTH / 2 - 1) + "1")),
        (MAX_LENGTH / 2) as f64
    );
}

#[test]
fn expressions_can_be_sent_to_another_thread() {
    fn assert_send<T: Send + Sync>() {}
    assert_send::<Expression>();
}
