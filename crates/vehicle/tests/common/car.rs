//! The Formula Student car of the examples, run in memory.
#![allow(dead_code)]

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Model, Overrides};
use oldham_multibody::{Quaternion, Vec3};
use std::path::Path;

pub const CAR: &str = include_str!("../../../../examples/formula-student.toml");

/// The car with further text and changed values.
pub fn car(more: &str, set: &[(&str, &str)]) -> Model {
    let text = format!("{CAR}\n{more}");
    let kinds = oldham_vehicle::extensions();
    let model = Model::parse_with(&text, "formula-student.toml", &overrides(set), &kinds);
    model.unwrap_or_else(|problems| panic!("{problems}"))
}

/// An example with changed values, from its file.
pub fn example(name: &str, set: &[(&str, &str)]) -> Model {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let kinds = oldham_vehicle::extensions();
    let model = Model::read_with(Path::new(&path), &overrides(set), &kinds);
    model.unwrap_or_else(|problems| panic!("{problems}"))
}

fn overrides(set: &[(&str, &str)]) -> Overrides {
    let set = set
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Overrides(set.collect())
}

/// What was recorded.
pub struct History {
    names: Vec<String>,
    pub rows: InMemory,
}

impl History {
    /// Runs a simulation to the end of its model, recording every so many steps.
    pub fn of(mut simulation: Simulation, model: &Model, every: u64) -> Self {
        let mut rows = InMemory::default();
        let outcome = simulation.run(Run {
            record_every: every,
            ..Run::new(model.steps(), &mut rows)
        });
        outcome.end.unwrap_or_else(|fault| panic!("{fault}"));
        Self::new(&simulation, rows)
    }

    pub fn new(simulation: &Simulation, rows: InMemory) -> Self {
        let columns = simulation.columns();
        let names = columns.iter().map(|column| column.name.clone()).collect();
        Self { names, rows }
    }

    /// Without the cut.
    pub fn whole(model: &Model, every: u64) -> Self {
        Self::of(model.monolithic(None).unwrap(), model, every)
    }

    pub fn times(&self) -> &[f64] {
        &self.rows.times
    }

    pub fn column(&self, name: &str) -> Vec<f64> {
        let place = self.names.iter().position(|known| known == name);
        self.rows
            .column(place.unwrap_or_else(|| panic!("no column {name}")))
    }

    pub fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }

    fn vectors(&self, stem: &str, ends: [&str; 3]) -> Vec<Vec3> {
        let [x, y, z] = ends.map(|end| self.column(&format!("{stem}.{end}")));
        (0..x.len()).map(|i| Vec3::new(x[i], y[i], z[i])).collect()
    }

    pub fn positions(&self, stem: &str) -> Vec<Vec3> {
        self.vectors(stem, ["px", "py", "pz"])
    }

    pub fn velocities(&self, stem: &str) -> Vec<Vec3> {
        self.vectors(stem, ["vx", "vy", "vz"])
    }

    pub fn orientations(&self, stem: &str) -> Vec<Quaternion> {
        let [a, b, c, d] =
            ["q0", "q1", "q2", "q3"].map(|end| self.column(&format!("{stem}.{end}")));
        (0..a.len())
            .map(|i| Quaternion([a[i], b[i], c[i], d[i]]))
            .collect()
    }
}
