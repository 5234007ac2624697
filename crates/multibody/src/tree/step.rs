//! The classical Runge–Kutta method on the coordinates of a tree.
//!
//! Angles and distances are integrated as they are, rotations of balls and free nodes as rotation vectors from where
//! the step begins: no orientation is singular. There are no constraints, and nothing to project. Nodes end a step
//! where the coordinates put them; accelerations and reactions there belong to the state, and are those with which the
//! next step begins, if its inputs are the same.

use super::implicit::push;
use super::layout::Rotation;
use super::{Known, Tree};
use crate::assembly::EvaluationPoint;
use crate::element::At;
use crate::error::SolveError;
use crate::joint::Transmission;
use crate::node::Motion;
use crate::system::System;
use oldham_space::Vec3;
use oldham_space::rotation::inverse_tangent_times;

/// Place and weight of each stage, and which of the three inputs act there.
const STAGES: [(f64, f64, usize); 4] = [
    (0.0, 1.0 / 6.0, 0),
    (0.5, 1.0 / 3.0, 1),
    (0.5, 1.0 / 3.0, 1),
    (1.0, 1.0 / 6.0, 2),
];

impl System {
    /// Advances a tree by `h` to `time`. The stages see the inputs at the start, in the middle and at the end that are
    /// given first; the state reached goes with `end`.
    pub(crate) fn tree_step(
        &mut self,
        time: f64,
        h: f64,
        stages: [&[f64]; 3],
        end: &[f64],
    ) -> Result<(), SolveError> {
        let mut tree = self.tree.take().expect("a mechanism in joint coordinates");
        let done = self.run_tree(&mut tree, time, h, stages, end);
        self.tree = Some(tree);
        if done.is_err() {
            self.return_to_records();
        }
        done
    }

    fn run_tree(
        &mut self,
        tree: &mut Tree,
        time: f64,
        h: f64,
        stages: [&[f64]; 3],
        end: &[f64],
    ) -> Result<(), SolveError> {
        let from = self.state.time;
        let is_driven = !tree.layout.given.is_empty();
        let is_known = tree
            .known
            .is_for(from, h, &self.motions, stages[0], &self.state.memory);
        tree.known.is_valid = false;
        if !is_known {
            self.look_at_tree(tree, from, h, stages[0])?;
        }
        tree.begin();
        let mut powers = [0.0; 3];
        for (index, &(place, weight, which)) in STAGES.iter().enumerate() {
            let now = from + place * (time - from);
            let inputs = stages[which];
            if index > 0 {
                self.follow_tree(tree, now, h, place * h, inputs);
                self.accelerate_tree(tree, now, inputs)?;
            }
            tree.collect(weight);
            if self.options.account_energy {
                // Those of the state are there already.
                if is_driven && !(index == 0 && is_known) {
                    self.find_tree_reactions(tree);
                }
                let found = self.powers(now, inputs);
                for (sum, power) in powers.iter_mut().zip(found) {
                    *sum += weight * power;
                }
            }
        }
        tree.take_sums();
        self.follow_tree(tree, time, h, h, end);
        if let Some(node) = self.motions.iter().position(is_lost) {
            return Err(self.diverged_at(time, 6 * (node - 1)));
        }
        self.remember(time, h, end);
        self.look_at_tree(tree, time, h, end)?;
        self.find_tree_reactions(tree);
        self.finish_tree(time, h, powers);
        let known = &mut tree.known;
        known.take(time, h, &self.motions, end, &self.state.memory);
        Ok(())
    }

    /// Coordinates and accelerations of the motions reached.
    fn look_at_tree(
        &mut self,
        tree: &mut Tree,
        time: f64,
        h: f64,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        self.give_tree(tree, time, h, inputs);
        tree.locate(&self.motions);
        tree.read(&self.motions);
        self.correct_tree_followers(tree, time, inputs);
        self.accelerate_tree(tree, time, inputs)
    }

    /// Puts followers where their relations want them.
    pub(super) fn correct_tree_followers(&self, tree: &mut Tree, time: f64, inputs: &[f64]) {
        if tree.layout.followers.is_empty() {
            return;
        }
        let at = self.tree_point(time, inputs);
        let elements = &self.assembly.elements;
        tree.correct_followers(|element| {
            let placed = &elements[element];
            let relation = (*placed.element).downcast_ref::<Transmission>();
            let relation = relation.expect("the relation of a follower");
            (relation, at.of(placed, elements))
        });
    }

    /// Moves all nodes along the newest slopes.
    fn follow_tree(&mut self, tree: &mut Tree, time: f64, h: f64, distance: f64, inputs: &[f64]) {
        self.give_tree(tree, time, h, inputs);
        tree.follow(distance, &mut self.motions);
    }

    /// Motions of the coordinates that are given.
    pub(super) fn give_tree(&self, tree: &mut Tree, time: f64, h: f64, inputs: &[f64]) {
        if tree.layout.given.is_empty() {
            return;
        }
        let spin = |motion: &Motion| motion.angular_velocity.norm();
        let fastest = self.motions.iter().map(spin).fold(0.0, f64::max);
        let step = h.min(1e-2 / (10.0 + fastest));
        let at = self.tree_point(time, inputs);
        let elements = &self.assembly.elements;
        tree.find_given(
            |element| -> At<'_> { at.of(&elements[element], elements) },
            step,
        );
    }

    fn tree_point<'a>(&'a self, time: f64, inputs: &'a [f64]) -> EvaluationPoint<'a> {
        let none = &self.work.consistency.no_multipliers;
        EvaluationPoint::new(time, &self.motions, none, inputs, &self.state.memory)
    }

    /// Accelerations of the freedoms for motions whose columns have been located.
    fn accelerate_tree(
        &mut self,
        tree: &mut Tree,
        time: f64,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        let nodes = 6 * self.assembly.nodes();
        let mut wrenches = std::mem::take(&mut self.work.residual);
        let acting = match tree.acting().is_empty() {
            true => &[][..],
            false => {
                wrenches.fill(0.0);
                let at = self.tree_point(time, inputs);
                push(&self.assembly, &at, tree.acting(), &mut wrenches);
                &wrenches[..nodes]
            }
        };
        let (inertia, gravity) = (&self.assembly.inertia, self.assembly.gravity);
        tree.find_dynamics(&self.motions, inertia, gravity, acting);
        self.work.residual = wrenches;
        self.counters.factorisations += 1;
        let factored = tree.factor();
        tree.solve();
        let lost = tree.found.iter().position(|value| !value.is_finite());
        if let Some(freedom) = lost {
            let link = tree.layout.columns[freedom].link;
            let known = self.not_finite(time, inputs);
            return Err(known.unwrap_or_else(|| SolveError::Diverged {
                time,
                unknown: tree.names[link].clone(),
            }));
        }
        factored.map_err(|link| SolveError::WithoutInertia {
            time,
            unknown: tree.names[link].clone(),
        })
    }

    /// Leaves accelerations of the nodes and multipliers where the absolute equations have them.
    fn find_tree_reactions(&mut self, tree: &mut Tree) {
        let (accelerations, rest) = self.work.residual.split_at_mut(6 * self.assembly.nodes());
        tree.find_reactions(
            &self.motions,
            self.assembly.gravity,
            accelerations,
            &mut self.multipliers,
        );
        rest[..self.multipliers.len()].copy_from_slice(&self.multipliers);
    }

    /// Makes the motions reached the new state.
    fn finish_tree(&mut self, time: f64, h: f64, powers: [f64; 3]) {
        let state = &mut self.state;
        std::mem::swap(&mut state.now, &mut state.before);
        std::mem::swap(&mut state.multipliers, &mut state.multipliers_before);
        self.record_accelerations();
        let state = &mut self.state;
        let [dissipated, supplied, taken] = powers;
        state.dissipated += h * dissipated;
        state.supplied += h * supplied;
        state.taken += h * taken;
        state.time = time;
        state.step = h;
        state.known = (state.known + 1).min(2);
        self.counters.micro_steps += 1;
    }
}

/// Whether the motion, or a product of two of its values, is beyond all numbers.
fn is_lost(motion: &Motion) -> bool {
    let vectors = [motion.position, motion.velocity, motion.angular_velocity];
    vectors.iter().any(|v| !v.dot(*v).is_finite())
}

impl Tree {
    /// A step begins with the rates that were read.
    fn begin(&mut self) {
        let freedoms = self.layout.freedoms;
        self.first_rates.copy_from_slice(&self.rates[..freedoms]);
        self.values[..freedoms].fill(0.0);
        for sum in &mut self.summed {
            sum.fill(0.0);
        }
    }

    /// Adds the slopes of a stage.
    fn collect(&mut self, weight: f64) {
        let freedoms = self.layout.freedoms;
        let [turns, speeds] = &mut self.slopes;
        turns.copy_from_slice(&self.rates[..freedoms]);
        speeds.copy_from_slice(&self.found);
        for link in &self.layout.links {
            if link.rotation != Rotation::Ball {
                continue;
            }
            let ids = link.turns.ids();
            let vector = |all: &[f64]| Vec3::new(all[ids[0]], all[ids[1]], all[ids[2]]);
            let rate = inverse_tangent_times(vector(&self.values), vector(&self.rates));
            for (k, &id) in ids.iter().enumerate() {
                turns[id] = rate[k];
            }
        }
        for (sums, slopes) in self.summed.iter_mut().zip(&self.slopes) {
            for (sum, slope) in sums.iter_mut().zip(slopes) {
                *sum += weight * slope;
            }
        }
    }

    /// The sums become the newest slopes.
    fn take_sums(&mut self) {
        for (slopes, sums) in self.slopes.iter_mut().zip(&self.summed) {
            slopes.copy_from_slice(sums);
        }
    }
}

impl Known {
    fn is_for(
        &self,
        time: f64,
        step: f64,
        motions: &[Motion],
        inputs: &[f64],
        memory: &[f64],
    ) -> bool {
        self.is_valid
            && (self.time, self.step) == (time, step)
            && self.inputs == inputs
            && self.memory == memory
            && self.motions == motions
    }

    fn take(&mut self, time: f64, step: f64, motions: &[Motion], inputs: &[f64], memory: &[f64]) {
        (self.time, self.step) = (time, step);
        self.motions.copy_from_slice(motions);
        for (own, values) in [(&mut self.inputs, inputs), (&mut self.memory, memory)] {
            own.clear();
            own.extend_from_slice(values);
        }
        self.is_valid = true;
    }
}
