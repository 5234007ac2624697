//! The section `[trim]`: a steady motion.

use super::Checker;
use super::keys::all;
use crate::format;
use crate::model::Trim;

impl Checker<'_> {
    pub(super) fn trim(&mut self, section: &format::Trim) -> Option<Trim> {
        let hold = section.hold.iter().map(|entry| {
            let value = self.number(&entry.value)?;
            Some((entry.name.value.clone(), entry.name.span.clone(), value))
        });
        let hold = all(hold.collect::<Vec<_>>());
        let known: Vec<String> = self
            .parameters
            .known()
            .into_iter()
            .map(|(n, _)| n)
            .collect();
        let mut free = Vec::with_capacity(section.free.len());
        for name in &section.free {
            if !known.contains(&name.value) {
                let message = format!("there is no parameter `{}`", name.value);
                self.report(&name.span, message)
                    .label("unknown")
                    .suggest(&name.value, known.iter().map(String::as_str));
            } else if free.contains(&name.value) {
                let message = format!("`{}` is free already", name.value);
                self.report(&name.span, message).label("named twice");
            }
            free.push(name.value.clone());
        }
        let period = section.period.as_ref().map(|period| self.number(period));
        let settle = self.number_or(&section.settling_time, 0.0);
        Some(Trim {
            hold: hold?,
            free,
            period: match period {
                Some(period) => Some(period?),
                None => None,
            },
            finds_period: section.find_period.unwrap_or(false),
            settle: settle?,
        })
    }
}
