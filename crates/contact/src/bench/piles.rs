//! Boxes and spheres that fall into a shaft and come to rest there.

use oldham_space::{Mat3, Quaternion, V3, Vec3};

use crate::coulomb::Coulomb;
use crate::error::ContactError;
use crate::scene::{Body, Options, Scene, StepReport};
use crate::shape::{Pose, Shape};
use crate::touch::Surface;

use super::noise::Noise;

/// The step of the piles, in seconds.
pub const PILE_STEP: f64 = 2.5e-3;
/// The residual in m/s that steps of the piles accept.
pub const PILE_TOLERANCE: f64 = 9.9e-6;
const DENSITY: f64 = 1000.0;
const FRICTION: f64 = 0.5;
/// Halves of the edges of a box.
const HALF: Vec3 = V3([0.08, 0.06, 0.05]);
const RADIUS: f64 = 0.06;
/// Distance of neighbours at the start.
const SPACING: f64 = 0.26;
/// By how much places differ from a lattice.
const JITTER: f64 = 0.015;
/// How long after the first touch a pile lands, in seconds.
const LANDING: f64 = 0.5;
/// The residual in m/s that steps of a pile accept while it settles.
const SETTLING_TOLERANCE: f64 = 1e-4;
/// How long a pile settles, in seconds: to the coarse tolerance, then to that of the measured steps.
const SETTLING: [f64; 2] = [2.0, 1.0];

/// What a pile is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solid {
    /// Boxes of 0.16 m, 0.12 m and 0.1 m.
    Box,
    /// Spheres of 0.06 m radius.
    Sphere,
}

/// Cells along, across and upwards: 100 and 1000 solids are ten layers each.
fn cells(count: usize) -> [usize; 3] {
    match count {
        1 => [1, 1, 1],
        2..=10 => [2, 1, count.div_ceil(2)],
        11..=100 => [5, 2, count.div_ceil(10)],
        _ => [10, 10, count.div_ceil(100)],
    }
}

/// A pile in mid-air.
pub struct Pile {
    /// The scene: the shaft, then the solids.
    pub scene: Scene,
    steps: u64,
    touched: Option<u64>,
}

/// Solids in a shaft as they are before they fall, turned at random.
pub fn pile(solid: Solid, count: usize) -> Result<Pile, ContactError> {
    pile_by(PILE_TOLERANCE, false, solid, count)
}

/// Solids that have fallen and settled in the shaft for three seconds. They may sleep.
pub fn settled(solid: Solid, count: usize, sleep: bool) -> Result<Pile, ContactError> {
    let mut settling = pile_by(SETTLING_TOLERANCE, sleep, solid, count)?;
    settling.go_on(SETTLING[0])?;
    let mut words = Vec::new();
    settling.scene.save(&mut words);
    let mut pile = pile_by(PILE_TOLERANCE, sleep, solid, count)?;
    pile.scene.restore(&words)?;
    pile.go_on(SETTLING[1])?;
    Ok(pile)
}

fn pile_by(tolerance: f64, sleep: bool, solid: Solid, count: usize) -> Result<Pile, ContactError> {
    let options = Options {
        sleep,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Coulomb::new(tolerance, 20_000));
    let rough = scene.add_surface(Surface::rough(FRICTION))?;
    let [along, across, _] = cells(count);
    let size = V3([along as f64 * SPACING, across as f64 * SPACING, 0.0]);
    let walls = [
        (Vec3::ZERO, Vec3::Z),
        (Vec3::ZERO, Vec3::X),
        (size, -Vec3::X),
        (Vec3::ZERO, Vec3::Y),
        (size, -Vec3::Y),
    ];
    let walls = walls.map(|(position, normal)| {
        let beside = normal.perpendicular();
        let axes = Mat3::from_columns(beside, normal.cross(beside), normal);
        (Shape::Plane, Pose { position, axes }, rough)
    });
    scene.add_compound(Body::prescribed(Vec3::ZERO), walls)?;
    let mut noise = Noise(1);
    for i in 0..count {
        let site = [i % along, i / along % across, i / (along * across)];
        let position = V3(site.map(|s| (s as f64 + 0.5) * SPACING)) + noise.vector() * JITTER;
        let turn = noise.vector() * std::f64::consts::PI;
        let (shape, mass, inertia) = match solid {
            Solid::Box => {
                let [a, b, c] = HALF.0;
                let mass = DENSITY * 8.0 * a * b * c;
                let inertia = V3([b * b + c * c, a * a + c * c, a * a + b * b]) * (mass / 3.0);
                (Shape::Box { half: HALF }, mass, inertia)
            }
            Solid::Sphere => {
                let mass = DENSITY * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
                let moment = 0.4 * mass * RADIUS * RADIUS;
                (Shape::Sphere { radius: RADIUS }, mass, V3([moment; 3]))
            }
        };
        let body = Body {
            orientation: Quaternion::exp(turn),
            ..Body::free(mass, inertia, position)
        };
        scene.add_body(body, shape, rough)?;
    }
    scene.start()?;
    Ok(Pile {
        scene,
        steps: 0,
        touched: None,
    })
}

/// What a timed stretch of a pile found.
#[derive(Clone, Copy, Debug, Default)]
pub struct PileFigures {
    /// Mean time of a step in microseconds.
    pub mean: f64,
    /// The longest step in microseconds.
    pub longest: f64,
    /// The largest residual of all steps in m/s.
    pub residual: f64,
    /// Steps whose residual is above the tolerance.
    pub unmet: usize,
    /// The deepest penetration in metres.
    pub penetration: f64,
    /// Mean number of contacts with an impulse.
    pub pressed: f64,
    /// Mean number of sweeps.
    pub sweeps: f64,
    /// Mean number of factorisations.
    pub factorisations: f64,
    /// How many steps were taken.
    pub steps: usize,
}

impl Pile {
    /// Takes one step; a clock in seconds sees it alone, collision detection included.
    pub fn timed_step(
        &mut self,
        clock: &dyn Fn() -> f64,
    ) -> Result<(StepReport, f64), ContactError> {
        let begin = clock();
        let report = self.scene.step(self.steps as f64 * PILE_STEP, PILE_STEP)?;
        let spent = clock() - begin;
        if report.pressed > 0 {
            self.touched.get_or_insert(self.steps);
        }
        self.steps += 1;
        Ok((report, spent))
    }

    /// Takes the steps of a time in seconds.
    fn go_on(&mut self, time: f64) -> Result<(), ContactError> {
        for _ in 0..(time / PILE_STEP) as usize {
            self.timed_step(&|| 0.0)?;
        }
        Ok(())
    }

    /// Measures half a second.
    pub fn stay(&mut self, clock: &dyn Fn() -> f64) -> Result<PileFigures, ContactError> {
        let mut figures = PileFigures::default();
        for _ in 0..(LANDING / PILE_STEP) as usize {
            figures.add(&self.timed_step(clock)?);
        }
        figures.finish();
        Ok(figures)
    }

    /// Falls to the first touch, then lands for half a second, which is measured.
    pub fn land(&mut self, clock: &dyn Fn() -> f64) -> Result<PileFigures, ContactError> {
        let mut first = self.timed_step(clock)?;
        while self.touched.is_none() {
            first = self.timed_step(clock)?;
        }
        let steps = (LANDING / PILE_STEP) as usize;
        let mut figures = PileFigures::default();
        figures.add(&first);
        for _ in 1..steps {
            figures.add(&self.timed_step(clock)?);
        }
        figures.finish();
        Ok(figures)
    }
}

impl PileFigures {
    pub(super) fn add(&mut self, (report, spent): &(StepReport, f64)) {
        self.steps += 1;
        self.mean += spent * 1e6;
        self.longest = self.longest.max(spent * 1e6);
        self.residual = self.residual.max(report.residual);
        self.unmet += usize::from(report.residual > PILE_TOLERANCE);
        self.penetration = self.penetration.max(report.penetration);
        self.pressed += report.pressed as f64;
        self.sweeps += report.solved.iterations as f64;
        self.factorisations += report.solved.factorisations as f64;
    }

    pub(super) fn finish(&mut self) {
        let share = 1.0 / self.steps.max(1) as f64;
        for sum in [
            &mut self.mean,
            &mut self.pressed,
            &mut self.sweeps,
            &mut self.factorisations,
        ] {
            *sum *= share;
        }
    }
}
