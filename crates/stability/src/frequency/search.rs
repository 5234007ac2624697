//! The innermost zeros, on circles that are drawn as small as it takes.

use super::rest::Zero;
use super::roots::{Found, Function, Unresolved};

/// Circles on which the modes that grow fastest are looked for, and the radius of one to the next.
const MOST_CIRCLES: usize = 12;
const INWARD: f64 = 0.5;
/// Zeros that are looked for at once: of more, the innermost are alone on a smaller circle, and to count is
/// cheaper than to miss some.
const FEW: usize = 4;

impl Function<'_> {
    /// The innermost zeros of a disc, the innermost first, and the number of all in it. Where there
    /// are many, the others are counted and not looked for.
    pub fn fastest(&self, radius: f64, goes_on: &dyn Fn() -> bool) -> Result<Found, Unresolved> {
        let mut census = self.census(radius, goes_on)?;
        if census.is_clear() {
            self.find_inside(&mut census, goes_on);
        }
        let mut found = self.with_innermost(census.found(), radius, goes_on);
        found.zeros.retain(|zero| zero.at.norm() < radius);
        Ok(found)
    }

    /// The zeros in a disc and near its rim, the innermost first.
    pub fn innermost_first(
        &self,
        radius: f64,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Found, Unresolved> {
        let found = self.zeros_within(radius, goes_on)?;
        Ok(self.with_innermost(found, radius, goes_on))
    }

    /// What was not met from the rim may grow faster than all that was: the innermost zeros are added
    /// then. The innermost is first.
    fn with_innermost(&self, mut found: Found, radius: f64, goes_on: &dyn Fn() -> bool) -> Found {
        let within = found.zeros.iter().filter(|zero| zero.at.norm() < radius);
        let met: usize = within.map(Zero::multiplicity).sum();
        if met < found.inside {
            for zero in self.inward(radius, goes_on) {
                if found.zeros.iter().all(|known| !known.is_same(&zero)) {
                    found.zeros.push(zero);
                }
            }
        }
        let distance = |zero: &Zero| zero.at.norm();
        found
            .zeros
            .sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        found
    }

    /// The innermost zeros, where there are too many to tell apart from the circle: the modes that
    /// grow fastest. Circles are drawn inwards until few zeros are inside of one, then between the last
    /// with zeros inside and the first without any, until all zeros inside of one are met.
    fn inward(&self, radius: f64, goes_on: &dyn Fn() -> bool) -> Vec<Zero> {
        let mut innermost = Vec::new();
        let (mut free, mut taken) = (0.0, radius);
        for circle in 1..=MOST_CIRCLES {
            let radius = match free > 0.0 {
                true => f64::sqrt(free * taken),
                false => INWARD * taken,
            };
            match self.census(radius, goes_on) {
                Ok(census) if census.inside == 0 => free = radius,
                // So many are told apart on a smaller circle.
                Ok(census) if !census.is_clear() => taken = radius,
                Ok(census) if census.inside > FEW && free == 0.0 && circle < MOST_CIRCLES => {
                    taken = radius;
                }
                Ok(mut census) => {
                    self.find_inside(&mut census, goes_on);
                    let Found { mut zeros, inside } = census.found();
                    zeros.retain(|zero| zero.at.norm() < radius);
                    let met: usize = zeros.iter().map(Zero::multiplicity).sum();
                    if !zeros.is_empty() {
                        innermost = zeros;
                    }
                    if met >= inside {
                        break;
                    }
                    taken = radius;
                }
                Err(_) => break,
            }
        }
        innermost
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use nalgebra::Complex;

    use super::*;

    /// What is found of pairs of zeros in a large disc.
    fn fastest_of(zeros: &[Complex<f64>]) -> Found {
        let log = |w: Complex<f64>| {
            let pairs = zeros
                .iter()
                .map(|zero| ((w - zero) * (w - zero.conj())).ln());
            pairs.sum::<Complex<f64>>() + w * 0.3
        };
        let function = Function {
            log: &log,
            evaluations: AtomicUsize::new(0),
            threads: 1,
        };
        function.fastest(0.95, &|| true).expect("it is smooth")
    }

    /// Eighty zeros all over the disc, of which some are far inside.
    #[test]
    fn of_very_many_the_innermost_are_found_and_all_are_counted() {
        let polar = |k: usize| {
            (
                0.1 + 0.02 * k as f64,
                0.2 + 2.7 * ((k * 17) % 40) as f64 / 40.0,
            )
        };
        let zeros: Vec<Complex<f64>> = (0..40)
            .map(|k| Complex::from_polar(polar(k).0, polar(k).1))
            .collect();
        let found = fastest_of(&zeros);
        assert_eq!(found.inside, 80);
        assert!(found.zeros.len() < 40, "{}", found.zeros.len());
        for (zero, exact) in found.zeros.iter().zip(&zeros) {
            assert!((zero.at - exact).norm() < 1e-9, "{} {exact}", zero.at);
        }
        assert!(!found.zeros.is_empty());
    }

    /// Pairs so near each other, far inside of a large disc, that its rim does not tell them apart.
    #[test]
    fn a_cluster_far_inside_is_found_on_a_smaller_circle() {
        let zeros: Vec<Complex<f64>> = (0..4)
            .map(|k| Complex::from_polar(0.1 + 1e-4 * k as f64, 3.1 - 2e-4 * k as f64))
            .collect();
        let found = fastest_of(&zeros);
        assert_eq!(found.inside, 8);
        let innermost = found.zeros.first().expect("one at least is found").at;
        assert!((innermost - zeros[0]).norm() < 1e-6, "{innermost}");
    }
}
