//! A machine as the text of a model file.

mod text;

use std::f64::consts::FRAC_PI_2;

use oldham_space::{Mat3, Vec3};

use crate::Options;
use crate::error::ImportError;
use crate::machine::{
    Body, Content, DriveKind, Form, Joint, JointKind, Machine, Node, SensorKind, Solid,
};
use crate::meshes::Meshes;
use crate::names::{Names, plain};
use crate::pose::{Pose, about, first_for_third};
use crate::report::Report;
use text::{Table, number, orientation, quoted, vector};

/// What the mechanism is called.
const NAME: &str = "robot";
/// By how much a stop gives under the effort of its joint, in rad or m.
const STOP_GIVES: f64 = 0.01;
/// The effort that stops withstand where none is given, in N·m or N.
const STOP_EFFORT: f64 = 100.0;
/// Rate in rad/s or m/s up to which dry friction of joints creeps.
const CREEP: f64 = 0.01;
/// Damping of stops in s/rad or s/m: small enough for the explicit steps that contacts need.
const STOP_DAMPING: f64 = 0.2;
/// Step in s: of a run without contacts, and with them, where light links meet their stops at speed.
const STEP: f64 = 1e-3;
const CONTACT_STEP: f64 = 5e-4;

pub(crate) fn model(
    machine: &Machine,
    meshes: &Meshes,
    source: &str,
    options: &Options,
    report: &mut Report,
) -> Result<String, ImportError> {
    if machine.nodes.is_empty() {
        return Err(ImportError::new(
            "nothing in it moves and has a mass: there is nothing to simulate",
        ));
    }
    let mut writer = Writer::new(machine, meshes, options, report);
    writer.tree();
    writer.drives();
    writer.loops();
    writer.sensors();
    if options.contacts {
        writer.contacts();
    } else {
        writer.count_left_shapes();
    }
    let text = writer.text(source);
    report.counts.nodes = machine.nodes.len();
    report.counts.meshes = meshes.count();
    report.finish();
    Ok(text)
}

/// The tables of a model file in the making.
struct Writer<'m> {
    machine: &'m Machine,
    meshes: &'m Meshes,
    options: &'m Options,
    report: &'m mut Report,
    nodes: Vec<String>,
    joints: Vec<String>,
    /// Of each node: the parameter that says where its joint starts.
    starts: Vec<Option<String>>,
    elements: Names,
    parameters: Table,
    frames: Table,
    node_table: Table,
    bodies: Table,
    joint_table: Table,
    transmissions: Table,
    servos: Table,
    inputs: Table,
    springs: Table,
    sensor_table: Table,
    shapes: Table,
    visuals: Table,
    excitation: Table,
    drive_names: Vec<Option<String>>,
    bodies_names: Names,
    visual_names: Names,
    shape_names: Names,
}

impl<'m> Writer<'m> {
    fn new(
        machine: &'m Machine,
        meshes: &'m Meshes,
        options: &'m Options,
        report: &'m mut Report,
    ) -> Self {
        let mut node_names = Names::with(&["ground"]);
        let mut elements = Names::default();
        let mut parameters = Names::with(&["stop_stiffness"]);
        let nodes = machine.nodes.iter().map(|node| node_names.take(&node.name));
        let nodes = nodes.collect();
        let joint_name = |node: &Node| node.joint.as_ref().map(|joint| elements.take(&joint.name));
        let joints: Vec<String> = machine
            .nodes
            .iter()
            .map(joint_name)
            .map(Option::unwrap_or_default)
            .collect();
        let starts = machine.nodes.iter().zip(&joints).map(|(node, name)| {
            let is_single = node
                .joint
                .as_ref()
                .is_some_and(|joint| joint.kind.is_single());
            is_single.then(|| parameters.take(&format!("q_{name}")))
        });
        let starts = starts.collect();
        Self {
            machine,
            meshes,
            options,
            report,
            nodes,
            joints,
            starts,
            elements,
            parameters: Table::default(),
            frames: Table::default(),
            node_table: Table::default(),
            bodies: Table::default(),
            joint_table: Table::default(),
            transmissions: Table::default(),
            servos: Table::default(),
            inputs: Table::default(),
            springs: Table::default(),
            sensor_table: Table::default(),
            shapes: Table::default(),
            visuals: Table::default(),
            excitation: Table::default(),
            drive_names: Vec::new(),
            bodies_names: Names::default(),
            visual_names: Names::default(),
            shape_names: Names::default(),
        }
    }

    fn node_name(&self, node: Option<usize>) -> &str {
        node.map_or("ground", |node| &self.nodes[node])
    }

    fn tree(&mut self) {
        let machine = self.machine;
        let mut frames = Names::with(
            self.nodes
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .as_slice(),
        );
        for (place, node) in machine.nodes.iter().enumerate() {
            self.frame(place, node, &mut frames);
            let name = self.nodes[place].clone();
            self.node_table.row(&name, vec![("in", quoted(&name))]);
            if let Some(joint) = &node.joint {
                self.joint(place, node, joint);
            }
            self.content(Some(place), &node.content);
        }
        self.content(None, &machine.ground);
    }

    /// The frame of a node: where it is in its parent, turned or moved by the parameter of its joint.
    fn frame(&mut self, place: usize, node: &Node, frames: &mut Names) {
        let name = self.nodes[place].clone();
        let mut keys = Vec::new();
        if let Some(parent) = node.parent {
            keys.push(("in", quoted(&self.nodes[parent])));
        }
        let position =
            (node.origin.origin != Vec3::ZERO).then(|| ("position", vector(node.origin.origin)));
        let turned = orientation(&node.origin.axes).map(|axes| ("orientation", axes));
        let (Some(start), Some(joint)) = (self.starts[place].clone(), &node.joint) else {
            keys.extend(position);
            keys.extend(turned);
            self.frames.row(&name, keys);
            return;
        };
        let is_hinge = joint.kind == JointKind::Hinge;
        let unit = if is_hinge { "rad" } else { "m" };
        let comment = match joint.limits {
            Some([low, high]) => format!("{unit}, from {} to {}", number(low), number(high)),
            None => unit.into(),
        };
        self.parameters.value(&start, number(joint.start), &comment);
        if turned.is_some() || !is_hinge && position.is_some() {
            let base = frames.take(&format!("at_{name}"));
            keys.extend(position);
            keys.extend(turned);
            self.frames.row(&base, keys);
            keys = vec![("in", quoted(&base))];
        } else {
            keys.extend(position);
        }
        keys.push(match is_hinge {
            true => (
                "orientation",
                format!(
                    "{{ axis = {}, angle = {} }}",
                    vector(joint.axis),
                    quoted(&start)
                ),
            ),
            false => ("position", times(joint.axis, &start)),
        });
        self.frames.row(&name, keys);
    }

    fn joint(&mut self, place: usize, node: &Node, joint: &Joint) {
        self.report.counts.joints += 1;
        let (name, frame) = (self.joints[place].clone(), self.nodes[place].clone());
        let kind = match joint.kind {
            JointKind::Hinge => "revolute",
            JointKind::Slide => "prismatic",
            JointKind::Ball => "spherical",
            JointKind::Planar => "planar",
        };
        let between = format!(
            "[{}, {}]",
            quoted(self.node_name(node.parent)),
            quoted(&frame)
        );
        let mut keys = vec![
            ("type", quoted(kind)),
            ("between", between),
            ("in", quoted(&frame)),
            ("position", "[0, 0, 0]".into()),
        ];
        if joint.kind != JointKind::Ball {
            keys.push(("axis", vector(joint.axis)));
        }
        if let (Some([low, high]), Some(start)) = (joint.limits, &self.starts[place]) {
            let key = match joint.kind {
                JointKind::Hinge => "angle_stops",
                _ => "slide_stops",
            };
            let stiffness = joint.effort.unwrap_or(STOP_EFFORT) / STOP_GIVES;
            let from_start = |limit: f64| quoted(&format!("{} - {start}", number(limit)));
            let stops = format!(
                "{{ lower = {}, upper = {}, stiffness = {}, damping = {STOP_DAMPING} }}",
                from_start(low),
                from_start(high),
                number(stiffness)
            );
            keys.push((key, stops));
        }
        if joint.kind.is_single() {
            if joint.damping > 0.0 {
                keys.push(("damping", number(joint.damping)));
            }
            if joint.inertia > 0.0 {
                keys.push(("reflected_inertia", number(joint.inertia)));
            }
        } else if joint.damping > 0.0 || joint.stiffness > 0.0 {
            self.bushing(place, node, joint);
        }
        self.joint_table.row(&name, keys);
        if joint.kind.is_single() && joint.friction > 0.0 {
            let servo = self.elements.take(&format!("{name}_friction"));
            let keys = vec![
                ("joint", quoted(&name)),
                ("kd", number(joint.friction / CREEP)),
                ("limit", number(joint.friction)),
            ];
            self.servos.row(&servo, keys);
        }
        if joint.kind.is_single() && joint.stiffness > 0.0 {
            let servo = self.elements.take(&format!("{name}_spring"));
            let start = self.starts[place].clone().unwrap_or_default();
            let keys = vec![
                ("joint", quoted(&name)),
                (
                    "position",
                    quoted(&format!("{} - {start}", number(joint.rest))),
                ),
                ("kp", number(joint.stiffness)),
            ];
            self.servos.row(&servo, keys);
        }
    }

    /// Springs and dampers about all axes of a ball.
    fn bushing(&mut self, place: usize, node: &Node, joint: &Joint) {
        let name = self
            .elements
            .take(&format!("{}_spring", self.joints[place]));
        let between = format!(
            "[{}, {}]",
            quoted(self.node_name(node.parent)),
            quoted(&self.nodes[place])
        );
        let thrice = |value: f64| vector(Vec3::new(value, value, value));
        let mut keys = vec![("between", between)];
        if joint.stiffness > 0.0 {
            keys.push(("rotational_stiffness", thrice(joint.stiffness)));
        }
        if joint.damping > 0.0 {
            keys.push(("rotational_damping", thrice(joint.damping)));
        }
        self.springs.row(&name, keys);
    }

    fn content(&mut self, node: Option<usize>, content: &Content) {
        for body in &content.bodies {
            self.body(node, body);
        }
        for visual in &content.visuals {
            let keys = self.solid(node, visual);
            let Some(mut keys) = keys else { continue };
            if let Some(colour) = visual.colour {
                let [r, g, b] = colour.map(|part| (255.0 * part).round() as u8);
                keys.push(("colour", quoted(&format!("#{r:02x}{g:02x}{b:02x}"))));
            }
            let name = self.visual_names.take(&visual.name);
            self.visuals.row(&name, keys);
            self.report.counts.visuals += 1;
        }
    }

    fn body(&mut self, node: Option<usize>, body: &Body) {
        self.report.counts.bodies += 1;
        let j = &body.inertia.0;
        let mut keys = vec![
            ("node", quoted(self.node_name(node))),
            ("mass", number(body.mass)),
        ];
        if body.centre != Vec3::ZERO {
            keys.push(("centre", vector(body.centre)));
        }
        let products = [j[0][1], j[0][2], j[1][2]].map(|x| x + 0.0);
        let mut entries = vec![j[0][0], j[1][1], j[2][2]];
        if products.iter().any(|&product| product != 0.0) {
            entries.extend(products);
        }
        let entries: Vec<String> = entries.into_iter().map(number).collect();
        keys.push(("inertia", format!("[{}]", entries.join(", "))));
        let name = self.bodies_names.take(&body.name);
        self.bodies.row(&name, keys);
    }

    /// The keys of a shape that is drawn.
    fn solid(&mut self, node: Option<usize>, solid: &Solid) -> Option<Vec<(&'static str, String)>> {
        let mut keys = vec![("node", quoted(self.node_name(node)))];
        let mut at = solid.at;
        match &solid.form {
            Form::Mesh(number, scale) => {
                keys.push(("mesh", quoted(self.meshes.written(*number))));
                if *scale != [1.0; 3] {
                    let [x, y, z] = *scale;
                    keys.push(("scale", vector(Vec3::new(x, y, z))));
                }
            }
            Form::Plane | Form::Points(_) | Form::Ellipsoid(_) => return None,
            plain => {
                let (key, value, turned) = plain_form(plain)?;
                keys.push((key, value));
                if turned {
                    at.axes = at.axes * first_for_third();
                }
            }
        }
        place(&mut keys, &at);
        Some(keys)
    }

    fn drives(&mut self) {
        let machine = self.machine;
        for coupling in &machine.couplings {
            let [a, b] = coupling.joints.map(|node| quoted(&self.joints[node]));
            let keys = vec![
                ("joints", format!("[{a}, {b}]")),
                ("ratios", format!("[1, {}]", number(-coupling.ratio))),
            ];
            let name = self.elements.take(&coupling.name);
            self.transmissions.row(&name, keys);
            self.report.counts.transmissions += 1;
        }
        for drive in &machine.drives {
            let joint = quoted(&self.joints[drive.joint]);
            let is_slide = machine.nodes[drive.joint]
                .joint
                .as_ref()
                .is_some_and(|joint| joint.kind == JointKind::Slide);
            match drive.kind {
                DriveKind::Torque => {
                    let name = plain(&drive.name);
                    let kind = if is_slide { "force" } else { "torque" };
                    self.inputs.row(&name, vec![(kind, joint)]);
                    self.excitation.value(
                        &format!("\"{NAME}.{name}\""),
                        "0.0".into(),
                        if is_slide { "N" } else { "N·m" },
                    );
                    self.drive_names.push(None);
                    self.report.counts.inputs += 1;
                }
                DriveKind::Servo {
                    kp,
                    kd,
                    goal,
                    speed,
                } => {
                    let name = self.elements.take(&drive.name);
                    let start = self.starts[drive.joint].clone().unwrap_or_default();
                    let mut keys = vec![("joint", joint)];
                    if kp > 0.0 {
                        keys.push(("position", quoted(&format!("{} - {start}", number(goal)))));
                        keys.push(("kp", number(kp)));
                    }
                    if kd > 0.0 {
                        keys.push(("kd", number(kd)));
                    }
                    if speed != 0.0 {
                        keys.push(("velocity", number(speed)));
                    }
                    if let Some(limit) = drive.limit {
                        keys.push(("limit", number(limit)));
                    }
                    self.servos.row(&name, keys);
                    self.drive_names.push(Some(name));
                    self.report.counts.servos += 1;
                }
            }
        }
    }

    fn loops(&mut self) {
        let machine = self.machine;
        for joined in &machine.loops {
            let [a, b] = joined.nodes.map(|node| quoted(self.node_name(node)));
            let mut keys = vec![
                (
                    "type",
                    quoted(if joined.is_rigid {
                        "fixed"
                    } else {
                        "spherical"
                    }),
                ),
                ("between", format!("[{a}, {b}]")),
            ];
            if let Some(node) = joined.nodes[0] {
                keys.push(("in", quoted(&self.nodes[node])));
            }
            keys.push(("position", vector(joined.at.origin)));
            let name = self.elements.take(&joined.name);
            self.joint_table.row(&name, keys);
            self.report.counts.loops += 1;
        }
    }

    fn sensors(&mut self) {
        let machine = self.machine;
        let mut names = Names::with(&["t", "d", "v", "e", "pi"]);
        for sensor in &machine.sensors {
            let keys = match &sensor.kind {
                SensorKind::Coordinate(node) => vec![("coordinate", quoted(&self.joints[*node]))],
                SensorKind::Rate(node) => vec![("rate", quoted(&self.joints[*node]))],
                SensorKind::Torque(drive) => match &self.drive_names[*drive] {
                    Some(name) => vec![("torque", quoted(name))],
                    None => continue,
                },
                SensorKind::Velocity(node, offset, axis) => {
                    self.along("velocity", *node, *offset, *axis)
                }
                SensorKind::Displacement(node, offset, axis) => {
                    self.along("displacement", *node, *offset, *axis)
                }
                SensorKind::Spin(node, axis) => vec![
                    ("angular_velocity", quoted(self.node_name(*node))),
                    ("axis", vector(*axis)),
                ],
            };
            let name = names.take(&sensor.name);
            self.sensor_table.row(&name, keys);
            self.report.counts.sensors += 1;
        }
    }

    fn along(
        &self,
        what: &'static str,
        node: Option<usize>,
        offset: Vec3,
        axis: Vec3,
    ) -> Vec<(&'static str, String)> {
        let mut keys = vec![(what, quoted(self.node_name(node))), ("axis", vector(axis))];
        if offset != Vec3::ZERO {
            keys.push(("offset", vector(offset)));
        }
        keys
    }

    fn count_left_shapes(&mut self) {
        let all = self.machine.nodes.iter().map(|node| &node.content);
        let all = all.chain([&self.machine.ground]);
        let count: usize = all.map(|content| content.shapes.len()).sum();
        if count > 0 {
            let text = format!("{count} collision shapes: convert with --contacts to use them");
            self.report.note(crate::NoteKind::LeftOut, None, text);
        }
    }

    fn contacts(&mut self) {
        let machine = self.machine;
        let all = machine.nodes.iter().enumerate();
        let all = all.map(|(place, node)| (Some(place), &node.content));
        let mut has_ground = false;
        let all: Vec<_> = all.chain([(None, &machine.ground)]).collect();
        for (node, content) in all {
            for solid in &content.shapes {
                let mut keys = vec![("node", quoted(self.node_name(node)))];
                let mut at = solid.at;
                let points = match &solid.form {
                    Form::Plane => {
                        has_ground = true;
                        keys.push(("plane", vector(at.axes.column(2))));
                        at.axes = Mat3::IDENTITY;
                        None
                    }
                    Form::Mesh(number, scale) => {
                        let mesh = self.meshes.mesh(*number).clone().scaled(*scale);
                        Some(oldham_mesh::extreme_points(&mesh))
                    }
                    Form::Points(points) => Some(points.clone()),
                    Form::Ellipsoid(axes) => Some(ellipsoid(*axes)),
                    plain => {
                        if let Some((key, value, turned)) = plain_form(plain) {
                            keys.push((key, value));
                            if turned {
                                at.axes = at.axes * first_for_third();
                            }
                        }
                        None
                    }
                };
                if let Some(points) = points {
                    let points: Vec<String> = points.into_iter().map(vector).collect();
                    keys.push(("mesh", format!("[{}]", points.join(", "))));
                }
                place(&mut keys, &at);
                if let Some(friction) = solid.friction {
                    keys.push(("friction", number(friction)));
                }
                let name = self.shape_names.take(&solid.name);
                self.shapes.row(&name, keys);
                self.report.counts.shapes += 1;
            }
        }
        if !has_ground {
            self.report
                .assumed("a ground at the height zero, as `shapes.floor`");
            let name = self.shape_names.take("floor");
            let keys = vec![("node", quoted("ground")), ("plane", "[0, 0, 1]".into())];
            self.shapes.row(&name, keys);
        }
    }

    /// Pairs of nodes whose shapes pass through each other.
    fn excluded(&self) -> Vec<String> {
        let machine = self.machine;
        let pair = |a: Option<usize>, b: Option<usize>| {
            format!(
                "[{}, {}]",
                quoted(self.node_name(a)),
                quoted(self.node_name(b))
            )
        };
        let given = machine.exclusions.iter().filter(|[a, b]| a != b);
        let mut all: Vec<String> = given.map(|&[a, b]| pair(a, b)).collect();
        if !machine.touches_itself {
            let touching: Vec<usize> = (0..machine.nodes.len())
                .filter(|&node| !machine.nodes[node].content.shapes.is_empty())
                .collect();
            for (i, &a) in touching.iter().enumerate() {
                all.extend(touching[..i].iter().map(|&b| pair(Some(b), Some(a))));
            }
        }
        all
    }

    fn text(&mut self, source: &str) -> String {
        let machine = self.machine;
        let title = match machine.name.as_str() {
            "" => source,
            name => name,
        };
        let mut text = format!(
            "# Converted from {} by `oldham convert`.\n",
            one_line(source)
        );
        if !self.parameters.is_empty() {
            text += "# Angles and ways of sensors and servos count from the start, which the parameters `q_...` set.\n";
        }
        text += &format!("\n[model]\nname = {}\n", quoted(title));
        text += &self.parameters.as_values("parameters");
        let step = match self.options.contacts {
            true => machine.step.unwrap_or(CONTACT_STEP).min(CONTACT_STEP),
            false => STEP,
        };
        text += &format!("\n[simulation]\nduration = 1.0\nstep = {}\n", number(step));
        text += &self.excitation.as_values("excitation");
        text += &format!("\n[multibody.{NAME}]\n");
        if machine.gravity != Vec3::ZERO {
            text += &format!("gravity = {}\n", vector(machine.gravity));
        }
        if self.options.contacts {
            text += "integrator = \"impulses\"\n";
        }
        if !machine.loops.is_empty() {
            text += "redundant = \"least-norm\"\n";
        }
        if self.options.contacts {
            text += &format!(
                "\n[multibody.{NAME}.contact]\nfriction = {}\n",
                number(machine.friction)
            );
            let excluded = self.excluded();
            if !excluded.is_empty() {
                text += &format!("exclude = [{}]\n", excluded.join(", "));
            }
        }
        let tables = [
            ("frames", &self.frames),
            ("nodes", &self.node_table),
            ("bodies", &self.bodies),
            ("joints", &self.joint_table),
            ("transmissions", &self.transmissions),
            ("servos", &self.servos),
            ("bushings", &self.springs),
            ("inputs", &self.inputs),
            ("sensors", &self.sensor_table),
            ("shapes", &self.shapes),
            ("visuals", &self.visuals),
        ];
        for (name, table) in tables {
            text += &table.as_rows(&format!("multibody.{NAME}.{name}"));
        }
        text
    }
}

fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Where a shape is on its node.
fn place(keys: &mut Vec<(&'static str, String)>, at: &Pose) {
    if at.origin != Vec3::ZERO {
        keys.push(("position", vector(at.origin)));
    }
    keys.extend(orientation(&at.axes).map(|axes| ("orientation", axes)));
}

/// Key, value, and whether it lies along its first axis.
fn plain_form(form: &Form) -> Option<(&'static str, String, bool)> {
    let two = |a: f64, b: f64| format!("[{}, {}]", number(a), number(b));
    Some(match *form {
        Form::Box([x, y, z]) => ("box", vector(Vec3::new(x, y, z)), false),
        Form::Sphere(radius) => ("sphere", number(radius), false),
        Form::Cylinder(radius, length) => ("cylinder", two(radius, length), true),
        Form::Capsule(radius, length) => ("capsule", two(radius, length), true),
        _ => return None,
    })
}

/// Points on an ellipsoid whose hull stands for it.
fn ellipsoid([a, b, c]: [f64; 3]) -> Vec<Vec3> {
    let mut points = vec![Vec3::new(0.0, 0.0, c), Vec3::new(0.0, 0.0, -c)];
    for ring in -2..=2_i32 {
        let (height, radius) = (f64::from(ring) * FRAC_PI_2 / 3.0).sin_cos();
        for step in 0..12 {
            let turned = about(Vec3::Z, f64::from(step) * FRAC_PI_2 / 3.0) * Vec3::X;
            points.push(Vec3::new(
                a * radius * turned.0[0],
                b * radius * turned.0[1],
                c * height,
            ));
        }
    }
    points
}

/// A vector times a parameter.
fn times(axis: Vec3, parameter: &str) -> String {
    let component = |x: f64| match x {
        0.0 => "0".to_owned(),
        1.0 => quoted(parameter),
        -1.0 => quoted(&format!("-{parameter}")),
        _ => quoted(&format!("{} * {parameter}", number(x))),
    };
    format!("[{}]", axis.0.map(component).join(", "))
}
