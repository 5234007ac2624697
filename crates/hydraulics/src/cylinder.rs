//! A cylinder: what geometry and friction make of length and rate.

/// Fraction of the stroke that remains of a chamber at its end.
const DEAD: f64 = 0.01;
/// Stiffness of the end stops in N/m, and their damping in s/m, if nothing else is said.
const STOP: (f64, f64) = (1e7, 1.0);
/// Speed in m/s at which dry friction has tanh 1, that is 76 %, of its full value.
const CREEP: f64 = 1e-3;

/// A double-acting cylinder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Piston area in m² on which the pressure of chamber 1 pulls, of chamber 2 pushes.
    pub areas: [f64; 2],
    /// The stroke in m.
    pub stroke: f64,
    /// Length of the actuator in m when the piston is in the middle.
    pub centre: f64,
    /// Length in m that each chamber has at least: nearer to its end its volume falls no further, while
    /// the piston goes on displacing oil.
    pub dead_length: f64,
    /// Viscous friction in N·s/m.
    pub viscous: f64,
    /// Dry friction in N.
    pub dry: f64,
    /// Stiffness of the end stops in N/m.
    pub stop_stiffness: f64,
    /// Damping of the end stops in s/m: the fraction of the elastic force that is added per m/s of
    /// approach.
    pub stop_damping: f64,
}

/// Force of friction and stops on the actuator's ends, and what becomes of its power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passive {
    /// In N, positive when it pushes.
    pub force: f64,
    /// Power in W.
    pub dissipated: f64,
    /// Energy in J of the stops.
    pub stored: f64,
}

impl Cylinder {
    /// A cylinder without friction, with default stops.
    pub fn new(areas: [f64; 2], stroke: f64, centre: f64) -> Self {
        Self {
            areas,
            stroke,
            centre,
            dead_length: DEAD * stroke,
            viscous: 0.0,
            dry: 0.0,
            stop_stiffness: STOP.0,
            stop_damping: STOP.1,
        }
    }

    /// The same with viscous and dry friction.
    pub fn friction(self, viscous: f64, dry: f64) -> Self {
        Self {
            viscous,
            dry,
            ..self
        }
    }

    /// The least and the largest length within its stroke.
    pub fn lengths(&self) -> [f64; 2] {
        [-0.5, 0.5].map(|half| self.centre + half * self.stroke)
    }

    /// Volumes of both chambers at a length (Pikuliński 2026, Eq. 30 and 31).
    pub fn volumes(&self, length: f64) -> [f64; 2] {
        let out = length - self.centre;
        let lengths = [0.5 * self.stroke - out, 0.5 * self.stroke + out];
        let volume = |i: usize| self.areas[i] * lengths[i].max(self.dead_length);
        [volume(0), volume(1)]
    }

    /// Growth of both volumes at a rate.
    pub fn growths(&self, rate: f64) -> [f64; 2] {
        [-self.areas[0] * rate, self.areas[1] * rate]
    }

    /// Force of the pressures.
    pub fn thrust(&self, pressures: [f64; 2]) -> f64 {
        self.areas[1] * pressures[1] - self.areas[0] * pressures[0]
    }

    /// Friction and end stops.
    pub fn passive(&self, length: f64, rate: f64) -> Passive {
        let friction = self.viscous * rate + self.dry * (rate / CREEP).tanh();
        let stop = self.stop(length, rate);
        Passive {
            force: stop.force - friction,
            dissipated: stop.dissipated + friction * rate,
            stored: stop.stored,
        }
    }

    /// The piston against the end of the cylinder. It is never pulled back.
    fn stop(&self, length: f64, rate: f64) -> Passive {
        let out = length - self.centre;
        let depth = out.abs() - 0.5 * self.stroke;
        if depth <= 0.0 {
            return Passive::default();
        }
        let approach = rate * out.signum();
        let elastic = self.stop_stiffness * depth;
        let force = elastic * (1.0 + self.stop_damping * approach).max(0.0);
        Passive {
            force: -force * out.signum(),
            dissipated: (force - elastic) * approach,
            stored: 0.5 * elastic * depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cylinder() -> Cylinder {
        Cylinder::new([4e-3, 6e-3], 0.4, 1.0).friction(100.0, 50.0)
    }

    #[test]
    fn volumes_change_as_the_rate_says_until_a_chamber_is_closed() {
        let cylinder = cylinder();
        let d = 1e-6;
        let [a, b] = [1.05, 1.05 + d].map(|length| cylinder.volumes(length));
        let growths = cylinder.growths(1.0);
        for i in 0..2 {
            assert!(((b[i] - a[i]) / d - growths[i]).abs() < 1e-9);
        }
        let closed = cylinder.volumes(1.5);
        assert!((closed[0] - 4e-3 * cylinder.dead_length).abs() < 1e-18);
    }

    #[test]
    fn friction_acts_against_the_rate_and_takes_power() {
        let cylinder = cylinder();
        for rate in [-0.3, 1e-5, 0.2] {
            let passive = cylinder.passive(1.0, rate);
            assert!(passive.force * rate < 0.0);
            assert!((passive.dissipated + passive.force * rate).abs() < 1e-12);
        }
    }

    #[test]
    fn beyond_its_stroke_an_actuator_is_pushed_back_and_never_pulled() {
        let cylinder = cylinder();
        for side in [-1.0, 1.0] {
            let length = 1.0 + side * 0.21;
            let pressed = cylinder.passive(length, 0.0).force * -side;
            assert!((pressed - 1e5).abs() < 1e-3, "{pressed}");
            let leaving = cylinder.stop(length, -side * 5.0);
            assert_eq!(leaving.force * side, 0.0);
            assert!(leaving.dissipated >= 0.0);
        }
        assert_eq!(cylinder.stop(1.19, 3.0), Passive::default());
    }
}
