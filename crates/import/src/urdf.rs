//! URDF: links, joints, transmissions, and what hangs on links.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use oldham_space::{Mat3, Vec3};
use roxmltree::Node as Xml;

use crate::Options;
use crate::content::{Amount, body, together};
use crate::error::ImportError;
use crate::inertia::{nearest_possible, tensor};
use crate::machine::{
    Body, Coupling, Drive, DriveKind, Form, Joint, JointKind, Machine, Node, Sensor, SensorKind,
    Solid,
};
use crate::meshes::Meshes;
use crate::pose::{Pose, roll_pitch_yaw};
use crate::report::Report;
use crate::xml::{array, child, elements, named, number, required, size, unit, vector};

/// A joint farther from its parent than this, in m, is likely given in millimetres.
const FAR: f64 = 20.0;
/// A servo exerts the effort of its joint at this error, in rad or m, and as much again at ten times that in rad/s.
const SERVO_ERROR: f64 = 0.05;

type Read<T> = Result<T, ImportError>;

/// A joint as it is written.
struct Connection<'a, 'i> {
    xml: Xml<'a, 'i>,
    name: &'a str,
    kind: &'a str,
    parent: usize,
    child: usize,
}

pub(crate) fn read(
    robot: Xml<'_, '_>,
    options: &Options,
    meshes: Meshes,
    report: &mut Report,
) -> Read<(Machine, Meshes)> {
    report.format = "URDF";
    report.name = robot.attribute("name").unwrap_or("robot").to_owned();
    refuse_xacro(robot)?;
    let links = links(robot)?;
    let joints = joints(robot, &links)?;
    let order = tree(robot, &links, &joints)?;
    let mut reader = Reader {
        options,
        meshes,
        report,
        colours: colours(robot)?,
        machine: Machine {
            name: robot.attribute("name").unwrap_or("robot").to_owned(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
            touches_itself: false,
            friction: 0.8,
            ..Machine::default()
        },
        places: vec![(None, Pose::default()); links.len()],
        joints: HashMap::new(),
    };
    reader.root(links[order[0].link], order[0].link)?;
    for step in &order[1..] {
        reader.step(&joints[step.by.unwrap_or_default()], links[step.link])?;
    }
    reader.mimics(&joints)?;
    reader.drives(robot, &joints)?;
    for element in elements(robot) {
        match element.tag_name().name() {
            "link" | "joint" | "material" | "transmission" => {}
            other => reader.report.unknown(element, &format!("<{other}>")),
        }
    }
    Ok((reader.machine, reader.meshes))
}

fn refuse_xacro(robot: Xml<'_, '_>) -> Read<()> {
    let is_macro = |node: &Xml<'_, '_>| {
        let space = node.tag_name().namespace().unwrap_or_default();
        space.contains("xacro")
    };
    match robot.descendants().filter(Xml::is_element).find(is_macro) {
        None => Ok(()),
        Some(node) => Err(ImportError::at(
            node,
            "this is a xacro file: expand it first, by `xacro robot.urdf.xacro > robot.urdf`",
        )),
    }
}

fn links<'a, 'i>(robot: Xml<'a, 'i>) -> Read<Vec<Xml<'a, 'i>>> {
    let mut known = HashSet::new();
    let mut links = Vec::new();
    for link in named(robot, "link") {
        let name = required(link, "name")?;
        if !known.insert(name) {
            return Err(ImportError::at(
                link,
                format!("there are two links `{name}`"),
            ));
        }
        links.push(link);
    }
    match links.is_empty() {
        true => Err(ImportError::at(robot, "there is no <link> in it")),
        false => Ok(links),
    }
}

fn joints<'a, 'i>(robot: Xml<'a, 'i>, links: &[Xml<'a, 'i>]) -> Read<Vec<Connection<'a, 'i>>> {
    let places: HashMap<&str, usize> = links
        .iter()
        .zip(0..)
        .map(|(link, place)| (link.attribute("name").unwrap_or_default(), place))
        .collect();
    let mut known = HashSet::new();
    let mut joints = Vec::new();
    for xml in named(robot, "joint") {
        let name = required(xml, "name")?;
        if !known.insert(name) {
            return Err(ImportError::at(
                xml,
                format!("there are two joints `{name}`"),
            ));
        }
        let end = |which: &str| {
            let element = child(xml, which);
            let element = element.ok_or_else(|| {
                ImportError::at(xml, format!("the joint `{name}` has no <{which}>"))
            })?;
            let link = required(element, "link")?;
            places
                .get(link)
                .copied()
                .ok_or_else(|| ImportError::at(element, format!("there is no link `{link}`")))
        };
        joints.push(Connection {
            xml,
            name,
            kind: required(xml, "type")?,
            parent: end("parent")?,
            child: end("child")?,
        });
    }
    Ok(joints)
}

/// A link and the joint by which it is reached.
struct Step {
    link: usize,
    by: Option<usize>,
}

/// All links, each after its parent.
fn tree(
    robot: Xml<'_, '_>,
    links: &[Xml<'_, '_>],
    joints: &[Connection<'_, '_>],
) -> Read<Vec<Step>> {
    let name = |link: usize| links[link].attribute("name").unwrap_or_default();
    let mut above: Vec<Option<usize>> = vec![None; links.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for (place, joint) in joints.iter().enumerate() {
        if let Some(other) = above[joint.child].replace(place) {
            let message = format!(
                "the link `{}` hangs on two joints, `{}` and `{}`: URDF describes trees. Close the loop in the model \
                 file, by a further joint",
                name(joint.child),
                joints[other].name,
                joint.name
            );
            return Err(ImportError::at(joint.xml, message));
        }
        below[joint.parent].push(place);
    }
    let mut roots = (0..links.len()).filter(|&link| above[link].is_none());
    let Some(root) = roots.next() else {
        let message = "every link hangs on another one: there is no root";
        return Err(ImportError::at(robot, message));
    };
    if let Some(other) = roots.next() {
        let message = format!(
            "`{}` and `{}` both hang on nothing: connect them by a joint",
            name(root),
            name(other)
        );
        return Err(ImportError::at(links[other], message));
    }
    let mut order = vec![Step {
        link: root,
        by: None,
    }];
    let mut next = 0;
    while next < order.len() {
        for &joint in &below[order[next].link] {
            order.push(Step {
                link: joints[joint].child,
                by: Some(joint),
            });
        }
        next += 1;
    }
    if order.len() < links.len() {
        let reached: HashSet<usize> = order.iter().map(|step| step.link).collect();
        let lost = (0..links.len())
            .find(|link| !reached.contains(link))
            .unwrap_or_default();
        let message = format!(
            "`{}` hangs on itself, through a circle of joints",
            name(lost)
        );
        return Err(ImportError::at(links[lost], message));
    }
    Ok(order)
}

type Colour = Option<[f64; 3]>;

fn colour(material: Xml<'_, '_>) -> Read<Colour> {
    let Some(colour) = child(material, "color") else {
        return Ok(None);
    };
    let rgba: Option<[f64; 4]> = array(colour, "rgba")?;
    Ok(rgba.map(|[r, g, b, _]| [r, g, b].map(|part| part.clamp(0.0, 1.0))))
}

fn colours(robot: Xml<'_, '_>) -> Read<HashMap<String, [f64; 3]>> {
    let mut all = HashMap::new();
    // Materials of links count everywhere.
    for material in robot
        .descendants()
        .filter(|node| node.has_tag_name("material"))
    {
        if let (Some(name), Some(colour)) = (material.attribute("name"), colour(material)?) {
            all.insert(name.to_owned(), colour);
        }
    }
    Ok(all)
}

fn pose(xml: Xml<'_, '_>) -> Read<Pose> {
    let Some(origin) = child(xml, "origin") else {
        return Ok(Pose::default());
    };
    let angles = array(origin, "rpy")?.unwrap_or_default();
    Ok(Pose {
        origin: vector(origin, "xyz")?.unwrap_or(Vec3::ZERO),
        axes: roll_pitch_yaw(angles),
    })
}

/// A URDF in the making of a machine.
struct Reader<'r, 'o> {
    options: &'o Options,
    meshes: Meshes,
    report: &'r mut Report,
    colours: HashMap<String, [f64; 3]>,
    machine: Machine,
    /// Of each link: the node that carries it, and where.
    places: Vec<(Option<usize>, Pose)>,
    /// Numbers of nodes by the names of their joints.
    joints: HashMap<String, usize>,
}

impl Reader<'_, '_> {
    fn root(&mut self, link: Xml<'_, '_>, place: usize) -> Read<()> {
        if self.options.free {
            self.places[place] = (Some(0), Pose::default());
            self.machine.nodes.push(Node {
                name: required(link, "name")?.to_owned(),
                parent: None,
                origin: Pose::default(),
                joint: None,
                content: Default::default(),
            });
        }
        self.link(link, place)
    }

    fn step(&mut self, connection: &Connection<'_, '_>, link: Xml<'_, '_>) -> Read<()> {
        let (parent, at) = self.places[connection.parent];
        let here = at.then(&pose(connection.xml)?);
        self.judge(connection.xml, here.origin);
        self.places[connection.child] = match self.joint(connection)? {
            Moves::Not => {
                self.report.counts.fixed_joints += 1;
                (parent, here)
            }
            Moves::By(joint) => {
                let node = self.machine.nodes.len();
                self.machine.nodes.push(Node {
                    name: required(link, "name")?.to_owned(),
                    parent,
                    origin: here,
                    joint,
                    content: Default::default(),
                });
                self.joints.insert(connection.name.to_owned(), node);
                (Some(node), Pose::default())
            }
        };
        self.link(link, connection.child)
    }

    fn judge(&mut self, xml: Xml<'_, '_>, offset: Vec3) {
        if offset.norm() > FAR {
            let text = format!(
                "the joint is {:.0} m from its parent: URDF counts in metres, is this in millimetres?",
                offset.norm()
            );
            self.report.remark(xml, text);
        }
    }

    fn joint(&mut self, connection: &Connection<'_, '_>) -> Read<Moves> {
        let xml = connection.xml;
        let kind = match connection.kind {
            "fixed" => return Ok(Moves::Not),
            "floating" => return Ok(Moves::By(None)),
            "revolute" | "continuous" => JointKind::Hinge,
            "prismatic" => JointKind::Slide,
            "planar" => JointKind::Planar,
            "spherical" | "ball" => JointKind::Ball,
            other => {
                let message = format!(
                    "a joint cannot be `{other}`; known are fixed, revolute, continuous, prismatic, planar, floating"
                );
                return Err(ImportError::at(xml, message));
            }
        };
        let axis = match child(xml, "axis") {
            Some(axis) => match vector(axis, "xyz")? {
                Some(given) => unit(axis, "xyz", given)?,
                None => Vec3::X,
            },
            None => Vec3::X,
        };
        let mut joint = Joint::new(connection.name, kind, axis);
        if let Some(dynamics) = child(xml, "dynamics") {
            let positive =
                |key: &str| size(dynamics, key, number(dynamics, key)?.unwrap_or(0.0), true);
            joint.damping = positive("damping")?;
            joint.friction = positive("friction")?;
        }
        if let Some(limit) = child(xml, "limit") {
            let effort = number(limit, "effort")?.unwrap_or(0.0);
            joint.effort = (effort > 0.0).then_some(effort);
            let low = number(limit, "lower")?.unwrap_or(0.0);
            let high = number(limit, "upper")?.unwrap_or(0.0);
            if kind.is_single() && connection.kind != "continuous" && low != high {
                if low > high {
                    let message = format!("the lower limit {low} is above the upper one, {high}");
                    return Err(ImportError::at(limit, message));
                }
                joint.limits = Some([low, high]);
                joint.start = 0.0_f64.clamp(low, high);
                if kind == JointKind::Hinge && high - low > 100.0 {
                    let text = format!("limits from {low} to {high} rad: are these degrees?");
                    self.report.remark(limit, text);
                }
            }
            if number(limit, "velocity")?.is_some_and(|limit| limit > 0.0) {
                self.report.unknown(limit, "limits of velocity");
            }
        }
        for element in elements(xml) {
            match element.tag_name().name() {
                "origin" | "parent" | "child" | "axis" | "limit" | "dynamics" | "mimic" => {}
                "safety_controller" => self.report.unknown(element, "<safety_controller>"),
                "calibration" => {}
                other => self
                    .report
                    .unknown(element, &format!("<{other}> of joints")),
            }
        }
        Ok(Moves::By(Some(joint)))
    }

    fn link(&mut self, link: Xml<'_, '_>, place: usize) -> Read<()> {
        let name = required(link, "name")?;
        let (node, at) = self.places[place];
        let mut shapes = Vec::new();
        for (number, xml) in named(link, "collision").enumerate() {
            shapes.extend(self.solid(xml, &at, &numbered(name, number), false)?);
        }
        let mut visuals = Vec::new();
        for (number, xml) in named(link, "visual").enumerate() {
            visuals.extend(self.solid(xml, &at, &numbered(name, number), true)?);
        }
        let body = match child(link, "inertial") {
            Some(inertial) => self.inertial(inertial, name, &at)?,
            None => self.by_density(name, if shapes.is_empty() { &visuals } else { &shapes }),
        };
        match (node, body) {
            (None, Some(body)) => {
                let text = format!(
                    "the mass of `{name}`, {} kg, does nothing: it is fixed to the ground. Convert with --free if the \
                     robot stands by itself",
                    body.mass
                );
                self.report.remark(link, text);
            }
            (Some(_), Some(body)) => self.machine.content(node).bodies.push(body),
            (_, None) => {}
        }
        let content = self.machine.content(node);
        content.shapes.extend(shapes);
        content.visuals.extend(visuals);
        for element in elements(link) {
            match element.tag_name().name() {
                "inertial" | "collision" | "visual" => {}
                other => self.report.unknown(element, &format!("<{other}> of links")),
            }
        }
        Ok(())
    }

    fn inertial(&mut self, xml: Xml<'_, '_>, name: &str, at: &Pose) -> Read<Option<Body>> {
        let here = at.then(&pose(xml)?);
        let mass = match child(xml, "mass") {
            Some(mass) => {
                let value = number(mass, "value")?;
                let value = value.ok_or_else(|| ImportError::at(mass, "<mass> has no `value`"))?;
                size(mass, "value", value, true)?
            }
            None => 0.0,
        };
        let given = match child(xml, "inertia") {
            Some(given) => {
                let keys = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
                let mut values = [0.0; 6];
                for (value, key) in values.iter_mut().zip(keys) {
                    *value = number(given, key)?.unwrap_or(0.0);
                }
                for (value, key) in values.iter().zip(&keys[..3]) {
                    size(given, key, *value, true)?;
                }
                tensor(values)
            }
            None => Mat3::ZERO,
        };
        if mass == 0.0 {
            if given != Mat3::ZERO {
                self.report.remark(
                    xml,
                    format!("`{name}` has an inertia without a mass: it is left out"),
                );
            }
            return Ok(None);
        }
        let (possible, off) = nearest_possible(given);
        if off > 0.0 {
            let text = format!(
                "no body has the inertia of `{name}`: the largest principal moment is at most the sum of the others. \
                 The nearest that is possible is taken ({:.2} % of the largest second moment)",
                100.0 * off
            );
            self.report.remark(xml, text);
        }
        Ok(Some(Body {
            name: name.to_owned(),
            mass,
            centre: here.origin,
            inertia: here.axes * possible * here.axes.transpose(),
        }))
    }

    fn by_density(&mut self, name: &str, shapes: &[Solid]) -> Option<Body> {
        let density = Amount::Density(self.options.density?);
        let bodies: Vec<Body> = shapes
            .iter()
            .filter_map(|solid| body(solid, String::new(), density, &self.meshes))
            .collect();
        let body = together(name.to_owned(), &bodies)?;
        self.report
            .assumed(format!("`{name}` weighs {:.4} kg by its shapes", body.mass));
        Some(body)
    }

    /// A shape of a link; its colour if it is to be seen.
    fn solid(
        &mut self,
        xml: Xml<'_, '_>,
        at: &Pose,
        name: &str,
        is_seen: bool,
    ) -> Read<Option<Solid>> {
        let Some(geometry) = child(xml, "geometry") else {
            return Err(ImportError::at(xml, "there is no <geometry> in it"));
        };
        let Some(given) = elements(geometry).next() else {
            return Err(ImportError::at(geometry, "<geometry> is empty"));
        };
        let length = |key: &str| {
            let value = number(given, key)?;
            let value = value.ok_or_else(|| {
                let message = format!("<{}> has no `{key}`", given.tag_name().name());
                ImportError::at(given, message)
            })?;
            size(given, key, value, false)
        };
        let form = match given.tag_name().name() {
            "box" => {
                let sides: Option<[f64; 3]> = array(given, "size")?;
                let sides = sides.ok_or_else(|| ImportError::at(given, "<box> has no `size`"))?;
                for side in sides {
                    size(given, "size", side, false)?;
                }
                Form::Box(sides)
            }
            "sphere" => Form::Sphere(length("radius")?),
            "cylinder" => Form::Cylinder(length("radius")?, length("length")?),
            "capsule" => Form::Capsule(length("radius")?, length("length")?),
            "mesh" => {
                let scale = array(given, "scale")?.unwrap_or([1.0; 3]);
                if scale.contains(&0.0) {
                    return Err(ImportError::at(given, "a `scale` of zero leaves nothing"));
                }
                let file = required(given, "filename")?;
                let found = self.meshes.find(given, file, Path::new(""), self.report)?;
                let Some(number) = found else {
                    return Ok(None);
                };
                self.meshes.judge(given, number, scale, self.report);
                Form::Mesh(number, scale)
            }
            other => {
                self.report.unknown(given, &format!("shapes <{other}>"));
                return Ok(None);
            }
        };
        let colour = match child(xml, "material").filter(|_| is_seen) {
            Some(material) => match colour(material)? {
                Some(own) => Some(own),
                None => material
                    .attribute("name")
                    .and_then(|name| self.colours.get(name).copied()),
            },
            None => None,
        };
        if let Some(material) = child(xml, "material")
            && let Some(texture) = child(material, "texture")
        {
            self.report.unknown(texture, "<texture>");
        }
        Ok(Some(Solid {
            name: name.to_owned(),
            at: at.then(&pose(xml)?),
            form,
            colour,
            friction: None,
        }))
    }

    /// The node that a joint with one coordinate moves.
    fn moved(&self, name: &str) -> Option<usize> {
        let node = *self.joints.get(name)?;
        let joint = self.machine.nodes[node].joint.as_ref()?;
        joint.kind.is_single().then_some(node)
    }

    fn mimics(&mut self, joints: &[Connection<'_, '_>]) -> Read<()> {
        for connection in joints {
            let Some(mimic) = child(connection.xml, "mimic") else {
                continue;
            };
            let leader = required(mimic, "joint")?;
            let [Some(follower), Some(leader)] =
                [connection.name, leader].map(|name| self.moved(name))
            else {
                let text = format!(
                    "that `{}` follows `{leader}`: one of them neither turns nor slides",
                    connection.name
                );
                self.report.left_out(mimic, text);
                continue;
            };
            if follower == leader {
                return Err(ImportError::at(mimic, "a joint cannot follow itself"));
            }
            let ratio = number(mimic, "multiplier")?.unwrap_or(1.0);
            let offset = number(mimic, "offset")?.unwrap_or(0.0);
            let start = self.start(leader) * ratio + offset;
            if let Some(joint) = &mut self.machine.nodes[follower].joint {
                joint.start = start;
            }
            self.machine.couplings.push(Coupling {
                name: format!("{}_mimic", connection.name),
                joints: [follower, leader],
                ratio,
            });
        }
        Ok(())
    }

    fn start(&self, node: usize) -> f64 {
        self.machine.nodes[node]
            .joint
            .as_ref()
            .map_or(0.0, |joint| joint.start)
    }

    /// Servos of the joints with a transmission, or of all with a known effort; and sensors of all.
    fn drives(&mut self, robot: Xml<'_, '_>, joints: &[Connection<'_, '_>]) -> Read<()> {
        let mut wanted: Vec<usize> = Vec::new();
        for transmission in named(robot, "transmission") {
            for joint in named(transmission, "joint") {
                let name = required(joint, "name")?;
                match self.moved(name) {
                    Some(node) if wanted.contains(&node) => {}
                    Some(node) => wanted.push(node),
                    None => {
                        let text =
                            format!("the transmission of `{name}`, which neither turns nor slides");
                        self.report.left_out(transmission, text);
                    }
                }
            }
        }
        let followers: HashSet<usize> =
            self.machine.couplings.iter().map(|c| c.joints[0]).collect();
        let singles: Vec<usize> = joints
            .iter()
            .filter_map(|joint| self.moved(joint.name))
            .collect();
        if self.options.servos {
            for &node in &singles {
                if !wanted.contains(&node) && !followers.contains(&node) {
                    wanted.push(node);
                }
            }
        }
        let mut assumed = 0;
        for node in wanted {
            let Some(joint) = &self.machine.nodes[node].joint else {
                continue;
            };
            let Some(effort) = joint.effort else {
                let text = format!(
                    "a servo in `{}`: its <limit> gives no effort, from which gains would follow",
                    joint.name
                );
                self.report.note(crate::NoteKind::LeftOut, None, text);
                continue;
            };
            let kp = effort / SERVO_ERROR;
            assumed += 1;
            self.machine.drives.push(Drive {
                name: format!("{}_servo", joint.name),
                joint: node,
                kind: DriveKind::Servo {
                    kp,
                    kd: 0.1 * kp,
                    goal: joint.start,
                    speed: 0.0,
                },
                limit: Some(effort),
            });
        }
        if assumed > 0 {
            self.report.assumed(format!(
                "gains of {assumed} servos: the effort of the joint at an error of {SERVO_ERROR} rad or m"
            ));
        }
        for node in singles {
            let Some(name) = self.machine.nodes[node]
                .joint
                .as_ref()
                .map(|joint| joint.name.clone())
            else {
                continue;
            };
            let sensors = [
                (name.clone(), SensorKind::Coordinate(node)),
                (format!("{name}_rate"), SensorKind::Rate(node)),
            ];
            let sensors = sensors
                .into_iter()
                .map(|(name, kind)| Sensor { name, kind });
            self.machine.sensors.extend(sensors);
        }
        Ok(())
    }
}

/// How a link moves against its parent.
enum Moves {
    Not,
    /// By a joint, or freely.
    By(Option<Joint>),
}

fn numbered(name: &str, number: usize) -> String {
    match number {
        0 => name.to_owned(),
        _ => format!("{name}_{}", number + 1),
    }
}
