//! MJCF: bodies in one another, with defaults by class.

mod actuators;
mod bodies;
mod defaults;
mod equality;
mod geoms;
mod include;
mod sensors;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use oldham_space::{Mat3, Vec3};
use roxmltree::Node as Xml;

use crate::error::ImportError;
use crate::machine::Machine;
use crate::meshes::Meshes;
use crate::pose::{Pose, about, of_quaternion, third_along};
use crate::report::Report;
use crate::xml::{array, elements, named, numbers, unit};
use defaults::{Classes, Given};

pub(crate) use include::expanded;

type Read<T> = Result<T, ImportError>;

/// Settings by which the rest is read.
struct Compiler {
    /// Radians for each unit of an angle.
    angle: f64,
    /// Axes of Euler's angles; capitals are fixed ones.
    sequence: String,
    auto_limits: bool,
    folder: PathBuf,
    /// Whether shapes give the inertia: always, never, or where there is none.
    from_shapes: Option<bool>,
}

/// A body of the file.
#[derive(Clone, Copy)]
struct Placed {
    /// The node that carries it.
    node: Option<usize>,
    /// Where it is on that node.
    at: Pose,
}

/// Triangles under a name.
struct MeshAsset {
    number: Option<usize>,
    scale: [f64; 3],
    points: Vec<Vec3>,
    reference: Pose,
}

/// A file in the making of a machine.
struct Reader<'r> {
    compiler: Compiler,
    classes: Classes,
    meshes: Meshes,
    report: &'r mut Report,
    machine: Machine,
    assets: HashMap<String, MeshAsset>,
    colours: HashMap<String, [f64; 3]>,
    bodies: HashMap<String, Placed>,
    sites: HashMap<String, Placed>,
    /// Numbers of nodes by the names of their joints.
    joints: HashMap<String, usize>,
    /// Zero of each joint in the file, where nodes start.
    zeros: HashMap<usize, f64>,
    unnamed: usize,
}

pub(crate) fn read(
    root: Xml<'_, '_>,
    meshes: Meshes,
    report: &mut Report,
) -> Read<(Machine, Meshes)> {
    report.format = "MJCF";
    report.name = root.attribute("model").unwrap_or("machine").to_owned();
    let machine = Machine {
        name: report.name.clone(),
        gravity: Vec3::new(0.0, 0.0, -9.81),
        step: Some(0.002),
        touches_itself: true,
        friction: 1.0,
        ..Machine::default()
    };
    let mut reader = Reader {
        compiler: compiler(root)?,
        classes: Classes::of(root)?,
        meshes,
        report,
        machine,
        assets: HashMap::new(),
        colours: HashMap::new(),
        bodies: HashMap::new(),
        sites: HashMap::new(),
        joints: HashMap::new(),
        zeros: HashMap::new(),
        unnamed: 0,
    };
    for section in elements(root) {
        match section.tag_name().name() {
            "compiler" => reader.compiler_notes(section),
            "option" => reader.option(section)?,
            "asset" => reader.assets(section)?,
            "worldbody" | "default" | "equality" | "actuator" | "sensor" | "contact" => {}
            "size" | "visual" | "statistic" | "custom" => {}
            other => reader.report.unknown(section, &format!("<{other}>")),
        }
    }
    let world = Placed {
        node: None,
        at: Pose::default(),
    };
    reader.bodies.insert("world".into(), world);
    for section in named(root, "worldbody") {
        reader.children(section, world, None)?;
    }
    for section in named(root, "contact") {
        reader.exclusions(section)?;
    }
    for section in named(root, "equality") {
        reader.equality(section)?;
    }
    let drives = named(root, "actuator").map(|section| reader.actuators(section));
    let names: Vec<_> = drives.collect::<Read<Vec<_>>>()?;
    let names: HashMap<String, usize> = names.into_iter().flatten().collect();
    reader.joint_sensors();
    for section in named(root, "sensor") {
        reader.sensors(section, &names)?;
    }
    Ok((reader.machine, reader.meshes))
}

fn compiler(root: Xml<'_, '_>) -> Read<Compiler> {
    let mut found = Compiler {
        angle: 1.0_f64.to_radians(),
        sequence: "xyz".into(),
        auto_limits: true,
        folder: PathBuf::new(),
        from_shapes: None,
    };
    for xml in named(root, "compiler") {
        match xml.attribute("angle") {
            Some("radian") => found.angle = 1.0,
            Some("degree") | None => {}
            Some(other) => {
                let message = format!("`angle` is `degree` or `radian`, not `{other}`");
                return Err(ImportError::at(xml, message));
            }
        }
        if let Some(sequence) = xml.attribute("eulerseq") {
            let is_axis = |c: char| "xyzXYZ".contains(c);
            if sequence.len() != 3 || !sequence.chars().all(is_axis) {
                let message = format!("`eulerseq` is three of x, y and z, not `{sequence}`");
                return Err(ImportError::at(xml, message));
            }
            found.sequence = sequence.to_owned();
        }
        if xml.attribute("autolimits") == Some("false") {
            found.auto_limits = false;
        }
        for key in ["assetdir", "meshdir"] {
            if let Some(folder) = xml.attribute(key) {
                found.folder = PathBuf::from(folder);
            }
        }
        match xml.attribute("inertiafromgeom") {
            Some("true") => found.from_shapes = Some(true),
            Some("false") => found.from_shapes = Some(false),
            _ => {}
        }
    }
    Ok(found)
}

impl Reader<'_> {
    fn compiler_notes(&mut self, xml: Xml<'_, '_>) {
        for key in [
            "settotalmass",
            "boundmass",
            "boundinertia",
            "balanceinertia",
        ] {
            if xml
                .attribute(key)
                .is_some_and(|value| value != "0" && value != "-1" && value != "false")
            {
                self.report.unknown(xml, &format!("`{key}` of <compiler>"));
            }
        }
        if xml
            .attribute("coordinate")
            .is_some_and(|word| word != "local")
        {
            self.report
                .unknown(xml, "global coordinates, which MuJoCo has given up");
        }
    }

    fn option(&mut self, xml: Xml<'_, '_>) -> Read<()> {
        if let Some([x, y, z]) = array(xml, "gravity")? {
            self.machine.gravity = Vec3::new(x, y, z);
        }
        if let Some([step]) = array::<1>(xml, "timestep")? {
            self.machine.step = Some(crate::xml::size(xml, "timestep", step, false)?);
        }
        for key in ["density", "viscosity", "wind", "magnetic"] {
            let given = xml
                .attribute(key)
                .map(|text| numbers(xml, key, text))
                .transpose()?;
            if key != "magnetic"
                && given.is_some_and(|given| given.iter().any(|&value| value != 0.0))
            {
                self.report
                    .unknown(xml, &format!("`{key}`: forces of a fluid"));
            }
        }
        for flag in named(xml, "flag") {
            if flag.attribute("gravity") == Some("disable") {
                self.machine.gravity = Vec3::ZERO;
            }
        }
        Ok(())
    }

    fn assets(&mut self, section: Xml<'_, '_>) -> Read<()> {
        for xml in elements(section) {
            let given = self.classes.of_element(xml, None);
            match xml.tag_name().name() {
                "mesh" => self.mesh_asset(&given)?,
                "material" => {
                    let name = xml.attribute("name").unwrap_or_default().to_owned();
                    if let Some([r, g, b, _]) = given.array::<4>("rgba")? {
                        self.colours
                            .insert(name, [r, g, b].map(|part| part.clamp(0.0, 1.0)));
                    }
                }
                "texture" => self.report.unknown(xml, "textures"),
                "hfield" => self.report.unknown(xml, "height fields"),
                "model" => self.report.unknown(xml, "models in assets"),
                other => self.report.unknown(xml, &format!("assets <{other}>")),
            }
        }
        Ok(())
    }

    fn mesh_asset(&mut self, given: &Given<'_, '_>) -> Read<()> {
        let file = given.get("file").map(str::to_owned);
        let stem = || {
            let stem = Path::new(file.as_deref()?).file_stem()?;
            Some(stem.to_string_lossy().into_owned())
        };
        let Some(name) = given.get("name").map(str::to_owned).or_else(stem) else {
            return Err(ImportError::at(
                given.xml,
                "<mesh> has neither a name nor a file",
            ));
        };
        let scale = given.array("scale")?.unwrap_or([1.0; 3]);
        if scale.contains(&0.0) {
            return Err(ImportError::at(
                given.xml,
                "a `scale` of zero leaves nothing",
            ));
        }
        let mut points = Vec::new();
        if let Some(text) = given.get("vertex") {
            let values = numbers(given.xml, "vertex", text)?;
            points = values
                .chunks_exact(3)
                .map(|point| {
                    Vec3::new(
                        point[0] * scale[0],
                        point[1] * scale[1],
                        point[2] * scale[2],
                    )
                })
                .collect();
        }
        let mut number = None;
        if let Some(file) = &file {
            let folder = self.compiler.folder.clone();
            number = self.meshes.find(given.xml, file, &folder, self.report)?;
            if let Some(number) = number {
                self.meshes.judge(given.xml, number, scale, self.report);
            }
        }
        let axes = given.array("refquat")?.and_then(of_quaternion);
        let reference = Pose {
            origin: given.vector("refpos")?.unwrap_or(Vec3::ZERO),
            axes: axes.unwrap_or(Mat3::IDENTITY),
        };
        let asset = MeshAsset {
            number,
            scale,
            points,
            reference: reference.inverse(),
        };
        self.assets.insert(name, asset);
        Ok(())
    }

    /// Where something is, by any of the ways in which its axes may be given.
    fn pose(&self, given: &Given<'_, '_>) -> Read<Pose> {
        let origin = given.vector("pos")?.unwrap_or(Vec3::ZERO);
        Ok(Pose {
            origin,
            axes: self.axes(given)?.unwrap_or(Mat3::IDENTITY),
        })
    }

    fn axes(&self, given: &Given<'_, '_>) -> Read<Option<Mat3>> {
        let xml = given.xml;
        let wrong = |key: &str| ImportError::at(xml, format!("`{key}` has no length"));
        if let Some(quaternion) = given.array::<4>("quat")? {
            return of_quaternion(quaternion)
                .map(Some)
                .ok_or_else(|| wrong("quat"));
        }
        if let Some([x, y, z, angle]) = given.array::<4>("axisangle")? {
            let axis = unit(xml, "axisangle", Vec3::new(x, y, z))?;
            return Ok(Some(about(axis, angle * self.compiler.angle)));
        }
        if let Some(angles) = given.array::<3>("euler")? {
            let mut axes = Mat3::IDENTITY;
            for (letter, angle) in self.compiler.sequence.chars().zip(angles) {
                let axis = match letter.to_ascii_lowercase() {
                    'x' => Vec3::X,
                    'y' => Vec3::Y,
                    _ => Vec3::Z,
                };
                let turn = about(axis, angle * self.compiler.angle);
                axes = match letter.is_ascii_uppercase() {
                    true => turn * axes,
                    false => axes * turn,
                };
            }
            return Ok(Some(axes));
        }
        if let Some([a, b, c, d, e, f]) = given.array::<6>("xyaxes")? {
            let x = unit(xml, "xyaxes", Vec3::new(a, b, c))?;
            let y = Vec3::new(d, e, f);
            let y = unit(xml, "xyaxes", y - x * x.dot(y))?;
            return Ok(Some(Mat3::from_columns(x, y, x.cross(y))));
        }
        if let Some(direction) = given.vector("zaxis")? {
            return Ok(Some(third_along(unit(xml, "zaxis", direction)?)));
        }
        Ok(None)
    }

    /// A name for what has none.
    fn name(&mut self, given: Option<&str>, what: &str) -> String {
        match given {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                self.unnamed += 1;
                format!("{what}{}", self.unnamed)
            }
        }
    }
}
