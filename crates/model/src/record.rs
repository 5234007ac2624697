//! Which of a simulation's columns a model wants recorded.

use oldham_cosim::Column;

use crate::mechanism::{CONTACT_PORTS, NODE_PORTS, PARTICLE_PORTS, POSE_COMPONENTS, SECTION_PORTS};
use crate::model::Model;
use crate::problem::{Findings, Problems};

impl Model {
    /// Places of the columns to record, in the order of the model's list; all, if it has none. A
    /// name without component, such as `left.x1`, stands for all components. External inputs are
    /// always among them. The nodes of multibody
    /// parts follow with their positions and orientations, and internal loads and particles, if they are wanted.
    pub fn recorded(&self, columns: &[Column]) -> Result<Vec<usize>, Problems> {
        let of_nodes = |&i: &usize| self.is_of_node(&columns[i].name);
        let Some(signals) = self.signals() else {
            let plain = |i: &usize| !of_nodes(i) || is_pose(&columns[*i].name);
            return Ok((0..columns.len()).filter(plain).collect());
        };
        let mut findings = Findings::default();
        let mut chosen = Vec::new();
        for (signal, span) in signals {
            let of_signal = matching(columns, signal);
            if of_signal.is_empty() {
                let names = columns.iter().map(|column| column.name.as_str());
                findings
                    .report(span, format!("there is no signal `{signal}`"))
                    .suggest(signal, names);
            }
            chosen.extend(of_signal);
        }
        findings.finish(self.source())?;
        // Without what was set from outside a run could not be replayed.
        for input in self.external_inputs() {
            let of_input = matching(columns, &input.name).into_iter();
            let missing: Vec<usize> = of_input.filter(|i| !chosen.contains(i)).collect();
            chosen.extend(missing);
        }
        let is_drawn = |i: &usize| match of_nodes(i) {
            true => is_pose(&columns[*i].name),
            false => {
                let behind = |ports| self.is_behind(&columns[*i].name, ports);
                [SECTION_PORTS, PARTICLE_PORTS, CONTACT_PORTS]
                    .into_iter()
                    .any(behind)
            }
        };
        let drawn = |i: &usize| is_drawn(i) && !chosen.contains(i);
        let drawn: Vec<usize> = (0..columns.len()).filter(drawn).collect();
        chosen.extend(drawn);
        Ok(chosen)
    }

    /// Whether a column belongs to the port of a node that nobody asked for by name.
    fn is_of_node(&self, column: &str) -> bool {
        self.is_behind(column, NODE_PORTS)
    }

    /// Whether a column belongs to a port of a mechanism with this prefix.
    fn is_behind(&self, column: &str, ports: &str) -> bool {
        self.mechanisms().any(|mechanism| {
            let port = column.strip_prefix(mechanism.name());
            port.and_then(|port| port.strip_prefix('.'))
                .is_some_and(|port| port.starts_with(ports))
        })
    }
}

fn is_pose(column: &str) -> bool {
    let component = column.rsplit('.').next();
    component.is_some_and(|component| POSE_COMPONENTS.contains(&component))
}

/// Places of the columns that a name stands for: itself, or all its components.
pub fn matching(columns: &[Column], name: &str) -> Vec<usize> {
    let stands_for = |column: &Column| {
        let rest = column.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    (0..columns.len())
        .filter(|&i| stands_for(&columns[i]))
        .collect()
}
