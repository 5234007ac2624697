//! Recorded poses of nodes.

use std::collections::HashMap;

use oldham_model::{Mechanism, Pose};
use oldham_multibody::{NodeId, Quaternion, Vec3};
use oldham_results::Table;

/// Columns over time, from a file or from a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Times in s.
    pub times: Vec<f64>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Their values, a column each.
    pub columns: Vec<Vec<f64>>,
}

/// A result without the poses of the nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the result has no column `{column}`: run the model with record.nodes = true")]
pub struct NoPoses {
    /// What is missing.
    pub column: String,
}

impl From<&Table> for History {
    fn from(table: &Table) -> Self {
        let names: Vec<String> = table.names().map(Into::into).collect();
        let columns = (0..names.len()).map(|place| table.at(place).to_vec());
        Self {
            times: table.time().to_vec(),
            columns: columns.collect(),
            names,
        }
    }
}

/// The columns of a mechanism's nodes.
pub(crate) struct Track<'h> {
    pub(crate) mechanism: Mechanism<'h>,
    /// Position and quaternion of each node but the ground.
    nodes: Vec<[&'h [f64]; 7]>,
    /// Radius and coordinates of all particles that were recorded.
    particles: Vec<(f64, [&'h [f64]; 3])>,
    /// Points and forces of contacts that were recorded.
    contacts: Vec<[&'h [f64]; 6]>,
}

impl<'h> Track<'h> {
    pub(crate) fn find(mechanism: Mechanism<'h>, history: &'h History) -> Result<Self, NoPoses> {
        let names = history.names.iter().map(String::as_str);
        let places: HashMap<&str, usize> = names.zip(0..).collect();
        let column = |node: &str, component: &str| {
            let name = format!("{}.nodes.{node}.{component}", mechanism.name());
            match places.get(name.as_str()) {
                Some(&place) => Ok(history.columns[place].as_slice()),
                None => Err(NoPoses { column: name }),
            }
        };
        let mut nodes = Vec::new();
        for node in mechanism.sketch().nodes.iter().skip(1) {
            let at = |component| column(node, component);
            nodes.push([
                at("px")?,
                at("py")?,
                at("pz")?,
                at("q0")?,
                at("q1")?,
                at("q2")?,
                at("q3")?,
            ]);
        }
        let mut particles = Vec::new();
        for kind in &mechanism.sketch().particles {
            let first = format!("{}.particles.{}.1", mechanism.name(), kind.name);
            let Some(&first) = places.get(first.as_str()) else {
                continue;
            };
            for i in 0..kind.count {
                let at = [0, 1, 2].map(|k| history.columns[first + 3 * i + k].as_slice());
                particles.push((kind.radius, at));
            }
        }
        let sketch = mechanism.sketch();
        let contact = |node: &NodeId| {
            let base = format!(
                "{}.contacts.{}",
                mechanism.name(),
                sketch.nodes[node.index()]
            );
            let column = |component: &str| {
                let name = format!("{base}.{component}");
                Some(history.columns[*places.get(name.as_str())?].as_slice())
            };
            Some([
                column("at.1")?,
                column("at.2")?,
                column("at.3")?,
                column("fx")?,
                column("fy")?,
                column("fz")?,
            ])
        };
        let contacts = sketch.contacts.iter().filter_map(contact).collect();
        Ok(Self {
            mechanism,
            nodes,
            particles,
            contacts,
        })
    }

    /// Radii and centres of all particles in a row.
    pub(crate) fn particles(&self, row: usize) -> impl Iterator<Item = (f64, Vec3)> {
        let particles = self.particles.iter();
        particles.map(move |(radius, columns)| {
            let [x, y, z] = columns.map(|column| column[row]);
            (*radius, Vec3::new(x, y, z))
        })
    }

    /// Points and forces of all contacts in a row.
    pub(crate) fn contacts(&self, row: usize) -> impl Iterator<Item = [Vec3; 2]> {
        self.contacts.iter().map(move |columns| {
            let [x, y, z, fx, fy, fz] = columns.map(|column| column[row]);
            [Vec3::new(x, y, z), Vec3::new(fx, fy, fz)]
        })
    }

    /// Poses of all nodes but the ground in a row.
    pub(crate) fn poses(&self, row: usize) -> impl Iterator<Item = Pose> {
        self.nodes.iter().map(move |columns| {
            let [x, y, z, q0, q1, q2, q3] = columns.map(|column| column[row]);
            Pose {
                position: Vec3::new(x, y, z),
                orientation: Quaternion([q0, q1, q2, q3]),
            }
        })
    }
}
