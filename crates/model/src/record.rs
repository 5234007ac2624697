//! Which of a simulation's columns a model wants recorded.

use oldham_cosim::Column;

use crate::mechanism::{NODE_PORTS, PARTICLE_PORTS, POSE_COMPONENTS};
use crate::model::Model;
use crate::problem::{Findings, Problem, Problems};

impl Model {
    /// Places of the columns to record, in the order of the model's list; all, if it has none. A
    /// name without component, such as `left.x1`, stands for all components. The nodes of multibody
    /// parts follow with their positions and orientations, if they are wanted, and particles with theirs.
    pub fn recorded(&self, columns: &[Column]) -> Result<Vec<usize>, Problems> {
        let of_nodes = |&i: &usize| self.is_of(NODE_PORTS, &columns[i].name);
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
                let problem = Problem::new(span.clone(), format!("there is no signal `{signal}`"));
                findings.push(problem.suggest(signal, names));
            }
            chosen.extend(of_signal);
        }
        findings.finish(self.source())?;
        let places = |i: &usize| {
            let column = &columns[*i].name;
            of_nodes(i) && is_pose(column) || self.is_of(PARTICLE_PORTS, column)
        };
        let poses = |i: &usize| places(i) && !chosen.contains(i);
        let poses: Vec<usize> = (0..columns.len()).filter(poses).collect();
        chosen.extend(poses);
        Ok(chosen)
    }

    /// Whether a column belongs to a port of this kind, which nobody asked for by name.
    fn is_of(&self, ports: &str, column: &str) -> bool {
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
