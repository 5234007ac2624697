//! Tables against the values of another program and against the functions they sample.

use std::sync::Arc;

use oldham_expression::{Expression, ExpressionError, Interpolation, Outside, Table, TableError};

const X: [f64; 5] = [0.0, 1.0, 2.5, 3.0, 5.0];
const Y: [f64; 5] = [0.0, 2.0, 2.5, 1.0, 1.5];

/// The value, its slope and its second derivative at some places: `data/pchip.py`, whose output is `data/pchip.txt`.
const SCIPY: [(f64, [f64; 3]); 4] = [
    (
        0.3,
        [0.7861999999999999, 2.5086666666666666, -1.1866666666666674],
    ),
    (
        1.7,
        [
            2.3445037037037038,
            0.36977777777777776,
            -0.39111111111111113,
        ],
    ),
    (
        2.9,
        [1.1560000000000006, -2.8800000000000026, 21.599999999999987],
    ),
    (4.2, [1.108, 0.2700000000000001, 0.45000000000000007]),
];

fn cubic(outside: Outside) -> Table {
    Table::new(&X, &Y, Interpolation::Cubic, outside).unwrap()
}

/// Values, slopes and second derivatives of `scipy.interpolate.PchipInterpolator` 1.x.
#[test]
fn cubics_are_those_of_scipy() {
    let table = cubic(Outside::Hold);
    for (x, expected) in SCIPY {
        let found = table.with_derivatives(x);
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-13, "{x}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn cubics_never_overshoot() {
    let table = cubic(Outside::Hold);
    for k in 0..=1000 {
        let x = 5.0 * f64::from(k) / 1000.0;
        let after = X.partition_point(|&point| point <= x).clamp(1, 4);
        let (low, high) = (Y[after - 1].min(Y[after]), Y[after - 1].max(Y[after]));
        let value = table.at(x);
        assert!((low - 1e-14..=high + 1e-14).contains(&value), "{x} {value}");
    }
}

#[test]
fn straight_lines_between_and_what_is_told_beyond() {
    let table = |outside| Table::new(&X, &Y, Interpolation::Linear, outside).unwrap();
    let hold = table(Outside::Hold);
    assert_eq!(hold.with_derivatives(0.5), [1.0, 2.0, 0.0]);
    let ahead = hold.with_derivatives(1.0)[1];
    assert!((ahead - 1.0 / 3.0).abs() < 1e-15, "{ahead}");
    assert_eq!(hold.with_derivatives(-1.0), [0.0; 3]);
    assert_eq!(hold.at(7.0), 1.5);
    let on = table(Outside::Extrapolate);
    assert_eq!(on.with_derivatives(-1.0), [-2.0, 2.0, 0.0]);
    assert_eq!(on.with_derivatives(7.0), [2.0, 0.25, 0.0]);
    let refuse = table(Outside::Refuse);
    assert!(refuse.at(5.1).is_nan() && refuse.at(-0.1).is_nan());
    assert_eq!((refuse.at(0.0), refuse.at(5.0)), (0.0, 1.5));
    let steep = cubic(Outside::Extrapolate);
    let [end, slope, _] = steep.with_derivatives(5.0);
    assert!((steep.at(6.0) - (end + slope)).abs() < 1e-14);
}

/// Bilinear patches hold a bilinear function; cubic ones hold the slopes of a monotone one better
/// than its samples, and converge.
#[test]
fn maps_of_two_numbers() {
    let bilinear = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y + 0.5 * x * y;
    let (x, y) = ([0.0, 1.0, 3.0], [-1.0, 0.0, 2.0, 4.0]);
    let sample = |f: &dyn Fn(f64, f64) -> f64, x: &[f64], y: &[f64]| -> Vec<f64> {
        x.iter()
            .flat_map(|&x| y.iter().map(move |&y| f(x, y)))
            .collect()
    };
    let values = sample(&bilinear, &x, &y);
    let map = Table::map(&x, &y, &values, Interpolation::Linear, Outside::Extrapolate).unwrap();
    for (x, y) in [(0.5, 0.5), (2.9, -0.3), (1.0, 2.0), (4.0, 5.0), (-1.0, 1.0)] {
        assert!(
            (map.at_both(x, y) - bilinear(x, y)).abs() < 1e-13,
            "{x} {y}"
        );
    }
    let law = Expression::parse_with("f(d, v)", &["d", "v"], &[("f", Arc::new(map))]).unwrap();
    let jet = law.along(&[0.5, 0.5], &[1.0, 2.0]);
    assert!((jet.first - (2.25 - 2.0 * 2.75)).abs() < 1e-13);
    assert!((jet.second - 2.0).abs() < 1e-13, "2 f_xy x' y'");

    let smooth = |x: f64, y: f64| (0.3 * x + 0.2 * y).exp();
    let mut errors = Vec::new();
    for n in [8, 16, 32] {
        let axis: Vec<f64> = (0..=n).map(|i| 4.0 * f64::from(i) / f64::from(n)).collect();
        let values = sample(&smooth, &axis, &axis);
        let map = Table::map(&axis, &axis, &values, Interpolation::Cubic, Outside::Refuse).unwrap();
        let error = |x: f64, y: f64| (map.at_both(x, y) - smooth(x, y)).abs();
        errors.push(error(1.23, 2.71).max(error(2.345, 0.777)));
    }
    assert!(
        errors[0] < 1e-3 && errors[2] < errors[0] / 20.0,
        "{errors:?}"
    );
}

#[test]
fn a_table_is_called_by_its_name() {
    let road = Arc::new(Table::new(&X, &Y, Interpolation::Linear, Outside::Hold).unwrap());
    let tables = [("road", road)];
    let parse = |text: &str| Expression::parse_with(text, &["t"], &tables);
    assert_eq!(parse("2*road(t - 1)").unwrap().eval(&[1.5]), 2.0);
    assert_eq!(parse("road(0.5)").unwrap().constant(), Some(1.0));
    assert!(matches!(
        parse("road(t, t)").unwrap_err(),
        ExpressionError::WrongArgumentCount { found: 2, .. }
    ));
    let unknown = parse("raod(t)").unwrap_err();
    assert!(unknown.to_string().ends_with("tanh, road"), "{unknown}");
}

#[test]
fn what_makes_no_table_is_refused() {
    let make = |x: &[f64], y: &[f64]| Table::new(x, y, Interpolation::Linear, Outside::Hold);
    assert_eq!(make(&[0.0], &[1.0]).unwrap_err(), TableError::TooFew(1));
    let falling = make(&[0.0, 1.0, 1.0], &[0.0; 3]).unwrap_err();
    assert!(matches!(
        falling,
        TableError::NotIncreasing { place: 2, .. }
    ));
    assert!(matches!(
        make(&[0.0, 1.0], &[0.0, f64::NAN]).unwrap_err(),
        TableError::NotFinite { place: 1, .. }
    ));
    assert!(matches!(
        make(&[0.0, 1.0], &[0.0]).unwrap_err(),
        TableError::WrongCount {
            expected: 2,
            found: 1
        }
    ));
}
