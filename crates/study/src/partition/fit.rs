//! Costs of parts, copies and interfaces that meet what was timed.

/// A part of a cut that was timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartSample {
    /// What its elements and nodes cost in the whole, in µs.
    pub base: f64,
    /// Its copies of interface nodes.
    pub copies: f64,
    /// What it took.
    pub work: f64,
}

/// Bounds of what a part may cost for what it costs in the whole.
const LEAST: f64 = 0.5;
const MOST: f64 = 5.0;

/// The factor of a part and the cost of a copy, by least squares of relative errors; a copy costs nothing less than nothing.
pub(super) fn part_and_copy(samples: &[PartSample]) -> (f64, f64) {
    let sum = |f: &dyn Fn(&PartSample) -> f64| -> f64 {
        let terms = samples.iter().map(|it| f(it) / (it.work * it.work));
        terms.sum()
    };
    let aa = sum(&|it| it.base * it.base);
    let ab = sum(&|it| it.base * it.copies);
    let bb = sum(&|it| it.copies * it.copies);
    let (ya, yb) = (sum(&|it| it.base * it.work), sum(&|it| it.copies * it.work));
    let determinant = aa * bb - ab * ab;
    // Parts that are all alike cannot tell one from the other.
    let (part, copy) = if determinant > 1e-3 * aa * bb {
        (
            (bb * ya - ab * yb) / determinant,
            (aa * yb - ab * ya) / determinant,
        )
    } else {
        (1.0, if bb > 0.0 { (yb - ab) / bb } else { 0.0 })
    };
    let part = part.clamp(LEAST, MOST);
    let copy_of = |part: f64| if bb > 0.0 { (yb - part * ab) / bb } else { 0.0 };
    if copy >= 0.0 && copy_of(part) >= 0.0 {
        return (part, copy_of(part));
    }
    ((ya / aa).clamp(LEAST, MOST), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_made_the_samples_is_found_again() {
        let sample = |base: f64, copies: f64| PartSample {
            base,
            copies,
            work: 1.3 * base + 4.0 * copies,
        };
        let samples = [sample(50.0, 1.0), sample(30.0, 2.0), sample(20.0, 1.0)];
        let (part, copy) = part_and_copy(&samples);
        assert!((part - 1.3).abs() < 1e-12 && (copy - 4.0).abs() < 1e-12);
    }

    /// Two halves of a symmetrical mechanism: they cost what they cost in the whole, and the rest is due to the copy.
    #[test]
    fn equal_parts_leave_the_rest_to_the_copies() {
        let sample = PartSample {
            base: 50.0,
            copies: 1.0,
            work: 58.0,
        };
        let (part, copy) = part_and_copy(&[sample, sample]);
        assert!((part - 1.0).abs() < 1e-12 && (copy - 8.0).abs() < 1e-12);
    }

    #[test]
    fn a_copy_never_saves_time() {
        let sample = |base: f64, copies: f64, work: f64| PartSample { base, copies, work };
        let samples = [sample(50.0, 1.0, 45.0), sample(50.0, 3.0, 40.0)];
        let (part, copy) = part_and_copy(&samples);
        assert_eq!(copy, 0.0);
        assert!((0.8..=0.9).contains(&part), "{part}");
    }
}
