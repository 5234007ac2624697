//! What is drawn and has no mass.

use oldham_multibody::Marker;

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::{read, read_if};
use crate::format::At;
use crate::format::multibody::{Multibody, Visual};
use crate::mechanism::{Look, Pose, Shape, VisualSketch};

impl Checker<'_> {
    pub(super) fn visuals(&mut self, section: &Multibody, draft: &mut MechanismDraft<'_>) {
        for entry in &section.visuals {
            self.name(&entry.name, "a visual");
            if let Some(visual) = self.visual(&entry.value, draft) {
                draft.spec.sketch.visuals.push(visual);
            }
        }
    }

    fn visual(&mut self, at: &At<Visual>, draft: &MechanismDraft<'_>) -> Option<VisualSketch> {
        let given = &at.value;
        let node = read(&given.node, |node| self.node_named(node, draft));
        let offset = self.vector_or_zero(&given.position);
        let axes = self.orientation_in(&Pose::ABSOLUTE, &given.orientation);
        let colour = read_if(&given.colour, |colour| self.colour(colour));
        if given.mesh.is_none() {
            self.unused(&given.scale, "only a mesh has a scale");
        }
        let kinds = [
            ("box", given.cuboid.is_some()),
            ("sphere", given.sphere.is_some()),
            ("cylinder", given.cylinder.is_some()),
            ("capsule", given.capsule.is_some()),
            ("mesh", given.mesh.is_some()),
        ];
        self.one_way(&at.span, &kinds, ["the visual is", "things"])?;
        let look = self.look(given)?;
        Some(VisualSketch {
            at: Marker::on(node?).offset(offset?).oriented(axes?),
            look,
            colour: colour?,
        })
    }

    fn look(&mut self, given: &Visual) -> Option<Look> {
        let round = |self_: &mut Self, list| self_.numbers(list, "radius and length");
        if let Some(mesh) = &given.mesh {
            let scale = match &given.scale {
                Some(scale) => self.factors(scale)?,
                None => [1.0; 3],
            };
            let path = mesh.value.clone();
            return Some(Look::Mesh { path, scale });
        }
        if let Some(list) = &given.capsule {
            let [radius, length] = round(self, list)?;
            return Some(Look::Capsule { radius, length });
        }
        if let Some(list) = &given.cylinder {
            let [outer, length] = round(self, list)?;
            return Some(Look::Plain(Shape::Tube {
                outer,
                inner: 0.0,
                length,
            }));
        }
        if let Some(sides) = &given.cuboid {
            let sides = self.numbers(sides, "the lengths of a box")?;
            return Some(Look::Plain(Shape::Box(sides)));
        }
        Some(Look::Plain(Shape::Sphere(self.required(&given.sphere)?)))
    }

    fn factors(&mut self, given: &At<crate::format::multibody::Vector>) -> Option<[f64; 3]> {
        let factors: [f64; 3] = self.numbers(given, "factors along the three axes")?;
        if factors.contains(&0.0) {
            let message = "a factor of zero leaves nothing to see";
            self.report(&given.span, message);
            return None;
        }
        Some(factors)
    }

    fn colour(&mut self, given: &At<String>) -> Option<[u8; 3]> {
        let parts = given.value.strip_prefix('#').filter(|digits| {
            digits.len() == 6 && digits.chars().all(|digit| digit.is_ascii_hexdigit())
        });
        let Some(digits) = parts else {
            let message = format!("`{}` is not a colour", given.value);
            self.report(&given.span, message).help(
                "write two hexadecimal digits each for red, green and blue, such as \"#c06020\"",
            );
            return None;
        };
        let part = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).unwrap_or(0);
        Some([part(0), part(2), part(4)])
    }
}
