//! A part as a linear system from sequence to sequence: the matrices that Newton assembles, and
//! the formula that integrates them.

use super::{MechanismPart, Output};
use crate::integrator::{Formula, Method, Record};
use crate::linearised::Entry;
use crate::node::{Marker, NodeId};
use oldham_cosim::{
    InputPort, Operator, OutputPort, Quantity, SequenceInput, SequenceModel, SequenceOutput,
    TurningModel,
};
use oldham_space::Vec3;

/// How many unknowns a node has.
const PER_NODE: usize = 6;

impl MechanismPart {
    /// Nothing where a macro step has several micro steps, is explicit, or depends on the past by
    /// more than the formula.
    pub(super) fn find_sequence_model(&self, step: f64, inputs: &[f64]) -> Option<SequenceModel> {
        let system = &self.system;
        let mut elements = system.assembly.elements.iter();
        let is_formula = !matches!(system.options.method, Method::Rk4 { .. } | Method::Impulses);
        if self.micro_steps != 1
            || !is_formula
            || elements.any(|placed| {
                // What rolls constrains velocities, by directions that the motion turns.
                let element = &placed.element;
                element.depends_on_past() || !element.on_velocities().is_empty()
            })
        {
            return None;
        }
        let operator = self.operator(step)?;
        let mut matrices = system.linearised_alone(inputs);
        let spins = self.find_spins();
        if system.tree.is_some() && !spins.is_empty() {
            // Joints that turn are stepped in their angles, which absolute equations do not show.
            return None;
        }
        let turning = match spins.is_empty() {
            true => None,
            false => self.find_turning_model(inputs),
        };
        matrices.damping.append(&mut matrices.left_out.damping);
        let mut stiffness = matrices.stiffness;
        stiffness.append(&mut matrices.left_out.stiffness);
        stiffness.append(&mut matrices.left_out.force_columns);
        stiffness.extend(matrices.constraint_rows);
        stiffness.extend(matrices.force_columns);
        let first_multiplier = PER_NODE * matrices.nodes;
        let mut received = Vec::new();
        let attached = self.attached.iter().map(|&(node, i)| (Marker::on(node), i));
        for (at, component) in self.loaded.iter().copied().chain(attached) {
            // A row for each component: a force away from its node has rows of moments, too.
            if at.offset != Vec3::ZERO {
                return None;
            }
            received.push((
                self.input_at(component)?,
                SequenceInput::Load(unknowns(at.node)?),
            ));
        }
        for prescribed in &self.prescribed {
            let multipliers = system.multiplier_range(prescribed.joint);
            let pose = SequenceInput::Pose {
                rows: multipliers.map(|i| first_multiplier + i).collect(),
                node: unknowns(prescribed.node)?,
                with_velocity: prescribed.has_velocity,
            };
            received.push((self.input_at(prescribed.motion)?, pose));
        }
        let shown = |(index, output): (usize, &Output)| {
            let output = self.shown(output, &matrices.mass, first_multiplier)?;
            Some((OutputPort(index), output))
        };
        Some(SequenceModel {
            outputs: self.outputs.iter().enumerate().filter_map(shown).collect(),
            unknowns: matrices.unknowns,
            mass: matrices.mass,
            damping: matrices.damping,
            stiffness,
            operator,
            inputs: received,
            spins,
            turning,
        })
    }

    /// The angular velocities of all nodes; nothing where none turns.
    fn find_spins(&self) -> Vec<[f64; 3]> {
        let turns = |record: &Record| record.motion.angular_velocity != Vec3::ZERO;
        let records = &self.system.state.now[1..];
        match records.iter().any(turns) {
            true => {
                let spin = |record: &Record| record.motion.angular_velocity.0;
                records.iter().map(spin).collect()
            }
            false => Vec::new(),
        }
    }

    /// The same where nodes turn; nothing where elements have inertia, of which it is not known how it
    /// turns.
    fn find_turning_model(&self, inputs: &[f64]) -> Option<TurningModel> {
        let system = &self.system;
        let mut matrices = system.linearised_elements(inputs);
        if !matrices.mass.is_empty() {
            return None;
        }
        let nodes = matrices.nodes;
        let mut stiffness = matrices.stiffness;
        stiffness.append(&mut matrices.left_out.stiffness);
        stiffness.append(&mut matrices.left_out.force_columns);
        stiffness.extend(matrices.constraint_rows);
        stiffness.extend(matrices.force_columns);
        matrices.damping.append(&mut matrices.left_out.damping);
        let formula = self.turning_formula()?;
        let [blocks, weight] = self.turning_blocks(&formula);
        for block in weight {
            for (i, row) in block.matrix.iter().enumerate() {
                for (j, &value) in row.iter().enumerate() {
                    stiffness.push((block.row + i, block.column + j, value));
                }
            }
        }
        let load = |(index, output): (usize, &Output)| match *output {
            Output::Interface(node, _) => Some((OutputPort(index), unknowns(node)?[0])),
            _ => None,
        };
        Some(TurningModel {
            nodes,
            damping: matrices.damping,
            stiffness,
            blocks,
            formula,
            loads: self.outputs.iter().enumerate().filter_map(load).collect(),
        })
    }

    /// The formula, as it is once it has its history.
    fn operator(&self, h: f64) -> Option<Operator> {
        let formula = self.system.options.method.formula(2)?;
        Some(match formula {
            Formula::MultiStep(k) => Operator::multistep([k.a1, k.a2], [k.b0, k.b1, k.b2], h),
            Formula::Newmark(k) => k.operator(h),
        })
    }

    /// The input port that begins at a component.
    fn input_at(&self, component: usize) -> Option<InputPort> {
        let mut ports = (0..self.ports.inputs().len()).map(InputPort);
        ports.find(|&port| self.ports.input_range(port).start == component)
    }

    /// What an output shows, where that is a linear function of the unknowns that other parts can
    /// do something with.
    fn shown(&self, output: &Output, mass: &[Entry], first: usize) -> Option<SequenceOutput> {
        Some(match *output {
            Output::Motion(at) => {
                let nodes = unknowns(at.node)?;
                let own = nodes.iter().enumerate();
                let mut entries: Vec<_> = own.map(|(i, &unknown)| (i, unknown, 1.0, 0)).collect();
                entries.extend(self.carried(&at, &nodes));
                SequenceOutput {
                    entries,
                    width: PER_NODE,
                    is_motion: true,
                }
            }
            Output::Along(at, direction, along) if along.quantity() == Quantity::Translation => {
                let nodes = unknowns(at.node)?;
                let own = nodes.iter().take(3).enumerate();
                let own = own.map(|(i, &unknown)| (0, unknown, direction[i], 0));
                let carried = self.carried(&at, &nodes);
                let carried =
                    carried.map(|(i, unknown, by, order)| (0, unknown, direction[i] * by, order));
                SequenceOutput {
                    entries: own.chain(carried).collect(),
                    width: 1,
                    is_motion: true,
                }
            }
            Output::Interface(node, joint) => {
                let rows = unknowns(node)?;
                let multipliers = self.system.multiplier_range(joint).enumerate();
                let mut entries: Vec<_> = multipliers
                    .map(|(i, multiplier)| (i, first + multiplier, 1.0, 0))
                    .collect();
                // The load contains the inertia of the node's own bodies.
                let inertia = mass.iter().filter_map(|&(row, column, value)| {
                    let component = rows.iter().position(|&unknown| unknown == row)?;
                    Some((component, column, value, 2))
                });
                entries.extend(inertia);
                SequenceOutput {
                    entries,
                    width: PER_NODE,
                    is_motion: false,
                }
            }
            _ => return None,
        })
    }

    /// How the rotation of its node moves a marker, as it is now: δφ × arm.
    fn carried<'a>(
        &self,
        at: &Marker,
        unknowns: &'a [usize],
    ) -> impl Iterator<Item = (usize, usize, f64, usize)> + use<'a> {
        let arm = at.arm(&self.system.state.now[at.node.0].motion);
        let by_turn = -arm.skew();
        let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        pairs
            .filter(move |&(i, j)| by_turn.0[i][j] != 0.0)
            .map(move |(i, j)| (i, unknowns[3 + j], by_turn.0[i][j], 0))
    }
}

/// The unknowns of a node; the ground has none.
fn unknowns(node: NodeId) -> Option<Vec<usize>> {
    let first = PER_NODE * node.index().checked_sub(1)?;
    Some((first..first + PER_NODE).collect())
}
