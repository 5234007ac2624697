//! Arguments of the commands that analyse models and results.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use oldham_study::Variation;

use super::values::{
    animation, count, finite, frequencies, matrices, not_negative, picture, positive, seconds,
    variation,
};
use super::{DrawArgs, ModelArgs, View};

/// Arguments of `stability`.
#[derive(Args)]
pub struct Stability {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Vary a parameter, simulation.step or another number of the file, with values as for run --vary;
    /// twice for a map. A parameter without values is varied by factors, from 1e-3 to 1e3 times its value
    #[arg(long, value_name = "KEY[=VALUES]", value_parser = variation)]
    pub over: Vec<Variation>,
    /// Find the value at which stability changes, such as the largest stable simulation.step
    #[arg(long, value_name = "KEY[=LOW:HIGH]", value_parser = variation, conflicts_with = "over")]
    pub critical: Option<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Compare with another scheme: settings separated by spaces, such as
    /// "schedule.coupling=implicit schedule.predictor=first-order"
    #[arg(long, value_name = "SETTINGS")]
    pub scheme: Vec<String>,
    /// Study the monolithic reference model instead
    #[arg(long)]
    pub monolithic: bool,
    /// Begin with a state that `oldham trim` has found
    #[arg(long, value_name = "FILE", conflicts_with_all = ["over", "critical", "remedies", "monolithic"])]
    pub from: Option<PathBuf>,
    /// Time for the analysis in seconds: first the start, then states along the run; what is not reached
    /// is named
    #[arg(long, value_name = "N", default_value_t = 10.0, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Look for settings that help an unstable coupling for up to 30 s more, besides what is left of
    /// --seconds
    #[arg(long)]
    pub remedies: bool,
    /// Picture, .svg or .png [default: the model's name with -stability.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `poles`.
#[derive(Args)]
pub struct Poles {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Order of the hold on coupling variables
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=2))]
    pub order: usize,
    /// Time that sending and receiving take, in seconds
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS", allow_negative_numbers = true, value_parser = not_negative)]
    pub latency: f64,
    /// Use a Pade approximant of this order for the exponential instead of the exact roots
    #[arg(long, value_name = "ORDER", value_parser = RangedU64ValueParser::<usize>::new().range(1..=12))]
    pub pade: Option<usize>,
    /// Show the shapes of the modes, too, over the displacements that parts send
    #[arg(long)]
    pub shapes: bool,
    /// Picture, .svg or .png [default: the model's name with -poles.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `compensate`.
#[derive(Args)]
pub struct Compensate {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Try only this approach
    #[arg(long, value_enum)]
    pub by: Option<CompensateBy>,
    /// Write the gains of the first assignment that works, for `gains_from` of a compensator
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// How to compensate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompensateBy {
    /// Gains for the co-simulation as it runs
    Z,
    /// Gains for a continuous model of the coupling
    S,
    /// The motion side evaluates the coupling law
    Structural,
}

/// Arguments of `handling`.
#[derive(Args)]
pub struct Handling {
    /// Result file (.parquet, .csv, or .partial of an interrupted run)
    pub result: PathBuf,
    /// The recorded motion of the chassis; its first axis points forward
    #[arg(long, value_name = "NAME", default_value = "car.chassis")]
    pub body: String,
    /// The recorded steering: an angle, or the travel of a rack
    #[arg(long, value_name = "NAME")]
    pub steer: Option<String>,
    /// Wheelbase in m, for the understeer gradient
    #[arg(long, value_name = "L", requires = "steer", value_parser = positive)]
    pub wheelbase: Option<f64>,
    /// The recorded distance along the track, for lap times
    #[arg(long, value_name = "NAME", requires = "lap")]
    pub distance: Option<String>,
    /// Length of the track in m
    #[arg(long, value_name = "L", requires = "distance", value_parser = positive)]
    pub lap: Option<f64>,
    /// Picture, .svg or .png [default: the result's name with -handling.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `statics`.
#[derive(Args)]
pub struct Statics {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The time at which the loads are taken, in seconds [default: the model's start]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Steps in which the loads are raised, at most 10000; more are taken where they are needed
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub steps: usize,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -statics.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// The configuration about which vibrations are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Configuration {
    /// As the model starts; where it spins, in the steady rotation near that
    Initial,
    /// In static equilibrium under its loads
    Static,
    /// In the steady motion that `oldham trim` finds
    Trimmed,
}

/// Arguments of `modes`.
#[derive(Args)]
pub struct Modes {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The configuration about which the mechanism vibrates
    #[arg(long, value_enum, default_value_t = Configuration::Initial)]
    pub at: Configuration,
    /// About a state that `oldham trim` has found; with --over, --at trimmed finds one at every value
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "over"])]
    pub from: Option<PathBuf>,
    /// How many modes, from the lowest frequency on
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = count)]
    pub count: usize,
    /// Vary a parameter or another number of the file, such as a speed of rotation, with values as for
    /// run --vary, and draw the frequencies over it: a Campbell diagram
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation, conflicts_with_all = ["animate", "view"])]
    pub over: Option<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// The modes nearest to this frequency, in hertz [default: from zero on]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true, value_parser = not_negative)]
    pub near: Option<f64>,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -modes.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Mode shapes as JSON [default: the model's name with -modes.json, here]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Animate each mode: animations (.svg), pictures of one period (.png), or folders
    /// of PNG frames, with the number of the mode after the name
    #[arg(long, value_name = "FILE", value_parser = animation())]
    pub animate: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `linearise`.
#[derive(Args)]
pub struct Linearise {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The time whose state is linearised about, in seconds: the model is run up to there [default: the
    /// model's start]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Linearise about a state that `oldham trim` has found
    #[arg(long, value_name = "FILE", conflicts_with = "time")]
    pub about: Option<PathBuf>,
    /// Draw the frequency response
    #[arg(long)]
    pub bode: bool,
    /// Inputs of the frequency response [default: all, as far as they can be drawn]
    #[arg(long, value_name = "INPUT,...", value_delimiter = ',')]
    pub from: Vec<String>,
    /// Outputs of the frequency response [default: all, as far as they can be drawn]
    #[arg(long, value_name = "OUTPUT,...", value_delimiter = ',')]
    pub to: Vec<String>,
    /// Frequencies in hertz, such as 0.1:100:400:log [default: from a tenth of the lowest to ten times
    /// the highest frequency of a pole]
    #[arg(long, value_name = "LOW:HIGH[:POINTS][:log]", value_parser = frequencies)]
    pub frequencies: Option<Variation>,
    /// Matrices: .json with everything, .csv as one table, .npz for numpy [default: the model's name with
    /// -linear.json, here]
    #[arg(long, value_name = "FILE", value_parser = matrices())]
    pub data: Option<PathBuf>,
    /// Picture of the frequency response, .svg or .png [default: the model's name with -bode.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
