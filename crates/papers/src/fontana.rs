//! A. Fontana, M. Morandini, P. Masarati, "A co-simulation algorithm for the efficient real-time
//! parallel solution of multibody systems", Multibody System Dynamics, 2026.

use oldham_results::plot::{Cells, Figure, Panel, Scale, Series, Style};
use oldham_stability::{Contour, CoupledModel, is_stable, map, radius};

use crate::item::{Item, PaperError, Report, model};

const PROPOSED: &str = include_str!("../../../examples/interface-mass.toml");
const LITERATURE: &str = include_str!("../../../papers/fontana/literature.toml");

/// Points along each axis of a map.
const POINTS: usize = 25;

const PAPER: &str = "fontana";

pub(crate) const ITEMS: &[Item] = &[
    Item::new(
        PAPER,
        "table-2",
        "Eigenvalues of the linear problem",
        table_2,
    ),
    Item::new(PAPER, "fig-9", "Stability over the interface masses", fig_9),
    Item::new(
        PAPER,
        "fig-10",
        "Border of stability when stiffness or damping are scaled",
        fig_10,
    ),
    Item::new(
        PAPER,
        "fig-12",
        "Stability over time step and spectral radius at infinity",
        fig_12,
    ),
];

/// The printed eigenvalues do not follow from the printed parameters; both sets are shown.
fn table_2(report: &mut Report) -> Result<(), PaperError> {
    let printed = [(-1.9236, 15.787), (-11.525, 32.535), (-11.552, 45.594)];
    let note = "the print has these digits with c1 = c2 = 20, c3 = c4 = 10";
    eigenvalues(report, 20.0, "c1 = c2 = 20", printed.map(Some), note)?;
    let note = "Table 1 as printed, all dampers 10 N.s/m: does not give Table 2";
    eigenvalues(report, 10.0, "Table 1", [None; 3], note)
}

fn eigenvalues(
    report: &mut Report,
    c_left: f64,
    set: &str,
    printed: [Option<(f64, f64)>; 3],
    note: &str,
) -> Result<(), PaperError> {
    let model = model(PROPOSED, &[("c_left", c_left)])?;
    let poles = CoupledModel::of(&mut model.monolithic(None)?)?.monolithic();
    for (number, (pole, printed)) in poles.iter().zip(printed).enumerate() {
        let name = |part| format!("{set}, eigenvalue {}, {part} part", number + 1);
        report.row(name("real"), printed.map(|p| p.0), pole.re, "1/s", note);
        report.row(
            name("imaginary"),
            printed.map(|p| p.1),
            pole.im,
            "rad/s",
            note,
        );
    }
    Ok(())
}

/// A map over two parameters, logarithmic about the baseline.
struct Study {
    keys: [&'static str; 2],
    axes: [Vec<f64>; 2],
    scales: [Scale; 2],
}

impl Study {
    fn logarithmic(key: &'static str, baseline: f64) -> (&'static str, Vec<f64>, Scale) {
        let place = |i: usize| baseline * 10_f64.powf(-3.0 + 6.0 * i as f64 / (POINTS - 1) as f64);
        (key, (0..POINTS).map(place).collect(), Scale::Log)
    }

    fn new(axes: [(&'static str, Vec<f64>, Scale); 2]) -> Self {
        let [(key_x, x, scale_x), (key_y, y, scale_y)] = axes;
        Self {
            keys: [key_x, key_y],
            axes: [x, y],
            scales: [scale_x, scale_y],
        }
    }

    /// Over both interface masses, a factor of a thousand to both sides.
    fn of_masses() -> Self {
        Self::new([Self::logarithmic("m2", 2.0), Self::logarithmic("m3", 1.0)])
    }

    fn radii(&self, text: &str, set: &[(&str, f64)]) -> Vec<f64> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let build = |x: f64, y: f64| {
            let mut all = set.to_vec();
            all.extend([(self.keys[0], x), (self.keys[1], y)]);
            model(text, &all).ok()?.simulation().ok()
        };
        map(&self.axes[0], &self.axes[1], threads, build, |_| {})
    }

    fn panel(&self, labels: [&str; 2]) -> Panel {
        Panel::new(labels[0], labels[1]).with_scales(self.scales[0], self.scales[1])
    }

    fn cells(&self, radii: &[f64]) -> Cells {
        Cells {
            x: self.axes[0].clone(),
            y: self.axes[1].clone(),
            filled: radii.iter().map(|&radius| !is_stable(radius)).collect(),
        }
    }

    fn border(&self, label: &str, radii: &[f64]) -> Series {
        let contour = Contour {
            x: &self.axes[0],
            y: &self.axes[1],
            logarithmic: self.scales.map(|scale| scale == Scale::Log),
        };
        let (x, y) = contour.border(radii);
        Series::new(label, x, y)
    }
}

fn stable(radii: &[f64]) -> f64 {
    radii.iter().filter(|&&radius| is_stable(radius)).count() as f64
}

fn fig_9(report: &mut Report) -> Result<(), PaperError> {
    let study = Study::of_masses();
    let mut figure = Figure::new("Stability over the interface masses (shaded: unstable)");
    for (name, text) in [("literature", LITERATURE), ("proposed", PROPOSED)] {
        let radii = study.radii(text, &[]);
        let mut at_baseline = model(text, &[])?.simulation()?;
        let baseline = radius(&mut at_baseline);
        let note = "h = 1 ms, rho = 0.6, Table 1; the print gives no number";
        report.row(
            format!("{name}: spectral radius"),
            None,
            baseline,
            "1",
            note,
        );
        let note = "of 625 points; the print is a picture";
        report.row(
            format!("{name}: stable points"),
            None,
            stable(&radii),
            "1",
            note,
        );
        let panel = study
            .panel(["m2 / kg", "m3 / kg"])
            .with_cells(study.cells(&radii))
            .with_series(study.border(&format!("border, {name}"), &radii))
            .with_series(Series::new("Table 1", vec![2.0], vec![1.0]).with_style(Style::Points));
        figure = figure.with_panel(panel);
    }
    let mut twin = model(PROPOSED, &[])?.monolithic(None)?;
    let note = "the undivided system with the same integrator";
    report.row(
        "monolithic: spectral radius",
        None,
        radius(&mut twin),
        "1",
        note,
    );
    report.picture(&figure)
}

fn fig_10(report: &mut Report) -> Result<(), PaperError> {
    let study = Study::of_masses();
    let mut figure = Figure::new("Border of stability (unstable below and to the left)");
    for (what, key, baseline) in [("stiffness", "k", 1e3), ("damping", "c", 10.0)] {
        let mut panel = study.panel(["m2 / kg", "m3 / kg"]);
        for factor in [0.1, 1.0, 10.0] {
            let radii = study.radii(PROPOSED, &[(key, factor * baseline)]);
            let label = format!("{what} x {factor}");
            panel = panel.with_series(study.border(&label, &radii));
            let note = "of 625 points, proposed scheme; the print is a picture";
            report.row(
                format!("{label}: stable points"),
                None,
                stable(&radii),
                "1",
                note,
            );
        }
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

fn fig_12(report: &mut Report) -> Result<(), PaperError> {
    let steps = (0..POINTS).map(|i| 1e-4 * 1e3_f64.powf(i as f64 / (POINTS - 1) as f64));
    // Spectral radius one has repeated roots on the unit circle.
    let rhos = (0..POINTS).map(|i| 0.99 * i as f64 / (POINTS - 1) as f64);
    let study = Study::new([
        ("simulation.step", steps.collect(), Scale::Log),
        ("rho", rhos.collect(), Scale::Linear),
    ]);
    let radii = study.radii_per_step();
    let figure = Figure::new("Stability over step and spectral radius (shaded: unstable)");
    let panel = study
        .panel(["h / s", "spectral radius at infinity"])
        .with_cells(study.cells(&radii))
        .with_series(study.border("border, proposed", &radii))
        .with_series(Series::new("Table 1", vec![1e-3], vec![0.6]).with_style(Style::Points));
    report.row(
        "stable points",
        None,
        stable(&radii),
        "1",
        "of 625 points, proposed scheme; the print is a picture",
    );
    report.picture(&figure.with_panel(panel))
}

impl Study {
    /// As [`Study::radii`], for a varied step: the duration follows it.
    fn radii_per_step(&self) -> Vec<f64> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let build = |step: f64, rho: f64| {
            let set = [
                ("simulation.step", step),
                ("simulation.duration", 10.0 * step),
                ("rho", rho),
            ];
            model(PROPOSED, &set).ok()?.simulation().ok()
        };
        map(&self.axes[0], &self.axes[1], threads, build, |_| {})
    }
}
