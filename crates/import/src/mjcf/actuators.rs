//! Actuators: what they do to joints.

use roxmltree::Node as Xml;

use super::defaults::Given;
use super::{Read, Reader};
use crate::machine::{Drive, DriveKind};
use crate::xml::elements;

impl Reader<'_> {
    /// Drives by the names of their actuators.
    pub(super) fn actuators(&mut self, section: Xml<'_, '_>) -> Read<Vec<(String, usize)>> {
        let mut names = Vec::new();
        for xml in elements(section) {
            let given = self.classes.of_element(xml, None);
            let tag = xml.tag_name().name();
            let Some(joint) = given.get("joint").or(given.get("jointinparent")) else {
                self.report.unknown(
                    xml,
                    &format!("actuators <{tag}> that do not act on a joint"),
                );
                continue;
            };
            let Some(node) = self.single(joint) else {
                let text =
                    format!("the actuator of `{joint}`, which is no joint that turns or slides");
                self.report.left_out(xml, text);
                continue;
            };
            let gear = given.first("gear")?.unwrap_or(1.0);
            let Some(kind) = self.kind(&given, node, gear)? else {
                continue;
            };
            let name = self.name(xml.attribute("name"), &format!("{joint}_{tag}"));
            if kind == DriveKind::Torque && gear != 1.0 {
                let text = format!(
                    "the input `{name}` is the torque of the joint: its gear of {gear} is not in it"
                );
                self.report.remark(xml, text);
            }
            names.push((name.clone(), self.machine.drives.len()));
            self.machine.drives.push(Drive {
                name,
                joint: node,
                kind,
                limit: self.limit(&given, gear)?,
            });
        }
        Ok(names)
    }

    fn kind(&mut self, given: &Given<'_, '_>, node: usize, gear: f64) -> Read<Option<DriveKind>> {
        let tag = given.xml.tag_name().name();
        // Force = gain · control + bias of the length and its rate, both over the gear.
        let (gain, [bias, by_length, by_rate]) = match tag {
            "motor" => return Ok(Some(DriveKind::Torque)),
            "position" => {
                let kp = given.first("kp")?.unwrap_or(1.0);
                let kv = given.first("kv")?.unwrap_or(0.0);
                if given.get("dampratio").is_some() {
                    self.report.unknown(given.xml, "`dampratio` of actuators");
                }
                (kp, [0.0, -kp, -kv])
            }
            "velocity" => {
                let kv = given.first("kv")?.unwrap_or(1.0);
                (kv, [0.0, 0.0, -kv])
            }
            "general" => {
                let is_simple = |key: &str, words: &[&str]| {
                    given.get(key).is_none_or(|word| words.contains(&word))
                };
                if !is_simple("dyntype", &["none"])
                    || !is_simple("gaintype", &["fixed"])
                    || !is_simple("biastype", &["none", "affine"])
                {
                    self.report.unknown(
                        given.xml,
                        "actuators <general> with dynamics or laws of their own",
                    );
                    return Ok(None);
                }
                let gain = given.first("gainprm")?.unwrap_or(1.0);
                let bias = match given.get("biastype") {
                    Some("affine") => given.list("biasprm")?.unwrap_or_default(),
                    _ => Vec::new(),
                };
                let bias = [0, 1, 2].map(|i| bias.get(i).copied().unwrap_or(0.0));
                if bias[1] == 0.0 && bias[2] == 0.0 {
                    return Ok(Some(DriveKind::Torque));
                }
                (gain, bias)
            }
            other => {
                self.report
                    .unknown(given.xml, &format!("actuators <{other}>"));
                return Ok(None);
            }
        };
        let control = self.control(given)?;
        let [kp, kd] = [-by_length, -by_rate].map(|gain| gain * gear * gear);
        if kp < 0.0 || kd < 0.0 || kp == 0.0 && kd == 0.0 || gear == 0.0 {
            self.report.unknown(
                given.xml,
                "actuators whose feedback pushes away, or does nothing",
            );
            return Ok(None);
        }
        let zero = self.zeros.get(&node).copied().unwrap_or(0.0);
        let pull = gain * control + bias;
        let (goal, speed) = match kp > 0.0 {
            true => (pull / (-by_length * gear) - zero, 0.0),
            false => (0.0, pull / (-by_rate * gear)),
        };
        Ok(Some(DriveKind::Servo {
            kp,
            kd,
            goal,
            speed,
        }))
    }

    /// The control at the start: zero, or what is nearest to it.
    fn control(&self, given: &Given<'_, '_>) -> Read<f64> {
        if !given.is_limited("ctrllimited", "ctrlrange", self.compiler.auto_limits) {
            return Ok(0.0);
        }
        let [low, high] = given.array::<2>("ctrlrange")?.unwrap_or_default();
        Ok(if low <= high {
            0.0_f64.clamp(low, high)
        } else {
            0.0
        })
    }

    fn limit(&self, given: &Given<'_, '_>, gear: f64) -> Read<Option<f64>> {
        if !given.is_limited("forcelimited", "forcerange", self.compiler.auto_limits) {
            return Ok(None);
        }
        let [low, high] = given.array::<2>("forcerange")?.unwrap_or_default();
        let limit = low.abs().max(high.abs()) * gear.abs();
        Ok((limit > 0.0).then_some(limit))
    }
}
