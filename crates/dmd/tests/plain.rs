//! The predictor as its authors print it.

mod support;

use oldham_cosim::{InputPort, Ports, Predictor, Quantity, Snapshot, Unit};
use oldham_dmd::{Controls, DmdError, PlainDmd, PlainSettings, Received};
use support::{Exchange, TwoMass};

const H: f64 = 0.01;

fn settings(window: usize, recursive: bool) -> PlainSettings {
    PlainSettings {
        window,
        recursive,
        received: Received::All,
        controls: Controls::All,
    }
}

fn ports() -> Ports {
    let mut ports = Ports::new();
    for name in ["x", "v"] {
        ports.add_input(name, Quantity::Scalar(Unit::METRE));
    }
    ports.add_output("f", Quantity::Scalar(Unit::NEWTON));
    ports
}

/// x(k+1) = 0.9 x + 0.1 v + u, v(k+1) = -0.2 x + 0.8 v: found from as many pairs as there are unknowns, both ways, and halfway
/// between communication points there is half of the change.
#[test]
fn a_linear_recurrence_is_found() {
    for recursive in [false, true] {
        let mut dmd = PlainDmd::new(&ports(), &settings(4, recursive)).unwrap();
        let (mut x, mut v) = (1.0, -0.5);
        for k in 0..30 {
            let (t, u) = (f64::from(k), f64::from(k * k % 7));
            let before = x;
            dmd.sent(t, &[u]);
            // What is replaced leaves no trace, even if it was asked about.
            dmd.receive(InputPort(0), t, &[x + 1.0]);
            let mut next = [0.0; 2];
            dmd.predict(t + 1.0, None, &mut next);
            dmd.receive(InputPort(0), t, &[x]);
            dmd.receive(InputPort(1), t, &[v]);
            (x, v) = (0.9 * x + 0.1 * v + u, -0.2 * x + 0.8 * v);
            dmd.predict(t + 1.0, None, &mut next);
            if k >= 5 {
                let apart = (next[0] - x).abs().max((next[1] - v).abs());
                assert!(apart < 1e-7, "recursive {recursive}, {k}: {apart}");
                dmd.predict(t + 0.5, None, &mut next);
                assert!((next[0] - 0.5 * (before + x)).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn a_window_with_fewer_pairs_than_unknowns_is_refused() {
    let refusal = PlainDmd::new(&ports(), &settings(2, false)).err();
    assert!(matches!(
        refusal,
        Some(DmdError::WindowTooShort { needed: 3, .. })
    ));
}

/// Everything that the next step depends on is in its state, the matrices of the recursion too.
#[test]
fn a_restart_from_a_snapshot_repeats_every_bit() {
    let pair = TwoMass::square_root(Exchange::Velocity);
    for recursive in [false, true] {
        let build = || {
            pair.coupled(H, |ports| {
                Box::new(PlainDmd::new(ports, &settings(10, recursive)).unwrap())
            })
        };
        for before in [1, 4, 37] {
            let mut simulation = build();
            (0..before).for_each(|_| simulation.step().unwrap());
            let mut snapshot = Snapshot::default();
            snapshot.save(&mut simulation);
            let bits = |simulation: &mut oldham_cosim::Simulation| {
                let left = simulation.find("left").unwrap();
                let step = |_| {
                    simulation.step().unwrap();
                    simulation.outputs(left)[0].to_bits()
                };
                (0..60).map(step).collect::<Vec<u64>>()
            };
            let straight = bits(&mut simulation);
            let mut fresh = build();
            snapshot.restore(&mut fresh);
            assert_eq!(straight, bits(&mut fresh), "{recursive}, from {before}");
        }
    }
}
