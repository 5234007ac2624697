//! The sections `[[connection]]` and `[excitation]`: what feeds which input.

use std::sync::Arc;

use oldham_cosim::{InputPort, OutputPort, Quantity, Scale, Unit};
use oldham_expression::Expression;

use super::Checker;
use super::mirror::mark_mirrored;
use super::part::Checked;
use super::switchboard::{End, Switchboard};
use crate::data::DataFile;
use crate::format::{self, At, Drive, DrivenMotion, Entry, File, Formula, place};
use crate::model::{CompensatorSpec, ConnectionSpec, Course, DrivenInput, ExternalInput, Feedback};
use crate::problem::Problem;
use crate::quantity;
use crate::source::Source;

/// Time is all that a drive depends on.
const DRIVE_VARIABLES: [&str; 1] = ["t"];

/// What feeds the inputs.
#[derive(Default)]
pub(super) struct Wiring {
    pub connections: Vec<ConnectionSpec>,
    pub drives: Vec<DrivenInput>,
    pub compensators: Vec<CompensatorSpec>,
    /// Files that functions of time were read from.
    pub data: Vec<DataFile>,
}

fn is_from_file(entry: &Entry<Drive>) -> bool {
    matches!(&entry.value.value, Drive::Motion(given) if given.file.is_some())
}

/// What to do about ports that do not fit.
fn mismatch_help(sent: &Quantity, taken: &Quantity) -> Option<&'static str> {
    use Quantity::{Rotation, Scalar, Translation};
    match (sent, taken) {
        (Scalar(_), Scalar(_)) => {
            Some("give the connection a `gain`, or the `unit` in which the output counts")
        }
        (Translation | Rotation, Scalar(unit)) if !taken.is_force() && *unit != Unit::ONE => {
            Some("send `displacement`, `velocity` or `acceleration` instead of `motion`")
        }
        (Scalar(_), Translation | Rotation) if !sent.is_force() => Some("send `motion` instead"),
        _ => None,
    }
}

/// The expression that is zero.
fn zero() -> Expression {
    Expression::parse("0", &DRIVE_VARIABLES).expect("a number is an expression")
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
            let driven = self.drive(entry, source, &mut board, &mut wiring.data);
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
        let scale = self.scale(connection, &sent, &taken);
        let are_scalars = matches!((&sent, &taken), (Quantity::Scalar(_), Quantity::Scalar(_)));
        let converts = connection.gain.is_some() || connection.unit.is_some();
        if sent != taken && !(are_scalars && converts) {
            let message = format!(
                "`{}` sends {sent}, but `{}` takes {taken}",
                from.value, to.value
            );
            let problem = Problem::new(to.span.clone(), message).label("other quantity or unit");
            let help = match (
                board.port_of(sender, End::From, &taken),
                mismatch_help(&sent, &taken),
            ) {
                (Some(other), _) => format!("send `{other}` instead"),
                (None, Some(help)) => help.to_owned(),
                (None, None) => {
                    format!("let an output of the sender carry {taken}, or the input take {sent}")
                }
            };
            self.findings.push(problem.help(help));
        }
        Some(ConnectionSpec {
            from: (sender.0, OutputPort(sender.1)),
            to: (receiver.0, InputPort(receiver.1)),
            scale: scale?,
        })
    }

    /// What a connection does to its value.
    fn scale(
        &mut self,
        connection: &format::Connection,
        sent: &Quantity,
        taken: &Quantity,
    ) -> Option<Scale> {
        let gain = match &connection.gain {
            Some(gain) => self.number_where(gain, |gain| gain != 0.0, "must not be zero"),
            None => Some(1.0),
        };
        let offset = self.number_or(&connection.offset, 0.0);
        let factor = match &connection.unit {
            Some(unit) => self.converted(unit, taken),
            None => Some(1.0),
        };
        let scale = Scale {
            gain: gain? * factor?,
            offset: offset?,
        };
        let is_scalable = match sent {
            Quantity::Scalar(_) | Quantity::Translation | Quantity::Rotation => true,
            Quantity::Wrench | Quantity::Array(..) => scale.offset == 0.0,
            Quantity::Motion
            | Quantity::Whole
            | Quantity::Flag
            | Quantity::Matrix { .. }
            | Quantity::Response { .. } => false,
        };
        if scale != Scale::NONE && !is_scalable {
            let keys = [place(&connection.gain), place(&connection.offset)];
            let unit = place(&connection.unit);
            let span = keys.into_iter().flatten().chain(unit).next()?.clone();
            let message = format!("a {sent} cannot be scaled or shifted on its way");
            self.report(&span, message).label("leave it out");
            return None;
        }
        Some(scale)
    }

    /// How many SI units the unit of an output is.
    fn converted(&mut self, at: &At<String>, taken: &Quantity) -> Option<f64> {
        let unit = self.unit(at)?;
        let Quantity::Scalar(expected) = taken else {
            let message = "only single numbers are converted";
            self.report(&at.span, message).label("leave it out");
            return None;
        };
        self.fits(at, expected)?;
        Some(unit.factor)
    }

    /// A unit as it is written must measure what is expected.
    fn fits(&mut self, at: &At<String>, expected: &oldham_cosim::Unit) -> Option<()> {
        let unit = self.unit(at)?;
        let known = quantity::Unit::parse(&expected.0);
        if known.is_ok_and(|known| !unit.fits(&known)) {
            let message = format!("`{}` cannot be converted to {expected}", at.value);
            self.report(&at.span, message)
                .label("measures something else");
            return None;
        }
        Some(())
    }

    fn drive(
        &mut self,
        entry: &Entry<Drive>,
        source: &Source,
        board: &mut Switchboard<'_>,
        data: &mut Vec<DataFile>,
    ) -> Option<DrivenInput> {
        let place = board.find(&entry.name, End::To, self.findings);
        let external = self.external(entry);
        let course = match &external {
            Some(_) => None,
            None => self.driven_course(entry, source, data),
        };
        let place = place?;
        board.feed(place, &entry.name, "[excitation]", self.findings);
        let quantity = board.quantity(place, End::To)?;
        let is_line = matches!(quantity, Quantity::Translation | Quantity::Rotation);
        if let Drive::Motion(given) = &entry.value.value
            && let (Some(_), Some(unit)) = (&given.file, &given.unit)
        {
            self.fits(unit, &quantity.component_unit(0))?;
        }
        let (course, width) = match &external {
            Some(_) => {
                let width = quantity.width();
                (Course::Each(vec![zero(); width]), width)
            }
            None => match course? {
                Course::Each(components) => {
                    let width = components.len();
                    (Course::Each(components), width)
                }
                // What is read from a file may also be a single number.
                Course::Differentiated(value) if is_from_file(entry) && quantity.width() == 1 => {
                    (Course::Each(vec![value]), 1)
                }
                course => (course, if is_line { quantity.width() } else { 0 }),
            },
        };
        let is_spatial = matches!(
            quantity,
            Quantity::Motion
                | Quantity::Wrench
                | Quantity::Matrix { .. }
                | Quantity::Response { .. }
        );
        let is_list = matches!(entry.value.value, Drive::Each(_));
        let misfits = is_list != matches!(quantity, Quantity::Array(..)) && external.is_none();
        if width != quantity.width() || misfits || (external.is_some() && is_spatial) {
            let message = match quantity {
                Quantity::Scalar(_) | Quantity::Whole | Quantity::Flag => {
                    "this input is a single number: give one expression"
                }
                Quantity::Translation | Quantity::Rotation => {
                    "this input is a motion: give `x`, or `x`, `v` and `a`"
                }
                Quantity::Array(..) => {
                    "this input is an array: give a list with one expression for each number"
                }
                Quantity::Motion
                | Quantity::Wrench
                | Quantity::Matrix { .. }
                | Quantity::Response { .. } => {
                    "a motion or a wrench in space cannot be given here: connect an output to it"
                }
            };
            self.report(&entry.value.span, message)
                .label(format!("for `{}`", entry.name.value));
            return None;
        }
        Some(DrivenInput {
            part: place.0,
            port: InputPort(place.1),
            span: entry.value.span.clone(),
            course,
            external: external.map(|mut external| {
                // The initial value, and nothing of the other components.
                external.initial.resize(quantity.width(), 0.0);
                external
            }),
        })
    }

    /// An external input is set and recorded by its name: it must have one of its own.
    fn check_external_name(
        &mut self,
        entry: &Entry<Drive>,
        driven: Option<&DrivenInput>,
        others: &[DrivenInput],
    ) {
        let name_of = |driven: &DrivenInput| driven.external.as_ref().map(|it| it.name.clone());
        let Some(name) = driven.and_then(name_of) else {
            return;
        };
        let is_taken = others
            .iter()
            .any(|other| name_of(other).as_ref() == Some(&name));
        let problem = match is_taken {
            true => "is the name of another external input already",
            false if name.trim().is_empty() => "is no name under which an input could be recorded",
            false => return,
        };
        self.report(&entry.value.span, format!("`{name}` {problem}"))
            .label("give it a name of its own, such as \"driver.steer\"");
    }

    /// The name of an external input, its value until it is set, and how far a driver moves it.
    fn external(&mut self, entry: &Entry<Drive>) -> Option<ExternalInput> {
        let Drive::Motion(given) = &entry.value.value else {
            return None;
        };
        let name = given.external.as_ref()?;
        for at in [&given.x, &given.v, &given.a].into_iter().flatten() {
            self.report(&at.span, "an external input is not a function of time")
                .label("leave it out, or leave `external` out");
        }
        let initial = match &given.initial {
            Some(at) => self.expression(at, &[])?.eval(&[]),
            None => 0.0,
        };
        let range = match &given.range {
            Some(at) => self.range(at, initial)?,
            None => [initial - 1.0, initial + 1.0],
        };
        let full = self.number_or(&given.full_feedback, 1.0)?;
        Some(ExternalInput {
            name: name.value.clone(),
            initial: vec![initial],
            range,
            feedback: given.feedback.as_ref().map(|signal| Feedback {
                signal: signal.value.clone(),
                full,
            }),
        })
    }

    /// Two numbers with the initial value between them.
    fn range(&mut self, given: &At<Vec<At<Formula>>>, initial: f64) -> Option<[f64; 2]> {
        let numbers: Vec<Option<f64>> = given
            .value
            .iter()
            .map(|at| Some(self.expression(at, &[])?.eval(&[])))
            .collect();
        let numbers: Vec<f64> = numbers.into_iter().collect::<Option<_>>()?;
        match numbers[..] {
            [low, high] if low < high && (low..=high).contains(&initial) => Some([low, high]),
            _ => {
                let problem = Problem::new(
                    given.span.clone(),
                    "the range of an external input is its lowest and its highest value",
                );
                let label = format!("the initial value {initial} must not be outside");
                self.findings.push(problem.label(label));
                None
            }
        }
    }

    fn driven_course(
        &mut self,
        entry: &Entry<Drive>,
        source: &Source,
        data: &mut Vec<DataFile>,
    ) -> Option<Course> {
        match &entry.value.value {
            Drive::Scalar(formula) => {
                let formula = At {
                    value: formula.clone(),
                    span: entry.value.span.clone(),
                };
                let value = self.expression(&formula, &DRIVE_VARIABLES)?;
                Some(Course::Each(vec![value]))
            }
            Drive::Each(formulas) => {
                let each = formulas.iter();
                let each: Vec<_> = each
                    .map(|at| self.expression(at, &DRIVE_VARIABLES))
                    .collect();
                each.into_iter().collect::<Option<_>>().map(Course::Each)
            }
            Drive::Motion(motion) => {
                if let Some(path) = &motion.file {
                    return self.course_of_file(motion, path, source, data);
                }
                let components = [&motion.x, &motion.v, &motion.a];
                let initial = motion
                    .initial
                    .as_ref()
                    .map(|at| (&at.span, "an initial value"));
                let range = motion.range.as_ref().map(|at| (&at.span, "a range"));
                let feedback = motion.feedback.as_ref().map(|at| (&at.span, "feedback"));
                for (span, what) in initial.into_iter().chain(range).chain(feedback) {
                    let message = format!("only an external input has {what}");
                    self.report(span, message)
                        .label("add `external`, or leave it out");
                }
                if let [Some(x), None, None] = components {
                    let x = self.expression(x, &DRIVE_VARIABLES)?;
                    return Some(Course::Differentiated(x));
                }
                if components.iter().any(|at| at.is_none()) {
                    let message = "a motion needs `x`, or `x`, `v` and `a`; an external input needs \
                                   `external`, one from a file `file`";
                    self.report(&entry.value.span, message);
                    return None;
                }
                let components =
                    components.map(|at| self.expression(at.as_ref()?, &DRIVE_VARIABLES));
                let components: Option<Vec<Expression>> = components.into_iter().collect();
                components.map(Course::Each)
            }
        }
    }

    /// A function of time from two columns of a file.
    fn course_of_file(
        &mut self,
        given: &DrivenMotion,
        path: &At<String>,
        source: &Source,
        data: &mut Vec<DataFile>,
    ) -> Option<Course> {
        for at in [&given.x, &given.v, &given.a, &given.initial]
            .into_iter()
            .flatten()
        {
            self.report(&at.span, "`file` says it already")
                .label("leave it out");
        }
        let Some(column) = &given.column else {
            let message = "which column of the file is it?";
            self.report(&path.span, message)
                .help("give its heading as `column`, and that of the time as `time`");
            return None;
        };
        let word = |word: &str| At {
            value: word.to_owned(),
            span: path.span.clone(),
        };
        let time = given.time.clone().unwrap_or_else(|| word("t"));
        let unit = given.unit.clone().unwrap_or_else(|| word("1"));
        let list = |value| At {
            value,
            span: path.span.clone(),
        };
        let table = format::Table {
            file: Some(path.clone()),
            columns: Some(list(vec![time, column.clone()])),
            units: Some(list(vec![word("s"), unit])),
            interpolation: given.interpolation,
            outside: given.outside,
            ..format::Table::default()
        };
        let table = self.table(&table, &path.span, source, data)?;
        let tables = [("data", Arc::new(table))];
        let value = Expression::parse_with("data(t)", &DRIVE_VARIABLES, &tables);
        Some(Course::Differentiated(
            value.expect("a table of one number"),
        ))
    }

    /// An input that nothing feeds would silently stay at zero.
    fn unfed(&mut self, board: &Switchboard<'_>) {
        for (part, input) in board.unfed() {
            let message = format!("nothing feeds the input `{part}.{}`", input.name.value);
            self.report(&input.name.span, message)
                .label("not connected")
                .help("connect an output to it, give it as a function of time in [excitation], or let a [compensator] use it");
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
