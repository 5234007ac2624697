//! Sensors, and expressions of what they measure.

use std::sync::Arc;

use oldham_multibody::{AngleCounter, Drive, ElementId, Marker, Measured, NodeId, Sensor, Sent};

use super::MechanismDraft;
use crate::check::Checker;
use crate::extensions::{Kind, MakeSensor, find};
use crate::format::multibody::Multibody;
use crate::format::{At, Entry, Foreign, Formula, Value};
use crate::kinds::{Reading, Reads};
use crate::source::Span;
use crate::words;

/// Sensors of one expression, at most.
const MOST: usize = 15;

/// When sensors are read: those of nodes and joints first, so that springs may use them; then those
/// of springs, for loads; then those of loads, which are only recorded and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Joints,
    Springs,
    Loads,
}

impl<'a> Checker<'a> {
    /// Reads the sensors of a stage.
    pub(super) fn sensors<'f>(
        &mut self,
        section: &'f Multibody,
        stage: Stage,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.sensors {
            if draft.readings.contains_key(entry.name.value.as_str())
                || self.stage(section, &entry.value.value) != stage
            {
                continue;
            }
            let name = &entry.name;
            if !words::is_variable(&name.value) || name.value == "t" {
                let message = format!("`{}` cannot be used in an expression", name.value);
                self.report(&name.span, message)
                    .help("use letters, digits and `_`, and not the `t` of time");
            }
            let reading = self.sensor(entry, draft);
            draft.readings.insert(&name.value, reading);
        }
    }

    fn sensor(
        &mut self,
        entry: &Entry<Foreign>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<Reading> {
        let (name, given) = (&entry.name.value, &entry.value);
        let kinds = &self.extensions.sensors;
        let kind = match &self.kinds_of(&given.value)[..] {
            &[kind] => kind,
            several => {
                let count = several.len();
                let message = format!("`{name}` measures {count} things; it must be one");
                let keys = kinds.iter().filter(|kind| is_key(kind));
                let keys: Vec<String> = keys.map(|kind| format!("`{}`", kind.name)).collect();
                self.report_missing(&given.span, message)
                    .help(format!("one of {}", keys.join(", ")));
                return None;
            }
        };
        self.at_bench(kind, name, given, draft, |settings, bench| {
            (kind.make.make)(settings, bench)
        })
    }

    /// The kind that is named by its `type`, or all whose keys are there.
    fn kinds_of(&self, given: &Foreign) -> Vec<&'a Arc<Kind<MakeSensor>>> {
        let kinds = &self.extensions.sensors;
        if !given.kind.value.is_empty() {
            return find(kinds, &given.kind.value).into_iter().collect();
        }
        let has = |kind: &&Arc<Kind<MakeSensor>>| is_key(kind) && given.value(&kind.name).is_some();
        kinds.iter().filter(has).collect()
    }

    /// When a sensor can be read: what it measures must be there.
    fn stage(&self, section: &Multibody, given: &Foreign) -> Stage {
        let Some(kind) = self.kinds_of(given).into_iter().next() else {
            return Stage::Joints;
        };
        let is_element = |name: &str| section.elements.names().any(|element| element == name);
        let is_registered = !given.kind.value.is_empty();
        let reads_an_element = given.value("of").is_some_and(|of| of.is_text(is_element));
        let of = match (kind.make.reads, given.value(&kind.name)) {
            (Reads::Contacts, _) => return Stage::Loads,
            _ if is_registered && reads_an_element => return Stage::Loads,
            (Reads::Element | Reads::Drive, Some(Value::Text(of))) => of.as_str(),
            _ => return Stage::Joints,
        };
        let owner = of.split('.').next().unwrap_or(of);
        let is_servo = section.servos.names().any(|servo| servo == of);
        let is_drive_of_joint = kind.make.reads == Reads::Drive && !is_servo;
        if is_drive_of_joint || section.joints.names().any(|joint| joint == owner) {
            Stage::Joints
        } else if is_element(owner) || section.loads.names().any(|load| load == of) {
            Stage::Loads
        } else {
            Stage::Springs
        }
    }

    /// The element of this name, whose reaction can be asked for.
    pub(crate) fn holder_named(
        &mut self,
        name: &At<String>,
        what: &str,
        draft: &MechanismDraft<'_>,
    ) -> Option<ElementId> {
        let holder = draft.holders.get(name.value.as_str());
        if holder.is_none() {
            let known = draft.holders.keys().map(String::as_str);
            self.unknown(name, what, known).or_help(
                "joints, springs, torsion springs, bushings, motors and `elements` have reactions",
            );
        }
        *holder?
    }

    /// The place of a node among those of an element.
    pub(crate) fn node_of(
        &mut self,
        element: &At<String>,
        on: &At<String>,
        nodes: &[NodeId],
        draft: &MechanismDraft<'_>,
    ) -> Option<usize> {
        let node = self.node_named(on, draft)?;
        let place = nodes.iter().position(|&end| end == node);
        if place.is_none() {
            let message = format!(
                "`{}` is not attached to the node `{}`",
                element.value, on.value
            );
            self.report(&on.span, message);
        }
        place
    }

    /// A sensor by its name.
    pub(super) fn sensor_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Reading> {
        self.known(name, "sensor", &draft.readings).cloned()
    }

    /// What an expression may use of a sensor.
    pub(super) fn fed_back(
        &mut self,
        name: &str,
        reading: Option<&Reading>,
        span: &Span,
    ) -> Option<Sensor> {
        match reading? {
            Reading::Fed(sensor) => Some(sensor.clone()),
            Reading::Shown(_) => {
                let what = match reading? {
                    Reading::Shown(Sent::ContactForce(_)) => "a force of contacts",
                    _ => "an acceleration",
                };
                let message = format!(
                    "`{name}` measures {what}, which follows from the forces: they cannot follow it without delay"
                );
                self.report(span, message).help(
                    "send it by an output and bring it back through a scalar input, or measure a velocity",
                );
                None
            }
        }
    }

    /// An expression of time and of what is measured.
    pub(super) fn measured_formula(
        &mut self,
        formula: &At<Formula>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Option<Drive>> {
        let Formula::Text(text) = &formula.value else {
            return Some(None);
        };
        let mut used: Vec<&str> = words::names(text)
            .filter_map(|name| Some(*draft.readings.get_key_value(name)?.0))
            .collect();
        used.sort_unstable();
        used.dedup();
        if used.is_empty() {
            return Some(None);
        }
        if used.len() > MOST {
            let message = format!("an expression may use {MOST} sensors, not {}", used.len());
            self.report(&formula.span, message);
            return None;
        }
        let variables: Vec<&str> = std::iter::once("t").chain(used.iter().copied()).collect();
        let expression = self.expression(formula, &variables)?;
        let fed = |name: &&str| {
            let reading = draft.readings[*name].as_ref();
            self.fed_back(name, reading, &formula.span)
        };
        let sensors: Option<Vec<Sensor>> = used.iter().map(fed).collect();
        let sided = expression.clone();
        let measured = Measured::new(sensors?, move |values| expression.eval(values))
            .with_side(move |values| sided.sides(values));
        Some(Some(Drive::Measured(measured)))
    }
}

/// Whether a key tells the kind.
fn is_key(kind: &Kind<MakeSensor>) -> bool {
    kind.own.as_ref().is_some_and(|own| own.is_key)
}

impl MechanismDraft<'_> {
    /// The element that counts the turns of a joint.
    pub(crate) fn counter(&mut self, joint: &str, ends: [Marker; 2]) -> ElementId {
        let name = format!("{joint}.turns");
        let known = self.spec.whole.model.find_element(&name);
        let model = &mut self.spec.whole.model;
        known.unwrap_or_else(|| model.element(name, AngleCounter::new(ends)))
    }
}
