//! Steady motions of whole machines: each stays where it was found to be, and forces balance.

use std::f64::consts::PI;

use oldham_study::{Growing, ModelFile, StudyError, TrimOptions, TrimmedFile, continuation, trim};

/// Large machines take a minute: they are for `make soak`.
fn is_soak() -> bool {
    std::env::var_os("OLDHAM_SOAK").is_some()
}

fn example(name: &str) -> ModelFile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    ModelFile::new(format!("{folder}{name}.toml"))
}

fn found(file: &ModelFile) -> TrimmedFile {
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let found = trim(file, &model, &TrimOptions::default(), |_| {});
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert!(found.trim.residual < 1e-9, "{:?}", found.trim);
    found
}

/// Signals at the start and after each of so many periods.
fn signals(file: &ModelFile, found: &TrimmedFile, names: &[&str], periods: usize) -> Vec<Vec<f64>> {
    let model = found.applied(file).read().unwrap();
    let mut simulation = model.simulation().unwrap();
    found.restore(&mut simulation).unwrap();
    let columns = simulation.columns();
    let place = |name: &&str| columns.iter().position(|column| column.name == **name);
    let places: Vec<usize> = names
        .iter()
        .map(|name| place(name).unwrap_or_else(|| panic!("no `{name}`")))
        .collect();
    let mut rows = Vec::with_capacity(periods);
    for _ in 0..periods {
        simulation.steps(found.trim.steps).unwrap();
        let row = places.iter().map(|&place| simulation.value(place).unwrap());
        rows.push(row.collect());
    }
    rows
}

/// Whether signals are the same after each of a hundred periods, to this share of their sizes.
fn stays(file: &ModelFile, found: &TrimmedFile, names: &[&str], share: f64) -> Vec<f64> {
    assert_ne!(found.trim.verdict, "unstable", "{:?}", found.trim);
    let rows = signals(file, found, names, 100);
    for row in &rows {
        for (place, name) in names.iter().enumerate() {
            let (now, first) = (row[place], rows[0][place]);
            let off = (now - first).abs() / first.abs().max(1.0);
            assert!(off < share, "{name}: {first} {now}");
        }
    }
    rows[0].clone()
}

/// The lorry straight ahead, at the speed that is held.
#[test]
fn a_lorry_with_a_trailer_runs_straight_ahead() {
    let file = example("lorry").set("d0", 0.0);
    let found = found(&file);
    let at = stays(
        &file,
        &found,
        &["lorry.sensors.vx", "lorry.sensors.r1", "lorry.sensors.r2"],
        1e-6,
    );
    assert!((at[0] - 20.0).abs() < 1e-6, "{at:?}");
    assert!(at[1].abs() < 1e-6 && at[2].abs() < 1e-6, "{at:?}");
}

/// The racing car, cut between its axles, in a steady turn: the velocity that is carried along turns with the car, so that its radius is speed over yaw rate, and
/// the car keeps both.
#[test]
fn a_racing_car_goes_round_in_a_steady_turn() {
    if !is_soak() {
        return;
    }
    let file = example("formula-student")
        .set("v0", 100.0 / 3.6)
        .set("acceleration", 0.0)
        .set("t_step", -1000.0);
    let found = found(&file);
    let trim = &found.trim;
    assert_eq!(trim.verdict, "stable", "{trim:?}");
    assert!(
        trim.coordinates > 1000 && trim.macro_steps < 80_000,
        "{trim:?}"
    );
    // The rack was chosen for 0.8 g.
    let speed = trim.velocity[0].hypot(trim.velocity[1]);
    let lateral = speed * trim.turning[2] / 9.81;
    assert!((lateral - 0.8).abs() < 0.03, "{lateral}");
    let at = stays(&file, &found, &["car.sensors.vx", "car.chassis.wz"], 1e-6);
    assert!((at[1] - trim.turning[2]).abs() < 1e-6, "{at:?}");
}

/// Collective pitch and torque by the sums over blade elements, with coning: (J Ω² cos β) sin β = M − m g R/2 cos β.
#[test]
fn a_rotor_in_hover_has_the_pitch_of_its_blade_elements() {
    let file = example("hover").set("simulation.step", 1e-3);
    let found = found(&file);
    let value = |name: &str| {
        let mut all = found.trim.found.iter();
        all.find(|quantity| quantity.name == name).unwrap().value
    };
    let [omega, radius, chord, weight] = [40.0_f64, 4.0, 0.2, 3000.0];
    let [rho, slope, cd0, mass, g] = [1.225, 5.7, 0.01, 12.0, 9.81];
    let inflow = (weight / (2.0 * rho * PI * radius * radius)).sqrt();
    // The forces act across the blades, which cone.
    let sums = |pitch: f64| {
        let mut sums = [0.0; 3];
        for k in 0..4 {
            let r = (k as f64 + 0.5) / 4.0 * radius;
            let speed = omega * r;
            let lift =
                0.5 * rho * slope * chord * radius / 4.0 * speed * speed * (pitch - inflow / speed);
            let drag =
                lift * inflow / speed + 0.5 * rho * cd0 * chord * radius / 4.0 * speed * speed;
            sums[0] += lift;
            sums[1] += lift * r;
            sums[2] += drag * r;
        }
        sums
    };
    let inertia = mass * radius * radius / 3.0;
    let (mut pitch, mut cone) = (0.1, 0.0_f64);
    for _ in 0..200 {
        let [lift, moment, _] = sums(pitch);
        cone = ((moment - mass * g * radius / 2.0 * cone.cos())
            / (inertia * omega * omega * cone.cos()))
        .asin();
        // The mast carries what the air does not.
        pitch += (weight - 3.0 * lift * cone.cos())
            / (3.0 * 0.5 * rho * slope * chord * radius * omega * omega * radius * radius / 3.0);
    }
    let [_, _, moment] = sums(pitch);
    let torque = 3.0 * moment * cone.cos();
    assert!(
        (value("collective") / pitch - 1.0).abs() < 2e-3,
        "{} {pitch}",
        value("collective")
    );
    assert!(
        (value("torque") / torque - 1.0).abs() < 5e-3,
        "{} {torque}",
        value("torque")
    );
    let at = stays(
        &file,
        &found,
        &["rotor.sensors.speed", "rotor.sensors.coning"],
        1e-6,
    );
    assert!((at[1].abs() / cone - 1.0).abs() < 5e-3, "{at:?} {cone}");
}

/// The vibration of the tub of a washing machine well above its resonances tends to that of a free body: the centre of mass of
/// tub, drum and laundry rests.
#[test]
fn a_washing_machine_vibrates_with_its_drum() {
    let file = example("washing-machine");
    let found = found(&file);
    assert!(found.trim.is_periodic);
    stays(
        &file,
        &found,
        &["wm.sensors.x", "wm.sensors.z", "wm.sensors.hx"],
        1e-6,
    );
}

/// A car body on four corners on a wavy road, after the rear wheels have met it: it
/// repeats itself with every wave.
#[test]
fn a_wavy_road_shakes_a_car_with_every_wave() {
    let file = example("four-corners").set("simulation.start", 2.0 * 8.0 / 15.0);
    let options = TrimOptions {
        period: Some(8.0 / 15.0),
        ..TrimOptions::default()
    };
    let found = trim(&file, &file.read().unwrap(), &options, |_| {}).unwrap();
    assert!(found.trim.residual < 1e-9, "{:?}", found.trim);
    stays(
        &file,
        &found,
        &["chassis.body.x", "fl.hub.x", "rr.hub.x"],
        1e-9,
    );
}

/// A cut rotor with flexible blades that spins freely.
#[test]
fn a_cut_rotor_spins_steadily() {
    if !is_soak() {
        return;
    }
    let mut file = example("rotor")
        .set("torque", 0.0)
        .set("multibody.rotor.outputs.tip.motion", "blade-east.2");
    for blade in ["east", "north", "west", "south"] {
        file = file.set(format!("multibody.rotor.beams.blade-{blade}.elements"), 1);
        file = file.set(
            format!("multibody.rotor.cut.parts.{blade}"),
            format!("\"blade-{blade}.2\""),
        );
    }
    let found = found(&file);
    assert!(
        (found.trim.turning[2] - 10.0).abs() < 0.05,
        "{:?}",
        found.trim
    );
    stays(&file, &found, &["rotor.hub.wz"], 1e-6);
}

/// The load of a gantry crane under its control hangs still.
#[test]
fn a_gantry_under_control_comes_to_rest() {
    let file = example("gantry-crane");
    let found = found(&file);
    assert_eq!(found.trim.verdict, "stable");
}

/// Differences from an unstable periodic motion grow by its multiplier from period to period.
#[test]
fn an_unstable_motion_is_left_at_the_rate_of_its_multiplier() {
    let text = r#"
[model]
name = "Mathieu's oscillator under a load"
[simulation]
duration = 31.4
step = 4e-3
[lumped.body]
integrator = "rk4"
[lumped.body.masses]
x = { mass = 1, position = 0.3 }
[lumped.body.springs]
wall = { between = ["ground", "x"], force = "(1 + 0.8 * cos(2 * t)) * d + 0.05 * v - 0.3" }
[lumped.body.outputs]
x = { motion = "x" }
[trim]
period = "pi"
"#;
    let file = ModelFile::of_text("test", text);
    let found = found(&file);
    assert_eq!(found.trim.verdict, "unstable");
    // The stiffness alternates with twice the natural frequency: the principal resonance.
    assert_eq!(found.trim.growing, Some(Growing::HalfTheFrequency));
    let rows = signals(&file, &found, &["body.x.x"], 100);
    let multiplier = found.trim.multipliers[0].multiplier[0];
    let off: Vec<f64> = rows.iter().map(|row| row[0] - rows[0][0]).collect();
    let grown: Vec<f64> = off
        .windows(2)
        .filter(|pair| (1e-9..1e-3).contains(&pair[0].abs()))
        .map(|pair| pair[1] / pair[0])
        .collect();
    assert!(grown.len() > 10, "{off:?}");
    for ratio in &grown[2..] {
        assert!(
            (ratio / multiplier - 1.0).abs() < 0.01,
            "{ratio} {multiplier}"
        );
    }
}

/// The benchmark bicycle loses its weave at 4.292 m/s and begins to capsize at 6.024 m/s (Meijaard et al. 2007, Sect. 6).
#[test]
fn the_bicycle_changes_its_stability_at_the_published_speeds() {
    let folder = tempfile::tempdir().unwrap();
    let file = example("bicycle");
    let range = "speed=4:6.4:5".parse::<oldham_study::Variation>().unwrap();
    let range = range.axis(&oldham_study::Draw::default()).unwrap();
    let options = TrimOptions::default();
    let found = continuation(&file, &range, &options, folder.path(), |_, _| {}).unwrap();
    let points: Vec<f64> = found
        .branch_points
        .iter()
        .map(|point| point.value)
        .collect();
    assert_eq!(points.len(), 2, "{found:?}");
    assert!((points[0] - 4.292_38).abs() < 0.02, "{points:?}");
    assert!((points[1] - 6.024_26).abs() < 0.02, "{points:?}");
    use oldham_study::Branching::{Fold, Vibration};
    let kinds: Vec<_> = found.branch_points.iter().map(|point| point.kind).collect();
    assert_eq!(kinds, [Vibration, Fold]);
    // Interrupted and begun again, it goes on with what is there.
    std::fs::remove_file(folder.path().join("0003.trim")).unwrap();
    let again = continuation(&file, &range, &options, folder.path(), |_, _| {}).unwrap();
    let known: Vec<bool> = again.motions.iter().map(|motion| motion.is_known).collect();
    assert_eq!(known, [true, true, true, false, true]);
    for (one, other) in found.motions.iter().zip(&again.motions) {
        let [one, other] = [one, other].map(|motion| motion.trim.as_ref().unwrap().residual);
        assert!(one < 1e-9 && other < 1e-9);
    }
}

fn failure(text: &str) -> StudyError {
    let file = ModelFile::of_text("test", text);
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let options = TrimOptions {
        granted: Some(std::time::Duration::from_secs(60)),
        ..TrimOptions::default()
    };
    match trim(&file, &model, &options, |_| {}) {
        Ok(found) => panic!("found: {:?}", found.trim),
        Err(error) => error,
    }
}

fn mass(force: &str, trim: &str) -> String {
    format!(
        r#"
[model]
name = "Test"
[parameters]
a = 1
b = 2
[simulation]
duration = 1
step = 1e-2
[lumped.body]
integrator = "rk4"
[lumped.body.masses]
x = {{ mass = 1, position = 0.1 }}
[lumped.body.springs]
wall = {{ between = ["ground", "x"], force = "{force}" }}
[lumped.body.outputs]
x = {{ motion = "x" }}
[trim]
{trim}
"#
    )
}

/// What cannot be found says what was reached and what to do.
#[test]
fn what_cannot_be_found_says_why() {
    let table = [
        // It is pushed ever faster.
        (mass("-1 - 0.01 * t^2", ""), vec!["steady motion", "body"]),
        // More unknowns than conditions.
        (
            mass(
                "a * d + b * d + 0.5 * v - 1",
                "free = [\"a\", \"b\"]\nhold = { \"body.x.x\" = 0.25 }",
            ),
            vec!["not determined", "hold as many"],
        ),
        // A period that is none.
        (
            mass("d + 0.1 * v - cos(t)", "period = 2.0"),
            vec!["same after", "period"],
        ),
        // It falls over, and there is nothing on the other side.
        (
            mass("-d - d^3 - 1 + 0.1 * v", "hold = { \"body.x.v\" = 1 }"),
            vec!["fails before", "start nearer"],
        ),
    ];
    for (text, words) in table {
        let error = failure(&text).to_string();
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}

/// Contacts that come and go cannot be varied in small steps.
#[test]
fn a_walking_wheel_is_refused_by_name() {
    let file = example("walking-wheel");
    let error = trim(
        &file,
        &file.read().unwrap(),
        &TrimOptions::default(),
        |_| {},
    );
    let error = error.expect_err("refused").to_string();
    assert!(
        error.contains("`toy`") && error.contains("impulses"),
        "{error}"
    );
}
