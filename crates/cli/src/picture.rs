//! Files that commands write beside results: drawings, mode shapes, gains.

use std::fs;
use std::path::Path;

use oldham_results::plot::svg_to_png;

use crate::failure::Failure;

/// Saves a drawing as `.svg` or `.png`, told by the extension.
pub fn save(path: &Path, svg: &str) -> Result<(), Failure> {
    let extension = path.extension().and_then(|end| end.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => write(path, svg.as_bytes()),
        Some("png") => save_png(path, svg),
        _ => Err(failure(path, "pictures are saved as `.svg` or `.png`")),
    }
}

/// Saves a drawing as a PNG file, whatever its name.
pub fn save_png(path: &Path, svg: &str) -> Result<(), Failure> {
    let png = svg_to_png(svg).map_err(|error| failure(path, error))?;
    write(path, &png)
}

/// Writes a file, whole or not at all; a missing folder is made.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| oldham_cosim::write_whole(path, bytes));
    written.map_err(|error| failure(path, error))
}

fn failure(path: &Path, reason: impl ToString) -> Failure {
    Failure::Picture {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Refuses to write over what a command reads, or over any other model. Other files that are
/// there are from an earlier call, and are replaced.
pub fn protect(target: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(there) = real(target) else {
        return Ok(());
    };
    let is_input = inputs
        .iter()
        .any(|input| real(input).as_ref() == Some(&there));
    if is_input || is_model(&there) {
        return Err(Failure::WouldReplace {
            path: target.to_owned(),
        });
    }
    Ok(())
}

/// Whether a file reads like a model: TOML with a section that only models have.
fn is_model(path: &Path) -> bool {
    const MOST_BYTES: u64 = 64 << 20;
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return false;
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    const SECTIONS: [&str; 4] = ["simulation", "lumped", "multibody", "hydraulics"];
    text.lines().any(|line| {
        let section = line.trim_start().strip_prefix('[');
        let name = section.and_then(|rest| rest.split(['.', ']']).next());
        name.is_some_and(|name| SECTIONS.contains(&name.trim()))
    })
}
