//! The crank-slider with a flexible beam and a particle damper, and its simplified model: the figures.
//!
//! The motion of particles is chaotic: histories agree up to the first impacts only. What is compared is the amplitude over cycles
//! and the work that the damper takes in one.

use std::f64::consts::TAU;

use oldham_model::About;
use oldham_results::plot::{Figure, Panel, Series};
use oldham_study::vibrations;

use super::limit;
use super::rig::{DURATION, History, LUMPED, Model, STEP, UNSTABLE, Variant};
use crate::item::{PaperError, Report};

fn panel(label: &str, order: usize, runs: &[(&str, &History)]) -> Panel {
    let mut panel = Panel::new("time / s", label);
    for (name, run) in runs {
        let values = run.can[order].clone();
        panel = panel.with_series(Series::new(*name, run.times.clone(), values));
    }
    panel
}

fn pictures(report: &mut Report, title: &str, runs: &[(&str, &History)]) -> Result<(), PaperError> {
    let figure = Figure::new(title)
        .with_panel(panel("displacement of the can / m", 0, runs))
        .with_panel(panel("velocity of the can / m/s", 1, runs));
    report.picture(&figure)
}

const PICTURE: &str = "the print is a picture";

pub(super) fn fig_14(report: &mut Report) -> Result<(), PaperError> {
    frequencies(report)?;
    let rig = Variant::new(Model::Rig, false).run(DURATION)?;
    let smooth = Variant::new(Model::Rig, false)
        .on_the_beam()
        .run(DURATION)?;
    let simple = Variant::new(Model::Simplified, false).run(DURATION)?;
    let falling = Variant::new(Model::Rig, false).falling().run(DURATION)?;
    let runs = [
        ("coupled", &rig),
        ("coupled, can on the beam's side", &smooth),
        ("simplified", &simple),
    ];
    let amplitude = |run: &History| run.amplitude(DURATION, 1.0, false);
    for (name, run) in runs {
        let row = format!("{name}: amplitude of the last cycle");
        report.row(row, None, amplitude(run), "m", PICTURE);
    }
    report.row(
        "coupled, with gravity: amplitude of the last cycle",
        None,
        amplitude(&falling),
        "m",
        "from static equilibrium; gravity is not stated in the paper",
    );
    let left = left_by_the_method(DURATION);
    let note = format!(
        "the reaction of the can comes a step late, which damps by m omega h/(2 M) of the critical damping: {left:.3} is left of the resonance"
    );
    report.row(
        "coupled over can on the beam's side",
        None,
        amplitude(&rig) / amplitude(&smooth),
        "1",
        &note,
    );
    let note = "the beam itself is shaken, which the simplified model leaves out: (3/8 m_b + m)/(33/140 m_b + m) = 1.19 times. Where the can is behind the interface, both nearly cancel: printed is that they almost overlap";
    report.row(
        "can on the beam's side over simplified",
        None,
        amplitude(&smooth) / amplitude(&simple),
        "1",
        note,
    );
    pictures(report, "Without particles", &runs)
}

/// By how much more a beam swings than a mass on a spring whose foot moves as its root does: in the shape of a tip load, 3/8 of its mass and what is attached are shaken, and 33/140 of it
/// and what is attached swing.
fn shaken() -> f64 {
    let (beam, attached) = (0.1177, 12.7e-3 + CAN + LUMPED);
    (0.375 * beam + attached) / (33.0 / 140.0 * beam + attached)
}

/// Mass of the can, in kg.
const CAN: f64 = 35.8e-3;
/// Equivalent mass of the beam with all that it carries (Eq. 49, and the particles).
const EQUIVALENT: f64 = 0.076742 + LUMPED;

/// What is left of a resonance after some time when the reaction of the can comes a step late: −m a(t − h) = −m a + m h ȧ damps by ζ = m ω h/(2 M), and the amplitude
/// grows as (1 − e^(−ζ ω t))/(ζ ω) in place of t.
fn left_by_the_method(time: f64) -> f64 {
    let omega = 15.5 * TAU;
    let x = CAN * omega * STEP / (2.0 * EQUIVALENT) * omega * time;
    (1.0 - (-x).exp()) / x
}

/// Of bending in the plane of the crank, with the particles' mass at the tip.
fn frequencies(report: &mut Report) -> Result<(), PaperError> {
    let model = Variant::new(Model::Rig, false).model()?;
    let found = vibrations(&model, About::Start, 8, None)?;
    for (number, printed) in [15.619, 127.460, 381.082].into_iter().enumerate() {
        let modes = found.iter().flat_map(|part| &part.found.modes);
        let all = modes.map(|mode| mode.omega / TAU);
        let apart = |hertz: &f64| (hertz - printed).abs();
        let nearest = all.min_by(|a, b| apart(a).total_cmp(&apart(b)));
        report.row(
            format!("bending mode {}", number + 1),
            printed,
            nearest.unwrap_or(f64::NAN),
            "Hz",
            "one mechanism, 7 g at the tip; Euler-Bernoulli has 15.627, 127.40 and 379.62 Hz",
        );
    }
    Ok(())
}

/// Rows that tell how a damper works: amplitude and work over the last ten cycles.
fn damping(report: &mut Report, name: &str, run: &History, note: &str) {
    report.row(
        format!("{name}: amplitude of the last ten cycles"),
        None,
        run.amplitude(DURATION, 10.0, false),
        "m",
        note,
    );
    report.row(
        format!("{name}: work taken by impacts and friction"),
        None,
        run.dissipated(),
        "J",
        "not printed; over 2 s",
    );
    report.row(
        format!("{name}: work in each of the last ten cycles"),
        None,
        run.work_per_cycle(DURATION, 10.0, false),
        "J",
        "not printed; mean",
    );
}

pub(super) fn fig_15(report: &mut Report) -> Result<(), PaperError> {
    let rig = Variant::new(Model::Rig, true).run(DURATION)?;
    let simple = Variant::new(Model::Simplified, true).run(DURATION)?;
    let bare = Variant::new(Model::Simplified, false).run(DURATION)?;
    let falling = Variant::new(Model::Rig, true).falling().run(DURATION)?;
    let runs = [
        ("no particles", &bare),
        ("coupled", &rig),
        ("simplified", &simple),
    ];
    for (name, run) in runs {
        damping(report, name, run, PICTURE);
    }
    let crank = format!("{}", 0.25e-3 * shaken());
    let more = Variant::new(Model::Simplified, true).with("parameters.crank", &crank);
    let note = "the crank longer by as much as the beam itself is shaken (fig-14): how much the particles take grows fast with the swing";
    damping(
        report,
        "simplified, longer crank",
        &more.run(DURATION)?,
        note,
    );
    let note = "gravity is not stated in the paper; from static equilibrium";
    damping(report, "coupled, with gravity", &falling, note);
    let coulomb = Variant::new(Model::Simplified, true);
    let coulomb = coulomb.with("multibody.damper.contact.law", "coulomb");
    let note = "the paper's law is convex: a sliding contact opens with μ times its velocity. This is what Coulomb's law makes of it";
    damping(
        report,
        "simplified, Coulomb's law",
        &coulomb.run(DURATION)?,
        note,
    );
    pictures(report, "With 147 particles", &runs)
}

pub(super) fn fig_16(report: &mut Report) -> Result<(), PaperError> {
    let rig = Variant::new(Model::Rig, true).run(DURATION)?;
    let [angle, moment] = rig.twist.as_ref().expect("the mechanism twists");
    report.row(
        "largest rotation about x",
        None,
        History::largest(angle),
        "rad",
        PICTURE,
    );
    report.row(
        "largest torsional moment",
        None,
        History::largest(moment),
        "N.m",
        PICTURE,
    );
    let of = |label: &str, values: &[f64]| {
        Panel::new("time / s", label).with_series(Series::new(
            "",
            rig.times.clone(),
            values.to_vec(),
        ))
    };
    let figure = Figure::new("The can twists the beam")
        .with_panel(of("rotation about x / rad", angle))
        .with_panel(of("torsional moment / N.m", moment));
    report.picture(&figure)
}

/// Of the two masses (Fig. 8).
const PRINTED_RHO: &str = "0.56";

pub(super) fn fig_17(report: &mut Report) -> Result<(), PaperError> {
    let mut figure = Figure::new("Acceleration of the can");
    for (law, printed) in [
        ("original", 0.0),
        ("index-3", 0.0),
        ("index-2", 0.0),
        ("index-1", 1.0),
    ] {
        let law_word = format!("\"{law}\"");
        let run = Variant::new(Model::Rig, true).with("multibody.rig.cut.prescribe", &law_word);
        let run = run.run(DURATION)?;
        let lost = run.lost();
        let stable = f64::from(u8::from(lost.is_infinite()));
        let note = "1: below 1e5 m/s2 for 2 s; the whole can behind the interface; the spectral radius of the smooth side is not printed, 0.25 is ours";
        report.row(format!("{law}: stable"), printed, stable, "1", note);
        let row = format!("{law}: time until 1e5 m/s2");
        report.row(
            row,
            None,
            lost,
            "s",
            "infinite where it never comes to that",
        );
        let shown: Vec<f64> = (run.can[2].iter())
            .map(|a| a.clamp(-UNSTABLE, UNSTABLE))
            .collect();
        let series = Series::new(law, run.times.clone(), shown);
        let label = format!("{law}: a / m/s²");
        figure = figure.with_panel(Panel::new("time / s", label).with_series(series));
    }
    for (rho, share, inertia) in [
        ("0.2", "0.999", "all"),
        ("0.3", "0.999", "all"),
        (PRINTED_RHO, "0.999", "all"),
        (PRINTED_RHO, "0.9", "0.9"),
        (PRINTED_RHO, "0.85", "0.85"),
    ] {
        let run = Variant::new(Model::Rig, true)
            .with("parameters.rho", rho)
            .with("parameters.share", share)
            .run(DURATION)?;
        let row =
            format!("index-1, spectral radius {rho}, {inertia} of the can: time until 1e5 m/s2");
        let note = "at other spectral radii index-1 fails too, unless the beam's side has a part of the can's inertia";
        report.row(row, None, run.lost(), "s", note);
    }
    for rho in [0.2, 0.25, 0.3, 0.56] {
        let row = format!("index-1: largest mass ratio of two free masses, spectral radius {rho}");
        let closed = limit::closed_form(rho);
        let note = format!(
            "by the recurrence; a root at -1 has {closed:.3}, below 0.25 a pair comes first. The can has 2.3 (mass) to 2.8 (about z) times the beam's tip"
        );
        report.row(row, None, limit::by_bisection(rho)?, "1", &note);
    }
    report.picture(&figure)
}

/// Iterated as in the paper: until a thousandth, ten times at most.
fn tight(variant: Variant) -> Variant {
    variant
        .with("schedule.coupling", "implicit")
        .with("schedule.implicit.relative", "1e-3")
        .with("schedule.implicit.max_iterations", "10")
        .with("schedule.implicit.on_limit", "accept")
}

pub(super) fn fig_18(report: &mut Report) -> Result<(), PaperError> {
    let explicit = Variant::new(Model::Rig, true).run(DURATION)?;
    let implicit = tight(Variant::new(Model::Rig, true)).run(DURATION)?;
    let simple = Variant::new(Model::Simplified, true).run(DURATION)?;
    let runs = [
        ("explicit", &explicit),
        ("implicit", &implicit),
        ("simplified", &simple),
    ];
    for (name, run) in runs {
        damping(report, name, run, PICTURE);
    }
    pictures(report, "Explicit and implicit coupling", &runs)
}

pub(super) fn table_3(report: &mut Report) -> Result<(), PaperError> {
    let rig = || Variant::new(Model::Rig, true);
    for (name, variant, [time, calls]) in [
        ("explicit", rig(), [Some(672.5), Some(1.0)]),
        ("implicit", tight(rig()), [Some(2682.0), Some(3.0)]),
        (
            "implicit, can on the beam's side",
            tight(rig().on_the_beam()),
            [None; 2],
        ),
    ] {
        let run = variant.run(DURATION)?;
        let note =
            "one thread; printed: elapsed time of MBDyn and Chrono with four threads over 2 s";
        report.row(format!("{name}: time"), time, run.wall, "s", note);
        report.row(
            format!("{name}: steps of the nonsmooth part for each macro step"),
            calls,
            run.calls,
            "1",
            "printed: 20001 and 60011 calls in 20000 steps; how often it takes depends on the mass behind the interface, and on how the next iterate is found, which is not printed",
        );
    }
    Ok(())
}

pub(super) fn fig_19(report: &mut Report) -> Result<(), PaperError> {
    let rig = Variant::new(Model::Rig, true).thin().run(DURATION)?;
    let simple = Variant::new(Model::Simplified, true).thin().run(DURATION)?;
    let bare = Variant::new(Model::Simplified, false)
        .thin()
        .run(DURATION)?;
    let runs = [
        ("no particles", &bare),
        ("coupled", &rig),
        ("simplified", &simple),
    ];
    for (name, run) in runs {
        let row = format!("{name}: amplitude of the last three cycles");
        report.row(row, None, run.amplitude(DURATION, 3.0, true), "m", PICTURE);
    }
    pictures(report, "The thin beam", &runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without particles both resonate. The simplified model leaves out that the beam itself is shaken. Behind the interface the can is moved by a method of first order, which
    /// damps.
    #[test]
    fn without_particles_the_rig_swings_as_beam_and_method_say() {
        let duration = 0.5;
        let rig = || Variant::new(Model::Rig, false);
        let simple = Variant::new(Model::Simplified, false);
        let [smooth, late, simple] = [rig().on_the_beam(), rig(), simple].map(|variant| {
            let run = variant.run(duration).unwrap();
            run.amplitude(duration, 1.0, false)
        });
        assert!(
            (smooth / simple / shaken() - 1.0).abs() < 0.02,
            "{smooth} {simple} {}",
            shaken()
        );
        let left = left_by_the_method(duration);
        assert!(
            (late / smooth / left - 1.0).abs() < 0.01,
            "{late} {smooth} {left}"
        );
    }

    /// Gravity moves the place about which the can swings, and nothing else.
    #[test]
    fn gravity_does_not_change_the_swing_without_particles() {
        let rig = || Variant::new(Model::Rig, false);
        let [still, falling] = [rig(), rig().falling()].map(|variant| {
            let run = variant.run(0.2).unwrap();
            assert!(run.failed.is_none());
            run.amplitude(0.2, 1.0, false)
        });
        assert!((falling / still - 1.0).abs() < 0.01, "{falling} {still}");
    }

    /// Resonance is held by impacts and friction, with gravity and without.
    #[test]
    fn particles_hold_the_resonance_of_the_coupled_rig() {
        let rig = |has| Variant::new(Model::Rig, has);
        let [with, falling, without] =
            [rig(true), rig(true).falling(), rig(false)].map(|variant| variant.run(0.5).unwrap());
        let amplitude = |run: &History| run.amplitude(0.5, 1.0, false);
        for run in [&with, &falling] {
            assert!(run.failed.is_none() && run.dissipated() > 1e-3);
            let (a, b) = (amplitude(run), amplitude(&without));
            assert!(a < 0.6 * b, "{a} {b}");
        }
    }
}
