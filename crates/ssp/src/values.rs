//! Sets of parameters, and how their names and values are mapped.

use oldham_fmi::xml::{children, elements};
use roxmltree::Node;

use crate::affine::Transformation;

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number or several.
    Numbers(Vec<f64>),
    /// True or false; one or several.
    Flag(bool),
    /// A text or the name of an item of an enumeration.
    Text(String),
}

/// One of a set.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub value: Value,
    pub unit: Option<String>,
    pub suppress: bool,
    pub transformation: Option<Transformation>,
}

/// A line of a mapping.
struct Entry {
    source: String,
    target: String,
    suppress: bool,
    transformation: Option<Transformation>,
}

/// The parameters in an element `ParameterSet`; errors name those that are not understood.
pub fn parameter_set(root: Node<'_, '_>) -> Result<Vec<Parameter>, String> {
    let all = children(root, "Parameters").flat_map(|all| children(all, "Parameter"));
    let parameter = |node: Node<'_, '_>| {
        let name = node.attribute("name").ok_or("a parameter has no name")?;
        let mut typed = elements(node);
        let typed = typed.find(|child| !is_aside(child));
        let typed = typed.ok_or_else(|| format!("the parameter `{name}` has no value"))?;
        let value = value(typed).map_err(|error| format!("the parameter `{name}`: {error}"))?;
        Ok(Parameter {
            name: name.to_owned(),
            value,
            unit: typed.attribute("unit").map(str::to_owned),
            suppress: false,
            transformation: None,
        })
    };
    all.map(parameter).collect()
}

/// What an element may have besides its type.
pub fn is_aside(node: &Node<'_, '_>) -> bool {
    matches!(
        node.tag_name().name(),
        "Annotations" | "ConnectorGeometry" | "Dimension" | "MetaData" | "Signature"
    )
}

fn value(typed: Node<'_, '_>) -> Result<Value, String> {
    let text = typed.attribute("value").ok_or("it has no value")?;
    let kind = typed.tag_name().name();
    match kind {
        "Boolean" => match text.trim() {
            "true" | "1" => Ok(Value::Flag(true)),
            "false" | "0" => Ok(Value::Flag(false)),
            other => Err(format!("`{other}` is neither true nor false")),
        },
        "String" | "Enumeration" => Ok(Value::Text(text.to_owned())),
        "Binary" | "Clock" => Err(format!("values of the type {kind} are not supported")),
        _ => {
            let number = |word: &str| {
                let number: f64 = word
                    .parse()
                    .map_err(|_| format!("`{word}` is not a number"))?;
                match number.is_finite() {
                    true => Ok(number),
                    false => Err(format!("`{word}` is not finite")),
                }
            };
            let numbers: Result<Vec<f64>, String> = text.split_whitespace().map(number).collect();
            match numbers?.as_slice() {
                [] => Err("it has no value".into()),
                numbers => Ok(Value::Numbers(numbers.to_vec())),
            }
        }
    }
}

/// What is done to a value on its way; errors name what is not supported.
pub fn transformation(node: Node<'_, '_>) -> Result<Option<Transformation>, String> {
    for child in elements(node) {
        match child.tag_name().name() {
            "LinearTransformation" => {
                let number = |name: &str, otherwise: f64| match child.attribute(name) {
                    Some(text) => {
                        let number = text.trim().parse().ok();
                        let number = number.filter(|number: &f64| number.is_finite());
                        number.ok_or_else(|| format!("its {name} `{text}` is not a number"))
                    }
                    None => Ok(otherwise),
                };
                return Ok(Some(Transformation {
                    factor: number("factor", 1.0)?,
                    offset: number("offset", 0.0)?,
                }));
            }
            other if other.ends_with("Transformation") => {
                return Err(format!("a {other} is not supported"));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The parameters with the names and transformations of an element `ParameterMapping`: those that it names.
pub fn mapped(
    parameters: Vec<Parameter>,
    mapping: Node<'_, '_>,
) -> Result<(Vec<Parameter>, Vec<String>), String> {
    let entry = |node: Node<'_, '_>| {
        let name = |name: &str| {
            let text = node.attribute(name);
            text.map(str::to_owned)
                .ok_or_else(|| format!("a MappingEntry has no {name}"))
        };
        Ok(Entry {
            source: name("source")?,
            target: name("target")?,
            suppress: is_true(node, "suppressUnitConversion"),
            transformation: transformation(node)?,
        })
    };
    let entries = children(mapping, "MappingEntry").map(entry);
    let entries: Vec<Entry> = entries.collect::<Result<_, String>>()?;
    let mut found = Vec::new();
    let mut notes = Vec::new();
    for entry in entries {
        let parameter = parameters.iter().rev().find(|one| one.name == entry.source);
        match parameter {
            Some(parameter) => found.push(Parameter {
                name: entry.target,
                suppress: entry.suppress,
                transformation: entry.transformation,
                ..parameter.clone()
            }),
            None => notes.push(format!(
                "a mapping names the parameter `{}`, which its set has not",
                entry.source
            )),
        }
    }
    Ok((found, notes))
}

pub fn is_true(node: Node<'_, '_>, name: &str) -> bool {
    matches!(node.attribute(name), Some("true" | "1"))
}
