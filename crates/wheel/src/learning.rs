//! A calibration of what somebody moves.

use crate::{Axis, AxisCode, Response};

/// An axis that is moved by less than this share of its range is not meant.
const MEANT: f64 = 0.1;

/// Knows where everything rests, and tells what was moved.
#[derive(Clone, Debug)]
pub struct Learning {
    rest: Vec<Axis>,
}

impl Learning {
    /// Nobody touches anything now.
    pub fn at_rest(axes: &[Axis]) -> Self {
        Self {
            rest: axes
                .iter()
                .filter(|axis| !axis.code.is_hat())
                .copied()
                .collect(),
        }
    }

    /// The axis that is moved farthest from its rest, and its reading; none where all of them rest.
    pub fn moved(&self, now: &[Axis]) -> Option<(AxisCode, i32)> {
        let away = |rest: &Axis| {
            let axis = now.iter().find(|axis| axis.code == rest.code)?;
            let share = rest.share_between(axis.reading, rest.reading);
            (share >= MEANT).then_some((share, axis))
        };
        let moved = self.rest.iter().filter_map(away);
        let farthest = moved.max_by(|one, other| one.0.total_cmp(&other.0));
        farthest.map(|(_, axis)| (axis.code, axis.reading))
    }

    /// The response of an input that is highest at one reading and lowest at another; what is wrong if
    /// these cannot be ends of one axis.
    pub fn response(
        &self,
        high: (AxisCode, i32),
        low: Option<(AxisCode, i32)>,
    ) -> Result<Response, String> {
        let (axis, reading) = high;
        if let Some((other, _)) = low.filter(|(other, _)| *other != axis) {
            return Err(format!("first {axis} was moved, then {other}"));
        }
        let rest = self.rest.iter().find(|rest| rest.code == axis);
        let rest = rest.ok_or_else(|| format!("{axis} was not there before"))?;
        let low = low.map(|(_, reading)| reading);
        let response = Response::new(axis, rest.reading, reading, low);
        response.mistake().map_or(Ok(response), Err)
    }
}
