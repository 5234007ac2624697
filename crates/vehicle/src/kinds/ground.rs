//! Roads, and points of bodies that may touch them.

use super::track::{TrackSettings, track};
use crate::ground::{GroundContact, GroundLaw};
use crate::road::{HeightGrid, Road, RoughRoad, RoughnessClass};
use crate::tyre::Tyre;
use oldham_model::{At, Outline, Problem, Site};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// A road. Without `class`, `file` and `track` it is a plane.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RoadSettings {
    /// Height of the plane at the origin in m.
    #[schemars(extend("default" = 0.0))]
    height: Option<f64>,
    /// Slopes of the plane along x and y.
    slope: Option<[f64; 2]>,
    /// Friction over that on which the tyres were measured.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 1.0))]
    grip: Option<f64>,
    /// A rough road of this class of ISO 8608; with `track`, along its line.
    class: Option<Class>,
    /// With `class` and without `track`: the length in m after which the road repeats.
    #[schemars(range(min = 10.0, max = 2000.0), extend("default" = 200.0))]
    length: Option<f64>,
    /// With `class` and without `track`: the width in m, to both sides of the x axis together.
    #[schemars(range(min = 0.1, max = 50.0), extend("default" = 4.0))]
    width: Option<f64>,
    /// With `class`: the same seed gives the same road.
    #[schemars(extend("default" = 0))]
    seed: Option<u64>,
    /// Heights from a file beside the model: lines of x, y and z in m, on a rectangular grid.
    file: Option<At<String>>,
    /// A road along a closed centre line, which is drawn and on which laps are timed.
    track: Option<At<TrackSettings>>,
}

/// Classes of roughness of ISO 8608, from very good to poor.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
enum Class {
    A,
    B,
    C,
    D,
    E,
}

impl From<Class> for RoughnessClass {
    fn from(class: Class) -> Self {
        match class {
            Class::A => Self::A,
            Class::B => Self::B,
            Class::C => Self::C,
            Class::D => Self::D,
            Class::E => Self::E,
        }
    }
}

impl RoadSettings {
    pub fn make(&self, site: &mut Site<'_>) -> Option<Arc<Road>> {
        if let Some(message) = self.useless() {
            let problem = Problem::new(site.place(), message);
            site.report(problem.help(
                "a road is a plane, or rough, or read from a file, or a track: keep the keys of one",
            ));
            return None;
        }
        let density = self
            .class
            .map(|class| RoughnessClass::from(class).density());
        let seed = self.seed.unwrap_or(0);
        let road = match (&self.file, density) {
            _ if self.track.is_some() => {
                let roughness = density.map(|density| (density, seed));
                let track = track(self.track.as_ref()?, roughness, site)?;
                site.draw(Outline::Road(Arc::new(track.sketch())));
                Road::track(track)
            }
            (Some(file), Some(_)) => {
                let message = "a road from a file has no class of roughness";
                let problem = Problem::new(file.span.clone(), message);
                site.report(problem.help("keep `file` or `class`"));
                return None;
            }
            (Some(file), None) => Road::grid(surveyed(file, site)?),
            (None, Some(density)) => {
                let rough = RoughRoad {
                    density,
                    length: self.length.unwrap_or(200.0),
                    width: self.width.unwrap_or(4.0),
                    seed,
                };
                Road::grid(rough.grid())
            }
            (None, None) => Road::plane(self.height.unwrap_or(0.0), self.slope.unwrap_or_default()),
        };
        Some(Arc::new(road.with_grip(self.grip.unwrap_or(1.0))))
    }
}

impl RoadSettings {
    /// A key that does nothing for a road of this kind.
    fn useless(&self) -> Option<String> {
        let is_rough = self.class.is_some();
        let is_plane = self.track.is_none() && self.file.is_none() && !is_rough;
        let repeats = is_rough && self.track.is_none();
        let kind = match (&self.track, &self.file) {
            (Some(_), _) => "a track",
            (None, Some(_)) => "a road from a file",
            (None, None) if is_rough => "a road with a class of roughness",
            (None, None) => "a plane road",
        };
        let keys = [
            ("height", self.height.is_some() && !is_plane),
            ("slope", self.slope.is_some() && !is_plane),
            ("length", self.length.is_some() && !repeats),
            ("width", self.width.is_some() && !repeats),
            ("seed", self.seed.is_some() && !is_rough),
            ("file", self.file.is_some() && self.track.is_some()),
        ];
        let (key, _) = keys.into_iter().find(|(_, is_useless)| *is_useless)?;
        Some(format!("{kind} has no `{key}`"))
    }
}

fn surveyed(file: &At<String>, site: &mut Site<'_>) -> Option<HeightGrid> {
    let text = read(file, "road", site)?;
    match HeightGrid::parse(&text) {
        Ok(grid) => Some(grid),
        Err(problems) => {
            for problem in problems {
                let line = problem
                    .line
                    .map_or(String::new(), |line| format!(", line {line}"));
                let message = format!("`{}`{line}: {}", file.value, problem.what);
                site.report(Problem::new(file.span.clone(), message).help(problem.help));
            }
            None
        }
    }
}

/// Longest file of a road or a tyre that is read.
const MOST_BYTES: u64 = 256 << 20;

/// The text of a file that a model names; a problem is reported.
pub(super) fn read(file: &At<String>, what: &str, site: &mut Site<'_>) -> Option<String> {
    let path = site.beside(&file.value);
    match oldham_files::read(&path, MOST_BYTES) {
        Ok(bytes) => Some(decoded(bytes)),
        Err(error) => {
            let message = format!(
                "the {what} file `{}` cannot be read: {error}",
                path.display()
            );
            let problem = Problem::new(file.span.clone(), message);
            site.report(problem.help("give its path relative to the folder of the model file"));
            None
        }
    }
}

/// Text in UTF-8, or in Latin-1, which old programs write.
fn decoded(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.into_bytes();
        bytes.into_iter().map(char::from).collect()
    })
}

/// The road of a tyre that was described before, or the one that is described here.
pub(super) fn road(
    given: &Option<RoadSettings>,
    of: &Option<At<String>>,
    site: &mut Site<'_>,
) -> Option<Arc<Road>> {
    match (given, of) {
        (_, Some(name)) => Some(known_tyre(name, site)?.road().clone()),
        (Some(road), None) => road.make(site),
        (None, None) => Some(Arc::new(Road::flat())),
    }
}

/// A tyre that was described before; a problem is reported.
pub(super) fn known_tyre(name: &At<String>, site: &mut Site<'_>) -> Option<Tyre> {
    let model = site.model();
    let element = model.find_element(&name.value);
    let tyre = element.and_then(|element| model.get(element).downcast_ref::<Tyre>().cloned());
    if tyre.is_none() {
        let message = format!("there is no tyre `{}` before this", name.value);
        let problem = Problem::new(name.span.clone(), message);
        site.report(problem.help("name an element of type `tyre` that is written further up"));
    }
    tyre
}

/// A point of a body that may touch the road: a floor that scrapes, a roll hoop. It is pushed back by
/// a spring and a damper, and rubs.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// The node of the body.
    on: At<String>,
    /// The point in m.
    point: [f64; 3],
    /// Stiffness in N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    stiffness: f64,
    /// Damping in N·s/m.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    damping: f64,
    /// Coefficient of friction.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    friction: f64,
    /// The road. By default the plane z = 0.
    road: Option<RoadSettings>,
    /// The road of this tyre, which is written further up, instead.
    road_of: Option<At<String>>,
}

pub(super) fn make(settings: Settings, site: &mut Site<'_>) -> Option<GroundContact> {
    let node = site.node(&settings.on)?;
    let road = road(&settings.road, &settings.road_of, site)?;
    let law = GroundLaw {
        stiffness: settings.stiffness,
        damping: settings.damping,
        friction: settings.friction,
    };
    let point = super::place(settings.point, node, site);
    Some(GroundContact::new(node, point, law, road))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_in_latin_1_are_read() {
        assert_eq!(decoded(b"! \xb0C\nUX = 1".to_vec()), "! \u{b0}C\nUX = 1");
        assert_eq!(decoded("! °C".into()), "! °C");
    }
}
