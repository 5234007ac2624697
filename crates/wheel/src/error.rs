//! Why a wheel cannot be used.

use std::path::PathBuf;

/// Why a wheel cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// There is no such file.
    #[error("there is no {path}; `oldham wheel` lists what is plugged in", path = path.display())]
    NotThere {
        /// Where it should be.
        path: PathBuf,
    },
    /// The user may not read it.
    #[error(
        "this user may not read {path}: an administrator lets you, by `sudo usermod -aG input $USER`, after which you \
         log in again, or by a rule of udev with TAG+=\"uaccess\"",
        path = path.display()
    )]
    NotPermitted {
        /// Where it is.
        path: PathBuf,
    },
    /// It is something else.
    #[error(
        "{path} is no input device: give one of /dev/input/event*, or a recording of one ({reason})",
        path = path.display()
    )]
    NotInput {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It has nothing that moves by degrees.
    #[error("{name} ({path}) has no axes: `oldham wheel` lists devices that have", path = path.display())]
    NoAxes {
        /// Where it is.
        path: PathBuf,
        /// What it calls itself.
        name: String,
    },
    /// A recording is damaged.
    #[error(
        "{path} is no recording of an input device: {bytes} bytes are no whole number of records of {record}",
        path = path.display(), record = crate::RECORD
    )]
    Damaged {
        /// The recording.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A recording does not tell how far its axes go.
    #[error(
        "a recording does not say how far its axes go: give a calibration by --calibration FILE"
    )]
    NotCalibrated,
    /// A calibration cannot be used.
    #[error("the calibration {path} cannot be used: {reason}", path = path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The device has too few axes to guess which is which.
    #[error(
        "{name} has no axis that could set `{input}`: say which by `oldham wheel {path} --calibrate MODEL`",
        path = path.display()
    )]
    NothingToMove {
        /// Where it is.
        path: PathBuf,
        /// What it calls itself.
        name: String,
        /// The first input of the model.
        input: String,
    },
    /// Built for another system.
    #[error(
        "wheels are read directly on Linux alone; elsewhere a browser reads them: leave --wheel out, press a button of the \
         wheel while the page is open, and choose its axes under \"Gamepad or wheel\""
    )]
    Elsewhere,
}
