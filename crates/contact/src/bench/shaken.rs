//! Scenes whose time per step is a figure of merit, and the stopwatch.

use oldham_space::{Mat3, Quaternion, V3, Vec3};

use crate::cone::Cone;
use crate::error::ContactError;
use crate::scene::{Body, Correction, Options, Scene, StepReport};
use crate::shape::{Can, Pose, Shape, Wall};
use crate::solver::ContactSolver;
use crate::touch::{BodyId, Surface};

use super::noise::Noise;

/// Centres of the 147 spheres of the shaken can: a loose heap in which nothing touches.
const HEAP: &str = include_str!("../../data/shaken-can.txt");

/// The step of all scenes, in seconds.
pub const STEP: f64 = 1e-4;
/// The residual in m/s that steps of the can accept.
pub const CAN_TOLERANCE: f64 = 9.9e-6;
const RADIUS: f64 = 1e-3;
/// Lead.
const DENSITY: f64 = 11344.0;
const FRICTION: f64 = 0.52;
/// Distance of neighbours at the start of a bed.
const SPACING: f64 = 2.15e-3;

/// Grains in a container that is shaken along the vertical by 4 mm at 15.5 Hz.
pub struct Shaken {
    /// The scene.
    pub scene: Scene,
    container: BodyId,
    grain_mass: f64,
    steps: u64,
    /// Work of the container on the grains so far, in joules.
    pub work: f64,
}

/// Height of the container.
fn height(step: u64) -> f64 {
    let t = step as f64 * STEP;
    4e-3 * (std::f64::consts::TAU * 15.5 * t).sin()
}

fn options() -> Options {
    Options {
        reach: 1e-4,
        correction: Correction::Velocities { limit: 0.6 },
        domain: 1.0,
        ..Options::default()
    }
}

fn shaken(
    centres: &[Vec3],
    walls: Vec<(Shape, Pose)>,
    solver: impl ContactSolver + 'static,
) -> Result<Shaken, ContactError> {
    let mut scene = Scene::new(options(), solver);
    let lead = scene.add_surface(Surface::rough(FRICTION))?;
    let walls = walls.into_iter().map(|(shape, at)| (shape, at, lead));
    let container = scene.add_compound(Body::prescribed(Vec3::ZERO), walls)?;
    scene.add_grains(centres, RADIUS, DENSITY, lead)?;
    scene.start()?;
    Ok(Shaken {
        scene,
        container,
        grain_mass: DENSITY * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3),
        steps: 0,
        work: 0.0,
    })
}

/// 147 lead spheres in a can of 10 mm radius, by the convex law. Starts other than 0 are disturbed by at most 1e-9 m.
pub fn shaken_can(wall: Wall, start: u64) -> Result<Shaken, ContactError> {
    shaken_can_by(Cone::new(CAN_TOLERANCE, 20_000), wall, start)
}

/// The same by another solver.
pub fn shaken_can_by(
    solver: impl ContactSolver + 'static,
    wall: Wall,
    start: u64,
) -> Result<Shaken, ContactError> {
    let mut noise = Noise(start);
    let mut centres: Vec<Vec3> = HEAP
        .lines()
        .map(|line| {
            let mut numbers = line
                .split_whitespace()
                .map(|n| n.parse().expect("a number"));
            V3([0; 3].map(|_| numbers.next().expect("three numbers a line")))
        })
        .collect();
    if start > 0 {
        for centre in &mut centres {
            *centre += noise.vector() * (1e-9 / 3.0_f64.sqrt());
        }
    }
    let can = Shape::Can(Can::new(0.01, Some(11.84e-3), wall));
    shaken(&centres, vec![(can, Pose::default())], solver)
}

/// A bed of grains about eight layers deep in a rectangular box with a lid.
pub fn bed(grains: usize, start: u64) -> Result<Shaken, ContactError> {
    let layer = grains as f64 / 8.0;
    let along = (layer.sqrt().floor() as usize).max(1);
    let across = ((layer / along as f64).round() as usize).max(1);
    let layers = grains.div_ceil(along * across);
    let mut noise = Noise(start);
    let centres: Vec<Vec3> = (0..grains)
        .map(|i| {
            let site = [i % along, i / along % across, i / (along * across)];
            V3(site.map(|s| (s as f64 + 0.5) * SPACING)) + noise.vector() * 0.02e-3
        })
        .collect();
    let size = V3([along, across, layers].map(|n| n as f64 * SPACING)) + Vec3::Z * 1e-3;
    // Each wall's third axis points inwards.
    let inwards = [
        (Vec3::ZERO, Vec3::X),
        (size, -Vec3::X),
        (Vec3::ZERO, Vec3::Y),
        (size, -Vec3::Y),
        (Vec3::ZERO, Vec3::Z),
        (size, -Vec3::Z),
    ];
    let walls = inwards.map(|(position, normal)| {
        let beside = normal.perpendicular();
        let axes = Mat3::from_columns(beside, normal.cross(beside), normal);
        let axes = Quaternion::from_matrix(&axes).matrix();
        (Shape::Plane, Pose { position, axes })
    });
    shaken(&centres, walls.to_vec(), Cone::new(9.9e-5, 20_000))
}

impl Shaken {
    /// Takes one step.
    pub fn step(&mut self) -> Result<StepReport, ContactError> {
        self.timed_step(&|| 0.0).map(|(report, _)| report)
    }

    /// Takes one step; a clock in seconds sees it alone, collision detection included.
    pub fn timed_step(
        &mut self,
        clock: &dyn Fn() -> f64,
    ) -> Result<(StepReport, f64), ContactError> {
        let velocity = (height(self.steps + 1) - height(self.steps)) / STEP;
        self.scene
            .prescribe(self.container, Vec3::Z * velocity, Vec3::ZERO);
        let before = self.scene.momentum()[2];
        let begin = clock();
        let report = self.scene.step(self.steps as f64 * STEP, STEP)?;
        let spent = clock() - begin;
        let weight = 9.81 * self.grain_mass * self.scene.grains().len() as f64;
        let force = (self.scene.momentum()[2] - before) / STEP + weight;
        self.work += force * velocity * STEP;
        self.steps += 1;
        Ok((report, spent))
    }
}

/// What a timed run found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Mean time of a step in milliseconds.
    pub mean: f64,
    /// Time that one step in a hundred exceeds, in milliseconds.
    pub p99: f64,
    /// The largest residual of all steps in m/s.
    pub residual: f64,
    /// The deepest penetration in metres.
    pub penetration: f64,
    /// Work of the container on the grains in joules.
    pub work: f64,
    /// Mean sweeps of a step.
    pub sweeps: f64,
    /// Mean number of contacts taken into account.
    pub contacts: f64,
    /// Mean number of contacts with an impulse.
    pub pressed: f64,
    /// Most bytes held for each grain.
    pub bytes_per_grain: f64,
}

/// Runs a scene for a number of steps. The clock counts seconds of CPU time.
pub fn measure(
    shaken: &mut Shaken,
    steps: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Figures, ContactError> {
    let mut figures = Figures::default();
    let mut times = Vec::with_capacity(steps);
    let grains = shaken.scene.grains().len() as f64;
    for _ in 0..steps {
        let (report, spent) = shaken.timed_step(clock)?;
        times.push(spent * 1e3);
        figures.residual = figures.residual.max(report.residual);
        figures.penetration = figures.penetration.max(report.penetration);
        figures.sweeps += report.solved.iterations as f64 / steps as f64;
        figures.contacts += report.contacts as f64 / steps as f64;
        figures.pressed += report.pressed as f64 / steps as f64;
        let bytes = shaken.scene.bytes() as f64 / grains;
        figures.bytes_per_grain = figures.bytes_per_grain.max(bytes);
    }
    figures.mean = times.iter().sum::<f64>() / steps as f64;
    times.sort_by(f64::total_cmp);
    figures.p99 = times[(steps * 99 / 100).min(steps - 1)];
    figures.work = shaken.work;
    Ok(figures)
}

/// Runs the shaken can from several disturbed starts: means of times, work and counts, the worst residual
/// and penetration. The scene is chaotic, its means are not.
pub fn mean_of_starts(
    wall: Wall,
    starts: u64,
    steps: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Figures, ContactError> {
    mean_of(|start| shaken_can(wall, start), starts, steps, clock)
}

/// The same for any can.
pub fn mean_of(
    can: impl Fn(u64) -> Result<Shaken, ContactError>,
    starts: u64,
    steps: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Figures, ContactError> {
    let mut mean = Figures::default();
    let share = 1.0 / starts as f64;
    for start in 1..=starts {
        let found = measure(&mut can(start)?, steps, clock)?;
        mean.mean += found.mean * share;
        mean.p99 += found.p99 * share;
        mean.work += found.work * share;
        mean.sweeps += found.sweeps * share;
        mean.contacts += found.contacts * share;
        mean.pressed += found.pressed * share;
        mean.residual = mean.residual.max(found.residual);
        mean.penetration = mean.penetration.max(found.penetration);
        mean.bytes_per_grain = mean.bytes_per_grain.max(found.bytes_per_grain);
    }
    Ok(mean)
}
