//! Arguments of the commands that draw.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use oldham_scene::ViewName;

use super::values::{animation, finite, picture, positive};
use super::{Changes, ModelArgs};

/// Arguments of `papers`.
#[derive(Args)]
pub struct Papers {
    /// A paper, or one of its items
    #[arg(value_name = "KEY[/ITEM]")]
    pub item: Option<String>,
    /// Compute all items
    #[arg(long, conflicts_with = "item")]
    pub all: bool,
    /// Write one page, index.html, with every figure and value and what comes of each item; of all items if none is
    /// named
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub report: Option<PathBuf>,
    /// Folder for pictures
    #[arg(long, short, value_name = "DIR", default_value = "papers-out")]
    pub out: PathBuf,
    /// How long runs by the clock on the wall take, each [default: 60]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub seconds: Option<f64>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `plot`.
#[derive(Args)]
pub struct Plot {
    /// Result files (.parquet, .csv, or .partial of an interrupted run)
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Signals to draw, in order; `left.x1` stands for all of its components [default: displacements,
    /// positions, forces, pressures and energies that change]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub signals: Vec<String>,
    /// First time to draw, in seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub from: Option<f64>,
    /// Last time to draw, in seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub to: Option<f64>,
    /// Units to draw in, such as `bar,mm,deg,l/min`; each is for the signals that measure the same [default: bar for
    /// pressures, SI for the others]
    #[arg(long, value_name = "UNIT,...", value_delimiter = ',')]
    pub units: Vec<String>,
    /// Picture, .svg or .png [default: the first result's name with .svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// From where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// At the plane of the motion if there is one, else as `iso`
    Auto,
    /// x to the right, y up
    Xy,
    /// x to the right, z up
    Xz,
    /// y to the right, z up
    Yz,
    /// From above, all three axes equally long
    Iso,
}

impl From<View> for ViewName {
    fn from(view: View) -> Self {
        match view {
            View::Auto => Self::Auto,
            View::Xy => Self::Xy,
            View::Xz => Self::Xz,
            View::Yz => Self::Yz,
            View::Iso => Self::Iso,
        }
    }
}

/// Arguments of `partition`.
#[derive(Args)]
pub struct Partition {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Look for the best cut into so many parts
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(2..=64))]
    pub parts: Option<usize>,
    /// Measure what elements, nodes and copies cost on this machine, and keep that beside the model
    #[arg(long)]
    pub measure: bool,
    /// The mechanism that is meant, where there are several
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<String>,
    /// Add the best cut to the model file, which stays as it is otherwise
    #[arg(long, requires = "parts")]
    pub write: bool,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -partition.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `animate`.
#[derive(Args)]
pub struct Animate {
    /// Result file, or model file (.toml) to be solved first
    pub source: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Animation (.svg), one picture (.png), or a folder for PNG frames [default: the name
    /// with -motion.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = animation())]
    pub out: Option<PathBuf>,
    /// Frames at most, from 2 to 2000
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = RangedU64ValueParser::<usize>::new().range(2..=2000))]
    pub frames: usize,
    /// Simulated seconds per second of the animation
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive)]
    pub speed: f64,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
