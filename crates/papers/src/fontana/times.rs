//! Tables 4 and 6: wall times of whole and cut structures.
//!
//! The paper calls them CPU times; each of its subsystems had a core of its own. Ours are the best
//! of several short runs, scaled to the paper's number of steps.

use super::run::{RunSpec, cores};
use crate::item::{PaperError, Report, Settings};
use crate::structures::{Beam, Shell};

const REPEATS: usize = 3;

/// Wall time per second of motion, best of several.
fn wall(
    text: &str,
    signal: &str,
    settings: &Settings,
    parts: usize,
    duration: f64,
) -> Result<f64, PaperError> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let plan = RunSpec {
            text,
            signal,
            settings: settings.clone(),
            duration,
            every: duration,
            threads: parts.min(cores()),
        };
        best = best.min(plan.run()?.wall / duration);
    }
    Ok(best)
}

pub(super) fn table_4(report: &mut Report) -> Result<(), PaperError> {
    let printed = [
        (6, [28.19, 14.64, 10.69], [8.81, 5.63, 4.09]),
        (12, [52.19, 24.08, 18.04], [15.40, 9.68, 7.20]),
        (24, [100.26, 49.29, 34.11], [30.74, 18.11, 13.02]),
    ];
    let note = format!(
        "wall time for 10 s at h = 0.1 ms, undamped, parts on {} cores; printed: the slower machine",
        cores()
    );
    for (elements, slower, faster) in printed {
        let mut whole = f64::NAN;
        for parts in [1, 2, 3] {
            let beam = Beam {
                elements,
                parts,
                damping: 0.0,
                step: 1e-4,
            };
            let schemes: &[&str] = match parts {
                1 => &["monolithic"],
                _ => &["interface-mass", "interface-tangent"],
            };
            for scheme in schemes {
                let settings = match parts {
                    1 => Vec::new(),
                    _ => vec![("multibody.beam.cut.scheme", (*scheme).to_owned())],
                };
                let spent = 10.0 * wall(&beam.model(), Beam::SIGNAL, &settings, parts, 0.5)?;
                if parts == 1 {
                    whole = spent;
                }
                let name = format!("{elements} elements, {parts} parts, {scheme}");
                let is_theirs = *scheme != "interface-tangent";
                let print = |times: [f64; 3]| is_theirs.then_some(times[parts - 1]);
                report
                    .row(name.clone(), print(slower), spent, "s", &note)
                    .by_the_clock();
                if let Some(time) = print(faster) {
                    let note = "the same; printed: the faster machine";
                    report
                        .row(format!("{name}, faster machine"), time, spent, "s", note)
                        .by_the_clock();
                }
                if parts > 1 {
                    let speedup = print(faster).map(|time| faster[0] / time);
                    let theirs = speedup.map_or_else(String::new, |theirs| {
                        format!("; printed times of the faster machine, a core for each part, make {theirs:.2}")
                    });
                    let note = format!("monolithic / cut{theirs}");
                    report.row(format!("{name}: speed-up"), None, whole / spent, "1", &note);
                }
            }
        }
    }
    Ok(())
}

pub(super) fn table_6(report: &mut Report) -> Result<(), PaperError> {
    let printed = [48.50, 23.76];
    let mut whole = f64::NAN;
    for scheme in ["monolithic", "interface-mass", "interface-tangent"] {
        let is_whole = scheme == "monolithic";
        let parts = if is_whole { 1 } else { 2 };
        let shell = Shell {
            divisions: [4, 2],
            parts,
            damping: 0.0,
            step: 1e-4,
        };
        let settings = match parts {
            1 => Vec::new(),
            _ => vec![("multibody.shell.cut.scheme", scheme.to_owned())],
        };
        let spent = wall(&shell.model(), Shell::SIGNAL, &settings, parts, 1.0)?;
        let is_theirs = scheme != "interface-tangent";
        let print = is_theirs.then_some(printed[parts - 1]);
        let name = format!("4 x 2 elements, {parts} parts, {scheme}");
        let note = "ours: wall time for 1 s at h = 0.1 ms; the paper states neither duration nor step; printed: the slower machine";
        report
            .row(name.clone(), print, spent, "s", note)
            .by_the_clock();
        if is_whole {
            whole = spent;
            continue;
        }
        let note =
            "monolithic / cut; printed times make 2.04, more than two, since less is factored";
        report.row(format!("{name}: speed-up"), None, whole / spent, "1", note);
    }
    Ok(())
}
