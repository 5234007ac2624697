//! Motions of a node in space.
//!
//! Positions and velocities are predicted component by component. Orientations are predicted as
//! rotation vectors from the newest one, in its axes, so that they stay small and the result is an
//! orientation (Sect. 4.1.2; where the rate of the newest rotation vector is printed as ω, it
//! means Rᵀω).

use oldham_cosim::{MOTION_QUATERNION, Quantity, Visitor};
use oldham_space::rotation::{Quaternion, inverse_tangent_times, tangent_times};
use oldham_space::{V3, Vec3};

use crate::history::History;
use crate::{Extrapolation, cubic, reaches_end};

const WIDTH: usize = 19;
const POSITION: usize = 0;
const VELOCITY: usize = 7;
const SPIN: usize = 10;
const ACCELERATION: usize = 13;
const SPIN_RATE: usize = 16;

/// The last two samples of a motion, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub start: usize,
    history: History<WIDTH>,
    /// The last prediction and its time: a step asks several times for its end.
    predicted: Option<(f64, [f64; WIDTH])>,
}

impl Samples {
    pub fn new(start: usize) -> Self {
        debug_assert_eq!(WIDTH, Quantity::Motion.width());
        let mut resting = [0.0; WIDTH];
        resting[MOTION_QUATERNION.start] = 1.0;
        Self {
            start,
            history: History::new(resting),
            predicted: None,
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.predicted = None;
        visitor.count(&mut self.history.count);
        visitor.fixed(&mut self.history.times);
        for values in &mut self.history.values {
            let (position, rest) = values.split_at_mut(MOTION_QUATERNION.start);
            let (orientation, rates) = rest.split_at_mut(MOTION_QUATERNION.len());
            visitor.point(position);
            visitor.rotation(orientation.try_into().expect("four components"));
            visitor.spatial(rates);
        }
    }

    pub fn reset(&mut self) {
        self.predicted = None;
        self.history.reset();
    }

    pub fn push(&mut self, t: f64, values: &[f64]) {
        self.predicted = None;
        self.history.push(t, values);
    }

    /// Writes the motion at time t.
    pub fn write(&mut self, t: f64, extrapolation: &Extrapolation, inputs: &mut [f64]) {
        if self.history.count == 0 {
            return;
        }
        let out = &mut inputs[self.start..self.start + WIDTH];
        if let Some((s, h)) = self.history.between(t) {
            out.copy_from_slice(&self.interpolated(s, h));
            return;
        }
        if t <= self.history.times[0] {
            out.copy_from_slice(&self.history.values[0]);
            return;
        }
        let ahead = t - self.history.times[0];
        let (_, values) = match self.predicted {
            Some(known) if known.0 == t => known,
            _ => *self
                .predicted
                .insert((t, self.predict(ahead, extrapolation))),
        };
        out.copy_from_slice(&values);
    }

    /// Between the last two samples.
    fn interpolated(&self, s: f64, h: f64) -> [f64; WIDTH] {
        let [newest, older] = &self.history.values;
        let mut out = *newest;
        for (first, rate) in [
            (POSITION, VELOCITY),
            (VELOCITY, ACCELERATION),
            (SPIN, SPIN_RATE),
        ] {
            for i in 0..3 {
                let rates = [older, newest].map(|sample| h * sample[rate + i]);
                out[first + i] = cubic(s, older[first + i], rates[0], newest[first + i], rates[1]);
            }
        }
        for i in ACCELERATION..WIDTH {
            out[i] = older[i] + s * (newest[i] - older[i]);
        }
        let samples = self.rotation_vectors();
        let turn = samples
            .map(|([_, theta], [rate, older_rate])| cubic(s, theta, h * older_rate, 0.0, h * rate));
        let orientation = self.orientation(0).times(Quaternion::exp(V3(turn)));
        out[MOTION_QUATERNION].copy_from_slice(&orientation.0);
        out
    }

    fn predict(&self, ahead: f64, extrapolation: &Extrapolation) -> [f64; WIDTH] {
        let mut out = self.history.values[0];
        if self.history.count < 2 {
            self.drift(ahead, &mut out);
            return out;
        }
        let h = self.history.times[0] - self.history.times[1];
        let path = Path {
            h,
            s: ahead / h,
            extrapolation,
        };
        if extrapolation.shows_rate() {
            self.follow_rates(&path, &mut out);
            return out;
        }
        for i in 0..3 {
            let [x, v, a] = [POSITION, VELOCITY, ACCELERATION].map(|first| self.both(first + i));
            (out[POSITION + i], _) = path.to(x, v, path.position(x, v, a));
            (out[VELOCITY + i], out[ACCELERATION + i]) = path.follow(v, a);
            let [w, alpha] = [SPIN, SPIN_RATE].map(|first| self.both(first + i));
            (out[SPIN + i], out[SPIN_RATE + i]) = path.follow(w, alpha);
        }
        let orientation = self.turned(&path);
        out[MOTION_QUATERNION].copy_from_slice(&orientation.0);
        out
    }

    /// Velocities are the extrapolated rates of poses, accelerations are held.
    fn follow_rates(&self, path: &Path<'_>, out: &mut [f64; WIDTH]) {
        let share = path.s.min(1.0);
        for i in 0..3 {
            let [x, v] = [POSITION, VELOCITY].map(|first| self.both(first + i));
            (out[POSITION + i], _) = path.follow(x, v);
            let (_, rate) = path.extrapolation.end(path.h, x, v);
            out[VELOCITY + i] = v[0] + share * (rate - v[0]);
        }
        out[MOTION_QUATERNION].copy_from_slice(&self.turned(path).0);
        for (i, spin) in self.spin_at_end(path).0.into_iter().enumerate() {
            let now = self.history.values[0][SPIN + i];
            out[SPIN + i] = now + share * (spin - now);
        }
    }

    /// Every value goes on with its rate (Eq. 14 and 15): poses with the velocities, these with the
    /// accelerations.
    fn drift(&self, ahead: f64, out: &mut [f64]) {
        for i in 0..3 {
            out[POSITION + i] += ahead * out[VELOCITY + i];
            out[VELOCITY + i] += ahead * out[ACCELERATION + i];
            out[SPIN + i] += ahead * out[SPIN_RATE + i];
        }
        let turn = Quaternion::exp(self.vector(0, SPIN) * ahead);
        let orientation = turn.times(self.orientation(0));
        out[MOTION_QUATERNION].copy_from_slice(&orientation.0);
    }

    fn turned(&self, path: &Path<'_>) -> Quaternion {
        let samples = self.rotation_vectors();
        let turn = if path.extrapolation.follows_accelerations() {
            let rates = self.turning_at_end(path, &samples);
            [0, 1, 2].map(|i| {
                let (values, known) = samples[i];
                let end = path.extrapolation.position(path.h, values, known, rates[i]);
                path.to(values, known, end).0
            })
        } else {
            samples.map(|(values, rates)| path.follow(values, rates).0)
        };
        self.orientation(0).times(Quaternion::exp(V3(turn)))
    }

    /// The rate of the rotation vector at the end of the step that belongs to the angular velocity there: it
    /// depends on the rotation vector, which depends on it; found in two sweeps.
    fn turning_at_end(&self, path: &Path<'_>, samples: &RotationVectors) -> Vec3 {
        let spin = [0, 1, 2].map(|i| {
            let [w, alpha] = [SPIN, SPIN_RATE].map(|first| self.both(first + i));
            path.extrapolation.end(path.h, w, alpha).0
        });
        let spin = self.orientation(0).conjugate().rotate(V3(spin));
        let turn = |rate: Vec3| {
            V3([0, 1, 2].map(|i| {
                let (values, [now, before]) = samples[i];
                path.extrapolation
                    .integrated(path.h, values, [rate[i], now, before])
            }))
        };
        let first = inverse_tangent_times(turn(spin), spin);
        inverse_tangent_times(turn(first), spin)
    }

    /// The angular velocity at the end of the step that belongs to the extrapolated rate.
    fn spin_at_end(&self, path: &Path<'_>) -> Vec3 {
        let samples = self.rotation_vectors();
        let ends = samples.map(|(values, rates)| path.extrapolation.end(path.h, values, rates));
        let spin = tangent_times(V3(ends.map(|end| end.0)), V3(ends.map(|end| end.1)));
        self.orientation(0).rotate(spin)
    }

    /// The last two orientations and their rates as rotation vectors from the newest one, by
    /// component.
    fn rotation_vectors(&self) -> RotationVectors {
        let [newest, older] = [0, 1].map(|back| self.orientation(back));
        let back = newest.conjugate();
        let theta = back.times(older).log();
        let rate = back.rotate(self.vector(0, SPIN));
        let spin = back.rotate(self.vector(1, SPIN));
        let older_rate = inverse_tangent_times(theta, spin);
        [0, 1, 2].map(|i| ([0.0, theta[i]], [rate[i], older_rate[i]]))
    }

    fn both(&self, component: usize) -> [f64; 2] {
        [
            self.history.values[0][component],
            self.history.values[1][component],
        ]
    }

    fn vector(&self, back: usize, first: usize) -> Vec3 {
        V3([0, 1, 2].map(|i| self.history.values[back][first + i]))
    }

    fn orientation(&self, back: usize) -> Quaternion {
        let part = &self.history.values[back][MOTION_QUATERNION];
        Quaternion(part.try_into().expect("four components"))
    }
}

/// By component: values and rates, newest first.
type RotationVectors = [([f64; 2], [f64; 2]); 3];

/// The way from the newest sample to the predicted end of the step.
struct Path<'a> {
    h: f64,
    /// How far along, in steps.
    s: f64,
    extrapolation: &'a Extrapolation,
}

impl Path<'_> {
    /// Value and rate, from the newest and the older value and rate.
    fn follow(&self, values: [f64; 2], rates: [f64; 2]) -> (f64, f64) {
        self.to(values, rates, self.extrapolation.end(self.h, values, rates))
    }

    /// A position and its rate at the end of the step.
    fn position(&self, x: [f64; 2], v: [f64; 2], a: [f64; 2]) -> (f64, f64) {
        let (v_end, _) = self.extrapolation.end(self.h, v, a);
        self.extrapolation.position(self.h, x, v, v_end)
    }

    /// Value and rate on the way to those at the end of the step.
    fn to(&self, values: [f64; 2], rates: [f64; 2], (end, end_rate): (f64, f64)) -> (f64, f64) {
        if reaches_end(self.s) {
            return (end, end_rate);
        }
        let (s, h) = (self.s, self.h);
        let value = cubic(s, values[0], h * rates[0], end, h * end_rate);
        (value, rates[0] + s * (end_rate - rates[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateExtrapolation;

    /// A steady turn about a tilted axis, seen while it moves along a circle.
    fn motion(t: f64) -> [f64; WIDTH] {
        let spin = [0.6, -0.3, 0.9];
        let [c, s] = [t.cos(), t.sin()];
        let q = Quaternion::exp(V3(spin.map(|w| w * t)));
        let mut values = [0.0; WIDTH];
        values[..3].copy_from_slice(&[c, s, 0.0]);
        values[3..7].copy_from_slice(&q.0);
        values[7..10].copy_from_slice(&[-s, c, 0.0]);
        values[10..13].copy_from_slice(&spin);
        values[13..16].copy_from_slice(&[-c, -s, 0.0]);
        values
    }

    fn predicted(h: f64, ahead: f64) -> [f64; WIDTH] {
        predicted_by(RateExtrapolation::Hermite, h, ahead)
    }

    fn predicted_by(rate: RateExtrapolation, h: f64, ahead: f64) -> [f64; WIDTH] {
        let mut samples = Samples::new(0);
        samples.push(1.0 - h, &motion(1.0 - h));
        samples.push(1.0, &motion(1.0));
        let mut out = [0.0; WIDTH];
        let extrapolation = Extrapolation::new(rate, 0.6);
        samples.write(1.0 + ahead, &extrapolation, &mut out);
        out
    }

    /// A turn at constant speed about a fixed axis is a straight line of rotation vectors.
    #[test]
    fn a_steady_turn_is_predicted_exactly() {
        let kinds = [RateExtrapolation::Hermite, RateExtrapolation::Acceleration];
        for (kind, ahead) in kinds
            .into_iter()
            .flat_map(|kind| [(kind, 0.05), (kind, 0.1)])
        {
            let (found, exact) = (predicted_by(kind, 0.1, ahead), motion(1.0 + ahead));
            for i in MOTION_QUATERNION {
                assert!((found[i] - exact[i]).abs() < 1e-14, "{kind:?}");
            }
        }
    }

    /// From one sample: the pose errs by the square of the step, and so do the velocities.
    #[test]
    fn after_one_sample_every_value_goes_on_with_its_rate() {
        let error = |h: f64| {
            let mut samples = Samples::new(0);
            samples.push(1.0, &motion(1.0));
            let mut out = [0.0; WIDTH];
            let extrapolation = Extrapolation::new(RateExtrapolation::Hermite, 0.6);
            samples.write(1.0 + h, &extrapolation, &mut out);
            [POSITION, VELOCITY].map(|i| (out[i] - motion(1.0 + h)[i]).abs())
        };
        let (coarse, fine) = (error(0.02), error(0.01));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = (coarse / fine).log2();
            assert!((order - 2.0).abs() < 0.1, "{order}");
        }
    }

    /// Between two samples: the cubic has order four, and at both ends it is the sample.
    #[test]
    fn between_the_last_two_samples_it_interpolates() {
        let error = |h: f64| {
            let (found, exact) = (predicted(h, -0.4 * h), motion(1.0 - 0.4 * h));
            for i in MOTION_QUATERNION {
                assert!((found[i] - exact[i]).abs() < 1e-14);
            }
            (found[0] - exact[0]).abs()
        };
        let order = (error(0.04) / error(0.02)).log2();
        assert!((order - 4.0).abs() < 0.2, "{order}");
        for (ahead, at) in [(0.0, 1.0), (-0.1, 0.9)] {
            let (found, exact) = (predicted(0.1, ahead), motion(at));
            assert!((0..WIDTH).all(|i| (found[i] - exact[i]).abs() < 1e-15));
        }
    }

    #[test]
    fn the_local_error_of_the_position_has_order_three() {
        for kind in [RateExtrapolation::Hermite, RateExtrapolation::Acceleration] {
            let error = |h: f64| (predicted_by(kind, h, h)[0] - motion(1.0 + h)[0]).abs();
            let order = (error(0.02) / error(0.01)).log2();
            assert!((order - 3.0).abs() < 0.2, "{kind:?}: {order}");
        }
    }

    /// A turn that becomes faster about an axis that wanders.
    #[test]
    fn an_accelerated_turn_is_predicted_to_third_order() {
        let error = |h: f64| {
            // The orientation is made of the angular velocity in many small turns.
            let spin = |t: f64| V3([t.sin(), t * t, 0.5 - t]);
            let spin_rate = |t: f64| V3([t.cos(), 2.0 * t, -1.0]);
            let fine = h / 400.0;
            let mut q = Quaternion::exp(V3([0.0; 3]));
            let mut poses = Vec::new();
            for step in 0..=800 {
                if step % 400 == 0 {
                    poses.push(q);
                }
                let middle = 0.4 + (f64::from(step) + 0.5) * fine;
                q = Quaternion::exp(spin(middle) * fine).times(q);
            }
            let mut samples = Samples::new(0);
            for (k, pose) in poses[..2].iter().enumerate() {
                let t = 0.4 + k as f64 * h;
                let mut values = [0.0; WIDTH];
                values[MOTION_QUATERNION].copy_from_slice(&pose.0);
                values[SPIN..SPIN + 3].copy_from_slice(&spin(t).0);
                values[SPIN_RATE..SPIN_RATE + 3].copy_from_slice(&spin_rate(t).0);
                samples.push(t, &values);
            }
            let mut out = [0.0; WIDTH];
            let extrapolation = Extrapolation::new(RateExtrapolation::Acceleration, 0.6);
            samples.write(0.4 + 2.0 * h, &extrapolation, &mut out);
            let found = Quaternion(out[MOTION_QUATERNION].try_into().expect("four components"));
            found.conjugate().times(poses[2]).log().norm()
        };
        let order = (error(0.08) / error(0.04)).log2();
        assert!(order > 2.7, "{order}");
    }
}
