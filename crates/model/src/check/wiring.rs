//! The sections `[[connection]]` and `[excitation]`: what feeds which input.

use oldham_cosim::{InputPort, OutputPort, Quantity};
use oldham_expression::Expression;

use super::Checker;
use super::mirror::mark_mirrored;
use super::part::Checked;
use super::switchboard::{End, Switchboard};
use crate::format::{self, At, Drive, Entry, File};
use crate::model::{CompensatorSpec, ConnectionSpec, DrivenInput};
use crate::problem::Problem;
use crate::source::Source;

/// Time is all that a drive depends on.
const DRIVE_VARIABLES: [&str; 1] = ["t"];

/// What feeds the inputs.
#[derive(Default)]
pub(super) struct Wiring {
    pub connections: Vec<ConnectionSpec>,
    pub drives: Vec<DrivenInput>,
    pub compensators: Vec<CompensatorSpec>,
}

/// The expression that is zero.
fn zero() -> Expression {
    Expression::parse("0", &[]).expect("a number is an expression")
}

impl Checker<'_> {
    pub(super) fn wiring(&mut self, file: &File, source: &Source, parts: &mut [Checked]) -> Wiring {
        let mut board = Switchboard::new(parts);
        let mut wiring = Wiring::default();
        for connection in &file.connection {
            wiring
                .connections
                .extend(self.connection(&connection.value, &mut board));
        }
        for entry in &file.excitation {
            let driven = self.drive(entry, &mut board);
            self.check_external_name(entry, driven.as_ref(), &wiring.drives);
            wiring.drives.extend(driven);
        }
        wiring.compensators = self.compensators(file, source, &mut board);
        self.unfed(&board);
        mark_mirrored(parts, &wiring.connections);
        wiring
    }

    fn connection(
        &mut self,
        connection: &format::Connection,
        board: &mut Switchboard<'_>,
    ) -> Option<ConnectionSpec> {
        let (from, to) = (connection.from.as_ref()?, connection.to.as_ref()?);
        let sender = board.find(from, End::From, self.findings);
        let receiver = board.find(to, End::To, self.findings);
        if let Some(receiver) = receiver {
            board.feed(receiver, to, &format!("`{}`", from.value), self.findings);
        }
        let (sender, receiver) = (sender?, receiver?);
        if sender.0 == receiver.0 {
            let message = format!("`{}` and `{}` are of one subsystem", from.value, to.value);
            let problem = Problem::new(to.span.clone(), message);
            let problem = problem.label("connects a subsystem with itself");
            let help = "put a spring, damper or law into the subsystem instead of a connection";
            self.findings.push(problem.help(help));
            return None;
        }
        let sent = board.quantity(sender, End::From)?;
        let taken = board.quantity(receiver, End::To)?;
        if sent != taken {
            let message = format!(
                "`{}` sends {sent}, but `{}` takes {taken}",
                from.value, to.value
            );
            let problem = Problem::new(to.span.clone(), message).label("other quantity or unit");
            let help = match board.port_of(sender, End::From, &taken) {
                Some(other) => format!("send `{other}` instead"),
                None => {
                    format!("let an output of the sender carry {taken}, or the input take {sent}")
                }
            };
            self.findings.push(problem.help(help));
        }
        Some(ConnectionSpec {
            from: (sender.0, OutputPort(sender.1)),
            to: (receiver.0, InputPort(receiver.1)),
        })
    }

    fn drive(&mut self, entry: &Entry<Drive>, board: &mut Switchboard<'_>) -> Option<DrivenInput> {
        let place = board.find(&entry.name, End::To, self.findings);
        let external = self.external(entry);
        let components = match &external {
            Some(_) => None,
            None => self.driven_components(entry),
        };
        let place = place?;
        board.feed(place, &entry.name, "[excitation]", self.findings);
        let quantity = board.quantity(place, End::To)?;
        let components = match &external {
            Some((_, initial)) => {
                // The initial value, and nothing of the other components.
                let mut components = vec![initial.clone()];
                components.resize(quantity.width(), zero());
                components
            }
            None => components?,
        };
        let is_spatial = matches!(
            quantity,
            Quantity::Motion | Quantity::Wrench | Quantity::Matrix { .. }
        );
        if components.len() != quantity.width() || (external.is_some() && is_spatial) {
            let message = match quantity {
                Quantity::Scalar(_) => "this input is a single number: give one expression",
                Quantity::Translation | Quantity::Rotation => {
                    "this input is a motion: give `x`, `v` and `a`"
                }
                Quantity::Array(..) => {
                    "this input is an array: give one expression for each number"
                }
                Quantity::Whole | Quantity::Flag => {
                    "this input is a single number: give one expression"
                }
                Quantity::Motion | Quantity::Wrench | Quantity::Matrix { .. } => {
                    "a motion or a wrench in space cannot be given here: connect an output to it"
                }
            };
            let problem = Problem::new(entry.value.span.clone(), message);
            self.findings
                .push(problem.label(format!("for `{}`", entry.name.value)));
            return None;
        }
        Some(DrivenInput {
            part: place.0,
            port: InputPort(place.1),
            span: entry.value.span.clone(),
            components,
            external: external.map(|(name, _)| name),
        })
    }

    /// An external input is set and recorded by its name: it must have one of its own.
    fn check_external_name(
        &mut self,
        entry: &Entry<Drive>,
        driven: Option<&DrivenInput>,
        others: &[DrivenInput],
    ) {
        let Some(name) = driven.and_then(|driven| driven.external.as_ref()) else {
            return;
        };
        let problem = match others
            .iter()
            .any(|other| other.external.as_ref() == Some(name))
        {
            true => "is the name of another external input already",
            false if name.trim().is_empty() => "is no name under which an input could be recorded",
            false => return,
        };
        let problem = Problem::new(entry.value.span.clone(), format!("`{name}` {problem}"));
        self.findings
            .push(problem.label("give it a name of its own, such as \"driver.steer\""));
    }

    /// The name of an external input and its value until it is set.
    fn external(&mut self, entry: &Entry<Drive>) -> Option<(String, Expression)> {
        let Drive::Motion(given) = &entry.value.value else {
            return None;
        };
        let name = given.external.as_ref()?;
        for at in [&given.x, &given.v, &given.a].into_iter().flatten() {
            let problem = Problem::new(
                at.span.clone(),
                "an external input is not a function of time",
            );
            self.findings
                .push(problem.label("leave it out, or leave `external` out"));
        }
        let initial = match &given.initial {
            Some(at) => self.expression(at, &[])?,
            None => zero(),
        };
        Some((name.value.clone(), initial))
    }

    fn driven_components(&mut self, entry: &Entry<Drive>) -> Option<Vec<Expression>> {
        match &entry.value.value {
            Drive::Scalar(formula) => {
                let formula = At {
                    value: formula.clone(),
                    span: entry.value.span.clone(),
                };
                Some(vec![self.expression(&formula, &DRIVE_VARIABLES)?])
            }
            Drive::Motion(motion) => {
                let components = [&motion.x, &motion.v, &motion.a];
                if let Some(initial) = &motion.initial {
                    let problem = Problem::new(
                        initial.span.clone(),
                        "only an external input has an initial value",
                    );
                    self.findings
                        .push(problem.label("add `external`, or leave it out"));
                }
                if components.iter().any(|at| at.is_none()) {
                    let message =
                        "a motion needs `x`, `v` and `a`; an external input needs `external`";
                    self.findings
                        .push(Problem::new(entry.value.span.clone(), message));
                    return None;
                }
                let components =
                    components.map(|at| self.expression(at.as_ref()?, &DRIVE_VARIABLES));
                components.into_iter().collect()
            }
        }
    }

    /// An input that nothing feeds would silently stay at zero.
    fn unfed(&mut self, board: &Switchboard<'_>) {
        for (part, input) in board.unfed() {
            let message = format!("nothing feeds the input `{part}.{}`", input.name.value);
            let problem = Problem::new(input.name.span.clone(), message)
                .label("not connected")
                .help("connect an output to it, give it as a function of time in [excitation], or let a [compensator] use it");
            self.findings.push(problem);
        }
    }

    /// The ports that have tolerances of their own must be sent somewhere.
    pub(super) fn tolerances(&mut self, section: &format::Schedule, parts: &[Checked]) {
        let board = Switchboard::new(parts);
        for entry in &section.implicit.ports {
            board.find(&entry.name, End::From, self.findings);
        }
    }
}
