//! Renders an SVG document to PNG, with the embedded font.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::PlotError;

/// Pixels per unit of the drawing: sharp on paper and on dense screens.
const SCALE: f32 = 2.0;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

pub(super) fn render(svg: &str) -> Result<Vec<u8>, PlotError> {
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let width = (tree.size().width() * SCALE).ceil();
    let height = (tree.size().height() * SCALE).ceil();
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| PlotError::TooLarge {
            width: width.into(),
            height: height.into(),
        })?;
    let transform = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| PlotError::Encode(error.into()))
}
