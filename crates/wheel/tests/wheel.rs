//! Wheels from the bytes that the system writes to what they move.
//!
//! `data/g29.events` was packed from `data/g29.txt` by Python's `struct`, in the layout "llHHi" that
//! python-evdev documents for `struct input_event` on 64 bits.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oldham_wheel::{
    Axis, AxisCode, Button, Calibration, Device, Event, Learning, RECORD, Recording, Response,
    Turn, Wheel, WheelError, open,
};

const X: AxisCode = AxisCode(0);
const Z: AxisCode = AxisCode(2);
const RZ: AxisCode = AxisCode(5);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// As `evtest` tells it of the G29 with nobody at it, the wheel in its middle.
fn g29() -> Vec<Axis> {
    let axis = |code, low, high, reading| Axis {
        code: AxisCode(code),
        low,
        high,
        reading,
    };
    vec![
        axis(0, 0, 65_535, 32_767),
        axis(1, 0, 255, 255),
        axis(2, 0, 255, 255),
        axis(5, 0, 255, 255),
        axis(16, -1, 1, 0),
        axis(17, -1, 1, 0),
    ]
}

fn inputs() -> Vec<String> {
    ["steering", "throttle", "brake"].map(String::from).to_vec()
}

fn record(seconds: f64, kind: u16, code: u16, value: i32) -> Vec<u8> {
    let micros = (seconds * 1e6).round() as usize;
    let mut bytes = Vec::new();
    bytes.extend((micros / 1_000_000).to_ne_bytes());
    bytes.extend((micros % 1_000_000).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(code.to_ne_bytes());
    bytes.extend(value.to_ne_bytes());
    assert_eq!(bytes.len(), RECORD);
    bytes
}

/// A device that says what it is given, and keeps what it was pushed by.
#[derive(Clone, Default)]
struct Table {
    axes: Arc<Mutex<Vec<Axis>>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    pushed: Arc<Mutex<Vec<f64>>>,
}

impl Device for Table {
    fn name(&self) -> &str {
        "table"
    }

    fn axes(&self) -> io::Result<Vec<Axis>> {
        Ok(self.axes.lock().unwrap().clone())
    }

    fn read(&mut self, bytes: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        let mut given = self.bytes.lock().unwrap();
        let count = given.len().min(bytes.len());
        bytes[..count].copy_from_slice(&given[..count]);
        given.drain(..count);
        Ok(count)
    }

    fn push(&mut self, share: f64) -> io::Result<()> {
        self.pushed.lock().unwrap().push(share);
        Ok(())
    }
}

fn attended(wheel: &mut Wheel) -> Vec<Turn> {
    let mut turns = Vec::new();
    let timeout = Duration::ZERO;
    wheel.attend(timeout, &mut |turn| turns.push(turn)).unwrap();
    turns
}

#[test]
fn bytes_of_a_real_wheel_say_what_evtest_said() {
    let text = std::fs::read_to_string(data("g29.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let told: Vec<[i64; 5]> = lines
        .map(|line| {
            let numbers = line.split([' ', '.']).map(|number| number.parse().unwrap());
            numbers.collect::<Vec<i64>>().try_into().unwrap()
        })
        .collect();
    let bytes = std::fs::read(data("g29.events")).unwrap();
    let read: Vec<[i64; 5]> = Event::all(&bytes)
        .map(|event| {
            [
                event.time.as_secs() as i64,
                event.time.subsec_micros().into(),
                event.kind.into(),
                event.code.into(),
                event.value.into(),
            ]
        })
        .collect();
    assert_eq!(read.len(), 28);
    assert_eq!(read, told);
}

/// The readings 7663 and 143 to 251 of the recording, by the closed form of a calibration without a
/// dead zone.
#[test]
fn a_recording_of_a_real_wheel_moves_inputs() {
    let mut calibration = Calibration::likely("G29", &g29(), &inputs());
    calibration.inputs.values_mut().for_each(|it| it.dead = 0.0);
    calibration.buttons = BTreeMap::from([(Button::Reset, 289)]);
    let table = Table::default();
    *table.bytes.lock().unwrap() = std::fs::read(data("g29.events")).unwrap();
    let mut wheel = Wheel::new(Box::new(table), &calibration, &inputs());
    let turns = attended(&mut wheel);
    let steering = |reading: f64| Turn::Moved(0, (reading - 32_767.0) / 32_767.0);
    let throttle = |reading: f64| Turn::Moved(1, (255.0 - reading) / 255.0);
    let mut expected = vec![
        steering(7_663.0),
        steering(7_664.0),
        Turn::Pressed(Some(Button::Reset)),
    ];
    let pedal = [143., 152., 161., 182., 193., 205., 217., 228., 251.];
    expected.extend(pedal.map(throttle));
    assert_eq!(turns, expected);
}

#[test]
fn what_was_dropped_is_asked_for() {
    let table = Table::default();
    let calibration = Calibration::likely("table", &g29(), &inputs());
    let mut bytes = record(0.0, 0, 3, 0);
    // Old readings, as the system keeps them after it dropped others.
    bytes.extend(record(0.0, 3, 0, 0));
    bytes.extend(record(0.0, 0, 0, 0));
    *table.bytes.lock().unwrap() = bytes;
    let mut axes = g29();
    axes[0].reading = 65_535;
    *table.axes.lock().unwrap() = axes;
    let mut wheel = Wheel::new(Box::new(table.clone()), &calibration, &inputs());
    assert_eq!(attended(&mut wheel), [Turn::Moved(0, 1.0)]);
    table.bytes.lock().unwrap().extend(record(1.0, 3, 0, 0));
    assert_eq!(attended(&mut wheel), [Turn::Moved(0, -1.0)]);
}

/// A push towards the highest value of an input goes to where the axis reads so, with the share of the
/// strength that the calibration allows.
#[test]
fn pushes_go_where_the_input_grows() {
    let table = Table::default();
    let mut calibration = Calibration::likely("table", &g29(), &inputs());
    calibration.force = 0.5;
    let mut wheel = Wheel::new(Box::new(table.clone()), &calibration, &inputs());
    wheel.push(0, 1.0).unwrap();
    wheel.push(1, 1.0).unwrap();
    wheel.push(0, -7.0).unwrap();
    assert_eq!(*table.pushed.lock().unwrap(), [0.5, -0.5, -1.0]);
}

#[test]
fn a_wheel_that_was_never_calibrated_is_guessed() {
    let calibration = Calibration::likely("G29", &g29(), &inputs());
    assert_eq!(
        calibration.inputs["steering"],
        Response::new(X, 32_767, 65_535, Some(0))
    );
    assert_eq!(
        calibration.inputs["throttle"],
        Response::new(Z, 255, 0, None)
    );
    assert_eq!(calibration.inputs["brake"], Response::new(RZ, 255, 0, None));
    // Pedals that have names of their own, and rest at their lower end.
    let named = [8, 9, 10, 0, 2].map(|code| Axis {
        code: AxisCode(code),
        low: 0,
        high: 1000,
        reading: 0,
    });
    let calibration = Calibration::likely("pedals", &named, &inputs());
    assert_eq!(calibration.inputs["steering"].axis, AxisCode(8));
    assert_eq!(
        calibration.inputs["throttle"],
        Response::new(AxisCode(9), 0, 1000, None)
    );
    assert_eq!(calibration.inputs["brake"].axis, AxisCode(10));
}

#[test]
fn what_somebody_moves_is_learnt() {
    let learning = Learning::at_rest(&g29());
    assert_eq!(learning.moved(&g29()), None);
    let with = |code: AxisCode, reading| {
        let mut axes = g29();
        let axis = axes.iter_mut().find(|axis| axis.code == code);
        axis.unwrap().reading = reading;
        axes
    };
    assert_eq!(learning.moved(&with(X, 33_000)), None, "a wheel trembles");
    assert_eq!(
        learning.moved(&with(AxisCode(16), 1)),
        None,
        "a hat is a button"
    );
    let right = learning.moved(&with(X, 64_000)).unwrap();
    let left = learning.moved(&with(X, 1_000));
    let steering = learning.response(right, left).unwrap();
    assert_eq!(steering, Response::new(X, 32_767, 64_000, Some(1_000)));
    let pressed = learning.moved(&with(RZ, 3)).unwrap();
    let brake = learning.response(pressed, None).unwrap();
    assert_eq!(brake, Response::new(RZ, 255, 3, None));
    let mixed = learning.response(right, Some(pressed)).unwrap_err();
    assert!(
        mixed.contains("ABS_X") && mixed.contains("ABS_RZ"),
        "{mixed}"
    );
    assert!(learning.response(right, Some(right)).is_err());
}

#[test]
fn a_calibration_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wheel.toml");
    let mut calibration = Calibration::likely("A \"wheel\"\\\u{7}", &g29(), &inputs());
    calibration.force = -0.25;
    calibration.buttons = BTreeMap::from([(Button::Pause, 297), (Button::End, 704)]);
    std::fs::write(&path, calibration.to_text()).unwrap();
    assert_eq!(Calibration::read(&path).unwrap(), calibration);
}

#[test]
fn mistakes_in_a_calibration_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wheel.toml");
    let good = Calibration::likely("wheel", &g29(), &inputs()).to_text();
    for (was, becomes, told) in [
        ("ABS_RZ", "ABS_ZR", "`ABS_ZR` is no axis"),
        ("ABS_RZ", "ABS_ZR", "line 8"),
        ("rest = 32767", "rest = \"middle\"", "line 15"),
        ("dead = 0.02", "dead = 2.0", "`dead` is not from 0 to 0.9"),
        ("high = 65535", "high = 32767", "input `steering`: `high`"),
        ("low = 0", "low = 40000", "other side"),
        ("force = 1.0", "force = 11.0", "`force` is not from -1 to 1"),
        ("force = 1.0", "strength = 1.0", "strength"),
        ("device = \"wheel\"", "", "device"),
    ] {
        assert!(good.contains(was), "{was}");
        std::fs::write(&path, good.replace(was, becomes)).unwrap();
        let error = Calibration::read(&path).unwrap_err().to_string();
        assert!(error.contains(told), "{becomes}: {error}");
        assert!(error.contains("wheel.toml"), "{error}");
    }
    let missing = Calibration::read(&folder.path().join("none.toml"));
    assert!(missing.unwrap_err().to_string().contains("none.toml"));
}

#[test]
fn what_is_no_device_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |path: &Path| open(path).err().expect("it is none");
    let missing = folder.path().join("event7");
    assert!(matches!(refusal(&missing), WheelError::NotThere { .. }));
    std::fs::write(&missing, [0; RECORD + 1]).unwrap();
    let damaged = refusal(&missing).to_string();
    assert!(damaged.contains("25 bytes"), "{damaged}");
    std::fs::write(&missing, []).unwrap();
    assert!(matches!(refusal(&missing), WheelError::Damaged { .. }));
    // Neither a folder nor a device of another kind is one.
    for path in [folder.path(), Path::new("/dev/null")] {
        let refused = refusal(path).to_string();
        let told = if cfg!(target_os = "linux") {
            "is no input device"
        } else {
            "Linux"
        };
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn a_recording_is_played_at_its_times_and_ends() {
    let times = [5.0, 5.0, 5.05, 5.1];
    let bytes = times
        .iter()
        .flat_map(|&time| record(time, 3, 0, 9))
        .collect();
    let mut recording = Recording::of("recording", bytes);
    let (begun, mut bytes) = (Instant::now(), [0; 8 * RECORD]);
    let mut heard = Vec::new();
    let error = loop {
        match recording.read(&mut bytes, Duration::from_millis(4)) {
            Ok(count) => heard.extend(Event::all(&bytes[..count]).map(|it| (it, begun.elapsed()))),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(heard.len(), times.len());
    for (event, at) in heard {
        let due = event.time - Duration::from_secs(5);
        assert!(at >= due, "{at:?} {due:?}");
    }
    assert!(!recording.can_return());
}

/// A record whose time is beyond everything: it is the end of time, not a panic.
#[test]
fn a_time_beyond_everything_is_no_panic() {
    let mut bytes = record(1.0, 3, 0, 5);
    let time = bytes.len() - 8;
    bytes[..time].fill(0xff);
    let event = Event::all(&bytes).next().unwrap();
    assert_eq!(event.time, Duration::MAX);
    let mut recording = Recording::of("damaged", [record(1.0, 3, 0, 5), bytes].concat());
    let mut read = [0; RECORD];
    assert!(recording.read(&mut read, Duration::from_millis(1)).is_ok());
    assert!(recording.read(&mut read, Duration::from_millis(1)).is_ok());
}
