//! A contact as collision finds it, and what surfaces are made of.

use oldham_space::Vec3;

use crate::error::ContactError;

/// A body or grain of a world. Bodies come first, then grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

impl BodyId {
    /// As an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One side of a contact: a shape of a body. Ordered by body, then by shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End(u32);

impl End {
    /// Most bodies of a world.
    pub const MOST_BODIES: usize = 1 << 24;
    /// Most shapes of a body.
    pub const MOST_SHAPES: usize = 1 << 8;

    /// A shape of a body.
    pub fn new(body: usize, shape: usize) -> Self {
        debug_assert!(body < Self::MOST_BODIES && shape < Self::MOST_SHAPES);
        Self((body as u32) << 8 | shape as u32)
    }

    /// The body.
    #[inline(always)]
    pub fn body(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// The number of the shape on its body.
    pub fn shape(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub(crate) fn word(self) -> u32 {
        self.0
    }

    pub(crate) fn from_word(word: u32) -> Self {
        Self(word)
    }
}

/// Two shapes that are near at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// From the first body to the second.
    pub normal: Vec3,
    /// Distance along the normal, negative in penetration.
    pub gap: f64,
    /// Who is near whom; the first is the smaller.
    pub ends: [End; 2],
}

/// What is known of a contact besides, unless it is between two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detail {
    /// In the middle of the gap.
    pub position: Vec3,
    /// Which features of the shapes meet.
    pub feature: u32,
}

/// What a contact is recognised by, in the order in which contacts are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The shapes.
    pub ends: [End; 2],
    /// The features of the shapes that meet.
    pub feature: u32,
}

/// A surface of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceId(pub(crate) u8);

/// How a surface behaves in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coulomb's coefficient; of two surfaces the geometric mean counts.
    pub friction: f64,
    /// Rolling friction in m: the moment that resists rolling is at most this times the normal force. Of two surfaces the larger counts.
    pub rolling: f64,
    /// Torsional friction in m, the same for spinning about the normal.
    pub torsion: f64,
    /// Newton's coefficient of restitution; of two surfaces the smaller counts.
    pub restitution: f64,
    /// Normal stiffness in N/m of each contact point, infinite for a rigid surface; two surfaces act in series.
    pub stiffness: f64,
    /// Normal damping in N·s/m beside a finite stiffness; of two surfaces the smaller counts.
    pub damping: f64,
}

impl Surface {
    /// Rigid, plastic, with friction.
    pub const fn rough(friction: f64) -> Self {
        Self {
            friction,
            rolling: 0.0,
            torsion: 0.0,
            restitution: 0.0,
            stiffness: f64::INFINITY,
            damping: 0.0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ContactError> {
        let refuse = |what, value, range| Err(ContactError::Surface { what, value, range });
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return refuse("friction", self.friction, "finite and not negative");
        }
        for (what, value) in [
            ("rolling friction", self.rolling),
            ("torsional friction", self.torsion),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(what, value, "finite and not negative");
            }
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return refuse("restitution", self.restitution, "from 0 to 1");
        }
        if self.stiffness.is_nan() || self.stiffness <= 0.0 {
            return refuse("stiffness", self.stiffness, "positive");
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            return refuse("damping", self.damping, "finite and not negative");
        }
        Ok(())
    }

    /// Whether it resists turning.
    pub(crate) fn resists_turning(&self) -> bool {
        self.rolling > 0.0 || self.torsion > 0.0
    }

    /// Both surfaces together.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let softness = 1.0 / self.stiffness + 1.0 / other.stiffness;
        Self {
            friction: (self.friction * other.friction).sqrt(),
            rolling: self.rolling.max(other.rolling),
            torsion: self.torsion.max(other.torsion),
            restitution: self.restitution.min(other.restitution),
            stiffness: 1.0 / softness,
            damping: if self.stiffness.is_infinite() {
                other.damping
            } else if other.stiffness.is_infinite() {
                self.damping
            } else {
                self.damping.min(other.damping)
            },
        }
    }
}
