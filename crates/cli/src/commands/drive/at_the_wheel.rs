//! Somebody at a wheel that is plugged into this computer drives, on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use oldham_web::{Feedback, Input, Seat, Stage, Wish};
use oldham_wheel::{Button, Calibration, Device, Turn, Wheel, WheelError};

use crate::args::AtTheWheel;
use crate::failure::Failure;
use crate::{say, tell};

/// So long is listened before it is looked for what is to be felt.
const LISTENING: Duration = Duration::from_millis(4);
/// When no row has come for so long, the run waits or has ended, and nothing is felt.
const SILENCE: Duration = Duration::from_millis(200);
/// How often it is looked whether a device is back.
const AGAIN: Duration = Duration::from_millis(500);

/// Opens the wheel of the command line, if there is one, and says what it does.
pub fn open(
    arguments: &AtTheWheel,
    inputs: &[Input],
    json: bool,
) -> Result<Option<Wheel>, Failure> {
    let Some(path) = &arguments.wheel else {
        return Ok(None);
    };
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let device = oldham_wheel::open(path)?;
    let (calibration, is_known) = calibration(arguments, path, &*device, &names)?;
    if !json {
        let moves = names.iter().filter_map(|name| {
            let response = calibration.inputs.get(name)?;
            Some(format!("{name} by {}", response.axis))
        });
        let moves: Vec<String> = moves.collect();
        let felt = if device.pushes() {
            ""
        } else {
            "; it has no force to be felt"
        };
        say!("{} sets {}{felt}", device.name(), moves.join(", "));
        if !is_known {
            let path = path.display();
            say!("  which is a guess: `oldham wheel {path} --calibrate MODEL` learns how it is");
        }
    }
    Ok(Some(Wheel::new(device, &calibration, &names)))
}

/// What the axes do, and whether somebody said so.
fn calibration(
    arguments: &AtTheWheel,
    path: &Path,
    device: &dyn Device,
    names: &[String],
) -> Result<(Calibration, bool), Failure> {
    let axes = device.axes().unwrap_or_default();
    let knows = |calibration: &Calibration| {
        names
            .iter()
            .any(|name| calibration.inputs.contains_key(name))
    };
    let given = arguments.calibration.clone();
    let kept = || Calibration::place(device.name()).filter(|place| place.exists());
    if let Some(place) = given.clone().or_else(kept) {
        let calibration = Calibration::read(&place)?;
        let wrong = |reason| WheelError::Calibration {
            path: place.clone(),
            reason,
        };
        let has = |axis| axes.is_empty() || axes.iter().any(|known| known.code == axis);
        let used = names
            .iter()
            .filter_map(|name| Some((name, calibration.inputs.get(name)?)));
        for (name, response) in used {
            if !has(response.axis) {
                let (axis, device) = (response.axis, device.name());
                let reason = format!("it sets `{name}` by {axis}, which {device} does not have");
                return Err(wrong(reason).into());
            }
        }
        if knows(&calibration) {
            return Ok((calibration, true));
        }
        if given.is_some() {
            let names = names.join(", ");
            let reason = format!("it sets no input of this model, which has: {names}");
            return Err(wrong(reason).into());
        }
    }
    if axes.is_empty() {
        return Err(WheelError::NotCalibrated.into());
    }
    let likely = Calibration::likely(device.name(), &axes, names);
    if !knows(&likely) {
        let nothing = WheelError::NothingToMove {
            path: path.into(),
            name: device.name().into(),
            input: names.first().cloned().unwrap_or_default(),
        };
        return Err(nothing.into());
    }
    Ok((likely, false))
}

/// A wheel that drives until this is dropped.
pub struct Driving {
    is_recording: bool,
    flags: Arc<Flags>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Flags {
    /// Somebody pressed a button.
    pressed: AtomicBool,
    stopped: AtomicBool,
}

impl Driving {
    /// Takes the seat; where the wheel is gone, it is looked for at its path.
    pub fn start(wheel: Wheel, path: &Path, inputs: &[Input], stage: &Stage) -> Self {
        let flags = Arc::new(Flags::default());
        let is_recording = !wheel.device().can_return();
        let felt = |(place, input): (usize, &Input)| Some((place, input.feedback.clone()?));
        let driver = Driver {
            wheel,
            path: path.into(),
            hands: Hands {
                inputs: inputs.to_vec(),
                seat: Seat::at(stage),
                flags: flags.clone(),
            },
            felt: inputs.iter().enumerate().find_map(felt),
            stage: stage.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("wheel".into())
            .spawn(move || driver.run(&mut oldham_wheel::open));
        Self {
            is_recording,
            flags,
            thread: thread.ok(),
        }
    }

    /// Whether the run is to begin, though nobody looks on: somebody pressed a button, or nobody can.
    pub fn begins(&self) -> bool {
        self.is_recording || self.flags.pressed.load(Ordering::Relaxed)
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        self.flags.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Driver {
    wheel: Wheel,
    path: PathBuf,
    hands: Hands,
    /// The input at which something is felt, and what.
    felt: Option<(usize, Feedback)>,
    stage: Stage,
}

/// What turns of the wheel become.
struct Hands {
    inputs: Vec<Input>,
    seat: Seat,
    flags: Arc<Flags>,
}

type Open<'a> = &'a mut dyn FnMut(&Path) -> Result<Box<dyn Device>, WheelError>;

impl Driver {
    /// Drives until it is stopped, or until the device is gone for ever.
    fn run(mut self, open: Open<'_>) {
        self.hands.take(&self.wheel);
        while !self.hands.is_stopped() {
            let Err(error) = self.drive() else {
                break;
            };
            self.hands.seat.wish(Wish::Leave);
            let name = self.wheel.device().name();
            if !self.wheel.device().can_return() {
                self.tell(&format!("{name}: {error}; all inputs are as at first"));
                break;
            }
            self.tell(&format!(
                "{name} is gone ({error}); all inputs are as at first. Plug it in again, or drive from the page"
            ));
            self.wait(open);
        }
    }

    /// Until the device is back.
    fn wait(&mut self, open: Open<'_>) {
        while !self.hands.is_stopped() {
            std::thread::sleep(AGAIN);
            if let Ok(device) = open(&self.path) {
                self.wheel.replace(device);
                self.tell(&format!("{} is back", self.wheel.device().name()));
                self.hands.take(&self.wheel);
                return;
            }
        }
    }

    fn tell(&self, text: &str) {
        tell!("{text}");
        self.stage.note(text);
    }

    fn drive(&mut self) -> std::io::Result<()> {
        let mut felt_last = Instant::now();
        let hands = &mut self.hands;
        self.wheel.ask(&mut |turn| hands.turn(turn))?;
        while !hands.is_stopped() {
            let mut has_moved = false;
            self.wheel.attend(LISTENING, &mut |turn| {
                has_moved |= matches!(turn, Turn::Moved(..));
                hands.turn(turn);
            })?;
            if has_moved && !hands.seat.drives() {
                hands.take(&self.wheel);
            }
            let Some((input, feedback)) = &self.felt else {
                continue;
            };
            if let Some(value) = hands.seat.newest(feedback.at) {
                felt_last = Instant::now();
                let share = if hands.seat.drives() {
                    f64::from(value) / feedback.full
                } else {
                    0.0
                };
                self.wheel
                    .push(*input, if share.is_finite() { share } else { 0.0 })?;
            } else if felt_last.elapsed() > SILENCE {
                self.wheel.push(*input, 0.0)?;
            }
        }
        if let Some((input, _)) = &self.felt {
            self.wheel.push(*input, 0.0)?;
        }
        Ok(())
    }
}

impl Hands {
    fn is_stopped(&self) -> bool {
        self.flags.stopped.load(Ordering::Relaxed)
    }

    /// Drives, if nobody else does, from where everything is.
    fn take(&self, wheel: &Wheel) {
        self.seat.wish(Wish::Drive);
        for (input, share) in wheel.shares() {
            self.turn(Turn::Moved(input, share));
        }
    }

    fn turn(&self, turn: Turn) {
        match turn {
            Turn::Moved(input, share) => {
                let Input {
                    initial, low, high, ..
                } = self.inputs[input];
                let room = if share > 0.0 {
                    high - initial
                } else {
                    initial - low
                };
                let value = initial + share * room;
                self.seat.wish(Wish::Set { input, value });
            }
            Turn::Pressed(button) => {
                self.flags.pressed.store(true, Ordering::Relaxed);
                let wish = button.map(|button| match button {
                    Button::Pause if self.seat.is_paused() => Wish::GoOn,
                    Button::Pause => Wish::Pause,
                    Button::Reset => Wish::Reset,
                    Button::Save => Wish::Save,
                    Button::Restart => Wish::Restart,
                    Button::End => Wish::End,
                });
                if let Some(wish) = wish {
                    self.seat.wish(wish);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_wheel::{Axis, AxisCode};
    use std::io;
    use std::sync::Mutex;

    const AXIS: Axis = Axis {
        code: AxisCode(0),
        low: -100,
        high: 100,
        reading: 50,
    };

    /// Stays where it is, remembers how it was pushed, and is gone after so many looks.
    #[derive(Clone)]
    struct Fixture {
        looks: u32,
        pushed: Arc<Mutex<Vec<f64>>>,
    }

    impl Device for Fixture {
        fn name(&self) -> &str {
            "fixture"
        }

        fn axes(&self) -> io::Result<Vec<Axis>> {
            Ok(vec![AXIS])
        }

        fn read(&mut self, _bytes: &mut [u8], timeout: Duration) -> io::Result<usize> {
            std::thread::sleep(timeout);
            self.looks = self
                .looks
                .checked_sub(1)
                .ok_or(io::Error::other("No such device"))?;
            Ok(0)
        }

        fn push(&mut self, share: f64) -> io::Result<()> {
            self.pushed.lock().unwrap().push(share);
            Ok(())
        }
    }

    fn input() -> Input {
        Input {
            name: "steering".into(),
            component: 0,
            unit: String::new(),
            initial: 1.0,
            low: 0.0,
            high: 5.0,
            feedback: Some(Feedback {
                name: "torque".into(),
                unit: String::new(),
                at: 0,
                full: 10.0,
            }),
        }
    }

    /// A wheel that is unplugged lets go of the inputs, says so, and drives again when it is back.
    #[test]
    fn a_wheel_may_be_unplugged_and_come_back() {
        let names = ["steering".to_owned()];
        let mut calibration = Calibration::likely("fixture", &[AXIS], &names);
        calibration.inputs.get_mut("steering").unwrap().dead = 0.0;
        let fixture = Fixture {
            looks: 3,
            pushed: Arc::default(),
        };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = heard.clone();
        let stage = Stage::new(vec![1.0], move |wish| ears.lock().unwrap().push(wish));
        stage.show(0.0, [-4.0]);
        let flags = Arc::new(Flags::default());
        let driver = Driver {
            wheel: Wheel::new(Box::new(fixture.clone()), &calibration, &names),
            path: "/dev/input/event5".into(),
            hands: Hands {
                inputs: vec![input()],
                seat: Seat::at(&stage),
                flags: flags.clone(),
            },
            felt: input().feedback.map(|feedback| (0, feedback)),
            stage: stage.clone(),
        };
        let mut tries = 0;
        driver.run(&mut |path| {
            assert_eq!(path, Path::new("/dev/input/event5"));
            assert!(
                !stage.is_driven(),
                "a viewer at the page may drive meanwhile"
            );
            tries += 1;
            flags.stopped.store(tries == 3, Ordering::Relaxed);
            match tries {
                1 => Err(WheelError::NotThere { path: path.into() }),
                _ => Ok(Box::new(fixture.clone())),
            }
        });
        let set = |value| Wish::Set { input: 0, value };
        // The fixture is half of the way to its upper end: 1 + 0.5 * (5 - 1).
        let once = [Wish::Drive, set(1.0), set(3.0), set(1.0), Wish::GoOn];
        let heard = heard.lock().unwrap();
        assert_eq!(heard[..10], [once, once].concat(), "{heard:?}");
        assert_eq!(fixture.pushed.lock().unwrap()[0], -0.4);
    }
}
