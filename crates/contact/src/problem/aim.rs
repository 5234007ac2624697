//! What is asked of the normal velocities.

/// What is added to the normal velocity of each contact, which is open while the sum is positive: gap / step, so that a gap may just close within the
/// step. Contacts that rebound or yield have numbers of their own.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    /// Of the first contacts.
    pub own: &'a [f64],
    /// 1 / step.
    pub rate: f64,
    /// The dead band over the step: what a gap must open faster than to be open.
    pub band: f64,
    /// The velocity at which penetrations of the others end, at most.
    pub limit: f64,
}

impl Aim<'_> {
    /// Of the contact with a number and a gap.
    #[inline(always)]
    pub fn of(&self, contact: usize, gap: f64) -> f64 {
        match self.own.get(contact) {
            Some(own) => *own,
            None => self.at(gap),
        }
    }

    /// Of a rigid contact that does not rebound.
    #[inline(always)]
    pub fn at(&self, gap: f64) -> f64 {
        (gap * self.rate - self.band).max(-self.limit)
    }
}
