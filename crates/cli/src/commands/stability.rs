//! `oldham stability`: is the coupling stable, and over which range?

use oldham_cosim::Simulation;
use oldham_model::{Model, Template};
use oldham_results::plot::{Cells, Figure, Panel, Scale, Series, Style};
use oldham_stability::{
    Borders, Contour, EigenMode, Point, Spectrum, borders, is_stable, map, radius,
};
use serde_json::{Value, json};
use std::path::Path;

use crate::args::{Range, Stability};
use crate::failure::Failure;
use crate::load;
use crate::progress::{Bar, Waiting};
use crate::say;
use crate::table::{Table, number};
use crate::verdict::{self, Advice, Case, Subject};

/// Modes listed at most.
const MODES: usize = 12;
/// Values of a range at which a search for borders looks first.
const SAMPLES: usize = 25;

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
    verdict::refuse_learner(&model)?;
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
    /// The file with these settings, read once.
    template: Template,
}

impl Study<'_> {
    fn path(&self) -> &Path {
        &self.arguments.model.model
    }

    /// The model's own scheme, and those to compare it with.
    fn schemes(&self) -> Result<Vec<Scheme>, Failure> {
        let scheme = |name: &str, settings: Vec<(String, String)>| {
            let set = self.arguments.model.set.iter().chain(&settings);
            let set: Vec<_> = set.cloned().collect();
            Ok(Scheme {
                name: name.into(),
                template: load::template(self.path(), &set)?,
                settings,
            })
        };
        let own = std::iter::once(scheme("as in the file", Vec::new()));
        let others = self.arguments.scheme.iter().map(|settings| {
            let pairs = settings.split_whitespace();
            let pairs = pairs.filter_map(|setting| setting.split_once('='));
            let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
            scheme(settings, pairs.collect())
        });
        own.chain(others).collect()
    }

    /// The model with some values changed.
    fn load(&self, scheme: &Scheme, changes: &[(&str, f64)]) -> Result<Model, Failure> {
        if changes
            .iter()
            .all(|(key, _)| scheme.template.has_parameter(key))
        {
            return Ok(scheme.template.with(changes)?);
        }
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
        for scheme in self.schemes()? {
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
        let mut case = Case::of(self.model, self.path(), &self.arguments.model.set);
        if self.arguments.monolithic {
            self.model.monolithic(None)?;
            case.subject = Subject::Whole;
        }
        let waiting = Waiting::new("analysing the coupling", self.arguments.json);
        let (spectrum, verdict) = case.spectrum(None)?;
        let advice = Advice::of(&case, Ok(verdict), None);
        drop(waiting);
        if self.arguments.json {
            let modes = spectrum.own_modes().iter().chain(spectrum.modes());
            let modes: Vec<_> = modes.map(|mode| mode_as_json(mode, &spectrum)).collect();
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model.name(),
                "verdict": advice.as_json(), "modes": modes})
            );
            return Ok(());
        }
        say!("{}: {} states", self.model.name(), spectrum.dimension());
        let mut table = Table::new(["mode", "radius", "growth / (1/s)", "frequency / Hz"]);
        let modes = spectrum.own_modes().iter().chain(spectrum.modes());
        for (index, mode) in modes.take(MODES).enumerate() {
            let pole = spectrum.pole(mode);
            table.row([
                (index + 1).to_string(),
                verdict::with_error(mode.value.norm(), mode.error),
                number(pole.re),
                number(pole.im / std::f64::consts::TAU),
            ]);
        }
        say!("{table}");
        say!("{}", advice.for_people());
        Ok(())
    }

    /// Where stability changes along one parameter, for each scheme.
    fn border(&self, range: &Range) -> Result<(), Failure> {
        let (low, high) = self.ends(range)?;
        let _waiting = Waiting::new("looking for borders of stability", self.arguments.json);
        let borders: Vec<_> = self
            .schemes()?
            .into_iter()
            .map(|scheme| Analysed::find(self, scheme, range, [low, high]))
            .collect();
        if self.arguments.json {
            let [first, ..] = borders.as_slice() else {
                return Ok(());
            };
            let all: Vec<_> = borders.iter().map(Analysed::as_json).collect();
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model.name(),
                "parameter": range.key, "low": low, "high": high, "critical": first.critical(),
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
        for scheme in self.schemes()? {
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
        for (index, scheme) in self.schemes()?.into_iter().enumerate() {
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

fn mode_as_json(mode: &EigenMode, spectrum: &Spectrum) -> Value {
    let pole = spectrum.pole(mode);
    json!({"radius": mode.value.norm(), "error": mode.error, "growth": pole.re,
        "frequency": pole.im / std::f64::consts::TAU})
}

/// Where stability changes along a range.
struct Analysed {
    scheme: String,
    found: Borders,
}

impl Analysed {
    fn find(study: &Study<'_>, scheme: Scheme, range: &Range, [low, high]: [f64; 2]) -> Self {
        let build = |value| study.build(&scheme, &[(&range.key, value)]);
        Self {
            found: borders(low, high, SAMPLES, build),
            scheme: scheme.name,
        }
    }

    fn count(&self, kind: Point) -> usize {
        let points = self.found.samples.iter();
        points.filter(|(_, point)| *point == kind).count()
    }

    /// Stretches of neighbouring samples of the same kind.
    fn stretches(&self, kind: Point) -> Vec<[f64; 2]> {
        let mut found: Vec<[f64; 2]> = Vec::new();
        let mut before = None;
        for &(value, point) in &self.found.samples {
            if point == kind {
                match found.last_mut() {
                    Some(last) if before == Some(kind) => last[1] = value,
                    _ => found.push([value; 2]),
                }
            }
            before = Some(point);
        }
        found
    }

    fn text(&self, key: &str, [low, high]: [f64; 2]) -> String {
        let said = match self.found.borders.as_slice() {
            [] => {
                let kind = match (self.count(Point::Stable), self.count(Point::Unstable)) {
                    (0, 0) => "could not be analysed",
                    (_, 0) => "stable",
                    _ => "unstable",
                };
                let (low, high) = (number(low), number(high));
                format!("{kind} everywhere from {key} = {low} to {high}")
            }
            [only] if only.is_stable_below => format!("stable up to {key} = {:.6e}", only.value),
            [only] => format!("stable from {key} = {:.6e} on", only.value),
            several => {
                let mut parts: Vec<String> = Vec::new();
                for (place, border) in several.iter().enumerate() {
                    let next = several.get(place + 1);
                    match (border.is_stable_below, next) {
                        (true, _) if place == 0 => {
                            parts.push(format!("up to {key} = {:.6e}", border.value));
                        }
                        (true, _) => {}
                        (false, Some(end)) => {
                            parts.push(format!("from {:.6e} to {:.6e}", border.value, end.value));
                        }
                        (false, None) => parts.push(format!("from {:.6e} on", border.value)),
                    }
                }
                format!("stable {}", parts.join(", and "))
            }
        };
        let lost = self.stretches(Point::Unknown);
        if lost.is_empty() || self.count(Point::Unknown) == self.found.samples.len() {
            return said;
        }
        let stretch = |[a, b]: &[f64; 2]| match a == b {
            true => number(*a),
            false => format!("{} to {}", number(*a), number(*b)),
        };
        let lost: Vec<String> = lost.iter().map(stretch).collect();
        format!("{said}; not analysed: {key} = {}", lost.join(", "))
    }

    fn as_json(&self) -> Value {
        let all = &self.found.borders;
        let stable = match (all.as_slice(), self.count(Point::Stable)) {
            ([only], _) if only.is_stable_below => "below",
            ([_], _) => "above",
            ([], 0) if self.count(Point::Unstable) == 0 => "unknown",
            ([], 0) => "nowhere",
            ([], _) if self.count(Point::Unstable) == 0 => "everywhere",
            _ => "in parts",
        };
        let border = |border: &oldham_stability::Border| json!({"value": border.value, "stable_below": border.is_stable_below});
        json!({
            "scheme": self.scheme,
            "critical": self.critical(),
            "stable": stable,
            "all": all.iter().map(border).collect::<Vec<_>>(),
            "not_analysed": self.stretches(Point::Unknown),
        })
    }

    fn critical(&self) -> Option<f64> {
        self.found.borders.first().map(|border| border.value)
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
