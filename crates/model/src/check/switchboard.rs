//! Ports by their names `subsystem.port`, and which inputs are fed.

use std::collections::HashMap;

use oldham_cosim::Quantity;

use super::RESERVED_SUBSYSTEMS;
use super::part::{Checked, Port};
use crate::format::At;
use crate::problem::Findings;

/// Ports that a message lists.
const MOST_NAMED: usize = 12;

/// All ports of all subsystems.
pub(super) struct Switchboard<'p> {
    parts: &'p [Checked],
    places: HashMap<&'p str, usize>,
    /// Part and name, with the place of the port.
    outputs: HashMap<(usize, &'p str), usize>,
    inputs: HashMap<(usize, &'p str), usize>,
    /// What feeds each input.
    feeds: HashMap<Place, String>,
}

/// A port: the place of its part, and its own among the inputs or outputs.
pub(super) type Place = (usize, usize);

/// The two ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    From,
    To,
}

impl End {
    fn other(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }

    /// What stands at this end.
    fn port(self) -> &'static str {
        match self {
            Self::From => "output",
            Self::To => "input",
        }
    }
}

impl<'p> Switchboard<'p> {
    pub fn new(parts: &'p [Checked]) -> Self {
        Self {
            parts,
            places: parts
                .iter()
                .map(|part| part.name.as_str())
                .zip(0..)
                .collect(),
            outputs: port_places(parts, |part| &part.outputs),
            inputs: port_places(parts, |part| &part.inputs),
            feeds: HashMap::new(),
        }
    }

    /// The port that `name` means; a problem if there is none.
    pub fn find(&self, name: &At<String>, end: End, findings: &mut Findings) -> Option<Place> {
        let Some((subsystem, port)) = name.value.split_once('.') else {
            let message = format!("`{}` is no port", name.value);
            findings
                .report(&name.span, message)
                .label("not a port")
                .help("a port is written as `subsystem.port`");
            return None;
        };
        let Some(&part) = self.places.get(subsystem) else {
            let message = format!("there is no subsystem `{subsystem}`");
            findings
                .report(&name.span, message)
                .label("unknown subsystem")
                .suggest(subsystem, self.places.keys().copied());
            return None;
        };
        if let Some(&place) = self.at(end).get(&(part, port)) {
            return Some((part, place));
        }
        let known = &self.parts[part];
        if known.part.is_none() && known.inputs.is_empty() && known.outputs.is_empty() {
            // Its ports are not known, because of a problem that was told.
            return None;
        }
        let (wanted, found) = (end.port(), end.other().port());
        let message = match self.at(end.other()).contains_key(&(part, port)) {
            true => format!("`{}` is an {found}, an {wanted} is needed here", name.value),
            false => format!("`{subsystem}` has no {wanted} `{port}`"),
        };
        let names: Vec<&str> = self
            .ports(part, end)
            .iter()
            .map(|port| port.name.value.as_str())
            .collect();
        let shown = names[..names.len().min(MOST_NAMED)].join(", ");
        let help = match names.len() {
            0 => format!("`{subsystem}` has no {wanted}s: add one to its `{wanted}s`"),
            1..=MOST_NAMED => format!("the {wanted}s of `{subsystem}` are {shown}"),
            more => format!(
                "the {wanted}s of `{subsystem}` are {shown} and {} more",
                more - MOST_NAMED
            ),
        };
        findings
            .report(&name.span, message)
            .label(format!("not an {wanted}"))
            .help(help)
            .suggest(port, names);
        None
    }

    /// Notes what feeds an input; a problem if something else does already.
    pub fn feed(&mut self, input: Place, name: &At<String>, by: &str, findings: &mut Findings) {
        if let Some(earlier) = self.feeds.get(&input) {
            let message = format!("the input `{}` is fed twice", name.value);
            findings
                .report(&name.span, message)
                .label("second time")
                .help(format!("{earlier} feeds it already"));
            return;
        }
        self.feeds.insert(input, by.to_owned());
    }

    /// The inputs that nothing feeds, with the names of their subsystems.
    pub fn unfed(&self) -> impl Iterator<Item = (&'p str, &'p Port)> {
        let all = self.parts.iter().enumerate().flat_map(|(index, part)| {
            let inputs = part.inputs.iter().enumerate();
            inputs.map(move |(port, input)| ((index, port), part.name.as_str(), input))
        });
        all.filter(|(place, ..)| !self.feeds.contains_key(place))
            .map(|(_, part, input)| (part, input))
    }

    /// Whether something else is recorded under a name.
    pub fn is_column(&self, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or_default();
        let mut parts = self.parts.iter();
        name == "time"
            || RESERVED_SUBSYSTEMS.contains(&first)
            || parts.any(|part| {
                let mut columns = part.outputs.iter().flat_map(|port| port.columns(part));
                columns.any(|column| column == name)
            })
    }

    /// What a port carries, if that could be read.
    pub fn quantity(&self, (part, port): Place, end: End) -> Option<Quantity> {
        self.ports(part, end)[port].quantity.clone()
    }

    /// A port of the same subsystem that carries something else, as `subsystem.port`.
    pub fn port_of(&self, (part, _): Place, end: End, quantity: &Quantity) -> Option<String> {
        let mut ports = self.ports(part, end).iter();
        let found = ports.find(|port| port.quantity.as_ref() == Some(quantity))?;
        Some(format!("{}.{}", self.parts[part].name, found.name.value))
    }

    fn ports(&self, part: usize, end: End) -> &'p [Port] {
        match end {
            End::From => &self.parts[part].outputs,
            End::To => &self.parts[part].inputs,
        }
    }

    fn at(&self, end: End) -> &HashMap<(usize, &'p str), usize> {
        match end {
            End::From => &self.outputs,
            End::To => &self.inputs,
        }
    }
}

fn port_places(
    parts: &[Checked],
    ports: impl Fn(&Checked) -> &Vec<Port>,
) -> HashMap<(usize, &str), usize> {
    let mut places = HashMap::new();
    for (index, part) in parts.iter().enumerate() {
        for (place, port) in ports(part).iter().enumerate() {
            places.insert((index, port.name.value.as_str()), place);
        }
    }
    places
}
