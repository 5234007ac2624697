//! `oldham stability`: is the coupling stable, and over which range?

use std::path::PathBuf;
use std::sync::OnceLock;

use oldham_results::plot::Figure;
use oldham_stability::{Decision, Point};
use oldham_study::{
    Cause, GridProgress, Range, Scheme, SchemeBorders, SchemeRadii, StabilityMap, StabilityStudy,
    StateKind, StudyError, Survey, Variation,
};
use serde_json::json;

use crate::args::Stability;
use crate::failure::Failure;
use crate::load::Begun;
use crate::progress::{Bar, Waiting};
use crate::say;
use crate::table::{Table, number};
use crate::verdict::Granted;
use crate::{interrupt, load, picture, verdict};

/// The state that borders and maps are about.
const AT_THE_START: &str = "all of this at the start of the run; points where something is at a limit there count as not analysed";

/// Modes listed at most.
const MODES: usize = 12;

pub fn execute(arguments: &Stability) -> Result<(), Failure> {
    if arguments.over.len() > 2 {
        return Err(Failure::TooManyRanges {
            times: arguments.over.len(),
        });
    }
    let schemes = arguments.scheme.iter().map(|text| Scheme::parse(text));
    let schemes = schemes.collect::<Result<Vec<_>, _>>()?;
    let begun = Begun::with(
        &arguments.model.model,
        &arguments.model.changes.settings(),
        arguments.from.as_deref(),
    )?;
    let Begun { model, file, start } = begun;
    let study = StabilityStudy::new(&file, &model, schemes, arguments.monolithic)?;
    let report = Report {
        arguments,
        model: model.name(),
        study: study.beginning_with(start.as_ref()),
    };
    let _analysis = interrupt::Analysis::new();
    let draw = arguments.draw.draw();
    let axis = |variation: &Variation| variation.axis(&draw).map_err(StudyError::from);
    match (&arguments.critical, arguments.over.as_slice()) {
        (Some(range), _) => report.borders(&axis(range)?),
        (None, []) => report.modes(),
        (None, [x]) => report.curve(&axis(x)?),
        (None, [x, y, ..]) => report.map(&axis(x)?, &axis(y)?),
    }
}

struct Report<'a> {
    arguments: &'a Stability,
    model: &'a str,
    study: StabilityStudy<'a>,
}

impl Report<'_> {
    /// All modes of the recurrence, or the dominant ones of a large model.
    fn modes(&self) -> Result<(), Failure> {
        let granted = Granted::new(self.arguments.seconds, self.arguments.remedies);
        let waiting = Waiting::new("analysing the coupling", self.arguments.json);
        let mut show = |at| verdict::show(&waiting, at);
        let mut found = self.study.modes_along_run(granted.time(), &mut show)?;
        drop(waiting);
        if self.arguments.json {
            let granted = granted.for_remedies();
            self.study.look_for_remedies(&mut found.advice, granted)?;
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model,
                "verdict": found.advice, "modes": found.modes, "unlisted": found.unlisted})
            );
            return Ok(());
        }
        let time = match found.advice.survey.as_ref().and_then(Survey::worst) {
            Some(state) if state.kind != StateKind::Start => {
                format!(" at t = {} s", number(state.time))
            }
            _ => String::new(),
        };
        say!("{}: {} states{time}", self.model, found.states);
        let mut table = Table::new(["mode", "radius", "growth / (1/s)", "frequency / Hz"]);
        let of_kind = |own: bool| {
            found
                .modes
                .iter()
                .filter(move |mode| mode.own == own)
                .take(MODES)
        };
        let shown = of_kind(false).chain(of_kind(true));
        for (index, mode) in shown.enumerate() {
            let note = if mode.own { ", the model's own" } else { "" };
            table.row([
                format!("{}{note}", index + 1),
                verdict::with_error(mode.radius, mode.error),
                number(mode.growth),
                number(mode.frequency),
            ]);
        }
        say!("{table}");
        if found.unlisted > 0 {
            say!(
                "  and {} more eigenvalues that grow, counted and not looked for\n",
                found.unlisted
            );
        }
        say!("{}", verdict::for_people(&found.advice));
        let waiting = Waiting::new("looking for settings that help", self.arguments.json);
        let granted = granted.for_remedies();
        self.study.look_for_remedies(&mut found.advice, granted)?;
        drop(waiting);
        if found.advice.decision() == Some(Decision::Unstable) {
            say!("{}", verdict::remedies(&found.advice));
        }
        Ok(())
    }

    /// Where stability changes along one parameter, for each scheme.
    fn borders(&self, range: &Range) -> Result<(), Failure> {
        let _waiting = Waiting::new("looking for borders of stability", self.arguments.json);
        let found = self.study.borders(range)?;
        let (low, high) = (found.low, found.high);
        if self.arguments.json {
            let critical = found.schemes.first().and_then(SchemeBorders::critical);
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model,
                "state": "start", "parameter": found.key, "low": low, "high": high, "critical": critical,
                "borders": found.schemes})
            );
            return Ok(());
        }
        for borders in &found.schemes {
            let text = text(borders, &range.key, [low, high]);
            say!("{}: {text}", borders.scheme);
        }
        say!("{AT_THE_START}");
        Ok(())
    }

    /// The radius along one parameter.
    fn curve(&self, x: &Range) -> Result<(), Failure> {
        let bar = GridBar::new(self.arguments.json);
        let curve = self.study.curve(x, &|progress| bar.show(progress))?;
        drop(bar);
        let out = self.save(&curve.figure())?;
        if self.arguments.json {
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model,
                "state": "start", "x": curve.x, "curves": curve.schemes, "picture": load::shown(&out)})
            );
        } else {
            for radii in &curve.schemes {
                say!("{}: {}", radii.scheme, counted(radii));
            }
            say!("{AT_THE_START}");
            say!("picture: {}", out.display());
        }
        Ok(())
    }

    /// The radius over two parameters.
    fn map(&self, x: &Range, y: &Range) -> Result<(), Failure> {
        let bar = GridBar::new(self.arguments.json);
        let map = self.study.map(x, y, &|progress| bar.show(progress))?;
        drop(bar);
        let out = self.save(&map.figure())?;
        if self.arguments.json {
            say!(
                "{:#}",
                json!({"command": "stability", "model": self.model, "state": "start", "x": map.x, "y": map.y,
                "maps": map.schemes, "regions": map.regions, "picture": load::shown(&out)})
            );
        } else {
            for scheme in &map.schemes {
                say!("{}: {}", scheme.radii.scheme, counted(&scheme.radii));
            }
            if !map.regions.is_empty() {
                say!("where it is unstable as in the file, and what grows in the middle:");
                say!("{}", regions(&map));
            }
            say!("{AT_THE_START}");
            say!("picture: {}", out.display());
        }
        Ok(())
    }

    fn save(&self, figure: &Figure) -> Result<PathBuf, Failure> {
        let out = self.arguments.out.clone();
        let model = &self.arguments.model.model;
        let out = out.unwrap_or_else(|| load::beside(model, "-stability.svg"));
        picture::protect(&out, &[model])?;
        figure.save(&out)?;
        Ok(out)
    }
}

/// The unstable regions of a map, and why each is unstable.
fn regions(map: &StabilityMap) -> Table {
    let columns = [
        "points",
        map.x.key.as_str(),
        map.y.key.as_str(),
        "frequency / Hz",
        "growth / (1/s)",
        "where",
    ];
    let mut table = Table::new(columns);
    for region in &map.regions {
        let cause = region.cause.as_ref();
        let place = match cause {
            None => "not analysed further".to_owned(),
            Some(cause) if cause.own => "the model's own".to_owned(),
            Some(cause) => cause.interface.clone().unwrap_or_default(),
        };
        let of_cause = |what: fn(&Cause) -> f64| cause.map_or(String::new(), |c| number(what(c)));
        table.row([
            region.points.to_string(),
            number(region.x),
            number(region.y),
            of_cause(|cause| cause.frequency),
            of_cause(|cause| cause.growth),
            place,
        ]);
    }
    table
}

/// Points of a curve or a map that are done.
struct GridBar {
    bar: OnceLock<Bar>,
    hidden: bool,
}

impl GridBar {
    fn new(hidden: bool) -> Self {
        Self {
            bar: OnceLock::new(),
            hidden,
        }
    }

    fn show(&self, progress: GridProgress<'_>) {
        let bar = || Bar::of_items(progress.points as u64, self.hidden);
        let bar = self.bar.get_or_init(bar);
        if progress.done.is_multiple_of(64) {
            bar.item(progress.done as u64, progress.scheme);
        }
    }
}

/// Where a scheme is stable, for people.
fn text(borders: &SchemeBorders, key: &str, [low, high]: [f64; 2]) -> String {
    let said = match borders.found.borders.as_slice() {
        [] => {
            let (low, high) = (number(low), number(high));
            let range = format!("from {key} = {low} to {high}");
            let counts = [Point::Stable, Point::Unstable, Point::Unknown].map(|p| borders.count(p));
            match counts {
                [0, 0, _] => format!("could not be analysed anywhere {range}"),
                [_, 0, 0] => {
                    format!("stable everywhere {range}: no border in there; give a wider range")
                }
                [0, _, 0] => {
                    format!("unstable everywhere {range}: no border in there; give a wider range")
                }
                [_, 0, _] => format!("stable wherever it could be analysed {range}"),
                [0, _, _] => format!("unstable wherever it could be analysed {range}"),
                _ => {
                    let stable = stretches(borders, Point::Stable);
                    let unstable = stretches(borders, Point::Unstable);
                    format!("stable at {key} = {stable}, unstable at {unstable}")
                }
            }
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
    let lost = borders.count(Point::Unknown);
    if lost == 0 || lost == borders.found.samples.len() {
        return said;
    }
    let lost = stretches(borders, Point::Unknown);
    format!("{said}; not analysed: {key} = {lost}")
}

/// The values at which this was found, neighbours from the first to the last.
fn stretches(borders: &SchemeBorders, point: Point) -> String {
    let stretch = |[a, b]: &[f64; 2]| match a == b {
        true => number(*a),
        false => format!("{} to {}", number(*a), number(*b)),
    };
    let all: Vec<String> = borders.stretches(point).iter().map(stretch).collect();
    all.join(", ")
}

/// How many points are stable, for people.
fn counted(radii: &SchemeRadii) -> String {
    let points = radii.radius.len();
    let stable = format!("stable at {} of {points} points", radii.stable());
    match radii.unknown() {
        0 => stable,
        lost => format!("{stable}; {lost} could not be analysed"),
    }
}
