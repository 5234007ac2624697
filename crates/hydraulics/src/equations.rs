//! The rates of all unknowns of a network, and their derivatives.
//!
//! A volume V with relative density 1 + c that receives the flow Q, counted at zero pressure, obeys V c' = Q. The
//! unknowns are the compressions c of all volumes, then the flows of lines and the oil of accumulators in the order of the
//! elements. The oil of a closed network is a sum of unknowns with constant factors, which any Runge–Kutta method
//! keeps to rounding.
//!
//! Chambers of cylinders make a volume grow and shrink. Its unknown is then the compression x that its oil would have in
//! the volume V₀ with the pistons in the middle: V₀ x' = Q still, and 1 + c = (1 + x) V₀/V. So the rate of the piston appears
//! nowhere, and the oil is kept whatever is received of its motion.
//!
//! A volume that counts [volume](Balance::Volume) has the logarithm σ of its relative density as its unknown: V σ' = Q − V', with
//! V' from the rates of the pistons.
//!
//! Unknowns that share no element, such as chambers between places of constant pressure, are solved for apart: they belong to
//! different [islands](Island).

use crate::element::{Chambers, Element, Opening};
use crate::network::{Balance, Network, Place, Received};

/// Compression of a volume that is void but for a thousandth: less oil changes nothing.
const VOID: f64 = -0.999;

/// Logarithm of the relative density.
fn log_density(compression: f64) -> f64 {
    compression.max(VOID).ln_1p()
}

/// A network with its unknowns laid out.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    pub network: Network,
    /// The unknown of each line and accumulator.
    pub states: Vec<Option<usize>>,
    /// The component of the inputs of each source, motor and variable orifice; of a cylinder that of its length.
    pub inputs: Vec<Option<usize>>,
    /// That of the rate of each cylinder.
    pub rates: Vec<Option<usize>>,
    /// That of the command of each spool.
    pub commands: Vec<Option<usize>>,
    pub unknowns: usize,
    pub islands: Vec<Island>,
    /// Elements between tanks, which belong to no island.
    pub loose: Vec<usize>,
    /// The place of each unknown in its island.
    local: Vec<usize>,
    has_cylinders: bool,
    /// The volumes with pistons in the middle, as they are, and their rates.
    middle: Vec<f64>,
    present: Vec<f64>,
    growths: Vec<f64>,
    /// Which part of each orifice is open; of others what they receive.
    open: Vec<f64>,
    /// Pressures of the volumes, and their derivatives by the unknown.
    pressures: Vec<[f64; 2]>,
    /// What last flowed through each element.
    pub flows: Vec<f64>,
    /// Speed in m/s of a jet per √Pa.
    jet: f64,
}

/// Unknowns that share elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Island {
    pub unknowns: Vec<usize>,
    pub elements: Vec<usize>,
}

/// A pressure, and how it depends on an unknown if it does.
#[derive(Clone, Copy)]
struct Pressure {
    value: f64,
    by: Option<By>,
}

/// A volume, its place in the island, and how its pressure changes with its unknown.
#[derive(Clone, Copy)]
struct By {
    volume: usize,
    place: usize,
    slope: f64,
}

/// A stage of the integrator: x = known + span · rates.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'s> {
    pub known: &'s [f64],
    pub span: f64,
}

/// What flows through an element, between which places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Through {
    pub ends: [Place; 2],
    pub flow: f64,
}

impl Equations {
    pub fn new(network: &Network) -> Self {
        let mut unknowns = network.volumes.len();
        let states = network.elements.iter().map(|named| {
            let has_state = matches!(named.value, Element::Line(_) | Element::Accumulator(_));
            has_state.then(|| {
                unknowns += 1;
                unknowns - 1
            })
        });
        let states: Vec<_> = states.collect();
        let (islands, loose) = islands(network, &states, unknowns);
        let mut local = vec![0; unknowns];
        for island in &islands {
            for (place, unknown) in island.unknowns.iter().enumerate() {
                local[*unknown] = place;
            }
        }
        let elements = network.elements.len();
        let mut equations = Self {
            states,
            inputs: vec![None; elements],
            rates: vec![None; elements],
            commands: vec![None; network.spools.len()],
            unknowns,
            islands,
            loose,
            local,
            has_cylinders: network.cylinders().next().is_some(),
            middle: network.volumes_in_the_middle(),
            present: network.volumes_in_the_middle(),
            growths: vec![0.0; network.volumes.len()],
            open: vec![0.0; elements],
            pressures: vec![[0.0; 2]; network.volumes.len()],
            flows: vec![0.0; elements],
            jet: network.fluid.jet(),
            network: network.clone(),
        };
        equations.lay_out_inputs();
        equations
    }

    fn lay_out_inputs(&mut self) {
        let mut next = 0;
        for port in &self.network.received {
            let (place, width) = match port.value {
                Received::Flow(element) | Received::Opening(element) => {
                    (&mut self.inputs[element], 1)
                }
                Received::Length(element) => (&mut self.inputs[element], 1),
                Received::Rate(element) => (&mut self.rates[element], 1),
                // Angle, rate and acceleration.
                Received::Shaft(element) => {
                    self.inputs[element] = Some(next + 1);
                    next += 3;
                    continue;
                }
                Received::Spool(spool) | Received::Speed(spool) => (&mut self.commands[spool], 1),
            };
            *place = Some(next);
            next += width;
        }
    }

    /// What an element receives.
    pub fn received(&self, element: usize, inputs: &[f64]) -> f64 {
        self.inputs[element].map_or(0.0, |place| inputs[place])
    }

    /// Length and rate that a cylinder receives.
    pub fn moved(&self, cylinder: usize, inputs: &[f64]) -> [f64; 2] {
        let of = |places: &[Option<usize>]| {
            inputs[places[cylinder].expect("a cylinder receives its motion")]
        };
        [of(&self.inputs), of(&self.rates)]
    }

    /// Takes from the inputs and from displacements of spools what does not depend on the unknowns: lengths and rates of
    /// cylinders, openings, flows.
    pub fn see(&mut self, inputs: &[f64], spools: &[f64]) {
        let Self {
            network, present, ..
        } = self;
        for (element, named) in network.elements.iter().enumerate() {
            let input = self.inputs[element].map_or(0.0, |place| inputs[place]);
            self.open[element] = match &named.value {
                Element::Orifice(orifice) => match orifice.opening {
                    Opening::Full => 1.0,
                    Opening::Received => input.clamp(0.0, 1.0),
                    Opening::Edge { spool, edge } => {
                        let valve = &network.spools[spool].value;
                        valve.centre.opening(valve.neutral + spools[spool], edge)
                    }
                },
                _ => input,
            };
        }
        if !self.has_cylinders {
            return;
        }
        for (present, named) in present.iter_mut().zip(&network.volumes) {
            *present = named.value.volume;
        }
        self.growths.fill(0.0);
        for (element, chambers) in network.cylinders() {
            if let Some(length) = self.inputs[element] {
                chambers.add_to(inputs[length], present);
            }
            if let Some(rate) = self.rates[element] {
                let growths = chambers.cylinder.growths(inputs[rate]);
                for (end, growth) in chambers.ends.into_iter().zip(growths) {
                    if let Place::Volume(index) = end {
                        self.growths[index] += growth;
                    }
                }
            }
        }
    }

    /// A volume as it is.
    pub fn volume(&self, index: usize) -> f64 {
        self.present[index]
    }

    fn balance(&self, index: usize) -> Balance {
        self.network.volumes[index].value.balance
    }

    /// Oil in a volume, counted at zero pressure.
    pub fn content(&self, index: usize, x: &[f64]) -> f64 {
        match self.balance(index) {
            Balance::Mass => self.middle[index] * (1.0 + x[index]),
            Balance::Volume => self.present[index] * x[index].exp(),
        }
    }

    /// Compression of what is in a volume, and its derivative by the unknown.
    fn compression(&self, index: usize, x: f64) -> (f64, f64) {
        if self.present[index] == self.middle[index] {
            return (x, 1.0);
        }
        let ratio = self.middle[index] / self.present[index];
        ((1.0 + x) * ratio - 1.0, ratio)
    }

    /// Logarithm of the relative density in a volume.
    pub fn log_density(&self, index: usize, x: &[f64]) -> f64 {
        match self.balance(index) {
            Balance::Mass => log_density(self.compression(index, x[index]).0),
            Balance::Volume => x[index],
        }
    }

    /// Whether the oil at the start depends on the lengths of cylinders that are seen then.
    pub fn is_filled_at_the_start(&self) -> bool {
        let mut volumes = self.network.volumes.iter();
        self.has_cylinders && volumes.any(|named| named.value.balance == Balance::Mass)
    }

    /// Fills the volumes such that they have their initial pressures at the lengths that are seen.
    pub fn fill(&self, x: &mut [f64]) {
        let Network { fluid, volumes, .. } = &self.network;
        for (index, named) in volumes.iter().enumerate() {
            let sigma = fluid.log_density(named.value.pressure);
            if named.value.balance == Balance::Volume {
                x[index] = sigma;
                continue;
            }
            let compression = sigma.exp_m1();
            let ratio = self.present[index] / self.middle[index];
            x[index] = match ratio == 1.0 {
                true => compression,
                false => (1.0 + compression) * ratio - 1.0,
            };
        }
    }

    /// The unknowns at the start.
    pub fn initial(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.network.volumes.len()];
        self.fill(&mut x);
        for named in &self.network.elements {
            match named.value {
                Element::Line(line) => x.push(line.flow),
                Element::Accumulator(gas) => x.push(gas.oil(self.initial_pressure(gas.at))),
                _ => {}
            }
        }
        x
    }

    fn initial_pressure(&self, place: Place) -> f64 {
        match place {
            Place::Volume(i) => self.network.volumes[i].value.pressure,
            Place::Tank(i) => self.network.tanks[i].value,
        }
    }

    /// The pressure at a place.
    pub fn pressure_at(&self, place: Place, x: &[f64]) -> f64 {
        match place {
            Place::Volume(i) => self.network.fluid.pressure(self.log_density(i, x)),
            Place::Tank(i) => self.network.tanks[i].value,
        }
    }

    /// Energy that comes with each unit of flow at a pressure, counted at zero pressure.
    pub fn head_at(&self, p: f64) -> f64 {
        let fluid = &self.network.fluid;
        fluid.enthalpy(p) / fluid.log_density(p).exp()
    }

    /// The same in a volume where it was last evaluated, as that counts flows.
    pub fn head_of_volume(&self, index: usize) -> f64 {
        let [p, _] = self.pressures[index];
        match self.balance(index) {
            Balance::Mass => self.head_at(p),
            Balance::Volume => self.network.fluid.enthalpy(p),
        }
    }

    fn pressure(&self, place: Place) -> Pressure {
        match place {
            Place::Volume(i) => Pressure {
                value: self.pressures[i][0],
                by: Some(By {
                    volume: i,
                    place: self.local[i],
                    slope: self.pressures[i][1],
                }),
            },
            Place::Tank(i) => Pressure {
                value: self.network.tanks[i].value,
                by: None,
            },
        }
    }

    /// Pressures of the volumes of an island.
    fn evaluate_pressures(&mut self, unknowns: &[usize], x: &[f64]) {
        let volumes = self.pressures.len();
        for &index in unknowns.iter().filter(|index| **index < volumes) {
            let fluid = &self.network.fluid;
            self.pressures[index] = match self.balance(index) {
                Balance::Volume => {
                    let (p, stiffness) = fluid.pressure_and_stiffness(x[index]);
                    [p, stiffness]
                }
                Balance::Mass => {
                    let (compression, ratio) = self.compression(index, x[index]);
                    let sigma = log_density(compression);
                    let (p, stiffness) = fluid.pressure_and_stiffness(sigma);
                    [p, stiffness * (-sigma).exp() * ratio]
                }
            };
        }
    }

    /// Rates of the unknowns of an island, and their derivatives row by row, in a stage x = known + span · rates: of an
    /// accumulator no more flows out than there is.
    pub fn evaluate(
        &mut self,
        island: &Island,
        x: &[f64],
        Stage { known, span }: Stage<'_>,
        rates: &mut [f64],
        matrix: &mut [f64],
    ) {
        let n = island.unknowns.len();
        self.evaluate_pressures(&island.unknowns, x);
        for unknown in &island.unknowns {
            rates[*unknown] = 0.0;
        }
        matrix.fill(0.0);
        for &index in &island.elements {
            let own = self.states[index];
            match (&self.network.elements[index].value, own) {
                (Element::Line(line), Some(state)) => {
                    let own = self.local[state];
                    let [from, to] = line.ends.map(|end| self.pressure(end));
                    rates[state] =
                        (from.value - to.value - line.resistance * x[state]) / line.inertance;
                    matrix[own * n + own] -= line.resistance / line.inertance;
                    for (end, sign) in [(from, 1.0), (to, -1.0)] {
                        if let Some(by) = end.by {
                            matrix[own * n + by.place] += sign * by.slope / line.inertance;
                            rates[by.volume] -= sign * x[state];
                            matrix[by.place * n + own] -= sign;
                        }
                    }
                    self.flows[index] = x[state];
                }
                (Element::Accumulator(gas), Some(state)) => {
                    let own = self.local[state];
                    let at = self.pressure(gas.at);
                    let least = -known[state] / span;
                    if gas.conductance * (at.value - gas.precharge) < least {
                        rates[state] = least;
                        if let Some(by) = at.by {
                            rates[by.volume] -= least;
                        }
                        self.flows[index] = least;
                        continue;
                    }
                    let (pressure, slope) = gas.gas(x[state]);
                    let flow = gas.conductance * (at.value - pressure);
                    rates[state] = flow;
                    matrix[own * n + own] -= gas.conductance * slope;
                    if let Some(by) = at.by {
                        let place = by.place;
                        matrix[own * n + place] += gas.conductance * by.slope;
                        rates[by.volume] -= flow;
                        matrix[place * n + place] -= gas.conductance * by.slope;
                        matrix[place * n + own] += gas.conductance * slope;
                    }
                    self.flows[index] = flow;
                }
                (element, _) => {
                    let Some(ends) = ends_of(element) else {
                        continue;
                    };
                    let (from, to) = (self.pressure(ends[0]), self.pressure(ends[1]));
                    let flow = element.flow([from.value, to.value], self.open[index], self.jet);
                    self.flows[index] = flow.rate;
                    let [by_from, by_to] = flow.by_pressures;
                    if let Some(by) = from.by {
                        rates[by.volume] -= flow.rate;
                        matrix[by.place * n + by.place] -= by_from * by.slope;
                        if let Some(other) = to.by {
                            matrix[by.place * n + other.place] -= by_to * other.slope;
                            matrix[other.place * n + by.place] += by_from * by.slope;
                        }
                    }
                    if let Some(by) = to.by {
                        rates[by.volume] += flow.rate;
                        matrix[by.place * n + by.place] += by_to * by.slope;
                    }
                }
            }
        }
        for (row, &volume) in island.unknowns.iter().enumerate() {
            if volume >= self.middle.len() {
                continue;
            }
            let factor = match self.balance(volume) {
                Balance::Mass => 1.0 / self.middle[volume],
                Balance::Volume => {
                    rates[volume] -= self.growths[volume];
                    1.0 / self.present[volume]
                }
            };
            rates[volume] *= factor;
            let line = &mut matrix[row * n..(row + 1) * n];
            line.iter_mut().for_each(|entry| *entry *= factor);
        }
    }

    /// Finds what flows between tanks.
    pub fn evaluate_loose(&mut self) {
        for index in 0..self.loose.len() {
            let element = self.loose[index];
            let value = &self.network.elements[element].value;
            let Some(ends) = ends_of(value) else {
                continue;
            };
            let pressures = ends.map(|end| self.pressure(end).value);
            let flow = value.flow(pressures, self.open[element], self.jet);
            self.flows[element] = flow.rate;
        }
    }

    /// What last flowed through an element.
    pub fn through(&self, index: usize) -> Through {
        let element = &self.network.elements[index].value;
        let ends = match element {
            Element::Accumulator(gas) => [gas.at; 2],
            _ => ends_of(element).expect("all others have two ends"),
        };
        Through {
            ends,
            flow: self.flows[index],
        }
    }
}

/// Unknowns that share elements, each set with its elements, and elements that belong to none.
fn islands(
    network: &Network,
    states: &[Option<usize>],
    unknowns: usize,
) -> (Vec<Island>, Vec<usize>) {
    let mut leaders: Vec<usize> = (0..unknowns).collect();
    let members = |index: usize| {
        let element = &network.elements[index].value;
        let ends = match element {
            // Its chambers share nothing but the motion.
            Element::Chambers(_) => Vec::new(),
            Element::Accumulator(gas) => vec![gas.at],
            _ => ends_of(element).map_or_else(Vec::new, Vec::from),
        };
        let volumes = ends.into_iter().filter_map(|end| match end {
            Place::Volume(volume) => Some(volume),
            Place::Tank(_) => None,
        });
        volumes.chain(states[index]).collect::<Vec<usize>>()
    };
    for index in 0..network.elements.len() {
        let members = members(index);
        for pair in members.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|unknown| leaders[unknown]);
            let (least, most) = (a.min(b), a.max(b));
            for leader in leaders.iter_mut().filter(|leader| **leader == most) {
                *leader = least;
            }
        }
    }
    let mut islands: Vec<Island> = Vec::new();
    let mut places = vec![None; unknowns];
    for unknown in 0..unknowns {
        let place = *places[leaders[unknown]].get_or_insert_with(|| {
            islands.push(Island::default());
            islands.len() - 1
        });
        islands[place].unknowns.push(unknown);
    }
    let mut loose = Vec::new();
    for (index, named) in network.elements.iter().enumerate() {
        match members(index).first() {
            Some(unknown) => {
                let place = places[leaders[*unknown]].expect("every unknown has an island");
                islands[place].elements.push(index);
            }
            None if matches!(named.value, Element::Chambers(_)) => {}
            None => loose.push(index),
        }
    }
    (islands, loose)
}

impl Chambers {
    /// Adds its chambers at a length to the volumes to which they belong.
    pub(crate) fn add_to(&self, length: f64, volumes: &mut [f64]) {
        for (end, chamber) in self.ends.into_iter().zip(self.cylinder.volumes(length)) {
            if let Place::Volume(index) = end {
                volumes[index] += chamber;
            }
        }
    }
}

/// The ends of an element between two places.
pub(crate) fn ends_of(element: &Element) -> Option<[Place; 2]> {
    match element {
        Element::Orifice(orifice) => Some(orifice.ends),
        Element::OneWay { ends, .. } | Element::Source { ends } => Some(*ends),
        Element::Motor(motor) => Some(motor.ends),
        Element::Chambers(chambers) => Some(chambers.ends),
        Element::Line(line) => Some(line.ends),
        Element::Accumulator(_) => None,
    }
}
