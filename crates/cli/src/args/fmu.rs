//! Arguments of `fmu`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
}

impl Fmu {
    /// Whether the answer goes to a machine.
    pub fn json(&self) -> bool {
        match self.action {
            FmuAction::Info { json, .. } => json,
        }
    }
}
