//! The two modes of a rotor that turns freely: its angle and its speed.
//!
//! A model that is the same in every position and turns as a whole has an eigenvalue one, exactly: its angle is at will. Beside
//! it, in a chain, is that of its speed. A formula that damps slows a rotor down by itself, so that it is never quite in a
//! steady rotation, and what is linearised there has a small term ε where symmetry wants none: (z - 1)(z - s) + ε. The zeros of
//! that are off by the root of ε, and one of them may seem to grow. Their sum is not: s is their sum less one, up to the size of
//! ε, and to what other modes near one make of it. That is about as much as the rotor slows down: of a motion that is not
//! steady, a mode as slow as the motion itself is not known better. So the speed counts only where it grows beyond that.

use nalgebra::Complex;

type C = Complex<f64>;

/// Distance from one within which modes may be those of angle and speed, and how much farther others must be.
const AT_ONE: f64 = 2e-2;
const FARTHER: f64 = 4.0;
/// Other modes, the nearest ones, that are looked at.
const OTHERS: usize = 4;
/// Distance from one that is rounding: then there is nothing to set apart.
const SPLIT: f64 = 2e-7;
/// Imaginary parts of real modes, at most.
const REAL: f64 = 1e-8;

/// Angle and speed among modes.
pub(crate) struct TurnAndSpeed {
    /// Their places among the modes.
    pub places: Vec<usize>,
    /// That of the speed.
    pub speed: C,
    /// How far that may be off.
    pub off: f64,
    /// How far both are from one, as they were found.
    pub apart: f64,
}

impl TurnAndSpeed {
    /// Looks for both among modes with nonnegative imaginary parts. Where one of two real ones is not among them, it is
    /// asked for, with a guess. Nothing where other modes are near.
    pub fn among(values: &[C], ask: impl FnOnce(C) -> Option<C>) -> Option<Self> {
        let away = |value: C| (value - 1.0).norm();
        let mut near: Vec<usize> = (0..values.len()).collect();
        near.sort_by(|&a, &b| away(values[a]).total_cmp(&away(values[b])));
        near.truncate(2 + OTHERS);
        let place = *near.first()?;
        let first = values[place];
        let (places, second) = match near.get(1) {
            _ if first.im > REAL => (vec![place], first.conj()),
            Some(&other) if away(values[other]) < AT_ONE => match values[other].im < REAL {
                true => (vec![place, other], values[other]),
                false => return None,
            },
            // As far on the other side of one.
            _ => (vec![place], ask(2.0 - first)?),
        };
        let farther = away(first).max(away(second));
        let others = near.iter().filter(|place| !places.contains(place));
        let others: Vec<C> = others.map(|&place| values[place]).collect();
        let is_clear = others.iter().all(|other| away(*other) > FARTHER * farther);
        // ε is what it is at one: a factor that changes with the distance from other modes adds as much to the sum.
        let slopes = others.iter().map(|other| match other.im > REAL {
            true => 2.0 / away(*other),
            false => 1.0 / away(*other),
        });
        let off = away(first) * away(second) * (1.0 + slopes.sum::<f64>());
        (is_clear && (SPLIT..AT_ONE).contains(&farther)).then(|| Self {
            places,
            speed: C::from((first + second - 1.0).re),
            off,
            apart: farther,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (z - 1)(z - 0.9995) with a term of 1e-7 to both sides: two real zeros, and a pair.
    #[test]
    fn the_speed_is_what_a_small_term_hides() {
        for term in [1e-7, -1e-7, 2.5e-7] {
            // z² - 1.9995 z + 0.9995 - term, about its middle.
            let (middle, half) = (0.99975, 0.00025_f64);
            let root = C::from(half * half + term).sqrt();
            let zeros = match root.im == 0.0 {
                true => vec![C::new(0.3, 0.9), middle + root, middle - root],
                false => vec![middle + root, C::new(0.3, 0.9)],
            };
            let found = TurnAndSpeed::among(&zeros, |_| None).expect("both");
            assert!((found.speed - 0.9995).norm() < 1e-12, "{}", found.speed);
            let off = found.off / term.abs();
            assert!((1.0..4.0).contains(&off), "{off}");
            // One of them may be missing.
            if root.im == 0.0 {
                let found = TurnAndSpeed::among(&zeros[..2], |_| Some(middle - root));
                assert!((found.expect("both").speed - 0.9995).norm() < 1e-12);
                assert!(TurnAndSpeed::among(&zeros[..2], |_| None).is_none());
            }
        }
        // Three near one are not told apart.
        let three = [0.9996, 1.0003, 0.9994].map(C::from);
        assert!(TurnAndSpeed::among(&three, |_| None).is_none());
    }
}
