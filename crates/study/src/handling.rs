//! How a car handles, from the results of a ride.

use oldham_multibody::{Quaternion, Vec3};
use oldham_results::Table;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_vehicle::handling::{
    Braking, Extremes, Ride, RideState, STANDARD_GRAVITY, StepResponse, Understeer,
};
use serde::Serialize;

use crate::StudyError;

/// A path whose width is less than this share of its length is not drawn to scale.
const NARROW: f64 = 0.15;

/// Which columns tell what.
#[derive(Clone, Debug, Default)]
pub struct HandlingOptions {
    /// The motion of the chassis.
    pub body: String,
    /// The steering.
    pub steer: Option<String>,
    /// Wheelbase in m.
    pub wheelbase: Option<f64>,
    /// Distance along a track, and its length in m.
    pub track: Option<(String, f64)>,
}

/// What a ride tells.
#[derive(Serialize)]
pub struct Handling {
    /// Largest values.
    pub extremes: Extremes,
    /// The answer to a step of the steering, if there was one.
    pub step: Option<StepResponse>,
    /// The understeer gradient, if the ride tells it.
    pub understeer: Option<Understeer>,
    /// The stop at the end, if there was one.
    pub braking: Option<Braking>,
    /// How long each lap took, in s.
    pub laps: Vec<f64>,
    #[serde(skip)]
    ride: Ride,
}

impl Handling {
    /// Looks at the results of a ride.
    pub fn of(table: &Table, options: &HandlingOptions) -> Result<Self, StudyError> {
        let column = |name: &str| {
            table.column(name).ok_or_else(|| StudyError::Unknown {
                what: "signal",
                name: name.to_owned(),
                known: table.names().map(str::to_owned).collect(),
            })
        };
        let of_body = |component: &str| column(&format!("{}.{component}", options.body));
        let vector = |names: [&str; 3]| -> Result<[&[f64]; 3], StudyError> {
            let [x, y, z] = names.map(of_body);
            Ok([x?, y?, z?])
        };
        let position = vector(["px", "py", "pz"])?;
        let velocity = vector(["vx", "vy", "vz"])?;
        let angular_velocity = vector(["wx", "wy", "wz"])?;
        let acceleration = vector(["ax", "ay", "az"])?;
        let [a, b, c, d] = ["q0", "q1", "q2", "q3"].map(of_body);
        let turn = [a?, b?, c?, d?];
        let at = |[x, y, z]: &[&[f64]; 3], row: usize| Vec3::new(x[row], y[row], z[row]);
        let mut ride = Ride::default();
        for (row, &time) in table.time().iter().enumerate() {
            let state = RideState {
                position: at(&position, row),
                orientation: Quaternion(turn.map(|column| column[row])),
                velocity: at(&velocity, row),
                angular_velocity: at(&angular_velocity, row),
                acceleration: at(&acceleration, row),
            };
            ride.push(time, &state);
        }
        let steer = options.steer.as_deref().map(column).transpose()?;
        let understeer = steer.zip(options.wheelbase);
        let laps = match &options.track {
            Some((name, length)) => ride.laps(column(name)?, *length),
            None => Vec::new(),
        };
        Ok(Self {
            extremes: ride.extremes(),
            step: steer.and_then(|steer| ride.step_response(steer)),
            understeer: understeer.and_then(|(steer, wheelbase)| ride.understeer(steer, wheelbase)),
            braking: ride.braking(),
            laps,
            ride,
        })
    }

    /// The g-g diagram, and the path of the car: to scale unless that would show a line.
    pub fn figure(&self, title: &str) -> Figure {
        let part = |i: usize| -> Vec<f64> {
            let rows = self.ride.accelerations.iter();
            rows.map(|a| a[i] / STANDARD_GRAVITY).collect()
        };
        let along = |i: usize| -> Vec<f64> { self.ride.positions.iter().map(|p| p[i]).collect() };
        let diagram = Panel::new("acceleration to the left / g", "acceleration forward / g")
            .with_series(Series::new("", part(1), part(0)).with_style(Style::Solid))
            .to_scale();
        let path = Panel::new("x / m", "y / m")
            .with_series(Series::new("", along(0), along(1)).with_style(Style::Solid));
        let path = match is_narrow(&along(0), &along(1)) {
            true => path,
            false => path.to_scale(),
        };
        Figure::new(title).with_panel(diagram).with_panel(path)
    }
}

/// Whether a path is so narrow that nothing of its shape would be seen to scale, as that of a lane change.
fn is_narrow(x: &[f64], y: &[f64]) -> bool {
    let span = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        high - low
    };
    let (long, wide) = (span(x).max(span(y)), span(x).min(span(y)));
    wide < NARROW * long
}
