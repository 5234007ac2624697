//! Tyres: the formula against another implementation, its derivatives against differences, the
//! carcass against its closed form, standstill.

mod common;

use common::{formula, wheel};
use oldham_multibody::element::assert_derivatives;
use oldham_multibody::{
    Body, Direction, Drive, Joint, LuGre, Marker, Mat3, Model, Motion, NodeId, Options, Quaternion,
    System, Vec3,
};
use oldham_vehicle::tyre::{PropertyFile, Slip};
use oldham_vehicle::{DiscBrake, Dual, MagicFormula, Road, Tyre};
use std::sync::Arc;

/// Coefficients of commonroad-vehicle-models 3.0.2, as our formula takes them: its lateral stiffness
/// is proportional to the load, which ours is at the nominal load for PKY2 = 1.
fn commonroad(load: f64, has_camber: bool) -> MagicFormula {
    let numbers = commonroad_numbers(load, has_camber);
    MagicFormula::from_properties(&PropertyFile::from_numbers(numbers)).unwrap()
}

fn commonroad_numbers(load: f64, has_camber: bool) -> Vec<(&'static str, f64)> {
    let shift = |value: f64| if has_camber { value } else { 0.0 };
    vec![
        ("FNOMIN", load),
        ("UNLOADED_RADIUS", 0.344),
        ("VERTICAL_STIFFNESS", 2e5),
        ("PTX1", 1.0),
        ("PTY1", 1.0),
        ("PTY2", 1.0),
        ("PCX1", 1.6411),
        ("PDX1", 1.1739),
        ("PEX1", 0.46403),
        ("PKX1", 22.303),
        ("PHX1", 0.0012297),
        ("RBX1", 13.276),
        ("RBX2", -13.778),
        ("RCX1", 1.2568),
        ("REX1", 0.65225),
        ("RHX1", 0.0050722),
        ("PCY1", 1.3507),
        ("PDY1", 1.0489),
        ("PDY3", -2.8821),
        ("PEY1", -0.0074722),
        ("PKY1", -21.92),
        ("PKY2", 1.0),
        ("PHY1", shift(0.0026747)),
        ("PHY3", 0.031415),
        ("PVY1", shift(0.037318)),
        ("PVY3", -0.32931),
        ("RBY1", 7.1433),
        ("RBY2", 9.1916),
        ("RBY3", -0.027856),
        ("RCY1", 1.0719),
        ("REY1", -0.27572),
        ("RHY1", 5.7448e-06),
        ("RVY1", -0.027825),
        ("RVY3", -0.27568),
        ("RVY4", 12.12),
        ("RVY5", 1.9),
        ("RVY6", -10.704),
    ]
}

/// A file of version 5 without coefficients of combined slip: each force is that of pure slip, whatever the other
/// slip is.
#[test]
fn files_without_combined_slip_are_those_of_pure_slip() {
    for line in include_str!("data/commonroad_tyre.csv").lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        let [load, kappa, alpha, gamma, fx_pure, fy_pure, ..] = numbers[..] else {
            panic!("eight columns: {line}");
        };
        let all = commonroad_numbers(load, gamma != 0.0);
        let pure = all.into_iter().filter(|(key, _)| !key.starts_with('R'));
        let pure = pure.chain([("FITTYP", 5.0)]);
        let tyre = MagicFormula::from_properties(&PropertyFile::from_numbers(pure)).unwrap();
        let forces = tyre.forces(&Slip::forward(kappa, alpha, gamma, load, 20.0), 1.0);
        for (found, expected) in [(forces.fx, fx_pure), (forces.fy, fy_pure)] {
            assert!((found - expected).abs() < 1e-9 * load, "{found} in {line}");
        }
    }
}

#[test]
fn forces_are_those_of_commonroad() {
    let mut compared = 0;
    for line in include_str!("data/commonroad_tyre.csv").lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        let [load, kappa, alpha, gamma, fx_pure, fy_pure, fx, fy] = numbers[..] else {
            panic!("eight columns: {line}");
        };
        let tyre = commonroad(load, gamma != 0.0);
        let close = |what: &str, found: f64, expected: f64| {
            assert!(
                (found - expected).abs() < 1e-9 * load,
                "{what}: {found} in {line}"
            );
        };
        let at = |kappa, alpha| tyre.forces(&Slip::forward(kappa, alpha, gamma, load, 20.0), 1.0);
        close("fx", at(kappa, alpha).fx, fx);
        close("fy", at(kappa, alpha).fy, fy);
        // Pure slip: the other one is zero.
        close("pure fx", at(kappa, 0.0).fx, fx_pure);
        close("pure fy", at(0.0, alpha).fy, fy_pure);
        compared += 1;
    }
    assert_eq!(compared, 66);
}

/// Both versions with every coefficient at work.
fn full(version: f64) -> MagicFormula {
    let text = include_str!("data/slick.tir");
    let mut file = text.replace(
        "FITTYP                   = 61",
        &format!("FITTYP = {version}"),
    );
    let more = "PTX1=1.2\nPTX2=0.1\nPTX3=0.2\nPTY1=2.0\nPTY2=1.5\nPHX1=0.001\nPHX2=0.0004\nPVX1=0.003\n\
        PVX2=0.002\nPEX3=-0.1\nREX2=0.1\nRHX1=0.004\nPEY3=0.1\nPEY5=-3\nPKY5=0.2\nPHY1=0.002\nPHY2=-0.001\n\
        PHY3=0.05\nPVY1=0.02\nPVY2=-0.01\nPVY4=0.1\nRBY3=0.01\nRBY4=2\nREY1=0.1\nREY2=0.05\nRHY1=0.002\n\
        RHY2=0.003\nRVY1=0.03\nRVY2=0.01\nQSX1=0.01\nQSX4=0.1\nQSX5=1.1\nQSX6=0.8\nQSX7=0.7\nQSX8=0.6\nQSX9=0.5\n\
        QSX10=0.2\nQSX11=0.9\nQSX12=0.3\nQSX13=0.02\nQSX14=0.1\nQSY2=0.003\nQSY4=0.0005\nQSY5=0.1\nQSY6=0.2\n\
        QSY7=0.9\nQBZ3=0.1\nQBZ4=0.2\nQBZ5=-0.1\nQBZ10=0.1\nQDZ3=-0.1\nQDZ6=0.002\nQDZ7=-0.001\nQDZ9=0.01\n\
        QDZ10=0.05\nQDZ11=0.02\nQEZ2=0.2\nQEZ3=-0.1\nQEZ4=0.3\nQEZ5=0.2\nQHZ1=0.003\nQHZ2=-0.002\nQHZ3=0.1\n\
        QHZ4=0.05\nSSZ1=0.01\nSSZ3=0.1\nSSZ4=-0.05\nLMUY=0.9\nLMUX=0.95\nPCFX1=0.1\nPCFY2=0.05\n\
        NOMPRES=80000\nINFLPRES=84000\nPPY1=-0.3\nPPX1=-0.2\nPPZ1=0.1\nPPMX1=0.1\nQSY8=-0.4\n";
    file.push_str(more);
    MagicFormula::parse(&file).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn derivatives_of_the_formula_are_those_of_differences() {
    for version in [6.0, 61.0] {
        let tyre = full(version);
        for slip in [
            [0.03, 0.05, 0.04, 900.0, 20.0],
            [-0.2, -0.1, -0.06, 400.0, 8.0],
            [0.0, 0.002, 0.01, 1500.0, 30.0],
        ] {
            let variables: [Dual<5>; 5] = std::array::from_fn(|i| Dual::variable(slip[i], i));
            let forces = |[k, a, g, l, v]: [f64; 5]| {
                let forces = tyre.forces(&Slip::forward(k, a, g, l, v), 0.9);
                let lengths = tyre.relaxation_lengths(l, g);
                [
                    forces.fx, forces.fy, forces.mx, forces.my, forces.mz, lengths[0], lengths[1],
                ]
            };
            let [k, a, g, l, v] = variables;
            let dual = tyre.forces(&Slip::forward(k, a, g, l, v), 0.9);
            let lengths = tyre.relaxation_lengths(l, g);
            let duals = [
                dual.fx, dual.fy, dual.mx, dual.my, dual.mz, lengths[0], lengths[1],
            ];
            for variable in 0..5 {
                let step = 1e-6 * slip[variable].abs().max(0.1);
                let moved = |sign: f64| {
                    let mut slip = slip;
                    slip[variable] += sign * step;
                    forces(slip)
                };
                let (above, below) = (moved(1.0), moved(-1.0));
                for (output, dual) in duals.iter().enumerate() {
                    let expected = (above[output] - below[output]) / (2.0 * step);
                    let found = dual.slopes[variable];
                    let size = 1e-3 * dual.value.abs() / slip[variable].abs().max(0.1);
                    assert!(
                        (found - expected).abs() < 2e-6 * (expected.abs() + size + 1e-3),
                        "MF {version}, output {output} by {variable}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}

/// Known limits of the formula: its slopes at zero slip, its peaks, its symmetry.
#[test]
fn the_formula_has_its_slopes_and_peaks() {
    let tyre = formula();
    let at = |k: f64, a: f64| tyre.forces(&Slip::forward(k, a, 0.0, 800.0, 20.0), 1.0);
    let slope = (at(1e-6, 0.0).fx - at(-1e-6, 0.0).fx) / 2e-6;
    assert!((slope / (45.0 * 800.0) - 1.0).abs() < 1e-6, "{slope}");
    let slope = (at(0.0, 1e-6).fy - at(0.0, -1e-6).fy) / 2e-6;
    let expected = -45.0 * 800.0 * (2.0 * (1.0_f64 / 1.6).atan()).sin();
    assert!((slope / expected - 1.0).abs() < 1e-6, "{slope}");
    let highest =
        |f: &dyn Fn(f64) -> f64| (0..4000).map(|i| f(i as f64 * 1e-4)).fold(0.0, f64::max);
    let peak = highest(&|k| at(k, 0.0).fx);
    assert!((peak / (1.55 * 800.0) - 1.0).abs() < 1e-4, "{peak}");
    let peak = highest(&|a| -at(0.0, a).fy);
    assert!((peak / (1.6 * 800.0) - 1.0).abs() < 1e-4, "{peak}");
    for (k, a) in [(0.05, 0.03), (-0.1, 0.1)] {
        let (right, left) = (at(k, a), at(k, -a));
        assert!((right.fy + left.fy).abs() < 1e-9 && (right.mz + left.mz).abs() < 1e-9);
        assert!((right.fx - left.fx).abs() < 1e-9);
    }
    // The aligning moment turns the wheel into its direction of motion; friction bounds it all.
    assert!(at(0.0, 0.02).mz > 0.0);
    let total = at(-0.08, 0.08);
    assert!(total.fx.hypot(total.fy) < 1.7 * 800.0);
}

#[test]
fn derivatives_of_the_element_are_those_of_differences() {
    let turn = |x: f64, z: f64| Quaternion::exp(Vec3::Z * z).times(Quaternion::exp(Vec3::X * x));
    let slope = Arc::new(Road::plane(0.01, [0.05, -0.03]));
    let flat = Arc::new(Road::flat());
    // Camber, steer, velocity, spin.
    let states = [
        (0.03, 0.05, Vec3::new(20.0, 0.5, -0.1), 98.0),
        (-0.05, -0.1, Vec3::new(15.0, -1.0, 0.2), 60.0),
        (0.02, 0.0, Vec3::new(0.4, 0.05, 0.0), 1.5),
        (0.02, 0.1, Vec3::new(-6.0, 0.3, 0.05), -29.0),
        (0.01, 0.0, Vec3::new(0.03, -0.02, 0.0), 40.0),
        (0.6, 0.3, Vec3::new(3.0, 1.0, 0.0), 10.0),
    ];
    for (camber, steer, velocity, spin) in states {
        for road in [&flat, &slope] {
            let mut model = Model::new();
            let start = Motion::at_rest(Vec3::new(0.1, 0.2, 0.193), turn(camber, steer));
            let spin = start.rotation * Vec3::new(0.2, spin, -0.3);
            let rim = model.node("rim", start.moving(velocity, spin));
            let tyre = Tyre::new(rim, Vec3::Y, formula(), road.clone()).on_side(camber > 0.0);
            model.element("tyre", tyre);
            assert_derivatives(model, 0.0, &[], 2e-5);
        }
    }
}

/// A carrier that moves straight on with its wheel turned by a small angle: the side force grows
/// with the distance.
#[test]
fn the_side_force_builds_up_over_the_relaxation_length() {
    let (speed, angle, h) = (10.0, 2e-3, 2e-4);
    let road = Arc::new(Road::flat());
    let mut model = Model::new();
    let height = 0.195;
    let turn = Quaternion::exp(Vec3::Z * -angle);
    let rolling = speed / 0.2;
    let velocity = Vec3::X * speed;
    let wheel = wheel(&mut model, Vec3::Z * height, turn, velocity, rolling, &road);
    let pulled = |locked: [Direction; 3]| {
        let ends = [NodeId::GROUND, wheel.carrier].map(|node| {
            Marker::on(node).oriented(if node == NodeId::GROUND {
                turn
            } else {
                Quaternion::IDENTITY
            })
        });
        let [mut ground, carrier] = ends;
        ground.offset = Vec3::Z * height;
        let rotation = [Direction::Locked, Direction::Locked, Direction::Locked];
        Joint::total(ground, carrier, locked, rotation)
    };
    let along = |share: f64| {
        Direction::Prescribed(Drive::Ramp {
            start: 0.0,
            end: 1.0,
            from: 0.0,
            to: speed * share,
        })
    };
    let joint = pulled([along(angle.cos()), along(angle.sin()), Direction::Locked]);
    model.element("guide", joint);
    let tyre = model.find_element("tyre").unwrap();
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    // At a constant load the tyre's own steady values and relaxation length are known.
    let load = 1e5 * (0.203 - height);
    let tyre_formula = formula();
    let steady = tyre_formula
        .forces(&Slip::forward(0.0, angle, 0.0, load, speed), 1.0)
        .fy;
    let [_, length] = tyre_formula.relaxation_lengths(load, 0.0);
    let mut worst: f64 = 0.0;
    for step in 1..=600 {
        system.step(h, &[]).unwrap();
        let (force, _) = system.wrench(tyre, 0, &[]);
        let expected = steady * (1.0 - (-speed * step as f64 * h / length).exp());
        worst = worst.max((force[1] - expected).abs() / steady.abs());
    }
    assert!(worst < 4e-3, "{worst}");
}

/// A braked wheel with a heavy carrier, kept upright, on a slope of 15 %.
fn parked(brake: bool) -> f64 {
    let slope = 0.15_f64;
    let road = Arc::new(Road::plane(0.0, [slope, 0.02]));
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let wheel = wheel(
        &mut model,
        Vec3::Z * 0.2,
        Quaternion::IDENTITY,
        Vec3::ZERO,
        0.0,
        &road,
    );
    model.body(
        wheel.carrier,
        Body::centred(60.0, Mat3::diagonal(2.0, 2.0, 2.0)),
    );
    let [ground, carrier] = [NodeId::GROUND, wheel.carrier].map(Marker::on);
    let free = [Direction::Free, Direction::Free, Direction::Free];
    let locked = [Direction::Locked, Direction::Locked, Direction::Locked];
    model.element("upright", Joint::total(ground, carrier, free, locked));
    let nodes = [wheel.carrier, wheel.rim];
    if brake {
        let friction = LuGre {
            coulomb: 0.4,
            stiction: 0.5,
            stribeck: 0.01,
            stiffness: 1e5,
            damping: 30.0,
            viscous: 0.0,
        };
        let clamping = Drive::Constant(2000.0);
        model.element(
            "brake",
            DiscBrake::new(nodes, Vec3::Y, 0.09, clamping, friction),
        );
    } else {
        let [a, b] = nodes.map(|node| Marker::on(node).axis(Vec3::Y));
        model.element("lock", Joint::driven_revolute(a, b, Drive::ZERO));
        // The bearing is the lock's own.
        let bearing = model.find_element("bearing").unwrap();
        model.replace(
            bearing,
            oldham_multibody::Load::fixed(
                Marker::on(wheel.carrier),
                [Drive::ZERO, Drive::ZERO, Drive::ZERO],
                [Drive::ZERO, Drive::ZERO, Drive::ZERO],
            ),
        );
    }
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let h = 1e-3;
    for _ in 0..3000 {
        system.step(h, &[]).unwrap();
    }
    let before = system.motion(wheel.carrier).position;
    // It stands in a place that is held by a force along the road.
    assert!(
        before[0].abs() < 0.02 && before[1].abs() < 0.02,
        "{before:?}"
    );
    for _ in 0..60_000 {
        system.step(h, &[]).unwrap();
    }
    (system.motion(wheel.carrier).position - before).norm()
}

#[test]
fn a_locked_wheel_stands_still_on_a_slope() {
    let moved = parked(false);
    assert!(moved < 1e-4, "{moved} m in 60 s");
}

#[test]
fn a_braked_wheel_stands_still_on_a_slope() {
    let moved = parked(true);
    assert!(moved < 1e-4, "{moved} m in 60 s");
}

#[test]
fn a_tyre_file_with_missing_and_absurd_entries_is_refused_with_lines() {
    let text = include_str!("data/slick.tir");
    let broken = text
        .replace("PKY1                     = -45", "PKY1 = 45")
        .replace("PDX1                     = 1.55", "$ nothing here")
        .replace("UNLOADED_RADIUS          = 0.203", "UNLOADED_RADIUS = 203");
    let problems = MagicFormula::parse(&broken).unwrap_err();
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let line = |key: &str| {
        1 + broken
            .lines()
            .position(|line| line.starts_with(key))
            .unwrap()
    };
    assert_eq!(texts.len(), 3, "{texts:#?}");
    assert_eq!(
        texts[0],
        "PDX1 is missing: the longitudinal friction at the nominal load; give it, between 0.05 and 5"
    );
    let radius = format!(
        "line {}: UNLOADED_RADIUS = 203 is absurd",
        line("UNLOADED_RADIUS")
    );
    assert!(texts[1].starts_with(&radius), "{}", texts[1]);
    let stiffness = format!("line {}: PKY1 = 45 is absurd", line("PKY1"));
    assert!(texts[2].starts_with(&stiffness), "{}", texts[2]);
}
