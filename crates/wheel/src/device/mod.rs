//! Devices: those of the system, and recordings of them.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
mod recording;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

pub use recording::Recording;

use crate::{Axis, WheelError};

/// What can be moved, and may push back. It is opened, asked for its axes once, then read for ever.
pub trait Device: Send {
    /// What it calls itself.
    fn name(&self) -> &str;

    /// Its axes as they are now; empty where it cannot tell.
    fn axes(&self) -> io::Result<Vec<Axis>>;

    /// Waits for records, but not longer than told, and says how many bytes of them there are; whole
    /// records only. An error means that the device is gone.
    fn read(&mut self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize>;

    /// Pushes towards higher readings with this share of its strength, from -1 to 1, until told
    /// otherwise.
    fn push(&mut self, _share: f64) -> io::Result<()> {
        Ok(())
    }

    /// Whether it can push.
    fn pushes(&self) -> bool {
        false
    }

    /// Whether it is worth waiting for when it is gone.
    fn can_return(&self) -> bool {
        true
    }
}

/// A device that is plugged in.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// What it calls itself; none where this user may not ask.
    pub name: Option<String>,
    /// Its axes.
    pub axes: Vec<Axis>,
    /// Whether it can push.
    pub pushes: bool,
}

/// All devices with axes, and those that this user may not look at.
pub fn found() -> Vec<Found> {
    let mut paths = system::paths();
    // By number: 2 comes before 10.
    paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    let looked_at = |path: PathBuf| match system::open(&path) {
        Ok(device) => Some(Found {
            name: Some(device.name().into()),
            axes: device.axes().ok()?,
            pushes: device.pushes(),
            path,
        }),
        Err(WheelError::NotPermitted { path }) => Some(Found {
            path,
            name: None,
            axes: Vec::new(),
            pushes: false,
        }),
        Err(_) => None,
    };
    paths.into_iter().filter_map(looked_at).collect()
}

/// Opens a device, or a recording of one.
pub fn open(path: &Path) -> Result<Box<dyn Device>, WheelError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Box::new(Recording::open(path)?)),
        Ok(_) => system::open(path),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Why a file cannot be opened.
fn refused(path: &Path, error: &io::Error) -> WheelError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => WheelError::NotThere { path },
        io::ErrorKind::PermissionDenied => WheelError::NotPermitted { path },
        _ => WheelError::NotInput {
            path,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_is_told_with_what_to_do() {
        let told = |kind: io::ErrorKind| {
            let error = io::Error::from(kind);
            refused(Path::new("/dev/input/event5"), &error).to_string()
        };
        let denied = told(io::ErrorKind::PermissionDenied);
        assert!(
            denied.contains("may not read /dev/input/event5"),
            "{denied}"
        );
        assert!(denied.contains("usermod -aG input"), "{denied}");
        let missing = told(io::ErrorKind::NotFound);
        assert!(missing.contains("`oldham wheel` lists"), "{missing}");
    }
}
