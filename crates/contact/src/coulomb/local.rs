//! Coulomb's law of one contact, solved exactly.
//!
//! With u = W γ + b in a frame of normal and tangents, a contact is open, sticks (u = 0), or slips: u_n = 0 and
//! γ_t = −μ γ_n u_t/|u_t|. Slip means u_t = −a γ_t for some a > 0. With the normal eliminated, γ_t(a) =
//! (S + a)⁻¹ c in the axes of the Schur complement S, and a is the root of |γ_t(a)| = μ γ_n(a): one unknown, found by Newton's
//! method within a bracket. No tolerance and no majorising diagonal enter.

/// Normal, first and second tangential component.
pub type Three = [f64; 3];

/// What impulses do along a direction, below this share of the whole block, is rounding: something else holds the contact there.
pub const HELD: f64 = 1e-8;

/// The length of a vector in a plane, without care for what overflows.
#[inline(always)]
pub fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// The point of the friction cone about the first axis that is nearest to an impulse.
#[inline(always)]
pub fn admitted(impulse: &Three, friction: f64) -> Three {
    let [along, x, y] = *impulse;
    let square = x * x + y * y;
    if along >= 0.0 && square <= friction * friction * along * along {
        return *impulse;
    }
    if square == 0.0 {
        return [0.0; 3];
    }
    let size = square.sqrt();
    let pressed = (along + friction * size) / (1.0 + friction * friction);
    if pressed <= 0.0 {
        return [0.0; 3];
    }
    let share = friction * pressed / size;
    [pressed, x * share, y * share]
}

/// How far an impulse and a velocity are from Coulomb's law, in m/s: |γ − Π(γ − η (u + μ |u_t| n))|/η, with η the inverse of the mean diagonal entry of the contact's block.
#[inline(always)]
pub fn residual(impulse: &Three, u: &Three, friction: f64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return (-u[0]).max(0.0);
    }
    let shift = friction * length(u[1], u[2]);
    let per = 1.0 / mean;
    let step = [
        impulse[0] - (u[0] + shift) * per,
        impulse[1] - u[1] * per,
        impulse[2] - u[2] * per,
    ];
    let found = admitted(&step, friction);
    let square: f64 = (0..3).map(|i| (impulse[i] - found[i]).powi(2)).sum();
    square.sqrt() * mean
}

/// Passes of Newton's method on the scalar equation; each halves the bracket at least.
const MOST_PASSES: usize = 60;
/// A root that is missed by less than this share is at rounding after one more pass, since passes square what is missing.
const LAST_PASS: f64 = 1e-7;

/// The impulse that solves u = W γ + b with Coulomb's law.
pub fn solve(w: &[Three; 3], b: Three, friction: f64) -> Three {
    Local::new(w, friction).solve(b, None)
}

/// What is known of a contact before its velocity: the tangents along the axes of the Schur complement over the normal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local {
    friction: f64,
    /// The inverse of the normal entry; zero where something else prescribes the normal motion, so that there is nothing to push.
    per_normal: f64,
    /// How tangential velocities follow a normal impulse that stops a normal velocity.
    along: [f64; 2],
    /// Direction of the first axis.
    e: [f64; 2],
    /// Eigenvalues.
    s: [f64; 2],
    /// How much a tangential impulse takes from the normal one.
    k: [f64; 2],
}

impl Local {
    /// For a contact's block of the Delassus matrix.
    pub fn new(w: &[Three; 3], friction: f64) -> Self {
        let normal = w[0][0];
        let trace = w[0][0] + w[1][1] + w[2][2];
        if normal <= HELD * trace || trace <= 0.0 {
            return Self::default();
        }
        let least = HELD * trace;
        let schur = |i: usize, j: usize| w[i][j] - w[i][0] * w[0][j] / normal;
        let (s11, s22, s12) = (schur(1, 1), schur(2, 2), schur(1, 2));
        let (mean, half) = (0.5 * (s11 + s22), 0.5 * (s11 - s22));
        let radius = length(half, s12);
        let mut e = [1.0, 0.0];
        if radius > 1e-14 * mean {
            e = match half >= 0.0 {
                true => [half + radius, s12],
                false => [s12, radius - half],
            };
            let length = length(e[0], e[1]);
            e = [e[0] / length, e[1] / length];
        }
        let turned = |x: f64, y: f64| [e[0] * x + e[1] * y, e[0] * y - e[1] * x];
        Self {
            friction,
            per_normal: 1.0 / normal,
            along: [w[1][0] / normal, w[2][0] / normal],
            e,
            s: [(mean + radius).max(least), (mean - radius).max(least)],
            k: turned(w[0][1] / normal, w[0][2] / normal),
        }
    }

    /// The impulse for a velocity b without it. Where it slides, a guess of the ratio of sliding to friction saves passes.
    #[inline]
    pub fn solve(&self, b: Three, guess: Option<f64>) -> Three {
        if b[0] >= 0.0 || self.per_normal == 0.0 {
            return [0.0; 3];
        }
        let pressed = -b[0] * self.per_normal;
        let friction = self.friction;
        if friction == 0.0 {
            return [pressed, 0.0, 0.0];
        }
        let (x, y) = (self.along[0] * b[0] - b[1], self.along[1] * b[0] - b[2]);
        let c = [self.e[0] * x + self.e[1] * y, self.e[0] * y - self.e[1] * x];
        let stuck = self.at(c, 0.0, pressed);
        if stuck.along >= 0.0 && stuck.length <= friction * stuck.along {
            return self.turned_back(&stuck);
        }
        let mean = 0.5 * (self.s[0] + self.s[1]);
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut a = match guess {
            Some(a) if a > 0.0 && a < f64::INFINITY => a,
            _ => (length(c[0], c[1]) / (friction * pressed) - mean).max(0.0),
        };
        let mut now = stuck;
        for _ in 0..MOST_PASSES {
            now = self.at(c, a, pressed);
            let bound = friction * now.along;
            let excess = now.length - bound;
            if excess > 0.0 {
                low = a;
            } else {
                high = a;
            }
            // 1/|γ_t| is nearly straight in a.
            let slope = friction * now.along_slope;
            let (steep, lack) = match bound > 0.0 {
                true => (
                    slope / (bound * bound) - now.slope / (now.length * now.length),
                    1.0 / now.length - 1.0 / bound,
                ),
                false => (now.slope - slope, excess),
            };
            let mut next = a - lack / steep;
            let is_last = excess.abs() <= LAST_PASS * now.length;
            if !(next > low && next < high) {
                if is_last {
                    break;
                }
                next = match high.is_finite() {
                    true => 0.5 * (low + high),
                    false => 2.0 * a + mean,
                };
            }
            if next == a {
                break;
            }
            a = next;
            if is_last {
                now = self.at(c, a, pressed);
                break;
            }
        }
        match now.along >= 0.0 {
            true => self.turned_back(&now),
            false => [0.0; 3],
        }
    }

    #[inline(always)]
    fn at(&self, c: [f64; 2], a: f64, pressed: f64) -> Slipping {
        let per = [1.0 / (self.s[0] + a), 1.0 / (self.s[1] + a)];
        let (x, y) = (c[0] * per[0], c[1] * per[1]);
        let length = length(x, y);
        let steep = x * x * per[0] + y * y * per[1];
        Slipping {
            tangential: [x, y],
            length,
            slope: -steep / length.max(f64::MIN_POSITIVE),
            along: pressed - self.k[0] * x - self.k[1] * y,
            along_slope: self.k[0] * x * per[0] + self.k[1] * y * per[1],
        }
    }

    fn turned_back(&self, found: &Slipping) -> Three {
        let ([x, y], e) = (found.tangential, self.e);
        [found.along, e[0] * x - e[1] * y, e[1] * x + e[0] * y]
    }
}

/// Impulses for a ratio of sliding to friction.
struct Slipping {
    /// Along the axes.
    tangential: [f64; 2],
    /// Length of that, with its derivative.
    length: f64,
    slope: f64,
    /// The normal impulse, with its derivative.
    along: f64,
    along_slope: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks J Jᵀ of random rows, velocities and coefficients: the three conditions of the law, checked one by one.
    #[test]
    fn the_law_holds_in_every_case() {
        let mut state = 7_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut cases = [0; 3];
        for _ in 0..2000 {
            let j: [[f64; 5]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            let w: [Three; 3] = std::array::from_fn(|a| {
                std::array::from_fn(|b| (0..5).map(|k| j[a][k] * j[b][k]).sum())
            });
            let b = [random() - 0.5, random(), random()];
            let friction = 0.6 * (random() + 1.0);
            let r = solve(&w, b, friction);
            for guess in [1e-3, 1.0, 1e3] {
                let guessed = Local::new(&w, friction).solve(b, Some(guess));
                let apart = (0..3).fold(0.0, |most: f64, i| most.max((guessed[i] - r[i]).abs()));
                assert!(apart <= 1e-12 * (1.0 + r[0]), "{guessed:?} {r:?}");
            }
            let u: Three =
                std::array::from_fn(|i| b[i] + (0..3).map(|k| w[i][k] * r[k]).sum::<f64>());
            let (across, sliding) = (length(r[1], r[2]), length(u[1], u[2]));
            if r == [0.0; 3] {
                assert!(u[0] >= 0.0);
                cases[0] += 1;
                continue;
            }
            let size = 1e-9 * (1.0 + r[0]);
            assert!(r[0] > 0.0 && u[0].abs() < size, "{u:?} {r:?}");
            if sliding < size {
                assert!(across <= friction * r[0] * (1.0 + 1e-12));
                cases[1] += 1;
            } else {
                assert!((across - friction * r[0]).abs() < size, "{r:?} {friction}");
                let power = u[1] * r[1] + u[2] * r[2];
                assert!((power + sliding * across).abs() < size * (1.0 + sliding));
                cases[2] += 1;
            }
        }
        assert!(cases.iter().all(|&count| count > 100), "{cases:?}");
    }

    /// Friction across a guide has nothing to move; along it there is nothing to press.
    #[test]
    fn held_directions_have_no_impulse_and_no_nan() {
        let w = [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
        assert_eq!(solve(&w, [-1.0, 0.0, 0.0], 0.5), [0.5, 0.0, 0.0]);
        let dragged = solve(&w, [-1.0, 3.0, 0.0], 0.5);
        assert!((dragged[1] + 0.25).abs() < 1e-12 && (dragged[0] - 0.5).abs() < 1e-12);
        let w = [[0.0; 3], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        assert_eq!(solve(&w, [-1e-17, 1.0, 0.0], 0.5), [0.0; 3]);
        assert_eq!(solve(&[[0.0; 3]; 3], [-1.0, 1.0, 0.0], 0.5), [0.0; 3]);
    }
}
