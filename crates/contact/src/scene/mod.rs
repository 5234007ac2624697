//! Free bodies, grains and bodies of prescribed motion in contact.
//!
//! Every step solves M (v⁺ − v) = h f + Σ γ for velocities at its end, with contacts as they are at its
//! beginning, and moves all bodies with v⁺. A gap g enters as g/h: a contact closes within the step,
//! at the earliest.

mod account;
mod aims;
mod apart;
mod blows;
mod rows;
mod sleep;
mod step;
mod tally;

pub use rows::HeldRow;
pub use tally::Tally;

use blows::Blows;
use oldham_space::{Mat3, Quaternion, V3, Vec3};
use sleep::Sleep;

use crate::cone::Cone;
use crate::error::ContactError;
use crate::problem::{BodyMotion, Levers};
use crate::shape::{Pose, Shape};
use crate::solver::{ContactSolver, RowState, Solved};
use crate::touch::{BodyId, Surface, SurfaceId, Touch};
use crate::warm::WarmStart;
use crate::world::World;

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// By forces and impulses. The origin of its frame is the centre of mass.
    Free {
        /// Its mass.
        mass: f64,
        /// Moments of inertia about the axes of its frame.
        inertia: Vec3,
    },
    /// As it is told by [`Scene::prescribe`]; at rest before.
    Prescribed,
    /// By somebody else's integrator, which says with [`Scene::place`] and [`Scene::answers`] where it is and how it
    /// answers to impulses. Such bodies come before those above.
    Owned,
    /// The same for bodies that joints hold together: they answer by a [mobility](crate::problem::Mechanism) as
    /// one. Such bodies come first of all.
    Held,
}

/// A body at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// How it moves.
    pub motion: Motion,
    /// Where its frame is.
    pub position: Vec3,
    /// How its frame is turned.
    pub orientation: Quaternion,
    /// Velocity of the origin.
    pub velocity: Vec3,
    /// Angular velocity.
    pub spin: Vec3,
}

impl Body {
    /// A free body at rest.
    pub fn free(mass: f64, inertia: Vec3, position: Vec3) -> Self {
        Self {
            motion: Motion::Free { mass, inertia },
            ..Self::prescribed(position)
        }
    }

    /// A body whose motion is given, at rest.
    pub fn prescribed(position: Vec3) -> Self {
        Self {
            motion: Motion::Prescribed,
            position,
            orientation: Quaternion::default(),
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
        }
    }
}

/// What happens to penetrations, which remain where a solver stops at its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Correction {
    /// Bodies are moved apart without getting any velocity, once a penetration exceeds the given depth.
    Positions {
        /// In metres.
        beyond: f64,
    },
    /// Bodies get the velocity that ends the penetration within the step, up to a limit. This makes energy: its
    /// work is reported.
    Velocities {
        /// In m/s.
        limit: f64,
    },
}

/// How bodies that rebound pass blows on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impacts {
    /// One after the other, in the order of time.
    InTurn,
    /// All at once.
    Together,
}

/// What to do about bodies that overlap at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Report them.
    Refuse,
    /// Move them apart.
    Resolve,
}

/// How a scene is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Contacts with a gap below this are taken into account, in metres.
    pub reach: f64,
    /// Gravity in m/s².
    pub gravity: Vec3,
    /// What happens to penetrations.
    pub correction: Correction,
    /// How blows are passed on.
    pub impacts: Impacts,
    /// Overlap at the start deeper than this is a mistake, in metres.
    pub overlap: f64,
    /// What happens then.
    pub start: Start,
    /// Bodies farther than this from the origin are lost, in metres.
    pub domain: f64,
    /// Whether bodies that rest are left alone until something changes. This is for Coulomb's law, and for penetrations that are taken back by positions.
    pub sleep: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reach: 1e-3,
            gravity: Vec3::new(0.0, 0.0, -9.81),
            correction: Correction::Positions { beyond: 1e-6 },
            impacts: Impacts::InTurn,
            overlap: 1e-9,
            start: Start::Refuse,
            domain: f64::INFINITY,
            sleep: false,
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The largest residual of a contact in m/s under the law of the solver, computed from the impulses after it has finished.
    pub residual: f64,
    /// Contacts taken into account.
    pub contacts: usize,
    /// Contacts with an impulse.
    pub pressed: usize,
    /// Pairwise blows of bodies that rebound.
    pub blows: usize,
    /// The deepest penetration of rigid surfaces at the beginning of the step; those that yield sink in on purpose.
    pub penetration: f64,
    /// The sum of gap × normal × impulse over contacts of two grains. Their impulses act at the points of the surfaces that meet at
    /// the end of the step; as long as a gap is open the angular momentum changes by this.
    pub gap_moment: Vec3,
    /// Energy that the impulses took from the bodies, by impact and friction.
    pub dissipated: f64,
    /// Energy that the correction of penetrations added.
    pub correction_work: f64,
    /// Angular momentum that the correction of penetrations added: bodies that move apart take their momentum with them.
    pub correction_moment: Vec3,
    /// Whether penetrations were corrected by moving bodies.
    pub is_separated: bool,
    /// What the solver did.
    pub solved: Solved,
}

/// Bodies and grains in contact, and their time stepping.
pub struct Scene {
    world: World,
    options: Options,
    solver: Box<dyn ContactSolver>,
    /// Moves bodies apart.
    separator: Cone,
    /// Frames of the bodies, without grains.
    poses: Vec<Pose>,
    orientations: Vec<Quaternion>,
    /// Moments of inertia about the axes of the frames; zero where the motion is given.
    inertia: Vec<Vec3>,
    /// How many of the first bodies are held by joints, and how many are moved by somebody else.
    held: usize,
    owned: usize,
    /// How contacts of bodies give way along the normal, and across.
    give: [f64; 2],
    /// Inverse inertia of the latter in absolute axes.
    owned_inertia: Vec<Mat3>,
    /// Centres of the grains.
    grains: Vec<Vec3>,
    /// Bodies, then grains.
    motion: Vec<BodyMotion>,
    /// Force and moment on the bodies.
    loads: Vec<[Vec3; 2]>,
    /// Force and moment about the origins of the bodies from the contacts of the last step.
    reactions: Vec<[Vec3; 2]>,
    warm: WarmStart,
    blows: Blows,
    sleep: Sleep,
    tally: Tally,
    scratch: Scratch,
}

/// What a step fills and forgets.
#[derive(Default)]
struct Scratch {
    inverse_inertia: Vec<Mat3>,
    /// What is asked of contacts that may rebound or yield; these come first.
    biases: Vec<f64>,
    levers: Vec<Levers>,
    /// What the rows of contacts do, while they are solved.
    sets: Vec<RowState>,
    /// Of contacts between bodies.
    held_rows: Vec<HeldRow>,
    /// Of contacts with box friction.
    frames: Vec<[Vec3; 3]>,
    /// For moving bodies apart: lengths in place of velocities and impulses.
    shifted: Vec<BodyMotion>,
    shifts: Vec<f64>,
}

impl Scene {
    /// An empty scene that a solver steps.
    pub fn new(options: Options, solver: impl ContactSolver + 'static) -> Self {
        Self {
            world: World::new(options.reach),
            options,
            solver: Box::new(solver),
            separator: Cone::new(apart::CLOSE, 1000),
            poses: Vec::new(),
            orientations: Vec::new(),
            inertia: Vec::new(),
            held: 0,
            owned: 0,
            give: [0.0; 2],
            owned_inertia: Vec::new(),
            grains: Vec::new(),
            motion: Vec::new(),
            loads: Vec::new(),
            reactions: Vec::new(),
            warm: WarmStart::default(),
            blows: Blows::default(),
            sleep: Sleep::new(options.sleep),
            tally: Tally::default(),
            scratch: Scratch::default(),
        }
    }

    /// Adds a surface.
    pub fn add_surface(&mut self, surface: Surface) -> Result<SurfaceId, ContactError> {
        if surface.resists_turning() && !self.solver.knows_turning() {
            return Err(ContactError::Surface {
                what: "rolling or torsional friction",
                value: surface.rolling.max(surface.torsion),
                range: "zero with this solver; Coulomb's law without `exact` knows it",
            });
        }
        self.world.add_surface(surface)
    }

    /// Adds a body with one shape about its origin. Bodies come before grains.
    pub fn add_body(
        &mut self,
        body: Body,
        shape: Shape,
        surface: SurfaceId,
    ) -> Result<BodyId, ContactError> {
        self.add_compound(body, [(shape, Pose::default(), surface)])
    }

    /// Adds a body with several shapes, each at a pose in its frame.
    pub fn add_compound(
        &mut self,
        body: Body,
        shapes: impl IntoIterator<Item = (Shape, Pose, SurfaceId)>,
    ) -> Result<BodyId, ContactError> {
        let index = self.world.bodies();
        let mut moved = BodyMotion {
            velocity: body.velocity,
            spin: body.spin,
            ..BodyMotion::default()
        };
        let mut moments = Vec3::ZERO;
        if let Motion::Free { mass, inertia } = body.motion {
            let [x, y, z] = inertia.0;
            let named = [
                ("its mass", mass),
                ("its first moment of inertia", x),
                ("its second moment of inertia", y),
                ("its third moment of inertia", z),
            ];
            check_inertia(index, &named)?;
            moved.inverse_mass = 1.0 / mass;
            moments = inertia;
        }
        match body.motion {
            Motion::Held => assert_eq!(index, self.held, "held bodies come first"),
            Motion::Owned => assert_eq!(index, self.owned, "owned bodies come before others"),
            _ => {}
        }
        self.held += usize::from(body.motion == Motion::Held);
        if matches!(body.motion, Motion::Held | Motion::Owned) {
            self.owned += 1;
            self.owned_inertia.push(Mat3::ZERO);
        }
        let id = self.world.add_body(body.motion != Motion::Prescribed);
        for (shape, at, surface) in shapes {
            self.world.add_shape(shape, at, surface)?;
        }
        self.poses.push(Pose {
            position: body.position,
            axes: body.orientation.matrix(),
        });
        self.orientations.push(body.orientation);
        self.inertia.push(moments);
        self.motion.push(moved);
        self.loads.push([Vec3::ZERO; 2]);
        self.reactions.push([Vec3::ZERO; 2]);
        Ok(id)
    }

    /// Adds solid spheres of one radius and density at rest. A grain has no orientation.
    pub fn add_grains(
        &mut self,
        centres: &[Vec3],
        radius: f64,
        density: f64,
        surface: SurfaceId,
    ) -> Result<(), ContactError> {
        let index = self.motion.len();
        let law = self.world.own_law(surface);
        if law.stiffness.is_finite() {
            return Err(ContactError::Surface {
                what: "stiffness of grains",
                value: law.stiffness,
                range: "infinite; regularised contacts are for bodies",
            });
        }
        if law.resists_turning() {
            return Err(ContactError::Surface {
                what: "rolling or torsional friction of grains",
                value: law.rolling.max(law.torsion),
                range: "zero; it is for bodies",
            });
        }
        self.world
            .add_grains(&vec![radius; centres.len()], surface)?;
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        check_inertia(index, &[("its mass", mass)])?;
        let still = BodyMotion {
            inverse_mass: 1.0 / mass,
            inverse_inertia: 2.5 / (mass * radius * radius),
            ..BodyMotion::default()
        };
        self.grains.reserve_exact(centres.len());
        self.grains.extend_from_slice(centres);
        self.motion.reserve_exact(centres.len());
        self.motion.resize(self.motion.len() + centres.len(), still);
        Ok(())
    }

    /// Two bodies pass through each other.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.world.exclude(a, b);
    }

    /// Gives a body its velocity from now on.
    pub fn prescribe(&mut self, body: BodyId, velocity: Vec3, spin: Vec3) {
        let moved = &mut self.motion[body.index()];
        (moved.velocity, moved.spin) = (velocity, spin);
    }

    /// Says where a body is that somebody else moves, and its velocities: at the beginning of a step, and, after
    /// [`begin`](Self::begin), what they would be at its end without contacts.
    pub fn place(&mut self, body: BodyId, pose: Pose, velocity: Vec3, spin: Vec3) {
        self.poses[body.index()] = pose;
        self.prescribe(body, velocity, spin);
    }

    /// Says how a body that somebody else moves answers to impulses; its frame is at the centre of mass.
    pub fn answers(&mut self, body: BodyId, inverse_mass: f64, inverse_inertia: Mat3) {
        self.motion[body.index()].inverse_mass = inverse_mass;
        self.owned_inertia[body.index()] = inverse_inertia;
    }

    /// Lets contacts of bodies, grains apart, give way by these velocities for a unit of impulse, along the normal and across. Where a motion that holds bodies comes from elsewhere and
    /// reckons with that, no impulse has to be infinite.
    pub fn give_way(&mut self, along: f64, across: f64) {
        self.give = [along, across];
    }

    /// By how much the last correction of positions moved and turned a body that somebody else moves.
    pub fn shift(&self, body: BodyId) -> [Vec3; 2] {
        let shift = self.scratch.shifted[body.index()];
        [shift.velocity, shift.spin]
    }

    /// Puts a force and a moment about its origin on a body from now on.
    pub fn load(&mut self, body: BodyId, force: Vec3, moment: Vec3) {
        self.loads[body.index()] = [force, moment];
    }

    /// Force and moment about its origin that the contacts of the last step put on a body.
    pub fn reaction(&self, body: BodyId) -> [Vec3; 2] {
        self.reactions[body.index()]
    }

    /// What all steps have come to so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The impulse that one body received from another in the contacts of the last step.
    pub fn impulse_between(&self, by: BodyId, on: BodyId) -> Vec3 {
        let (by, on) = (by.index(), on.index());
        let sign = |ends: [usize; 2]| match ends {
            [a, b] if a == by && b == on => 1.0,
            [a, b] if a == on && b == by => -1.0,
            _ => 0.0,
        };
        self.warm.sum(sign) + self.sleep.resting.sum(sign)
    }

    /// The frame of a body.
    pub fn pose(&self, body: BodyId) -> &Pose {
        &self.poses[body.index()]
    }

    /// Velocity and angular velocity of a body or grain.
    pub fn velocity(&self, body: BodyId) -> [Vec3; 2] {
        let moved = &self.motion[body.index()];
        [moved.velocity, moved.spin]
    }

    /// Centres of the grains.
    pub fn grains(&self) -> &[Vec3] {
        &self.grains
    }

    /// Velocities of the grains.
    pub fn grain_velocities(&self) -> Vec<Vec3> {
        let grains = self.motion[self.poses.len()..].iter();
        grains.map(|moved| moved.velocity).collect()
    }

    /// The number of the first grain among the bodies.
    pub fn first_grain(&self) -> BodyId {
        BodyId(self.world.bodies() as u32)
    }

    /// Gives a grain a velocity and angular velocity.
    pub fn launch(&mut self, grain: usize, velocity: Vec3, spin: Vec3) {
        let body = self.first_grain().0 + grain as u32;
        self.prescribe(BodyId(body), velocity, spin);
    }

    /// How many bodies there are, without grains.
    pub fn bodies(&self) -> usize {
        self.poses.len()
    }

    /// Contacts at the beginning of the last step, without those of sleepers.
    pub fn touches(&self) -> &[Touch] {
        self.world.touches()
    }

    /// The middle of the contacts that pressed on a body in the last step, by their impulses; nothing if none did.
    pub fn pressed_at(&self, body: BodyId) -> Option<Vec3> {
        let (mut sum, mut weight) = self.rests_at(body);
        let each = self.touches().iter().zip(self.impulses());
        for (contact, (touch, impulse)) in each.enumerate() {
            if touch.ends.iter().any(|end| end.body() == body.index()) {
                let size = V3(*impulse).norm();
                sum += self.world.place(contact, &self.grains) * size;
                weight += size;
            }
        }
        (weight > 0.0).then(|| sum * (1.0 / weight))
    }

    /// Impulses of the contacts of the last step along the absolute axes, on the second body of each.
    pub fn impulses(&self) -> &[[f64; 3]] {
        self.warm.impulses().as_chunks::<3>().0
    }
}

fn check_inertia(body: usize, values: &[(&'static str, f64)]) -> Result<(), ContactError> {
    match values
        .iter()
        .find(|(_, v)| !(*v > 0.0 && v.is_finite() && (1.0 / v).is_finite()))
    {
        Some(&(what, value)) => Err(ContactError::Inertia { body, what, value }),
        None => Ok(()),
    }
}
