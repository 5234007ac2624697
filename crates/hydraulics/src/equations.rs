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

use crate::element::{Chambers, Element};
use crate::network::{Network, Place};

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
    pub unknowns: usize,
    /// The volumes with pistons in the middle, and as they are.
    middle: Vec<f64>,
    present: Vec<f64>,
    /// Pressures of the volumes, and their derivatives by the compression.
    pressures: Vec<[f64; 2]>,
}

/// A pressure, and how it depends on an unknown if it does.
#[derive(Clone, Copy)]
struct Pressure {
    value: f64,
    by: Option<(usize, f64)>,
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
        let mut received = 0;
        let (mut states, mut inputs) = (Vec::new(), Vec::new());
        let next = |counter: &mut usize, wanted: bool| {
            wanted.then(|| {
                *counter += 1;
                *counter - 1
            })
        };
        for named in &network.elements {
            let has_state = matches!(named.value, Element::Line(_) | Element::Accumulator(_));
            states.push(next(&mut unknowns, has_state));
            // A motor receives angle, rate and acceleration.
            inputs.push(match named.value {
                Element::Source { .. } => next(&mut received, true),
                Element::Orifice { is_variable, .. } => next(&mut received, is_variable),
                Element::Chambers(_) => {
                    received += 2;
                    Some(received - 2)
                }
                Element::Motor(_) => {
                    received += 3;
                    Some(received - 2)
                }
                _ => None,
            });
        }
        let sizes = network.volumes.iter().map(|named| named.value.volume);
        let mut middle: Vec<f64> = sizes.collect();
        for chambers in network.cylinders() {
            chambers.add_to(chambers.cylinder.centre, &mut middle);
        }
        Self {
            network: network.clone(),
            states,
            inputs,
            unknowns,
            present: middle.clone(),
            middle,
            pressures: vec![[0.0; 2]; network.volumes.len()],
        }
    }

    /// Takes the lengths of cylinders from the inputs.
    pub fn see(&mut self, inputs: &[f64]) {
        let Self {
            network, present, ..
        } = self;
        if network.cylinders().next().is_none() {
            return;
        }
        for (present, named) in present.iter_mut().zip(&network.volumes) {
            *present = named.value.volume;
        }
        for (named, place) in network.elements.iter().zip(&self.inputs) {
            if let (Element::Chambers(chambers), Some(length)) = (named.value, place) {
                chambers.add_to(inputs[*length], present);
            }
        }
    }

    /// A volume as it is.
    pub fn volume(&self, index: usize) -> f64 {
        self.present[index]
    }

    /// Oil in a volume, counted at zero pressure.
    pub fn content(&self, index: usize, x: &[f64]) -> f64 {
        self.middle[index] * (1.0 + x[index])
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
        log_density(self.compression(index, x[index]).0)
    }

    /// Fills the volumes of cylinders such that they have their initial pressures at the lengths that are seen.
    pub fn fill(&self, x: &mut [f64]) {
        let Network { fluid, volumes, .. } = &self.network;
        for (index, named) in volumes.iter().enumerate() {
            let compression = fluid.log_density(named.value.pressure).exp_m1();
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

    fn pressure(&self, place: Place) -> Pressure {
        match place {
            Place::Volume(i) => Pressure {
                value: self.pressures[i][0],
                by: Some((i, self.pressures[i][1])),
            },
            Place::Tank(i) => Pressure {
                value: self.network.tanks[i].value,
                by: None,
            },
        }
    }

    /// Rates of all unknowns, and their derivatives row by row, in a stage x = known + span · rates: of an accumulator no more
    /// flows out than there is.
    pub fn evaluate(
        &mut self,
        x: &[f64],
        inputs: &[f64],
        Stage { known, span }: Stage<'_>,
        rates: &mut [f64],
        matrix: &mut [f64],
    ) {
        let n = self.unknowns;
        for (index, x) in x[..self.pressures.len()].iter().enumerate() {
            let (compression, ratio) = self.compression(index, *x);
            let (fluid, sigma) = (&self.network.fluid, log_density(compression));
            self.pressures[index] = [
                fluid.pressure(sigma),
                fluid.stiffness(sigma) * (-sigma).exp() * ratio,
            ];
        }
        rates.fill(0.0);
        matrix.fill(0.0);
        for (index, named) in self.network.elements.iter().enumerate() {
            let state = self.states[index];
            match (named.value, state) {
                (Element::Line(line), Some(own)) => {
                    let [from, to] = line.ends.map(|end| self.pressure(end));
                    rates[own] =
                        (from.value - to.value - line.resistance * x[own]) / line.inertance;
                    matrix[own * n + own] -= line.resistance / line.inertance;
                    for (end, sign) in [(from, 1.0), (to, -1.0)] {
                        if let Some((column, slope)) = end.by {
                            matrix[own * n + column] += sign * slope / line.inertance;
                        }
                    }
                    for (end, sign) in line.ends.into_iter().zip([-1.0, 1.0]) {
                        if let Place::Volume(row) = end {
                            rates[row] += sign * x[own];
                            matrix[row * n + own] += sign;
                        }
                    }
                }
                (Element::Accumulator(gas), Some(own)) => {
                    let at = self.pressure(gas.at);
                    let least = -known[own] / span;
                    if gas.conductance * (at.value - gas.precharge) < least {
                        rates[own] = least;
                        if let Some((column, _)) = at.by {
                            rates[column] -= least;
                        }
                        continue;
                    }
                    let (pressure, slope) = gas.gas(x[own]);
                    let flow = gas.conductance * (at.value - pressure);
                    rates[own] = flow;
                    matrix[own * n + own] -= gas.conductance * slope;
                    if let Some((column, by)) = at.by {
                        matrix[own * n + column] += gas.conductance * by;
                        rates[column] -= flow;
                        matrix[column * n + column] -= gas.conductance * by;
                        matrix[column * n + own] += gas.conductance * slope;
                    }
                }
                (element, _) => {
                    let Some(ends) = ends_of(&element) else {
                        continue;
                    };
                    let at = ends.map(|end| self.pressure(end));
                    let input = self.inputs[index].map_or(0.0, |place| inputs[place]);
                    let flow = element.flow(at.map(|p| p.value), input, &self.network.fluid);
                    for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
                        let Place::Volume(row) = end else {
                            continue;
                        };
                        rates[row] += sign * flow.rate;
                        for (pressure, by) in at.iter().zip(flow.by_pressures) {
                            if let Some((column, slope)) = pressure.by {
                                matrix[row * n + column] += sign * by * slope;
                            }
                        }
                    }
                }
            }
        }
        for (row, middle) in self.middle.iter().enumerate() {
            let factor = 1.0 / middle;
            rates[row] *= factor;
            let line = &mut matrix[row * n..(row + 1) * n];
            line.iter_mut().for_each(|entry| *entry *= factor);
        }
    }

    /// The flow through an element, where these are the rates of the unknowns.
    pub fn through(&self, index: usize, x: &[f64], rates: &[f64], inputs: &[f64]) -> Through {
        match (self.network.elements[index].value, self.states[index]) {
            (Element::Line(line), Some(own)) => Through {
                ends: line.ends,
                flow: x[own],
            },
            (Element::Accumulator(gas), Some(own)) => Through {
                ends: [gas.at; 2],
                flow: rates[own],
            },
            (element, _) => {
                let ends = ends_of(&element).expect("all others have two ends");
                let input = self.inputs[index].map_or(0.0, |place| inputs[place]);
                let pressures = ends.map(|end| self.pressure_at(end, x));
                Through {
                    ends,
                    flow: element.flow(pressures, input, &self.network.fluid).rate,
                }
            }
        }
    }
}

impl Chambers {
    /// Adds its chambers at a length to the volumes to which they belong.
    fn add_to(&self, length: f64, volumes: &mut [f64]) {
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
        Element::Orifice { ends, .. } | Element::OneWay { ends, .. } | Element::Source { ends } => {
            Some(*ends)
        }
        Element::Motor(motor) => Some(motor.ends),
        Element::Chambers(chambers) => Some(chambers.ends),
        Element::Line(line) => Some(line.ends),
        Element::Accumulator(_) => None,
    }
}
