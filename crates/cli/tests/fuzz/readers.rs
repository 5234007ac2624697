//! What reads files, given damaged ones.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oldham_cosim::{Checkpoint, Fault, InMemory, Recorder, Run};
use oldham_model::Model;
use oldham_results::{Column, Metadata, ResultWriter};
use oldham_scene::Staging;
use oldham_study::{Advice, Case, ModelFile, PreparedRun, RunOptions, Variation, first_row};
use oldham_web::{Film, Scene, Server, Stage};
use oldham_wheel::{Calibration, Event, Recording};

use super::mutation::{Random, bytes, crc32, text};

/// Steps that an accepted model takes.
const STEPS: u64 = 20;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).expect("a file in the folder");
}

/// Runs a model as `run` does, if it is accepted; what it refuses is its affair.
fn run(file: &ModelFile) -> Result<(), String> {
    let Ok(model) = file.read() else {
        return Ok(());
    };
    steps(&model)
}

fn steps(model: &Model) -> Result<(), String> {
    let Ok(mut simulation) = model.simulation() else {
        return Ok(());
    };
    let mut memory = InMemory::default();
    let run = Run {
        energy_bound: model.energy_bound(),
        ..Run::new(STEPS.min(model.steps()), &mut memory)
    };
    match simulation.run(run).end {
        Err(panic @ (Fault::Panic { .. } | Fault::CoordinatorPanic { .. })) => {
            Err(panic.to_string())
        }
        Err(_) => Ok(()),
        Ok(_) => {
            let columns = simulation.columns();
            let is_nan = |row: &Vec<f64>| row.iter().position(|value| value.is_nan());
            match memory.rows.iter().find_map(is_nan) {
                Some(place) => Err(format!(
                    "`{}` is NaN in a run that ended well",
                    columns[place].name
                )),
                None => Ok(()),
            }
        }
    }
}

/// The examples, with what they include beside them.
pub struct Models {
    texts: Vec<String>,
}

/// Files that examples read.
const BESIDE: [&str; 8] = [
    "road.csv",
    "circle.csv",
    "track.csv",
    "parts/corner.toml",
    "parts/crank.toml",
    "parts/driven-car.toml",
    "parts/lap-timer.toml",
    "parts/path-driver.toml",
];

/// Puts beside a model what models include.
fn furnish(folder: &Path) {
    let parts = folder.join("parts");
    if parts.exists() {
        return;
    }
    std::fs::create_dir(&parts).expect("a folder in the folder");
    let examples = root().join("examples");
    for name in BESIDE {
        write(
            &folder.join(name),
            std::fs::read(examples.join(name)).expect("an example"),
        );
    }
    for name in ["formula-student.toml", "two-cylinder-arm.toml"] {
        write(
            &folder.join(name),
            std::fs::read(examples.join(name)).expect("an example"),
        );
    }
}

impl Models {
    pub fn of_examples() -> Self {
        let files = std::fs::read_dir(root().join("examples")).expect("the examples");
        let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        paths.sort();
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("an example");
        Self {
            texts: paths.iter().map(read).collect(),
        }
    }

    /// Those whose analysis takes a moment only.
    pub fn small() -> Self {
        let read = |name: &str| {
            std::fs::read_to_string(root().join("examples").join(name)).expect("an example")
        };
        let names = [
            "two-mass-force-displacement.toml",
            "two-mass-displacement-displacement.toml",
            "two-mass-compensated.toml",
            "interface-mass.toml",
            "smooth-nonsmooth.toml",
            "skyhook.toml",
            "winch.toml",
            "driven-cart.toml",
            "multirate-pair.toml",
            "three-part-chain.toml",
        ];
        Self {
            texts: names.map(read).to_vec(),
        }
    }

    fn damaged(&self, random: &mut Random, folder: &Path) -> ModelFile {
        furnish(folder);
        let (original, other) = (random.one_of(&self.texts), random.one_of(&self.texts));
        let path = folder.join("damaged.toml");
        write(&path, text(random, original, other));
        ModelFile::new(path)
    }

    pub fn run(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        run(&self.damaged(random, folder))
    }

    /// A whole model with a damaged setting or range.
    pub fn set(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        const SETTINGS: &[&str] = &[
            "simulation.step=1e-3",
            "simulation.duration=\"2 s\"",
            "kc=100:500:10:log",
            "m1=normal(100, 5)",
            "schedule.coupling=implicit",
            "lumped.left.masses.x1={ mass = 2, velocity = 1.5 }",
            "record.nodes=false",
        ];
        furnish(folder);
        let (setting, other) = (*random.one_of(SETTINGS), *random.one_of(SETTINGS));
        let setting = text(random, setting, other);
        if let Ok(variation) = setting.parse::<Variation>() {
            let _ = variation.texts(&oldham_study::Draw::default());
        }
        let (key, value) = setting.split_once('=').unwrap_or((&setting, ""));
        let path = folder.join("whole.toml");
        write(&path, random.one_of(&self.texts));
        run(&ModelFile::new(path).set(key, value))
    }

    /// What `check` says about the coupling.
    pub fn analyse(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        let file = self.damaged(random, folder);
        let Ok(model) = file.read() else {
            return Ok(());
        };
        if model.simulation().is_err() || oldham_study::is_without_coupling(&model) {
            return Ok(());
        }
        let case = Case::of(&model, &file);
        let advice = Advice::along_run(&case, Duration::from_secs(5), &mut |_| {});
        let told = serde_json::to_string(&advice).map_err(|error| error.to_string())?;
        match told.contains("panicked") {
            true => Err(told),
            false => Ok(()),
        }
    }
}

/// A table of a quarter car's road, or of a driver's path.
pub fn table(random: &mut Random, folder: &Path) -> Result<(), String> {
    furnish(folder);
    let (model, name) = *random.one_of(&[
        ("skyhook.toml", "road.csv"),
        ("car-constant-radius.toml", "circle.csv"),
    ]);
    let read = |name: &str| {
        std::fs::read_to_string(root().join("examples").join(name)).expect("an example")
    };
    let whole = read(name);
    let damaged = match random.below(3) {
        0 => bytes(random, whole.as_bytes()),
        _ => text(random, &whole, &whole).into_bytes(),
    };
    write(&folder.join(model), read(model));
    write(&folder.join(name), damaged);
    run(&ModelFile::new(folder.join(model)))
}

const CART: &str = r#"
[model]
name = "Wheel"
[simulation]
duration = 0.1
step = 1e-3
[multibody.car]
gravity = [0, 0, -9.81]
[multibody.car.nodes]
hub = { position = [0, 0, 0.25] }
[multibody.car.bodies]
hub = { node = "hub", mass = 50, inertia = [1, 1, 1] }
[multibody.car.elements]
tyre = { type = "tyre", rim = "hub", file = "damaged.tir" }
"#;

/// A tyre property file under a wheel.
pub fn tyre(random: &mut Random, folder: &Path) -> Result<(), String> {
    let whole = include_str!("../../../vehicle/tests/data/slick.tir");
    let damaged = match random.below(3) {
        0 => bytes(random, whole.as_bytes()),
        _ => text(random, whole, whole).into_bytes(),
    };
    write(&folder.join("damaged.tir"), damaged);
    write(&folder.join("cart.toml"), CART);
    run(&ModelFile::new(folder.join("cart.toml")))
}

const DRAWN: &str = r#"
[model]
name = "Drawn"
[simulation]
duration = 0.1
step = 1e-3
[multibody.car.nodes]
link = { position = [0, 0, 0] }
[multibody.car.bodies]
link = { node = "link", mass = 2, inertia = [0.01, 0.1, 0.1], mesh = "MESH" }
"#;

/// Four triangles in each of the formats.
fn meshes() -> [(&'static str, Vec<u8>); 3] {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0_f32],
    ];
    let faces = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3_usize]];
    let mut object: String = points
        .iter()
        .map(|[x, y, z]| format!("v {x} {y} {z}\n"))
        .collect();
    let mut solid = String::from("solid four\n");
    let mut binary = vec![0; 80];
    binary.extend(4_u32.to_le_bytes());
    for face in faces {
        object += &format!("f {} {}/1/1 -{}\n", face[0] + 1, face[1] + 1, 4 - face[2]);
        solid += "facet normal 0 0 1\nouter loop\n";
        binary.extend([0; 12]);
        for [x, y, z] in face.map(|corner| points[corner]) {
            solid += &format!("vertex {x} {y} {z}\n");
            binary.extend([x, y, z].into_iter().flat_map(f32::to_le_bytes));
        }
        solid += "endloop\nendfacet\n";
        binary.extend([0; 2]);
    }
    solid += "endsolid four\n";
    [
        ("obj", object.into_bytes()),
        ("stl", solid.into_bytes()),
        ("stl", binary),
    ]
}

/// A body that is drawn by a file.
pub fn mesh(random: &mut Random, folder: &Path) -> Result<(), String> {
    let all = meshes();
    let (ending, whole) = random.one_of(&all);
    let damaged = match std::str::from_utf8(whole) {
        Ok(whole) if random.below(2) == 0 => text(random, whole, whole).into_bytes(),
        _ => bytes(random, whole),
    };
    let name = format!("damaged.{ending}");
    write(&folder.join(&name), damaged);
    write(&folder.join("drawn.toml"), DRAWN.replace("MESH", &name));
    let model = ModelFile::new(folder.join("drawn.toml")).read();
    let model = model.map_err(|_| "the whole model is refused")?;
    let mut simulation = model.simulation().map_err(|error| error.to_string())?;
    let values = first_row(&mut simulation).map_err(|error| error.to_string())?;
    let all = simulation.columns();
    let chosen = model.recorded(all).map_err(|error| error.to_string())?;
    let (film, _) = Staging::of_run(&model, all, &values, &chosen);
    let told = serde_json::to_string(&film.scene).map_err(|error| error.to_string())?;
    // JSON has no such numbers: they are shown as nothing.
    match film.rows.iter().any(|value| value.is_nan()) || told.contains("[null") {
        true => Err("the scene has a number that is none".into()),
        false => Ok(()),
    }
}

/// Robots in other formats.
pub struct Robots {
    texts: Vec<String>,
}

impl Robots {
    pub fn new() -> Self {
        let data = root().join("crates/import/tests/data");
        let mut paths = Vec::new();
        for folder in [&data, &data.join("mjcf")] {
            let files = std::fs::read_dir(folder).expect("robots");
            paths.extend(files.filter_map(|file| Some(file.ok()?.path())));
        }
        paths.retain(|path| {
            path.extension()
                .is_some_and(|ending| ending == "urdf" || ending == "xml")
        });
        paths.sort();
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a robot");
        Self {
            texts: paths.iter().map(read).collect(),
        }
    }

    /// Converts a damaged file, and runs what comes of it.
    pub fn convert(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        let (original, other) = (random.one_of(&self.texts), random.one_of(&self.texts));
        let damaged = match random.below(4) {
            0 => String::from_utf8_lossy(&bytes(random, original.as_bytes())).into_owned(),
            _ => text(random, original, other),
        };
        let path = folder.join("damaged.urdf");
        write(&path, &damaged);
        let options = oldham_import::Options {
            free: random.below(2) == 0,
            contacts: random.below(3) == 0,
            servos: random.below(2) == 0,
            density: (random.below(2) == 0).then_some(1000.0),
            ..Default::default()
        };
        match oldham_import::convert(&path, &options) {
            Ok(converted) => run(&ModelFile::of_text("converted.toml", converted.model)),
            Err(_) => Ok(()),
        }
    }
}

/// Results in each of the formats, and what was left of a run that was killed.
pub struct Results {
    whole: Vec<(&'static str, Vec<u8>)>,
}

/// A short run whose results go to a file.
fn solved(folder: &Path, name: &str, options: &RunOptions) -> PathBuf {
    let file = ModelFile::new(root().join("examples/two-mass-tight.toml"))
        .set("simulation.duration", 0.05);
    let model = file.read().expect("an example");
    let out = folder.join(name);
    let run = PreparedRun::new(&file, &model, &out, options).expect("a run");
    run.solve(None, &mut |_| {})
        .expect("results")
        .outcome
        .end
        .expect("an end");
    out
}

impl Results {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut whole = Vec::new();
        for (ending, name) in [("parquet", "whole.parquet"), ("csv", "whole.csv")] {
            let out = solved(folder.path(), name, &RunOptions::default());
            whole.push((ending, std::fs::read(out).expect("results")));
        }
        // As a killed run leaves it.
        let path = folder.path().join("stream.parquet");
        let writer = ResultWriter::create(&path, &columns(), &Metadata::default(), false);
        let mut writer = writer.expect("a stream");
        for row in 0..100 {
            let row = f64::from(row);
            writer.record(0.1 * row, &[row; 3]).expect("a row");
        }
        let partial = std::fs::read(writer.partial_path()).expect("the stream of a run");
        whole.push(("partial", partial));
        Self { whole }
    }

    pub fn read(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        let (ending, whole) = random.one_of(&self.whole);
        let path = folder.join(format!("damaged.{ending}"));
        write(&path, bytes(random, whole));
        if let Ok(table) = oldham_results::read(&path) {
            let _ = ModelFile::of_result(&table, &path).map(|file| file.read().is_ok());
        }
        let _ = oldham_results::read_some(&path, &|name| name == "left.x1.x");
        Ok(())
    }
}

fn columns() -> Vec<Column> {
    let file = ModelFile::new(root().join("examples/two-mass-tight.toml"));
    let model = file.read().expect("an example");
    let simulation = model.simulation().expect("a simulation");
    simulation.columns()[..3].to_vec()
}

/// A checkpoint of a run.
pub struct Saved {
    bytes: Vec<u8>,
    model: Model,
}

const DIGEST: &str = "digest";

impl Saved {
    pub fn new() -> Self {
        let file = ModelFile::new(root().join("examples/two-mass-tight.toml"));
        let model = file.read().expect("an example");
        let mut simulation = model.simulation().expect("a simulation");
        simulation.steps(3).expect("steps");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("whole.checkpoint");
        let saved = simulation.checkpoint(DIGEST).expect("a checkpoint");
        saved.write(&path).expect("a file");
        let bytes = std::fs::read(path).expect("a file");
        Self { bytes, model }
    }

    /// Half of them have a right checksum.
    pub fn restore(&self, random: &mut Random, folder: &Path) -> Result<(), String> {
        let mut damaged = bytes(random, &self.bytes);
        if random.below(2) == 0 {
            let content = damaged.len().saturating_sub(4);
            let sum = crc32(&damaged[..content]);
            damaged.truncate(content);
            damaged.extend(sum.to_le_bytes());
        }
        let path = folder.join("damaged.checkpoint");
        write(&path, damaged);
        let Ok(checkpoint) = Checkpoint::read(&path) else {
            return Ok(());
        };
        let mut simulation = self.model.simulation().map_err(|error| error.to_string())?;
        if simulation.restore(&checkpoint, DIGEST).is_err() {
            return Ok(());
        }
        match simulation.steps(STEPS) {
            Err(panic @ Fault::Panic { .. }) => Err(panic.to_string()),
            _ => Ok(()),
        }
    }
}

/// A calibration or a recording of a steering wheel.
pub fn wheel(random: &mut Random, folder: &Path) -> Result<(), String> {
    let events = include_bytes!("../../../wheel/tests/data/g29.events");
    let path = folder.join("damaged.events");
    write(&path, bytes(random, events));
    let _ = Recording::open(&path);
    let read = std::fs::read(&path).map_err(|error| error.to_string())?;
    Event::all(&read).for_each(|event| {
        let _ = event.what();
    });
    let axis = |code, low, high, reading| oldham_wheel::Axis {
        code: oldham_wheel::AxisCode(code),
        low,
        high,
        reading,
    };
    let axes = [
        axis(0, 0, 65_535, 32_767),
        axis(1, 0, 255, 255),
        axis(2, 0, 255, 255),
    ];
    let inputs = ["steering", "throttle", "brake"].map(str::to_owned);
    let whole = Calibration::likely("a wheel", &axes, &inputs).to_text();
    let path = folder.join("damaged.toml");
    write(&path, text(random, &whole, &whole));
    let Ok(calibration) = Calibration::read(&path) else {
        return Ok(());
    };
    match calibration.to_text().to_lowercase().contains("nan") {
        true => Err("a calibration with a number that is none".into()),
        false => Ok(()),
    }
}

/// A server with a stage.
pub struct Served {
    server: Server,
    _stage: Stage,
}

impl Served {
    pub fn new() -> Self {
        let film = Film {
            scene: Scene {
                title: "Served".into(),
                width: 1,
                ..Scene::default()
            },
            times: vec![0.0],
            rows: vec![0.0],
        };
        let stage = Stage::new(vec![0.5], |_| {});
        let any = std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
        let server = Server::start(any, &film, Some(stage.clone())).expect("a server");
        Self {
            server,
            _stage: stage,
        }
    }

    fn head(&self, target: &str, more: &str) -> String {
        format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\n{more}\r\n",
            self.server.address()
        )
    }

    /// A damaged head, or a whole one and then damaged frames; the server still answers.
    pub fn send(&self, random: &mut Random) -> Result<(), String> {
        let token = self.server.token();
        let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        let live = self.head(&format!("/live?token={token}"), upgrade);
        let messages = [
            r#"{"wish": "set", "input": 0, "value": 0.25}"#,
            r#"{"wish": "drive"}"#,
            r#"{"wish": "pause"}"#,
            r#"{"wish": "reset"}"#,
        ];
        let sent = match random.below(3) {
            0 => bytes(random, live.as_bytes()),
            _ => {
                let message = *random.one_of(&messages);
                let message = text(random, message, messages[0]);
                let frame = masked(random, message.as_bytes());
                [live.into_bytes(), bytes(random, &frame)].concat()
            }
        };
        let failed = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect(self.server.address()).map_err(failed)?;
        stream
            .set_read_timeout(Some(Duration::from_millis(5)))
            .map_err(failed)?;
        let _ = stream.write_all(&sent);
        let _ = stream.read(&mut [0; 1024]);
        drop(stream);
        self.answers()
    }

    fn answers(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("the server does not answer: {error}");
        let mut stream = TcpStream::connect(self.server.address()).map_err(failed)?;
        stream
            .set_read_timeout(Some(Duration::from_secs(15)))
            .map_err(failed)?;
        let target = format!("/?token={}", self.server.token());
        stream
            .write_all(self.head(&target, "").as_bytes())
            .map_err(failed)?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).map_err(failed)?;
        match &answer {
            b"HTTP/1.1 200" => Ok(()),
            // All places are taken by those that were damaged: they are free again after five seconds.
            b"HTTP/1.1 503" => {
                std::thread::sleep(Duration::from_millis(200));
                self.answers()
            }
            other => Err(format!(
                "the server answers {}",
                String::from_utf8_lossy(other)
            )),
        }
    }
}

/// A frame as browsers send it.
fn masked(random: &mut Random, message: &[u8]) -> Vec<u8> {
    let opcode = *random.one_of(&[0x81, 0x82, 0x88, 0x89, 0x8a, 0x01, 0x80, 0xc1]);
    let mut frame = vec![opcode, 0x80 | message.len().min(125) as u8];
    let mask = [1, 2, 3, 4];
    frame.extend(mask);
    let pairs = message.iter().zip(mask.iter().cycle());
    frame.extend(pairs.map(|(byte, mask)| byte ^ mask));
    frame
}
