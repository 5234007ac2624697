//! The sections `[compensator.NAME]`.

use oldham_cosim::{InputPort, OutputPort};

use super::Checker;
use super::keys::read_if;
use super::switchboard::{End, Switchboard};
use crate::compensation::gains::{self, Gains};
use crate::format::{self, Domain, Entry, File, Formula, Method, Named, Targets};
use crate::model::{CompensatorSpec, Way};
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
        let correct = read_if(&section.correct, |correct| {
            let place = board.find(correct, End::To, self.findings)?;
            let by = format!("[compensator.{}]", entry.name.value);
            board.feed(place, correct, &by, self.findings);
            Some((place, correct))
        });
        let given = self.given_gains(entry, source);
        let modes = read_if(&section.modes, |modes| self.count(modes));
        let sender = sender?;
        let correct = correct?;
        if let Some((_, written)) = correct.filter(|(place, _)| place.0 != sender.0) {
            let message = format!(
                "`{}` is not of the subsystem that sends `{}`",
                written.value, force.value
            );
            self.report(&written.span, message)
                .label("other subsystem")
                .help("the force side receives a motion; it is what needs the correction");
            return None;
        }
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
            correct: correct.map(|(place, _)| InputPort(place.1)),
            way,
            continuous: section.domain == Some(Domain::S),
            modes: modes?.map(|count| count as usize),
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
        let (gains, file) = (&section.gains, &section.gains_from);
        self.not_both(("gains", gains), ("gains_from", file))?;
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
        let model = source.locate(&from.span).name;
        let refused = |error: gains::GainsError| {
            self.report(&from.span, error.to_string())
                .label("gains")
                .help("write it with `oldham compensate MODEL --out FILE`");
        };
        let found = gains::read(model, &from.value, &entry.name.value);
        found.map_err(refused).ok().map(Some)
    }

    fn gain_row(&mut self, row: &Named<Formula>) -> Option<Vec<(String, f64)>> {
        let gain =
            |entry: &Entry<Formula>| Some((entry.name.value.clone(), self.number(&entry.value)?));
        row.iter().map(gain).collect()
    }
}
