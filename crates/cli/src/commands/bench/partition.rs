//! Whether cuts take the time that is expected of them, and how long the search for one takes.

use std::fmt::Write;
use std::time::Instant;

use oldham_study::{CutSearch, ModelFile, StudyError, find_cut, measure_costs};

use super::Figure;
use crate::failure::Failure;
use crate::table::number;

/// A model whose cut in two parts is predicted and timed.
struct Case {
    figure: &'static str,
    mechanism: &'static str,
    text: &'static str,
}

macro_rules! example {
    ($figure:literal, $mechanism:literal, $name:literal) => {
        Case {
            figure: $figure,
            mechanism: $mechanism,
            text: include_str!(concat!("../../../../../examples/", $name, ".toml")),
        }
    };
}

/// Models that can be cut; what cannot be is in the tests.
const CASES: [Case; 8] = [
    example!("beam-predicted", "beam", "cut-beam"),
    example!("three-part-beam-predicted", "beam", "cut-beam-three"),
    example!("rotor-predicted", "rotor", "rotor"),
    example!("shell-predicted", "plate", "cut-shell"),
    example!("pendulum-predicted", "pendulum", "cut-double-pendulum"),
    example!("active-beam-predicted", "beam", "cut-active-beam"),
    example!("closed-chain-predicted", "chain", "cut-chain"),
    example!("car-predicted", "car", "formula-student"),
];

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for case in &CASES {
        let file = ModelFile::of_text(case.figure, case.text);
        figures.push(predicted(case.figure, case.mechanism, file)?);
    }
    let file = ModelFile::of_text("frame", frame([4, 3, 3]));
    figures.push(predicted("frame-predicted", "frame", file)?);
    let file = ModelFile::of_text("frame of 1000 nodes", frame([10, 10, 10]));
    let start = Instant::now();
    let found = found(&file, "frame", 4, false)?;
    let seconds = start.elapsed().as_secs_f64();
    let note = format!(
        "from the graph to the runs of the best three: a frame of beams, {} interface nodes between 4 parts",
        found.cuts[0].cut.at.len()
    );
    figures.push(Figure::new("search-1000", seconds, "s", &note).required(30.0));
    Ok(figures)
}

fn found(
    file: &ModelFile,
    mechanism: &str,
    parts: usize,
    measured: bool,
) -> Result<CutSearch, StudyError> {
    let model = file.read()?;
    let silent = &mut |_: &str| {};
    let costs = match measured {
        true => Some(measure_costs(file, &model, Some(mechanism), silent)?),
        false => None,
    };
    find_cut(file, &model, Some(mechanism), parts, costs.as_ref(), silent)
}

/// Expected over measured time of a step of the best cut in two parts.
fn predicted(figure: &'static str, mechanism: &str, file: ModelFile) -> Result<Figure, Failure> {
    let cut = format!("multibody.{mechanism}.cut");
    let is_cut = |file: &ModelFile| file.clone().set(&cut, "").read().is_ok();
    let file = if is_cut(&file) {
        file.set(&cut, "")
    } else {
        file
    };
    let found = found(&file, mechanism, 2, true)?;
    let best = &found.cuts[0];
    let measured = best.measured.unwrap_or(f64::NAN);
    let note = format!(
        "expected over measured step at {}: {} us, {} us; uncut {} us",
        best.cut.at.first().map_or("", String::as_str),
        number(best.expected.step_here),
        number(measured),
        number(found.whole),
    );
    Ok(Figure::new(figure, best.expected.step_here / measured, "1", &note).within(0.8, 1.2))
}

/// A frame of beams in space that hangs from its first face.
fn frame(size: [usize; 3]) -> String {
    let [nx, ny, nz] = size;
    let name = |x: usize, y: usize, z: usize| format!("n{x}-{y}-{z}");
    let text = String::from(
        "[model]\nname = \"Frame\"\n[simulation]\nduration = 1.0\nstep = 1e-3\n[multibody.frame]\ngravity = [0, 0, -9.81]\n\
         [multibody.frame.sections.tube]\naxial = 1e7\nshear = [3e6, 3e6]\ntorsion = 1e4\nbending = [1e4, 1e4]\n\
         mass = 2.0\ninertia = [0.1, 0.05, 0.05]\ndamping = 1e-3\n",
    );
    let mut nodes = String::from("[multibody.frame.nodes]\n");
    let mut bodies = String::from("[multibody.frame.bodies]\n");
    let mut joints = String::from("[multibody.frame.joints]\n");
    let mut beams = String::from("[multibody.frame.beams]\n");
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                let here = name(x, y, z);
                let _ = writeln!(nodes, "{here} = {{ position = [{x}, {y}, {z}] }}");
                let _ = writeln!(
                    bodies,
                    "{here} = {{ node = \"{here}\", mass = 2, inertia = [0.1, 0.1, 0.1] }}"
                );
                if x == 0 {
                    let _ = writeln!(
                        joints,
                        "{here} = {{ type = \"fixed\", between = [\"ground\", \"{here}\"] }}"
                    );
                }
                let to = [
                    ((x + 1, y, z), "[0, 0, 1]"),
                    ((x, y + 1, z), "[0, 0, 1]"),
                    ((x, y, z + 1), "[1, 0, 0]"),
                ];
                for ((x, y, z), up) in to {
                    if x == nx || y == ny || z == nz {
                        continue;
                    }
                    let there = name(x, y, z);
                    let _ = writeln!(
                        beams,
                        "{here}-to-{there} = {{ from = \"{here}\", to = \"{there}\", elements = 1, nodes_per_element = 2, \
                         section = \"tube\", up = {up} }}"
                    );
                }
            }
        }
    }
    text + &nodes + &bodies + &joints + &beams
}
