//! Interfaces with contacts eliminated against the full system of equations (Peiret et al. 2020, Eq. 36–38).

use oldham_contact::problem::{Dense, Problem, RowKind};
use oldham_contact::{ContactSolver, Interface, Pivoting, Reduction, RowState};

/// Numbers between -1 and 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// Gaussian elimination with partial pivoting.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for k in 0..n {
        let largest = (k..n).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()));
        let largest = largest.unwrap();
        matrix.swap(k, largest);
        right.swap(k, largest);
        let pivot = matrix[k].clone();
        for i in k + 1..n {
            let factor = matrix[i][k] / pivot[k];
            for j in k..n {
                matrix[i][j] -= factor * pivot[j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| matrix[k][j] * right[j]).sum();
        right[k] = (right[k] - sum) / matrix[k][k];
    }
    right
}

fn product(rows: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    let dot = |row: &Vec<f64>| row.iter().zip(vector).map(|(a, b)| a * b).sum();
    rows.iter().map(dot).collect()
}

/// A random system with joints, contacts, friction and two interface coordinates.
struct System {
    mass: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
    compliances: Vec<f64>,
    interface: Vec<Vec<f64>>,
    momentum: Vec<f64>,
    bias: Vec<f64>,
    interface_bias: Vec<f64>,
    kinds: Vec<RowKind>,
}

const DOFS: usize = 14;

impl System {
    fn new(random: &mut Random, regularised: bool) -> Self {
        let root: Vec<Vec<f64>> = (0..DOFS).map(|_| random.many(DOFS)).collect();
        let mut mass = vec![vec![0.0; DOFS]; DOFS];
        for (i, line) in mass.iter_mut().enumerate() {
            for (j, entry) in line.iter_mut().enumerate() {
                *entry = root.iter().map(|r| r[i] * r[j]).sum();
            }
            line[i] += 1.0;
        }
        let mut kinds = vec![RowKind::Bilateral; 3];
        for _ in 0..3 {
            let friction = RowKind::Friction {
                normal: kinds.len(),
                coefficient: 0.3,
            };
            kinds.extend([RowKind::Unilateral, friction, friction]);
        }
        let count = kinds.len();
        Self {
            mass,
            rows: (0..count).map(|_| random.many(DOFS)).collect(),
            compliances: match regularised {
                true => random.many(count).iter().map(|x| 0.1 * x.abs()).collect(),
                false => vec![0.0; count],
            },
            interface: (0..2).map(|_| random.many(DOFS)).collect(),
            momentum: random.many(DOFS),
            bias: random.many(count),
            interface_bias: random.many(2),
            kinds,
        }
    }

    fn by_inverse_mass(&self, rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<f64> {
        let mut found = Vec::new();
        let columns: Vec<_> = others
            .iter()
            .map(|row| solved(self.mass.clone(), row.clone()))
            .collect();
        for row in rows {
            found.extend(product(&columns, row));
        }
        found
    }

    /// Velocities of the interface under impulses there, from all equations at once: active rows hold, the others have
    /// the impulses given. Also the largest impulse, whose rounding is felt in the velocities.
    fn directly(
        &self,
        sets: &[RowState],
        impulses: &[f64],
        at_interface: &[f64],
    ) -> (Vec<f64>, f64) {
        let active: Vec<usize> = (0..sets.len())
            .filter(|&row| sets[row] == RowState::Active)
            .collect();
        let size = DOFS + active.len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut right = self.momentum.clone();
        for (i, line) in self.mass.iter().enumerate() {
            matrix[i][..DOFS].copy_from_slice(line);
        }
        for (row, impulse) in self.interface.iter().zip(at_interface) {
            right
                .iter_mut()
                .zip(row)
                .for_each(|(p, b)| *p += b * impulse);
        }
        for row in (0..sets.len()).filter(|row| !active.contains(row)) {
            let pushes = right.iter_mut().zip(&self.rows[row]);
            pushes.for_each(|(p, a)| *p += a * impulses[row]);
        }
        for (place, &row) in active.iter().enumerate() {
            let (upper, lower) = matrix.split_at_mut(DOFS);
            for (i, entry) in self.rows[row].iter().enumerate() {
                upper[i][DOFS + place] = -entry;
                lower[place][i] = *entry;
            }
            matrix[DOFS + place][DOFS + place] = self.compliances[row];
            right.push(-self.bias[row]);
        }
        let velocities = solved(matrix, right);
        let found = product(&self.interface, &velocities[..DOFS]);
        let found = found.iter().zip(&self.interface_bias);
        let largest = velocities[DOFS..]
            .iter()
            .fold(1.0_f64, |most, x| most.max(x.abs()));
        (found.map(|(w, b)| w + b).collect(), largest)
    }
}

#[test]
fn a_reduced_interface_answers_as_the_whole_system() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = [0; 2];
    for trial in 0..200 {
        let system = System::new(&mut random, trial % 2 == 1);
        let rows = system.kinds.len();
        let mut matrix = system.by_inverse_mass(&system.rows, &system.rows);
        for (row, compliance) in system.compliances.iter().enumerate() {
            matrix[row * rows + row] += compliance;
        }
        let free = solved(system.mass.clone(), system.momentum.clone());
        let velocities = product(&system.rows, &free);
        let velocities: Vec<f64> = velocities
            .iter()
            .zip(&system.bias)
            .map(|(u, b)| u + b)
            .collect();
        let at_interface = product(&system.interface, &free);
        let at_interface = at_interface.iter().zip(&system.interface_bias);
        let at_interface: Vec<f64> = at_interface.map(|(u, b)| u + b).collect();
        let by_rows = system.by_inverse_mass(&system.interface, &system.rows);
        let own = system.by_inverse_mass(&system.interface, &system.interface);
        let problem = Dense {
            matrix: &matrix,
            velocities: &velocities,
            rows: &system.kinds,
        };
        let (mut impulses, mut sets) = (vec![0.0; rows], vec![RowState::Open; rows]);
        let solved = Pivoting::new().solve(&Problem::Dense(problem), &mut impulses, &mut sets);
        if !solved.is_converged {
            continue;
        }
        for set in &sets {
            seen[usize::from(*set == RowState::Active)] += 1;
        }
        let mut reduction = Reduction::default();
        let interface = Interface {
            by_rows: &by_rows,
            own: &own,
            velocities: &at_interface,
        };
        reduction.reduce(&problem, &sets, &impulses, &interface);
        for _ in 0..3 {
            let pushed = random.many(2);
            let (expected, scale) = system.directly(&sets, &impulses, &pushed);
            for (i, expected) in expected.iter().enumerate() {
                let line = &reduction.mobility[2 * i..2 * i + 2];
                let by_push: f64 = line.iter().zip(&pushed).map(|(m, p)| m * p).sum();
                let found = reduction.velocities[i] + by_push;
                assert!(
                    (found - expected).abs() < 1e-12 * scale,
                    "trial {trial}: {found} and {expected}"
                );
            }
        }
    }
    assert!(
        seen[0] > 300 && seen[1] > 300,
        "both kinds of rows occur: {seen:?}"
    );
}

/// With λ the impulse on the owner of a given motion, M v + Bᵀ λ = p and B v = w: such a system, and what it answers to
/// impulses of rows, to one at the interface, and to the given velocity.
struct Driven<'s> {
    system: &'s System,
    pushed: &'s [f64],
    moved: &'s [f64],
}

impl Driven<'_> {
    /// Velocities, then λ.
    fn answer(&self, momentum: &[f64], given: f64) -> Vec<f64> {
        let mut matrix: Vec<Vec<f64>> = self.system.mass.clone();
        for (line, entry) in matrix.iter_mut().zip(self.moved) {
            line.push(*entry);
        }
        matrix.push([self.moved, &[0.0]].concat());
        solved(matrix, [momentum, &[given]].concat())
    }

    /// What the interface shows of an answer: the velocity where it is pushed, and the impulse that resists.
    fn at_interface(&self, answer: &[f64]) -> [f64; 2] {
        let dot = self.pushed.iter().zip(answer).map(|(b, v)| b * v).sum();
        [dot, answer[DOFS]]
    }

    /// The same from all equations at once, under an impulse where it is pushed and a velocity where it is moved.
    fn directly(&self, sets: &[RowState], impulses: &[f64], [push, given]: [f64; 2]) -> [f64; 2] {
        let system = self.system;
        let active: Vec<usize> = (0..sets.len())
            .filter(|&row| sets[row] == RowState::Active)
            .collect();
        let size = DOFS + 1 + active.len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut right = vec![0.0; size];
        for i in 0..DOFS {
            matrix[i][..DOFS].copy_from_slice(&system.mass[i]);
            matrix[i][DOFS] = self.moved[i];
            matrix[DOFS][i] = self.moved[i];
            right[i] = system.momentum[i] + self.pushed[i] * push;
            let tight = (0..sets.len()).filter(|row| !active.contains(row));
            right[i] += tight
                .map(|row| system.rows[row][i] * impulses[row])
                .sum::<f64>();
        }
        right[DOFS] = given;
        for (place, &row) in active.iter().enumerate() {
            let own = DOFS + 1 + place;
            for (i, entry) in system.rows[row].iter().enumerate() {
                matrix[i][own] = -entry;
                matrix[own][i] = *entry;
            }
            matrix[own][own] = system.compliances[row];
            right[own] = -system.bias[row];
        }
        self.at_interface(&solved(matrix, right))
    }
}

/// Motion in and force out beside force in and motion out, with active, tight and regularised rows.
#[test]
fn an_interface_that_is_moved_resists_as_the_whole_system() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for trial in 0..200 {
        let system = System::new(&mut random, trial % 2 == 1);
        let rows = system.kinds.len();
        let driven = Driven {
            system: &system,
            pushed: &system.interface[0],
            moved: &system.interface[1],
        };
        let given = random.next();
        let free = driven.answer(&system.momentum, given);
        let by_row: Vec<Vec<f64>> = system
            .rows
            .iter()
            .map(|row| driven.answer(row, 0.0))
            .collect();
        let along = |row: &[f64], answer: &[f64]| -> f64 {
            row.iter().zip(answer).map(|(a, v)| a * v).sum()
        };
        let mut matrix = vec![0.0; rows * rows];
        for (i, row) in system.rows.iter().enumerate() {
            for (j, answer) in by_row.iter().enumerate() {
                matrix[i * rows + j] = along(row, answer);
            }
            matrix[i * rows + i] += system.compliances[i];
        }
        let velocities: Vec<f64> = (system.rows.iter().zip(&system.bias))
            .map(|(row, bias)| along(row, &free) + bias)
            .collect();
        let by_interface = [
            driven.answer(driven.pushed, 0.0),
            driven.answer(&[0.0; DOFS], 1.0),
        ];
        // As in mechanisms: what the interface does to rows stands for what rows do to the interface.
        let mut by_rows = Vec::new();
        for answer in &by_interface {
            by_rows.extend(system.rows.iter().map(|row| along(row, answer)));
        }
        let shown = by_interface.each_ref().map(|a| driven.at_interface(a));
        let own = [shown[0][0], shown[1][0], shown[0][1], shown[1][1]];
        let problem = Dense {
            matrix: &matrix,
            velocities: &velocities,
            rows: &system.kinds,
        };
        let (mut impulses, mut sets) = (vec![0.0; rows], vec![RowState::Open; rows]);
        let solved = Pivoting::new().solve(&Problem::Dense(problem), &mut impulses, &mut sets);
        if !solved.is_converged {
            continue;
        }
        let mut reduction = Reduction::default();
        let interface = Interface {
            by_rows: &by_rows,
            own: &own,
            velocities: &driven.at_interface(&free),
        };
        reduction.reduce(&problem, &sets, &impulses, &interface);
        for _ in 0..3 {
            let [push, change] = [random.next(), random.next()];
            let expected = driven.directly(&sets, &impulses, [push, given + change]);
            let scale = impulses
                .iter()
                .chain(&expected)
                .fold(1.0_f64, |m, x| m.max(x.abs()));
            for (i, expected) in expected.into_iter().enumerate() {
                let line = &reduction.mobility[2 * i..2 * i + 2];
                let found = reduction.velocities[i] + line[0] * push + line[1] * change;
                let error = (found - expected).abs();
                assert!(
                    error < 1e-11 * scale,
                    "trial {trial}: {found} and {expected}"
                );
            }
        }
    }
}
