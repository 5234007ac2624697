//! Random chains of masses, cut once, with several micro steps per macro step.

use std::fmt::Write;

use oldham_model::Approach;
use oldham_stability::{is_stable, radius};

use super::random::{Random, pair};
use super::scenario::{Scenario, Way};
use crate::item::{PaperError, Report};

/// Systems of each kind.
const PAIRS: usize = 100;
const CHAINS: usize = 10;
const MICRO_STEPS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

pub(super) fn chains(report: &mut Report) -> Result<(), PaperError> {
    for micro_steps in MICRO_STEPS {
        let mut random = Random(7);
        let pairs: Vec<_> = (0..PAIRS).map(|_| pair(&mut random)).collect();
        let what = format!("{PAIRS} pairs, {micro_steps} micro steps");
        let micro = |part: &str| format!("lumped.{part}.micro_steps");
        let (left, right) = (micro("left"), micro("right"));
        let set = [(left.as_str(), micro_steps), (right.as_str(), micro_steps)];
        tell(report, &what, pairs.into_iter().map(|p| p.with(&set)))?;
    }
    for micro_steps in MICRO_STEPS {
        let mut random = Random(8);
        let chains: Vec<_> = (3..=8)
            .flat_map(|masses| (0..CHAINS).map(move |_| masses))
            .map(|masses| chain(masses, &mut random))
            .collect();
        let what = format!(
            "{} chains of 3 to 8 masses, {micro_steps} micro steps",
            chains.len()
        );
        let set = [
            ("lumped.left.micro_steps", micro_steps),
            ("lumped.right.micro_steps", micro_steps),
        ];
        tell(report, &what, chains.into_iter().map(|c| c.with(&set)))?;
    }
    Ok(())
}

fn tell(
    report: &mut Report,
    what: &str,
    systems: impl Iterator<Item = Scenario>,
) -> Result<(), PaperError> {
    let approaches = [
        ("assignment (z)", Approach::Sampled),
        ("assignment (s)", Approach::Continuous),
        ("structural", Approach::Structural),
    ];
    let mut plain = 0;
    let mut failed = [0; 3];
    let mut neither = 0;
    for system in systems {
        let before = radius(&mut system.simulation(Way::Plain)?);
        plain += usize::from(!is_stable(before));
        let model = system.model(Way::Compensated)?;
        let refused = approaches.map(|(_, approach)| model.compensate(approach).is_err());
        for (count, refused) in failed.iter_mut().zip(refused) {
            *count += usize::from(refused);
        }
        neither += usize::from(refused[0] && refused[2]);
    }
    let row = |of: &str| format!("{what}: unstable {of}");
    report.row(
        row("without compensation"),
        None,
        plain as f64,
        "systems",
        "",
    );
    for ((name, _), failed) in approaches.iter().zip(failed) {
        report.row(
            row(&format!("or refused with {name}")),
            None,
            failed as f64,
            "systems",
            "",
        );
    }
    let note = "no compensation that the discrete check confirms";
    report.row(
        row("with both z and structural"),
        None,
        neither as f64,
        "systems",
        note,
    );
    Ok(())
}

/// A chain with values from the ranges of the pairs, cut anywhere, exchanged every 5 ms.
fn chain(masses: usize, random: &mut Random) -> Scenario {
    let mass: Vec<f64> = (0..masses).map(|_| random.between(1.0, 10.0)).collect();
    let stiffness: Vec<f64> = (0..=masses).map(|_| random.between(1.0, 1000.0)).collect();
    let damping: Vec<f64> = (0..=masses)
        .map(|i| random.between(0.0, 0.02) * 2.0 * (mass[i.min(masses - 1)] * stiffness[i]).sqrt())
        .collect();
    let cut = 1 + (random.between(0.0, masses as f64 - 1.0) as usize).min(masses - 2);
    let mut text = String::from(
        "[model]\nname = \"Chain\"\n[simulation]\nduration = 1.0\nstep = 5e-3\n\
         [compensator.coupling]\nforce = \"left.fc\"\ncorrect = \"left.correction\"\n\
         [[connection]]\nfrom = \"right.near\"\nto = \"left.far\"\n\
         [[connection]]\nfrom = \"left.fc\"\nto = \"right.push\"\n",
    );
    let mut part = |name: &str, range: std::ops::Range<usize>| {
        let node = |place: usize| match place {
            0 => "ground".to_owned(),
            last if last == masses + 1 => "ground".to_owned(),
            // The first part sees the mass behind the cut as what it receives.
            beyond if name == "left" && beyond > cut => "far".to_owned(),
            own => format!("x{own}"),
        };
        writeln!(
            text,
            "[lumped.{name}]\nintegrator = \"semi-implicit-euler\""
        )
        .expect("a text takes all");
        for place in range.clone() {
            let velocity = random.between(-10.0, 10.0);
            writeln!(
                text,
                "masses.x{} = {{ mass = {:?}, velocity = {velocity:?} }}",
                place + 1,
                mass[place]
            )
            .expect("a text takes all");
            let port = if name == "right" && place == cut {
                "near".to_owned()
            } else {
                format!("x{}", place + 1)
            };
            writeln!(text, "outputs.{port} = {{ motion = \"x{}\" }}", place + 1)
                .expect("a text takes all");
        }
        let springs = if name == "left" {
            0..range.end + 1
        } else {
            range.start + 1..range.end + 1
        };
        for spring in springs {
            writeln!(
                text,
                "springs.s{spring} = {{ between = [\"{}\", \"{}\"], stiffness = {:?}, damping = {:?} }}",
                node(spring),
                node(spring + 1),
                stiffness[spring],
                damping[spring]
            )
            .expect("a text takes all");
        }
    };
    part("left", 0..cut);
    part("right", cut..masses);
    let ports = format!(
        "[lumped.left.inputs]\nfar = {{ motion = \"far\" }}\ncorrection = {{ force = \"x{cut}\" }}\n\
         [lumped.right.inputs]\npush = {{ force = \"x{}\" }}\n",
        cut + 1
    );
    let text = text.replace(
        "[lumped.right]",
        "outputs.fc = { force = \"far\" }\n[lumped.right]",
    );
    Scenario::of_text("random chain", text + &ports, ["right.near.x", "left.fc"])
}
