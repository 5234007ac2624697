//! Where particles are before they fall.

use oldham_multibody::Vec3;
use oldham_multibody::contact::Can;

/// Most layers in a can that has no lid.
const MOST_LAYERS: usize = 10_000;
/// Places to each side of the axis that are looked at: in a can that is far larger, rounding leaves none at its walls.
const FARTHEST: f64 = 1e6;
/// Multiples of it spread evenly over the unit interval.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// So many along each axis.
pub(super) fn block(counts: [usize; 3], first: Vec3, spacing: f64) -> Vec<Vec3> {
    let [along_x, along_y, along_z] = counts;
    let mut centres = Vec::with_capacity(along_x * along_y * along_z);
    for k in 0..along_z {
        for j in 0..along_y {
            for i in 0..along_x {
                let place = Vec3::new(i as f64, j as f64, k as f64);
                centres.push(first + place * spacing);
            }
        }
    }
    centres
}

/// At most so many in the frame of a can, layer by layer from its bottom, each layer a square lattice. Layers are shifted against
/// each other, so that particles do not stand in columns. They keep away from walls by half of what is between two of
/// them.
pub(super) fn fill(can: &Can, radius: f64, spacing: f64, wanted: usize) -> Vec<Vec3> {
    let free = 0.5 * spacing;
    let places = |length: f64| (length / spacing).ceil().min(FARTHEST) as i64 + 1;
    let across = places(can.radius());
    // Half the width of a row, in places: the corners of the square around the can are not looked at.
    let chord = |y: f64| {
        let half = (can.radius().powi(2) - y * y).max(0.0).sqrt();
        places(half)
    };
    let is_free = |at: Vec3| can.distance(at) >= free.max(radius);
    let mut centres = Vec::with_capacity(wanted);
    for layer in 0..MOST_LAYERS {
        let height = free + layer as f64 * spacing;
        // Nowhere is it farther from the walls than on the axis.
        if !is_free(Vec3::new(0.0, 0.0, height)) {
            break;
        }
        let before = centres.len();
        let shift = |step: f64| spacing * ((layer as f64 * step).fract() - 0.5);
        let aside = Vec3::new(shift(GOLDEN), shift(GOLDEN * GOLDEN), 0.0);
        for j in -across..=across {
            let half = chord(j as f64 * spacing + aside[1]);
            for i in -half..=half {
                let at = Vec3::new(i as f64 * spacing, j as f64 * spacing, height) + aside;
                if centres.len() == wanted {
                    return centres;
                }
                if is_free(at) {
                    centres.push(at);
                }
            }
        }
        if centres.len() == before {
            break;
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_multibody::contact::Wall;

    #[test]
    fn a_can_is_filled_without_overlap() {
        let can = Can::new(10e-3, Some(11.84e-3), Wall::Round);
        let centres = fill(&can, 1e-3, 2.1e-3, 147);
        assert_eq!(centres.len(), 147);
        for (i, a) in centres.iter().enumerate() {
            assert!(can.distance(*a) > 1e-3);
            assert!(centres[..i].iter().all(|b| (*b - *a).norm() > 2e-3));
        }
        assert!(fill(&can, 1e-3, 2.1e-3, 1000).len() < 400);
        // Far more places than are wanted cost nothing.
        assert_eq!(fill(&can, 1e-9, 2.1e-9, 147).len(), 147);
        // Nor does a can whose radius is known to a metre only, or one that is too flat.
        let [vast, flat] =
            [11.84e-3, 1e-3].map(|length| Can::new(9.2e15, Some(length), Wall::Round));
        assert_eq!(fill(&vast, 1e-3, 2.1e-3, 147).len(), 147);
        assert!(fill(&flat, 1e-3, 2.1e-3, 147).is_empty());
    }
}
