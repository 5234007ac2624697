//! Shapes: what they weigh, what they touch, what is seen of them.

use oldham_space::Vec3;
use roxmltree::Node as Xml;

use super::defaults::Given;
use super::{Placed, Read, Reader};
use crate::content::{Amount, body};
use crate::error::ImportError;
use crate::machine::{Body, Form, Solid};
use crate::pose::{Pose, third_along};
use crate::xml::size;

/// Density in kg/m³ of shapes that give none.
const DENSITY: f64 = 1000.0;
/// Shapes of higher groups are not seen.
const SEEN_GROUPS: f64 = 2.0;

impl Reader<'_> {
    /// Puts a shape on its node; gives its mass.
    pub(super) fn geom(
        &mut self,
        xml: Xml<'_, '_>,
        here: Placed,
        class: Option<&str>,
    ) -> Read<Option<Body>> {
        let given = self.classes.of_element(xml, class);
        let Some((form, at)) = self.form(&given)? else {
            return Ok(None);
        };
        let name = self.name(xml.attribute("name"), "shape");
        let colour = match given.array::<4>("rgba")? {
            Some([r, g, b, _]) => Some([r, g, b].map(|part| part.clamp(0.0, 1.0))),
            None => given
                .get("material")
                .and_then(|material| self.colours.get(material).copied()),
        };
        let friction = given.first("friction")?;
        let solid = Solid {
            name: name.clone(),
            at: here.at.then(&at),
            form,
            colour,
            friction: friction
                .filter(|&friction| friction >= 0.0 && friction != self.machine.friction),
        };
        let mass = self.mass(&given, &solid, &name)?;
        let bit = |key: &str| Ok::<_, ImportError>(given.first(key)?.unwrap_or(1.0) != 0.0);
        let touches = bit("contype")? || bit("conaffinity")?;
        let is_seen = given.first("group")?.unwrap_or(0.0) <= SEEN_GROUPS;
        let content = self.machine.content(here.node);
        if is_seen && !matches!(solid.form, Form::Plane) {
            content.visuals.push(solid.clone());
        }
        if touches {
            content.shapes.push(solid);
        }
        Ok(mass)
    }

    fn mass(&mut self, given: &Given<'_, '_>, solid: &Solid, name: &str) -> Read<Option<Body>> {
        let amount = match given.first("mass")? {
            Some(mass) => Amount::Mass(size(given.xml, "mass", mass, true)?),
            None => {
                let density = given.first("density")?.unwrap_or(DENSITY);
                Amount::Density(size(given.xml, "density", density, true)?)
            }
        };
        if matches!(amount, Amount::Mass(0.0) | Amount::Density(0.0))
            || matches!(solid.form, Form::Plane)
        {
            return Ok(None);
        }
        let found = body(solid, name.to_owned(), amount, &self.meshes);
        if found.is_none() {
            let text =
                format!("the mass of `{name}`: its surface is open, or given by points alone");
            self.report.left_out(given.xml, text);
        }
        Ok(found)
    }

    fn form(&mut self, given: &Given<'_, '_>) -> Read<Option<(Form, Pose)>> {
        let xml = given.xml;
        let kind = match (given.get("type"), given.get("mesh")) {
            (Some(kind), _) => kind.to_owned(),
            (None, Some(_)) => "mesh".to_owned(),
            (None, None) => "sphere".to_owned(),
        };
        let sizes = given.list("size")?.unwrap_or_default();
        let length = |place: usize| {
            let value = sizes.get(place).copied();
            let value = value.ok_or_else(|| {
                ImportError::at(
                    xml,
                    format!("`size` of a {kind} needs more numbers than {}", sizes.len()),
                )
            })?;
            size(xml, "size", value, false)
        };
        let mut at = self.pose(given)?;
        let mut half = None;
        if let Some([a, b, c, d, e, f]) = given.array::<6>("fromto")? {
            let (from, to) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
            let line = from - to;
            let norm = line.norm();
            if norm.is_nan() || norm <= 0.0 {
                return Err(ImportError::at(xml, "both ends of `fromto` are the same"));
            }
            half = Some(0.5 * norm);
            at = Pose {
                origin: (from + to) * 0.5,
                axes: third_along(line * (1.0 / norm)),
            };
        }
        let half_length = |place: usize| half.map_or_else(|| length(place), Ok);
        let form = match kind.as_str() {
            "sphere" => Form::Sphere(length(0)?),
            "capsule" => Form::Capsule(length(0)?, 2.0 * half_length(1)?),
            "cylinder" => Form::Cylinder(length(0)?, 2.0 * half_length(1)?),
            "box" | "ellipsoid" => {
                let sides = match half {
                    // One number is the half width both ways.
                    Some(half) => [length(0)?, length(0)?, half],
                    None => [length(0)?, length(1)?, length(2)?],
                };
                match kind.as_str() {
                    "box" => Form::Box(sides.map(|half| 2.0 * half)),
                    _ => Form::Ellipsoid(sides),
                }
            }
            "plane" => Form::Plane,
            "mesh" => {
                let name = given.get("mesh").unwrap_or_default();
                let Some(asset) = self.assets.get(name) else {
                    return Err(ImportError::at(
                        xml,
                        format!("there is no mesh `{name}` among the assets"),
                    ));
                };
                at = at.then(&asset.reference);
                match (asset.number, asset.points.is_empty()) {
                    (Some(number), _) => Form::Mesh(number, asset.scale),
                    (None, false) => Form::Points(asset.points.clone()),
                    (None, true) => return Ok(None),
                }
            }
            other => {
                self.report.unknown(xml, &format!("shapes `{other}`"));
                return Ok(None);
            }
        };
        if given.get("mesh").is_some() && kind != "mesh" {
            self.report
                .unknown(xml, "shapes that are fitted to meshes: their size is taken");
        }
        Ok(Some((form, at)))
    }
}
