//! Arguments of `fmu`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ModelArgs;

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
    /// Write a model as an FMU for co-simulation, with everything that it reads
    ///
    /// Inputs are the external inputs of the model, outputs what its parts send. A communication step must be a multiple
    /// of the macro step; inputs hold over it.
    Export(Export),
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
    /// What is shown as outputs, by name or the beginning of names [default: all that parts send]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub outputs: Vec<String>,
    /// Parameters that can be set before the start [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub parameters: Vec<String>,
    /// The library for the FMU [default: the one beside this program]
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
        match self.action {
            FmuAction::Info { json, .. } => json,
            FmuAction::Export(Export { json, .. }) => json,
        }
    }
}
