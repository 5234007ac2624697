//! A device that drives: what it says becomes shares of inputs and wishes.

use std::io;
use std::time::Duration;

use crate::{AxisCode, Button, Calibration, Device, Event, RECORD, Response, What};

/// Records that are taken at once.
const AT_ONCE: usize = 64;

/// What whoever is at the wheel did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// Moved an input, by its number: 0 at rest, 1 to its highest value, -1 to its lowest.
    Moved(usize, f64),
    /// Pressed a button, which stands for a wish or for nothing.
    Pressed(Option<Button>),
}

/// A device, and what it moves.
pub struct Wheel {
    device: Box<dyn Device>,
    /// Of each input: what moves it, and how far it is moved.
    inputs: Vec<Option<(Response, f64)>>,
    buttons: Vec<(u16, Button)>,
    force: f64,
    /// Whether something was dropped: what comes is old until the next report.
    is_behind: bool,
}

impl Wheel {
    /// A device that moves those of these inputs that the calibration knows.
    pub fn new(device: Box<dyn Device>, calibration: &Calibration, inputs: &[String]) -> Self {
        let response = |input| calibration.inputs.get(input).map(|known| (*known, 0.0));
        let buttons = calibration.buttons.iter();
        Self {
            device,
            inputs: inputs.iter().map(response).collect(),
            buttons: buttons.map(|(button, code)| (*code, *button)).collect(),
            force: calibration.force,
            is_behind: false,
        }
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// How far each input is moved that this device moves.
    pub fn shares(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let moved = self.inputs.iter().enumerate();
        moved.filter_map(|(input, moved)| moved.map(|(_, share)| (input, share)))
    }

    /// Takes another device in the place of one that is gone. Its inputs count as being at rest.
    pub fn replace(&mut self, device: Box<dyn Device>) {
        self.device = device;
        self.is_behind = false;
        for (_, share) in self.inputs.iter_mut().flatten() {
            *share = 0.0;
        }
    }

    /// Asks where everything is, and tells what is not where it was.
    pub fn ask(&mut self, tell: &mut dyn FnMut(Turn)) -> io::Result<()> {
        for axis in self.device.axes()? {
            self.place(axis.code, axis.reading, tell);
        }
        Ok(())
    }

    /// Waits until something happens, but not longer than told, and tells what did.
    pub fn attend(&mut self, timeout: Duration, tell: &mut dyn FnMut(Turn)) -> io::Result<()> {
        let mut bytes = [0; AT_ONCE * RECORD];
        let count = self.device.read(&mut bytes, timeout)?;
        for event in Event::all(&bytes[..count]) {
            self.hear(event.what(), tell)?;
        }
        Ok(())
    }

    /// Pushes an input towards its highest value (or its lowest, where negative) with a share of the
    /// strength that there is.
    pub fn push(&mut self, input: usize, share: f64) -> io::Result<()> {
        match self.inputs.get(input) {
            Some(Some((response, _))) => {
                let share = share * self.force * response.direction();
                self.device.push(share.clamp(-1.0, 1.0))
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, what: What, tell: &mut dyn FnMut(Turn)) -> io::Result<()> {
        match what {
            What::Dropped => self.is_behind = true,
            What::Report if self.is_behind => {
                self.is_behind = false;
                self.ask(tell)?;
            }
            _ if self.is_behind => {}
            What::Axis(code, reading) => self.place(AxisCode(code), reading, tell),
            What::Pressed(code) => {
                let meant = self.buttons.iter().find(|(known, _)| *known == code);
                tell(Turn::Pressed(meant.map(|(_, button)| *button)));
            }
            What::Report | What::Other => {}
        }
        Ok(())
    }

    fn place(&mut self, axis: AxisCode, reading: i32, tell: &mut dyn FnMut(Turn)) {
        for (input, moved) in self.inputs.iter_mut().enumerate() {
            let Some((response, share)) = moved.as_mut().filter(|(it, _)| it.axis == axis) else {
                continue;
            };
            let now = response.share(reading);
            if now != *share {
                *share = now;
                tell(Turn::Moved(input, now));
            }
        }
    }
}
