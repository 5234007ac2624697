//! Compensators are offered when they help, and only then.

use std::fmt::Write as _;

use oldham_model::{Approach, CompensationError, Integrator, Model, Offer, Overrides};
use oldham_stability::compensate::DesignError;

use crate::common::{History, Random, coupled, example, read};

/// Three masses in a row, cut at the second spring. Assignment puts the poles right with a gain of
/// nearly minus the mass of 3 kg on its acceleration: a gram is left, and answers to everything.
const THREE_MASSES: &str = r#"
[model]
name = "Three masses"
[simulation]
step = 3e-4
duration = 3.0
energy_bound = 0
[lumped.left]
integrator = "semi-implicit-euler"
masses.x0 = { mass = 0.04, velocity = -100.0 }
masses.x1 = { mass = 3.0, velocity = -30.0 }
springs.s0 = { between = ["ground", "x0"], stiffness = 2e4, damping = 20.0 }
springs.s1 = { between = ["x0", "x1"], stiffness = 100.0 }
springs.s2 = { between = ["x1", "far"], stiffness = 2000.0 }
inputs.far = { motion = "far" }
inputs.correction = { force = "x1" }
outputs.x0 = { motion = "x0" }
outputs.x1 = { motion = "x1" }
outputs.f = { force = "far" }
[lumped.right]
integrator = "semi-implicit-euler"
masses.x2 = { mass = 0.15, velocity = 70.0 }
springs.s3 = { between = ["x2", "ground"], stiffness = 3000.0, damping = 7.0 }
inputs.push = { force = "x2" }
outputs.x2 = { motion = "x2" }
[[connection]]
from = "right.x2"
to = "left.far"
[[connection]]
from = "left.f"
to = "right.push"
[compensator.c]
force = "left.f"
correct = "left.correction"
[schedule]
predictor = "zero-order"
"#;

#[test]
fn an_assignment_that_spoils_the_motion_is_not_offered() {
    let model = read(THREE_MASSES).expect("a model");
    match model.compensate(Approach::Sampled) {
        Err(CompensationError::Worse { errors }) => {
            assert!(errors[1] > 1.0 && errors[0] < 0.05, "{errors:?}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("offered"),
    }
    let (_, offer) = model.compensate(Approach::Structural).expect("an offer");
    let Offer::Structural { errors, .. } = offer else {
        panic!("another offer");
    };
    let [without, with] = errors.expect("a monolithic model");
    assert!(with < without, "{without} {with}");
}

/// What the compensator remembers of its own part's acceleration is a recurrence of its own, with the
/// factor kc h² / (2 m2): 1.28 here. No recorded signal shows it before it overflows.
#[test]
fn the_memory_of_a_structural_compensator_is_analysed() {
    let changes = [
        ("m1", "100"),
        ("k2", "1"),
        ("cc", "0"),
        ("simulation.step", "0.16"),
        ("simulation.duration", "8"),
    ];
    let overrides = Overrides(changes.map(|(k, v)| (k.into(), v.into())).to_vec());
    let text = example("two-mass-compensated");
    let model = Model::parse(&text, "test.toml", &overrides).expect("a model");
    match model.compensate(Approach::Structural) {
        Err(CompensationError::Design(DesignError::StructureUnstable { radius })) => {
            assert!((radius[1] - 1.28).abs() < 1e-3, "{radius:?}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("offered"),
    }
}

#[test]
fn where_there_is_no_delay_there_is_nothing_to_compensate() {
    let refusal = |name: &str| {
        let model = read(&example(name)).expect("a model");
        match model.compensate(Approach::Sampled) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name}: offered"),
        }
    };
    let tight = refusal("two-mass-tight");
    assert!(
        tight.contains("implicit (tight) coupling iterates the delay away"),
        "{tight}"
    );
    let corrected = refusal("interface-tangent");
    assert!(corrected.contains("corrects every step"), "{corrected}");
}

#[test]
fn an_interface_behind_a_cut_is_refused_by_the_name_of_the_mechanism() {
    let text = example("beam-absorber");
    let cut = text.replace("rho = 0.6", "rho = 0.6\ncut.at = [\"girder.2\"]");
    let model = read(&cut).expect("a model");
    let problems = model.simulation().err().expect("it is refused").to_string();
    assert!(problems.contains("`beam` is cut into parts"), "{problems}");
}

/// Two to four masses in a row with random values, cut at a random spring; 600 steps of 5 ms.
fn random_chain(random: &mut Random) -> String {
    let count = 2 + random.below(3);
    let cut = 1 + random.below(count - 1);
    let mut text = String::from(
        "[model]\nname = \"Chain\"\n[simulation]\nstep = 5e-3\nduration = 3.0\nenergy_bound = 0\n\
         [schedule]\npredictor = \"zero-order\"\n",
    );
    let masses: Vec<f64> = (0..count).map(|_| random.between(1.0, 10.0)).collect();
    let springs: Vec<_> = (0..=count)
        .map(|spring| {
            let stiffness = random.between(1.0, 1000.0);
            let mass = masses[spring.min(count - 1)];
            let damping = random.between(0.001, 0.1) * 2.0 * (mass * stiffness).sqrt();
            let far = spring == cut;
            (stiffness, damping * if far { 0.1 } else { 1.0 })
        })
        .collect();
    for (part, range) in [("left", 0..cut), ("right", cut..count)] {
        let _ = writeln!(
            text,
            "[lumped.{part}]\nintegrator = \"semi-implicit-euler\""
        );
        for mass in range.clone() {
            let _ = writeln!(
                text,
                "masses.x{mass} = {{ mass = {}, velocity = {} }}\noutputs.x{mass} = {{ motion = \"x{mass}\" }}",
                masses[mass],
                random.between(-10.0, 10.0)
            );
        }
        let springs_of_part = match part {
            "left" => 0..cut + 1,
            _ => cut + 1..count + 1,
        };
        for spring in springs_of_part {
            let name = |mass: Option<usize>| match mass {
                Some(mass) if mass == cut && part == "left" => "far".to_owned(),
                Some(mass) if mass < count => format!("x{mass}"),
                _ => "ground".to_owned(),
            };
            let (stiffness, damping) = springs[spring];
            let _ = writeln!(
                text,
                "springs.s{spring} = {{ between = [\"{}\", \"{}\"], stiffness = {stiffness}, damping = {damping} }}",
                name(spring.checked_sub(1)),
                name(Some(spring))
            );
        }
    }
    let near = cut - 1;
    let _ = write!(
        text,
        "[lumped.left.inputs]\nfar = {{ motion = \"far\" }}\ncorrection = {{ force = \"x{near}\" }}\n\
         [lumped.right.inputs]\npush = {{ force = \"x{cut}\" }}\n\
         [[connection]]\nfrom = \"right.x{cut}\"\nto = \"left.far\"\n\
         [[connection]]\nfrom = \"left.f\"\nto = \"right.push\"\n\
         [compensator.c]\nforce = \"left.f\"\ncorrect = \"left.correction\"\n"
    );
    text.replacen(
        "outputs.x0",
        "outputs.f = { force = \"far\" }\noutputs.x0",
        1,
    )
}

/// Root mean square of the differences from the exact motion, relative to it, at the worse side of the interface, which is the last
/// mass of the left part and the first one of the right.
fn difference(found: &History, exact: &History) -> f64 {
    let of = |part: &str| -> Vec<&str> {
        let sent = exact.names().filter(|name| name.ends_with(".x"));
        sent.filter(|name| name.starts_with(part)).collect()
    };
    let (left, right) = (of("left"), of("right"));
    let names = left.last().into_iter().chain(right.first()).copied();
    let each = names.map(|name| {
        let (found, exact) = (found.column(name), exact.column(name));
        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
        let apart = square(&mut found.iter().zip(&exact).map(|(a, b)| a - b));
        (apart / square(&mut exact.iter().copied())).sqrt()
    });
    each.fold(0.0, f64::max)
}

/// What is offered was tried for so long that it does not turn bad soon after.
#[test]
fn offered_compensators_help_over_four_times_the_run() {
    let count = std::env::var("OLDHAM_MODELS").map_or(20, |count| count.parse().expect("a number"));
    let mut offered = 0;
    for seed in 0..count {
        let text = random_chain(&mut Random(300 + seed));
        let with = |method: &str, domain: &str| {
            let set = [
                ("simulation.duration", "12"),
                ("compensator.c.method", method),
                ("compensator.c.domain", domain),
            ];
            let set = set.iter().filter(|(_, value)| !value.is_empty());
            let set = set.map(|&(key, value)| (key.into(), value.into()));
            Model::parse(&text, "test.toml", &Overrides(set.collect()))
                .unwrap_or_else(|problems| panic!("{text}\n{problems}"))
        };
        let plain = with("none", "");
        let exact = plain.monolithic(Some(Integrator::Exact));
        let exact = History::of(&plain, exact.expect("a monolithic model"));
        let without = difference(&coupled(&plain), &exact);
        let model = read(&text).expect("a model");
        for (approach, method, domain) in [
            (Approach::Sampled, "assignment", "z"),
            (Approach::Continuous, "assignment", "s"),
            (Approach::Structural, "structural", ""),
        ] {
            if model.compensate(approach).is_ok() {
                let error = difference(&coupled(&with(method, domain)), &exact);
                assert!(
                    error <= without,
                    "chain {seed}, {approach:?}: {error:.2e} instead of {without:.2e}"
                );
                offered += 1;
            }
        }
    }
    assert!(
        offered > 2 * count,
        "only {offered} of {} are offered",
        3 * count
    );
}
