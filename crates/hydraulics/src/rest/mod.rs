//! The pressures that hold a machine.
//!
//! The machine stays where it is, valves and pumps as they are. Cylinders and motors carry given loads f, each with the
//! volumes g that it takes from its ends per unit of way: gᵀp = f. They may still creep, at rates w, and then oil makes room for
//! them: Q(p, q) = g w in each volume, and Δp = R q in each line. So there are as many equations as unknowns p, q and w, and the
//! machine is at rest if no w is left.
//!
//! The flow through each element is an unknown beside the pressures: what leaves one volume enters another one exactly, and the little
//! that a closed volume takes is not rounded off beside the wide ways that lead to it.
//!
//! A cylinder may also be held by its spool: then its rate is none, and the neutral position of the spool is the unknown.
//!
//! It is found by implicit Euler steps V a (p − p₀)/T = Q − g w and L (q − q₀)/T = Δp − R q that grow until nothing changes any
//! more. What neither flows nor loads decide, as the mean pressure of a cylinder that is locked on both sides or the flow around
//! a ring of lines without resistance, so stays as close to its start as it can.

mod bearers;
mod verdict;

use oldham_space::solve_dense;

use crate::element::{Element, Flow, Line, Opening};
use crate::equations::{Equations, ends_of};
use crate::network::{Network, Place};
use bearers::{Bearer, bearers};

/// Durations of the steps in s: from well below any time constant of oil to well beyond.
const DURATIONS: std::ops::RangeInclusive<i32> = -4..=9;
const MOST_ITERATIONS: usize = 60;
/// Valves that open and close in turn are brought to rest by half steps from this iteration on.
const PATIENCE: usize = 12;
/// Change of a pressure, relative to it or to the largest that is given, at which a step is solved for.
const TOLERANCE: f64 = 1e-11;
/// A pressure that has to be found yields this many times more than one that is given.
const YIELDS: f64 = 1e9;
/// Units of flows beside those that occur: pressures are then eliminated by lines and loads, whose entries cancel exactly, and
/// not by flows, in which the inertia of a line would be rounded off.
const LARGE: f64 = 1e9;

/// A cylinder or motor that carries a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Its place among the elements.
    pub element: usize,
    /// In N where it pushes, or N m.
    pub force: f64,
}

/// A spool whose neutral position is wanted: the one that holds a cylinder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Which spool.
    pub spool: usize,
    /// The place of the cylinder among the elements. It carries a load.
    pub cylinder: usize,
}

/// A network whose machine stays where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Resting {
    /// Neutral positions of spools that hold cylinders.
    pub neutrals: Vec<(usize, f64)>,
    /// Pressures of the volumes in Pa.
    pub pressures: Vec<f64>,
    /// Lines by their places among the elements, with what flows through them in m³/s.
    pub flows: Vec<(usize, f64)>,
}

/// Finds the pressures of all volumes under loads, with what the network receives. Those that are `wanted` must follow from
/// loads and valves; others are as given where nothing else decides.
pub fn resting_pressures(
    network: &Network,
    wanted: &[bool],
    loads: &[Load],
    inputs: &[f64],
) -> Result<Vec<f64>, String> {
    Ok(resting(network, wanted, loads, &[], inputs)?.pressures)
}

/// The same with the flows through lines, and with spools that hold cylinders.
pub fn resting(
    network: &Network,
    wanted: &[bool],
    loads: &[Load],
    holding: &[Holding],
    inputs: &[f64],
) -> Result<Resting, String> {
    let mut search = Search::new(network, loads, holding, inputs)?;
    let yields = wanted
        .iter()
        .map(|wanted| if *wanted { YIELDS } else { 1.0 });
    search.yielding = yields.collect();
    if !holding.is_empty() {
        search.carry();
    }
    for exponent in DURATIONS {
        search.reference.copy_from_slice(&search.x);
        search.step(10_f64.powi(exponent))?;
    }
    search.is_settled()?;
    search.is_held()?;
    search.is_liquid()?;
    search.is_determined(wanted)?;
    let (pressures, others) = search.x.split_at(network.volumes.len());
    let flows = search.ways.iter().zip(others);
    let flows = flows.filter_map(|(&(element, _), &flow)| {
        let is_line = matches!(network.elements[element].value, Element::Line(_));
        is_line.then_some((element, flow))
    });
    let neutrals = search.bearers.iter().filter_map(|one| {
        let place = search.first_rate() + one.own_place()?;
        Some((one.held_by?, search.x[place]))
    });
    Ok(Resting {
        neutrals: neutrals.collect(),
        pressures: pressures.to_vec(),
        flows: flows.collect(),
    })
}

struct Search<'n> {
    network: &'n Network,
    inputs: Vec<f64>,
    bearers: Vec<Bearer<'n>>,
    /// Oil in m³ that a volume takes per Pa.
    capacities: Vec<f64>,
    /// The largest pressure in Pa that is given, or that a load needs: what others are compared with.
    pressure_scale: f64,
    /// Elements through which something flows, each with its two ends.
    ways: Vec<(usize, [Place; 2])>,
    /// Pressures of volumes, flows through ways, rates of independent bearers or positions of the spools that hold them; and the
    /// same at the start of a step.
    x: Vec<f64>,
    reference: Vec<f64>,
    yielding: Vec<f64>,
    duration: f64,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl<'n> Search<'n> {
    fn new(
        network: &'n Network,
        loads: &[Load],
        holding: &[Holding],
        inputs: &[f64],
    ) -> Result<Self, String> {
        let equations = Equations::new(network);
        let input = |element: usize| equations.received(element, inputs);
        let elements = network.elements.iter().enumerate();
        for (index, named) in elements.clone() {
            let received = input(index);
            if !received.is_finite() {
                return Err(format!("what `{}` receives is {received}", named.name));
            }
        }
        let (mut bearers, independent) = bearers(network, loads, input)?;
        for one in &mut bearers {
            let holds = |holding: &&Holding| holding.cylinder == one.element;
            one.held_by = holding.iter().find(holds).map(|holding| holding.spool);
        }
        // A motor at rest lets pass what leaks.
        let inputs = elements.clone().map(|(index, named)| match &named.value {
            Element::Motor(_) => 0.0,
            Element::Orifice(orifice) => match orifice.opening {
                Opening::Full => 1.0,
                Opening::Received => input(index).clamp(0.0, 1.0),
                Opening::Edge { spool, edge } => {
                    let valve = &network.spools[spool].value;
                    // One that follows begins where it is neutral.
                    let told = equations.commands[spool].filter(|_| !valve.follows());
                    let moved = told.map_or(0.0, |place| inputs[place]);
                    valve.centre.opening(valve.neutral + moved, edge)
                }
            },
            _ => input(index),
        });
        let inputs = inputs.collect();
        let ways = elements.filter_map(|(index, named)| match named.value {
            // Chambers take what their bearer moves.
            Element::Chambers(_) => None,
            _ => Some((index, ends_of(&named.value)?)),
        });
        let ways: Vec<(usize, [Place; 2])> = ways.collect();
        let mut x: Vec<f64> = network.volumes.iter().map(|v| v.value.pressure).collect();
        let tanks = network.tanks.iter().map(|tank| tank.value);
        let needed = bearers.iter().map(|one| one.force / one.displacement());
        let known = x.iter().copied().chain(tanks).chain(needed);
        let largest = known.fold(0.0, |most: f64, p| most.max(p.abs()));
        let size = x.len() + ways.len() + independent;
        x.resize(size, 0.0);
        for one in &bearers {
            if let (Some(place), Some(spool)) = (one.own_place(), one.held_by) {
                x[size - independent + place] = network.spools[spool].value.neutral;
            }
        }
        // A chamber by itself is as large as with its piston in the middle.
        let middle = network.volumes_in_the_middle().into_iter();
        let sizes = network.volumes.iter().zip(middle);
        let capacities = sizes.map(|(named, middle)| {
            let rigid = named.value.volume;
            network.fluid.a * if rigid > 0.0 { rigid } else { middle }
        });
        Ok(Self {
            network,
            capacities: capacities.collect(),
            inputs,
            bearers,
            pressure_scale: if largest > 0.0 { largest } else { 1.0 },
            ways,
            reference: x.clone(),
            yielding: vec![1.0; network.volumes.len()],
            x,
            duration: 1.0,
            matrix: vec![0.0; size * size],
            right: vec![0.0; size],
        })
    }

    /// Where rates begin among the unknowns.
    fn first_rate(&self) -> usize {
        self.network.volumes.len() + self.ways.len()
    }

    fn pressure(&self, place: Place) -> f64 {
        match place {
            Place::Volume(index) => self.x[index],
            Place::Tank(index) => self.network.tanks[index].value,
        }
    }

    /// Flow through a way as its pressures have it, and its derivatives by these; that of a line is its own.
    fn flow(&self, way: usize) -> Flow {
        let (index, ends) = self.ways[way];
        if let Some((flow, _, _)) = self.held_edge(way) {
            return flow;
        }
        match &self.network.elements[index].value {
            Element::Line(_) => Flow {
                rate: self.x[self.network.volumes.len() + way],
                ..Flow::default()
            },
            element => {
                let pressures = ends.map(|end| self.pressure(end));
                element.flow(pressures, self.inputs[index], self.network.fluid.jet())
            }
        }
    }

    /// Flow through an edge of a spool that holds a cylinder, its derivative by the position of that spool, and the place of
    /// that among the rates.
    fn held_edge(&self, way: usize) -> Option<(Flow, f64, usize)> {
        let (index, ends) = self.ways[way];
        let Element::Orifice(orifice) = &self.network.elements[index].value else {
            return None;
        };
        let Opening::Edge { spool, edge } = orifice.opening else {
            return None;
        };
        let mut bearers = self.bearers.iter();
        let place = bearers
            .find(|one| one.held_by == Some(spool))?
            .own_place()?;
        let valve = &self.network.spools[spool].value;
        let slope = valve.centre.slope(edge);
        // Beyond its housing it goes on along the line, so that the search comes back.
        let position = self.x[self.first_rate() + place];
        let open = valve.centre.opening(valve.neutral, edge) + slope * (position - valve.neutral);
        let pressures = ends.map(|end| self.pressure(end));
        let (flow, full) = orifice.flow(pressures, open, self.network.fluid.jet());
        Some((flow, slope * full, place))
    }

    /// The least change of the pressures, by what volumes yield, with which they carry the loads: where the search for the
    /// positions of spools begins.
    fn carry(&mut self) {
        let volumes = self.network.volumes.len();
        let rows: Vec<&Bearer<'_>> = {
            let bearers = self.bearers.iter();
            bearers.filter(|one| one.own_place().is_some()).collect()
        };
        let n = rows.len();
        let growth = |one: &Bearer<'_>, volume: usize| -> f64 {
            let ends = one.ends.iter().zip(one.growths);
            let own = ends.filter(|(end, _)| **end == Place::Volume(volume));
            own.map(|(_, growth)| growth).sum()
        };
        let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for (i, one) in rows.iter().enumerate() {
            let ends = one.ends.into_iter().zip(one.growths);
            let carried: f64 = ends.map(|(end, growth)| growth * self.pressure(end)).sum();
            right[i] = one.force - carried;
            for (j, other) in rows.iter().enumerate() {
                let shared = (0..volumes).map(|volume| {
                    let yields = self.yielding[volume] / self.capacities[volume];
                    growth(one, volume) * growth(other, volume) * yields
                });
                matrix[i * n + j] = shared.sum();
            }
        }
        if !solve_dense(&mut matrix, &mut right) {
            return;
        }
        let change = |volume: usize| -> f64 {
            let ways = rows.iter().zip(&right);
            let moved: f64 = ways.map(|(one, way)| growth(one, volume) * way).sum();
            moved * self.yielding[volume] / self.capacities[volume]
        };
        let changes: Vec<f64> = (0..volumes).map(change).collect();
        let pressures = self.x.iter_mut().zip(changes);
        pressures.for_each(|(p, change)| *p += change);
    }

    /// Oil in m³ that a volume takes per Pa and s in the present step.
    fn yield_of(&self, volume: usize) -> f64 {
        self.capacities[volume] / (self.duration * self.yielding[volume])
    }

    /// The equations, with what they lack on the right side, each in a unit of its own.
    fn assemble(&mut self) {
        let n = self.x.len();
        let volumes = self.network.volumes.len();
        let first_rate = self.first_rate();
        let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for index in 0..volumes {
            let by = self.yield_of(index);
            matrix[index * n + index] += by;
            right[index] -= by * (self.x[index] - self.reference[index]);
        }
        for (way, (index, ends)) in self.ways.iter().enumerate() {
            let row = volumes + way;
            let through = self.x[row];
            let flow = self.flow(way);
            for ((end, sign), by) in ends.iter().zip([-1.0, 1.0]).zip(flow.by_pressures) {
                let Place::Volume(volume) = *end else {
                    continue;
                };
                right[volume] += sign * through;
                matrix[volume * n + row] -= sign;
                matrix[row * n + volume] -= by;
            }
            matrix[row * n + row] = 1.0;
            right[row] = flow.rate - through;
            if let Some((_, by_position, place)) = self.held_edge(way) {
                matrix[row * n + first_rate + place] -= by_position;
            }
            if let Element::Line(line) = self.network.elements[*index].value {
                self.assemble_line(row, (line, *ends), &mut matrix, &mut right);
            }
        }
        for one in &self.bearers {
            let rate = self.rate_of(one);
            for (end, growth) in one.ends.into_iter().zip(one.growths) {
                let Place::Volume(volume) = end else { continue };
                right[volume] -= growth * rate;
                for (place, share) in &one.shares {
                    if self.is_held_by_a_spool(*place) {
                        continue;
                    }
                    matrix[volume * n + first_rate + place] += share * growth;
                }
            }
            let Some(place) = one.own_place() else {
                continue;
            };
            let row = first_rate + place;
            right[row] += one.force;
            for (end, growth) in one.ends.into_iter().zip(one.growths) {
                right[row] -= growth * self.pressure(end);
                if let Place::Volume(volume) = end {
                    matrix[row * n + volume] += growth;
                }
            }
        }
        (self.matrix, self.right) = (matrix, right);
    }

    /// Whether an independent bearer is held by its spool, whose position takes the place of its rate.
    fn is_held_by_a_spool(&self, place: usize) -> bool {
        let mut bearers = self.bearers.iter();
        bearers.any(|one| one.own_place() == Some(place) && one.held_by.is_some())
    }

    /// The rate at which a bearer moves.
    pub(super) fn rate_of(&self, one: &Bearer<'_>) -> f64 {
        let rates = &self.x[self.first_rate()..];
        let shares = one.shares.iter();
        let free = shares.filter(|(place, _)| !self.is_held_by_a_spool(*place));
        free.map(|(place, share)| share * rates[*place]).sum()
    }

    /// What drives the flow of a line: L (q − q₀)/T + R q = Δp.
    fn assemble_line(
        &self,
        row: usize,
        (line, ends): (Line, [Place; 2]),
        matrix: &mut [f64],
        right: &mut [f64],
    ) {
        let n = self.x.len();
        let inertia = line.inertance / self.duration;
        let [from, to] = ends.map(|end| self.pressure(end));
        matrix[row * n + row] = line.resistance + inertia;
        right[row] = from
            - to
            - line.resistance * self.x[row]
            - inertia * (self.x[row] - self.reference[row]);
        for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
            if let Place::Volume(volume) = end {
                matrix[row * n + volume] += sign;
            }
        }
    }

    /// Flows that count, in m³/s: the largest one, and what the widest way lets pass at the largest pressure.
    fn flows(&self) -> [f64; 2] {
        let volumes = 0..self.network.volumes.len();
        let taken = volumes.map(|volume| self.yield_of(volume));
        let flows = (0..self.ways.len()).map(|way| self.flow(way));
        let (mut largest, mut widest) = (0.0_f64, taken.fold(0.0, f64::max));
        for flow in flows {
            largest = largest.max(flow.rate.abs());
            widest = flow
                .by_pressures
                .iter()
                .fold(widest, |most, by| most.max(by.abs()));
        }
        [largest, widest * self.pressure_scale]
    }

    /// Solves the assembled equations, each unknown in a unit of its own; false where they are singular.
    fn solve(&mut self) -> bool {
        let n = self.x.len();
        let flows = self.flows();
        let flow = LARGE * flows[0].max(flows[1]);
        let mut units = vec![self.pressure_scale; self.network.volumes.len()];
        units.resize(self.first_rate(), flow);
        let independent = self.bearers.iter().filter(|one| one.own_place().is_some());
        units.extend(independent.map(|one| match one.held_by {
            Some(_) => LARGE,
            None => flow / one.displacement(),
        }));
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
        let mut is_found = false;
        for iteration in 0..MOST_ITERATIONS {
            self.assemble();
            if !self.solve() {
                return Err(self.is_open());
            }
            let share = if iteration < PATIENCE { 1.0 } else { 0.5 };
            let changes = self.x.iter_mut().zip(&self.right);
            changes.for_each(|(x, change)| *x += share * change);
            // One more leaves nothing but rounding.
            if is_found {
                return Ok(());
            }
            let mut changes = self.x.iter().zip(&self.right[..volumes]);
            is_found = changes
                .all(|(p, change)| change.abs() <= TOLERANCE * self.pressure_scale.max(p.abs()));
        }
        Err("its valves find no position in which they stay: valves open and close in turn".into())
    }
}
