//! States that lie in foreign programs: to go back to one and to write it to disk are two things.

use std::any::Any;
use std::sync::Arc;

/// What stands for a state that stays where it is. Its holder can return to that state; when the last one lets
/// go of it, the state may be forgotten.
pub type Ticket = Arc<dyn Any + Send + Sync>;

/// A state that lies in a foreign program. To go back to it and to write it to disk are two things: the first is cheap and
/// often possible where the second is not.
pub trait ForeignState {
    /// What stands for the present state.
    fn ticket(&mut self) -> Ticket;

    /// Returns to the state of a ticket of its own.
    fn return_to(&mut self, ticket: &Ticket);

    /// Whether it can be written at all.
    fn can_be_kept(&self) -> bool;

    /// The present state as words that outlive the program.
    fn keep(&mut self, words: &mut Vec<u64>);

    /// Takes a state that was kept.
    fn take(&mut self, words: &[u64]);
}
