//! Reads `modelDescription.xml`: leniently, since tools write more than the standard asks for.

use std::collections::HashMap;

use roxmltree::{Document, Node, ParsingOptions};

use crate::description::{
    Causality, CoSimulation, Description, Dimension, Experiment, Feedthrough, Kind, ModelExchange,
    Variability, Variable, Version,
};
use crate::units::{Conversion, Exponents};

/// Base units in the order of [`Exponents`].
const BASE: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// Elements and texts that a file may have.
const MOST_NODES: u32 = 2_000_000;

/// Reads XML: without document types, and so without entities, and not without end.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, roxmltree::Error> {
    let options = ParsingOptions {
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options)
}

/// Reads a description; the error says what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Description, String> {
    let document =
        parse(text).map_err(|error| format!("its modelDescription.xml is not XML: {error}"))?;
    let root = document.root_element();
    if root.tag_name().name() != "fmiModelDescription" {
        return Err("its modelDescription.xml has no element fmiModelDescription".into());
    }
    let version_text = required(root, "fmiVersion")?.to_owned();
    let version = match version_text.split('.').next() {
        Some("2") => Version::Two,
        Some("3") => Version::Three,
        _ => {
            return Err(format!(
                "it is of FMI {version_text}; known are 2.0 and 3.0"
            ));
        }
    };
    let mut notes = Vec::new();
    let units = units(root);
    let types = types(root);
    let variables: Vec<Variable> = match version {
        Version::Two => children(root, "ModelVariables")
            .flat_map(elements)
            .map(|node| variable_of_two(node, &units, &types))
            .collect::<Result<_, _>>()?,
        Version::Three => children(root, "ModelVariables")
            .flat_map(elements)
            .map(|node| variable_of_three(node, &units, &types))
            .collect::<Result<_, _>>()?,
    };
    let feedthrough = match version {
        Version::Two => feedthrough_of_two(root, &variables),
        Version::Three => feedthrough_of_three(root),
    };
    for node in elements(root) {
        if matches!(node.tag_name().name(), "VendorAnnotations" | "Annotations") {
            notes.push(format!("{} are not looked at", node.tag_name().name()));
        }
    }
    if children(root, "ScheduledExecution").next().is_some() {
        notes.push("scheduled execution is not used".into());
    }
    let token = match version {
        Version::Two => required(root, "guid")?,
        Version::Three => required(root, "instantiationToken")?,
    };
    Ok(Description {
        version,
        version_text,
        name: root.attribute("modelName").unwrap_or_default().to_owned(),
        text: root.attribute("description").unwrap_or_default().to_owned(),
        tool: root
            .attribute("generationTool")
            .unwrap_or_default()
            .to_owned(),
        token: token.to_owned(),
        co_simulation: children(root, "CoSimulation")
            .next()
            .map(|node| co_simulation(node, version))
            .transpose()?,
        experiment: children(root, "DefaultExperiment")
            .next()
            .map(|node| Experiment {
                start: number(node, "startTime"),
                stop: number(node, "stopTime"),
                step: number(node, "stepSize"),
            })
            .unwrap_or_default(),
        model_exchange: children(root, "ModelExchange")
            .next()
            .map(|node| model_exchange(node, root, version, &variables))
            .transpose()?,
        variables,
        feedthrough,
        terminals: Vec::new(),
        notes,
    })
}

fn required<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, String> {
    let missing = || {
        let element = node.tag_name().name();
        format!("its modelDescription.xml lacks `{name}` in {element}")
    };
    node.attribute(name).ok_or_else(missing)
}

pub(crate) fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

pub(crate) fn children<'a, 'i>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    elements(node).filter(move |child| child.tag_name().name() == name)
}

fn is_true(node: Node<'_, '_>, name: &str) -> bool {
    matches!(node.attribute(name), Some("true" | "1"))
}

fn number(node: Node<'_, '_>, name: &str) -> Option<f64> {
    node.attribute(name)?.trim().parse().ok()
}

fn co_simulation(node: Node<'_, '_>, version: Version) -> Result<CoSimulation, String> {
    let has_variable_step = is_true(node, "canHandleVariableCommunicationStepSize");
    Ok(CoSimulation {
        identifier: required(node, "modelIdentifier")?.to_owned(),
        has_variable_step,
        fixed_step: number(node, "fixedInternalStepSize").filter(|_| !has_variable_step),
        state: states(node, version),
        interpolates_inputs: version == Version::Two && is_true(node, "canInterpolateInputs"),
        has_event_mode: is_true(node, "hasEventMode"),
        returns_early: is_true(node, "canReturnEarlyAfterIntermediateUpdate")
            || is_true(node, "mightReturnEarlyFromDoStep"),
        has_intermediate_update: is_true(node, "providesIntermediateUpdate"),
        is_single: is_true(node, "canBeInstantiatedOnlyOncePerProcess"),
        needs_tool: is_true(node, "needsExecutionTool"),
    })
}

/// Whether states can be saved, and as bytes.
fn states(node: Node<'_, '_>, version: Version) -> [bool; 2] {
    let names = match version {
        Version::Two => ["canGetAndSetFMUstate", "canSerializeFMUstate"],
        Version::Three => ["canGetAndSetFMUState", "canSerializeFMUState"],
    };
    names.map(|name| is_true(node, name))
}

fn model_exchange(
    node: Node<'_, '_>,
    root: Node<'_, '_>,
    version: Version,
    variables: &[Variable],
) -> Result<ModelExchange, String> {
    let structure = || children(root, "ModelStructure");
    let derivatives = match version {
        Version::Two => structure()
            .flat_map(|structure| children(structure, "Derivatives"))
            .flat_map(|all| children(all, "Unknown"))
            .filter_map(|unknown| {
                let place: usize = unknown.attribute("index")?.parse().ok()?;
                Some(variables.get(place.checked_sub(1)?)?.reference)
            })
            .collect(),
        Version::Three => structure()
            .flat_map(|structure| children(structure, "ContinuousStateDerivative"))
            .filter_map(|unknown| reference(unknown).ok())
            .collect(),
    };
    Ok(ModelExchange {
        identifier: required(node, "modelIdentifier")?.to_owned(),
        state: states(node, version),
        is_single: is_true(node, "canBeInstantiatedOnlyOncePerProcess"),
        wants_steps: match version {
            Version::Two => !is_true(node, "completedIntegratorStepNotNeeded"),
            Version::Three => is_true(node, "needsCompletedIntegratorStep"),
        },
        derivatives,
        event_indicators: match version {
            Version::Two => {
                let text = root.attribute("numberOfEventIndicators");
                Some(text.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
            }
            Version::Three => None,
        },
    })
}

/// Units by name, of an element with definitions of them.
pub(crate) fn units_of(node: Node<'_, '_>) -> HashMap<String, Conversion> {
    units_among(children(node, "Unit"))
}

fn units(root: Node<'_, '_>) -> HashMap<String, Conversion> {
    let definitions = children(root, "UnitDefinitions");
    units_among(definitions.flat_map(|all| children(all, "Unit")))
}

fn units_among<'a, 'i: 'a>(
    definitions: impl Iterator<Item = Node<'a, 'i>>,
) -> HashMap<String, Conversion> {
    let unit = |node: Node<'_, '_>| {
        let name = node.attribute("name")?;
        let conversion = match children(node, "BaseUnit").next() {
            Some(base) => {
                let power = |name: &str| base.attribute(name).and_then(|text| text.parse().ok());
                let exponents: Exponents = BASE.map(|name| power(name).unwrap_or(0));
                let factor = number(base, "factor").unwrap_or(1.0);
                Conversion::new(&exponents, factor, number(base, "offset").unwrap_or(0.0))
            }
            None => Conversion::named(name),
        };
        Some((name.to_owned(), conversion))
    };
    definitions.filter_map(unit).collect()
}

/// What a declared type says.
#[derive(Clone, Default)]
struct Declared {
    unit: Option<String>,
    items: Vec<(String, i64)>,
}

fn types(root: Node<'_, '_>) -> HashMap<String, Declared> {
    let definitions = children(root, "TypeDefinitions").flat_map(elements);
    let declared = |node: Node<'_, '_>| {
        let name = node.attribute("name")?;
        // In FMI 2 a SimpleType has one element, in FMI 3 the type is that element.
        let inner = match node.tag_name().name() {
            "SimpleType" => elements(node).next()?,
            _ => node,
        };
        let item = |item: Node<'_, '_>| {
            let value = item.attribute("value")?.trim().parse().ok()?;
            Some((item.attribute("name")?.to_owned(), value))
        };
        let declared = Declared {
            unit: inner.attribute("unit").map(str::to_owned),
            items: children(inner, "Item").filter_map(item).collect(),
        };
        Some((name.to_owned(), declared))
    };
    definitions.filter_map(declared).collect()
}

fn causality(text: Option<&str>) -> Causality {
    match text {
        Some("parameter") => Causality::Parameter,
        Some("structuralParameter") => Causality::StructuralParameter,
        Some("calculatedParameter") => Causality::CalculatedParameter,
        Some("input") => Causality::Input,
        Some("output") => Causality::Output,
        Some("independent") => Causality::Independent,
        _ => Causality::Local,
    }
}

fn variability(text: Option<&str>, is_real: bool, causality: Causality) -> Variability {
    match text {
        Some("constant") => Variability::Constant,
        Some("fixed") => Variability::Fixed,
        Some("tunable") => Variability::Tunable,
        Some("discrete") => Variability::Discrete,
        Some("continuous") => Variability::Continuous,
        _ if matches!(
            causality,
            Causality::Parameter | Causality::StructuralParameter | Causality::CalculatedParameter
        ) =>
        {
            Variability::Fixed
        }
        _ if is_real => Variability::Continuous,
        _ => Variability::Discrete,
    }
}

fn reference(node: Node<'_, '_>) -> Result<u32, String> {
    let text = required(node, "valueReference")?;
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not a valueReference"))
}

fn finished(
    node: Node<'_, '_>,
    attributes: Node<'_, '_>,
    kind: Kind,
    dimensions: Vec<Dimension>,
    units: &HashMap<String, Conversion>,
    declared: Option<&Declared>,
) -> Result<Variable, String> {
    let is_real = matches!(kind, Kind::Float64 | Kind::Float32);
    let causality = causality(node.attribute("causality"));
    let unit = attributes.attribute("unit").map(str::to_owned);
    let unit = unit.or_else(|| declared.and_then(|declared| declared.unit.clone()));
    let conversion = match &unit {
        Some(name) => match units.get(name) {
            Some(conversion) => conversion.clone(),
            None => Conversion::named(name),
        },
        None => Conversion::default(),
    };
    Ok(Variable {
        name: required(node, "name")?.to_owned(),
        reference: reference(node)?,
        causality,
        variability: variability(node.attribute("variability"), is_real, causality),
        kind,
        dimensions,
        start: attributes.attribute("start").map(str::to_owned),
        unit,
        conversion,
        text: node.attribute("description").unwrap_or_default().to_owned(),
    })
}

fn variable_of_two(
    node: Node<'_, '_>,
    units: &HashMap<String, Conversion>,
    types: &HashMap<String, Declared>,
) -> Result<Variable, String> {
    let name = required(node, "name")?;
    let known = ["Real", "Integer", "Boolean", "String", "Enumeration"];
    let inner = elements(node).find(|child| known.contains(&child.tag_name().name()));
    let inner = inner.ok_or_else(|| format!("the variable `{name}` has no type"))?;
    let declared = inner
        .attribute("declaredType")
        .and_then(|name| types.get(name));
    let kind = match inner.tag_name().name() {
        "Real" => Kind::Float64,
        "Integer" => Kind::Whole(32, true),
        "Boolean" => Kind::Boolean,
        "Enumeration" => Kind::Enumeration(declared.map_or_else(Vec::new, |d| d.items.clone())),
        _ => Kind::String,
    };
    finished(node, inner, kind, Vec::new(), units, declared)
}

fn variable_of_three(
    node: Node<'_, '_>,
    units: &HashMap<String, Conversion>,
    types: &HashMap<String, Declared>,
) -> Result<Variable, String> {
    let declared = node
        .attribute("declaredType")
        .and_then(|name| types.get(name));
    let kind = match node.tag_name().name() {
        "Float64" => Kind::Float64,
        "Float32" => Kind::Float32,
        "Int8" => Kind::Whole(8, true),
        "UInt8" => Kind::Whole(8, false),
        "Int16" => Kind::Whole(16, true),
        "UInt16" => Kind::Whole(16, false),
        "Int32" => Kind::Whole(32, true),
        "UInt32" => Kind::Whole(32, false),
        "Int64" => Kind::Whole(64, true),
        "UInt64" => Kind::Whole(64, false),
        "Boolean" => Kind::Boolean,
        "Enumeration" => Kind::Enumeration(declared.map_or_else(Vec::new, |d| d.items.clone())),
        "String" => Kind::String,
        "Binary" => Kind::Binary,
        "Clock" => Kind::Clock,
        other => return Err(format!("`{other}` is not a type of variables")),
    };
    let dimension = |node: Node<'_, '_>| match node.attribute("start") {
        Some(text) => text.trim().parse().ok().map(Dimension::Fixed),
        None => reference(node).ok().map(Dimension::Variable),
    };
    let dimensions = children(node, "Dimension").map(dimension);
    let dimensions = dimensions
        .collect::<Option<Vec<_>>>()
        .ok_or("the length of an array cannot be read")?;
    finished(node, node, kind, dimensions, units, declared)
}

/// In FMI 2 variables are known by their place, from one.
fn feedthrough_of_two(root: Node<'_, '_>, variables: &[Variable]) -> Vec<Feedthrough> {
    let at = |place: &str| {
        let place: usize = place.parse().ok()?;
        Some(variables.get(place.checked_sub(1)?)?.reference)
    };
    let outputs = children(root, "ModelStructure")
        .flat_map(|structure| children(structure, "Outputs"))
        .flat_map(|outputs| children(outputs, "Unknown"));
    let found = outputs.filter_map(|unknown| {
        Some(Feedthrough {
            output: at(unknown.attribute("index")?)?,
            on: unknown
                .attribute("dependencies")
                .map(|list| list.split_whitespace().filter_map(at).collect()),
        })
    });
    found.collect()
}

fn feedthrough_of_three(root: Node<'_, '_>) -> Vec<Feedthrough> {
    let outputs =
        children(root, "ModelStructure").flat_map(|structure| children(structure, "Output"));
    let found = outputs.filter_map(|output| {
        Some(Feedthrough {
            output: reference(output).ok()?,
            on: output.attribute("dependencies").map(|list| {
                let references = list.split_whitespace();
                references.filter_map(|text| text.parse().ok()).collect()
            }),
        })
    });
    found.collect()
}
