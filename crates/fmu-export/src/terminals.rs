//! `terminalsAndIcons.xml` of FMI 3: variables that are one motion or one wrench.
//!
//! The kind of a terminal is the name of its quantity, and its members are the components, with the names that recorded
//! columns have. The section `[fmu.NAME]` of a model reads them as ports.

use std::fmt::Write as _;

use oldham_cosim::Quantity;

use crate::description::escaped;
use crate::manifest::{Manifest, Role, Variable};

/// Where it stands in the archive.
pub const TERMINALS: &str = "terminalsAndIcons/terminalsAndIcons.xml";

/// Quantities of several numbers that are connected as a whole, and what terminals of them are called.
static KINDS: [(Quantity, &str); 4] = [
    (Quantity::Translation, "Oldham.Translation"),
    (Quantity::Rotation, "Oldham.Rotation"),
    (Quantity::Motion, "Oldham.Motion"),
    (Quantity::Wrench, "Oldham.Wrench"),
];

/// The terminals of all motions and wrenches of which every component is shown, if there are any.
pub fn terminals(manifest: &Manifest) -> Option<String> {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons fmiVersion=\"3.0\">\n  <Terminals>\n",
    );
    let mut rest = &manifest.variables[..];
    let mut is_empty = true;
    while !rest.is_empty() {
        let found = KINDS.iter().find_map(|(quantity, kind)| {
            let members = rest.get(..quantity.width())?;
            Some((stem(quantity, members)?, kind, quantity))
        });
        let Some((name, kind, quantity)) = found else {
            rest = &rest[1..];
            continue;
        };
        is_empty = false;
        let (members, others) = rest.split_at(quantity.width());
        let _ = writeln!(
            xml,
            "    <Terminal name=\"{}\" matchingRule=\"bus\" terminalKind=\"{kind}\">",
            escaped(name)
        );
        for (component, member) in members.iter().enumerate() {
            let _ = writeln!(
                xml,
                "      <TerminalMemberVariable variableName=\"{}\" memberName=\"{}\" variableKind=\"signal\"/>",
                escaped(&member.name),
                quantity.component_name(component)
            );
        }
        xml += "    </Terminal>\n";
        rest = others;
    }
    xml += "  </Terminals>\n</fmiTerminalsAndIcons>\n";
    (!is_empty).then_some(xml)
}

/// What these variables have in common, if they are the components of this quantity.
fn stem<'v>(quantity: &Quantity, members: &'v [Variable]) -> Option<&'v str> {
    let (stem, _) = members.first()?.name.rsplit_once('.')?;
    let owner = |variable: &Variable| match &variable.role {
        Role::Input { dial, .. } => Some(dial.clone()),
        _ => None,
    };
    let is_component = |(component, member): (usize, &Variable)| {
        let name = member
            .name
            .strip_prefix(stem)
            .and_then(|rest| rest.strip_prefix('.'));
        name == Some(&*quantity.component_name(component))
            && member.unit == quantity.component_unit(component).to_string()
            && owner(member) == owner(&members[0])
            && (member.role == Role::Output) == (members[0].role == Role::Output)
    };
    let is_whole = members.iter().enumerate().all(is_component);
    is_whole.then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, unit: &str, role: Role) -> Variable {
        Variable {
            name: name.into(),
            unit: unit.into(),
            start: 0.0,
            derivatives: Vec::new(),
            role,
        }
    }

    fn manifest(variables: Vec<Variable>) -> Manifest {
        Manifest {
            program: String::new(),
            name: String::new(),
            model: String::new(),
            settings: Vec::new(),
            part: None,
            token: String::new(),
            start: 0.0,
            step: 0.1,
            variables,
        }
    }

    #[test]
    fn only_whole_motions_and_wrenches_are_terminals() {
        let push = |component| Role::Input {
            dial: "a.push".into(),
            component,
        };
        let wrench = Quantity::Wrench;
        let mut all: Vec<Variable> = (0..6)
            .map(|place| {
                let name = format!("a.push.{}", wrench.component_name(place));
                variable(
                    &name,
                    &wrench.component_unit(place).to_string(),
                    push(place),
                )
            })
            .collect();
        for (name, unit) in [("x", "m"), ("v", "m/s"), ("a", "m/s2")] {
            all.push(variable(&format!("a.hook.{name}"), unit, Role::Output));
        }
        // An angle is not a displacement, and a motion without its acceleration is not whole.
        for (name, unit) in [("x", "rad"), ("v", "rad/s"), ("a", "rad/s2")] {
            all.push(variable(&format!("a.shaft.{name}"), unit, Role::Output));
        }
        for (name, unit) in [("x", "m"), ("v", "m/s")] {
            all.push(variable(&format!("a.rope.{name}"), unit, Role::Output));
        }
        all.push(variable("m", "", Role::Parameter));
        let xml = terminals(&manifest(all)).unwrap();
        let heads: Vec<&str> = xml
            .lines()
            .filter_map(|line| line.trim().strip_prefix("<Terminal name="))
            .collect();
        assert_eq!(heads.len(), 3, "{xml}");
        assert!(heads[0].starts_with("\"a.push\"") && heads[0].contains("Oldham.Wrench"));
        assert!(heads[1].starts_with("\"a.hook\"") && heads[1].contains("Oldham.Translation"));
        assert!(heads[2].starts_with("\"a.shaft\"") && heads[2].contains("Oldham.Rotation"));
        assert!(!xml.contains("a.rope"));
        assert_eq!(terminals(&manifest(Vec::new())), None);
    }
}
