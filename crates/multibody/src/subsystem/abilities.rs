//! What a mechanism can do besides advancing.

use oldham_cosim::{
    Accuracy, Conjugate, EffectiveInterface, Energy, EnergyBalance, InputPort, InterfaceResponse,
    Linearisable, Linearisation, Quantity, SequenceModel, State, StepCorrection, StepError,
    TwoStep, Unit, Visitor,
};

use super::{MechanismPart, interface, linearise};
use crate::element::ElementId;
use crate::error::{Passage, SolveError};
use crate::integrator::Method;

/// Energy that the exchange may make within a step next to a singular position, as a fraction of
/// the kinetic energy of the bodies that the correction moves.
const MADE_BY_EXCHANGE: f64 = 1e-4;
/// Units of numbers that act as forces.
const FORCES: [Unit; 3] = [Unit::NEWTON, Unit::NEWTON_METRE, Unit::PASCAL];

impl EnergyBalance for MechanismPart {
    /// What has a counterpart among the outputs is left to the engine. Other forces count if they
    /// are given from outside; from another part they are a matter between the two.
    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let (mut own, mut foreign) = (Vec::new(), Vec::new());
        let mut left = self.for_ports.clone();
        for index in 0..self.ports.inputs().len() {
            let port = InputPort(index);
            let range = self.ports.input_range(port);
            let pushes = match &self.ports.inputs()[index].quantity {
                Quantity::Scalar(unit) => FORCES.contains(unit),
                _ => false,
            };
            if !pushes || self.has_counterpart(port) {
                continue;
            }
            if given.contains(&port) {
                left.retain(|(_, first)| *first != range.start);
                own.push(port);
            } else {
                foreign.extend(range);
            }
        }
        let left: Vec<ElementId> = left.into_iter().map(|(element, _)| element).collect();
        self.system.leave_to_others(foreign, &left);
        own
    }

    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        self.system.energy(inputs)
    }
}

impl MechanismPart {
    /// Whether an output tells the motion of the point where a received force acts.
    fn has_counterpart(&self, port: InputPort) -> bool {
        let mut pairs = self.ports.conjugates().iter();
        pairs.any(|pair| matches!(pair, Conjugate::GivesMotion { force, .. } if *force == port))
    }
}

impl StepCorrection for MechanismPart {
    fn expect_correction(&mut self) {
        self.is_corrected = true;
    }

    fn correct(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError> {
        let defers = self.defers();
        match &mut self.tangent {
            Some(tangent) if defers => {
                let change = tangent.add_correction(&mut self.system, inputs);
                if self.system.leaves_too_much(change, !self.trusts_received) {
                    tangent.note_loads(&self.system);
                    self.system.refine(inputs).map_err(SolveError::in_cut)?;
                    let h = self.system.work.last_step.h;
                    let made = tangent.unnoted_work(&self.system, h);
                    let moved = tangent.moved(&self.system, h);
                    if made.abs() > MADE_BY_EXCHANGE * moved.energy
                        && let Some(joints) = self.system.singular_position(h, inputs)
                    {
                        Err(SolveError::singular_position(t, joints, Passage::Cut))?;
                    }
                }
                self.system.finish_step(inputs);
                self.is_unfinished = false;
                self.compare_predictions(inputs);
            }
            _ if self.system.options.method == Method::Impulses => {
                let [first, _] = &self.early_inputs;
                self.system.repeat_impulses(first, inputs)?;
            }
            _ => {
                let repeated = self.system.repeat(inputs);
                repeated.map_err(|error| self.blame_cut(error))?;
            }
        }
        self.update_tangent();
        self.inputs.copy_from_slice(inputs);
        Ok(())
    }
}

impl Accuracy for MechanismPart {
    fn require_accuracy(&mut self, relative: f64) {
        let tolerance = &mut self.system.options.tolerance;
        *tolerance = tolerance.min(relative);
    }

    /// A correction of the step then is a repetition of it.
    fn sharpen(&mut self) {
        self.system.work.is_sharp = true;
        self.is_thorough = true;
    }
}

impl Linearisable for MechanismPart {
    /// About any state of motion, with the changes of the constraint gradients along it.
    fn linearise(&mut self, _t: f64, inputs: &[f64]) -> Option<Linearisation> {
        let found = match self.system.contacts.is_some() {
            true => Err("has contacts, which come and go".into()),
            false => linearise::linearise(self, inputs),
        };
        let (found, reason) = match found {
            Ok(found) => (Some(found), None),
            Err(reason) => (None, Some(reason)),
        };
        self.not_linear = reason;
        found
    }

    fn not_linear(&mut self) -> Option<String> {
        self.not_linear.clone()
    }

    /// Those of the last linearisation.
    fn state_names(&mut self) -> Vec<String> {
        self.state_names.clone()
    }

    fn sequence_model(&mut self, _t: f64, step: f64, inputs: &[f64]) -> Option<SequenceModel> {
        self.find_sequence_model(step, inputs)
    }
}

impl InterfaceResponse for MechanismPart {
    fn interface(&mut self, _t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        // Looking would lose what a step that is not finished is corrected with; it is asked again when it is.
        self.is_unfinished || interface::effective(self, inputs, found)
    }

    fn momentum_formula(&self) -> Option<TwoStep> {
        let is_one_step = self.micro_steps == 1;
        match self.system.options.method {
            Method::Rk4 { .. } | Method::Impulses | Method::BackwardEuler => {
                Some(TwoStep::BACKWARD_EULER)
            }
            Method::Lms2 { .. } if is_one_step && self.system.state.known < 2 => {
                Some(TwoStep::CRANK_NICOLSON)
            }
            Method::Lms2 { rho } if is_one_step => TwoStep::lms2(rho).settling(),
            Method::Lms2 { .. } | Method::GeneralisedAlpha { .. } => None,
        }
    }
}

impl State for MechanismPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.system.visit(visitor);
        visitor.fixed(&mut self.started_with);
        let mut unfinished = u64::from(self.is_unfinished);
        visitor.count(&mut unfinished);
        if self.system.predicts_given {
            let mut trusts_received = u64::from(self.trusts_received);
            visitor.count(&mut trusts_received);
            self.trusts_received = trusts_received != 0;
        }
        if visitor.replaces() {
            self.is_unfinished = unfinished != 0;
            if let Some(tangent) = &mut self.tangent {
                tangent.review(&self.system);
            }
        }
    }

    /// Contacts come and go, and grains are no coordinates.
    fn is_chartable(&mut self) -> bool {
        !self.has_impulses()
    }
}
