//! The circuit as a linear system about its present state.

use oldham_cosim::{Linearisable, Linearisation, Subsystem};

use crate::spool::Spool;
use crate::subsystem::{Hydraulics, Received};

/// Step of differences of states: a change of the pressure by some kilopascals; of spools and inputs that
/// are of the order of one.
const STEP: f64 = 1e-6;

impl Hydraulics {
    /// Why there is no linear model, if there is none.
    fn unlinear(&self) -> Option<String> {
        let mut actuators = self.actuators.iter();
        actuators.find_map(|actuator| {
            let name = &actuator.name;
            if actuator.control.is_some() {
                let what = "is led by a speed control, which has limits of its own";
                return Some(format!("has no linear model: its actuator `{name}` {what}"));
            }
            let jumps = actuator.spool.lag == 0.0 && actuator.spool.rate.is_finite();
            let what = "has a spool that moves at one speed or not at all";
            jumps.then(|| format!("has no linear model: its actuator `{name}` {what}"))
        })
    }

    /// Actuators whose spools take time to follow.
    fn following(&self) -> Vec<usize> {
        let follows = |&i: &usize| self.actuators[i].spool != Spool::AT_ONCE;
        (0..self.actuators.len()).filter(follows).collect()
    }

    /// Rates of the states: densities of chambers, then spools that take time.
    fn rates(&self, inputs: &[f64]) -> Vec<f64> {
        let mut rates = Vec::new();
        let spool = |actuator: usize, command: f64| match self.actuators[actuator].spool {
            Spool::AT_ONCE => command,
            _ => self.spools[actuator],
        };
        for actuator in 0..self.actuators.len() {
            let received = Received::of(inputs, actuator);
            let place = spool(actuator, received.command);
            for chamber in 0..2 {
                let around = self.surroundings(actuator, chamber, received, place);
                rates.push(around.rate(self.chambers[2 * actuator + chamber]).0);
            }
        }
        for actuator in self.following() {
            let Spool { rate, lag } = self.actuators[actuator].spool;
            let left = Received::of(inputs, actuator).command - self.spools[actuator];
            rates.push((left / lag).clamp(-rate, rate));
        }
        rates
    }

    /// A state, to be changed.
    fn state_mut(&mut self, state: usize) -> &mut f64 {
        match state.checked_sub(self.chambers.len()) {
            None => &mut self.chambers[state],
            Some(spool) => {
                let actuator = self.following()[spool];
                &mut self.spools[actuator]
            }
        }
    }
}

impl Linearisable for Hydraulics {
    /// By central differences of the equations.
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        if self.unlinear().is_some() {
            return None;
        }
        let states = self.chambers.len() + self.following().len();
        let (width, sent) = (inputs.len(), self.ports().output_width());
        let mut changed = inputs.to_vec();
        // Columns: of rates and outputs by each state, then by each input.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for place in 0..states + width {
            let mut at = |part: &mut Self, step: f64| -> Option<Vec<f64>> {
                match place.checked_sub(states) {
                    None => *part.state_mut(place) += step,
                    Some(input) => changed[input] = inputs[input] + step,
                }
                let mut found = part.rates(&changed);
                let mut outputs = vec![0.0; sent];
                let is_known = part.outputs(t, &changed, &mut outputs).is_ok();
                found.extend(outputs);
                is_known.then_some(found)
            };
            let kept = (place < states).then(|| *self.state_mut(place));
            let restore = |part: &mut Self| {
                if let Some(kept) = kept {
                    *part.state_mut(place) = kept;
                }
            };
            let plus = at(self, STEP);
            restore(self);
            let minus = at(self, -STEP);
            restore(self);
            if let Some(input) = place.checked_sub(states) {
                changed[input] = inputs[input];
            }
            let slope = |(plus, minus): (f64, f64)| (plus - minus) / (2.0 * STEP);
            columns.push(plus?.into_iter().zip(minus?).map(slope).collect());
        }
        let block = |rows: std::ops::Range<usize>, among: std::ops::Range<usize>| -> Vec<f64> {
            let row = |i: usize| columns[among.clone()].iter().map(move |column| column[i]);
            rows.flat_map(row).collect()
        };
        let (rates, outputs) = (0..states, states..states + sent);
        let (own, given) = (0..states, states..states + width);
        Some(Linearisation {
            states,
            a: block(rates.clone(), own.clone()),
            b: block(rates, given.clone()),
            c: block(outputs.clone(), own),
            d: block(outputs, given),
            sample: None,
        })
    }

    fn not_linear(&mut self) -> Option<String> {
        self.unlinear()
    }

    fn state_names(&mut self) -> Vec<String> {
        let chambers = self.actuators.iter().flat_map(|actuator| {
            let name = &actuator.name;
            [format!("{name}.chamber1"), format!("{name}.chamber2")]
        });
        let following = self.following();
        let spools = following.iter();
        let spools = spools.map(|&i| format!("{}.spool", self.actuators[i].name));
        chambers.chain(spools).collect()
    }
}
