//! Arguments of `trim`.

use std::path::PathBuf;

use clap::Args;
use oldham_study::Variation;

use super::ModelArgs;
use super::values::{held, not_negative, positive, seconds, variation};

/// Arguments of `trim`.
#[derive(Args)]
pub struct Trim {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Hold a signal at a value, such as car.sensors.vx=27.8; goes over what the section `trim` of the model says of it
    #[arg(long, value_name = "SIGNAL=VALUE", value_parser = held)]
    pub hold: Vec<(String, f64)>,
    /// Find the value of a parameter with the motion
    #[arg(long, value_name = "PARAMETER")]
    pub free: Vec<String>,
    /// The period of the motion in seconds [default: that of the section `trim`, or none: what should be constant is so
    /// from step to step]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub period: Option<f64>,
    /// Find the period, too, beginning with that of --period or of the section `trim`
    #[arg(long)]
    pub find_period: bool,
    /// Run the model for so many seconds before the search begins [default: that of the section `trim`, or none]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = not_negative)]
    pub settling_time: Option<f64>,
    /// Follow the motion over a range of a parameter; states go to a folder, which is MODEL-trim by default, and those that are there
    /// already are not looked for again
    #[arg(long, value_name = "KEY=LOW:HIGH[:POINTS]", value_parser = variation)]
    pub over: Option<Variation>,
    /// Time for the search in seconds, of each value with --over
    #[arg(long, value_name = "N", default_value_t = 300.0, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Trim the monolithic reference model instead of the coupled one
    #[arg(long)]
    pub monolithic: bool,
    /// The file of the state [default: the model's name with .trim, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
