//! The linear shell under the moving frame: its stiffness, computed once.
//!
//! On the bilinear surface through the nodes, with directors at the corners:
//! - membrane: the five stresses of Pian and Sumihara;
//! - rotations about the normal: the functional of Hughes and Brezzi, at full strength for their
//!   mean only, since more would lock curved shells;
//! - bending: bilinear rotations;
//! - transverse shear: tied at the middles of the sides (Dvorkin and Bathe).
//!
//! The directors are those of the smooth surface, so that bending of a curved shell turns the nodes
//! across them and leaves the rotations about the normal alone. These rotations are counted from
//! the mean rotation of the corners, in the sense of the element's frame. Other strains are scalar
//! products of present and initial base vectors, linearised. So rigid motions give none, however
//! warped the element may be.

use super::frame::Frame;
use super::section::ShellSection;
use nalgebra::{Matrix2, Matrix3, SMatrix};
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// Forces and moments by displacements and rotations, node by node.
pub(super) type Stiffness = SMatrix<f64, 24, 24>;
type Rows<const N: usize> = SMatrix<f64, N, 24>;
type StrainRow = SMatrix<f64, 1, 24>;
/// Assumed membrane stresses.
type StrainModes = SMatrix<f64, 3, 5>;

const CORNERS: [(f64, f64); 4] = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
const GAUSS: f64 = 0.577_350_269_189_625_8;
/// Resistance against rotations about the normal that differ within an element, as a fraction of
/// that against their mean: enough to hold the nodes, too little to count in bending.
const DRILLING_VARIATION: f64 = 1e-3;

/// The stiffness of the shell through four corners about their mean, in section axes; `None` if
/// the section gives no resistance to some membrane strain.
pub(super) fn stiffness(
    corners: &[Vec3; 4],
    directors: &[Vec3; 4],
    section: &ShellSection,
) -> Option<Stiffness> {
    let surface = Surface { corners, directors };
    let points = CORNERS.map(|(xi, eta)| surface.point(GAUSS * xi, GAUSS * eta));
    let membrane = Matrix3::from_fn(|i, j| section.membrane[i][j]);
    let coupling = Matrix3::from_fn(|i, j| section.coupling[i][j]);
    let bending = Matrix3::from_fn(|i, j| section.bending[i][j]);
    let shear = Matrix2::from_fn(|i, j| section.shear[i][j]);
    let strains = assumed_strains(&points, &membrane.try_inverse()?)?;
    let varying_drilling = DRILLING_VARIATION * section.drilling;
    let mut sum = Stiffness::zeros();
    for (point, m) in points.iter().zip(&strains) {
        let b = &point.bending;
        let mixed = m.transpose() * coupling * b;
        let density = m.transpose() * membrane * m
            + mixed
            + mixed.transpose()
            + b.transpose() * bending * b
            + point.shear.transpose() * shear * point.shear
            + point.drilling.transpose() * point.drilling * varying_drilling;
        sum += density * point.area;
    }
    let area: f64 = points.iter().map(|point| point.area).sum();
    let turned = points.iter().map(|point| point.drilling * point.area);
    let turned = turned.fold(StrainRow::zeros(), |a, b| a + b);
    sum += turned.transpose() * turned * (section.drilling / area);
    let relative = without_mean_rotation(corners);
    let sum = relative.transpose() * sum * relative;
    Some((sum + sum.transpose()) * 0.5)
}

/// Takes the rigid rotation that fits the displacements best off the motion of all nodes.
fn without_mean_rotation(corners: &[Vec3; 4]) -> Stiffness {
    let frame = Frame::fit(corners, *corners, Quaternion::IDENTITY);
    let mut relative = Stiffness::identity();
    for column in (0..24).filter(|column| column % 6 < 3) {
        let mut displacements = [Vec3::ZERO; 4];
        displacements[column / 6][column % 6] = 1.0;
        let spin = frame.spin(corners, &displacements);
        for row in 0..24 {
            let (node, k) = (row / 6, row % 6);
            let carried = spin.cross(corners[node]);
            relative[(row, column)] -= if k < 3 { carried[k] } else { spin[k - 3] };
        }
    }
    relative
}

/// The membrane strains of the stresses that balance the displacements in the mean.
fn assumed_strains(points: &[Point; 4], compliance: &Matrix3<f64>) -> Option<[Rows<3>; 4]> {
    let stresses = assumed_stresses(points, compliance)?;
    Some(
        points
            .each_ref()
            .map(|p| compliance * p.stresses * stresses),
    )
}

/// These stresses by the displacements, as multiples of the five modes.
fn assumed_stresses(points: &[Point; 4], compliance: &Matrix3<f64>) -> Option<Rows<5>> {
    let mut flexibility = SMatrix::<f64, 5, 5>::zeros();
    let mut lever = Rows::<5>::zeros();
    for point in points {
        let modes = &point.stresses;
        flexibility += modes.transpose() * compliance * modes * point.area;
        lever += modes.transpose() * point.membrane * point.area;
    }
    Some(flexibility.try_inverse()? * lever)
}

/// Strains in the middle of the shell by displacements and rotations, in section axes: three of the
/// membrane, three curvatures, two transverse shears.
pub(super) fn strains_in_the_middle(
    corners: &[Vec3; 4],
    directors: &[Vec3; 4],
    section: &ShellSection,
) -> Option<Rows<8>> {
    let surface = Surface { corners, directors };
    let points = CORNERS.map(|(xi, eta)| surface.point(GAUSS * xi, GAUSS * eta));
    let compliance = Matrix3::from_fn(|i, j| section.membrane[i][j]).try_inverse()?;
    let middle = surface.point(0.0, 0.0);
    let membrane = compliance * middle.stresses * assumed_stresses(&points, &compliance)?;
    let mut rows = Rows::<8>::zeros();
    rows.fixed_rows_mut::<3>(0).copy_from(&membrane);
    rows.fixed_rows_mut::<3>(3).copy_from(&middle.bending);
    rows.fixed_rows_mut::<2>(6).copy_from(&middle.shear);
    Some(rows * without_mean_rotation(corners))
}

/// Strain–displacement rows at an integration point, in section axes.
struct Point {
    membrane: Rows<3>,
    bending: Rows<3>,
    shear: Rows<2>,
    drilling: StrainRow,
    stresses: StrainModes,
    /// Area times weight.
    area: f64,
}

/// The bilinear surface through four corners.
struct Surface<'a> {
    corners: &'a [Vec3; 4],
    directors: &'a [Vec3; 4],
}

/// Base vectors and director at a place, with the shape functions and their derivatives.
struct Place {
    shapes: [f64; 4],
    slopes: [[f64; 4]; 2],
    base: [Vec3; 2],
    director: Vec3,
    director_slopes: [Vec3; 2],
}

impl Surface<'_> {
    fn place(&self, xi: f64, eta: f64) -> Place {
        let shapes = CORNERS.map(|(a, b)| 0.25 * (1.0 + a * xi) * (1.0 + b * eta));
        let slopes = [
            CORNERS.map(|(a, b)| 0.25 * a * (1.0 + b * eta)),
            CORNERS.map(|(a, b)| 0.25 * b * (1.0 + a * xi)),
        ];
        let sum = |weights: &[f64; 4], values: &[Vec3; 4]| {
            let terms = weights.iter().zip(values).map(|(&w, &v)| v * w);
            terms.fold(Vec3::ZERO, |a, b| a + b)
        };
        Place {
            base: [0, 1].map(|k| sum(&slopes[k], self.corners)),
            director: sum(&shapes, self.directors),
            director_slopes: [0, 1].map(|k| sum(&slopes[k], self.directors)),
            shapes,
            slopes,
        }
    }

    fn point(&self, xi: f64, eta: f64) -> Point {
        let place = self.place(xi, eta);
        let normal = place.base[0].cross(place.base[1]);
        let area = normal.norm();
        let map = place.section_map();
        // a_β · ∂u/∂ξ_α
        let strains = |alpha: usize, beta: usize| {
            displacement_row(&place.slopes[alpha].map(|n| place.base[beta] * n))
        };
        let turn = (strains(0, 1) - strains(1, 0)) * (0.5 / area);
        Point {
            membrane: to_section(&map)
                * stack([strains(0, 0), strains(1, 1), strains(0, 1) + strains(1, 0)]),
            bending: to_section(&map) * self.curvatures(&place),
            shear: inverse(&map) * self.tied_shear(xi, eta),
            drilling: rotation_row(&[0, 1, 2, 3].map(|i| self.directors[i] * place.shapes[i]))
                - turn,
            stresses: self.stress_modes(xi, eta),
            area,
        }
    }

    /// 11, 22 and twice 12 of the change of x,α · d,β.
    fn curvatures(&self, place: &Place) -> Rows<3> {
        let entry = |a: usize, b: usize| {
            let displaced = place.slopes[a].map(|n| place.director_slopes[b] * n);
            let arms = self.directors.map(|d| d.cross(place.base[a]));
            let turned = [0, 1, 2, 3].map(|i| arms[i] * place.slopes[b][i]);
            displacement_row(&displaced) + rotation_row(&turned)
        };
        stack([entry(0, 0), entry(1, 1), entry(0, 1) + entry(1, 0)])
    }

    /// The change of x,α · d at the middles of the sides, interpolated.
    fn tied_shear(&self, xi: f64, eta: f64) -> Rows<2> {
        let shear = |alpha: usize, xi: f64, eta: f64| {
            let place = self.place(xi, eta);
            let displaced = place.slopes[alpha].map(|n| place.director * n);
            let arms = self.directors.map(|d| d.cross(place.base[alpha]));
            let turned = [0, 1, 2, 3].map(|i| arms[i] * place.shapes[i]);
            displacement_row(&displaced) + rotation_row(&turned)
        };
        let between =
            |a: StrainRow, b: StrainRow, s: f64| a * (0.5 * (1.0 - s)) + b * (0.5 * (1.0 + s));
        stack([
            between(shear(0, 0.0, -1.0), shear(0, 0.0, 1.0), eta),
            between(shear(1, -1.0, 0.0), shear(1, 1.0, 0.0), xi),
        ])
    }

    fn stress_modes(&self, xi: f64, eta: f64) -> StrainModes {
        let centre = self.place(0.0, 0.0).section_map();
        let push = |alpha: usize| {
            let (a, b) = (centre[(alpha, 0)], centre[(alpha, 1)]);
            [a * a, b * b, a * b]
        };
        let (along, across) = (push(0), push(1));
        StrainModes::from_fn(|i, j| match j {
            3 => along[i] * eta,
            4 => across[i] * xi,
            _ => f64::from(u8::from(i == j)),
        })
    }
}

impl Place {
    /// Components of the base vectors along the section axes.
    fn section_map(&self) -> Matrix2<f64> {
        let normal = self.base[0].cross(self.base[1]).unit();
        let first = (Vec3::X - normal * normal[0]).unit();
        let second = normal.cross(first);
        Matrix2::from_fn(|a, k| self.base[a].dot([first, second][k]))
    }
}

fn inverse(map: &Matrix2<f64>) -> Matrix2<f64> {
    let determinant = map[(0, 0)] * map[(1, 1)] - map[(0, 1)] * map[(1, 0)];
    Matrix2::new(map[(1, 1)], -map[(0, 1)], -map[(1, 0)], map[(0, 0)]) / determinant
}

/// From covariant components of a strain to components in section axes.
fn to_section(map: &Matrix2<f64>) -> Matrix3<f64> {
    let j = inverse(map);
    let square = |k: usize| {
        [
            j[(k, 0)] * j[(k, 0)],
            j[(k, 1)] * j[(k, 1)],
            j[(k, 0)] * j[(k, 1)],
        ]
    };
    let mixed = [
        2.0 * j[(0, 0)] * j[(1, 0)],
        2.0 * j[(0, 1)] * j[(1, 1)],
        j[(0, 0)] * j[(1, 1)] + j[(0, 1)] * j[(1, 0)],
    ];
    let rows = [square(0), square(1), mixed];
    Matrix3::from_fn(|i, k| rows[i][k])
}

fn stack<const N: usize>(rows: [StrainRow; N]) -> Rows<N> {
    Rows::from_fn(|i, j| rows[i][j])
}

fn displacement_row(by: &[Vec3; 4]) -> StrainRow {
    StrainRow::from_fn(|_, j| if j % 6 < 3 { by[j / 6][j % 6] } else { 0.0 })
}

fn rotation_row(by: &[Vec3; 4]) -> StrainRow {
    StrainRow::from_fn(|_, j| if j % 6 < 3 { 0.0 } else { by[j / 6][j % 6 - 3] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::SymmetricEigen;

    const WARPED: [Vec3; 4] = [
        Vec3::new(-1.0, -0.9, 0.1),
        Vec3::new(1.3, -0.6, -0.12),
        Vec3::new(0.8, 0.9, 0.09),
        Vec3::new(-1.1, 0.6, -0.07),
    ];

    /// Six rigid motions and nothing else are free.
    #[test]
    fn only_rigid_motions_are_free() {
        let normals = [(0.1, 0.1), (-0.1, 0.2), (0.1, 0.0), (0.0, -0.1)];
        let directors = normals.map(|(x, y)| Vec3::new(x, y, 1.0).unit());
        let section = ShellSection::isotropic(1.0, 0.3, 0.1);
        let k = stiffness(&WARPED, &directors, &section).unwrap();
        for axis in 0..3 {
            let mut e = Vec3::ZERO;
            e[axis] = 1.0;
            let shift =
                SMatrix::<f64, 24, 1>::from_fn(|i, _| if i % 6 < 3 { e[i % 6] } else { 0.0 });
            let turn = SMatrix::<f64, 24, 1>::from_fn(|i, _| {
                let arm = WARPED[i / 6];
                if i % 6 < 3 {
                    e.cross(arm)[i % 6]
                } else {
                    e[i % 6 - 3]
                }
            });
            assert!((k * shift).norm() < 1e-15);
            assert!((k * turn).norm() < 1e-15);
        }
        let mut values: Vec<f64> = SymmetricEigen::new(k).eigenvalues.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        assert!(values[5].abs() < 1e-15 && values[6] > 1e-6, "{values:?}");
    }

    /// In-plane pure bending of a rectangle, free of stress across, the nodes turning with the
    /// material: all but exact at an aspect ratio of ten.
    #[test]
    fn in_plane_bending_does_not_lock() {
        let (young, poisson, thickness) = (3.0, 0.3, 0.1);
        let (length, height) = (10.0, 1.0);
        let corners = CORNERS.map(|(a, b)| Vec3::new(0.5 * a * length, 0.5 * b * height, 0.0));
        let section = ShellSection::isotropic(young, poisson, thickness);
        let k = stiffness(&corners, &[Vec3::Z; 4], &section).unwrap();
        let bent = SMatrix::<f64, 24, 1>::from_fn(|i, _| {
            let (x, y) = (corners[i / 6][0], corners[i / 6][1]);
            match i % 6 {
                0 => -x * y,
                1 => 0.5 * (x * x + poisson * y * y),
                5 => x,
                _ => 0.0,
            }
        });
        let energy = 0.5 * (bent.transpose() * k * bent)[0];
        let exact = 0.5 * young * thickness * height.powi(3) / 12.0 * length;
        assert!((energy / exact - 1.0).abs() < 0.01, "{energy} {exact}");
    }
}
