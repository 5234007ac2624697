//! Text on axes: numbers with exponents set as such, and how wide text is.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Size of an exponent relative to its base.
pub(super) const EXPONENT_SIZE: f64 = 0.72;

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::new(notosans::REGULAR_TTF).expect("the embedded font is a valid font")
});

/// Width of a line of text in the embedded font. A browser may choose another font of much the
/// same widths.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let metrics = FONT.glyph_metrics(Size::new(size as f32), LocationRef::default());
    let characters = FONT.charmap();
    let advance = |character| {
        let glyph = characters.map(character)?;
        metrics.advance_width(glyph)
    };
    text.chars()
        .map(|character| advance(character).map_or(0.6 * size, f64::from))
        .sum()
}

/// A number as it stands at an axis: `0.25`, or `2×10` with an exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) exponent: Option<String>,
}

impl Label {
    /// Plain digits.
    pub(super) fn decimal(value: f64, decimals: usize) -> Self {
        let digits = format!("{:.*}", decimals, value.abs());
        let is_zero = digits.chars().all(|digit| matches!(digit, '0' | '.'));
        let sign = if value < 0.0 && !is_zero {
            "\u{2212}"
        } else {
            ""
        };
        Self {
            text: format!("{sign}{digits}"),
            exponent: None,
        }
    }

    /// A power of ten after a factor such as `2×`.
    pub(super) fn power(factor: &str, exponent: i32) -> Self {
        let sign = if exponent < 0 { "\u{2212}" } else { "" };
        Self {
            text: format!("{factor}10"),
            exponent: Some(format!("{sign}{}", exponent.unsigned_abs())),
        }
    }

    pub(super) fn width(&self, size: f64) -> f64 {
        let exponent = self.exponent.as_deref().unwrap_or_default();
        text_width(&self.text, size) + text_width(exponent, EXPONENT_SIZE * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_have_a_minus_and_zero_has_none() {
        assert_eq!(Label::decimal(-1.5, 1).text, "\u{2212}1.5");
        assert_eq!(Label::decimal(-0.0, 1).text, "0.0");
        assert_eq!(Label::decimal(-1e-17, 2).text, "0.00");
    }

    #[test]
    fn widths_add_up_and_scale() {
        let wide = text_width("time", 12.0);
        assert!((text_width("timetime", 12.0) - 2.0 * wide).abs() < 1e-3);
        assert!((text_width("time", 24.0) - 2.0 * wide).abs() < 1e-3);
        assert!(text_width("", 12.0) == 0.0 && text_width("\u{10ffff}", 12.0) > 0.0);
    }
}
