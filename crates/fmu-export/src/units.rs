//! Units as powers of the base units of SI.

/// Attributes of a base unit with their powers, such as `kg="1" s="-2"`.
pub fn base(symbol: &str) -> Option<String> {
    let powers = powers(symbol)?;
    let names = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"].iter();
    let shown = names.zip(powers).filter(|(_, power)| *power != 0);
    let shown = shown.map(|(name, power)| format!(" {name}=\"{power}\""));
    Some(shown.collect())
}

type Powers = [i32; 8];

/// Symbols that ports use, as powers of kg, m, s, A, K, mol, cd and rad.
const KNOWN: [(&str, Powers); 17] = [
    ("1", [0, 0, 0, 0, 0, 0, 0, 0]),
    ("kg", [1, 0, 0, 0, 0, 0, 0, 0]),
    ("m", [0, 1, 0, 0, 0, 0, 0, 0]),
    ("s", [0, 0, 1, 0, 0, 0, 0, 0]),
    ("A", [0, 0, 0, 1, 0, 0, 0, 0]),
    ("K", [0, 0, 0, 0, 1, 0, 0, 0]),
    ("mol", [0, 0, 0, 0, 0, 1, 0, 0]),
    ("cd", [0, 0, 0, 0, 0, 0, 1, 0]),
    ("rad", [0, 0, 0, 0, 0, 0, 0, 1]),
    ("N", [1, 1, -2, 0, 0, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0, 0]),
    ("J", [1, 2, -2, 0, 0, 0, 0, 0]),
    ("W", [1, 2, -3, 0, 0, 0, 0, 0]),
    ("Hz", [0, 0, -1, 0, 0, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0, 0]),
];

/// Such as `N.m/rad` or `m/s2`: products with points, everything behind a stroke divides.
fn powers(symbol: &str) -> Option<Powers> {
    let mut total = [0; 8];
    for (index, part) in symbol.split('/').enumerate() {
        let sign = if index == 0 { 1 } else { -1 };
        for factor in part.split('.') {
            let digits = factor.find(|c: char| c.is_ascii_digit() || c == '-');
            let (name, power) = match digits {
                Some(at) if at > 0 => (&factor[..at], factor[at..].parse::<i32>().ok()?),
                _ => (factor, 1),
            };
            let (_, own) = KNOWN.iter().find(|(known, _)| *known == name)?;
            for (sum, own) in total.iter_mut().zip(own) {
                *sum += sign * power * own;
            }
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_products_of_powers() {
        assert_eq!(base("m/s2").unwrap(), " m=\"1\" s=\"-2\"");
        assert_eq!(base("N.m").unwrap(), " kg=\"1\" m=\"2\" s=\"-2\"");
        assert_eq!(base("1").unwrap(), "");
        assert_eq!(base("rad/s").unwrap(), " s=\"-1\" rad=\"1\"");
        assert_eq!(base("m3/s").unwrap(), " m=\"3\" s=\"-1\"");
        assert_eq!(base("furlong"), None);
    }
}
