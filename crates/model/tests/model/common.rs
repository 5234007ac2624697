//! What several test files need.

use std::fs;
use std::path::{Path, PathBuf};

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Model, Overrides, Problems};

/// Reads a text without overrides.
pub fn read(text: &str) -> Result<Model, Problems> {
    Model::parse(text, "test.toml", &Overrides::none())
}

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Name and text of every example.
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
            (name, fs::read_to_string(path).expect("a text"))
        })
        .collect();
    examples.sort();
    examples
}

/// The text of one example.
pub fn example(name: &str) -> String {
    let path = repository()
        .join("examples")
        .join(name)
        .with_extension("toml");
    fs::read_to_string(path).expect("an example")
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
        let names = simulation
            .columns()
            .iter()
            .map(|column| column.name.clone());
        Self {
            names: names.collect(),
            record,
        }
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
