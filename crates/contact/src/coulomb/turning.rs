//! Rolling and torsional friction: moments that resist the turning of two bodies at their contact.
//!
//! The moment about the normal is within the torsional friction times the normal impulse, that across it within a disc of the rolling friction times the
//! normal impulse; each opposes the relative angular velocity where it reaches its bound, and holds it at zero below. The
//! moments are swept contact by contact, each with what the contact itself does about it, between solutions of Coulomb's law for given moments.

use oldham_space::{Mat3, Vec3};

use super::island::{Island, Link, NONE};
use super::local::{Three, length};
use super::newton::inverse;
use crate::room::Room;

/// Answers below this share of the free one are held by something else.
const HELD: f64 = 1e-9;

/// The moments of an island.
#[derive(Clone, Debug, Default)]
pub struct Turning {
    /// About the normal, and about both tangents.
    pub moments: Vec<Three>,
    /// What a link's own impulses do to its turning, while it is asked.
    probe: Vec<[Vec3; 2]>,
    velocities: Vec<[Vec3; 2]>,
    free: Vec<[Vec3; 2]>,
}

impl Turning {
    /// No moments yet.
    pub fn start(&mut self, island: &Island) {
        let zero = [Vec3::ZERO; 2];
        self.moments.clear();
        self.moments.make_room(island.links.len());
        self.moments.resize(island.links.len(), [0.0; 3]);
        self.probe.clear();
        self.probe.make_room(island.movers.len());
        self.probe.resize(island.movers.len(), zero);
    }

    /// Finds the moments of all contacts anew, one after the other, for impulses that solve Coulomb's law with the moments so far. Impulses follow. Returns
    /// how far the law was missed before, in m/s.
    pub fn sweep(&mut self, island: &mut Island, impulses: &mut [Three]) -> f64 {
        island.velocities(impulses, &mut self.velocities);
        self.free.clear();
        self.free.make_room(island.movers.len());
        self.free
            .extend(island.movers.iter().map(|mover| mover.free));
        let mut missed = 0.0_f64;
        for (k, impulse) in impulses.iter_mut().enumerate() {
            let link = &island.links[k];
            if link.turning == [0.0; 2] || !Island::is_movable(link) {
                continue;
            }
            let sticks = length(impulse[1], impulse[2]) < link.friction * impulse[0];
            let answers = self.answers(island, link, sticks);
            let spin = turned(link, relative_spin(island, link, &self.velocities));
            let old = self.moments[k];
            let new = answers.resist(&old, &spin, link.turning.map(|c| c * impulse[0]));
            let change: Three = std::array::from_fn(|i| new[i] - old[i]);
            if change == [0.0; 3] {
                continue;
            }
            let arm = link.arms[0].norm().max(link.arms[1].norm());
            let size = change.iter().map(|part| part * part).sum::<f64>().sqrt();
            missed = missed.max(size * answers.largest() * arm);
            self.moments[k] = new;
            island.turn(link, &change, &mut self.velocities);
            island.turn(link, &change, &mut self.free);
            let follows: Three =
                std::array::from_fn(|i| (0..3).map(|j| answers.follow[i][j] * change[j]).sum());
            island.apply(link, &follows, &mut self.velocities);
            *impulse = link.admit(std::array::from_fn(|i| impulse[i] + follows[i]));
        }
        for (mover, free) in island.movers.iter_mut().zip(&self.free) {
            mover.free = *free;
        }
        missed
    }

    /// How the turning of a contact answers to its own moments, the contact's own impulses included.
    fn answers(&mut self, island: &Island, link: &Link, sticks: bool) -> Answers {
        // What unit impulses do to the turning; what moments do to the velocity of the contact is the same.
        let mut coupling = [[0.0; 3]; 3];
        for axis in 0..3 {
            let mut unit = [0.0; 3];
            unit[axis] = 1.0;
            island.apply(link, &unit, &mut self.probe);
            let spin = turned(link, relative_spin(island, link, &self.probe));
            for i in 0..3 {
                coupling[i][axis] = spin[i];
            }
            for moved in self.probe[..island.held].iter_mut() {
                *moved = [Vec3::ZERO; 2];
            }
            for end in link.ends {
                if end != NONE {
                    self.probe[end as usize] = [Vec3::ZERO; 2];
                }
            }
        }
        let mut follow = [[0.0; 3]; 3];
        let back = match sticks {
            true => inverse(&link.w),
            false => {
                let mut only_normal = [[0.0; 3]; 3];
                only_normal[0][0] = 1.0 / link.w[0][0];
                only_normal
            }
        };
        if back.iter().flatten().all(|entry| entry.is_finite()) {
            follow = std::array::from_fn(|i| {
                std::array::from_fn(|j| -(0..3).map(|k| back[i][k] * coupling[j][k]).sum::<f64>())
            });
        }
        let own = link.turning_block;
        let matrix = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                own[i][j] + (0..3).map(|k| coupling[i][k] * follow[k][j]).sum::<f64>()
            })
        });
        Answers {
            matrix,
            follow,
            least: HELD * (own[0][0] + own[1][1] + own[2][2]),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.moments.held() + self.probe.held() + self.velocities.held() + self.free.held()
    }
}

/// How a contact answers to its moments.
struct Answers {
    /// Angular velocity for each unit of moment.
    matrix: [Three; 3],
    /// Impulse for each unit of moment.
    follow: [Three; 3],
    least: f64,
}

impl Answers {
    /// The entries of a diagonal that is nowhere smaller across the normal.
    fn diagonal(&self) -> [f64; 2] {
        let m = &self.matrix;
        let (mean, half) = (0.5 * (m[1][1] + m[2][2]), 0.5 * (m[1][1] - m[2][2]));
        let across = mean + length(half, 0.5 * (m[1][2] + m[2][1]));
        [m[0][0].max(self.least), across.max(self.least)]
    }

    fn largest(&self) -> f64 {
        let [about, across] = self.diagonal();
        about.max(across)
    }

    /// Moments within their bounds that take the turning away, as far as they can.
    fn resist(&self, old: &Three, spin: &Three, bounds: [f64; 2]) -> Three {
        let [about, across] = self.diagonal();
        if self.least == 0.0 {
            return [0.0; 3];
        }
        let [torsion, rolling] = bounds.map(|bound| bound.max(0.0));
        let twist = (old[0] - spin[0] / about).clamp(-torsion, torsion);
        let roll = [old[1] - spin[1] / across, old[2] - spin[2] / across];
        let size = length(roll[0], roll[1]);
        let share = match size > rolling {
            true => rolling / size,
            false => 1.0,
        };
        [twist, roll[0] * share, roll[1] * share]
    }
}

/// Along the axes of a contact.
fn turned(link: &Link, vector: Vec3) -> Three {
    link.frame.map(|axis| axis.dot(vector))
}

fn relative_spin(island: &Island, link: &Link, velocities: &[[Vec3; 2]]) -> Vec3 {
    let spin = |side: usize| match island.movers.get(link.ends[side] as usize) {
        Some(_) => velocities[link.ends[side] as usize][1],
        None => link.spins[side],
    };
    spin(1) - spin(0)
}

/// A matrix along the axes of a contact.
pub fn in_frame(matrix: Mat3, frame: &[Vec3; 3]) -> [Three; 3] {
    let columns = frame.map(|axis| matrix * axis);
    frame.map(|axis| columns.map(|column| axis.dot(column)))
}
