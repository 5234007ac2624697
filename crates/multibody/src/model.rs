//! A model: nodes, bodies and elements, as plain data.

use crate::body::{Body, Inertia};
use crate::contact::ContactModel;
use std::collections::BTreeSet;

use crate::element::{Element, ElementId, References};
use crate::error::ModelError;
use crate::integrator::Method;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// What a mechanism consists of.
///
/// ```
/// use oldham_multibody::{Body, Joint, Marker, Mat3, Model, Motion, NodeId, Vec3};
///
/// let mut model = Model::new();
/// model.gravity(Vec3::new(0.0, 0.0, -9.81));
/// let bob = model.node("bob", Motion::at(Vec3::new(1.0, 0.0, 0.0)));
/// model.body(bob, Body::centred(2.0, Mat3::diagonal(0.1, 0.1, 0.1)));
/// let pivot = model.marker(bob, Vec3::ZERO);
/// model.element("pivot", Joint::spherical(Marker::on(NodeId::GROUND), pivot));
/// assert!(model.check().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) nodes: Vec<Node>,
    pub(crate) elements: Vec<NamedElement>,
    pub(crate) gravity: Vec3,
    pub(crate) bodies: Vec<(NodeId, Body)>,
    /// Nodes whose poses are given, each by an element of its own.
    pub(crate) prescribed: Vec<(NodeId, ElementId)>,
    pub(crate) contacts: ContactModel,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub name: String,
    pub initial: Motion,
    pub inertia: Inertia,
}

#[derive(Clone, Debug)]
pub(crate) struct NamedElement {
    pub name: String,
    pub element: Box<dyn Element>,
    /// What it refers to.
    pub uses: Used,
}

/// What an element refers to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// Components of the input vector.
    pub inputs: Vec<usize>,
    /// Nodes: those that it connects, and those that its sensors read.
    pub nodes: Vec<NodeId>,
    /// Elements that its sensors read.
    pub elements: Vec<ElementId>,
    /// Whether it has sensors.
    pub is_measured: bool,
}

impl References for Used {
    fn node(&mut self, node: &mut NodeId) {
        self.nodes.push(*node);
    }

    fn input(&mut self, component: &mut usize) {
        self.inputs.push(*component);
    }

    fn element(&mut self, element: &mut ElementId) {
        self.elements.push(*element);
    }

    fn measured(&mut self) {
        self.is_measured = true;
    }
}

impl NamedElement {
    pub fn new(name: String, mut element: Box<dyn Element>) -> Self {
        let mut uses = Used::default();
        element.refer(&mut uses);
        Self {
            name,
            element,
            uses,
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Model {
    /// Only the ground.
    pub fn new() -> Self {
        let ground = Node {
            name: "ground".to_owned(),
            initial: Motion::at(Vec3::ZERO),
            inertia: Inertia::default(),
        };
        Self {
            nodes: vec![ground],
            elements: Vec::new(),
            gravity: Vec3::ZERO,
            bodies: Vec::new(),
            prescribed: Vec::new(),
            contacts: ContactModel::default(),
        }
    }

    /// Shapes and grains in contact, and how they are solved: for the method of impulses.
    pub fn contacts(&mut self) -> &mut ContactModel {
        &mut self.contacts
    }

    /// Whether a node has shapes in contact.
    pub fn touches(&self, node: NodeId) -> bool {
        self.contacts
            .shapes
            .iter()
            .any(|shape| shape.at.node == node)
    }

    /// Sets the acceleration of gravity.
    pub fn gravity(&mut self, gravity: Vec3) {
        self.gravity = gravity;
    }

    /// The acceleration of gravity.
    pub fn acceleration_of_gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Adds a node with its initial motion.
    pub fn node(&mut self, name: impl Into<String>, initial: Motion) -> NodeId {
        self.nodes.push(Node {
            name: name.into(),
            initial,
            inertia: Inertia::default(),
        });
        NodeId(self.nodes.len() - 1)
    }

    /// The initial motion of a node.
    pub fn initial(&self, node: NodeId) -> &Motion {
        &self.nodes[node.0].initial
    }

    /// Moves a node in the initial configuration. Elements keep the unloaded shape that they were
    /// made with.
    pub fn place(&mut self, node: NodeId, initial: Motion) {
        self.nodes[node.0].initial = initial;
    }

    /// Number of nodes, the ground included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.0].name
    }

    /// The nodes that an element connects.
    pub fn nodes_of(&self, element: ElementId) -> &[NodeId] {
        self.elements[element.0].element.nodes()
    }

    /// Mass at a node, and its moments of inertia about the three node axes.
    pub fn inertia(&self, node: NodeId) -> (f64, [f64; 3]) {
        let inertia = &self.nodes[node.0].inertia;
        (inertia.mass, [0, 1, 2].map(|i| inertia.second.0[i][i]))
    }

    /// The components of the input vector that its elements use, in order.
    pub fn inputs_used(&self) -> BTreeSet<usize> {
        let elements = self.elements.iter();
        elements
            .flat_map(|named| named.uses.inputs.iter().copied())
            .collect()
    }

    /// Attaches a rigid body to a node; a node may carry several.
    pub fn body(&mut self, node: NodeId, body: Body) {
        self.nodes[node.0].inertia.add(&body);
        self.bodies.push((node, body));
    }

    /// Whether a node carries a body.
    pub fn has_body(&self, node: NodeId) -> bool {
        self.bodies.iter().any(|(carrier, _)| *carrier == node)
    }

    /// Adds a joint, a spring, a beam, a load.
    pub fn element(&mut self, name: impl Into<String>, element: impl Element) -> ElementId {
        self.boxed_element(name, Box::new(element))
    }

    /// The same for an element whose type is not known.
    pub fn boxed_element(
        &mut self,
        name: impl Into<String>,
        element: Box<dyn Element>,
    ) -> ElementId {
        self.elements.push(NamedElement::new(name.into(), element));
        ElementId(self.elements.len() - 1)
    }

    /// An element.
    pub fn get(&self, element: ElementId) -> &dyn Element {
        &*self.elements[element.0].element
    }

    /// Puts another element in the place of one, under its name.
    pub fn replace(&mut self, element: ElementId, with: impl Element) {
        let place = &mut self.elements[element.0];
        *place = NamedElement::new(std::mem::take(&mut place.name), Box::new(with));
    }

    /// All nodes but the ground, with their initial motions.
    pub fn moving_nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Motion)> {
        let nodes = self.nodes.iter().enumerate().skip(1);
        nodes.map(|(index, node)| (NodeId(index), &node.initial))
    }

    /// Moving nodes that no element holds or pushes.
    pub fn unattached_nodes(&self) -> Vec<NodeId> {
        let is_attached = |node: NodeId| {
            let mut elements = self.elements.iter();
            elements.any(|named| named.element.nodes().contains(&node))
        };
        let nodes = self.moving_nodes().map(|(node, _)| node);
        nodes.filter(|node| !is_attached(*node)).collect()
    }

    /// Whether anything is in contact.
    pub fn has_contacts(&self) -> bool {
        !self.contacts.is_empty()
    }

    /// Names of the elements.
    pub fn element_names(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().map(|named| named.name.as_str())
    }

    /// The name of an element.
    pub fn element_name(&self, element: ElementId) -> &str {
        &self.elements[element.0].name
    }

    /// The element of this name.
    pub fn find_element(&self, name: &str) -> Option<ElementId> {
        let place = self.elements.iter().position(|named| named.name == name);
        place.map(ElementId)
    }

    /// The place of an element's first multiplier among those of all elements.
    pub fn first_multiplier(&self, element: ElementId) -> usize {
        let before = self.elements[..element.0].iter();
        before.map(|named| named.element.constraints()).sum()
    }

    /// All elements that the sensors of an element read, those that are read on the way among them.
    pub(crate) fn read_by(&self, named: &NamedElement) -> BTreeSet<ElementId> {
        let mut found = BTreeSet::new();
        let mut left = named.uses.elements.clone();
        while let Some(element) = left.pop() {
            if found.insert(element)
                && let Some(other) = self.elements.get(element.0)
            {
                left.extend(&other.uses.elements);
            }
        }
        found
    }

    /// A marker on a node at an absolute place, with absolute axes, in the initial configuration.
    pub fn marker(&self, node: NodeId, place: Vec3) -> Marker {
        self.oriented_marker(node, place, Quaternion::IDENTITY)
    }

    /// A marker on a node at an absolute place whose third axis is `axis`, in the initial
    /// configuration.
    pub fn axis_marker(&self, node: NodeId, place: Vec3, axis: Vec3) -> Marker {
        let axes = Marker::on(node).axis(axis).orientation;
        self.oriented_marker(node, place, axes)
    }

    /// A marker on a node at an absolute place with given absolute axes, in the initial
    /// configuration.
    pub fn oriented_marker(&self, node: NodeId, place: Vec3, axes: Quaternion) -> Marker {
        let motion = &self.nodes[node.0].initial;
        let offset = motion.rotation.transpose_mul(place - motion.position);
        Marker::on(node)
            .offset(offset)
            .oriented(motion.orientation.conjugate().times(axes))
    }

    /// The absolute place of a marker in the initial configuration.
    pub fn place_of(&self, marker: &Marker) -> Vec3 {
        let motion = &self.nodes[marker.node.0].initial;
        motion.position + marker.arm(motion)
    }

    /// All mistakes in the data.
    pub fn check(&self) -> Result<(), Vec<ModelError>> {
        let mut problems = Vec::new();
        for node in &self.nodes {
            let m = &node.initial;
            let vectors = [m.position, m.velocity, m.angular_velocity];
            let finite = vectors.iter().flat_map(|v| v.0).all(f64::is_finite);
            if !finite || !m.orientation.0.iter().all(|q| q.is_finite()) {
                let node = node.name.clone();
                problems.push(ModelError::NotFinite { node });
            }
        }
        for (node, body) in &self.bodies {
            if !body.is_physical() {
                let node = self.nodes[node.0].name.clone();
                problems.push(ModelError::UnphysicalBody { node });
            }
        }
        for (index, named) in self.elements.iter().enumerate() {
            if self.read_by(named).contains(&ElementId(index)) {
                let element = named.name.clone();
                problems.push(ModelError::FollowsItself { element });
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// Contacts, which only impulses solve; pieces of structures, which have no place among these.
    pub(crate) fn check_impulses(&self, method: Method) -> Result<(), Vec<ModelError>> {
        if method != Method::Impulses {
            let shapes = self
                .contacts
                .shapes
                .iter()
                .map(|shape| (shape.at.node, &shape.name));
            let moving = shapes.clone().find(|(node, _)| *node != NodeId::GROUND);
            let grains = self.contacts.grains.iter().map(|grains| &grains.name);
            let named = moving.map(|(_, name)| name);
            let named = named
                .into_iter()
                .chain(grains)
                .chain(shapes.map(|(_, name)| name));
            return match (self.contacts.is_empty(), named.into_iter().next()) {
                (false, Some(shape)) => {
                    let shape = shape.clone();
                    Err(vec![ModelError::ContactWithoutImpulses { shape }])
                }
                _ => Ok(()),
            };
        }
        let structures = self.elements.iter();
        let structures = structures.filter(|named| named.element.is_structural());
        let problems: Vec<ModelError> = structures
            .map(|named| ModelError::StructureWithImpulses {
                element: named.name.clone(),
            })
            .collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }

    /// Elements that an explicit method cannot take along.
    pub(crate) fn check_explicit(&self) -> Result<(), Vec<ModelError>> {
        let is_joint = |read: ElementId| self.elements[read.0].element.constraints() > 0;
        let problem = |named: &NamedElement| {
            let element = named.name.clone();
            if named.element.depends_on_past() {
                Some(ModelError::DependsOnPast { element })
            } else if self.read_by(named).iter().any(|&read| is_joint(read)) {
                Some(ModelError::ReadsReactions { element })
            } else {
                None
            }
        };
        let problems: Vec<ModelError> = self.elements.iter().filter_map(problem).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }
}
