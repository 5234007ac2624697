//! A model in motion.

use crate::assembly::{Assembly, EvaluationPoint, MOST_BYTES};
use crate::consistency::Consistency;
use crate::contact::PressedContact;
use crate::contact::scene::Contacts;
use crate::correction::LastStep;
use crate::element::{ElementId, Weights};
use crate::error::{ModelError, SolveError};
use crate::explicit::Stages;
use crate::failure::Failure;
use crate::foresight::{End, Foresight, Largest, foreseen};
use crate::imperfection::Push;
use crate::integrator::{self, Formula, Method, Rates, Record, StepHistory};
use crate::jump::Jump;
use crate::linear::{BlockLu, Prescribed};
use crate::model::Model;
use crate::newton::{Convergence, FactoredAt};
use crate::node::{Marker, Motion, NodeId};
use crate::sensor::seen_from;
use crate::sharing::Sharing;
use crate::spinning::Spinning;
use crate::tree::{Coordinates, Tree};
use oldham_contact::{StepReport, Tally};
use oldham_cosim::{ContactCounters, Counters, IslandCounters};
use oldham_space::Vec3;

/// How a model is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Method of integration.
    pub method: Method,
    /// Newton stops when the error of the accelerations is below this fraction of the largest
    /// recent acceleration, and of gravity, and that of the reactions below this fraction of the largest reaction.
    /// Both must be small beside what the method itself misses, too: with smaller steps the error falls as the
    /// method's own does.
    pub tolerance: f64,
    /// Newton gives up after so many iterations.
    pub max_iterations: usize,
    /// Whether dissipated and supplied energy are accumulated in every step.
    pub account_energy: bool,
    /// Whether implicit steps are divided where forces pass a kink or a jump.
    pub locates_kinks: bool,
    /// In which coordinates steps are taken.
    pub coordinates: Coordinates,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::default(),
            tolerance: 1e-6,
            max_iterations: 25,
            account_energy: false,
            locates_kinks: false,
            coordinates: Coordinates::Absolute,
        }
    }
}

/// A model with its state.
///
/// Order of calls: [`start`](Self::start) once, then [`step`](Self::step) as often as needed.
/// After a change of the step size, or [`restart`](Self::restart), the two-step method begins
/// anew.
pub struct System {
    pub(crate) assembly: Assembly,
    pub(crate) lu: BlockLu,
    pub(crate) options: Options,
    pub(crate) state: State,
    /// Motions of all nodes, the ground first; those of the trial state within a step.
    pub(crate) motions: Vec<Motion>,
    pub(crate) multipliers: Vec<f64>,
    /// Whether somebody may ask how a step changes with given poses.
    pub(crate) prescribed: Prescribed,
    /// Whether a step begins with given nodes where its own prediction takes them.
    pub(crate) predicts_given: bool,
    /// A length that is typical for the model.
    pub(crate) size: f64,
    /// Components of the input vector that are forces of other parts.
    pub(crate) foreign: Vec<usize>,
    pub(crate) counters: Counters,
    pub(crate) work: Work,
    /// Joints that share loads which the equations do not divide among them.
    pub(crate) sharing: Option<Box<Sharing>>,
    /// Shapes and grains in contact.
    pub(crate) contacts: Option<Box<Contacts>>,
    /// The tree that is moved in the coordinates of its joints.
    pub(crate) tree: Option<Box<Tree>>,
}

/// Everything that a continued run needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub time: f64,
    /// Newest and second newest records of all nodes.
    pub now: Vec<Record>,
    pub before: Vec<Record>,
    pub multipliers: Vec<f64>,
    pub multipliers_before: Vec<f64>,
    /// What extrapolations miss.
    pub foresight: Foresight,
    /// What elements remember of the newest time.
    pub memory: Vec<f64>,
    /// Number of usable records, at most 2; 0 before the start, and after an event that made
    /// the accelerations discontinuous.
    pub known: u64,
    /// Size of the last step.
    pub step: f64,
    pub convergence: Convergence,
    pub factored_at: FactoredAt,
    pub dissipated: f64,
    pub supplied: f64,
    /// Work that elements without a potential took up besides what their strains store.
    pub taken: f64,
    /// Powers at the newest time, for the next increment: dissipated, supplied and taken.
    pub powers: [f64; 3],
}

impl State {
    /// Takes the values of another one of the same size, without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        self.now.clone_from(&other.now);
        self.before.clone_from(&other.before);
        self.multipliers.clone_from(&other.multipliers);
        self.multipliers_before
            .clone_from(&other.multipliers_before);
        self.memory.clone_from(&other.memory);
        self.foresight.copy_from(&other.foresight);
        let values = &mut self.factored_at.values;
        values.clone_from(&other.factored_at.values);
        (self.time, self.known, self.step) = (other.time, other.known, other.step);
        self.convergence = other.convergence;
        (self.dissipated, self.supplied) = (other.dissipated, other.supplied);
        self.taken = other.taken;
        self.powers = other.powers;
    }
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// The state before a step that is taken in pieces.
    pub whole: State,
    pub known: Vec<StepHistory>,
    pub rates: Vec<Rates>,
    pub residual: Vec<f64>,
    /// Whether some element could not fit its frame in that residual.
    pub misfit: bool,
    /// The linearisation from which the factors were made; empty if there are none.
    pub factored: FactoredAt,
    /// When and where the factors of the next step with impulses were made, and their number.
    pub impulse_factors: (f64, Vec<Motion>, u64),
    /// Motions of a recorded linearisation.
    pub recorded: Vec<Motion>,
    pub memory: Vec<f64>,
    /// Forces beside the loads in statics.
    pub push: Push,
    /// The laws that the iteration assumes of the elements that have several.
    pub regimes: Vec<f64>,
    /// Correction below which the iteration of the last step had converged: as a length, and as a force.
    pub targets: [f64; 2],
    /// The most that this may be as a length, by the tolerance.
    pub most: f64,
    /// Number of factorisations, of any matrix.
    pub stamp: u64,
    pub last_step: LastStep,
    /// A jump of held loads at the start of a step.
    pub jump: Jump,
    pub consistency: Consistency,
    /// Inputs of a step whose inputs are held.
    pub inputs: Vec<f64>,
    /// Slopes of the stages of an explicit step; empty for an implicit method.
    pub stages: Stages,
    /// The inputs without forces from other parts.
    pub own_inputs: Vec<f64>,
    /// Bodies that tumble freely in steps with impulses.
    pub spinning: Vec<Spinning>,
    /// Whether steps are iterated until rounding stops them.
    pub is_sharp: bool,
    /// Whether the factors at hand are those of a tree, within a step with impulses.
    pub solves_by_tree: bool,
}

impl System {
    /// Checks a model and lays it out. All problems are reported at once.
    pub fn new(model: Model, options: Options) -> Result<Self, Vec<ModelError>> {
        model.check()?;
        model.check_impulses(options.method)?;
        if options.method.is_explicit() {
            model.check_explicit()?;
        }
        let tree = match options.coordinates {
            Coordinates::Absolute => None,
            Coordinates::Joint => Some(Box::new(Tree::new(&model, options.method)?)),
        };
        let contacts = match model.contacts.is_empty() {
            true => None,
            false => {
                let contacts = Contacts::new(&model, &model.contacts);
                Some(Box::new(contacts.map_err(|error| vec![error])?))
            }
        };
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        let size = extent(&motions);
        let spinning = match options.method {
            Method::Impulses => find_spinning(&model),
            _ => Vec::new(),
        };
        let laid_out = Assembly::within_memory(model);
        let (mut assembly, lu) = laid_out.map_err(|bytes| {
            vec![ModelError::TooLarge {
                gigabytes: bytes as f64 * 1e-9,
                most: MOST_BYTES as f64 * 1e-9,
            }]
        })?;
        assembly.lever = size;
        let records: Vec<Record> = motions
            .iter()
            .map(|&motion| Record {
                motion,
                ..Record::default()
            })
            .collect();
        let constraints = assembly.constraints;
        let state = State {
            now: records.clone(),
            before: records,
            multipliers: vec![0.0; constraints],
            multipliers_before: vec![0.0; constraints],
            foresight: Foresight::new(
                assembly.nodes(),
                constraints,
                tree.as_ref().map_or(0, |tree| tree.stepped_freedoms()),
            ),
            memory: vec![0.0; assembly.memory],
            ..State::default()
        };
        let work = Work {
            whole: state.clone(),
            known: vec![StepHistory::default(); motions.len()],
            rates: vec![Rates::default(); motions.len()],
            residual: vec![0.0; assembly.residual_length()],
            misfit: false,
            factored: FactoredAt::default(),
            impulse_factors: (f64::NAN, Vec::new(), 0),
            recorded: Vec::with_capacity(motions.len()),
            memory: vec![0.0; assembly.memory],
            push: Push::default(),
            regimes: vec![0.0; assembly.limited.len()],
            targets: [0.0; 2],
            most: 0.0,
            stamp: 0,
            last_step: LastStep::default(),
            jump: match options.method.is_explicit() {
                true => Jump::default(),
                false => Jump::new(assembly.unknowns(), constraints, assembly.residual_length()),
            },
            consistency: Consistency::new(&assembly),
            inputs: Vec::new(),
            stages: match matches!(options.method, Method::Rk4 { .. }) {
                true => Stages::new(motions.len(), &lu),
                false => Stages::default(),
            },
            own_inputs: Vec::new(),
            spinning,
            is_sharp: false,
            solves_by_tree: false,
        };
        Ok(Self {
            assembly,
            lu,
            options,
            state,
            motions,
            multipliers: vec![0.0; constraints],
            prescribed: Prescribed::Stay,
            predicts_given: false,
            size,
            foreign: Vec::new(),
            counters: Counters::default(),
            work,
            sharing: None,
            contacts,
            tree,
        })
    }

    /// Centres of the grains.
    pub fn grains(&self) -> &[Vec3] {
        let contacts = self.contacts.as_ref();
        contacts.map_or(&[], |contacts| contacts.scene.grains())
    }

    /// Velocities of the grains.
    pub fn grain_velocities(&self) -> Vec<Vec3> {
        let contacts = self.contacts.as_ref();
        contacts.map_or_else(Vec::new, |contacts| contacts.scene.grain_velocities())
    }

    /// Force and moment about a node of all its contacts in the last step, and where they press, in absolute axes; zero without contacts.
    pub fn contact_load(&self, node: NodeId) -> [Vec3; 3] {
        let contacts = self.contacts.as_ref();
        let load = contacts.and_then(|contacts| contacts.load(node));
        load.map_or([Vec3::ZERO; 3], |load| [load.force, load.moment, load.at])
    }

    /// The force that the contacts of one node put on another one in the last step, in absolute axes; zero without contacts.
    pub fn contact_force_between(&self, by: NodeId, on: NodeId) -> Vec3 {
        let contacts = self.contacts.as_ref();
        contacts.map_or(Vec3::ZERO, |contacts| {
            contacts.force_between(by, on, self.state.step)
        })
    }

    /// What the contacts of the last step did; nothing without contacts.
    pub fn contact_report(&self) -> Option<&StepReport> {
        self.contacts.as_ref().map(|contacts| &contacts.report)
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Equations that held in the last step besides those of motion: joints, pressed contacts and directions in which
    /// they stick.
    pub fn active_rows(&self) -> usize {
        let contacts = self.contacts.as_ref();
        let held = contacts.map_or(0, |contacts| contacts.scene.held_rows().len());
        self.assembly.constraints + held
    }

    /// Contacts of the last step that pressed, grains apart.
    pub fn pressed_contacts(&self) -> Vec<PressedContact> {
        let contacts = self.contacts.as_ref();
        contacts.map_or_else(Vec::new, |contacts| contacts.pressed())
    }

    /// The motion of a node at the time reached.
    pub fn motion(&self, node: NodeId) -> &Motion {
        &self.state.now[node.0].motion
    }

    /// Force and moment about the node, in the absolute frame, that an element exerts on one of
    /// its nodes, given by its place in [`Element::nodes`](crate::Element::nodes).
    pub fn wrench(&self, element: ElementId, node: usize, inputs: &[f64]) -> (Vec3, Vec3) {
        let shared = self.shared_wrench(element, node, inputs);
        shared.unwrap_or_else(|| {
            let at = self.evaluation_point(inputs);
            self.assembly.wrench(&at, element, node)
        })
    }

    /// Force and moment of a joint on its second node, in the axes of the first of its two markers,
    /// the moment about the second. Redundant joints share their load first.
    pub fn reaction(
        &mut self,
        element: ElementId,
        ends: [Marker; 2],
        inputs: &[f64],
    ) -> Result<(Vec3, Vec3), SolveError> {
        self.share_reactions(inputs)?;
        let load = self.wrench(element, 1, inputs);
        let carriers = ends.map(|end| &self.motions[end.node.0]);
        let node = self.assembly.elements[element.0].element.nodes()[1];
        Ok(seen_from(ends, carriers, &self.motions[node.0], load))
    }

    /// The multipliers of an element at the time reached.
    pub fn multipliers(&self, element: ElementId) -> &[f64] {
        &self.state.multipliers[self.multiplier_range(element)]
    }

    pub(crate) fn multiplier_range(&self, element: ElementId) -> std::ops::Range<usize> {
        self.assembly.elements[element.0].multipliers.clone()
    }

    /// Force and moment that accelerate the bodies of a node: the rates of its momenta.
    pub fn inertia_load(&self, node: NodeId) -> (Vec3, Vec3) {
        self.state.now[node.0].inertia_load()
    }

    /// Multiplications and additions of a factorisation of the matrix, and of a solution with it.
    pub fn linear_operations(&self) -> (u64, u64) {
        self.lu.operations()
    }

    /// Work done so far.
    pub fn counters(&self) -> Counters {
        let contacts = self.contacts.as_ref();
        Counters {
            contacts: contacts.map(|contacts| counted(contacts.scene.tally())),
            ..self.counters
        }
    }

    /// After a jump of loads or prescribed accelerations: forgets the past and finds the
    /// accelerations and multipliers that the present `inputs` cause.
    pub fn restart(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        self.forget_history();
        self.find_accelerations(self.state.time, inputs)?;
        self.record_accelerations();
        Ok(())
    }

    /// The next step starts the two-step method anew.
    fn forget_history(&mut self) {
        self.state.known = 1;
    }

    /// Advances by `h`; `inputs` are those at the end of the step, for an explicit method those
    /// of the whole step.
    pub fn step(&mut self, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.step_to(self.state.time + h, h, inputs)
    }

    /// Advances by `h` to `time`, which is the present time plus `h` up to rounding.
    pub(crate) fn step_to(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if self.options.method == Method::Impulses {
            return self.impulse_step(time, h, inputs, inputs);
        }
        if self.options.method.is_explicit() {
            return self.explicit_step(time, h, [inputs; 3], inputs);
        }
        let mut held = std::mem::take(&mut self.work.inputs);
        held.clear();
        held.extend_from_slice(inputs);
        let times = [self.state.time, time];
        let outcome = match self.options.locates_kinks {
            true => self.step_over_kinks(times, h, &mut held, |_, _| {}),
            false => self.step_or_retry(times, h, &mut held, |_, _| {}),
        };
        self.work.inputs = held;
        outcome
    }

    /// Whether the equations of a step of this size have a regular matrix at the present state: if
    /// not, nothing resists some motion, however short the step. An explicit method has found that
    /// out at the start.
    pub fn is_determined(&mut self, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let Some(formula) = self.options.method.formula(self.state.known) else {
            return Ok(());
        };
        if self.tree.is_some() {
            // Each of its freedoms moves some mass.
            return Ok(());
        }
        let time = self.state.time;
        let tried = self.factor_here(time, h, formula.gains(h), inputs);
        self.distrust_factors();
        tried.map_err(|failure| self.explain(time, failure))
    }

    /// Takes an implicit step as it is, or fails.
    pub(crate) fn step_once(
        &mut self,
        time: f64,
        h: f64,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        if let Err(failure) = self.try_step(time, h, inputs) {
            return Err(self.name_position(self.explain(time, failure), h, inputs));
        }
        self.finish_step(inputs);
        Ok(())
    }

    /// Finds the end of the step; it becomes the new state by [`finish_step`](Self::finish_step).
    pub(crate) fn try_step(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), Failure> {
        if h != self.state.step {
            self.forget_history();
        }
        let formula = self.options.method.formula(self.state.known);
        let formula = formula.expect("explicit methods have a step of their own");
        let gains = formula.gains(h);
        self.work.jump.is_met = false;
        if self.work.jump.is_expected {
            match self.tree.is_some() {
                true => self.find_tree_shift(time, h, gains, inputs)?,
                false => self.find_shift(time, h, gains, inputs)?,
            }
        }
        match self.tree.is_some() {
            true => self.predict_tree(time, h, &formula, inputs),
            false => self.predict(h, &formula),
        }
        self.place_prescribed(gains[0], inputs);
        if let Err(error) = self.converge(time, h, gains, inputs, None) {
            self.return_to_records();
            return Err(error);
        }
        if let Some(folded) = self.find_folded() {
            self.return_to_records();
            return Err(folded);
        }
        self.work.last_step = LastStep {
            time,
            h,
            gains,
            dissipated: self.state.dissipated,
            supplied: self.state.supplied,
            taken: self.state.taken,
            powers: self.state.powers,
        };
        Ok(())
    }

    /// Applies the last correction of the iteration and makes its result the new state.
    pub(crate) fn finish_step(&mut self, inputs: &[f64]) {
        let LastStep { time, h, gains, .. } = self.work.last_step;
        self.correct(gains[0]);
        if self.tree.is_some() {
            self.close_tree(time, h, inputs);
        }
        self.remember(time, h, inputs);
        self.accept(h, 1.0 / gains[0], time);
        if self.options.account_energy {
            self.accumulate_energy(h, inputs);
        }
    }

    /// Whether what the last prediction has missed is added to the next one: not where given nodes are predicted otherwise.
    fn foresees(&self) -> bool {
        self.prescribed == Prescribed::Stay || self.predicts_given
    }

    /// The accelerations of a node at the end of a step, as the last ones lead there.
    #[inline(always)]
    fn accelerations_ahead(&self, node: usize, extrapolates: bool) -> [Vec3; 2] {
        let axes = self.options.method.steps_node_axes();
        let mut ahead = foreseen(&self.state.now[node], axes);
        if extrapolates {
            let last = foreseen(&self.state.before[node], axes);
            let missed = match self.foresees() {
                true => self.state.foresight.of_node(node),
                false => [Vec3::ZERO; 2],
            };
            for half in 0..2 {
                ahead[half] = ahead[half] * 2.0 - last[half] + missed[half];
            }
        }
        ahead
    }

    /// Where a step of size `h` would take a node as predicted, as if it were not given.
    pub(crate) fn predicted_motion(&self, node: NodeId, h: f64) -> Option<Motion> {
        let (i, state) = (node.0, &self.state);
        let known = if h == state.step { state.known } else { 1 };
        let formula = self.options.method.formula(known)?;
        let [c, _] = formula.gains(h);
        let extrapolates = formula.extrapolates() && known >= 2;
        let ahead = self.accelerations_ahead(i, extrapolates);
        let (now, before) = (&state.now[i], &state.before[i]);
        let (known, rates) = match &formula {
            Formula::MultiStep(k) => integrator::begin(now, before, h, k, ahead),
            Formula::Newmark(k) => integrator::newmark::begin(now, h, k, ahead),
        };
        Some(known.motion(&rates, c))
    }

    fn predict(&mut self, h: f64, formula: &Formula) {
        let [c, _] = formula.gains(h);
        let extrapolates = formula.extrapolates() && self.state.known >= 2;
        for i in 0..self.assembly.nodes() {
            let (now, before) = (&self.state.now[i + 1], &self.state.before[i + 1]);
            if let (Formula::MultiStep(k), true) = (formula, self.assembly.is_given[i + 1]) {
                self.work.known[i + 1] = integrator::known(now, before, h, k);
                continue;
            }
            let mut ahead = self.accelerations_ahead(i + 1, extrapolates);
            let (known, rates) = match (formula, &self.work.jump) {
                (Formula::MultiStep(k), jump) if jump.is_met => {
                    let inertia = &self.assembly.inertia[i + 1];
                    let met = jump.of(i);
                    integrator::begin_with_jump(now, before, h, k, inertia, &met, ahead)
                }
                (Formula::Newmark(k), jump) if jump.is_met => {
                    let met = jump.of(i);
                    let now = integrator::newmark::with_jump(now, h, k, &met);
                    ahead[0] += met.second[0];
                    ahead[1] += now.motion.rotation.transpose_mul(met.second[1]);
                    integrator::newmark::begin(&now, h, k, ahead)
                }
                (Formula::MultiStep(k), _) => integrator::begin(now, before, h, k, ahead),
                (Formula::Newmark(k), _) => integrator::newmark::begin(now, h, k, ahead),
            };
            self.motions[i + 1] = known.motion(&rates, c);
            self.work.known[i + 1] = known;
            self.work.rates[i + 1] = rates;
        }
        self.predict_multipliers(extrapolates);
    }

    /// Puts the multipliers where the last ones lead.
    pub(crate) fn predict_multipliers(&mut self, extrapolates: bool) {
        let foresees = self.foresees();
        let foresight = &self.state.foresight;
        let past = self
            .state
            .multipliers
            .iter()
            .zip(&self.state.multipliers_before);
        let nodes = self.assembly.nodes();
        for (i, (next, (now, before))) in self.multipliers.iter_mut().zip(past).enumerate() {
            *next = if extrapolates {
                let missed = match foresees {
                    true => foresight.of_multiplier(i, nodes),
                    false => 0.0,
                };
                2.0 * now - before + missed
            } else {
                *now
            };
        }
        if self.work.jump.is_met {
            let changes = self.work.jump.multipliers(self.assembly.nodes());
            for (next, change) in self.multipliers.iter_mut().zip(changes) {
                *next += change;
            }
        }
    }

    /// Applies the solution of the linear system to the trial state.
    pub(crate) fn correct(&mut self, c: f64) {
        if self.tree.is_some() {
            return self.correct_tree();
        }
        let (nodes, multipliers) = self.work.residual.split_at(6 * self.assembly.nodes());
        for (i, d) in nodes.chunks_exact(6).enumerate() {
            let known = &self.work.known[i + 1];
            let rates = &mut self.work.rates[i + 1];
            let (displacement, spin) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
            if displacement == Vec3::ZERO && spin == Vec3::ZERO {
                continue;
            }
            known.correct(rates, displacement, spin, c);
            self.motions[i + 1] = known.motion(rates, c);
        }
        for (multiplier, d) in self.multipliers.iter_mut().zip(multipliers) {
            *multiplier += d;
        }
    }

    /// The dynamic residual at the trial state.
    pub(crate) fn evaluate(&mut self, time: f64, h: f64, per_c: f64, inputs: &[f64]) {
        let Self {
            assembly,
            motions,
            multipliers,
            work,
            state,
            ..
        } = self;
        let Work {
            known,
            residual,
            regimes,
            misfit,
            ..
        } = work;
        let gravity = assembly.gravity;
        residual.fill(0.0);
        for (i, row) in residual
            .chunks_exact_mut(6)
            .enumerate()
            .take(assembly.nodes())
        {
            let (inertia, motion) = (&assembly.inertia[i + 1], &motions[i + 1]);
            let (momentum, rate) = known[i + 1].momentum(inertia, motion, per_c);
            let (force, moment) = inertia.weight(motion, gravity);
            let force = force - rate.linear;
            let moment = moment - rate.angular - motion.velocity.cross(momentum.linear);
            row[..3].copy_from_slice(&force.0);
            row[3..].copy_from_slice(&moment.0);
        }
        let at = EvaluationPoint::new(time, motions, multipliers, inputs, &state.memory).after(h);
        let at = EvaluationPoint { regimes, ..at };
        *misfit = assembly.element_residual(&at, residual);
    }

    /// Lets elements remember the trial state.
    pub(crate) fn remember(&mut self, time: f64, elapsed: f64, inputs: &[f64]) {
        if self.assembly.memory == 0 {
            return;
        }
        let at = EvaluationPoint::new(
            time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        )
        .after(elapsed);
        self.assembly.remember(&at, &mut self.work.memory);
        std::mem::swap(&mut self.state.memory, &mut self.work.memory);
    }

    fn accept(&mut self, h: f64, per_c: f64, time: f64) {
        let state = &mut self.state;
        std::mem::swap(&mut state.now, &mut state.before);
        std::mem::swap(&mut state.multipliers, &mut state.multipliers_before);
        self.record_end(per_c, End::New);
        if self.work.jump.is_met {
            // Differences across a jump say nothing about the steps that follow.
            self.state.foresight.forget();
            self.leave_jump(h);
        }
        let state = &mut self.state;
        state.time = time;
        state.step = h;
        state.known = (state.known + 1).min(2);
        self.counters.micro_steps += 1;
        self.counters.unfitted += u64::from(self.work.misfit);
    }

    /// Writes the trial state to the newest records.
    pub(crate) fn record_end(&mut self, per_c: f64, end: End) {
        let axes = self.options.method.steps_node_axes();
        let state = &mut self.state;
        let size2 = self.size * self.size;
        let mut largest = 0.0_f64;
        let mut missed = Largest::default();
        let foresees = state.known >= 2 && (end == End::New || state.foresight.is_known());
        for i in 1..self.motions.len() {
            let inertia = &self.assembly.inertia[i];
            let motion = self.motions[i];
            let record = match &self.tree {
                Some(tree) => tree.record(i, inertia, motion, &self.work.residual),
                None => self.work.known[i].record(inertia, motion, per_c),
            };
            let is_given = self.assembly.is_given[i];
            let predicts = self.predicts_given && is_given;
            if inertia.is_massive() || predicts {
                let (a, alpha) = (record.acceleration, record.angular_acceleration);
                largest = largest.max(a.dot(a)).max(alpha.dot(alpha) * size2);
                if foresees && (predicts || !is_given) {
                    let steps = [&record, &state.before[i], &state.now[i]];
                    let steps = steps.map(|record| foreseen(record, axes));
                    let foresight = &mut state.foresight;
                    foresight.take_node(i, steps, end, size2, &mut missed);
                }
            }
            state.now[i] = record;
        }
        if let Some(tree) = &mut self.tree {
            tree.foresee(&mut state.foresight.freedoms, end == End::New);
        }
        state.convergence.observe_acceleration(largest.sqrt());
        let force = self.assembly.largest_force(&self.multipliers);
        state.convergence.observe_force(force);
        let steps: [&[f64]; 3] = [
            &self.multipliers,
            &state.multipliers_before,
            &state.multipliers,
        ];
        match foresees {
            true => {
                let grips = &self.assembly.grips;
                let foresight = &mut state.foresight;
                foresight.take_multipliers(steps, grips, end, missed);
            }
            false => state.foresight.forget(),
        }
        state.multipliers.copy_from_slice(&self.multipliers);
    }

    /// Takes motions and multipliers back from the newest records.
    pub(crate) fn return_to_records(&mut self) {
        for (motion, record) in self.motions.iter_mut().zip(&self.state.now) {
            *motion = record.motion;
        }
        self.multipliers.copy_from_slice(&self.state.multipliers);
    }

    /// The state at the time reached, for evaluations between steps.
    pub(crate) fn evaluation_point<'a>(&'a self, inputs: &'a [f64]) -> EvaluationPoint<'a> {
        EvaluationPoint::new(
            self.state.time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        )
    }
}

/// Weights of a time step with the gains of its formula.
pub(crate) fn step_weights([c, gain]: [f64; 2]) -> Weights {
    Weights {
        mass: 1.0 / (c * gain),
        damping: 1.0 / c,
        stiffness: 1.0,
    }
}

/// Largest distance of a node from the ground's origin or from the first node, or one metre if
/// there is none.
pub(crate) fn extent(motions: &[Motion]) -> f64 {
    let reference = motions.get(1).map_or(Vec3::ZERO, |motion| motion.position);
    let distance = |motion: &Motion| (motion.position - reference).norm();
    let largest = motions.iter().map(distance).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

/// Bodies that no constraint holds.
fn find_spinning(model: &Model) -> Vec<Spinning> {
    let is_held = |node: usize| {
        model.elements.iter().any(|named| {
            let nodes = named.element.nodes();
            named.element.constraints() > 0 && nodes.iter().any(|other| other.0 == node)
        })
    };
    let nodes = model.nodes.iter().enumerate().skip(1);
    let free = nodes.filter(|(node, _)| !is_held(*node));
    free.filter_map(|(node, each)| Spinning::new(node, each.inertia.about_centre()))
        .collect()
}

/// What the steps of a contact scene have come to.
fn counted(tally: &Tally) -> ContactCounters {
    let by = &tally.by;
    ContactCounters {
        steps: tally.steps as u64,
        unmet: tally.unmet as u64,
        worst_residual: tally.worst,
        islands: IslandCounters {
            kept: by.kept as u64,
            sweeps: by.sweeps as u64,
            smoothing: by.smoothing as u64,
            newton: by.newton as u64,
            interior: by.interior as u64,
            last_sweeps: by.last_sweeps as u64,
            far_away: by.far_away as u64,
            unmet: tally.unmet_islands as u64,
        },
    }
}
