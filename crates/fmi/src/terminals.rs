//! Terminals of FMI 3: variables that the FMU itself says belong together.
//!
//! Of known kinds are the flanges of the Modelica library, with the names that their members have there. The force of a
//! flange acts on the FMU; that of a port, on the owner of its motion. Of known kinds are also the motions and wrenches of
//! models that Oldham has exported: their members are called like the components of recorded columns.

use std::collections::HashMap;

use oldham_cosim::Quantity;

use crate::bundle::{Bundle, Role};
use crate::description::{Causality, Description};
use crate::reader::{children, parse};

/// The kind of a terminal, and what its members are.
type Known = (&'static str, &'static [(&'static str, Role)]);

const KNOWN: [Known; 2] = [
    (
        "Modelica.Mechanics.Translational.Interfaces.Flange",
        &[
            ("s", Role::X),
            ("v", Role::V),
            ("a", Role::A),
            ("f", Role::Force),
        ],
    ),
    (
        "Modelica.Mechanics.Rotational.Interfaces.Flange",
        &[
            ("phi", Role::X),
            ("w", Role::V),
            ("a", Role::A),
            ("tau", Role::Moment),
        ],
    ),
];

/// What the components of a motion or wrench are, from the first one on: roles with their widths.
type Parts = &'static [(Role, usize)];

/// The kinds of exported models.
static OWN: [(&str, Quantity, Parts); 4] = [
    ("Oldham.Translation", Quantity::Translation, LINE),
    ("Oldham.Rotation", Quantity::Rotation, LINE),
    ("Oldham.Motion", Quantity::Motion, NODE),
    ("Oldham.Wrench", Quantity::Wrench, WRENCH),
];

const LINE: Parts = &[(Role::X, 1), (Role::V, 1), (Role::A, 1)];

const NODE: Parts = &[
    (Role::Position, 3),
    (Role::Orientation, 4),
    (Role::Velocity, 3),
    (Role::AngularVelocity, 3),
    (Role::Acceleration, 3),
    (Role::AngularAcceleration, 3),
];

const WRENCH: Parts = &[(Role::Force, 3), (Role::Moment, 3)];

/// The bundle of a terminal of an exported model, without members that are missing.
fn own(kind: &str, name: &str, variables: &HashMap<&str, &str>) -> Option<Bundle> {
    let (_, quantity, parts) = OWN.iter().find(|(known, ..)| *known == kind)?;
    let (mut members, mut first) = (Vec::new(), 0);
    for (role, width) in *parts {
        let variable = |component| {
            let name = quantity.component_name(component);
            variables.get(&*name).map(|variable| (*variable).to_owned())
        };
        let named: Vec<String> = (first..first + width).filter_map(variable).collect();
        if !named.is_empty() {
            members.push((*role, named));
        }
        first += width;
    }
    let name = name.to_owned();
    Some(Bundle { name, members })
}

/// Terminals of known kinds as bundles, and remarks on the others.
pub(crate) fn read(
    text: &str,
    description: &Description,
) -> Result<(Vec<Bundle>, Vec<String>), String> {
    let document = parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let (mut bundles, mut notes) = (Vec::new(), Vec::new());
    for terminal in children(root, "Terminals").flat_map(|all| children(all, "Terminal")) {
        let name = terminal.attribute("name").unwrap_or_default();
        let kind = terminal.attribute("terminalKind").unwrap_or_default();
        let members: HashMap<&str, &str> = children(terminal, "TerminalMemberVariable")
            .filter_map(|member| {
                let variable = member.attribute("variableName")?;
                Some((member.attribute("memberName").unwrap_or(variable), variable))
            })
            .collect();
        let bundle = own(kind, name, &members);
        let Some(bundle) = bundle.or_else(|| flange(kind, name, &members, description)) else {
            notes.push(format!(
                "the terminal `{name}` is of the kind `{kind}`, which is not known: its variables are ports"
            ));
            continue;
        };
        match bundle.resolve(description) {
            Ok(_) => bundles.push(bundle),
            Err(error) => notes.push(format!(
                "the terminal `{name}` is not one port: {}; its variables are ports",
                error.message
            )),
        }
    }
    Ok((bundles, notes))
}

/// The bundle of a flange of the Modelica library.
fn flange(
    kind: &str,
    name: &str,
    variables: &HashMap<&str, &str>,
    description: &Description,
) -> Option<Bundle> {
    let (_, roles) = KNOWN.iter().find(|(known, _)| {
        let rest = kind.strip_prefix(known);
        rest.is_some_and(|rest| matches!(rest, "" | "_a" | "_b" | "s"))
    })?;
    let mut members = Vec::new();
    for (member, role) in roles.iter() {
        let Some(variable) = variables.get(member) else {
            continue;
        };
        let sends = description
            .variable(variable)
            .is_some_and(|variable| variable.causality == Causality::Output);
        // A force that it sends is one on itself, and the other way round.
        let is_force = matches!(role, Role::Force | Role::Moment);
        let written = match is_force {
            true => format!("-{variable}"),
            false => (*variable).to_owned(),
        };
        // An acceleration that it does not tell, or does not want, may be missing.
        if *role == Role::A && !sends {
            continue;
        }
        members.push((*role, vec![written]));
    }
    let name = name.to_owned();
    Some(Bundle { name, members })
}
