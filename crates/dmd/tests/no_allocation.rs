//! An exchange allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use oldham_cosim::{InputPort, Ports, Predictor, Quantity, Unit};
use oldham_dmd::{Dmd, Settings};

#[test]
fn learning_predicting_switching_and_resetting_allocates_nothing() {
    allocations::settle();
    let mut ports = Ports::new();
    ports.add_input("far", Quantity::Translation);
    ports.add_output("force", Quantity::Scalar(Unit::NEWTON));
    let mut dmd = Dmd::new(&ports, &Settings::automatic(60, &ports)).unwrap();
    let mut inputs = [0.0; 3];
    let region = allocations::region();
    for k in 0..1000 {
        let t = 0.01 * f64::from(k);
        let kick = if k % 400 > 200 { 1.0 } else { 0.0 };
        dmd.sent(t, &[t.sin()]);
        dmd.receive(InputPort(0), t, &[t.cos() + kick, kick - t.sin(), -t.cos()]);
        for micro in 1..=4 {
            dmd.predict(t + 0.0025 * f64::from(micro), None, &mut inputs);
        }
    }
    assert_eq!(region.change().allocations, 0);
    assert!(dmd.report().resets > 0, "{:?}", dmd.report());
}
