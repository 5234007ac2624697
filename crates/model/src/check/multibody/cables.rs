//! Cables over pulleys.

use oldham_multibody::{Cable, Drive, Law, Marker, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::Entry;
use crate::format::multibody::{self, Multibody};
use crate::mechanism::Outline;
use crate::problem::Problem;

impl Checker<'_> {
    pub(super) fn cables<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.cables {
            self.element_name(&entry.name, "a cable", draft);
            draft.holders.insert(entry.name.value.clone(), None);
            if let Some((cable, course)) = self.cable(entry, draft) {
                draft.spec.sketch.outlines.push(Outline::Cable(course));
                draft.holder(&entry.name.value, Box::new(cable));
            }
        }
    }

    fn cable(
        &mut self,
        entry: &Entry<multibody::Cable>,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Cable, Vec<Marker>)> {
        let given = &entry.value.value;
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let frame = self.frame_named(&given.frame, draft);
        let length = given.length.as_ref();
        let length = length.map(|length| self.drive_at(length, draft));
        let through = given.through.as_ref()?;
        let nodes = through.value.iter();
        let nodes: Vec<_> = nodes.map(|name| self.node_named(name, draft)).collect();
        if !(2..=Cable::MOST_POINTS).contains(&nodes.len()) {
            let message = format!("a cable runs through 2 to {} points", Cable::MOST_POINTS);
            let problem = Problem::new(through.span.clone(), message)
                .label(format!("has {}", nodes.len()))
                .help("join several cables at a node for more");
            self.findings.push(problem);
            return None;
        }
        let nodes: Vec<_> = nodes.into_iter().collect::<Option<_>>()?;
        let places = match &given.points {
            None => {
                let motions = nodes.iter().map(|&node| draft.motion(node));
                motions.map(|motion| Some(motion?.position)).collect()
            }
            Some(points) => {
                let frame = frame?;
                let points: Vec<Option<Vec3>> = points
                    .value
                    .iter()
                    .map(|point| Some(frame.point(self.vector(point)?)))
                    .collect();
                points.into_iter().collect::<Option<Vec<Vec3>>>()
            }
        };
        let places: Vec<Vec3> = places?;
        if places.len() != nodes.len() {
            let span = given
                .points
                .as_ref()
                .map_or(&through.span, |points| &points.span);
            let message = "a cable needs a point on each node that it runs through";
            let label = format!("{} points, {} nodes", places.len(), nodes.len());
            self.findings
                .push(Problem::new(span.clone(), message).label(label));
            return None;
        }
        let mut apart = 0.0;
        for pair in places.windows(2) {
            apart += self.apart([pair[0], pair[1]], &through.span)?;
        }
        let model = &draft.spec.whole.model;
        let ends = nodes.iter().zip(&places);
        let course: Vec<Marker> = ends.map(|(&node, &at)| model.marker(node, at)).collect();
        let length = match length {
            Some(length) => length?,
            None => Drive::Constant(apart),
        };
        let law = Law::Pulling(Box::new(Law::Linear {
            stiffness: stiffness?,
            damping: damping?,
        }));
        Some((Cable::new(&course, length, law), course))
    }
}
