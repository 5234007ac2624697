//! Arguments of `fmu`, and of the workers in which FMUs run.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ModelArgs;
use super::values::{key_value, picture, positive};

/// Arguments of `fmu`.
#[derive(Args)]
pub struct Fmu {
    /// What to do with it
    #[command(subcommand)]
    pub action: FmuAction,
}

/// What to do with an FMU.
#[derive(Subcommand)]
pub enum FmuAction {
    /// Say what it can do, and list its inputs, outputs and parameters
    Info {
        /// The FMU
        file: PathBuf,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell whether it does what it says: its description, its library, some steps, its saved states
    Validate {
        /// The FMU
        file: PathBuf,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Run it by itself, and write what it sends as results
    Run(FmuRun),
    /// Measure its poles, gains and noise, by impulses at its inputs
    Probe(FmuProbe),
    /// Write a model as an FMU for co-simulation, with everything that it reads
    ///
    /// Inputs are the external inputs of the model, outputs what its parts send. A communication step must be a multiple
    /// of the macro step; inputs hold over it.
    Export(Export),
}

/// Arguments of `fmu run`.
#[derive(Args)]
pub struct FmuRun {
    /// The FMU
    pub file: PathBuf,
    /// How long, in s [default: as the FMU says, or 1]
    #[arg(long, value_name = "T", value_parser = positive)]
    pub duration: Option<f64>,
    /// The step in s [default: as the FMU says, or a thousandth of the duration]
    #[arg(long, value_name = "H", value_parser = positive)]
    pub step: Option<f64>,
    /// Set a parameter, in SI
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Drive an input by an expression of the time t, in SI [default: its start value]
    #[arg(long = "input", value_name = "NAME=EXPRESSION", value_parser = key_value)]
    pub inputs: Vec<(String, String)>,
    /// Results, .parquet or .csv [default: the FMU's name with .parquet, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draw them, too: a picture, .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture())]
    pub plot: Option<PathBuf>,
    /// Replace results that are there
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `fmu probe`.
#[derive(Args)]
pub struct FmuProbe {
    /// The FMU
    pub file: PathBuf,
    /// The step in s [default: as the FMU says, or a thousandth of its duration]
    #[arg(long, value_name = "H", value_parser = positive)]
    pub step: Option<f64>,
    /// Set a parameter, in SI
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Hold an input at a value, in SI [default: its start value]
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = key_value)]
    pub inputs: Vec<(String, String)>,
    /// Steps of each record
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..=65536))]
    pub steps: u32,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `fmu export`.
#[derive(Args)]
pub struct Export {
    /// The model and changes of it
    #[command(flatten)]
    pub model: ModelArgs,
    /// Where the FMU goes
    #[arg(short, long)]
    pub out: PathBuf,
    /// The version of FMI
    #[arg(long, value_name = "VERSION", default_value = "3", value_parser = ["2", "3"])]
    pub fmi: String,
    /// One part of the model only; what others send to it becomes its inputs
    #[arg(long, value_name = "NAME")]
    pub part: Option<String>,
    /// What is shown as outputs, by name or the beginning of names [default: all that parts send]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub outputs: Vec<String>,
    /// Parameters that can be set before the start [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub parameters: Vec<String>,
    /// The library for the FMU [default: the one that was installed with this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

impl Fmu {
    /// Whether the answer goes to a machine.
    pub fn json(&self) -> bool {
        match &self.action {
            FmuAction::Info { json, .. } | FmuAction::Validate { json, .. } => *json,
            FmuAction::Run(run) => run.json,
            FmuAction::Probe(probe) => probe.json,
            FmuAction::Export(export) => export.json,
        }
    }
}

/// Arguments of `worker`.
#[derive(Args)]
pub struct Worker {
    /// The process that starts it
    pub host: u32,
}
