//! What coupling does to the example models, against closed forms and monolithic models.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Integrator, Model, Overrides};
use oldham_stability::{Recurrence, analyse};

const FORCE_DISPLACEMENT: &str = "two-mass-force-displacement.toml";
const DISPLACEMENT_DISPLACEMENT: &str = "two-mass-displacement-displacement.toml";

fn model(file: &str, set: &[(&str, &str)]) -> Model {
    let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    Model::read(path.as_ref(), &Overrides(set.collect())).unwrap_or_else(|p| panic!("{p}"))
}

fn solve(simulation: Simulation, steps: u64) -> (Simulation, InMemory) {
    let mut simulation = simulation;
    let mut recorded = InMemory::default();
    simulation.run(Run::new(steps, &mut recorded)).end.unwrap();
    (simulation, recorded)
}

fn column(simulation: &Simulation, recorded: &InMemory, name: &str) -> Vec<f64> {
    let index = simulation
        .columns()
        .iter()
        .position(|column| column.name == name);
    recorded.column(index.unwrap_or_else(|| panic!("no column {name}")))
}

/// Largest difference of the displacements from the monolithic model's, relative to the largest
/// displacement.
fn distance(file: &str, set: &[(&str, &str)], integrator: Option<Integrator>) -> f64 {
    let model = model(file, set);
    let (coupled, ours) = solve(model.simulation().unwrap(), model.steps());
    let (monolithic, theirs) = solve(model.monolithic(integrator).unwrap(), model.steps());
    let mut worst = 0.0_f64;
    for name in ["left.x1.x", "right.x2.x"] {
        let (ours, theirs) = (
            column(&coupled, &ours, name),
            column(&monolithic, &theirs, name),
        );
        let size = theirs.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in ours.iter().zip(&theirs) {
            worst = worst.max((a - b).abs() / size);
        }
    }
    worst
}

/// Pikulinski 2025, Sect. 2.1: without direct feedthrough the single-rate Jacobi scheme with
/// semi-implicit Euler is the monolithic integration.
#[test]
fn displacement_displacement_equals_monolithic() {
    let distance = distance(DISPLACEMENT_DISPLACEMENT, &[], None);
    assert!(distance < 1e-12, "{distance}");
}

#[test]
fn refreshed_force_displacement_equals_monolithic() {
    let distance = distance(
        FORCE_DISPLACEMENT,
        &[("schedule.output_update", "true")],
        None,
    );
    assert!(distance < 1e-12, "{distance}");
}

/// Growth rates of the run itself: the coefficients of y(n+4) = a y(n+3) + b y(n+2) + ... fitted
/// to a recorded displacement (Prony), whose roots are the four eigenvalues that a displacement of
/// two degrees of freedom contains once all latent ones have died out.
fn observed_radius(values: &[f64]) -> f64 {
    let tail = &values[50..];
    let rows = tail.len() - 4;
    let a = DMatrix::from_fn(rows, 4, |i, j| tail[i + 3 - j]);
    let b = DVector::from_fn(rows, |i, _| tail[i + 4]);
    let solution = a.svd(true, true).solve(&b, 1e-14).unwrap();
    let mut companion = DMatrix::zeros(4, 4);
    companion.row_mut(0).copy_from(&solution.transpose());
    (1..4).for_each(|i| companion[(i, i - 1)] = 1.0);
    let eigenvalues = companion.complex_eigenvalues();
    eigenvalues
        .iter()
        .map(|value| value.norm())
        .fold(0.0, f64::max)
}

#[test]
fn the_run_grows_as_its_recurrence_says() {
    let model = model(FORCE_DISPLACEMENT, &[]);
    let mut analysed = model.simulation().unwrap();
    let radius = analyse(&mut analysed).unwrap().radius;
    let (simulation, recorded) = solve(model.simulation().unwrap(), model.steps());
    // Sampled every 20 ms: at every step neighbouring samples are too alike for a clean fit.
    let every = 20;
    let x2: Vec<f64> = column(&simulation, &recorded, "right.x2.x")
        .into_iter()
        .step_by(every)
        .collect();
    let observed = observed_radius(&x2).ln() / every as f64;
    let predicted = radius.ln();
    assert!(predicted > 0.0, "the plain exchange gains energy");
    let digits = (observed / predicted - 1.0).abs();
    assert!(
        digits < 1e-6,
        "observed {observed:e}, predicted {predicted:e}"
    );
}

/// Written out by hand from the scheme: left uses x2(n), right the force sent at n, which is
/// based on x2(n-1). State (x1, v1, x2, v2, held x2, held force).
#[test]
fn the_probed_recurrence_is_the_scheme_written_by_hand() {
    let (h, k1, k2, kc) = (1e-3, 10.0, 1000.0, 100.0);
    let mut hand = DMatrix::<f64>::zeros(6, 6);
    let (x1, v1, x2, v2, held, force) = (0, 1, 2, 3, 4, 5);
    for (from, value) in [(v1, 1.0), (x1, -h * (k1 + kc)), (held, h * kc)] {
        hand[(v1, from)] = value;
    }
    for (from, value) in [(v2, 1.0), (x2, -h * k2), (force, h)] {
        hand[(v2, from)] = value;
    }
    for from in 0..6 {
        hand[(x1, from)] = h * hand[(v1, from)] + f64::from(u8::from(from == x1));
        hand[(x2, from)] = h * hand[(v2, from)] + f64::from(u8::from(from == x2));
    }
    for from in 0..6 {
        hand[(held, from)] = hand[(x2, from)];
        // Sent at the end of the step, with the displacement held during it.
        hand[(force, from)] = kc * hand[(x1, from)] - kc * f64::from(u8::from(from == held));
    }
    let by_hand = hand.complex_eigenvalues();
    let by_hand = by_hand.iter().map(|value| value.norm()).fold(0.0, f64::max);
    let mut simulation = model(FORCE_DISPLACEMENT, &[]).simulation().unwrap();
    let probed = Recurrence::of(&mut simulation)
        .unwrap()
        .eigenvalues()
        .unwrap()[0]
        .norm();
    assert!((by_hand - probed).abs() < 1e-11, "{by_hand} {probed}");
}

#[test]
fn tight_coupling_of_implicit_parts_meets_the_monolithic_solution() {
    for integrator in ["lms2", "backward-euler"] {
        let set = [
            ("lumped.left.integrator", integrator),
            ("lumped.right.integrator", integrator),
            ("simulation.duration", "2.0"),
        ];
        // `rho` belongs to lms2 alone.
        let text = std::fs::read_to_string(format!(
            "{}/../../examples/two-mass-tight.toml",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap();
        let text = match integrator {
            "lms2" => text,
            _ => text.replace("rho = \"rho\"\n", ""),
        };
        let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
        let model = Model::parse(&text, "tight.toml", &Overrides(set.collect()));
        let model = model.unwrap_or_else(|problems| panic!("{problems}"));
        let (coupled, ours) = solve(model.simulation().unwrap(), model.steps());
        let (monolithic, theirs) = solve(model.monolithic(None).unwrap(), model.steps());
        for name in ["left.x1.x", "right.x2.x", "left.fc"] {
            let (ours, theirs) = (
                column(&coupled, &ours, name),
                column(&monolithic, &theirs, name),
            );
            let size = theirs.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() < 1e-7 * size, "{integrator} {name}: {a} {b}");
            }
        }
    }
}

#[test]
fn tight_rk4_with_interpolated_inputs_is_second_order_in_the_macro_step() {
    let error = |step: &str| {
        let set = [
            ("lumped.left.integrator", "rk4"),
            ("lumped.right.integrator", "rk4"),
            ("schedule.coupling", "implicit"),
            ("schedule.predictor", "first-order"),
            ("simulation.duration", "0.512"),
            ("simulation.step", step),
        ];
        distance(FORCE_DISPLACEMENT, &set, Some(Integrator::Exact))
    };
    let order = (error("4e-3") / error("1e-3")).log(4.0);
    assert!((order - 2.0).abs() < 0.1, "{order}");
}

#[test]
fn the_chain_of_three_follows_its_monolithic_model_at_first_order() {
    let error = |step: &str| {
        let model = model(
            "three-part-chain.toml",
            &[("simulation.step", step), ("simulation.duration", "1.0")],
        );
        let (coupled, ours) = solve(model.simulation().unwrap(), model.steps());
        let (monolithic, theirs) = solve(
            model.monolithic(Some(Integrator::Exact)).unwrap(),
            model.steps(),
        );
        let (a, b) = (
            column(&coupled, &ours, "b.x.x"),
            column(&monolithic, &theirs, "b.x.x"),
        );
        a.iter()
            .zip(&b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    let order = (error("2e-3") / error("5e-4")).log(4.0);
    assert!(order > 0.9, "{order}");
}

/// Stiff coupling on one side, weak on the other: the mode grows where the coupling is stiff.
#[test]
fn the_growing_mode_is_traced_to_its_interface() {
    for (stiff, weak, expected) in [("a", "b", "a.f<->b.x"), ("b", "a", "b.f<->c.x")] {
        let (stiff, weak) = (
            format!("lumped.{stiff}.springs.right.stiffness"),
            format!("lumped.{weak}.springs.right.stiffness"),
        );
        let set = [
            ("schedule.kind", "jacobi"),
            ("schedule.predictor", "zero-order"),
            ("damping", "0.0"),
            (stiff.as_str(), "4000.0"),
            (weak.as_str(), "1.0"),
        ];
        let model = model("three-part-chain.toml", &set);
        let mut simulation = model.simulation().unwrap();
        let verdict = analyse(&mut simulation).unwrap();
        assert!(!verdict.is_stable());
        assert_eq!(verdict.interface.as_deref(), Some(expected));
    }
}

/// Tamellin 2022, Table 1 and 2: the monolithic poles of the two-mass system.
#[test]
fn the_monolithic_model_has_the_published_poles() {
    let cases = [
        (FORCE_DISPLACEMENT, [(0.0, 10.0), (0.0, 33.317)]),
        (DISPLACEMENT_DISPLACEMENT, [(0.0, 10.0), (0.0, 33.317)]),
        (
            "two-mass-damped.toml",
            [(-0.0901, 9.9996), (-0.1099, 33.316)],
        ),
    ];
    for (file, poles) in cases {
        let mut monolithic = model(file, &[])
            .monolithic(Some(Integrator::Exact))
            .unwrap();
        let recurrence = Recurrence::of(&mut monolithic).unwrap();
        let eigenvalues = recurrence.eigenvalues().unwrap();
        let step = recurrence.duration();
        for (real, imaginary) in poles {
            let found = eigenvalues.iter().any(|value| {
                let pole = value.ln() / step;
                (pole.re - real).abs() < 1e-4 && (pole.im - imaginary).abs() < 1e-3
            });
            assert!(found, "{file}: {real} {imaginary}j");
        }
    }
}

/// The exchange doubles the energy of the pair; with updated outputs it makes none.
#[test]
fn a_run_that_makes_energy_says_that_it_is_doubtful() {
    for (update, is_doubtful) in [("false", true), ("true", false)] {
        let folder = tempfile::tempdir().unwrap();
        let file = format!(
            "{}/../../examples/{FORCE_DISPLACEMENT}",
            env!("CARGO_MANIFEST_DIR")
        );
        let set = format!("schedule.output_update={update}");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_oldham"));
        command.args(["run", &file, "--set", &set, "--no-analysis"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.success(), "{said}");
        let is_told = words.contains("the most that was at work");
        assert_eq!(is_told, is_doubtful, "{update}: {said}");
    }
}
