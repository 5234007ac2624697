//! Steps of a tree by the implicit formulas: Newton's iteration in the increments of the joints.
//!
//! The iteration, its tolerance and the reuse of factors are those of the nodes (`newton.rs`): a correction along the
//! freedoms is judged by how it moves the nodes. There are no multipliers to be found; reactions follow when a step is
//! done.

use super::Tree;
use super::screw::Screw;
use super::tangent::Weak;
use super::trial::Trial;
use crate::assembly::{Assembly, EvaluationPoint};
use crate::body::Inertia;
use crate::element::Residual;
use crate::failure::Failure;
use crate::integrator::{Formula, Record};
use crate::node::Motion;
use crate::system::System;
use oldham_space::Vec3;

/// Sweeps of refinement for a jump: always as many, so that it is linear.
const SWEEPS: usize = 4;

impl System {
    /// Begins a step to `time` with predicted accelerations.
    pub(crate) fn predict_tree(&mut self, time: f64, h: f64, formula: &Formula, inputs: &[f64]) {
        let (mut tree, mut trial) = self.take_trial();
        let has_past = self.state.known >= 2;
        let extrapolates = formula.extrapolates() && has_past;
        let is_two_step = matches!(formula, Formula::MultiStep(k) if k.is_two_step());
        self.look_back_on_tree(&mut tree, &mut trial, has_past || is_two_step, inputs);
        self.give_tree(&mut tree, time, h, inputs);
        let missed = self.state.foresight.of_freedoms();
        let jumps = self.work.jump.is_met;
        trial.begin(&mut tree, formula, h, extrapolates, missed, jumps);
        trial.follow(&mut tree, &mut self.motions);
        self.return_trial(tree, trial);
        self.predict_multipliers(extrapolates);
    }

    fn take_trial(&mut self) -> (Box<Tree>, Box<Trial>) {
        let mut tree = self.tree.take().expect("a mechanism in joint coordinates");
        let trial = tree.trial.take().expect("an implicit formula");
        (tree, trial)
    }

    fn return_trial(&mut self, mut tree: Box<Tree>, trial: Box<Trial>) {
        tree.trial = Some(trial);
        self.tree = Some(tree);
    }

    /// Reads the coordinates at the start, and one step before if need be.
    fn look_back_on_tree(
        &mut self,
        tree: &mut Tree,
        trial: &mut Trial,
        needs_before: bool,
        inputs: &[f64],
    ) {
        let before = needs_before.then_some(&self.state.before[..]);
        trial.look_back(tree, &self.state.now, before);
        self.return_to_records();
        self.correct_tree_followers(tree, self.state.time, inputs);
    }

    /// What the trial state lacks, solved for the correction of the freedoms; in `work.residual` how that moves the nodes.
    pub(crate) fn find_tree_correction(&mut self, time: f64, h: f64, inputs: &[f64]) {
        let (mut tree, mut trial) = self.take_trial();
        self.balance_tree(&mut tree, time, h, inputs);
        tree.sum_loads();
        let (nodes, rest) = self.work.residual.split_at_mut(6 * self.assembly.nodes());
        let asked = &mut rest[..self.multipliers.len()];
        trial.tangent.solve(&mut tree.found, asked);
        trial.correction.copy_from_slice(&tree.found);
        tree.write_ways(nodes);
        self.return_trial(tree, trial);
    }

    /// Loads of all links at the trial state.
    fn balance_tree(&mut self, tree: &mut Tree, time: f64, h: f64, inputs: &[f64]) {
        let mut wrenches = std::mem::take(&mut self.work.residual);
        wrenches.fill(0.0);
        let at = EvaluationPoint::new(
            time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        let at = EvaluationPoint {
            regimes: &self.work.regimes,
            ..at.after(h)
        };
        self.work.misfit = push(&self.assembly, &at, tree.acting(), &mut wrenches);
        let (inertia, gravity) = (&self.assembly.inertia, self.assembly.gravity);
        let nodes = 6 * self.assembly.nodes();
        // Factors may have been made at another state since the nodes were placed.
        tree.locate(&self.motions);
        tree.go_out(&self.motions, inertia, gravity, &wrenches[..nodes]);
        self.work.residual = wrenches;
    }

    /// Moves the trial state by the correction that waits.
    pub(crate) fn correct_tree(&mut self) {
        let (mut tree, mut trial) = self.take_trial();
        trial.correct(&mut tree, &mut self.motions);
        let changes = self.work.residual[6 * self.assembly.nodes()..].iter_mut();
        for (multiplier, change) in self.multipliers.iter_mut().zip(changes) {
            *multiplier += std::mem::take(change);
        }
        self.return_trial(tree, trial);
    }

    /// Reactions and accelerations of the nodes at the end of the step, left where the records take them from.
    pub(crate) fn close_tree(&mut self, time: f64, h: f64, inputs: &[f64]) {
        let (mut tree, mut trial) = self.take_trial();
        self.balance_tree(&mut tree, time, h, inputs);
        let (accelerations, _) = self.work.residual.split_at_mut(6 * self.assembly.nodes());
        tree.find_reactions_of_trial(
            &self.motions,
            self.assembly.gravity,
            accelerations,
            &mut self.multipliers,
        );
        tree.spread_algorithmic(&mut trial);
        self.return_trial(tree, trial);
    }

    /// The jump of accelerations with which the step begins, by refinement with the factors of the step; see `jump.rs`. In
    /// joint coordinates no constraint is curved.
    pub(crate) fn find_tree_shift(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        self.return_to_records();
        let (mut tree, mut trial) = self.take_trial();
        self.look_back_on_tree(&mut tree, &mut trial, false, inputs);
        self.give_tree(&mut tree, self.state.time, h, inputs);
        let freedoms = trial.now.seconds.len();
        tree.given[..freedoms].copy_from_slice(&trial.now.seconds);
        tree.lead_accelerations();
        self.return_trial(tree, trial);
        self.prepare_factors_for_jump(time, h, gains, inputs)?;
        let (mut tree, mut trial) = self.take_trial();
        let weight = 1.0 / (gains[0] * gains[1]);
        let load = self.work.jump.load();
        tree.find_jump(
            &mut trial,
            &self.motions,
            &self.assembly.inertia,
            load,
            weight,
        );
        let (change, multipliers) = self.work.jump.meet(weight, 6 * self.assembly.nodes());
        tree.write_ways(change);
        multipliers.copy_from_slice(&trial.row_changes);
        self.return_trial(tree, trial);
        Ok(())
    }
}

/// Adds the forces of some elements. Whether some element could not fit its frame.
pub(super) fn push(
    assembly: &Assembly,
    at: &EvaluationPoint<'_>,
    acting: &[usize],
    wrenches: &mut [f64],
) -> bool {
    let mut misfit = false;
    for &index in acting {
        let placed = &assembly.elements[index];
        let mut out = Residual::new(wrenches, &placed.rows);
        let here = at.of(placed, &assembly.elements);
        placed.element.residual(&here, &mut out);
        misfit |= out.misfit;
    }
    misfit
}

impl Tree {
    /// Accelerations of all columns at the trial state: a part of what it is linearised at.
    pub(crate) fn column_accelerations(&self) -> &[f64] {
        match self.trial {
            Some(_) => &self.given,
            None => &[],
        }
    }

    /// How many these are.
    pub(crate) fn recorded_accelerations(&self) -> usize {
        self.column_accelerations().len()
    }

    /// Makes the factors of a step with these gains at a state; with recorded accelerations of the columns, if there are.
    /// An unknown of the link with a weak pivot, if there is one.
    pub(crate) fn factor_step(
        &mut self,
        assembly: &Assembly,
        at: &EvaluationPoint<'_>,
        gains: [f64; 2],
        recorded: Option<&[f64]>,
    ) -> Result<(), usize> {
        let mut trial = self.trial.take().expect("an implicit formula");
        trial.waiting.copy_from_slice(&self.given);
        if let Some(recorded) = recorded {
            self.given.copy_from_slice(recorded);
        }
        let nodes = 6 * assembly.nodes();
        let mut wrenches = std::mem::take(&mut trial.wrenches);
        wrenches.fill(0.0);
        push(assembly, at, self.acting(), &mut wrenches);
        self.locate(at.motions);
        self.go_out(
            at.motions,
            &assembly.inertia,
            assembly.gravity,
            &wrenches[..nodes],
        );
        trial.tangent.find(self, assembly, at, &wrenches[..nodes]);
        let factored = trial.tangent.factor(self, gains, at.motions);
        trial.wrenches = wrenches;
        self.given.copy_from_slice(&trial.waiting);
        self.trial = Some(trial);
        factored.map_err(|weak| match weak {
            Weak::Freedom(freedom) => {
                let link = self.layout.columns[freedom].link;
                6 * (self.layout.links[link].node - 1)
            }
            Weak::Row(multiplier) => nodes + multiplier,
        })
    }

    /// The record of a node at the end of a step, with its acceleration among those of all nodes.
    pub(crate) fn record(
        &self,
        node: usize,
        inertia: &Inertia,
        motion: Motion,
        accelerations: &[f64],
    ) -> Record {
        let d = &accelerations[6 * (node - 1)..6 * node];
        let (a, alpha) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
        let trial = self.trial.as_ref().expect("an implicit formula");
        let algorithmic = match trial.steps_rates() {
            true => {
                let link = self.link_of(node);
                let apart = trial.apart[link];
                let linear = a + apart.linear + apart.angular.cross(self.places[link]);
                [linear, motion.rotation.transpose_mul(alpha + apart.angular)]
            }
            false => [Vec3::ZERO; 2],
        };
        Record {
            motion,
            acceleration: a,
            angular_acceleration: alpha,
            momentum: inertia.momentum(&motion),
            momentum_rate: inertia.momentum_rate(&motion, a, alpha),
            algorithmic,
        }
    }

    /// Takes the second differences of the accelerations of the freedoms; see `foresight.rs`.
    pub(crate) fn foresee(&mut self, kept: &mut [f64], is_new: bool) {
        let freedoms = self.layout.freedoms;
        let trial = self.trial.as_mut().expect("an implicit formula");
        for (id, kept) in kept.iter_mut().enumerate().take(freedoms) {
            let end = self.given[id];
            match is_new {
                true => *kept = trial.second_difference(id, end),
                false => *kept += end - trial.ended[id],
            }
            trial.ended[id] = end;
        }
    }

    /// Freedoms that an implicit formula steps.
    pub(crate) fn stepped_freedoms(&self) -> usize {
        self.trial.as_ref().map_or(0, |_| self.layout.freedoms)
    }

    /// What the values in `found` do to the links, in `sums`.
    fn spread_ways(&mut self) {
        let freedoms = self.layout.freedoms;
        let others = freedoms + self.layout.given.len();
        for follower in &self.layout.followers {
            self.given[follower.column] = follower.ratio * self.found[follower.freedom];
        }
        for (index, link) in self.layout.links.iter().enumerate() {
            let mut way = match link.carrier {
                Some(carrier) => self.sums[carrier],
                None => Screw::ZERO,
            };
            for &id in link.slides.ids().iter().chain(link.turns.ids()) {
                if id < freedoms {
                    way += self.screws[id] * self.found[id];
                } else if id >= others {
                    way += self.screws[id] * self.given[id];
                }
            }
            self.sums[index] = way;
        }
        self.lead_accelerations();
    }

    /// The ways of the nodes for the values in `found`, six each without the ground.
    fn write_ways(&mut self, rows: &mut [f64]) {
        self.spread_ways();
        for (index, link) in self.layout.links.iter().enumerate() {
            let way = self.sums[index];
            let linear = way.linear + way.angular.cross(self.places[index]);
            let row = &mut rows[6 * (link.node - 1)..6 * link.node];
            row[..3].copy_from_slice(&linear.0);
            row[3..].copy_from_slice(&way.angular.0);
        }
    }

    /// What algorithmic accelerations differ from the true ones, link by link.
    fn spread_algorithmic(&mut self, trial: &mut Trial) {
        if !trial.steps_rates() {
            return;
        }
        for id in 0..self.layout.freedoms {
            self.found[id] = trial.algorithmic(self, id);
        }
        self.spread_ways();
        trial.apart.copy_from_slice(&self.sums);
    }

    /// The jump of the accelerations, in `found` and in the trial, for one of the forces on the nodes.
    fn find_jump(
        &mut self,
        trial: &mut Trial,
        motions: &[Motion],
        inertia: &[Inertia],
        load: &[f64],
        weight: f64,
    ) {
        self.locate(motions);
        self.find_dynamics(motions, inertia, Vec3::ZERO, &[]);
        for (index, link) in self.layout.links.iter().enumerate() {
            let row = &load[6 * (link.node - 1)..6 * link.node];
            let force = Vec3::new(row[0], row[1], row[2]);
            let moment = Vec3::new(row[3], row[4], row[5]);
            let pushed = Screw::new(moment + self.places[index].cross(force), force);
            self.sums[index] = Screw::ZERO - pushed;
        }
        self.sum_loads();
        trial.correction.copy_from_slice(&self.found);
        trial.jump.fill(0.0);
        trial.row_changes.fill(0.0);
        for _ in 0..SWEEPS {
            self.found.copy_from_slice(&trial.correction);
            self.take_inertia_of(&trial.jump);
            for value in &mut self.found {
                *value *= weight;
            }
            let (changes, asked) = (&trial.row_changes, &mut trial.asked);
            trial
                .tangent
                .refine(changes, &trial.jump, &mut self.found, asked);
            trial.tangent.solve(&mut self.found, asked);
            for (jump, change) in trial.jump.iter_mut().zip(&self.found) {
                *jump += change;
            }
            for (sum, change) in trial.row_changes.iter_mut().zip(&trial.asked) {
                *sum += change;
            }
        }
        self.found.copy_from_slice(&trial.jump);
    }

    /// Takes the forces of inertia for these accelerations from `found`.
    fn take_inertia_of(&mut self, accelerations: &[f64]) {
        for id in 0..self.layout.freedoms {
            let entries = self.mass[self.pattern.start(id)..].iter();
            for (entry, &other) in entries.zip(self.pattern.row(id)) {
                self.found[id] -= entry * accelerations[other];
                if other != id {
                    self.found[other] -= entry * accelerations[id];
                }
            }
        }
    }
}
