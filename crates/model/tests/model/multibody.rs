//! Mechanisms from model files, against closed forms and published values.

use std::f64::consts::{PI, TAU};

use oldham_model::{About, Mechanism, Model};
use oldham_multibody::Mode;
use oldham_multibody::SolveError;

use crate::common::{History, coupled, example, read};

fn only(model: &Model) -> Mechanism<'_> {
    model.mechanisms().next().expect("a mechanism")
}

/// A model with one mechanism.
fn mechanism(contents: &str) -> Model {
    let text = format!(
        "[model]\nname = \"M\"\n[simulation]\nduration = 1.0\nstep = 1e-3\n[multibody.m]\n{contents}"
    );
    read(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn angle_about_z(run: &History, node: &str) -> Vec<f64> {
    let [cosine, sine] = ["q0", "q3"].map(|q| run.column(&format!("{node}.{q}")));
    let angle = |(c, s): (&f64, &f64)| {
        let turn = 2.0 * s.atan2(*c);
        turn - TAU * (turn / TAU).round()
    };
    cosine.iter().zip(&sine).map(angle).collect()
}

#[test]
fn the_slider_follows_the_closed_form() {
    let model = read(&example("slider-crank")).unwrap();
    let run = coupled(&model);
    let (r, l, w) = (0.1, 0.3, TAU);
    let [x, v, a] = ["x", "v", "a"].map(|c| run.column(&format!("machine.slider.{c}")));
    for (i, t) in run.record.times.iter().enumerate() {
        let (sine, cosine) = (w * t).sin_cos();
        let root = (l * l - r * r * sine * sine).sqrt();
        let position = r * cosine + root;
        let slope = -r * sine - r * r * sine * cosine / root;
        let double = (w * t).cos() * (w * t).cos() - sine * sine;
        let bend = -r * cosine
            - r * r * double / root
            - r.powi(4) * sine * sine * cosine * cosine / root.powi(3);
        assert!((x[i] - position).abs() < 1e-9, "{t}: {} {position}", x[i]);
        assert!(
            (v[i] - w * slope).abs() < 2e-5,
            "{t}: {} {}",
            v[i],
            w * slope
        );
        // The first step is one of Crank-Nicolson.
        if i > 20 {
            assert!(
                (a[i] - w * w * bend).abs() < 1e-2,
                "{t}: {} {}",
                a[i],
                w * w * bend
            );
        }
    }
}

/// The rocker's angle from the triangle of coupler, rocker and the diagonal.
#[test]
fn the_rocker_follows_the_closed_form() {
    let model = read(&example("four-bar")).unwrap();
    let run = coupled(&model);
    let (base, a, b, c) = (0.4_f64, 0.1_f64, 0.35_f64, 0.3_f64);
    let angles = angle_about_z(&run, "linkage.rocker");
    for (t, angle) in run.record.times.iter().zip(angles) {
        let (sine, cosine) = (TAU * t).sin_cos();
        let (x, y) = (a * cosine - base, a * sine);
        let diagonal = x.hypot(y);
        let between = ((diagonal * diagonal + c * c - b * b) / (2.0 * diagonal * c)).acos();
        let expected = y.atan2(x).rem_euclid(TAU) - between;
        assert!((angle - expected).abs() < 1e-8, "{t}: {angle} {expected}");
    }
}

/// Values of an independent integration of the two equations of motion.
#[test]
fn the_double_pendulum_follows_its_reference() {
    let model = read(&example("double-pendulum")).unwrap();
    let run = coupled(&model);
    let angles = ["first", "second"].map(|node| angle_about_z(&run, &format!("pendulum.{node}")));
    for (row, expected) in [
        (2000, [-0.1350319, 1.2429792]),
        (10_000, [-1.4820032, 0.5494338]),
    ] {
        for (angles, expected) in angles.iter().zip(expected) {
            assert!(
                (angles[row] - expected).abs() < 2e-5,
                "{} {expected}",
                angles[row]
            );
        }
    }
}

/// ω² = m g l / (J + m l²) about the pivot, and half a swing later the other side.
#[test]
fn a_pendulum_has_its_period() {
    let (m, l, j, g) = (2.0_f64, 0.5_f64, 0.1_f64, 9.81_f64);
    let omega = (m * g * l / (j + m * l * l)).sqrt();
    let pendulum = |tilt: f64| {
        mechanism(&format!(
            r#"
            gravity = [0, 0, -9.81]
            frames.tilted = {{ orientation = {{ axis = [0, 1, 0], angle = {tilt} }} }}
            nodes.bob = {{ in = "tilted", position = [0, 0, -0.5] }}
            bodies.bob = {{ node = "bob", mass = 2.0, inertia = [0.1, 0.1, 0.02] }}
            joints.pivot = {{ type = "revolute", between = ["ground", "bob"], position = [0, 0, 0], axis = [0, 1, 0] }}
            outputs.bob = {{ displacement = "bob", axis = [1, 0, 0] }}
            "#
        ))
    };
    let hanging = pendulum(0.0);
    let (_, found) = only(&hanging).vibrations(About::Start, 3, None).unwrap();
    let vibrations = found.modes;
    assert_eq!(vibrations.len(), 1);
    assert!((vibrations[0].frequency() * TAU / omega - 1.0).abs() < 1e-9);
    assert_eq!(vibrations[0].damping(), 0.0);
    let x = coupled(&pendulum(0.01)).column("m.bob");
    for (i, x) in x.iter().enumerate() {
        let expected = -l * 0.01_f64.sin() * (omega * i as f64 * 1e-3).cos();
        assert!((x - expected).abs() < 2e-6, "{i}: {x} {expected}");
    }
}

/// The example with another number of elements, and without damping.
fn beam(elements: usize) -> Model {
    let text = example("fontana-beam")
        .replace("damping = 0.05", "damping = 0")
        .replace("elements = 12", &format!("elements = {elements}"))
        .replace("\"girder.24\"", &format!("\"girder.{}\"", 2 * elements))
        .replace("\"girder.12\"", &format!("\"girder.{elements}\""));
    read(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Mid-span deflection -0.914636 m and in-plane periods 1.01463, 0.85757, 0.55107 s are those of a
/// fine mesh; ours converge to them with the square of the element length.
#[test]
fn the_beam_converges_to_its_published_statics_and_periods() {
    let figures = |elements: usize| {
        let model = beam(elements);
        let poses = only(&model).equilibrium(None, 4).unwrap().poses;
        let found = only(&model).vibrations(About::Equilibrium, 6, None);
        let vibrations = found.unwrap().1.modes;
        let quarter = 1 + elements / 2;
        let vertical = |v: &&Mode| {
            let shape = &v.shape[quarter].0;
            shape[2].abs() > shape[1].abs()
        };
        let vertical = vibrations.iter().filter(vertical);
        let periods: Vec<f64> = vertical.map(|v| 1.0 / v.frequency()).collect();
        [
            poses[1 + elements].position[2],
            periods[0],
            periods[1],
            periods[2],
        ]
    };
    let (coarse, fine) = (figures(12), figures(24));
    for (i, exact) in [-0.914636, 1.01463, 0.85757, 0.55107]
        .into_iter()
        .enumerate()
    {
        let extrapolated = (4.0 * fine[i] - coarse[i]) / 3.0;
        assert!((fine[i] - exact).abs() < 1e-3, "{} {exact}", fine[i]);
        assert!(
            (extrapolated - exact).abs() < 1e-4,
            "{extrapolated} {exact}"
        );
    }
}

/// With damping D K the damping ratio of a mode of a straight beam at rest is D ω / 2.
#[test]
fn stiffness_proportional_damping_shows_in_the_modes() {
    let model = mechanism(
        r#"
        sections.steel = { rectangle = [0.02, 0.01], young = 2e11, density = 7800, damping = 1e-4 }
        beams.arm = { from = [0, 0, 0], to = [1, 0, 0], elements = 6, section = "steel", up = [0, 1, 0] }
        joints.wall = { type = "fixed", between = ["ground", "arm.0"] }
        "#,
    );
    let (_, found) = only(&model).vibrations(About::Start, 2, None).unwrap();
    let vibrations = found.modes;
    // Slender cantilever about the weak axis: ω = 1.8751² sqrt(EI / ρA) / l².
    let omega = 1.875_104_f64.powi(2) * (2e11 * 0.01_f64.powi(2) / 12.0 / 7800.0_f64).sqrt();
    let found = vibrations[0].frequency() * TAU;
    assert!((found / omega - 1.0).abs() < 5e-3, "{found} {omega}");
    for vibration in &vibrations {
        let ratio = 0.5 * 1e-4 * vibration.frequency() * TAU;
        let found = vibration.damping();
        assert!((found / ratio - 1.0).abs() < 1e-4, "{found} {ratio}");
    }
}

/// A quarter circle pulled apart by a moment at its end opens by M l / EI everywhere alike.
#[test]
fn a_curved_beam_bends_uniformly_under_a_moment() {
    let bending: f64 = 10.0;
    let model = mechanism(&format!(
        r#"
        sections.wire = {{ axial = 1e6, shear = [1e6, 1e6], torsion = 10, bending = [10, {bending}], mass = 1 }}
        beams.arc = {{ curve = ["sin(s * pi / 2)", "1 - cos(s * pi / 2)", 0], elements = 8, section = "wire", up = [0, 0, 1] }}
        joints.wall = {{ type = "fixed", between = ["ground", "arc.0"] }}
        loads.open = {{ on = "arc.16", moment = [0, 0, -4] }}
        "#,
    ));
    let poses = only(&model).equilibrium(None, 4).unwrap().poses;
    let turn = poses[17]
        .orientation
        .times(only(&model).given()[17].orientation.conjugate());
    let expected = -4.0 * (PI / 2.0) / bending;
    // The second section axis is up: the arc bends about it.
    assert!(
        (turn.log()[2] - expected).abs() < 2e-3,
        "{} {expected}",
        turn.log()[2]
    );
}

/// Pulled up at its middle, the thin sheet is a string: two straight halves of length
/// ℓ/(2 cos α) with F = 2 EA (1/cos α - 1) sin α.
#[test]
fn the_clamped_plate_becomes_a_taut_string() {
    let model = read(&example("clamped-plate")).unwrap();
    let poses = only(&model).equilibrium(Some(1.0), 4).unwrap().poses;
    let names = &only(&model).sketch().nodes;
    let middle = names.iter().position(|name| name == "sheet.4.1").unwrap();
    let stiffness = 6.825e7 * 0.2 * 1e-3;
    let force = |angle: f64| 2.0 * stiffness * (1.0 / angle.cos() - 1.0) * angle.sin();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let angle = 0.5 * (low + high);
        *(if force(angle) < 20.0 {
            &mut low
        } else {
            &mut high
        }) = angle;
    }
    let expected = 0.5 * f64::tan(low);
    let found = poses[middle].position[2];
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
}

#[test]
fn frames_are_nested_in_any_order() {
    let model = mechanism(
        r#"
        [multibody.m.frames]
        inner = { in = "outer", position = [1, 0, 0], orientation = { euler = [0, 0, "pi / 2"] } }
        outer = { position = [0, 0, 5], orientation = { vector = [0, 0, "pi / 2"] } }
        [multibody.m.nodes]
        n = { in = "inner", position = [2, 0, 0], orientation = { quaternion = [1, 0, 0, 0] } }
        [multibody.m.bodies]
        n = { node = "n", density = 1, shape = { sphere = 1 } }
        "#,
    );
    let pose = only(&model).given()[1];
    // Two turns by 90 degrees: x of the inner frame is -x.
    for (found, expected) in pose.position.0.iter().zip([-2.0, 1.0, 5.0]) {
        assert!((found - expected).abs() < 1e-12, "{:?}", pose.position);
    }
    let x = pose.direction(oldham_multibody::Vec3::X);
    assert!((x[0] + 1.0).abs() < 1e-12);
}

/// A weight on a spring along a guide: it sags by m g / k, and the spring holds its weight.
#[test]
fn a_settled_weight_hangs_on_its_spring() {
    let model = mechanism(
        r#"
        gravity = [0, 0, -9.81]
        static_equilibrium = true
        nodes.bob = { position = [0, 0, -1] }
        bodies.bob = { node = "bob", mass = 2.0, inertia = [0.1, 0.1, 0.1] }
        joints.guide = { type = "prismatic", between = ["ground", "bob"] }
        springs.coil = { between = ["ground", "bob"], stiffness = 100 }
        outputs.coil = { reaction = "coil" }
        outputs.bob = { motion = "bob" }
        "#,
    );
    let run = coupled(&model);
    for row in [0, 500, 1000] {
        let column = |name: &str| run.column(name)[row];
        assert!((column("m.bob.pz") + 1.0 + 2.0 * 9.81 / 100.0).abs() < 1e-9);
        assert!((column("m.coil.fz") - 2.0 * 9.81).abs() < 1e-6);
        assert!(column("m.bob.vz").abs() < 1e-9);
    }
}

/// A pinion of radius r on a rack: J/r² and m share the force.
#[test]
fn a_rack_and_its_pinion_share_a_force() {
    let model = mechanism(
        r#"
        nodes.wheel = { position = [0, 0.1, 0] }
        nodes.bar = { }
        bodies.wheel = { node = "wheel", mass = 1, inertia = [1, 1, 0.02] }
        bodies.bar = { node = "bar", mass = 3, inertia = [1, 1, 1] }
        joints.axle = { type = "revolute", between = ["ground", "wheel"] }
        joints.rail = { type = "prismatic", between = ["ground", "bar"], axis = [1, 0, 0] }
        transmissions.teeth = { joints = ["axle", "rail"], ratios = [0.1, -1] }
        loads.push = { on = "bar", force = ["2 * t", 0, 0] }
        outputs.bar = { displacement = "bar", axis = [1, 0, 0] }
        "#,
    );
    let x = coupled(&model).column("m.bar");
    // x'' = 2 t / (3 + 0.02 / 0.1²) = 0.4 t.
    assert!((x[1000] - 0.4 / 6.0).abs() < 1e-6, "{}", x[1000]);
}

/// A body on a rail and a lumped spring: x = cos(ω t).
#[test]
fn a_mechanism_couples_with_a_lumped_part() {
    let text = r#"
        [model]
        name = "Rail and spring"
        [simulation]
        duration = 2.0
        step = 1e-3
        [multibody.rail]
        nodes.cart = { position = [1, 0, 0] }
        bodies.cart = { node = "cart", mass = 2, inertia = [1, 1, 1] }
        joints.guide = { type = "prismatic", between = ["ground", "cart"], axis = [1, 0, 0] }
        loads.pull = { on = "cart", force = [{ input = "pull" }, 0, 0] }
        inputs.pull = { scalar = "N" }
        outputs.cart = { translation = "cart", axis = [1, 0, 0] }
        [lumped.spring]
        integrator = "lms2"
        masses.dummy = { mass = 1 }
        springs.k = { between = ["ground", "cart"], stiffness = 50 }
        inputs.cart = { motion = "cart" }
        outputs.pull = { force = "cart" }
        [[connection]]
        from = "rail.cart"
        to = "spring.cart"
        [[connection]]
        from = "spring.pull"
        to = "rail.pull"
        [schedule]
        coupling = "implicit"
    "#;
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let x = coupled(&model).column("rail.cart.x");
    for (i, x) in x.iter().enumerate() {
        let expected = (5.0 * i as f64 * 1e-3).cos();
        assert!((x - expected).abs() < 1e-4, "{i}: {x} {expected}");
    }
    let problems = model.monolithic(None).err().expect("a refusal").to_string();
    assert!(
        problems.contains("`rail` is no lumped subsystem"),
        "{problems}"
    );
}

/// A body in one part, the spring that holds it in another: poses one way, wrenches back.
#[test]
fn two_mechanisms_couple_by_pose_and_wrench() {
    let text = r#"
        [model]
        name = "Body and spring"
        [simulation]
        duration = 1.0
        step = 1e-3
        [multibody.body]
        nodes.tip = { position = [0, 0, 2] }
        bodies.tip = { node = "tip", mass = 2, inertia = [1, 1, 1] }
        inputs.hand = { wrench = "tip" }
        [multibody.holder]
        nodes.grip = { position = [0, 0, 2] }
        springs.k = { between = ["ground", "grip"], stiffness = 50, length = 1.5 }
        inputs.grip = { pose = "grip" }
        [[connection]]
        from = "body.hand.motion"
        to = "holder.grip"
        [[connection]]
        from = "holder.grip.load"
        to = "body.hand"
        [schedule]
        coupling = "implicit"
    "#;
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let z = coupled(&model).column("body.hand.motion.pz");
    for (i, z) in z.iter().enumerate() {
        let expected = 1.5 + 0.5 * (5.0 * i as f64 * 1e-3).cos();
        assert!((z - expected).abs() < 1e-4, "{i}: {z} {expected}");
    }
}

#[test]
fn a_driven_mechanism_has_no_vibrations_and_a_loose_one_no_equilibrium() {
    let model = read(&example("slider-crank")).unwrap();
    let (_, found) = only(&model).vibrations(About::Start, 4, None).unwrap();
    let vibrations = found.modes;
    assert!(vibrations.is_empty());
    let model = mechanism(
        "gravity = [0, 0, -1]\nnodes.n = { }\nbodies.n = { node = \"n\", mass = 1, inertia = [1, 1, 1] }",
    );
    let error = only(&model).equilibrium(None, 4).unwrap_err();
    assert!(matches!(error, SolveError::Unheld { unknown, .. } if unknown == "n"));
}

/// All six components of all nodes are too much; poses are what an animation needs.
#[test]
fn nodes_are_recorded_by_their_poses_unless_not_wanted() {
    let text = example("double-pendulum");
    let recorded = |text: &str| {
        let model = read(text).unwrap();
        let simulation = model.simulation().unwrap();
        let columns = simulation.columns();
        let chosen = model.recorded(columns).unwrap();
        let names = chosen.into_iter().map(|i| columns[i].name.clone());
        names
            .filter(|name| name.contains(".nodes."))
            .collect::<Vec<_>>()
    };
    let names = recorded(&text);
    assert_eq!(names.len(), 14, "{names:?}");
    assert!(names.contains(&"pendulum.nodes.second.q3".to_owned()));
    let with_signals = text.clone() + "[record]\nsignals = [\"pendulum.pivot\"]\n";
    assert_eq!(recorded(&with_signals).len(), 14);
    assert!(recorded(&(text + "[record]\nnodes = false\n")).is_empty());
}

/// m x'' = -k x - d v by feedback of what is measured, and the same by a law of a bushing.
#[test]
fn feedback_and_laws_make_a_damped_oscillator() {
    let body = "nodes.n = { position = [0.3, 0, 0] }\nbodies.n = { node = \"n\", mass = 2, inertia = [1, 1, 1] }\n";
    let feedback = "sensors.x = { displacement = \"n\", axis = [1, 0, 0] }\nsensors.u = { velocity = \"n\", axis = [1, 0, 0] }\nloads.control = { on = \"n\", force = [\"-200 * x - 8 * u\", 0, 0] }\n";
    let law = "bushings.b = { between = [\"ground\", \"n\"], position = [0.3, 0, 0], force = [\"200 * (d + 0.3) + 8 * v\", 0, 0] }\n";
    for element in [feedback, law] {
        let run = coupled(&mechanism(&format!("{body}{element}")));
        let x = run.column("m.nodes.n.px");
        for (i, t) in run.record.times.iter().enumerate() {
            let (delta, omega) = (2.0, 96.0_f64.sqrt());
            let (s, c) = (omega * t).sin_cos();
            let expected = 0.3 * (-delta * t).exp() * (c + delta / omega * s);
            assert!((x[i] - expected).abs() < 1e-4, "{t}: {} {expected}", x[i]);
        }
    }
}

#[test]
fn the_feedback_of_the_example_rights_the_pole() {
    let model = read(&example("balanced-pendulum")).unwrap();
    let run = coupled(&model);
    let last = |name: &str| *run.column(name).last().unwrap();
    let (cart, pole) = (last("balance.nodes.cart.px"), last("balance.nodes.pole.px"));
    assert!((pole - cart).abs() < 2e-3, "{cart} {pole}");
    assert!(last("balance.nodes.pole.pz") > 0.499);
}

/// The links hang as a polygon whose slopes grow by the same amount from link to link.
#[test]
fn the_chain_of_the_example_hangs_as_a_polygon() {
    let model = read(&example("hanging-chain")).unwrap();
    let poses = only(&model).equilibrium(None, 4).unwrap().poses;
    let slope = |pose: &oldham_model::Pose| {
        let axis = pose.orientation.matrix().column(0);
        axis[2] / axis[0]
    };
    let slopes: Vec<f64> = poses[1..7].iter().map(slope).collect();
    let growth = slopes[1] - slopes[0];
    assert!(growth > 0.1);
    for pair in slopes.windows(2) {
        assert!((pair[1] - pair[0] - growth).abs() < 1e-9, "{slopes:?}");
    }
    let run = coupled(&model);
    let [x, v] = ["chain.nodes.shaker.px", "chain.pull.fx"].map(|name| run.column(name));
    for (i, t) in run.record.times.iter().enumerate() {
        let moved = 0.04 * (1.0 - (6.0 * t).cos());
        assert!((x[i] - x[0] - moved).abs() < 1e-9);
        assert!(v[i].is_finite());
    }
}
