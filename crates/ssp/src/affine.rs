//! What a value goes through on its way: units and linear transformations.
//!
//! Ports of FMUs are in SI, so a change of units changes nothing. A transformation counts in the unit in which the value
//! is there; where the conversion of units is suppressed, the number stays and the unit changes.

use oldham_fmi::Conversion;

/// `factor * value + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transformation {
    pub factor: f64,
    pub offset: f64,
}

/// A value on its way: that at its beginning times a gain, plus an offset, both in SI.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its unit here; nothing where none is known.
    unit: Option<Conversion>,
    pub gain: f64,
    pub offset: f64,
}

impl Way {
    /// At its beginning.
    pub fn new(unit: Option<Conversion>) -> Self {
        Self {
            unit,
            gain: 1.0,
            offset: 0.0,
        }
    }

    /// Whether it arrives as it began.
    pub fn is_plain(&self) -> bool {
        self.gain == 1.0 && self.offset == 0.0
    }

    /// To a place with this unit, if it has one. The error names what does not fit.
    pub fn to(&mut self, unit: Option<&Conversion>, suppress: bool) -> Result<(), String> {
        let Some(unit) = unit else { return Ok(()) };
        match &self.unit {
            Some(own) if !suppress && own.unit != unit.unit => {
                return Err(format!(
                    "the units at its ends do not fit: {} and {}",
                    own.unit, unit.unit
                ));
            }
            Some(_) if !suppress => {}
            _ => self.counts_in(unit),
        }
        self.unit = Some(unit.clone());
        Ok(())
    }

    /// The number stays, the unit changes.
    fn counts_in(&mut self, unit: &Conversion) {
        let own = self.unit.clone().unwrap_or_default();
        if own.factor == unit.factor && own.offset == unit.offset {
            return;
        }
        let ratio = unit.factor / own.factor;
        self.gain *= ratio;
        self.offset = ratio * (self.offset - own.offset) + unit.offset;
    }

    /// Through a transformation.
    pub fn through(&mut self, transformation: Transformation) {
        let Transformation { factor, offset } = transformation;
        let own = self.unit.clone().unwrap_or_default();
        if factor == 1.0 && offset == 0.0 {
            return;
        }
        self.gain *= factor;
        self.offset = factor * (self.offset - own.offset) + own.factor * offset + own.offset;
    }

    /// What a value of SI at the beginning is here, in SI.
    pub fn applied(&self, value: f64) -> f64 {
        match self.is_plain() {
            true => value,
            false => self.gain * value + self.offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(symbol: &str, factor: f64, offset: f64) -> Conversion {
        Conversion {
            offset,
            factor,
            ..Conversion::named(symbol)
        }
    }

    /// 20 °C, transformed in °F by 2 F + 10: 68 °F, 146 °F, 63.33 °C.
    #[test]
    fn transformations_count_in_the_unit_of_their_end() {
        let fahrenheit = unit("K", 5.0 / 9.0, 459.67 * 5.0 / 9.0);
        let mut way = Way::new(Some(unit("K", 1.0, 273.15)));
        way.to(Some(&fahrenheit), false).unwrap();
        way.through(Transformation {
            factor: 2.0,
            offset: 10.0,
        });
        way.to(Some(&unit("K", 1.0, 273.15)), false).unwrap();
        assert!((way.applied(293.15) - (273.15 + 570.0 / 9.0)).abs() < 1e-9);
    }

    #[test]
    fn a_suppressed_conversion_keeps_the_number() {
        let mut way = Way::new(Some(unit("m", 1e-3, 0.0)));
        way.to(Some(&unit("m", 1.0, 0.0)), true).unwrap();
        // 5 mm arrive as 5 m.
        assert!((way.applied(5e-3) - 5.0).abs() < 1e-15);
        assert!(way.to(Some(&unit("s", 1.0, 0.0)), false).is_err());
    }

    #[test]
    fn units_alone_change_no_bit() {
        let mut way = Way::new(Some(unit("m", 1e-3, 0.0)));
        way.to(Some(&unit("m", 0.0254, 0.0)), false).unwrap();
        assert!(way.is_plain());
    }
}
