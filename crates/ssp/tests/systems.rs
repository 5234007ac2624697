//! Systems written by hand: what they become, what their runs give, and where their problems are told.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use oldham_cosim::{Recorder, Run, Simulation};
use oldham_model::{Extensions, Model, Overrides};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The library of the mass of the tests of FMUs, as an FMU with its description changed as is wanted.
fn mass(folder: &Path, change: impl Fn(String) -> String) -> Vec<u8> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmi/tests/sources");
    let library = folder.join("mass.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-ffp-contract=off", "-o"])
        .arg(&library)
        .arg(sources.join("mass2.c"))
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let text = change(std::fs::read_to_string(sources.join("mass2.xml")).unwrap());
    let path = folder.join("mass.fmu");
    oldham_fmi::pack(&path, &text, "mass", &std::fs::read(library).unwrap()).unwrap();
    std::fs::read(path).unwrap()
}

fn packed(path: &Path, files: &[(&str, &[u8])]) -> PathBuf {
    let mut archive = ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in files {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
    path.to_owned()
}

/// A system with this inside.
fn ssd(version: &str, inside: &str, after: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
  xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"
  name="two masses" version="{version}">
<ssd:System name="root">
{inside}
</ssd:System>
{after}
</ssd:SystemStructureDescription>"#
    )
}

const EXPERIMENT: &str = r#"<ssd:DefaultExperiment startTime="0" stopTime="0.5"/>"#;

fn component(name: &str, inside: &str) -> String {
    format!(
        r#"<ssd:Component name="{name}" source="resources/mass.fmu"><ssd:Connectors>
<ssd:Connector name="force" kind="input"><ssc:Real unit="N"/></ssd:Connector>
<ssd:Connector name="velocity" kind="output"><ssc:Real unit="m/s"/></ssd:Connector>
<ssd:Connector name="position" kind="output"><ssc:Real unit="mm"/></ssd:Connector>
</ssd:Connectors>{inside}</ssd:Component>"#
    )
}

fn bound(parameters: &str) -> String {
    format!(
        r#"<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="p"><ssv:Parameters>
{parameters}</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"#
    )
}

fn real(name: &str, value: &str, more: &str) -> String {
    format!(r#"<ssv:Parameter name="{name}"><ssv:Real value="{value}" {more}/></ssv:Parameter>"#)
}

fn kinds() -> Extensions {
    let mut kinds = Extensions::new();
    oldham_fmi::register(&mut kinds);
    kinds
}

fn model(path: &Path) -> Model {
    let source = oldham_ssp::source(path).unwrap_or_else(|error| panic!("{error}"));
    let text = source.file_text().to_owned();
    Model::of(source, &Overrides::none(), &kinds())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The values of a signal.
fn run(model: &Model, signal: &str) -> Vec<f64> {
    let mut simulation = model.simulation().unwrap();
    let steps = (model.duration() / model.step()).round() as u64;
    run_for(&mut simulation, steps, signal)
}

fn run_for(simulation: &mut Simulation, steps: u64, signal: &str) -> Vec<f64> {
    struct Kept(Vec<f64>, usize);
    impl Recorder for Kept {
        fn record(&mut self, _t: f64, row: &[f64]) -> std::io::Result<()> {
            self.0.push(row[self.1]);
            Ok(())
        }
    }
    let mut columns = simulation.columns().iter();
    let place = columns.position(|column| column.name == signal);
    let mut kept = Kept(Vec::new(), place.unwrap_or_else(|| panic!("no {signal}")));
    let outcome = simulation.run(Run {
        record_every: 1,
        ..Run::new(steps, &mut kept)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
    kept.0
}

/// The same pair of masses as a model file.
fn by_hand(folder: &Path, gain: &str) -> Model {
    let text = format!(
        r#"
model.name = "two masses"
simulation = {{ duration = 0.5, step = 5e-4 }}
fmu.a = {{ file = "mass.fmu", parameters = {{ mass = 2, stiffness = 40, velocity = 0.3 }} }}
fmu.b = {{ file = "mass.fmu", parameters = {{ mass = 1, damping = 0.2 }} }}
[[connection]]
from = "a.velocity"
to = "b.force"
{gain}
[[connection]]
from = "b.velocity"
to = "a.force"
gain = -0.7
"#
    );
    let path = folder.join("by-hand.toml");
    std::fs::write(&path, text).unwrap();
    Model::read_with(&path, &Overrides::none(), &kinds()).unwrap_or_else(|error| panic!("{error}"))
}

const COUPLED: &str = r#"<ssd:Connections>
<ssd:Connection startElement="a" startConnector="velocity" endElement="b" endConnector="force" suppressUnitConversion="true"><ssc:LinearTransformation factor="1.5" offset="0.25"/></ssd:Connection>
<ssd:Connection startElement="a" startConnector="force" endElement="b" endConnector="velocity" suppressUnitConversion="true"><ssc:LinearTransformation factor="-0.7"/></ssd:Connection>
</ssd:Connections>"#;

#[test]
fn a_system_moves_as_the_same_model_file_does() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = mass(folder, |text| text);
    let a = component(
        "a",
        &bound(
            &(real("mass", "2", "") + &real("stiffness", "40", "") + &real("velocity", "0.3", "")),
        ),
    );
    let b = component(
        "b",
        &bound(&(real("mass", "1", "") + &real("damping", "0.2", ""))),
    );
    let text = ssd(
        "1.0",
        &format!("<ssd:Elements>{a}{b}</ssd:Elements>{COUPLED}"),
        EXPERIMENT,
    );
    let path = packed(
        &folder.join("pair.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
        ],
    );
    let expected = by_hand(folder, "gain = 1.5\noffset = 0.25");
    let found = model(&path);
    for signal in ["a.velocity", "b.position"] {
        let found = run(&found, signal);
        assert_eq!(found.len(), 1001);
        assert!(found.iter().any(|value| value.abs() > 1e-3));
        assert_eq!(found, run(&expected, signal), "{signal}");
    }
    // Unpacked, and by the name of its description.
    std::fs::create_dir(folder.join("resources")).unwrap();
    std::fs::write(folder.join("resources/mass.fmu"), &fmu).unwrap();
    std::fs::write(folder.join("SystemStructure.ssd"), &text).unwrap();
    let unpacked = model(&folder.join("SystemStructure.ssd"));
    assert_eq!(run(&unpacked, "b.position"), run(&found, "b.position"));
    let other = packed(
        &folder.join("variants.ssp"),
        &[("Other.ssd", text.as_bytes()), ("resources/mass.fmu", &fmu)],
    );
    let variant = PathBuf::from(format!("{}#Other.ssd", other.display()));
    assert_eq!(
        run(&model(&variant), "b.position"),
        run(&found, "b.position")
    );
}

/// The same pair in systems of systems, with parameters from files, mapped, in other units, from above, and by connections.
#[test]
fn systems_and_parameters_in_each_other() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = mass(folder, |text| {
        text.replace(
            r#"name="mass" valueReference="3" causality="parameter" variability="fixed"><Real start="1"/>"#,
            r#"name="mass" valueReference="3" causality="parameter" variability="fixed"><Real start="1" unit="kg"/>"#,
        )
        .replace("<UnitDefinitions>", r#"<UnitDefinitions><Unit name="kg"><BaseUnit kg="1"/></Unit>"#)
    });
    // a lies in a system of its own, whose connectors hand force and velocity on; its mass comes over a connection.
    let own = r#"<ssd:Connectors><ssd:Connector name="push" kind="input"><ssc:Real unit="N"/></ssd:Connector>
<ssd:Connector name="speed" kind="output"><ssc:Real/></ssd:Connector><ssd:Connector name="weight" kind="parameter"><ssc:Real unit="kg"/></ssd:Connector></ssd:Connectors>"#;
    let inner = format!(
        r#"<ssd:System name="left">{own}<ssd:ParameterBindings><ssd:ParameterBinding source="left.ssv"><ssd:ParameterMapping source="left.ssm"/></ssd:ParameterBinding></ssd:ParameterBindings>
<ssd:Elements>{}</ssd:Elements><ssd:Connections>
<ssd:Connection startConnector="push" endElement="a" endConnector="force"/><ssd:Connection startElement="a" startConnector="velocity" endConnector="speed"/>
<ssd:Connection startConnector="weight" endElement="a" endConnector="mass"/></ssd:Connections></ssd:System>"#,
        component("a", "").replace(
            "</ssd:Connectors>",
            r#"<ssd:Connector name="mass" kind="parameter"/></ssd:Connectors>"#
        )
    );
    let values = format!(
        r#"<ParameterSet version="1.0" name="left"><Parameters>{}{}{}</Parameters><Units><Unit name="g"><BaseUnit kg="1" factor="1e-3"/></Unit></Units></ParameterSet>"#,
        r#"<Parameter name="w"><Real value="2000" unit="g"/></Parameter>"#,
        r#"<Parameter name="k"><Real value="15"/></Parameter>"#,
        r#"<Parameter name="unused"><Real value="15"/></Parameter>"#
    );
    let mapping = r#"<ParameterMapping version="1.0"><MappingEntry source="w" target="weight"/>
<MappingEntry source="k" target="a.stiffness"><LinearTransformation factor="2" offset="10"/></MappingEntry></ParameterMapping>"#;
    let top = bound(&(real("left.a.velocity", "0.3", "") + &real("b.damping", "0.2", "")));
    // The damping that b is given nearer to it counts less than that from above.
    let b = component("b", &bound(&real("damping", "7", "")));
    let connections = r#"<ssd:Connections>
<ssd:Connection startElement="left" startConnector="speed" endElement="b" endConnector="force" suppressUnitConversion="true"><ssc:LinearTransformation factor="1.5"/></ssd:Connection>
<ssd:Connection startElement="b" startConnector="velocity" endElement="left" endConnector="push" suppressUnitConversion="true"><ssc:LinearTransformation factor="-0.7"/></ssd:Connection></ssd:Connections>"#;
    let text = ssd(
        "1.0",
        &format!("{top}<ssd:Elements>{inner}{b}</ssd:Elements>{connections}"),
        EXPERIMENT,
    );
    let path = packed(
        &folder.join("nested.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
            ("left.ssv", values.as_bytes()),
            ("left.ssm", mapping.as_bytes()),
        ],
    );
    let expected = by_hand(folder, "gain = 1.5");
    let found = model(&path);
    assert_eq!(run(&found, "b.position"), run(&expected, "b.position"));
    assert_eq!(run(&found, "left_a.velocity"), run(&expected, "a.velocity"));

    // The inner system in a file, and in a package of its own.
    let left = ssd("1.0", "", "")
        .replace(r#"<ssd:System name="root">"#, "")
        .replace("</ssd:System>", "");
    let left = left.replace(r#"version="1.0">"#, &format!(r#"version="1.0">{inner}"#));
    let reference = |source: &str, kind: &str| {
        let inner = format!(
            r#"<ssd:Component name="left" type="application/x-ssp-{kind}" source="{source}">{own}</ssd:Component>"#
        );
        ssd(
            "2.0",
            &format!("{top}<ssd:Elements>{inner}{b}</ssd:Elements>{connections}"),
            EXPERIMENT,
        )
    };
    let text = reference("parts/left.ssd", "definition");
    let path = packed(
        &folder.join("by-file.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
            ("parts/left.ssd", left.as_bytes()),
            ("parts/resources/mass.fmu", &fmu),
            ("parts/left.ssv", values.as_bytes()),
            ("parts/left.ssm", mapping.as_bytes()),
        ],
    );
    assert_eq!(
        run(&model(&path), "b.position"),
        run(&expected, "b.position")
    );
    let package = packed(
        &folder.join("left.ssp"),
        &[
            ("SystemStructure.ssd", left.as_bytes()),
            ("resources/mass.fmu", &fmu),
            ("left.ssv", values.as_bytes()),
            ("left.ssm", mapping.as_bytes()),
        ],
    );
    let text = reference("parts/left.ssp", "package");
    let path = packed(
        &folder.join("by-package.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
            ("parts/left.ssp", &std::fs::read(package).unwrap()),
        ],
    );
    assert_eq!(
        run(&model(&path), "b.position"),
        run(&expected, "b.position")
    );
}

/// Units of connectors and transformations in them, inputs of the system, and a dictionary of signals.
#[test]
fn signals_have_units_and_may_come_from_outside() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = mass(folder, |text| text);
    // The position of a, in mm, becomes a force over a dictionary: 3 N per mm of it and 0.5 N more.
    let inside = format!(
        r#"<ssd:Connectors><ssd:Connector name="drive" kind="input"><ssc:Real unit="kN"/></ssd:Connector>
<ssd:Connector name="result" kind="output"><ssc:Real unit="mm"/></ssd:Connector></ssd:Connectors>
<ssd:Elements>{}{}
<ssd:SignalDictionaryReference name="bus" dictionary="signals"><ssd:Connectors><ssd:Connector name="way" kind="inout"><ssc:Real unit="m"/></ssd:Connector></ssd:Connectors></ssd:SignalDictionaryReference>
</ssd:Elements>
<ssd:Connections><ssd:Connection startConnector="drive" endElement="a" endConnector="force"/>
<ssd:Connection startElement="a" startConnector="position" endElement="bus" endConnector="way"/>
<ssd:Connection startElement="bus" startConnector="way" endElement="b" endConnector="force" suppressUnitConversion="true"><ssc:LinearTransformation factor="3000" offset="0.5"/></ssd:Connection>
<ssd:Connection startElement="b" startConnector="position" endConnector="result"/>
</ssd:Connections>
<ssd:SignalDictionaries><ssd:SignalDictionary name="signals"><ssb:SignalDictionary version="1.0"><ssb:DictionaryEntry name="way"><ssc:Real unit="m"/></ssb:DictionaryEntry></ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>"#,
        component("a", &bound(&real("stiffness", "40", ""))),
        component("b", "")
    );
    let units = r#"<ssd:Units><ssc:Unit name="kN"><ssc:BaseUnit kg="1" m="1" s="-2" factor="1000"/></ssc:Unit>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit></ssd:Units>"#;
    let text = ssd("1.0", &inside, &format!("{units}{EXPERIMENT}"));
    let path = packed(
        &folder.join("driven.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
        ],
    );
    let system = oldham_ssp::read(&path, "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (system.parts, system.connections),
        (2, 1),
        "{}",
        system.text
    );
    assert!(
        system.text.contains("# Output result: b.position"),
        "{}",
        system.text
    );
    let mut overrides = Overrides::none();
    overrides.0.push(("drive".into(), "20".into()));
    let driven = Model::of(oldham_ssp::source(&path).unwrap(), &overrides, &kinds());
    let driven = driven.unwrap_or_else(|error| panic!("{error}\n{}", system.text));
    let hand = r#"
model.name = "by hand"
simulation = { duration = 0.5, step = 5e-4 }
fmu.a = { file = "mass.fmu", parameters = { stiffness = 40 } }
fmu.b = { file = "mass.fmu" }
[[connection]]
from = "a.position"
to = "b.force"
gain = 3000
offset = 0.5
[excitation]
"a.force" = "20"
"#;
    let hand_path = folder.join("hand.toml");
    std::fs::write(&hand_path, hand).unwrap();
    let hand = Model::read_with(&hand_path, &Overrides::none(), &kinds()).unwrap();
    assert_eq!(run(&driven, "b.position"), run(&hand, "b.position"));
}

/// Without what stands between these.
fn without(mut text: String, begin: &str, end: &str) -> String {
    while let Some(start) = text.find(begin) {
        let behind = start + begin.len();
        let length = text[behind..].find(end).unwrap() + end.len();
        text.replace_range(start..behind + length, "");
    }
    text
}

/// Three masses, as PyPI's pyssp_standard writes them; what FMPy's reader of systems, a loop of FMPy's calls and libcosim
/// find (`oracles/systems.py`).
#[test]
fn a_system_of_another_program_runs_as_in_others() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let oracles = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles");
    let fmu = mass(folder, |text| without(text, " unit=\"", "\""));
    let [system, values] =
        ["ring.ssd", "ring.ssv"].map(|name| std::fs::read(oracles.join(name)).unwrap());
    let path = packed(
        &folder.join("ring.ssp"),
        &[
            ("SystemStructure.ssd", &system),
            ("resources/ring.ssv", &values),
            ("resources/mass.fmu", &fmu),
        ],
    );
    let told = std::fs::read_to_string(oracles.join("ring.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let overrides = Overrides(vec![("simulation.step".into(), told["step"].to_string())]);
    let model = Model::of(oldham_ssp::source(&path).unwrap(), &overrides, &kinds());
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    for (place, signal) in told["signals"].as_array().unwrap().iter().enumerate() {
        let found = run(&model, signal.as_str().unwrap());
        // The rows of two of them begin at the end of the first step.
        for (name, first) in [("fmpy_calls", 0), ("fmpy_ssp", 1), ("libcosim", 1)] {
            let rows = told[name].as_array().unwrap();
            assert_eq!(rows.len(), found.len() - first, "{name}");
            for (row, found) in rows.iter().zip(&found[first..]) {
                let expected = row[place].as_f64().unwrap();
                let error = (found - expected).abs() / expected.abs().max(1e-3);
                assert!(error < 1e-12, "{name}, {signal}: {found} {expected}");
            }
        }
    }
}

#[test]
fn problems_are_told_where_they_are() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = mass(folder, |text| text);
    let a = component("a", "");
    let b = component("b", "");
    let problem = |inside: &str, after: &str, line: usize, message: &str| {
        let text = ssd("1.0", inside, after);
        let path = packed(
            &folder.join("wrong.ssp"),
            &[
                ("SystemStructure.ssd", text.as_bytes()),
                ("resources/mass.fmu", &fmu),
            ],
        );
        let error = oldham_ssp::source(&path).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(message), "{message}: {told}");
        let first = error.iter().next().unwrap();
        assert_eq!(error.locate(first).line, line, "{told}");
    };
    let pair = |connections: &str| {
        format!(
            "<ssd:Elements>\n{a}{b}</ssd:Elements><ssd:Connections>\n{connections}</ssd:Connections>"
        )
    };
    let connection = |start: &str, end: &str, inside: &str| {
        let [[a, x], [b, y]] = [start, end].map(|end| {
            let (element, connector) = end.split_once('.').unwrap();
            [element.to_owned(), connector.to_owned()]
        });
        format!(
            r#"<ssd:Connection startElement="{a}" startConnector="{x}" endElement="{b}" endConnector="{y}">{inside}</ssd:Connection>"#
        )
    };
    // Two components of five lines each begin in line 8; connections in line 17.
    let line = 17;
    problem(
        &pair(&connection("a.speed", "b.force", "")),
        "",
        line,
        "no connector `a.speed`",
    );
    problem(
        &pair(&connection("a.velocity", "b.position", "")),
        "",
        line,
        "both send, or both receive",
    );
    problem(
        &pair(&connection("a.velocity", "c.force", "")),
        "",
        line,
        "no connector `c.force`",
    );
    problem(
        &pair(&connection("a.position", "b.force", "")),
        "",
        line,
        "units at its ends do not fit: m and N",
    );
    let transformed = r#"<ssc:BooleanMappingTransformation/>"#;
    problem(
        &pair(&connection("a.velocity", "b.force", transformed)),
        "",
        line,
        "BooleanMappingTransformation is not supported",
    );
    let suppressed = connection("a.velocity", "b.force", "")
        .replace("><", r#" suppressUnitConversion="true"><"#);
    problem(
        &pair(&(suppressed.clone() + &suppressed)),
        "",
        line,
        "`b.force` is fed twice",
    );
    let with = |a: String| format!("<ssd:Elements>\n{a}</ssd:Elements>");
    problem(
        &with(a.replace("resources/mass.fmu", "resources/other.fmu")),
        "",
        8,
        "resources/other.fmu` cannot be read",
    );
    problem(
        &with(a.replace("resources/mass.fmu", "../mass.fmu")),
        "",
        8,
        "outside of the package",
    );
    problem(
        &with(a.replace("resources/mass.fmu", "%2e%2e/mass.fmu")),
        "",
        8,
        "outside of the package",
    );
    problem(
        &with(a.replace("source=", r#"implementation="ModelExchange" source="#)),
        "",
        8,
        "has no such implementation",
    );
    problem(
        &with(a.replace("source=", r#"type="text/x-modelica" source="#)),
        "",
        8,
        "of the type text/x-modelica",
    );
    problem(
        &with(a.replace(r#"name="force""#, r#"name="forze""#)),
        "",
        8,
        "no variable `forze`",
    );
    problem(&with(format!("{a}{a}")), "", 12, "`a` is not unique");
    let binary = bound(r#"<ssv:Parameter name="mass"><ssv:Binary value="00"/></ssv:Parameter>"#);
    problem(
        &with(component("a", &binary)),
        "",
        12,
        "values of the type Binary are not supported",
    );
    let text = ssd("3.0", "", "");
    let path = packed(
        &folder.join("later.ssp"),
        &[("SystemStructure.ssd", text.as_bytes())],
    );
    let told = oldham_ssp::source(&path).unwrap_err().to_string();
    assert!(
        told.contains("it is of SSP 3.0; known are 1.0 and 2.0"),
        "{told}"
    );
    let empty = packed(&folder.join("empty.ssp"), &[("readme.txt", b"nothing")]);
    let told = oldham_ssp::source(&empty).unwrap_err().to_string();
    assert!(told.contains("the system cannot be read"), "{told}");
    // A system in itself, and a document that is not what it says.
    let own = r##"<ssd:System name="s" id="s"><ssd:Elements><ssd:Component name="s" source="#s"/></ssd:Elements></ssd:System>"##;
    problem(&with(own.into()), "", 8, "lie in each other");
}

/// An FMU of FMI 3 whose arrays are as long as its structural parameter says, 2 by itself: y = 2 x.
fn sized(folder: &Path) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmi/tests/sources/sized3.c");
    let library = folder.join("sized.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let text = r#"<fmiModelDescription fmiVersion="3.0" modelName="sized" instantiationToken="{1}"><CoSimulation modelIdentifier="sized"/>
<ModelVariables><Float64 name="x" valueReference="1" causality="input" start="0 0"><Dimension valueReference="3"/></Float64>
<Float64 name="y" valueReference="2" causality="output"><Dimension valueReference="3"/></Float64>
<UInt64 name="n" valueReference="3" causality="structuralParameter" variability="fixed" start="2"/>
</ModelVariables><ModelStructure><Output valueReference="2" dependencies="1"/></ModelStructure></fmiModelDescription>"#;
    let path = folder.join("sized.fmu");
    oldham_fmi::pack(&path, text, "sized", &std::fs::read(library).unwrap()).unwrap();
    std::fs::read(path).unwrap()
}

/// SSP 2.0: arrays at connectors and in sets of parameters, as long as structural parameters say.
#[test]
fn arrays_have_the_lengths_that_a_system_gives_them() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = sized(folder);
    let component = |name: &str, n: usize, more: &str| {
        let bound = bound(&format!(
            r#"<ssv:Parameter name="n"><ssv:UInt64 value="{n}"/></ssv:Parameter>{more}"#
        ))
        .replace(r#"version="1.0""#, r#"version="2.0""#);
        format!(
            r#"<ssd:Component name="{name}" source="resources/sized.fmu"><ssd:Connectors>
<ssd:Connector name="n" kind="structuralParameter"><ssc:UInt64/></ssd:Connector>
<ssd:Connector name="x" kind="input"><ssc:Float64/><ssd:Dimension size="{n}"/></ssd:Connector>
<ssd:Connector name="y" kind="output"><ssc:Float64/><ssd:Dimension size="{n}"/></ssd:Connector>
</ssd:Connectors>{bound}</ssd:Component>"#
        )
    };
    let package = |lengths: [usize; 2]| {
        let x = r#"<ssv:Parameter name="x"><ssv:Float64 value="1 -2 3.5 4"/></ssv:Parameter>"#;
        let inside = format!(
            r#"<ssd:Elements>{}{}</ssd:Elements><ssd:Connections>
<ssd:Connection startElement="a" startConnector="y" endElement="b" endConnector="x"/></ssd:Connections>"#,
            component("a", lengths[0], x),
            component("b", lengths[1], ""),
        );
        let text = ssd("2.0", &inside, EXPERIMENT);
        packed(
            &folder.join("arrays.ssp"),
            &[
                ("SystemStructure.ssd", text.as_bytes()),
                ("resources/sized.fmu", &fmu),
            ],
        )
    };
    let model = model(&package([4, 4]));
    let simulation = model.simulation().unwrap();
    let columns = simulation.columns().iter().map(|column| &column.name[..]);
    let names: Vec<&str> = columns.filter(|name| name.starts_with("b.y")).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for (name, expected) in names.iter().zip([4.0, -8.0, 14.0, 16.0]) {
        let found = run(&model, name);
        assert_eq!(*found.last().unwrap(), expected, "{name}");
    }
    // Other lengths at the ends of a connection do not fit, and a set has as many numbers as there are.
    for lengths in [[4, 3], [3, 3]] {
        let source = oldham_ssp::source(&package(lengths));
        let told = match source.map(|source| Model::of(source, &Overrides::none(), &kinds())) {
            Err(problems) => problems.to_string(),
            Ok(Err(problems)) => problems.to_string(),
            Ok(Ok(_)) => panic!("{lengths:?} is accepted"),
        };
        let part = if lengths[0] == 3 {
            "3 numbers, not 4"
        } else {
            "b"
        };
        assert!(told.contains(part), "{lengths:?}: {told}");
    }
}

/// Bits flipped and files cut off: an answer of some kind, soon, and no panic.
#[test]
fn damaged_packages_do_no_harm() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let fmu = mass(folder, |text| text);
    let text = ssd(
        "1.0",
        &format!(
            "<ssd:Elements>{}{}</ssd:Elements>{COUPLED}",
            component("a", ""),
            component("b", "")
        ),
        EXPERIMENT,
    );
    let path = packed(
        &folder.join("pair.ssp"),
        &[
            ("SystemStructure.ssd", text.as_bytes()),
            ("resources/mass.fmu", &fmu),
        ],
    );
    let whole = std::fs::read(path).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let cases = std::env::var("OLDHAM_FUZZ")
        .ok()
        .and_then(|text| text.parse().ok());
    let damaged = folder.join("damaged.ssp");
    for case in 0..cases.unwrap_or(200) {
        // The text by itself, and the archive.
        if case % 2 == 0 {
            let mut text = text.clone().into_bytes();
            for _ in 0..=next(3) {
                let at = next(text.len());
                text[at] = b" <>\"/=a0"[next(8)];
            }
            std::fs::write(folder.join("damaged.ssd"), &text).unwrap();
            let _ = oldham_ssp::source(&folder.join("damaged.ssd"));
        } else {
            let mut bytes = whole.clone();
            for _ in 0..=next(4) {
                let at = next(bytes.len());
                bytes[at] ^= 1 << next(8);
            }
            bytes.truncate(whole.len() - next(2) * next(whole.len()));
            std::fs::write(&damaged, &bytes).unwrap();
            let _ = oldham_ssp::source(&damaged);
        }
    }
}
