//! `oldham stability`: is the coupling stable, and over which range?

use std::path::Path;
use std::time::Duration;

use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_results::plot::{Cells, Figure, Panel, Scale, Series, Style};
use oldham_stability::{Contour, Mode, Spectrum, Verdict, Way, critical, is_stable, map, radius};
use serde_json::{Value, json};

use crate::args::{Range, Stability};
use crate::failure::Failure;
use crate::load;
use crate::progress::Bar;
use crate::remedies::Advice;
use crate::say;
use crate::table::{Table, number};

/// Modes listed at most.
const MODES: usize = 12;

const STEP: &str = "simulation.step";
const DURATION: &str = "simulation.duration";

pub fn execute(arguments: &Stability) -> Result<(), Failure> {
    if arguments.over.len() > 2 {
        return Err(Failure::TooManyRanges {
            times: arguments.over.len(),
        });
    }
    check_schemes(&arguments.scheme)?;
    let model = load::model(&arguments.model)?;
    let study = Study {
        arguments,
        model: &model,
    };
    match (&arguments.critical, arguments.over.as_slice()) {
        (Some(range), _) => study.border(range),
        (None, []) => study.modes(),
        (None, [x]) => study.curve(x),
        (None, [x, y, ..]) => study.map(x, y),
    }
}

/// What is no setting would be left out in silence, and the file's own scheme studied again.
fn check_schemes(schemes: &[String]) -> Result<(), Failure> {
    for scheme in schemes {
        let is_setting = |word: &str| word.split_once('=').is_some_and(|(key, _)| !key.is_empty());
        let wrong = scheme.split_whitespace().find(|word| !is_setting(word));
        if wrong.is_some() || scheme.trim().is_empty() {
            return Err(Failure::NoScheme {
                text: wrong.unwrap_or(scheme).to_owned(),
            });
        }
    }
    Ok(())
}

struct Study<'a> {
    arguments: &'a Stability,
    model: &'a Model,
}

/// One way of exchanging that is studied.
struct Scheme {
    name: String,
    settings: Vec<(String, String)>,
}

impl Study<'_> {
    fn path(&self) -> &Path {
        &self.arguments.model.model
    }

    /// The model's own scheme, and those to compare it with.
    fn schemes(&self) -> Vec<Scheme> {
        let own = Scheme {
            name: "as in the file".into(),
            settings: Vec::new(),
        };
        let others = self.arguments.scheme.iter().map(|settings| Scheme {
            name: settings.clone(),
            settings: settings
                .split_whitespace()
                .filter_map(|setting| setting.split_once('='))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        });
        std::iter::once(own).chain(others).collect()
    }

    /// The model with some values changed.
    fn load(&self, scheme: &Scheme, changes: &[(&str, f64)]) -> Result<Model, Failure> {
        let set = self.arguments.model.set.iter().cloned();
        let mut set: Vec<_> = set.chain(scheme.settings.iter().cloned()).collect();
        for &(key, value) in changes {
            set.push((key.to_owned(), value.to_string()));
            if key == STEP {
                set.push((DURATION.to_owned(), self.duration(value).to_string()));
            }
        }
        load::with_overrides(self.path(), &set)
    }

    /// The model's duration, up to a whole number of steps.
    fn duration(&self, step: f64) -> f64 {
        (self.model.duration() / step).ceil().max(1.0) * step
    }

    /// The simulation with some values changed, if there is one.
    fn build(&self, scheme: &Scheme, changes: &[(&str, f64)]) -> Option<Simulation> {
        let model = self.load(scheme, changes).ok()?;
        if self.arguments.monolithic {
            return model.monolithic(None).ok();
        }
        model.simulation().ok()
    }

    /// The present value of a parameter or of the macro step; of other settings it is not known.
    fn baseline(&self, key: &str) -> Option<f64> {
        match key {
            STEP => Some(self.model.step()),
            _ => self.model.parameter(key),
        }
    }

    /// The ends of a range, at which the model must read with every scheme.
    fn ends(&self, range: &Range) -> Result<(f64, f64), Failure> {
        let ends = range.ends(self.baseline(&range.key));
        let Some((low, high)) = ends else {
            return Err(self.no_range(&range.key));
        };
        for scheme in self.schemes() {
            for value in [low, high] {
                self.load(&scheme, &[(&range.key, value)])?;
            }
        }
        Ok((low, high))
    }

    fn no_range(&self, key: &str) -> Failure {
        if key.contains('.') {
            return Failure::NoRange { key: key.into() };
        }
        let names = self.model.parameters().chain([STEP]);
        Failure::unknown("parameter", key, names)
    }

    fn values(&self, range: &Range) -> Result<Vec<f64>, Failure> {
        Ok(range.values(self.ends(range)?))
    }

    /// All modes of the recurrence, or the dominant ones of a large model.
    fn modes(&self) -> Result<(), Failure> {
        let mut simulation = if self.arguments.monolithic {
            self.model.monolithic(None)?
        } else {
            self.model.simulation()?
        };
        let spectrum = Spectrum::of(&mut simulation)?;
        let advice = self.advice(Verdict::of(&spectrum, &mut simulation)?);
        if self.arguments.json {
            let modes = spectrum.modes().iter();
            let modes: Vec<_> = modes.map(|mode| mode_as_json(mode, &spectrum)).collect();
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model.name(),
                "verdict": advice.as_json(), "modes": modes})
            );
            return Ok(());
        }
        say!(
            "{}: {} coordinates",
            self.model.name(),
            spectrum.dimension()
        );
        let mut table = Table::new(["mode", "radius", "growth / (1/s)", "frequency / Hz"]);
        for (index, mode) in spectrum.modes().iter().take(MODES).enumerate() {
            let pole = spectrum.pole(mode);
            table.row([
                (index + 1).to_string(),
                radius_of(mode, spectrum.way()),
                number(pole.re),
                number(pole.im / std::f64::consts::TAU),
            ]);
        }
        say!("{table}");
        say!("{}", advice.for_people());
        Ok(())
    }

    /// What is said about the coupling; in one piece there is none that could be remedied.
    fn advice(&self, verdict: Verdict) -> Advice {
        let advice = Advice::without_remedies(Ok(verdict), self.model);
        if self.arguments.monolithic {
            return advice.monolithic();
        }
        advice.with_remedies(
            self.model,
            self.path(),
            &self.arguments.model.set,
            Duration::MAX,
        )
    }

    /// Where stability changes along one parameter, for each scheme.
    fn border(&self, range: &Range) -> Result<(), Failure> {
        let (low, high) = self.ends(range)?;
        let borders: Vec<_> = self
            .schemes()
            .into_iter()
            .map(|scheme| Border::find(self, scheme, range, [low, high]))
            .collect();
        if self.arguments.json {
            let [first, ..] = borders.as_slice() else {
                return Ok(());
            };
            let all: Vec<_> = borders.iter().map(Border::as_json).collect();
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model.name(),
                "parameter": range.key, "low": low, "high": high, "critical": first.value,
                "borders": all})
            );
            return Ok(());
        }
        for border in &borders {
            say!(
                "{}: {}",
                border.scheme,
                border.text(&range.key, [low, high])
            );
        }
        Ok(())
    }

    /// The radius along one parameter.
    fn curve(&self, x: &Range) -> Result<(), Failure> {
        let values = self.values(x)?;
        let mut panel = Panel::new(&x.key, "spectral radius").with_guide("stable below", 1.0);
        let mut curves = Vec::new();
        for scheme in self.schemes() {
            let radii = self.radii(&scheme, &values, &[0.0], |value, _| vec![(&x.key, value)]);
            panel = panel.with_series(Series::new(&scheme.name, values.clone(), radii.clone()));
            curves.push((scheme.name, radii));
        }
        panel = panel.with_scales(x.scale(), Scale::Linear);
        let out = self.save(Figure::new(self.model.name()).with_panel(panel))?;
        if self.arguments.json {
            let curve =
                |(name, radii): &(String, Vec<f64>)| json!({"scheme": name, "radius": radii});
            let curves: Vec<_> = curves.iter().map(curve).collect();
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model.name(),
                "x": {"key": x.key, "values": values}, "curves": curves, "picture": out})
            );
        } else {
            for (name, radii) in &curves {
                say!("{name}: {}", counted(radii));
            }
            say!("picture: {out}");
        }
        Ok(())
    }

    /// The radius over two parameters.
    fn map(&self, x: &Range, y: &Range) -> Result<(), Failure> {
        let (xs, ys) = (self.values(x)?, self.values(y)?);
        let mut panel = Panel::new(&x.key, &y.key).with_scales(x.scale(), y.scale());
        let mut maps = Vec::new();
        for (index, scheme) in self.schemes().into_iter().enumerate() {
            let radii = self.radii(&scheme, &xs, &ys, |a, b| vec![(&x.key, a), (&y.key, b)]);
            if index == 0 {
                panel = panel.with_cells(Cells {
                    x: xs.clone(),
                    y: ys.clone(),
                    filled: radii.iter().map(|&radius| !is_stable(radius)).collect(),
                });
            }
            let contour = Contour {
                x: &xs,
                y: &ys,
                logarithmic: [x.is_logarithmic(), y.is_logarithmic()],
            };
            let stable_at = |a, b| {
                let simulation = self.build(&scheme, &[(&x.key, a), (&y.key, b)]);
                simulation.is_some_and(|mut simulation| is_stable(radius(&mut simulation)))
            };
            let (line_x, line_y) = contour.border(&radii, threads(), stable_at);
            let label = match count(&radii) {
                0 => format!("{}: unstable everywhere", scheme.name),
                all if all == radii.len() => format!("{}: stable everywhere", scheme.name),
                _ => format!("border, {}", scheme.name),
            };
            panel = panel.with_series(Series::new(label, line_x, line_y).with_style(Style::Line));
            maps.push((scheme.name, radii));
        }
        if let (Some(base_x), Some(base_y)) = (self.baseline(&x.key), self.baseline(&y.key)) {
            let base = Series::new("as in the file", vec![base_x], vec![base_y]);
            panel = panel.with_series(base.with_style(Style::Points));
        }
        let title = format!("{} (shaded: unstable)", self.model.name());
        let out = self.save(Figure::new(title).with_panel(panel))?;
        if self.arguments.json {
            say!("{:#}", self.map_as_json((x, &xs), (y, &ys), &maps, &out));
        } else {
            for (name, radii) in &maps {
                say!("{name}: {}", counted(radii));
            }
            say!("picture: {out}");
        }
        Ok(())
    }

    fn map_as_json(
        &self,
        (x, xs): (&Range, &[f64]),
        (y, ys): (&Range, &[f64]),
        maps: &[(String, Vec<f64>)],
        out: &str,
    ) -> Value {
        let map = |(name, radii): &(String, Vec<f64>)| json!({"scheme": name, "stable": count(radii), "points": radii.len(), "radius": radii});
        json!({
            "command": "stability",
            "model": self.model.name(),
            "x": {"key": x.key, "values": xs},
            "y": {"key": y.key, "values": ys},
            "maps": maps.iter().map(map).collect::<Vec<_>>(),
            "picture": out,
        })
    }

    fn radii<'k>(
        &self,
        scheme: &Scheme,
        x: &[f64],
        y: &[f64],
        changes: impl Fn(f64, f64) -> Vec<(&'k String, f64)> + Sync,
    ) -> Vec<f64> {
        let points = x.len() * y.len();
        let bar = Bar::of_items(points as u64, self.arguments.json);
        let build = |a: f64, b: f64| {
            let changes = changes(a, b);
            let changes: Vec<_> = changes.iter().map(|(key, v)| (key.as_str(), *v)).collect();
            self.build(scheme, &changes)
        };
        map(x, y, threads(), build, |done| {
            if done % 64 == 0 {
                bar.item(done as u64, &scheme.name);
            }
        })
    }

    fn save(&self, figure: Figure) -> Result<String, Failure> {
        let out = self.arguments.out.clone();
        let out = out.unwrap_or_else(|| load::beside(self.path(), "-stability.svg"));
        figure.save(&out)?;
        Ok(out.display().to_string())
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn mode_as_json(mode: &Mode, spectrum: &Spectrum) -> Value {
    let pole = spectrum.pole(mode);
    json!({"radius": mode.value.norm(), "error": mode.error, "growth": pole.re,
        "frequency": pole.im / std::f64::consts::TAU})
}

fn radius_of(mode: &Mode, way: Way) -> String {
    let radius = mode.value.norm();
    match way {
        Way::Dense => format!("{radius:.9}"),
        Way::Krylov { .. } => format!("{radius:.6} ± {:.1e}", mode.error),
    }
}

/// Where stability changes along a range.
struct Border {
    scheme: String,
    value: Option<f64>,
    stable_at_low: bool,
}

impl Border {
    fn find(study: &Study<'_>, scheme: Scheme, range: &Range, [low, high]: [f64; 2]) -> Self {
        let build = |value| study.build(&scheme, &[(&range.key, value)]);
        let at_low = build(low).map_or(f64::NAN, |mut simulation| radius(&mut simulation));
        Self {
            value: critical(low, high, build),
            stable_at_low: is_stable(at_low),
            scheme: scheme.name,
        }
    }

    fn text(&self, key: &str, [low, high]: [f64; 2]) -> String {
        let kind = if self.stable_at_low {
            "stable"
        } else {
            "unstable"
        };
        match self.value {
            Some(value) if self.stable_at_low => format!("stable up to {key} = {value:.6e}"),
            Some(value) => format!("stable from {key} = {value:.6e} on"),
            None => format!(
                "{kind} everywhere from {key} = {} to {}",
                number(low),
                number(high)
            ),
        }
    }

    fn as_json(&self) -> Value {
        let stable = match (self.value, self.stable_at_low) {
            (Some(_), true) => "below",
            (Some(_), false) => "above",
            (None, true) => "everywhere",
            (None, false) => "nowhere",
        };
        json!({"scheme": self.scheme, "critical": self.value, "stable": stable})
    }
}

/// How many points are stable, for people.
fn counted(radii: &[f64]) -> String {
    let stable = format!("stable at {} of {} points", count(radii), radii.len());
    match radii.iter().filter(|radius| radius.is_nan()).count() {
        0 => stable,
        lost => format!("{stable}; {lost} could not be analysed"),
    }
}

fn count(radii: &[f64]) -> usize {
    radii.iter().filter(|&&radius| is_stable(radius)).count()
}
