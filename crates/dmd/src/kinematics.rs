//! Which received component is the rate of which, and what follows from it: the Taylor step that
//! stands for a model before there are data, and interpolation within a step.

use oldham_cosim::{InputPort, Ports, Quantity, Unit};

/// Places inside [`Quantity::Motion`].
const QUATERNION: usize = 3;
const TWIST: usize = 7;
const ACCELERATION: usize = 13;

/// Rates among the received components.
#[derive(Clone, Debug)]
pub(crate) struct Kinematics {
    /// The component that is the rate of each component.
    rates: Vec<Option<usize>>,
    orientations: Vec<Orientation>,
}

/// A unit quaternion, scalar first, and the angular velocity in the absolute frame.
#[derive(Clone, Copy, Debug)]
struct Orientation {
    quaternion: usize,
    spin: usize,
}

impl Kinematics {
    /// Reads the rates off the ports. Scalar displacements and velocities are paired in the order
    /// of their ports if there are as many of one as of the other.
    pub fn of(ports: &Ports) -> Self {
        let mut kinematics = Self {
            rates: vec![None; ports.input_width()],
            orientations: Vec::new(),
        };
        for (index, port) in ports.inputs().iter().enumerate() {
            let start = ports.input_range(InputPort(index)).start;
            match port.quantity {
                Quantity::Translation | Quantity::Rotation => {
                    kinematics.rates[start] = Some(start + 1);
                    kinematics.rates[start + 1] = Some(start + 2);
                }
                Quantity::Motion => kinematics.add_motion(start),
                _ => {}
            }
        }
        for [displacement, velocity, acceleration] in [
            [Unit::METRE, Unit::METRE_PER_SECOND, Unit::METRE_PER_SECOND2],
            [
                Unit::RADIAN,
                Unit::RADIAN_PER_SECOND,
                Unit::RADIAN_PER_SECOND2,
            ],
        ] {
            kinematics.pair_scalars(ports, &displacement, &velocity);
            kinematics.pair_scalars(ports, &velocity, &acceleration);
        }
        kinematics
    }

    fn add_motion(&mut self, start: usize) {
        for axis in 0..3 {
            self.rates[start + axis] = Some(start + TWIST + axis);
        }
        for component in TWIST..ACCELERATION {
            self.rates[start + component] = Some(start + component + ACCELERATION - TWIST);
        }
        self.orientations.push(Orientation {
            quaternion: start + QUATERNION,
            spin: start + TWIST + 3,
        });
    }

    fn pair_scalars(&mut self, ports: &Ports, value: &Unit, rate: &Unit) {
        let places = |unit: &Unit| -> Vec<usize> {
            let wanted = Quantity::Scalar(unit.clone());
            let inputs = ports.inputs().iter().enumerate();
            let found = inputs.filter(|(_, port)| port.quantity == wanted);
            found
                .map(|(index, _)| ports.input_range(InputPort(index)).start)
                .collect()
        };
        let (values, rates) = (places(value), places(rate));
        if values.len() == rates.len() {
            for (value, rate) in values.into_iter().zip(rates) {
                self.rates[value] = Some(rate);
            }
        }
    }

    /// Where x is going to be a time `tau` later, as far as its own rates tell. Quaternions are
    /// left with the length that the linear step gives them.
    pub fn taylor(&self, x: &[f64], tau: f64, out: &mut [f64]) {
        for (i, value) in out.iter_mut().enumerate() {
            *value = x[i];
            if let Some(rate) = self.rates[i] {
                let second = self.rates[rate].map_or(0.0, |second| x[second]);
                *value += tau * (x[rate] + 0.5 * tau * second);
            }
        }
        for &orientation in &self.orientations {
            for (i, rate) in orientation.rate(x).into_iter().enumerate() {
                out[orientation.quaternion + i] += tau * rate;
            }
        }
    }

    /// Between `from` and `to`, a time `span` apart, at the fraction s: cubic where rates are
    /// known, else linear.
    pub fn interpolate(&self, from: &[f64], to: &[f64], span: f64, s: f64, out: &mut [f64]) {
        for (i, value) in out.iter_mut().enumerate() {
            *value = match self.rates[i] {
                Some(rate) => hermite([from[i], to[i]], [from[rate], to[rate]], span, s),
                None => from[i] + s * (to[i] - from[i]),
            };
        }
        for &orientation in &self.orientations {
            let slopes = orientation.rate(from).into_iter().zip(orientation.rate(to));
            for (i, (start, end)) in slopes.enumerate() {
                let place = orientation.quaternion + i;
                out[place] = hermite([from[place], to[place]], [start, end], span, s);
            }
        }
    }

    /// Makes all orientations unit quaternions again.
    pub fn normalise(&self, x: &mut [f64]) {
        for orientation in &self.orientations {
            let q = &mut x[orientation.quaternion..orientation.quaternion + 4];
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 {
                q.iter_mut().for_each(|x| *x /= norm);
            }
        }
    }

    /// q and -q are the same orientation: puts x on the sheet of `reference`.
    pub fn align(&self, reference: &[f64], x: &mut [f64]) {
        for orientation in &self.orientations {
            let range = orientation.quaternion..orientation.quaternion + 4;
            let dot: f64 = range.clone().map(|i| reference[i] * x[i]).sum();
            if dot < 0.0 {
                x[range].iter_mut().for_each(|q| *q = -*q);
            }
        }
    }
}

impl Orientation {
    /// The rate of the quaternion: half the product of angular velocity and quaternion.
    fn rate(self, x: &[f64]) -> [f64; 4] {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| x[self.quaternion + i]);
        let [p, q, r] = [0, 1, 2].map(|i| 0.5 * x[self.spin + i]);
        [
            -p * b - q * c - r * d,
            p * a + q * d - r * c,
            q * a + r * b - p * d,
            r * a + p * c - q * b,
        ]
    }
}

fn hermite(ends: [f64; 2], slopes: [f64; 2], span: f64, s: f64) -> f64 {
    let (square, cube) = (s * s, s * s * s);
    let blend = 3.0 * square - 2.0 * cube;
    (1.0 - blend) * ends[0]
        + blend * ends[1]
        + span * ((cube - 2.0 * square + s) * slopes[0] + (cube - square) * slopes[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinematics(quantities: &[Quantity]) -> Kinematics {
        let mut ports = Ports::new();
        for (index, quantity) in quantities.iter().enumerate() {
            ports.add_input(format!("in{index}"), quantity.clone());
        }
        Kinematics::of(&ports)
    }

    /// x = t^3 has the values and rates of a cubic: interpolation is exact, and so is the Taylor
    /// step for the parabola x = t^2.
    #[test]
    fn polynomials_are_met_exactly() {
        let line = kinematics(&[Quantity::Translation]);
        let cubic = |t: f64| [t * t * t, 3.0 * t * t, 6.0 * t];
        let mut out = [0.0; 3];
        line.interpolate(&cubic(1.0), &cubic(1.5), 0.5, 0.25, &mut out);
        for (value, expected) in out.iter().zip(cubic(1.125)) {
            assert!((value - expected).abs() < 1e-14);
        }
        let parabola = |t: f64| [t * t, 2.0 * t, 2.0];
        line.taylor(&parabola(1.0), 0.3, &mut out);
        for (value, expected) in out.iter().zip(parabola(1.3)) {
            assert!((value - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn scalar_ports_pair_up_only_when_their_numbers_match() {
        let scalar = Quantity::Scalar;
        let paired = kinematics(&[scalar(Unit::METRE), scalar(Unit::METRE_PER_SECOND)]);
        let lone = kinematics(&[
            scalar(Unit::METRE),
            scalar(Unit::METRE),
            scalar(Unit::METRE_PER_SECOND),
        ]);
        assert_eq!(paired.rates, [Some(1), None]);
        assert_eq!(lone.rates, [None; 3]);
    }

    /// A steady turn about z: after the Taylor step the orientation is right to second order, and
    /// between two true orientations to fourth.
    #[test]
    fn orientations_follow_the_angular_velocity() {
        let node = kinematics(&[Quantity::Motion]);
        let turned = |angle: f64| {
            let mut motion = Quantity::Motion.zero();
            motion[3] = (angle / 2.0).cos();
            motion[6] = (angle / 2.0).sin();
            motion[12] = 1.0;
            motion
        };
        let angle_of = |motion: &[f64]| 2.0 * motion[6].atan2(motion[3]);
        let mut out = vec![0.0; 19];
        node.taylor(&turned(0.4), 0.01, &mut out);
        node.normalise(&mut out);
        assert!((angle_of(&out) - 0.41).abs() < 1e-6);
        node.interpolate(&turned(0.4), &turned(0.5), 0.1, 0.3, &mut out);
        node.normalise(&mut out);
        assert!((angle_of(&out) - 0.43).abs() < 1e-8);
        let mut other = turned(0.4).iter().map(|q| -q).collect::<Vec<_>>();
        node.align(&turned(0.5), &mut other);
        assert!((angle_of(&other) - 0.4).abs() < 1e-15);
    }
}
