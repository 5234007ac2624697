//! Loads of actuators that hold a mechanism at rest.
//!
//! In statics the line of such an actuator is a rod that keeps its length, and the force in the rod
//! is the load. In a run the load acts along the line, or a port brings it, and the run starts where the
//! statics ended.

use oldham_multibody::contact::ContactModel;
use oldham_multibody::{
    ElementId, Joint, Law, Marker, MechanismPart, Model, NodeId, PortedModel, Rod, SolveError, Vec3,
};

use super::spec::{MechanismSpec, initial_inputs};

/// An actuator whose load is to be found.
#[derive(Clone, Debug)]
pub(crate) struct StaticLine {
    pub name: String,
    pub element: ElementId,
    ends: [Marker; 2],
    length: f64,
    bearer: Bearer,
}

/// Who pushes with a static load in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// The line itself, always with the same force.
    Line,
    /// Another subsystem, through a port.
    Port,
}

impl StaticLine {
    /// Adds the line to a model, without a load yet.
    pub fn new(
        model: &mut Model,
        name: &str,
        ends: [Marker; 2],
        length: f64,
        bearer: Bearer,
    ) -> Self {
        let [a, b] = ends;
        let rod = Rod::new(a, b, length, Law::push(0.0));
        Self {
            name: name.to_owned(),
            element: match bearer {
                Bearer::Line => model.element(name, rod),
                // The port may be called like the line along which it acts.
                Bearer::Port => model.element(format!("{name}.static"), rod),
            },
            ends,
            length,
            bearer,
        }
    }

    /// Holds the line at its length.
    fn hold(&self, model: &mut Model) {
        let [a, b] = self.ends;
        model.replace(self.element, Joint::distance(a, b, self.length));
    }

    /// What it pushes with where it is held.
    pub fn load(&self, held: &MechanismPart) -> f64 {
        // The rod pulls with its multiplier.
        -held.system().multipliers(self.element)[0]
    }

    /// Lets a load push along the line.
    fn push(&self, model: &mut Model, load: f64) {
        let [a, b] = self.ends;
        let rod = Rod::new(a, b, self.length, Law::push(load));
        model.replace(self.element, rod);
    }
}

impl MechanismSpec {
    /// The mechanism with its static lines held at their lengths.
    pub fn held(&self) -> PortedModel {
        let mut held = self.whole.clone();
        let lines = self.static_lines.iter();
        lines.for_each(|line| line.hold(&mut held.model));
        if held.model.has_contacts() {
            // What only contacts carry rests where it is given, and nothing else touches anything: a part that runs
            // with contacts need not be able to solve for a rest.
            for node in held.model.unattached_nodes() {
                let name = format!("{}.rest", held.model.node_name(node));
                let here = held.model.place_of(&Marker::on(node));
                let [a, b] = [NodeId::GROUND, node].map(|end| held.model.marker(end, here));
                held.model.element(name, Joint::clamp(a, b));
            }
            *held.model.contacts() = ContactModel::default();
        }
        held
    }

    /// The mechanism as it runs: at rest under its static loads, if it has any, else as it is given.
    pub fn balanced(&self, start: f64) -> Result<PortedModel, SolveError> {
        if self.static_lines.is_empty() {
            return Ok(self.whole.clone());
        }
        let part = self.at_rest(start)?;
        let mut balanced = self.whole.clone();
        for (node, _) in self.whole.model.moving_nodes() {
            let motion = part.system().motion(node).moving(Vec3::ZERO, Vec3::ZERO);
            balanced.model.place(node, motion);
        }
        for line in &self.static_lines {
            if line.bearer == Bearer::Line {
                line.push(&mut balanced.model, line.load(&part));
            }
        }
        Ok(balanced)
    }

    /// The loads of the static lines, in their order.
    pub fn static_loads(&self, start: f64) -> Result<Vec<f64>, SolveError> {
        let part = self.at_rest(start)?;
        let lines = self.static_lines.iter();
        Ok(lines.map(|line| line.load(&part)).collect())
    }

    /// The mechanism at rest with its static lines held.
    fn at_rest(&self, start: f64) -> Result<MechanismPart, SolveError> {
        let part = self.held().builder();
        let part = part.build(self.options, self.micro_steps);
        let mut part = part.expect("a checked model has no mistakes in its data");
        let inputs = initial_inputs(&part);
        part.find_static_equilibrium(start, &inputs)?;
        Ok(part)
    }
}
