//! Sensors.

use std::collections::HashMap;

use oldham_space::Vec3;
use roxmltree::Node as Xml;

use super::{Placed, Read, Reader};
use crate::machine::{Sensor, SensorKind};
use crate::xml::elements;

impl Reader<'_> {
    /// The coordinate and the rate of every joint.
    pub(super) fn joint_sensors(&mut self) {
        for (node, at) in self.machine.nodes.iter().enumerate() {
            let Some(joint) = at.joint.as_ref().filter(|joint| joint.kind.is_single()) else {
                continue;
            };
            let sensors = [
                (joint.name.clone(), SensorKind::Coordinate(node)),
                (format!("{}_rate", joint.name), SensorKind::Rate(node)),
            ];
            let sensors = sensors
                .into_iter()
                .map(|(name, kind)| Sensor { name, kind });
            self.machine.sensors.extend(sensors);
        }
    }

    pub(super) fn sensors(
        &mut self,
        section: Xml<'_, '_>,
        drives: &HashMap<String, usize>,
    ) -> Read<()> {
        for xml in elements(section) {
            let tag = xml.tag_name().name();
            let name = self.name(xml.attribute("name"), tag);
            let joint = || self.single(xml.attribute("joint")?);
            let single = match tag {
                "jointpos" => joint().map(SensorKind::Coordinate),
                "jointvel" => joint().map(SensorKind::Rate),
                "actuatorfrc" => xml
                    .attribute("actuator")
                    .and_then(|name| drives.get(name).copied())
                    .map(SensorKind::Torque),
                _ => None,
            };
            if let Some(kind) = single {
                self.machine.sensors.push(Sensor { name, kind });
                continue;
            }
            let place = self.observed(xml);
            let (Some(Placed { node, at }), true) = (place, xml.attribute("reftype").is_none())
            else {
                self.report.unknown(xml, &format!("sensors <{tag}>"));
                continue;
            };
            for (axis, letter) in [(Vec3::X, "x"), (Vec3::Y, "y"), (Vec3::Z, "z")] {
                let kind = match tag {
                    "framepos" => SensorKind::Displacement(node, at.origin, axis),
                    "framelinvel" => SensorKind::Velocity(node, at.origin, axis),
                    "frameangvel" => SensorKind::Spin(node, axis),
                    _ => {
                        self.report.unknown(xml, &format!("sensors <{tag}>"));
                        break;
                    }
                };
                let name = format!("{name}_{letter}");
                self.machine.sensors.push(Sensor { name, kind });
            }
        }
        Ok(())
    }

    /// The body or site that a sensor looks at, if it moves.
    fn observed(&self, xml: Xml<'_, '_>) -> Option<Placed> {
        let name = xml.attribute("objname")?;
        let placed = match xml.attribute("objtype")? {
            "site" => self.sites.get(name),
            "body" | "xbody" => self.bodies.get(name),
            _ => None,
        };
        placed.copied().filter(|placed| placed.node.is_some())
    }
}
