//! Trees of hinges by `rk4` and `lms2` in both coordinates; `benches/robots_peer.py` takes the same figures of MuJoCo.

use oldham_cosim::StageInputs;
use oldham_multibody::bench::{ARM, HUMANOID, TREE, hinged_tree};
use oldham_multibody::{Coordinates, Method, Options, System, Vec3};
use oldham_real_time::thread_cpu_seconds as cpu_seconds;

use super::Figure;

/// Steps that are timed, and how often.
const STEPS: usize = 1000;
const REPEATS: usize = 10;
/// Steps of the second that counts as exact.
const EXACT: usize = 20_000;

type Parents = &'static [Option<usize>];

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Held,
};
const LMS2: Method = Method::Lms2 { rho: 0.6 };

/// A system that has started.
fn begin(
    parents: Parents,
    method: Method,
    coordinates: Coordinates,
) -> (System, oldham_multibody::NodeId) {
    let (model, last) = hinged_tree(parents);
    let options = Options {
        method,
        coordinates,
        ..Options::default()
    };
    let mut system = System::new(model, options).expect("a model of the library is valid");
    system.start(0.0, &[]).expect("a consistent start");
    (system, last)
}

/// CPU time of a step of a millisecond, in microseconds.
fn step(parents: Parents, method: Method, coordinates: Coordinates, repeats: usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let (mut system, _) = begin(parents, method, coordinates);
        let start = cpu_seconds();
        for _ in 0..STEPS {
            system.step(1e-3, &[]).expect("a smooth motion");
        }
        best = best.min((cpu_seconds() - start) / STEPS as f64 * 1e6);
    }
    best
}

/// Where the last node is after one second, and the CPU time of that in milliseconds.
fn second(parents: Parents, steps: usize) -> (Vec3, f64) {
    let (mut system, last) = begin(parents, RK4, Coordinates::Joint);
    let start = cpu_seconds();
    for _ in 0..steps {
        if system.step(1.0 / steps as f64, &[]).is_err() {
            return (Vec3::new(f64::NAN, 0.0, 0.0), 0.0);
        }
    }
    let spent = (cpu_seconds() - start) * 1e3;
    (system.motion(last).position, spent)
}

/// CPU time of one simulated second with the fewest steps that bring the last node within `error` of where it belongs.
fn until(parents: Parents, error: f64) -> (f64, usize) {
    let (exact, _) = second(parents, EXACT);
    let mut steps = 25;
    loop {
        let apart = (second(parents, steps).0 - exact).norm();
        if apart <= error || steps > EXACT {
            let times = (0..REPEATS).map(|_| second(parents, steps).1);
            return (times.fold(f64::INFINITY, f64::min), steps);
        }
        steps += (steps / 4).max(1);
    }
}

pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    let models: [(Parents, [&str; 4], Option<f64>); 3] = [
        (
            &ARM,
            ["arm-rk4", "arm-rk4-absolute", "arm-1e-3", "arm-1e-6"],
            Some(8.0),
        ),
        (
            &TREE,
            ["tree-rk4", "tree-rk4-absolute", "tree-1e-3", "tree-1e-6"],
            Some(25.0),
        ),
        (
            &HUMANOID,
            [
                "humanoid-hanging-rk4",
                "humanoid-hanging-rk4-absolute",
                "humanoid-hanging-1e-3",
                "humanoid-hanging-1e-6",
            ],
            None,
        ),
    ];
    for (parents, names, limit) in models {
        let [joint, absolute, coarse, fine] = names;
        let hinges = parents.len();
        let spent = step(parents, RK4, Coordinates::Joint, REPEATS);
        let note = format!("CPU time per step, {hinges} hinges, joint coordinates");
        let figure = Figure::new(joint, spent, "us", &note);
        figures.push(match limit {
            Some(limit) => figure.required(limit),
            None => figure,
        });
        let spent = step(parents, RK4, Coordinates::Absolute, 2);
        figures.push(Figure::new(absolute, spent, "us", "absolute coordinates"));
        for (name, error) in [(coarse, 1e-3), (fine, 1e-6)] {
            let (spent, steps) = until(parents, error);
            let note = format!("CPU time of 1 s with an error of {error:e} m, {steps} steps");
            figures.push(Figure::new(name, spent, "ms", &note));
        }
    }
    figures.extend(implicit());
    figures
}

/// The same by the implicit two-step method.
fn implicit() -> Vec<Figure> {
    let models: [(Parents, [&str; 2], Option<f64>); 3] = [
        (&ARM, ["arm-lms2", "arm-lms2-absolute"], Some(6.0)),
        (&TREE, ["tree-lms2", "tree-lms2-absolute"], Some(20.0)),
        (
            &HUMANOID,
            ["humanoid-hanging-lms2", "humanoid-hanging-lms2-absolute"],
            None,
        ),
    ];
    let mut figures = Vec::new();
    for (parents, [joint, absolute], limit) in models {
        let spent = step(parents, LMS2, Coordinates::Joint, REPEATS);
        let note = format!("CPU time per step, {} hinges, lms2", parents.len());
        let figure = Figure::new(joint, spent, "us", &note);
        figures.push(match limit {
            Some(limit) => figure.required(limit),
            None => figure,
        });
        let spent = step(parents, LMS2, Coordinates::Absolute, REPEATS);
        figures.push(Figure::new(absolute, spent, "us", "absolute coordinates"));
    }
    figures
}
