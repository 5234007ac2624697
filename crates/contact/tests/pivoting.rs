//! The pivoting solver: exact sets, redundant rows, bounds of friction, and what cannot be solved.

use oldham_contact::problem::{Dense, Problem, RowKind};
use oldham_contact::{Cone, ContactSolver, FrictionBounds, Pivoting, RowState};

/// Numbers from −1 to 1 that look random and are the same everywhere.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// H = J Jᵀ for random rows J over some degrees of freedom; singular where there are fewer of those than rows.
fn random_matrix(noise: &mut Noise, rows: usize, dofs: usize) -> Vec<f64> {
    let jacobian: Vec<f64> = (0..rows * dofs).map(|_| noise.next()).collect();
    let line = |i: usize| &jacobian[i * dofs..(i + 1) * dofs];
    (0..rows * rows)
        .map(|k| {
            line(k / rows)
                .iter()
                .zip(line(k % rows))
                .map(|(a, b)| a * b)
                .sum()
        })
        .collect()
}

fn solve(
    solver: &mut impl ContactSolver,
    problem: Dense<'_>,
    impulses: &mut [f64],
) -> (oldham_contact::Solved, Vec<RowState>) {
    let mut sets = vec![RowState::Open; problem.rows.len()];
    let solved = solver.solve(&Problem::Dense(problem), impulses, &mut sets);
    (solved, sets)
}

/// All sets of a small problem without friction, tried one after the other: the one whose impulses and velocities
/// have the right signs is the oracle.
#[test]
fn contacts_agree_with_the_set_found_by_trying_all() {
    let mut noise = Noise(3);
    for _ in 0..200 {
        let n = 6;
        let matrix = random_matrix(&mut noise, n, 9);
        let velocities: Vec<f64> = (0..n).map(|_| noise.next()).collect();
        let rows = [RowKind::Unilateral; 6];
        let mut impulses = vec![0.0; n];
        let problem = Dense {
            matrix: &matrix,
            velocities: &velocities,
            rows: &rows,
        };
        let (solved, sets) = solve(&mut Pivoting::new(), problem, &mut impulses);
        assert!(solved.is_converged && solved.fallback.is_none());
        let found: usize = (0..n)
            .map(|i| usize::from(sets[i] == RowState::Active) << i)
            .sum();
        let right: Vec<usize> = (0..1 << n)
            .filter(|set| is_complementary(&matrix, &velocities, *set))
            .collect();
        assert_eq!(right, [found]);
    }
}

/// Gaussian elimination for one set; whether all signs are right.
fn is_complementary(matrix: &[f64], velocities: &[f64], set: usize) -> bool {
    let n = velocities.len();
    let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
    let m = active.len();
    let mut system: Vec<Vec<f64>> = active
        .iter()
        .map(|&i| {
            let mut line: Vec<f64> = active.iter().map(|&j| matrix[i * n + j]).collect();
            line.push(-velocities[i]);
            line
        })
        .collect();
    for k in 0..m {
        let pivot = (k..m)
            .max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs()))
            .unwrap();
        system.swap(k, pivot);
        let above = system[k].clone();
        for (i, line) in system.iter_mut().enumerate() {
            if i != k {
                let factor = line[k] / above[k];
                for (entry, over) in line.iter_mut().zip(&above) {
                    *entry -= factor * over;
                }
            }
        }
    }
    let impulses: Vec<f64> = (0..m).map(|k| system[k][m] / system[k][k]).collect();
    let opens = (0..n).filter(|i| set >> i & 1 == 0).all(|i| {
        let pushed: f64 = active
            .iter()
            .zip(&impulses)
            .map(|(&j, x)| matrix[i * n + j] * x)
            .sum();
        pushed + velocities[i] >= 0.0
    });
    opens && impulses.iter().all(|x| *x >= 0.0)
}

fn mixed_rows() -> Vec<RowKind> {
    let mut rows = vec![RowKind::Bilateral; 4];
    for _ in 0..4 {
        let normal = rows.len();
        let friction = RowKind::Friction {
            normal,
            coefficient: 0.4,
        };
        rows.extend([RowKind::Unilateral, friction, friction]);
    }
    rows
}

/// Joints, contacts and friction with more rows than degrees of freedom: every row satisfies its conditions to
/// rounding, although the impulses are not unique.
#[test]
fn mixed_and_redundant_problems_satisfy_every_row() {
    let mut noise = Noise(11);
    let rows = mixed_rows();
    for _ in 0..100 {
        let n = rows.len();
        let matrix = random_matrix(&mut noise, n, 12);
        // Velocities that some motion of the bodies has, so that joints can be satisfied: H times anything.
        let motion: Vec<f64> = (0..n).map(|_| noise.next()).collect();
        let velocities: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| matrix[i * n + j] * motion[j]).sum())
            .collect();
        let problem = Dense {
            matrix: &matrix,
            velocities: &velocities,
            rows: &rows,
        };
        let normals: Vec<f64> = (0..n).map(|_| 0.5 + 0.5 * noise.next()).collect();
        let mut impulses = normals.clone();
        let mut pivoting = Pivoting::with_bounds(FrictionBounds::Last);
        let (solved, sets) = solve(&mut pivoting, problem, &mut impulses);
        assert!(solved.is_converged, "{solved:?}");
        assert_eq!(solved.fallback, None);
        assert!(problem.box_residual(&impulses, &normals) < 1e-8);
        for (row, kind) in rows.iter().enumerate() {
            if let RowKind::Friction { normal, .. } = *kind {
                let bound = 0.4 * normals[normal].max(0.0);
                let expected = match sets[row] {
                    RowState::Upper => bound,
                    RowState::Lower => -bound,
                    _ => continue,
                };
                assert_eq!(impulses[row], expected, "slip is exactly at its bound");
            }
        }
    }
}

/// With a compliance on the diagonal the solution is unique: a warm start must not change it, and needs no search.
#[test]
fn a_warm_start_finds_the_same_sets_without_search() {
    let mut noise = Noise(5);
    let rows = mixed_rows();
    let n = rows.len();
    let mut matrix = random_matrix(&mut noise, n, 12);
    for i in 0..n {
        matrix[i * n + i] += 0.05;
    }
    let velocities: Vec<f64> = (0..n).map(|_| noise.next()).collect();
    let problem = Dense {
        matrix: &matrix,
        velocities: &velocities,
        rows: &rows,
    };
    let mut cold = vec![0.0; n];
    let (first, sets) = solve(&mut Pivoting::new(), problem, &mut cold);
    assert!(first.is_converged && first.iterations > 0);
    let mut warm = cold.clone();
    let (second, same) = solve(&mut Pivoting::new(), problem, &mut warm);
    assert!(second.is_converged);
    assert_eq!(second.iterations, 0);
    assert_eq!(second.factorisations, 1);
    assert_eq!(sets, same);
    assert!(problem.box_residual(&cold, &cold) < 1e-9);
}

/// Without friction box and cone are the same problem: both solvers find the same velocities.
#[test]
fn both_solvers_agree_without_friction() {
    let mut noise = Noise(17);
    for _ in 0..50 {
        let n = 10;
        let matrix = random_matrix(&mut noise, n, 8);
        let velocities: Vec<f64> = (0..n)
            .map(|i| matrix[i * n] * 0.3 + 0.5 * noise.next().abs())
            .collect();
        let rows: Vec<RowKind> = (0..n).map(|_| RowKind::Unilateral).collect();
        let problem = Dense {
            matrix: &matrix,
            velocities: &velocities,
            rows: &rows,
        };
        let (mut one, mut other) = (vec![0.0; n], vec![0.0; n]);
        let (pivoted, _) = solve(&mut Pivoting::new(), problem, &mut one);
        let (swept, _) = solve(&mut Cone::new(1e-12, 100_000), problem, &mut other);
        assert!(pivoted.is_converged && swept.is_converged);
        for row in 0..n {
            let (u, v) = (problem.velocity(row, &one), problem.velocity(row, &other));
            assert!((u - v).abs() < 1e-7, "{u} {v}");
        }
    }
}

/// Two joints that ask for opposite things of one velocity.
#[test]
fn contradictory_joints_are_reported_and_stay_finite() {
    let matrix = [1.0, 1.0, 1.0, 1.0];
    let velocities = [1.0, -1.0];
    let rows = [RowKind::Bilateral; 2];
    let problem = Dense {
        matrix: &matrix,
        velocities: &velocities,
        rows: &rows,
    };
    let mut impulses = vec![0.0; 2];
    let (solved, _) = solve(&mut Pivoting::new(), problem, &mut impulses);
    assert!(!solved.is_converged);
    assert!(impulses.iter().all(|x| x.is_finite()));
}

/// When pivoting may change no set at all, sweeps stand in, are named and counted, and still solve the problem.
#[test]
fn sweeps_stand_in_when_pivoting_exceeds_its_bound() {
    let mut noise = Noise(23);
    let n = 8;
    let matrix = random_matrix(&mut noise, n, 12);
    let velocities = vec![-1.0; n];
    let rows = vec![RowKind::Unilateral; n];
    let problem = Dense {
        matrix: &matrix,
        velocities: &velocities,
        rows: &rows,
    };
    let mut pivoting = Pivoting::new();
    pivoting.most_changes = 0;
    let mut impulses = vec![0.0; n];
    let (solved, _) = solve(&mut pivoting, problem, &mut impulses);
    assert_eq!(solved.fallback, Some(oldham_contact::Fallback::Sweeps));
    assert_eq!(pivoting.fallbacks, 1);
    assert!(solved.is_converged);
    assert!(problem.box_residual(&impulses, &impulses) < 1e-8);
}
