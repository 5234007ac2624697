//! How a mechanism is cut, in the engine's terms.

use oldham_multibody::CutSettings;
use oldham_multibody::cut::{Partition, Role};

use crate::model::Prediction;

/// A cut that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Cutting {
    pub settings: CutSettings,
    /// How subdomains that follow interface nodes guess their motion.
    pub prediction: Prediction,
    /// How often each step is corrected, where the scheme does so.
    pub corrections: usize,
    /// Which parts advance before the others.
    pub order: Order,
}

/// The order of parts that are moved by impulses and of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// None of its own: as the schedule says.
    Scheduled,
    /// Those that are moved by impulses first.
    NonsmoothFirst,
    /// Those that are moved by impulses last.
    SmoothFirst,
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

    /// Whether a part may be called so.
    pub fn is_free_name(name: &str) -> bool {
        name != COUPLING
    }
}
