//! FMUs that are integrated here, events of both kinds, inputs within a step, lengths of arrays: against closed forms.

mod support;

use std::path::Path;

use oldham_cosim::{Snapshot, SubsystemId};
use oldham_stability::probe;
use support::{pack, read, run};
use tempfile::TempDir;

/// The model with this number of `exchange.h`, of a version, for an interface.
fn made(folder: &Path, name: &str, version: u32, model: u32, interface: &str, more: &str) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let states = [0, 2, 2, 0, 2, 1, 1][model as usize];
    let indicators = usize::from(model == 2 || model == 6);
    let can = match version {
        2 => r#"canGetAndSetFMUstate="true" canSerializeFMUstate="true""#,
        _ => "",
    };
    let abilities = format!(r#"<{interface} modelIdentifier="{name}" {can} {more}/>"#);
    let text = match version {
        2 => {
            let real = |index: usize, name: &str, more: &str, inner: &str| {
                format!(
                    r#"<ScalarVariable name="{name}" valueReference="{index}" {more}><Real {inner}/></ScalarVariable>"#
                )
            };
            let mut variables = real(0, "x", r#"causality="output""#, "");
            variables += &real(1, "v", r#"causality="output""#, "");
            variables += &real(2, "xdot", "", r#"derivative="1""#);
            variables += &real(3, "vdot", "", r#"derivative="2""#);
            variables += &real(4, "u", r#"causality="input""#, r#"start="0""#);
            variables += r#"<ScalarVariable name="count" valueReference="5" causality="output" variability="discrete"><Integer/></ScalarVariable>"#;
            let derivatives: String = (0..states)
                .map(|k| format!(r#"<Unknown index="{}"/>"#, k + 3))
                .collect();
            format!(
                r#"<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{{1}}" numberOfEventIndicators="{indicators}">
{abilities}<ModelVariables>{variables}</ModelVariables><ModelStructure><Outputs><Unknown index="1" dependencies=""/>
<Unknown index="2" dependencies=""/><Unknown index="6" dependencies=""/></Outputs><Derivatives>{derivatives}</Derivatives>
</ModelStructure></fmiModelDescription>"#
            )
        }
        _ => {
            let derivatives: String = (0..states)
                .map(|k| format!(r#"<ContinuousStateDerivative valueReference="{}"/>"#, k + 2))
                .collect();
            format!(
                r#"<fmiModelDescription fmiVersion="3.0" modelName="{name}" instantiationToken="{{1}}">{abilities}<ModelVariables>
<Float64 name="x" valueReference="0" causality="output"/><Float64 name="v" valueReference="1" causality="output"/>
<Float64 name="xdot" valueReference="2" derivative="0"/><Float64 name="vdot" valueReference="3" derivative="1"/>
<Float64 name="u" valueReference="4" causality="input" start="0"/><Int32 name="count" valueReference="5" causality="output"/>
</ModelVariables><ModelStructure><Output valueReference="0" dependencies=""/><Output valueReference="1" dependencies=""/>
<Output valueReference="5" dependencies=""/>{derivatives}</ModelStructure></fmiModelDescription>"#
            )
        }
    };
    let flags = [
        format!("-DMODEL={model}"),
        format!("-DIN_STEPS={}", u8::from(interface == "CoSimulation")),
    ];
    let flags = flags.each_ref().map(String::as_str);
    pack(
        folder,
        name,
        &sources.join(format!("exchange{version}.c")),
        &flags,
        &text,
    );
}

fn text(name: &str, step: f64, more: &str, excitation: &str) -> String {
    format!(
        "model.name = \"One FMU\"\nsimulation = {{ duration = 2, step = {step} }}\n[fmu.it]\nfile = \"{name}.fmu\"\n{more}\n\
         [excitation]\n\"it.u\" = \"{excitation}\"\n"
    )
}

fn solved(folder: &Path, text: &str, steps: u64, signal: &str) -> Vec<f64> {
    let model = read(folder, text).unwrap_or_else(|error| panic!("{error}"));
    run(&mut model.simulation().unwrap(), steps, signal)
}

/// Van der Pol's oscillator by the classical method of order four with very short steps.
fn van_der_pol(t: f64) -> [f64; 2] {
    let rates = |[x, v]: [f64; 2]| [v, (1.0 - x * x) * v - x];
    let steps = (t / 1e-4).round() as usize;
    let h = t / steps as f64;
    let mut x = [2.0, 0.0];
    for _ in 0..steps {
        let ahead = |k: [f64; 2], part: f64| [x[0] + part * h * k[0], x[1] + part * h * k[1]];
        let a = rates(x);
        let b = rates(ahead(a, 0.5));
        let c = rates(ahead(b, 0.5));
        let d = rates(ahead(c, 1.0));
        x = [0, 1].map(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    x
}

#[test]
fn an_oscillator_is_integrated_to_its_tolerance() {
    for version in [2, 3] {
        let folder = TempDir::new().unwrap();
        made(folder.path(), "vdp", version, 1, "ModelExchange", "");
        let expected = van_der_pol(2.0);
        let mut before = f64::INFINITY;
        for (tolerance, most) in [(1e-5, 1e-3), (1e-8, 1e-6), (1e-11, 1e-9)] {
            let more = format!("tolerance = {tolerance}");
            let text = text("vdp", 0.5, &more, "0");
            let found = solved(folder.path(), &text, 4, "it.x");
            let error = (found[4] - expected[0]).abs();
            assert!(error < most && error < before, "{tolerance}: {error}");
            before = error;
        }
    }
}

/// Height and number of bounces at a time, from parabolas.
fn ball(t: f64) -> (f64, usize) {
    let (g, mut speed) = (9.81_f64, (2.0 * 9.81_f64).sqrt());
    let mut landing = (2.0 / g).sqrt();
    if t < landing {
        return (1.0 - 0.5 * g * t * t, 0);
    }
    for bounces in 1.. {
        speed *= 0.7;
        let next = landing + 2.0 * speed / g;
        if t < next {
            let s = t - landing;
            return (speed * s - 0.5 * g * s * s, bounces);
        }
        landing = next;
    }
    unreachable!()
}

#[test]
fn a_ball_bounces_when_it_lands() {
    for version in [2, 3] {
        let folder = TempDir::new().unwrap();
        made(folder.path(), "ball", version, 2, "ModelExchange", "");
        let text = text("ball", 0.05, "tolerance = 1e-10", "0");
        let heights = solved(folder.path(), &text, 40, "it.x");
        let counts = solved(folder.path(), &text, 40, "it.count");
        for (k, (height, count)) in heights.iter().zip(&counts).enumerate() {
            let (expected, bounces) = ball(0.05 * k as f64);
            assert!(
                (height - expected).abs() < 1e-9,
                "step {k}: {height} {expected}"
            );
            assert_eq!(*count, bounces as f64, "step {k}");
        }
        assert_eq!(counts[40], 4.0);
    }
}

/// Steps that do not meet the events.
#[test]
fn a_stair_rises_at_its_times() {
    for (version, interface, more) in [
        (2, "ModelExchange", ""),
        (3, "ModelExchange", ""),
        (
            3,
            "CoSimulation",
            r#"hasEventMode="true" canHandleVariableCommunicationStepSize="true""#,
        ),
    ] {
        let folder = TempDir::new().unwrap();
        made(folder.path(), "stair", version, 3, interface, more);
        let counts = {
            let text = text("stair", 0.3, "", "0").replace("duration = 2", "duration = 3.6");
            solved(folder.path(), &text, 12, "it.count")
        };
        let expected: Vec<f64> = (0..=12).map(|k| f64::from(3 * k / 10)).collect();
        assert_eq!(counts, expected, "{version} {interface}");
    }
}

/// x'' = t - 4 x from rest: x = t/4 - sin(2t)/8. Inputs that are held cost an error of first order.
#[test]
fn inputs_go_on_within_a_step() {
    let folder = TempDir::new().unwrap();
    made(folder.path(), "driven", 2, 4, "ModelExchange", "");
    let exact = |t: f64| t / 4.0 - (2.0 * t).sin() / 8.0;
    let error = |step: f64, more: &str| {
        let steps = (2.0 / step).round() as u64;
        let text = text("driven", step, more, "t");
        let found = solved(folder.path(), &text, steps, "it.x");
        (found[steps as usize] - exact(2.0)).abs()
    };
    assert!(error(0.1, "tolerance = 1e-10") < 1e-8);
    let held = [0.1, 0.05].map(|step| error(step, "inputs_within_step = \"held\""));
    assert!(
        held[0] > 1e-3 && (held[0] / held[1] - 2.0).abs() < 0.2,
        "{held:?}"
    );
}

/// The integral of t is t²/2, exactly, if the rate of the input is handed over, and with held inputs t (t - h) / 2.
#[test]
fn rates_of_inputs_are_handed_over_where_they_are_taken() {
    let folder = TempDir::new().unwrap();
    let able = r#"canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true""#;
    made(folder.path(), "sum", 2, 5, "CoSimulation", able);
    let found = solved(folder.path(), &text("sum", 0.1, "", "t"), 20, "it.x");
    assert!((found[20] - 2.0).abs() < 1e-13, "{}", found[20]);
    let held = text("sum", 0.1, "inputs_within_step = \"held\"", "t");
    let found = solved(folder.path(), &held, 20, "it.x");
    assert!((found[20] - 1.9).abs() < 1e-13, "{}", found[20]);
}

/// x rises by 1 until it meets u, which jumps down to 0.5 at t = 1: it turns then.
#[test]
fn an_input_that_jumps_is_an_event() {
    let folder = TempDir::new().unwrap();
    made(folder.path(), "relay", 2, 6, "ModelExchange", "");
    let held = "inputs_within_step = \"held\"";
    let text = text("relay", 0.25, held, "if(t < 0.99, 10, 0.5)");
    let x = solved(folder.path(), &text, 8, "it.x");
    for (k, x) in x.iter().enumerate() {
        let t = 0.25 * k as f64;
        let expected = if t <= 1.0 { t } else { 2.0 - t };
        assert!((x - expected).abs() < 1e-9, "t = {t}: {x}");
    }
}

/// Back to a state with all that belongs to it, as a ticket and as bytes: the same bits.
#[test]
fn an_integration_goes_back() {
    for model in [1, 2] {
        let folder = TempDir::new().unwrap();
        made(folder.path(), "it", 2, model, "ModelExchange", "");
        let read = read(folder.path(), &text("it", 0.02, "", "0")).unwrap();
        for as_bytes in [false, true] {
            let mut simulation = read.simulation().unwrap();
            run(&mut simulation, 30, "it.x");
            let mut saved = Snapshot::default();
            match as_bytes {
                true => saved.keep(&mut simulation),
                false => saved.save(&mut simulation),
            }
            let first = run(&mut simulation, 40, "it.x");
            saved.restore(&mut simulation);
            let again = run(&mut simulation, 40, "it.x");
            assert!(first.last() != first.first());
            assert_eq!(first, again, "{model} {as_bytes}");
        }
    }
}

#[test]
fn arrays_have_the_lengths_of_structural_parameters() {
    let folder = TempDir::new().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let array = |name: &str, reference: u32, more: &str| {
        format!(
            r#"<Float64 name="{name}" valueReference="{reference}" {more}><Dimension valueReference="3"/></Float64>"#
        )
    };
    let description = format!(
        r#"<fmiModelDescription fmiVersion="3.0" modelName="sized" instantiationToken="{{1}}"><CoSimulation modelIdentifier="sized"/>
<ModelVariables>{}{}<UInt64 name="n" valueReference="3" causality="structuralParameter" variability="fixed" start="2"/>
</ModelVariables><ModelStructure><Output valueReference="2"/></ModelStructure></fmiModelDescription>"#,
        array("x", 1, r#"causality="input" start="0 0""#),
        array("y", 2, r#"causality="output""#),
    );
    pack(
        folder.path(),
        "sized",
        &sources.join("sized3.c"),
        &[],
        &description,
    );
    let text = |n: &str, drive: &str| {
        format!(
            "model.name = \"Sized\"\nsimulation = {{ duration = 1, step = 0.1 }}\n[fmu.it]\nfile = \"sized.fmu\"\n{n}\n[excitation]\n\
             \"it.x\" = {drive}\n"
        )
    };
    for (n, drive, last) in [
        ("", "[\"t\", \"3\"]", 6.0),
        (
            "parameters = { n = 5 }",
            "[\"t\", \"0\", \"0\", \"0\", \"t + 1\"]",
            4.0,
        ),
    ] {
        let model = read(folder.path(), &text(n, drive)).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = model.simulation().unwrap();
        let columns = simulation.columns();
        let y: Vec<String> = columns
            .iter()
            .map(|column| column.name.clone())
            .filter(|name| name.starts_with("it.y"))
            .collect();
        let found = run(&mut simulation, 10, y.last().unwrap());
        assert!((found[10] - last).abs() < 1e-12, "{y:?}: {}", found[10]);
    }
    let wrong = read(
        folder.path(),
        &text("parameters = { n = 2.5 }", "[\"0\", \"0\"]"),
    );
    let message = wrong.unwrap_err();
    assert!(message.contains("`n`: it is a whole number"), "{message}");
}

/// The mass of mass2.c: eigenvalues of its recurrence, its stiffness, what acts at once. And the driven oscillator, which is
/// integrated: the poles are those of x'' = u - 4 x.
#[test]
fn poles_and_gains_are_measured() {
    let folder = TempDir::new().unwrap();
    support::plain(folder.path(), "mass2");
    let text = r#"
model.name = "One FMU"
simulation = { duration = 1, step = 0.01 }
[fmu.it]
file = "mass2.fmu"
parameters = { mass = 2, damping = 0.5, stiffness = 40, position = 0.03 }
[excitation]
"it.force" = "1"
"#;
    let probed = |text: &str| {
        let model = read(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = model.simulation().unwrap();
        simulation.steps(1).unwrap();
        probe(&mut simulation, SubsystemId(0), 512).unwrap()
    };
    let found = probed(text);
    let (h, m, c, k) = (0.01, 2.0, 0.5, 40.0);
    let (trace, determinant) = (2.0 - h * c / m - h * h * k / m, 1.0 - h * c / m);
    assert_eq!(
        (found.period, found.sees_within, found.eigenvalues.len()),
        (1, false, 2)
    );
    for z in &found.eigenvalues {
        let rest = z * z - z * trace + determinant;
        assert!(rest.norm() < 1e-9, "{z}: {rest}");
    }
    let gains = found.gains.as_ref().unwrap();
    let place = |name: &str| {
        found
            .outputs
            .iter()
            .position(|output| output == name)
            .unwrap()
    };
    assert!(
        (gains[(place("position"), 0)] - 1.0 / k).abs() < 1e-9,
        "{gains}"
    );
    assert!(gains[(place("velocity"), 0)].abs() < 1e-9);
    assert!((found.at_once[(place("pass"), 0)] - 1.0).abs() < 1e-9);
    assert!(found.misfit < 1.0 && found.noise < 1e-6);

    made(folder.path(), "driven", 2, 4, "ModelExchange", "");
    let more = "tolerance = 1e-11";
    let found = probed(&self::text("driven", 0.01, more, "0.3"));
    assert!(found.sees_within);
    let poles = found.poles();
    assert_eq!(poles.len(), 2, "{poles:?}");
    for pole in poles {
        assert!(
            pole.re.abs() < 1e-6 && (pole.im.abs() - 2.0).abs() < 1e-6,
            "{pole}"
        );
    }
}

#[test]
fn what_an_fmu_cannot_do_is_told_where_it_is_asked_for() {
    let folder = TempDir::new().unwrap();
    made(folder.path(), "vdp", 3, 1, "ModelExchange", "");
    let told = |text: &str| read(folder.path(), text).unwrap_err();
    let message = told(&text("vdp", 0.1, "interface = \"co-simulation\"", "0"));
    assert!(
        message.contains("model.toml:4:8") && message.contains("not made for co-simulation"),
        "{message}"
    );
    let fixed = r#"fixedInternalStepSize="0.02" canHandleVariableCommunicationStepSize="false" hasEventMode="true""#;
    made(folder.path(), "stair", 3, 3, "CoSimulation", fixed);
    let stair = |step: f64, more: &str| {
        text("stair", step, more, "0").replace("duration = 2", "duration = 1.2")
    };
    let message = told(&stair(0.03, ""));
    assert!(
        message.contains("model.toml:4:8")
            && message.contains("its own step of 0.02 s does not divide"),
        "{message}"
    );
    assert!(read(folder.path(), &stair(0.04, "")).is_ok());
    assert!(read(folder.path(), &stair(0.03, "micro_steps = 2")).is_err());
    assert!(read(folder.path(), &stair(0.06, "micro_steps = 3")).is_ok());
    // A clock of an FMU that handles events must be ticked.
    let clock = r#"<Clock name="tick" valueReference="6" causality="input" intervalVariability="triggered"/></ModelVariables>"#;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let clocked = r#"<fmiModelDescription fmiVersion="3.0" modelName="c" instantiationToken="{1}"><ModelExchange modelIdentifier="c"/>
<ModelVariables><Float64 name="u" valueReference="4" causality="input" start="0"/>"#;
    let end = "<ModelStructure/></fmiModelDescription>";
    let flags = ["-DMODEL=3", "-DIN_STEPS=0"];
    pack(
        folder.path(),
        "clocked",
        &sources.join("exchange3.c"),
        &flags,
        &format!("{clocked}{clock}{end}"),
    );
    let message = told(&text("clocked", 0.1, "", "0"));
    assert!(message.contains("clock `tick`"), "{message}");
}

/// Libraries that lack what descriptions promise, and lie about their version.
#[test]
fn what_a_library_lacks_is_told_when_the_model_is_read() {
    let folder = TempDir::new().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let plain = std::fs::read_to_string(sources.join("mass2.xml")).unwrap();
    let exchanged = plain.replace("<CoSimulation", "<ModelExchange");
    let later = r#"<fmiModelDescription fmiVersion="3.0" modelName="mass" instantiationToken="{mass}"><CoSimulation modelIdentifier="mass"/>
<ModelVariables><Float64 name="u" valueReference="0" causality="input" start="0"/></ModelVariables><ModelStructure/></fmiModelDescription>"#;
    for (description, input, missing) in [
        (exchanged.as_str(), "force", "`fmi2SetTime`"),
        (later, "u", "`fmi3"),
    ] {
        pack(
            folder.path(),
            "it",
            &sources.join("mass2.c"),
            &[],
            description,
        );
        let text = text("it", 0.1, "", "0").replace("it.u", &format!("it.{input}"));
        let message = read(folder.path(), &text).unwrap_err();
        assert!(
            message.contains(missing) && message.contains("model.toml:3"),
            "{message}"
        );
    }
}
