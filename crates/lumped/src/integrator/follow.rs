//! Boundary nodes with a position and a velocity of their own, which follow what they receive by a law.
//!
//! Their inertia belongs to this part; what it takes to move them so is the force on their owner:
//! the mean over the step, as impulses give it (Zhang 2022, Eq. 38).

use oldham_cosim::{Followed, Inputs, MotionLaw, StepError, Visitor};

use super::Step;
use crate::plant::Plant;
use crate::wiring::Target;

/// Nothing has been received yet.
const NEW: u64 = 0;
/// The initial motion was received, perhaps not for the last time.
const READY: u64 = 1;
/// A step was made.
const MOVING: u64 = 2;

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Followers {
    boundary_nodes: Vec<Follower>,
    phase: u64,
}

#[derive(Clone, Debug)]
struct Follower {
    boundary: usize,
    slot: usize,
    law: MotionLaw,
    /// The component of the input vector with the position; velocity and acceleration come after it.
    component: usize,
    /// What is prescribed of the position at the start of the step.
    wanted: f64,
    /// Displacement and velocity.
    motion: [f64; 2],
    /// Force on the owner during the last step, and the acceleration.
    reaction: f64,
    acceleration: f64,
}

impl Followers {
    pub(crate) fn new(plant: &Plant) -> Self {
        let follower = |&(boundary, law): &(usize, MotionLaw)| {
            let slot = plant.own() + boundary;
            let component = plant.wiring.component(Target::Followed(slot, 0));
            Follower {
                boundary,
                slot,
                law,
                component: component.expect("followed boundary nodes receive their motion"),
                wanted: 0.0,
                motion: [0.0; 2],
                reaction: 0.0,
                acceleration: 0.0,
            }
        };
        Self {
            boundary_nodes: plant.wiring.following.iter().map(follower).collect(),
            phase: NEW,
        }
    }

    /// Where the integration starts they are where they should be.
    #[inline(always)]
    pub(crate) fn start(&mut self, plant: &mut Plant, t: f64) -> Result<(), StepError> {
        match self.boundary_nodes.is_empty() || self.phase == MOVING {
            true => Ok(()),
            false => self.place_first(plant, t),
        }
    }

    #[inline(never)]
    fn place_first(&mut self, plant: &mut Plant, t: f64) -> Result<(), StepError> {
        self.phase = READY;
        for follower in &mut self.boundary_nodes {
            let [x, v, a] = received(plant.inputs(), follower.component);
            follower.motion = [x, v];
            follower.acceleration = a;
        }
        self.place(plant);
        plant.moved();
        self.find_reactions(plant, t)
    }

    /// The next velocities from the inputs at start and end of a step, and the reactions that they
    /// take; own accelerations are those at the start of the step.
    pub(crate) fn accelerate(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
    ) -> Result<(), StepError> {
        if self.boundary_nodes.is_empty() {
            return Ok(());
        }
        if self.phase == NEW {
            self.start(plant, step.from)?;
        }
        self.phase = MOVING;
        for follower in &mut self.boundary_nodes {
            // The inputs at the start of the step still act.
            follower.wanted = plant.inputs()[follower.component];
        }
        let at_end = plant.foresee(step.to, inputs);
        for follower in &mut self.boundary_nodes {
            let [x, v] = follower.motion;
            let [end, rate, acceleration] = received(at_end, follower.component);
            let followed = Followed {
                velocity: v,
                gap_at_start: follower.wanted - x,
                gap_at_end: end - x,
                rates_at_end: [rate, acceleration],
            };
            let next = follower.law.velocity(followed, step.size);
            follower.acceleration = (next - v) / step.size;
        }
        self.place(plant);
        plant.moved();
        self.find_reactions(plant, step.from)
    }

    fn find_reactions(&mut self, plant: &mut Plant, t: f64) -> Result<(), StepError> {
        plant.accelerate(t)?;
        for follower in &mut self.boundary_nodes {
            let equations = &plant.equations;
            follower.reaction = equations.force_on_boundary(follower.boundary, t, &plant.motion)?;
        }
        Ok(())
    }

    /// The end of the step.
    pub(crate) fn finish(&mut self, plant: &mut Plant, size: f64) {
        for follower in &mut self.boundary_nodes {
            follower.motion[1] += size * follower.acceleration;
            follower.motion[0] += size * follower.motion[1];
        }
        self.place(plant);
    }

    /// Puts their motions where the equations read them.
    pub(crate) fn place(&self, plant: &mut Plant) {
        for follower in &self.boundary_nodes {
            let [x, v] = follower.motion;
            plant.motion.x[follower.slot] = x;
            plant.motion.v[follower.slot] = v;
            plant.motion.a[follower.slot] = follower.acceleration;
        }
    }

    /// The force on the owner of a boundary node, if it is one of these.
    pub(crate) fn reaction(&self, boundary: usize) -> Option<f64> {
        let mut boundary_nodes = self.boundary_nodes.iter();
        let follower = boundary_nodes.find(|follower| follower.boundary == boundary)?;
        Some(follower.reaction)
    }

    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.boundary_nodes.is_empty() {
            return;
        }
        visitor.count(&mut self.phase);
        for follower in &mut self.boundary_nodes {
            visitor.vector(&mut follower.motion);
            visitor.vector(std::slice::from_mut(&mut follower.reaction));
            visitor.vector(std::slice::from_mut(&mut follower.acceleration));
        }
    }
}

fn received(inputs: &[f64], component: usize) -> [f64; 3] {
    [0, 1, 2].map(|order| inputs[component + order])
}
