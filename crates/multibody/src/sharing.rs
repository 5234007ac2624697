//! Redundant joints on request: what each of them carries when all share the load with the least
//! norm.
//!
//! Constraints that follow from others are left out, so that the equations stay those of the
//! independent ones, and the motion is theirs. What is not determined is how the joints share the
//! load: all multipliers λ with the same forces Aᵀ λ on the nodes will do. Of these, the smallest
//! are found, forces in N beside moments divided by the size of the model, by conjugate gradients
//! for Aᵀ λ = f: their iterates start from zero and never leave the range of A, where the solution
//! of least norm lies. Only outputs need them.
//!
//! A constraint that was left out in a singular position would be missed elsewhere, so it is
//! watched.
//!
//! # References
//! Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. Natl.
//! Bur. Stand. 49 (1952) 409–436, Sect. 10.

use crate::assembly::{Assembly, EvaluationPoint, Placed};
use crate::element::{At, Element, ElementId, Residual};
use crate::error::SolveError;
use crate::joint::Relieved;
use crate::model::{Model, NamedElement};
use crate::redundancy::LocalMatrix;
use crate::system::System;
use oldham_space::Vec3;
use std::collections::BTreeSet;

/// A constraint that is left out may be violated by this fraction of the model's size.
const MISSED: f64 = 1e-6;
/// Conjugate gradients stop when the residual has fallen by this factor: little above what rounding lets
/// them reach.
const SOLVED: f64 = 1e-13;
/// Rows that an element may have: a bound that keeps its own residual off the heap.
const MOST_ROWS: usize = 64;

/// The joints that share a load which the equations do not divide among them.
#[derive(Debug)]
pub(crate) struct Sharing {
    members: Vec<Member>,
    /// Of all constraints of the members, those left out among them.
    multipliers: Vec<f64>,
    /// Gradients of these, scaled; one after the other.
    gradients: Vec<f64>,
    /// Unit of each: one, or the size of the model for a moment.
    units: Vec<f64>,
    /// Forces on all nodes, the ground last: what is left of those to be balanced, and an image.
    left: Vec<f64>,
    image: Vec<f64>,
    /// As many as multipliers.
    solution: Vec<f64>,
    direction: Vec<f64>,
    slope: Vec<f64>,
    local: LocalMatrix,
}

#[derive(Debug)]
struct Member {
    element: usize,
    /// First row of each node.
    nodes: Vec<usize>,
    /// Its place among the multipliers of all members.
    first: usize,
    rows: usize,
    /// Where its gradients begin.
    gradients: usize,
}

impl Model {
    /// Leaves out constraints that follow from others in the initial position. Gives the elements
    /// that share a load which is not determined; none if nothing can be left out. Those that are
    /// read by outputs or by other elements stay whole.
    pub(crate) fn relieve(&mut self, inputs: &[f64], read: &[ElementId]) -> Vec<usize> {
        let mut first = vec![0];
        for named in &self.elements {
            first.push(first[first.len() - 1] + named.element.constraints());
        }
        let by_elements = self.elements.iter();
        let by_elements = by_elements.flat_map(|named| named.uses.elements.iter());
        let read: BTreeSet<ElementId> = by_elements.chain(read).copied().collect();
        let can_be_relieved = |&index: &usize| {
            let is_read = read.contains(&ElementId(index));
            Relieved::is_possible(&*self.elements[index].element) && !is_read
        };
        // Those that must stay whole come first: later ones depend on them.
        let (relievable, whole): (Vec<usize>, Vec<usize>) =
            (0..self.elements.len()).partition(can_be_relieved);
        let order: Vec<usize> = whole.iter().chain(&relievable).copied().collect();
        let found = self.dependence(&order, 0.0, inputs);
        let owner = |row: &usize| first.partition_point(|start| start <= row) - 1;
        let dependent: BTreeSet<usize> = found.dependent.iter().map(owner).collect();
        let involved: BTreeSet<usize> = found.involved.iter().map(owner).collect();
        let is_lost = |index: &usize| {
            let element = &*self.elements[*index].element;
            element.memory() > 0 || element.depends_on_past() || element.nodes().len() > MOST_NODES
        };
        let must_refuse = dependent.iter().any(|index| !relievable.contains(index));
        if dependent.is_empty() || must_refuse || involved.iter().any(is_lost) {
            return Vec::new();
        }
        let elements = std::mem::take(&mut self.elements);
        for (index, named) in elements.into_iter().enumerate() {
            let rows = first[index]..first[index + 1];
            let is_kept = |row: &usize| !found.dependent.contains(row);
            let named = match dependent.contains(&index) {
                true => {
                    let kept = rows.clone().filter(is_kept);
                    let kept = kept.map(|row| row - rows.start).collect();
                    let joint = Relieved::new(named.element, kept);
                    NamedElement::new(named.name, Box::new(joint))
                }
                false => named,
            };
            self.elements.push(named);
        }
        involved.into_iter().collect()
    }
}

/// Most nodes of an element that takes part.
const MOST_NODES: usize = 6;

impl Sharing {
    pub fn new(elements: &[usize], assembly: &Assembly) -> Self {
        let (mut rows, mut width) = (0, 0);
        let member = |&element: &usize| {
            let placed = &assembly.elements[element];
            let count = whole(placed).constraints();
            let nodes = placed.rows[..placed.rows.len() - 1].to_vec();
            let member = Member {
                element,
                first: rows,
                rows: count,
                gradients: width,
                nodes,
            };
            rows += count;
            width += 6 * member.nodes.len() * count;
            member
        };
        let members = elements.iter().map(member).collect();
        let forces = vec![0.0; assembly.residual_length()];
        Self {
            members,
            multipliers: vec![0.0; rows],
            gradients: vec![0.0; width],
            units: vec![1.0; rows],
            left: forces.clone(),
            image: forces,
            solution: vec![0.0; rows],
            direction: vec![0.0; rows],
            slope: vec![0.0; rows],
            local: LocalMatrix::default(),
        }
    }

    /// Finds what each joint carries.
    pub fn update(
        &mut self,
        assembly: &Assembly,
        at: &EvaluationPoint<'_>,
        size: f64,
    ) -> Result<(), SolveError> {
        for index in 0..self.members.len() {
            self.look_at(index, assembly, at, size)?;
        }
        for (value, unit) in self.multipliers.iter_mut().zip(&self.units) {
            *value /= unit;
        }
        self.left.fill(0.0);
        spread(
            &self.members,
            &self.gradients,
            &self.multipliers,
            &mut self.left,
        );
        self.solve();
        for (i, value) in self.multipliers.iter_mut().enumerate() {
            *value = self.solution[i] * self.units[i];
        }
        Ok(())
    }

    /// Takes the gradients and the multipliers of a member; watches what is left out of it.
    fn look_at(
        &mut self,
        index: usize,
        assembly: &Assembly,
        at: &EvaluationPoint<'_>,
        size: f64,
    ) -> Result<(), SolveError> {
        let member = &self.members[index];
        let placed = &assembly.elements[member.element];
        let mine = &mut self.multipliers[member.first..member.first + member.rows];
        mine.fill(0.0);
        let here = at.of(placed, &assembly.elements);
        match placed.element.relieved() {
            Some((_, kept)) => {
                for (&place, &value) in kept.iter().zip(here.multipliers) {
                    mine[place] = value;
                }
            }
            None => mine.copy_from_slice(here.multipliers),
        }
        let here = At {
            multipliers: mine,
            ..here
        };
        let element = whole(placed);
        self.local.evaluate(element, &here);
        let values = residual(element, &here);
        let kept = placed.element.relieved().map(|(_, kept)| kept);
        let ground = assembly.unknowns();
        for row in 0..member.rows {
            let gradient = |k: usize| self.local.gradient(row, k / 6, k % 6);
            let width = 6 * member.nodes.len();
            let turns = |k: &usize| k % 6 >= 3;
            let is_moment = (0..width).all(|k| turns(&k) || gradient(k) == 0.0);
            let unit = if is_moment { size } else { 1.0 };
            self.units[member.first + row] = unit;
            for k in 0..width {
                let by_size = if turns(&k) { 1.0 / size } else { 1.0 };
                let is_ground = member.nodes[k / 6] == ground;
                let value = if is_ground { 0.0 } else { gradient(k) };
                self.gradients[member.gradients + row * width + k] = value * unit * by_size;
            }
            let violation = values[width + row].abs() * unit;
            let is_left_out = kept.is_some_and(|kept| !kept.contains(&row));
            if is_left_out && violation > MISSED * size {
                return Err(SolveError::NotRedundant {
                    time: at.time,
                    joint: placed.name.clone(),
                    violation,
                });
            }
        }
        Ok(())
    }

    /// The smallest solution that spreads to what is left; that is zero afterwards.
    fn solve(&mut self) {
        self.solution.fill(0.0);
        gather(&self.members, &self.gradients, &self.left, &mut self.slope);
        self.direction.copy_from_slice(&self.slope);
        let mut size = square(&self.slope);
        let enough = SOLVED * SOLVED * size;
        for _ in 0..3 * self.solution.len() + 20 {
            if size <= enough {
                break;
            }
            self.image.fill(0.0);
            spread(
                &self.members,
                &self.gradients,
                &self.direction,
                &mut self.image,
            );
            let step = size / square(&self.image);
            if !step.is_finite() {
                break;
            }
            add(&mut self.solution, step, &self.direction);
            add(&mut self.left, -step, &self.image);
            gather(&self.members, &self.gradients, &self.left, &mut self.slope);
            let before = std::mem::replace(&mut size, square(&self.slope));
            for (direction, slope) in self.direction.iter_mut().zip(&self.slope) {
                *direction = slope + size / before * *direction;
            }
        }
    }

    /// The wrench of a member on one of its nodes; nothing if the element is none.
    fn wrench(
        &self,
        assembly: &Assembly,
        at: &EvaluationPoint<'_>,
        element: ElementId,
        node: usize,
    ) -> Option<(Vec3, Vec3)> {
        let mut members = self.members.iter();
        let member = members.find(|member| member.element == element.0)?;
        let placed = &assembly.elements[element.0];
        let here = At {
            multipliers: &self.multipliers[member.first..member.first + member.rows],
            ..at.of(placed, &assembly.elements)
        };
        let values = residual(whole(placed), &here);
        let v = &values[6 * node..];
        Some((Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])))
    }
}

impl System {
    /// Finds how redundant joints share their load, where that was asked for.
    pub(crate) fn share_reactions(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let Some(mut sharing) = self.sharing.take() else {
            return Ok(());
        };
        let shared = sharing.update(&self.assembly, &self.evaluation_point(inputs), self.size);
        self.sharing = Some(sharing);
        shared
    }

    /// The wrench of an element that shares a load, on one of its nodes.
    pub(crate) fn shared_wrench(
        &self,
        element: ElementId,
        node: usize,
        inputs: &[f64],
    ) -> Option<(Vec3, Vec3)> {
        let sharing = self.sharing.as_ref()?;
        sharing.wrench(
            &self.assembly,
            &self.evaluation_point(inputs),
            element,
            node,
        )
    }
}

/// The element with all its constraints.
fn whole(placed: &Placed) -> &dyn Element {
    match placed.element.relieved() {
        Some((joint, _)) => joint,
        None => &*placed.element,
    }
}

/// Forces on the nodes of an element, then its negative violations.
fn residual(element: &dyn Element, at: &At<'_>) -> [f64; MOST_ROWS] {
    let mut values = [0.0; MOST_ROWS];
    let mut rows = [0; MOST_NODES + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = 6 * i;
    }
    let mut out = Residual::new(&mut values, &rows[..=element.nodes().len()]);
    element.residual(at, &mut out);
    values
}

/// The gradients of a member row by row, in sixes: one for each of its nodes.
fn rows_of<'g>(member: &Member, gradients: &'g [f64]) -> impl Iterator<Item = &'g [[f64; 6]]> {
    let nodes = member.nodes.len();
    let own = &gradients[member.gradients..][..6 * nodes * member.rows];
    own.as_chunks::<6>().0.chunks_exact(nodes)
}

fn spread(members: &[Member], gradients: &[f64], multipliers: &[f64], forces: &mut [f64]) {
    for member in members {
        let multipliers = &multipliers[member.first..];
        for (row, multiplier) in rows_of(member, gradients).zip(multipliers) {
            for (gradient, &node) in row.iter().zip(&member.nodes) {
                let forces = forces[node..].first_chunk_mut::<6>().expect("six forces");
                for (force, gradient) in forces.iter_mut().zip(gradient) {
                    *force += gradient * multiplier;
                }
            }
        }
    }
}

fn gather(members: &[Member], gradients: &[f64], forces: &[f64], rows: &mut [f64]) {
    for member in members {
        let rows = &mut rows[member.first..];
        for (gradients, value) in rows_of(member, gradients).zip(rows) {
            let mut sum = 0.0;
            for (gradient, &node) in gradients.iter().zip(&member.nodes) {
                let forces = forces[node..].first_chunk::<6>().expect("six forces");
                let products = gradient.iter().zip(forces).map(|(g, f)| g * f);
                sum += products.sum::<f64>();
            }
            *value = sum;
        }
    }
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn add(values: &mut [f64], factor: f64, others: &[f64]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value += factor * other;
    }
}
