//! What a tyre does, as a sensor in model files.

use super::ground::known_tyre;
use crate::tyre::{Tyre, WheelState};
use oldham_cosim::Unit;
use oldham_model::{At, Site};
use oldham_multibody::{CustomSensor, ElementId, References, element};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a tyre does where it touches the road; zero in the air. It can be recorded and sent, but not be used in
/// expressions. Forces and moments are on the wheel, along and about axes forward, to the left and normal to the road.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// The tyre, an element of this mechanism.
    of: At<String>,
    /// What of it.
    reads: Reads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Reads {
    /// The force forward in N.
    LongitudinalForce,
    /// The force to the left in N.
    LateralForce,
    /// The force of the road against the wheel in N.
    NormalForce,
    /// The moment about the axis forward in N·m, at the contact point.
    OverturningMoment,
    /// The moment about the axis to the left in N·m, at the contact point.
    RollingResistance,
    /// The moment about the normal in N·m, at the contact point.
    AligningMoment,
    /// The longitudinal slip that the forces follow.
    LongitudinalSlip,
    /// The slip angle in rad that the forces follow.
    SlipAngle,
    /// The camber in rad, positive when the top leans to the right.
    Camber,
    /// The place of the contact point along x in m.
    PatchX,
    /// The place of the contact point along y in m.
    PatchY,
    /// The place of the contact point along z in m.
    PatchZ,
}

#[derive(Clone, Debug)]
pub(super) struct TyreReading {
    tyre: ElementId,
    reads: Reads,
}

pub(super) fn make(settings: Settings, site: &mut Site<'_>) -> Option<TyreReading> {
    known_tyre(&settings.of, site)?;
    let tyre = site.model().find_element(&settings.of.value)?;
    Some(TyreReading {
        tyre,
        reads: settings.reads,
    })
}

impl Reads {
    fn of(self, state: &WheelState) -> f64 {
        match self {
            Self::LongitudinalForce => state.forces[0],
            Self::LateralForce => state.forces[1],
            Self::NormalForce => state.forces[2],
            Self::OverturningMoment => state.forces[3],
            Self::RollingResistance => state.forces[4],
            Self::AligningMoment => state.forces[5],
            Self::LongitudinalSlip => state.longitudinal_slip,
            Self::SlipAngle => state.slip_angle,
            Self::Camber => state.camber,
            Self::PatchX => state.patch[0],
            Self::PatchY => state.patch[1],
            Self::PatchZ => state.patch[2],
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::LongitudinalForce | Self::LateralForce | Self::NormalForce => Unit::NEWTON,
            Self::OverturningMoment | Self::RollingResistance | Self::AligningMoment => {
                Unit::NEWTON_METRE
            }
            Self::LongitudinalSlip => Unit::ONE,
            Self::SlipAngle | Self::Camber => Unit::RADIAN,
            Self::PatchX | Self::PatchY | Self::PatchZ => Unit::METRE,
        }
    }
}

impl CustomSensor for TyreReading {
    fn read(&self, at: &element::At<'_>) -> f64 {
        let state = at.other(self.tyre).and_then(|(element, there)| {
            let tyre: &Tyre = element.downcast_ref()?;
            Some(tyre.state(&there))
        });
        self.reads.of(&state.unwrap_or_default())
    }

    fn unit(&self) -> Unit {
        self.reads.unit()
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.element(&mut self.tyre);
    }
}
