//! What a shell's thickness resists, and what it weighs.

/// Stiffness of a shell per metre, in section axes: the first axis points from the side between
/// the first and the last node to the opposite side, the third is the normal.
///
/// Strains are ordered 11, 22, 12 (twice the tensor's component), transverse shears 13, 23.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellSection {
    /// Membrane forces by membrane strains.
    pub membrane: [[f64; 3]; 3],
    /// Membrane forces by curvatures; its transpose gives moments by membrane strains.
    pub coupling: [[f64; 3]; 3],
    /// Moments by curvatures.
    pub bending: [[f64; 3]; 3],
    /// Transverse shear forces by shears.
    pub shear: [[f64; 2]; 2],
    /// Resistance of the nodes' rotation about the normal against the rotation of the surface.
    pub drilling: f64,
    /// Stiffness-proportional damping: stress = stiffness · (strain + damping · strain rate).
    pub damping: f64,
}

/// Ratio of the shear stiffness to that of a uniform shear stress.
const SHEAR_FACTOR: f64 = 5.0 / 6.0;

impl ShellSection {
    /// A uniform isotropic sheet: Young's modulus, Poisson's ratio, thickness.
    pub fn isotropic(young: f64, poisson: f64, thickness: f64) -> Self {
        let plane = young / (1.0 - poisson * poisson);
        let shear = 0.5 * young / (1.0 + poisson);
        let plane_stress = [
            [plane, poisson * plane, 0.0],
            [poisson * plane, plane, 0.0],
            [0.0, 0.0, shear],
        ];
        let scaled = |factor: f64| plane_stress.map(|row| row.map(|entry| entry * factor));
        let transverse = SHEAR_FACTOR * shear * thickness;
        Self {
            membrane: scaled(thickness),
            coupling: [[0.0; 3]; 3],
            bending: scaled(thickness.powi(3) / 12.0),
            shear: [[transverse, 0.0], [0.0, transverse]],
            drilling: shear * thickness,
            damping: 0.0,
        }
    }

    /// Membrane forces, moments and transverse forces of strains, curvatures and shears.
    pub(crate) fn loads(&self, strains: &[f64; 8]) -> [f64; 8] {
        let mut loads = [0.0; 8];
        for i in 0..3 {
            for j in 0..3 {
                let (stretch, bend) = (strains[j], strains[3 + j]);
                loads[i] += self.membrane[i][j] * stretch + self.coupling[i][j] * bend;
                loads[3 + i] += self.coupling[j][i] * stretch + self.bending[i][j] * bend;
            }
        }
        for i in 0..2 {
            for j in 0..2 {
                loads[6 + i] += self.shear[i][j] * strains[6 + j];
            }
        }
        loads
    }

    /// The same section with stiffness-proportional damping, in seconds.
    pub fn damped(self, damping: f64) -> Self {
        Self { damping, ..self }
    }
}

/// Mass and rotary inertia of a shell per square metre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceInertia {
    /// Mass per square metre.
    pub mass: f64,
    /// Inertia per square metre about any axis in the surface.
    pub rotary: f64,
}

impl SurfaceInertia {
    /// Of a uniform sheet.
    pub fn uniform(density: f64, thickness: f64) -> Self {
        Self {
            mass: density * thickness,
            rotary: density * thickness.powi(3) / 12.0,
        }
    }
}
