//! Rough roads: their spectrum against the standard's.

use oldham_vehicle::{RoughRoad, RoughnessClass};
use std::f64::consts::TAU;

/// Spectral density of the height along a line, at a multiple of the inverse length.
fn density(heights: &[f64], length: f64, wave: usize) -> f64 {
    let (mut cosines, mut sines) = (0.0, 0.0);
    for (i, height) in heights.iter().enumerate() {
        let (sin, cos) = (TAU * (wave * i % heights.len()) as f64 / heights.len() as f64).sin_cos();
        cosines += height * cos;
        sines += height * sin;
    }
    let scale = 2.0 / heights.len() as f64;
    0.5 * ((cosines * scale).powi(2) + (sines * scale).powi(2)) * length
}

#[test]
fn the_spectrum_is_that_of_the_standard() {
    let road = RoughRoad {
        density: RoughnessClass::C.density(),
        length: 100.0,
        width: 3.0,
        seed: 7,
    };
    let grid = road.grid();
    for y in [-1.4, 0.0, 0.62] {
        let heights: Vec<f64> = (0..2000).map(|i| grid.at(i as f64 * 0.05, y).0).collect();
        let octaves = [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28];
        for from in octaves {
            let waves = (from * road.length) as usize..(2.0 * from * road.length) as usize;
            let (mut found, mut expected) = (0.0, 0.0);
            for wave in waves {
                let n = wave as f64 / road.length;
                found += density(&heights, road.length, wave);
                // ISO 8608, class C.
                expected += 256e-6 * (n / 0.1_f64).powi(-2);
            }
            let ratio: f64 = found / expected;
            assert!((ratio - 1.0).abs() < 0.05, "y = {y}, from {from}: {ratio}");
        }
    }
}

/// Wheels on two tracks: long waves lift both, short ones each for itself.
#[test]
fn left_and_right_agree_on_long_waves_only() {
    let road = RoughRoad {
        density: 64e-6,
        length: 200.0,
        width: 3.0,
        seed: 1,
    };
    let grid = road.grid();
    let line = |y: f64| (0..4000).map(move |i| (i as f64 * 0.05, y));
    let [left, right] =
        [0.6, -0.6].map(|y| line(y).map(|(x, y)| grid.at(x, y).0).collect::<Vec<f64>>());
    let heave: Vec<f64> = left
        .iter()
        .zip(&right)
        .map(|(l, r)| 0.5 * (l + r))
        .collect();
    let roll: Vec<f64> = left
        .iter()
        .zip(&right)
        .map(|(l, r)| 0.5 * (l - r))
        .collect();
    let share = |from: usize, to: usize| {
        let sum = |line: &[f64]| (from..to).map(|w| density(line, 200.0, w)).sum::<f64>();
        sum(&roll) / (sum(&roll) + sum(&heave))
    };
    assert!(share(3, 10) < 0.05, "{}", share(3, 10));
    assert!((share(300, 500) - 0.5).abs() < 0.15, "{}", share(300, 500));
}

#[test]
fn the_same_seed_gives_the_same_road() {
    let road = |seed| {
        RoughRoad {
            density: 16e-6,
            length: 20.0,
            width: 1.0,
            seed,
        }
        .grid()
    };
    assert_eq!(road(3).at(4.2, 0.1), road(3).at(4.2, 0.1));
    assert_ne!(road(3).at(4.2, 0.1), road(4).at(4.2, 0.1));
    assert!((road(3).at(4.2, 0.1).0 - road(3).at(24.2, 0.1).0).abs() < 1e-12);
}
