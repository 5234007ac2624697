//! The hanging beam, whole and in parts.
//!
//! What the damping factor 0.05 of Table 3 means is not stated. Read as damping 0.05 s times the
//! stiffness, the paper's scheme cannot solve the cut beam: it is shown without damping and with
//! 1 ms, and the interface tangent with 0.05 s. The mass is lumped at points; with the inertia of
//! whole segments at the nodes the limits of damping are larger (see the guide on stability).

use oldham_results::plot::{Figure, Panel, Scale, Series, Style};
use oldham_stability::{critical, radius};

use super::run::{History, RunSpec, cores};
use crate::item::{PaperError, Report, model_with};
use crate::structures::Beam;

const STEP: f64 = 1e-4;
const DURATION: f64 = 10.0;
const ELEMENTS: usize = 12;
const LENGTH: f64 = 24.0;

const PLAIN: &str = "interface-mass";
const TANGENT: &str = "interface-tangent";

/// Damping and scheme.
const CASES: [(f64, &str); 4] = [(0.0, PLAIN), (1e-3, PLAIN), (0.0, TANGENT), (0.05, TANGENT)];

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let mut motion = Panel::new("time / s", "height of mid-span / m");
    let mut errors = Panel::new("time / s", "difference from the monolithic beam / m")
        .with_scales(Scale::Linear, Scale::Log);
    for damping in [0.0, 1e-3, 0.05] {
        let whole = solve(1, damping, PLAIN, STEP, DURATION)?;
        let label = format!("D = {damping} s");
        let (times, values) = (whole.times.clone(), whole.values.clone());
        motion = motion.with_series(Series::new(label, times, values));
        for (_, scheme) in CASES.into_iter().filter(|case| case.0 == damping) {
            for parts in [2, 3] {
                let cut = solve(parts, damping, scheme, STEP, DURATION)?;
                rows(report, parts, damping, scheme, &cut, &whole);
                let label = format!("{parts} parts, {scheme}, D = {damping} s");
                let series = Series::new(label, cut.times.clone(), cut.differences(&whole));
                errors = errors.with_series(series.with_style(Style::Line));
            }
        }
    }
    orders(report)?;
    stability(report)?;
    let title = "The beam in two and three parts against the monolithic solution";
    report.picture(&Figure::new(title).with_panel(motion).with_panel(errors))
}

fn solve(
    parts: usize,
    damping: f64,
    scheme: &str,
    step: f64,
    duration: f64,
) -> Result<History, PaperError> {
    let beam = Beam {
        elements: ELEMENTS,
        parts,
        damping,
        step,
    };
    let settings = match parts {
        1 => Vec::new(),
        _ => vec![("multibody.beam.cut.scheme", scheme.to_owned())],
    };
    RunSpec {
        text: &beam.model(),
        signal: Beam::SIGNAL,
        settings,
        duration,
        every: 0.01,
        threads: parts.min(cores()),
    }
    .run()
}

fn rows(
    report: &mut Report,
    parts: usize,
    damping: f64,
    scheme: &str,
    cut: &History,
    whole: &History,
) {
    let name = format!("{parts} parts, {scheme}, D = {damping} s");
    let note = "over 10 s at h = 0.1 ms, 12 elements; the print is a picture";
    let largest = format!("{name}: largest difference from the monolithic solution");
    report.row(largest, None, cut.difference(whole), "m", note);
    let note = "sum over the interfaces, as their two sides account for it";
    let created = format!("{name}: spurious energy of the coupling");
    report.row(created, None, cut.created, "J", note);
}

/// The power of the step with which the differences shrink, without damping over the first swing.
fn orders(report: &mut Report) -> Result<(), PaperError> {
    let difference = |step: f64| -> Result<f64, PaperError> {
        let whole = solve(1, 0.0, PLAIN, step, 0.2)?;
        let cut = solve(2, 0.0, PLAIN, step, 0.2)?;
        Ok(cut.difference(&whole))
    };
    let order = (difference(1e-4)? / difference(5e-5)?).log2();
    let note = "h = 0.1 ms and 0.05 ms over 0.2 s; in theory 3 with the Hermite predictor";
    let name = "2 parts, interface-mass, undamped: order of the difference";
    report.row(name, None, order, "1", note);
    Ok(())
}

/// How much damping the plain scheme tolerates, on coarse and finer beams.
fn stability(report: &mut Report) -> Result<(), PaperError> {
    let simulation = |elements: usize, damping: f64, scheme: &str| {
        let beam = Beam {
            elements,
            parts: 2,
            damping,
            step: STEP,
        };
        let set = vec![("multibody.beam.cut.scheme", scheme.to_owned())];
        Ok::<_, PaperError>(model_with(&beam.model(), &set)?.simulation()?)
    };
    let note = "straight beam of 4 elements cut at mid-span, h = 0.1 ms, mass lumped at points";
    for scheme in [PLAIN, TANGENT] {
        let name = format!("{scheme}, D = 0.05 s: spectral radius");
        let radius = radius(&mut simulation(4, 0.05, scheme)?);
        report.row(name, None, radius, "1", note);
    }
    for elements in [4, ELEMENTS] {
        let limit = critical(1e-3, 3e-3, |damping| {
            simulation(elements, damping, PLAIN).ok()
        });
        let name = format!("interface-mass, {elements} elements: largest stable damping");
        let note =
            "per stiffness, mass lumped at points; the rotation of the interface node sets it";
        report.row(name, None, limit.unwrap_or(f64::NAN), "s", note);
        let name = format!("interface-mass, {elements} elements: the same by hand");
        let note = "with the neighbouring nodes held, which makes it a little smaller";
        report.row(name, None, limit_by_hand(elements), "s", note);
    }
    Ok(())
}

/// The damping at which the interface node turns to and fro from step to step, if its neighbours
/// do not follow: J s² = 119/6 (1 + s D) k. There LMS2 with ρ∞ = 0.6 has the rate s = 16/h, and its
/// predictor expects −119/6 times what happens.
fn limit_by_hand(elements: usize) -> f64 {
    let (shear, bending, inertia) = (0.6e6, 1e4, 0.05);
    let (rate, predicted) = (16.0 / STEP, 119.0 / 6.0);
    let length = LENGTH / elements as f64;
    let root = 3_f64.sqrt();
    let share_of_bending = (12.0 + 6.0 * root) * bending / (shear * length * length);
    let stiffness = root / 9.0 * shear * length * (1.0 + share_of_bending);
    rate * (0.5 * length * inertia) / (predicted * stiffness) - 1.0 / rate
}
