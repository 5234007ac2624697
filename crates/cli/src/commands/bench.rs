//! `oldham bench`: measure one thing, in one run, beside a calibration of the machine.

mod car;
mod compensation;
mod contact;
mod cut;
mod export;
mod fmu;
mod interface_model;
mod mpi;
mod partition;
mod robots;
mod socket;
mod stability;
mod sweep;
mod threads;
mod trim;
mod view;

use std::hint::black_box;
use std::time::Instant;

use oldham_cosim::{Column, Counters, Discard, Recorder, Run, Simulation};
use oldham_model::{Model, Overrides, Template};
use oldham_multibody::bench::{clamped_shell, hanging_beam, spatial_chain};
use oldham_multibody::{Model as Mechanism, Options, System};
use oldham_real_time::thread_cpu_seconds as cpu_seconds;
use oldham_results::{Metadata, ResultWriter};
use oldham_stability::map;
use oldham_study::StudyError;
use serde::Serialize;
use serde_json::json;

use crate::args::Bench;
use crate::failure::Failure;
use crate::say;
use crate::table::{Table, number};

/// What can be measured.
pub const NAMES: [&str; 24] = [
    "engine",
    "beam",
    "shell",
    "chain",
    "robots",
    "contact",
    "piles",
    "cut",
    "partition",
    "interface-model",
    "map",
    "stability",
    "trim",
    "predictors",
    "compensation",
    "overlap",
    "busy",
    "car",
    "sweep",
    "view",
    "fmu",
    "export",
    "mpi",
    "socket",
];

/// Repetitions; the best counts, since other load only ever adds time. Many short ones find a quiet
/// moment more surely than few long ones.
const REPEATS: usize = 40;
/// Macro steps of one repetition.
const STEPS: u64 = 50_000;

#[derive(Serialize)]
struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    /// Required at most this, or at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    required: Option<f64>,
    #[serde(skip)]
    is_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
    note: String,
}

impl Figure {
    fn new(name: &str, value: f64, unit: &'static str, note: &str) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            required: None,
            is_least: false,
            met: None,
            note: note.into(),
        }
    }

    fn required(mut self, limit: f64) -> Self {
        self.required = Some(limit);
        self.met = Some(self.value <= limit);
        self
    }

    /// Required between two values; the note names them.
    fn within(mut self, low: f64, high: f64) -> Self {
        self.met = Some((low..=high).contains(&self.value));
        self
    }

    fn at_least(mut self, limit: f64) -> Self {
        self.required = Some(limit);
        self.is_least = true;
        self.met = Some(self.value >= limit);
        self
    }
}

pub fn execute(arguments: &Bench) -> Result<(), Failure> {
    let names = match arguments.name.as_deref() {
        Some(name) => vec![name],
        // That of MPI is started by `mpirun`.
        None => NAMES.into_iter().filter(|name| *name != "mpi").collect(),
    };
    for name in names {
        let mut figures = match name {
            "engine" => engine()?,
            "beam" => beam(),
            "shell" => shell(),
            "chain" => chain(),
            "robots" => robots::figures(),
            "contact" => contact::figures(),
            "piles" => contact::pile_figures(),
            "cut" => cut::figures()?,
            "partition" => partition::figures()?,
            "interface-model" => interface_model::figures()?,
            "map" => stability_map()?,
            "stability" => stability::figures()?,
            "trim" => trim::figures()?,
            "predictors" => predictors(),
            "compensation" => compensation::compensation()?,
            "overlap" => threads::overlap(),
            "busy" => threads::busy()?,
            "car" => car::figures()?,
            "sweep" => sweep::figures()?,
            "view" => view::figures()?,
            "fmu" => fmu::figures()?,
            "export" => export::figures()?,
            "mpi" => mpi::figures()?,
            "socket" => socket::figures()?,
            _ => unreachable!("the grammar admits only known names"),
        };
        figures.push(calibration());
        if arguments.json {
            say!("{:#}", json!({"bench": name, "figures": figures}));
        } else {
            print(name, &figures);
        }
    }
    Ok(())
}

fn print(name: &str, figures: &[Figure]) {
    say!("{name}");
    let mut table = Table::new(["figure", "value", "unit", "required", "met", "note"]);
    for figure in figures {
        let required = figure.required.map_or_else(String::new, |limit| {
            format!("{} {limit}", if figure.is_least { ">=" } else { "<=" })
        });
        let met = figure.met.map_or("", |met| if met { "yes" } else { "no" });
        table.row([
            figure.name.clone(),
            number(figure.value),
            figure.unit.into(),
            required,
            met.into(),
            figure.note.clone(),
        ]);
    }
    say!("{table}");
}

const PAIR: &str = include_str!("../../../../examples/two-mass-force-displacement.toml");

fn pair() -> Result<Simulation, Failure> {
    let overrides = Overrides::none();
    let model = Model::parse(PAIR, "two-mass-force-displacement.toml", &overrides)?;
    Ok(model.simulation()?)
}

/// Two parts of one degree of freedom each, coupled by force and displacement.
fn engine() -> Result<Vec<Figure>, Failure> {
    let one = best(|| Ok(cpu_per_step(&mut pair()?, 1, &mut Discard)))?;
    let two = best(|| Ok(wall_per_step(&mut pair()?, 2)))?;
    let recording = best(recording_per_step)?;
    Ok(vec![
        Figure::new(
            "one-thread",
            one,
            "us",
            "CPU time per macro step, nothing recorded",
        )
        .required(0.3),
        Figure::new("two-threads", two, "us", "wall time per macro step").required(2.5),
        Figure::new(
            "recording",
            recording - one,
            "us",
            "added by ten signals at every step, encoding and the final Parquet file included",
        )
        .required(0.2),
    ])
}

/// The hanging beam of Fontana 2026, Sect. 5.1, undamped, h = 1e-4 s.
fn beam() -> Vec<Figure> {
    let figure = |name, elements, steps, required: Option<f64>| {
        let (spent, note) = mechanism(|| hanging_beam(elements, 0.0).0, 1e-4, steps);
        let figure = Figure::new(name, spent, "us", &note);
        match required {
            Some(limit) => figure.required(limit),
            None => figure,
        }
    };
    vec![
        figure("beam-6", 6, 4000, Some(30.0)),
        figure("beam-12", 12, 4000, Some(62.0)),
        figure("beam-24", 24, 4000, Some(125.0)),
        figure("beam-1000", 1000, 200, None),
    ]
}

/// The clamped shell of Fontana 2026, Sect. 5.2, 4 x 2 elements, h = 1e-3 s.
fn shell() -> Vec<Figure> {
    let (spent, note) = mechanism(|| clamped_shell([4, 2]).0, 1e-3, 1000);
    vec![Figure::new("shell-4x2", spent, "us", &note).required(500.0)]
}

/// Ten rigid links in space joined by universal joints, h = 1e-3 s.
fn chain() -> Vec<Figure> {
    let (spent, note) = mechanism(|| spatial_chain(10).0, 1e-3, 2000);
    vec![Figure::new("chain-10", spent, "us", &note).required(20.0)]
}

/// CPU time per step of a mechanism from its start, best of several, and a note on the work.
fn mechanism(model: impl Fn() -> Mechanism, h: f64, steps: usize) -> (f64, String) {
    let mut best = f64::INFINITY;
    let mut note = String::new();
    for _ in 0..5 {
        let system = System::new(model(), Options::default());
        let mut system = system.expect("a benchmark's model is valid");
        system.start(0.0, &[]).expect("a benchmark's model starts");
        let start = cpu_seconds();
        for _ in 0..steps {
            system.step(h, &[]).expect("a benchmark's model runs");
        }
        best = best.min((cpu_seconds() - start) / steps as f64 * 1e6);
        note = work(system.counters(), system.linear_operations());
    }
    (best, note)
}

/// Work of a step. Operations are those of the linear solver, counted; those of the elements are
/// not.
fn work(counters: Counters, (factorisation, solution): (u64, u64)) -> String {
    let per_step = |count: u64| count as f64 / counters.micro_steps.max(1) as f64;
    let (solved, factored) = (
        per_step(counters.iterations),
        per_step(counters.factorisations),
    );
    let operations = solved * solution as f64 + factored * factorisation as f64;
    format!(
        "CPU time per step; {} iterations and {} factorisations a step, {} kflop in the linear solver",
        number(solved),
        number(factored),
        number(operations * 1e-3)
    )
}

/// The learning predictor: one update and one prediction.
fn predictors() -> Vec<Figure> {
    let timing = oldham_dmd::bench::time(4, 2, |_| oldham_dmd::Settings::fixed(100));
    let spent = timing
        .expect("the benchmark's window is long enough")
        .microseconds;
    let note = "wall time of update and prediction, window 100, four signals received, two sent";
    vec![Figure::new("dmd-100x6", spent, "us", note).required(5.0)]
}

const INTERFACE_MASS: &str = include_str!("../../../../examples/interface-mass.toml");

/// Maps of the spectral radius over two masses of the four-mass problem.
fn stability_map() -> Result<Vec<Figure>, Failure> {
    let seconds = |points: usize| {
        let axis: Vec<f64> = (0..points)
            .map(|i| 1e-3 * 1e6_f64.powf(i as f64 / (points - 1) as f64))
            .collect();
        let none = Overrides::none();
        let template = Template::parse(INTERFACE_MASS, "interface-mass.toml", &none)
            .expect("the benchmark's model reads");
        let build = |m2: f64, m3: f64| {
            let model = template.with(&[("m2", m2), ("m3", m3)]);
            model.ok()?.simulation().ok()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let start = Instant::now();
        let radii = map(&axis, &axis, threads, build, |_| {});
        assert!(
            radii.iter().all(|radius| radius.is_finite()),
            "every point is analysed"
        );
        start.elapsed().as_secs_f64()
    };
    let small = (0..3).map(|_| seconds(25)).fold(f64::INFINITY, f64::min);
    let large = seconds(200);
    let note = "wall time on all cores, each point checked, built, probed and solved";
    Ok(vec![
        Figure::new("map-25", small, "s", note).required(1.0),
        Figure::new("map-200", large, "s", note).required(3.0),
    ])
}

fn best(mut measure: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        best = best.min(measure()?);
    }
    Ok(best)
}

/// Runs silently: only the last step is recorded.
fn run(simulation: &mut Simulation, threads: usize, recorder: &mut dyn Recorder) {
    let outcome = simulation.run(Run {
        threads,
        record_every: u64::MAX,
        ..Run::new(STEPS, recorder)
    });
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
}

fn cpu_per_step(simulation: &mut Simulation, threads: usize, recorder: &mut dyn Recorder) -> f64 {
    let start = cpu_seconds();
    run(simulation, threads, recorder);
    (cpu_seconds() - start) / STEPS as f64 * 1e6
}

fn wall_per_step(simulation: &mut Simulation, threads: usize) -> f64 {
    let start = Instant::now();
    run(simulation, threads, &mut Discard);
    start.elapsed().as_secs_f64() / STEPS as f64 * 1e6
}

/// The same steps with ten signals written to a Parquet file.
fn recording_per_step() -> Result<f64, Failure> {
    let mut simulation = pair()?;
    let folder = tempfile::tempdir().expect("a scratch folder can be made");
    let path = folder.path().join("bench.parquet");
    let plain = simulation
        .columns()
        .iter()
        .filter(|c| !c.name.starts_with("energy."));
    let available = plain.count();
    // Ten columns; the pair has fewer outputs, so some are written twice under other names.
    let chosen: Vec<usize> = (0..10).map(|i| i % available).collect();
    let columns: Vec<Column> = chosen
        .iter()
        .enumerate()
        .map(|(place, &i)| Column {
            name: format!("{}#{place}", simulation.columns()[i].name),
            ..simulation.columns()[i].clone()
        })
        .collect();
    let meta = Metadata::default();
    let start = cpu_seconds();
    let mut writer =
        ResultWriter::create(&path, &columns, &meta, true).map_err(StudyError::Write)?;
    let outcome = simulation.run(Run {
        record_columns: Some(chosen),
        ..Run::new(STEPS, &mut writer)
    });
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
    writer.finish().map_err(StudyError::Finish)?;
    Ok((cpu_seconds() - start) / STEPS as f64 * 1e6)
}

/// The speed of this machine, to read the other figures by: dependent multiply and add.
fn calibration() -> Figure {
    const OPERATIONS: u32 = 2_000_000;
    let measure = || {
        let start = cpu_seconds();
        let mut value = black_box(1.0_f64);
        for _ in 0..OPERATIONS {
            value = value * 0.999_999 + 1e-6;
        }
        black_box(value);
        (cpu_seconds() - start) / f64::from(OPERATIONS) * 1e9
    };
    let best = (0..REPEATS)
        .map(|_| measure())
        .fold(f64::INFINITY, f64::min);
    Figure::new(
        "calibration",
        best,
        "ns",
        "one dependent multiply and add on this machine",
    )
}
