//! What a beam's cross-section resists.

/// Stiffness of a cross-section against axial strain, two shears, twist and two curvatures (per
/// metre), in section axes: the first axis along the beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// 6 × 6 stiffness.
    pub stiffness: [[f64; 6]; 6],
    /// Stiffness-proportional damping: stress = stiffness · (strain + damping · strain rate).
    pub damping: f64,
}

impl Section {
    /// An uncoupled section: EA, GA (two directions), GJ, EJ (two axes).
    pub fn diagonal(stiffness: [f64; 6]) -> Self {
        let mut matrix = [[0.0; 6]; 6];
        for (i, value) in stiffness.into_iter().enumerate() {
            matrix[i][i] = value;
        }
        Self {
            stiffness: matrix,
            damping: 0.0,
        }
    }

    /// The same section with stiffness-proportional damping, in seconds.
    pub fn damped(self, damping: f64) -> Self {
        Self { damping, ..self }
    }
}
