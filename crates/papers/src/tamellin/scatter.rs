//! Pictures of poles.

use nalgebra::Complex;
use oldham_results::plot::{Panel, Series, Style};

pub(super) type Poles = Vec<Complex<f64>>;

/// A panel of the complex plane with sets of poles.
pub(super) fn panel(sets: &[(&str, &Poles)]) -> Panel {
    let mut panel = Panel::new("real part / (1/s)", "imaginary part / (rad/s)");
    for (name, poles) in sets {
        let (re, im) = poles.iter().map(|pole| (pole.re, pole.im)).unzip();
        let series = Series::new((*name).to_owned(), re, im).with_style(Style::Points);
        panel = panel.with_series(series);
    }
    panel
}
