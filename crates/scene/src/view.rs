//! From space to the page, along parallel lines.

use oldham_multibody::Vec3;

/// A place on the page, right and up, in m.
pub type Flat = [f64; 2];

/// An extent below this fraction of the largest one counts as none.
const FLAT: f64 = 0.02;

/// From where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ViewName {
    /// At the plane of the motion if there is one, else as `iso`.
    #[default]
    Auto,
    /// x to the right, y up.
    Xy,
    /// x to the right, z up.
    Xz,
    /// y to the right, z up.
    Yz,
    /// From above, all three axes equally long.
    Iso,
}

/// The axes of the page in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    name: ViewName,
    right: Vec3,
    up: Vec3,
}

impl View {
    /// A view of something with these points.
    pub fn of(name: ViewName, points: impl Iterator<Item = Vec3>) -> Self {
        match name {
            ViewName::Auto => Self::of(natural(points), std::iter::empty()),
            ViewName::Xy => Self {
                name,
                right: Vec3::X,
                up: Vec3::Y,
            },
            ViewName::Xz => Self {
                name,
                right: Vec3::X,
                up: Vec3::Z,
            },
            ViewName::Yz => Self {
                name,
                right: Vec3::Y,
                up: Vec3::Z,
            },
            ViewName::Iso => Self {
                name,
                right: Vec3::new(1.0, 1.0, 0.0).unit(),
                up: Vec3::new(-1.0, 1.0, 2.0).unit(),
            },
        }
    }

    /// What it is called on a picture.
    pub fn label(&self) -> &'static str {
        match self.name {
            ViewName::Auto | ViewName::Xy => "view xy",
            ViewName::Xz => "view xz",
            ViewName::Yz => "view yz",
            ViewName::Iso => "view iso",
        }
    }

    /// Where a point is on the page.
    pub fn see(&self, point: Vec3) -> Flat {
        [self.right.dot(point), self.up.dot(point)]
    }

    /// The direction across another one on the page, of length one.
    pub(crate) fn aside(&self, along: Vec3) -> Vec3 {
        let [x, y] = self.see(along);
        let across = self.up * x - self.right * y;
        let length = across.norm();
        if length > 0.0 {
            across * (1.0 / length)
        } else {
            self.right
        }
    }

    /// A point of a circle around a point, that faces the viewer.
    pub fn around(&self, centre: Vec3, radius: f64, angle: f64) -> Vec3 {
        centre + (self.right * angle.cos() + self.up * angle.sin()) * radius
    }
}

/// The plane in which all points lie, if there is one.
fn natural(points: impl Iterator<Item = Vec3>) -> ViewName {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points {
        for i in 0..3 {
            low[i] = low[i].min(point[i]);
            high[i] = high[i].max(point[i]);
        }
    }
    let extent = [0, 1, 2].map(|i| high[i] - low[i]);
    let largest = extent.iter().fold(0.0_f64, |a, &b| a.max(b));
    let flat = extent.map(|size| size <= FLAT * largest);
    match flat {
        // Things along one line are seen with z up.
        [_, true, _] => ViewName::Xz,
        [_, _, true] => ViewName::Xy,
        [true, _, _] => ViewName::Yz,
        _ => ViewName::Iso,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_motion_is_seen_from_the_front() {
        let view = |points: &[Vec3]| View::of(ViewName::Auto, points.iter().copied());
        let flat = [Vec3::ZERO, Vec3::new(1.0, 2.0, 0.0)];
        assert_eq!(view(&flat).see(Vec3::new(3.0, 4.0, 5.0)), [3.0, 4.0]);
        let line = [Vec3::ZERO, Vec3::X];
        assert_eq!(view(&line).see(Vec3::new(3.0, 4.0, 5.0)), [3.0, 5.0]);
        let iso = view(&[Vec3::ZERO, Vec3::new(1.0, 1.0, 1.0)]);
        let lengths = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| {
            let [x, y] = iso.see(axis);
            x.hypot(y)
        });
        assert!(
            lengths
                .iter()
                .all(|length| (length - lengths[0]).abs() < 1e-12)
        );
    }
}
