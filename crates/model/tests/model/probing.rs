//! Verdicts that went wrong once: probes too large, too small, too early, or made of tolerances.

use oldham_cosim::SubsystemId;
use oldham_model::{Model, Overrides, Template};
use oldham_stability::{Decision, Spectrum, analyse, borders, is_stable, map, radius};

use crate::common::{CUT_CANTILEVER, coupled, example, read, repository};

/// Two masses joined by a law that bends within a micrometre. The preload P cancels.
fn preloaded(law: &str, preload: f64) -> Model {
    let text = format!(
        r#"
        [model]
        name = "Preloaded joint"
        [parameters]
        P = {preload:e}
        [simulation]
        duration = 2.0
        step = 1e-3
        [lumped.left]
        integrator = "semi-implicit-euler"
        masses.x1 = {{ mass = 1.0, velocity = 1e-6 }}
        springs.wall = {{ between = ["ground", "x1"], stiffness = 1e5, damping = 10.0 }}
        springs.c = {{ between = ["x1", "far"], force = "P + {law}" }}
        loads.l = {{ on = "x1", force = "-P" }}
        inputs.far = {{ motion = "far" }}
        outputs.x1 = {{ motion = "x1" }}
        outputs.f = {{ force = "far" }}
        [lumped.right]
        integrator = "semi-implicit-euler"
        masses.x2 = {{ mass = 1.0 }}
        springs.wall = {{ between = ["x2", "ground"], stiffness = 1e3, damping = 10.0 }}
        loads.l = {{ on = "x2", force = "P" }}
        inputs.push = {{ force = "x2" }}
        outputs.x2 = {{ motion = "x2" }}
        [[connection]]
        from = "right.x2"
        to = "left.far"
        [[connection]]
        from = "left.f"
        to = "right.push"
        "#
    );
    read(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The motion does not depend on the preload, so neither does the radius.
#[test]
fn a_preload_that_cancels_changes_no_verdict() {
    let laws = [
        ("0.1*tanh(d/1e-6)", Decision::Unstable),
        ("100*d + 1e8*max(d-1e-5,0)", Decision::Stable),
    ];
    for (law, decision) in laws {
        let verdicts = [0.0, 1e3].map(|preload| {
            let model = preloaded(law, preload);
            analyse(&mut model.simulation().unwrap()).unwrap()
        });
        for verdict in &verdicts {
            assert_eq!(verdict.decision(), decision, "{law}: {verdict:?}");
        }
        let off = (verdicts[0].radius - verdicts[1].radius).abs();
        assert!(off < 1e-5 + verdicts[1].error, "{law}: {verdicts:?}");
    }
}

fn beam_at(place: f64) -> Model {
    let text = example("cut-beam")
        .replace("girder.12", "girder.2")
        .replace("girder.24", "girder.4")
        .replace("elements = 12", "elements = 2")
        .replace("from = [0, 0, 0]", &format!("from = [{place}, 0, 0]"))
        .replace("to = [24, 0, 0]", &format!("to = [{}, 0, 0]", place + 1.0))
        .replace(
            "[multibody.beam.cut]",
            "[multibody.beam.cut]\nscheme = \"interface-mass\"",
        );
    let set = Overrides(vec![("D".into(), "1e-4".into())]);
    Model::parse(&text, "beam.toml", &set).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_beam_far_from_the_origin_is_as_stable_as_at_the_origin() {
    let [near, far] = [0.0, 100.0].map(|place| {
        let verdict = analyse(&mut beam_at(place).simulation().unwrap()).unwrap();
        assert_eq!(verdict.decision(), Decision::Stable, "{place}: {verdict:?}");
        verdict
    });
    assert!((near.radius - far.radius).abs() < 1e-6, "{near:?} {far:?}");
}

/// A quiet cantilever, cut in the middle, was called unstable: the differences were made of
/// Newton's tolerance.
#[test]
fn a_quiet_cut_cantilever_is_not_called_unstable() {
    let model = read(CUT_CANTILEVER).unwrap_or_else(|problems| panic!("{problems}"));
    let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
    assert_ne!(verdict.decision(), Decision::Unstable, "{verdict:?}");
    assert!(verdict.reach < 1.0 + 1e-4, "{verdict:?}");
}

/// Where the amplitude grows by a factor of more than twenty in a step, the start-up step was
/// analysed. The run of this linear model says what the factor is.
#[test]
fn violent_growth_is_that_of_the_run_and_not_of_its_first_step() {
    let path = repository().join("papers/fontana/literature.toml");
    let set = [
        ("simulation.step", "3e-4"),
        ("rho", "0.1"),
        ("m2", "0.006325"),
        ("m3", "0.1"),
    ];
    let mut set: Vec<(String, String)> = set.map(|(k, v)| (k.into(), v.into())).to_vec();
    set.push(("simulation.duration".into(), "0.03".into()));
    let model = Model::read(&path, &Overrides(set)).unwrap_or_else(|p| panic!("{p}"));
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    let mut run = model.simulation().unwrap();
    let size = |run: &oldham_cosim::Simulation| {
        let parts = 0..run.names().count();
        let all = parts.flat_map(|part| run.outputs(oldham_cosim::SubsystemId(part)).to_vec());
        all.fold(0.0_f64, |most, value| most.max(value.abs()))
    };
    run.steps(60).unwrap();
    let before = size(&run);
    run.steps(20).unwrap();
    let factor = (size(&run) / before).powf(1.0 / 20.0);
    let predicted = spectrum.radius();
    assert!(factor > 20.0, "{factor}");
    assert!(
        (factor / predicted - 1.0).abs() < 1e-3,
        "{factor} {predicted}"
    );
}

/// Between the ends of a range, which are both unstable, there is a stretch that is not.
#[test]
fn borders_inside_a_range_are_found() {
    let text = example("two-mass-damped");
    let template = Template::parse(&text, "pair.toml", &Overrides::none()).unwrap();
    let build = |c: f64| template.with(&[("c", c)]).ok()?.simulation().ok();
    let found = borders(1e-3, 1e3, 25, build);
    let kinds: Vec<bool> = found.borders.iter().map(|b| b.is_stable_below).collect();
    assert_eq!(kinds, [false, true], "{:?}", found.borders);
    for (border, step) in found.borders.iter().zip([1.02, 1.0 / 1.02]) {
        let inside = radius(&mut build(border.value * step).unwrap());
        let outside = radius(&mut build(border.value / step).unwrap());
        assert!(is_stable(inside) && !is_stable(outside), "{border:?}");
    }
}

/// Many equal eigenvalues: the iteration of the small solver does not end on them.
#[test]
fn methods_without_numerical_damping_are_analysed() {
    let text = r#"
        [model]
        name = "two masses"
        [simulation]
        duration = 1.0
        step = 0.02
        [lumped.left]
        integrator = "lms2"
        rho = 1.0
        masses.x1 = { mass = 10.0, velocity = 1.0 }
        springs.wall = { between = ["ground", "x1"], stiffness = 100.0 }
        inputs.push = { force = "x1" }
        outputs.x1 = { motion = "x1" }
        [lumped.right]
        integrator = "lms2"
        rho = 1.0
        masses.x2 = { mass = 0.1 }
        springs.c = { between = ["far", "x2"], stiffness = 1000.0 }
        inputs.far = { motion = "far" }
        outputs.x2 = { motion = "x2" }
        outputs.f = { force = "far" }
        [[connection]]
        from = "left.x1"
        to = "right.far"
        [[connection]]
        from = "right.f"
        to = "left.push"
        "#;
    let model = read(text).unwrap();
    let mut simulation = model.simulation().unwrap();
    let verdict = analyse(&mut simulation).unwrap();
    assert_eq!(verdict.decision(), Decision::Unstable, "{verdict:?}");
    // The run says by how much, once the mode that grows is larger than those that decay: by the largest
    // displacements of two stretches that are far apart.
    let (stretch, apart) = (4_000, 100_000);
    for _ in 0..3 * apart {
        simulation.steps(1).unwrap();
    }
    let mut largest = || {
        let steps = (0..stretch).map(|_| {
            simulation.steps(1).unwrap();
            simulation.outputs(SubsystemId(0))[0].abs()
        });
        steps.fold(0.0, f64::max)
    };
    let stretches: Vec<f64> = (0..=apart / stretch).map(|_| largest()).collect();
    let (early, late) = (stretches[0], stretches[apart / stretch]);
    let growth = (late / early).ln() / apart as f64;
    let predicted = verdict.radius.ln();
    assert!(
        (growth / predicted - 1.0).abs() < 0.02,
        "{growth:e} {predicted:e}"
    );
}

/// A beam at rest has no forces; its equations hold from the start.
#[test]
fn a_model_at_rest_is_analysed() {
    let text = example("cut-beam")
        .replace("gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]")
        .replace("girder.24", "girder.4")
        .replace("girder.12", "girder.2")
        .replace("elements = 12", "elements = 2");
    let model = read(&text).unwrap();
    let verdict = analyse(&mut model.monolithic(None).unwrap()).unwrap();
    assert_eq!(verdict.decision(), Decision::Stable, "{verdict:?}");
}

/// Ten masses of which two are joined by a spring that has no stiffness at the first point of a map:
/// there all masses are changed together, and what one does to the other was taken for its own.
#[test]
fn a_spring_that_is_not_there_at_the_first_point_counts_at_the_others() {
    const MASSES: usize = 10;
    for first in 1..MASSES {
        for second in first + 1..MASSES {
            let masses: String = (0..MASSES)
                .map(|i| {
                    format!(
                        "masses.x{i} = {{ mass = 1, position = 0.01 }}\n\
                         springs.g{i} = {{ between = [\"ground\", \"x{i}\"], stiffness = {}, damping = 1 }}\n",
                        1000 + 37 * i
                    )
                })
                .collect();
            let text = format!(
                r#"
                [model]
                name = "Masses side by side"
                [parameters]
                k = 0.0
                [simulation]
                duration = 1.0
                step = 1e-3
                [lumped.left]
                integrator = "semi-implicit-euler"
                {masses}
                springs.c = {{ between = ["x{first}", "x{second}"], stiffness = "k" }}
                outputs.m = {{ motion = "x0" }}
                inputs.f = {{ force = "x0" }}
                [lumped.right]
                integrator = "lms2"
                masses.y = {{ mass = 1.0 }}
                springs.h = {{ between = ["w", "y"], stiffness = 100, damping = 1 }}
                inputs.w = {{ position_driven = "w" }}
                outputs.f = {{ force = "w" }}
                [[connection]]
                from = "left.m"
                to = "right.w"
                [[connection]]
                from = "right.f"
                to = "left.f"
                "#
            );
            let template = Template::parse(&text, "masses.toml", &Overrides::none()).unwrap();
            let build = |k: f64, _: f64| template.with(&[("k", k)]).ok()?.simulation().ok();
            let k = 4e6;
            let radii = map(&[0.0, k], &[0.0], 1, build, |_| {});
            // Semi-implicit Euler: z² − (2 − b − a) z + 1 − b = 0 with a = h² 2 k / m and little damping b.
            let turned = 2.0 - 1e-6 * (2.0 * k + 1e3);
            let grown = -turned / 2.0 + (turned * turned / 4.0 - 1.0).sqrt();
            assert!(
                is_stable(radii[0]) && (radii[1] / grown - 1.0).abs() < 1e-2,
                "{first}, {second}: {radii:?}, {grown}"
            );
        }
    }
}

/// A mass on a spring, and a body on a rail that follows it. Motions across the rail are rounding errors of rounding errors; made
/// as large as all others by balancing, they hid the modes of the motion along it.
#[test]
fn a_body_that_is_pushed_along_a_rail_is_as_unstable_as_it_runs() {
    for axis in ["[1, 0, 0]", "[0, 1, 0]", "[0.8, 0.6, 0]"] {
        let model = read(&format!(
            r#"
            [model]
            name = "Follower on a rail"
            [simulation]
            duration = 0.2
            energy_bound = 0
            step = 0.002
            [lumped.a]
            integrator = "lms2"
            masses.x = {{ mass = 5.0, velocity = 1.0 }}
            springs.g = {{ between = ["ground", "x"], stiffness = 200.0 }}
            inputs.push = {{ force = "x" }}
            outputs.x = {{ motion = "x" }}
            [multibody.p]
            integrator = "lms2"
            nodes.b = {{ }}
            bodies.b = {{ node = "b", mass = 2.0, inertia = [0.1, 0.1, 0.1] }}
            joints.rail = {{ type = "prismatic", between = ["ground", "b"], axis = {axis} }}
            inputs.c = {{ sliding = "rail" }}
            [[connection]]
            from = "a.x"
            to = "p.c"
            [[connection]]
            from = "p.c.force"
            to = "a.push"
            [schedule]
            predictor = "first-order"
            "#
        ))
        .unwrap_or_else(|problems| panic!("{problems}"));
        let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
        let run = coupled(&model);
        let force = run.column("p.c.force");
        let largest = |from: usize| {
            force[from..from + 20]
                .iter()
                .fold(0.0, |m: f64, f| m.max(f.abs()))
        };
        let growth = (largest(80) / largest(40)).powf(1.0 / 40.0);
        assert_eq!(
            verdict.decision(),
            Decision::Unstable,
            "{axis}: {verdict:?}"
        );
        assert!(
            (verdict.radius / growth - 1.0).abs() < 0.02,
            "{axis}: {} {growth}",
            verdict.radius
        );
    }
}

/// A pair of masses with one more that nothing follows, and numbers that differ only where a map does not look for what
/// its points have in common: at the corners all of these are alike.
#[test]
fn maps_see_what_differs_between_their_samples() {
    let model = |place: f64, wall: &str, damper: &str, alone: &str| {
        format!(
            r#"
            [model]
            name = "Pair and one more"
            [parameters]
            a = 0.0
            b = 0.0
            [simulation]
            duration = 1.0
            step = 1e-2
            [lumped.left]
            integrator = "semi-implicit-euler"
            masses.x1 = {{ mass = 1.0, position = {place} }}
            springs.wall = {{ between = ["ground", "x1"], rest = {place}, stiffness = "{wall}", damping = "{damper}" }}
            springs.coupling = {{ between = ["x1", "far"], stiffness = 0.1 }}
            inputs.far = {{ motion = "far" }}
            outputs.x1 = {{ motion = "x1" }}
            outputs.fc = {{ force = "far" }}
            [lumped.right]
            integrator = "semi-implicit-euler"
            masses.x2 = {{ mass = "1 + b", position = {place} }}
            springs.wall = {{ between = ["ground", "x2"], rest = {place}, stiffness = 80.0, damping = 5.0 }}
            inputs.push = {{ force = "x2" }}
            outputs.x2 = {{ motion = "x2" }}
            [lumped.more]
            integrator = "semi-implicit-euler"
            masses.x3 = {{ mass = 1.0, velocity = 0.1 }}
            springs.wall = {{ between = ["ground", "x3"], stiffness = 100.0, damping = "{alone}" }}
            [[connection]]
            from = "right.x2"
            to = "left.far"
            [[connection]]
            from = "left.fc"
            to = "right.push"
            "#
        )
    };
    let band = |there: &str, else_: &str| format!("if(abs(a - 0.3) < 0.1, {there}, {else_})");
    let cases = [
        model(0.0, &band("6e4", "100"), "5", "5"),
        model(0.0, "100", "5", &band("-5", "5")),
        model(0.1, "100", &band("-0.1", "0.1"), "5"),
        model(1e4, "100", "0.1 - 0.3 * a", "5"),
        model(0.0, "100", "10 * sin(pi * a)^2 - 1", "5"),
        model(0.0, "100", "5 - 20 * (a - b)", "5"),
    ];
    let axis: Vec<f64> = (0..9).map(|i| f64::from(i) / 8.0).collect();
    for (case, text) in cases.iter().enumerate() {
        let template = Template::parse(text, "pair.toml", &Overrides::none()).unwrap();
        let build = |a: f64, b: f64| {
            let model = template.with(&[("a", a), ("b", b)]).unwrap();
            model.simulation().ok()
        };
        for (xs, ys) in [(&axis[..], &axis[..]), (&axis[..], &axis[..1])] {
            let radii = map(xs, ys, 1, build, |_| {});
            for (place, found) in radii.into_iter().enumerate() {
                let (a, b) = (xs[place % xs.len()], ys[place / xs.len()]);
                let alone = radius(&mut build(a, b).unwrap());
                let off = (found - alone).abs();
                assert!(off < 1e-7, "{case} at {a}, {b}: {found}, alone {alone}");
            }
        }
    }
}

/// Without numerical damping the scheme with interface masses has a threefold eigenvalue at -1, which rounding splits by
/// some 1e-6: "unstable, 1.0000028 ± 5e-7" of models that do not grow in 2000 s.
#[test]
fn threefold_eigenvalues_are_no_growth() {
    let cases = [
        ["39.6012", "2019.17", "1.52026", "1e-3"],
        ["0", "110.617", "0.850902", "1e-4"],
    ];
    for case in cases {
        let keys = ["c", "k", "m2", "simulation.step"].into_iter().zip(case);
        let set = keys.chain([("rho", "1")]);
        let set: Vec<(String, String)> = set.map(|(k, v)| (k.into(), v.into())).collect();
        let path = repository().join("examples/interface-mass.toml");
        let model = Model::read(&path, &Overrides(set)).unwrap_or_else(|p| panic!("{p}"));
        let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
        assert_ne!(
            verdict.decision(),
            Decision::Unstable,
            "{case:?}: {verdict:?}"
        );
    }
}
