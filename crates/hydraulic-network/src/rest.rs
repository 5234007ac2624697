//! The pressures that hold a machine.
//!
//! The machine stays where it is, valves and pumps as they are. Cylinders and motors carry given loads f, each with the
//! volumes g that it takes from its ends per unit of way: gᵀp = f. They may still creep, at rates w, and then oil makes room for
//! them: Q(p, q) = g w in each volume, and Δp = R q in each line. So there are as many equations as unknowns p, q and w, and the
//! machine is at rest if no w is left.
//!
//! It is found by implicit Euler steps V a (p − p₀)/T = Q − g w that grow until nothing changes any more. What neither flows nor
//! loads decide, as the mean pressure of a cylinder that is locked on both sides, so stays as close to its start as it can.

use oldham_space::solve_dense;

use crate::element::{Element, Flow};
use crate::equations::{Equations, ends_of};
use crate::network::{Network, Place};

/// Durations of the steps in s: from well below any time constant of oil to well beyond.
const DURATIONS: std::ops::RangeInclusive<i32> = -4..=9;
const MOST_ITERATIONS: usize = 60;
/// Valves that open and close in turn are brought to rest by half steps from this iteration on.
const PATIENCE: usize = 12;
/// Change in Pa, and relative to the pressure, at which a step is solved for.
const TOLERANCE: [f64; 2] = [1e-5, 1e-12];
/// Relative change of a pressure in the last step, beyond which it finds no rest.
const SETTLED: f64 = 1e-6;
/// Rates in m/s or rad/s that count as rest.
const CREEP: f64 = 1e-9;
/// A pressure that has to be found yields this many times more than one that is given.
const YIELDS: f64 = 1e9;
/// Units of pressures in Pa, flows in m³/s and rates, for which the equations are well scaled.
const UNITS: [f64; 3] = [1e6, 1e-4, 1e-1];

/// A cylinder or motor that carries a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Its place among the elements.
    pub element: usize,
    /// In N where it pushes, or N m.
    pub force: f64,
}

/// Finds the pressures of all volumes under loads, with what the network receives. Those that are `wanted` must follow from
/// loads and valves; others are as given where nothing else decides.
pub fn resting_pressures(
    network: &Network,
    wanted: &[bool],
    loads: &[Load],
    inputs: &[f64],
) -> Result<Vec<f64>, String> {
    let mut search = Search::new(network, loads, inputs)?;
    let yields = wanted
        .iter()
        .map(|wanted| if *wanted { YIELDS } else { 1.0 });
    search.yielding = yields.collect();
    for exponent in DURATIONS {
        search.reference.copy_from_slice(&search.x);
        search.step(10_f64.powi(exponent))?;
    }
    search.is_settled()?;
    search.is_held()?;
    search.is_liquid()?;
    search.is_determined(wanted)?;
    search.x.truncate(network.volumes.len());
    Ok(search.x)
}

/// An element that carries a load.
struct Bearer<'n> {
    name: &'n str,
    /// Units of its load and of its rate.
    units: [&'static str; 2],
    ends: [Place; 2],
    /// Volumes that it takes from its ends per unit of way.
    growths: [f64; 2],
    /// What its pressures have to exert.
    force: f64,
}

struct Search<'n> {
    network: &'n Network,
    inputs: Vec<f64>,
    bearers: Vec<Bearer<'n>>,
    /// Elements that are lines.
    lines: Vec<usize>,
    /// Pressures of volumes, flows of lines, rates of bearers; and pressures at the start of a step.
    x: Vec<f64>,
    reference: Vec<f64>,
    yielding: Vec<f64>,
    duration: f64,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl<'n> Search<'n> {
    fn new(network: &'n Network, loads: &[Load], inputs: &[f64]) -> Result<Self, String> {
        let places = Equations::new(network).inputs;
        let input = |element: usize| places[element].map_or(0.0, |place| inputs[place]);
        let mut bearers = Vec::new();
        for load in loads {
            let named = &network.elements[load.element];
            let (ends, growths, passive, units) = match named.value {
                Element::Chambers(chambers) => {
                    let cylinder = chambers.cylinder;
                    let stop = cylinder.passive(input(load.element), 0.0).force;
                    (chambers.ends, cylinder.growths(1.0), stop, ["N", "m/s"])
                }
                Element::Motor(motor) => {
                    let d = motor.displacement;
                    (motor.ends, [d, -d], 0.0, ["N.m", "rad/s"])
                }
                _ => continue,
            };
            bearers.push(Bearer {
                name: &named.name,
                units,
                ends,
                growths,
                force: load.force - passive,
            });
        }
        let elements = network.elements.iter().enumerate();
        // A motor at rest lets pass what leaks.
        let inputs = elements.clone().map(|(index, named)| match named.value {
            Element::Motor(_) => 0.0,
            _ => input(index),
        });
        let inputs = inputs.collect();
        let lines = elements.filter(|(_, named)| matches!(named.value, Element::Line(_)));
        let lines: Vec<usize> = lines.map(|(index, _)| index).collect();
        let mut x: Vec<f64> = network.volumes.iter().map(|v| v.value.pressure).collect();
        let size = x.len() + lines.len() + bearers.len();
        x.resize(size, 0.0);
        let search = Self {
            network,
            inputs,
            bearers,
            lines,
            reference: x.clone(),
            yielding: vec![1.0; network.volumes.len()],
            x,
            duration: 1.0,
            matrix: vec![0.0; size * size],
            right: vec![0.0; size],
        };
        search
            .bearers
            .iter()
            .try_for_each(|one| search.can_carry(one))?;
        Ok(search)
    }

    /// Two tanks exert what they exert.
    fn can_carry(&self, one: &Bearer<'_>) -> Result<(), String> {
        if one.ends.iter().any(|end| matches!(end, Place::Volume(_))) {
            return Ok(());
        }
        let exerted: f64 = (0..2)
            .map(|i| one.growths[i] * self.pressure(one.ends[i]))
            .sum();
        Err(format!(
            "`{}` lies between tanks, which push with {exerted:.4e} {}, and its load is {:.4e}: lead one of its ends to a volume",
            one.name, one.units[0], one.force
        ))
    }

    fn pressure(&self, place: Place) -> f64 {
        match place {
            Place::Volume(index) => self.x[index],
            Place::Tank(index) => self.network.tanks[index].value,
        }
    }

    /// Flow through an element, and its derivatives by the pressures at its ends.
    fn flow(&self, index: usize) -> Flow {
        let element = &self.network.elements[index].value;
        if let Some(line) = self.lines.iter().position(|line| *line == index) {
            return Flow {
                rate: self.x[self.network.volumes.len() + line],
                ..Flow::default()
            };
        }
        match ends_of(element) {
            Some(ends) => {
                let pressures = ends.map(|end| self.pressure(end));
                element.flow(pressures, self.inputs[index], &self.network.fluid)
            }
            None => Flow::default(),
        }
    }

    /// Oil in m³ that a volume takes per Pa and s in the present step.
    fn yield_of(&self, volume: usize) -> f64 {
        let capacity = self.network.volumes[volume].value.volume * self.network.fluid.a;
        capacity / (self.duration * self.yielding[volume])
    }

    /// The equations, with what they lack on the right side, each in a unit of its own.
    fn assemble(&mut self) {
        let n = self.x.len();
        let volumes = self.network.volumes.len();
        let first_rate = volumes + self.lines.len();
        let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for index in 0..volumes {
            let by = self.yield_of(index);
            matrix[index * n + index] += by;
            right[index] -= by * (self.x[index] - self.reference[index]);
        }
        let mut line = volumes;
        for (index, named) in self.network.elements.iter().enumerate() {
            let Some(ends) = ends_of(&named.value) else {
                continue;
            };
            let flow = self.flow(index);
            for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
                let Place::Volume(row) = end else { continue };
                right[row] += sign * flow.rate;
                for (other, by) in ends.into_iter().zip(flow.by_pressures) {
                    if let Place::Volume(column) = other {
                        matrix[row * n + column] -= sign * by;
                    }
                }
                if let Element::Line(_) = named.value {
                    matrix[row * n + line] -= sign;
                    matrix[line * n + row] = -sign;
                }
            }
            if let Element::Line(given) = named.value {
                let [from, to] = ends.map(|end| self.pressure(end));
                matrix[line * n + line] = -given.resistance;
                right[line] = given.resistance * self.x[line] - (from - to);
                line += 1;
            }
        }
        for (place, one) in self.bearers.iter().enumerate() {
            let row = first_rate + place;
            right[row] += one.force;
            for (end, growth) in one.ends.into_iter().zip(one.growths) {
                right[row] -= growth * self.pressure(end);
                if let Place::Volume(volume) = end {
                    matrix[row * n + volume] += growth;
                    matrix[volume * n + row] += growth;
                    right[volume] -= growth * self.x[row];
                }
            }
        }
        (self.matrix, self.right) = (matrix, right);
    }

    /// Solves the assembled equations; false where they are singular.
    fn solve(&mut self) -> bool {
        let n = self.x.len();
        let kinds = [
            self.network.volumes.len(),
            self.lines.len(),
            self.bearers.len(),
        ];
        let units = kinds.into_iter().zip(UNITS);
        let units: Vec<f64> = units.flat_map(|(count, unit)| vec![unit; count]).collect();
        for (line, right) in self.matrix.chunks_exact_mut(n).zip(&mut self.right) {
            let entries = line.iter_mut().zip(&units);
            entries.for_each(|(entry, unit)| *entry *= unit);
            let largest = line
                .iter()
                .fold(0.0_f64, |most, entry| most.max(entry.abs()));
            if largest > 0.0 {
                line.iter_mut().for_each(|entry| *entry /= largest);
                *right /= largest;
            }
        }
        let is_solved = solve_dense(&mut self.matrix, &mut self.right);
        let found = self.right.iter_mut().zip(&units);
        found.for_each(|(value, unit)| *value *= unit);
        is_solved && self.right.iter().all(|value| value.is_finite())
    }

    /// A step of this duration, by Newton's method.
    fn step(&mut self, duration: f64) -> Result<(), String> {
        self.duration = duration;
        let volumes = self.network.volumes.len();
        for iteration in 0..MOST_ITERATIONS {
            self.assemble();
            if !self.solve() {
                return Err(self.contradiction());
            }
            let share = if iteration < PATIENCE { 1.0 } else { 0.5 };
            let mut is_found = true;
            for (unknown, change) in self.right.iter().enumerate() {
                self.x[unknown] += share * change;
                let allowed = TOLERANCE[0] + TOLERANCE[1] * self.x[unknown].abs();
                is_found &= unknown >= volumes || change.abs() <= allowed;
            }
            if is_found {
                return Ok(());
            }
        }
        Err("its valves find no position in which they stay: valves open and close in turn".into())
    }

    fn contradiction(&self) -> String {
        let names: Vec<String> = self
            .bearers
            .iter()
            .map(|one| format!("`{}`", one.name))
            .collect();
        format!(
            "the loads of {} are not independent: the same pressures have to carry them",
            names.join(", ")
        )
    }

    /// Pumps into a closed volume find no end.
    fn is_settled(&self) -> Result<(), String> {
        let mut volumes = self.network.volumes.iter().enumerate();
        let rises = |&(index, _): &(usize, _)| {
            let change = self.x[index] - self.reference[index];
            change.abs() > SETTLED * self.reference[index].abs().max(1e5)
        };
        let Some((index, volume)) = volumes.find(rises) else {
            return Ok(());
        };
        Err(format!(
            "the pressure of `{}` finds no rest: {}, and nothing balances that",
            volume.name,
            self.flows_at(&[Place::Volume(index)])
        ))
    }

    /// Nothing creeps.
    fn is_held(&self) -> Result<(), String> {
        let first = self.network.volumes.len() + self.lines.len();
        let moving = self.bearers.iter().zip(&self.x[first..]);
        let moving = moving.filter(|(_, rate)| rate.abs() > CREEP);
        let texts: Vec<String> = moving
            .map(|(one, rate)| {
                let (name, [force, speed]) = (one.name, one.units);
                let flows = self.flows_at(&one.ends);
                let load = one.force;
                format!("under its load of {load:.4e} {force} `{name}` moves at {rate:.4e} {speed}: {flows}")
            })
            .collect();
        match texts.is_empty() {
            true => Ok(()),
            false => Err(texts.join("; ")),
        }
    }

    /// What flows at these places, in words.
    fn flows_at(&self, places: &[Place]) -> String {
        let mut texts = Vec::new();
        for (index, named) in self.network.elements.iter().enumerate() {
            let is_there = |end: &Place| matches!(end, Place::Volume(_)) && places.contains(end);
            let Some(ends) = ends_of(&named.value) else {
                continue;
            };
            let rate = self.flow(index).rate;
            if ends.iter().any(is_there) && rate != 0.0 {
                texts.push(format!("{rate:.4e} m³/s through `{}`", named.name));
            }
        }
        match texts.is_empty() {
            true => "nothing flows".into(),
            false => texts.join(", "),
        }
    }

    /// All pressures are such that the fluid bears.
    fn is_liquid(&self) -> Result<(), String> {
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
    fn is_determined(&mut self, wanted: &[bool]) -> Result<(), String> {
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
}
