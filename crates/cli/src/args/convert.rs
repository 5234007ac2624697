//! Arguments of `convert`.

use std::path::PathBuf;

use clap::Args;

use super::values::positive;

/// Arguments of `convert`.
#[derive(Args)]
pub struct Convert {
    /// The file: URDF, MJCF, or a package of SSP
    pub file: PathBuf,
    /// The model file [default: the name of the file with .toml, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Let the root of a URDF move freely, as that of a robot on legs; else it is fixed to the ground
    #[arg(long)]
    pub free: bool,
    /// Use the collision shapes: contact with the ground, and of MJCF with each other
    #[arg(long)]
    pub contacts: bool,
    /// Give every joint of a URDF with a limit of its effort a servo, not only those with a transmission
    #[arg(long)]
    pub servos: bool,
    /// Density in kg/m3 of URDF links without inertia, which then follows from their shapes and meshes
    #[arg(long, value_name = "DENSITY", allow_negative_numbers = true, value_parser = positive)]
    pub density: Option<f64>,
    /// The folder from which meshes may be read [default: the folder above that of the file]
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
