//! Arguments about wheels that are plugged into this computer.

use std::path::PathBuf;

use clap::Args;

/// Who drives, if not a viewer at the page.
#[derive(Args)]
pub struct AtTheWheel {
    /// Drive with a steering wheel and pedals that are plugged into this computer, such as
    /// /dev/input/event5 (Linux; `oldham wheel` lists them), or with a recording of them
    #[arg(long, value_name = "DEVICE")]
    pub wheel: Option<PathBuf>,
    /// Which axis of the wheel sets which input [default: what `oldham wheel DEVICE --calibrate MODEL`
    /// kept, else what is likely]
    #[arg(long, value_name = "FILE", requires = "wheel")]
    pub calibration: Option<PathBuf>,
}

/// Arguments of `wheel`.
#[derive(Args)]
pub struct Wheel {
    /// One of them: its axes, and where they are
    pub device: Option<PathBuf>,
    /// Learn which axis sets which input of this model, where it rests and how far it goes
    #[arg(long, value_name = "MODEL", requires = "device")]
    pub calibrate: Option<PathBuf>,
    /// Where to keep that [default: in the user's folder of settings, by the name of the device]
    #[arg(long, value_name = "FILE", requires = "calibrate")]
    pub calibration: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
