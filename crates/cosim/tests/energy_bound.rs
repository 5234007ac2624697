//! When the stored energy ends a run: explosions and NaN do, motions that begin without energy do not.

use oldham_cosim::{
    Builder, Energy, EnergyBalance, Fault, Hold, Inputs, Ports, Quantity, Reached, Run, Schedule,
    StepError, Subsystem, Unit,
};

/// A part whose energy is what a test says, and which otherwise does nothing.
struct Told {
    ports: Ports,
    energy: fn(f64) -> Energy,
}

impl Subsystem for Told {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = t;
        Ok(())
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }
}

impl EnergyBalance for Told {
    fn energy(&mut self, t: f64, _: &[f64]) -> Energy {
        (self.energy)(t)
    }
}

fn bounded(energy: fn(f64) -> Energy) -> Result<oldham_cosim::End, Fault> {
    let mut ports = Ports::new();
    ports.add_output("t", Quantity::Scalar(Unit::SECOND));
    let hold = Hold::new(0, &ports);
    let mut builder = Builder::new();
    let id = builder.add("told", Box::new(Told { ports, energy }), Box::new(hold));
    let mut simulation = builder.build(Schedule::jacobi(1e-2, [id])).unwrap();
    let mut nowhere = oldham_cosim::Discard;
    let mut run = Run::new(100, &mut nowhere);
    run.energy_bound = Some(100.0);
    simulation.run(run).end
}

fn stored(kinetic: f64, potential: f64) -> Energy {
    Energy {
        kinetic,
        potential,
        ..Energy::default()
    }
}

/// A body falls from rest at the origin of its potential: it has no energy to start with, and the
/// error of an integrator is a few per cent of what potential and kinetic energy exchange.
#[test]
fn the_energy_bound_lets_what_falls_from_rest_run() {
    let fallen = |t: f64| stored(1.05 * t * t + 1.5e-20, -t * t);
    assert!(bounded(fallen).is_ok());
}

#[test]
fn the_energy_bound_stops_at_nan() {
    for energy in [
        (|t| stored(if t > 0.5 { f64::INFINITY } else { 1.0 }, 0.0)) as fn(f64) -> Energy,
        |t| stored(if t > 0.5 { f64::NAN } else { 0.0 }, 0.0),
        |_| stored(f64::INFINITY, 0.0),
    ] {
        let end = bounded(energy);
        assert!(matches!(end, Err(Fault::EnergyNotFinite { .. })), "{end:?}");
    }
}

/// Nothing was there, nothing was given: whatever grows beyond rounding is an explosion.
#[test]
fn the_energy_bound_holds_for_a_start_without_energy() {
    let end = bounded(|t| stored((60.0 * t).exp() * 1e-20, 0.0));
    assert!(matches!(end, Err(Fault::EnergyBound { .. })), "{end:?}");
    assert!(bounded(|t| stored(1e-15 * t, 0.0)).is_ok());
}
