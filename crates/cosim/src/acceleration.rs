//! Convergence acceleration of the fixed-point iteration x = G(x) over the exchanged values.

use crate::schedule::Acceleration;

/// Iterations of Aitken's method that must bring the residual down to a share of it; otherwise it begins anew.
const PATIENCE: usize = 4;
const PROGRESS: f64 = 0.5;

/// Finds the next iterate from the present one and its image. All memory is claimed once.
pub(crate) struct Accelerator {
    method: Acceleration,
    size: usize,
    /// Fraction in use (fixed, Aitken).
    fraction: f64,
    iteration: usize,
    /// Size of the residual when the fraction was last looked at (Aitken).
    looked_at: f64,
    residual: Vec<f64>,
    last_residual: Vec<f64>,
    last_image: Vec<f64>,
    /// Quasi-Newton: changes of the residual (orthonormalised on use) and of the image.
    residual_changes: Vec<Vec<f64>>,
    image_changes: Vec<Vec<f64>>,
    basis: Vec<Vec<f64>>,
    triangle: Vec<f64>,
    coefficients: Vec<f64>,
    kept: usize,
}

impl Accelerator {
    pub fn new(method: Acceleration, size: usize) -> Self {
        let columns = match method {
            // More columns than unknowns carry no information.
            Acceleration::QuasiNewton { columns } => columns.min(size),
            _ => 0,
        };
        let matrix = || vec![vec![0.0; size]; columns];
        Self {
            method,
            size,
            fraction: 1.0,
            iteration: 0,
            looked_at: f64::INFINITY,
            residual: vec![0.0; size],
            last_residual: vec![0.0; size],
            last_image: vec![0.0; size],
            residual_changes: matrix(),
            image_changes: matrix(),
            basis: matrix(),
            triangle: vec![0.0; columns * columns],
            coefficients: vec![0.0; columns],
            kept: 0,
        }
    }

    /// A new step starts.
    pub fn start(&mut self) {
        self.iteration = 0;
        self.kept = 0;
        self.looked_at = f64::INFINITY;
        self.fraction = self.first_fraction();
    }

    fn first_fraction(&self) -> f64 {
        match self.method {
            Acceleration::Fixed(fraction) | Acceleration::Aitken(fraction) => fraction,
            Acceleration::QuasiNewton { .. } => 1.0,
        }
    }

    /// Replaces `iterate` by the next one. `scale` makes components of different units comparable.
    pub fn next(&mut self, iterate: &mut [f64], image: &[f64], scale: &[f64]) {
        for i in 0..self.size {
            self.residual[i] = (image[i] - iterate[i]) / scale[i];
        }
        match self.method {
            Acceleration::Fixed(_) => self.relax(iterate, scale),
            Acceleration::Aitken(_) => {
                self.adapt_fraction();
                self.relax(iterate, scale);
            }
            Acceleration::QuasiNewton { columns } => {
                if self.iteration > 0 {
                    self.remember(columns.min(self.size), image, scale);
                }
                self.newton_step(iterate, image, scale);
            }
        }
        self.last_residual.copy_from_slice(&self.residual);
        self.last_image.copy_from_slice(image);
        self.iteration += 1;
    }

    fn relax(&self, iterate: &mut [f64], scale: &[f64]) {
        for i in 0..self.size {
            iterate[i] += self.fraction * self.residual[i] * scale[i];
        }
    }

    fn adapt_fraction(&mut self) {
        if self.iteration == 0 {
            return;
        }
        let (mut along, mut square) = (0.0, 0.0);
        for (new, old) in self.residual.iter().zip(&self.last_residual) {
            let change = new - old;
            along += old * change;
            square += change * change;
        }
        if square > 0.0 {
            self.fraction *= -along / square;
        }
        // Residuals that are at right angles to their changes make the fraction vanish, and with it all progress.
        if self.iteration.is_multiple_of(PATIENCE) {
            let size = norm(&self.residual);
            if size > PROGRESS * self.looked_at {
                self.fraction = self.first_fraction();
            }
            self.looked_at = size;
        }
    }

    fn remember(&mut self, columns: usize, image: &[f64], scale: &[f64]) {
        if columns == 0 {
            return;
        }
        if self.kept == columns {
            self.residual_changes.rotate_left(1);
            self.image_changes.rotate_left(1);
            self.kept -= 1;
        }
        let place = self.kept;
        for i in 0..self.size {
            self.residual_changes[place][i] = self.residual[i] - self.last_residual[i];
            self.image_changes[place][i] = (image[i] - self.last_image[i]) / scale[i];
        }
        self.kept += 1;
    }

    /// x = G(x) + sum of image changes, with the combination of residual changes that best cancels
    /// the residual (least squares by modified Gram–Schmidt, newest change first; changes that
    /// add no direction are left out).
    fn newton_step(&mut self, iterate: &mut [f64], image: &[f64], scale: &[f64]) {
        iterate.copy_from_slice(image);
        let n = self.kept;
        self.coefficients.fill(0.0);
        // Right-hand side: what is left of -residual after projection.
        let mut used = 0;
        for column in (0..n).rev() {
            let (done, rest) = self.basis.split_at_mut(used);
            let vector = &mut rest[0];
            vector.copy_from_slice(&self.residual_changes[column]);
            let length = norm(vector);
            for (row, direction) in done.iter().enumerate() {
                let share = dot(direction, vector);
                self.triangle[row * n + used] = share;
                add(vector, -share, direction);
            }
            let left = norm(vector);
            if left <= 1e-10 * length || left == 0.0 {
                break;
            }
            vector.iter_mut().for_each(|v| *v /= left);
            self.triangle[used * n + used] = left;
            used += 1;
        }
        // The columns used are the newest `used`; their order is newest first.
        for row in (0..used).rev() {
            let mut value = -dot(&self.basis[row], &self.residual);
            for later in row + 1..used {
                value -= self.triangle[row * n + later] * self.coefficients[later];
            }
            self.coefficients[row] = value / self.triangle[row * n + row];
        }
        for position in 0..used {
            let change = &self.image_changes[n - 1 - position];
            for i in 0..self.size {
                iterate[i] += self.coefficients[position] * change[i] * scale[i];
            }
        }
        if iterate.iter().any(|value| !value.is_finite()) {
            iterate.copy_from_slice(image);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    for (x, y) in to.iter_mut().zip(what) {
        *x += factor * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G(x) = A x + b with spectral radius above one: the plain iteration diverges.
    fn solve(method: Acceleration, matrix: [[f64; 3]; 3]) -> usize {
        let offset = [1.0, -2.0, 3.0];
        let scale = [1.0, 10.0, 0.1];
        let mut x = [0.0; 3];
        let mut accelerator = Accelerator::new(method, 3);
        accelerator.start();
        for iteration in 1..200 {
            let image: Vec<f64> = (0..3)
                .map(|i| offset[i] + (0..3).map(|j| matrix[i][j] * x[j]).sum::<f64>())
                .collect();
            let change = x.iter().zip(&image).map(|(a, b)| (a - b).abs());
            if change.fold(0.0, f64::max) < 1e-11 {
                return iteration;
            }
            accelerator.next(&mut x, &image, &scale);
        }
        200
    }

    const DIVERGING: [[f64; 3]; 3] = [[0.0, 1.5, 0.2], [-1.2, 0.0, 0.4], [0.3, -0.6, -1.4]];
    const CONTRACTING: [[f64; 3]; 3] = [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]];

    #[test]
    fn quasi_newton_solves_a_linear_problem_in_as_many_steps_as_unknowns() {
        assert!(solve(Acceleration::QuasiNewton { columns: 8 }, DIVERGING) <= 6);
        assert_eq!(solve(Acceleration::Fixed(1.0), DIVERGING), 200);
    }

    #[test]
    fn aitken_finds_the_right_fraction() {
        assert!(solve(Acceleration::Aitken(0.5), CONTRACTING) <= 4);
        assert!(solve(Acceleration::Fixed(1.0), CONTRACTING) > 30);
    }
}
