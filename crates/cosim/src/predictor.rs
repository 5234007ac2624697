//! Predictors: what are a subsystem's inputs *now*, given what was exchanged so far?

use std::ops::Range;

use crate::port::{InputPort, MOTION_QUATERNION, Ports, Quantity};
use crate::state::{State, Visitor};

/// Answers for all inputs of one subsystem, at any time within a macro step.
///
/// Order of calls: at every exchange at time t, [`sent`](Self::sent) with what the subsystem sent,
/// then [`receive`](Self::receive) for each port that got a sample; between exchanges any number
/// of [`predict`](Self::predict). A sample at the time of the newest one replaces it (iteration,
/// output updates). In a sequential schedule a sample may lie at the *end* of the coming step:
/// the prediction is then an interpolation.
pub trait Predictor: State + Send {
    /// A sample arrived at a port.
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]);

    /// What the subsystem itself sent at time t.
    fn sent(&mut self, _t: f64, _outputs: &[f64]) {}

    /// The inputs at time t. `now` is what the subsystem would send now, where it says so.
    /// Components of ports that never got a sample are left as they are.
    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]);

    /// An event is a discontinuity: keep only the newest samples.
    fn reset(&mut self);

    /// What a user should know about its work, for the summary of a run.
    fn note(&self) -> Option<String> {
        None
    }
}

/// Polynomial extrapolation through the newest samples: zero-, first- or second-order hold.
///
/// While a port has fewer samples than the order needs, the order is reduced: after one sample it
/// holds, after two it is linear. Tangents are always held: they change little from step to step,
/// and are no motion that could be continued.
#[derive(Clone, Debug)]
pub struct Hold {
    ports: Vec<History>,
    /// The newest sample of every port, as the inputs are arranged.
    newest: Vec<f64>,
    /// Whether these are the inputs at any time: all ports hold, and all have a sample.
    is_held: bool,
}

/// The samples of one port.
#[derive(Clone, Debug)]
struct History {
    range: Range<usize>,
    quantity: Quantity,
    has_orientation: bool,
    is_coordinate: bool,
    /// Samples at most.
    depth: u64,
    count: u64,
    times: [f64; 3],
    /// Those before the newest one, the newer first.
    older: Vec<f64>,
}

impl Hold {
    /// The hold of order 0, 1 or 2 for these ports.
    pub fn new(order: usize, ports: &Ports) -> Self {
        assert!(order <= 2, "a hold has order 0, 1 or 2");
        let history = |(index, port): (usize, &crate::port::Port)| {
            let older = if port.quantity.is_held() { 0 } else { order };
            History {
                range: ports.input_range(InputPort(index)),
                quantity: port.quantity.clone(),
                has_orientation: port.quantity == Quantity::Motion,
                is_coordinate: port.quantity.is_coordinate(),
                depth: older as u64 + 1,
                count: 0,
                times: [0.0; 3],
                older: vec![0.0; older * port.quantity.width()],
            }
        };
        Self {
            ports: ports.inputs().iter().enumerate().map(history).collect(),
            newest: vec![0.0; ports.input_width()],
            is_held: false,
        }
    }

    /// Samples have come, or were replaced.
    #[inline(never)]
    fn find_held(&mut self) {
        let holds = |port: &History| port.depth == 1 && port.count == 1 && !port.has_orientation;
        self.is_held = self.ports.iter().all(holds);
    }
}

impl State for Hold {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for port in &mut self.ports {
            visitor.count(&mut port.count);
            // A state from outside may claim more samples than there is room for.
            port.count = port.count.min(port.depth);
            visitor.fixed(&mut port.times);
            let newest = &mut self.newest[port.range.clone()];
            // A port that nothing feeds has no samples: its memory is no coordinate of the motion,
            // and neither is what never grows by itself.
            if port.count == 0 || !port.is_coordinate {
                visitor.fixed(newest);
                visitor.fixed(&mut port.older);
            } else {
                port.quantity.visit(newest, visitor);
                port.quantity.visit(&mut port.older, visitor);
            }
        }
        if visitor.replaces() {
            self.find_held();
        }
    }
}

impl Predictor for Hold {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let history = &mut self.ports[port.0];
        let newest = &mut self.newest[history.range.clone()];
        let is_first = history.count == 0;
        history.push(t, values, newest);
        if is_first {
            self.find_held();
        }
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        if self.is_held {
            return copy(inputs, &self.newest);
        }
        for port in &self.ports {
            let range = port.range.clone();
            port.extrapolate(t, &self.newest[range.clone()], &mut inputs[range]);
        }
    }

    fn reset(&mut self) {
        for port in &mut self.ports {
            port.count = port.count.min(1);
        }
    }
}

impl History {
    #[inline]
    fn push(&mut self, t: f64, values: &[f64], newest: &mut [f64]) {
        let replaces = self.count > 0 && self.times[0] == t;
        if !replaces {
            if self.depth > 1 {
                self.move_on(newest);
            }
            self.times = [t, self.times[0], self.times[1]];
            self.count = (self.count + 1).min(self.depth);
        }
        copy(newest, values);
        if self.has_orientation && self.count > 1 && !replaces {
            self.align_signs(newest);
        }
    }

    /// The newest sample becomes an older one.
    fn move_on(&mut self, newest: &[f64]) {
        let kept = self.older.len() - newest.len();
        self.older.copy_within(..kept, newest.len());
        self.older[..newest.len()].copy_from_slice(newest);
    }

    /// q and -q are the same orientation: keep the histories on one sheet.
    fn align_signs(&mut self, newest: &[f64]) {
        for sample in self.older.chunks_exact_mut(newest.len()) {
            let dot: f64 = MOTION_QUATERNION.map(|i| newest[i] * sample[i]).sum();
            if dot < 0.0 {
                sample[MOTION_QUATERNION].iter_mut().for_each(|q| *q = -*q);
            }
        }
    }

    fn extrapolate(&self, t: f64, newest: &[f64], out: &mut [f64]) {
        let w = newest.len();
        let [t0, t1, t2] = self.times;
        match self.count {
            0 => return,
            // All there is, or just what is asked for.
            _ if self.count == 1 || t == t0 => copy(out, newest),
            2 => {
                let s = (t - t0) / (t0 - t1);
                for (i, value) in out.iter_mut().enumerate() {
                    *value = newest[i] + s * (newest[i] - self.older[i]);
                }
            }
            _ => {
                // Newton's divided differences.
                let (a, b) = (t - t0, t - t1);
                for (i, value) in out.iter_mut().enumerate() {
                    let (y0, y1, y2) = (newest[i], self.older[i], self.older[w + i]);
                    let d01 = (y0 - y1) / (t0 - t1);
                    let d12 = (y1 - y2) / (t1 - t2);
                    *value = y0 + a * (d01 + b * (d01 - d12) / (t0 - t2));
                }
            }
        }
        if self.has_orientation {
            let q = &mut out[MOTION_QUATERNION];
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            q.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

/// Copies a port's value. Scalars and motions along a line are copied in place: a call to the copy
/// routine costs more than the copy.
#[inline]
fn copy(to: &mut [f64], from: &[f64]) {
    match (to, from) {
        ([a], [x]) => *a = *x,
        ([a, b, c], [x, y, z]) => (*a, *b, *c) = (*x, *y, *z),
        (to, from) => to.copy_from_slice(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Unit;

    fn scalar_port() -> Ports {
        let mut ports = Ports::new();
        ports.add_input("u", Quantity::Scalar(Unit::ONE));
        ports
    }

    /// A hold of order p reproduces polynomials of degree p exactly, between and beyond samples.
    #[test]
    fn a_hold_reproduces_polynomials_of_its_order() {
        for order in 0..=2 {
            let polynomial = |t: f64| -> f64 { (0..=order).map(|p| (1.0 - t).powi(p)).sum() };
            let mut hold = Hold::new(order as usize, &scalar_port());
            for t in [0.0, 0.5, 0.75, 1.0] {
                hold.receive(InputPort(0), t, &[polynomial(t)]);
            }
            for t in [0.8, 1.0, 1.25, 2.0] {
                let mut u = [0.0];
                hold.predict(t, None, &mut u);
                assert!((u[0] - polynomial(t)).abs() < 1e-12, "order {order} at {t}");
            }
        }
    }

    /// Of a state that was forged: it cannot have more samples than there is room for.
    #[test]
    fn a_state_with_too_many_samples_is_no_panic() {
        let mut hold = Hold::new(1, &scalar_port());
        for t in [0.0, 1.0] {
            hold.receive(InputPort(0), t, &[t]);
        }
        let mut saved = crate::Snapshot::default();
        saved.save(&mut hold);
        let mut words = saved.words().to_vec();
        let count = words
            .iter()
            .position(|&word| word == 2)
            .expect("two samples");
        words[count] = u64::MAX;
        crate::Snapshot::from_words(words).restore(&mut hold);
        let mut u = [0.0];
        hold.predict(3.0, None, &mut u);
        assert_eq!(u, [3.0], "two samples are extrapolated");
    }

    #[test]
    fn before_enough_samples_the_order_is_reduced() {
        let mut hold = Hold::new(2, &scalar_port());
        let mut u = [7.0];
        hold.predict(0.0, None, &mut u);
        assert_eq!(u, [7.0], "no sample: untouched");
        hold.receive(InputPort(0), 0.0, &[1.0]);
        hold.predict(3.0, None, &mut u);
        assert_eq!(u, [1.0], "one sample: held");
        hold.receive(InputPort(0), 1.0, &[2.0]);
        hold.predict(3.0, None, &mut u);
        assert_eq!(u, [4.0], "two samples: linear");
    }

    #[test]
    fn a_sample_at_the_same_time_replaces_the_newest() {
        let mut hold = Hold::new(1, &scalar_port());
        hold.receive(InputPort(0), 0.0, &[0.0]);
        hold.receive(InputPort(0), 1.0, &[5.0]);
        hold.receive(InputPort(0), 1.0, &[1.0]);
        let mut u = [0.0];
        hold.predict(2.0, None, &mut u);
        assert_eq!(u, [2.0]);
    }

    #[test]
    fn after_a_reset_only_the_newest_sample_counts() {
        let mut hold = Hold::new(1, &scalar_port());
        hold.receive(InputPort(0), 0.0, &[0.0]);
        hold.receive(InputPort(0), 1.0, &[1.0]);
        hold.reset();
        let mut u = [0.0];
        hold.predict(2.0, None, &mut u);
        assert_eq!(u, [1.0]);
    }

    #[test]
    fn an_extrapolated_orientation_is_a_unit_quaternion_on_one_sheet() {
        let mut ports = Ports::new();
        ports.add_input("hand", Quantity::Motion);
        let mut hold = Hold::new(1, &ports);
        let turned = |angle: f64, sign: f64| {
            let mut motion = Quantity::Motion.zero();
            motion[3] = sign * (angle / 2.0).cos();
            motion[6] = sign * (angle / 2.0).sin();
            motion
        };
        hold.receive(InputPort(0), 0.0, &turned(0.10, 1.0));
        hold.receive(InputPort(0), 1.0, &turned(0.11, -1.0));
        let mut motion = vec![0.0; 19];
        hold.predict(2.0, None, &mut motion);
        let norm: f64 = motion[MOTION_QUATERNION].iter().map(|q| q * q).sum();
        assert!((norm - 1.0).abs() < 1e-15);
        assert!(
            (2.0 * motion[6].atan2(motion[3]).rem_euclid(std::f64::consts::PI) - 0.12).abs() < 1e-6
        );
    }
}
