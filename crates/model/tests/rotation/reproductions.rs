//! Rotors that were judged wrongly, against what their runs do.

use oldham_cosim::Simulation;
use oldham_stability::{Decision, Spectrum, Verdict, follow};

use crate::models::{
    Rotor, read, three_ropes, two_long_blades, two_short_blades, two_undamped_blades,
};
use crate::runs::differences;

fn built(rotor: &Rotor, is_whole: bool) -> Simulation {
    let model = read(&rotor.text());
    let built = match is_whole {
        true => model.monolithic(None),
        false => model.simulation(),
    };
    built.expect("a simulation")
}

fn judged(rotor: &Rotor, is_whole: bool) -> (Spectrum, Verdict) {
    let mut simulation = built(rotor, is_whole);
    let spectrum = Spectrum::of(&mut simulation).expect("an analysis");
    let verdict = Verdict::of(&spectrum, &mut simulation).expect("a verdict");
    (spectrum, verdict)
}

/// The largest radius of all modes, the model's own included.
fn largest(spectrum: &Spectrum) -> f64 {
    let all = spectrum.own_modes().iter().chain(spectrum.modes());
    all.map(|mode| mode.value.norm()).fold(0.0, f64::max)
}

/// "Stable", with a growth by 4.4 in a step as "the model's own": the run died within seven steps. The whole has no
/// such mode.
#[test]
fn a_cut_that_dies_is_unstable_and_its_mode_is_not_the_models_own() {
    let rotor = two_short_blades();
    let (spectrum, verdict) = judged(&rotor, false);
    assert_eq!(verdict.decision(), Decision::Unstable);
    assert!(verdict.radius > 4.0, "{}", verdict.radius);
    assert!(
        spectrum
            .own_modes()
            .iter()
            .all(|mode| mode.value.norm() < 1.2)
    );
    let mut run = built(&rotor, false);
    assert!(run.steps(20).is_err(), "it dies");
    let (whole, _) = judged(&rotor, true);
    let is_fast = |value: f64| value > 1.5;
    assert!(!is_fast(largest(&whole)));
    let apart = differences(|| built(&rotor, true), 6, 100);
    assert_eq!(apart.len(), 100, "the whole goes on");
    assert!(apart[99] < 10.0 * apart[10], "{apart:?}");
}

/// "x 8.4e131", growth by 4.57 in a step, where nothing happened.
#[test]
fn ropes_that_turn_fast_are_quiet() {
    let rotor = three_ropes();
    let (spectrum, verdict) = judged(&rotor, false);
    let radius = largest(&spectrum);
    println!(
        "ropes {:?} {radius} {:?} {:?}",
        spectrum.way(),
        verdict.decision(),
        verdict.doubt()
    );
    let apart = differences(|| built(&rotor, false), 6, 200);
    assert_eq!(apart.len(), 200, "the run goes on");
    println!("{:.1e} {:.1e} {:.1e}", apart[0], apart[100], apart[199]);
    assert!(verdict.decision() != Decision::Unstable, "{radius}");
    assert!(radius < 1.3, "{radius}");
}

/// An own growth by 4.05 in a step, where differences of two runs grow by 1e4 in 240 steps.
#[test]
fn undamped_blades_grow_as_slowly_as_their_runs() {
    let rotor = two_undamped_blades();
    let (spectrum, _) = judged(&rotor, true);
    let radius = largest(&spectrum);
    let apart = differences(|| built(&rotor, true), 6, 200);
    println!(
        "undamped {:?} {radius} {:.1e} {:.1e} {:.1e}",
        spectrum.way(),
        apart[0],
        apart[100],
        apart[199]
    );
    assert_eq!(apart.len(), 200, "the run goes on");
    assert!(radius < 1.1, "{radius}");
}

/// Called stable with an own growth that is not there, while the cut died after 1.08 s. Its state is stable: differences of two runs
/// decay for 150 steps, and what grows slowly at the start, without swinging, is in the whole too.
#[test]
fn long_blades_are_stable_at_their_start() {
    let rotor = two_long_blades();
    let (spectrum, verdict) = judged(&rotor, false);
    let radius = largest(&spectrum);
    println!(
        "long {:?} {radius} {:?} own {:?}",
        spectrum.way(),
        verdict.decision(),
        verdict.own
    );
    assert!(radius < 1.02, "{radius}");
    assert_eq!(verdict.decision(), Decision::Stable);
    let apart = differences(|| built(&rotor, false), 6, 150);
    assert_eq!(apart.len(), 150, "the run goes on");
    println!("{:.1e} {:.1e} {:.1e}", apart[0], apart[20], apart[149]);
    assert!(apart[149] < 10.0 * apart[20], "{apart:?}");
    let (whole, _) = judged(&rotor, true);
    for mode in spectrum.own_modes() {
        let nearest = whole.own_modes().iter().chain(whole.modes());
        let off = nearest.map(|other| (other.value - mode.value).norm());
        let off = off.fold(f64::INFINITY, f64::min);
        assert!(off < 1e-3, "{} {off}", mode.value);
    }
}

/// Blades that fold after 1.3 s were not followed over 200 steps, so that the growth of one instant stood as a verdict: "108 1/s,
/// by a factor of 6e46". Differences of two runs grow tenfold.
#[test]
fn a_motion_that_fails_later_is_followed_until_then() {
    let mut run = built(&two_undamped_blades(), false);
    run.steps(112).expect("a quiet run");
    let followed = follow(&mut run, None).expect("a stretch of it");
    assert!(followed.steps >= 50, "{followed:?}");
    assert!(followed.factor < 1e4, "{followed:?}");
    // The simulation is left where it was; what comes later fails.
    assert!(run.steps(100).is_ok());
    assert!(run.steps(100).is_err());
}
