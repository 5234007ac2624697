//! Arguments of the commands that solve models.

use std::path::PathBuf;

use clap::Args;
use oldham_study::{Merit, Shard, Variation};

use super::values::{count, merit, picture, positive, seconds, shard, variation};
use super::{Changes, DrawArgs, ModelArgs, PaceArgs};

/// Arguments of `run`.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Result file, .parquet or .csv [default: the model's name with .parquet, here]; with --vary a
    /// folder [default: the model's name with -sweep, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing result file; with --vary do all runs anew
    #[arg(long)]
    pub force: bool,
    /// Run once for each value of a setting or parameter, on all cores; several --vary are combined.
    /// Values are a list 1,2,5, a range LOW:HIGH:POINTS or LOW:HIGH:POINTS:log, a column @FILE.csv:COLUMN,
    /// or drawn from normal(MEAN, DEVIATION) or uniform(LOW, HIGH)
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation, conflicts_with_all = ["checkpoint_every", "resume", "replay"])]
    pub vary: Vec<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// A figure of merit of every run for the index: min, max, peak, span, mean, rms or final of a
    /// signal, such as rms(left.x1.a)
    #[arg(long, value_name = "FUNCTION(SIGNAL)", value_parser = merit, requires = "vary")]
    pub merit: Vec<Merit>,
    /// Do every Nth run only, from the Kth on; other processes or machines do the others at any time, in the same
    /// folder, and --join makes the index
    #[arg(long, value_name = "K/N", value_parser = shard, requires = "vary", conflicts_with = "force")]
    pub shard: Option<Shard>,
    /// Make the index of a folder in which shards have been at work, and run nothing; what is missing is named
    #[arg(long, value_name = "FOLDER", requires = "vary", conflicts_with_all = ["out", "force", "shard", "threads"])]
    pub join: Option<PathBuf>,
    /// Solve the monolithic reference model instead: all subsystems as one
    #[arg(long)]
    pub monolithic: bool,
    /// Threads that share the subsystems; the results are the same bits for any number. With --vary
    /// the number of runs at the same time [default: one a core]
    #[arg(long, value_name = "N", value_parser = count)]
    pub threads: Option<usize>,
    /// Skip the stability analysis before the run
    #[arg(long)]
    pub no_analysis: bool,
    /// Save the complete state every so many simulated seconds, beside the results
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub checkpoint_every: Option<f64>,
    /// Continue from a saved state; the results start there
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Start from a state that `oldham trim` has found; parameters may have other values than there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "monolithic", "vary"])]
    pub from: Option<PathBuf>,

    /// Set the external inputs of the model as in the run that wrote this result file.
    #[arg(long, value_name = "RESULT")]
    pub replay: Option<PathBuf>,
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Args)]
pub struct Check {
    /// Model file (TOML)
    #[arg(required_unless_present = "schema")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub changes: Changes,
    /// Begin with a state that `oldham trim` has found
    #[arg(long, value_name = "FILE", conflicts_with = "remedies")]
    pub from: Option<PathBuf>,
    /// Time for the analysis in seconds: first the start, then states along the run; what is not reached
    /// is named
    #[arg(long, value_name = "N", default_value_t = 10.0, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Look for settings that help an unstable coupling for up to 30 s more, besides what is left of
    /// --seconds
    #[arg(long)]
    pub remedies: bool,
    /// Print the JSON schema of model files, for editors, and end
    #[arg(long)]
    pub schema: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `compare`.
#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Try several values of a setting or parameter, given as for run --vary
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation)]
    pub vary: Vec<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Compare with `monolithic` (one system with the file's integrator), `exact` (the same by
    /// matrix exponential; linear models), `converged` (implicit coupling, its step refined until the
    /// solution does not change) or a result file [default: monolithic; converged where several
    /// subsystems are not all lumped]
    #[arg(long, value_name = "WHAT")]
    pub reference: Option<String>,
    /// The signal to draw [default: the displacement or force with the largest error]
    #[arg(long, value_name = "NAME")]
    pub signal: Option<String>,
    /// Picture, .svg or .png [default: the model's name with -compare.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
