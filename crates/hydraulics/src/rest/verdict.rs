//! Whether what was found is a rest; if not, what moves and why.

use crate::element::Element;
use crate::network::Place;

use super::Search;

/// Change of a pressure in the last step, relative to the largest, beyond which it finds no rest.
const SETTLED: f64 = 1e-6;
/// Rest is what takes less oil than this fraction of the largest flow.
const REST: f64 = 1e-9;

impl Search<'_> {
    /// Pumps into a closed volume find no end, nor does the flow between two tanks through a line without resistance.
    pub(super) fn is_settled(&self) -> Result<(), String> {
        let volumes = self.network.volumes.len();
        let change = |unknown: usize| self.x[unknown] - self.reference[unknown];
        let allowed = SETTLED * self.pressure_scale;
        if let Some(index) = (0..volumes).find(|&index| change(index).abs() > allowed) {
            return Err(format!(
                "the pressure of `{}` finds no rest: {}, and nothing balances that",
                self.network.volumes[index].name,
                self.flows_at(&[Place::Volume(index)])
            ));
        }
        for (unknown, (index, _)) in (volumes..).zip(&self.ways) {
            let named = &self.network.elements[*index];
            let Element::Line(line) = named.value else {
                continue;
            };
            let accelerating = line.inertance / self.duration * change(unknown);
            if accelerating.abs() > allowed {
                return Err(format!(
                    "the flow through `{}` finds no rest: {accelerating:.4e} Pa drive it, and it has no resistance",
                    named.name
                ));
            }
        }
        Ok(())
    }

    /// Nothing creeps.
    pub(super) fn is_held(&self) -> Result<(), String> {
        let [largest, _] = self.flows();
        let rest = REST * largest + self.compressing();
        let mut texts = Vec::new();
        for one in &self.bearers {
            let rate = self.rate_of(one);
            if one.displacement() * rate.abs() <= rest {
                continue;
            }
            let (name, [force, speed]) = (one.name, one.units);
            let flows = self.flows_at(&one.ends);
            let load = one.force;
            texts.push(format!(
                "under its load of {load:.4e} {force} `{name}` moves at {rate:.4e} {speed}: {flows}"
            ));
        }
        match texts.is_empty() {
            true => Ok(()),
            false => Err(texts.join("; ")),
        }
    }

    /// Flow in m³/s that volumes still take in the last step while they count as settled.
    fn compressing(&self) -> f64 {
        let capacity: f64 = self.capacities.iter().sum();
        SETTLED * self.pressure_scale * capacity / self.duration
    }

    /// What flows at these places, in words.
    fn flows_at(&self, places: &[Place]) -> String {
        let mut texts = Vec::new();
        let is_there = |end: &Place| matches!(end, Place::Volume(_)) && places.contains(end);
        for (way, (index, ends)) in self.ways.iter().enumerate() {
            let rate = self.flow(way).rate;
            if ends.iter().any(is_there) && rate != 0.0 {
                let name = &self.network.elements[*index].name;
                texts.push(format!("{rate:.4e} m³/s through `{name}`"));
            }
        }
        match texts.is_empty() {
            true => "nothing flows".into(),
            false => texts.join(", "),
        }
    }

    /// All pressures are such that the fluid bears.
    pub(super) fn is_liquid(&self) -> Result<(), String> {
        let fluid = &self.network.fluid;
        let possible = fluid.cavitation..=fluid.limit();
        for (volume, p) in self.network.volumes.iter().zip(&self.x) {
            if !possible.contains(p) {
                return Err(format!(
                    "to carry the load, `{}` would need a pressure of {p:.6e} Pa; the fluid bears from {} Pa (cavitation) to {} Pa",
                    volume.name,
                    fluid.cavitation,
                    fluid.limit()
                ));
            }
        }
        Ok(())
    }

    /// Pressures that are wanted do not depend on where the search began.
    pub(super) fn is_determined(&mut self, wanted: &[bool]) -> Result<(), String> {
        for (index, volume) in self.network.volumes.iter().enumerate() {
            if !wanted[index] {
                continue;
            }
            self.assemble();
            self.right.fill(0.0);
            self.right[index] = self.yield_of(index);
            if !self.solve() || self.right[index].abs() > 1e-3 {
                return Err(format!(
                    "valves and loads leave the pressure of `{}` open: give it as a number",
                    volume.name
                ));
            }
        }
        Ok(())
    }

    /// Flows and loads leave something open.
    pub(super) fn is_open(&self) -> String {
        let volumes = self.network.volumes.iter().zip(&self.yielding);
        let wanted = volumes.filter(|(_, yielding)| **yielding > 1.0);
        let names: Vec<String> = wanted
            .map(|(volume, _)| format!("`{}`", volume.name))
            .collect();
        match names.is_empty() {
            true => "its pressures are not determined: valves and loads leave them open".into(),
            false => format!(
                "valves and loads leave pressures open: give some of {} as numbers",
                names.join(", ")
            ),
        }
    }
}
