//! How a mechanism is cut, in the engine's terms.

use oldham_multibody::cut::{Partition, Role};
use oldham_multibody::{NodeId, Options};

use crate::model::Prediction;

/// A cut that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Cutting {
    pub partition: Partition,
    /// Names of the subdomains, in the order of the partition.
    pub names: Vec<String>,
    /// How subdomains that follow interface nodes guess their motion.
    pub prediction: Prediction,
    /// How the subdomains are solved, in the order of the partition.
    pub solutions: Vec<SolverSettings>,
    pub scheme: CutScheme,
    /// Whether subdomains follow the velocity of interface nodes besides their pose.
    pub prescribes_velocity: bool,
    /// How often each step is corrected, where the scheme does so.
    pub corrections: usize,
}

/// How a subdomain is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SolverSettings {
    pub options: Options,
    pub micro_steps: usize,
}

/// How the subdomains are coupled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutScheme {
    /// Couplings know the tangents of the parts, which correct their steps in the end.
    InterfaceTangent,
    /// Couplings know the mass of the interface only.
    InterfaceMass,
    /// There are no couplings: the first part at an interface has it.
    ForceDisplacement,
}

/// What couplings are called; several are numbered.
const COUPLING: &str = "coupling";

impl Cutting {
    /// Names for the subdomains of a partition: parts by the given names, or numbers.
    pub fn names(partition: &Partition, parts: &[&str]) -> Vec<String> {
        let is_coupling = |role: Role| role == Role::Coupling;
        let couplings = partition
            .subdomains
            .iter()
            .filter(|subdomain| is_coupling(subdomain.role));
        let several = couplings.count() > 1;
        let mut coupling = 0;
        let mut name = |(index, role): (usize, Role)| match (role, parts.get(index)) {
            (Role::Part, Some(name)) => (*name).to_owned(),
            (Role::Part, None) => (index + 1).to_string(),
            (Role::Coupling, _) => {
                coupling += 1;
                match several {
                    true => format!("{COUPLING}.{coupling}"),
                    false => COUPLING.to_owned(),
                }
            }
        };
        let roles = partition.subdomains.iter().map(|subdomain| subdomain.role);
        roles.enumerate().map(&mut name).collect()
    }

    /// Whether corrections end with an iteration, so that further ones find something to improve.
    pub fn is_thorough(&self) -> bool {
        self.corrections > 1
    }

    /// Whether a part may be called so.
    pub fn is_free_name(name: &str) -> bool {
        name != COUPLING
    }

    /// The subdomain that has a node with its mass.
    pub fn owner(&self, node: NodeId) -> usize {
        let owns = |subdomain: &oldham_multibody::cut::Subdomain| subdomain.nodes.contains(&node);
        let found = self.partition.subdomains.iter().position(owns);
        found.expect("every node has an owner")
    }

    /// The subdomain that has both nodes, itself or as copies.
    pub fn home(&self, nodes: [NodeId; 2]) -> Option<usize> {
        let has_all = |subdomain: &oldham_multibody::cut::Subdomain| {
            nodes.iter().all(|&node| subdomain.has(node))
        };
        self.partition.subdomains.iter().position(has_all)
    }
}
