//! Rough roads after ISO 8608: a spectral density of the height that falls with the square of the
//! spatial frequency.
//!
//! The surface is a sum of plane waves. Their frequencies along x are multiples of the inverse of the
//! length, so that the road repeats after it, and their amplitudes are those of the standard's
//! density G(n) = G(n₀) (n₀/n)², n₀ = 0.1 1/m. Their frequencies across are drawn so that the
//! surface is isotropic: then the two-dimensional density is proportional to (n² + m²)^(-3/2), and
//! given n, m / √(n² + m²) is distributed evenly. Every line along x has the standard's density.

use super::grid::HeightGrid;
use std::f64::consts::TAU;

/// Classes of roughness of ISO 8608.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoughnessClass {
    /// 16e-6 m³ at 0.1 1/m: a very good road.
    A,
    /// 64e-6 m³.
    B,
    /// 256e-6 m³.
    C,
    /// 1024e-6 m³.
    D,
    /// 4096e-6 m³.
    E,
}

impl RoughnessClass {
    /// Geometric mean of the density of the height at 0.1 1/m, in m³.
    pub fn density(self) -> f64 {
        16e-6 * 4.0_f64.powi(self as i32)
    }
}

/// A rough road that is made from a seed.
#[derive(Clone, Copy, Debug)]
pub struct RoughRoad {
    /// Density of the height at 0.1 1/m, in m³.
    pub density: f64,
    /// Length after which it repeats, in m.
    pub length: f64,
    /// Width in m, to both sides of the x axis together.
    pub width: f64,
    /// The same seed gives the same road.
    pub seed: u64,
}

/// The standard's band of spatial frequencies in 1/m.
const BAND: [f64; 2] = [0.011, 2.83];
const REFERENCE: f64 = 0.1;
/// Distance of the points along and across, in m: seven on the shortest wave.
const SPACING: f64 = 0.05;

impl RoughRoad {
    /// Heights on a grid that repeats along x.
    pub fn grid(&self) -> HeightGrid {
        let count = (self.length / SPACING).round().max(2.0) as usize;
        let spacing = self.length / count as f64;
        let rows = (self.width / SPACING).ceil().max(1.0) as usize + 1;
        let start = -0.5 * SPACING * (rows - 1) as f64;
        let mut heights = vec![0.0; count * rows];
        let mut random = Random(self.seed);
        let first = (BAND[0] * self.length).ceil() as usize;
        let last = (BAND[1] * self.length).floor() as usize;
        for wave in first..=last {
            let along = wave as f64 / self.length;
            let widest = (1.0 - (along / BAND[1]).powi(2)).max(0.0).sqrt();
            let sine = (2.0 * random.unit() - 1.0) * widest;
            let across = along * sine / (1.0 - sine * sine).sqrt();
            let density = self.density * (REFERENCE / along).powi(2);
            let amplitude = (2.0 * density / self.length).sqrt();
            let phase = TAU * random.unit();
            let turn = TAU * along * spacing;
            for (row, heights) in heights.chunks_exact_mut(count).enumerate() {
                let y = start + row as f64 * SPACING;
                add_wave(heights, amplitude, turn, phase + TAU * across * y);
            }
        }
        HeightGrid::new([0.0, start], [spacing, SPACING], [count, rows], heights).repeating()
    }
}

/// Adds amplitude · cos(phase + k turn) to the k-th height, by turning a vector.
fn add_wave(heights: &mut [f64], amplitude: f64, turn: f64, phase: f64) {
    let (turn_sine, turn_cosine) = turn.sin_cos();
    let (mut sine, mut cosine) = phase.sin_cos();
    for height in heights {
        *height += amplitude * cosine;
        (cosine, sine) = (
            cosine * turn_cosine - sine * turn_sine,
            sine * turn_cosine + cosine * turn_sine,
        );
    }
}

/// Vigna's splitmix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
