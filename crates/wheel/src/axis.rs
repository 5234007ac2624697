//! Axes of a device, by the names that Linux gives them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names of `input-event-codes.h`.
const NAMES: [(u16, &str); 19] = [
    (0x00, "ABS_X"),
    (0x01, "ABS_Y"),
    (0x02, "ABS_Z"),
    (0x03, "ABS_RX"),
    (0x04, "ABS_RY"),
    (0x05, "ABS_RZ"),
    (0x06, "ABS_THROTTLE"),
    (0x07, "ABS_RUDDER"),
    (0x08, "ABS_WHEEL"),
    (0x09, "ABS_GAS"),
    (0x0a, "ABS_BRAKE"),
    (0x10, "ABS_HAT0X"),
    (0x11, "ABS_HAT0Y"),
    (0x12, "ABS_HAT1X"),
    (0x13, "ABS_HAT1Y"),
    (0x14, "ABS_HAT2X"),
    (0x15, "ABS_HAT2Y"),
    (0x16, "ABS_HAT3X"),
    (0x17, "ABS_HAT3Y"),
];
/// One without a name is called by its number.
const UNNAMED: &str = "ABS_0x";

/// The number of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AxisCode(pub u16);

impl AxisCode {
    /// Whether it is a cross of four directions, which steers nothing by degrees.
    pub fn is_hat(self) -> bool {
        (0x10..=0x17).contains(&self.0)
    }
}

impl fmt::Display for AxisCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => out.write_str(name),
            None => write!(out, "{UNNAMED}{:02x}", self.0),
        }
    }
}

impl FromStr for AxisCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits| u16::from_str_radix(digits, 16).ok();
        let named = NAMES.iter().find(|(_, name)| *name == text);
        let code = named.map(|(code, _)| *code);
        let code = code.or_else(|| text.strip_prefix(UNNAMED).and_then(number));
        code.map(Self).ok_or_else(|| {
            format!("`{text}` is no axis; axes are called ABS_X, ABS_Y, ABS_Z, ABS_RZ and so on")
        })
    }
}

impl TryFrom<String> for AxisCode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<AxisCode> for String {
    fn from(code: AxisCode) -> Self {
        code.to_string()
    }
}

/// An axis of a device: how far its readings go, and where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Which one.
    pub code: AxisCode,
    /// The lowest reading.
    pub low: i32,
    /// The highest one.
    pub high: i32,
    /// The present one.
    pub reading: i32,
}

impl Axis {
    /// How far apart two readings are, as a share of the range.
    pub(crate) fn share_between(&self, one: i32, other: i32) -> f64 {
        let range = (f64::from(self.high) - f64::from(self.low)).max(1.0);
        (f64::from(one) - f64::from(other)).abs() / range
    }
}
