//! The predictor of the interface-mass scheme: the rate is extrapolated, then integrated.
//!
//! A. Fontana, M. Morandini, P. Masarati, "A co-simulation algorithm for the efficient real-time
//! parallel solution of multibody systems", Multibody System Dynamics, 2026, Sect. 4.1.2.

mod history;
mod line;
mod spatial;

use oldham_cosim::{Hold, InputPort, Port, Ports, Predictor, Quantity, State, TwoStep, Visitor};

/// How the rate at the end of the coming step is extrapolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateExtrapolation {
    /// As it is now.
    Constant,
    /// Along the last two rates.
    Linear,
    /// By the cubic through the last two values and rates.
    Hermite,
    /// The same for positions; the velocity is the rate that was extrapolated, and the acceleration
    /// is held.
    ///
    /// R. Zhang et al., "Explicit smooth/nonsmooth cosimulation using kinematic constraints",
    /// Multibody System Dynamics, 2022, Eq. 33 to 35.
    HermiteVelocity,
    /// Accelerations go on along the last two, and the method makes velocities and positions of them, as it
    /// does in the sender. The truncation error of the method is then in the prediction too, which is closer to what
    /// the sender will find by one order than extrapolated rates are.
    Acceleration,
}

/// Predicts motions at the end of a step by extrapolating their rate and integrating it with the
/// two-step method LMS2; within the step by the cubic between the newest sample and that
/// prediction, and before the newest sample by the cubic between the last two. Other quantities are
/// extrapolated linearly.
///
/// After a single sample every value goes on with its rate (Eq. 14 and 15).
#[derive(Clone, Debug)]
pub struct IntegratedMotion {
    extrapolation: Extrapolation,
    others: Hold,
    motions: Vec<Samples>,
}

/// The samples of a port, if it carries a motion.
#[derive(Clone, Debug)]
enum Samples {
    None,
    Line(line::Samples),
    Spatial(Box<spatial::Samples>),
}

impl IntegratedMotion {
    /// The predictor for these ports, with the spectral radius of the method that integrates.
    pub fn new(extrapolation: RateExtrapolation, rho: f64, ports: &Ports) -> Self {
        let motion = |(index, port): (usize, &Port)| {
            let start = ports.input_range(InputPort(index)).start;
            match port.quantity {
                Quantity::Translation | Quantity::Rotation => {
                    Samples::Line(line::Samples::new(start))
                }
                Quantity::Motion => Samples::Spatial(Box::new(spatial::Samples::new(start))),
                _ => Samples::None,
            }
        };
        Self {
            extrapolation: Extrapolation::new(extrapolation, rho),
            others: Hold::new(1, ports),
            motions: ports.inputs().iter().enumerate().map(motion).collect(),
        }
    }
}

impl State for IntegratedMotion {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.others.visit(visitor);
        for samples in &mut self.motions {
            match samples {
                Samples::None => {}
                Samples::Line(samples) => samples.visit(visitor),
                Samples::Spatial(samples) => samples.visit(visitor),
            }
        }
    }
}

impl Predictor for IntegratedMotion {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        match &mut self.motions[port.0] {
            Samples::None => self.others.receive(port, t, values),
            Samples::Line(samples) => samples.push(t, values),
            Samples::Spatial(samples) => samples.push(t, values),
        }
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.others.predict(t, now, inputs);
        for samples in &mut self.motions {
            match samples {
                Samples::None => {}
                Samples::Line(samples) => samples.write(t, &self.extrapolation, inputs),
                Samples::Spatial(samples) => samples.write(t, &self.extrapolation, inputs),
            }
        }
    }

    fn reset(&mut self) {
        self.others.reset();
        for samples in &mut self.motions {
            match samples {
                Samples::None => {}
                Samples::Line(samples) => samples.reset(),
                Samples::Spatial(samples) => samples.reset(),
            }
        }
    }
}

/// From two values and rates to those one step ahead.
#[derive(Clone, Copy, Debug)]
struct Extrapolation {
    rate: RateExtrapolation,
    method: TwoStep,
}

impl Extrapolation {
    fn new(rate: RateExtrapolation, rho: f64) -> Self {
        Self {
            rate,
            method: TwoStep::lms2(rho),
        }
    }

    /// Whether the rate of the position is the velocity, and accelerations are held.
    fn shows_rate(&self) -> bool {
        self.rate == RateExtrapolation::HermiteVelocity
    }

    /// Whether velocities are integrals of accelerations, and the rates of positions.
    fn follows_accelerations(&self) -> bool {
        self.rate == RateExtrapolation::Acceleration
    }

    /// Value and rate one step ahead, from the newest and the older ones.
    fn end(&self, h: f64, [y0, y1]: [f64; 2], [r0, r1]: [f64; 2]) -> (f64, f64) {
        let rate = match self.rate {
            RateExtrapolation::Constant => r0,
            RateExtrapolation::Linear | RateExtrapolation::Acceleration => 2.0 * r0 - r1,
            // Eq. 8 with Eq. 10.
            RateExtrapolation::Hermite | RateExtrapolation::HermiteVelocity => {
                -12.0 / h * (y0 - y1) + 8.0 * r0 + 5.0 * r1
            }
        };
        (self.integrated(h, [y0, y1], [rate, r0, r1]), rate)
    }

    /// The value one step ahead, with its rate there, now and before (Eq. 11).
    fn integrated(&self, h: f64, [y0, y1]: [f64; 2], [rate, r0, r1]: [f64; 3]) -> f64 {
        let TwoStep {
            values: [a1, a2],
            rates: [b0, b1, b2],
        } = self.method;
        a1 * y0 + a2 * y1 + h * (b0 * rate + b1 * r0 + b2 * r1)
    }

    /// A position and its rate one step ahead, where the velocity there is known already.
    fn position(&self, h: f64, x: [f64; 2], v: [f64; 2], v_end: f64) -> (f64, f64) {
        if self.follows_accelerations() {
            (self.integrated(h, x, [v_end, v[0], v[1]]), v_end)
        } else {
            self.end(h, x, v)
        }
    }
}

/// The end of the step, which most parts ask for, must not depend on rounding of the time.
fn reaches_end(steps: f64) -> bool {
    (steps - 1.0).abs() < 1e-6
}

/// The cubic with given values and slopes at 0 and 1.
fn cubic(s: f64, y0: f64, slope0: f64, y1: f64, slope1: f64) -> f64 {
    let change = y1 - y0;
    let square = 3.0 * change - 2.0 * slope0 - slope1;
    let cube = slope0 + slope1 - 2.0 * change;
    y0 + s * (slope0 + s * (square + s * cube))
}

#[cfg(test)]
mod tests {
    use oldham_cosim::impulse_response;

    use super::*;

    fn error(extrapolation: RateExtrapolation, h: f64) -> f64 {
        let mut ports = Ports::new();
        let port = ports.add_input("far", Quantity::Translation);
        let mut predictor = IntegratedMotion::new(extrapolation, 0.6, &ports);
        let motion = |t: f64| [t.sin(), t.cos(), -t.sin()];
        for t in [1.0 - h, 1.0] {
            predictor.receive(port, t, &motion(t));
        }
        let mut predicted = [0.0; 3];
        predictor.predict(1.0 + h, None, &mut predicted);
        (predicted[0] - motion(1.0 + h)[0]).abs()
    }

    /// A rate that is wrong by h^q moves the position by h^(q+1); LMS2 itself errs by h^3.
    #[test]
    fn the_local_error_has_the_order_of_the_extrapolated_rate() {
        let cases = [
            (RateExtrapolation::Constant, 2.0),
            (RateExtrapolation::Linear, 3.0),
            (RateExtrapolation::Hermite, 3.0),
            (RateExtrapolation::HermiteVelocity, 3.0),
            (RateExtrapolation::Acceleration, 3.0),
        ];
        for (extrapolation, expected) in cases {
            let ratio = error(extrapolation, 0.02) / error(extrapolation, 0.01);
            assert!(
                (ratio.log2() - expected).abs() < 0.15,
                "{extrapolation:?}: {ratio}"
            );
        }
    }

    /// A sender that integrates x'' = -x by LMS2 finds its next position closer to the prediction by one order
    /// than extrapolated rates are: it is off by c² times what the acceleration misses.
    #[test]
    fn accelerations_lead_to_where_the_method_goes() {
        let miss = |extrapolation, h: f64| {
            let mut ports = Ports::new();
            let port = ports.add_input("far", Quantity::Translation);
            let mut predictor = IntegratedMotion::new(extrapolation, 0.6, &ports);
            let TwoStep {
                values: [a1, a2],
                rates: [b0, b1, b2],
            } = TwoStep::lms2(0.6);
            let exact = |t: f64| [t.sin(), t.cos(), -t.sin()];
            let (mut older, mut now) = (exact(0.0), exact(h));
            let c = h * b0;
            let last = (1.0 / h).round() as u32;
            for n in 2..=last {
                predictor.receive(port, f64::from(n - 1) * h, &now);
                let known = |i: usize| {
                    a1 * now[i] + a2 * older[i] + h * (b1 * now[i + 1] + b2 * older[i + 1])
                };
                let x = (known(0) + c * known(1)) / (1.0 + c * c);
                let next = [x, known(1) - c * x, -x];
                if n == last {
                    let mut predicted = [0.0; 3];
                    predictor.predict(f64::from(last) * h, None, &mut predicted);
                    return (predicted[0] - x).abs();
                }
                (older, now) = (now, next);
            }
            unreachable!("the loop returns")
        };
        for (extrapolation, expected) in [
            (RateExtrapolation::Hermite, 3.0),
            (RateExtrapolation::Acceleration, 4.0),
        ] {
            let order = (miss(extrapolation, 0.02) / miss(extrapolation, 0.01)).log2();
            assert!((order - expected).abs() < 0.2, "{extrapolation:?}: {order}");
        }
        assert!(
            miss(RateExtrapolation::Acceleration, 0.01)
                < 0.1 * miss(RateExtrapolation::Hermite, 0.01)
        );
    }

    /// Eq. 33 to 35: the velocity is the extrapolated rate, and the acceleration is held.
    #[test]
    fn velocities_can_be_the_rates_and_accelerations_held() {
        let mut ports = Ports::new();
        let line = ports.add_input("line", Quantity::Rotation);
        let space = ports.add_input("space", Quantity::Motion);
        let mut predictor = IntegratedMotion::new(RateExtrapolation::HermiteVelocity, 0.56, &ports);
        let h = 0.01;
        let angle = |t: f64| [t.sin(), t.cos(), -t.sin()];
        // The same turn about z, and the same motion along x.
        let motion = |t: f64| {
            let [x, v, a] = angle(t);
            let mut motion = [0.0; 19];
            (motion[0], motion[7], motion[13]) = (x, v, a);
            (motion[3], motion[6]) = ((x / 2.0).cos(), (x / 2.0).sin());
            (motion[12], motion[18]) = (v, a);
            motion
        };
        for t in [1.0 - h, 1.0] {
            predictor.receive(line, t, &angle(t));
            predictor.receive(space, t, &motion(t));
        }
        for ahead in [h, 0.4 * h] {
            let mut predicted = [0.0; 22];
            predictor.predict(1.0 + ahead, None, &mut predicted);
            let ([x, v, a], spatial) =
                ([predicted[0], predicted[1], predicted[2]], &predicted[3..]);
            assert_eq!(a, angle(1.0)[2]);
            if ahead == h {
                let ([x0, v0, _], [x1, v1, _]) = (angle(1.0), angle(1.0 - h));
                let rate = -12.0 / h * (x0 - x1) + 8.0 * v0 + 5.0 * v1;
                assert!((v - rate).abs() < 1e-12);
            }
            assert!((spatial[0] - x).abs() < 1e-14 && (spatial[7] - v).abs() < 1e-14);
            assert!((2.0 * spatial[6].atan2(spatial[3]) - x).abs() < 1e-12);
            assert!((spatial[12] - v).abs() < 1e-12 && spatial[18] == a);
        }
    }

    #[test]
    fn within_the_step_it_joins_sample_and_prediction() {
        let (y0, y1) = (1.0, 2.0);
        assert_eq!(cubic(0.0, y0, 0.5, y1, -3.0), y0);
        assert!((cubic(1.0, y0, 0.5, y1, -3.0) - y1).abs() < 1e-15);
    }

    #[test]
    fn after_one_sample_every_value_goes_on_with_its_rate() {
        let mut ports = Ports::new();
        let port = ports.add_input("far", Quantity::Translation);
        let mut predictor = IntegratedMotion::new(RateExtrapolation::Hermite, 0.6, &ports);
        predictor.receive(port, 0.0, &[1.0, 2.0, 3.0]);
        let mut motion = [0.0; 3];
        predictor.predict(0.5, None, &mut motion);
        assert_eq!(motion, [2.0, 3.5, 3.0]);
    }

    /// Fontana 2026, Eq. 8 and 11, written by hand.
    #[test]
    fn the_prediction_of_the_interface_mass_scheme_is_read_off() {
        let mut ports = Ports::new();
        let port = ports.add_input("far", Quantity::Motion);
        let mut predictor = IntegratedMotion::new(RateExtrapolation::Hermite, 0.6, &ports);
        let h = 1e-3;
        let taps = impulse_response(&mut predictor, &ports, port, h, false).unwrap();
        let square = 0.16;
        let beta = (3.0 * square + 4.0 * 0.2) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let (b0, b1) = (delta + 0.5, 0.5 * beta + 0.5 - 2.0 * delta);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
        assert_eq!(taps.len(), 3);
        assert!(close(taps[1][0][0], 1.0 - beta - 12.0 * b0));
        assert!(close(taps[1][0][1], h * (8.0 * b0 + b1)));
        assert!(close(taps[2][0][0], beta + 12.0 * b0));
    }
}
