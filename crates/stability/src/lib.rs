//! Is a co-simulation stable, and if not, where does it come from?
//!
//! A macro step maps the complete state (parts, integrator histories, predictor samples) to the
//! next one. [`Recurrence`] linearises that map by probing the very simulation that runs, so what
//! is analysed is what is run; [`analyse`] reads stability off its eigenvalues and names the
//! interface that feeds the growing mode. Of models too large for a matrix [`Spectrum`] finds the
//! dominant eigenvalues from products of the same map with vectors.

pub mod compensate;
mod contour;
mod dominant;
mod effort;
mod eigen;
mod examination;
mod extrapolator;
mod follow;
mod frequency;
mod krylov;
mod lines;
mod map;
mod measured;
mod pattern;
mod poles;
mod probing;
mod product;
mod quick;
mod random;
mod reach;
mod recurrence;
mod sampled;
mod shooting;
mod spectrum;
mod spread;
mod state_space;
mod steady;
mod subspace;
mod turn_and_speed;
mod turning;
mod twice;
mod verdict;

pub use contour::Contour;
pub use extrapolator::Extrapolator;
pub use follow::{Followed, follow, follow_mode, is_at_rest};
pub use frequency::{FrequencyAnalysis, FrequencyVerdict, NoVerdict, Rotation};
pub use map::{Border, Borders, Point, borders, borders_among, critical, is_stable, map, radius};
pub use measured::{Probed, Realised, Unmeasurable, probe, realise};
pub use poles::CoupledModel;
pub use recurrence::{AnalysisError, Recurrence};
pub use shooting::{
    Free, Going, Held, Maker, Multiplier, Multipliers, Shooting, ShootingError, ShootingProgress,
    SteadyMotion, TOLERANCE,
};
pub use spectrum::{Decision, EigenMode, Spectrum, THRESHOLD, Way};
pub use state_space::{LinearSignal, StateSpace};
pub use verdict::{Verdict, analyse, analyse_within};
