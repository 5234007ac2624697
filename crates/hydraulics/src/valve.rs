//! A control valve: a spool that opens one way as it closes the other.

use crate::circuit::Supply;
use crate::fluid::Fluid;

/// Pressure difference in Pa below which flow through an orifice is laminar.
const LAMINAR: f64 = 1e3;

/// A four-way valve that is never quite closed. At the spool position κ the pump feeds chamber 1
/// through κ times the full area and chamber 2 through the rest; the tank takes from chamber 2
/// through κ times the area and from chamber 1 through the rest. Nothing flows back into the pump
/// or out of the tank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valve {
    /// Area of the fully open valve in m².
    pub area: f64,
    /// Discharge coefficient.
    pub discharge: f64,
}

/// Volume flow into a chamber, and its derivative by the pressure there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flow {
    pub inflow: f64,
    pub by_pressure: f64,
}

impl Valve {
    /// A valve of this full area and discharge coefficient.
    pub fn new(area: f64, discharge: f64) -> Self {
        Self { area, discharge }
    }

    /// Flow into a chamber whose way to the pump is open by the fraction `open` (Pikuliński 2026,
    /// Eq. 32, 33, 35, 36).
    pub(crate) fn flow(&self, open: f64, p: f64, supply: &Supply, fluid: &Fluid) -> Flow {
        let open = open.clamp(0.0, 1.0);
        let factor = self.area * self.discharge * (2.0 / fluid.density).sqrt();
        let (from_pump, pump_slope) = root(supply.pump - p);
        let (to_tank, tank_slope) = root(p - supply.tank);
        Flow {
            inflow: factor * (open * from_pump - (1.0 - open) * to_tank),
            by_pressure: -factor * (open * pump_slope + (1.0 - open) * tank_slope),
        }
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
        let flow = |open: f64| valve.flow(open, 3e6, &supply, &fluid);
        assert_eq!(flow(1.4), flow(1.0));
        assert_eq!(flow(-0.2), flow(0.0));
        // Eq. 32 by hand.
        let expected = 5e-4 * 0.67 * (2.0 * 4.6e6 / 850.0f64).sqrt();
        assert!((flow(1.0).inflow / expected - 1.0).abs() < 1e-14);
    }
}
