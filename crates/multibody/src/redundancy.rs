//! Finds the joints whose constraints depend on each other.

use crate::assembly::{Assembly, Everywhere};
use crate::element::Weights;

/// A gradient whose part independent of the others is smaller than this is dependent.
const DEPENDENT: f64 = 1e-8;

/// Names of the joints that take part in a linear dependence of the constraint gradients; empty if
/// there is none.
pub(crate) fn dependent_joints(assembly: &Assembly, at: &Everywhere<'_>) -> Vec<String> {
    let weights = Weights {
        mass: 0.0,
        damping: 0.0,
        stiffness: 0.0,
    };
    let n = assembly.unknowns();
    let nodes = 6 * assembly.nodes();
    let dense = assembly.dense(at, weights);
    let gradient = |row: usize| (0..nodes).map(|j| dense[j * n + row]).collect::<Vec<f64>>();
    let mut basis: Vec<Direction> = Vec::new();
    let mut involved = vec![false; n - nodes];
    for row in nodes..n {
        let mut vector = gradient(row);
        let size = norm(&vector);
        let mut combination = vec![0.0; n - nodes];
        combination[row - nodes] = 1.0;
        for direction in &basis {
            direction.remove_from(&mut vector, &mut combination);
        }
        let rest = norm(&vector);
        if rest > DEPENDENT * size {
            vector.iter_mut().for_each(|v| *v /= rest);
            combination.iter_mut().for_each(|v| *v /= rest);
            basis.push(Direction {
                vector,
                combination,
            });
        } else {
            for (involved, weight) in involved.iter_mut().zip(&combination) {
                *involved |= weight.abs() > 1e-6;
            }
        }
    }
    let mut names: Vec<String> = Vec::new();
    for (index, _) in involved
        .iter()
        .enumerate()
        .filter(|(_, involved)| **involved)
    {
        let name = assembly.name_of(nodes + index);
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// A unit vector, and how it is made of gradients.
struct Direction {
    vector: Vec<f64>,
    combination: Vec<f64>,
}

impl Direction {
    fn remove_from(&self, vector: &mut [f64], combination: &mut [f64]) {
        let part: f64 = self.vector.iter().zip(&*vector).map(|(a, b)| a * b).sum();
        for (v, d) in vector.iter_mut().zip(&self.vector) {
            *v -= part * d;
        }
        for (v, d) in combination.iter_mut().zip(&self.combination) {
            *v -= part * d;
        }
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}
