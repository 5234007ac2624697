//! Couplings of parts that cannot be looked into, against the radius of their macro step, written down by hand.
//!
//! `OLDHAM_MODELS` says how many random pairs there are.

mod pairs;
mod part;
mod random;

use oldham_stability::{Decision, Spectrum, THRESHOLD, Way};
use pairs::Pair;

const DEFAULT_COUNT: usize = 40;
/// Share of the pairs with little noise that may stay undecided.
const UNDECIDED: f64 = 0.15;
/// Distance from the limit beyond which every pair is decided.
const FAR: f64 = 1e-2;
/// Noise that a verdict must cope with.
const LITTLE: f64 = 1e-9;

fn pairs() -> impl Iterator<Item = Pair> {
    let count = std::env::var("OLDHAM_MODELS").ok();
    let count = count.map_or(DEFAULT_COUNT, |count| count.parse().expect("a number"));
    (0..).filter_map(Pair::random).take(count)
}

/// The recurrence by hand is that of the engine, for parts that show their state.
#[test]
fn a_pair_that_shows_its_state_has_the_radius_of_its_matrix() {
    for pair in pairs().filter(|pair| pair.noise == 0.0) {
        let expected = pair.radius();
        let found = Spectrum::of(&mut pair.simulation(false)).unwrap();
        assert!(
            (found.radius() - expected).abs() < 1e-7 + 2.0 * found.dominant().error,
            "{}: {} {expected}",
            pair.seed,
            found.radius()
        );
    }
}

/// Every second part of these samples its inputs every two to five steps, which is found out.
#[test]
fn sampled_black_boxes_are_judged_by_their_period() {
    let all = pairs().filter(|pair| pair.noise <= LITTLE).step_by(2);
    let (mut count, mut undecided) = (0, 0);
    for (index, pair) in all.enumerate() {
        let pair = pair.sampled(2 + index as u64 % 4);
        let expected = pair.radius();
        let found = Spectrum::of(&mut pair.simulation(true));
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", pair.seed));
        let (radius, error) = (found.radius(), found.dominant().error);
        println!(
            "{} every {}: {expected:.9} {radius:.9} ± {error:.1e} {:?}",
            pair.seed,
            pair.period(),
            found.decision()
        );
        let periods = found.duration() / pairs::STEP;
        assert_eq!(periods.round() as u64, pair.period(), "{}", pair.seed);
        let is_unstable = expected > 1.0 + THRESHOLD;
        match found.decision() {
            Decision::Undecided => undecided += 1,
            decision => assert_eq!(decision == Decision::Unstable, is_unstable, "{}", pair.seed),
        }
        count += 1;
    }
    println!("{count} pairs, {undecided} undecided");
    assert!(4 * undecided <= count);
}

#[test]
fn no_verdict_on_black_boxes_is_against_their_radius() {
    let (mut all, mut quiet, mut undecided, mut beyond) = (0, 0, 0, 0);
    let mut errors = Vec::new();
    for pair in pairs() {
        let expected = pair.radius();
        let found = Spectrum::of(&mut pair.simulation(true));
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", pair.seed));
        let (radius, error) = (found.radius(), found.dominant().error);
        let Way::Measured { steps } = found.way() else {
            panic!("{}: it was not measured", pair.seed);
        };
        let off = (radius - expected).abs();
        println!(
            "{} noise {:e} {:?}: {expected:.9} {radius:.9} ± {error:.1e} {:?} off {off:.1e} steps {steps}",
            pair.seed,
            pair.noise,
            pair.scheme,
            found.decision()
        );
        let truth = match expected > 1.0 + THRESHOLD {
            true => Decision::Unstable,
            false => Decision::Stable,
        };
        let is_open = found.decision() == Decision::Undecided;
        let is_slight = expected > 1.0 && expected <= 1.0 + THRESHOLD;
        assert!(
            is_open || is_slight || found.decision() == truth,
            "{}: {:?}",
            pair.seed,
            found.decision()
        );
        all += 1;
        beyond += usize::from(off > error);
        errors.push(off);
        if pair.noise <= LITTLE {
            quiet += 1;
            undecided += usize::from(is_open);
            let is_far = (expected - 1.0).abs() > FAR;
            assert!(!(is_open && is_far), "{}: undecided", pair.seed);
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    println!(
        "{all} pairs, {undecided} of {quiet} with little noise undecided, {beyond} beyond their error, median {median:.1e}"
    );
    assert!(undecided as f64 <= UNDECIDED * quiet as f64);
    assert!(100 * beyond <= all.max(100));
    assert!(median < 1e-6);
}
