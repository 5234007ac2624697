//! Few rows with a full matrix: joints, contacts and friction.

/// What a row asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// The velocity is zero, whatever the impulse: a joint.
    Bilateral,
    /// Neither the impulse nor the velocity is negative, and one of them is zero: a contact.
    Unilateral,
    /// The impulse is bounded by this coefficient times that of a contact's row, which comes before.
    Friction {
        /// The row of the normal.
        normal: usize,
        /// Coulomb's coefficient.
        coefficient: f64,
    },
}

/// Velocities u = H γ + b of rows.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    /// Symmetric, positive semidefinite, row by row; compliances of regularised rows are on its diagonal.
    pub matrix: &'a [f64],
    /// Velocities without any impulse, with the terms of gaps and prescribed motions.
    pub velocities: &'a [f64],
    /// What each row is.
    pub rows: &'a [RowKind],
}

impl Dense<'_> {
    /// Velocity of a row for given impulses.
    pub fn velocity(&self, row: usize, impulses: &[f64]) -> f64 {
        let n = self.rows.len();
        let line = &self.matrix[row * n..(row + 1) * n];
        let sum: f64 = line.iter().zip(impulses).map(|(h, x)| h * x).sum();
        sum + self.velocities[row]
    }

    /// The largest residual of all rows in m/s, from the impulses alone: friction within a box whose bounds are
    /// those of the normal impulses given.
    pub fn box_residual(&self, impulses: &[f64], normals: &[f64]) -> f64 {
        let n = self.rows.len();
        let mut most = 0.0;
        for (i, kind) in self.rows.iter().enumerate() {
            let u = self.velocity(i, impulses);
            let diagonal = self.matrix[i * n + i];
            let (low, high) = bounds(kind, normals);
            // A row that no impulse moves is judged by its velocity.
            let residual = if diagonal > 0.0 {
                let stepped = (impulses[i] - u / diagonal).max(low).min(high);
                (impulses[i] - stepped).abs() * diagonal
            } else {
                match kind {
                    RowKind::Bilateral => u.abs(),
                    RowKind::Unilateral => (-u).max(0.0),
                    RowKind::Friction { .. } => 0.0,
                }
            };
            if residual > most || residual.is_nan() {
                most = residual;
            }
        }
        most
    }
}

/// Between what an impulse may be, for given normal impulses.
pub(crate) fn bounds(kind: &RowKind, normals: &[f64]) -> (f64, f64) {
    match *kind {
        RowKind::Bilateral => (f64::NEG_INFINITY, f64::INFINITY),
        RowKind::Unilateral => (0.0, f64::INFINITY),
        RowKind::Friction {
            normal,
            coefficient,
        } => {
            let most = coefficient * normals[normal].max(0.0);
            (-most, most)
        }
    }
}
