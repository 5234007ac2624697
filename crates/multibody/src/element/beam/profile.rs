//! Cross-sections from material and profile.
//!
//! # References
//! Cowper, "The shear coefficient in Timoshenko's beam theory", J. Appl. Mech. 33 (1966) 335–340.
//! Timoshenko, Goodier, "Theory of Elasticity", 3rd ed., Sect. 109 (torsion of rectangular bars).

use std::f64::consts::PI;

use super::{LineInertia, Section};

/// Terms of the series for the torsion of a rectangle.
const TERMS: usize = 40;

/// What a beam is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material {
    /// Young's modulus in Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

/// The shape of a cross-section.
#[derive(Clone, Copy, Debug)]
pub enum Profile {
    /// Sides along the second and third axis.
    Rectangle([f64; 2]),
    /// Outer and inner radius; zero for a full circle.
    Tube([f64; 2]),
}

impl Profile {
    /// Its area.
    pub fn area(&self) -> f64 {
        match *self {
            Self::Rectangle([a, b]) => a * b,
            Self::Tube([outer, inner]) => PI * (outer * outer - inner * inner),
        }
    }

    /// Second moments of area about the second and third axis.
    fn second_moments(&self) -> [f64; 2] {
        match *self {
            Self::Rectangle([a, b]) => [a * b.powi(3) / 12.0, b * a.powi(3) / 12.0],
            Self::Tube([outer, inner]) => [PI / 4.0 * (outer.powi(4) - inner.powi(4)); 2],
        }
    }

    fn torsion_constant(&self) -> f64 {
        match *self {
            Self::Rectangle([a, b]) => {
                let (long, short) = (a.max(b), a.min(b));
                let term = |n: usize| {
                    let k = (2 * n + 1) as f64;
                    (k * PI * long / (2.0 * short)).tanh() / k.powi(5)
                };
                let series: f64 = (0..TERMS).map(term).sum();
                long * short.powi(3) / 3.0 * (1.0 - 192.0 / PI.powi(5) * short / long * series)
            }
            Self::Tube(_) => self.second_moments().iter().sum(),
        }
    }

    fn shear_coefficient(&self, nu: f64) -> f64 {
        match *self {
            Self::Rectangle(_) => 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu),
            Self::Tube([outer, inner]) => {
                let m2 = (inner / outer).powi(2);
                let square = (1.0 + m2).powi(2);
                6.0 * (1.0 + nu) * square / ((7.0 + 6.0 * nu) * square + (20.0 + 12.0 * nu) * m2)
            }
        }
    }

    /// The stiffness of a section of this material.
    pub fn section(&self, material: Material) -> Section {
        let Material { young, poisson } = material;
        let shear_modulus = young / (2.0 * (1.0 + poisson));
        let area = self.area();
        let shear = self.shear_coefficient(poisson) * shear_modulus * area;
        let torsion = shear_modulus * self.torsion_constant();
        let [y, z] = self.second_moments().map(|moment| young * moment);
        Section::diagonal([young * area, shear, shear, torsion, y, z])
    }

    /// The inertia of a section of this density.
    pub fn inertia(&self, density: f64) -> LineInertia {
        let [y, z] = self.second_moments().map(|moment| density * moment);
        LineInertia {
            mass: density * self.area(),
            rotary: [y + z, y, z],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table of Timoshenko and Goodier: J = k₁ a b³.
    #[test]
    fn torsion_of_rectangles_is_the_published_one() {
        for (ratio, expected) in [(1.0, 0.1406), (2.0, 0.229), (10.0, 0.312)] {
            let found = Profile::Rectangle([ratio, 1.0]).torsion_constant() / ratio;
            assert!((found - expected).abs() < 5e-4, "{ratio}: {found}");
        }
    }

    /// Cowper's values for ν = 0.3.
    #[test]
    fn shear_coefficients_are_the_published_ones() {
        let circle = Profile::Tube([1.0, 0.0]).shear_coefficient(0.3);
        let thin = Profile::Tube([1.0, 1.0]).shear_coefficient(0.3);
        let rectangle = Profile::Rectangle([1.0, 2.0]).shear_coefficient(0.3);
        for (found, expected) in [(circle, 0.886), (thin, 0.531), (rectangle, 0.850)] {
            assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
        }
    }
}
