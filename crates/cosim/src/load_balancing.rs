//! Which thread does which units.
//!
//! Units keep their thread for a whole run. Threads wait for each other at the end of every phase,
//! so the work is evened out within each phase: the largest unit first, always to the thread that
//! has least to do in that phase. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl.
//! Math. 17 (1969): the busiest thread has at most 4/3 of what it would have in the best
//! distribution.

use crate::step_plan::StepPlan;
use crate::unit::Unit;

/// One thread's units, with their places among all.
pub(crate) type Share<'a> = Vec<(usize, &'a mut Unit)>;

/// The slow units that advance on threads of their own: those that would keep the others waiting.
/// At least one thread is left for the others.
pub(crate) fn overlapping(units: &[Unit], threads: usize) -> Vec<usize> {
    let is_slow = |id: &usize| units[*id].can_overlap();
    let here = (0..units.len()).filter(|&id| !units[id].is_elsewhere);
    let (mut slow, others): (Vec<usize>, Vec<usize>) = here.partition(is_slow);
    let work = |id: usize| units[id].told.work;
    let fast: f64 = others.iter().map(|&id| work(id)).sum();
    slow.retain(|&id| work(id) * threads as f64 > fast);
    slow.sort_by(|&a, &b| work(b).total_cmp(&work(a)).then(a.cmp(&b)));
    slow.truncate(threads.saturating_sub(1));
    slow
}

/// The rank of each unit, balancing the load in the same way.
pub(crate) fn owners_of_ranks(units: &[Unit], plan: &StepPlan, ranks: usize) -> Vec<usize> {
    let work: Vec<f64> = units.iter().map(|unit| unit.told.work).collect();
    owners(&work, members(plan), ranks)
}

/// The members of each phase.
fn members(plan: &StepPlan) -> impl Iterator<Item = Vec<usize>> {
    let phases = plan.timeline.phases.iter();
    phases.map(|phase| phase.members.iter().map(|id| id.0).collect())
}

/// Assigns the units of this process to threads, balancing the load; those that have a companion
/// thread are no load.
pub(crate) fn assign_threads<'a>(
    units: &'a mut [Unit],
    plan: &StepPlan,
    threads: usize,
    has_companion: impl Fn(usize) -> bool,
) -> Vec<Share<'a>> {
    let work = units
        .iter()
        .enumerate()
        .map(|(id, unit)| match has_companion(id) {
            true => 0.0,
            false => unit.told.work,
        });
    let work: Vec<f64> = work.collect();
    let is_here: Vec<bool> = units.iter().map(|unit| !unit.is_elsewhere).collect();
    let phases = members(plan).map(|mut members| {
        members.retain(|&id| is_here[id]);
        members
    });
    let owners = owners(&work, phases, threads);
    let mut shares: Vec<Share<'a>> = (0..threads).map(|_| Vec::new()).collect();
    let units = units.iter_mut().enumerate().zip(owners);
    for ((id, unit), owner) in units.filter(|((_, unit), _)| !unit.is_elsewhere) {
        shares[owner].push((id, unit));
    }
    shares
}

/// The thread of each unit. A unit that works in several phases is assigned in the first of them,
/// and counts in all.
fn owners(work: &[f64], phases: impl Iterator<Item = Vec<usize>>, threads: usize) -> Vec<usize> {
    let mut owners = vec![None; work.len()];
    for mut members in phases {
        members.sort_by(|&a, &b| work[b].total_cmp(&work[a]).then(a.cmp(&b)));
        let mut loads = vec![0.0; threads];
        for &id in &members {
            if let Some(owner) = owners[id] {
                loads[owner] += work[id];
            }
        }
        for id in members {
            if owners[id].is_none() {
                let least = least_loaded(&loads);
                owners[id] = Some(least);
                loads[least] += work[id];
            }
        }
    }
    owners.into_iter().map(|owner| owner.unwrap_or(0)).collect()
}

/// The last of those with least to do: the first thread coordinates besides.
fn least_loaded(loads: &[f64]) -> usize {
    let threads = (0..loads.len()).rev();
    let least = threads.min_by(|&a, &b| loads[a].total_cmp(&loads[b]));
    least.expect("a run has a thread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_part_has_a_thread_of_its_own() {
        let phases = || [vec![0, 1, 2, 3]].into_iter();
        assert_eq!(owners(&[3.0, 1.0, 1.0, 1.0], phases(), 2), [1, 0, 0, 0]);
        assert_eq!(owners(&[1.0, 1.0, 1.0, 3.0], phases(), 2), [0, 0, 0, 1]);
    }

    #[test]
    fn equal_parts_are_assigned_in_turn() {
        let phases = [vec![0, 1, 2, 3, 4]].into_iter();
        assert_eq!(owners(&[2.0; 5], phases, 3), [2, 1, 0, 2, 1]);
    }

    /// Parts of one phase are synchronised before the next one begins: each phase is evened out for
    /// itself.
    #[test]
    fn phases_are_evened_out_one_by_one() {
        let phases = [vec![0], vec![1, 2]].into_iter();
        assert_eq!(owners(&[9.0, 2.0, 1.0], phases, 2), [1, 1, 0]);
        let correcting = [vec![0], vec![0, 1], vec![1, 2]].into_iter();
        assert_eq!(owners(&[5.0, 1.0, 1.0], correcting, 2), [1, 0, 1]);
    }
}
