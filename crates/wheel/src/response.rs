//! What an axis does to an input. The page's `stick.ts` answers to gamepads in the same way.

use serde::Deserialize;

use crate::AxisCode;

/// Of a wheel or a pedal less counts as rest than of a thumb stick.
const USUAL_DEAD: f64 = 0.02;
/// Beyond that nothing is left of the way.
pub(crate) const MOST_DEAD: f64 = 0.9;

/// Which axis moves an input, where it rests and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Which axis.
    pub axis: AxisCode,
    /// Its reading when nobody moves it.
    pub rest: i32,
    /// The reading at which the input has its highest value.
    pub high: i32,
    /// The reading at which it has its lowest value, on the other side of the rest.
    pub low: Option<i32>,
    /// The share of the way that counts as rest.
    #[serde(default = "usual_dead")]
    pub dead: f64,
}

fn usual_dead() -> f64 {
    USUAL_DEAD
}

impl Response {
    /// One with the usual dead zone.
    pub fn new(axis: AxisCode, rest: i32, high: i32, low: Option<i32>) -> Self {
        Self {
            axis,
            rest,
            high,
            low,
            dead: USUAL_DEAD,
        }
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn mistake(&self) -> Option<String> {
        let up = i64::from(self.high) - i64::from(self.rest);
        let down = self.low.map(|low| i64::from(low) - i64::from(self.rest));
        if up == 0 {
            Some("`high` is the same reading as `rest`".into())
        } else if down.is_some_and(|down| down.signum() == up.signum() || down == 0) {
            Some("`low` is not on the other side of `rest` than `high`".into())
        } else if !(0.0..=MOST_DEAD).contains(&self.dead) {
            Some(format!("`dead` is not from 0 to {MOST_DEAD}"))
        } else {
            None
        }
    }

    /// How far the input is moved at this reading: 0 at rest, 1 to its highest value, -1 to its lowest.
    pub fn share(&self, reading: i32) -> f64 {
        let away = f64::from(reading) - f64::from(self.rest);
        let up = f64::from(self.high) - f64::from(self.rest);
        let (side, way) = match self.low {
            _ if away * up >= 0.0 => (1.0, up),
            Some(low) => (-1.0, f64::from(low) - f64::from(self.rest)),
            None => return 0.0,
        };
        let tilt = (away / way).min(1.0);
        side * (tilt - self.dead).max(0.0) / (1.0 - self.dead)
    }

    /// 1 where the reading grows with the input, -1 where it becomes less.
    pub fn direction(&self) -> f64 {
        if self.high > self.rest { 1.0 } else { -1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(dead: f64) -> Response {
        Response {
            axis: AxisCode(0),
            rest: 32_000,
            high: 65_000,
            low: Some(2_000),
            dead,
        }
    }

    #[test]
    fn both_sides_of_an_axis_have_their_own_way() {
        let wheel = wheel(0.0);
        assert_eq!(wheel.share(32_000), 0.0);
        assert_eq!(wheel.share(65_000), 1.0);
        assert_eq!(wheel.share(48_500), 0.5);
        assert_eq!(wheel.share(17_000), -0.5);
        assert_eq!(wheel.share(0), -1.0, "beyond its end");
        assert_eq!(wheel.share(i32::MAX), 1.0);
    }

    #[test]
    fn the_dead_zone_is_rest_and_the_way_after_it_is_whole() {
        let wheel = wheel(0.2);
        assert_eq!(wheel.share(32_000 + 6_600), 0.0);
        assert_eq!(wheel.share(32_000 - 6_000), 0.0);
        assert!((wheel.share(32_000 + 19_800) - 0.5).abs() < 1e-12);
        assert_eq!(wheel.share(65_000), 1.0);
        assert_eq!(wheel.share(2_000), -1.0);
    }

    #[test]
    fn a_pedal_that_reads_less_when_pressed_has_no_other_side() {
        let pedal = Response::new(AxisCode(2), 250, 5, None);
        assert_eq!(pedal.share(5), 1.0);
        assert_eq!(pedal.share(255), 0.0);
        assert_eq!(pedal.direction(), -1.0);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        assert_eq!(wheel(0.1).mistake(), None);
        let same = Response::new(AxisCode(0), 7, 7, None);
        let folded = Response::new(AxisCode(0), 0, 10, Some(5));
        assert!(same.mistake().unwrap().contains("`rest`"));
        assert!(folded.mistake().unwrap().contains("other side"));
        for dead in [-0.1, 0.95, f64::NAN] {
            assert!(wheel(dead).mistake().unwrap().contains("dead"));
        }
    }
}
