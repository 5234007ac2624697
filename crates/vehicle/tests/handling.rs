//! Figures of handling against closed forms, and those of the manoeuvres of the examples.

mod common;

use common::car::{CAR, History, example};
use common::hard_points::Corner;
use oldham_space::{Quaternion, Vec3};
use oldham_vehicle::handling::{Ride, RideState};

/// A ride with these speeds and yaw rates on a circle or a line.
fn ride(seconds: f64, state: impl Fn(f64) -> (f64, f64)) -> Ride {
    let mut ride = Ride::default();
    for i in 0..=(seconds * 1000.0) as usize {
        let t = i as f64 * 1e-3;
        let (speed, yaw_rate) = state(t);
        let state = RideState {
            position: Vec3::ZERO,
            orientation: Quaternion::exp(Vec3::Z * 0.7),
            velocity: Quaternion::exp(Vec3::Z * 0.7).rotate(Vec3::X * speed),
            angular_velocity: Vec3::Z * yaw_rate,
            acceleration: Quaternion::exp(Vec3::Z * 0.7).rotate(Vec3::Y * (speed * yaw_rate)),
        };
        ride.push(t, &state);
    }
    ride
}

/// A second-order system: overshoot exp(-π ζ / √(1 - ζ²)) after π / ω_d.
#[test]
fn a_step_response_is_that_of_the_closed_form() {
    let (natural, damping, begin) = (8.0_f64, 0.5_f64, 1.0);
    let damped = natural * (1.0 - damping * damping).sqrt();
    let answer = |t: f64| {
        let t = (t - begin).max(0.0);
        let decay = (-damping * natural * t).exp();
        1.0 - decay * ((damped * t).cos() + damping * natural / damped * (damped * t).sin())
    };
    let ride = ride(6.0, |t| (20.0, 0.3 * answer(t)));
    let steer: Vec<f64> = ride
        .times
        .iter()
        .map(|&t| if t >= begin { 0.02 } else { 0.0 })
        .collect();
    let found = ride.step_response(&steer).unwrap();
    let overshoot = (-std::f64::consts::PI * damping * natural / damped).exp();
    assert!((found.overshoot - overshoot).abs() < 1e-4, "{found:?}");
    assert!(
        (found.peak_time - std::f64::consts::PI / damped).abs() < 2e-3,
        "{found:?}"
    );
    assert!((found.yaw_rate_gain - 15.0).abs() < 1e-3, "{found:?}");
    assert!(
        (answer(begin + found.response_time) - 0.9).abs() < 0.01,
        "{found:?}"
    );
    assert!((found.lateral_acceleration - 6.0).abs() < 1e-2, "{found:?}");
    // A ramp is no step.
    let ramp: Vec<f64> = ride.times.clone();
    assert!(ride.step_response(&ramp).is_none());
}

#[test]
fn an_understeer_gradient_is_found_on_a_circle_and_not_at_one_speed() {
    let (radius, wheelbase, gradient, ratio) = (30.0, 1.56, 0.004, 15.0);
    let steered = |ride: &Ride| -> Vec<f64> {
        let rows = ride.speeds.iter().zip(&ride.yaw_rates);
        rows.map(|(v, r)| (wheelbase * r / v[0] + gradient * v[0] * r) / ratio)
            .collect()
    };
    let faster = ride(10.0, |t| (4.0 + t, (4.0 + t) / radius));
    let found = faster.understeer(&steered(&faster), wheelbase).unwrap();
    assert!((found.gradient - gradient).abs() < 1e-9 && (found.ratio - ratio).abs() < 1e-9);
    let steady = ride(10.0, |t| (20.0, 0.02 * t));
    assert!(steady.understeer(&steered(&steady), wheelbase).is_none());
}

/// From 30 m/s with 7.5 m/s²: 60 m.
#[test]
fn a_stop_has_its_distance_and_its_laps_their_times() {
    let stop = ride(6.0, |t| ((30.0 - 7.5 * (t - 1.0).max(0.0)).max(0.0), 0.0));
    let found = stop.braking().unwrap();
    assert!((found.mean_deceleration - 7.5).abs() < 0.02, "{found:?}");
    assert!(
        (found.distance - 60.0 * 0.99_f64.powi(2)).abs() < 0.1,
        "{found:?}"
    );
    let distance: Vec<f64> = stop.times.iter().map(|t| 25.0 * t).collect();
    let laps = stop.laps(&distance, 50.0);
    assert_eq!(laps.len(), 3);
    assert!(laps.iter().all(|lap| (lap - 2.0).abs() < 1e-9), "{laps:?}");
}

/// The ride of the car of an example, and a recorded signal.
fn driven(name: &str, set: &[(&str, &str)], signal: &str) -> (Ride, Vec<f64>) {
    let model = example(name, set);
    let run = History::of(model.simulation().unwrap(), &model, 20);
    let mut ride = Ride::default();
    let positions = run.positions("car.chassis");
    let turns = run.orientations("car.chassis");
    let velocities = run.velocities("car.chassis");
    let yaw_rates = run.column("car.chassis.wz");
    for (i, &time) in run.times().iter().enumerate() {
        let state = RideState {
            position: positions[i],
            orientation: turns[i],
            velocity: velocities[i],
            angular_velocity: Vec3::Z * yaw_rates[i],
            acceleration: Vec3::ZERO,
        };
        ride.push(time, &state);
    }
    (ride, run.column(signal))
}

/// What the circle tells of the steering ratio is what the hard points say.
#[test]
fn the_steering_ratio_on_a_circle_is_that_of_the_linkage() {
    let set = [("v_rate", "0.8"), ("simulation.duration", "10")];
    let (ride, rack) = driven("car-constant-radius.toml", &set, "car.sensors.rack");
    let found = ride.understeer(&rack, 1.56).unwrap();
    let corner = Corner::front_left(CAR);
    let toe = |rack: f64| {
        let axis = corner.pose(0.0, rack).1.rotate(Vec3::Y);
        -(axis[0] / axis[1]).atan()
    };
    let travel = 3.5e-3;
    let expected = (toe(travel) - toe(-travel)) / (2.0 * travel);
    println!(
        "steering ratio {} and {expected}, gradient {}",
        found.ratio, found.gradient
    );
    assert!(
        (found.ratio / expected - 1.0).abs() < 0.02,
        "{found:?} {expected}"
    );
}

#[test]
fn the_driver_keeps_to_the_slalom() {
    let (ride, offset) = driven("car-slalom.toml", &[], "driver.offset");
    let farthest = offset
        .iter()
        .fold(0.0_f64, |most, offset| most.max(offset.abs()));
    println!("at most {farthest} m beside the path");
    assert!(farthest < 0.35, "{farthest}");
    // Once around all cones, which stand for 1.2 m to either side.
    let sides = ride.positions.iter().map(|p| p[1]);
    let (right, left) = sides.fold((0.0_f64, 0.0_f64), |(r, l), y| (r.min(y), l.max(y)));
    assert!(right < -0.9 && left > 0.9, "{right} {left}");
    let last = ride.positions.last().unwrap();
    assert!(last[1].abs() < 0.1 && last[0] > 155.0, "{last:?}");
}
