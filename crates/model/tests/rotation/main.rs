//! Verdicts about mechanisms that turn.

mod linearised_step;
mod models;
mod random;
mod reproductions;
mod runs;
mod spinner;
mod wheel;
