//! Converted robots against Pinocchio: mass matrices, gravity and bias forces at random states; and against MuJoCo: a fall
//! of one second. Converted models of MuJoCo against MuJoCo.
//!
//! The numbers are made by `oracles/robots.py` and `oracles/mjcf.py`. Those of our own robots are beside them; those of ten robots of PyPI's
//! `example-robot-data` are made anew by `make soak`, which says by OLDHAM_ROBOTS where they are.

use std::path::{Path, PathBuf};

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{InMemory, Run, Subsystem};
use oldham_import::{Options, convert};
use oldham_model::{Model, Overrides};
use oldham_multibody::{Mat3, Quaternion, Vec3};
use serde_json::Value;

/// Largest difference, over the largest number of the same matrix or vector.
const TOLERANCE: f64 = 1e-10;

/// A joint of a converted model: its nodes by their places, and its axis in axes of the second.
struct Joint {
    name: String,
    parent: Option<usize>,
    child: usize,
    axis: Vec3,
    is_hinge: bool,
}

/// A converted robot.
struct Robot {
    text: String,
    folder: PathBuf,
    nodes: Vec<String>,
    joints: Vec<Joint>,
    /// Tables of what drives or rubs joints, and of what reads that.
    drives: Vec<String>,
    is_free: bool,
}

impl Robot {
    fn read(path: &Path, free: bool) -> Self {
        let options = Options {
            free,
            ..Options::default()
        };
        let text = convert(path, &options).expect("a robot").model;
        let table: toml::Table = text.parse().expect("a model file");
        let robot = &table["multibody"]["robot"];
        let rows = |name: &str| {
            let rows = robot.get(name).and_then(toml::Value::as_table);
            rows.cloned().unwrap_or_default()
        };
        // In the order of the solver, rotors of joints among them.
        let name = path.to_string_lossy();
        let model = Model::parse(&text, &name, &Overrides::none());
        let model = model.unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        let mechanism = model.mechanisms().next().expect("a mechanism");
        let nodes = mechanism.sketch().nodes[1..].to_vec();
        let place = |node: &toml::Value| {
            let name = node.as_str().expect("a node");
            nodes.iter().position(|node| node == name)
        };
        // Others close loops.
        let has_axis = |joint: &toml::Value| joint.get("axis").is_some();
        let joints = rows("joints").into_iter();
        let joints = joints.filter(|(_, joint)| has_axis(joint));
        let joints = joints.map(|(name, joint)| {
            let axis = joint["axis"].as_array().expect("an axis");
            let axis = [0, 1, 2].map(|i| number(&axis[i]));
            let child = place(&joint["between"][1]).expect("a node");
            Joint {
                name,
                parent: place(&joint["between"][0]),
                child,
                axis: three(axis).unit(),
                is_hinge: joint["type"].as_str() == Some("revolute"),
            }
        });
        let mut joints: Vec<Joint> = joints.collect();
        // Parents first, as nodes are.
        joints.sort_by_key(|joint| joint.child);
        // Springs of joints, which the oracles know, are servos here as well.
        let mut servos = rows("servos");
        servos.retain(|name, _| !name.ends_with("_spring"));
        let reads_servo = |sensor: &toml::Value| {
            let of = sensor.get("torque").and_then(toml::Value::as_str);
            of.is_some_and(|of| servos.contains_key(of))
        };
        let sensors = rows("sensors");
        let readers = sensors.iter().filter(|(_, sensor)| reads_servo(sensor));
        let drives = readers
            .map(|(name, _)| format!("sensors.{name}"))
            .chain(servos.keys().map(|name| format!("servos.{name}")));
        Self {
            joints,
            drives: drives.collect(),
            nodes,
            text,
            folder: path.parent().expect("a folder").to_owned(),
            is_free: free,
        }
    }

    fn model(&self, settings: Vec<(String, String)>) -> Model {
        let name = self.folder.join("model.toml");
        let model = Model::parse(&self.text, &name.to_string_lossy(), &Overrides(settings));
        model.unwrap_or_else(|problems| panic!("{:?}", problems.iter().next()))
    }

    /// Settings of a pose.
    fn posed(&self, joints: &[String], state: &Value) -> Vec<(String, String)> {
        let mut settings: Vec<(String, String)> = joints
            .iter()
            .zip(list(&state["q"]))
            .map(|(joint, q)| (format!("q_{joint}"), format!("{q:e}")))
            .collect();
        // The oracles know no servos and no dry friction.
        let drives = self.drives.iter();
        let drives = drives.map(|table| format!("multibody.robot.{table}"));
        settings.extend(drives.map(|table| (table, String::new())));
        if let [x, y, z, qx, qy, qz, qw] = list(&state["base"])[..] {
            let frame = format!(
                "{{ position = [{x:e}, {y:e}, {z:e}], orientation = {{ quaternion = [{qw:e}, {qx:e}, {qy:e}, {qz:e}] }} }}"
            );
            settings.push((format!("multibody.robot.frames.{}", self.nodes[0]), frame));
        }
        settings
    }

    /// Columns of the motions of the nodes for each rate, joints in this order: six rows a node.
    fn motions(&self, joints: &[String], poses: &[(Vec3, Mat3)]) -> DMatrix<f64> {
        let base = if self.is_free { 6 } else { 0 };
        let mut columns = DMatrix::zeros(6 * self.nodes.len(), base + joints.len());
        let put = |columns: &mut DMatrix<f64>, node: usize, column: usize, v: Vec3, w: Vec3| {
            for i in 0..3 {
                columns[(6 * node + i, column)] = v.0[i];
                columns[(6 * node + 3 + i, column)] = w.0[i];
            }
        };
        if self.is_free {
            for i in 0..3 {
                let axis = poses[0].1.column(i);
                put(&mut columns, 0, i, axis, Vec3::ZERO);
                put(&mut columns, 0, 3 + i, Vec3::ZERO, axis);
            }
        }
        for joint in &self.joints {
            let at = poses[joint.child].0;
            for column in 0..columns.ncols() {
                if let Some(parent) = joint.parent {
                    let get = |row: usize| {
                        let row = 6 * parent + row;
                        three([0, 1, 2].map(|i| columns[(row + i, column)]))
                    };
                    let (v, w) = (get(0), get(3));
                    put(
                        &mut columns,
                        joint.child,
                        column,
                        v + w.cross(at - poses[parent].0),
                        w,
                    );
                }
            }
            let place = joints.iter().position(|name| *name == joint.name);
            let column = base + place.expect("the same joints");
            let axis = poses[joint.child].1 * joint.axis;
            let (v, w) = match joint.is_hinge {
                true => (Vec3::ZERO, axis),
                false => (axis, Vec3::ZERO),
            };
            put(&mut columns, joint.child, column, v, w);
            let rotor = format!("{}.rotor", joint.name);
            if let Some(rotor) = self.nodes.iter().position(|node| *node == rotor) {
                put(&mut columns, rotor, column, Vec3::ZERO, Vec3::Z);
            }
        }
        columns
    }

    /// Generalised accelerations from the motions of the nodes.
    fn accelerations(&self, joints: &[String], rows: &[[f64; 19]]) -> DVector<f64> {
        let base = if self.is_free { 6 } else { 0 };
        let mut found = DVector::zeros(base + joints.len());
        let part = |node: Option<usize>, at: usize| {
            node.map_or(Vec3::ZERO, |node| {
                three([0, 1, 2].map(|i| rows[node][at + i]))
            })
        };
        let axes = |node: usize| turned(&rows[node]);
        if self.is_free {
            // In axes that turn with the base.
            let (v, w) = (part(Some(0), 7), part(Some(0), 10));
            let (a, alpha) = (part(Some(0), 13), part(Some(0), 16));
            let [linear, angular] = [a - w.cross(v), alpha].map(|x| axes(0).transpose_mul(x));
            for i in 0..3 {
                found[i] = linear.0[i];
                found[3 + i] = angular.0[i];
            }
        }
        for joint in &self.joints {
            let place = joints.iter().position(|name| *name == joint.name);
            let (a, b) = (joint.parent, Some(joint.child));
            let axis = axes(joint.child) * joint.axis;
            let relative = |at: usize| part(b, at) - part(a, at);
            found[base + place.expect("the same joints")] = match joint.is_hinge {
                true => axis.dot(relative(16)),
                false => {
                    let (w, alpha) = (part(a, 10), part(a, 16));
                    let carried = alpha.cross(relative(0)) + w.cross(relative(7));
                    axis.dot(relative(13) - carried)
                }
            };
        }
        found
    }
}

fn number(value: &toml::Value) -> f64 {
    value
        .as_float()
        .or(value.as_integer().map(|whole| whole as f64))
        .expect("a number")
}

/// The names of the joints, as model files take them.
fn names(oracle: &Value) -> Vec<String> {
    let joints = oracle["joints"].as_array().expect("joints").iter();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    joints
        .map(|name| name.as_str().expect("a name").chars().map(plain).collect())
        .collect()
}

fn three([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x, y, z)
}

fn list(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list").iter();
    list.map(|x| x.as_f64().expect("a number")).collect()
}

fn turned(row: &[f64; 19]) -> Mat3 {
    Quaternion([row[3], row[4], row[5], row[6]]).matrix()
}

/// Positions, orientations, velocities and accelerations of the nodes at the start.
fn first_rows(model: &Model, nodes: &[String]) -> Vec<[f64; 19]> {
    let mut simulation = model.simulation().expect("a simulation");
    let mut memory = InMemory::default();
    simulation
        .run(Run::new(0, &mut memory))
        .end
        .expect("a start");
    let columns = simulation.columns();
    let names = [
        "px", "py", "pz", "q0", "q1", "q2", "q3", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay",
        "az", "alx", "aly", "alz",
    ];
    let value = |name: String| {
        let column = columns.iter().position(|column| column.name == name);
        memory.rows[0][column.unwrap_or_else(|| panic!("no column {name}"))]
    };
    let row = |node: &String| names.map(|part| value(format!("robot.nodes.{node}.{part}")));
    nodes.iter().map(row).collect()
}

/// Largest difference over the largest number.
fn off(found: &DMatrix<f64>, exact: &DMatrix<f64>) -> f64 {
    (found - exact).amax() / exact.amax()
}

/// The largest differences of mass matrices, gravity and bias forces over all states.
fn differences(file: &Path) -> [f64; 3] {
    let name = file.display();
    let text = std::fs::read_to_string(file.with_extension("json")).expect("an oracle");
    let oracle: Value = serde_json::from_str(&text).expect("an oracle");
    let joints = names(&oracle);
    let free = oracle["free"] == true;
    let robot = Robot::read(file, free);
    assert_eq!(robot.joints.len(), joints.len(), "{name}");
    // Rates of all joints by those that remain where some are tied to each other.
    let ties = oracle.get("ties").map(|ties| {
        let rows: Vec<_> = ties.as_array().expect("rows").iter().map(list).collect();
        DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
    });
    // Of those that remain; the others must follow.
    let remaining = |rates: DVector<f64>| match &ties {
        None => rates,
        Some(ties) => {
            let found = DVector::from_iterator(
                ties.ncols(),
                ties.column_iter().map(|column| rates[column.imax()]),
            );
            let off = (ties * &found - &rates).amax();
            assert!(off < 1e-10 * rates.amax().max(1.0), "{name}: {off:e}");
            found
        }
    };
    let mut worst = [0.0_f64; 3];
    for state in oracle["states"].as_array().expect("states") {
        let settings = robot.posed(&joints, state);
        let model = robot.model(settings.clone());
        let rows = first_rows(&model, &robot.nodes);
        let poses: Vec<_> = rows
            .iter()
            .map(|row| (three([row[0], row[1], row[2]]), turned(row)))
            .collect();
        let all = robot.motions(&joints, &poses);
        let motions = match &ties {
            Some(ties) => &all * ties,
            None => all.clone(),
        };
        let mechanism = model.mechanisms().next().expect("a mechanism");
        let part = mechanism.solver().expect("a solver");
        let inputs = part.ports().initial_inputs().to_vec();
        let matrices = part.system().linearised(&inputs);
        // The joints of the model allow these motions and no others.
        let size = 6 * robot.nodes.len();
        let mut held = DMatrix::zeros(matrices.unknowns - size, size);
        for &(row, column, value) in &matrices.constraint_rows {
            held[(row - size, column)] += value;
        }
        assert!(
            (&held * &motions).amax() < 1e-12,
            "{name}: {}",
            (&held * &motions).amax()
        );
        let mut inertia = DMatrix::zeros(size, size);
        for &(row, column, value) in &matrices.mass {
            inertia[(row, column)] += value;
        }
        let mass = motions.transpose() * inertia * &motions;
        let exact = state["M"].as_array().expect("rows");
        let count = exact.len();
        let exact = DMatrix::from_fn(count, count, |i, j| {
            exact[i.max(j)][i.min(j)].as_f64().expect("a number")
        });
        worst[0] = worst[0].max(off(&mass, &exact));
        // At rest, M q'' + g = 0.
        let force = -&exact * remaining(robot.accelerations(&joints, &rows));
        let gravity = DVector::from_vec(list(&state["g"]));
        worst[1] = worst[1].max((force - &gravity).amax() / gravity.amax().max(0.01));
        // In motion, M q'' + h = 0.
        let rates = DVector::from_vec(list(&state["v"]));
        let moving = &all * rates;
        let mut settings = settings;
        for (place, node) in robot.nodes.iter().enumerate() {
            if node.contains('.') {
                continue;
            }
            for (key, at) in [("velocity", 0), ("angular_velocity", 3)] {
                let vector = three([0, 1, 2].map(|i| moving[6 * place + at + i]));
                let [x, y, z] = poses[place].1.transpose_mul(vector).0;
                let key = format!("multibody.robot.nodes.{node}.{key}");
                settings.push((key, format!("[{x:e}, {y:e}, {z:e}]")));
            }
        }
        let rows = first_rows(&robot.model(settings), &robot.nodes);
        let force = -&exact * remaining(robot.accelerations(&joints, &rows));
        let bias = DVector::from_vec(list(&state["h"]));
        worst[2] = worst[2].max((force - &bias).amax() / bias.amax().max(0.01));
    }
    worst
}

/// Angles after one second from rest: by how much they differ from MuJoCo's, and what both say of their own errors.
fn fall(file: &Path) -> Option<[f64; 3]> {
    let text = std::fs::read_to_string(file.with_extension("json")).expect("an oracle");
    let oracle: Value = serde_json::from_str(&text).expect("an oracle");
    let fall = oracle.get("fall")?;
    let joints = names(&oracle);
    let robot = Robot::read(&file.with_extension("fall.urdf"), false);
    let start = &oracle["states"][0];
    let mut ends = Vec::new();
    for step in [1e-3, 5e-4] {
        let mut settings: Vec<(String, String)> = joints
            .iter()
            .zip(list(&start["q"]))
            .map(|(joint, q)| (format!("q_{joint}"), format!("{q:e}")))
            .collect();
        settings.push(("multibody.robot.integrator".into(), "rk4".into()));
        settings.push(("simulation.step".into(), format!("{step:e}")));
        let model = robot.model(settings);
        let mut simulation = model.simulation().expect("a simulation");
        let mut memory = InMemory::default();
        let mut run = Run::new(model.steps(), &mut memory);
        run.record_every = model.steps();
        simulation.run(run).end.expect("an end");
        let row = memory.rows.last().expect("a row");
        let columns = simulation.columns();
        let end = joints.iter().zip(list(&start["q"])).map(|(joint, q)| {
            let name = format!("robot.sensors.{joint}");
            let column = columns.iter().position(|column| column.name == name);
            q + row[column.unwrap_or_else(|| panic!("no {name}"))]
        });
        ends.push(end.collect::<Vec<f64>>());
    }
    let far = |a: &[f64], b: &[f64]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    let theirs = list(&fall["end"]);
    let error = fall["error"].as_f64().expect("a number");
    Some([far(&ends[1], &theirs), far(&ends[1], &ends[0]), error])
}

fn compare(file: &Path) {
    let name = file.file_name().unwrap_or_default().display();
    let [mass, gravity, bias] = differences(file);
    println!("{name}: mass {mass:.1e}, gravity {gravity:.1e}, bias {bias:.1e}");
    assert!(mass < TOLERANCE, "{name}: mass matrices differ by {mass:e}");
    assert!(
        gravity < TOLERANCE,
        "{name}: gravity differs by {gravity:e}"
    );
    assert!(bias < TOLERANCE, "{name}: bias forces differ by {bias:e}");
    if let Some([difference, ours, theirs]) = fall(file) {
        println!("{name}: after 1 s {difference:.1e} apart, errors {ours:.1e} and {theirs:.1e}");
        assert!(
            difference <= 2.0 * (ours + theirs) + 1e-10,
            "{name}: {difference:e} apart after one second"
        );
    }
}

#[test]
fn our_own_robots_have_the_dynamics_that_pinocchio_finds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for name in ["arm", "walker", "cart"] {
        compare(&folder.join(name).with_extension("urdf"));
    }
}

#[test]
fn models_of_mujoco_have_the_dynamics_that_mujoco_finds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mjcf");
    for name in [
        "pendulum",
        "cartpole",
        "classes",
        "plane_walker",
        "quadruped",
        "chain",
        "falling_box",
        "servo_arm",
        "gripper",
        "four_bar",
    ] {
        compare(&folder.join(name).with_extension("xml"));
    }
}

/// Ten robots of a wheel, if `oracles/robots.py` has put them somewhere.
#[test]
fn ten_robots_have_the_dynamics_that_pinocchio_finds() {
    let Some(folder) = std::env::var_os("OLDHAM_ROBOTS").map(PathBuf::from) else {
        return;
    };
    let files = std::fs::read_dir(&folder).expect("the folder of OLDHAM_ROBOTS");
    let mut names: Vec<String> = files
        .filter_map(|file| file.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .filter(|name| folder.join(format!("{name}.json")).exists())
        .collect();
    names.sort();
    names.dedup();
    assert!(names.len() >= 10, "{} robots", names.len());
    for name in names {
        compare(&folder.join(name).with_extension("urdf"));
    }
}
