//! A section `[multibody.*]`: from its text to the specification of a mechanism.
//!
//! Frames, nodes, beams and shells come first, since everything else is attached to nodes; a trial
//! of the finished mechanism comes last and finds what only the equations can tell.

mod actuators;
mod beams;
mod bench;
mod bodies;
mod cables;
mod clearances;
mod compliant;
mod contact;
mod cut;
mod frames;
mod given;
mod joints;
mod links;
mod loads;
mod motors;
mod nodes;
mod places;
mod ports;
mod redundancy;
mod sections;
mod sensors;
mod servos;
mod shells;
mod transmissions;
mod trial;
mod values;
mod visuals;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use oldham_cosim::StageInputs;
use oldham_multibody::contact::Polytope;
use oldham_multibody::{
    Coordinate, Coordinates, Element, ElementId, Marker, Method, Motion, NodeId, Options,
    Quaternion, Sent, Vec3,
};

use super::method::stage_inputs;
use super::part::{Checked, Port};
use super::{Checker, Pace};
use crate::format::multibody::Method as MethodWord;
use crate::format::multibody::{
    CoordinatesWord, DEFAULT_ITERATIONS, DEFAULT_TOLERANCE, Multibody, Redundant,
};
use crate::format::{At, DEFAULT_RHO, Entry, Fraction, InputsWithinStep, Named, Record, place};
use crate::kinds::Reading;
use crate::mechanism::{MechanismSpec, NODE_PORTS, Outline, Pose, SENSOR_PORTS};
use crate::model::Content;
use crate::source::Span;
pub(crate) use bench::Bench;
use joints::DraftJoint;
pub(crate) use joints::word;
pub(crate) use places::Samples;
use places::{BeamElements, ShellElements};
use sections::CrossSection;
use sensors::Stage;

/// The node that is always there.
const GROUND: &str = "ground";

/// An element that was read, and what is drawn of it.
type Made = (Box<dyn Element>, Option<Outline>);

/// The specification in the making.
#[derive(Default)]
pub(crate) struct MechanismDraft<'f> {
    pub spec: MechanismSpec,
    nodes: HashMap<String, NodeId>,
    /// Nothing for those that could not be read.
    frames: HashMap<&'f str, Option<Pose>>,
    sections: HashMap<&'f str, Option<CrossSection>>,
    /// Convex bodies about their centres of mass, by their places among all bodies.
    hulls: HashMap<usize, Arc<Polytope>>,
    /// What can be asked for its reaction.
    holders: HashMap<String, Option<ElementId>>,
    /// Joints whose coordinate a transmission may use.
    joints: HashMap<&'f str, Option<DraftJoint>>,
    /// Joints whose angle (or else slide) is prescribed.
    driven: HashSet<(String, bool)>,
    /// Servos with the coordinates that they drive; nothing for those that could not be read.
    pub servos: HashMap<String, Option<(ElementId, Coordinate, [Marker; 2])>>,
    /// Ends of the actuators; nothing for those that could not be read.
    actuators: HashMap<&'f str, Option<[Marker; 2]>>,
    /// Elements of beams and shells, to find places on them; nothing for those that could not be
    /// read.
    pub beams: HashMap<&'f str, Option<BeamElements>>,
    pub shells: HashMap<&'f str, Option<ShellElements>>,
    /// What is measured; nothing for what could not be read.
    readings: HashMap<&'f str, Option<Reading>>,
    /// First component of each scalar input.
    scalars: HashMap<&'f str, usize>,
    /// Where nodes, bodies and elements were written.
    places: HashMap<String, Span>,
    /// Nodes whose motion could not be read: what depends on it is no news.
    unplaced: HashSet<NodeId>,
    /// Nodes that some element holds.
    held: HashSet<NodeId>,
    /// A body or an element could not be read: what the equations say without it is no news.
    lost_elements: bool,
    /// Something unreadable could have made further nodes.
    lost_nodes: bool,
    /// The same for nodes of beams and shells.
    lost_meshes: bool,
    /// A step of its integrator in s, if that is known.
    micro_step: Option<f64>,
}

impl Checker<'_> {
    pub(super) fn multibody(
        &mut self,
        entry: &Entry<Multibody>,
        pace: Pace,
        record: &Record,
    ) -> Checked {
        let section = &entry.value.value;
        let paced = self.head(&entry.name, &section.pacing, &section.division, &pace);
        let before = self.findings.len();
        let options = self.options(section);
        let mut draft = MechanismDraft::new();
        let damaged = self.findings.is_damaged(&entry.value.span);
        draft.lost_nodes = damaged && section.nodes.is_empty();
        draft.lost_meshes = damaged && (section.beams.is_empty() || section.shells.is_empty());
        draft.spec.whole.shares_loads = section.redundant == Some(Redundant::LeastNorm);
        draft.micro_step = paced
            .own_step
            .zip(paced.micro_steps)
            .map(|(step, count)| step / f64::from(count));
        draft.spec.static_equilibrium = section.static_equilibrium.unwrap_or(false);
        let ports = self.mechanism(section, &mut draft);
        draft.show_sensors(section);
        if record.nodes.unwrap_or(true) {
            draft.show_nodes();
        }
        if let Some(options) = &options {
            self.contact_methods(section, options, &mut draft);
        }
        if let Some(loads) = &record.section_loads {
            draft.show_sections(section, loads);
        }
        let mut content = None;
        if let (Some(options), Some(micro_steps)) = (options, paced.micro_steps)
            && self.findings.len() == before
            && !damaged
            && !draft.lost_elements
        {
            draft.spec.options = options;
            draft.spec.micro_steps = micro_steps as usize;
            self.trial(entry, &draft, pace.start, draft.micro_step);
            self.falling(&entry.name.value, &draft);
            draft.spec.cutting = self.cutting(section, &draft, pace.is_implicit);
            draft.hide_parted_sensors();
            content = Some(Content::Multibody(Box::new(draft.spec)));
        }
        let rho = options.map_or(DEFAULT_RHO, |options| spectral_radius(options.method));
        paced.checked(rho, content, ports)
    }

    /// Everything in the section but its steps; gives inputs and outputs.
    fn mechanism<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) -> [Vec<Port>; 2] {
        if let Some(gravity) = self.vector_or_zero(&section.gravity) {
            draft.spec.whole.model.gravity(gravity);
        }
        self.frames(section, draft);
        self.scalar_inputs(section, draft);
        self.nodes(section, draft);
        self.sections(section, draft);
        self.beams(section, draft);
        self.shells(section, draft);
        self.bodies(section, draft);
        self.joints(section, draft);
        self.rigid_links(section, draft);
        let gears = &section.transmissions;
        self.named_elements(gears, "a transmission", draft, Self::transmission);
        self.sensors(section, Stage::Joints, draft);
        self.named_elements(&section.motors, "a motor", draft, Self::motor);
        self.servos(section, draft);
        self.named_elements(&section.springs, "a spring", draft, Self::spring);
        self.named_elements(&section.cables, "a cable", draft, Self::cable);
        self.named_elements(&section.clearances, "a clearance", draft, Self::clearance);
        self.compliant_contacts(section, draft);
        self.actuators(section, draft);
        let torsion = &section.torsion_springs;
        self.named_elements(torsion, "a torsion spring", draft, Self::torsion_spring);
        self.named_elements(&section.bushings, "a bushing", draft, Self::bushing);
        self.sensors(section, Stage::Springs, draft);
        self.foreign_elements(section, draft);
        self.wrenches(section, draft);
        self.contact(section, draft);
        self.visuals(section, draft);
        self.sensors(section, Stage::Loads, draft);
        let ports = self.ports(section, draft);
        let names = section.outputs.iter().map(|entry| &entry.name);
        self.port_names(section.inputs.names(), names);
        ports
    }

    fn options(&mut self, section: &Multibody) -> Option<Options> {
        let method = self.method_in_space(section);
        let tolerance = self.number_or(&section.tolerance, DEFAULT_TOLERANCE);
        let max_iterations = self.count_or(&section.max_iterations, DEFAULT_ITERATIONS);
        let locates_kinks = self.locates_kinks_in_space(section, method);
        let coordinates = self.coordinates(section);
        Some(Options {
            method: method?,
            tolerance: tolerance?,
            max_iterations: max_iterations? as usize,
            account_energy: true,
            locates_kinks,
            coordinates,
        })
    }

    /// Those of joints have no place for the couplings of a cut.
    fn coordinates(&mut self, section: &Multibody) -> Coordinates {
        let asked = section.coordinates.as_ref();
        let Some(asked) = asked.filter(|asked| asked.value == CoordinatesWord::Joint) else {
            return Coordinates::Absolute;
        };
        if section.cut.is_some() {
            let message = "`coordinates = \"joint\"` conflicts with `cut`";
            self.report(&asked.span, message)
                .label("the parts of a cut mechanism are moved in absolute coordinates")
                .help("leave out `cut`, or take `coordinates = \"absolute\"`");
        }
        Coordinates::Joint
    }

    /// Whether steps end at kinks, which only implicit ones can.
    fn locates_kinks_in_space(&mut self, section: &Multibody, method: Option<Method>) -> bool {
        let Some(asked) = section.locate_kinks.as_ref().filter(|asked| asked.value) else {
            return false;
        };
        if method.is_some_and(Method::is_explicit) {
            let message = "only implicit integrators locate kinks in a mechanism";
            self.report(&asked.span, message)
                .label("has no meaning for this integrator")
                .help("take `integrator = \"lms2\"`, or a smaller step");
        }
        true
    }

    fn method_in_space(&mut self, section: &Multibody) -> Option<Method> {
        let word = section.integrator.as_ref().map(|at| at.value);
        let settings = MethodSettings {
            rho: &section.rho,
            inputs: &section.inputs_within_step,
            otherwise: Method::Lms2 { rho: DEFAULT_RHO },
        };
        self.method_of(word.unwrap_or(MethodWord::Lms2), settings)
    }

    fn method_of(&mut self, word: MethodWord, settings: MethodSettings<'_>) -> Option<Method> {
        let (rho, inputs, otherwise) = (settings.rho, settings.inputs, settings.otherwise);
        if !matches!(word, MethodWord::Lms2 | MethodWord::GeneralisedAlpha) {
            self.foreign_setting(place(rho), "rho", "lms2");
        }
        if word != MethodWord::Rk4 {
            self.foreign_setting(place(inputs), "inputs_within_step", "rk4");
        }
        let rho = self.number_or(rho, spectral_radius(otherwise))?;
        Some(match word {
            MethodWord::Lms2 => Method::Lms2 { rho },
            MethodWord::GeneralisedAlpha => Method::GeneralisedAlpha { rho },
            MethodWord::BackwardEuler => Method::BackwardEuler,
            MethodWord::Impulses => Method::Impulses,
            MethodWord::Rk4 => Method::Rk4 {
                inputs: stage_inputs(inputs, inputs_of(otherwise)),
            },
        })
    }

    /// Elements of one kind whose reactions can be asked for.
    fn named_elements<T>(
        &mut self,
        entries: &Named<T>,
        what: &str,
        draft: &mut MechanismDraft<'_>,
        make: impl Fn(&mut Self, &Entry<T>, &MechanismDraft<'_>) -> Option<Made>,
    ) {
        for entry in entries {
            self.element_name(&entry.name, what, draft);
            draft.holders.insert(entry.name.value.clone(), None);
            match make(self, entry, draft) {
                Some((element, outline)) => {
                    draft.spec.sketch.outlines.extend(outline);
                    draft.holder(&entry.name.value, element);
                }
                None => draft.lost_elements = true,
            }
        }
    }

    /// An element's name: one for all kinds, since messages and results name elements by it.
    fn element_name(&mut self, name: &At<String>, of: &str, draft: &mut MechanismDraft<'_>) {
        self.name(name, of);
        let taken = draft
            .places
            .insert(element_key(&name.value), name.span.clone());
        if let Some(other) = taken {
            let message = format!("two elements of this subsystem are called `{}`", name.value);
            let other = self.source.locate(&other);
            let help = format!(
                "the other one is in line {} of {}; joints, springs, loads and all other elements share their names",
                other.line, other.name
            );
            self.report(&name.span, message)
                .label("choose another name")
                .help(help);
        }
    }
}

/// Nodes and elements may have the same names.
fn element_key(name: &str) -> String {
    format!("element {name}")
}

/// Settings of a method, and the method from which they are taken where they are not given.
struct MethodSettings<'s> {
    rho: &'s Option<At<Fraction>>,
    inputs: &'s Option<At<InputsWithinStep>>,
    otherwise: Method,
}

fn spectral_radius(method: Method) -> f64 {
    match method {
        Method::Lms2 { rho } | Method::GeneralisedAlpha { rho } => rho,
        Method::BackwardEuler | Method::Rk4 { .. } | Method::Impulses => DEFAULT_RHO,
    }
}

fn inputs_of(method: Method) -> StageInputs {
    match method {
        Method::Rk4 { inputs } => inputs,
        _ => StageInputs::Interpolated,
    }
}

impl<'f> MechanismDraft<'f> {
    fn new() -> Self {
        let mut draft = Self::default();
        draft.nodes.insert(GROUND.to_owned(), NodeId::GROUND);
        draft.spec.sketch.nodes.push(GROUND.to_owned());
        draft
    }

    fn node(&mut self, name: &str, motion: Motion, place: &Span) -> NodeId {
        let node = self.spec.whole.model.node(name, motion);
        self.made_node(name, node, place);
        node
    }

    /// Notes a node that the model has already.
    fn made_node(&mut self, name: &str, node: NodeId, place: &Span) {
        self.spec.sketch.nodes.push(name.to_owned());
        self.nodes.insert(name.to_owned(), node);
        self.places.insert(name.to_owned(), place.clone());
    }

    /// An element that holds its nodes.
    fn element(&mut self, name: &str, element: Box<dyn Element>) -> ElementId {
        self.held.extend(element.nodes());
        self.spec.whole.model.boxed_element(name, element)
    }

    /// An element whose reaction can be asked for.
    fn holder(&mut self, name: &str, element: Box<dyn Element>) -> ElementId {
        let element = self.element(name, element);
        self.holders.insert(name.to_owned(), Some(element));
        element
    }

    /// An element that belongs to another one, such as the stops of a joint, under a name after that.
    fn companion(&mut self, of: &At<String>, what: &str, element: Box<dyn Element>) -> ElementId {
        let name = format!("{}.{what}", of.value);
        self.places.insert(element_key(&name), of.span.clone());
        self.holder(&name, element)
    }

    /// Gives every node an output of its own.
    fn show_nodes(&mut self) {
        let whole = &mut self.spec.whole;
        for (node, _) in whole.model.moving_nodes() {
            let name = format!("{NODE_PORTS}{}", whole.model.node_name(node));
            whole.outputs.push((name, Sent::Motion(node.into())));
        }
    }

    /// Records what sensors measure.
    fn show_sensors(&mut self, section: &Multibody) {
        for entry in &section.sensors {
            let reading = self.readings.get(entry.name.value.as_str());
            if let Some(Some(reading)) = reading {
                let name = format!("{SENSOR_PORTS}{}", entry.name.value);
                let sent = reading.sent();
                self.spec.whole.outputs.push((name, sent));
            }
        }
    }

    /// A sensor that reads in several parts of a cut mechanism is not recorded.
    fn hide_parted_sensors(&mut self) {
        let Some(cutting) = &self.spec.cutting else {
            return;
        };
        let partition = &cutting.settings.partition;
        self.spec.whole.outputs.retain(|(name, sent)| {
            let needs = sent.needs();
            let is_whole = || partition.home(&needs.nodes, &needs.elements).is_some();
            !name.starts_with(SENSOR_PORTS) || is_whole()
        });
    }

    /// The initial motion of a node, if it is known.
    fn motion(&self, node: NodeId) -> Option<Motion> {
        let known = !self.unplaced.contains(&node);
        known.then(|| *self.spec.whole.model.initial(node))
    }

    /// Markers on two nodes at one place with the same axes.
    pub fn markers(&self, nodes: [NodeId; 2], place: Vec3, axes: Quaternion) -> [Marker; 2] {
        nodes.map(|node| self.spec.whole.model.oriented_marker(node, place, axes))
    }
}
