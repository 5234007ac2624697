//! What is measured, and expressions of it.

use oldham_multibody::{Drive, Element, ElementId, Joint, Measured, Rod, Sensor, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{Measure, Multibody};
use crate::format::{At, Entry, Formula};
use crate::problem::Problem;
use crate::words;

/// Sensors of one expression, at most.
const MOST: usize = 15;

/// What an entry measures, and of what.
enum Kind {
    Displacement,
    Velocity,
    AngularVelocity,
    Coordinate,
    Rate,
    Force,
    Moment,
    Tension,
}

impl Checker<'_> {
    /// Reads what is measured on nodes and joints; springs may use it.
    pub(super) fn measures_of_joints<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        self.measures(section, false, draft);
    }

    /// Reads what is measured on springs.
    pub(super) fn measures_of_springs<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        self.measures(section, true, draft);
    }

    fn measures<'f>(
        &mut self,
        section: &'f Multibody,
        of_springs: bool,
        draft: &mut MechanismDraft<'f>,
    ) {
        let wanted = |entry: &&Entry<Measure>| entry.value.value.tension.is_some() == of_springs;
        for entry in section.sensors.iter().filter(wanted) {
            let name = &entry.name;
            if !words::is_variable(&name.value) || name.value == "t" {
                let message = format!("`{}` cannot be used in an expression", name.value);
                let problem = Problem::new(name.span.clone(), message)
                    .help("use letters, digits and `_`, and not the `t` of time");
                self.findings.push(problem);
            }
            let sensor = match &entry.value.value.foreign {
                Some(foreign) => self.foreign_sensor(foreign, draft),
                None => self.sensor(entry, draft),
            };
            draft.measures.insert(&name.value, sensor);
        }
    }

    fn sensor(&mut self, entry: &Entry<Measure>, draft: &MechanismDraft<'_>) -> Option<Sensor> {
        let given = &entry.value.value;
        let all = [
            (Kind::Displacement, &given.displacement),
            (Kind::Velocity, &given.velocity),
            (Kind::AngularVelocity, &given.angular_velocity),
            (Kind::Coordinate, &given.coordinate),
            (Kind::Rate, &given.rate),
            (Kind::Force, &given.force),
            (Kind::Moment, &given.moment),
            (Kind::Tension, &given.tension),
        ];
        let all: Vec<_> = all
            .into_iter()
            .filter_map(|(kind, of)| Some((kind, of.as_ref()?)))
            .collect();
        let [(kind, of)] = &all[..] else {
            let message = format!(
                "`{}` measures {} things; it must be one",
                entry.name.value,
                all.len()
            );
            let problem = Problem::new(entry.value.span.clone(), message).help(
                "one of `displacement`, `velocity`, `angular_velocity`, `coordinate`, `rate`, `force`, `moment`, `tension`",
            );
            self.findings.incomplete(&entry.value.span, problem);
            return None;
        };
        match kind {
            Kind::Displacement => {
                let (node, axis) = (self.moving_node_named(of, draft), self.measured_axis(entry));
                Some(Sensor::Position(node?, axis?))
            }
            Kind::Velocity => {
                let (node, axis) = (self.moving_node_named(of, draft), self.measured_axis(entry));
                Some(Sensor::Velocity(node?, axis?))
            }
            Kind::AngularVelocity => {
                let (node, axis) = (self.moving_node_named(of, draft), self.measured_axis(entry));
                Some(Sensor::Spin(node?, axis?))
            }
            Kind::Coordinate => {
                let (coordinate, ends) = self.coordinate(of, draft)?;
                Some(Sensor::Coordinate(coordinate, ends))
            }
            Kind::Rate => {
                let (coordinate, ends) = self.coordinate(of, draft)?;
                Some(Sensor::Rate(coordinate, ends))
            }
            Kind::Force | Kind::Moment => {
                let axis = self.measured_axis(entry);
                let (joint, first) = self.measured_joint(of, draft)?;
                Some(match kind {
                    Kind::Force => Sensor::Force(joint, first, axis?),
                    _ => Sensor::Moment(joint, first, axis?),
                })
            }
            Kind::Tension => self.measured_spring(of, draft),
        }
    }

    fn measured_axis(&mut self, entry: &Entry<Measure>) -> Option<Vec3> {
        if let Some(axis) = &entry.value.value.axis {
            return self.direction(axis);
        }
        let message = format!(
            "`{}` needs the `axis` along which it measures",
            entry.name.value
        );
        let problem = Problem::new(entry.value.span.clone(), message).label("has no `axis`");
        self.findings.incomplete(&entry.value.span, problem);
        None
    }

    /// The element that has a reaction.
    fn measured_element<'d>(
        &mut self,
        of: &At<String>,
        draft: &'d MechanismDraft<'_>,
    ) -> Option<(ElementId, &'d dyn Element)> {
        let Some(holder) = draft.holders.get(of.value.as_str()) else {
            let message = format!(
                "there is no joint or spring `{}` in this subsystem",
                of.value
            );
            let problem = Problem::new(of.span.clone(), message).label("unknown");
            let known = draft.holders.keys().copied();
            self.findings.push_misspelt(problem, &of.value, known);
            return None;
        };
        let element = (*holder)?;
        Some((element, draft.spec.whole.model.get(element)))
    }

    fn measured_joint(
        &mut self,
        of: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Box<Joint>, usize)> {
        let (place, element) = self.measured_element(of, draft)?;
        let Some(joint) = element.downcast_ref::<Joint>() else {
            let message = format!(
                "`{}` is not a joint whose reaction can be measured",
                of.value
            );
            let problem = Problem::new(of.span.clone(), message)
                .help("joints without friction and without prescribed rates can");
            self.findings.push(problem);
            return None;
        };
        let first = draft.spec.whole.model.first_multiplier(place);
        Some((Box::new(joint.clone()), first))
    }

    fn measured_spring(&mut self, of: &At<String>, draft: &MechanismDraft<'_>) -> Option<Sensor> {
        let (_, element) = self.measured_element(of, draft)?;
        if let Some(rod) = element.downcast_ref::<Rod>()
            && !rod.remembers()
        {
            return Some(Sensor::Tension(Box::new(rod.clone())));
        }
        let message = format!("`{}` is not a spring without `maxwell` elements", of.value);
        self.findings.push(Problem::new(of.span.clone(), message));
        None
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
            .filter_map(|name| Some(*draft.measures.get_key_value(name)?.0))
            .collect();
        used.sort_unstable();
        used.dedup();
        if used.is_empty() {
            return Some(None);
        }
        if used.len() > MOST {
            let message = format!("an expression may use {MOST} sensors, not {}", used.len());
            self.findings
                .push(Problem::new(formula.span.clone(), message));
            return None;
        }
        let variables: Vec<&str> = std::iter::once("t").chain(used.iter().copied()).collect();
        let expression = self.expression(formula, &variables)?;
        let sensors: Option<Vec<Sensor>> = used
            .iter()
            .map(|name| draft.measures[name].clone())
            .collect();
        let measured = Measured::new(sensors?, move |values| expression.eval(values));
        Some(Some(Drive::Measured(measured)))
    }
}
