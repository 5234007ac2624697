//! Contacts of free bodies as rows of a full matrix, in frames of their own.

use oldham_space::{V3, Vec3};

use crate::problem::{Bodies, BodyMotion, Dense, RowKind};

/// The dense problem of a few contacts.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    matrix: Vec<f64>,
    velocities: Vec<f64>,
    rows: Vec<RowKind>,
    /// Normal and tangents of each contact.
    frames: Vec<[Vec3; 3]>,
    motion: Vec<BodyMotion>,
}

impl Assembled {
    /// Takes the contacts of free bodies. Tangents are along friction that is at its bound, where impulses are given.
    pub fn fill(&mut self, bodies: &Bodies<'_>, impulses: Option<&[f64]>) {
        let contacts = bodies.touches.len();
        let n = 3 * contacts;
        self.frames.clear();
        self.rows.clear();
        self.velocities.clear();
        for contact in 0..contacts {
            let velocity = bodies.relative(contact, bodies.motion);
            let given = impulses.map(|all| V3(all.as_chunks::<3>().0[contact]));
            let sliding = given.and_then(|impulse| bodies.sliding(contact, impulse));
            let frame = match sliding {
                Some(first) => {
                    let normal = bodies.touches[contact].normal;
                    [normal, first, normal.cross(first)]
                }
                None => bodies.frame(contact),
            };
            self.frames.push(frame);
            let [along, one, other] = frame.map(|axis| axis.dot(velocity));
            self.velocities
                .extend([along + bodies.bias(contact), one, other]);
            let friction = RowKind::Friction {
                normal: 3 * contact,
                coefficient: bodies.friction(contact),
            };
            self.rows.extend([RowKind::Unilateral, friction, friction]);
        }
        self.matrix.resize(n * n, 0.0);
        self.motion.clear();
        self.motion
            .extend(bodies.motion.iter().map(|moved| BodyMotion {
                velocity: Vec3::ZERO,
                spin: Vec3::ZERO,
                ..*moved
            }));
        for row in 0..n {
            let (contact, axis) = (row / 3, row % 3);
            let unit = self.frames[contact][axis];
            bodies.apply_at(contact, unit, &mut self.motion);
            for other in 0..contacts {
                let velocity = bodies.relative(other, &self.motion);
                for (k, direction) in self.frames[other].iter().enumerate() {
                    self.matrix[row * n + 3 * other + k] = direction.dot(velocity);
                }
            }
            let ends = bodies.bodies_of(contact).map(|body| body as usize);
            for body in ends.into_iter().chain(0..bodies.mechanism.bodies) {
                let moved = &mut self.motion[body];
                (moved.velocity, moved.spin) = (Vec3::ZERO, Vec3::ZERO);
            }
            if let Some(levers) = bodies.levers_of(contact) {
                let yielded = levers.yielded(unit, self.frames[contact][0]);
                self.matrix[row * n + row] += yielded.dot(unit);
            }
        }
    }

    /// Normal and tangents.
    pub fn frames(&self) -> &[[Vec3; 3]] {
        &self.frames
    }

    /// The problem.
    pub fn problem(&self) -> Dense<'_> {
        Dense {
            matrix: &self.matrix,
            velocities: &self.velocities,
            rows: &self.rows,
        }
    }

    /// Impulses along the absolute axes become impulses along the frames.
    pub fn to_frames(&self, impulses: &mut [f64]) {
        for (impulse, frame) in impulses.as_chunks_mut::<3>().0.iter_mut().zip(&self.frames) {
            let vector = V3(*impulse);
            *impulse = frame.map(|axis| axis.dot(vector));
        }
    }

    /// Impulses along the frames become impulses along the absolute axes.
    pub fn to_axes(&self, impulses: &mut [f64]) {
        for (impulse, [n, s, t]) in impulses.as_chunks_mut::<3>().0.iter_mut().zip(&self.frames) {
            let [a, b, c] = *impulse;
            *impulse = (*n * a + *s * b + *t * c).0;
        }
    }
}
