//! Reads descriptions of systems: `.ssd` files, and what they refer to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use oldham_fmi::Conversion;
use oldham_fmi::xml::{self, children, elements};
use oldham_model::{Problem, Span};
use roxmltree::Node;

use crate::LARGEST;
use crate::affine::Transformation;
use crate::values::{self, Parameter, is_true};

/// How deep systems may lie in each other, and how many elements they may have.
const DEEPEST: usize = 32;
const MOST_ELEMENTS: usize = 10_000;

/// What a connector is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Input,
    Output,
    Both,
    Parameter,
    Calculated,
}

#[derive(Clone, Debug)]
pub struct Connector {
    pub name: String,
    pub kind: Kind,
    pub unit: Option<String>,
}

/// Parameters that an element or system is given.
#[derive(Clone, Debug)]
pub struct Binding {
    pub parameters: Vec<Parameter>,
    pub place: Span,
}

/// One end of a connection: an element, or the system itself, and its connector.
#[derive(Clone, Debug)]
pub struct End {
    pub element: Option<String>,
    pub connector: String,
}

#[derive(Clone, Debug)]
pub struct Connection {
    pub ends: [End; 2],
    pub suppress: bool,
    pub transformation: Option<Transformation>,
    pub place: Span,
}

/// Which interface of an FMU is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    Any,
    CoSimulation,
    ModelExchange,
}

#[derive(Clone, Debug)]
pub struct Component {
    /// The path of its FMU, seen from the folder of the package.
    pub file: String,
    pub implementation: Implementation,
}

#[derive(Clone, Debug)]
pub enum Content {
    Component(Component),
    System(System),
    /// A reference to a dictionary of signals.
    Dictionary(String),
}

#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub connectors: Vec<Connector>,
    pub bindings: Vec<Binding>,
    pub content: Content,
    pub place: Span,
}

/// The entries of a dictionary of signals, with their units.
pub type Entries = HashMap<String, Option<String>>;

/// What is in a system.
#[derive(Clone, Debug, Default)]
pub struct System {
    pub elements: Vec<Element>,
    pub connections: Vec<Connection>,
    pub dictionaries: HashMap<String, Entries>,
}

/// A description.
pub struct Structure {
    pub name: String,
    pub version: String,
    pub text: String,
    pub system: Element,
    /// When it begins and ends, in s, where it says so.
    pub experiment: [Option<f64>; 2],
}

/// Where a description lies, and where its problems are told.
struct Here<'d> {
    /// What stands before the paths in it, seen from the folder of the package.
    inside: &'d str,
    /// The place of the reference to it, if it is not the first one.
    from: Option<Span>,
    root: Node<'d, 'd>,
    depth: usize,
}

impl Here<'_> {
    fn place(&self, node: Node<'_, '_>) -> Span {
        self.from.clone().unwrap_or_else(|| {
            let range = node.range();
            // The tag alone: a system may be as long as its file.
            let end = node
                .first_child()
                .map_or(range.end, |child| child.range().start);
            range.start..end.max(range.start + 1)
        })
    }
}

/// What is found while reading.
pub struct Reader {
    folder: PathBuf,
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
    pub units: HashMap<String, Conversion>,
    elements: usize,
}

impl Reader {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            problems: Vec::new(),
            notes: Vec::new(),
            units: HashMap::new(),
            elements: 0,
        }
    }

    /// The path of a file that the description names.
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub fn problem(&mut self, place: &Span, message: impl Into<String>) {
        self.problems.push(Problem::new(place.clone(), message));
    }

    /// Reads the first description. Paths in it are seen from the folder of the package with this before them.
    pub fn document(&mut self, text: &str, inside: &str) -> Option<Structure> {
        self.nested(text, inside, None, 0)
    }

    fn nested(
        &mut self,
        text: &str,
        inside: &str,
        from: Option<Span>,
        depth: usize,
    ) -> Option<Structure> {
        let document = match xml::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let place = from.unwrap_or(0..0);
                self.problem(&place, format!("the system is not XML: {error}"));
                return None;
            }
        };
        let root = document.root_element();
        let here = Here {
            inside,
            from,
            root,
            depth,
        };
        if root.tag_name().name() != "SystemStructureDescription" {
            let message = "the file has no element SystemStructureDescription";
            self.problem(&here.place(root), message);
            return None;
        }
        let version = root.attribute("version").unwrap_or("1.0").to_owned();
        if !matches!(version.split('.').next(), Some("1" | "2")) {
            let message = format!("it is of SSP {version}; known are 1.0 and 2.0");
            self.problem(&here.place(root), message);
            return None;
        }
        self.add_units(root);
        let Some(system) = children(root, "System").next() else {
            self.problem(&here.place(root), "the file has no element System");
            return None;
        };
        let experiment = children(root, "DefaultExperiment").next();
        let time = |name: &str| experiment?.attribute(name)?.trim().parse::<f64>().ok();
        Some(Structure {
            name: root.attribute("name").unwrap_or_default().to_owned(),
            version,
            text: root.attribute("description").unwrap_or_default().to_owned(),
            experiment: [time("startTime"), time("stopTime")].map(|t| t.filter(|t| t.is_finite())),
            system: self.element(system, &here)?,
        })
    }

    fn add_units(&mut self, root: Node<'_, '_>) {
        for units in children(root, "Units") {
            for (name, unit) in xml::units(units) {
                self.units.entry(name).or_insert(unit);
            }
        }
    }

    fn element(&mut self, node: Node<'_, '_>, here: &Here<'_>) -> Option<Element> {
        let place = here.place(node);
        let name = node.attribute("name").unwrap_or_default().to_owned();
        self.elements += 1;
        if self.elements > MOST_ELEMENTS || here.depth > DEEPEST {
            self.problems.truncate(100);
            let message = format!(
                "the system has more than {MOST_ELEMENTS} elements, or more than {DEEPEST} of them lie in each other"
            );
            if self
                .problems
                .iter()
                .all(|problem| problem.message != message)
            {
                self.problem(&place, message);
            }
            return None;
        }
        let mut connectors = Vec::new();
        for node in children(node, "Connectors").flat_map(|all| children(all, "Connector")) {
            connectors.extend(self.connector(node, here));
        }
        let mut bindings = Vec::new();
        for bound in children(node, "ParameterBindings") {
            for bound in children(bound, "ParameterBinding") {
                bindings.extend(self.binding(bound, node, here));
            }
        }
        let content = match node.tag_name().name() {
            "System" => Content::System(self.system(node, here)),
            "SignalDictionaryReference" => {
                let dictionary = node.attribute("dictionary").unwrap_or_default();
                Content::Dictionary(dictionary.to_owned())
            }
            _ => self.component(node, here, &mut bindings)?,
        };
        Some(Element {
            name,
            connectors,
            bindings,
            content,
            place,
        })
    }

    fn connector(&mut self, node: Node<'_, '_>, here: &Here<'_>) -> Option<Connector> {
        let name = node.attribute("name").unwrap_or_default().to_owned();
        let kind = match node.attribute("kind") {
            Some("input") => Kind::Input,
            Some("output") => Kind::Output,
            Some("inout") => Kind::Both,
            Some("parameter" | "structuralParameter") => Kind::Parameter,
            Some("calculatedParameter") => Kind::Calculated,
            other => {
                let kind = other.unwrap_or("?");
                let message =
                    format!("the connector `{name}` is of the kind {kind}, which is not supported");
                self.problem(&here.place(node), message);
                return None;
            }
        };
        let typed = elements(node).find(|child| !values::is_aside(child));
        Some(Connector {
            name,
            kind,
            unit: typed.and_then(|typed| typed.attribute("unit").map(str::to_owned)),
        })
    }

    /// A file that an attribute names, as a path seen from the folder of the package.
    fn source(&mut self, uri: &str, base: &str, place: &Span) -> Option<String> {
        let (path, fragment) = match uri.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (uri, None),
        };
        let path = unescaped(path.strip_prefix("./").unwrap_or(path));
        let is_outside = path.starts_with('/')
            || path.contains([':', '\\', '#'])
            || path.split('/').any(|part| part == "..");
        if is_outside || path.is_empty() {
            self.problem(place, format!("`{uri}` lies outside of the package"));
            return None;
        }
        Some(match fragment {
            Some(fragment) => format!("{base}{path}#{}", unescaped(fragment)),
            None => format!("{base}{path}"),
        })
    }

    fn read(&mut self, path: &str, place: &Span) -> Option<String> {
        match oldham_fmi::read_text(&self.file(path), LARGEST) {
            Ok(text) => Some(text),
            Err(error) => {
                self.problem(place, format!("`{path}` {error}"));
                None
            }
        }
    }

    fn component(
        &mut self,
        node: Node<'_, '_>,
        here: &Here<'_>,
        bindings: &mut Vec<Binding>,
    ) -> Option<Content> {
        let place = here.place(node);
        let name = node.attribute("name").unwrap_or_default();
        let Some(source) = node.attribute("source") else {
            self.problem(&place, format!("the component `{name}` has no source"));
            return None;
        };
        if let Some(id) = source.strip_prefix('#') {
            let mut all = here.root.descendants();
            let found = all.find(|node| {
                node.tag_name().name() == "System" && node.attribute("id") == Some(id)
            });
            let Some(found) = found else {
                self.problem(&place, format!("there is no system with the id `{id}`"));
                return None;
            };
            let inner = Here {
                inside: here.inside,
                from: here.from.clone(),
                root: here.root,
                depth: here.depth + 1,
            };
            let system = self.element(found, &inner)?;
            bindings.splice(0..0, system.bindings);
            return Some(system.content);
        }
        let kind = node.attribute("type");
        let kind = kind.unwrap_or("application/x-fmu-sharedlibrary");
        let file = self.source(source, here.inside, &place)?;
        match kind {
            "application/x-fmu-sharedlibrary" => {
                let implementation = match node.attribute("implementation") {
                    None | Some("any") => Implementation::Any,
                    Some("CoSimulation") => Implementation::CoSimulation,
                    Some("ModelExchange") => Implementation::ModelExchange,
                    Some(other) => {
                        let message =
                            format!("`{name}`: the implementation {other} is not supported");
                        self.problem(&place, message);
                        return None;
                    }
                };
                Some(Content::Component(Component {
                    file,
                    implementation,
                }))
            }
            "application/x-ssp-definition" | "application/x-ssp-package" => {
                let chosen = file.rsplit_once('#');
                let is_chosen = chosen.is_some_and(|(_, end)| end.ends_with(".ssd"));
                let document = match kind.ends_with("package") && !is_chosen {
                    true => format!("{file}#{}", crate::DEFAULT),
                    false => file,
                };
                let text = self.read(&document, &place)?;
                let folder = document.rfind(['/', '#']).map_or(0, |end| end + 1);
                let inside = &document[..folder];
                let nested = self.nested(&text, inside, Some(place), here.depth + 1)?;
                bindings.splice(0..0, nested.system.bindings);
                Some(nested.system.content)
            }
            other => {
                let message = format!(
                    "the component `{name}` is of the type {other}, which is not supported"
                );
                self.problem(&place, message);
                None
            }
        }
    }

    fn system(&mut self, node: Node<'_, '_>, here: &Here<'_>) -> System {
        let inner = Here {
            inside: here.inside,
            from: here.from.clone(),
            root: here.root,
            depth: here.depth + 1,
        };
        let mut system = System::default();
        for node in children(node, "Elements").flat_map(elements) {
            match node.tag_name().name() {
                "Component" | "System" | "SignalDictionaryReference" => {
                    system.elements.extend(self.element(node, &inner));
                }
                other => {
                    let message = format!("elements of the kind {other} are not supported");
                    self.problem(&here.place(node), message);
                }
            }
        }
        for node in children(node, "Connections").flat_map(|all| children(all, "Connection")) {
            system.connections.extend(self.connection(node, here));
        }
        for node in children(node, "SignalDictionaries") {
            for node in children(node, "SignalDictionary") {
                if let Some(entries) = self.dictionary(node, here) {
                    let name = node.attribute("name").unwrap_or_default().to_owned();
                    system.dictionaries.insert(name, entries);
                }
            }
        }
        system
    }

    fn connection(&mut self, node: Node<'_, '_>, here: &Here<'_>) -> Option<Connection> {
        let place = here.place(node);
        let end = |element: &str, connector: &str| {
            Some(End {
                element: node.attribute(element).map(str::to_owned),
                connector: node.attribute(connector)?.to_owned(),
            })
        };
        let ends = [
            ("startElement", "startConnector"),
            ("endElement", "endConnector"),
        ];
        let [Some(start), Some(end)] = ends.map(|(element, connector)| end(element, connector))
        else {
            self.problem(&place, "the connection lacks a connector");
            return None;
        };
        match values::transformation(node) {
            Ok(transformation) => Some(Connection {
                ends: [start, end],
                suppress: is_true(node, "suppressUnitConversion"),
                transformation,
                place,
            }),
            Err(error) => {
                self.problem(&place, format!("the connection: {error}"));
                None
            }
        }
    }

    fn dictionary(&mut self, node: Node<'_, '_>, here: &Here<'_>) -> Option<Entries> {
        let place = here.place(node);
        let entries = |root: Node<'_, '_>, reader: &mut Self| -> Entries {
            reader.add_units(root);
            let entry = |node: Node<'_, '_>| {
                let typed = elements(node).find(|child| !values::is_aside(child));
                let unit = typed.and_then(|typed| typed.attribute("unit").map(str::to_owned));
                Some((node.attribute("name")?.to_owned(), unit))
            };
            children(root, "DictionaryEntry")
                .filter_map(entry)
                .collect()
        };
        match node.attribute("source") {
            None => {
                let root = children(node, "SignalDictionary").next();
                Some(root.map_or_else(Entries::new, |root| entries(root, self)))
            }
            Some(source) => {
                let path = self.source(source, here.inside, &place)?;
                let text = self.read(&path, &place)?;
                match xml::parse(&text) {
                    Ok(document) => Some(entries(document.root_element(), self)),
                    Err(error) => {
                        self.problem(&place, format!("`{path}` is not XML: {error}"));
                        None
                    }
                }
            }
        }
    }

    fn binding(
        &mut self,
        node: Node<'_, '_>,
        of: Node<'_, '_>,
        here: &Here<'_>,
    ) -> Option<Binding> {
        let place = here.place(node);
        let kind = node.attribute("type");
        if let Some(kind) = kind.filter(|kind| *kind != "application/x-ssp-parameter-set") {
            self.problem(
                &place,
                format!("parameters of the type {kind} are not supported"),
            );
            return None;
        }
        let base = |node: Node<'_, '_>| match node.attribute("sourceBase") {
            Some("component") => {
                format!(
                    "{}{}#",
                    here.inside,
                    of.attribute("source").unwrap_or_default()
                )
            }
            _ => here.inside.to_owned(),
        };
        let values = children(node, "ParameterValues").next();
        let values = values.and_then(|values| children(values, "ParameterSet").next());
        let mut parameters = match (node.attribute("source"), values) {
            (Some(source), _) => {
                let path = self.source(source, &base(node), &place)?;
                self.other(&path, "ParameterSet", &place, values::parameter_set)?
            }
            (None, Some(root)) => self.told(values::parameter_set(root), &place)?,
            (None, None) => {
                self.problem(&place, "the binding has neither a source nor values");
                return None;
            }
        };
        let set = children(node, "ParameterValues").flat_map(elements);
        set.for_each(|root| self.add_units(root));
        let prefix = node.attribute("prefix").unwrap_or_default();
        for parameter in &mut parameters {
            parameter.name.insert_str(0, prefix);
        }
        if let Some(mapping) = children(node, "ParameterMapping").next() {
            let inline = children(mapping, "ParameterMapping").next();
            let (mapped, notes) = match (mapping.attribute("source"), inline) {
                (Some(source), _) => {
                    let path = self.source(source, &base(mapping), &place)?;
                    let map = |root: Node<'_, '_>| values::mapped(parameters.clone(), root);
                    self.other(&path, "ParameterMapping", &place, map)?
                }
                (None, Some(root)) => self.told(values::mapped(parameters, root), &place)?,
                (None, None) => (parameters, Vec::new()),
            };
            self.notes.extend(notes);
            parameters = mapped;
        }
        Some(Binding { parameters, place })
    }

    fn told<T>(&mut self, read: Result<T, String>, place: &Span) -> Option<T> {
        read.map_err(|error| self.problem(place, error)).ok()
    }

    /// What another file says.
    fn other<T>(
        &mut self,
        path: &str,
        name: &str,
        place: &Span,
        read: impl FnOnce(Node<'_, '_>) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.read(path, place)?;
        let document = match xml::parse(&text) {
            Ok(document) => document,
            Err(error) => {
                self.problem(place, format!("`{path}` is not XML: {error}"));
                return None;
            }
        };
        let root = document.root_element();
        if root.tag_name().name() != name {
            self.problem(place, format!("`{path}` has no element {name}"));
            return None;
        }
        self.add_units(root);
        let read = read(root).map_err(|error| format!("`{path}`: {error}"));
        self.told(read, place)
    }
}

/// A path as a URI writes it: `%20` is a blank.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
