//! Aerodynamics in model files.

use super::ground::{RoadSettings, road};
use crate::aerodynamics::{AeroMap, Aerodynamics};
use crate::road::HeightGrid;
use oldham_model::{At, Problem, Site};
use schemars::JsonSchema;
use serde::Deserialize;

/// Aerodynamic forces on a chassis whose axes point forward, to the left and up: drag and downforce
/// as maps over the ride heights at both axles, each times the dynamic pressure and the area.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// The node of the chassis.
    on: At<String>,
    /// The point above the front axle whose distance from the road is the front ride height, in m.
    front: [f64; 3],
    /// The same above the rear axle.
    rear: [f64; 3],
    /// Reference area in m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    area: f64,
    /// Density of the air in kg/m³.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 1.2))]
    density: Option<f64>,
    /// The lowest and the highest front ride height of the maps in m.
    front_heights: At<[f64; 2]>,
    /// The lowest and the highest rear ride height of the maps in m.
    rear_heights: At<[f64; 2]>,
    /// Drag: a row for each rear ride height, at equal distances, with a number for each front ride
    /// height.
    drag: At<Vec<Vec<f64>>>,
    /// Downforce at the front axle, in the same way.
    front_downforce: At<Vec<Vec<f64>>>,
    /// Downforce at the rear axle, in the same way.
    rear_downforce: At<Vec<Vec<f64>>>,
    /// How drag, front and rear downforce grow with the square of the sine of the yaw angle.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    by_yaw: Option<[f64; 3]>,
    /// Side force over the sine of the yaw angle.
    #[serde(default)]
    side: f64,
    /// Yawing moment over the sine of the yaw angle and over the distance of the axles; positive
    /// turns the nose into the flow.
    #[serde(default)]
    yawing: f64,
    /// The road. By default the plane z = 0.
    road: Option<RoadSettings>,
    /// The road of this tyre, which is written further up, instead.
    road_of: Option<At<String>>,
}

pub(super) fn make(settings: Settings, site: &mut Site<'_>) -> Option<Aerodynamics> {
    let chassis = site.node(&settings.on)?;
    let heights = [&settings.front_heights, &settings.rear_heights];
    let maps = [
        &settings.drag,
        &settings.front_downforce,
        &settings.rear_downforce,
    ];
    let [drag, front, rear] = maps.map(|rows| map(rows, heights, site));
    let road = road(&settings.road, &settings.road_of, site)?;
    let map = AeroMap {
        drag: drag?,
        front: front?,
        rear: rear?,
        by_yaw: settings.by_yaw.unwrap_or_default(),
        side: settings.side,
        yawing: settings.yawing,
    };
    let points = [settings.front, settings.rear].map(|point| super::place(point, chassis, site));
    let density = settings.density.unwrap_or(1.2);
    Some(Aerodynamics::new(
        chassis,
        points,
        density,
        settings.area,
        map,
        road,
    ))
}

fn map(
    rows: &At<Vec<Vec<f64>>>,
    heights: [&At<[f64; 2]>; 2],
    site: &mut Site<'_>,
) -> Option<HeightGrid> {
    for range in heights {
        if range.value[0] >= range.value[1] {
            let problem = Problem::new(range.span.clone(), "the ride heights do not rise");
            site.report(problem.help("give the lowest, then the highest"));
            return None;
        }
    }
    let counts = [rows.value.first().map_or(0, Vec::len), rows.value.len()];
    let is_even = rows.value.iter().all(|row| row.len() == counts[0]);
    if counts[0] < 2 || counts[1] < 2 || !is_even {
        let message = "a map needs at least two rows of equally many numbers, at least two";
        let problem = Problem::new(rows.span.clone(), message);
        site.report(problem.help("repeat a number where nothing changes"));
        return None;
    }
    let spacing = [0, 1].map(|axis| {
        let [low, high] = heights[axis].value;
        (high - low) / (counts[axis] - 1) as f64
    });
    let origin = heights.map(|range| range.value[0]);
    Some(HeightGrid::new(
        origin,
        spacing,
        counts,
        rows.value.concat(),
    ))
}
