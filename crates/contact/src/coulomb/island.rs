//! Contacts that share moving bodies, in frames of their own.

use oldham_space::{Mat3, Vec3};

use super::local::{HELD, Local, Three, admitted, residual};
use super::turning::in_frame;
use crate::problem::Bodies;
use crate::room::Room;

/// Where no body moves.
pub const NONE: u32 = u32::MAX;

/// A body that moves.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// Its number in the problem.
    pub body: u32,
    /// Velocities without any impulse.
    pub free: [Vec3; 2],
    pub inverse_mass: f64,
    pub inverse_inertia: Mat3,
}

/// A contact.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its number in the problem.
    pub contact: u32,
    /// The moving bodies of the island on both sides, or none.
    pub ends: [u32; 2],
    pub arms: [Vec3; 2],
    /// Normal and tangents.
    pub frame: [Vec3; 3],
    /// What is added to the relative velocity of the moving bodies: the motion of others, and the gap.
    pub offset: Three,
    pub friction: f64,
    /// Torsional and rolling friction in m.
    pub turning: [f64; 2],
    /// How its turning answers to moments along its axes, where it resists turning.
    pub turning_block: [Three; 3],
    /// Angular velocities of bodies that no impulse of the island moves.
    pub spins: [Vec3; 2],
    /// What the contact itself yields along its axes, for each unit of impulse.
    pub compliance: Three,
    /// Its block of the Delassus matrix, compliance included.
    pub w: [Three; 3],
    /// Its own law.
    pub local: Local,
    /// The mean of that block's diagonal; zero where nothing can move.
    pub mean: f64,
}

impl Link {
    pub fn vector(&self, impulse: &Three) -> Vec3 {
        let [n, s, t] = self.frame;
        n * impulse[0] + s * impulse[1] + t * impulse[2]
    }

    /// Where an impulse leads to within the friction cone.
    pub fn admit(&self, impulse: Three) -> Three {
        admitted(&impulse, self.friction)
    }
}

/// An island: its bodies and contacts.
#[derive(Clone, Debug, Default)]
pub struct Island {
    pub movers: Vec<Mover>,
    pub links: Vec<Link>,
    /// Bodies that joints hold together, which are the first movers.
    pub held: usize,
    /// How these answer to impulses: six rows and columns each.
    pub mobility: Vec<f64>,
    /// For each body of the problem its place among the movers.
    places: Vec<u32>,
}

impl Island {
    /// Takes in the contacts listed, and the bodies that they move.
    pub fn fill(&mut self, problem: &Bodies<'_>, contacts: &[u32]) {
        for mover in &self.movers {
            self.places[mover.body as usize] = NONE;
        }
        self.places.make_room(problem.motion.len());
        self.places.resize(problem.motion.len(), NONE);
        self.movers.clear();
        self.links.clear();
        for take_held in [true, false] {
            for &contact in contacts {
                for body in problem.bodies_of(contact as usize) {
                    let is_held = (body as usize) < problem.mechanism.bodies;
                    if is_held == take_held && self.places[body as usize] == NONE {
                        self.add_mover(problem, body, is_held);
                    }
                }
            }
            if take_held {
                self.held = self.movers.len();
            }
        }
        self.fill_mobility(problem);
        for &contact in contacts {
            let link = self.link(problem, contact as usize);
            self.links.put(link);
        }
    }

    fn add_mover(&mut self, problem: &Bodies<'_>, body: u32, is_held: bool) {
        let motion = &problem.motion[body as usize];
        if !is_held && motion.inverse_mass == 0.0 {
            return;
        }
        self.places[body as usize] = self.movers.len() as u32;
        let inverse = problem.inertia.get(body as usize).copied();
        self.movers.put(Mover {
            body,
            free: [motion.velocity, motion.spin],
            inverse_mass: motion.inverse_mass,
            inverse_inertia: inverse
                .unwrap_or_else(|| Mat3::scaled_identity(motion.inverse_inertia)),
        });
    }

    fn fill_mobility(&mut self, problem: &Bodies<'_>) {
        let (n, all) = (6 * self.held, 6 * problem.mechanism.bodies);
        self.mobility.clear();
        self.mobility.make_room(n * n);
        for row in 0..n {
            let line = 6 * self.movers[row / 6].body as usize + row % 6;
            for mover in &self.movers[..self.held] {
                let first = line * all + 6 * mover.body as usize;
                self.mobility
                    .extend_from_slice(&problem.mechanism.mobility[first..first + 6]);
            }
        }
    }

    fn link(&self, problem: &Bodies<'_>, contact: usize) -> Link {
        let normal = problem.touches[contact].normal;
        let first = normal.perpendicular();
        let frame = [normal, first, normal.cross(first)];
        let (arms, compliance) = match problem.levers_of(contact) {
            Some(levers) => {
                let along = levers.compliance + levers.give;
                (levers.arms, [along, levers.give, levers.give])
            }
            None => {
                let plain = problem.plain(contact);
                ([normal * plain.arms[0], normal * -plain.arms[1]], [0.0; 3])
            }
        };
        let bodies = problem.bodies_of(contact);
        let ends = bodies.map(|body| self.places[body as usize]);
        let turning = problem.levers_of(contact).map_or([0.0; 2], |l| l.turning);
        let mut spins = [Vec3::ZERO; 2];
        let mut other = Vec3::ZERO;
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            if ends[side] == NONE {
                let motion = &problem.motion[bodies[side] as usize];
                other += (motion.velocity + motion.spin.cross(arms[side])) * sign;
                spins[side] = motion.spin;
            }
        }
        let mut offset = frame.map(|axis| axis.dot(other));
        offset[0] += problem.bias(contact);
        let block = problem.block(contact);
        let columns = frame.map(|axis| block * axis);
        let w: [Three; 3] = frame.map(|axis| columns.map(|column| axis.dot(column)));
        let trace = w[0][0] + w[1][1] + w[2][2];
        let friction = problem.friction(contact);
        Link {
            contact: contact as u32,
            ends,
            arms,
            frame,
            offset,
            friction,
            turning,
            turning_block: match turning == [0.0; 2] {
                true => [[0.0; 3]; 3],
                false => in_frame(problem.turning_block(contact), &frame),
            },
            spins,
            compliance,
            w,
            local: Local::new(&w, friction),
            mean: if trace.is_finite() { trace / 3.0 } else { 0.0 },
        }
    }

    /// Applies a force and its moment about the centre of a moving body, as impulses.
    #[inline(always)]
    fn push(&self, body: usize, impulse: Vec3, moment: Vec3, velocities: &mut [[Vec3; 2]]) {
        if body >= self.held {
            let mover = &self.movers[body];
            let [velocity, spin] = &mut velocities[body];
            *velocity += impulse * mover.inverse_mass;
            *spin += mover.inverse_inertia * moment;
            return;
        }
        self.push_held(body, impulse, moment, velocities);
    }

    #[inline(never)]
    fn push_held(&self, body: usize, impulse: Vec3, moment: Vec3, velocities: &mut [[Vec3; 2]]) {
        let n = 6 * self.held;
        for (moved, velocity) in velocities[..self.held].iter_mut().enumerate() {
            for row in 0..6 {
                let first = (6 * moved + row) * n + 6 * body;
                let line = &self.mobility[first..first + 6];
                let linear = line[0] * impulse[0] + line[1] * impulse[1] + line[2] * impulse[2];
                let angular = line[3] * moment[0] + line[4] * moment[1] + line[5] * moment[2];
                velocity[row / 3][row % 3] += linear + angular;
            }
        }
    }

    /// Applies an impulse of a contact to velocities.
    #[inline(always)]
    pub fn apply(&self, link: &Link, impulse: &Three, velocities: &mut [[Vec3; 2]]) {
        if *impulse == [0.0; 3] {
            return;
        }
        let vector = link.vector(impulse);
        for (side, part) in [-vector, vector].into_iter().enumerate() {
            if link.ends[side] != NONE {
                let moment = link.arms[side].cross(part);
                self.push(link.ends[side] as usize, part, moment, velocities);
            }
        }
    }

    /// Applies a moment of a contact to velocities.
    pub fn turn(&self, link: &Link, moment: &Three, velocities: &mut [[Vec3; 2]]) {
        let vector = link.vector(moment);
        for (side, part) in [-vector, vector].into_iter().enumerate() {
            if link.ends[side] != NONE {
                self.push(link.ends[side] as usize, Vec3::ZERO, part, velocities);
            }
        }
    }

    /// Whether a contact resists turning.
    pub fn resists_turning(&self) -> bool {
        self.links.iter().any(|link| link.turning != [0.0; 2])
    }

    /// Whether nearly all pairs of bodies touch at one point, so that sweeps settle them most of the time.
    pub fn is_of_round_bodies(&self) -> bool {
        let neighbours = self.links.windows(2);
        let further = neighbours.filter(|two| two[0].ends == two[1].ends).count();
        5 * further < self.links.len()
    }

    /// Velocities that belong to impulses.
    pub fn velocities(&self, impulses: &[Three], velocities: &mut Vec<[Vec3; 2]>) {
        velocities.clear();
        velocities.make_room(self.movers.len());
        velocities.extend(self.movers.iter().map(|mover| mover.free));
        for (link, impulse) in self.links.iter().zip(impulses) {
            self.apply(link, impulse, velocities);
        }
    }

    /// What velocities of the moving bodies are along a contact's axes.
    #[inline(always)]
    pub fn along(&self, link: &Link, velocities: &[[Vec3; 2]]) -> Three {
        let mut sum = Vec3::ZERO;
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            if link.ends[side] != NONE {
                let [velocity, spin] = velocities[link.ends[side] as usize];
                sum += (velocity + spin.cross(link.arms[side])) * sign;
            }
        }
        link.frame.map(|axis| axis.dot(sum))
    }

    /// The relative velocity of a contact, gap and compliance included.
    pub fn relative(&self, link: &Link, impulse: &Three, velocities: &[[Vec3; 2]]) -> Three {
        let mut u = self.along(link, velocities);
        for (axis, part) in u.iter_mut().enumerate() {
            *part += link.offset[axis] + link.compliance[axis] * impulse[axis];
        }
        u
    }

    /// The largest residual of a contact in m/s, and the sum of their squares as energies, for velocities that belong to the
    /// impulses.
    pub fn residual(&self, impulses: &[Three], velocities: &[[Vec3; 2]]) -> Residual {
        let mut found = Residual::default();
        for (link, impulse) in self.links.iter().zip(impulses) {
            let u = self.relative(link, impulse, velocities);
            let one = residual(impulse, &u, link.friction, link.mean);
            if one > found.largest || one.is_nan() {
                found.largest = one;
            }
            if link.mean > 0.0 {
                found.merit += one * one / link.mean;
            }
        }
        found.merit = found.merit.sqrt();
        found
    }

    /// Whether impulses of a contact can do anything along its normal.
    pub fn is_movable(link: &Link) -> bool {
        link.mean > 0.0 && link.w[0][0] > HELD * 3.0 * link.mean
    }
}

/// How well impulses solve the problem.
#[derive(Clone, Copy, Debug, Default)]
pub struct Residual {
    /// In m/s.
    pub largest: f64,
    /// The root of the sum of all squares, weighed as energies.
    pub merit: f64,
}

impl Residual {
    /// Whether it is within a tolerance; what is not finite never is.
    pub fn is_met(&self, tolerance: f64) -> bool {
        self.largest <= tolerance
    }

    /// Whether it is smaller than another one, or that is not finite.
    pub fn is_better(&self, other: &Self) -> bool {
        self.largest < other.largest || !other.largest.is_finite()
    }
}
