//! Arguments of `new`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `new`.
#[derive(Args)]
pub struct New {
    /// The folder to make; its last part names the model
    pub folder: PathBuf,
    /// The example to start from; a name that is none lists them
    #[arg(long, value_name = "EXAMPLE", default_value = "double-pendulum")]
    pub like: String,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
