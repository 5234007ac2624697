//! `oldham handling`: what a ride tells of a car.

use oldham_results::read;
use oldham_study::{Handling, HandlingOptions, STANDARD_GRAVITY as GRAVITY};
use serde_json::json;

use crate::failure::Failure;
use crate::table::{Table, number};
use crate::{args, load, picture, say};

pub fn execute(arguments: &args::Handling) -> Result<(), Failure> {
    let table = read(&arguments.result)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.result, "-handling.svg"));
    picture::protect(&out, &[&arguments.result])?;
    let options = HandlingOptions {
        body: arguments.body.clone(),
        steer: arguments.steer.clone(),
        wheelbase: arguments.wheelbase,
        track: arguments.distance.clone().zip(arguments.lap),
    };
    let handling = Handling::of(&table, &options)?;
    handling.figure("g-g diagram and path").save(&out)?;
    if arguments.json {
        let answer =
            json!({"command": "handling", "picture": load::shown(&out), "handling": handling});
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}", figures(&handling));
    say!("picture: {}", out.display());
    Ok(())
}

fn figures(handling: &Handling) -> Table {
    let mut table = Table::new(["what", "value", "unit"]);
    let mut row = |what: &str, value: f64, unit: &str| {
        table.row([what.to_owned(), number(value), unit.to_owned()]);
    };
    let extremes = &handling.extremes;
    row("largest speed", extremes.speed * 3.6, "km/h");
    row("largest acceleration", extremes.accelerating / GRAVITY, "g");
    row("largest deceleration", extremes.braking / GRAVITY, "g");
    row(
        "largest lateral acceleration",
        extremes.cornering / GRAVITY,
        "g",
    );
    row("largest yaw rate", extremes.yaw_rate.to_degrees(), "deg/s");
    row(
        "largest side-slip angle",
        extremes.side_slip.to_degrees(),
        "deg",
    );
    if let Some(step) = &handling.step {
        row("step of the steering", step.steer, "of its unit");
        row(
            "steady lateral acceleration",
            step.lateral_acceleration / GRAVITY,
            "g",
        );
        row("steady yaw rate", step.yaw_rate.to_degrees(), "deg/s");
        row(
            "yaw-rate gain",
            step.yaw_rate_gain,
            "rad/s per unit of the steering",
        );
        row("response time of the yaw rate", step.response_time, "s");
        row("peak time of the yaw rate", step.peak_time, "s");
        row("overshoot of the yaw rate", 100.0 * step.overshoot, "%");
    }
    if let Some(understeer) = &handling.understeer {
        let per_g = understeer.gradient.to_degrees() * GRAVITY;
        row("understeer gradient", per_g, "deg/g");
        row(
            "steering ratio",
            understeer.ratio,
            "rad per unit of the steering",
        );
    }
    if let Some(braking) = &handling.braking {
        row("speed before braking", braking.from * 3.6, "km/h");
        row("stopping distance", braking.distance, "m");
        row(
            "mean deceleration",
            braking.mean_deceleration / GRAVITY,
            "g",
        );
    }
    for (index, lap) in handling.laps.iter().enumerate() {
        row(&format!("lap {}", index + 1), *lap, "s");
    }
    table
}
