//! Springs, torsion springs and bushings.

use std::sync::Arc;

use oldham_multibody::{Bushing, Drive, Law, Marker, Mat3, Rod, TorsionSpring, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{self, Multibody, Vector};
use crate::format::{At, Entry, Formula, place};
use crate::mechanism::Outline;
use crate::problem::Problem;
use crate::source::Span;

/// Elongation, its rate, and time.
const LAW_VARIABLES: [&str; 3] = ["d", "v", "t"];

impl Checker<'_> {
    pub(super) fn line_springs<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.springs {
            self.element_name(&entry.name, "a spring", draft);
            draft.holders.insert(&entry.name.value, None);
            if let Some((rod, ends)) = self.spring(entry, draft) {
                draft.spec.sketch.outlines.push(Outline::Spring(ends));
                draft.holder(&entry.name.value, Box::new(rod));
            }
        }
    }

    fn spring(
        &mut self,
        entry: &Entry<multibody::Spring>,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Rod, [Marker; 2])> {
        let given = &entry.value.value;
        let law = self.law(entry);
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let length = given.length.as_ref();
        let length = length.map(|length| self.drive_at(length, draft));
        let nodes = nodes?;
        let points = self.points_in(&frame?, &given.points, nodes, draft)?;
        let apart = self.apart(points, &given.between.as_ref()?.span)?;
        let ends = [0, 1].map(|i| draft.spec.whole.model.marker(nodes[i], points[i]));
        let length = match length {
            Some(length) => length?,
            None => Drive::Constant(apart),
        };
        Some((Rod::new(ends[0], ends[1], length, law?), ends))
    }

    fn law(&mut self, entry: &Entry<multibody::Spring>) -> Option<Law> {
        let given = &entry.value.value;
        if let Some(force) = &given.force {
            let others = [
                place(&given.stiffness),
                place(&given.damping),
                place(&given.table),
                place(&given.maxwell),
            ];
            self.only_the_law("force", others.into_iter().flatten());
            return self.law_function(force);
        }
        let damping = self.number_or(&given.damping, 0.0);
        let stiffness = self.number_or(&given.stiffness, 0.0);
        let one_too_many = |other: &str, what: &str| format!("`{other}` says it already: {what}");
        if let Some(pairs) = &given.table {
            let points = self.rising_pairs(pairs, "elongation and tension");
            if let Some(other) = &given.stiffness {
                let message = one_too_many("table", "leave the stiffness out");
                self.findings
                    .push(Problem::new(other.span.clone(), message));
            }
            return Some(Law::Table {
                points: Arc::from(points?),
                damping: damping?,
            });
        }
        if let Some(pairs) = &given.maxwell {
            let branches = self.pairs(pairs, "stiffness and relaxation time")?;
            if let Some(other) = &given.damping {
                let message = one_too_many("maxwell", "leave the damping out");
                self.findings
                    .push(Problem::new(other.span.clone(), message));
            }
            for (pair, &(_, time)) in pairs.value.iter().zip(&branches) {
                if time <= 0.0 {
                    let problem = Problem::new(pair.span.clone(), "the number must be positive");
                    self.findings.push(problem.label(format!("is {time}")));
                }
            }
            return Some(Law::Viscoelastic {
                stiffness: stiffness?,
                branches: Arc::from(branches),
            });
        }
        if given.stiffness.is_none() && given.damping.is_none() {
            let message = format!(
                "the spring `{}` has no stiffness or damping",
                entry.name.value
            );
            let problem = Problem::new(entry.value.span.clone(), message).help(
                "give `stiffness`, `damping` or both, a `table`, `maxwell` or a law as `force`",
            );
            self.findings.incomplete(&entry.value.span, problem);
        }
        Some(Law::Linear {
            stiffness: stiffness?,
            damping: damping?,
        })
    }

    /// A law as an expression of `d`, `v` and `t`.
    fn law_function(&mut self, formula: &At<Formula>) -> Option<Law> {
        let expression = self.expression(formula, &LAW_VARIABLES)?;
        let differentiated = expression.clone();
        let derivatives = move |d: f64, v: f64, t: f64| {
            let by_length = differentiated.with_derivatives(0, &[d, v, t]);
            let by_rate = differentiated.derivative(1, &[d, v, t]);
            [by_length.value, by_length.first, by_rate]
        };
        let tension = move |d: f64, v: f64, t: f64| expression.eval(&[d, v, t]);
        Some(Law::differentiable(tension, derivatives))
    }

    /// Keys that a law leaves nothing to do for.
    fn only_the_law<'s>(&mut self, key: &str, others: impl Iterator<Item = &'s Span>) {
        for span in others {
            let message = format!("`{key}` says it already");
            let problem = Problem::new(span.clone(), message)
                .label("leave it out")
                .help("put it into the law: `d` is the elongation, `v` its rate");
            self.findings.push(problem);
        }
    }

    /// Laws for some of three axes; a law that is always zero is none.
    fn laws(&mut self, given: &Option<At<Vec<At<Formula>>>>) -> Option<Vec<(usize, Law)>> {
        let Some(list) = given else {
            return Some(Vec::new());
        };
        let laws: Vec<Option<Law>> = list.value.iter().map(|at| self.law_function(at)).collect();
        if laws.len() != 3 {
            let message = format!("three components are needed, not {}", laws.len());
            self.findings.push(Problem::new(list.span.clone(), message));
            return None;
        }
        let zero = |at: &At<Formula>| matches!(at.value, Formula::Number(0.0));
        let laws: Option<Vec<Law>> = laws.into_iter().collect();
        let each = laws?.into_iter().enumerate().zip(&list.value);
        let used = each.filter(|(_, at)| !zero(at));
        Some(used.map(|(law, _)| law).collect())
    }

    pub(super) fn torsion_springs<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.torsion_springs {
            self.element_name(&entry.name, "a torsion spring", draft);
            draft.holders.insert(&entry.name.value, None);
            if let Some(spring) = self.torsion_spring(&entry.value.value, draft) {
                draft.holder(&entry.name.value, Box::new(spring));
            }
        }
    }

    fn torsion_spring(
        &mut self,
        given: &multibody::TorsionSpring,
        draft: &MechanismDraft<'_>,
    ) -> Option<TorsionSpring> {
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let axis = match &given.axis {
            Some(axis) => self.direction(axis),
            None => Some(Vec3::Z),
        };
        let stiffness = self.number_or(&given.stiffness, 0.0);
        let damping = self.number_or(&given.damping, 0.0);
        let law = given.torque.as_ref().map(|torque| {
            let others = [place(&given.stiffness), place(&given.damping)];
            self.only_the_law("torque", others.into_iter().flatten());
            self.law_function(torque)
        });
        let angle = match &given.angle {
            Some(angle) => self.drive_at(angle, draft),
            None => Some(Drive::ZERO),
        };
        let nodes = nodes?;
        let axis = frame?.direction(axis?);
        let [a, b] = nodes.map(|node| draft.spec.whole.model.axis_marker(node, Vec3::ZERO, axis));
        let law = match law {
            Some(law) => law?,
            None => Law::Linear {
                stiffness: stiffness?,
                damping: damping?,
            },
        };
        Some(TorsionSpring::with_law(a, b, law, angle?))
    }

    pub(super) fn bushings<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.bushings {
            self.element_name(&entry.name, "a bushing", draft);
            draft.holders.insert(&entry.name.value, None);
            if let Some(bushing) = self.bushing(&entry.value.value, draft) {
                draft.holder(&entry.name.value, Box::new(bushing));
            }
        }
    }

    fn bushing(
        &mut self,
        given: &multibody::Bushing,
        draft: &MechanismDraft<'_>,
    ) -> Option<Bushing> {
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let stiffness = self.diagonal(&given.stiffness);
        let damping = self.diagonal(&given.damping);
        let rotational_stiffness = self.diagonal(&given.rotational_stiffness);
        let rotational_damping = self.diagonal(&given.rotational_damping);
        let laws = self.laws(&given.force);
        let rotational_laws = self.laws(&given.torque);
        let (nodes, frame) = (nodes?, frame?);
        let axes = self.orientation_in(&frame, &given.orientation)?;
        let place = self.place_in(&frame, &given.position, nodes, draft)?;
        let [a, b] = draft.markers(nodes, place, axes);
        let mut bushing = Bushing::new(a, b);
        bushing.stiffness = stiffness?;
        bushing.damping = damping?;
        bushing.rotational_stiffness = rotational_stiffness?;
        bushing.rotational_damping = rotational_damping?;
        bushing.laws = laws?;
        bushing.rotational_laws = rotational_laws?;
        Some(bushing)
    }

    fn diagonal(&mut self, given: &Option<At<Vector>>) -> Option<Mat3> {
        let vector = match given {
            Some(list) => self.vector(list)?,
            None => Vec3::ZERO,
        };
        Some(Mat3::diagonal(vector[0], vector[1], vector[2]))
    }
}
