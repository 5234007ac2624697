//! Loops with continuous delays: the analysis against the recurrence written by hand, against runs, and against the
//! roots of the delay equation.
//!
//! The plant is a chain of masses with its exact step, whose force is extrapolated by a parabola; the controller
//! pushes with the displacement of one of them as it was some time ago, or with what a filter makes of that.

use nalgebra::{Complex, DMatrix, DVector};
use oldham_control::{Control, Controller, Timing};
use oldham_cosim::{Builder, Hold, InputPort, OutputPort, Schedule, Simulation, Subsystem, Unit};
use oldham_expression::Expression;
use oldham_lumped::{
    Coordinates, Element, ElementKind, Integrator, Lumped, NodeRef, NodeSpec, PortKind, PortSpec,
    Spec,
};
use oldham_stability::{Decision, Spectrum, analyse};

type C = Complex<f64>;

/// Random numbers, always the same.
struct Dice(u64);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        low + share * (high - low)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.between(0.0, limit as f64) as usize).min(limit - 1)
    }
}

/// A loop: masses, each on a spring to the one before it; the force acts on the first, a mass is measured.
#[derive(Clone, Debug)]
struct Loop {
    masses: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    measured: usize,
    gain: f64,
    delay: f64,
    /// Time constant of a filter behind the delay, if there is one.
    filter: Option<f64>,
}

impl Loop {
    fn random(dice: &mut Dice, step: f64) -> Self {
        let count = 1 + dice.below(3);
        let mut some = |low: f64, high: f64| (0..count).map(|_| dice.between(low, high)).collect();
        let (masses, stiffness, damping) = (some(0.5, 2.0), some(60.0, 200.0), some(0.2, 1.5));
        let whole = dice.below(3) == 0;
        let delay = step * dice.between(1.0, 14.0);
        Self {
            masses,
            stiffness,
            damping,
            measured: dice.below(count),
            gain: dice.between(-60.0, 60.0),
            delay: if whole {
                (delay / step).round() * step
            } else {
                delay
            },
            filter: (dice.below(3) == 0).then(|| dice.between(0.02, 0.2)),
        }
    }

    fn plant(&self) -> Lumped {
        let count = self.masses.len();
        let mut spec = Spec::new(Coordinates::Translation, Integrator::Exact);
        let named = |kind: ElementKind| Element {
            name: "element".into(),
            kind,
        };
        for place in 0..count {
            let node = NodeRef::node(place);
            let before = match place {
                0 => NodeRef::Ground,
                _ => NodeRef::node(place - 1),
            };
            spec.nodes.push(NodeSpec {
                name: format!("m{place}"),
                position: 0.0,
                velocity: 0.3 - 0.1 * place as f64,
            });
            spec.elements.push(named(ElementKind::Mass {
                node,
                mass: self.masses[place],
            }));
            spec.elements.push(named(ElementKind::Spring {
                ends: [before, node],
                stiffness: self.stiffness[place],
                damping: self.damping[place],
                rest: 0.0,
            }));
        }
        let port = |name: &str, place: usize, kind: PortKind| PortSpec {
            name: name.into(),
            node: NodeRef::node(place),
            kind,
        };
        spec.inputs = vec![port("f", 0, PortKind::Force)];
        spec.outputs = vec![port("x", self.measured, PortKind::Displacement)];
        Lumped::new(spec).unwrap()
    }

    fn controller(&self) -> Controller {
        let parse = |text: &str| Expression::parse(text, &["t", "x", "late", "z"]).unwrap();
        let mut controller = Controller::default();
        controller.input("x", Unit::METRE);
        controller.delay("late", parse("x"), self.delay, 0.0);
        let mut sent = "late";
        if let Some(time) = self.filter {
            controller.state("z", 0.0, parse(&format!("(late - z)/{time}")));
            sent = "z";
        }
        controller.output("f", Unit::NEWTON, parse(&format!("{}*{sent}", -self.gain)));
        controller
    }

    fn simulation(&self, step: f64) -> Simulation {
        let timing = Timing { start: 0.0, step };
        let plant = self.plant();
        let control = Control::new(&self.controller(), timing).unwrap();
        let holds = [plant.ports(), control.ports()].map(|ports| Box::new(Hold::new(2, ports)));
        let [first, second] = holds;
        let mut builder = Builder::new();
        let plant = builder.add("plant", Box::new(plant), first);
        let control = builder.add("control", Box::new(control), second);
        builder.connect((plant, OutputPort(0)), (control, InputPort(0)));
        builder.connect((control, OutputPort(0)), (plant, InputPort(0)));
        builder
            .build(Schedule::jacobi(step, [plant, control]))
            .unwrap()
    }

    /// x' = A x + b f.
    fn system(&self) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.masses.len();
        let mut a = DMatrix::zeros(2 * n, 2 * n);
        for i in 0..n {
            a[(i, n + i)] = 1.0;
            let mut couple = |j: usize, stiffness: f64, damping: f64| {
                a[(n + i, j)] += stiffness / self.masses[i];
                a[(n + i, n + j)] += damping / self.masses[i];
            };
            couple(i, -self.stiffness[i], -self.damping[i]);
            if i > 0 {
                couple(i - 1, self.stiffness[i], self.damping[i]);
            }
            if i + 1 < n {
                couple(i, -self.stiffness[i + 1], -self.damping[i + 1]);
                couple(i + 1, self.stiffness[i + 1], self.damping[i + 1]);
            }
        }
        let mut b = DVector::zeros(2 * n);
        b[n] = 1.0 / self.masses[0];
        (a, b)
    }

    /// The recurrence of a step: plant, filter, three forces, and the measured displacement step by step before.
    fn recurrence(&self, h: f64) -> DMatrix<f64> {
        let (a, b) = self.system();
        let n = a.nrows();
        // The force as a parabola through its last three values: two integrators behind each other.
        let mut wide = DMatrix::zeros(n + 3, n + 3);
        wide.view_mut((0, 0), (n, n)).copy_from(&a);
        wide.view_mut((0, n), (n, 1)).copy_from(&b);
        wide[(n, n + 1)] = 1.0;
        wide[(n + 1, n + 2)] = 1.0;
        let step = (wide * h).exp();
        let derivatives = DMatrix::from_row_slice(
            3,
            3,
            &[
                1.0,
                0.0,
                0.0,
                1.5 / h,
                -2.0 / h,
                0.5 / h,
                1.0 / (h * h),
                -2.0 / (h * h),
                1.0 / (h * h),
            ],
        );
        let of_forces = step.view((0, n), (n, 3)) * derivatives;
        let ring = (self.delay / h).ceil() as usize + 6;
        let (z, force, past) = (n, n + 1, n + 4);
        let mut matrix = DMatrix::zeros(past + ring, past + ring);
        matrix
            .view_mut((0, 0), (n, n))
            .copy_from(&step.view((0, 0), (n, n)));
        matrix.view_mut((0, force), (n, 3)).copy_from(&of_forces);
        // Samples by age from the start of the step on: the present displacement, then those before.
        let place = |age: usize| {
            if age == 0 {
                self.measured
            } else {
                past + age - 1
            }
        };
        let add = |matrix: &mut DMatrix<f64>, row: usize, at: f64, weight: f64| {
            for (age, share) in taps(self.delay / h - at) {
                matrix[(row, place(age))] += weight * share;
            }
        };
        match self.filter {
            None => add(&mut matrix, force, 1.0, -self.gain),
            Some(time) => {
                matrix[(z, z)] = (-h / time).exp();
                // The delayed signal is a cubic from one sample to the next.
                let knee = (self.delay / h).fract();
                for (from, to) in [(0.0, knee), (knee, 1.0)] {
                    for (node, weight) in GAUSS {
                        let at = from + (to - from) * 0.5 * (1.0 + node);
                        let kernel = (-(1.0 - at) * h / time).exp() * h / time;
                        add(&mut matrix, z, at, 0.5 * (to - from) * weight * kernel);
                    }
                }
                // The force of the end follows from the filter at the end.
                let row = matrix.row(z) * -self.gain;
                matrix.set_row(force, &row);
            }
        }
        matrix[(force + 1, force)] = 1.0;
        matrix[(force + 2, force + 1)] = 1.0;
        matrix[(past, self.measured)] = 1.0;
        for age in 1..ring {
            matrix[(past + age, past + age - 1)] = 1.0;
        }
        matrix
    }

    /// det(s I - A) + g e^(-s τ) F(s) c adj(s I - A) b, by the logarithm of a determinant.
    fn characteristic(&self, s: C) -> C {
        let (a, b) = self.system();
        let n = a.nrows();
        let filter = self
            .filter
            .map_or(C::from(1.0), |time| (s * time + 1.0).inv());
        let feedback = (-s * self.delay).exp() * filter * self.gain;
        let closed = DMatrix::from_fn(n, n, |i, j| {
            let mut entry = C::from(-a[(i, j)]);
            if i == j {
                entry += s;
            }
            if j == self.measured {
                entry += feedback * b[i];
            }
            entry
        });
        closed.determinant()
    }

    /// The root of the delay equation near a place, by the secant method.
    fn root_near(&self, place: C) -> C {
        let mut points = [place * 1.0001 + 1e-4, place];
        let mut values = points.map(|s| self.characteristic(s));
        for _ in 0..60 {
            let change = values[1] - values[0];
            if change.norm() == 0.0 {
                break;
            }
            let next = points[1] - values[1] * (points[1] - points[0]) / change;
            points = [points[1], next];
            values = [values[1], self.characteristic(next)];
        }
        points[1]
    }
}

/// Gauss' rule of five points.
const GAUSS: [(f64, f64); 5] = [
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// Weights of the samples before the newest one, for a signal so many steps before it.
fn taps(age: f64) -> Vec<(usize, f64)> {
    let age = if (age - age.round()).abs() < 1e-9 {
        age.round()
    } else {
        age
    };
    let first = (age.floor() - 1.0).max(0.0);
    let weight = |i: usize| -> f64 {
        let others = (0..4).filter(|&j| j != i);
        others
            .map(|j| (age - first - j as f64) / (i as f64 - j as f64))
            .product()
    };
    (0..4).map(|i| (first as usize + i, weight(i))).collect()
}

/// Eigenvalues, the largest first.
fn eigenvalues(matrix: &DMatrix<f64>) -> Vec<C> {
    let mut values: Vec<C> = matrix.complex_eigenvalues().iter().copied().collect();
    values.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
    values
}

/// The radius that a run shows: of its last values each is made of the two before.
fn growth_of_run(model: &Loop, step: f64, steps: u64) -> f64 {
    let mut simulation = model.simulation(step);
    let plant = oldham_cosim::SubsystemId(0);
    simulation.steps(steps - 60).unwrap();
    let mut values = Vec::new();
    for _ in 0..60 {
        simulation.step().unwrap();
        values.push(simulation.outputs(plant)[0]);
    }
    let (mut squares, mut right) = (nalgebra::Matrix2::zeros(), nalgebra::Vector2::zeros());
    for three in values.windows(3) {
        let scale = three.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let known = nalgebra::Vector2::new(three[1], three[0]) / scale;
        squares += known * known.transpose();
        right += known * (three[2] / scale);
    }
    let found = squares.lu().solve(&right).unwrap();
    let half = C::from(0.25 * found[0] * found[0] + found[1]).sqrt();
    [half, -half]
        .map(|half| (half + 0.5 * found[0]).norm())
        .into_iter()
        .fold(0.0, f64::max)
}

fn count() -> usize {
    let wanted = std::env::var("OLDHAM_MODELS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(10)
}

#[test]
fn the_radius_is_that_of_the_recurrence_by_hand_and_of_runs() {
    let step = 0.01;
    let mut dice = Dice(3);
    let (mut seen_in_runs, mut growing) = (0, 0);
    for number in 0..count() {
        let model = Loop::random(&mut dice, step);
        let values = eigenvalues(&model.recurrence(step));
        let radius = values[0].norm();
        let found = Spectrum::of(&mut model.simulation(step)).unwrap();
        let off = (found.radius() - radius).abs();
        // Behind a delay a controller integrates with error control, over the joints of cubics.
        let limit = if model.filter.is_some() { 1e-7 } else { 1e-9 };
        assert!(
            off < limit,
            "{number}: {} {radius}, {model:?}",
            found.radius()
        );
        let expected = match radius > 1.0 {
            true => Decision::Unstable,
            false => Decision::Stable,
        };
        assert_eq!(found.decision(), expected, "{number}: {radius}");
        growing += usize::from(radius > 1.0);
        // As long as it takes for the next mode to be forgotten.
        let next = values
            .iter()
            .find(|value| value.norm() < radius * (1.0 - 1e-9))
            .unwrap();
        let steps = (1e-9_f64).ln() / (next.norm() / radius).ln() + 100.0;
        if steps < 6000.0 {
            let run = growth_of_run(&model, step, steps as u64);
            assert!(
                (run - radius).abs() < 1e-6,
                "{number}: run {run}, {radius}, {model:?}"
            );
            seen_in_runs += 1;
        }
    }
    assert!(2 * seen_in_runs > count(), "{seen_in_runs} runs");
    assert!(growing > 0 && growing < count(), "{growing} grow");
}

#[test]
fn the_modes_tend_to_the_roots_of_the_delay_equation_with_the_order_of_the_method() {
    let mut dice = Dice(11);
    let mut found = 0;
    for number in 0..count() {
        let model = Loop::random(&mut dice, 0.01);
        let off = |step: f64| {
            let spectrum = Spectrum::of(&mut model.simulation(step)).unwrap();
            let pole = spectrum.pole(&spectrum.dominant());
            (pole, (pole - model.root_near(pole)).norm())
        };
        let [(first, coarse), (_, middle), (last, fine)] = [0.01, 0.005, 0.0025].map(off);
        // The same mode each time, and a delay that is long against the finest step.
        if (first - last).norm() > 0.05 * last.norm() || fine < 1e-9 {
            continue;
        }
        found += 1;
        let order = (coarse / fine).log2() / 2.0;
        assert!(
            order > 2.2 && middle < coarse,
            "{number}: order {order}: {coarse:e} {middle:e} {fine:e}, {model:?}"
        );
    }
    assert!(2 * found > count(), "{found} of {}", count());
}

/// A delay line is a shift, however long it is: thousands of steps are analysed in seconds, and not overlooked.
#[test]
fn long_delays_are_seen() {
    let model = Loop {
        masses: vec![1.0],
        stiffness: vec![100.0],
        damping: vec![1.0],
        measured: 0,
        gain: 20.0,
        delay: 0.0,
        filter: None,
    };
    for (step, delay) in [(1e-3, 0.30037), (1e-3, 1.2001), (2e-4, 1.2)] {
        let model = Loop {
            delay,
            ..model.clone()
        };
        let started = std::time::Instant::now();
        let mut simulation = model.simulation(step);
        let spectrum = Spectrum::of(&mut simulation).unwrap();
        let pole = spectrum.pole(&spectrum.dominant());
        let root = model.root_near(pole);
        println!("{delay}: {pole} {root} {:?}", started.elapsed());
        assert!(
            (pole - root).norm() < 1e-4 * root.norm(),
            "{delay}: {pole} {root}"
        );
        assert_eq!(
            analyse(&mut model.simulation(step)).unwrap().decision(),
            spectrum.decision()
        );
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}
