//! Roads along closed centre lines.

use super::ground::read;
use crate::road::{KerbShape, RoadProblem, Track, TrackShape, parse_line};
use oldham_model::{At, Problem, Site};
use schemars::JsonSchema;
use serde::Deserialize;

/// A road along a closed centre line, and the land around it. The lap begins at the first point of the line and goes on in its
/// order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackSettings {
    /// The centre line from a file beside the model: comma-separated values with the headings `x`, `y` and, if the
    /// road climbs, `z`, in m.
    file: Option<At<String>>,
    /// Instead: its points, each as x, y and z in m.
    points: Option<At<Vec<[f64; 3]>>>,
    /// Width of the road between its kerbs in m.
    #[schemars(range(min = 1.0, max = 100.0), extend("default" = 5.0))]
    width: Option<f64>,
    /// Kerbs on the inside of corners.
    kerbs: Option<KerbSettings>,
    /// Width in m over which the road goes over into the land on each side.
    #[schemars(range(min = 0.1, max = 50.0), extend("default" = 2.0))]
    verge: Option<f64>,
    /// Friction beside the road and its kerbs over that on the road.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 0.6))]
    verge_grip: Option<f64>,
    /// Distance in m of cones along both edges, which are drawn and hit nothing. By default there are none.
    #[schemars(range(min = 0.5))]
    cones: Option<f64>,
    /// Where sectors end, as distances in m along the centre line from the start; the last one ends at the start.
    #[serde(default)]
    sectors: Vec<f64>,
}

/// Kerbs: they rise from the edge of the road, and have teeth that a wheel feels.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KerbSettings {
    /// Width in m.
    #[schemars(range(min = 0.1, max = 3.0), extend("default" = 0.5))]
    width: Option<f64>,
    /// Height of the teeth at the outer side in m.
    #[schemars(range(min = 0.0, max = 0.3), extend("default" = 0.03))]
    height: Option<f64>,
    /// Distance of the teeth in m.
    #[schemars(range(min = 0.1, max = 10.0), extend("default" = 0.8))]
    pitch: Option<f64>,
    /// Corners of a smaller radius in m have kerbs.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 30.0))]
    radius: Option<f64>,
}

/// The track, rough with a density of the height at 0.1 1/m and a seed if these are given.
pub(super) fn track(
    settings: &At<TrackSettings>,
    roughness: Option<(f64, u64)>,
    site: &mut Site<'_>,
) -> Option<Track> {
    let given = &settings.value;
    let (points, place) = match (&given.file, &given.points) {
        (Some(file), None) => {
            let text = read(file, "centre line", site)?;
            let points = match parse_line(&text) {
                Ok(points) => points,
                Err(problems) => {
                    for RoadProblem { line, what, help } in problems {
                        let line = line.map_or(String::new(), |line| format!(", line {line}"));
                        let message = format!("`{}`{line}: {what}", file.value);
                        site.report(Problem::new(file.span.clone(), message).help(help));
                    }
                    return None;
                }
            };
            (points, file.span.clone())
        }
        (None, Some(points)) => (points.value.clone(), points.span.clone()),
        _ => {
            let message = "a track needs exactly one of `file` and `points`";
            let problem = Problem::new(settings.span.clone(), message);
            site.report(problem.help("give the path of a file with the headings `x`, `y` and `z`"));
            return None;
        }
    };
    let shape = TrackShape {
        width: given.width.unwrap_or(5.0),
        kerbs: given.kerbs.map(|kerbs| KerbShape {
            width: kerbs.width.unwrap_or(0.5),
            height: kerbs.height.unwrap_or(0.03),
            pitch: kerbs.pitch.unwrap_or(0.8),
            radius: kerbs.radius.unwrap_or(30.0),
        }),
        verge: given.verge.unwrap_or(2.0),
        verge_grip: given.verge_grip.unwrap_or(0.6),
        roughness,
        cones: given.cones,
        sectors: given.sectors.clone(),
    };
    match Track::new(&points, shape) {
        Ok(track) => Some(track),
        Err(problem) => {
            let report = Problem::new(place, problem.to_string());
            site.report(report.help(problem.help()));
            None
        }
    }
}
