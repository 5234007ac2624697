//! Random pairs of parts that are coupled, and the spectral radius of their macro step, written down by hand.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Builder, Hold, InputPort, OutputPort, Schedule, Simulation};

use crate::part::{Hardness, Part, System, Takes};
use crate::random::Random;

pub const STEP: f64 = 0.01;

/// How the parts exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    pub is_sequential: bool,
    /// Order of the hold.
    pub order: usize,
}

pub struct Pair {
    pub systems: [System; 2],
    pub hardness: [Hardness; 2],
    pub scheme: Scheme,
    pub noise: f64,
    pub seed: u64,
}

type Rows = DMatrix<f64>;

/// Rows of the state of a macro step: both states, the last outputs, those before, and inputs that are held.
struct Layout {
    x: [Rows; 2],
    y: [Rows; 2],
    before: [Rows; 2],
    held: [Rows; 2],
}

impl Layout {
    fn of(systems: &[System; 2]) -> Self {
        let sizes = [
            systems[0].a.nrows(),
            systems[1].a.nrows(),
            systems[0].c.nrows(),
            systems[1].c.nrows(),
            systems[0].c.nrows(),
            systems[1].c.nrows(),
            systems[0].b.ncols(),
            systems[1].b.ncols(),
        ];
        let all = sizes.iter().sum();
        let identity = Rows::identity(all, all);
        let mut at = 0;
        let mut next = sizes.iter().map(|&size| {
            let rows = identity.rows(at, size).into_owned();
            at += size;
            rows
        });
        let mut two = || [next.next().unwrap(), next.next().unwrap()];
        Self {
            x: two(),
            y: two(),
            before: two(),
            held: two(),
        }
    }
}

impl Pair {
    /// Macro steps after which it all begins again.
    pub fn period(&self) -> u64 {
        self.systems[0].sampled.max(self.systems[1].sampled)
    }

    /// The matrix of a macro step in which these parts sample their inputs.
    fn matrix(&self, samples: [bool; 2]) -> DMatrix<f64> {
        let layout = Layout::of(&self.systems);
        let predicted = |new: &Rows, old: &Rows| match self.scheme.order {
            0 => new.clone(),
            _ => 2.0 * new - old,
        };
        let advanced = |part: usize, start: &Rows, end: &Rows| {
            let system = &self.systems[part];
            let u = match system.takes {
                _ if !samples[part] => layout.held[part].clone(),
                Takes::First => start.clone(),
                Takes::Mean => 0.5 * (start + end),
            };
            let x = &system.a * &layout.x[part] + &system.b * &u;
            let y = &system.c * &x + &system.d * end;
            (x, y, u)
        };
        let end = predicted(&layout.y[1], &layout.before[1]);
        let (x0, y0, u0) = advanced(0, &layout.y[1], &end);
        let (x1, y1, u1) = match (self.scheme.is_sequential, self.scheme.order) {
            (false, _) => {
                let end = predicted(&layout.y[0], &layout.before[0]);
                advanced(1, &layout.y[0], &end)
            }
            (true, 0) => advanced(1, &y0, &y0),
            (true, _) => advanced(1, &layout.y[0], &y0),
        };
        let [y0_before, y1_before] = layout.y.clone();
        let rows = [x0, x1, y0, y1, y0_before, y1_before, u0, u1];
        let all = rows.iter().map(Rows::nrows).sum();
        let mut matrix = Rows::zeros(all, all);
        let mut at = 0;
        for block in &rows {
            matrix.rows_mut(at, block.nrows()).copy_from(block);
            at += block.nrows();
        }
        matrix
    }

    /// The spectral radius of a period.
    pub fn radius(&self) -> f64 {
        let step =
            |n: u64| self.matrix([0, 1].map(|part| n.is_multiple_of(self.systems[part].sampled)));
        let matrix = (1..self.period()).fold(step(0), |before, n| step(n) * before);
        let values = matrix.complex_eigenvalues();
        values.iter().map(|z| z.norm()).fold(0.0, f64::max)
    }

    pub fn simulation(&self, is_hidden: bool) -> Simulation {
        let mut builder = Builder::new();
        let mut ids = Vec::new();
        for (index, name) in ["one", "two"].into_iter().enumerate() {
            let system = self.systems[index].clone();
            let hardness = self.hardness[index].clone();
            let part = Part::new(system, hardness, is_hidden, self.seed + index as u64);
            let ports = oldham_cosim::Subsystem::ports(&part).clone();
            let hold = Hold::new(self.scheme.order, &ports);
            ids.push(builder.add(name, Box::new(part), Box::new(hold)));
        }
        for (from, to) in [(0, 1), (1, 0)] {
            builder.connect((ids[from], OutputPort(0)), (ids[to], InputPort(0)));
        }
        let schedule = match self.scheme.is_sequential {
            true => Schedule::gauss_seidel(STEP, ids),
            false => Schedule::jacobi(STEP, ids),
        };
        builder.build(schedule).expect("a simulation")
    }

    /// The same with a part that samples its inputs.
    pub fn sampled(mut self, every: u64) -> Self {
        self.systems[1].sampled = every;
        self
    }

    fn scaled(&self, gain: f64) -> Self {
        let mut systems = self.systems.clone();
        systems[1].c *= gain;
        systems[1].d *= gain;
        Self {
            systems,
            hardness: self.hardness.clone(),
            ..*self
        }
    }
}

/// What acts is held over a step.
fn held(a: &DMatrix<f64>, b: &DMatrix<f64>, h: f64) -> (DMatrix<f64>, DMatrix<f64>) {
    let (n, m) = b.shape();
    let mut whole = DMatrix::zeros(n + m, n + m);
    whole.view_mut((0, 0), (n, n)).copy_from(&(a * h));
    whole.view_mut((0, n), (n, m)).copy_from(&(b * h));
    let whole = whole.exp();
    (
        whole.view((0, 0), (n, n)).into_owned(),
        whole.view((0, n), (n, m)).into_owned(),
    )
}

/// A chain of masses, driven by forces (it shows motions) or through springs by motions (it shows forces).
fn chain(random: &mut Random, masses: usize, ports: usize, by_forces: bool, h: f64) -> [Rows; 4] {
    let n = masses;
    let mass: Vec<f64> = (0..n).map(|_| random.decades(-1.0, 1.0)).collect();
    let frequency = std::f64::consts::TAU * random.decades(-0.5, 0.7);
    let mean = mass.iter().sum::<f64>() / n as f64;
    let mut springs: Vec<f64> = (0..=n)
        .map(|_| frequency.powi(2) * mean * random.decades(-0.7, 0.7))
        .collect();
    if random.chance(0.3) {
        let stiff = random.whole(0, n + 1);
        springs[stiff] *= random.decades(2.0, 4.0);
    }
    let mut k = Rows::zeros(n, n);
    for i in 0..n - 1 {
        for (row, column, sign) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0)] {
            k[(i + row, i + column)] += sign * springs[i + 1];
        }
    }
    if !(by_forces && random.chance(0.3)) {
        k[(0, 0)] += springs[0];
    }
    let ratio = match random.chance(0.7) {
        true => random.decades(-3.0, -0.7),
        false => 0.0,
    };
    let damping = &k * (2.0 * ratio / frequency);
    let inverse = Rows::from_fn(n, n, |i, j| if i == j { 1.0 / mass[i] } else { 0.0 });
    let mut places: Vec<usize> = (0..n).collect();
    for i in 0..n {
        places.swap(i, random.whole(i, n));
    }
    let at = Rows::from_fn(n, ports, |i, j| f64::from(u8::from(places[j] == i)));
    let mut a = Rows::zeros(2 * n, 2 * n);
    a.view_mut((0, n), (n, n)).fill_with_identity();
    if by_forces {
        a.view_mut((n, 0), (n, n)).copy_from(&(-&inverse * &k));
        a.view_mut((n, n), (n, n))
            .copy_from(&(-&inverse * &damping));
        let mut b = Rows::zeros(2 * n, ports);
        b.view_mut((n, 0), (n, ports)).copy_from(&(&inverse * &at));
        let mut c = Rows::zeros(2 * ports, 2 * n);
        c.view_mut((0, 0), (ports, n)).copy_from(&at.transpose());
        c.view_mut((ports, n), (ports, n))
            .copy_from(&at.transpose());
        let (a, b) = held(&a, &b, h);
        return [a, b, c, Rows::zeros(2 * ports, ports)];
    }
    let link = springs.iter().sum::<f64>() / springs.len() as f64 * random.decades(-1.5, 1.0);
    let damper = (ratio + 0.003 * random.next()) * 2.0 * (link * mean).sqrt();
    let grip = &at * at.transpose();
    let stiffness = &k + link * &grip;
    let damping = &damping + damper * &grip;
    a.view_mut((n, 0), (n, n))
        .copy_from(&(-&inverse * stiffness));
    a.view_mut((n, n), (n, n)).copy_from(&(-&inverse * damping));
    let mut b = Rows::zeros(2 * n, 2 * ports);
    b.view_mut((n, 0), (n, ports))
        .copy_from(&(&inverse * &at * link));
    b.view_mut((n, ports), (n, ports))
        .copy_from(&(&inverse * &at * damper));
    let mut c = Rows::zeros(ports, 2 * n);
    c.view_mut((0, 0), (ports, n))
        .copy_from(&(at.transpose() * -link));
    c.view_mut((0, n), (ports, n))
        .copy_from(&(at.transpose() * -damper));
    let mut d = Rows::zeros(ports, 2 * ports);
    for i in 0..ports {
        d[(i, i)] = link;
        d[(i, ports + i)] = damper;
    }
    let (a, b) = held(&a, &b, h);
    [a, b, c, d]
}

/// Modes of any kind, mixed.
fn anything(
    random: &mut Random,
    states: usize,
    m: usize,
    p: usize,
    feed: f64,
    h: f64,
) -> [Rows; 4] {
    let mut a = Rows::zeros(states, states);
    let is_damped = random.chance(0.7);
    for k in 0..states / 2 {
        let w = random.decades(-0.5, 2.5);
        let z = match is_damped {
            true => random.decades(-3.0, -0.1),
            false => random.decades(-5.0, -3.0),
        };
        a[(2 * k, 2 * k + 1)] = w;
        a[(2 * k + 1, 2 * k)] = -w;
        a[(2 * k + 1, 2 * k + 1)] = -2.0 * z * w;
    }
    if states % 2 == 1 {
        a[(states - 1, states - 1)] = -random.decades(0.0, 3.0);
    }
    let mut normal = |rows, columns| Rows::from_fn(rows, columns, |_, _| random.normal());
    let turn = normal(states, states).qr().q();
    let (mut b, mut c, d) = (normal(states, m), normal(p, states), normal(p, m));
    for j in 0..m {
        b.column_mut(j).scale_mut(random.decades(-1.0, 1.0));
    }
    for i in 0..p {
        c.row_mut(i).scale_mut(random.decades(-2.0, 2.0));
    }
    let (a, b) = held(&(&turn * a * turn.transpose()), &b, h);
    let d = d * (feed * (&c * &b).amax());
    [a, b, c, d]
}

fn system([a, b, c, d]: [Rows; 4], takes: Takes) -> System {
    System {
        a,
        b,
        c,
        d,
        takes,
        sampled: 1,
    }
}

/// Sizes that states and outputs have under inputs of some size.
fn sizes(random: &mut Random, system: &System, inputs: &DVector<f64>) -> [DVector<f64>; 2] {
    let mut x = DVector::zeros(system.a.nrows());
    let mut most = [
        DVector::<f64>::zeros(system.a.nrows()),
        DVector::<f64>::zeros(system.c.nrows()),
    ];
    for _ in 0..30 {
        let u = inputs.map(|size| size * random.between(-1.0, 1.0));
        x = &system.a * x + &system.b * &u;
        let y = &system.c * &x + &system.d * u;
        for (most, values) in most.iter_mut().zip([&x, &y]) {
            most.iter_mut()
                .zip(values)
                .for_each(|(most, value)| *most = most.max(value.abs()));
        }
    }
    most.map(|sizes| {
        let least = 1e-12 * sizes.amax();
        sizes.map(|size: f64| size.max(least))
    })
}

fn hardness(
    random: &mut Random,
    system: &mut System,
    inputs: &DVector<f64>,
    noise: f64,
    curvature: f64,
) -> Hardness {
    let [x_sizes, y_sizes] = sizes(random, system, inputs);
    let n = system.a.nrows();
    let bend = (curvature > 0.0).then(|| {
        let w = x_sizes.map(|size| random.normal() / size / (n as f64).sqrt());
        let along = x_sizes.map(|size| size * random.normal());
        let b = (&system.a - Rows::identity(n, n)) * along * curvature;
        // Its linear part belongs to the system.
        system.a += &b * w.transpose();
        (b, w)
    });
    Hardness {
        noise,
        bend,
        x_sizes,
        y_sizes,
    }
}

/// Noise and curvature in turn.
const HARD: [(f64, f64); 5] = [
    (0.0, 0.0),
    (1e-12, 0.0),
    (1e-9, 0.0),
    (1e-9, 0.05),
    (1e-6, 0.0),
];

impl Pair {
    /// One of the random pairs: every second is within a few per cent of its limit.
    pub fn random(seed: u64) -> Option<Self> {
        let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) + 1);
        let (noise, curvature) = HARD[seed as usize % HARD.len()];
        let grows = random.chance(0.5);
        for _ in 0..80 {
            let h = random.decades(-2.7, -1.3);
            let most = if random.chance(0.8) { 4 } else { 7 };
            let ports = random.whole(1, most);
            let takes = |random: &mut Random| match random.chance(0.5) {
                true => Takes::First,
                false => Takes::Mean,
            };
            let mut systems = if random.chance(0.6) {
                let masses = [random.whole(1, 7), random.whole(1, 7)];
                let ports = ports.min(masses[0]).min(masses[1]).min(3);
                let one = chain(&mut random, masses[0], ports, true, h);
                let mut two = chain(&mut random, masses[1], ports, false, h);
                two[2] *= -1.0;
                two[3] *= -1.0;
                [
                    system(one, takes(&mut random)),
                    system(two, takes(&mut random)),
                ]
            } else {
                let wide = [random.whole(1, ports + 1), random.whole(1, ports + 1)];
                let states = [random.whole(2, 13), random.whole(2, 13)];
                let feed = if random.chance(0.4) { 0.5 } else { 0.0 };
                let one = anything(&mut random, states[0], wide[1], wide[0], 0.0, h);
                let mut two = anything(&mut random, states[1], wide[0], wide[1], feed, h);
                let size = (&one[2] * &one[1]).amax() * (&two[2] * &two[1]).amax();
                let gain = -random.decades(-2.0, 0.0) / size;
                two[2] *= gain;
                two[3] *= gain;
                [
                    system(one, takes(&mut random)),
                    system(two, takes(&mut random)),
                ]
            };
            let first = DVector::from_fn(systems[0].b.ncols(), |_, _| random.decades(-1.0, 1.0));
            let one = hardness(&mut random, &mut systems[0], &first, noise, curvature);
            let two = hardness(&mut random, &mut systems[1], &one.y_sizes, noise, curvature);
            let stable = |system: &System| {
                let values = system.a.complex_eigenvalues();
                values.iter().all(|z| z.norm() < 1.0 + 1e-9)
            };
            if !systems.iter().all(stable) {
                continue;
            }
            let pair = Self {
                systems,
                hardness: [one, two],
                scheme: Scheme {
                    is_sequential: random.chance(0.5),
                    order: random.whole(0, 2),
                },
                noise,
                seed,
            };
            let found = match seed.is_multiple_of(2) {
                true => pair.near_limit(&mut random, grows),
                false => {
                    let scaled = pair.scaled(random.decades(-3.0, 0.5));
                    let radius = scaled.radius();
                    let fits = 0.3 < radius && radius < 30.0 && (radius > 1.0 + 1e-6) == grows;
                    fits.then_some(scaled)
                }
            };
            if let Some(mut pair) = found {
                // Sizes of what comes back.
                let [x_sizes, y_sizes] =
                    sizes(&mut random, &pair.systems[1], &pair.hardness[0].y_sizes);
                pair.hardness[1] = Hardness {
                    x_sizes,
                    y_sizes,
                    ..pair.hardness[1].clone()
                };
                return Some(pair);
            }
        }
        None
    }

    /// The gain at which the radius is a little more or less than one.
    fn near_limit(&self, random: &mut Random, grows: bool) -> Option<Self> {
        let sign = if grows { 1.0 } else { -1.0 };
        let wanted = 1.0 + sign * random.decades(-5.0, -1.5);
        let off = |gain: f64| self.scaled(gain).radius() - wanted;
        let gains: Vec<f64> = (0..=30)
            .map(|k| 10_f64.powf(-4.0 + 0.2 * f64::from(k)))
            .collect();
        let offs: Vec<f64> = gains.iter().map(|gain| off(*gain)).collect();
        let crossings = (0..30).filter(|&k| offs[k] * offs[k + 1] < 0.0);
        let crossings: Vec<usize> = crossings.collect();
        let &place = crossings.get(random.whole(0, crossings.len().max(1)))?;
        let (mut low, mut high) = (gains[place], gains[place + 1]);
        let below = off(low);
        for _ in 0..50 {
            let middle = (low * high).sqrt();
            match off(middle) * below <= 0.0 {
                true => high = middle,
                false => low = middle,
            }
        }
        let found = self.scaled((low * high).sqrt());
        ((found.radius() - wanted).abs() < 1e-8).then_some(found)
    }
}
