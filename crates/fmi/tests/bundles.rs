//! Variables of an FMU as ports of motions and forces: beside the same part as a native one.

mod support;

use std::path::Path;

use oldham_cosim::{Conjugate, InMemory, Quantity, Run, Simulation};
use oldham_fmi::{Bundle, FmuPart, Options, Package, Role};
use oldham_model::Model;
use support::{fmu, plain, read};
use tempfile::TempDir;

const CUT_BEAM: &str = include_str!("../../../examples/cut-beam.toml");
const ARM: &str = include_str!("../../../examples/two-cylinder-arm.toml");

/// A weight on a link, as a native part and as FMUs: of a line, and of a node.
const NATIVE: &str = r#"
[lumped.absorber]
integrator = "semi-implicit-euler"
predictor = "zero-order"
masses.weight = { mass = 10, position = "x0", velocity = 1 }
springs.link = { between = ["weight", "point"], stiffness = 2e3, damping = 20 }
inputs.motion = { motion = "point" }
outputs.force = { force = "point" }
"#;

const FOREIGN: &str = r#"
[fmu.absorber]
file = "absorber2.fmu"
predictor = "zero-order"
parameters = { mass = 10, stiffness = 2e3, damping = 20, x0 = "x0", w0 = 1 }
ports.hub = { x = "s", v = "v", force = "F" }
"#;

const IN_SPACE: &str = r#"
[fmu.absorber]
file = "absorber6.fmu"
predictor = "zero-order"
parameters = { mass = 10, stiffness = 2e3, damping = 20, x0 = "x0", w0 = 1, axis = AXIS }
[fmu.absorber.ports.hub]
position = ["p1", "p2", "p3"]
orientation = ["r1", "r2", "r3"]
velocity = ["v1", "v2", "v3"]
angular_velocity = ["w1", "w2", "w3"]
force = ["f1", "f2", "f3"]
moment = ["m1", "m2", "m3"]
"#;

/// A mechanism with a part at one of its nodes: the native one acts along an axis, the FMU as a wrench.
fn coupled(mechanism: &str, part: &str) -> String {
    let is_beam = mechanism == CUT_BEAM;
    let (name, node, axis, x0) = match is_beam {
        true => ("beam", "girder.6", 3, "0"),
        false => ("arm", "stick", 2, "yQ + L2 / 2 * sin(th2)"),
    };
    let text = mechanism.replace("[parameters]", &format!("[parameters]\nx0 = \"{x0}\""));
    let connections = |pairs: [(String, String); 2]| {
        let one = |(from, to)| format!("[[connection]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        pairs.map(one).concat()
    };
    if part == IN_SPACE {
        let part = part.replace("AXIS", &axis.to_string());
        return format!("{text}\n[multibody.{name}.inputs.hook]\nwrench = \"{node}\"\n{part}\n")
            + &connections([
                (format!("{name}.hook.motion"), "absorber.hub.motion".into()),
                ("absorber.hub.wrench".into(), format!("{name}.hook")),
            ]);
    }
    let along = [1, 2, 3].map(|k| u32::from(k == axis));
    let force = along.map(|a| match a {
        1 => "{ input = \"pull\" }",
        _ => "0",
    });
    let force = force.join(", ");
    let port = if part == NATIVE { "" } else { "hub." };
    format!(
        "{text}\n[multibody.{name}.loads]\nlink = {{ on = \"{node}\", force = [{force}] }}\n\
         [multibody.{name}.inputs.pull]\nscalar = \"N\"\n\
         [multibody.{name}.outputs.hook]\ntranslation = \"{node}\"\naxis = {along:?}\n{part}\n"
    ) + &connections([
        (format!("{name}.hook"), format!("absorber.{port}motion")),
        (format!("absorber.{port}force"), format!("{name}.pull")),
    ])
}

/// A lumped table that carries the weight.
fn on_a_table(part: &str) -> String {
    let port = if part == NATIVE { "" } else { "hub." };
    format!(
        "model.name = \"A weight\"\nparameters.x0 = 0\nsimulation = {{ duration = 1, step = 1e-3 }}\n\
         [lumped.table]\nintegrator = \"rk4\"\nmasses.x = {{ mass = 50 }}\n\
         springs.s = {{ between = [\"ground\", \"x\"], stiffness = 8e3, damping = 60 }}\n\
         inputs.force = {{ force = \"x\" }}\noutputs.x = {{ motion = \"x\" }}\n{part}\n\
         [[connection]]\nfrom = \"table.x\"\nto = \"absorber.{port}motion\"\n\
         [[connection]]\nfrom = \"absorber.{port}force\"\nto = \"table.force\"\n"
    )
}

/// All that is recorded, and the energy that the exchange of the absorber has created, if it is told.
fn solved(folder: &Path, text: &str, steps: u64) -> (Vec<[String; 2]>, InMemory, Option<f64>) {
    let model: Model = read(folder, text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation: Simulation = model.simulation().unwrap();
    let columns = simulation.columns().iter();
    let names = columns
        .map(|column| [column.name.clone(), column.unit.to_string()])
        .collect();
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        record_every: 1,
        ..Run::new(steps, &mut rows)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
    let mut interfaces = simulation.interfaces().into_iter();
    let place = interfaces.position(|name| name.contains("absorber"));
    let created = place.map(|place| simulation.created()[place]);
    (names, rows, created)
}

/// The motion of the mechanism is the same beside both parts, to 1e-9 of the largest of its unit; the energies that their
/// exchanges have created.
fn agree(folder: &Path, texts: [String; 2], steps: u64) -> [Option<f64>; 2] {
    let both = texts.map(|text| solved(folder, &text, steps));
    let [(names, native, created), (others, foreign, also)] = &both;
    let mut compared = 0;
    let size_of = |unit: &str| {
        let of_unit = (0..names.len()).filter(|&k| names[k][1] == unit);
        let values = of_unit.flat_map(|k| native.column(k));
        values.fold(0.0_f64, |most, x| most.max(x.abs()))
    };
    for (place, [name, unit]) in names.iter().enumerate() {
        let of_mechanism = ["beam.", "arm.", "table.", "oil."];
        let is_motion = ["m", "m/s", "rad", "rad/s"].contains(&unit.as_str())
            && of_mechanism.iter().any(|of| name.starts_with(of));
        let other = others.iter().position(|[other, _]| other == name);
        let Some(other) = other.filter(|_| is_motion) else {
            continue;
        };
        let column = native.column(place);
        let size = size_of(unit);
        for (k, (a, b)) in column.iter().zip(foreign.column(other)).enumerate() {
            assert!((a - b).abs() <= 1e-9 * size, "{name} at row {k}: {a} {b}");
        }
        compared += usize::from(size > 0.0);
    }
    assert!(compared > 1, "{names:?} {others:?}");
    [*created, *also]
}

#[test]
fn an_fmu_on_a_cut_beam_moves_as_the_native_part_does() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "absorber6");
    let texts = [NATIVE, IN_SPACE].map(|part| coupled(CUT_BEAM, part));
    let [_, created] = agree(folder.path(), texts, 200);
    // Force and motion are of one node, and what their exchange creates is told.
    let created = created.expect("the energy of the exchange");
    assert!(created.is_finite() && created != 0.0);
}

#[test]
fn an_fmu_on_a_hydraulic_crane_moves_as_the_native_part_does() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "absorber6");
    // Newton's iteration stops at 1e-6 of the accelerations unless told otherwise; and the crane moves from the start, so
    // that its motion is large beside what the iteration of the oil leaves.
    let gravity = "gravity = [0, -9.81, 0]";
    let arm = ARM.replace(gravity, &format!("{gravity}\ntolerance = 1e-12"));
    let moved = arm.replace("dk * max(0, min(1, t - 1))", "dk * min(1, 5 * t)");
    assert!(arm != ARM && arm != moved);
    let arm = moved;
    let texts = [NATIVE, IN_SPACE].map(|part| coupled(&arm, part));
    let [_, created] = agree(folder.path(), texts, 100);
    let created = created.expect("the energy of the exchange");
    assert!(created.is_finite() && created != 0.0);
}

#[test]
fn the_energy_of_the_exchange_is_that_of_the_native_part() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "absorber2");
    let texts = [NATIVE, FOREIGN].map(on_a_table);
    let [native, foreign] = agree(folder.path(), texts, 1000);
    let (native, foreign) = (native.unwrap(), foreign.unwrap());
    assert!(native > 0.0);
    assert!(
        (native - foreign).abs() <= 1e-9 * native,
        "{native} {foreign}"
    );
}

fn part(folder: &Path, name: &str, members: &[(Role, &str)]) -> Result<FmuPart, String> {
    let package = Package::open(&folder.join(name)).unwrap();
    let members = members
        .iter()
        .map(|(role, name)| (*role, vec![(*name).to_owned()]));
    let bundle = Bundle {
        name: "hub".into(),
        members: members.collect(),
    };
    let options = Options {
        bundles: vec![bundle],
        ..Options::default()
    };
    FmuPart::new(&package, &options, 1)
}

/// What is sent without an acceleration gets it from differences; the force that it receives is the conjugate one.
#[test]
fn a_motion_that_is_sent_has_a_velocity_that_is_differentiated() {
    use oldham_cosim::{Hold, InputPort, Inputs, Subsystem};
    let folder = TempDir::new().unwrap();
    fmu(folder.path(), "absorber2", &["-DGIVES_MOTION"], |text| {
        let text = text
            .replace("canHandle", "canGetAndSetFMUstate=\"false\" canHandle")
            .replace(
                "name=\"s\" valueReference=\"0\" causality=\"input\"",
                "name=\"F\" valueReference=\"0\" causality=\"input\"",
            )
            .replace(
                "name=\"v\" valueReference=\"1\" causality=\"input\"",
                "name=\"s\" valueReference=\"1\" causality=\"output\"",
            )
            .replace(
                "name=\"F\" valueReference=\"2\"",
                "name=\"v\" valueReference=\"2\"",
            )
            .replace(
                "<Unknown index=\"3\" dependencies=\"1 2\"/>",
                "<Unknown index=\"2\" dependencies=\"\"/><Unknown index=\"3\" dependencies=\"\"/>",
            );
        let text = text.replacen(
            "<Real unit=\"m\" start=\"0\"/>",
            "<Real unit=\"N\" start=\"0\"/>",
            1,
        );
        let text = text.replacen("<Real unit=\"m/s\" start=\"0\"/>", "<Real unit=\"m\"/>", 1);
        text.replacen("<Real unit=\"N\"/>", "<Real unit=\"m/s\"/>", 1)
    });
    let members = [(Role::X, "s"), (Role::V, "v"), (Role::Force, "-F")];
    let mut part = part(folder.path(), "absorber2.fmu", &members).unwrap();
    let ports = part.ports().clone();
    assert_eq!(ports.outputs()[0].quantity, Quantity::Translation);
    assert!(matches!(
        ports.conjugates(),
        [Conjugate::GivesMotion { .. }]
    ));
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    inputs.receive(InputPort(0), 0.0, &[3.0]);
    let mut out = [0.0; 3];
    part.outputs(0.0, &[3.0], &mut out).unwrap();
    assert_eq!(out, [0.0; 3]);
    let h = 0.1;
    part.advance(0.0, h, &mut inputs).unwrap();
    part.outputs(h, &[3.0], &mut out).unwrap();
    // A mass of 1 kg, and the force with the other sign.
    let expected = [-3.0 * h * h, -3.0 * h, -3.0];
    for (found, expected) in out.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{out:?}");
    }
    assert!(part.state().is_none());
}

#[test]
fn wrong_bundles_are_told_where_they_are() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "absorber2");
    let problem = |ports: &str| {
        let text = coupled(CUT_BEAM, FOREIGN);
        let right = "ports.hub = { x = \"s\", v = \"v\", force = \"F\" }";
        assert!(text.contains(right));
        read(folder.path(), &text.replace(right, ports)).unwrap_err()
    };
    let wrong = problem("ports.hub = { x = \"s\", force = \"F\" }");
    assert!(wrong.contains("a bundle with `x` needs `v`"), "{wrong}");
    let wrong = problem("ports.hub = { x = \"s\", v = \"vv\", force = \"F\" }");
    assert!(
        wrong.contains("no variable `vv`") && wrong.contains("did you mean `v`?"),
        "{wrong}"
    );
    let wrong = problem("ports.hub = { x = \"s\", v = \"v\", moment = \"F\" }");
    assert!(wrong.contains("`s` is in m"), "{wrong}");
    let wrong = problem("ports.hub = { x = \"s\", v = \"F\" }");
    assert!(wrong.contains("belong together"), "{wrong}");
    let wrong = problem("ports.hub = { x = \"s\", v = \"v\", position = \"s\" }");
    assert!(wrong.contains("`x` conflicts with `position`"), "{wrong}");
    let wrong = problem("ports.hub = { x = \"mass\", v = \"v\" }");
    assert!(wrong.contains("neither an input nor an output"), "{wrong}");
    let twice =
        "ports.hub = { x = \"s\", v = \"v\", force = \"F\" }\nports.too = { force = \"F\" }";
    let wrong = problem(twice);
    assert!(
        wrong.contains("`F` is in another bundle already"),
        "{wrong}"
    );
}

/// Flanges say themselves what belongs together; what is of another kind, or lacks a velocity, is said.
#[test]
fn terminals_of_known_kinds_are_bundles() {
    use std::io::Write;
    let folder = TempDir::new().unwrap();
    let path = fmu(folder.path(), "gains3", &[], |text| {
        let variable = |name: &str, reference: u32, causality: &str, unit: &str| {
            let start = if causality == "input" {
                "start=\"0\""
            } else {
                ""
            };
            format!(
                "<Float64 name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\" unit=\"{unit}\" {start}/>"
            )
        };
        let added = [
            variable("flange.s", 101, "input", "m"),
            variable("flange.v", 102, "input", "m/s"),
            variable("flange.f", 103, "output", "N"),
            variable("shaft.phi", 104, "output", "rad"),
        ];
        let changed = text.replace("</ModelVariables>", &(added.concat() + "</ModelVariables>"));
        assert_ne!(changed, text);
        changed
    });
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let mut archive = zip::ZipWriter::new_append(file).unwrap();
    let options = zip::write::SimpleFileOptions::default();
    archive
        .start_file("terminalsAndIcons/terminalsAndIcons.xml", options)
        .unwrap();
    let member = |variable: &str, member: &str| {
        format!(
            "<TerminalMemberVariable variableName=\"{variable}\" memberName=\"{member}\" variableKind=\"signal\"/>"
        )
    };
    let terminal = |name: &str, kind: &str, members: &[String]| {
        let members = members.concat();
        format!(
            "<Terminal name=\"{name}\" matchingRule=\"plug\" terminalKind=\"{kind}\">{members}</Terminal>"
        )
    };
    let modelica = "Modelica.Mechanics";
    let text = [
        terminal(
            "flange",
            &format!("{modelica}.Translational.Interfaces.Flange_a"),
            &[
                member("flange.s", "s"),
                member("flange.v", "v"),
                member("flange.f", "f"),
            ],
        ),
        terminal(
            "shaft",
            &format!("{modelica}.Rotational.Interfaces.Flange_b"),
            &[member("shaft.phi", "phi")],
        ),
        terminal("plug", "Modelica.Electrical.Analog.Interfaces.Pin", &[]),
    ];
    let text = format!(
        "<fmiTerminalsAndIcons fmiVersion=\"3.0\"><Terminals>{}</Terminals></fmiTerminalsAndIcons>",
        text.concat()
    );
    archive.write_all(text.as_bytes()).unwrap();
    archive.finish().unwrap();
    let package = Package::open(&path).unwrap();
    let description = package.description();
    let expected = Bundle {
        name: "flange".into(),
        members: vec![
            (Role::X, vec!["flange.s".into()]),
            (Role::V, vec!["flange.v".into()]),
            // The force of a flange acts on its part.
            (Role::Force, vec!["-flange.f".into()]),
        ],
    };
    assert_eq!(description.terminals, [expected]);
    let notes = description.notes.join("\n");
    assert!(
        notes.contains("`shaft` is not one port: a bundle with `x` needs `v`"),
        "{notes}"
    );
    assert!(notes.contains("`plug` is of the kind"), "{notes}");
}
