//! Components of what sections of beams and shells feel.

use schemars::JsonSchema;
use serde::Deserialize;

/// A component of what a section feels. The first axis of a beam points along it, the second towards
/// `up`; the first axis of a shell along its first parameter, the third is its normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SectionWord {
    /// Of a beam: along it.
    Axial,
    /// Of a beam: across, along the second axis.
    ShearY,
    /// Of a beam: across, along the third axis.
    ShearZ,
    /// Of a beam: about its line.
    Torsion,
    /// Of a beam: about the second axis.
    BendingY,
    /// Of a beam: about the third axis.
    BendingZ,
    /// Of a shell: in the surface, along the first axis.
    N11,
    /// Of a shell: in the surface, along the second axis.
    N22,
    /// Of a shell: shear in the surface.
    N12,
    /// Of a shell: bending along the first axis.
    M11,
    /// Of a shell: bending along the second axis.
    M22,
    /// Of a shell: twisting.
    M12,
    /// Of a shell: transverse shear along the first axis.
    Q1,
    /// Of a shell: transverse shear along the second axis.
    Q2,
}

impl SectionWord {
    /// As model files write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Axial => "axial",
            Self::ShearY => "shear-y",
            Self::ShearZ => "shear-z",
            Self::Torsion => "torsion",
            Self::BendingY => "bending-y",
            Self::BendingZ => "bending-z",
            Self::N11 => "n11",
            Self::N22 => "n22",
            Self::N12 => "n12",
            Self::M11 => "m11",
            Self::M22 => "m22",
            Self::M12 => "m12",
            Self::Q1 => "q1",
            Self::Q2 => "q2",
        }
    }
}
