//! The car of the examples that is driven from outside: whatever the driver does, it stays a car.

mod common;

use common::car::{History, example};
use oldham_cosim::{Dial, InMemory, Recorder, Run};

/// Steering, throttle and brake.
type Inputs = [f64; 3];

/// Sets the inputs of the car after every step.
struct Hands<F> {
    dials: [Dial; 3],
    wanted: F,
    rows: InMemory,
}

impl<F: FnMut(f64) -> Inputs> Recorder for Hands<F> {
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()> {
        for (dial, value) in self.dials.iter().zip((self.wanted)(t)) {
            dial.set(&[value]);
        }
        self.rows.record(t, row)
    }
}

fn driven(seconds: f64, wanted: impl FnMut(f64) -> Inputs) -> History {
    let model = example("drive-car.toml", &[]);
    let mut simulation = model.simulation().unwrap();
    let dial = |name| simulation.dial(name).expect("the car has it");
    let mut hands = Hands {
        dials: ["steering", "throttle", "brake"].map(dial),
        wanted,
        rows: InMemory::default(),
    };
    let steps = (seconds / model.step()) as u64;
    let outcome = simulation.run(Run::new(steps, &mut hands));
    outcome.end.unwrap_or_else(|fault| panic!("{fault}"));
    History::new(&simulation, hands.rows)
}

/// Minutes of it with `OLDHAM_SOAK`.
#[test]
fn no_keys_make_the_car_fly_or_sink() {
    let seconds = match std::env::var_os("OLDHAM_SOAK") {
        Some(_) => 600.0,
        None => 20.0,
    };
    // Xorshift (Marsaglia 2003).
    let mut seed = 88_172_645_463_325_252_u64;
    let mut any = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) % below
    };
    let (mut pressed, mut until) = ([0.0; 3], 0.0);
    let run = driven(seconds, |t| {
        if t >= until {
            until = t + 0.1 + 0.1 * any(15) as f64;
            let [steering, throttle, brake] = [3, 3, 5].map(&mut any);
            pressed = [
                steering as f64 - 1.0,
                throttle as f64 - 1.0,
                f64::from(brake == 4),
            ];
        }
        pressed
    });
    let speeds = run.velocities("car.chassis");
    let fastest = speeds.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let heights = run.column("car.chassis.pz");
    let low = heights.iter().copied().fold(f64::MAX, f64::min);
    let high = heights.iter().copied().fold(0.0, f64::max);
    println!("fastest {fastest} m/s, chassis between {low} and {high} m");
    // Motors do not drive beyond 25 m/s.
    assert!(fastest > 3.0 && fastest < 25.5, "{fastest}");
    assert!(low > 0.2 && high < 0.45, "{low} {high}");
}

/// Where no wheel slips much, the car is accelerated as its torques, its mass and what turns say.
#[test]
fn throttle_brake_and_reverse_do_what_they_say() {
    let run = driven(9.0, |t| match t {
        t if t < 0.5 => [0.0; 3],
        t if t < 2.0 => [0.0, 0.5, 0.0],
        t if t < 5.0 => [0.0, 0.0, 0.5],
        _ => [0.0, -1.0, 0.0],
    });
    let speed = run.column("car.chassis.vx");
    let at = |t: f64| speed[run.times().iter().position(|here| *here >= t).unwrap()];
    let (radius, mass, turning): (f64, f64, f64) = (0.2, 270.6, 4.0 * 0.2);
    let inertia = mass + turning / radius.powi(2);
    let rolling = 0.015 * mass * 9.81;
    let driving = 4.0 * 0.5 * 200.0 / radius;
    let found = (at(1.5) - at(1.0)) / 0.5;
    let expected = (driving - rolling) / inertia;
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
    // Two pads at 85 mm, half of the clamping forces.
    let braking = 2.0 * 2.0 * 0.42 * 0.085 * 0.5 * (2500.0 + 1200.0) / radius;
    let found = (at(2.4) - at(2.2)) / 0.2;
    let drag = 0.5 * 1.2 * 1.1 * 1.25 * at(2.3).powi(2);
    let expected = -(braking + rolling + drag) / inertia;
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
    assert!(at(4.99).abs() < 0.01, "it stands: {}", at(4.99));
    assert!(at(8.9) < -3.0 && at(8.9) > -6.5, "backwards: {}", at(8.9));
}
