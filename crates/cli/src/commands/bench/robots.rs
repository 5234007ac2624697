//! Trees, chains, a loop and a humanoid on its feet in both coordinates; `benches/robots_peer.py` takes the same figures of
//! MuJoCo and Drake.

use oldham_cosim::StageInputs;
use oldham_multibody::bench::{
    ARM, HUMANOID, TREE, ball_chain, four_bar, hinged_tree, standing_humanoid,
};
use oldham_multibody::{Coordinates, Method, Model, NodeId, Options, System, Vec3};
use oldham_real_time::thread_cpu_seconds as cpu_seconds;

use super::Figure;

/// Steps that are timed, and how often; fewer where that takes longer than a second.
const STEPS: usize = 1000;
const REPEATS: usize = 10;
const MOST_SECONDS: f64 = 1.0;

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Held,
};
const LMS2: Method = Method::Lms2 { rho: 0.6 };
const METHODS: [(&str, Method); 3] = [("rk4", RK4), ("lms2", LMS2), ("impulses", Method::Impulses)];
const BOTH: [Coordinates; 2] = [Coordinates::Joint, Coordinates::Absolute];

/// A mechanism that is timed.
struct Robot {
    name: &'static str,
    make: fn() -> (Model, NodeId),
    /// What a step in joint coordinates may take: by `rk4`, `lms2` and `impulses`.
    limits: [Option<f64>; 3],
    /// Whether only the implicit method takes it in joint coordinates.
    has_loops: bool,
    /// Steps of the second that counts as exact, and in which coordinates.
    exact: (usize, Coordinates),
}

const ROBOTS: [Robot; 6] = [
    Robot {
        name: "arm",
        make: || hinged_tree(&ARM),
        limits: [Some(8.0), Some(6.0), Some(3.0)],
        has_loops: false,
        exact: (20_000, Coordinates::Joint),
    },
    Robot {
        name: "tree",
        make: || hinged_tree(&TREE),
        limits: [Some(25.0), Some(20.0), Some(12.0)],
        has_loops: false,
        exact: (20_000, Coordinates::Joint),
    },
    Robot {
        name: "humanoid-hanging",
        make: || hinged_tree(&HUMANOID),
        limits: [None; 3],
        has_loops: false,
        exact: (20_000, Coordinates::Joint),
    },
    Robot {
        name: "chain-10",
        make: || ball_chain(10),
        limits: [None; 3],
        has_loops: false,
        exact: (20_000, Coordinates::Joint),
    },
    Robot {
        name: "chain-100",
        make: || ball_chain(100),
        limits: [None; 3],
        has_loops: false,
        exact: (4_000, Coordinates::Absolute),
    },
    Robot {
        name: "four-bar",
        make: four_bar,
        limits: [None; 3],
        has_loops: true,
        exact: (20_000, Coordinates::Absolute),
    },
];

fn in_words(coordinates: Coordinates) -> &'static str {
    match coordinates {
        Coordinates::Absolute => "absolute coordinates",
        Coordinates::Joint => "joint coordinates",
    }
}

impl Robot {
    fn takes(&self, method: Method, coordinates: Coordinates) -> bool {
        !(self.has_loops && coordinates == Coordinates::Joint && method.is_explicit())
    }

    /// A system that has started, and the node that is judged.
    fn begin(&self, method: Method, coordinates: Coordinates) -> (System, NodeId) {
        let (model, last) = (self.make)();
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
    fn step(&self, method: Method, coordinates: Coordinates) -> f64 {
        let mut best = f64::INFINITY;
        let whole = cpu_seconds();
        for _ in 0..REPEATS {
            let (mut system, _) = self.begin(method, coordinates);
            let start = cpu_seconds();
            let mut steps = 0;
            while steps < STEPS && cpu_seconds() - start < MOST_SECONDS {
                for _ in 0..10 {
                    system.step(1e-3, &[]).expect("a smooth motion");
                }
                steps += 10;
            }
            best = best.min((cpu_seconds() - start) / steps as f64 * 1e6);
            if cpu_seconds() - whole > MOST_SECONDS {
                break;
            }
        }
        best
    }

    /// Where the last node is after one second, and the CPU time of that in milliseconds.
    fn second(&self, method: Method, coordinates: Coordinates, steps: usize) -> (Vec3, f64) {
        let (mut system, last) = self.begin(method, coordinates);
        let start = cpu_seconds();
        for _ in 0..steps {
            if system.step(1.0 / steps as f64, &[]).is_err() {
                return (Vec3::new(f64::NAN, 0.0, 0.0), 0.0);
            }
        }
        let spent = (cpu_seconds() - start) * 1e3;
        (system.motion(last).position, spent)
    }

    /// CPU time of one simulated second with the fewest steps that bring the last node within `error` of where it belongs,
    /// and these steps; nothing if it takes more than `most` steps.
    fn until(
        &self,
        (method, coordinates): (Method, Coordinates),
        exact: Vec3,
        error: f64,
        most: usize,
    ) -> Option<(f64, usize)> {
        let mut steps = 25;
        while steps <= most {
            let (place, mut best) = self.second(method, coordinates, steps);
            if (place - exact).norm() <= error {
                let mut spent = best;
                for _ in 1..REPEATS {
                    if spent > 1e3 * MOST_SECONDS {
                        break;
                    }
                    let (_, again) = self.second(method, coordinates, steps);
                    spent += again;
                    best = best.min(again);
                }
                return Some((best, steps));
            }
            steps += (steps / 4).max(1);
        }
        None
    }

    /// What the quickest way to an error takes.
    fn quickest(&self, exact: Vec3, error: f64) -> Option<(f64, String)> {
        let mut best: Option<(f64, String)> = None;
        for (name, method) in &METHODS[..2] {
            // With more steps a method of second order is never the quickest.
            let most = if *name == "lms2" { 2_000 } else { self.exact.0 };
            for coordinates in BOTH {
                let is_long = self.name == "chain-100" && coordinates == Coordinates::Joint;
                if !self.takes(*method, coordinates) || is_long {
                    continue;
                }
                let found = self.until((*method, coordinates), exact, error, most);
                if let Some((spent, steps)) = found
                    && best.as_ref().is_none_or(|best| spent < best.0)
                {
                    let note = format!(
                        "CPU time of 1 s with an error of {error:e} m: {name}, {steps} steps, {}",
                        in_words(coordinates)
                    );
                    best = Some((spent, note));
                }
            }
        }
        best
    }

    fn figures(&self, figures: &mut Vec<Figure>) {
        let name = self.name;
        for ((word, method), limit) in METHODS.into_iter().zip(self.limits) {
            for coordinates in BOTH {
                if !self.takes(method, coordinates) {
                    continue;
                }
                let spent = self.step(method, coordinates);
                let note = format!("CPU time of a step of 1 ms, {}", in_words(coordinates));
                let own = match coordinates {
                    Coordinates::Joint => format!("{name}-{word}"),
                    Coordinates::Absolute => format!("{name}-{word}-absolute"),
                };
                let figure = Figure::new(&own, spent, "us", &note);
                figures.push(match limit.filter(|_| coordinates == Coordinates::Joint) {
                    Some(limit) => figure.required(limit),
                    None => figure,
                });
            }
        }
        let (steps, coordinates) = self.exact;
        let (exact, _) = self.second(RK4, coordinates, steps);
        for error in [1e-3, 1e-6] {
            if let Some((spent, note)) = self.quickest(exact, error) {
                let note = format!("{note}; at {:.7} {:.7} {:.7}", exact[0], exact[1], exact[2]);
                figures.push(Figure::new(
                    &format!("{name}-{error:e}"),
                    spent,
                    "ms",
                    &note,
                ));
            }
        }
    }
}

pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for robot in &ROBOTS {
        robot.figures(&mut figures);
    }
    standing(&mut figures);
    figures
}

/// A humanoid that bends its knees on its feet, for one second.
fn standing(figures: &mut Vec<Figure>) {
    const STEP: f64 = 2e-3;
    let robot = Robot {
        name: "humanoid-standing",
        make: standing_humanoid,
        limits: [None; 3],
        has_loops: false,
        exact: (500, Coordinates::Joint),
    };
    for coordinates in BOTH {
        let (mut best, mut worst, mut deepest) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        let mut height = 0.0;
        for _ in 0..REPEATS {
            let (mut system, pelvis) = robot.begin(Method::Impulses, coordinates);
            let start = cpu_seconds();
            for _ in 0..robot.exact.0 {
                system.step(STEP, &[]).expect("it stands");
                if let Some(report) = system.contact_report() {
                    worst = worst.max(report.residual);
                    deepest = deepest.max(report.penetration);
                }
            }
            best = best.min((cpu_seconds() - start) / robot.exact.0 as f64 * 1e6);
            height = system.motion(pelvis).position[2];
        }
        let note = format!(
            "CPU time of a step of 2 ms, {}, {deepest:.1e} m deep at most, pelvis at {height:.4} m after 1 s",
            in_words(coordinates)
        );
        let end = match coordinates {
            Coordinates::Joint => "",
            Coordinates::Absolute => "-absolute",
        };
        let name = format!("{}{end}", robot.name);
        figures.push(Figure::new(&name, best, "us", &note));
        let note = "the largest residual of a contact by Coulomb's law";
        let name = format!("{}-residual{end}", robot.name);
        figures.push(Figure::new(&name, worst, "m/s", note));
    }
}
