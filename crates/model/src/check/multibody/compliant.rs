//! Springs, torsion springs and bushings.

use std::sync::Arc;

use oldham_multibody::{
    Bushing, Coordinate, CoordinateForce, Drive, ForceMap, Hysteresis, Law, M3, Marker, Mat3, Rod,
    Vec3,
};

use super::nodes::LineBetween;
use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::{read, read_if, read_or};
use crate::format::multibody::{self, Acts, Map, Vector};
use crate::format::{At, Entry, Formula, place};
use crate::mechanism::{Outline, Telescope};
use crate::source::Span;

/// Opposite entries of a matrix count as equal up to this fraction of the largest.
const SYMMETRIC: f64 = 1e-9;

/// Elongation, its rate, and time.
const LAW_VARIABLES: [&str; 3] = ["d", "v", "t"];

/// A law of springs: its key, where it is given, and what it leaves nothing to do for.
type Key<'k> = (&'static str, Option<&'k Span>, &'k [Option<&'k Span>]);

/// A spring, a damper, or one within the other.
fn outline(law: &Law, ends: [Marker; 2], length: f64) -> Outline {
    let telescope = Telescope { ends, length };
    match *law {
        Law::Linear { stiffness, damping } if damping > 0.0 => match stiffness == 0.0 {
            true => Outline::Damper(telescope),
            false => Outline::Strut(telescope),
        },
        Law::Table { damping, .. } if damping > 0.0 => Outline::Strut(telescope),
        _ => Outline::Spring(ends),
    }
}

impl Checker<'_> {
    pub(crate) fn spring(
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
        let line = self.line_between(&given.between, &given.points, &given.frame, draft);
        let length = read_if(&given.length, |length| self.drive_at(length, draft));
        let LineBetween {
            ends,
            length: apart,
        } = line?;
        let length = length?.unwrap_or(Drive::Constant(apart));
        let law = law?;
        let outline = outline(&law, ends, apart);
        let rod = Rod::new(ends[0], ends[1], length, law);
        Some((Box::new(rod), Some(outline)))
    }

    fn law(&mut self, entry: &Entry<multibody::Spring>) -> Option<Law> {
        let given = &entry.value.value;
        let (stiffness, damping) = (place(&given.stiffness), place(&given.damping));
        let (table, map) = (place(&given.table), place(&given.map));
        let (hysteresis, maxwell) = (place(&given.hysteresis), place(&given.maxwell));
        // Laws in the order in which they hold, and what each leaves nothing to do for.
        let remembering = [hysteresis, maxwell];
        let linear = [stiffness, damping];
        let laws: [Key<'_>; 5] = [
            (
                "force",
                place(&given.force),
                &[stiffness, damping, table, map],
            ),
            ("map", map, &[stiffness, damping, table]),
            ("table", table, &linear[..1]),
            ("hysteresis", hysteresis, &[damping, maxwell]),
            ("maxwell", maxwell, &linear[1..]),
        ];
        let chosen = laws.iter().position(|(_, law, _)| law.is_some());
        if let Some(chosen) = chosen {
            let (key, _, others) = laws[chosen];
            let after = remembering.iter().filter(|_| chosen < 3);
            self.only_the_law(key, others.iter().chain(after).copied().flatten());
        }
        if let Some(force) = &given.force {
            return self.law_function(force);
        }
        if let Some(map) = &given.map {
            return self.force_map(map);
        }
        let damping = self.number_or(&given.damping, 0.0);
        let stiffness = self.number_or(&given.stiffness, 0.0);
        if let Some(pairs) = &given.table {
            return Some(Law::Table {
                points: Arc::from(self.rising_pairs(pairs, "elongation and tension")?),
                damping: damping?,
            });
        }
        if let Some(hysteresis) = &given.hysteresis {
            return self.hysteresis(hysteresis, stiffness?);
        }
        if let Some(pairs) = &given.maxwell {
            let branches = self.pairs(pairs, "stiffness and relaxation time")?;
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
            let name = &entry.name.value;
            let message = format!("the spring `{name}` has no stiffness or damping");
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
            let reported = self.report(span, message).label("leave it out");
            if matches!(key, "force" | "torque") {
                reported.help("put it into the law: `d` is the elongation, `v` its rate");
            }
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
        let [elongations, rates] = [d, v].map(|axis| read(axis, |list| self.rising(list)));
        let (elongations, rates, force) = (elongations?, rates?, force.as_ref()?);
        if force.value.len() != elongations.len() {
            let message = "the map needs a list of forces for each elongation in `d`";
            let label = format!("has {}, not {}", force.value.len(), elongations.len());
            self.report(&force.span, message).label(label);
            return None;
        }
        let tensions = self.rows(&force.value);
        for row in force
            .value
            .iter()
            .filter(|row| row.value.len() != rates.len())
        {
            let message = "each list needs a force for each rate in `v`";
            let label = format!("has {}, not {}", row.value.len(), rates.len());
            self.report(&row.span, message).label(label);
        }
        let map = ForceMap::new(elongations, rates, tensions?.concat())?;
        Some(Law::Given(Arc::new(map)))
    }

    /// Numbers that rise.
    fn rising(&mut self, list: &At<Vector>) -> Option<Vec<f64>> {
        let values = self.list(&list.value)?;
        let falls = values.windows(2).position(|pair| pair[1] <= pair[0]);
        if let Some(place) = falls {
            self.report(&list.value[place + 1].span, "the numbers must rise")
                .label("not above the one before")
                .help("sort them, and give each once");
        } else if values.is_empty() {
            self.report(&list.span, "at least one number is needed");
        }
        (falls.is_none() && !values.is_empty()).then_some(values)
    }

    /// Laws for some of three axes; a law that is always zero is none.
    fn laws(&mut self, given: &Option<At<Vec<At<Formula>>>>) -> Option<Vec<(usize, Law)>> {
        let Some(list) = given else {
            return Some(Vec::new());
        };
        let zero = |at: &At<Formula>| matches!(at.value, Formula::Number(0.0));
        let laws: [Law; 3] = self.three(list, Self::law_function)?;
        let each = laws.into_iter().enumerate().zip(&list.value);
        let used = each.filter(|(_, at)| !zero(at));
        Some(used.map(|(law, _)| law).collect())
    }

    pub(crate) fn torsion_spring(
        &mut self,
        entry: &Entry<multibody::TorsionSpring>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let axis = read_or(&given.axis, Vec3::Z, |axis| self.direction(axis));
        let law = self.torsion_law(given);
        let angle = read_or(&given.angle, Drive::ZERO, |at| self.drive_at(at, draft));
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

    pub(crate) fn bushing(
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
        let rows = self.six_rows(list)?;
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
        let vector = self.vector_or_zero(given)?;
        Some(Mat3::diagonal(vector[0], vector[1], vector[2]))
    }
}
