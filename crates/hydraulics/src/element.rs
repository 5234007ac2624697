//! The elements of a network: what flows through them, and how that changes with the pressures at their ends.

use crate::cylinder::Cylinder;
use crate::network::Place;
use crate::valve::Edge;

/// Pressure difference in Pa below which flow through an orifice is laminar.
const LAMINAR: f64 = 1e3;

/// What connects volumes and tanks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// A sharp edge.
    Orifice(Orifice),
    /// Lets oil pass one way, in proportion to the pressure difference beyond that at which it opens: a check valve, a
    /// relief valve.
    OneWay {
        /// The only direction of flow.
        ends: [Place; 2],
        /// Pressure difference in Pa at which it opens.
        opens: f64,
        /// In m³/(s Pa).
        conductance: f64,
    },
    /// A flow that is given from outside, whatever the pressures: an ideal pump.
    Source {
        /// Direction of positive flow.
        ends: [Place; 2],
    },
    /// A line with inertia and laminar friction.
    Line(Line),
    /// A gas accumulator.
    Accumulator(Accumulator),
    /// A motor, or a pump with a shaft.
    Motor(Motor),
    /// A cylinder.
    Chambers(Chambers),
}

/// A sharp edge: Q = discharge · area · √(2 Δp/ρ), laminar where Δp is small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orifice {
    /// Where positive flow comes from and goes to.
    pub ends: [Place; 2],
    /// In m².
    pub area: f64,
    /// Discharge coefficient.
    pub discharge: f64,
    /// How far it is open.
    pub opening: Opening,
    /// Whether nothing flows back.
    pub is_one_way: bool,
}

/// What says which part of an area is open, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// All of it.
    Full,
    /// As it is received.
    Received,
    /// It is an edge of a spool.
    Edge {
        /// Which spool.
        spool: usize,
        /// Which of its edges.
        edge: Edge,
    },
}

impl Orifice {
    /// One that is fully open, in both directions.
    pub fn new(ends: [Place; 2], area: f64, discharge: f64) -> Self {
        Self {
            ends,
            area,
            discharge,
            opening: Opening::Full,
            is_one_way: false,
        }
    }

    /// The same with an opening that is received.
    pub fn variable(self) -> Self {
        Self {
            opening: Opening::Received,
            ..self
        }
    }

    /// Flow of a fluid of this jet where a part of it is open, and what it would be if all were: that is its derivative by the opening.
    pub(crate) fn flow(&self, [from, to]: [f64; 2], open: f64, jet: f64) -> (Flow, f64) {
        let difference = from - to;
        if self.is_one_way && difference <= 0.0 {
            return (Flow::default(), 0.0);
        }
        let full = self.area * self.discharge * jet;
        let (root, slope) = signed_root(difference);
        let factor = open * full;
        let flow = Flow::of_difference(factor * root, factor * slope);
        (flow, full * root)
    }
}

/// A line: inertance · Q' = Δp − resistance · Q. Its compressibility is that of the volumes at its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Direction of positive flow.
    pub ends: [Place; 2],
    /// ρ l/A in kg/m⁴.
    pub inertance: f64,
    /// In Pa s/m³.
    pub resistance: f64,
    /// Flow at the start in m³/s.
    pub flow: f64,
}

/// Gas behind a bladder: p = precharge · (volume/(volume − oil))^exponent. When all oil is out, the bladder closes the neck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulator {
    /// Where it is connected.
    pub at: Place,
    /// Absolute pressure in Pa of the gas without any oil.
    pub precharge: f64,
    /// Volume of that gas in m³.
    pub volume: f64,
    /// Polytropic exponent: 1 isothermal, 1.4 adiabatic.
    pub exponent: f64,
    /// Of its neck, in m³/(s Pa).
    pub conductance: f64,
}

/// Flow is displacement · rate, torque displacement · Δp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Direction of flow when the shaft turns forwards.
    pub ends: [Place; 2],
    /// In m³/rad.
    pub displacement: f64,
    /// Leakage in m³/(s Pa).
    pub leakage: f64,
    /// Viscous friction of the shaft in N m s.
    pub friction: f64,
}

/// A cylinder whose chambers belong to volumes of the network: they grow and shrink with its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chambers {
    /// Where chamber 1, which pulls, and chamber 2, which pushes, belong.
    pub ends: [Place; 2],
    /// Areas, stroke and friction.
    pub cylinder: Cylinder,
}

/// Flow from the first end to the second, and its derivatives by the pressures there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    pub rate: f64,
    pub by_pressures: [f64; 2],
}

impl Flow {
    /// A flow that depends on the pressure difference alone.
    fn of_difference(rate: f64, slope: f64) -> Self {
        Self {
            rate,
            by_pressures: [slope, -slope],
        }
    }
}

impl Element {
    /// Flow through an element without a state of its own. `input` is the given flow, the rate of the shaft, or which part
    /// of it is open; `jet` that of the fluid.
    #[inline]
    pub(crate) fn flow(&self, [from, to]: [f64; 2], input: f64, jet: f64) -> Flow {
        let difference = from - to;
        match *self {
            Self::Orifice(ref orifice) => orifice.flow([from, to], input, jet).0,
            Self::OneWay {
                opens, conductance, ..
            } => match difference > opens {
                true => Flow::of_difference(conductance * (difference - opens), conductance),
                false => Flow::default(),
            },
            Self::Source { .. } => Flow {
                rate: input,
                ..Flow::default()
            },
            Self::Motor(motor) => {
                let turned = motor.displacement * input;
                Flow::of_difference(turned + motor.leakage * difference, motor.leakage)
            }
            Self::Line(_) | Self::Accumulator(_) | Self::Chambers(_) => Flow::default(),
        }
    }
}

impl Accumulator {
    /// Pressure of the gas behind this much oil, and its derivative.
    pub(crate) fn gas(&self, oil: f64) -> (f64, f64) {
        // A hundredth of the gas is as far as any pressure gets.
        let free = self.volume - oil;
        let left = free.clamp(0.01 * self.volume, self.volume);
        let p = self.precharge * (self.volume / left).powf(self.exponent);
        let is_clamped = left != free;
        let slope = if is_clamped {
            0.0
        } else {
            self.exponent * p / left
        };
        (p, slope)
    }

    /// The oil that a pressure presses in.
    pub(crate) fn oil(&self, pressure: f64) -> f64 {
        if pressure <= self.precharge {
            return 0.0;
        }
        self.volume * (1.0 - (self.precharge / pressure).powf(1.0 / self.exponent))
    }

    /// Energy of the gas beyond that of its precharge.
    pub(crate) fn stored(&self, oil: f64) -> f64 {
        let Self {
            precharge,
            volume,
            exponent,
            ..
        } = *self;
        let ratio = volume / (volume - oil).clamp(0.01 * volume, volume);
        match (exponent - 1.0).abs() < 1e-9 {
            true => precharge * volume * ratio.ln(),
            false => precharge * volume / (exponent - 1.0) * (ratio.powf(exponent - 1.0) - 1.0),
        }
    }
}

/// √|Δp| with the sign of Δp, and its derivative; a smooth law below [`LAMINAR`].
fn signed_root(difference: f64) -> (f64, f64) {
    let size = difference.abs();
    if size < LAMINAR {
        let (x, scale) = (size / LAMINAR, LAMINAR.sqrt());
        let root = scale * x * (1.5 - 0.5 * x);
        return (root.copysign(difference), (1.5 - x) / scale);
    }
    let root = size.sqrt();
    (root.copysign(difference), 0.5 / root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::Fluid;

    const GAS: Accumulator = Accumulator {
        at: Place::Volume(0),
        precharge: 5e6,
        volume: 2e-3,
        exponent: 1.4,
        conductance: 1e-9,
    };

    #[test]
    fn gas_follows_its_law_and_stores_the_work_on_it() {
        let oil = GAS.oil(1e7);
        assert!((oil / (2e-3 * (1.0 - 0.5_f64.powf(1.0 / 1.4))) - 1.0).abs() < 1e-14);
        assert!((GAS.gas(oil).0 / 1e7 - 1.0).abs() < 1e-12);
        // The work by Simpson's rule.
        let (n, mut work) = (2000, 0.0);
        for i in 0..n {
            let at = |k: f64| GAS.gas((i as f64 + k) / n as f64 * oil).0;
            work += oil / n as f64 / 6.0 * (at(1e-12) + 4.0 * at(0.5) + at(1.0));
        }
        assert!((GAS.stored(oil) / work - 1.0).abs() < 1e-9);
        let isothermal = Accumulator {
            exponent: 1.0,
            ..GAS
        };
        let oil = isothermal.oil(1e7);
        assert!((oil - 1e-3).abs() < 1e-15);
        assert!((isothermal.stored(oil) - 1e4 * 2.0_f64.ln()).abs() < 1e-6);
    }

    /// Newton's method had a slope where the pressure does not change any more.
    #[test]
    fn gas_that_gets_no_smaller_and_no_larger_has_no_slope() {
        for oil in [-1e-5, 0.25 * GAS.volume, 0.995 * GAS.volume] {
            let d = 1e-9;
            let (p, slope) = GAS.gas(oil);
            let difference = (GAS.gas(oil + d).0 - GAS.gas(oil - d).0) / (2.0 * d);
            assert!(
                (slope - difference).abs() <= 1e-6 * p / GAS.volume,
                "{oil} {slope}"
            );
        }
    }

    #[test]
    fn flow_is_smooth_where_it_becomes_laminar_and_stops_where_it_would_return() {
        let near = |d: f64| signed_root(LAMINAR + d);
        assert!((near(1e-9).0 - near(-1e-9).0).abs() < 1e-9);
        assert!((near(1e-9).1 - near(-1e-9).1).abs() < 1e-9);
        assert!((signed_root(4e6).0 - 2e3).abs() < 1e-12);
        let ends = [Place::Volume(0), Place::Volume(1)];
        let edge = Orifice {
            is_one_way: true,
            ..Orifice::new(ends, 5e-4, 0.67)
        };
        let jet = Fluid::new(850.0, 6.5e-10, 0.0).jet();
        assert_eq!(edge.flow([3e6, 3.1e6], 1.0, jet).0, Flow::default());
        // Eq. 32 of Pikuliński 2026 by hand.
        let expected = 5e-4 * 0.67 * (2.0 * 4.6e6 / 850.0f64).sqrt();
        let flow = edge.flow([7.6e6, 3e6], 1.0, jet).0;
        assert!((flow.rate / expected - 1.0).abs() < 1e-14);
    }

    #[test]
    fn derivatives_are_those_of_the_flows() {
        let ends = [Place::Volume(0), Place::Volume(1)];
        let jet = Fluid::new(850.0, 6.5e-10, 0.0).jet();
        let elements = [
            Element::Orifice(Orifice::new(ends, 1e-5, 0.6)),
            Element::OneWay {
                ends,
                opens: 2e5,
                conductance: 1e-10,
            },
            Element::Motor(Motor {
                ends,
                displacement: 1e-5,
                leakage: 1e-12,
                friction: 0.0,
            }),
        ];
        for element in elements {
            for pressures in [[3e6, 1e6], [1e6, 3e6], [1e6 + 300.0, 1e6]] {
                let flow = element.flow(pressures, 1.0, jet);
                for end in 0..2 {
                    let d = 1e-2;
                    let mut other = pressures;
                    other[end] += d;
                    let slope = (element.flow(other, 1.0, jet).rate - flow.rate) / d;
                    let error = (slope - flow.by_pressures[end]).abs();
                    assert!(
                        error < 1e-4 * slope.abs() + 1e-19,
                        "{element:?} {pressures:?}"
                    );
                }
            }
        }
    }
}
