//! Where the frames of a scene are in a row.

use oldham_multibody::{Quaternion, Vec3};
use oldham_web::{Anchor, Moves, Scene};

/// The scale at which all displacements along a line have the room that they need.
pub(super) fn scale(scene: &Scene, rows: &[&[f32]]) -> f64 {
    let of_frame = |moves: Moves| match moves {
        Moves::Along {
            at,
            room: Some(room),
            ..
        } => {
            let sizes = rows.iter().map(|row| f64::from(row[at]).abs());
            let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
            (largest > 0.0).then_some(room / largest)
        }
        _ => None,
    };
    let scales = scene
        .frames
        .iter()
        .filter_map(|frame| of_frame(frame.motion));
    scales.reduce(f64::min).unwrap_or(1.0)
}

/// Frames with their axes.
pub(super) struct Places<'r> {
    row: &'r [f32],
    poses: Vec<(Vec3, Quaternion)>,
}

impl<'r> Places<'r> {
    /// Displacements along a line are drawn to a scale.
    pub fn of(scene: &Scene, row: &'r [f32], scale: f64) -> Self {
        let number = |at: usize| row.get(at).copied().map_or(0.0, f64::from);
        let vector = |at: usize| Vec3::new(number(at), number(at + 1), number(at + 2));
        let fixed = |[x, y, z]: [f64; 3]| Vec3::new(x, y, z);
        let pose = |moves: Moves| match moves {
            Moves::Not { base } => (fixed(base), Quaternion::IDENTITY),
            Moves::Freely { at } => {
                let turn = [3, 4, 5, 6].map(|i| number(at + i));
                (vector(at), Quaternion(turn))
            }
            Moves::Along { at, base, .. } => {
                let away = scale * number(at);
                (fixed(base) + Vec3::X * away, Quaternion::IDENTITY)
            }
            Moves::About { at, base } => {
                let half = 0.5 * number(at);
                let turn = Quaternion([half.cos(), half.sin(), 0.0, 0.0]);
                (fixed(base), turn)
            }
        };
        let poses = scene.frames.iter().map(|frame| pose(frame.motion));
        Self {
            row,
            poses: poses.collect(),
        }
    }

    /// The origin of a frame.
    pub fn point(&self, frame: usize) -> Vec3 {
        self.poses.get(frame).map_or(Vec3::ZERO, |pose| pose.0)
    }

    /// Three numbers of the row.
    pub fn numbers(&self, at: usize) -> Vec3 {
        let number = |i: usize| self.row.get(at + i).copied().map_or(0.0, f64::from);
        Vec3::new(number(0), number(1), number(2))
    }

    pub fn anchor(&self, on: &Anchor) -> Vec3 {
        self.within(on, Vec3::ZERO)
    }

    /// A point in the axes of an anchor.
    pub fn within(&self, on: &Anchor, point: Vec3) -> Vec3 {
        let (origin, turn) = self.poses[on.frame];
        let own = on.turn.map_or(point, |own| Quaternion(own).rotate(point));
        let [x, y, z] = on.offset;
        origin + turn.rotate(Vec3::new(x, y, z) + own)
    }
}
