//! What a ride tells of a car: the figures that the standards on handling and braking ask for.
//!
//! # References
//! - ISO 7401, lateral transient response: response time, overshoot and gain after a step of the
//!   steering.
//! - ISO 4138, steady-state circular driving: understeer gradient.
//! - UN Regulation 13: mean fully developed deceleration.

use oldham_space::{Quaternion, Vec3};
use serde::Serialize;

/// The motion of a car, row by row: in directions of the road that turn with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ride {
    /// Times in s.
    pub times: Vec<f64>,
    /// Where it is.
    pub positions: Vec<Vec3>,
    /// Speed forward and to the left in m/s.
    pub speeds: Vec<[f64; 2]>,
    /// In rad/s, to the left.
    pub yaw_rates: Vec<f64>,
    /// Acceleration forward and to the left in m/s².
    pub accelerations: Vec<[f64; 2]>,
}

/// The motion of a body at one time, in absolute axes of which the third points up.
#[derive(Clone, Copy, Debug)]
pub struct RideState {
    /// Position.
    pub position: Vec3,
    /// Orientation: the first axis of the body points forward.
    pub orientation: Quaternion,
    /// Velocity.
    pub velocity: Vec3,
    /// Angular velocity.
    pub angular_velocity: Vec3,
    /// Acceleration.
    pub acceleration: Vec3,
}

/// The largest values of a ride.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Extremes {
    /// Speed in m/s.
    pub speed: f64,
    /// Acceleration forward in m/s².
    pub accelerating: f64,
    /// Acceleration backward in m/s².
    pub braking: f64,
    /// Acceleration to either side in m/s².
    pub cornering: f64,
    /// Yaw rate to either side in rad/s.
    pub yaw_rate: f64,
    /// Side-slip angle to either side in rad, where the car is faster than a walk.
    pub side_slip: f64,
}

/// The answer to a step of the steering (ISO 7401).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepResponse {
    /// The step, in units of the steering.
    pub steer: f64,
    /// Steady yaw rate in rad/s.
    pub yaw_rate: f64,
    /// Yaw rate for each unit of the steering.
    pub yaw_rate_gain: f64,
    /// Steady lateral acceleration in m/s².
    pub lateral_acceleration: f64,
    /// From half of the step to 90 % of the steady yaw rate, in s.
    pub response_time: f64,
    /// From half of the step to the largest yaw rate, in s.
    pub peak_time: f64,
    /// Largest yaw rate over the steady one, less one.
    pub overshoot: f64,
}

/// How a car steers in slow turns of any kind (ISO 4138).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Understeer {
    /// Angle that is steered besides that of the curve, for each m/s² of lateral acceleration, in rad.
    pub gradient: f64,
    /// Angle of the wheels for each unit of the steering, in rad.
    pub ratio: f64,
}

/// A stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Braking {
    /// Speed at its beginning in m/s.
    pub from: f64,
    /// Way from 99 % of that speed to standstill in m.
    pub distance: f64,
    /// Mean deceleration from 80 % to 10 % of the speed in m/s².
    pub mean_deceleration: f64,
}

/// In m/s².
pub const STANDARD_GRAVITY: f64 = 9.80665;

/// A walk, in m/s: below it a side-slip angle means nothing.
const WALK: f64 = 2.0;
/// Standstill, in m/s.
const STANDS: f64 = 0.1;
/// Share of a ride at whose end a step must have settled.
const SETTLED: f64 = 0.1;
/// How much the steering may still change there, over the step.
const STILL: f64 = 0.01;
/// Lateral accelerations in m/s² between which tyres are linear enough for a gradient.
const LINEAR: [f64; 2] = [1.0, 4.0];
/// Two causes that are told apart: the sine of the angle between them.
const DISTINCT: f64 = 0.02;

impl Ride {
    /// Adds a row.
    pub fn push(&mut self, time: f64, state: &RideState) {
        let nose = state.orientation.rotate(Vec3::X);
        let forward = Vec3::new(nose[0], nose[1], 0.0).unit();
        let left = Vec3::Z.cross(forward);
        let along = |v: Vec3| [v.dot(forward), v.dot(left)];
        self.times.push(time);
        self.positions.push(state.position);
        self.speeds.push(along(state.velocity));
        self.yaw_rates.push(state.angular_velocity[2]);
        self.accelerations.push(along(state.acceleration));
    }

    /// The largest values.
    pub fn extremes(&self) -> Extremes {
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let size = |[u, v]: &[f64; 2]| u.hypot(*v);
        let slip = |[u, v]: &[f64; 2]| match u.hypot(*v) > WALK {
            true => v.atan2(*u).abs(),
            false => 0.0,
        };
        Extremes {
            speed: largest(&mut self.speeds.iter().map(size)),
            accelerating: largest(&mut self.accelerations.iter().map(|a| a[0])),
            braking: largest(&mut self.accelerations.iter().map(|a| -a[0])),
            cornering: largest(&mut self.accelerations.iter().map(|a| a[1].abs())),
            yaw_rate: largest(&mut self.yaw_rates.iter().map(|rate| rate.abs())),
            side_slip: largest(&mut self.speeds.iter().map(slip)),
        }
    }

    /// The answer to a step of the steering, if it is one: still at the end, and other than at the
    /// start.
    pub fn step_response(&self, steer: &[f64]) -> Option<StepResponse> {
        let (&first, &last) = (steer.first()?, steer.last()?);
        let step = last - first;
        let end = *self.times.last()?;
        let half = crossing(&self.times, steer.iter().map(|s| (s - first) / step), 0.5)?;
        let settled = self
            .times
            .iter()
            .position(|t| *t >= end - SETTLED * (end - half))?;
        let is_still = |s: &f64| (s - last).abs() <= STILL * step.abs();
        if step == 0.0 || !steer[settled..].iter().all(is_still) {
            return None;
        }
        let before = self.yaw_rates[0];
        let rows = (self.times.len() - settled) as f64;
        let mean = |value: &dyn Fn(usize) -> f64| {
            (settled..self.times.len()).map(value).sum::<f64>() / rows
        };
        let steady = mean(&|i| self.yaw_rates[i]) - before;
        let shares = || self.yaw_rates.iter().map(|rate| (rate - before) / steady);
        let (peak, highest) = shares()
            .enumerate()
            .fold((0, f64::MIN), |best, (i, share)| {
                if share > best.1 { (i, share) } else { best }
            });
        Some(StepResponse {
            steer: step,
            yaw_rate: steady,
            yaw_rate_gain: steady / step,
            lateral_acceleration: mean(&|i| self.speeds[i][0] * self.yaw_rates[i]),
            response_time: crossing(&self.times, shares(), 0.9)? - half,
            peak_time: self.times[peak] - half,
            overshoot: (highest - 1.0).max(0.0),
        })
    }

    /// The understeer gradient, from all rows where the car turns gently: steering = ratio (wheelbase
    /// times curvature + gradient times lateral acceleration), by least squares. Nothing where the
    /// two cannot be told apart, as at one speed.
    pub fn understeer(&self, steer: &[f64], wheelbase: f64) -> Option<Understeer> {
        let (mut products, mut sides) = ([[0.0; 2]; 2], [0.0; 2]);
        for ((yaw_rate, speed), steer) in self.yaw_rates.iter().zip(&self.speeds).zip(steer) {
            let lateral = speed[0] * yaw_rate;
            if !(LINEAR[0]..LINEAR[1]).contains(&lateral.abs()) {
                continue;
            }
            let causes = [wheelbase * yaw_rate / speed[0], lateral];
            for i in 0..2 {
                (0..2).for_each(|j| products[i][j] += causes[i] * causes[j]);
                sides[i] += causes[i] * steer;
            }
        }
        let [[a, b], [c, d]] = products;
        let determinant = a * d - b * c;
        if determinant <= DISTINCT * DISTINCT * a * d {
            return None;
        }
        let by_curve = (sides[0] * d - sides[1] * b) / determinant;
        let by_acceleration = (sides[1] * a - sides[0] * c) / determinant;
        Some(Understeer {
            gradient: by_acceleration / by_curve,
            ratio: 1.0 / by_curve,
        })
    }

    /// The stop at the end of a ride, if it ends with one.
    pub fn braking(&self) -> Option<Braking> {
        let speed = |i: usize| self.speeds[i][0];
        let rows = self.times.len();
        let fastest = (0..rows).max_by(|&i, &j| speed(i).total_cmp(&speed(j)))?;
        let from = speed(fastest);
        if from < WALK || speed(rows - 1).abs() > STANDS {
            return None;
        }
        let mut way = vec![0.0; rows];
        for i in 1..rows {
            let mean = 0.5 * (speed(i - 1) + speed(i));
            way[i] = way[i - 1] + mean * (self.times[i] - self.times[i - 1]);
        }
        let below = |share: f64| (fastest..rows).find(|&i| speed(i) <= share * from);
        let (high, low) = (below(0.8)?, below(0.1)?);
        let start = (fastest..rows).rfind(|&i| speed(i) >= 0.99 * from)?;
        Some(Braking {
            from,
            distance: way[rows - 1] - way[start],
            mean_deceleration: (speed(high).powi(2) - speed(low).powi(2))
                / (2.0 * (way[low] - way[high])),
        })
    }

    /// How long each lap took: a lap ends where the distance passes a multiple of the length.
    pub fn laps(&self, distance: &[f64], length: f64) -> Vec<f64> {
        let mut passed = Vec::new();
        if distance.first() == Some(&0.0) {
            passed.push(self.times[0]);
        }
        for (t, s) in self.times.windows(2).zip(distance.windows(2)) {
            let line = (s[0] / length).floor() * length + length;
            if s[1] >= line {
                passed.push(t[0] + (t[1] - t[0]) * (line - s[0]) / (s[1] - s[0]));
            }
        }
        passed.windows(2).map(|ends| ends[1] - ends[0]).collect()
    }
}

/// When values first rise to a level.
fn crossing(times: &[f64], values: impl Iterator<Item = f64>, level: f64) -> Option<f64> {
    let mut last = None;
    for (&time, value) in times.iter().zip(values) {
        if value >= level {
            return Some(match last {
                Some((t, v)) => t + (time - t) * (level - v) / (value - v),
                None => time,
            });
        }
        last = Some((time, value));
    }
    None
}
