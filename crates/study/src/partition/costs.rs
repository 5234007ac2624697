//! What a step costs, by kind of element, node and copy.

use oldham_multibody::ElementKind;
use oldham_multibody::cut::Outline;
use serde::{Deserialize, Serialize};

/// Time for a matrix entry where nothing was measured, in µs: what beams and rigid bodies take on a desktop computer of the
/// twenties. It weighs the work of the parts against the exchange, and is no promise.
const NOMINAL_ENTRY: f64 = 0.01;
/// The same for the exchange of a step.
const NOMINAL_EXCHANGE: f64 = 3.0;

/// Times in microseconds of a macro step; all are rounded to three digits, so that what follows from them is the same
/// every time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostTable {
    /// Whether they were measured on this machine. Else they are estimated by matrix entries.
    pub measured: bool,
    /// A step of the whole mechanism.
    pub whole: f64,
    /// Each kind of element.
    pub kinds: Vec<KindCost>,
    /// A node, with its share in the linear solver.
    pub node: f64,
    /// Elements and nodes of a part cost so many times what they cost in the whole: steps of parts are corrected.
    pub part: f64,
    /// A copy of an interface node in a part.
    pub copy: f64,
    /// An interface node in the coupling.
    pub interface: f64,
    /// Waiting and exchange of a step in parallel.
    pub exchange: f64,
    /// How well the measurements are met.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fit: Option<Fit>,
}

/// An element of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindCost {
    /// The name of its type.
    pub kind: String,
    /// How many nodes it connects.
    pub nodes: usize,
    /// How many constraints it has.
    pub constraints: usize,
    /// How many there are.
    pub count: usize,
    /// Its cost.
    pub cost: f64,
}

/// How well a table of costs meets what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Steps of the whole that were timed.
    pub steps: u64,
    /// Cuts that were timed.
    pub cuts: usize,
    /// Parts of them.
    pub parts: usize,
    /// The largest error of the time of a part, relative to it.
    pub worst_part: f64,
    /// The largest error of the time of a step of a cut, relative to it.
    pub worst_step: f64,
}

impl CostTable {
    /// By matrix entries.
    pub fn estimated(outline: &Outline) -> Self {
        let kinds = kinds(outline, |kind| NOMINAL_ENTRY * kind.entries());
        let node = NOMINAL_ENTRY * Outline::ENTRIES_OF_A_NODE;
        let sum: f64 = kinds.iter().map(|kind| kind.cost * kind.count as f64).sum();
        let copy = NOMINAL_ENTRY * Outline::ENTRIES_OF_A_COPY;
        Self {
            measured: false,
            whole: sum + node * outline.nodes.len() as f64,
            kinds,
            node,
            part: 1.0,
            copy,
            interface: copy,
            exchange: NOMINAL_EXCHANGE,
            fit: None,
        }
        .rounded()
    }

    /// The cost of an element; nothing for a kind that was not there.
    pub fn of(&self, kind: &ElementKind) -> f64 {
        let is_it = |it: &&KindCost| {
            (it.kind.as_str(), it.nodes, it.constraints)
                == (kind.name, kind.nodes, kind.constraints)
        };
        self.kinds.iter().find(is_it).map_or(0.0, |it| it.cost)
    }

    /// All numbers with three digits.
    pub(super) fn rounded(mut self) -> Self {
        for kind in &mut self.kinds {
            kind.cost = three_digits(kind.cost);
        }
        for number in [
            &mut self.whole,
            &mut self.node,
            &mut self.part,
            &mut self.copy,
            &mut self.interface,
            &mut self.exchange,
        ] {
            *number = three_digits(*number);
        }
        self
    }
}

/// All kinds of elements of a mechanism, in order, each with its cost.
pub(super) fn kinds(outline: &Outline, cost: impl Fn(&ElementKind) -> f64) -> Vec<KindCost> {
    let mut found: Vec<ElementKind> = outline.elements.iter().map(|it| it.kind).collect();
    found.sort_unstable();
    found.dedup();
    let described = |kind: &ElementKind| KindCost {
        kind: kind.name.into(),
        nodes: kind.nodes,
        constraints: kind.constraints,
        count: outline
            .elements
            .iter()
            .filter(|it| it.kind == *kind)
            .count(),
        cost: cost(kind),
    };
    found.iter().map(described).collect()
}

/// A number with three digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::three_digits;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(three_digits(0.012_345), 0.0123);
        assert_eq!(three_digits(98_765.0), 98_800.0);
        assert_eq!(three_digits(0.0), 0.0);
    }
}
