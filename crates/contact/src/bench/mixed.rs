//! Mechanisms in contact as dense problems: joints, contacts, friction, under loads that swing.
//!
//! The geometry stays as it is; velocities go on from step to step, so that contacts stick, slip, open and
//! close.

use oldham_space::Vec3;

use crate::problem::{Dense, Problem, RowKind};
use crate::solver::{ContactSolver, RowState};

/// The step, in seconds.
const STEP: f64 = 1e-3;
const GRAVITY: f64 = 9.81;

struct Block {
    mass: f64,
    /// Moment of inertia about every axis.
    inertia: f64,
    position: Vec3,
    velocity: Vec3,
    spin: Vec3,
}

/// What one row has to do with one body.
#[derive(Clone, Copy)]
struct Part {
    body: usize,
    along: Vec3,
    about: Vec3,
}

/// A mechanism in contact.
pub struct Mixed {
    bodies: Vec<Block>,
    parts: Vec<[Option<Part>; 2]>,
    rows: Vec<RowKind>,
    matrix: Vec<f64>,
    velocities: Vec<f64>,
    impulses: Vec<f64>,
    sets: Vec<RowState>,
    /// Amplitude of the swinging loads, in weights.
    swing: f64,
    steps: u64,
}

/// What a timed run found.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixedFigures {
    /// Mean time of a solution in microseconds.
    pub mean: f64,
    /// The largest residual in m/s.
    pub residual: f64,
    /// Mean number of changes of the sets.
    pub changes: f64,
    /// How often something else stood in.
    pub fallbacks: usize,
    /// Solutions that did not converge.
    pub unsolved: usize,
    /// Mean number of rows that are not open.
    pub tight: f64,
}

impl Mixed {
    fn empty(swing: f64) -> Self {
        Self {
            bodies: Vec::new(),
            parts: Vec::new(),
            rows: Vec::new(),
            matrix: Vec::new(),
            velocities: Vec::new(),
            impulses: Vec::new(),
            sets: Vec::new(),
            swing,
            steps: 0,
        }
    }

    /// The structure of Peiret's manipulator, 35 rows: two links on revolute joints (10 rows), a block on the ground and against a
    /// wall with four points and friction each (24), and the arm's tip against the block without friction (1).
    pub fn manipulator() -> Self {
        let mut mixed = Self::empty(0.6);
        let first = mixed.add_body(20.0, 0.8, Vec3::new(-1.2, 0.0, 0.8));
        let second = mixed.add_body(12.0, 0.5, Vec3::new(-0.7, 0.0, 0.7));
        let block = mixed.add_body(50.0, 2.0, Vec3::new(0.0, 0.0, 0.25));
        mixed.hinge(None, first, Vec3::new(-1.5, 0.0, 0.6));
        mixed.hinge(Some(first), second, Vec3::new(-0.9, 0.0, 1.0));
        for (x, y) in [(-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25)] {
            mixed.contact(None, block, Vec3::new(x, y, 0.0), Vec3::Z, Some(0.5), 0.0);
        }
        for (y, z) in [(-0.25, 0.05), (0.25, 0.05), (0.25, 0.45), (-0.25, 0.45)] {
            mixed.contact(None, block, Vec3::new(0.25, y, z), -Vec3::X, Some(0.5), 0.0);
        }
        mixed.contact(
            Some(second),
            block,
            Vec3::new(-0.25, 0.0, 0.4),
            Vec3::X,
            None,
            0.0,
        );
        mixed.assemble();
        mixed
    }

    /// A chain of 18 bodies on revolute joints (85 rows) that lies on the ground with 31 points, with friction, regularised and
    /// redundant (93 rows): 178 rows for 108 degrees of freedom.
    pub fn chain() -> Self {
        let mut mixed = Self::empty(4.0);
        // K = 1e6 N/m and D = 1e5 N·s/m of Peiret's crane.
        let compliance = 1.0 / (STEP * (STEP * 1e6 + 1e5));
        for k in 0..18 {
            let at = Vec3::new(0.3 * k as f64, 0.05 * (k % 3) as f64, 0.1);
            mixed.add_body(4.0 + (k % 4) as f64, 0.06, at);
        }
        for k in 0..17 {
            let at = Vec3::new(0.3 * k as f64 + 0.15, 0.02, 0.1);
            mixed.hinge(Some(k), k + 1, at);
        }
        for k in 0..18 {
            let points = if k < 13 { 2 } else { 1 };
            for side in 0..points {
                let y = if side == 0 { -0.1 } else { 0.1 };
                let at = Vec3::new(0.3 * k as f64, y, 0.0);
                mixed.contact(None, k, at, Vec3::Z, Some(0.5), compliance);
            }
        }
        mixed.assemble();
        mixed
    }

    fn add_body(&mut self, mass: f64, inertia: f64, position: Vec3) -> usize {
        self.bodies.push(Block {
            mass,
            inertia,
            position,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
        });
        self.bodies.len() - 1
    }

    fn part(&self, body: usize, along: Vec3, at: Vec3) -> Part {
        let about = (at - self.bodies[body].position).cross(along);
        Part { body, along, about }
    }

    /// A revolute joint about the second axis.
    fn hinge(&mut self, one: Option<usize>, other: usize, at: Vec3) {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let first = one.map(|body| self.part(body, -axis, at));
            self.parts.push([first, Some(self.part(other, axis, at))]);
        }
        for about in [Vec3::X, Vec3::Z] {
            let turn = |body: usize, about: Vec3| Part {
                body,
                along: Vec3::ZERO,
                about,
            };
            self.parts
                .push([one.map(|body| turn(body, -about)), Some(turn(other, about))]);
        }
        self.rows.extend([RowKind::Bilateral; 5]);
        self.matrix.extend([0.0; 5]);
    }

    /// A contact point; its normal points to `other`.
    fn contact(
        &mut self,
        one: Option<usize>,
        other: usize,
        at: Vec3,
        normal: Vec3,
        friction: Option<f64>,
        compliance: f64,
    ) {
        let row = self.rows.len();
        let across = normal.perpendicular();
        let add = |mixed: &mut Self, axis: Vec3, kind: RowKind| {
            let first = one.map(|body| mixed.part(body, -axis, at));
            mixed.parts.push([first, Some(mixed.part(other, axis, at))]);
            mixed.rows.push(kind);
            // The compliances wait here for their matrix.
            mixed.matrix.push(compliance);
        };
        add(self, normal, RowKind::Unilateral);
        if let Some(coefficient) = friction {
            let kind = RowKind::Friction {
                normal: row,
                coefficient,
            };
            add(self, across, kind);
            add(self, normal.cross(across), kind);
        }
    }

    fn assemble(&mut self) {
        let n = self.rows.len();
        let compliances = std::mem::take(&mut self.matrix);
        self.matrix = vec![0.0; n * n];
        for (i, compliance) in compliances.into_iter().enumerate() {
            for j in 0..n {
                let mut entry = if i == j { compliance } else { 0.0 };
                for a in self.parts[i].iter().flatten() {
                    for b in self.parts[j].iter().flatten().filter(|b| b.body == a.body) {
                        let body = &self.bodies[a.body];
                        entry +=
                            a.along.dot(b.along) / body.mass + a.about.dot(b.about) / body.inertia;
                    }
                }
                self.matrix[i * n + j] = entry;
            }
        }
        self.velocities = vec![0.0; n];
        self.impulses = vec![0.0; n];
        self.sets = vec![RowState::Open; n];
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Applies loads for a step and finds the velocities of the rows without impulses.
    fn load(&mut self) {
        let t = self.steps as f64 * STEP;
        for (k, body) in self.bodies.iter_mut().enumerate() {
            let phase = 40.0 * t + k as f64;
            let push = Vec3::new(phase.sin(), 0.3 * (1.7 * phase).sin(), 0.2 * phase.cos());
            body.velocity += (push * (self.swing * GRAVITY) - Vec3::Z * GRAVITY) * STEP;
        }
        for (velocity, parts) in self.velocities.iter_mut().zip(&self.parts) {
            let each = parts.iter().flatten();
            *velocity = each
                .map(|part| {
                    let body = &self.bodies[part.body];
                    part.along.dot(body.velocity) + part.about.dot(body.spin)
                })
                .sum();
        }
        self.steps += 1;
    }

    fn apply(&mut self) {
        for (impulse, parts) in self.impulses.iter().zip(&self.parts) {
            for part in parts.iter().flatten() {
                let body = &mut self.bodies[part.body];
                body.velocity += part.along * (impulse / body.mass);
                body.spin += part.about * (impulse / body.inertia);
            }
        }
    }

    /// Solves a number of steps, each from the impulses of the last. The clock counts seconds of CPU time. Residuals
    /// are those for bounds of friction from the impulses that a step began with if `held`, else from its own.
    pub fn measure(
        &mut self,
        solver: &mut impl ContactSolver,
        steps: usize,
        held: bool,
        clock: &dyn Fn() -> f64,
    ) -> MixedFigures {
        let mut figures = MixedFigures::default();
        let share = 1.0 / steps as f64;
        let mut normals = vec![0.0; self.rows()];
        for _ in 0..steps {
            self.load();
            normals.copy_from_slice(&self.impulses);
            let problem = Dense {
                matrix: &self.matrix,
                velocities: &self.velocities,
                rows: &self.rows,
            };
            let begin = clock();
            let solved = solver.solve(&Problem::Dense(problem), &mut self.impulses, &mut self.sets);
            figures.mean += (clock() - begin) * 1e6 * share;
            let bounding = if held { &normals } else { &self.impulses };
            let residual = problem.box_residual(&self.impulses, bounding);
            if residual > figures.residual || residual.is_nan() {
                figures.residual = residual;
            }
            figures.changes += solved.iterations as f64 * share;
            figures.fallbacks += usize::from(solved.fallback.is_some());
            figures.unsolved += usize::from(!solved.is_converged);
            let tight = self.sets.iter().filter(|s| **s != RowState::Open).count();
            figures.tight += tight as f64 * share;
            self.apply();
        }
        figures
    }
}
