//! The bodies that a change of the motion moves: what it is measured by.
//!
//! Measured by the kinetic energy of the whole mechanism, a change would depend on bodies that have nothing to do
//! with it.

use crate::body::Inertia;
use crate::node::Motion;
use oldham_space::Vec3;

/// What a change amounts to, and the bodies that it moves, each counted by how much it is moved in comparison with
/// the one that is moved most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moved {
    /// Energy of the change.
    pub change: f64,
    /// Kinetic energy of the bodies.
    pub energy: f64,
    /// The same in the frame of their centre of mass.
    pub relative_energy: f64,
}

impl Moved {
    /// Of bodies and the energy of the change of each.
    pub fn of<'a>(each: impl Iterator<Item = (f64, &'a Inertia, &'a Motion)> + Clone) -> Self {
        let most = each
            .clone()
            .fold(0.0, |most, (change, ..)| change.max(most));
        let (mut found, mut mass, mut momentum) = (Self::default(), 0.0, Vec3::ZERO);
        for (change, inertia, motion) in each.filter(|(change, ..)| *change > 0.0) {
            let share = change / most;
            found.change += change;
            found.energy += share * inertia.kinetic_energy(motion);
            mass += share * inertia.mass;
            momentum += inertia.momentum(motion).linear * share;
        }
        found.relative_energy = match mass > 0.0 {
            true => found.energy - 0.5 * momentum.dot(momentum) / mass,
            false => found.energy,
        };
        found
    }
}

impl Inertia {
    /// Kinetic energy of the velocities by which two motions differ.
    pub fn energy_between(&self, before: &Motion, after: &Motion) -> f64 {
        self.kinetic_energy(&Motion {
            velocity: after.velocity - before.velocity,
            angular_velocity: after.angular_velocity - before.angular_velocity,
            ..*after
        })
    }

    /// Kinetic energy of the velocities that lead from one pose to the other in a time `h`.
    pub fn energy_of_way(&self, before: &Motion, after: &Motion, h: f64) -> f64 {
        let turn = after.orientation.times(before.orientation.conjugate());
        self.kinetic_energy(&Motion {
            velocity: (after.position - before.position) * (1.0 / h),
            angular_velocity: turn.log() * (1.0 / h),
            ..*after
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use oldham_space::Mat3;

    fn body(mass: f64) -> Inertia {
        let mut inertia = Inertia::default();
        inertia.add(&Body::centred(mass, Mat3::IDENTITY));
        inertia
    }

    /// Two bodies of 2 kg that part at 3 m/s each: 18 J, however fast both move on, and whatever else does.
    #[test]
    fn neither_the_frame_nor_bodies_that_stay_count() {
        let (light, heavy) = (body(2.0), body(1e6));
        for frame in [Vec3::ZERO, Vec3::Y * 100.0] {
            let moving = |v: Vec3| Motion::at(Vec3::ZERO).moving(frame + v, Vec3::ZERO);
            let [left, right, train] = [Vec3::X * -3.0, Vec3::X * 3.0, Vec3::X * 30.0].map(moving);
            let each = [
                (0.5, &light, &left),
                (0.5, &light, &right),
                (0.0, &heavy, &train),
            ];
            let found = Moved::of(each.into_iter());
            assert_eq!(found.change, 1.0);
            assert!((found.relative_energy - 18.0).abs() < 1e-9, "{found:?}");
            let both = 2.0 * frame.dot(frame);
            assert!((found.energy - found.relative_energy - both).abs() < 1e-9);
        }
    }
}
