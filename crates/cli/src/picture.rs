//! Drawings as files.

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

/// Writes a file; a missing folder is made.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| fs::write(path, bytes));
    written.map_err(|error| failure(path, error))
}

fn failure(path: &Path, reason: impl ToString) -> Failure {
    Failure::Picture {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
