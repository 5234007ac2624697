//! Which axis sets which input: kept in a file that people can read and change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Axis, AxisCode, Response, WheelError};

/// Longest calibration that is read.
const MOST_BYTES: u64 = 16 << 20;

/// How a calibration is to be read, for those who open its file.
const HEAD: &str = "\
# How a wheel drives. Of each input of the model: the axis that sets it, its reading at rest, where the
# input is highest and where it is lowest, and the share of the way that counts as rest.
# `force` is the share of its strength with which the wheel pushes back; negative turns it round.
";

/// What may be wished by pressing a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Button {
    /// The run waits, or goes on.
    Pause,
    /// It begins again.
    Reset,
    /// It keeps its state.
    Save,
    /// It goes back to the state that was kept.
    Restart,
    /// It ends.
    End,
}

impl Button {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pause,
        Self::Reset,
        Self::Save,
        Self::Restart,
        Self::End,
    ];

    /// As it is called in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Reset => "reset",
            Self::Save => "save",
            Self::Restart => "restart",
            Self::End => "end",
        }
    }
}

/// What a device does when its axes are moved and its buttons are pressed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What the device calls itself.
    pub device: String,
    /// Share of its strength with which it pushes back.
    #[serde(default = "whole")]
    pub force: f64,
    /// Of each input, what moves it.
    pub inputs: BTreeMap<String, Response>,
    /// The numbers of buttons.
    #[serde(default)]
    pub buttons: BTreeMap<Button, u16>,
}

fn whole() -> f64 {
    1.0
}

impl Calibration {
    /// Where that of a device is kept, if the user has a place for such files.
    pub fn place(device: &str) -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = set("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")))?;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = device.chars().map(plain).collect();
        Some(
            config
                .join("oldham")
                .join("wheels")
                .join(format!("{name}.toml")),
        )
    }

    /// Reads one.
    pub fn read(path: &Path) -> Result<Self, WheelError> {
        let wrong = |reason| WheelError::Calibration {
            path: path.into(),
            reason,
        };
        let text =
            oldham_files::read_text(path, MOST_BYTES).map_err(|error| wrong(error.to_string()))?;
        let read: Self = toml::from_str(&text).map_err(|error| wrong(told(&error, &text)))?;
        match read.mistake() {
            Some(reason) => Err(wrong(reason)),
            None => Ok(read),
        }
    }

    fn mistake(&self) -> Option<String> {
        if !(-1.0..=1.0).contains(&self.force) {
            return Some("`force` is not from -1 to 1".into());
        }
        let mistake = |(name, response): (&String, &Response)| {
            let mistake = response.mistake()?;
            Some(format!("input `{name}`: {mistake}"))
        };
        self.inputs.iter().find_map(mistake)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let mut text = HEAD.to_owned();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "device = {}", quoted(&self.device));
        let _ = writeln!(text, "force = {:?}", self.force);
        for (name, response) in &self.inputs {
            let Response {
                axis,
                rest,
                high,
                low,
                dead,
            } = response;
            let _ = writeln!(text, "\n[inputs.{}]", quoted(name));
            let _ = writeln!(text, "axis = \"{axis}\"\nrest = {rest}\nhigh = {high}");
            if let Some(low) = low {
                let _ = writeln!(text, "low = {low}");
            }
            let _ = writeln!(text, "dead = {dead:?}");
        }
        if !self.buttons.is_empty() {
            text.push_str("\n[buttons]\n");
        }
        for (button, code) in &self.buttons {
            let _ = writeln!(text, "{} = {code}", button.name());
        }
        text
    }

    /// What is likely of a device that was never calibrated: its wheel or first axis sets the first
    /// input, its pedals the others. A pedal rests at the end where it is.
    pub fn likely(device: &str, axes: &[Axis], inputs: &[String]) -> Self {
        let has = |code: u16| axes.iter().find(|axis| axis.code == AxisCode(code));
        let steering = has(0x08).or(has(0x00));
        let pedals = match (has(0x09), has(0x0a)) {
            (Some(gas), Some(brake)) => vec![gas, brake],
            _ => [0x02, 0x05, 0x01, 0x03, 0x04]
                .into_iter()
                .filter_map(has)
                .collect(),
        };
        let steering = steering.map(|axis| {
            let middle = i32::midpoint(axis.low, axis.high);
            Response::new(axis.code, middle, axis.high, Some(axis.low))
        });
        let pedals = pedals.into_iter().map(|axis| {
            let is_up = axis.share_between(axis.reading, axis.high) < 0.5;
            let (rest, high) = if is_up {
                (axis.high, axis.low)
            } else {
                (axis.low, axis.high)
            };
            Response::new(axis.code, rest, high, None)
        });
        Self {
            device: device.into(),
            force: whole(),
            inputs: inputs
                .iter()
                .cloned()
                .zip(steering.into_iter().chain(pedals))
                .collect(),
            buttons: BTreeMap::new(),
        }
    }
}

/// A string as TOML has it. What would end or command it is written by its number.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// What a parser says, with the line.
fn told(error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    match error.span() {
        Some(span) => {
            let line = text
                .get(..span.start)
                .map_or(1, |before| 1 + before.matches('\n').count());
            format!("line {line}: {message}")
        }
        None => message.to_owned(),
    }
}
