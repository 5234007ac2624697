//! What is said of a comparison.

use std::fmt;
use std::path::Path;

use oldham_model::Model;
use serde_json::{Value, json};

use super::reference::Choice;
use super::variants::Alike;
use super::{Signal, Tried};
use crate::fold::fold;
use crate::table::{Table, number};

pub struct Report<'a> {
    pub model: &'a Model,
    pub choice: &'a Choice,
    pub tried: &'a [Tried],
    pub alike: &'a [Alike],
    /// The signal in the picture.
    pub drawn: Option<&'a str>,
    pub out: &'a Path,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: compared with {}\n",
            self.model.name(),
            self.choice.name()
        )?;
        let mut table = Table::new([
            "variant",
            "worst error",
            "of signal",
            "energy error",
            "spurious / J",
            "us per step",
            "",
        ]);
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
        for variant in self.tried {
            let worst = variant.worst();
            table.row([
                variant.name.clone(),
                or_dash(worst.and_then(|signal| signal.error)),
                worst.map_or_else(|| "-".into(), |signal| signal.name.clone()),
                variant.energy_error().map_or_else(|| "-".into(), percent),
                or_dash(variant.outcome.summary.imbalance),
                number(variant.outcome.summary.step_us[0]),
                variant.status().into(),
            ]);
        }
        writeln!(f, "{table}")?;
        for variant in self.tried {
            if let Err(fault) = &variant.outcome.end {
                writeln!(f, "{}\n", fold(&format!("{}: {fault}", variant.name), 2))?;
            }
        }
        for Alike { name, like } in self.alike {
            writeln!(f, "left out: {name}, the same as `{like}`")?;
        }
        let mut said = Vec::new();
        for about in self
            .tried
            .iter()
            .filter_map(|variant| variant.reference.text())
        {
            if !said.contains(&about) {
                writeln!(f, "{}", fold(&about, 2))?;
                said.push(about);
            }
        }
        if !(self.alike.is_empty() && said.is_empty()) {
            writeln!(f)?;
        }
        write!(f, "picture: {}", self.out.display())
    }
}

impl Report<'_> {
    pub fn as_json(&self) -> Value {
        let signal = |signal: &Signal| {
            json!({
                "name": signal.name,
                "unit": signal.unit,
                "error": signal.error,
                "rms": signal.channel.rms(),
                "nrms": signal.channel.nrms().filter(|_| signal.error.is_some()),
            })
        };
        let variant = |variant: &Tried| {
            let settings = variant.settings.iter();
            let worst = variant.worst();
            json!({
                "name": variant.name,
                "set": settings.map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>(),
                "status": variant.status(),
                "fault": variant.outcome.end.as_ref().err().map(ToString::to_string),
                "worst": worst.map(|signal| &signal.name),
                "error": worst.and_then(|signal| signal.error),
                "signals": variant.signals.iter().map(signal).collect::<Vec<_>>(),
                "energy_error": variant.energy_error(),
                "refined": variant.reference.as_json(),
                "summary": variant.outcome.summary,
            })
        };
        let alike = |alike: &Alike| json!({"name": alike.name, "same_as": alike.like});
        json!({
            "command": "compare",
            "model": self.model.name(),
            "status": "fine",
            "reference": self.choice.name(),
            "variants": self.tried.iter().map(variant).collect::<Vec<_>>(),
            "left_out": self.alike.iter().map(alike).collect::<Vec<_>>(),
            "drawn": self.drawn,
            "picture": self.out.display().to_string(),
        })
    }
}

fn percent(fraction: f64) -> String {
    if fraction.abs() < 1e-6 {
        format!("{:.1e} %", 100.0 * fraction)
    } else {
        format!("{} %", number(100.0 * fraction))
    }
}
