//! Model files from the outside: what they may say, what is found wrong, what comes of them.

mod beams;
mod checkpoints;
mod common;
mod compensators;
mod cut;
mod damping_limit;
mod energy;
mod examples;
mod explicit;
mod frequency;
mod hydraulics;
mod implicit_chains;
mod large;
mod measured_cut;
mod multibody;
mod overrides;
mod points;
mod prescribed_velocity;
mod probing;
mod problems;
mod renamed;
mod robustness;
mod runs;
mod tangent;
mod two_ways;
mod verdicts;
