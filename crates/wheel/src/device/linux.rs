//! Input devices of Linux: `/dev/input/event*`.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evdev::raw_stream::RawDevice;
use evdev::{FFEffect, FFEffectCode, FFEffectData, FFEffectKind, FFEnvelope, FFReplay, FFTrigger};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Device, refused};
use crate::{Axis, AxisCode, WheelError};

const FOLDER: &str = "/dev/input";
/// A force of this direction and a positive level pushes towards higher readings: "right" of `linux/input.h`.
const RIGHT: u16 = 0xc000;

pub fn paths() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let events = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("event"));
    events.map(|entry| entry.path()).collect()
}

pub fn open(path: &Path) -> Result<Box<dyn Device>, WheelError> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Whoever may only read it drives without feeling anything.
    let file = options.write(true).open(path);
    let file = file.or_else(|_| options.write(false).open(path));
    let file = file.map_err(|error| refused(path, &error))?;
    let device = RawDevice::try_from(file).map_err(|error| WheelError::NotInput {
        path: path.into(),
        reason: error.to_string(),
    })?;
    let name = device
        .name()
        .unwrap_or("a device without a name")
        .to_owned();
    if device
        .supported_absolute_axes()
        .is_none_or(|axes| axes.iter().next().is_none())
    {
        let path = path.into();
        return Err(WheelError::NoAxes { path, name });
    }
    Ok(Box::new(InputDevice::new(device, name)))
}

struct InputDevice {
    device: RawDevice,
    name: String,
    /// The force, and its present level.
    force: Option<(FFEffect, i16)>,
}

impl InputDevice {
    fn new(mut device: RawDevice, name: String) -> Self {
        let force = begin_force(&mut device).map(|effect| (effect, 0));
        Self {
            device,
            name,
            force,
        }
    }
}

/// A constant force that is there from now on, and nothing yet. None where the device has none, or
/// does not let this user.
fn begin_force(device: &mut RawDevice) -> Option<FFEffect> {
    let can = device.supported_ff()?;
    let (constant, centres) = (
        can.contains(FFEffectCode::FF_CONSTANT),
        can.contains(FFEffectCode::FF_AUTOCENTER),
    );
    if !constant {
        return None;
    }
    let mut effect = device.upload_ff_effect(constant_force(0)).ok()?;
    if centres {
        // What is felt is to be the model's alone.
        device.set_ff_autocenter(0).ok()?;
    }
    effect.play(1).ok()?;
    Some(effect)
}

fn constant_force(level: i16) -> FFEffectData {
    FFEffectData {
        direction: RIGHT,
        trigger: FFTrigger {
            button: 0,
            interval: 0,
        },
        // No length is no end.
        replay: FFReplay {
            length: 0,
            delay: 0,
        },
        kind: FFEffectKind::Constant {
            level,
            envelope: FFEnvelope {
                attack_length: 0,
                attack_level: 0,
                fade_length: 0,
                fade_level: 0,
            },
        },
    }
}

impl Device for InputDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn axes(&self) -> io::Result<Vec<Axis>> {
        let axis = |(code, info): (evdev::AbsoluteAxisCode, evdev::AbsInfo)| Axis {
            code: AxisCode(code.0),
            low: info.minimum(),
            high: info.maximum(),
            reading: info.value(),
        };
        Ok(self.device.get_absinfo()?.map(axis).collect())
    }

    fn read(&mut self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let until = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut waiting = [PollFd::new(&self.device, PollFlags::IN)];
        match poll(&mut waiting, Some(&until)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(0),
            // Where it is gone, reading says so.
            Ok(_) => Ok(rustix::io::read(&self.device, bytes)?),
            Err(error) => Err(error.into()),
        }
    }

    fn push(&mut self, share: f64) -> io::Result<()> {
        let Some((effect, present)) = &mut self.force else {
            return Ok(());
        };
        let level = (share * f64::from(i16::MAX)).round() as i16;
        if level != *present {
            effect.update(constant_force(level))?;
            *present = level;
        }
        Ok(())
    }

    fn pushes(&self) -> bool {
        self.force.is_some()
    }
}
