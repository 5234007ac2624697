//! Terminals of FMI 3: variables that the FMU itself says belong together.
//!
//! Of known kinds are the flanges of the Modelica library, with the names that their members have there. The force of a
//! flange acts on the FMU; that of a port, on the owner of its motion.

use std::collections::HashMap;

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
        let Some((_, roles)) = KNOWN.iter().find(|(known, _)| {
            let rest = kind.strip_prefix(known);
            rest.is_some_and(|rest| matches!(rest, "" | "_a" | "_b" | "s"))
        }) else {
            notes.push(format!(
                "the terminal `{name}` is of the kind `{kind}`, which is not known: its variables are ports"
            ));
            continue;
        };
        let members: HashMap<&str, &str> = children(terminal, "TerminalMemberVariable")
            .filter_map(|member| {
                let variable = member.attribute("variableName")?;
                Some((member.attribute("memberName").unwrap_or(variable), variable))
            })
            .collect();
        let mut bundle = Bundle {
            name: name.to_owned(),
            members: Vec::new(),
        };
        for (member, role) in roles.iter() {
            let Some(variable) = members.get(member) else {
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
            bundle.members.push((*role, vec![written]));
        }
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
