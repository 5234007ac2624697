//! An interior-point method with de Saxcé's term inside Newton's matrix.
//!
//! With x = (μ γ_n, γ_t) and z = ((u_n + s)/μ, u_t), s = μ (√(|u_t|² + δ²) − δ), Coulomb's law is x ∈ L, z ∈ L, x · z = 0 for the Lorentz cone L. Every step
//! solves the linearised equations with Nesterov and Todd's scaling; δ falls with the complementarity. Redundant contacts and ratios of
//! masses do not slow it down; the last digits are left to others.
//!
//! Reference: E. Andersen, C. Roos, T. Terlaky, Mathematical Programming 95 (2003) 249–277.

use oldham_space::Vec3;

use super::factor::Factors;
use super::island::{Island, Link, Residual};
use super::local::{Three, length};
use super::newton::inverse;
use crate::room::Room;

/// Friction is at least this: the cones of others have no inside.
const LEAST_FRICTION: f64 = 1e-6;
/// How far a step goes towards the border of the cones.
const TO_BORDER: f64 = 0.95;
/// Short steps in a row that end it.
const FUTILE: usize = 12;
/// The smallest determinant of a point in a cone.
const TINY: f64 = 1e-300;

/// Room for the method.
#[derive(Clone, Debug, Default)]
pub struct Interior {
    points: Vec<Point>,
    g: Vec<[Three; 3]>,
    velocities: Vec<[Vec3; 2]>,
    change: Vec<[Vec3; 2]>,
    /// What is left of the equations of motion.
    left: Vec<[Vec3; 2]>,
    impulses: Vec<Three>,
    of_impulses: Vec<[Vec3; 2]>,
    best: Vec<Three>,
}

/// A contact on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    x: Three,
    z: Three,
    dx: Three,
    dz: Three,
    /// Nesterov and Todd's scaling, and how much softer the surface makes it.
    t: [Three; 3],
    soft: [Three; 3],
    /// From relative velocities to changes of z.
    b: [Three; 3],
    /// What the contact itself adds to z for changes of x.
    yields: [Three; 3],
    /// What z lacks.
    lack: Three,
}

impl Interior {
    /// At most so many steps, from impulses of its own; leaves the best of them. Returns their residual and the factorisations.
    pub fn run(
        &mut self,
        island: &Island,
        factors: &mut Factors,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        most: usize,
    ) -> (Residual, usize) {
        let mut best = Residual {
            largest: f64::INFINITY,
            merit: f64::INFINITY,
        };
        self.best.clone_from(impulses);
        self.start(island);
        let mut is_short = false;
        let (mut steps, mut futile) = (0, 0);
        while steps < most && !best.is_met(tolerance) {
            steps += 1;
            let gap = self.gap(0.0);
            self.linearise(island, gap);
            if !factors.factor(island, &self.g) {
                break;
            }
            self.find_direction(island, factors, 0.0);
            let way = self.way(island).min(1.0);
            let ahead = self.gap(way);
            let mut centring = (ahead.max(0.0) / gap).powi(2).clamp(1e-3, 0.9);
            if is_short {
                centring = centring.max(0.3);
            }
            self.find_direction(island, factors, centring * gap);
            let way = (TO_BORDER * self.way(island)).min(1.0);
            is_short = way < 0.2;
            // Steps that stay short lead nowhere.
            futile = if is_short { futile + 1 } else { 0 };
            if futile > FUTILE {
                break;
            }
            if !self.advance(island, way) {
                break;
            }
            let now = self.judge(island);
            if !now.largest.is_finite() {
                break;
            }
            if now.largest < best.largest {
                best = now;
                self.best.clone_from(&self.impulses);
            }
        }
        std::mem::swap(impulses, &mut self.best);
        (best, steps)
    }

    fn start(&mut self, island: &Island) {
        self.velocities.clear();
        self.velocities.make_room(island.movers.len());
        self.velocities
            .extend(island.movers.iter().map(|mover| mover.free));
        let mut fastest = 1e-9_f64;
        for link in &island.links {
            let u = island.relative(link, &[0.0; 3], &self.velocities);
            // A contact that opens says nothing of the impulses to come.
            fastest = fastest.max(-u[0]).max(link.friction * length(u[1], u[2]));
        }
        // Impulses of the heaviest body are none too large to start from.
        let masses = island.movers.iter().map(|mover| mover.inverse_mass);
        let lightest = masses
            .filter(|inverse| *inverse > 0.0)
            .fold(f64::INFINITY, f64::min);
        self.points.clear();
        self.points.make_room(island.links.len());
        for link in &island.links {
            let pressed = match Island::is_movable(link) {
                true => fastest / link.mean.min(lightest),
                false => 0.0,
            };
            self.points.push(Point {
                x: [pressed, 0.0, 0.0],
                z: [fastest, 0.0, 0.0],
                ..Point::default()
            });
        }
    }

    /// The mean complementarity after part of the way.
    fn gap(&self, way: f64) -> f64 {
        let each = self.points.iter().map(|p| {
            (0..3)
                .map(|i| (p.x[i] + way * p.dx[i]) * (p.z[i] + way * p.dz[i]))
                .sum::<f64>()
        });
        each.sum::<f64>() / self.points.len() as f64
    }

    fn linearise(&mut self, island: &Island, gap: f64) {
        self.g.clear();
        self.g.make_room(island.links.len());
        for (link, point) in island.links.iter().zip(&mut self.points) {
            if !Island::is_movable(link) {
                self.g.push([[0.0; 3]; 3]);
                continue;
            }
            let per_friction = 1.0 / link.friction.max(LEAST_FRICTION);
            let u = island.relative(link, &scaled(link, &point.x), &self.velocities);
            let small = 0.3 * (gap * link.mean).max(0.0).sqrt();
            let speed = (u[1] * u[1] + u[2] * u[2] + small * small).sqrt() + TINY;
            let shift = link.friction * (speed - small);
            point.lack = [
                (u[0] + shift) * per_friction - point.z[0],
                u[1] - point.z[1],
                u[2] - point.z[2],
            ];
            point.t = scaling(&point.x, &point.z);
            let turning = link.friction * per_friction / speed;
            point.b = [
                [per_friction, turning * u[1], turning * u[2]],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, 1.0],
            ];
            // Impulses answer to velocities by −T B; what the surface yields makes them softer.
            point.yields = std::array::from_fn(|i| {
                let per = [per_friction, 1.0, 1.0];
                std::array::from_fn(|j| point.b[i][j] * link.compliance[j] * per[j])
            });
            let mut softer = product(&point.t, &point.yields);
            for (i, row) in softer.iter_mut().enumerate() {
                row[i] += 1.0;
            }
            point.soft = inverse(&softer);
            point.t = product(&point.soft, &point.t);
            let mut g = product(&point.t, &point.b);
            g[0] = g[0].map(|entry| entry * per_friction);
            self.g.push(g);
        }
        self.fill_impulses(island);
        island.velocities(&self.impulses, &mut self.left);
        for (left, velocity) in self.left.iter_mut().zip(&self.velocities) {
            for (part, now) in left.iter_mut().zip(velocity) {
                *part -= *now;
            }
        }
    }

    /// The impulses of the points, which need not be within their cones.
    fn fill_impulses(&mut self, island: &Island) {
        self.impulses.clear();
        self.impulses.make_room(self.points.len());
        for (link, point) in island.links.iter().zip(&self.points) {
            self.impulses.push(scaled(link, &point.x));
        }
    }

    /// The direction to where x and z meet their equations and x · z is `target`.
    fn find_direction(&mut self, island: &Island, factors: &mut Factors, target: f64) {
        self.change.clone_from(&self.left);
        for (link, point) in island.links.iter().zip(&mut self.points) {
            if !Island::is_movable(link) {
                continue;
            }
            let share = target / determinant(&point.z);
            let z = point.z;
            let inverse = [z[0] * share, -z[1] * share, -z[2] * share];
            let centred = std::array::from_fn(|i| inverse[i] - point.x[i]);
            point.dx = times(&point.soft, &centred);
            let by_lack = times(&point.t, &point.lack);
            let push = std::array::from_fn(|i| point.dx[i] - by_lack[i]);
            island.apply(link, &scaled(link, &push), &mut self.change);
        }
        factors.solve(&mut self.change);
        for (link, point) in island.links.iter().zip(&mut self.points) {
            if !Island::is_movable(link) {
                continue;
            }
            let du = island.along(link, &self.change);
            let moved = times(&point.b, &du);
            let dz: Three = std::array::from_fn(|i| moved[i] + point.lack[i]);
            let taken = times(&point.t, &dz);
            point.dx = std::array::from_fn(|i| point.dx[i] - taken[i]);
            let yielded = times(&point.yields, &point.dx);
            point.dz = std::array::from_fn(|i| dz[i] + yielded[i]);
        }
    }

    /// How far all points may go within their cones.
    fn way(&self, island: &Island) -> f64 {
        let each = island.links.iter().zip(&self.points);
        let movable = each.filter(|(link, _)| Island::is_movable(link));
        movable.fold(f64::INFINITY, |least, (_, p)| {
            least
                .min(to_border(&p.x, &p.dx))
                .min(to_border(&p.z, &p.dz))
        })
    }

    /// Goes a part of the way; whether that was possible.
    fn advance(&mut self, island: &Island, way: f64) -> bool {
        if !(way > 0.0 && way.is_finite()) {
            return false;
        }
        for (link, point) in island.links.iter().zip(&mut self.points) {
            if Island::is_movable(link) {
                for i in 0..3 {
                    point.x[i] += way * point.dx[i];
                    point.z[i] += way * point.dz[i];
                }
            }
        }
        for (velocity, change) in self.velocities.iter_mut().zip(&self.change) {
            for (part, by) in velocity.iter_mut().zip(change) {
                *part += *by * way;
            }
        }
        true
    }

    fn judge(&mut self, island: &Island) -> Residual {
        self.fill_impulses(island);
        for (link, impulse) in island.links.iter().zip(&mut self.impulses) {
            *impulse = link.admit(*impulse);
        }
        island.velocities(&self.impulses, &mut self.of_impulses);
        island.residual(&self.impulses, &self.of_impulses)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.points.held()
            + self.g.held()
            + self.velocities.held()
            + self.change.held()
            + self.left.held()
            + self.impulses.held()
            + self.of_impulses.held()
            + self.best.held()
    }
}

/// From a point of the Lorentz cone to an impulse.
fn scaled(link: &Link, x: &Three) -> Three {
    [x[0] / link.friction.max(LEAST_FRICTION), x[1], x[2]]
}

fn determinant(q: &Three) -> f64 {
    let across = length(q[1], q[2]);
    ((q[0] - across) * (q[0] + across)).max(TINY)
}

/// The symmetric matrix T with T z = x that keeps the cone: η (2 w wᵀ − J).
fn scaling(x: &Three, z: &Three) -> [Three; 3] {
    let (dx, dz) = (determinant(x).sqrt(), determinant(z).sqrt());
    let (a, b) = (x.map(|part| part / dx), z.map(|part| part / dz));
    let product: f64 = (0..3).map(|i| a[i] * b[i]).sum();
    let half = (0.5 * (1.0 + product)).max(TINY).sqrt();
    let w: Three = std::array::from_fn(|i| {
        let mirrored = if i == 0 { b[0] } else { -b[i] };
        (a[i] + mirrored) / (2.0 * half)
    });
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let mirror = match (i == j, i) {
                (false, _) => 0.0,
                (true, 0) => 1.0,
                (true, _) => -1.0,
            };
            dx / dz * (2.0 * w[i] * w[j] - mirror)
        })
    })
}

/// How far a point may go in a direction within the Lorentz cone.
fn to_border(q: &Three, dq: &Three) -> f64 {
    let a = dq[0] * dq[0] - dq[1] * dq[1] - dq[2] * dq[2];
    let b = q[0] * dq[0] - q[1] * dq[1] - q[2] * dq[2];
    let c = determinant(q);
    let mut way = f64::INFINITY;
    let square = b * b - a * c;
    if square >= 0.0 {
        for root in [c / (square.sqrt() - b), c / (-square.sqrt() - b)] {
            if root > 0.0 && root.is_finite() {
                way = way.min(root);
            }
        }
    }
    if dq[0] < 0.0 {
        way = way.min(-q[0] / dq[0]);
    }
    way
}

fn times(m: &[Three; 3], v: &Three) -> Three {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

fn product(a: &[Three; 3], b: &[Three; 3]) -> [Three; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>()))
}
