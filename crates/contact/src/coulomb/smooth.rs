//! A smoothing Newton method.
//!
//! With x = (μ γ_n, γ_t) and z = ((u_n + s)/μ, u_t), s = μ (√(|u_t|² + w²) − w), Coulomb's law is x = Π(x − ρ z) for the projection Π onto the Lorentz
//! cone. Its eigenvalues max(0, λ) are rounded off to (λ + √(λ² + 4 ρ² w²))/2, by a velocity w that falls with success: x ∘ z is then
//! ρ w² instead of nothing, as on the central path of an interior-point method, but impulses of the last step are a good start, and need not be inside. The law is
//! missed by about w, so that w never has to vanish.
//!
//! Reference: S. Hayashi, N. Yamashita, M. Fukushima, SIAM Journal on Optimization 15 (2005) 593–615.

use oldham_space::Vec3;

use super::factor::Factors;
use super::island::{Island, Link, Residual};
use super::local::{Three, length};
use super::newton::inverse;
use crate::room::Room;

/// Friction below this is none.
const LEAST_FRICTION: f64 = 1e-4;
/// Parts of a step that are tried. The square of the width falls with them.
const WAYS: [f64; 8] = [1.0, 0.96, 0.88, 0.75, 0.5, 0.25, 0.1, 0.03];
/// How often the path is left for a wider one.
const FUTILE: usize = 4;
/// How often the start is made wider.
const MOST_WIDER: usize = 6;
/// How far from the path impulses may be, in units of its width.
const NEAR: f64 = 2.0;
/// What a step leaves of the width, where all goes well.
const AHEAD: f64 = 0.05;
/// Impulses are compared by the law itself below so many tolerances of width.
const FAR: f64 = 100.0;
/// A step that was not cut short by more than this promises that the next one arrives.
const WHOLE: f64 = 0.9;

/// Room for the method.
#[derive(Clone, Debug, Default)]
pub struct Smooth {
    g: Vec<[Three; 3]>,
    misfit: Vec<Three>,
    moves: Vec<Move>,
    inside: Vec<Three>,
    best: Vec<Three>,
    velocities: Vec<[Vec3; 2]>,
    of_inside: Vec<[Vec3; 2]>,
    change: Vec<[Vec3; 2]>,
}

/// A contact's velocity, and how a step changes its impulse and that.
#[derive(Clone, Copy, Debug, Default)]
struct Move {
    step: Three,
    u: Three,
    du: Three,
}

impl Smooth {
    /// At most so many steps, rounded off by a velocity at least in the beginning, to a residual, or to the one that is accepted where going on costs more than one step; leaves the best impulses by residual.
    /// Returns their residual and the factorisations.
    pub fn run(
        &mut self,
        island: &Island,
        factors: &mut Factors,
        impulses: &mut Vec<Three>,
        (aim, tolerance): (f64, f64),
        (widest, most): (f64, usize),
    ) -> (Residual, usize) {
        island.velocities(impulses, &mut self.velocities);
        let mut best = island.residual(impulses, &self.velocities);
        self.best.clone_from(impulses);
        // As round as it takes to be near the path.
        let mut round = best.largest.max(aim).max(widest);
        let mut now = merit(island, impulses, &self.velocities, round);
        for _ in 0..MOST_WIDER {
            if now.is_near(round) {
                break;
            }
            round *= 3.0;
            now = merit(island, impulses, &self.velocities, round);
        }
        let (mut steps, mut futile, mut share) = (0, 0, AHEAD);
        while steps < most && !best.is_met(aim) && futile < FUTILE {
            steps += 1;
            if !self.find_step(island, factors, impulses, round, share) {
                break;
            }
            let is_centring = share == 1.0;
            let (mut way, mut is_taken) = (1.0, false);
            let (mut next, mut found) = (round, now);
            for part in WAYS {
                way = part;
                next = round * (1.0 - way * (1.0 - share * share)).sqrt();
                let limit = if is_centring {
                    f64::INFINITY
                } else {
                    NEAR * next
                };
                found = self.ahead(island, impulses, (way, next), limit);
                is_taken = match is_centring {
                    true => found.is_below(1.0 - 0.1 * way, &now),
                    false => found.is_near(next),
                };
                if is_taken {
                    break;
                }
            }
            if is_taken {
                self.go(island, impulses, way);
                (round, now) = (next, found);
                // The law is missed by about the width.
                if round <= FAR * tolerance {
                    self.judge(island, impulses, &mut best);
                    if way < WHOLE && best.is_met(tolerance) {
                        break;
                    }
                }
                share = if now.is_near(round) && (is_centring || way > 0.4) {
                    AHEAD
                } else {
                    1.0
                };
                continue;
            }
            if is_centring {
                // Farther back, where the path is wider.
                futile += 1;
                round *= 3.0;
                now = merit(island, impulses, &self.velocities, round);
            }
            share = 1.0;
        }
        if round > FAR * tolerance {
            self.judge(island, impulses, &mut best);
        }
        std::mem::swap(impulses, &mut self.best);
        (best, steps)
    }

    /// Compares with the best by the law itself.
    fn judge(&mut self, island: &Island, impulses: &[Three], best: &mut Residual) {
        self.inside.clear();
        self.inside.make_room(impulses.len());
        let links = island.links.iter();
        self.inside.extend(
            links
                .zip(impulses)
                .map(|(link, impulse)| link.admit(*impulse)),
        );
        island.velocities(&self.inside, &mut self.of_inside);
        let now = island.residual(&self.inside, &self.of_inside);
        if now.is_better(best) {
            *best = now;
            self.best.clone_from(&self.inside);
        }
    }

    /// Takes part of the step.
    fn go(&mut self, island: &Island, impulses: &mut [Three], way: f64) {
        for (impulse, moved) in impulses.iter_mut().zip(&self.moves) {
            for (part, step) in impulse.iter_mut().zip(moved.step) {
                *part += way * step;
            }
        }
        island.velocities(impulses, &mut self.velocities);
    }

    /// How far from the path part of the step leads; where it leads beyond a limit no more than that is known.
    fn ahead(
        &self,
        island: &Island,
        impulses: &[Three],
        (way, round): (f64, f64),
        limit: f64,
    ) -> Merit {
        let mut found = Merit::default();
        let each = island.links.iter().zip(impulses).zip(&self.moves);
        for ((link, impulse), moved) in each {
            if Island::is_movable(link) {
                let impulse = std::array::from_fn(|i| impulse[i] + way * moved.step[i]);
                let u = std::array::from_fn(|i| moved.u[i] + way * moved.du[i]);
                found.add(link, &look(link, &impulse, &u, round).lack);
                if found.largest > limit * limit {
                    break;
                }
            }
        }
        found
    }

    /// Leaves the whole step in `step`, unless the matrix is singular.
    fn find_step(
        &mut self,
        island: &Island,
        factors: &mut Factors,
        impulses: &[Three],
        round: f64,
        share: f64,
    ) -> bool {
        let count = island.links.len();
        self.g.clear();
        self.g.make_room(count);
        self.misfit.clear();
        self.misfit.make_room(count);
        self.moves.clear();
        self.moves.make_room(count);
        for (link, impulse) in island.links.iter().zip(impulses) {
            let u = island.relative(link, impulse, &self.velocities);
            let (g, misfit) = linear(link, impulse, &u, round, share);
            self.g.push(g);
            self.misfit.push(misfit);
            self.moves.push(Move {
                u,
                ..Move::default()
            });
        }
        if !factors.factor(island, &self.g) {
            return false;
        }
        self.change.clear();
        self.change.make_room(island.movers.len());
        self.change.resize(island.movers.len(), [Vec3::ZERO; 2]);
        for (link, misfit) in island.links.iter().zip(&self.misfit) {
            island.apply(link, &misfit.map(|part| -part), &mut self.change);
        }
        factors.solve(&mut self.change);
        let mut is_finite = true;
        for (k, (link, moved)) in island.links.iter().zip(&mut self.moves).enumerate() {
            let du = island.along(link, &self.change);
            let g = &self.g[k];
            moved.step = std::array::from_fn(|i| {
                -self.misfit[k][i] - (g[i][0] * du[0] + g[i][1] * du[1] + g[i][2] * du[2])
            });
            moved.du = std::array::from_fn(|i| du[i] + link.compliance[i] * moved.step[i]);
            is_finite &= moved.step.iter().all(|x| x.is_finite());
        }
        is_finite
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.g.held()
            + self.misfit.held()
            + self.moves.held()
            + self.inside.held()
            + self.best.held()
            + self.velocities.held()
            + self.of_inside.held()
            + self.change.held()
    }
}

/// (λ + √(λ² + 4 ε²))/2, and its derivatives by λ and ε².
#[inline(always)]
fn rounded(value: f64, small: f64) -> Three {
    let root = (value * value + 4.0 * small * small).sqrt();
    // The smaller one of both roots is the other's reciprocal.
    let high = 0.5 * (value.abs() + root);
    let low = small * small / high;
    match value >= 0.0 {
        true => [high, high / root, 1.0 / root],
        false => [low, low / root, 1.0 / root],
    }
}

/// A contact at its impulse and velocity.
struct Looked {
    /// x − Π(x − ρ z).
    lack: Three,
    /// The derivative of Π.
    d: [Three; 3],
    /// What the square of the width adds to `lack`.
    by_width: Three,
    /// The shift's derivative by the sliding.
    turning: [f64; 2],
}

#[inline(always)]
fn look(link: &Link, impulse: &Three, u: &Three, round: f64) -> Looked {
    let rho = 1.0 / link.mean;
    let small = rho * round;
    let friction = link.friction;
    if friction < LEAST_FRICTION {
        let [p, slope, widening] = rounded(impulse[0] - rho * u[0], small);
        let mut d = [[0.0; 3]; 3];
        d[0][0] = slope;
        return Looked {
            lack: [impulse[0] - p, impulse[1], impulse[2]],
            d,
            by_width: [-widening * rho * rho, 0.0, 0.0],
            turning: [0.0; 2],
        };
    }
    let (square, width) = (u[1] * u[1] + u[2] * u[2], round * round);
    let speed = (square + width).sqrt();
    let shift = friction * square / speed;
    let per_cube = 1.0 / (speed * (square + width));
    let per_friction = 1.0 / friction;
    let y0 = friction * impulse[0] - rho * per_friction * (u[0] + shift);
    let yt = [impulse[1] - rho * u[1], impulse[2] - rho * u[2]];
    let size = length(yt[0], yt[1]);
    let e = match size > 0.0 {
        true => [yt[0] / size, yt[1] / size],
        false => [1.0, 0.0],
    };
    let [first, slope1, widening1] = rounded(y0 - size, small);
    let [second, slope2, widening2] = rounded(y0 + size, small);
    let (a, b) = (0.5 * (slope1 + slope2), 0.5 * (slope2 - slope1));
    let c = match size > 1e-6 * small {
        true => (second - first) / (2.0 * size),
        false => slope1,
    };
    let half = 0.5 * (second - first);
    let across = a - c;
    let d = [
        [a, b * e[0], b * e[1]],
        [b * e[0], c + across * e[0] * e[0], across * e[0] * e[1]],
        [b * e[1], across * e[0] * e[1], c + across * e[1] * e[1]],
    ];
    // The shift falls with the width: y0 rises.
    let rise = 0.5 * rho * square * per_cube;
    let (wide, apart) = (
        0.5 * (widening1 + widening2) * rho * rho,
        0.5 * (widening2 - widening1) * rho * rho,
    );
    let turning = friction * (square + 2.0 * width) * per_cube;
    Looked {
        lack: [
            friction * impulse[0] - 0.5 * (first + second),
            impulse[1] - half * e[0],
            impulse[2] - half * e[1],
        ],
        by_width: [
            -wide - d[0][0] * rise,
            -apart * e[0] - d[1][0] * rise,
            -apart * e[1] - d[2][0] * rise,
        ],
        d,
        turning: [turning * u[1], turning * u[2]],
    }
}

/// How far impulses are from the path.
#[derive(Clone, Copy, Debug, Default)]
struct Merit {
    /// The sum of all squares, as energies.
    sum: f64,
    /// The square of the largest lack of a contact, in m/s.
    largest: f64,
}

impl Merit {
    #[inline(always)]
    fn add(&mut self, link: &Link, lack: &Three) {
        let square = lack[0] * lack[0] + lack[1] * lack[1] + lack[2] * lack[2];
        self.sum += square * link.mean;
        self.largest = self.largest.max(square * link.mean * link.mean);
    }

    fn is_near(&self, round: f64) -> bool {
        self.largest <= (NEAR * round).powi(2)
    }

    /// Whether it has become better by a share.
    fn is_below(&self, share: f64, other: &Self) -> bool {
        let share = share * share;
        self.sum < share * other.sum || self.largest < share * other.largest
    }
}

fn merit(island: &Island, impulses: &[Three], velocities: &[[Vec3; 2]], round: f64) -> Merit {
    let mut found = Merit::default();
    for (link, impulse) in island.links.iter().zip(impulses) {
        if Island::is_movable(link) {
            let u = island.relative(link, impulse, velocities);
            found.add(link, &look(link, impulse, &u, round).lack);
        }
    }
    found
}

/// How the impulse of a contact answers to its velocity, and what it lacks itself on the way to a share of the width: dγ = −misfit − G du.
fn linear(link: &Link, impulse: &Three, u: &Three, round: f64, share: f64) -> ([Three; 3], Three) {
    if !Island::is_movable(link) {
        return ([[0.0; 3]; 3], *impulse);
    }
    let rho = 1.0 / link.mean;
    let Looked {
        mut lack,
        d,
        by_width,
        turning,
    } = look(link, impulse, u, round);
    let narrower = round * round * (share * share - 1.0);
    for (part, change) in lack.iter_mut().zip(by_width) {
        *part += change * narrower;
    }
    let scale = match link.friction < LEAST_FRICTION {
        true => 1.0,
        false => link.friction,
    };
    // From velocities to z, and from x to impulses.
    let per = [1.0 / scale, 1.0, 1.0];
    let b = [
        [per[0], per[0] * turning[0], per[0] * turning[1]],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    let db: [Three; 3] = std::array::from_fn(|i| {
        std::array::from_fn(|j| rho * (0..3).map(|k| d[i][k] * b[k][j]).sum::<f64>())
    });
    // (1 − D) dx + D ρ B (du + C dγ) = −lack.
    let mut k = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            k[i][j] = db[i][j] * link.compliance[j] * per[j] - d[i][j];
        }
        k[i][i] += 1.0;
    }
    let k = inverse(&k);
    let g = std::array::from_fn(|i| {
        std::array::from_fn(|j| per[i] * (0..3).map(|l| k[i][l] * db[l][j]).sum::<f64>())
    });
    let misfit = std::array::from_fn(|i| per[i] * (0..3).map(|l| k[i][l] * lack[l]).sum::<f64>());
    (g, misfit)
}
