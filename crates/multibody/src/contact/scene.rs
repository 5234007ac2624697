//! The contacts of a system in motion: nodes as bodies of a contact scene.
//!
//! Nodes that constraints hold answer to impulses as one, by a mobility that the factors of the step give; others
//! by their own inertia. Bodies of the scene have the axes of their nodes and their origins at the centres of
//! mass.

use oldham_contact::{
    Body, BodyId, ByNumber, Cone, ContactError, ContactSolver, Correction, Coulomb,
    Motion as BodyKind, Options, Pose, Scene, StepReport, Surface, SurfaceId,
};
use oldham_space::{M3, Mat3, Vec3};

use super::mobility::Columns;
use super::refusals::{explained, named};
use super::{ContactLaw, ContactModel, MOST_SWEEPS, PressedContact, Shape};
use crate::body::Inertia;
use crate::error::{ModelError, SolveError};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_cosim::Visitor;

/// Shapes, grains and their contacts.
pub(crate) struct Contacts {
    pub scene: Scene,
    /// The nodes of the first bodies; the ground comes after them.
    pub(super) nodes: Vec<ContactNode>,
    /// How many of them are held by constraints.
    pub(super) held: usize,
    pub(crate) model: ContactModel,
    /// How the held ones answer to impulses, row by row.
    pub(super) mobility: Vec<f64>,
    /// For each held node whether something touches it.
    pub(super) is_touched: Vec<bool>,
    pub(super) columns: Columns,
    /// The state of the scene before the start.
    initial: Vec<u64>,
    pub words: Vec<u64>,
    /// State and work before a step that may be taken again.
    kept: Vec<u64>,
    kept_work: f64,
    pub report: StepReport,
    /// Work of all corrections of penetrations so far.
    pub correction_work: f64,
    pub(super) names: Vec<String>,
    /// What forces and joints alone add to the velocities of the nodes in a step.
    gains: Vec<[Vec3; 2]>,
    /// What the contacts of the last step did to the nodes.
    loads: Vec<ContactLoad>,
}

/// The load of all contacts on a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactLoad {
    pub force: Vec3,
    /// About the node.
    pub moment: Vec3,
    /// Where it presses, in the middle.
    pub at: Vec3,
}

#[derive(Clone, Copy)]
pub(super) struct ContactNode {
    pub node: usize,
    /// Centre of mass in node axes.
    pub centre: Vec3,
    /// Inverse inertia about it in node axes, and inverse mass; zero for held nodes.
    pub inverse_inertia: Mat3,
    pub inverse_mass: f64,
    /// Answers to unit impulses and moments that are rounding errors of constraints: far below those of the node's own inertia.
    pub rounding: [f64; 2],
}

/// What constraints hold altogether answers with less than this share of the node's own inertia.
const ROUNDING: f64 = 1e-12;

impl Contacts {
    /// Lays the contacts of a model out.
    pub fn new(model: &Model, described: &ContactModel) -> Result<Self, ModelError> {
        let options = Options {
            reach: described.reach(),
            gravity: model.gravity,
            correction: Correction::Positions {
                beyond: described.penetration(),
            },
            impacts: described.options.impacts,
            overlap: described.penetration(),
            start: described.options.start,
            domain: described.options.domain,
            sleep: described.options.sleep,
        };
        let few = described.options.few;
        let tolerance = described.options.tolerance;
        let solver: Box<dyn ContactSolver> = match described.options.law {
            ContactLaw::Coulomb => {
                Box::new(ByNumber::new(few, Coulomb::new(tolerance, MOST_SWEEPS)))
            }
            ContactLaw::Convex => Box::new(ByNumber::new(few, Cone::new(tolerance, MOST_SWEEPS))),
        };
        let mut scene = Scene::new(options, solver);
        let mut touched: Vec<NodeId> = described.shapes.iter().map(|s| s.at.node).collect();
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|node| *node != NodeId::GROUND);
        let is_held = |node: &NodeId| {
            model.elements.iter().any(|named| {
                named.element.constraints() > 0 && named.element.nodes().contains(node)
            })
        };
        // A stable order: held ones first.
        touched.sort_by_key(|node| !is_held(node));
        let held = touched.iter().filter(|node| is_held(node)).count();
        let mut nodes = Vec::new();
        for (place, &node) in touched.iter().enumerate() {
            let inertia = &model.nodes[node.0].inertia;
            nodes.push(ContactNode::new(node, inertia, place < held, model)?);
        }
        let names = named(model, &touched, described);
        let explain = |error: ContactError| ModelError::Contact {
            what: explained(error, &names, described.options.start),
        };
        let mut surfaces = Surfaces::default();
        for (place, each) in nodes.iter().enumerate() {
            let motion = match place < held {
                true => BodyKind::Held,
                false => BodyKind::Owned,
            };
            let body = Body {
                motion,
                ..Body::prescribed(Vec3::ZERO)
            };
            let shapes = shapes_of(each, described, &mut surfaces, &mut scene);
            let shapes = shapes.map_err(explain)?;
            scene.add_compound(body, shapes).map_err(explain)?;
            scene.answers(BodyId(place as u32), each.inverse_mass, Mat3::ZERO);
        }
        let ground = ContactNode {
            node: 0,
            ..ContactNode::default()
        };
        let shapes = shapes_of(&ground, described, &mut surfaces, &mut scene);
        let shapes = shapes.map_err(explain)?;
        let ground = scene.add_compound(Body::prescribed(Vec3::ZERO), shapes);
        let ground = ground.map_err(explain)?;
        let body_of = |node: NodeId| match touched.iter().position(|other| *other == node) {
            Some(place) => Some(BodyId(place as u32)),
            None => (node == NodeId::GROUND).then_some(ground),
        };
        let mut exclude = |a: NodeId, b: NodeId| {
            if let (Some(a), Some(b)) = (body_of(a), body_of(b)) {
                scene.exclude(a, b);
            }
        };
        for named in &model.elements {
            // What a joint connects to the ground may still touch it.
            let nodes = named.element.nodes();
            let is_grounded = nodes.contains(&NodeId::GROUND);
            if named.element.constraints() > 0 && nodes.len() == 2 && !is_grounded {
                exclude(nodes[0], nodes[1]);
            }
        }
        for &[a, b] in &described.excluded {
            exclude(a, b);
        }
        for grains in &described.grains {
            let surface = surfaces.get(grains.surface, &mut scene).map_err(explain)?;
            let (radius, density) = (grains.radius, grains.density);
            let added = scene.add_grains(&grains.centres, radius, density, surface);
            added.map_err(explain)?;
        }
        let mut initial = Vec::new();
        scene.save(&mut initial);
        scene.check().map_err(explain)?;
        Ok(Self {
            gains: vec![[Vec3::ZERO; 2]; nodes.len()],
            loads: vec![ContactLoad::default(); nodes.len()],
            mobility: vec![0.0; 36 * held * held],
            is_touched: vec![false; held],
            columns: Columns::default(),
            scene,
            nodes,
            held,
            model: described.clone(),
            initial,
            words: Vec::new(),
            kept: Vec::new(),
            kept_work: 0.0,
            report: StepReport::default(),
            correction_work: 0.0,
            names,
        })
    }

    /// Grains and impulses, which start the next step.
    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.words.clear();
        self.scene.save(&mut self.words);
        visitor.memory(&mut self.words);
        visitor.fixed(std::slice::from_mut(&mut self.correction_work));
        for load in &mut self.loads {
            for vector in [&mut load.force, &mut load.moment, &mut load.at] {
                visitor.fixed(&mut vector.0);
            }
        }
        if visitor.replaces() {
            let restored = self.scene.restore(&self.words);
            restored.expect("the state is one of the same scene");
        }
    }

    /// Keeps the state before a step that may be taken again.
    pub fn keep(&mut self) {
        self.kept.clear();
        self.scene.save(&mut self.kept);
        self.kept_work = self.correction_work;
    }

    /// Goes back to the state that was kept.
    pub fn go_back(&mut self) {
        let restored = self.scene.restore(&self.kept);
        restored.expect("the state is its own");
        self.correction_work = self.kept_work;
    }

    /// Grains are where they were before the start.
    pub fn reset(&mut self) {
        let restored = self.scene.restore(&self.initial);
        restored.expect("the state is its own");
        self.correction_work = 0.0;
        self.report = StepReport::default();
        self.loads.fill(ContactLoad::default());
    }

    /// Those of the last step that pressed, grains apart.
    pub fn pressed(&self) -> Vec<PressedContact> {
        let mut pressed: Vec<PressedContact> = Vec::new();
        for row in self.scene.held_rows() {
            match pressed.last_mut() {
                Some(contact) if !row.is_normal => {
                    contact.rows += usize::from(row.compliance == 0.0);
                }
                _ => pressed.push(PressedContact {
                    normal: row.direction,
                    is_on_ground: row.ends.iter().any(|&body| body >= self.nodes.len()),
                    rows: 1,
                }),
            }
        }
        pressed
    }

    /// The load of the contacts of the last step on a node; nothing without shapes there.
    pub fn load(&self, node: NodeId) -> Option<&ContactLoad> {
        let place = self.nodes.iter().position(|each| each.node == node.0)?;
        Some(&self.loads[place])
    }

    /// The force of one node's contacts on another node, a mean over the last step of length `h`; the ground is a node, too.
    pub fn force_between(&self, by: NodeId, on: NodeId, h: f64) -> Vec3 {
        let body = |node: NodeId| {
            let place = self.nodes.iter().position(|each| each.node == node.0);
            // The ground comes after the nodes.
            let place = place.or((node == NodeId::GROUND).then_some(self.nodes.len()));
            place.map(|place| BodyId(place as u32))
        };
        match (body(by), body(on)) {
            (Some(by), Some(on)) if h > 0.0 => self.scene.impulse_between(by, on) * (1.0 / h),
            _ => Vec3::ZERO,
        }
    }

    /// Takes over what the contacts did to the nodes, whose motions are those at the beginning of the step.
    fn record_loads(&mut self) {
        for (place, load) in self.loads.iter_mut().enumerate() {
            let body = BodyId(place as u32);
            let [force, moment] = self.scene.reaction(body);
            let pose = self.scene.pose(body);
            let arm = pose.axes * self.nodes[place].centre;
            *load = ContactLoad {
                force,
                moment: moment + arm.cross(force),
                at: self.scene.pressed_at(body).unwrap_or(pose.position),
            };
        }
    }

    /// Tells the scene where nodes are and how fast they move.
    pub fn place(&mut self, motions: &[Motion]) {
        for (place, each) in self.nodes.iter().enumerate() {
            let motion = &motions[each.node];
            let arm = motion.rotation * each.centre;
            let pose = Pose {
                position: motion.position + arm,
                axes: motion.rotation,
            };
            let velocity = motion.velocity + motion.angular_velocity.cross(arm);
            let body = BodyId(place as u32);
            self.scene
                .place(body, pose, velocity, motion.angular_velocity);
            if place >= self.held {
                let axes = motion.rotation;
                let inverse = axes * each.inverse_inertia * axes.transpose();
                self.scene.answers(body, each.inverse_mass, inverse);
            }
        }
    }

    /// Tells the scene what velocities would be without contacts.
    pub fn aim(&mut self, motions: &[Motion]) {
        for (place, each) in self.nodes.iter().enumerate() {
            let motion = &motions[each.node];
            let velocity =
                motion.velocity + motion.angular_velocity.cross(motion.rotation * each.centre);
            let body = BodyId(place as u32);
            let [before, spin] = self.scene.velocity(body);
            self.gains[place] = [velocity - before, motion.angular_velocity - spin];
            self.scene
                .prescribe(body, velocity, motion.angular_velocity);
        }
    }

    /// Adds an impulse and its moment about the centre of mass to the rows of a body's node.
    pub(super) fn push(
        &self,
        body: usize,
        impulse: Vec3,
        moment: Vec3,
        motions: &[Motion],
        rows: &mut [f64],
    ) {
        let each = &self.nodes[body];
        let arm = motions[each.node].rotation * each.centre;
        let moment = moment + arm.cross(impulse);
        let rows = &mut rows[6 * (each.node - 1)..6 * each.node];
        for k in 0..3 {
            rows[k] += impulse[k];
            rows[3 + k] += moment[k];
        }
    }

    /// Finds the impulses of a step that was begun, and moves the grains.
    pub fn finish(&mut self, time: f64, h: f64) -> Result<(), SolveError> {
        let report = self.scene.finish(time, h, &self.mobility);
        self.report = report.map_err(|error| self.explain(error, time + h))?;
        for (place, [gain, spin]) in self.gains.iter().enumerate() {
            let body = BodyId(place as u32);
            if self.scene.has_slept(body) {
                continue;
            }
            // Contacts work on the mean of the velocities at both ends of the step.
            let [force, moment] = self.scene.reaction(body);
            self.report.dissipated += 0.5 * h * (force.dot(*gain) + moment.dot(*spin));
        }
        self.correction_work += self.report.correction_work;
        self.record_loads();
        self.check_room(time + h)?;
        self.check_containers(time + h)
    }

    /// The impulses of the step on the nodes, as rows.
    pub fn impulses(&self, h: f64, motions: &[Motion], rows: &mut [f64]) {
        for place in 0..self.nodes.len() {
            let [force, moment] = self.scene.reaction(BodyId(place as u32));
            if force != Vec3::ZERO || moment != Vec3::ZERO {
                self.push(place, force * h, moment * h, motions, rows);
            }
        }
    }

    /// Stops nodes that sleep, or are about to.
    pub fn stop(&self, motions: &mut [Motion]) {
        let free = self.nodes.iter().enumerate().skip(self.held);
        for (place, each) in free {
            if self.scene.velocity(BodyId(place as u32)) == [Vec3::ZERO; 2] {
                let motion = &mut motions[each.node];
                (motion.velocity, motion.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
    }

    /// Moves nodes as the last correction of penetrations says, without velocities.
    pub fn shift(&self, motions: &mut [Motion]) {
        for (place, each) in self.nodes.iter().enumerate() {
            let [by, turn] = self.scene.shift(BodyId(place as u32));
            let motion = &mut motions[each.node];
            let arm = motion.rotation * each.centre;
            *motion = motion.displaced(by - turn.cross(arm), turn);
        }
    }

    /// Moves bodies apart that overlap before the start.
    pub fn separate(&mut self) {
        self.scene.separate(&self.mobility);
    }

    /// An overlap that is a mistake at the start.
    pub fn overlap(&mut self) -> Option<SolveError> {
        let error = self.scene.find_overlap()?;
        Some(self.explain(error, 0.0))
    }

    /// Whether overlaps at the start are resolved.
    pub fn resolves(&self) -> bool {
        self.model.options.start == super::Start::Resolve
    }

    fn explain(&self, error: ContactError, time: f64) -> SolveError {
        SolveError::Contact {
            time,
            what: explained(error, &self.names, self.model.options.start),
        }
    }
}

impl Default for ContactNode {
    fn default() -> Self {
        Self {
            node: 0,
            centre: Vec3::ZERO,
            inverse_inertia: Mat3::ZERO,
            inverse_mass: 0.0,
            rounding: [0.0; 2],
        }
    }
}

impl ContactNode {
    fn new(
        node: NodeId,
        inertia: &Inertia,
        is_held: bool,
        model: &Model,
    ) -> Result<Self, ModelError> {
        let centre = inertia.centre();
        if is_held {
            let moments = inertia.about_centre().0;
            let trace = moments[0][0] + moments[1][1] + moments[2][2];
            let own = [inertia.mass, trace].map(f64::recip);
            return Ok(Self {
                node: node.0,
                centre,
                rounding: own.map(|own| if own.is_finite() { ROUNDING * own } else { 0.0 }),
                ..Self::default()
            });
        }
        let inverse = inverse(&inertia.about_centre());
        match inverse.filter(|_| inertia.mass > 0.0) {
            Some(inverse_inertia) => Ok(Self {
                node: node.0,
                centre,
                inverse_inertia,
                inverse_mass: 1.0 / inertia.mass,
                rounding: [0.0; 2],
            }),
            None => Err(ModelError::ShapesWithoutMass {
                node: model.node_name(node).to_owned(),
            }),
        }
    }
}

/// Surfaces that the scene knows.
#[derive(Default)]
struct Surfaces(Vec<(Surface, SurfaceId)>);

impl Surfaces {
    fn get(&mut self, surface: Surface, scene: &mut Scene) -> Result<SurfaceId, ContactError> {
        if let Some((_, known)) = self.0.iter().find(|(other, _)| *other == surface) {
            return Ok(*known);
        }
        let id = scene.add_surface(surface)?;
        self.0.push((surface, id));
        Ok(id)
    }
}

fn shapes_of(
    each: &ContactNode,
    described: &ContactModel,
    surfaces: &mut Surfaces,
    scene: &mut Scene,
) -> Result<Vec<(Shape, Pose, SurfaceId)>, ContactError> {
    let of_node = described
        .shapes
        .iter()
        .filter(|shape| shape.at.node.0 == each.node);
    of_node
        .map(|shape| {
            let pose = Pose {
                position: shape.at.offset - each.centre,
                axes: shape.at.orientation.matrix(),
            };
            Ok((
                shape.shape.clone(),
                pose,
                surfaces.get(shape.surface, scene)?,
            ))
        })
        .collect()
}

/// The inverse of a symmetric matrix, if it has one by a wide margin.
pub(crate) fn inverse(m: &Mat3) -> Option<Mat3> {
    let [a, b, c] = [0, 1, 2].map(|j| m.column(j));
    let determinant = a.dot(b.cross(c));
    let scale = (a.norm() * b.norm() * c.norm()).max(f64::MIN_POSITIVE);
    if determinant <= 1e-9 * scale {
        return None;
    }
    let rows = [b.cross(c), c.cross(a), a.cross(b)];
    Some(M3(rows.map(|row| (row * (1.0 / determinant)).0)))
}

/// How a turn changes the angular velocity of a body whose angular momentum stays; nothing for a body without inertia
/// about some axis, whose angular velocity stays.
pub(crate) fn turned_spin(inertia: &Mat3, before: &Mat3, after: &Mat3, spin: Vec3) -> Vec3 {
    let d = [inertia.0[0][0], inertia.0[1][1], inertia.0[2][2]];
    let off = inertia.0[0][1].abs() + inertia.0[0][2].abs() + inertia.0[1][2].abs();
    if off == 0.0 && d[0] == d[1] && d[1] == d[2] {
        return spin;
    }
    let Some(inverse) = inverse(inertia) else {
        return spin;
    };
    let momentum = *before * (*inertia * before.transpose_mul(spin));
    *after * (inverse * after.transpose_mul(momentum))
}
