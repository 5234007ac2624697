//! Places on beams and shells, where sensors feel what a section does.

use oldham_cosim::Unit;
use oldham_multibody::{ElementId, SectionSensor, Sensor, Sent};

use crate::check::Checker;
use crate::format::multibody::{Multibody, SectionWord, SensorEntry, Vector};
use crate::format::{At, Entry};
use crate::mechanism::{SECTION_PORTS, SectionLoad};
use crate::problem::Problem;

use super::MechanismDraft;

/// Elements along a beam, with the number of evaluation points of each.
pub(super) struct BeamElements {
    pub elements: Vec<ElementId>,
    pub points: usize,
}

/// Elements of a shell, along its first parameter first.
pub(super) struct ShellElements {
    pub elements: Vec<ElementId>,
    pub columns: usize,
}

/// Elements, evaluation points and weights.
type Samples = [(ElementId, usize, f64); 2];

impl BeamElements {
    /// The line through the two evaluation points around a place, or nearest to it.
    fn samples(&self, place: f64) -> Samples {
        let offsets: &[f64] = match self.points {
            1 => &[0.5],
            _ => &[0.211_324_865_405_187_1, 0.788_675_134_594_812_9],
        };
        let count = self.elements.len() as f64;
        let elements = self.elements.iter().enumerate();
        let points: Vec<(ElementId, usize, f64)> = elements
            .flat_map(|(i, &element)| {
                let each = offsets.iter().enumerate();
                each.map(move |(point, offset)| (element, point, (i as f64 + offset) / count))
            })
            .collect();
        let after = points.partition_point(|(_, _, at)| *at <= place);
        let [a, b] = match after.clamp(1, (points.len() - 1).max(1)) {
            second if points.len() > 1 => [points[second - 1], points[second]],
            _ => {
                return [
                    (points[0].0, points[0].1, 1.0),
                    (points[0].0, points[0].1, 0.0),
                ];
            }
        };
        let weight = (place - a.2) / (b.2 - a.2);
        [(a.0, a.1, 1.0 - weight), (b.0, b.1, weight)]
    }
}

impl ShellElements {
    /// The element at a place.
    fn samples(&self, [u, v]: [f64; 2]) -> Samples {
        let rows = self.elements.len() / self.columns;
        let cell = |place: f64, count: usize| ((place * count as f64) as usize).min(count - 1);
        let element = self.elements[cell(v, rows) * self.columns + cell(u, self.columns)];
        [(element, 0, 1.0), (element, 0, 0.0)]
    }
}

/// What a word means: whether of a beam, which component, and the units of load and strain.
fn meaning(word: SectionWord) -> (bool, usize, [&'static str; 2]) {
    use SectionWord as W;
    match word {
        W::Axial => (true, 0, ["N", "1"]),
        W::ShearY => (true, 1, ["N", "1"]),
        W::ShearZ => (true, 2, ["N", "1"]),
        W::Torsion => (true, 3, ["N.m", "1/m"]),
        W::BendingY => (true, 4, ["N.m", "1/m"]),
        W::BendingZ => (true, 5, ["N.m", "1/m"]),
        W::N11 => (false, 0, ["N/m", "1"]),
        W::N22 => (false, 1, ["N/m", "1"]),
        W::N12 => (false, 2, ["N/m", "1"]),
        W::M11 => (false, 3, ["N", "1/m"]),
        W::M22 => (false, 4, ["N", "1/m"]),
        W::M12 => (false, 5, ["N", "1/m"]),
        W::Q1 => (false, 6, ["N/m", "1"]),
        W::Q2 => (false, 7, ["N/m", "1"]),
    }
}

const OF_BEAMS: &str =
    "a beam has `axial`, `shear-y`, `shear-z`, `torsion`, `bending-y` and `bending-z`";
const OF_SHELLS: &str = "a shell has `n11`, `n22`, `n12`, `m11`, `m22`, `m12`, `q1` and `q2`";

impl MechanismDraft<'_> {
    /// Records internal loads of every element of beams and shells.
    pub(super) fn show_sections(&mut self, section: &Multibody, loads: &[At<SectionWord>]) {
        for load in loads {
            let (of_beam, component, units) = meaning(load.value);
            let names: Vec<&str> = match of_beam {
                true => section.beams.names().collect(),
                false => section.shells.names().collect(),
            };
            for name in names {
                for (i, (element, samples)) in self.middles(name, of_beam).into_iter().enumerate() {
                    let word = load.value.word();
                    let port = format!("{SECTION_PORTS}{name}.{i}.{word}");
                    let sensor = SectionSensor {
                        samples,
                        is_strain: false,
                        component,
                        unit: Unit(units[0].into()),
                    };
                    let whole = &mut self.spec.whole;
                    self.spec.sketch.section_loads.push(SectionLoad {
                        nodes: whole.model.nodes_of(element).to_vec(),
                        load: word,
                        port: port.clone(),
                    });
                    let sent = Sent::Sensor(Sensor::Section(sensor));
                    whole.outputs.push((port, sent));
                }
            }
        }
    }

    /// The elements of a structure, and what is read in the middle of each.
    fn middles(&self, name: &str, of_beam: bool) -> Vec<(ElementId, Samples)> {
        let (elements, points) = match of_beam {
            true => match self.beams.get(name) {
                Some(Some(beam)) => (&beam.elements, beam.points),
                _ => return Vec::new(),
            },
            false => match self.shells.get(name) {
                Some(Some(shell)) => (&shell.elements, 1),
                _ => return Vec::new(),
            },
        };
        let middle = |&element: &ElementId| match points {
            1 => (element, [(element, 0, 1.0), (element, 0, 0.0)]),
            _ => (element, [(element, 0, 0.5), (element, 1, 0.5)]),
        };
        elements.iter().map(middle).collect()
    }
}

impl Checker<'_> {
    /// A sensor on a beam or a shell.
    pub(super) fn section_sensor(
        &mut self,
        entry: &Entry<SensorEntry>,
        of: &At<String>,
        is_beam: bool,
        draft: &MechanismDraft<'_>,
    ) -> Option<SectionSensor> {
        let given = &entry.value.value;
        let component = self.section_component(entry, is_beam);
        let name = of.value.as_str();
        let samples = match is_beam {
            true => {
                let place = self.place_on::<1>(entry, &given.at);
                let Some(beam) = draft.beams.get(name) else {
                    self.unknown_structure(of, "beam", draft.beams.keys().copied());
                    return None;
                };
                beam.as_ref()?.samples(place?[0])
            }
            false => {
                let place = self.place_on::<2>(entry, &given.at);
                let Some(shell) = draft.shells.get(name) else {
                    self.unknown_structure(of, "shell", draft.shells.keys().copied());
                    return None;
                };
                shell.as_ref()?.samples(place?)
            }
        };
        let (component, is_strain, unit) = component?;
        Some(SectionSensor {
            samples,
            is_strain,
            component,
            unit: Unit(unit.into()),
        })
    }

    fn section_component(
        &mut self,
        entry: &Entry<SensorEntry>,
        is_beam: bool,
    ) -> Option<(usize, bool, &'static str)> {
        let given = &entry.value.value;
        let help = if is_beam { OF_BEAMS } else { OF_SHELLS };
        let (word, is_strain) = match (&given.load, &given.strain) {
            (Some(load), None) => (load, false),
            (None, Some(strain)) => (strain, true),
            _ => {
                let message = format!("`{}` needs a `load` or a `strain`", entry.name.value);
                let problem = Problem::new(entry.value.span.clone(), message).help(help);
                self.findings.incomplete(&entry.value.span, problem);
                return None;
            }
        };
        let (of_beam, component, units) = meaning(word.value);
        if of_beam != is_beam {
            let what = if is_beam { "beam" } else { "shell" };
            let message = format!("no section of a {what} feels this");
            let problem = Problem::new(word.span.clone(), message).help(help);
            self.findings.push(problem);
            return None;
        }
        Some((component, is_strain, units[usize::from(is_strain)]))
    }

    /// Where on a beam or shell: numbers from 0 to 1.
    fn place_on<const N: usize>(
        &mut self,
        entry: &Entry<SensorEntry>,
        given: &Option<At<Vector>>,
    ) -> Option<[f64; N]> {
        let help = match N {
            1 => "such as at = [0.5], half way along the beam",
            _ => "such as at = [0.5, 0.5], in the middle of the shell",
        };
        let Some(list) = given else {
            let message = format!("`{}` needs the place where it measures", entry.name.value);
            let problem = Problem::new(entry.value.span.clone(), message)
                .label("has no `at`")
                .help(help);
            self.findings.incomplete(&entry.value.span, problem);
            return None;
        };
        let place: [f64; N] = self.numbers(list, "a place from 0 to 1 for each parameter")?;
        if place.iter().all(|s| (0.0..=1.0).contains(s)) {
            return Some(place);
        }
        let message = "places are from 0 to 1";
        let problem = Problem::new(list.span.clone(), message).help(help);
        self.findings.push(problem);
        None
    }

    fn unknown_structure<'a>(
        &mut self,
        of: &At<String>,
        what: &str,
        known: impl Iterator<Item = &'a str>,
    ) {
        let message = format!("there is no {what} `{}` in this subsystem", of.value);
        let problem = Problem::new(of.span.clone(), message).label(format!("unknown {what}"));
        self.findings.push_misspelt(problem, &of.value, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear function along the beam is met everywhere, beyond the outer points too.
    #[test]
    fn samples_are_a_line_through_two_points() {
        let mut model = oldham_multibody::Model::new();
        let none = || [0.0; 3].map(oldham_multibody::Drive::Constant);
        let mut element = || {
            let load = oldham_multibody::Load::fixed(
                oldham_multibody::Marker::on(oldham_multibody::NodeId::GROUND),
                none(),
                none(),
            );
            model.element("any", load)
        };
        let elements = vec![element(), element(), element()];
        for points in [1, 2] {
            let beam = BeamElements {
                elements: elements.clone(),
                points,
            };
            let place_of = |(element, point, _): (ElementId, usize, f64)| {
                let offset = match (points, point) {
                    (1, _) => 0.5,
                    (_, 0) => 0.5 - 0.5 / 3.0_f64.sqrt(),
                    _ => 0.5 + 0.5 / 3.0_f64.sqrt(),
                };
                (element.index() as f64 + offset) / 3.0
            };
            for s in [0.0, 0.1, 0.33, 0.5, 0.77, 1.0] {
                let samples = beam.samples(s);
                let met: f64 = samples.iter().map(|&it| it.2 * place_of(it)).sum();
                assert!((met - s).abs() < 1e-14, "{s} {met}");
            }
        }
    }
}
