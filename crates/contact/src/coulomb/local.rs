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

/// Passes of Newton's method on the scalar equation; each halves the bracket at least.
const MOST_PASSES: usize = 60;

/// The impulse that solves u = W γ + b with Coulomb's law.
pub fn solve(w: &[Three; 3], b: Three, friction: f64) -> Three {
    let normal = w[0][0];
    let trace = w[0][0] + w[1][1] + w[2][2];
    // A contact whose normal motion something else prescribes has nothing to push.
    if b[0] >= 0.0 || normal <= HELD * trace || trace <= 0.0 {
        return [0.0; 3];
    }
    let pressed = -b[0] / normal;
    if friction == 0.0 {
        return [pressed, 0.0, 0.0];
    }
    let axes = Axes::new(w, b, normal, HELD * trace);
    let (impulse, along) = axes.at(0.0, pressed);
    if along >= 0.0 && impulse.0 <= friction * along {
        return axes.turned_back(0.0, along);
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let size = axes.size();
    let mut a = (size / (friction * pressed) - axes.mean()).max(0.0);
    let mut found = along;
    for _ in 0..MOST_PASSES {
        let ((length, slope), along) = axes.at(a, pressed);
        found = along;
        let excess = length - friction * along;
        if excess > 0.0 {
            low = a;
        } else {
            high = a;
        }
        if excess.abs() <= 1e-14 * (length + friction * along.abs()) {
            break;
        }
        let slope = slope - friction * axes.normal_slope(a);
        let mut next = a - excess / slope;
        if !(next > low && next < high) {
            next = match high.is_finite() {
                true => 0.5 * (low + high),
                false => 2.0 * a + axes.mean(),
            };
        }
        if next == a {
            break;
        }
        a = next;
    }
    match found >= 0.0 {
        true => axes.turned_back(a, found),
        false => [0.0; 3],
    }
}

/// The tangents along the axes of the Schur complement over the normal.
struct Axes {
    /// Direction of the first axis.
    e: [f64; 2],
    /// Eigenvalues.
    s: [f64; 2],
    /// The right-hand side along the axes.
    c: [f64; 2],
    /// How much a tangential impulse takes from the normal one.
    k: [f64; 2],
}

impl Axes {
    fn new(w: &[Three; 3], b: Three, normal: f64, least: f64) -> Self {
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
            e,
            s: [(mean + radius).max(least), (mean - radius).max(least)],
            c: turned(
                w[1][0] * b[0] / normal - b[1],
                w[2][0] * b[0] / normal - b[2],
            ),
            k: turned(w[0][1] / normal, w[0][2] / normal),
        }
    }

    fn mean(&self) -> f64 {
        0.5 * (self.s[0] + self.s[1])
    }

    fn size(&self) -> f64 {
        length(self.c[0], self.c[1])
    }

    fn tangential(&self, a: f64) -> [f64; 2] {
        [self.c[0] / (self.s[0] + a), self.c[1] / (self.s[1] + a)]
    }

    /// Length of the tangential impulse with its derivative, and the normal impulse.
    fn at(&self, a: f64, pressed: f64) -> ((f64, f64), f64) {
        let [x, y] = self.tangential(a);
        let length = length(x, y);
        let steep = x * x / (self.s[0] + a) + y * y / (self.s[1] + a);
        let slope = -steep / length.max(f64::MIN_POSITIVE);
        let along = pressed - self.k[0] * x - self.k[1] * y;
        ((length, slope), along)
    }

    /// Derivative of the normal impulse.
    fn normal_slope(&self, a: f64) -> f64 {
        let [x, y] = self.tangential(a);
        self.k[0] * x / (self.s[0] + a) + self.k[1] * y / (self.s[1] + a)
    }

    fn turned_back(&self, a: f64, along: f64) -> Three {
        let ([x, y], e) = (self.tangential(a), self.e);
        [along, e[0] * x - e[1] * y, e[1] * x + e[0] * y]
    }
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
