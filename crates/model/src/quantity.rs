//! Numbers with units, such as `"300 kg"`, `"2 kN/mm"` or `"30 deg"`, taken to SI.

/// Exponents of kg, m, s, rad, K and A.
pub(crate) type Dimension = [i8; 6];

/// Pure numbers.
const NONE: Dimension = [0; 6];
/// Where the angle stands in a dimension.
const ANGLE: usize = 3;
/// Where the time stands in a dimension.
const TIME: usize = 2;

/// A unit as a person writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// How many SI units it is.
    pub factor: f64,
    pub dimension: Dimension,
}

/// A word of a unit, its factor, its dimension, and whether it takes prefixes such as `k`.
type Word = (&'static str, f64, Dimension, bool);

const WORDS: [Word; 27] = [
    ("m", 1.0, [0, 1, 0, 0, 0, 0], true),
    ("g", 1e-3, [1, 0, 0, 0, 0, 0], true),
    ("s", 1.0, [0, 0, 1, 0, 0, 0], true),
    ("min", 60.0, [0, 0, 1, 0, 0, 0], false),
    ("h", 3600.0, [0, 0, 1, 0, 0, 0], false),
    ("rad", 1.0, [0, 0, 0, 1, 0, 0], true),
    (
        "deg",
        std::f64::consts::PI / 180.0,
        [0, 0, 0, 1, 0, 0],
        false,
    ),
    ("°", std::f64::consts::PI / 180.0, [0, 0, 0, 1, 0, 0], false),
    ("rev", std::f64::consts::TAU, [0, 0, 0, 1, 0, 0], false),
    (
        "rpm",
        std::f64::consts::TAU / 60.0,
        [0, 0, -1, 1, 0, 0],
        false,
    ),
    ("Hz", 1.0, [0, 0, -1, 0, 0, 0], true),
    ("N", 1.0, [1, 1, -2, 0, 0, 0], true),
    ("Nm", 1.0, [1, 2, -2, 0, 0, 0], true),
    ("Pa", 1.0, [1, -1, -2, 0, 0, 0], true),
    ("bar", 1e5, [1, -1, -2, 0, 0, 0], true),
    ("J", 1.0, [1, 2, -2, 0, 0, 0], true),
    ("W", 1.0, [1, 2, -3, 0, 0, 0], true),
    ("L", 1e-3, [0, 3, 0, 0, 0, 0], true),
    ("l", 1e-3, [0, 3, 0, 0, 0, 0], true),
    ("K", 1.0, [0, 0, 0, 0, 1, 0], false),
    ("A", 1.0, [0, 0, 0, 0, 0, 1], true),
    ("V", 1.0, [1, 2, -3, 0, 0, -1], true),
    ("Ohm", 1.0, [1, 2, -3, 0, 0, -2], true),
    ("kph", 1.0 / 3.6, [0, 1, -1, 0, 0, 0], false),
    ("lbf", 4.448_221_615_260_5, [1, 1, -2, 0, 0, 0], false),
    ("in", 0.0254, [0, 1, 0, 0, 0, 0], false),
    ("%", 0.01, NONE, false),
];

const PREFIXES: [(&str, f64); 9] = [
    ("n", 1e-9),
    ("µ", 1e-6),
    ("u", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];

/// A number with a unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity<'t> {
    /// The number as it is written.
    pub number: f64,
    /// The text of the unit.
    pub unit: &'t str,
    /// What the unit is.
    pub parsed: Result<Unit, UnknownUnit>,
}

/// An unknown unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownUnit(pub String);

/// What to write instead of an unknown unit.
pub(crate) const HELP: &str = "numbers are in SI units without a word, or with one such as `kg`, `mm`, `kN/mm`, `N*s/m`, `bar`, `deg`, `rpm`";

/// Whether a text is a number with a comma for its decimal point.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    let text = text.trim();
    let digits = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    match text.split_once(',') {
        Some((whole, rest)) => {
            let whole = digits(whole);
            !whole.is_empty()
                && whole.bytes().all(|byte| byte.is_ascii_digit())
                && leading_number(rest)
                    .is_some_and(|_| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
        None => false,
    }
}

/// The units that a description names after the word `in`, with their spellings: "Stiffness in N/m,
/// or N·m/rad." names two.
pub(crate) fn units_in(description: &str) -> Vec<(String, Unit)> {
    let mut found = Vec::new();
    let mut names_unit = false;
    for word in description.split_whitespace() {
        let bare = word.trim_matches([',', '.', ';', ':', '(', ')', '`']);
        match Unit::parse(bare) {
            Ok(unit) if names_unit && !bare.is_empty() => {
                if found.iter().all(|(_, known)| *known != unit) {
                    found.push((bare.to_owned(), unit));
                }
            }
            // "in m, or rad" goes on, "in m and so on" does not.
            _ => names_unit = bare == "in" || (names_unit && bare == "or"),
        }
    }
    found
}

/// A text that is a number followed by words, which is no expression: nothing multiplies them.
pub(crate) fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.trim();
    let (number, length) = leading_number(text)?;
    let unit = text[length..].trim();
    let first = unit.chars().next()?;
    let starts_word = first.is_alphabetic() || matches!(first, '°' | '%');
    if !starts_word {
        return None;
    }
    Some(Quantity {
        number,
        unit,
        parsed: Unit::parse(unit),
    })
}

/// The number at the beginning and how many bytes it takes.
fn leading_number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let mut end = usize::from(matches!(bytes.first()?, b'+' | b'-'));
    let digits = |end: &mut usize| {
        let start = *end;
        while bytes.get(*end).is_some_and(u8::is_ascii_digit) {
            *end += 1;
        }
        *end > start
    };
    let mut has_digits = digits(&mut end);
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        has_digits |= digits(&mut end);
    }
    if !has_digits {
        return None;
    }
    // An exponent only where digits follow: `2 e` is none.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let mut after = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(&mut after) {
            end = after;
        }
    }
    Some((text[..end].parse().ok()?, end))
}

/// How many of one unit there are in another, if both measure the same: 1e5 for `bar` in `Pa`.
///
/// ```
/// assert_eq!(oldham_model::unit_ratio("bar", "Pa"), Some(1e5));
/// assert_eq!(oldham_model::unit_ratio("bar", "m"), None);
/// ```
pub fn unit_ratio(unit: &str, other: &str) -> Option<f64> {
    let [unit, other] = [unit, other].map(|text| Unit::parse(text).ok());
    let (unit, other) = (unit?, other?);
    unit.fits(&other).then(|| unit.factor / other.factor)
}

impl Unit {
    /// SI, whatever is measured.
    pub const ONE: Self = Self {
        factor: 1.0,
        dimension: NONE,
    };

    /// A number of this unit in SI units, rounded once where the factor is a power of ten.
    pub fn convert(&self, number: f64) -> f64 {
        let inverse = (1.0 / self.factor).round();
        // A thousandth is no floating-point number, a thousand is one.
        match inverse >= 2.0 && (inverse * self.factor - 1.0).abs() < 1e-15 {
            true => number / inverse,
            false => number * self.factor,
        }
    }

    /// Reads products and quotients of words with exponents: `N*s/m`, `kg·m²`, `m/s^2`, `m/s2`.
    pub fn parse(text: &str) -> Result<Self, UnknownUnit> {
        let mut unit = Self {
            factor: 1.0,
            dimension: NONE,
        };
        let mut sign = 1;
        let mut rest = text.trim();
        while !rest.is_empty() {
            let is_sign = |c: char| matches!(c, '*' | '·' | '.' | '/' | ' ' | '⋅');
            let end = rest.find(is_sign).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            if !matches!(piece, "" | "1") {
                let (word, exponent) = split_exponent(piece);
                let (factor, dimension) = word_of(word)?;
                let exponent = sign * exponent;
                unit.factor *= factor.powi(i32::from(exponent));
                for (sum, each) in unit.dimension.iter_mut().zip(dimension) {
                    *sum += exponent * each;
                }
            }
            let mut signs = after.chars();
            if let Some(next) = signs.next() {
                sign = if next == '/' {
                    -1
                } else {
                    sign_after(next, sign)
                };
            }
            rest = signs.as_str();
        }
        Ok(unit)
    }

    /// Whether a number of this unit can stand where one of the other is expected. Torsional
    /// quantities are written with and without the radian; frequency and angular velocity differ.
    pub fn fits(&self, expected: &Self) -> bool {
        if self.dimension == expected.dimension {
            return true;
        }
        let without_angle = |dimension: Dimension| {
            let mut dimension = dimension;
            dimension[ANGLE] = 0;
            dimension
        };
        let rest = without_angle(self.dimension);
        let is_mechanical = (0..rest.len()).any(|i| i != TIME && rest[i] != 0);
        is_mechanical && rest == without_angle(expected.dimension)
    }
}

/// In `N/m s` both words after the stroke divide, in `N/m*s` and `N/m·s` only the first, as in an
/// expression.
fn sign_after(sign: char, before: i8) -> i8 {
    if sign == ' ' { before } else { 1 }
}

/// `m2`, `m^2`, `m²`: the word and its exponent.
fn split_exponent(piece: &str) -> (&str, i8) {
    const SUPERSCRIPTS: [(&str, i8); 3] = [("²", 2), ("³", 3), ("⁴", 4)];
    for (end, exponent) in SUPERSCRIPTS {
        if let Some(word) = piece.strip_suffix(end) {
            return (word, exponent);
        }
    }
    let is_exponent = |c: char| c.is_ascii_digit() || c == '-';
    let word = piece.trim_end_matches(is_exponent);
    let exponent = piece[word.len()..].parse().unwrap_or(1);
    (word.trim_end_matches('^'), exponent)
}

fn word_of(word: &str) -> Result<(f64, Dimension), UnknownUnit> {
    let plain = WORDS.iter().find(|(known, ..)| *known == word);
    if let Some(&(_, factor, dimension, _)) = plain {
        return Ok((factor, dimension));
    }
    for (prefix, power) in PREFIXES {
        let Some(rest) = word.strip_prefix(prefix) else {
            continue;
        };
        let found = WORDS
            .iter()
            .find(|(known, .., prefixed)| *prefixed && *known == rest);
        if let Some(&(_, factor, dimension, _)) = found {
            return Ok((power * factor, dimension));
        }
    }
    Err(UnknownUnit(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let found = quantity(text).expect(text);
        found.parsed.expect(text).convert(found.number)
    }

    #[test]
    fn numbers_with_units_are_taken_to_si() {
        for (text, expected) in [
            ("300 kg", 300.0),
            ("300kg", 300.0),
            ("2 kN/mm", 2e6),
            ("5 bar", 5e5),
            ("-3.5e2 mm", -0.35),
            ("1 mm", 1e-3),
            ("70 km/h", 70.0 / 3.6),
            ("1.5 kN*s/m", 1500.0),
            ("1.5 kN·s/m", 1500.0),
            ("1.5 kN.s/m", 1500.0),
            ("2 kg m^2", 2.0),
            ("2 g/cm3", 2000.0),
            ("9.81 m/s²", 9.81),
            ("60 rpm", std::f64::consts::TAU),
            ("180 deg", std::f64::consts::PI),
            ("5 %", 0.05),
            ("210 GPa", 210e9),
            ("3 Nm/rad", 3.0),
            ("10 L/min", 10e-3 / 60.0),
        ] {
            let found = value(text);
            assert!(
                (found - expected).abs() <= 1e-15 * expected.abs(),
                "{text}: {found}"
            );
        }
        assert_eq!(value("7 mm"), 7e-3, "the very same bits");
    }

    #[test]
    fn expressions_and_plain_numbers_are_no_quantities() {
        for text in [
            "300", "2*m", "k", "sin(3)", "3 + m", "(3) m", "", "-", "1e5", "2 - 1",
        ] {
            assert_eq!(quantity(text), None, "{text}");
        }
        let unknown = quantity("3 furlongs").expect("a number and a word");
        assert_eq!(unknown.parsed, Err(UnknownUnit("furlongs".into())));
    }

    #[test]
    fn descriptions_name_their_units() {
        let words = |text: &str| -> Vec<String> {
            units_in(text).into_iter().map(|(word, _)| word).collect()
        };
        assert_eq!(words("Stiffness in N/m, or N·m/rad."), ["N/m", "N·m/rad"]);
        assert_eq!(
            words("Mass in kg, or moment of inertia in kg·m²."),
            ["kg", "kg·m²"]
        );
        assert_eq!(words("Where it is, in m and in node axes."), ["m"]);
        assert_eq!(words("Start, end (s), first and last value"), [""; 0]);
        assert_eq!(words("A number in time, or a table."), [""; 0]);
        assert!(has_decimal_comma("2,0e4") && has_decimal_comma("-1,5 kg"));
        assert!(!has_decimal_comma("max(2,3)") && !has_decimal_comma("2, 3"));
    }

    #[test]
    fn units_fit_what_they_measure() {
        let unit = |text: &str| Unit::parse(text).expect(text);
        assert!(unit("kN/mm").fits(&unit("N/m")));
        assert!(unit("N*m").fits(&unit("N·m/rad")));
        assert!(unit("J").fits(&unit("N·m")));
        assert!(!unit("kg").fits(&unit("m")));
        assert!(!unit("Hz").fits(&unit("rad/s")));
        assert!(!unit("deg").fits(&unit("m")));
    }
}
