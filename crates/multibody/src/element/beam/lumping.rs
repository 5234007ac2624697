//! The mass of a beam, given to its nodes: each carries the segment half way to its neighbours.

use crate::body::Body;
use oldham_space::{Mat3, Vec3};

/// Mass and rotary inertia of a beam per metre, in section axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineInertia {
    /// Mass per metre.
    pub mass: f64,
    /// Rotary inertia per metre about the section axes.
    pub rotary: [f64; 3],
}

/// What of its segment a node carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lumping {
    /// The segment as a rigid body: with its centre of mass and with the inertia of its extent, so
    /// that mass, centre and inertia of the undeformed beam are exact.
    #[default]
    Segments,
    /// The mass of the segment at the node, with the rotary inertia of the sections alone.
    Points,
}

/// A piece of a segment, relative to the node that carries it and in its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSample {
    /// Length for which it stands.
    pub length: f64,
    /// Its place.
    pub place: Vec3,
    /// Section axes, as columns.
    pub axes: Mat3,
}

impl LineInertia {
    /// The rigid body that consists of some pieces of the line.
    pub fn body(&self, samples: &[LineSample]) -> Body {
        let (mut length, mut first) = (0.0, Vec3::ZERO);
        for sample in samples {
            length += sample.length;
            first += sample.place * sample.length;
        }
        let centre = match length > 0.0 && self.mass > 0.0 {
            true => first * (1.0 / length),
            false => Vec3::ZERO,
        };
        let [x, y, z] = self.rotary;
        let mut inertia = Mat3::ZERO;
        for sample in samples {
            let arm = sample.place - centre;
            let spread = Mat3::IDENTITY * arm.dot(arm) - arm.outer(arm);
            let section = sample.axes * Mat3::diagonal(x, y, z) * sample.axes.transpose();
            inertia += (spread * self.mass + section) * sample.length;
        }
        // Takes the rounding of the rotated tensors away.
        let inertia = (inertia + inertia.transpose()) * 0.5;
        Body::centred(self.mass * length, inertia).with_centre(centre)
    }
}

/// Pieces whose body has the moments of a straight segment, by Gauss's rule of two points: from
/// `start` to `end` along the first of the section `axes`, the node being at zero.
pub(super) fn straight_segment(start: f64, end: f64, axes: Mat3) -> [LineSample; 2] {
    const GAUSS: f64 = 0.577_350_269_189_625_8;
    let (middle, half) = (0.5 * (start + end), 0.5 * (end - start));
    [-GAUSS, GAUSS].map(|at| LineSample {
        length: half,
        place: axes.column(0) * (middle + half * at),
        axes,
    })
}
