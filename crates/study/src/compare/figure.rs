//! The picture: stored energy, one signal, and how far that is from the reference.

use oldham_results::plot::{Figure, Panel, Scale, Series, Style};

use super::stretch::{Channel, Sample};
use super::{Comparison, Tried};

/// Parts of the run of which the largest difference is drawn.
const PARTS: usize = 200;
/// Differences below this part of the reference's size are rounding, and are not drawn.
const ROUNDING: f64 = 1e-16;

impl Comparison {
    /// Stored energy, the drawn signal, and how far that is from the reference.
    pub fn figure(&self) -> Figure {
        let tried = &self.variants;
        let mut figure = Figure::new(&self.model);
        let energies: Vec<_> = tried
            .iter()
            .filter_map(|variant| Some((variant, variant.energy.as_ref()?)))
            .collect();
        if !energies.is_empty() {
            figure = figure.with_panel(values("stored energy / J", &energies));
        }
        let of = |variant: &Tried| {
            let mut signals = variant.signals.iter();
            signals.position(|other| Some(other.name.as_str()) == self.drawn.as_deref())
        };
        let channels: Vec<_> = tried
            .iter()
            .filter_map(|variant| Some((variant, &variant.signals[of(variant)?].channel)))
            .collect();
        let drawn = tried
            .iter()
            .find_map(|variant| Some(&variant.signals[of(variant)?]));
        if let Some(drawn) = drawn {
            let (name, unit) = (&drawn.name, &drawn.unit);
            figure = figure
                .with_panel(values(&format!("{name} / {unit}"), &channels))
                .with_panel(differences(
                    &format!("|{name} - reference| / {unit}"),
                    &channels,
                ));
        }
        figure
    }
}

/// The variants over the reference.
fn values(label: &str, channels: &[(&Tried, &Channel)]) -> Panel {
    let mut panel = Panel::new("time / s", label);
    for (variant, channel) in channels {
        panel = panel.with_series(curve(&variant.name, &channel.samples(), |sample| {
            sample.value
        }));
    }
    // The reference of the variant that came furthest.
    let longest = channels.iter().map(|(_, channel)| channel.samples());
    let longest = longest
        .max_by(|a, b| end(a).total_cmp(&end(b)))
        .unwrap_or_default();
    let reference = curve("reference", &longest, |sample| sample.reference);
    panel = panel.with_series(reference.with_style(Style::Reference));
    limited(panel, &longest)
}

/// How far each variant is from its reference: the largest distance in each part of the run, on a
/// scale on which one can see all of them.
fn differences(label: &str, channels: &[(&Tried, &Channel)]) -> Panel {
    let mut panel = Panel::new("time / s", label).with_scales(Scale::Linear, Scale::Log);
    for (variant, channel) in channels {
        let samples = channel.samples();
        let floor = ROUNDING * channel.size;
        let parts = samples.chunks(samples.len().div_ceil(PARTS).max(1));
        let largest = |part: &[Sample]| {
            part.iter()
                .fold(0.0_f64, |most, s| most.max(s.difference().abs()))
        };
        let time = parts
            .clone()
            .map(|part| part[part.len() / 2].time)
            .collect();
        let size = parts
            .map(largest)
            .map(|size| if size > floor { size } else { 0.0 });
        panel = panel.with_series(Series::new(&variant.name, time, size.collect()));
    }
    panel
}

fn end(samples: &[Sample]) -> f64 {
    samples
        .last()
        .map_or(f64::NEG_INFINITY, |sample| sample.time)
}

fn curve(name: &str, samples: &[Sample], value: impl Fn(&Sample) -> f64) -> Series {
    let time = samples.iter().map(|sample| sample.time).collect();
    Series::new(name, time, samples.iter().map(value).collect())
}

/// A diverging variant must not flatten the others: the panel shows a few times the reference.
fn limited(panel: Panel, reference: &[Sample]) -> Panel {
    let values = || reference.iter().map(|sample| sample.reference);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let size = low.abs().max(high.abs());
    let drawn = panel.series.iter().flat_map(|series| &series.y);
    let finite = drawn.filter(|y| y.is_finite());
    let extreme = finite.fold(0.0_f64, |most, y| most.max(y.abs()));
    if size > 0.0 && extreme > 4.0 * size {
        let floor = if low < 0.0 { -3.0 * size } else { 0.0 };
        return panel.with_y_limit(floor, 3.0 * size);
    }
    panel
}
