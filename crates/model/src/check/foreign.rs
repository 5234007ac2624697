//! Subsystems and predictors of registered kinds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use oldham_cosim::Ports;

use super::part::{Checked, Port};
use super::{Checker, Pace};
use crate::data::DataFile;
use crate::extensions::{Context, Kind, Reports, Settings, find};
use crate::format::{
    At, DEFAULT_RHO, Entry, Foreign, ForeignSection, Formula, Setting, Value, plain,
};
use crate::model::{Content, ForeignPrediction, ForeignSpec, panicked};
use crate::problem::Problem;
use crate::schema::SchemaShape;
use crate::source::Span;

impl Reports for Checker<'_> {
    fn report(&mut self, problem: Problem) {
        self.findings.push(problem);
    }

    fn number(&mut self, formula: &At<Formula>) -> Option<f64> {
        self.number(formula)
    }

    fn expression(
        &mut self,
        formula: &At<Formula>,
        variables: &[&str],
    ) -> Option<oldham_expression::Expression> {
        self.expression(formula, variables)
    }

    fn folder(&self) -> &Path {
        self.source.folder()
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn data_file(&mut self, path: &str) -> std::io::Result<()> {
        let file = DataFile::beside(self.source.folder(), path)?;
        self.data.push(file);
        Ok(())
    }

    fn claim(&mut self, what: &str) -> bool {
        self.claims.insert(what.to_owned())
    }

    fn name(&mut self, name: &At<String>, of: &str) -> bool {
        self.name(name, of)
    }
}

impl Checker<'_> {
    pub(super) fn foreign_part(
        &mut self,
        kind: &str,
        entry: &Entry<ForeignSection>,
        pace: Pace,
    ) -> Checked {
        let section = &entry.value.value;
        let paced = self.head(&entry.name, &section.pacing, &section.division, &pace);
        let made = self.foreign_content(kind, entry, paced.own_step, paced.micro_steps);
        let (content, ports) = made.unzip();
        let ports = ports.map_or_else(Default::default, |ports| named_ports(&entry.name, &ports));
        paced.checked(DEFAULT_RHO, content, ports)
    }

    fn foreign_content(
        &mut self,
        kind: &str,
        entry: &Entry<ForeignSection>,
        own_step: Option<f64>,
        micro_steps: Option<u32>,
    ) -> Option<(Content, Ports)> {
        let extensions = self.extensions;
        let kind = find(&extensions.subsystems, kind)?;
        let (table, place) = entry.value.value.settings();
        let settings = self.settings(kind, table, place)?;
        let text = plain(&settings.evaluated(self)?);
        let part = self.made(&kind.name, place, |checker| {
            let mut context = Context {
                reports: checker,
                place: place.clone(),
                step: own_step
                    .zip(micro_steps)
                    .map(|(step, n)| step / f64::from(n)),
            };
            (kind.make)(settings, &mut context)
        })?;
        let spec = ForeignSpec {
            kind: kind.name.clone(),
            settings: text,
            micro_steps: micro_steps? as usize,
            part,
        };
        let ports = self.made(&kind.name, &entry.name.span, |checker| {
            let refused = |message: String| {
                checker.report(&entry.name.span, message);
            };
            let solver = spec.solver().map_err(refused).ok()?;
            Some(solver.ports().clone())
        })?;
        Some((Content::Foreign(spec), ports))
    }

    pub(super) fn foreign_predictor(&mut self, given: &At<Foreign>) -> Option<ForeignPrediction> {
        let extensions = self.extensions;
        let kind = find(&extensions.predictors, &given.value.kind.value)?;
        let settings = self.settings(kind, &given.value.settings, &given.span)?;
        let text = plain(&settings.evaluated(self)?);
        let make = self.made(&kind.name, &given.span, |checker| {
            let mut context = Context {
                reports: checker,
                place: given.span.clone(),
                step: None,
            };
            (kind.make)(settings, &mut context)
        })?;
        Some(ForeignPrediction {
            kind: kind.name.clone(),
            settings: text,
            make,
        })
    }

    /// The table of a kind. One that lost something is not looked at any further.
    pub(super) fn settings<'s, M: ?Sized>(
        &self,
        kind: &'s Arc<Kind<M>>,
        table: &'s [Setting],
        place: &Span,
    ) -> Option<Settings<'s>> {
        let shape = SchemaShape::new(&kind.schema);
        self.is_whole(table, place, shape).then(|| Settings {
            table,
            schema: &kind.schema,
            place: place.clone(),
        })
    }

    /// Whether a table and those within have lost nothing and lack nothing, which was told when the file was read.
    fn is_whole(&self, table: &[Setting], place: &Span, shape: SchemaShape<'_>) -> bool {
        let has = |key: &str| table.iter().any(|(there, _)| there.value == key);
        let mut inside = table.iter().filter_map(|(key, at)| {
            let shape = shape.key(&key.value).or(shape.named())?;
            Some((at, shape))
        });
        !self.findings.is_damaged(place)
            && shape.required().all(has)
            && inside.all(|(at, shape)| self.is_whole_value(at, shape))
    }

    fn is_whole_value(&self, at: &At<Value>, shape: SchemaShape<'_>) -> bool {
        match &at.value {
            Value::Table(table) => self.is_whole(table, &at.span, shape),
            Value::List(items) => {
                let shape = shape.item();
                let mut items = items.iter();
                items.all(|item| shape.is_none_or(|shape| self.is_whole_value(item, shape)))
            }
            _ => true,
        }
    }

    /// What a constructor makes. One that gives nothing must have said why, or panicked.
    pub(super) fn made<T>(
        &mut self,
        kind: &str,
        place: &Span,
        make: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let before = self.findings.len();
        let made = catch_unwind(AssertUnwindSafe(|| make(self))).unwrap_or_else(|panic| {
            let message = panicked(kind, panic.as_ref());
            self.report(place, message)
                .help("ask the author of the extension");
            None
        });
        if made.is_none() && self.findings.len() == before {
            let message = format!("this `{kind}` cannot be made, and its program does not say why");
            self.report(place, message)
                .help("ask the author of the extension");
        }
        made
    }
}

/// The ports of a solver; all stand where the subsystem has its name.
fn named_ports(name: &At<String>, ports: &Ports) -> [Vec<Port>; 2] {
    let named = |ports: &[oldham_cosim::Port]| {
        let port = |port: &oldham_cosim::Port| Port {
            name: At::new(port.name.to_string(), &name.span),
            quantity: Some(port.quantity.clone()),
        };
        ports.iter().map(port).collect()
    };
    [named(ports.inputs()), named(ports.outputs())]
}
