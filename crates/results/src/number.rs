//! Numbers as tables and titles show them.

/// A number with four significant digits, in the shorter of plain and scientific form.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !value.is_finite() {
        value.to_string()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(1234.56), "1235");
        assert_eq!(number(0.0123456), "0.01235");
        assert_eq!(number(1.5e-7), "1.500e-7");
        assert_eq!(number(-2.0e9), "-2.000e9");
    }
}
