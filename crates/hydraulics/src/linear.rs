//! The network as a linear system about its present state.
//!
//! States are the unknowns of the network, then what spools have of their own: the position of one that lags behind its
//! command, and what a speed control remembers.

use oldham_cosim::{Linearisable, Linearisation, Subsystem};

use crate::element::Element;
use crate::network::SpoolValve;
use crate::part::NetworkPart;

/// Step of differences, beside states and inputs of the order of one: a change of a pressure by some kilopascals.
const STEP: f64 = 1e-6;
/// A flow in m³/s beside which that of a line is changed.
const FLOW: f64 = 1e-3;
/// Distance of a spool from its command or from the end of its housing that counts as none.
const NEAR: f64 = 1e-9;

/// What a spool adds to the states.
#[derive(Clone, Copy)]
enum Own {
    /// It lags behind its command.
    Position(usize),
    /// What its speed control remembers.
    Memory(usize),
}

impl NetworkPart {
    fn valve(&self, spool: usize) -> &SpoolValve {
        &self.equations.network.spools[spool].value
    }

    /// The command of a spool: its displacement, or the speed that is lacking.
    fn told(&self, spool: usize, inputs: &[f64]) -> f64 {
        let command = self.equations.commands[spool].map_or(0.0, |place| inputs[place]);
        match self.valve(spool).control {
            None => command,
            Some((_, cylinder)) => command - self.equations.moved(cylinder, inputs)[1],
        }
    }

    /// Why there is no linear model here, if there is none.
    fn unlinear(&self, inputs: &[f64]) -> Option<String> {
        let spools = self.equations.network.spools.iter().enumerate();
        let mut reasons = spools.filter_map(|(index, named)| {
            let (valve, place) = (&named.value, self.spools[index]);
            let [least, most] = valve.housing();
            let is_at_end = place < least + NEAR || place > most - NEAR;
            let what = match valve.control {
                Some(_) if valve.spool.lag > 0.0 => {
                    "is led by a speed control and lags behind it, for which there is no linear model"
                }
                Some(_) if is_at_end => "is led by a speed control and at the end of its housing",
                None if valve.spool.lag == 0.0 && valve.spool.rate.is_finite() => {
                    let left = (self.told(index, inputs) - place).abs();
                    (left > NEAR).then_some("moves at its largest speed")?
                }
                _ => return None,
            };
            let name = &named.name;
            Some(format!("has no linear model here: its spool `{name}` {what}"))
        });
        reasons.next()
    }

    fn own(&self) -> Vec<Own> {
        let spools = 0..self.equations.network.spools.len();
        let own = spools.filter_map(|spool| match self.valve(spool) {
            SpoolValve {
                control: Some(_), ..
            } => Some(Own::Memory(spool)),
            valve if valve.spool.lag > 0.0 => Some(Own::Position(spool)),
            _ => None,
        });
        own.collect()
    }

    fn own_mut(&mut self, own: Own) -> &mut f64 {
        match own {
            Own::Position(spool) => &mut self.spools[spool],
            Own::Memory(spool) => &mut self.memories[spool],
        }
    }

    /// Rates of all states, and what is sent.
    fn answers(&mut self, t: f64, inputs: &[f64], own: &[Own]) -> Option<Vec<f64>> {
        for spool in 0..self.spools.len() {
            let told = self.told(spool, inputs);
            let (control, lag) = (self.valve(spool).control, self.valve(spool).spool.lag);
            match control {
                Some((control, _)) => {
                    self.spools[spool] = self.memories[spool] - control.derivative * told;
                }
                None if lag == 0.0 => self.spools[spool] = told,
                None => {}
            }
        }
        self.equations.see(inputs, &self.spools);
        let mut answers = self.rates().to_vec();
        answers.extend(own.iter().map(|own| match *own {
            Own::Position(spool) => {
                let valve = self.valve(spool).spool;
                let left = self.told(spool, inputs) - self.spools[spool];
                (left / valve.lag).clamp(-valve.rate, valve.rate)
            }
            Own::Memory(spool) => {
                let control = self.valve(spool).control.map(|(control, _)| control);
                control.map_or(0.0, |it| -it.proportional * self.told(spool, inputs))
            }
        }));
        let before = answers.len();
        answers.resize(before + self.ports().output_width(), 0.0);
        self.outputs(t, inputs, &mut answers[before..]).ok()?;
        Some(answers)
    }

    /// The step of differences of an unknown.
    fn step_of(&self, unknown: usize) -> f64 {
        let state = |place: &Option<usize>| *place == Some(unknown);
        let element = self.equations.states.iter().position(state);
        STEP * match element.map(|index| &self.equations.network.elements[index].value) {
            Some(Element::Accumulator(gas)) => gas.volume,
            Some(_) => FLOW,
            None => 1.0,
        }
    }
}

impl Linearisable for NetworkPart {
    /// By central differences of the equations.
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        self.refused = self.unlinear(inputs);
        if self.refused.is_some() {
            return None;
        }
        self.see(inputs);
        let kept = (self.x.clone(), self.spools.clone(), self.memories.clone());
        // Its oil stays where it is while lengths change.
        let started = std::mem::replace(&mut self.started, 1);
        let own = self.own();
        let unknowns = self.x.len();
        let (states, width) = (unknowns + own.len(), inputs.len());
        let mut changed = inputs.to_vec();
        // Columns: of rates and outputs by each state, then by each input.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut is_known = true;
        for place in 0..states + width {
            let step = if place < unknowns {
                self.step_of(place)
            } else {
                STEP
            };
            let sides = [step, -step].map(|step| {
                if place < unknowns {
                    self.x[place] += step;
                } else if place < states {
                    *self.own_mut(own[place - unknowns]) += step;
                } else {
                    changed[place - states] += step;
                }
                let found = self.answers(t, &changed, &own);
                self.x.copy_from_slice(&kept.0);
                self.spools.copy_from_slice(&kept.1);
                self.memories.copy_from_slice(&kept.2);
                changed.copy_from_slice(inputs);
                found
            });
            let [Some(plus), Some(minus)] = sides else {
                is_known = false;
                break;
            };
            let pairs = plus.into_iter().zip(minus);
            columns.push(
                pairs
                    .map(|(plus, minus)| (plus - minus) / (2.0 * step))
                    .collect(),
            );
        }
        self.started = started;
        self.see(inputs);
        let sent = self.ports().output_width();
        let block = |rows: std::ops::Range<usize>, among: std::ops::Range<usize>| -> Vec<f64> {
            let row = |i: usize| columns[among.clone()].iter().map(move |column| column[i]);
            rows.flat_map(row).collect()
        };
        let (rates, outputs) = (0..states, states..states + sent);
        let (by_states, by_inputs) = (0..states, states..states + width);
        is_known.then(|| Linearisation {
            states,
            a: block(rates.clone(), by_states.clone()),
            b: block(rates, by_inputs.clone()),
            c: block(outputs.clone(), by_states),
            d: block(outputs, by_inputs),
            sample: None,
        })
    }

    fn not_linear(&mut self) -> Option<String> {
        self.refused.clone()
    }

    fn state_names(&mut self) -> Vec<String> {
        let unknowns = (0..self.x.len()).map(|unknown| self.name_of(unknown));
        let mut names: Vec<String> = unknowns.collect();
        for own in self.own() {
            let (Own::Position(spool) | Own::Memory(spool)) = own;
            names.push(format!(
                "{}.spool",
                self.equations.network.spools[spool].name
            ));
        }
        names
    }
}
