//! A step allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use oldham_cosim::{EnergyBalance, Hold, Inputs, Subsystem};
use oldham_hydraulics::{Actuator, Circuit, Cylinder, Fluid, Supply, Valve};

#[test]
fn advancing_and_reading_outputs_allocates_nothing() {
    allocations::settle();
    let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5).friction(1e5, 10.0);
    let actuator =
        |name: &str, load| Actuator::holding(name, cylinder, Valve::new(5e-4, 0.67), load);
    let circuit = Circuit {
        fluid: Fluid::new(850.0, 6.53e-10, -1.19e-18),
        supply: Supply {
            pump: 7.6e6,
            tank: 1e5,
        },
        actuators: vec![actuator("lift", 8829.0), actuator("reach", 0.0)],
        micro_steps: 60,
    };
    let mut hydraulics = circuit.part().unwrap();
    let ports = hydraulics.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    let values = [0.5, 0.1, 0.0, 0.51, -0.1, 0.2];
    let mut outputs = [0.0; 6];
    let region = allocations::region();
    for k in 0..20 {
        let t = 0.012 * f64::from(k);
        hydraulics.advance(t, t + 0.012, &mut inputs).unwrap();
        hydraulics.outputs(t, &values, &mut outputs).unwrap();
        hydraulics.energy(t, &values);
    }
    assert_eq!(region.change().allocations, 0);
}
