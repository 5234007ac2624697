//! Gears, racks and screws.

use oldham_multibody::{Coordinate, ElasticTransmission, Law, Marker, Transmission};

use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::read;
use crate::format::multibody;
use crate::format::{At, Entry, place};

impl Checker<'_> {
    pub(crate) fn transmission(
        &mut self,
        entry: &Entry<multibody::Transmission>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let joints = read(&given.joints, |joints| self.two(joints, "joints"));
        let joints = joints.map(|pair| pair.map(|name| self.coordinate(name, draft)));
        let what = "one ratio for each joint";
        let ratios = read(&given.ratios, |ratios| self.numbers(ratios, what));
        let law = self.teeth(given);
        let ([first, second], [p, q]) = (joints?, ratios?);
        let (first, second) = (first?, second?);
        let relation = Transmission::new((first.0, first.1, p), (second.0, second.1, q));
        Some(match law? {
            Some(law) => (Box::new(ElasticTransmission::new(relation, law)), None),
            None => (Box::new(relation), None),
        })
    }

    /// What teeth or a belt do, if they give.
    fn teeth(&mut self, given: &multibody::Transmission) -> Option<Option<Law>> {
        let damping = self.number_or(&given.damping, 0.0);
        let play = self.number_or(&given.backlash, 0.0);
        let Some(stiffness) = &given.stiffness else {
            let unused = [place(&given.damping), place(&given.backlash)];
            for span in unused.into_iter().flatten() {
                self.report(span, "a rigid transmission does not give")
                    .label("not used")
                    .help("give its `stiffness` besides");
            }
            return Some(None);
        };
        let (stiffness, damping, play) = (self.number(stiffness)?, damping?, play?);
        Some(Some(match play > 0.0 {
            true => Law::Stops {
                lower: -0.5 * play,
                upper: 0.5 * play,
                stiffness,
                damping,
            },
            false => Law::Linear { stiffness, damping },
        }))
    }

    /// The coordinate of a joint, with the markers between which it is measured.
    pub(crate) fn coordinate(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Coordinate, [Marker; 2])> {
        let joint = self.joint_named(name, draft)?;
        let Some(coordinate) = joint.coordinate else {
            let message = format!("the joint `{}` has no single coordinate", name.value);
            self.report(&name.span, message)
                .help("`revolute`, `cylindrical` and `prismatic` joints have one");
            return None;
        };
        Some((coordinate, joint.ends))
    }
}
