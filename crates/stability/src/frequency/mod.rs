//! Stability in the frequency domain of the discrete system.
mod band;
mod dense;
mod held;
mod operator;
mod roots;
