//! What only the equations can tell: nodes that nothing holds, joints that contradict each other.

use oldham_cosim::Subsystem;
use oldham_multibody::{ModelError, SolveError};

use super::{MechanismDraft, element_key};
use crate::check::Checker;
use crate::format::Entry;
use crate::format::multibody::Multibody;
use crate::problem::Problem;
use crate::source::Span;

/// Above this number of nodes the trial is left to the run itself: it would take seconds.
const MAX_NODES: usize = 2500;

impl Checker<'_> {
    /// Starts the mechanism, and asks whether its first step has one solution nearby. No step is
    /// taken: whether an iteration converges says nothing about the model.
    pub(super) fn trial(
        &mut self,
        entry: &Entry<Multibody>,
        draft: &MechanismDraft<'_>,
        start: f64,
        micro_step: Option<f64>,
    ) {
        if self.unconnected_nodes(draft) || draft.spec.whole.model.node_count() > MAX_NODES {
            return;
        }
        let mut part = match draft.spec.part_before_statics() {
            Ok(part) => part,
            Err(errors) => {
                errors
                    .iter()
                    .for_each(|error| self.data_error(error, entry, draft));
                return;
            }
        };
        // What a scalar input drives may be impossible at the zero that stands for it until the
        // first exchange.
        if !draft.scalars.is_empty() {
            return;
        }
        let inputs = part.ports().initial_inputs().to_vec();
        let system = part.system_mut();
        let started = system.start(start, &inputs);
        let tried = started.and_then(|()| match micro_step {
            Some(step) => system.is_determined(step, &inputs),
            None => Ok(()),
        });
        if let Err(error) = tried
            && !self.misfits(draft, start, &inputs)
        {
            self.solve_error(&error, entry, draft, start);
        }
    }

    /// Joints that do not fit the places of their nodes: where the mechanism cannot be put together,
    /// they are the reason, whatever the equations complain of.
    fn misfits(&mut self, draft: &MechanismDraft<'_>, start: f64, inputs: &[f64]) -> bool {
        let model = &draft.spec.whole.model;
        let misfits = model.misfits(start, inputs);
        for &(element, violation) in &misfits {
            let name = model.element_name(element);
            let place = draft
                .places
                .get(&element_key(name))
                .or(draft.places.get(name));
            let place = place.cloned().unwrap_or_default();
            let joint = draft.joints.get(name).and_then(Option::as_ref);
            let rod = joint.filter(|joint| joint.kind == "rod");
            let problem = match rod {
                Some(rod) => {
                    let [a, b] = rod.ends.map(|end| model.place_of(&end));
                    let distance = (b - a).norm();
                    let (amount, wrong) = match violation > 0.0 {
                        true => (violation, "short"),
                        false => (-violation, "long"),
                    };
                    let message = format!(
                        "the rod `{name}` is {amount:.4} m too {wrong}, and the mechanism cannot be put together with it"
                    );
                    let help = format!(
                        "its points are {distance:.6} m apart: leave out `length`, or move them"
                    );
                    Problem::new(place, message).help(help)
                }
                None => {
                    let message = format!(
                        "the joint `{name}` does not fit where its nodes are, by {:.3e}, and the mechanism cannot be put together with it",
                        violation.abs()
                    );
                    Problem::new(place, message).help("correct the places of its nodes")
                }
            };
            self.findings.push(problem.label("does not fit"));
        }
        !misfits.is_empty()
    }

    /// A remark on bodies that nothing holds: that is possible, but more often a joint was forgotten.
    pub(super) fn falling(&mut self, subsystem: &str, draft: &MechanismDraft<'_>) {
        let model = &draft.spec.whole.model;
        if model.acceleration_of_gravity().norm() == 0.0 || model.has_contacts() {
            return;
        }
        let falls = |node| model.has_body(node) && !draft.held.contains(&node);
        let mut nodes = model
            .moving_nodes()
            .map(|(node, _)| node)
            .filter(|&node| falls(node));
        let Some(first) = nodes.next() else { return };
        let others = match nodes.count() {
            0 => String::new(),
            1 => " and another node".into(),
            more => format!(" and {more} other nodes"),
        };
        self.notes.push(format!(
            "nothing holds `{}`{others} of `{subsystem}`: under gravity it falls for ever; if that is not meant, give it a joint",
            model.node_name(first)
        ));
    }

    /// Nodes without mass that nothing holds.
    fn unconnected_nodes(&mut self, draft: &MechanismDraft<'_>) -> bool {
        let mut any = false;
        let model = &draft.spec.whole.model;
        for (node, _) in model.moving_nodes() {
            if draft.held.contains(&node) || model.has_body(node) {
                continue;
            }
            any = true;
            let name = model.node_name(node);
            let message = format!("the node `{name}` has no mass and nothing holds it");
            let place = draft.places.get(name).cloned().unwrap_or_default();
            self.report(&place, message)
                .label("free to move anywhere")
                .help("give it a body, or connect it to others");
        }
        any
    }

    fn data_error(
        &mut self,
        error: &ModelError,
        entry: &Entry<Multibody>,
        draft: &MechanismDraft<'_>,
    ) {
        let place = match error {
            ModelError::UnphysicalBody { node }
            | ModelError::NotFinite { node }
            | ModelError::ShapesWithoutMass { node }
            | ModelError::VelocityBesideTangent { node } => draft.places.get(node),
            ModelError::DependsOnPast { element }
            | ModelError::ReadsReactions { element }
            | ModelError::FollowsItself { element }
            | ModelError::StructureWithImpulses { element } => {
                draft.places.get(&element_key(element))
            }
            ModelError::NotATree { joints: names }
            | ModelError::NotOfATree { elements: names }
            | ModelError::ReactionsInJointCoordinates { elements: names }
            | ModelError::MotionWithoutRates { joints: names } => {
                let first = names.first();
                first.and_then(|name| draft.places.get(&element_key(name)))
            }
            ModelError::NoInertia { joint } => {
                let place = draft.places.get(&element_key(joint));
                place.or_else(|| draft.places.get(joint))
            }
            ModelError::NoTangent
            | ModelError::TooLarge { .. }
            | ModelError::ContactWithoutImpulses { .. }
            | ModelError::Contact { .. } => None,
        };
        let place = place.unwrap_or(&entry.name.span).clone();
        self.report(&place, error.to_string());
    }

    fn solve_error(
        &mut self,
        error: &SolveError,
        entry: &Entry<Multibody>,
        draft: &MechanismDraft<'_>,
        start: f64,
    ) {
        let place_of = |name: &str| {
            let place = draft.places.get(name);
            place.or_else(|| draft.places.get(&element_key(name)))
        };
        let place = |name: &str| place_of(name).unwrap_or(&entry.name.span).clone();
        let problem = match error {
            // Whether an iteration converges depends on more than one step of a trial.
            SolveError::NotConverged { .. }
            | SolveError::SingularPosition { .. }
            | SolveError::UnsteadyTangents { .. }
            | SolveError::WholeStep { .. }
            | SolveError::Diverged { .. }
            | SolveError::Folded { .. } => return,
            SolveError::Singular { unknown, .. } | SolveError::Unheld { unknown, .. } => {
                let message = format!("nothing resists some motion of `{unknown}`");
                Problem::new(place(unknown), message)
                    .label("the equations are singular here")
                    .help("give it mass and inertia, or hold it by joints or springs")
            }
            SolveError::Unstable { unknown, .. } => {
                Problem::new(place(unknown), error.to_string()).label("leaves the equilibrium")
            }
            SolveError::WithoutInertia { unknown, .. } => {
                let message = format!(
                    "some motion of `{unknown}` that the joints allow moves no mass, so that `rk4` or `impulses` finds no acceleration"
                );
                Problem::new(place(unknown), message)
                    .label("without inertia")
                    .help("give it mass and inertia, hold it by joints, or use an implicit integrator such as `lms2`")
            }
            SolveError::Redundant { joints } => {
                let first = joints.iter().filter_map(|joint| place_of(joint));
                let last: Option<&Span> = first.max_by_key(|span| span.start);
                let place = last.unwrap_or(&entry.name.span).clone();
                Problem::new(place, error.to_string())
                    .label("redundant constraint")
                    .help(draft.help_on_redundancy(joints, start))
            }
            SolveError::NotAssembled { joint, .. } | SolveError::NotRedundant { joint, .. } => {
                Problem::new(place(joint), error.to_string()).label("does not fit")
            }
            SolveError::NotFinite { element, .. } => {
                Problem::new(place(element), error.to_string()).label("NaN")
            }
            SolveError::Contact { what, .. } => {
                let contact = entry.value.value.contact.as_ref();
                let place = contact.map_or(&entry.name.span, |contact| &contact.span);
                Problem::new(place.clone(), what.clone())
            }
            SolveError::NoModes | SolveError::NotLinear { .. } => {
                Problem::new(entry.name.span.clone(), error.to_string())
            }
        };
        self.findings.push(problem);
    }
}
