//! What a connection does to the value on its way: a gain and an offset.

/// Receives `gain * sent + offset`. The gain holds for all components, the offset for the first one
/// only: velocity and acceleration of a motion do not feel a shift of its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor; not zero.
    pub gain: f64,
    /// What is added.
    pub offset: f64,
}

impl Scale {
    /// Nothing is changed.
    pub const NONE: Self = Self {
        gain: 1.0,
        offset: 0.0,
    };

    pub(crate) fn apply(self, values: &mut [f64]) {
        for value in values.iter_mut() {
            *value *= self.gain;
        }
        if let Some(first) = values.first_mut() {
            *first += self.offset;
        }
    }

    /// From what is received back to what was sent.
    pub(crate) fn undo(self, values: &mut [f64]) {
        if let Some(first) = values.first_mut() {
            *first -= self.offset;
        }
        for value in values.iter_mut() {
            *value /= self.gain;
        }
    }
}
