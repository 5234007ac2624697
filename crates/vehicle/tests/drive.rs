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
    driven_with(&[], seconds, wanted)
}

fn driven_with(
    changes: &[(&str, &str)],
    seconds: f64,
    wanted: impl FnMut(f64) -> Inputs,
) -> History {
    let model = example("drive-car.toml", changes);
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

/// In a turn at speed the tyres want the wheels straight: the torque pushes the steering back, to
/// whichever side it was turned.
#[test]
fn what_is_felt_pushes_the_steering_back() {
    for side in [1.0, -1.0] {
        let run = driven(4.0, |t| [if t < 2.5 { 0.0 } else { 0.3 * side }, 0.4, 0.0]);
        let torque = run.column("driver.steering_torque");
        let last = &torque[run.times().iter().position(|t| *t >= 3.5).unwrap()..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        println!("turned to {side}: {mean} N.m");
        assert!(mean * side < -0.5, "{mean}");
    }
}

/// Brakes that could lock the wheels from 15 m/s: without the aid they do, with it no wheel is slower than
/// the car by more than the aid allows, but for the moment that it takes, and the car stops sooner.
#[test]
fn wheels_do_not_lock_and_the_car_stops_sooner() {
    let ride = |anti_lock| {
        let changes = [
            ("brake_front", "8000"),
            ("brake_rear", "8000"),
            ("v0", "15"),
            ("anti_lock", anti_lock),
        ];
        let run = driven_with(&changes, 3.0, |t| [0.0, 0.0, f64::from(t > 0.2)]);
        let speed = run.column("car.chassis.vx");
        let wheels = ["fl", "fr", "rl", "rr"].map(|w| run.column(&format!("car.spin_{w}")));
        let fast = (0..speed.len()).filter(|&i| speed[i] > 4.0);
        let lock = fast.map(|i| {
            wheels
                .iter()
                .map(|spin| 1.0 - 0.2 * spin[i] / speed[i])
                .fold(0.0, f64::max)
        });
        let lock = lock.fold(0.0, f64::max);
        let stands = speed.iter().position(|v| *v < 0.1).expect("it stands");
        (lock, run.column("car.chassis.px")[stands])
    };
    let (free, with) = (ride("0"), ride("1"));
    println!("slip and stop without {free:?}, with {with:?}");
    assert!(free.0 > 0.99, "the wheels lock: {free:?}");
    assert!(with.0 < 0.6, "they do not: {with:?}");
    assert!(with.1 < free.1 - 0.3, "{with:?} {free:?}");
}

/// Circles at a steady speed. The times of the timer are those at which the way of the chassis, as it was
/// recorded, crosses the line; between two rows by a straight line.
#[test]
fn the_lap_timer_takes_the_times_of_circles() {
    let changes = [("v0", "6"), ("lap_least", "5")];
    let run = driven_with(&changes, 21.0, |t| {
        [if t < 0.5 { 0.0 } else { -0.4 }, 0.03, 0.0]
    });
    let (x, y) = (run.column("car.chassis.px"), run.column("car.chassis.py"));
    let times = run.times();
    let crossings: Vec<f64> = (1..x.len())
        .filter(|&i| x[i - 1] < x[0] && x[i] >= x[0] && y[i].abs() < 6.0)
        .map(|i| times[i] - (times[i] - times[i - 1]) * (x[i] - x[0]) / (x[i] - x[i - 1]))
        .collect();
    let expected: Vec<f64> = [&[0.0], &crossings[..]]
        .concat()
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    assert!(expected.len() >= 2, "{expected:?}");
    let (laps, last, best) = (
        run.column("timer.laps"),
        run.column("timer.last"),
        run.column("timer.best"),
    );
    assert_eq!(laps.last().copied(), Some(expected.len() as f64));
    // In a step of 0.5 ms the way is bent by micrometres.
    assert!(
        (last.last().unwrap() - expected.last().unwrap()).abs() < 1e-5,
        "{expected:?} {:?}",
        last.last()
    );
    let quickest = expected.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((best.last().unwrap() - quickest).abs() < 1e-5);
}
