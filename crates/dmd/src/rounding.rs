//! Components that are nothing but rounding.
//!
//! A force in a plane brings a moment about the node of 1e-16 with it. As a signal of its own that noise would weigh as much as
//! the force: what is learned is scaled to unit size, and errors are counted in units of a hold's.

use std::ops::Range;

use oldham_cosim::{MOTION_QUATERNION, Quantity};

/// A component below this fraction of those beside it is rounding. Between units that differ by a length, as force and
/// moment do, it stands for a lever of 1e-12 m.
const ROUNDING: f64 = 1e-12;

/// The components of a port that are compared with each other: of one unit, or of units that differ by a lever.
pub(crate) fn groups(quantity: &Quantity) -> Vec<Range<usize>> {
    let widths = match quantity {
        // Position, orientation, rates, accelerations.
        Quantity::Motion => vec![MOTION_QUATERNION.start, MOTION_QUATERNION.len(), 6, 6],
        Quantity::Wrench => vec![6],
        _ => vec![1; quantity.width()],
    };
    let mut end = 0;
    let group = |width| {
        let start = end;
        end += width;
        start..end
    };
    widths.into_iter().map(group).collect()
}

/// Copies a group without what is rounding in it.
pub(crate) fn copy_group(from: &[f64], to: &mut [f64]) {
    let largest = from.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
    for (to, &from) in to.iter_mut().zip(from) {
        *to = if from.abs() > ROUNDING * largest {
            from
        } else {
            0.0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_of_a_port_is_in_one_group() {
        for quantity in [Quantity::Motion, Quantity::Wrench, Quantity::Translation] {
            let places: Vec<usize> = groups(&quantity).into_iter().flatten().collect();
            let all: Vec<usize> = (0..quantity.width()).collect();
            assert_eq!(places, all, "{quantity:?}");
        }
    }

    #[test]
    fn only_rounding_is_dropped() {
        let mut kept = [f64::NAN; 4];
        copy_group(&[20.0, -1e-9, 3e-15, 0.0], &mut kept);
        assert_eq!(kept, [20.0, -1e-9, 0.0, 0.0]);
        copy_group(&[3e-15], &mut kept[..1]);
        assert_eq!(kept[0], 3e-15, "alone it is a value like any other");
    }
}
