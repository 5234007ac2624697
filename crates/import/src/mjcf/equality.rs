//! Constraints between bodies and between joints.

use oldham_space::Vec3;
use roxmltree::Node as Xml;

use super::{Placed, Read, Reader};
use crate::error::ImportError;
use crate::machine::{Coupling, Loop};
use crate::pose::Pose;
use crate::xml::elements;

impl Reader<'_> {
    pub(super) fn equality(&mut self, section: Xml<'_, '_>) -> Read<()> {
        for xml in elements(section) {
            let given = self.classes.of_element(xml, None);
            if given.get("active") == Some("false") {
                self.report.unknown(xml, "constraints that are not active");
                continue;
            }
            match xml.tag_name().name() {
                "joint" => self.joint_equality(xml)?,
                "connect" => self.closing(xml, false)?,
                "weld" => self.closing(xml, true)?,
                other => self.report.unknown(xml, &format!("constraints <{other}>")),
            }
        }
        Ok(())
    }

    fn joint_equality(&mut self, xml: Xml<'_, '_>) -> Read<()> {
        let given = self.classes.of_element(xml, None);
        let joint = |key: &str| match given.get(key) {
            None => Ok(None),
            Some(name) => match self.single(name) {
                Some(node) => Ok(Some(node)),
                None => {
                    let message = format!("there is no joint `{name}` that turns or slides");
                    Err(ImportError::at(xml, message))
                }
            },
        };
        let (Some(first), second) = (joint("joint1")?, joint("joint2")?) else {
            return Err(ImportError::at(xml, "<joint> has no `joint1`"));
        };
        let Some(second) = second else {
            self.report.left_out(
                xml,
                "a constraint that holds one joint: prescribe its angle or slide instead",
            );
            return Ok(());
        };
        if first == second {
            return Err(ImportError::at(xml, "a joint cannot follow itself"));
        }
        let coefficients = given.list("polycoef")?.unwrap_or_else(|| vec![0.0, 1.0]);
        if coefficients.iter().skip(2).any(|&value| value != 0.0) {
            self.report
                .left_out(xml, "a constraint between joints that is not linear");
            return Ok(());
        }
        let [offset, ratio] = [0, 1].map(|i| coefficients.get(i).copied().unwrap_or(0.0));
        let start = self.start(second) * ratio + offset;
        if let Some(joint) = &mut self.machine.nodes[first].joint {
            joint.start = start;
        }
        let name = self.name(xml.attribute("name"), "equality");
        self.machine.couplings.push(Coupling {
            name,
            joints: [first, second],
            ratio,
        });
        Ok(())
    }

    fn start(&self, node: usize) -> f64 {
        self.machine.nodes[node]
            .joint
            .as_ref()
            .map_or(0.0, |joint| joint.start)
    }

    /// The node that a joint with one coordinate moves.
    pub(super) fn single(&self, name: &str) -> Option<usize> {
        let node = *self.joints.get(name)?;
        let joint = self.machine.nodes[node].joint.as_ref()?;
        joint.kind.is_single().then_some(node)
    }

    fn closing(&mut self, xml: Xml<'_, '_>, is_rigid: bool) -> Read<()> {
        let given = self.classes.of_element(xml, None);
        let site = |key: &str| -> Read<Option<Placed>> {
            let Some(name) = given.get(key) else {
                return Ok(None);
            };
            let found = self.sites.get(name).copied();
            let message = || ImportError::at(xml, format!("there is no site `{name}`"));
            found.map(Some).ok_or_else(message)
        };
        let (first, second) = match (site("site1")?, site("site2")?) {
            (Some(first), Some(second)) => (first, second),
            _ => {
                let first = self.body_named(xml, "body1")?;
                let second = match xml.attribute("body2") {
                    Some(_) => self.body_named(xml, "body2")?,
                    None => Placed {
                        node: None,
                        at: Pose::default(),
                    },
                };
                let anchor = given.vector("anchor")?.unwrap_or(Vec3::ZERO);
                let at = first.at.then(&Pose::at(anchor));
                (Placed { at, ..first }, second)
            }
        };
        if first.node == second.node {
            self.report
                .left_out(xml, "a constraint within one rigid body");
            return Ok(());
        }
        if is_rigid
            && given
                .list("relpose")?
                .is_some_and(|pose| pose.iter().any(|&x| x != 0.0))
        {
            self.report
                .unknown(xml, "`relpose`: bodies are welded as they are at the start");
        }
        let name = self.name(xml.attribute("name"), "loop");
        self.machine.loops.push(Loop {
            name,
            nodes: [first.node, second.node],
            is_rigid,
            at: first.at,
        });
        Ok(())
    }
}
