//! Which of a simulation's columns a model wants recorded.

use oldham_cosim::Column;

use crate::model::Model;
use crate::problem::{Findings, Problem, Problems};

impl Model {
    /// Places of the columns to record, in the order of the model's list; all, if it has none. A
    /// name without component, such as `left.x1`, stands for all components.
    pub fn recorded(&self, columns: &[Column]) -> Result<Vec<usize>, Problems> {
        let Some(signals) = self.signals() else {
            return Ok((0..columns.len()).collect());
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
        Ok(chosen)
    }
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
