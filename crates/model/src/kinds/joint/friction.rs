//! Friction in joints.

use oldham_multibody::LuGre;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::Bench;
use crate::format::{At, NonNegative, Positive};

/// Stribeck velocity in m/s when none is given.
const DEFAULT_STRIBECK: f64 = 0.01;

/// LuGre friction: bristles of stiffness σ₀ and damping σ₁ (per normal force), viscous friction
/// σ₂, and a level between the static and the Coulomb coefficient. The normal force is `preload`
/// plus the reaction of the joint. Where a joint slips in several directions at once, as a
/// `cylindrical` one, they share the friction.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Friction {
    /// Coulomb coefficient.
    #[schemars(required)]
    coulomb: Option<At<Positive>>,
    /// Static coefficient. By default the Coulomb coefficient.
    stiction: Option<At<Positive>>,
    /// Stribeck velocity in m/s.
    #[schemars(extend("default" = 0.01))]
    stribeck: Option<At<Positive>>,
    /// Bristle stiffness σ₀ in 1/m.
    #[schemars(required)]
    stiffness: Option<At<Positive>>,
    /// Bristle damping σ₁ in s/m.
    #[schemars(extend("default" = 0.0))]
    damping: Option<At<NonNegative>>,
    /// Viscous friction σ₂ in s/m.
    #[schemars(extend("default" = 0.0))]
    viscous: Option<At<NonNegative>>,
    /// Radius in m on which it acts: of the pin of a `revolute` or `cylindrical` joint, of the ball of
    /// a `spherical` one, of the bearings of a `universal` one; the mean radius of the face of a
    /// `planar` one, for the rotation about its normal.
    radius: Option<At<Positive>>,
    /// Normal force without any reaction in N.
    #[schemars(extend("default" = 0.0))]
    preload: Option<At<NonNegative>>,
}

/// Keys of joints that may rub.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Rubbing {
    /// Friction.
    pub friction: Option<At<Friction>>,
}

/// Friction with what belongs to the joint.
pub(super) struct JointFriction {
    pub law: LuGre,
    pub preload: f64,
    /// Zero for a joint that only slides.
    pub radius: f64,
}

impl Rubbing {
    /// The friction, if there is any; `of` says what a joint that turns must know.
    pub fn friction(
        &self,
        of: Option<&str>,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<Option<JointFriction>> {
        match &self.friction {
            Some(given) => given.value.read(given, of, bench).map(Some),
            None => Some(None),
        }
    }
}

impl Friction {
    fn read(
        &self,
        at: &At<Self>,
        of: Option<&str>,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<JointFriction> {
        let checker = &mut *bench.checker;
        let coulomb = checker.required(&self.coulomb);
        let stiction = checker.number_or(&self.stiction, coulomb.unwrap_or_default());
        let stribeck = checker.number_or(&self.stribeck, DEFAULT_STRIBECK);
        let stiffness = checker.required(&self.stiffness);
        let damping = checker.number_or(&self.damping, 0.0);
        let viscous = checker.number_or(&self.viscous, 0.0);
        let preload = checker.number_or(&self.preload, 0.0);
        let radius = match (&self.radius, of) {
            (Some(at), _) => checker.number(at),
            (None, Some(of)) => {
                let message = format!("friction of {of}");
                checker
                    .report_missing(&at.span, message)
                    .label("has no `radius`");
                return None;
            }
            (None, None) => Some(0.0),
        };
        Some(JointFriction {
            law: LuGre {
                coulomb: coulomb?,
                stiction: stiction?,
                stribeck: stribeck?,
                stiffness: stiffness?,
                damping: damping?,
                viscous: viscous?,
            },
            preload: preload?,
            radius: radius?,
        })
    }
}
