//! The L-stable diagonally implicit method of Runge and Kutta with two stages, of second order (Alexander 1977).

/// The implicit share of each stage.
pub const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
/// Places of the two stages within a step, and their weights; the second is the end of the step.
pub const STAGES: [(f64, f64); 2] = [(GAMMA, 1.0 - GAMMA), (1.0, GAMMA)];
