//! The section `[cockpit]`: eye and instruments.

use super::Checker;
use super::keys::all;
use crate::format;
use crate::model::{Cockpit, Content, Gauge, PartSpec, Seat};
use crate::quantity::{HELP, Unit};
use oldham_multibody::Vec3;

impl Checker<'_> {
    pub(super) fn cockpit<'p>(
        &mut self,
        section: &format::Cockpit,
        parts: impl Iterator<Item = &'p PartSpec>,
    ) -> Option<Cockpit> {
        let eye = section.eye.as_ref().map(|eye| {
            let [x, y, z] = eye.value.each_ref().map(|at| self.number(at));
            Some(Vec3::new(x?, y?, z?))
        });
        if let (Some(eye), None) = (&section.eye, &section.on) {
            self.report(&eye.span, "an eye needs the body that carries it")
                .help("give the node of that body as `on`, such as `on = \"car.chassis\"`");
        }
        let seat = section.on.as_ref().map(|on| {
            let mut known = Vec::new();
            for part in parts {
                let Content::Multibody(spec) = &part.content else {
                    continue;
                };
                let names = spec.sketch.nodes.iter().skip(1);
                for (node, (_, motion)) in names.zip(spec.whole.model.moving_nodes()) {
                    let name = format!("{}.{node}", part.name);
                    if name == on.value {
                        return Some((name, *motion));
                    }
                    known.push(name);
                }
            }
            let message = format!("there is no node `{}`", on.value);
            self.report(&on.span, message)
                .label("unknown node")
                .suggest(&on.value, known.iter().map(String::as_str));
            None
        });
        let seat = match seat {
            Some(seat) => {
                let (node, motion) = seat?;
                let eye = match eye {
                    Some(eye) => Some(motion.rotation.transpose_mul(eye? - motion.position)),
                    None => None,
                };
                Some(Seat { node, eye })
            }
            None => None,
        };
        let gauges = section.gauges.iter().map(|gauge| self.gauge(&gauge.value));
        Some(Cockpit {
            seat,
            gauges: all(gauges.collect::<Vec<_>>())?,
        })
    }

    fn gauge(&mut self, given: &format::Gauge) -> Option<Gauge> {
        let unit = given.unit.as_ref().map(|unit| {
            let parsed = Unit::parse(&unit.value);
            if parsed.is_err() {
                self.report(&unit.span, format!("unknown unit `{}`", unit.value))
                    .help(HELP);
            }
            Some((unit.value.clone(), parsed.ok()?.factor))
        });
        let range = given.range.as_ref().map(|range| {
            let [low, high] = range.value.each_ref().map(|at| self.number(at));
            let (low, high) = (low?, high?);
            if low >= high {
                let message = "a scale goes from its lowest to its highest value";
                self.report(&range.span, message).label("must rise");
                return None;
            }
            Some([low, high])
        });
        let signal = given.signal.as_ref()?.value.clone();
        Some(Gauge {
            label: given
                .label
                .as_ref()
                .map_or_else(|| signal.clone(), |label| label.value.clone()),
            signal,
            unit: match unit {
                Some(unit) => Some(unit?),
                None => None,
            },
            range: match range {
                Some(range) => Some(range?),
                None => None,
            },
        })
    }
}
