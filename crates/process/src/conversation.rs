//! What a part says to its program, in whichever protocol.

/// One program that is met and was greeted.
pub(crate) trait Conversation: Send {
    /// The outputs at the start, for these inputs; may be asked again with others.
    fn start(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String>;

    /// Begins a step, with the inputs at its start and as they are expected at its end.
    fn begin(&mut self, from: f64, to: f64, inputs: [&[f64]; 2]) -> Result<(), String>;

    /// Waits for its end: the outputs there.
    fn finish(
        &mut self,
        outputs: &mut [f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String>;

    /// The outputs at the time reached for other inputs; not every protocol can ask for that.
    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String>;

    /// Whether the program can go back to its states.
    fn keeps_states(&self) -> bool;

    /// The program keeps its state under a number.
    fn keep(&mut self, number: u64) -> Result<(), String>;

    /// It goes back to one.
    fn return_to(&mut self, number: u64) -> Result<(), String>;

    /// Whether it can start again after it has started and before its first step.
    fn may_be_used_again(&self) -> bool;
}
