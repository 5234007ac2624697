//! Arguments of the commands that show motions in a browser.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::values::{finite, key_value, page};
use super::{AtTheWheel, ModelArgs, PaceArgs};

/// Where browsers find the page.
#[derive(Args)]
pub struct Serving {
    /// Port to listen at; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Address to listen at; 0.0.0.0 lets other computers in that know the token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,
}

/// Arguments of `view`.
#[derive(Args)]
pub struct View3d {
    /// Result file, or model file (.toml) that runs while you look on
    pub source: PathBuf,
    /// Change a setting or a parameter of the model file first
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// With a model file: begin with a state that `oldham trim` has found
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Write one page (.html) that plays without a server, and end
    #[arg(long, short, value_name = "FILE", value_parser = page())]
    pub out: Option<PathBuf>,
    /// Draw in characters, here, instead of in a browser: an animation on a terminal, else five instants
    #[arg(long, conflicts_with_all = ["out", "port", "listen"])]
    pub text: bool,
    /// With --text and a result: draw this one instant, in s
    #[arg(long, value_name = "SECONDS", requires = "text", allow_negative_numbers = true, value_parser = finite)]
    pub at: Option<f64>,
    /// Rows of a result that are shown at most, from 2 to 20000
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = RangedU64ValueParser::<usize>::new().range(2..=20_000))]
    pub frames: usize,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub serving: Serving,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `drive`.
#[derive(Args)]
pub struct Drive {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Result file [default: the model's name with -drive.parquet, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing result file
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub seat: AtTheWheel,
    #[command(flatten)]
    pub serving: Serving,
    /// End when the run is over, instead of letting viewers look back
    #[arg(long)]
    pub once: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
