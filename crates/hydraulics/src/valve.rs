//! A control valve: a spool that opens one way as it closes the other.

use crate::circuit::Supply;
use crate::fluid::Fluid;

/// Pressure difference in Pa below which flow through an orifice is laminar.
const LAMINAR: f64 = 1e3;

/// A four-way valve. Its spool is at κ, from 0 to 1: towards 1 the pump feeds chamber 1 and the tank takes from
/// chamber 2, towards 0 the other way round. Nothing flows back into the pump or out of the tank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valve {
    /// Area of the fully open valve in m².
    pub area: f64,
    /// Discharge coefficient.
    pub discharge: f64,
    /// What it does in the middle.
    pub centre: Centre,
}

/// What a valve does with its spool in the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Centre {
    /// It is never quite closed: κ of the area on one way and 1 - κ on the other.
    Open,
    /// All ways are closed until the spool has left the middle by this fraction of its way to either end.
    Closed {
        /// From 0 to 1.
        overlap: f64,
    },
}

/// Small valves at a chamber, besides the one that controls it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SafetyValves {
    /// Opens to the tank where the pressure rises too far.
    pub relief: Option<Relief>,
    /// A check valve from the tank, which opens where the pressure falls below that of the tank: its conductance in
    /// m³/(s Pa).
    pub makeup: Option<f64>,
}

/// A relief valve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relief {
    /// Absolute pressure in Pa at which it opens.
    pub pressure: f64,
    /// Flow per pressure beyond that, in m³/(s Pa).
    pub conductance: f64,
}

/// Volume flow into a chamber, and its derivative by the pressure there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flow {
    pub inflow: f64,
    pub by_pressure: f64,
}

impl Valve {
    /// A valve with an open centre, of this full area and discharge coefficient.
    pub fn new(area: f64, discharge: f64) -> Self {
        Self {
            area,
            discharge,
            centre: Centre::Open,
        }
    }

    /// The same with a closed centre.
    pub fn closed(self, overlap: f64) -> Self {
        Self {
            centre: Centre::Closed { overlap },
            ..self
        }
    }

    /// How far the ways of a chamber to pump and tank are open, as fractions of the area.
    pub(crate) fn openings(&self, spool: f64, chamber: usize) -> [f64; 2] {
        let spool = spool.clamp(0.0, 1.0);
        let towards = [spool, 1.0 - spool][chamber];
        match self.centre {
            Centre::Open => [towards, 1.0 - towards],
            Centre::Closed { overlap } => {
                let away = 2.0 * towards - 1.0;
                let open = ((away.abs() - overlap) / (1.0 - overlap)).max(0.0);
                if away > 0.0 { [open, 0.0] } else { [0.0, open] }
            }
        }
    }

    /// Flow into a chamber whose ways to pump and tank are open by these fractions (Pikuliński 2026,
    /// Eq. 32, 33, 35, 36).
    pub(crate) fn flow(&self, open: [f64; 2], p: f64, supply: &Supply, fluid: &Fluid) -> Flow {
        let factor = self.area * self.discharge * (2.0 / fluid.density).sqrt();
        let (from_pump, pump_slope) = root(supply.pump - p);
        let (to_tank, tank_slope) = root(p - supply.tank);
        Flow {
            inflow: factor * (open[0] * from_pump - open[1] * to_tank),
            by_pressure: -factor * (open[0] * pump_slope + open[1] * tank_slope),
        }
    }
}

impl SafetyValves {
    /// Flow into a chamber.
    pub(crate) fn flow(&self, p: f64, supply: &Supply) -> Flow {
        let mut flow = Flow {
            inflow: 0.0,
            by_pressure: 0.0,
        };
        if let Some(relief) = self.relief
            && p > relief.pressure
        {
            flow.inflow -= relief.conductance * (p - relief.pressure);
            flow.by_pressure -= relief.conductance;
        }
        if let Some(conductance) = self.makeup
            && p < supply.tank
        {
            flow.inflow += conductance * (supply.tank - p);
            flow.by_pressure -= conductance;
        }
        flow
    }
}

/// The square root of a pressure difference and its derivative: none below zero, and finite at
/// zero, where flow is laminar.
fn root(difference: f64) -> (f64, f64) {
    if difference <= 0.0 {
        (0.0, 0.0)
    } else if difference < LAMINAR {
        let (x, scale) = (difference / LAMINAR, LAMINAR.sqrt());
        (scale * x * (1.5 - 0.5 * x), (1.5 - x) / scale)
    } else {
        let root = difference.sqrt();
        (root, 0.5 / root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_is_smooth_where_it_becomes_laminar_and_stops_where_it_would_return() {
        let near = |d: f64| root(LAMINAR + d);
        assert!((near(1e-9).0 - near(-1e-9).0).abs() < 1e-9);
        assert!((near(1e-9).1 - near(-1e-9).1).abs() < 1e-9);
        assert_eq!(root(-5.0), (0.0, 0.0));
        assert!((root(4e6).0 - 2e3).abs() < 1e-12);
    }

    #[test]
    fn the_spool_stays_in_its_housing() {
        let (valve, fluid) = (Valve::new(5e-4, 0.67), Fluid::new(850.0, 6.5e-10, 0.0));
        let supply = Supply {
            pump: 7.6e6,
            tank: 1e5,
        };
        let flow = |spool: f64| valve.flow(valve.openings(spool, 0), 3e6, &supply, &fluid);
        assert_eq!(flow(1.4), flow(1.0));
        assert_eq!(flow(-0.2), flow(0.0));
        // Eq. 32 by hand.
        let expected = 5e-4 * 0.67 * (2.0 * 4.6e6 / 850.0f64).sqrt();
        assert!((flow(1.0).inflow / expected - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_closed_centre_opens_beyond_its_overlap_one_way_at_a_time() {
        let valve = Valve::new(5e-4, 0.67).closed(0.2);
        assert_eq!(valve.openings(0.5, 0), [0.0, 0.0]);
        assert_eq!(valve.openings(0.59, 1), [0.0, 0.0]);
        assert_eq!(valve.openings(1.0, 0), [1.0, 0.0]);
        assert_eq!(valve.openings(1.0, 1), [0.0, 1.0]);
        let [pump, tank] = valve.openings(0.3, 1);
        assert!((pump - 0.25).abs() < 1e-15 && tank == 0.0);
    }
}
