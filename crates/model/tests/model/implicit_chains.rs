//! Implicit coupling of random chains, beside the monolithic model.

use std::fmt::Write;

use oldham_model::Integrator;

use crate::common::{History, Random, coupled, read};

/// Parts in a row, each with one or two masses; the spring between two parts belongs to the later.
fn chain(random: &mut Random, parts: usize) -> String {
    let mut text = String::from(
        "[model]\nname = \"chain\"\n[simulation]\nstep = 5e-3\nduration = 0.2\nenergy_bound = 0\n\
         [schedule]\ncoupling = \"implicit\"\npredictor = \"first-order\"\n",
    );
    let mut wires = String::new();
    for part in 0..parts {
        let masses = 1 + (random.unit() * 2.0) as usize;
        let _ = writeln!(text, "[lumped.p{part}]\nintegrator = \"lms2\"");
        for mass in 0..masses {
            let _ = writeln!(
                text,
                "masses.m{mass} = {{ mass = {}, velocity = {} }}",
                random.size(0.05, 10.0),
                random.between(-40.0, 40.0)
            );
        }
        let mut spring = |a: &str, b: &str, text: &mut String| {
            let _ = writeln!(
                text,
                "springs.{a}-{b} = {{ between = [\"{a}\", \"{b}\"], stiffness = {}, damping = {} }}",
                random.size(300.0, 3e4),
                random.size(1e-2, 10.0)
            );
        };
        if masses > 1 {
            spring("m0", "m1", &mut text);
        }
        let last = masses - 1;
        if part + 1 == parts {
            spring(&format!("m{last}"), "ground", &mut text);
        }
        if part == 0 {
            spring("ground", "m0", &mut text);
        } else {
            spring("far", "m0", &mut text);
            text += "inputs.far = { motion = \"far\" }\noutputs.pull = { force = \"far\" }\n";
            let before = part - 1;
            let _ = writeln!(
                wires,
                "[[connection]]\nfrom = \"p{before}.end\"\nto = \"p{part}.far\"\n\
                 [[connection]]\nfrom = \"p{part}.pull\"\nto = \"p{before}.push\""
            );
        }
        let _ = writeln!(text, "outputs.end = {{ motion = \"m{last}\" }}");
        if part + 1 < parts {
            let _ = writeln!(text, "inputs.push = {{ force = \"m{last}\" }}");
        }
    }
    text + &wires
}

#[test]
fn random_chains_coupled_tightly_move_as_the_monolithic_model() {
    for seed in 0..60 {
        let mut random = Random(1000 + seed);
        let parts = 2 + seed as usize % 5;
        let text = chain(&mut random, parts);
        let model = read(&text).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
        let monolithic = model.monolithic(Some(Integrator::Lms2 { rho: 0.6 }));
        let whole = History::of(&model, monolithic.expect("a monolithic reference"));
        let cut = coupled(&model);
        for part in 0..parts {
            let name = format!("p{part}.end.x");
            let (found, expected) = (cut.column(&name), whole.column(&name));
            let scale = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let error = error.fold(0.0, f64::max) / scale;
            assert!(error < 1e-7, "seed {seed}, {name}: {error:.1e}");
        }
    }
}
