//! What a part looks like from the wrenches it receives.

use super::MechanismPart;
use crate::node::Marker;
use nalgebra::{DMatrix, DVector};
use oldham_cosim::EffectiveInterface;
use oldham_space::Vec3;

/// Effective mass and force at all wrench inputs: accelerations of the loaded nodes are
/// `mass⁻¹ (force + received wrenches)`.
pub(super) fn effective(part: &mut MechanismPart, inputs: &[f64]) -> Option<EffectiveInterface> {
    // Wrenches at points away from their nodes would need their arms here.
    let is_away = |&(at, _): &(Marker, usize)| at.offset != Vec3::ZERO;
    if part.loaded.is_empty() || part.loaded.iter().any(is_away) {
        return None;
    }
    let components: Vec<usize> = part.loaded.iter().flat_map(|&(_, i)| i..i + 6).collect();
    let rows = |node: usize| 6 * (node - 1)..6 * node;
    let rows: Vec<usize> = part
        .loaded
        .iter()
        .flat_map(|(at, _)| rows(at.node.0))
        .collect();
    let mut unloaded = inputs.to_vec();
    components.iter().for_each(|&i| unloaded[i] = 0.0);

    let system = &mut part.system;
    system
        .find_accelerations(system.state.time, &unloaded)
        .ok()?;
    let free = system.work.residual[..system.assembly.unknowns()].to_vec();
    let mut inverse_mass = DMatrix::zeros(rows.len(), rows.len());
    let mut x = vec![0.0; free.len()];
    for (j, &loaded) in rows.iter().enumerate() {
        x.fill(0.0);
        x[loaded] = 1.0;
        system.lu.solve(&mut x);
        for (i, &row) in rows.iter().enumerate() {
            inverse_mass[(i, j)] = x[row];
        }
    }
    let mass = inverse_mass.try_inverse()?;
    let free = DVector::from_iterator(rows.len(), rows.iter().map(|&row| free[row]));
    let force = &mass * free;
    Some(EffectiveInterface {
        inputs: components,
        mass: mass.transpose().as_slice().to_vec(),
        force: force.as_slice().to_vec(),
    })
}
