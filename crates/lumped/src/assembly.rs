//! From a checked description to the equations of motion.

use std::collections::BTreeMap;

use nalgebra::{Cholesky, DMatrix};

use crate::equations::{Coupling, Equations, OwnMass};
use crate::error::SpecError;
use crate::law::{Law, Load, Receiver};
use crate::lu::Lu;
use crate::sparse::SparseRows;
use crate::spec::{BoundaryMotion, ElementKind, NodeRef, Prescribed, Spec};

/// Largest relative difference between mirrored entries of a mass matrix.
const SYMMETRY: f64 = 1e-12;

type Places<E> = BTreeMap<(usize, usize), E>;

/// Numbers of slots and rows for the attachments of a description.
#[derive(Clone, Copy)]
pub(crate) struct Numbering<'a>(pub &'a Spec);

impl Numbering<'_> {
    fn ground(self) -> usize {
        self.0.nodes.len() + self.0.boundary_nodes.len()
    }

    /// Where the motion is read.
    pub(crate) fn slot(self, node: NodeRef) -> usize {
        match node {
            NodeRef::Ground => self.ground(),
            NodeRef::Node(node) => node.0,
            NodeRef::Boundary(boundary) => match self.0.boundary_nodes[boundary.0].motion {
                BoundaryMotion::Inputs => self.0.nodes.len() + boundary.0,
                BoundaryMotion::Follows(node) => node.0,
            },
        }
    }

    /// How the motion of this node is prescribed, if it is.
    pub(crate) fn prescribed(self, node: NodeRef) -> Option<Prescribed> {
        match node {
            NodeRef::Boundary(boundary) => Some(self.0.boundary_nodes[boundary.0].prescribed),
            NodeRef::Ground | NodeRef::Node(_) => None,
        }
    }

    /// What takes up a force on this node.
    fn rows(self, node: NodeRef) -> Vec<usize> {
        match node {
            NodeRef::Ground => Vec::new(),
            NodeRef::Node(node) => vec![node.0],
            NodeRef::Boundary(boundary) => {
                let own_row = self.0.nodes.len() + boundary.0;
                let reactions = self.0.boundary_nodes[boundary.0].reactions.iter();
                std::iter::once(own_row)
                    .chain(reactions.map(|node| node.0))
                    .collect()
            }
        }
    }

    fn receivers(self, node: NodeRef, sign: f64) -> impl Iterator<Item = Receiver> {
        let rows = self.rows(node).into_iter();
        rows.map(move |row| Receiver { row, sign })
    }

    /// Fraction of an element's energy that this subsystem accounts for.
    pub(crate) fn share(self, kind: &ElementKind) -> f64 {
        let mirrored = kind.attachments().iter().any(|&node| match node {
            NodeRef::Boundary(boundary) => self.0.boundary_nodes[boundary.0].mirrored,
            _ => false,
        });
        if mirrored { 0.5 } else { 1.0 }
    }
}

/// Collects the entries of all elements.
struct Assembly<'a> {
    numbering: Numbering<'a>,
    couplings: Places<Coupling>,
    masses: Places<f64>,
    constant: Vec<f64>,
    laws: Vec<Law>,
    loads: Vec<Load>,
}

/// The equations of a description that passed [`crate::validate::validate`].
pub(crate) fn assemble(spec: &Spec) -> Result<Equations, Vec<SpecError>> {
    let rows = spec.nodes.len() + spec.boundary_nodes.len();
    let mut assembly = Assembly {
        numbering: Numbering(spec),
        couplings: Places::new(),
        masses: Places::new(),
        constant: vec![0.0; rows],
        laws: Vec::new(),
        loads: Vec::new(),
    };
    for element in &spec.elements {
        assembly.add(&element.name, &element.kind);
    }
    assembly.finish(spec)
}

impl Assembly<'_> {
    fn add(&mut self, name: &str, kind: &ElementKind) {
        let share = self.numbering.share(kind);
        match kind {
            ElementKind::Mass { node, mass } => self.add_mass(*node, *node, *mass),
            ElementKind::Spring {
                ends,
                stiffness,
                damping,
                rest,
            } => {
                let coupling = Coupling {
                    stiffness: *stiffness,
                    damping: *damping,
                };
                self.add_spring(*ends, coupling, *rest);
            }
            ElementKind::ForceLaw { ends, law } => {
                let on_first = self.numbering.receivers(ends[0], 1.0);
                let on_second = self.numbering.receivers(ends[1], -1.0);
                self.laws.push(Law {
                    name: name.to_owned(),
                    uses_displacement: law.uses("d"),
                    uses_velocity: law.uses("v"),
                    uses_time: law.uses("t"),
                    expression: law.clone(),
                    ends: ends.map(|end| self.numbering.slot(end)),
                    receivers: on_first.chain(on_second).collect(),
                    share,
                });
            }
            ElementKind::Load { node, force } => self.loads.push(Load {
                name: name.to_owned(),
                expression: force.clone(),
                slot: self.numbering.slot(*node),
                receivers: self.numbering.receivers(*node, 1.0).collect(),
                share,
            }),
            ElementKind::Matrices {
                nodes,
                mass,
                damping,
                stiffness,
            } => {
                for (row, column, m) in places(nodes, mass.as_deref()) {
                    self.add_mass(row, column, m);
                }
                for (row, column, damping) in places(nodes, damping.as_deref()) {
                    let stiffness = 0.0;
                    self.add_coupling(row, column, Coupling { stiffness, damping });
                }
                for (row, column, stiffness) in places(nodes, stiffness.as_deref()) {
                    let damping = 0.0;
                    self.add_coupling(row, column, Coupling { stiffness, damping });
                }
            }
        }
    }

    fn add_spring(&mut self, ends: [NodeRef; 2], coupling: Coupling, rest: f64) {
        let opposite = Coupling {
            stiffness: -coupling.stiffness,
            damping: -coupling.damping,
        };
        for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
            for row in self.numbering.rows(end) {
                self.constant[row] += sign * coupling.stiffness * rest;
            }
        }
        let [a, b] = ends;
        self.add_coupling(a, a, coupling);
        self.add_coupling(b, b, coupling);
        self.add_coupling(a, b, opposite);
        self.add_coupling(b, a, opposite);
    }

    fn add_coupling(&mut self, row: NodeRef, column: NodeRef, coupling: Coupling) {
        let slot = self.numbering.slot(column);
        if slot == self.numbering.ground() {
            return;
        }
        for row in self.numbering.rows(row) {
            let sum = self.couplings.entry((row, slot)).or_default();
            sum.stiffness += coupling.stiffness;
            sum.damping += coupling.damping;
        }
    }

    fn add_mass(&mut self, row: NodeRef, column: NodeRef, mass: f64) {
        let slot = self.numbering.slot(column);
        if slot == self.numbering.ground() {
            return;
        }
        for row in self.numbering.rows(row) {
            *self.masses.entry((row, slot)).or_default() += mass;
        }
    }

    fn finish(self, spec: &Spec) -> Result<Equations, Vec<SpecError>> {
        let own = spec.nodes.len();
        let rows = self.constant.len();
        let own_mass = own_mass(spec, &self.masses)?;
        let own_rows = self.masses.iter().filter(|(place, _)| place.0 < own);
        let of_boundary_nodes = own_rows.filter(|(place, _)| place.1 >= own);
        let boundary_masses = of_boundary_nodes.map(|(place, mass)| (place.0, place.1, *mass));
        let boundary_masses = boundary_masses.collect();
        let nodes = spec.nodes.iter().map(|node| &node.name);
        let names = nodes.chain(spec.boundary_nodes.iter().map(|boundary| &boundary.name));
        Ok(Equations {
            own,
            boundary_nodes: spec.boundary_nodes.len(),
            names: names.cloned().collect(),
            couplings: SparseRows::new(rows, self.couplings),
            boundary_masses,
            masses: SparseRows::new(rows, self.masses),
            own_mass,
            constant: self.constant,
            laws: self.laws,
            loads: self.loads,
        })
    }
}

/// The entries other than zero of a dense matrix.
fn places(nodes: &[NodeRef], matrix: Option<&[f64]>) -> Vec<(NodeRef, NodeRef, f64)> {
    let size = nodes.len();
    let entries = matrix.unwrap_or_default().iter().enumerate();
    entries
        .filter(|(_, value)| **value != 0.0)
        .map(|(at, &value)| (nodes[at / size], nodes[at % size], value))
        .collect()
}

fn own_mass(spec: &Spec, masses: &Places<f64>) -> Result<OwnMass, Vec<SpecError>> {
    let own = spec.nodes.len();
    let name = |node: usize| spec.nodes[node].name.clone();
    let is_own = |place: &&(usize, usize)| place.0 < own && place.1 < own;
    let mass = |row, column| masses.get(&(row, column)).copied().unwrap_or(0.0);

    let bare = (0..own).filter(|&node| mass(node, node) == 0.0);
    let mut problems: Vec<_> = bare
        .map(|node| SpecError::NodeWithoutMass { node: name(node) })
        .collect();
    let crossed = masses.keys().filter(is_own).filter(|(row, column)| {
        row < column || (row > column && !masses.contains_key(&(*column, *row)))
    });
    for &(row, column) in crossed {
        let (one, other) = (mass(row, column), mass(column, row));
        if (one - other).abs() > SYMMETRY * (mass(row, row) * mass(column, column)).abs().sqrt() {
            problems.push(SpecError::MassNotSymmetric {
                row: name(row),
                column: name(column),
            });
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    let is_diagonal = masses.keys().filter(is_own).all(|place| place.0 == place.1);
    if is_diagonal {
        let diagonal: Vec<f64> = (0..own).map(|node| mass(node, node)).collect();
        return if diagonal.iter().all(|&mass| mass > 0.0) {
            Ok(OwnMass::Diagonal {
                reciprocals: diagonal.iter().map(|mass| mass.recip()).collect(),
                masses: diagonal,
            })
        } else {
            Err(vec![SpecError::MassNotPositiveDefinite])
        };
    }
    if Cholesky::new(DMatrix::from_fn(own, own, mass)).is_none() {
        return Err(vec![SpecError::MassNotPositiveDefinite]);
    }
    let pattern = masses.keys().filter(is_own).copied();
    let mut factors = Lu::with_pattern(own, pattern);
    for &(row, column) in masses.keys().filter(is_own) {
        factors.add(row, column, mass(row, column));
    }
    let factorised = factors.factorise();
    factorised.map_err(|_| vec![SpecError::MassNotPositiveDefinite])?;
    Ok(OwnMass::Full(factors))
}
