//! Places on beams and shells, where sensors feel what a section does.

use oldham_cosim::Unit;
use oldham_multibody::{ElementId, SectionSensor, Sensor, Sent};

use crate::format::At;
use crate::format::multibody::{Multibody, SectionWord};
use crate::kinds::units_of;
use crate::mechanism::{SECTION_PORTS, SectionLoad};

use super::MechanismDraft;

/// Elements along a beam, with the number of evaluation points of each.
pub(crate) struct BeamElements {
    pub elements: Vec<ElementId>,
    pub points: usize,
}

/// Elements of a shell, along its first parameter first.
pub(crate) struct ShellElements {
    pub elements: Vec<ElementId>,
    pub columns: usize,
}

/// Elements, evaluation points and weights.
pub(crate) type Samples = [(ElementId, usize, f64); 2];

impl BeamElements {
    /// The line through the two evaluation points around a place, or nearest to it.
    pub fn samples(&self, place: f64) -> Samples {
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
    pub fn samples(&self, [u, v]: [f64; 2]) -> Samples {
        let rows = self.elements.len() / self.columns;
        let cell = |place: f64, count: usize| ((place * count as f64) as usize).min(count - 1);
        let element = self.elements[cell(v, rows) * self.columns + cell(u, self.columns)];
        [(element, 0, 1.0), (element, 0, 0.0)]
    }
}

impl MechanismDraft<'_> {
    /// Records internal loads of every element of beams and shells.
    pub(crate) fn show_sections(&mut self, section: &Multibody, loads: &[At<SectionWord>]) {
        for load in loads {
            let (of_beam, component, units) = units_of(load.value);
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
