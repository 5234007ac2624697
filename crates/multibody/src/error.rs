//! What can be wrong with a model, and what can go wrong in a run.

use oldham_cosim::StepError;

/// A mistake in a model, found before anything runs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Mass or inertia that no body can have.
    #[error(
        "body on node `{node}`: mass and inertia must be finite and non-negative, and the principal moments must obey the triangle inequality"
    )]
    UnphysicalBody {
        /// Name of the node.
        node: String,
    },
    /// A node with a prescribed velocity in a part that shares its tangent: that is the one of
    /// nodes whose velocities follow from their poses.
    #[error(
        "node `{node}`: its velocity cannot be prescribed in a part that sends its interface Jacobian; prescribe the pose alone, from which the velocity follows there"
    )]
    VelocityBesideTangent {
        /// Name of the node.
        node: String,
    },
    /// A number that is not finite.
    #[error("node `{node}`: position, orientation and velocities must be finite")]
    NotFinite {
        /// Name of the node.
        node: String,
    },
    /// An element whose past an explicit method does not know.
    #[error(
        "`{element}` depends on the past of the motion, which the stages of an explicit method do not know; an implicit one such as LMS2 does"
    )]
    DependsOnPast {
        /// Name of the element.
        element: String,
    },
    /// A force that follows from reactions, which follow from the forces.
    #[error(
        "`{element}` depends on the reaction of a joint, which an explicit method finds only from all forces; an implicit one such as LMS2 finds both at once"
    )]
    ReadsReactions {
        /// Name of the element.
        element: String,
    },
    /// An element whose sensors read its own load.
    #[error(
        "`{element}` follows a sensor that reads what `{element}` itself does; let it follow motions instead"
    )]
    FollowsItself {
        /// Name of the element.
        element: String,
    },
    /// A matrix that needs more memory than a model may take.
    #[error(
        "the equations of this mechanism would take {gigabytes:.1} GB of memory, more than {most:.0} GB: so many nodes are connected with so many others; take a coarser mesh, or cut the mechanism into parts"
    )]
    TooLarge {
        /// What is needed.
        gigabytes: f64,
        /// What is allowed.
        most: f64,
    },
    /// Contacts of a model that another method integrates.
    #[error(
        "contacts, here of `{shape}`, are solved by impulses alone; take that method, of a cut mechanism for the part with `{shape}`, or leave the shape out of contact"
    )]
    ContactWithoutImpulses {
        /// The first shape or kind of grains.
        shape: String,
    },
    /// A beam or a shell that is to be moved by impulses.
    #[error(
        "`{element}` is a piece of a beam or a shell, which the method of impulses does not move; cut the mechanism at the node where it meets the bodies in contact, and integrate its part by LMS2"
    )]
    StructureWithImpulses {
        /// Name of the element.
        element: String,
    },
    /// A mistake in contacts.
    #[error("{what}")]
    Contact {
        /// What is wrong, and what to do.
        what: String,
    },
    /// Shapes that have nothing to be moved by.
    #[error(
        "the shapes of `{node}` need mass and inertia about all axes behind them: give it a body"
    )]
    ShapesWithoutMass {
        /// The node.
        node: String,
    },
    /// Joints that close loops.
    #[error(
        "joint coordinates are those of trees, but `{}` {} between nodes that other joints connect already; take an implicit integrator such as `lms2`, which closes loops by constraints, or `coordinates = \"absolute\"`",
        some_of(joints),
        if joints.len() > 1 { "close loops" } else { "closes a loop" }
    )]
    NotATree {
        /// Their names.
        joints: Vec<String>,
    },
    /// Constraints and bodies that no tree has.
    #[error(
        "joint coordinates do not cover `{}`: a tree consists of rigid bodies that hang on fixed, revolute, prismatic, cylindrical, universal, spherical, planar and point-on-line or point-on-plane joints, free or driven in time; take `coordinates = \"absolute\"`",
        some_of(elements)
    )]
    NotOfATree {
        /// Their names.
        elements: Vec<String>,
    },
    /// Joints whose motion is an input or follows a sensor, of which rates are not known.
    #[error(
        "joint coordinates need the rates of given motions, and those of `{}` follow an input or a sensor, which has none; take an implicit integrator such as `lms2`, or `coordinates = \"absolute\"`",
        some_of(joints)
    )]
    MotionWithoutRates {
        /// Their names.
        joints: Vec<String>,
    },
    /// A freedom that moves no mass.
    #[error(
        "the motion that the joint `{joint}` allows moves no mass, so that joint coordinates have no equation for it; give what it carries mass and inertia about its axis, give the joint `reflected_inertia`, or take `coordinates = \"absolute\"` with an implicit integrator"
    )]
    NoInertia {
        /// Name of the joint, or of the node that nothing holds.
        joint: String,
    },
    /// Forces that follow from reactions, which are found when a step is done.
    #[error(
        "joint coordinates find reactions when a step is done, but `{}` {} them within it; take `coordinates = \"absolute\"`",
        some_of(elements),
        if elements.len() > 1 { "need" } else { "needs" }
    )]
    ReactionsInJointCoordinates {
        /// Their names.
        elements: Vec<String>,
    },
    /// An interface tangent of a part without an implicit formula.
    #[error(
        "an explicit method has no interface Jacobian to send or to use: take an implicit one, or couple by loads alone"
    )]
    NoTangent,
}

/// How a singular position was to be passed: what else there is to try depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// By an explicit method.
    Explicit,
    /// By a mechanism in one piece, with an implicit method.
    Implicit,
    /// By a part of a cut mechanism.
    Cut,
}

impl Passage {
    fn advice(self) -> &'static str {
        match self {
            Self::Explicit => "LMS2 passes in most cases, and so may another step",
            Self::Implicit => {
                "take another step, with which the position falls elsewhere between two instants"
            }
            Self::Cut => {
                "run the mechanism whole, with a cut elsewhere, or with another step; `corrections = 4` passes most of these, if it is not set already"
            }
        }
    }
}

/// Why a solution failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Newton's iteration did not converge.
    #[error(
        "at t = {time} s Newton did not converge in {iterations} iterations{}: last correction {}, largest at `{worst}`; take a smaller step or check the loads there{}",
        tried(*pieces),
        lengths(corrections),
        wrong_sign(feedback)
    )]
    NotConverged {
        /// Time that was to be reached.
        time: f64,
        /// Iterations made.
        iterations: usize,
        /// The last corrections, as lengths.
        corrections: Vec<f64>,
        /// Name of the node with the largest correction.
        worst: String,
        /// Into so many pieces the step was divided in vain; one if it was not.
        pieces: u32,
        /// Names of the elements that sensors drive.
        feedback: Vec<String>,
    },
    /// A force law or a drive gave NaN or infinity.
    #[error(
        "at t = {time} s `{element}` gives a force or a constraint residual that is NaN{}",
        wrong_sign(feedback)
    )]
    NotFinite {
        /// Time.
        time: f64,
        /// Name of the element.
        element: String,
        /// Names of the elements that sensors drive.
        feedback: Vec<String>,
    },
    /// An element has no linear model at this state.
    #[error("`{element}` {reason}: there is no linear model of it here")]
    NotLinear {
        /// Name of the element.
        element: String,
        /// Why, as the end of a sentence that begins with the element.
        reason: &'static str,
    },
    /// The matrix is singular: a free motion in statics, a singular position in a run.
    #[error(
        "at t = {time} s the system matrix is singular at `{unknown}`{}: the mechanism is in a singular position there, or the step is too large; take a smaller step",
        tried(*pieces)
    )]
    Singular {
        /// Time.
        time: f64,
        /// Name of the node or joint at whose turn it showed.
        unknown: String,
        /// Into so many pieces the step was divided in vain; one if it was not.
        pieces: u32,
    },
    /// Newton's iteration of a coupling did not converge for the interface Jacobians that it has
    /// received.
    #[error(
        "at t = {time} s a coupling was not solved{}: the interface Jacobians of its parts may change too much within a step, as where a part next to it passes a singular position of its own; run the mechanism whole, cut it elsewhere, or take a smaller step",
        since(Some(failure))
    )]
    UnsteadyTangents {
        /// Time that was to be reached.
        time: f64,
        /// What the iteration says.
        #[source]
        failure: Box<SolveError>,
    },
    /// A step that a part of a cut mechanism could not take.
    #[error(
        "at t = {time} s {}; a part of a cut mechanism takes every step whole, where the mechanism in one piece would divide it: take a smaller step, or run it whole; velocities at the start that do not fit the joints call for short steps too",
        failure.happened()
    )]
    WholeStep {
        /// Time that was to be reached.
        time: f64,
        /// What the iteration says.
        #[source]
        failure: Box<SolveError>,
    },
    /// A position in which constraints depend on each other, though not elsewhere.
    #[error(
        "at t = {time} s the motion passes a singular position, where the constraints of `{}` depend on each other, and is not followed through it{}; {}",
        some_of(joints),
        since(failure.as_deref()),
        passage.advice()
    )]
    SingularPosition {
        /// Time.
        time: f64,
        /// Names of the joints involved.
        joints: Vec<String>,
        /// How it was to be passed.
        passage: Passage,
        /// How it showed, where it was not foreseen.
        #[source]
        failure: Option<Box<SolveError>>,
    },
    /// A beam element that is bent by half a turn.
    #[error(
        "at t = {time} s `{element}` folds: between two of its nodes it is bent by {degrees:.0} degrees{}, and half a turn is out of its reach; take more elements, a section with more bending stiffness, or more damping",
        tried(*pieces)
    )]
    Folded {
        /// Time.
        time: f64,
        /// Name of the element.
        element: String,
        /// The angle before the step.
        degrees: f64,
        /// Into so many pieces the step was divided in vain; one if it was not.
        pieces: u32,
    },
    /// An equilibrium that does not hold, and no other one was found from there.
    #[error(
        "at t = {time} s the equilibrium is unstable: `{unknown}` leaves it, growing with {rate:.4} 1/s, and going downhill finds none that holds; begin elsewhere, or look at the loads there"
    )]
    Unstable {
        /// Time.
        time: f64,
        /// Name of the node that moves most.
        unknown: String,
        /// How fast it leaves, for the masses there are.
        rate: f64,
    },
    /// No static equilibrium that is held against every motion.
    #[error(
        "at t = {time} s nothing holds `{}` in static equilibrium: some motion{} meets no resistance; hold it by a joint, a spring or a weight (a link between two ball joints spins about its own line: make one of them `universal`)",
        some_of(moving),
        if moving.len() > 1 { " that they share" } else { "" }
    )]
    Unheld {
        /// Time.
        time: f64,
        /// Name of the node that moves most.
        unknown: String,
        /// Names of the nodes that move as much as that one, which is among them.
        moving: Vec<String>,
    },
    /// Constraints that depend on each other.
    #[error(
        "the constraints are redundant or contradict each other: `{}`; free some of their directions",
        some_of(joints)
    )]
    Redundant {
        /// Names of the joints involved.
        joints: Vec<String>,
    },
    /// A constraint that was left out is not implied by the others any more.
    #[error(
        "at t = {time} s `{joint}` is not redundant any more: the other joints leave a violation of {violation:.3e} m there; it was redundant in the position of the start only, which is a singular one: start elsewhere"
    )]
    NotRedundant {
        /// Time.
        time: f64,
        /// Name of the joint.
        joint: String,
        /// Violation of a constraint that was left out, as a length.
        violation: f64,
    },
    /// The constraints cannot be fulfilled from the given positions.
    #[error(
        "the joints cannot be assembled from the initial positions: residual {violation:.3e} remains at `{joint}`"
    )]
    NotAssembled {
        /// Largest violation.
        violation: f64,
        /// The joint that has it.
        joint: String,
    },
    /// A motion without inertia, where an acceleration is needed.
    #[error(
        "at t = {time} s some motion of `{unknown}` that the joints allow moves no mass, so that an explicit method finds no acceleration; give it mass and inertia, hold it by a joint, or take an implicit method such as LMS2"
    )]
    WithoutInertia {
        /// Time.
        time: f64,
        /// Name of the node or joint at whose turn it showed.
        unknown: String,
    },
    /// An explicit method beyond its limit of stability.
    #[error(
        "at t = {time} s the motion of `{unknown}` cannot be followed any further: the step is too long for an explicit method; take a smaller one, or an implicit method such as LMS2"
    )]
    Diverged {
        /// Time.
        time: f64,
        /// Name of the first node or joint that is lost.
        unknown: String,
    },
    /// A contact that cannot be solved, or a body that is lost.
    #[error("at t = {time} s {what}")]
    Contact {
        /// Time.
        time: f64,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The matrix of the linearised motion could not be factored where modes were searched.
    #[error(
        "no modes were found: the linearised motion is singular where they were searched; search \
         near another frequency (--near)"
    )]
    NoModes,
}

impl SolveError {
    pub(crate) fn singular_position(time: f64, joints: Vec<String>, passage: Passage) -> Self {
        Self::SingularPosition {
            time,
            joints,
            passage,
            failure: None,
        }
    }

    /// The same singular position, with the failure by which it showed.
    pub(crate) fn because(mut self, cause: Self) -> Self {
        if let Self::SingularPosition { failure, .. } = &mut self {
            *failure = Some(Box::new(cause));
        }
        self
    }

    /// The same in a part of a cut mechanism.
    pub(crate) fn in_cut(mut self) -> Self {
        match &mut self {
            Self::SingularPosition { passage, .. } => {
                *passage = Passage::Cut;
                self
            }
            Self::NotConverged { time, .. }
            | Self::NotFinite { time, .. }
            | Self::Singular { time, .. } => Self::WholeStep {
                time: *time,
                failure: Box::new(self),
            },
            _ => self,
        }
    }

    /// What happened, without the time and without advice.
    fn happened(&self) -> String {
        let text = self.to_string();
        let time = self.time().map(|time| format!("at t = {time} s "));
        let told = time.and_then(|time| text.strip_prefix(&time));
        let told = told.unwrap_or(&text);
        told.split("; ").next().unwrap_or(told).to_owned()
    }

    /// When it happened.
    fn time(&self) -> Option<f64> {
        match self {
            Self::NotConverged { time, .. }
            | Self::NotFinite { time, .. }
            | Self::Singular { time, .. }
            | Self::SingularPosition { time, .. }
            | Self::UnsteadyTangents { time, .. }
            | Self::WholeStep { time, .. }
            | Self::Folded { time, .. }
            | Self::Unstable { time, .. }
            | Self::Unheld { time, .. }
            | Self::WithoutInertia { time, .. }
            | Self::NotRedundant { time, .. }
            | Self::Contact { time, .. }
            | Self::Diverged { time, .. } => Some(*time),
            Self::Redundant { .. }
            | Self::NotAssembled { .. }
            | Self::NotLinear { .. }
            | Self::NoModes => None,
        }
    }

    /// The same after a step was divided in vain.
    pub(crate) fn after_retries(mut self, tried: u32) -> Self {
        if let Self::NotConverged { pieces, .. }
        | Self::Singular { pieces, .. }
        | Self::Folded { pieces, .. } = &mut self
        {
            *pieces = tried;
        }
        self
    }
}

fn since(failure: Option<&SolveError>) -> String {
    failure.map_or_else(String::new, |failure| format!(" ({})", failure.happened()))
}

/// What elements that sensors drive may have done to a motion that was lost.
fn wrong_sign(feedback: &[String]) -> String {
    match feedback {
        [] => String::new(),
        [only] => format!(
            "; `{only}` follows sensors: feedback with the wrong sign makes a motion grow until no step can follow it"
        ),
        several => format!(
            "; `{}` follow sensors: feedback with the wrong sign makes a motion grow until no step can follow it",
            some_of(several)
        ),
    }
}

fn tried(pieces: u32) -> String {
    match pieces {
        1 => String::new(),
        _ => format!(", also with {pieces} substeps"),
    }
}

/// Corrections one after the other.
fn lengths(corrections: &[f64]) -> String {
    if corrections.is_empty() {
        return "NaN".into();
    }
    let each: Vec<String> = corrections.iter().map(|c| format!("{c:.3e} m")).collect();
    each.join(", then ")
}

/// Names in a message, at most.
const MOST_NAMES: usize = 8;

/// The first names, and how many there are besides.
fn some_of(names: &[String]) -> String {
    let shown = names.len().min(MOST_NAMES);
    let list = names[..shown].join("`, `");
    match names.len() - shown {
        0 => list,
        more => format!(
            "{list}` and {more} more such as `{}",
            names[names.len() - 1]
        ),
    }
}

impl From<SolveError> for StepError {
    /// The engine says where and when.
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::NotFinite {
                time,
                element,
                feedback,
            } if feedback.is_empty() => Self::NotFinite {
                law: element,
                value: f64::NAN,
                at: format!("t = {time} s"),
            },
            other => {
                let text = other.to_string();
                let time = other.time().map(|time| format!("at t = {time} s "));
                let text = time.as_deref().and_then(|time| text.strip_prefix(time));
                Self::Foreign(text.map_or_else(|| other.to_string(), str::to_owned))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_converged() -> SolveError {
        SolveError::NotConverged {
            time: 0.5,
            iterations: 10,
            corrections: vec![2e-3],
            worst: "rod".into(),
            pieces: 1024,
            feedback: Vec::new(),
        }
    }

    /// A whole mechanism that LMS2 had failed to move was told that LMS2 moves it, and not how it had failed.
    #[test]
    fn the_advice_at_a_singular_position_was_what_had_failed() {
        let named = |passage| {
            let joints = vec!["closure".into()];
            SolveError::singular_position(0.5, joints, passage).because(not_converged())
        };
        let whole = named(Passage::Implicit).to_string();
        assert!(!whole.contains("LMS2") && !whole.contains("cut"), "{whole}");
        for told in ["10 iterations", "1024 substeps", "2.000e-3 m", "`rod`"] {
            assert!(whole.contains(told), "{whole}");
        }
        assert!(named(Passage::Explicit).to_string().contains("LMS2"));
        let cut = named(Passage::Implicit).in_cut().to_string();
        assert!(
            cut.contains("whole") && cut.contains("corrections = 4"),
            "{cut}"
        );
        // The failure tells neither its time nor what helps: the whole does.
        assert_eq!(cut.matches("at t = ").count(), 1);
        assert!(!cut.contains("check the loads"), "{cut}");
        assert!(std::error::Error::source(&named(Passage::Cut)).is_some());
    }

    /// Whatever kept a coupling from being solved was blamed on the Jacobians, and was lost.
    #[test]
    fn jacobians_are_a_possible_reason_only() {
        let error = SolveError::UnsteadyTangents {
            time: 0.5,
            failure: Box::new(not_converged()),
        };
        let text = error.to_string();
        for told in ["may change", "10 iterations", "`rod`"] {
            assert!(text.contains(told), "{text}");
        }
    }

    /// Parts of a cut failed where the whole mechanism passes in substeps, and said "take a smaller step" at best.
    #[test]
    fn a_part_of_a_cut_says_that_it_takes_whole_steps() {
        let singular = SolveError::Singular {
            time: 0.5,
            unknown: "rod".into(),
            pieces: 1,
        };
        let lost = SolveError::NotFinite {
            time: 0.5,
            element: "rod".into(),
            feedback: Vec::new(),
        };
        for error in [not_converged(), singular, lost] {
            let text = error.in_cut().to_string();
            for told in ["`rod`", "every step whole", "take a smaller step"] {
                assert!(text.contains(told), "{text}");
            }
            assert_eq!(text.matches("at t = ").count(), 1, "{text}");
        }
    }
}
