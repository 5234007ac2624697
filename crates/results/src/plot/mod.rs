//! Pictures of results, as one would put them into a paper: SVG, and PNG made from it.
//!
//! The SVG is written directly. Plotting libraries hand text to the back end as a point and a
//! size; legends beside the data, exponents set as such and dash patterns all need more control
//! than that, and the few elements needed here are quickly written.
//!
//! ```
//! use oldham_results::plot::{Figure, Panel, Series};
//!
//! let time: Vec<f64> = (0..=200).map(|i| 0.05 * f64::from(i)).collect();
//! let position = time.iter().map(|t| t.cos()).collect();
//! let figure = Figure::new("Free oscillation")
//!     .with_panel(Panel::new("time [s]", "x [m]").with_series(Series::new("x", time, position)));
//! assert!(figure.to_svg().starts_with("<svg"));
//! ```

mod axis;
mod decimate;
mod draw;
mod figure;
mod label;
mod legend;
mod looks;
mod palette;
mod png;
pub mod svg;
mod ticks;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use figure::{Cells, Figure, Guide, Panel, Scale, Series, Style};

/// A figure could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The extension names no known format.
    #[error("{path}: figures are saved as `.svg` or `.png`")]
    UnknownFormat {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The path asked for.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The picture has more pixels than fit into memory.
    #[error("a picture of {width} x {height} pixels is too large; save it as `.svg`")]
    TooLarge {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// The renderer refused the drawing.
    #[error("the figure could not be rendered: {0}")]
    Render(#[from] resvg::usvg::Error),
    /// The encoder refused the picture.
    #[error("the picture could not be encoded: {0}")]
    Encode(#[source] io::Error),
}

impl Figure {
    /// Saves as `.svg` or `.png`, told by the extension. A missing directory is created.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        let extension = path.extension().and_then(|end| end.to_str());
        let bytes = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => self.to_svg().into_bytes(),
            Some("png") => self.to_png()?,
            _ => {
                return Err(PlotError::UnknownFormat {
                    path: path.to_owned(),
                });
            }
        };
        write(path, &bytes).map_err(|source| PlotError::Io {
            path: path.to_owned(),
            source,
        })
    }

    /// The figure as an SVG document.
    pub fn to_svg(&self) -> String {
        draw::draw(self)
    }

    /// The figure as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        svg_to_png(&self.to_svg())
    }
}

/// Renders an SVG document to a PNG file, with the font of the figures.
pub fn svg_to_png(svg: &str) -> Result<Vec<u8>, PlotError> {
    png::render(svg)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    oldham_cosim::write_whole(path, bytes)
}
