//! A semismooth Newton method on γ = P(γ − ρ u), Alart and Curnier's form of Coulomb's law.
//!
//! P keeps the normal part where it presses, and the tangential part within a disc of μ times that. The sets are decided at ρ = 1/W of the contact
//! itself, and redundant contacts are taken by a proximal term ε that shrinks with success: (1 + ε − D) dγ = −(γ − P) − D ρ du.
//!
//! Reference: P. Alart, A. Curnier, Computer Methods in Applied Mechanics and Engineering 92 (1991) 353–375.

use oldham_space::Vec3;

use super::anderson::{Anderson, sweep};
use super::factor::Factors;
use super::island::{Island, Link, Residual};
use super::local::{Three, length};
use crate::room::Room;

/// The smallest proximal term.
const LEAST: f64 = 1e-12;
/// Merits that a step is compared with.
const MEMORY: usize = 3;

/// Room for the method.
#[derive(Clone, Debug, Default)]
pub struct Newton {
    pub factors: Factors,
    g: Vec<[Three; 3]>,
    /// K (γ − P) of each contact.
    misfit: Vec<Three>,
    candidate: Vec<Three>,
    best: Vec<Three>,
    velocities: Vec<[Vec3; 2]>,
    change: Vec<[Vec3; 2]>,
}

/// What a run has counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub factorisations: usize,
    pub sweeps: usize,
}

impl Newton {
    /// At most so many steps from a proximal term on; leaves the best impulses by residual.
    pub fn run(
        &mut self,
        island: &Island,
        sweeps: &mut Anderson,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        (most, mut near): (usize, f64),
    ) -> (Residual, Counts) {
        let mut counts = Counts::default();
        island.velocities(impulses, &mut self.velocities);
        let mut now = island.residual(impulses, &self.velocities);
        let mut best = now;
        self.best.clone_from(impulses);
        let mut merits = [now.merit; MEMORY];
        while !best.is_met(tolerance) && counts.factorisations < most {
            counts.factorisations += 1;
            let found = self.step(island, impulses, near).then(|| {
                let mut found = self.look(island);
                let is_good = found.merit <= 0.1 * now.merit;
                if !is_good {
                    for _ in 0..2 {
                        sweep(island, &mut self.candidate, &mut self.velocities);
                    }
                    counts.sweeps += 2;
                    found = self.look(island);
                }
                found
            });
            let limit = 0.9 * merits.iter().fold(0.0, |most: f64, m| most.max(*m));
            match found {
                Some(found) if found.merit < limit => {
                    let gain = found.merit / now.merit;
                    let less = if gain < 0.3 {
                        20.0
                    } else if gain < 0.7 {
                        3.0
                    } else {
                        2.0
                    };
                    near = (near / less).max(LEAST);
                    std::mem::swap(impulses, &mut self.candidate);
                    now = found;
                }
                _ => {
                    near = (30.0 * near).min(1.0);
                    let (found, taken) = sweeps.run(island, impulses, tolerance, 8);
                    counts.sweeps += taken;
                    now = found;
                }
            }
            merits[counts.factorisations % MEMORY] = now.merit;
            if now.is_better(&best) {
                best = now;
                self.best.clone_from(impulses);
            }
            island.velocities(impulses, &mut self.velocities);
        }
        std::mem::swap(impulses, &mut self.best);
        (best, counts)
    }

    fn look(&mut self, island: &Island) -> Residual {
        island.velocities(&self.candidate, &mut self.velocities);
        island.residual(&self.candidate, &self.velocities)
    }

    /// Leaves the next impulses in `candidate`, unless the matrix is singular.
    fn step(&mut self, island: &Island, impulses: &[Three], near: f64) -> bool {
        let count = island.links.len();
        self.g.clear();
        self.g.make_room(count);
        self.misfit.clear();
        self.misfit.make_room(count);
        for (link, impulse) in island.links.iter().zip(impulses) {
            let u = island.relative(link, impulse, &self.velocities);
            let (g, misfit) = linear(link, impulse, &u, near);
            self.g.push(g);
            self.misfit.push(misfit);
        }
        if !self.factors.factor(island, &self.g) {
            return false;
        }
        self.change.clear();
        self.change.make_room(island.movers.len());
        self.change.resize(island.movers.len(), [Vec3::ZERO; 2]);
        for (link, misfit) in island.links.iter().zip(&self.misfit) {
            let back = misfit.map(|part| -part);
            island.apply(link, &back, &mut self.change);
        }
        self.factors.solve(&mut self.change);
        self.candidate.clear();
        self.candidate.make_room(count);
        let mut is_finite = true;
        for (k, link) in island.links.iter().enumerate() {
            let du = island.along(link, &self.change);
            let g = &self.g[k];
            let next = std::array::from_fn(|i| {
                let by_motion = g[i][0] * du[0] + g[i][1] * du[1] + g[i][2] * du[2];
                impulses[k][i] - self.misfit[k][i] - by_motion
            });
            is_finite &= next.iter().all(|x: &f64| x.is_finite());
            self.candidate.push(link.admit(next));
        }
        is_finite
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.g.held()
            + self.misfit.held()
            + self.candidate.held()
            + self.best.held()
            + self.velocities.held()
            + self.change.held()
    }
}

/// How the impulse of a contact answers to its velocity, G = K D ρ, and K (γ − P), with K = (1 + ε − D (1 − ρ C))⁻¹ for a contact that yields by C.
fn linear(link: &Link, impulse: &Three, u: &Three, near: f64) -> ([Three; 3], Three) {
    if !Island::is_movable(link) {
        return ([[0.0; 3]; 3], *impulse);
    }
    let rho = 1.0 / link.mean;
    let y: Three = std::array::from_fn(|i| impulse[i] - rho * u[i]);
    let mut p = [0.0; 3];
    let mut d = [[0.0; 3]; 3];
    if y[0] > 0.0 {
        (p[0], d[0][0]) = (y[0], 1.0);
        let (radius, length) = (link.friction * y[0], length(y[1], y[2]));
        if length <= radius {
            (p[1], p[2]) = (y[1], y[2]);
            (d[1][1], d[2][2]) = (1.0, 1.0);
        } else if radius > 0.0 {
            let e = [y[1] / length, y[2] / length];
            let share = radius / length;
            for i in 0..2 {
                p[1 + i] = radius * e[i];
                d[1 + i][0] = link.friction * e[i];
                for j in 0..2 {
                    let one = if i == j { 1.0 } else { 0.0 };
                    d[1 + i][1 + j] = share * (one - e[i] * e[j]);
                }
            }
        }
    }
    let mut k = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            k[i][j] = -d[i][j] * (1.0 - rho * link.compliance[j]);
        }
        k[i][i] += 1.0 + near;
    }
    let k = inverse(&k);
    let g = std::array::from_fn(|i| {
        std::array::from_fn(|j| rho * (0..3).map(|l| k[i][l] * d[l][j]).sum::<f64>())
    });
    let misfit = std::array::from_fn(|i| (0..3).map(|l| k[i][l] * (impulse[l] - p[l])).sum());
    (g, misfit)
}

/// The inverse of a matrix of three rows.
pub fn inverse(m: &[Three; 3]) -> [Three; 3] {
    let minor = |i: usize, j: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let determinant: f64 = (0..3).map(|j| m[0][j] * minor(0, j)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / determinant))
}
