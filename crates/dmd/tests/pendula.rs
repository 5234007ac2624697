//! Spring-coupled pendula: Pikuliński 2026, Sect. 3.2.

mod support;

use oldham_cosim::{Ports, Predictor, Schedule};
use oldham_dmd::Settings;
use support::pendula::pendula;
use support::{hold, learning, stored};

const STEPS: usize = 5000;

/// Largest difference of energy to the monolithic solution within 5 s, in J. With refreshed
/// outputs and a step that reads its inputs once, the pair *is* monolithic.
fn energy_error(links: usize, predictor: impl FnOnce(&Ports) -> Box<dyn Predictor>) -> f64 {
    let mut coupled = pendula(links, predictor, |schedule| schedule);
    let mut monolithic = pendula(links, hold, Schedule::refreshed);
    let mut worst: f64 = 0.0;
    for _ in 0..STEPS {
        coupled.step().unwrap();
        monolithic.step().unwrap();
        worst = worst.max((stored(&mut coupled) - stored(&mut monolithic)).abs());
    }
    worst
}

#[test]
fn a_hold_gains_two_joules_against_ten_links() {
    let gain = energy_error(10, hold);
    assert!((gain - 2.03).abs() < 0.03, "{gain}");
}

#[test]
fn a_window_of_a_hundred_keeps_the_energy() {
    for links in [1, 10] {
        let settings = Settings::fixed(100);
        let error = energy_error(links, |ports| learning(ports, &settings, &mut None));
        assert!(error < 1e-4, "{links} links: {error}");
    }
}

#[test]
fn the_automatic_choice_is_better_than_the_long_window_it_starts_with() {
    let fixed = Settings::fixed(100);
    let fixed = energy_error(10, |ports| learning(ports, &fixed, &mut None));
    let automatic = energy_error(10, |ports| {
        learning(ports, &Settings::automatic(100, ports), &mut None)
    });
    assert!(automatic < 0.1 * fixed, "{automatic} against {fixed}");
}
