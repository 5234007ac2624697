//! Bodies, their joints, and their inertia.

use oldham_space::{Mat3, Vec3};
use roxmltree::Node as Xml;

use super::defaults::Given;
use super::{Placed, Read, Reader};
use crate::content::{carried, together};
use crate::error::ImportError;
use crate::inertia::{nearest_possible, tensor};
use crate::machine::{Body, Joint, JointKind, Node};
use crate::pose::Pose;
use crate::xml::{elements, named, size, unit};

impl Reader<'_> {
    /// What stands within a body, a frame or the world.
    pub(super) fn children(
        &mut self,
        parent: Xml<'_, '_>,
        here: Placed,
        class: Option<&str>,
    ) -> Read<Vec<Body>> {
        let mut bodies = Vec::new();
        for xml in elements(parent) {
            match xml.tag_name().name() {
                "body" => self.body(xml, here, class)?,
                "geom" => bodies.extend(self.geom(xml, here, class)?),
                "site" => {
                    let given = self.classes.of_element(xml, class);
                    let at = here.at.then(&self.pose(&given)?);
                    if let Some(name) = xml.attribute("name") {
                        self.sites.insert(
                            name.to_owned(),
                            Placed {
                                node: here.node,
                                at,
                            },
                        );
                    }
                }
                "frame" => {
                    let given = self.classes.of_element(xml, None);
                    let at = here.at.then(&self.pose(&given)?);
                    let class = xml.attribute("childclass").or(class);
                    bodies.extend(self.children(xml, Placed { at, ..here }, class)?);
                }
                "joint" | "freejoint" | "inertial" => {
                    let is_stray = parent.has_tag_name("frame") || parent.has_tag_name("worldbody");
                    if is_stray && !xml.has_tag_name("inertial") {
                        self.report.unknown(xml, "joints in frames");
                    }
                }
                "camera" | "light" => {}
                other => self.report.unknown(xml, &format!("<{other}> of bodies")),
            }
        }
        Ok(bodies)
    }

    fn body(&mut self, xml: Xml<'_, '_>, parent: Placed, class: Option<&str>) -> Read<()> {
        let given = self.classes.of_element(xml, None);
        let name = self.name(xml.attribute("name"), "body");
        if self.bodies.contains_key(&name) {
            return Err(ImportError::at(
                xml,
                format!("there are two bodies `{name}`"),
            ));
        }
        let class = xml.attribute("childclass").or(class);
        for key in ["mocap", "gravcomp"] {
            if given
                .get(key)
                .is_some_and(|value| value != "false" && value != "0")
            {
                self.report.unknown(xml, &format!("`{key}` of bodies"));
            }
        }
        let mut here = Placed {
            node: parent.node,
            at: parent.at.then(&self.pose(&given)?),
        };
        let joints: Vec<Xml<'_, '_>> = elements(xml)
            .filter(|child| child.has_tag_name("joint") || child.has_tag_name("freejoint"))
            .collect();
        let count = joints.len();
        for (place, joint) in joints.into_iter().enumerate() {
            let is_last = place + 1 == count;
            here = self.joint(joint, here, &name, is_last, class)?;
        }
        if count == 0 {
            self.report.counts.fixed_joints += 1;
        }
        self.bodies.insert(name.clone(), here);
        let shapes = self.children(xml, here, class)?;
        let own = named(xml, "inertial").next();
        let body = match (own, self.compiler.from_shapes) {
            (Some(inertial), None | Some(false)) => self
                .inertial(inertial, &name)?
                .map(|body| carried(&body, &here.at)),
            (None, Some(false)) => None,
            _ => together(name.clone(), &shapes),
        };
        if let (Some(body), Some(_)) = (body, here.node) {
            self.machine.content(here.node).bodies.push(body);
        }
        Ok(())
    }

    /// A node after a joint; where the body is on it.
    fn joint(
        &mut self,
        xml: Xml<'_, '_>,
        here: Placed,
        body: &str,
        is_last: bool,
        class: Option<&str>,
    ) -> Read<Placed> {
        let given = self.classes.of_element(xml, class);
        let kind = match given.get("type").unwrap_or("hinge") {
            _ if xml.has_tag_name("freejoint") => None,
            "free" => None,
            "hinge" => Some(JointKind::Hinge),
            "slide" => Some(JointKind::Slide),
            "ball" => Some(JointKind::Ball),
            other => {
                let message =
                    format!("a joint cannot be `{other}`; known are hinge, slide, ball and free");
                return Err(ImportError::at(xml, message));
            }
        };
        let name = self.name(xml.attribute("name"), &format!("{body}_joint"));
        let node_name = match is_last {
            true => body.to_owned(),
            false => format!("{body}_{name}"),
        };
        let number = self.machine.nodes.len();
        let Some(kind) = kind else {
            if here.node.is_some() {
                return Err(ImportError::at(
                    xml,
                    "a body with a free joint must stand in <worldbody>",
                ));
            }
            self.machine.nodes.push(Node {
                name: node_name,
                parent: None,
                origin: here.at,
                joint: None,
                content: Default::default(),
            });
            return Ok(Placed {
                node: Some(number),
                at: Pose::default(),
            });
        };
        let anchor = given.vector("pos")?.unwrap_or(Vec3::ZERO);
        let joint = self.joint_values(&given, &name, kind)?;
        self.zeros.insert(number, self.reference(&given, kind)?);
        self.machine.nodes.push(Node {
            name: node_name,
            parent: here.node,
            origin: here.at.then(&Pose::at(anchor)),
            joint: Some(joint),
            content: Default::default(),
        });
        if self.joints.insert(name.clone(), number).is_some() {
            return Err(ImportError::at(
                xml,
                format!("there are two joints `{name}`"),
            ));
        }
        Ok(Placed {
            node: Some(number),
            at: Pose::at(anchor * -1.0),
        })
    }

    /// The value of a joint where the file draws it.
    fn reference(&self, given: &Given<'_, '_>, kind: JointKind) -> Read<f64> {
        let unit = if kind == JointKind::Hinge {
            self.compiler.angle
        } else {
            1.0
        };
        Ok(given.first("ref")?.unwrap_or(0.0) * unit)
    }

    fn joint_values(&mut self, given: &Given<'_, '_>, name: &str, kind: JointKind) -> Read<Joint> {
        let axis = given.vector("axis")?.unwrap_or(Vec3::Z);
        let axis = match kind {
            JointKind::Ball => Vec3::Z,
            _ => unit(given.xml, "axis", axis)?,
        };
        let angle = if kind == JointKind::Hinge {
            self.compiler.angle
        } else {
            1.0
        };
        let reference = self.reference(given, kind)?;
        let mut joint = Joint::new(name, kind, axis);
        joint.damping = given.positive("damping")?;
        joint.stiffness = given.positive("stiffness")?;
        joint.friction = given.positive("frictionloss")?;
        joint.inertia = given.positive("armature")?;
        joint.rest = given.first("springref")?.unwrap_or(0.0) * angle - reference;
        if given.is_limited("limited", "range", self.compiler.auto_limits) {
            let [low, high] = given.array::<2>("range")?.unwrap_or_default();
            if !kind.is_single() {
                self.report.unknown(given.xml, "limits of ball joints");
            } else if low > high {
                let message = format!("the lower limit {low} is above the upper one, {high}");
                return Err(ImportError::at(given.xml, message));
            } else if low < high {
                let limits = [low * angle - reference, high * angle - reference];
                joint.limits = Some(limits);
                joint.start = 0.0_f64.clamp(limits[0], limits[1]);
            }
        }
        if let Some([low, high]) = given.array::<2>("actuatorfrcrange")? {
            let effort = low.abs().max(high.abs());
            joint.effort = (effort > 0.0).then_some(effort);
        }
        if kind == JointKind::Ball {
            for (value, key) in [
                (joint.friction, "frictionloss"),
                (joint.inertia, "armature"),
            ] {
                if value > 0.0 {
                    self.report
                        .unknown(given.xml, &format!("`{key}` of ball joints"));
                }
            }
        }
        Ok(joint)
    }

    fn inertial(&mut self, xml: Xml<'_, '_>, name: &str) -> Read<Option<Body>> {
        let given = self.classes.of_element(xml, None);
        let at = self.pose(&given)?;
        let Some(mass) = given.first("mass")? else {
            return Err(ImportError::at(xml, "<inertial> has no `mass`"));
        };
        let mass = size(xml, "mass", mass, true)?;
        let inertia = match (
            given.array::<6>("fullinertia")?,
            given.array::<3>("diaginertia")?,
        ) {
            (Some(full), _) => tensor(full),
            (None, Some([x, y, z])) => Mat3::diagonal(x, y, z),
            (None, None) => Mat3::ZERO,
        };
        for (i, key) in ["xx", "yy", "zz"].iter().enumerate() {
            size(xml, key, inertia.0[i][i], true)?;
        }
        if mass == 0.0 {
            return Ok(None);
        }
        let (possible, off) = nearest_possible(inertia);
        if off > 0.0 {
            let text = format!(
                "no body has the inertia of `{name}`: the nearest that is possible is taken ({:.2} % of the largest \
                 second moment)",
                100.0 * off
            );
            self.report.remark(xml, text);
        }
        let inertia = at.axes * possible * at.axes.transpose();
        Ok(Some(Body {
            name: name.to_owned(),
            mass,
            centre: at.origin,
            inertia: (inertia + inertia.transpose()) * 0.5,
        }))
    }

    /// Pairs of bodies that pass through each other.
    pub(super) fn exclusions(&mut self, section: Xml<'_, '_>) -> Read<()> {
        for xml in elements(section) {
            if !xml.has_tag_name("exclude") {
                self.report
                    .unknown(xml, &format!("contacts by <{}>", xml.tag_name().name()));
                continue;
            }
            let node = |key: &str| self.body_named(xml, key).map(|placed| placed.node);
            let pair = [node("body1")?, node("body2")?];
            self.machine.exclusions.push(pair);
        }
        Ok(())
    }

    /// The body that an attribute names.
    pub(super) fn body_named(&self, xml: Xml<'_, '_>, key: &str) -> Read<Placed> {
        let name = crate::xml::required(xml, key)?;
        self.bodies
            .get(name)
            .copied()
            .ok_or_else(|| ImportError::at(xml, format!("there is no body `{name}`")))
    }
}
