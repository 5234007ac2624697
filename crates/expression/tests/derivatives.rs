//! Exact derivatives against closed forms and against differences.

use oldham_expression::{Expression, FUNCTIONS};

fn parse(text: &str) -> Expression {
    Expression::parse(text, &["x", "y"]).expect(text)
}

fn near(found: f64, expected: f64, text: &str) {
    let size = expected.abs().max(1.0);
    assert!(
        (found - expected).abs() < 1e-13 * size,
        "{text}: {found} is not {expected}"
    );
}

#[test]
fn derivatives_are_those_of_the_closed_form() {
    let (x, y) = (0.7_f64, 1.3_f64);
    let power = x.powf(y);
    for (text, first, second) in [
        ("x^3 - 2*x", 3.0 * x * x - 2.0, 6.0 * x),
        ("1/x", -1.0 / (x * x), 2.0 / (x * x * x)),
        ("x^y", y * power / x, y * (y - 1.0) * power / (x * x)),
        (
            "sin(x^2)",
            2.0 * x * (x * x).cos(),
            2.0 * (x * x).cos() - 4.0 * x * x * (x * x).sin(),
        ),
        ("exp(-y*x)", -y * (-y * x).exp(), y * y * (-y * x).exp()),
        (
            "y^x",
            power_of(y, x) * y.ln(),
            power_of(y, x) * y.ln().powi(2),
        ),
        (
            "atan2(x, y)",
            y / (x * x + y * y),
            -2.0 * x * y / (x * x + y * y).powi(2),
        ),
        ("hypot(x, y)", x / x.hypot(y), y * y / x.hypot(y).powi(3)),
        ("sqrt(x)/x", -0.5 * x.powf(-1.5), 0.75 * x.powf(-2.5)),
        ("if(x < 1, 3*x, x^9)", 3.0, 0.0),
        ("clamp(x, 0, 0.5)", 0.0, 0.0),
        ("deadzone(2*x, -1, 1)", 2.0, 0.0),
        ("max(x, x^2, 0.1)", 1.0, 0.0),
        ("mod(5*x, 1)", 5.0, 0.0),
        ("(x > 0) * x", 1.0, 0.0),
    ] {
        let jet = parse(text).with_derivatives(0, &[x, y]);
        near(jet.value, parse(text).eval(&[x, y]), text);
        near(jet.first, first, text);
        near(jet.second, second, text);
    }
}

fn power_of(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}

/// Central differences of sixth order, good to ten digits.
#[test]
fn every_function_is_differentiated_as_differences_are() {
    const STEP: f64 = 4e-3;
    const WEIGHTS: [(f64, f64, f64); 3] = [
        (1.0, 3.0 / 4.0, 3.0 / 2.0),
        (2.0, -3.0 / 20.0, -3.0 / 20.0),
        (3.0, 1.0 / 60.0, 1.0 / 90.0),
    ];
    for name in FUNCTIONS {
        let text = match name {
            "atan2" | "hypot" | "mod" | "max" | "min" => format!("{name}(x, 0.9)"),
            "clamp" | "deadzone" | "if" => format!("{name}(x, 0.2*x, 2*x)"),
            "acosh" => "acosh(1 + x)".to_owned(),
            _ => format!("{name}(x)"),
        };
        let function = parse(&text);
        let at = |x: f64| function.eval(&[x, 0.0]);
        let x = 0.37;
        let (mut first, mut second) = (0.0, -49.0 / 18.0 * at(x));
        for (place, odd, even) in WEIGHTS {
            let (above, below) = (at(x + place * STEP), at(x - place * STEP));
            first += odd * (above - below);
            second += even * (above + below);
        }
        let jet = function.with_derivatives(0, &[x, 0.0]);
        let (first, second) = (first / STEP, second / (STEP * STEP));
        assert!((jet.first - first).abs() < 1e-9, "{text}: {jet:?} {first}");
        assert!(
            (jet.second - second).abs() < 1e-7,
            "{text}: {jet:?} {second}"
        );
    }
}

#[test]
fn at_a_kink_the_derivative_is_the_one_ahead() {
    for (text, x, ahead) in [
        ("max(0, x - 1)", 1.0, 1.0),
        ("min(0, x - 1)", 1.0, 0.0),
        ("abs(x)", 0.0, 1.0),
        ("abs(-x)", 0.0, 1.0),
        ("-abs(x)", 0.0, -1.0),
        ("clamp(x, 0, 1)", 0.0, 1.0),
        ("clamp(x, 0, 1)", 1.0, 0.0),
        ("if(x >= 1, 5*x, x)", 1.0, 5.0),
    ] {
        assert_eq!(parse(text).derivative(0, &[x, 0.0]), ahead, "{text}");
    }
    // Going backwards, ahead is on the other side.
    let back = parse("max(0, x - 1)").along(&[1.0, 0.0], &[-1.0, 0.0]);
    assert_eq!(back.first, 0.0);
}

#[test]
fn several_variables_move_at_once() {
    let jet = parse("x*y").along(&[2.0, 3.0], &[5.0, 7.0]);
    assert_eq!((jet.value, jet.first, jet.second), (6.0, 29.0, 70.0));
}

#[test]
fn what_stands_still_has_no_slope_even_where_the_function_is_vertical() {
    let jet = parse("sqrt(0*y) + x").with_derivatives(0, &[1.0, 2.0]);
    assert_eq!((jet.first, jet.second), (1.0, 0.0));
    assert!(parse("sqrt(x)").derivative(0, &[0.0, 0.0]).is_infinite());
}

#[test]
fn affine_expressions_are_known() {
    let affine = |text: &str| parse(text).is_affine(&["y"]);
    for text in ["2*x + 1", "-(x - 3)/4", "x*2^3", "5", "x^1", "sin(2)*x"] {
        assert!(affine(text), "{text}");
    }
    for text in [
        "x^2",
        "x*x",
        "1/x",
        "y",
        "x + y",
        "abs(x)",
        "if(x > 0, x, x)",
    ] {
        assert!(!affine(text), "{text}");
    }
}
