//! A system without systems in it: its FMUs, what connects them, and what they are given.

use std::collections::{BTreeMap, HashMap, HashSet};

use oldham_fmi::{Causality, Conversion, Description, Kind as Type, Package, Variable};
use oldham_model::Span;

use crate::affine::{Transformation, Way};
use crate::structure::{
    Binding, Component, Connection, Content, Element, End, Entries, Implementation, Kind, Reader,
};
use crate::values::{Parameter, Value};

/// An FMU.
pub struct Part {
    /// Its name in the model file.
    pub name: String,
    pub file: String,
    pub implementation: Implementation,
    pub description: Description,
    /// What it is given, in SI.
    pub given: BTreeMap<String, Value>,
    place: Span,
}

/// An input and where its value comes from.
pub struct Wire {
    pub from: (usize, String),
    pub to: (usize, String),
    pub way: Way,
    /// Whether the ports have different units, which a gain allows.
    pub has_other_unit: bool,
}

/// An input of the whole system, and the inputs of FMUs that it feeds.
pub struct External {
    pub name: String,
    /// Its value, in SI.
    pub value: f64,
    pub to: Vec<(usize, String, Way)>,
}

/// All of it.
#[derive(Default)]
pub struct Flat {
    pub parts: Vec<Part>,
    pub wires: Vec<Wire>,
    pub externals: Vec<External>,
    /// Outputs of the whole system, and what they are.
    pub outputs: Vec<(String, (usize, String))>,
}

/// A connector: the way to its element, and its name.
type Node = (String, String);

/// Between the names of a way: in no name.
const STEP: char = '\u{1}';

/// What a connector is in its place.
#[derive(Clone)]
struct Known {
    kind: Kind,
    unit: Option<Conversion>,
    part: Option<usize>,
}

/// What feeds a connector.
struct Edge {
    from: Node,
    suppress: bool,
    transformation: Option<Transformation>,
    place: Span,
}

#[derive(Default)]
struct Net {
    known: HashMap<Node, Known>,
    fed: HashMap<Node, Edge>,
    /// Values that bindings give to connectors of systems.
    values: HashMap<Node, Parameter>,
    /// Connectors of references to dictionaries, and the signals that they are.
    references: Vec<(Node, Node, Kind, Span)>,
    /// Components whose FMU cannot be read: that their connectors are missing is no problem of its own.
    unknown: HashSet<String>,
    /// Inputs and outputs of the whole system, in their order.
    own: Vec<(String, Kind)>,
}

/// Where the value of a connector begins.
enum Origin {
    Output(usize, String),
    Value(Parameter),
    External(String),
    Nothing,
}

/// Flattens a system; problems are told to the reader.
pub fn flatten(system: Element, reader: &mut Reader) -> Flat {
    let mut flat = Flat::default();
    let mut net = Net::default();
    let mut dictionaries = Vec::new();
    let root = Element {
        name: String::new(),
        ..system
    };
    for connector in &root.connectors {
        net.own.push((connector.name.clone(), connector.kind));
    }
    gather(&root, "", &mut dictionaries, &mut flat, &mut net, reader);
    join_dictionaries(&mut net, reader);
    name_parts(&mut flat);
    let mut hands = Hands {
        flat: &mut flat,
        net: &mut net,
        reader,
    };
    hands.bind(&root, "");
    if reader.problems.is_empty() {
        wire(&mut flat, &net, reader);
    }
    flat
}

fn below(way: &str, name: &str) -> String {
    match way.is_empty() {
        true => name.to_owned(),
        false => format!("{way}{STEP}{name}"),
    }
}

/// A way as it is shown.
fn shown(way: &str) -> String {
    way.replace(STEP, ".")
}

/// Notes all connectors and connections of an element and of what is in it.
fn gather(
    element: &Element,
    way: &str,
    dictionaries: &mut Vec<(String, HashMap<String, Entries>)>,
    flat: &mut Flat,
    net: &mut Net,
    reader: &mut Reader,
) {
    let unit = |name: &Option<String>, reader: &Reader| -> Option<Conversion> {
        let name = name.as_ref()?;
        let known = reader.units.get(name).cloned();
        known.or_else(|| (!name.is_empty()).then(|| Conversion::named(name)))
    };
    match &element.content {
        Content::Component(component) => {
            let part = flat.parts.len();
            let Some(description) = describe(component, element, reader) else {
                net.unknown.insert(way.to_owned());
                return;
            };
            for connector in &element.connectors {
                let Some(variable) = description.variable(&connector.name) else {
                    let (name, of) = (&connector.name, shown(way));
                    let names = description.variables.iter().map(|v| v.name.as_str());
                    let message = format!("the FMU of `{of}` has no variable `{name}`");
                    let nearest = oldham_model::nearest(name, names);
                    let mut problem = oldham_model::Problem::new(element.place.clone(), message);
                    if let Some(nearest) = nearest {
                        problem = problem.help(format!("did you mean `{nearest}`?"));
                    }
                    reader.problems.push(problem);
                    continue;
                };
                let own = variable.unit.as_ref().map(|_| variable.conversion.clone());
                net.known.insert(
                    (way.to_owned(), connector.name.clone()),
                    Known {
                        kind: connector.kind,
                        unit: own.or_else(|| unit(&connector.unit, reader)),
                        part: Some(part),
                    },
                );
            }
            // Connectors need not be listed.
            for variable in &description.variables {
                let kind = match variable.causality {
                    Causality::Input => Kind::Input,
                    Causality::Output => Kind::Output,
                    Causality::Parameter | Causality::StructuralParameter => Kind::Parameter,
                    Causality::CalculatedParameter => Kind::Calculated,
                    _ => continue,
                };
                let own = variable.unit.as_ref().map(|_| variable.conversion.clone());
                let known = Known {
                    kind,
                    unit: own,
                    part: Some(part),
                };
                let node = (way.to_owned(), variable.name.clone());
                net.known.entry(node).or_insert(known);
            }
            flat.parts.push(Part {
                name: shown(way),
                file: component.file.clone(),
                implementation: component.implementation,
                description,
                given: BTreeMap::new(),
                place: element.place.clone(),
            });
        }
        Content::Dictionary(name) => {
            let found = dictionaries.iter().rev().find_map(|(at, all)| {
                let entries = all.get(name)?;
                Some((format!("{at}{STEP}{STEP}{name}"), entries.clone()))
            });
            let Some((dictionary, entries)) = found else {
                let message = format!(
                    "unknown signal dictionary `{name}`: neither this system nor one around it has it"
                );
                reader.problem(&element.place, message);
                return;
            };
            for connector in &element.connectors {
                let entry = entries.get(&connector.name);
                if entry.is_none() {
                    let message = format!(
                        "the signal dictionary `{name}` has no entry `{}`",
                        connector.name
                    );
                    reader.problem(&element.place, message);
                    continue;
                }
                let written = connector.unit.clone().or(entry.cloned().flatten());
                let known = Known {
                    kind: connector.kind,
                    unit: unit(&written, reader),
                    part: None,
                };
                // All references to an entry are one signal.
                let signal = (dictionary.clone(), connector.name.clone());
                let own = (way.to_owned(), connector.name.clone());
                let entry_unit = entry.cloned().flatten();
                net.known.entry(signal.clone()).or_insert(Known {
                    unit: unit(&entry_unit, reader),
                    ..known.clone()
                });
                net.known.insert(own.clone(), known);
                let place = element.place.clone();
                net.references.push((own, signal, connector.kind, place));
            }
        }
        Content::System(system) => {
            for connector in &element.connectors {
                let known = Known {
                    kind: connector.kind,
                    unit: unit(&connector.unit, reader),
                    part: None,
                };
                net.known
                    .insert((way.to_owned(), connector.name.clone()), known);
            }
            dictionaries.push((way.to_owned(), system.dictionaries.clone()));
            let mut names = HashSet::new();
            for inner in &system.elements {
                if !names.insert(inner.name.as_str()) || inner.name.is_empty() {
                    let message = format!("the name `{}` is not unique in its system", inner.name);
                    reader.problem(&inner.place, message);
                }
                gather(
                    inner,
                    &below(way, &inner.name),
                    dictionaries,
                    flat,
                    net,
                    reader,
                );
            }
            dictionaries.pop();
            for connection in &system.connections {
                connect(connection, way, net, reader);
            }
        }
    }
}

fn describe(component: &Component, element: &Element, reader: &mut Reader) -> Option<Description> {
    let described = Package::describe(&reader.file(&component.file));
    let description = match described {
        Ok(description) => description,
        Err(error) => {
            let message = format!("the FMU `{}` {error}", component.file);
            reader.problem(&element.place, message);
            return None;
        }
    };
    let lacks = match component.implementation {
        Implementation::CoSimulation => description.co_simulation.is_none(),
        Implementation::ModelExchange => description.model_exchange.is_none(),
        Implementation::Any => false,
    };
    if lacks {
        let message = format!("the FMU `{}` has no such implementation", component.file);
        reader.problem(&element.place, message);
        return None;
    }
    Some(description)
}

fn feed(net: &mut Net, to: Node, edge: Edge, reader: &mut Reader) {
    if net.fed.contains_key(&to) {
        let message = format!("`{}` is fed twice", told(&to));
        reader.problem(&edge.place, message);
        return;
    }
    net.fed.insert(to, edge);
}

/// A connector as it is shown.
fn told((way, name): &Node) -> String {
    match way.is_empty() {
        true => name.clone(),
        false => format!("{}.{name}", shown(way)),
    }
}

/// Finds the direction of a connection: it follows from the kinds of its ends.
fn connect(connection: &Connection, way: &str, net: &mut Net, reader: &mut Reader) {
    /// Whether a value may leave, or enter, the connector as seen from the connections of this system.
    fn gives(kind: Kind, is_own: bool) -> Option<bool> {
        match kind {
            Kind::Both => None,
            Kind::Output | Kind::Calculated => Some(!is_own),
            Kind::Input | Kind::Parameter => Some(is_own),
        }
    }
    let mut found = Vec::new();
    for End { element, connector } in &connection.ends {
        let at = element
            .as_ref()
            .map_or(way.to_owned(), |name| below(way, name));
        let node = (at, connector.clone());
        let Some(known) = net.known.get(&node) else {
            if !net.unknown.contains(&node.0) {
                let message = format!("there is no connector `{}`", told(&node));
                reader.problem(&connection.place, message);
            }
            continue;
        };
        let is_own = element.is_none();
        let kind = known.kind;
        found.push((node, gives(kind, is_own), kind));
    }
    if found.len() < connection.ends.len() {
        return;
    }
    let is_forward = match (found[0].1, found[1].1) {
        (Some(true), Some(false) | None) | (None, Some(false) | None) => true,
        (Some(false), Some(true) | None) | (None, Some(true)) => false,
        _ => {
            let [a, b] = [&found[0].0, &found[1].0].map(told);
            let message =
                format!("`{a}` and `{b}` cannot be connected: both send, or both receive");
            reader.problem(&connection.place, message);
            return;
        }
    };
    if !is_forward {
        found.swap(0, 1);
    }
    if found[0].2 == Kind::Calculated && net.known[&found[0].0].part.is_some() {
        let message = format!(
            "`{}` is a calculated parameter: to hand it on is not supported",
            told(&found[0].0)
        );
        reader.problem(&connection.place, message);
        return;
    }
    let to = found.pop().map(|end| end.0);
    let from = found.pop().map(|end| end.0);
    if let (Some(from), Some(to)) = (from, to) {
        let edge = Edge {
            from,
            suppress: connection.suppress,
            transformation: connection.transformation,
            place: connection.place.clone(),
        };
        feed(net, to, edge, reader);
    }
}

/// Joins connectors of references with their signals: who is fed feeds the signal, unless its kind says what it does.
fn join_dictionaries(net: &mut Net, reader: &mut Reader) {
    for (own, signal, kind, place) in std::mem::take(&mut net.references) {
        let writes = match kind {
            Kind::Output | Kind::Calculated => false,
            Kind::Input | Kind::Parameter => true,
            Kind::Both => net.fed.contains_key(&own),
        };
        let (from, to) = match writes {
            true => (own, signal),
            false => (signal, own),
        };
        let edge = Edge {
            from,
            suppress: false,
            transformation: None,
            place,
        };
        feed(net, to, edge, reader);
    }
}

/// Names that model files allow, each once.
fn name_parts(flat: &mut Flat) {
    let mut taken = HashSet::new();
    for part in &mut flat.parts {
        part.name = free_name(&part.name, &mut taken);
    }
}

/// A name of letters, digits and `_` that is not taken yet.
pub fn free_name(text: &str, taken: &mut HashSet<String>) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name: String = text
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    let plain = name.clone();
    let mut next = 2;
    while !taken.insert(name.clone()) {
        name = format!("{plain}_{next}");
        next += 1;
    }
    name
}

/// What bindings are handed to.
struct Hands<'h> {
    flat: &'h mut Flat,
    net: &'h mut Net,
    reader: &'h mut Reader,
}

impl Hands<'_> {
    /// Hands out what bindings give: those of a system after those of what is in it, so that they win.
    fn bind(&mut self, element: &Element, way: &str) {
        if let Content::System(system) = &element.content {
            for inner in &system.elements {
                self.bind(inner, &below(way, &inner.name));
            }
        }
        for Binding { parameters, place } in &element.bindings {
            for parameter in parameters {
                if !self.hand(parameter, &parameter.name, place, element, way) {
                    let of = match way.is_empty() {
                        true => "the system".to_owned(),
                        false => format!("`{}`", shown(way)),
                    };
                    self.reader.notes.push(format!(
                        "the parameter `{}` fits nothing in {of} and is not used",
                        parameter.name
                    ));
                }
            }
        }
    }

    /// Gives a parameter to what has this name as seen from an element; whether there is such a thing.
    fn hand(
        &mut self,
        parameter: &Parameter,
        name: &str,
        place: &Span,
        element: &Element,
        way: &str,
    ) -> bool {
        match &element.content {
            Content::Component(_) => {
                let mut all = self.net.known.iter();
                let own = all.find(|((at, _), known)| at == way && known.part.is_some());
                let Some(part) = own.and_then(|(_, known)| known.part) else {
                    return false;
                };
                let part = &mut self.flat.parts[part];
                let Some(variable) = part.description.variable(name).cloned() else {
                    return false;
                };
                match in_si(parameter, &variable, self.reader) {
                    Ok(value) => {
                        part.given.insert(name.to_owned(), value);
                    }
                    Err(error) => {
                        let message = format!("`{}`: {error}", parameter.name);
                        self.reader.problem(place, message);
                    }
                }
                true
            }
            Content::System(system) => {
                if element
                    .connectors
                    .iter()
                    .any(|connector| connector.name == name)
                {
                    let node = (way.to_owned(), name.to_owned());
                    self.net.values.insert(node, parameter.clone());
                    return true;
                }
                system.elements.iter().any(|inner| {
                    let rest = name.strip_prefix(inner.name.as_str());
                    rest.and_then(|rest| rest.strip_prefix('.'))
                        .is_some_and(|rest| {
                            self.hand(parameter, rest, place, inner, &below(way, &inner.name))
                        })
                })
            }
            Content::Dictionary(_) => false,
        }
    }
}

/// A value as a variable takes it, in SI.
fn in_si(parameter: &Parameter, variable: &Variable, reader: &Reader) -> Result<Value, String> {
    let mut way = begun(parameter, variable, reader)?;
    if let Some(transformation) = parameter.transformation {
        way.1.through(transformation);
    }
    finished(way.0, &way.1, variable)
}

/// A value in SI of its own unit, on its way to a variable.
fn begun(
    parameter: &Parameter,
    variable: &Variable,
    reader: &Reader,
) -> Result<(Value, Way), String> {
    let named = parameter.unit.as_ref().filter(|name| !name.is_empty());
    let target = variable.unit.as_ref().map(|_| variable.conversion.clone());
    let unit = named.map(|name| {
        let known = reader.units.get(name).cloned();
        // The FMU may know its own unit where nothing else does.
        let own = target
            .clone()
            .filter(|_| variable.unit.as_ref() == Some(name));
        known.or(own).unwrap_or_else(|| Conversion::named(name))
    });
    let own = unit.clone().unwrap_or_default();
    let value = match &parameter.value {
        Value::Numbers(numbers) => {
            Value::Numbers(numbers.iter().map(|number| own.to_si(*number)).collect())
        }
        other => other.clone(),
    };
    let mut way = Way::new(unit);
    way.to(target.as_ref(), parameter.suppress)?;
    Ok((value, way))
}

fn finished(value: Value, way: &Way, variable: &Variable) -> Result<Value, String> {
    Ok(match value {
        Value::Numbers(numbers) if variable.kind == Type::Boolean => match numbers.as_slice() {
            [number] => Value::Flag(*number != 0.0),
            _ => return Err("it is a Boolean and takes one value".into()),
        },
        Value::Numbers(numbers) => {
            Value::Numbers(numbers.iter().map(|number| way.applied(*number)).collect())
        }
        _ if !way.is_plain() => {
            return Err("only numbers can be transformed".into());
        }
        other => other,
    })
}

/// Finds for every input and parameter of the FMUs where its value comes from.
fn wire(flat: &mut Flat, net: &Net, reader: &mut Reader) {
    let mut externals: HashMap<String, External> = HashMap::new();
    let mut ways: Vec<(usize, String)> = Vec::new();
    let mut at: HashMap<usize, String> = HashMap::new();
    for ((way, _), known) in &net.known {
        if let Some(part) = known.part {
            at.insert(part, way.clone());
        }
    }
    for index in 0..flat.parts.len() {
        ways.extend(at.get(&index).map(|way| (index, way.clone())));
    }
    for (index, way) in ways {
        let variables = flat.parts[index].description.variables.clone();
        for variable in &variables {
            let is_input = variable.causality == Causality::Input;
            let is_parameter = matches!(
                variable.causality,
                Causality::Parameter | Causality::StructuralParameter
            );
            if !is_input && !is_parameter {
                continue;
            }
            let node = (way.clone(), variable.name.clone());
            let place = flat.parts[index].place.clone();
            let (origin, path, place) = match trace(&node, net, place) {
                Ok(found) => found,
                Err((message, place)) => {
                    reader.problem(&place, message);
                    continue;
                }
            };
            match origin {
                Origin::Nothing if is_input => hold(&mut flat.parts[index], variable),
                Origin::Nothing => {}
                Origin::Output(from, output) => {
                    let sent = flat.parts[from].description.variable(&output).cloned();
                    let sent =
                        sent.and_then(|sent| sent.unit.as_ref().map(|_| sent.conversion.clone()));
                    let mut value = Way::new(sent.clone());
                    if let Err(error) = travel(&mut value, &path, net) {
                        reader.problem(&place, error);
                        continue;
                    }
                    let units = [sent, Some(variable.conversion.clone())];
                    let [sent, taken] = units.map(|unit| unit.unwrap_or_default().unit);
                    flat.parts[index].given.remove(&variable.name);
                    flat.wires.push(Wire {
                        from: (from, output),
                        to: (index, variable.name.clone()),
                        way: value,
                        has_other_unit: sent != taken && variable.kind.is_real(),
                    });
                }
                Origin::Value(parameter) => {
                    let first = path
                        .last()
                        .and_then(|hop| net.known[&hop.from].unit.clone());
                    let unit = match &parameter.unit {
                        Some(name) => reader.units.get(name).cloned(),
                        None => first.clone(),
                    };
                    let own = unit.clone().unwrap_or_default();
                    let mut value = Way::new(unit);
                    let mut travelled = value.to(first.as_ref(), parameter.suppress);
                    if let (Ok(()), Some(transformation)) = (&travelled, parameter.transformation) {
                        value.through(transformation);
                    }
                    travelled = travelled.and_then(|()| travel(&mut value, &path, net));
                    let raw = match &parameter.value {
                        Value::Numbers(all) => {
                            Value::Numbers(all.iter().map(|number| own.to_si(*number)).collect())
                        }
                        other => other.clone(),
                    };
                    match travelled.and_then(|()| finished(raw, &value, variable)) {
                        Ok(value) => {
                            flat.parts[index].given.insert(variable.name.clone(), value);
                        }
                        Err(error) => reader.problem(&place, error),
                    }
                }
                Origin::External(name) if is_input && is_single_real(variable) => {
                    let first = net.known[&(String::new(), name.clone())].unit.clone();
                    let mut value = Way::new(first.clone());
                    if let Err(error) = travel(&mut value, &path, net) {
                        reader.problem(&place, error);
                        continue;
                    }
                    let start = flat.parts[index].given.remove(&variable.name);
                    let start = match start {
                        Some(Value::Numbers(numbers)) => numbers[0],
                        _ => start_of(variable).unwrap_or(0.0),
                    };
                    let begins = match value.is_plain() {
                        true => start,
                        false => (start - value.offset) / value.gain,
                    };
                    let external = externals.entry(name.clone()).or_insert(External {
                        name,
                        value: begins,
                        to: Vec::new(),
                    });
                    external.to.push((index, variable.name.clone(), value));
                }
                Origin::External(_) => hold(&mut flat.parts[index], variable),
            }
        }
    }
    for (name, kind) in &net.own {
        if let Some(external) = externals.remove(name) {
            flat.externals.push(external);
        }
        if matches!(kind, Kind::Output) {
            let node = (String::new(), name.clone());
            if let Ok((Origin::Output(part, output), _, _)) = trace(&node, net, 0..0) {
                flat.outputs.push((name.clone(), (part, output)));
            }
        }
    }
}

fn is_single_real(variable: &Variable) -> bool {
    variable.kind.is_real() && variable.dimensions.is_empty()
}

/// Its start value, in SI.
fn start_of(variable: &Variable) -> Option<f64> {
    let text = variable.start.as_deref()?.split_whitespace().next()?;
    Some(variable.conversion.to_si(text.parse().ok()?))
}

/// An input that nothing feeds keeps its start value.
fn hold(part: &mut Part, variable: &Variable) {
    let text = variable.start.as_deref().unwrap_or_default();
    let value = match &variable.kind {
        Type::Boolean => Value::Flag(matches!(text.trim(), "true" | "1")),
        Type::Float64 | Type::Float32 | Type::Whole(..) | Type::Enumeration(_) => {
            let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
            let numbers: Vec<f64> = numbers.map(|n| variable.conversion.to_si(n)).collect();
            match numbers.is_empty() {
                true => Value::Numbers(vec![variable.conversion.to_si(0.0)]),
                false => Value::Numbers(numbers),
            }
        }
        _ => return,
    };
    part.given.entry(variable.name.clone()).or_insert(value);
}

/// A step on the way of a value: over a connection.
struct Hop<'n> {
    from: Node,
    to: Node,
    edge: &'n Edge,
}

/// The connections over which a value comes to a connector, the last one first.
type Route<'n> = Vec<Hop<'n>>;

/// What a value is before its first connection, and where problems with it are told.
type Traced<'n> = (Origin, Route<'n>, Span);

/// Goes back from a connector to where its value begins.
fn trace<'n>(node: &Node, net: &'n Net, place: Span) -> Result<Traced<'n>, (String, Span)> {
    let mut route: Route<'n> = Vec::new();
    let mut at = node.clone();
    let mut seen = HashSet::new();
    let mut place = place;
    while let Some(edge) = net.fed.get(&at) {
        if !seen.insert(at.clone()) {
            let message = format!("the connections to `{}` are a circle", told(node));
            return Err((message, place));
        }
        place = edge.place.clone();
        route.push(Hop {
            from: edge.from.clone(),
            to: at,
            edge,
        });
        at = edge.from.clone();
    }
    let is_own = at.0.is_empty() && !route.is_empty();
    let known = net.known.get(&at);
    let kind = known.map(|known| known.kind);
    let part = known.and_then(|known| known.part);
    let origin = match (net.values.get(&at), part, kind) {
        (_, Some(part), Some(Kind::Output | Kind::Both)) => Origin::Output(part, at.1),
        (Some(parameter), _, _) if !route.is_empty() => Origin::Value(parameter.clone()),
        (_, None, Some(Kind::Input)) if is_own => Origin::External(at.1),
        _ => Origin::Nothing,
    };
    Ok((origin, route, place))
}

/// A value over all connections of a route, from its beginning.
fn travel(value: &mut Way, route: &Route<'_>, net: &Net) -> Result<(), String> {
    let unit = |node: &Node| net.known.get(node).and_then(|known| known.unit.as_ref());
    for (index, hop) in route.iter().rev().enumerate() {
        if index == 0 {
            value.to(unit(&hop.from), false)?;
        }
        value.to(unit(&hop.to), hop.edge.suppress)?;
        if let Some(transformation) = hop.edge.transformation {
            value.through(transformation);
        }
    }
    Ok(())
}
