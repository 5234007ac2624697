//! Help on redundant joints: which of them could hold less without freeing the mechanism.

use oldham_multibody::{DegreesOfFreedom, Element, ElementId, Joint, Marker};

use super::MechanismDraft;
use super::joints::DraftJoint;
use crate::mechanism::MechanismSpec;

/// Joints that are tried, and mechanisms that are tried at all, at most: every trial counts the
/// degrees of freedom anew.
const MOST_JOINTS: usize = 12;
const MOST_NODES: usize = 400;
/// Alternatives that are named.
const MOST_NAMED: usize = 3;

/// A kind of joint between the same markers.
type Make = fn(Marker, Marker) -> Joint;

/// Joints between the same markers: what they are called, how many constraints they are, and how they are made.
const JOINTS: [(&str, usize, Make); 8] = [
    ("fixed", 6, Joint::clamp),
    ("revolute", 5, Joint::revolute),
    ("prismatic", 5, Joint::prismatic),
    ("cylindrical", 4, Joint::cylindrical),
    ("spherical", 3, Joint::spherical),
    ("planar", 3, Joint::planar),
    ("point-on-line", 2, Joint::in_line),
    ("point-on-plane", 1, Joint::in_plane),
];

/// Those of them that hold a part of what one holds, by their places.
fn weaker_than(kind: &str) -> &'static [usize] {
    match kind {
        "fixed" => &[1, 2, 3, 4, 5, 6, 7],
        "revolute" => &[3, 4, 5, 6, 7],
        "prismatic" => &[3, 6],
        "cylindrical" => &[6],
        "spherical" => &[6, 7],
        "planar" => &[7],
        _ => &[],
    }
}

/// A joint that is replaced by a weaker one.
#[derive(Clone)]
struct Change {
    joint: String,
    element: ElementId,
    from: &'static str,
    to: &'static str,
    with: Joint,
}

impl MechanismDraft<'_> {
    /// What can be done about redundant joints of these names.
    pub(super) fn help_on_redundancy(&self, joints: &[String], start: f64) -> String {
        let before = self.spec.whole.degrees_of_freedom(start);
        let count = format!(
            "{} of {} constraints follow from others in this position, which leaves {}",
            before.redundant(),
            before.constraints,
            degrees(before),
        );
        let anyway = "`redundant = \"least-norm\"` keeps the joints and lets them share the load";
        let offers = match self.spec.whole.model.node_count() <= MOST_NODES {
            true => self.offers(joints, before, start),
            false => Vec::new(),
        };
        if offers.is_empty() {
            return format!("{count}; {anyway}");
        }
        let described: Vec<String> = offers
            .iter()
            .map(|(changes, after)| {
                let each: Vec<String> = changes.iter().map(Change::describe).collect();
                format!(
                    "{} ({} before, {} after)",
                    each.join(" and "),
                    before.count(),
                    degrees(*after)
                )
            })
            .collect();
        format!("{count}; take {}; or {anyway}", described.join(", or "))
    }

    /// Changes that leave the degrees of freedom as they are and nothing redundant: single ones,
    /// else one set of several.
    fn offers(
        &self,
        joints: &[String],
        before: DegreesOfFreedom,
        start: f64,
    ) -> Vec<(Vec<Change>, DegreesOfFreedom)> {
        let candidates: Vec<Change> = joints
            .iter()
            .rev()
            .take(MOST_JOINTS)
            .flat_map(|joint| self.weaker(joint))
            .collect();
        let mut taken: Vec<Change> = Vec::new();
        let mut spec = self.spec.clone();
        let mut now = before;
        while now.redundant() > 0 {
            let is_new = |change: &&Change| taken.iter().all(|other| other.joint != change.joint);
            let tried = candidates.iter().filter(is_new).map(|change| {
                let after = change.made_in(&spec).whole.degrees_of_freedom(start);
                (change, after)
            });
            let kept: Vec<(&Change, DegreesOfFreedom)> = tried
                .filter(|(_, after)| after.count() == before.count())
                .collect();
            let whole: Vec<(Vec<Change>, DegreesOfFreedom)> = kept
                .iter()
                .filter(|(_, after)| after.redundant() == 0)
                .map(|(change, after)| {
                    let mut all = taken.clone();
                    all.push((*change).clone());
                    (all, *after)
                })
                .take(if taken.is_empty() { MOST_NAMED } else { 1 })
                .collect();
            if !whole.is_empty() {
                return whole;
            }
            let best = kept.iter().min_by_key(|(_, after)| after.redundant());
            let Some((change, after)) = best.filter(|(_, it)| it.redundant() < now.redundant())
            else {
                break;
            };
            spec = change.made_in(&spec);
            taken.push((*change).clone());
            now = *after;
        }
        Vec::new()
    }

    /// Joints between the same markers that hold a part of what this one holds.
    fn weaker(&self, name: &str) -> Vec<Change> {
        let Some(Some(joint)) = self.joints.get(name) else {
            return Vec::new();
        };
        let DraftJoint {
            kind,
            element,
            ends: [a, b],
            ..
        } = joint;
        let element = *element;
        let Some(joint) = self.spec.whole.model.get(element).downcast_ref::<Joint>() else {
            return Vec::new();
        };
        let Some(&(from, own, _)) = JOINTS.iter().find(|(known, ..)| known == kind) else {
            return Vec::new();
        };
        // A driven joint must go on driving.
        if joint.constraints() != own {
            return Vec::new();
        }
        let change = |&place: &usize| {
            let (to, _, make) = JOINTS[place];
            Change {
                joint: name.to_owned(),
                element,
                from,
                to,
                with: make(*a, *b),
            }
        };
        weaker_than(kind).iter().map(change).collect()
    }
}

impl Change {
    fn made_in(&self, spec: &MechanismSpec) -> MechanismSpec {
        let mut changed = spec.clone();
        changed.whole.model.replace(self.element, self.with.clone());
        changed
    }

    fn describe(&self) -> String {
        format!("`{}` {} instead of {}", self.joint, self.to, self.from)
    }
}

fn degrees(degrees_of_freedom: DegreesOfFreedom) -> String {
    match degrees_of_freedom.count() {
        1 => "1 degree of freedom".to_owned(),
        count => format!("{count} degrees of freedom"),
    }
}
