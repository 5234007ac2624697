//! Springs, torsion springs and bushings.

use std::sync::Arc;

use oldham_multibody::{
    Bushing, Coordinate, CoordinateForce, Drive, ForceMap, Hysteresis, Law, M3, Mat3, Rod, Vec3,
};

use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::format::multibody::{self, Acts, Map, Vector};
use crate::format::{At, Entry, Formula, place};
use crate::mechanism::Outline;
use crate::source::Span;

/// Opposite entries of a matrix count as equal up to this fraction of the largest.
const SYMMETRIC: f64 = 1e-9;

/// Elongation, its rate, and time.
const LAW_VARIABLES: [&str; 3] = ["d", "v", "t"];

impl Checker<'_> {
    pub(super) fn spring(
        &mut self,
        entry: &Entry<multibody::Spring>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let law = self.law(entry).map(|law| match given.acts {
            None => law,
            Some(Acts::InTension) => Law::Pulling(Box::new(law)),
            Some(Acts::InCompression) => Law::Pushing(Box::new(law)),
        });
        let remembering = place(&given.maxwell).or(place(&given.hysteresis));
        if let (Some(_), Some(span)) = (given.acts, remembering) {
            let message = "a spring that remembers acts both ways";
            self.report(span, message)
                .label("not with `acts`")
                .help("leave one of the two out");
            return None;
        }
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
        let rod = Rod::new(ends[0], ends[1], length, law?);
        Some((Box::new(rod), Some(Outline::Spring(ends))))
    }

    fn law(&mut self, entry: &Entry<multibody::Spring>) -> Option<Law> {
        let given = &entry.value.value;
        if let Some(force) = &given.force {
            let others = [
                place(&given.stiffness),
                place(&given.damping),
                place(&given.table),
                place(&given.map),
                place(&given.hysteresis),
                place(&given.maxwell),
            ];
            self.only_the_law("force", others.into_iter().flatten());
            return self.law_function(force);
        }
        if let Some(map) = &given.map {
            let others = [
                place(&given.stiffness),
                place(&given.damping),
                place(&given.table),
                place(&given.maxwell),
            ];
            self.only_the_law("map", others.into_iter().flatten());
            return self.force_map(map);
        }
        let damping = self.number_or(&given.damping, 0.0);
        let stiffness = self.number_or(&given.stiffness, 0.0);
        let one_too_many = |other: &str, what: &str| format!("`{other}` says it already: {what}");
        if let Some(pairs) = &given.table {
            let points = self.rising_pairs(pairs, "elongation and tension");
            if let Some(other) = &given.stiffness {
                let message = one_too_many("table", "leave the stiffness out");
                self.report(&other.span, message);
            }
            return Some(Law::Table {
                points: Arc::from(points?),
                damping: damping?,
            });
        }
        if let Some(hysteresis) = &given.hysteresis {
            let others = [
                place(&given.damping),
                place(&given.table),
                place(&given.maxwell),
            ];
            self.only_the_law("hysteresis", others.into_iter().flatten());
            return self.hysteresis(hysteresis, stiffness?);
        }
        if let Some(pairs) = &given.maxwell {
            let branches = self.pairs(pairs, "stiffness and relaxation time")?;
            if let Some(other) = &given.damping {
                let message = one_too_many("maxwell", "leave the damping out");
                self.report(&other.span, message);
            }
            for (pair, &(_, time)) in pairs.value.iter().zip(&branches) {
                if time <= 0.0 {
                    self.report(&pair.span, "the number must be positive")
                        .label(format!("is {time}"));
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
            self.report_missing(&entry.value.span, message).help(
                "give `stiffness`, `damping` or both, a `table`, a `map`, `maxwell` or a law as `force`",
            );
        }
        Some(Law::Linear {
            stiffness: stiffness?,
            damping: damping?,
        })
    }

    /// A law as an expression of `d`, `v` and `t`.
    fn law_function(&mut self, formula: &At<Formula>) -> Option<Law> {
        let expression = self.expression(formula, &LAW_VARIABLES)?;
        let (differentiated, sided) = (expression.clone(), expression.clone());
        let derivatives = move |d: f64, v: f64, t: f64| {
            let by_length = differentiated.with_derivatives(0, &[d, v, t]);
            let by_rate = differentiated.derivative(1, &[d, v, t]);
            [by_length.value, by_length.first, by_rate]
        };
        let tension = move |d: f64, v: f64, t: f64| expression.eval(&[d, v, t]);
        let side = move |d: f64, v: f64, t: f64| sided.sides(&[d, v, t]);
        Some(Law::differentiable(tension, derivatives, side))
    }

    /// Keys that a law leaves nothing to do for.
    fn only_the_law<'s>(&mut self, key: &str, others: impl Iterator<Item = &'s Span>) {
        for span in others {
            let message = format!("`{key}` says it already");
            self.report(span, message)
                .label("leave it out")
                .help("put it into the law: `d` is the elongation, `v` its rate");
        }
    }

    fn hysteresis(&mut self, given: &At<multibody::Hysteresis>, stiffness: f64) -> Option<Law> {
        let given = &given.value;
        let (ratio, yield_at) = (self.required(&given.ratio), self.required(&given.yield_at));
        let exponent = self.number_or(&given.exponent, 1.0);
        let softness = self.number_or(&given.softness, 0.5);
        Some(Law::Hysteresis(Hysteresis {
            stiffness,
            ratio: ratio?,
            yield_at: yield_at?,
            exponent: exponent?,
            softness: softness?,
        }))
    }

    /// A force over elongation and rate.
    fn force_map(&mut self, given: &At<Map>) -> Option<Law> {
        let Map { d, v, force } = &given.value;
        let axis = |checker: &mut Self, list: &Option<At<Vector>>| {
            let list = list.as_ref()?;
            let values: Vec<Option<f64>> = list.value.iter().map(|at| checker.number(at)).collect();
            let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
            checker.rising(list, &values).then_some(values)
        };
        let (elongations, rates) = (axis(self, d), axis(self, v));
        let (elongations, rates, force) = (elongations?, rates?, force.as_ref()?);
        if force.value.len() != elongations.len() {
            let message = "the map needs a list of forces for each elongation in `d`";
            let label = format!("has {}, not {}", force.value.len(), elongations.len());
            self.report(&force.span, message).label(label);
            return None;
        }
        let mut tensions = Vec::new();
        for row in &force.value {
            let values: Vec<Option<f64>> = row.value.iter().map(|at| self.number(at)).collect();
            if values.len() != rates.len() {
                let message = "each list needs a force for each rate in `v`";
                let label = format!("has {}, not {}", values.len(), rates.len());
                self.report(&row.span, message).label(label);
                return None;
            }
            tensions.extend(values);
        }
        let tensions: Option<Vec<f64>> = tensions.into_iter().collect();
        let map = ForceMap::new(elongations, rates, tensions?)?;
        Some(Law::Given(Arc::new(map)))
    }

    /// Whether a list of numbers rises.
    fn rising(&mut self, list: &At<Vector>, values: &[f64]) -> bool {
        let falls = values.windows(2).position(|pair| pair[1] <= pair[0]);
        if let Some(place) = falls {
            let span = list.value[place + 1].span.clone();
            self.report(&span, "the numbers must rise")
                .label("not above the one before")
                .help("sort them, and give each once");
        } else if values.is_empty() {
            self.report(&list.span, "at least one number is needed");
        }
        falls.is_none() && !values.is_empty()
    }

    /// Laws for some of three axes; a law that is always zero is none.
    fn laws(&mut self, given: &Option<At<Vec<At<Formula>>>>) -> Option<Vec<(usize, Law)>> {
        let Some(list) = given else {
            return Some(Vec::new());
        };
        let laws: Vec<Option<Law>> = list.value.iter().map(|at| self.law_function(at)).collect();
        if laws.len() != 3 {
            let message = format!("three components are needed, not {}", laws.len());
            self.report(&list.span, message);
            return None;
        }
        let zero = |at: &At<Formula>| matches!(at.value, Formula::Number(0.0));
        let laws: Option<Vec<Law>> = laws.into_iter().collect();
        let each = laws?.into_iter().enumerate().zip(&list.value);
        let used = each.filter(|(_, at)| !zero(at));
        Some(used.map(|(law, _)| law).collect())
    }

    pub(super) fn torsion_spring(
        &mut self,
        entry: &Entry<multibody::TorsionSpring>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let axis = match &given.axis {
            Some(axis) => self.direction(axis),
            None => Some(Vec3::Z),
        };
        let law = self.torsion_law(given);
        let angle = match &given.angle {
            Some(angle) => self.drive_at(angle, draft),
            None => Some(Drive::ZERO),
        };
        let nodes = nodes?;
        let axis = frame?.direction(axis?);
        let ends = nodes.map(|node| draft.spec.whole.model.axis_marker(node, Vec3::ZERO, axis));
        let spring = CoordinateForce::new(Coordinate::Angle, ends, law?, angle?);
        Some((Box::new(spring), None))
    }

    fn torsion_law(&mut self, given: &multibody::TorsionSpring) -> Option<Law> {
        let stiffness = self.number_or(&given.stiffness, 0.0);
        let damping = self.number_or(&given.damping, 0.0);
        let linear = [place(&given.stiffness), place(&given.damping)];
        let tables = [place(&given.table), place(&given.map)];
        if let Some(torque) = &given.torque {
            self.only_the_law("torque", linear.into_iter().chain(tables).flatten());
            return self.law_function(torque);
        }
        if let Some(map) = &given.map {
            self.only_the_law("map", linear.into_iter().chain([tables[0]]).flatten());
            return self.force_map(map);
        }
        if let Some(pairs) = &given.table {
            self.only_the_law("table", linear.into_iter().take(1).flatten());
            return Some(Law::Table {
                points: Arc::from(self.rising_pairs(pairs, "angle and torque")?),
                damping: damping?,
            });
        }
        Some(Law::Linear {
            stiffness: stiffness?,
            damping: damping?,
        })
    }

    pub(super) fn bushing(
        &mut self,
        entry: &Entry<multibody::Bushing>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let stiffness = self.diagonal(&given.stiffness);
        let damping = self.diagonal(&given.damping);
        let rotational_stiffness = self.diagonal(&given.rotational_stiffness);
        let rotational_damping = self.diagonal(&given.rotational_damping);
        let diagonals = [&given.stiffness, &given.rotational_stiffness];
        let stiffness_matrix = self.whole_matrix(&given.stiffness_matrix, diagonals);
        let diagonals = [&given.damping, &given.rotational_damping];
        let damping_matrix = self.whole_matrix(&given.damping_matrix, diagonals);
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
        if let Some([[along, mixed], [_, about]]) = stiffness_matrix? {
            bushing.stiffness = along;
            bushing.coupling = mixed;
            bushing.rotational_stiffness = about;
        }
        if let Some([[along, mixed], [_, about]]) = damping_matrix? {
            bushing.damping = along;
            bushing.damping_coupling = mixed;
            bushing.rotational_damping = about;
        }
        Some((Box::new(bushing), None))
    }

    /// A symmetric matrix of six rows, in blocks of displacements and rotations, instead of diagonals.
    fn whole_matrix(
        &mut self,
        given: &Option<At<Vec<At<Vector>>>>,
        diagonals: [&Option<At<Vector>>; 2],
    ) -> Option<Option<[[Mat3; 2]; 2]>> {
        let Some(list) = given else {
            return Some(None);
        };
        for other in diagonals.into_iter().flatten() {
            let message = "the whole matrix is given already";
            self.report(&other.span, message).label("leave it out");
        }
        if list.value.len() != 6 {
            let message = format!("six rows are needed, not {}", list.value.len());
            self.report(&list.span, message);
            return None;
        }
        let rows = list.value.iter();
        let rows = rows.map(|row| self.numbers::<6, _>(row, "a row of the matrix"));
        let rows: Vec<Option<[f64; 6]>> = rows.collect();
        let rows: Vec<[f64; 6]> = rows.into_iter().collect::<Option<_>>()?;
        let size = rows.iter().flatten().fold(0.0_f64, |m, v| m.max(v.abs()));
        let differs = |i: usize, j: usize| (rows[i][j] - rows[j][i]).abs() > SYMMETRIC * size;
        let unequal = (0..6).find(|&i| (0..i).any(|j| differs(i, j)));
        if let Some(i) = unequal {
            let message = "the matrix must be symmetric";
            let label = format!("row {} differs from column {}", i + 1, i + 1);
            let span = list.value[i].span.clone();
            self.report(&span, message).label(label);
            return None;
        }
        let block = |row: usize, column: usize| {
            M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| rows[row + i][column + j])))
        };
        Some(Some([
            [block(0, 0), block(0, 3)],
            [block(3, 0), block(3, 3)],
        ]))
    }

    fn diagonal(&mut self, given: &Option<At<Vector>>) -> Option<Mat3> {
        let vector = match given {
            Some(list) => self.vector(list)?,
            None => Vec3::ZERO,
        };
        Some(Mat3::diagonal(vector[0], vector[1], vector[2]))
    }
}
