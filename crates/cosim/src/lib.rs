//! The co-simulation engine of Oldham: subsystems, ports, predictors, schedules, threads. It knows
//! no physics.
//!
//! A [`Simulation`] is made by a [`Builder`] from [`Subsystem`]s, connections between their
//! [`Ports`], a [`Predictor`] for each subsystem's inputs, and a [`Schedule`]. In every macro step
//! the subsystems of each stage advance, in parallel, with predicted inputs; then what they send is
//! checked, published in the exchange buffer and delivered. All state is a value ([`State`]): it
//! can be saved, restored, written to disk and perturbed, which gives rollback, checkpoints and the
//! stability analysis from one description.

mod abilities;
mod acceleration;
mod balance;
mod barrier;
mod builder;
mod cancel;
mod checkpoint;
mod clock;
mod contact_counters;
mod cpu;
mod decorator;
mod dial;
mod draft;
mod exchange_buffer;
mod fault;
mod foreign_state;
mod held;
mod implicit;
mod incoming;
mod initial;
mod inputs;
mod interfaces;
mod load_balancing;
mod lockstep;
mod meeting;
mod motion_law;
mod pace;
mod port;
mod predictor;
mod ranks;
mod recorder;
mod run;
mod run_monitor;
mod scale;
mod schedule;
mod seldom;
mod sequence;
mod simulation;
mod slow;
mod state;
mod stats;
mod step_plan;
mod subsystem;
mod summary;
mod switches;
mod thread_choice;
mod turn;
mod two_step;
mod unit;
mod worker;

pub use abilities::{
    Accuracy, EffectiveInterface, Energy, EnergyBalance, InputCorrection, InterfaceResponse,
    Linearisable, Linearisation, Remote, Replay, StepCorrection,
};
pub use builder::Builder;
pub use cancel::Cancel;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use clock::{Clock, ManualClock, WallClock};
pub use contact_counters::{ContactCounters, IslandCounters};
pub use cpu::CpuLevel;
pub use decorator::{Decorator, Together};
pub use dial::{DIAL_ORDER, Dial};
pub use draft::{Draft, write_whole};
pub use fault::{BuildError, Fault};
pub use foreign_state::{ForeignState, Ticket};
pub use inputs::{InputLayer, Inputs, Source, StageInputs};
pub use motion_law::{Followed, MotionLaw};
pub use pace::{OnMiss, Pacing, ThreadStart};
pub use port::{Conjugate, InputPort, MOTION_QUATERNION, OutputPort, Port, Ports, Quantity, Unit};
pub use predictor::{Hold, Predictor};
pub use ranks::{Portions, RankSummary, Ranks, SharingError, gather_texts, gather_words};
pub use recorder::{Column, Discard, InMemory, Recorder};
pub use run::{End, Outcome, Progress, Run, Tap};
pub use scale::Scale;
pub use schedule::{
    Acceleration, Coupling, ImplicitSettings, OnLimit, Schedule, Stage, SubsystemId,
};
pub use sequence::{
    Entry, LEVELS, Operator, SequenceInput, SequenceLink, SequenceModel, SequenceOutput, TurnedTap,
    TurningBlock, TurningFormula, TurningModel, TurningRate, impulse_response, product,
    turned_response,
};
pub use simulation::{ConnectionRange, Moment, Simulation};
pub use state::{Chart, Snapshot, State, Visitor, part_can_be_kept, word_count};
pub use stats::StepTimes;
pub use subsystem::{Counters, Reached, StepError, Subsystem};
pub use summary::{EnergySummary, InterfaceSummary, Lateness, PartSummary, Summary};
pub use switches::Switches;
pub use turn::{Layout, Turn};
pub use two_step::TwoStep;
