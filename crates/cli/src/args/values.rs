//! Values of options: numbers, paths and changes, refused before anything is computed.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use oldham_study::{LinearFormat, Merit, Shard, Variation};

pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number is needed".into()),
    }
}

/// Time that an analysis is granted.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err(
            "an analysis needs some time: give a positive number of seconds, up to 1e6, such as 10, or leave the option out"
                .into(),
        ),
    }
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number that is not negative is needed".into()),
    }
}

pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on is needed".into()),
        Ok(count) => Ok(count),
    }
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    text.parse()
        .map_err(|error: oldham_study::NoShard| error.to_string())
}

pub(super) fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if f64::is_finite(value) => Ok(value),
        _ => Err("a finite number is needed".into()),
    }
}

/// The path of a picture. A wrong ending is found before anything is computed.
pub(super) fn picture() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ending(&path).as_deref() {
        Some("svg" | "png") => Ok(path),
        _ => Err("pictures are .svg or .png"),
    })
}

/// The path of matrices.
pub(super) fn matrices() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match LinearFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err("matrices are .json, .csv or .npz"),
    })
}

/// The path of a page.
pub(super) fn page() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ending(&path).as_deref() {
        Some("html" | "htm") => Ok(path),
        _ => Err("pages are .html"),
    })
}

/// The path of an animation: a picture, or a folder.
pub(super) fn animation() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir();
        match ending(&path).as_deref() {
            None | Some("svg" | "png") => Ok(path),
            _ if is_folder => Ok(path),
            _ => Err("animations are .svg, pictures .png; a folder of frames has no ending"),
        }
    })
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("write KEY=VALUE, such as schedule.output_update=true".into()),
    }
}

pub(super) fn held(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write SIGNAL=VALUE, such as car.sensors.vx=27.8")?;
    match value.trim().parse() {
        Ok(value) if f64::is_finite(value) => Ok((name.trim().into(), value)),
        _ => Err("the value must be a finite number".into()),
    }
}

pub(super) fn variation(text: &str) -> Result<Variation, String> {
    text.parse::<Variation>().map_err(|error| error.to_string())
}

pub(super) fn frequencies(text: &str) -> Result<Variation, String> {
    variation(&format!("frequency={text}"))
}

pub(super) fn merit(text: &str) -> Result<Merit, String> {
    text.parse::<Merit>().map_err(|error| error.to_string())
}
