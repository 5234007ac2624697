//! What several test files need.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Extensions, Model, Overrides, Problems};

/// A cantilever that is shaken at its tip, cut in the middle.
pub const CUT_CANTILEVER: &str = r#"
[model]
name = "cantilever"
[simulation]
duration = 1.0
step = 1e-3
[multibody.b.sections.s]
rectangle = [0.02, 0.01]
young = 2.1e11
density = 7800
[multibody.b.beams.a]
from = [0, 0, 0]
to = [1, 0, 0]
elements = 4
section = "s"
up = [0, 1, 0]
[multibody.b.joints]
root = { type = "fixed", between = ["ground", "a.0"] }
[multibody.b.loads]
tip = { on = "a.8", force = [0, 0, "10*cos(2*pi*3*t)"] }
[multibody.b.cut]
at = ["a.4"]
"#;

/// Reads a text without overrides, with the kinds that come with Oldham.
pub fn read(text: &str) -> Result<Model, Problems> {
    Model::parse_with(text, "test.toml", &Overrides::none(), shipped_kinds())
}

/// The kinds that come with Oldham.
pub fn shipped_kinds() -> &'static Extensions {
    static KINDS: OnceLock<Extensions> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds = oldham_vehicle::extensions();
        oldham_hydraulics::register(&mut kinds);
        oldham_fmi::register(&mut kinds);
        oldham_process::register(&mut kinds);
        kinds
    })
}

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Name and text of every example that is complete by itself; see [`examples_in_files`] for the others.
pub fn examples() -> Vec<(String, String)> {
    let folder = fs::read_dir(repository().join("examples")).expect("the examples");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    let models = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut examples: Vec<_> = models
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let text = fs::read_to_string(&path).expect("a text");
            // Data lies beside the examples, wherever a test runs.
            let folder = path.parent().expect("a folder").display().to_string();
            (
                name,
                text.replace("file = \"", &format!("file = \"{folder}/")),
            )
        })
        .filter(|(_, text)| !includes_others(text))
        .collect();
    examples.sort();
    examples
}

fn includes_others(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("include = "))
}

/// Paths of the examples that include other files.
pub fn examples_in_files() -> Vec<PathBuf> {
    let folder = fs::read_dir(repository().join("examples")).expect("the examples");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    let models = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a text");
    models.filter(|path| includes_others(&text(path))).collect()
}

/// The text of one example.
pub fn example(name: &str) -> String {
    let path = repository()
        .join("examples")
        .join(name)
        .with_extension("toml");
    fs::read_to_string(path).expect("an example")
}

/// A linear congruential generator (Knuth's constants): the same models everywhere.
pub struct Random(pub u64);

impl Random {
    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two bounds.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// One of so many.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    /// Evenly over the orders of magnitude.
    pub fn size(&mut self, low: f64, high: f64) -> f64 {
        (self.between(low.ln(), high.ln())).exp()
    }
}

/// All columns over all steps of a model.
pub struct History {
    names: Vec<String>,
    /// The rows.
    pub record: InMemory,
}

impl History {
    /// Runs to the end.
    pub fn of(model: &Model, mut simulation: Simulation) -> Self {
        let mut record = InMemory::default();
        let outcome = simulation.run(Run::new(model.steps(), &mut record));
        outcome.end.expect("a finished run");
        Self::new(&simulation, record)
    }

    /// What was recorded of a simulation.
    pub fn new(simulation: &Simulation, record: InMemory) -> Self {
        let columns = simulation.columns().iter();
        Self {
            names: columns.map(|column| column.name.clone()).collect(),
            record,
        }
    }

    /// Names of all columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// One column by its name.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let found = self.names.iter().position(|column| column == name);
        let index = found.unwrap_or_else(|| panic!("`{name}` among {:?}", self.names));
        self.record.column(index)
    }
}

/// A run of the coupled model.
pub fn coupled(model: &Model) -> History {
    History::of(model, model.simulation().expect("a simulation"))
}

/// What stops a run of a model; nothing if it goes through. Numbers are finite up to there.
pub fn stopped_by(text: &str) -> Option<String> {
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let mut simulation = model.simulation().unwrap();
    let mut memory = InMemory::default();
    let outcome = simulation.run(Run::new(model.steps(), &mut memory));
    for column in 0..simulation.columns().len() {
        assert!(memory.column(column).iter().all(|x| x.is_finite()));
    }
    outcome.end.err().map(|error| error.to_string())
}

/// Fails if a run differs in any bit with more threads.
pub fn assert_threads_keep_bits(model: &Model) {
    let run = |threads: usize| {
        let mut record = InMemory::default();
        let outcome = model.simulation().expect("a simulation").run(Run {
            threads,
            ..Run::new(model.steps(), &mut record)
        });
        outcome.end.expect("a finished run");
        bits(&record.rows.concat())
    };
    let one = run(1);
    for threads in [2, 3, 4, 8] {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}

/// Fails if a run that is continued from a checkpoint differs in any column, energies too, from one
/// that was never saved; or if one that was saved on the way does; or in any output of these
/// subsystems.
pub fn assert_checkpoint_keeps_bits(model: &Model, subsystems: &[&str]) {
    let mut never_saved = model.simulation().expect("a simulation");
    let [mut through, mut continued] = [(); 2].map(|()| model.simulation().expect("a simulation"));
    let rows = |simulation: &mut Simulation, steps: u64| {
        let mut record = InMemory::default();
        let outcome = simulation.run(Run::new(steps, &mut record));
        outcome.end.expect("a finished run");
        let last = record.rows.len() - steps as usize;
        bits(&record.rows[last..].concat())
    };
    let first = rows(&mut never_saved, 50);
    let second = rows(&mut never_saved, 50);
    assert_eq!(rows(&mut through, 50), first);
    let checkpoint = through.checkpoint("model").expect("a checkpoint");
    assert_eq!(rows(&mut through, 50), second, "saved on the way");
    continued.restore(&checkpoint, "model").expect("a restart");
    assert_eq!(rows(&mut continued, 50), second, "continued");
    for name in subsystems {
        let outputs = |simulation: &Simulation| {
            let id = simulation.find(name).expect("a subsystem");
            bits(simulation.outputs(id))
        };
        assert_eq!(outputs(&through), outputs(&continued), "{name}");
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
