//! Arguments of `advise`.

use clap::Args;

use super::ModelArgs;
use super::values::seconds;

/// Arguments of `advise`.
#[derive(Args)]
pub struct Advise {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Time for the search in seconds; what is not tried in it is named
    #[arg(long, value_name = "N", default_value_t = oldham_study::LONGEST_ADVICE.as_secs_f64(), allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Set what is advised in the model file; comments and everything else in it stay
    #[arg(long)]
    pub write: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
