//! Studies of coupled models: what one does with a model, as a library.
//!
//! Each study takes a [`ModelFile`] or the model read from it and gives data: a run whose results are
//! on disk ([`PreparedRun`]) or in memory ([`solve_in_memory`]), a [`compare`]d set of schemes, a
//! [`StabilityStudy`] with its curves, maps and borders, [`poles`], a [`LinearModel`], [`statics`] and [`vibrations`] of
//! mechanisms, [`Advice`] on the coupling, a [`Sweep`] over many values. What a command would show as JSON can be serialised, what
//! it would draw is a [`Figure`](oldham_results::plot::Figure). Nothing here prints: progress is told
//! to callbacks, and everything that takes long can be cancelled.

mod advice;
mod advisor;
mod campbell;
mod compare;
mod compensation;
mod continuation;
mod course;
mod doubts;
mod error;
mod file;
mod from_trim;
mod handling;
mod linear;
mod linear_files;
mod live;
mod mass_modes;
mod mechanisms;
mod memory;
mod motion;
mod partition;
mod pause;
mod poles;
mod ranks;
mod real_time;
mod remedies;
mod run;
mod seek;
mod stability;
mod sweep;
mod trim;

pub use advice::{Advice, Case, Search, Subject, decision_word, refuse_learner};
pub use advisor::{
    AdvisorOptions, Assessed, Cost, Drift, LONGEST_ADVICE, LeftOut, NotPredicted, Prices,
    Recommendation, ReferenceKind, Shown, Written, advise, write_settings,
};
pub use campbell::{Campbell, CampbellPart, campbell, campbell_trimmed};
pub use compare::{
    Alike, Channel, CompareOptions, CompareProgress, Comparison, Kind, Refined, Sample, Signal,
    Tried, compare,
};
pub use compensation::{TriedApproach, compensate, gains_file, law_origin};
pub use continuation::{BranchPoint, Branching, Continuation, FollowedMotion, continuation};
pub use course::{Onlooker, first_row, initial_row};
pub use error::StudyError;
pub use file::{ModelFile, Settings, shipped_kinds};
pub use from_trim::vibrations_from;
pub use handling::{Handling, HandlingOptions};
pub use linear::{Bode, BodeCurve, LinearModel, linearise, linearise_from};
pub use linear_files::LinearFormat;
pub use live::run_live;
pub use mass_modes::MassModes;
pub use mechanisms::{
    Equilibrium, ModeNumbers, Reaction, RestingActuator, RestingNode, StaticLoad, TurningFrame,
    Vibrations, all_rest, contact_note, is_without_coupling, mechanisms, resting_actuators,
    resting_parts, shows_node, statics, statics_notes, turning_frames, vibrations,
};
pub use memory::{MemoryOptions, Recorded, run_in_memory, solve_in_memory};
pub use motion::{LookedAt, Met, NotJudged, StateKind, Survey, SurveyProgress};
pub use oldham_vehicle::handling::STANDARD_GRAVITY;
pub use partition::{
    CandidateCut, CostLedger, CostTable, CutMechanism, CutSearch, CutStability, Expectation, Fit,
    KindCost, PartitionError, Searched, SearchedCut, find_cut, ledger_path, measure_costs,
    mechanism_named, partitions, write_cut,
};
pub use pause::{Pause, Place};
pub use poles::{
    CoupledPole, HeldSignals, LATENT_RATES, ModeShape, Poles, damping, discrete_poles, poles,
};
pub use ranks::{Card, Intent, RanksError, meet_ranks};
pub use real_time::RealTime;
pub use remedies::LONGEST as LONGEST_SEARCH;
pub use run::{PreparedRun, RunOptions, RunReport, checkpoint_path, digest};
pub use seek::{Found, Wanted, seek};
pub use stability::{
    Axis, BorderStudy, Cause, CouplingMode, CouplingModes, GridProgress, Region, Scheme,
    SchemeBorders, SchemeMap, SchemeRadii, StabilityCurve, StabilityMap, StabilityStudy,
};
pub use sweep::{
    Draw, JournalError, MOST_COMBINATIONS, MOST_RUNS, Merit, MeritError, NoShard, Range, Shard,
    Sweep, SweepOptions, SweepProgress, SweepReport, SweepRun, SweepStatus, Values, Variation,
    VariationError, combinations,
};
pub use trim::{
    Factor, Growing, Quantity, Trim, TrimOptions, TrimmedFile, Unfinished, trim, trim_from,
};
