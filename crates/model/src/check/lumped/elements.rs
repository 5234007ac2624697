//! Springs, loads and superelements.

use oldham_lumped::{ElementKind, LAW_VARIABLES, LOAD_VARIABLES, NodeRef};

use super::LumpedDraft;
use crate::check::Checker;
use crate::check::keys::{all, read};
use crate::format::{At, Entry, Formula, Lumped, Rows, Spring};

impl Checker<'_> {
    pub(super) fn springs<'f>(&mut self, section: &'f Lumped, draft: &mut LumpedDraft<'f>) {
        for entry in &section.springs {
            self.name(&entry.name, "a spring");
            let spring = &entry.value.value;
            let ends = read(&spring.between, |between| self.ends(between, draft));
            let kind = match &spring.force {
                Some(force) => self.force_law(force, spring, ends),
                None => self.linear_spring(entry, ends),
            };
            match kind {
                Some(kind) => draft.element(entry, kind),
                None => draft.complete = false,
            }
        }
    }

    fn ends(
        &mut self,
        between: &At<Vec<At<String>>>,
        draft: &LumpedDraft<'_>,
    ) -> Option<[NodeRef; 2]> {
        let nodes = between.value.iter().map(|name| self.any_node(name, draft));
        let nodes: Vec<_> = nodes.collect();
        let [a, b] = nodes[..] else {
            let message = format!("a spring is between two nodes, not {}", nodes.len());
            self.report(&between.span, message);
            return None;
        };
        if a.is_some() && a == b {
            let message = "a spring must be between two different nodes";
            self.report(&between.span, message)
                .label("the same node twice");
        }
        Some([a?, b?])
    }

    fn linear_spring(
        &mut self,
        entry: &Entry<Spring>,
        ends: Option<[NodeRef; 2]>,
    ) -> Option<ElementKind> {
        let spring = &entry.value.value;
        if spring.stiffness.is_none() && spring.damping.is_none() {
            let name = &entry.name.value;
            let message = format!("the spring `{name}` has no stiffness, damping or force");
            self.report_missing(&entry.value.span, message)
                .help("give `stiffness`, `damping` or both, or a law as `force`");
        }
        let stiffness = self.number_or(&spring.stiffness, 0.0);
        let damping = self.number_or(&spring.damping, 0.0);
        let rest = self.number_or(&spring.rest, 0.0);
        Some(ElementKind::Spring {
            ends: ends?,
            stiffness: stiffness?,
            damping: damping?,
            rest: rest?,
        })
    }

    fn force_law(
        &mut self,
        force: &At<Formula>,
        spring: &Spring,
        ends: Option<[NodeRef; 2]>,
    ) -> Option<ElementKind> {
        for other in [&spring.stiffness, &spring.damping, &spring.rest]
            .into_iter()
            .flatten()
        {
            let message = "a spring with a law as `force` has no stiffness, damping or rest";
            self.report(&other.span, message)
                .label("not used")
                .help("put it into the law: `d` is the elongation, `v` its rate");
        }
        let law = self.expression(force, &LAW_VARIABLES);
        Some(ElementKind::ForceLaw {
            ends: ends?,
            law: law?,
        })
    }

    pub(super) fn loads<'f>(&mut self, section: &'f Lumped, draft: &mut LumpedDraft<'f>) {
        for entry in &section.loads {
            self.name(&entry.name, "a load");
            let load = &entry.value.value;
            let node = read(&load.on, |on| self.own_node(on, draft));
            let force = read(&load.force, |force| self.expression(force, &LOAD_VARIABLES));
            match node.zip(force) {
                Some((node, force)) => draft.element(entry, ElementKind::Load { node, force }),
                None => draft.complete = false,
            }
        }
    }

    pub(super) fn matrices<'f>(&mut self, section: &'f Lumped, draft: &mut LumpedDraft<'f>) {
        for entry in &section.matrices {
            self.name(&entry.name, "a superelement");
            let given = &entry.value.value;
            let Some(names) = &given.nodes else {
                draft.complete = false;
                continue;
            };
            let nodes = all(names.value.iter().map(|name| self.any_node(name, draft)));
            let size = names.value.len();
            let [mass, damping, stiffness] = [&given.mass, &given.damping, &given.stiffness]
                .map(|matrix| Some(self.matrix(matrix.as_ref()?, size)));
            if let Some(nodes) = nodes {
                let kind = ElementKind::Matrices {
                    nodes,
                    mass,
                    damping,
                    stiffness,
                };
                draft.element(entry, kind);
            }
        }
    }

    /// The entries row by row.
    fn matrix(&mut self, rows: &At<Rows>, size: usize) -> Vec<f64> {
        let fits = rows.value.len() == size;
        if !fits {
            let message = format!("the matrix has {} rows for {size} nodes", rows.value.len());
            self.report(&rows.span, message);
        }
        let mut entries = Vec::new();
        for row in &rows.value {
            if row.value.len() != size {
                let message = format!("the row has {} numbers for {size} nodes", row.value.len());
                self.report(&row.span, message);
            }
            entries.extend(row.value.iter().filter_map(|entry| self.number(entry)));
        }
        entries
    }
}
