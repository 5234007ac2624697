//! Static equilibrium: spool and pressures at which nothing moves and nothing flows on balance.

use crate::circuit::{Actuator, Rest, Supply};
use crate::cylinder::Cylinder;
use crate::error::CircuitError;
use crate::valve::Centre;

/// Halvings of the spool's travel: one more than a double has digits.
const HALVINGS: usize = 60;

/// An actuator at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Position of the spool between 0 and 1.
    pub spool: f64,
    /// Pressures of both chambers in Pa.
    pub pressures: [f64; 2],
    /// Force in N, positive when the actuator pushes.
    pub force: f64,
}

/// The equilibrium at a position of the spool. What comes from the pump goes to the tank:
/// κ² (p_P - p) = (1 - κ)² (p - p_T).
pub fn resting(spool: f64, cylinder: &Cylinder, supply: &Supply) -> Equilibrium {
    let pressure = |open: f64| {
        let (feed, drain) = (open * open, (1.0 - open) * (1.0 - open));
        (feed * supply.pump + drain * supply.tank) / (feed + drain)
    };
    let pressures = [pressure(spool), pressure(1.0 - spool)];
    Equilibrium {
        spool,
        pressures,
        force: cylinder.thrust(pressures),
    }
}

/// The equilibrium under a load, if there is one. The force falls steadily as the spool moves from
/// 0 to 1.
pub fn holding(load: f64, cylinder: &Cylinder, supply: &Supply) -> Option<Equilibrium> {
    let at = |spool: f64| resting(spool, cylinder, supply);
    if !(load <= at(0.0).force && load >= at(1.0).force) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if at(middle).force > load {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(at(0.5 * (low + high)))
}

/// The equilibrium under a load with all ways closed. Any two pressures that carry it would do; these lie as far
/// from the pump as from the tank on the average.
pub fn locked(load: f64, cylinder: &Cylinder, supply: &Supply) -> Option<Equilibrium> {
    let sum = supply.pump + supply.tank;
    let [a, b] = cylinder.areas;
    let first = (sum * b - load) / (a + b);
    let pressures = [first, sum - first];
    let possible = supply.tank..=supply.pump;
    pressures
        .iter()
        .all(|p| possible.contains(p))
        .then_some(Equilibrium {
            spool: 0.5,
            pressures,
            force: load,
        })
}

impl Actuator {
    /// How it starts.
    pub(crate) fn start(&self, supply: &Supply) -> Result<Equilibrium, CircuitError> {
        let start = match self.valve.centre {
            Centre::Open => self.flowing_start(supply),
            Centre::Closed { .. } => self.locked_start(supply),
        }?;
        let highest = start.pressures[0].max(start.pressures[1]);
        match self.safety.relief {
            Some(relief) if highest >= relief.pressure => Err(CircuitError::ReliefOpens {
                actuator: self.name.clone(),
                pressure: highest,
                opens: relief.pressure,
            }),
            _ => Ok(start),
        }
    }

    fn locked_start(&self, supply: &Supply) -> Result<Equilibrium, CircuitError> {
        let (load, spool) = match self.rest {
            Rest::Load(load) => (load, 0.5),
            Rest::Spool(spool) => {
                let half = 0.5 * (supply.pump + supply.tank);
                (self.cylinder.thrust([half; 2]), spool)
            }
        };
        let found = locked(load, &self.cylinder, supply).ok_or_else(|| {
            let Supply { pump, tank } = *supply;
            CircuitError::CannotHold {
                actuator: self.name.clone(),
                load,
                least: self.cylinder.thrust([pump, tank]),
                most: self.cylinder.thrust([tank, pump]),
            }
        })?;
        Ok(Equilibrium { spool, ..found })
    }

    fn flowing_start(&self, supply: &Supply) -> Result<Equilibrium, CircuitError> {
        match self.rest {
            Rest::Spool(spool) => Ok(resting(spool, &self.cylinder, supply)),
            Rest::Load(load) => holding(load, &self.cylinder, supply).ok_or_else(|| {
                let force = |spool| resting(spool, &self.cylinder, supply).force;
                CircuitError::CannotHold {
                    actuator: self.name.clone(),
                    load,
                    least: force(1.0),
                    most: force(0.0),
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPLY: Supply = Supply {
        pump: 7.6e6,
        tank: 1e5,
    };

    /// The manipulator of Pikuliński 2026, Sect. 3.3: moments about the foot of the boom give
    /// 8829 N; spool and pressures are those of `papers/oracles/hydraulic_statics.py`.
    #[test]
    fn the_manipulator_is_held_at_the_known_spool_and_pressures() {
        let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5);
        let gravity = 9.81;
        let moment = gravity * (200.0 * 0.5 + 350.0) * (std::f64::consts::PI / 6.0).cos();
        let arm = 0.5 * (std::f64::consts::PI / 3.0).sin();
        let load = moment / arm;
        assert!((load - 8829.0).abs() < 1e-9);
        let found = holding(load, &cylinder, &SUPPLY).unwrap();
        assert!((found.spool - 0.454_346).abs() < 5e-7, "{found:?}");
        assert!((found.pressures[0] - 3.170_85e6).abs() < 5.0, "{found:?}");
        assert!((found.pressures[1] - 4.529_15e6).abs() < 5.0, "{found:?}");
        assert!((found.force - load).abs() < 1e-6);
    }

    #[test]
    fn an_unloaded_actuator_of_equal_areas_rests_in_the_middle() {
        let cylinder = Cylinder::new([1e-3; 2], 0.3, 1.0);
        let found = holding(0.0, &cylinder, &SUPPLY).unwrap();
        assert!((found.spool - 0.5).abs() < 1e-15);
        assert!((found.pressures[0] - 3.85e6).abs() < 1e-6);
    }

    #[test]
    fn a_load_beyond_the_pump_cannot_be_held() {
        let cylinder = Cylinder::new([1e-3; 2], 0.3, 1.0);
        assert!(holding(7.6e3, &cylinder, &SUPPLY).is_none());
        assert!(holding(f64::NAN, &cylinder, &SUPPLY).is_none());
    }
}
