//! Inertia against the relative motion in a joint: a rotor behind a gear, as the joint feels it.
//!
//! The kinetic energy is ½ J q'², whatever the bodies on both sides do besides. A node of its own that turns with the
//! coordinate q about an axis at rest has exactly that energy: no integrator and no analysis need to know of it.

use crate::assembly::EvaluationPoint;
use crate::body::Body;
use crate::joint::{Coordinate, Ends, Joint, Transmission};
use crate::model::Model;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::{Mat3, Vec3};

impl Model {
    /// Adds the inertia of a rotor to the coordinate between two markers: gear² times its moment of inertia for an angle, a
    /// mass for a distance. Gives its node, which turns by one radian where the coordinate grows by one.
    pub fn reflected_inertia(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        ends: [Marker; 2],
        inertia: f64,
    ) -> NodeId {
        let motions: Vec<Motion> = self.nodes.iter().map(|node| node.initial).collect();
        let here = EvaluationPoint::new(0.0, &motions, &[], &[], &[]);
        let rate = {
            let (at, ends) = (here.outside(&[]), Ends::of(ends));
            coordinate.rate(&ends, &ends.geometry(&at), &at)
        };
        let place = self.place_of(&ends[1]);
        let start = Motion::at(place).moving(Vec3::ZERO, Vec3::Z * rate);
        let rotor = self.node(name, start);
        self.body(rotor, Body::centred(0.0, Mat3::IDENTITY * inertia));
        let bearing = [Marker::on(NodeId::GROUND).offset(place), Marker::on(rotor)];
        let hinge = Joint::revolute(bearing[0], bearing[1]);
        self.element(format!("{name}.bearing"), hinge);
        let gear = Transmission::new((coordinate, ends, 1.0), (Coordinate::Angle, bearing, -1.0));
        self.element(format!("{name}.gear"), gear);
        rotor
    }
}
