//! `oldham wheel`: which wheels are plugged in, how they stand, and what they are to move.

use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

use oldham_model::Model;
use oldham_wheel::{
    Axis, Button, Calibration, Device, Event, Found, Learning, RECORD, What, WheelError,
};
use serde_json::json;

use crate::args::Wheel;
use crate::failure::Failure;
use crate::{load, say};

pub fn execute(arguments: &Wheel) -> Result<(), Failure> {
    match (&arguments.device, &arguments.calibrate) {
        (None, _) => list(arguments.json),
        (Some(path), None) => show(path, arguments.json)?,
        (Some(path), Some(model)) => calibrate(path, model, arguments)?,
    }
    Ok(())
}

fn list(json: bool) {
    let found = oldham_wheel::found();
    if json {
        say!(
            "{:#}",
            json!({"command": "wheel", "status": "fine", "devices": found})
        );
        return;
    }
    if found.is_empty() {
        say!("nothing with axes is plugged in; on Linux there would be /dev/input/event*");
    }
    for Found {
        path,
        name,
        axes,
        pushes,
    } in &found
    {
        let path = path.display();
        let Some(name) = name else {
            say!("{path}  may not be read by this user");
            continue;
        };
        let codes: Vec<String> = axes.iter().map(|axis| axis.code.to_string()).collect();
        let felt = if *pushes { ", with force feedback" } else { "" };
        say!("{path}  {name}: {}{felt}", codes.join(", "));
    }
}

fn show(path: &Path, json: bool) -> Result<(), Failure> {
    let device = oldham_wheel::open(path)?;
    let axes = axes(&*device, path)?;
    let kept = Calibration::place(device.name()).filter(|place| place.exists());
    if json {
        let answer = json!({
            "command": "wheel", "status": "fine", "device": load::shown(path), "name": device.name(),
            "axes": axes, "pushes": device.pushes(), "calibration": kept,
        });
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}", device.name());
    for Axis {
        code,
        low,
        high,
        reading,
    } in axes
    {
        say!(
            "  {:<14} {reading:>7}   from {low} to {high}",
            code.to_string()
        );
    }
    say!(
        "  force feedback {}",
        if device.pushes() { "yes" } else { "no" }
    );
    match kept {
        Some(place) => say!("  calibration    {}", place.display()),
        None => say!("  calibration    none; give --calibrate MODEL"),
    }
    Ok(())
}

fn axes(device: &dyn Device, path: &Path) -> Result<Vec<Axis>, Failure> {
    let axes = device.axes().map_err(|error| WheelError::NotInput {
        path: path.into(),
        reason: error.to_string(),
    })?;
    if axes.is_empty() {
        let (path, name) = (path.into(), "a recording".into());
        return Err(WheelError::NoAxes { path, name }.into());
    }
    Ok(axes)
}

fn calibrate(path: &Path, model: &Path, arguments: &Wheel) -> Result<(), Failure> {
    let model = load::told(model, &[])?;
    let mut device = oldham_wheel::open(path)?;
    axes(&*device, path)?;
    let place = arguments
        .calibration
        .clone()
        .or_else(|| Calibration::place(device.name()));
    let nowhere = || Failure::File {
        path: "a calibration".into(),
        reason: "there is no folder of settings; say where by --calibration FILE".into(),
    };
    let place = place.ok_or_else(nowhere)?;
    let mut lines = std::io::stdin().lock().lines();
    let mut ask = |text: &str| {
        say!("{text}");
        lines
            .next()
            .and_then(Result::ok)
            .map(|_| ())
            .ok_or(Failure::Interrupted)
    };
    let mut calibration = learn(&mut *device, &model, &mut ask)?;
    if place.exists() {
        // Inputs of other models stay as they were.
        let before = Calibration::read(&place)?;
        calibration.force = before.force;
        for (name, response) in before.inputs {
            calibration.inputs.entry(name).or_insert(response);
        }
    }
    let failed = |error: std::io::Error| Failure::File {
        path: place.clone(),
        reason: error.to_string(),
    };
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(&place, calibration.to_text()).map_err(failed)?;
    if arguments.json {
        let answer =
            json!({"command": "wheel", "status": "fine", "calibration": load::shown(&place)});
        say!("{answer:#}");
    } else {
        say!("kept in {}", place.display());
    }
    Ok(())
}

type Ask<'a> = &'a mut dyn FnMut(&str) -> Result<(), Failure>;

/// Asks somebody to move everything, and looks what that was.
fn learn(device: &mut dyn Device, model: &Model, ask: Ask<'_>) -> Result<Calibration, Failure> {
    ask("Turn the wheel to its middle, leave the pedals alone, and press Enter.")?;
    let now = |device: &dyn Device| device.axes().unwrap_or_default();
    let learning = Learning::at_rest(&now(device));
    let mut calibration = Calibration {
        device: device.name().into(),
        force: 1.0,
        inputs: Default::default(),
        buttons: Default::default(),
    };
    let single = model
        .external_inputs()
        .filter(|input| input.initial.len() == 1);
    for input in single {
        let (name, [low, high]) = (&input.name, input.range);
        let mut why = String::new();
        loop {
            ask(&format!(
                "{why}Move what sets `{name}` to where it is highest ({high}), hold it there, and press Enter; if nothing \
                 sets it, only press Enter."
            ))?;
            let Some(highest) = learning.moved(&now(device)) else {
                break;
            };
            let lowest = if input.initial[0] > low {
                ask(&format!(
                    "Move it to where `{name}` is lowest ({low}), hold it there, and press Enter; a pedal that only raises \
                     it is let go of."
                ))?;
                learning.moved(&now(device))
            } else {
                None
            };
            match learning.response(highest, lowest) {
                Ok(response) => {
                    calibration.inputs.insert(name.clone(), response);
                    break;
                }
                Err(reason) => why = format!("That cannot be: {reason}. "),
            }
        }
    }
    pressed(device);
    for button in Button::ALL {
        let name = button.name();
        ask(&format!(
            "Press the button that is to mean `{name}`, and then Enter; only Enter for none."
        ))?;
        if let Some(code) = pressed(device) {
            calibration.buttons.insert(button, code);
        }
    }
    Ok(calibration)
}

/// The button that was pressed last since this was asked before.
fn pressed(device: &mut dyn Device) -> Option<u16> {
    let mut last = None;
    let mut bytes = [0; 64 * RECORD];
    while let Ok(count @ 1..) = device.read(&mut bytes, Duration::ZERO) {
        for event in Event::all(&bytes[..count]) {
            if let What::Pressed(code) = event.what() {
                last = Some(code);
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::sync::{Arc, Mutex};

    use oldham_wheel::{AxisCode, Response};

    use super::*;

    /// Readings of a wheel and a pedal, and the button that was pressed, at a question.
    type Held = ([i32; 2], Option<u16>);

    /// Answers one question after the other.
    #[derive(Clone)]
    struct Hands(Arc<Mutex<VecDeque<Held>>>);

    impl Device for Hands {
        fn name(&self) -> &str {
            "hands"
        }

        fn axes(&self) -> io::Result<Vec<Axis>> {
            let readings = self.0.lock().unwrap()[0].0;
            let axis = |(code, reading): (u16, i32)| Axis {
                code: AxisCode(code),
                low: 0,
                high: 1000,
                reading,
            };
            Ok((0..).zip(readings).map(axis).collect())
        }

        fn read(&mut self, bytes: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            let Some(code) = self.0.lock().unwrap()[0].1.take() else {
                return Ok(0);
            };
            let end = RECORD - 8;
            bytes[..RECORD].fill(0);
            bytes[end..end + 2].copy_from_slice(&1_u16.to_ne_bytes());
            bytes[end + 2..end + 4].copy_from_slice(&code.to_ne_bytes());
            bytes[end + 4..end + 8].copy_from_slice(&1_i32.to_ne_bytes());
            Ok(RECORD)
        }
    }

    /// The car's three inputs: a wheel that is first moved the wrong way, a pedal, and none.
    #[test]
    fn somebody_shows_what_moves_what() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let model = load::told(&examples.join("drive-car.toml"), &[]).unwrap();
        let rest = ([500, 1000], None);
        let steps = [
            rest,
            rest,
            ([980, 1000], None),
            ([990, 1000], None),
            ([980, 1000], None),
            ([10, 1000], None),
            ([500, 5], None),
            rest,
            rest,
            ([500, 1000], Some(297)),
            rest,
            rest,
            rest,
            ([500, 1000], Some(704)),
        ];
        let hands = Hands(Arc::new(Mutex::new(steps.into())));
        let mut asked = Vec::new();
        let mut ask = |text: &str| {
            asked.push(text.to_owned());
            hands.0.lock().unwrap().pop_front();
            Ok(())
        };
        let learnt = learn(&mut hands.clone(), &model, &mut ask).unwrap();
        assert!(asked[3].starts_with("That cannot be"), "{asked:#?}");
        assert_eq!(asked.len(), steps.len() - 1);
        assert_eq!(
            learnt.inputs.into_iter().collect::<Vec<_>>(),
            [
                (
                    "steering".into(),
                    Response::new(AxisCode(0), 500, 980, Some(10))
                ),
                ("throttle".into(), Response::new(AxisCode(1), 1000, 5, None)),
            ]
        );
        assert_eq!(
            learnt.buttons.into_iter().collect::<Vec<_>>(),
            [(Button::Pause, 297), (Button::End, 704)]
        );
    }
}
