//! The energy balance: what is stored, what dampers took, what loads brought.
//!
//! Forces that come from other parts are not counted here: the engine balances the interfaces. What
//! is given from outside of the model at ports is.
//! Elements attached to a mirrored boundary node count half, because the boundary node's owner has a copy of them.

use oldham_cosim::{Energy, StepError, Visitor};

use crate::assembly::Numbering;
use crate::equations::{Equations, Motion};
use crate::plant::Plant;
use crate::spec::{ElementKind, NodeRef, Spec};
use crate::wiring::Target;

/// A term `weight * y[row] * y[column]`, with y displacements or velocities by slot.
#[derive(Clone, Copy, Debug)]
struct Bilinear {
    row: usize,
    column: usize,
    weight: f64,
}

fn sum(terms: &[Bilinear], y: &[f64]) -> f64 {
    let value = |term: &Bilinear| term.weight * y[term.row] * y[term.column];
    terms.iter().map(value).sum()
}

/// A term `weight * (d - rest)^2`.
#[derive(Clone, Copy, Debug)]
struct Spring {
    ends: [usize; 2],
    weight: f64,
    rest: f64,
}

/// The terms of the energy and of the power of all elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyTerms {
    kinetic: Vec<Bilinear>,
    potential: Vec<Bilinear>,
    springs: Vec<Spring>,
    dissipation: Vec<Bilinear>,
    /// Whether anything takes or brings energy.
    pub has_power: bool,
}

/// Power at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Power {
    pub dissipated: f64,
    pub supplied: f64,
}

impl EnergyTerms {
    pub(crate) fn new(spec: &Spec) -> Self {
        let mut energy_terms = Self::default();
        for element in &spec.elements {
            energy_terms.add(Numbering(spec), &element.kind);
        }
        let expressions = spec.elements.iter().any(|element| match &element.kind {
            ElementKind::ForceLaw { law, .. } => law.uses("v") || law.uses("t"),
            kind => matches!(kind, ElementKind::Load { .. }),
        });
        energy_terms.has_power = expressions || !energy_terms.dissipation.is_empty();
        energy_terms
    }

    fn add(&mut self, numbering: Numbering<'_>, kind: &ElementKind) {
        let share = numbering.share(kind);
        let slot = |node: NodeRef| numbering.slot(node);
        match kind {
            ElementKind::Mass { node, mass } => self.kinetic.push(Bilinear {
                row: slot(*node),
                column: slot(*node),
                weight: 0.5 * share * mass,
            }),
            ElementKind::Spring {
                ends,
                stiffness,
                damping,
                rest,
            } => {
                let [a, b] = ends.map(slot);
                self.springs.push(Spring {
                    ends: [a, b],
                    weight: 0.5 * share * stiffness,
                    rest: *rest,
                });
                let signs = [(a, a, 1.0), (b, b, 1.0), (a, b, -2.0)];
                let terms = signs.map(|(row, column, sign)| Bilinear {
                    row,
                    column,
                    weight: sign * share * damping,
                });
                self.dissipation
                    .extend(terms.iter().filter(|term| term.weight != 0.0));
            }
            ElementKind::ForceLaw { .. } | ElementKind::Load { .. } => {}
            ElementKind::Matrices {
                nodes,
                mass,
                damping,
                stiffness,
            } => {
                let slots: Vec<usize> = nodes.iter().map(|&node| slot(node)).collect();
                self.kinetic.extend(terms(&slots, mass, 0.5 * share));
                self.potential.extend(terms(&slots, stiffness, 0.5 * share));
                self.dissipation.extend(terms(&slots, damping, share));
            }
        }
    }

    /// Kinetic and potential energy.
    pub(crate) fn stored(&self, motion: &Motion, equations: &Equations) -> Energy {
        let spring = |spring: &Spring| {
            let [a, b] = spring.ends;
            spring.weight * (motion.x[b] - motion.x[a] - spring.rest).powi(2)
        };
        let springs: f64 = self.springs.iter().map(spring).sum();
        let laws = equations.laws.iter();
        let laws = laws.map(|law| law.share * law.potential(law.stretch(&motion.x, &motion.v).0));
        Energy {
            kinetic: sum(&self.kinetic, &motion.v),
            potential: springs + sum(&self.potential, &motion.x) + laws.sum::<f64>(),
            ..Energy::default()
        }
    }

    /// Power lost in dampers and brought by loads and by laws that depend on time.
    pub(crate) fn power(&self, t: f64, motion: &Motion, equations: &Equations) -> Power {
        let (mut dissipated, mut supplied) = (sum(&self.dissipation, &motion.v), 0.0);
        for law in &equations.laws {
            let (d, v) = law.stretch(&motion.x, &motion.v);
            dissipated += law.share * law.dissipation(d, v, t);
            supplied += law.share * law.supply(d, v, t);
        }
        for load in &equations.loads {
            supplied += load.share * load.expression.eval(&[t]) * motion.v[load.slot];
        }
        Power {
            dissipated,
            supplied,
        }
    }
}

fn terms(slots: &[usize], matrix: &Option<Vec<f64>>, factor: f64) -> Vec<Bilinear> {
    let entries = matrix.as_deref().unwrap_or_default().iter().enumerate();
    let entries = entries.filter(|(_, entry)| **entry != 0.0);
    entries
        .map(|(at, entry)| Bilinear {
            row: slots[at / slots.len()],
            column: slots[at % slots.len()],
            weight: factor * entry,
        })
        .collect()
}

/// Work so far, by the trapezoidal rule. The last step stays open at its end, because the power
/// there depends on inputs that are not yet exchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    dissipated: f64,
    supplied: f64,
    open_step: f64,
}

impl Tally {
    /// Counts the power at a point between the step before and one of this size.
    pub(crate) fn add(&mut self, power: Power, size: f64) {
        let weight = 0.5 * (self.open_step + size);
        self.dissipated += weight * power.dissipated;
        self.supplied += weight * power.supplied;
        self.open_step = size;
    }

    /// Closes the last step, at whose end this is the power.
    pub(crate) fn close(&mut self, power: Power) {
        (self.dissipated, self.supplied) = self.closed(power);
        self.open_step = 0.0;
    }

    /// The work up to the end of the last step, where this is the power: lost and brought.
    pub(crate) fn closed(&self, power: Power) -> (f64, f64) {
        let weight = 0.5 * self.open_step;
        (
            self.dissipated + weight * power.dissipated,
            self.supplied + weight * power.supplied,
        )
    }

    /// As state.
    pub(crate) fn numbers(&mut self) -> [&mut f64; 3] {
        [
            &mut self.dissipated,
            &mut self.supplied,
            &mut self.open_step,
        ]
    }
}

/// What is given from outside of the model at ports: its work is supplied.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrivenInputs {
    /// Components of the input vector that are forces, and the own nodes on which they act.
    pushes: Vec<(usize, usize)>,
    /// Boundary nodes of which only the velocity is given, with their slots.
    rates: Vec<(usize, usize)>,
    paths: Vec<Path>,
}

/// A boundary node that is moved, and the work that this took.
#[derive(Clone, Debug)]
struct Path {
    boundary: usize,
    slot: usize,
    /// Its displacement when it was last sampled, and the force on it.
    last: [f64; 2],
    work: f64,
    /// Zero before the first sample, then one.
    seen: u64,
}

impl Path {
    /// The work up to a displacement and a force, by the trapezoidal rule: it counts jumps as the
    /// spring feels them, and does not need the velocity.
    fn work_to(&self, [x, force]: [f64; 2]) -> f64 {
        match self.seen {
            0 => 0.0,
            _ => self.work - 0.5 * (self.last[1] + force) * (x - self.last[0]),
        }
    }

    fn sample(&self, t: f64, plant: &Plant) -> Result<[f64; 2], StepError> {
        let force = plant
            .equations
            .force_on_boundary(self.boundary, t, &plant.motion)?;
        Ok([plant.motion.x[self.slot], force])
    }
}

impl DrivenInputs {
    /// Collects what these components of the input vector do.
    pub(crate) fn new(components: &[usize], plant: &Plant) -> Self {
        let own = plant.own();
        let mut given = Self::default();
        for &component in components {
            match plant.wiring.targets.get(component) {
                Some(&Target::Force(row)) => given.pushes.push((component, row)),
                Some(&(Target::Displacement(slot) | Target::Followed(slot, 0))) if slot >= own => {
                    given.paths.push(Path {
                        boundary: slot - own,
                        slot,
                        last: [0.0; 2],
                        work: 0.0,
                        seen: 0,
                    })
                }
                _ => {}
            }
        }
        for &component in components {
            if let Some(&Target::Velocity(slot)) = plant.wiring.targets.get(component)
                && slot >= own
                && !given.paths.iter().any(|path| path.slot == slot)
            {
                given.rates.push((slot - own, slot));
            }
        }
        given
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pushes.is_empty() && self.rates.is_empty() && self.paths.is_empty()
    }

    /// Power of the forces and velocities that are given.
    pub(crate) fn power(&self, t: f64, plant: &Plant) -> Result<f64, StepError> {
        let (inputs, motion) = (plant.inputs(), &plant.motion);
        let pushes = self.pushes.iter();
        let mut power: f64 = pushes.map(|&(at, row)| inputs[at] * motion.v[row]).sum();
        for &(boundary, slot) in &self.rates {
            power -= plant.equations.force_on_boundary(boundary, t, motion)? * motion.v[slot];
        }
        Ok(power)
    }

    /// Follows the prescribed motions to where they are now.
    pub(crate) fn follow(&mut self, t: f64, plant: &Plant) -> Result<(), StepError> {
        for path in &mut self.paths {
            let now = path.sample(t, plant)?;
            path.work = path.work_to(now);
            (path.last, path.seen) = (now, 1);
        }
        Ok(())
    }

    /// Work of the prescribed motions up to now.
    pub(crate) fn work(&self, t: f64, plant: &Plant) -> f64 {
        let work = |path: &Path| match path.sample(t, plant) {
            Ok(now) => path.work_to(now),
            Err(_) => f64::NAN,
        };
        self.paths.iter().map(work).sum()
    }

    /// As state.
    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        for path in &mut self.paths {
            visitor.fixed(&mut path.last);
            visitor.fixed(std::slice::from_mut(&mut path.work));
            visitor.count(&mut path.seen);
        }
    }
}
