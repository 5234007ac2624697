//! Pictures and animations as files, each whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use oldham_results::plot::svg_to_png;

use crate::Animation;

/// Frames that are laid over each other in a picture that shows a whole motion.
pub const OVERLAID_FRAMES: usize = 9;

/// A picture could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the picture could not be written to {path}: {reason}", path = path.display())]
pub struct SceneError {
    /// Where it should go.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

/// Saves a drawing as `.svg` or `.png`, told by the extension.
pub fn save(path: &Path, svg: &str) -> Result<(), SceneError> {
    let extension = path.extension().and_then(|end| end.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => write(path, svg.as_bytes()),
        Some("png") => save_png(path, svg),
        _ => Err(error(path, "pictures are saved as `.svg` or `.png`")),
    }
}

/// Saves a drawing as a PNG file, whatever its name.
pub fn save_png(path: &Path, svg: &str) -> Result<(), SceneError> {
    let png = svg_to_png(svg).map_err(|reason| error(path, reason))?;
    write(path, &png)
}

/// One moving picture (`.svg`), one picture of several overlay (`.png`), or a folder of PNG
/// frames; `progress` is told number and name of each frame before it is drawn.
pub fn save_animation(
    animation: &Animation,
    out: &Path,
    mut progress: impl FnMut(usize, &str),
) -> Result<Vec<PathBuf>, SceneError> {
    let extension = out.extension().and_then(|end| end.to_str());
    match extension {
        Some("svg") => write(out, animation.to_svg().as_bytes())?,
        Some("png") => save_png(out, &animation.overlay(OVERLAID_FRAMES).to_svg())?,
        _ => {
            let mut pictures = Vec::new();
            for index in 0..animation.frames.len() {
                let name = format!("frame-{index:04}.png");
                progress(index, &name);
                let path = out.join(name);
                save_png(&path, &animation.still(index))?;
                pictures.push(path);
            }
            return Ok(pictures);
        }
    }
    Ok(vec![out.to_owned()])
}

/// Writes a file, whole or not at all; a missing folder is made.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), SceneError> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| oldham_cosim::write_whole(path, bytes));
    written.map_err(|reason| error(path, reason))
}

fn error(path: &Path, reason: impl ToString) -> SceneError {
    SceneError {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
