//! Couplings of FMUs beyond their limit: the verdict, what the run then does, and the remedy.

#[path = "../../fmi/tests/support/mod.rs"]
mod support;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use oldham_cosim::{InMemory, Run};
use oldham_fmi::{Causality, Package};
use oldham_study::{Advice, Case, ModelFile};
use support::pack;
use tempfile::TempDir;

/// One of the FMUs of the benchmark: three masses in a row, or three that hang on a point that moves.
fn chain(folder: &Path, name: &str, variables: [(&str, &str, &str); 3], depends: &str) {
    let flags: &[&str] = match name {
        "grip" => &["-DGRIP"],
        _ => &[],
    };
    let mut text = format!(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{name}\" guid=\"\">\
         <CoSimulation modelIdentifier=\"{name}\" canHandleVariableCommunicationStepSize=\"true\" \
         canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"/><UnitDefinitions>\
         <Unit name=\"N\"><BaseUnit kg=\"1\" m=\"1\" s=\"-2\"/></Unit><Unit name=\"m\"><BaseUnit m=\"1\"/></Unit>\
         <Unit name=\"m/s\"><BaseUnit m=\"1\" s=\"-1\"/></Unit></UnitDefinitions><ModelVariables>"
    );
    let mut unknown = String::new();
    for (place, (variable, causality, unit)) in variables.into_iter().enumerate() {
        let start = if causality == "input" {
            " start=\"0\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<ScalarVariable name=\"{variable}\" valueReference=\"{place}\" causality=\"{causality}\" \
             variability=\"continuous\"><Real unit=\"{unit}\"{start}/></ScalarVariable>"
        );
        if causality == "output" {
            let index = place + 1;
            let _ = write!(
                unknown,
                "<Unknown index=\"{index}\" dependencies=\"{depends}\"/>"
            );
        }
    }
    let _ = write!(
        text,
        "</ModelVariables><ModelStructure><Outputs>{unknown}</Outputs></ModelStructure></fmiModelDescription>"
    );
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/fmu/chain.c");
    let path = pack(folder, name, &source, flags, &text);
    let package = Package::open(&path).unwrap();
    assert_eq!(
        package.description().of(Causality::Input).count() + 1,
        2 + usize::from(name == "grip")
    );
}

fn fmus(folder: &Path) {
    let motion = |causality| [("position", causality, "m"), ("velocity", causality, "m/s")];
    let [x, v] = motion("output");
    chain(folder, "chain", [("force", "input", "N"), x, v], "");
    let [x, v] = motion("input");
    chain(folder, "grip", [x, v, ("force", "output", "N")], "1 2");
}

const FMUS: &str = r#"
model.name = "Two FMUs with three signals"
simulation = { duration = 40, step = 0.01 }
fmu.chain = { file = "chain.fmu" }
fmu.grip = { file = "grip.fmu" }
[[connection]]
from = "chain.position"
to = "grip.position"
[[connection]]
from = "chain.velocity"
to = "grip.velocity"
[[connection]]
from = "grip.force"
to = "chain.force"
"#;

/// A sledge on a spring, and the hanging masses on it.
const MECHANISM: &str = r#"
model.name = "A mechanism and an FMU"
simulation = { duration = 40, step = 0.01 }
[multibody.sledge]
gravity = [0, 0, 0]
nodes.a = { position = [0, 0, 0], velocity = [0, 0, 0.1] }
bodies.a = { node = "a", mass = 1, inertia = [1, 1, 1] }
joints.rail = { type = "prismatic", between = ["ground", "a"], axis = [0, 0, 1] }
springs.home = { between = ["ground", "a"], points = [[0, 0, -1], [0, 0, 0]], stiffness = 400, damping = 0.4 }
loads.pull = { on = "a", force = [0, 0, { input = "pull" }] }
inputs.pull = { scalar = "N" }
outputs.a = { translation = "a", axis = [0, 0, 1] }
[fmu.grip]
file = "grip.fmu"
ports.hub = { x = "position", v = "velocity", force = "force" }
[[connection]]
from = "sledge.a"
to = "grip.hub.motion"
[[connection]]
from = "grip.hub.force"
to = "sledge.pull"
"#;

/// A signal in every step of a run, as far as that comes.
fn run(file: &ModelFile, signal: &str, steps: u64) -> Vec<f64> {
    let model = file.read().unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = model.simulation().unwrap();
    let mut columns = simulation.columns().iter();
    let place = columns.position(|column| column.name == signal);
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        record_every: 1,
        ..Run::new(steps, &mut rows)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
    rows.column(place.unwrap_or_else(|| panic!("no {signal}")))
}

/// The determinant of three values, ten steps apart: of a motion r^n cos(n w + f) it is -(r^n sin 10 w)^2, at every n.
fn determinant(values: &[f64], n: usize) -> f64 {
    values[n - 10] * values[n + 10] - values[n] * values[n]
}

/// The verdict is that the coupling grows; the run grows as it says; and what helps is stable by a new measurement and in
/// the run.
fn verdict_run_remedy(text: &str, signal: &str) {
    let folder = TempDir::new().unwrap();
    fmus(folder.path());
    let path = folder.path().join("model.toml");
    std::fs::write(&path, text).unwrap();
    let file = ModelFile::new(&path);
    let model = file.read().unwrap_or_else(|error| panic!("{error}"));
    let advice = Advice::on(&Case::of(&model, &file), Some(Duration::from_secs(120)));
    let verdict = advice.verdict.as_ref().unwrap();
    assert!(verdict.is_unstable(), "{}", verdict.radius);
    // The other modes decay meanwhile.
    let (first, last) = (1500, 3000);
    let values = run(&file, signal, last as u64 + 20);
    let grown = (determinant(&values, last) / determinant(&values, first)).sqrt();
    let told = verdict.radius.powi((last - first) as i32);
    assert!(told > 10.0, "{told}");
    assert!((grown / told - 1.0).abs() < 0.01, "{grown} {told}");
    assert!(!advice.remedies.is_empty());
    for remedy in &advice.remedies {
        let better = file.with(remedy);
        let model = better.read().unwrap();
        let again = Case::of(&model, &better).spectrum(None).unwrap().1;
        assert!(again.is_stable(), "{remedy:?}: {}", again.radius);
        let values = run(&better, signal, 4000);
        let size = |values: &[f64]| values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let (early, late) = (size(&values[..1000]), size(&values[3000..]));
        assert!(late < early, "{remedy:?}: {early} {late}");
    }
}

#[test]
fn two_fmus_beyond_their_limit() {
    verdict_run_remedy(FMUS, "chain.position");
}

#[test]
fn an_fmu_on_a_mechanism_beyond_its_limit() {
    verdict_run_remedy(MECHANISM, "sledge.a.x");
}
