//! Cables over pulleys.

use oldham_multibody::{Cable, Drive, Law, LuGre, Marker, Pulley, Vec3};

use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::{all, read_if, read_or};
use crate::format::multibody::{self, Vector};
use crate::format::{At, Entry, place};
use crate::mechanism::{Outline, Pose};

impl Checker<'_> {
    pub(super) fn cable(
        &mut self,
        entry: &Entry<multibody::Cable>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let frame = self.frame_named(&given.frame, draft);
        let length = read_if(&given.length, |length| self.drive_at(length, draft));
        let through = given.through.as_ref()?;
        let names = through.value.iter();
        let nodes = all(names.map(|name| self.node_named(name, draft)));
        if !(2..=Cable::MOST_POINTS).contains(&through.value.len()) {
            let message = format!("a cable runs through 2 to {} points", Cable::MOST_POINTS);
            self.report(&through.span, message)
                .label(format!("has {}", through.value.len()))
                .help("join several cables at a node for more");
            return None;
        }
        let nodes = nodes?;
        let places = match &given.points {
            None => {
                let position = |&node| Some(draft.motion(node)?.position);
                nodes.iter().map(position).collect::<Option<Vec<Vec3>>>()?
            }
            Some(points) => {
                let (frame, points) = (frame?, points.value.iter());
                all(points.map(|point| Some(frame.point(self.vector(point)?))))?
            }
        };
        if places.len() != nodes.len() {
            let span = place(&given.points).unwrap_or(&through.span);
            let message = "a cable needs a point on each node that it runs through";
            let label = format!("{} points, {} nodes", places.len(), nodes.len());
            self.report(span, message).label(label);
            return None;
        }
        for pair in places.windows(2) {
            self.apart([pair[0], pair[1]], &through.span)?;
        }
        let pulleys = self.pulleys(given, nodes.len() - 2)?;
        let axis = self.pulley_axis(given, &frame?)?;
        let mut radii = vec![0.0; nodes.len()];
        for (radius, pulley) in radii[1..].iter_mut().zip(&pulleys) {
            *radius = pulley.radius;
        }
        let initial = Cable::length_over(&places, &vec![axis; nodes.len()], &radii);
        if !initial.is_finite() {
            let span = place(&given.radii).unwrap_or(&through.span);
            let message = "two pulleys are inside one another, or an end in a pulley";
            self.report(span, message)
                .help("set them further apart, or make them smaller");
            return None;
        }
        let model = &draft.spec.whole.model;
        let ends = nodes.iter().zip(&places);
        let course: Vec<Marker> = ends
            .map(|(&node, &at)| model.axis_marker(node, at, axis))
            .collect();
        let length = length?.unwrap_or(Drive::Constant(initial));
        let law = Law::Pulling(Box::new(Law::Linear {
            stiffness: stiffness?,
            damping: damping?,
        }));
        let cable = Cable::new(&course, length, law).over(&pulleys);
        Some((Box::new(cable), Some(Outline::Cable(course))))
    }

    fn pulley_axis(&mut self, given: &multibody::Cable, frame: &Pose) -> Option<Vec3> {
        let axis = read_or(&given.axis, Vec3::Z, |axis| self.direction(axis))?;
        Some(frame.direction(axis).unit())
    }

    /// What is between the ends of a cable.
    fn pulleys(&mut self, given: &multibody::Cable, count: usize) -> Option<Vec<Pulley>> {
        let radii = self.of_each_pulley(&given.radii, count);
        let friction = self.of_each_pulley(&given.friction, count);
        let presliding = self.number_or(&given.presliding, 1e-4)?;
        let negative = |value: &f64| *value < 0.0;
        if let (Some(list), Some(values)) = (&given.friction, &friction)
            && values.iter().any(negative)
        {
            self.report(&list.span, "friction must not be negative")
                .help("give 0 where it runs freely");
            return None;
        }
        let pulley = |(radius, coulomb): (f64, f64)| Pulley {
            radius,
            friction: (coulomb > 0.0).then_some(LuGre {
                coulomb,
                stiction: coulomb,
                stribeck: 0.01,
                stiffness: coulomb / presliding,
                damping: 0.0,
                viscous: 0.0,
            }),
        };
        Some(radii?.into_iter().zip(friction?).map(pulley).collect())
    }

    /// A number for each pulley, zeros by default.
    fn of_each_pulley(&mut self, given: &Option<At<Vector>>, count: usize) -> Option<Vec<f64>> {
        let Some(list) = given else {
            return Some(vec![0.0; count]);
        };
        let values = self.list(&list.value);
        if list.value.len() != count {
            let message = "a number is needed for each point between the ends of the cable";
            self.report(&list.span, message)
                .label(format!("{} for {count} points", list.value.len()))
                .help("leave out the two ends; give 0 for a point without radius or friction");
            return None;
        }
        values
    }
}
