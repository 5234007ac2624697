//! The sections `[compensator.NAME]`.

use oldham_cosim::{InputPort, OutputPort};

use super::Checker;
use super::switchboard::{End, Switchboard};
use crate::compensation::gains::{self, Gains};
use crate::format::{self, Domain, Entry, File, Formula, Method, Named, Targets};
use crate::model::{CompensatorSpec, Way};
use crate::problem::Problem;
use crate::source::Source;

impl Checker<'_> {
    pub(super) fn compensators(
        &mut self,
        file: &File,
        source: &Source,
        board: &mut Switchboard<'_>,
    ) -> Vec<CompensatorSpec> {
        let entries = file.compensator.iter();
        entries
            .filter_map(|entry| self.compensator(entry, source, board))
            .collect()
    }

    fn compensator(
        &mut self,
        entry: &Entry<format::Compensator>,
        source: &Source,
        board: &mut Switchboard<'_>,
    ) -> Option<CompensatorSpec> {
        self.name(&entry.name, "a compensator");
        let section = &entry.value.value;
        let force = section.force.as_ref()?;
        let sender = board.find(force, End::From, self.findings);
        let correct = section.correct.as_ref().map(|correct| {
            let place = board.find(correct, End::To, self.findings)?;
            let by = format!("[compensator.{}]", entry.name.value);
            board.feed(place, correct, &by, self.findings);
            Some((place, correct))
        });
        let given = self.given_gains(entry, source);
        let modes = section.modes.as_ref().map(|modes| self.count(modes));
        let sender = sender?;
        let correct = match correct {
            None => None,
            Some(found) => {
                let (place, written) = found?;
                if place.0 != sender.0 {
                    let message = format!(
                        "`{}` is not of the subsystem that sends `{}`",
                        written.value, force.value
                    );
                    self.report(&written.span, message)
                        .label("other subsystem")
                        .help("the force side receives a motion; it is what needs the correction");
                    return None;
                }
                Some(InputPort(place.1))
            }
        };
        let method = section.method.unwrap_or(Method::Assignment);
        let way = match (method, given?) {
            (Method::None, _) => Way::Off,
            (Method::Structural, _) => Way::Structural,
            (Method::Assignment, Some(gains)) => Way::Given(gains),
            (Method::Assignment, None) => Way::Assignment,
        };
        Some(CompensatorSpec {
            name: entry.name.value.clone(),
            span: entry.name.span.clone(),
            force: (sender.0, OutputPort(sender.1)),
            correct,
            way,
            continuous: section.domain == Some(Domain::S),
            modes: match modes {
                Some(count) => Some(count? as usize),
                None => None,
            },
            as_integrated: section.targets == Some(Targets::Monolithic),
            signals: section.signals.as_ref().map(|signals| {
                let names = signals.value.iter();
                names
                    .map(|at| (at.value.clone(), at.span.clone()))
                    .collect()
            }),
        })
    }

    /// Gains that stand in the file or in another one; nothing inside if there are none.
    fn given_gains(
        &mut self,
        entry: &Entry<format::Compensator>,
        source: &Source,
    ) -> Option<Option<Gains>> {
        let section = &entry.value.value;
        if let (Some(_), Some(from)) = (&section.gains, &section.gains_from) {
            let message = "`gains` and `gains_from` say the same thing: give one of them";
            self.report(&from.span, message).label("one too many");
            return None;
        }
        if let Some(table) = &section.gains {
            return Some(Some(Gains {
                correct: self.gain_row(&table.value.force_side)?,
                push: self.gain_row(&table.value.motion_side)?,
                send: self.gain_row(&table.value.sent_force)?,
            }));
        }
        let Some(from) = &section.gains_from else {
            return Some(None);
        };
        match gains::read(
            source.locate(&from.span).name,
            &from.value,
            &entry.name.value,
        ) {
            Ok(found) => Some(Some(found)),
            Err(error) => {
                let problem = Problem::new(from.span.clone(), error.to_string());
                let help = "write it with `oldham compensate MODEL --out FILE`";
                self.findings.push(problem.label("gains").help(help));
                None
            }
        }
    }

    fn gain_row(&mut self, row: &Named<Formula>) -> Option<Vec<(String, f64)>> {
        let gain =
            |entry: &Entry<Formula>| Some((entry.name.value.clone(), self.number(&entry.value)?));
        row.iter().map(gain).collect()
    }
}
