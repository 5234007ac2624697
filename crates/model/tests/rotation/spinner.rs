//! The smallest thing that turns: a rigid bar on a ball joint, with its modes by hand.

use nalgebra::Complex;
use oldham_stability::{Decision, Spectrum, Verdict, Way};

use crate::linearised_step;
use crate::models::{BAR, Spinner, read};

/// How far modes may be from those of the step written down by hand.
const MOST: f64 = 1e-6;

/// Growth rates and frequencies in continuous time: in the plane of rotation one freedom, out of it
/// tilt and twist, which spin couples.
fn by_hand(spinner: &Spinner) -> [[f64; 2]; 3] {
    let (spin, offset) = (spinner.spin, spinner.offset);
    let more = BAR.mass * offset * offset;
    let [a, b, c] = [BAR.inertia[0], BAR.inertia[1] + more, BAR.inertia[2] + more];
    let pull = BAR.mass * BAR.radius * offset * spin * spin;
    let lag = -(BAR.stiffness + pull) / c;
    // a s² + k₁ and b s² + k₂ on the diagonal, ± g s beside it.
    let k1 = BAR.stiffness + (c - b) * spin * spin;
    let k2 = BAR.stiffness + pull + (c - a) * spin * spin;
    let g = (a + b - c) * spin;
    let (p, q) = (a * k2 + b * k1 + g * g, k1 * k2);
    let root = (p * p - 4.0 * a * b * q).sqrt();
    let squares = [
        lag,
        (-p + root) / (2.0 * a * b),
        (-p - root) / (2.0 * a * b),
    ];
    squares.map(|square| match square > 0.0 {
        true => [square.sqrt(), 0.0],
        false => [0.0, (-square).sqrt()],
    })
}

fn modes(spectrum: &Spectrum) -> Vec<Complex<f64>> {
    let all = spectrum.own_modes().iter().chain(spectrum.modes());
    all.map(|mode| mode.value).collect()
}

fn nearest(all: &[Complex<f64>], wanted: Complex<f64>) -> f64 {
    let distances = all.iter().map(|value| (value - wanted).norm());
    distances.fold(f64::INFINITY, f64::min)
}

/// Both analyses have the three modes by hand, and nothing else that grows.
#[test]
fn modes_of_a_bar_that_spins_are_those_by_hand() {
    for offset in [-0.1, 0.0, 0.2] {
        let spinner = Spinner {
            offset,
            ..Spinner::default()
        };
        let model = read(&spinner.text());
        let by_frequencies = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
        assert!(matches!(by_frequencies.way(), Way::Frequency { .. }));
        let probed = Spectrum::by_matrix(&mut model.simulation().unwrap()).unwrap();
        let expected = by_hand(&spinner);
        for spectrum in [by_frequencies, probed] {
            let all = modes(&spectrum);
            let poles: Vec<_> = all.iter().map(|z| z.ln() / spinner.step).collect();
            for [growth, omega] in expected {
                let pole = Complex::new(growth, omega);
                let off = nearest(&poles, pole);
                assert!(off < 1e-3 * pole.norm(), "{offset}: {pole} {off} {poles:?}");
            }
            let fastest = expected.iter().map(|pole| pole[0]).fold(0.0, f64::max);
            let found = poles.iter().map(|pole| pole.re).fold(0.0, f64::max);
            assert!(
                (found - fastest).abs() < 1e-2,
                "{offset}: {found} {fastest}"
            );
        }
    }
}

/// Against the step itself, linearised by differences in axes that turn along: at any size of the step.
///
/// A run begins a little beside its steady rotation, by what the start knows of the past, and swings about it: by 1e-3 where a
/// step turns by 0.3 rad. A damper takes that away. What grows is looked at from the start, at small steps.
#[test]
fn modes_are_those_of_the_linearised_step() {
    let cases = [
        (-0.1, 8.0, 5e-4, 0.9, 0.0),
        (-0.2, 10.0, 2e-4, 0.1, 0.0),
        (0.2, 8.0, 1e-3, 0.9, 0.0),
        (0.05, 8.0, 1e-3, 0.5, 0.0),
        (0.05, 8.0, 1e-2, 0.9, 0.5),
        (-0.05, 5.0, 2e-3, 0.7, 0.5),
        (-0.1, 5.0, 5e-3, 0.3, 0.5),
        (-0.02, 15.0, 1e-3, 0.9, 0.5),
        (0.1, 20.0, 5e-3, 0.8, 0.5),
        (0.3, 30.0, 2e-3, 0.6, 0.5),
        (0.1, 40.0, 2e-3, 0.4, 0.5),
        (0.2, 60.0, 5e-3, 0.9, 0.5),
    ];
    for (offset, spin, step, rho, damping) in cases {
        let spinner = Spinner {
            offset,
            spin,
            step,
            rho,
            damping,
            hub: 1e9,
            ..Spinner::default()
        };
        let by_hand = linearised_step::eigenvalues(&spinner);
        let model = read(&spinner.text());
        let settled = || {
            let mut simulation = model.simulation().unwrap();
            simulation.sharpen().unwrap();
            let steps = if damping > 0.0 { 16.0 / step } else { 0.0 };
            simulation.steps(steps as u64).unwrap();
            simulation
        };
        let by_frequencies = modes(&Spectrum::of(&mut settled()).unwrap());
        let probed = modes(&Spectrum::by_matrix(&mut settled()).unwrap());
        let name = format!("{offset} {spin} {step} {rho}");
        // A matrix has them all: swinging in the plane and out of it, and twist.
        let slow = by_hand.iter().filter(|z| z.norm() > 0.9 && z.im >= 0.0);
        let mut count = 0;
        for &z in slow {
            let off = nearest(&probed, z);
            println!("{name}: {z:.9} probing {off:.1e}");
            assert!(off < MOST, "{name}: {z} {off:e} {probed:?}");
            count += 1;
        }
        assert!(count >= 2, "{name}: {by_hand:?}");
        // The frequency domain lists those that matter. Angle and speed of the hub are ones.
        let of_the_bar = by_frequencies
            .iter()
            .filter(|z| z.norm() > 0.93 && (*z - 1.0).norm() > 1e-6);
        let mut count = 0;
        for &z in of_the_bar {
            let off = nearest(&by_hand, z);
            println!("{name}: {z:.9} frequency {off:.1e}");
            assert!(off < MOST, "{name}: {z} {off:e} {by_hand:?}");
            count += 1;
        }
        assert!(count >= 1, "{name}: {by_frequencies:?}");
        // What grows is found by both.
        for &z in by_hand.iter().filter(|z| z.norm() > 1.0 + MOST) {
            let off = nearest(&by_frequencies, z);
            assert!(off < MOST, "{name}: {z} {off:e} {by_frequencies:?}");
        }
    }
}

/// Under weight across the axis the model differs from position to position.
#[test]
fn weight_across_the_axis_is_not_decided_with_the_reason() {
    let spinner = Spinner {
        gravity: 9.81,
        offset: 0.2,
        ..Spinner::default()
    };
    let model = read(&spinner.text());
    let mut simulation = model.simulation().unwrap();
    let spectrum = Spectrum::of(&mut simulation).unwrap();
    let verdict = Verdict::of(&spectrum, &mut simulation).unwrap();
    assert_eq!(verdict.decision(), Decision::Undecided);
    let doubt = verdict.doubt().expect("a reason");
    assert!(doubt.contains("not the same in every position"), "{doubt}");
}

/// Micro steps are probed: nothing grows beside what does.
#[test]
fn micro_steps_bring_no_growth() {
    let spinner = Spinner {
        offset: 0.2,
        spin: 60.0,
        micro_steps: 2,
        step: 0.01,
        ..Spinner::default()
    };
    let model = read(&spinner.text());
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    // By the step as written down: 0.0042 1/s.
    for mode in spectrum.modes().iter().take(4) {
        println!("{} error {:.1e}", spectrum.pole(mode), mode.error);
        let beyond = mode.value.norm() - mode.error;
        assert!(beyond < 1.0 + 1e-4, "{} {:.1e}", mode.value, mode.error);
    }
}
