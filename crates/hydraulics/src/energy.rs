//! What a network stores, loses and is supplied with.

use oldham_cosim::{Energy, EnergyBalance};

use crate::element::{Chambers, Element};
use crate::equations::Through;
use crate::network::{Balance, Network, Place};
use crate::part::NetworkPart;

impl NetworkPart {
    /// Energy that comes with each unit of flow at a place.
    fn head(&self, place: Place) -> f64 {
        match place {
            Place::Volume(volume) => self.scratch.heads[volume],
            Place::Tank(tank) => self.tank_heads[tank],
        }
    }

    /// The same at both ends of an element. A chamber that counts volume receives oil from a tank at its own pressure: what is
    /// lost by throttling before lies outside of the balance, which it would drown.
    fn heads(&self, ends: [Place; 2]) -> [f64; 2] {
        let volumes = &self.equations.network.volumes;
        let counts_volume = |volume: usize| volumes[volume].value.balance == Balance::Volume;
        match ends {
            [Place::Tank(_), Place::Volume(volume)] | [Place::Volume(volume), Place::Tank(_)]
                if counts_volume(volume) =>
            {
                [self.scratch.heads[volume]; 2]
            }
            _ => ends.map(|end| self.head(end)),
        }
    }

    /// Dissipated and supplied power.
    pub(crate) fn powers(&mut self) -> [f64; 2] {
        for (index, head) in self.scratch.heads.iter_mut().enumerate() {
            *head = self.equations.head_of_volume(index);
        }
        let inputs = &self.scratch.inputs;
        let [mut dissipated, mut supplied] = [0.0; 2];
        for (index, named) in self.equations.network.elements.iter().enumerate() {
            if let Element::Chambers(chambers) = &named.value {
                let [passive, from_tanks] = self.cylinder_powers(index, chambers);
                dissipated += passive;
                supplied += from_tanks;
                continue;
            }
            let Through { ends, flow } = self.equations.through(index);
            let [from, to] = self.heads(ends);
            match (&named.value, self.equations.states[index]) {
                (Element::Source { .. }, _) => supplied += flow * (to - from),
                (Element::Accumulator(gas), Some(own)) => {
                    dissipated += flow * (from - gas.gas(self.x[own]).0);
                }
                (Element::Line(line), _) => {
                    let [a, b] = ends.map(|end| self.equations.pressure_at(end, &self.x));
                    let moved = flow * (a - b - line.resistance * flow);
                    dissipated += flow * (from - to) - moved;
                }
                (Element::Motor(_), _) => {
                    let rate = self.equations.received(index, inputs);
                    dissipated += flow * (from - to) - self.torque(index, inputs) * rate;
                }
                _ => dissipated += flow * (from - to),
            }
            let crossing = match named.value {
                Element::Accumulator(gas) => [Some((gas.at, flow * from)), None],
                _ => [Some((ends[0], flow * from)), Some((ends[1], -flow * to))],
            };
            for (end, out) in crossing.into_iter().flatten() {
                if matches!(end, Place::Tank(_)) {
                    supplied += out;
                }
            }
        }
        [dissipated, supplied]
    }

    /// What friction and stops take, and what tanks give to chambers that are open to them.
    fn cylinder_powers(&self, index: usize, chambers: &Chambers) -> [f64; 2] {
        let [length, rate] = self.equations.moved(index, &self.scratch.inputs);
        let ends = chambers.ends.into_iter();
        let given = ends
            .zip(chambers.cylinder.growths(rate))
            .map(|(end, growth)| match end {
                Place::Tank(_) => growth * self.equations.pressure_at(end, &self.x),
                Place::Volume(_) => 0.0,
            });
        let passive = chambers.cylinder.passive(length, rate);
        [passive.dissipated, given.sum()]
    }
}

impl EnergyBalance for NetworkPart {
    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        self.see(inputs);
        let mut energy = Energy {
            dissipated: self.work[0],
            supplied: self.work[1],
            ..Energy::default()
        };
        let Network {
            fluid,
            volumes,
            elements,
            ..
        } = &self.equations.network;
        for index in 0..volumes.len() {
            let sigma = self.equations.log_density(index, &self.x);
            energy.potential += fluid.stored(sigma, self.equations.volume(index));
        }
        for (index, named) in elements.iter().enumerate() {
            match (&named.value, &self.equations.states[index]) {
                (Element::Chambers(chambers), _) => {
                    let [length, rate] = self.equations.moved(index, inputs);
                    energy.potential += chambers.cylinder.passive(length, rate).stored;
                }
                (Element::Line(line), Some(own)) => {
                    energy.kinetic += 0.5 * line.inertance * self.x[*own] * self.x[*own];
                }
                (Element::Accumulator(gas), Some(own)) => {
                    energy.potential += gas.stored(self.x[*own]);
                }
                _ => {}
            }
        }
        energy
    }
}
