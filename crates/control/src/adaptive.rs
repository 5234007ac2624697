//! A Runge–Kutta pair of orders five and four with error control (J. R. Dormand and P. J. Prince,
//! Journal of Computational and Applied Mathematics 6, 1980): small steps about the kinks of limits
//! and conditions, large ones elsewhere.

/// Times of the stages, as fractions of the step.
const TIMES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Weights of earlier stages; the last row is the solution of fifth order.
const STAGES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
    ],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
/// Weights of the difference of both solutions.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Error of a step relative to the state.
const RELATIVE: f64 = 1e-10;
/// The same where rounding is all that should be left: analyses take differences.
const SHARP: f64 = 1e-13;
/// Error of a step of a state that is about zero.
const ABSOLUTE: f64 = 1e-13;
/// No step is shorter than this part of the macro step: a jump is passed in it.
const SHORTEST: f64 = 1e-11;

/// The integrator.
#[derive(Clone, Debug)]
pub(crate) struct Adaptive {
    relative: f64,
    rates: [Vec<f64>; 7],
    stage: Vec<f64>,
    /// The step that was right last, as a part of the macro step.
    pub step: f64,
}

impl Adaptive {
    pub fn new(states: usize) -> Self {
        Self {
            relative: RELATIVE,
            rates: [(); 7].map(|()| vec![0.0; states]),
            stage: vec![0.0; states],
            step: 1.0,
        }
    }

    /// From now on to rounding.
    pub fn sharpen(&mut self) {
        self.relative = SHARP;
    }

    /// Advances the states from one time to another; `rates` gives their rates. Counts the steps.
    pub fn advance<E>(
        &mut self,
        from: f64,
        to: f64,
        states: &mut [f64],
        steps: &mut u64,
        mut rates: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let whole = to - from;
        let mut done = 0.0;
        while done < 1.0 {
            let left = 1.0 - done;
            // Not two steps of which the second is tiny.
            let step = match self.step {
                step if step >= left => left,
                step if 2.0 * step > left => 0.5 * left,
                step => step,
            };
            let size = step * whole;
            let start = from + done * whole;
            rates(start, states, &mut self.rates[0])?;
            for (stage, weights) in STAGES.iter().enumerate() {
                for (i, state) in self.stage.iter_mut().enumerate() {
                    let earlier = weights.iter().zip(&self.rates);
                    let slope: f64 = earlier.map(|(weight, rate)| weight * rate[i]).sum();
                    *state = states[i] + size * slope;
                }
                let t = start + TIMES[stage + 1] * size;
                rates(t, &self.stage, &mut self.rates[stage + 1])?;
            }
            *steps += 1;
            let error = self.error(states, size);
            let is_shortest = step <= SHORTEST;
            if error <= 1.0 || is_shortest {
                states.copy_from_slice(&self.stage);
                done = if step == left { 1.0 } else { done + step };
            }
            let growth = match error {
                error if error.is_nan() => 0.1,
                0.0 => 5.0,
                error => (0.9 * error.powf(-0.2)).clamp(0.1, 5.0),
            };
            // A piece that only filled the rest says nothing against longer steps.
            let next = (step * growth).clamp(SHORTEST, 1.0);
            self.step = if step == left && error <= 1.0 {
                next.max(self.step)
            } else {
                next
            };
        }
        Ok(())
    }

    /// The largest error in units of the tolerance.
    fn error(&self, states: &[f64], size: f64) -> f64 {
        let mut largest: f64 = 0.0;
        for (i, state) in states.iter().enumerate() {
            let parts = ERROR.iter().zip(&self.rates);
            let error: f64 = parts.map(|(weight, rate)| weight * rate[i]).sum();
            let scale = ABSOLUTE + self.relative * state.abs().max(self.stage[i].abs());
            let ratio = (size * error).abs() / scale;
            if ratio.is_nan() {
                return f64::NAN;
            }
            largest = largest.max(ratio);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillation_over_many_periods_is_exact_to_nine_digits() {
        let mut adaptive = Adaptive::new(2);
        let mut states = [1.0, 0.0];
        let mut steps = 0;
        for k in 0..100 {
            let t = f64::from(k);
            let rates = |_: f64, z: &[f64], dz: &mut [f64]| -> Result<(), ()> {
                dz.copy_from_slice(&[z[1], -z[0]]);
                Ok(())
            };
            adaptive
                .advance(t, t + 1.0, &mut states, &mut steps, rates)
                .unwrap();
        }
        assert!((states[0] - 100.0_f64.cos()).abs() < 1e-8, "{states:?}");
        assert!(steps < 10_000, "{steps}");
    }

    #[test]
    fn a_jump_within_a_step_is_found() {
        let mut adaptive = Adaptive::new(1);
        let mut states = [0.0];
        let mut steps = 0;
        let rates = |t: f64, _: &[f64], dz: &mut [f64]| -> Result<(), ()> {
            dz[0] = if t < 0.3217 { 0.0 } else { 2.0 };
            Ok(())
        };
        adaptive
            .advance(0.0, 1.0, &mut states, &mut steps, rates)
            .unwrap();
        assert!(
            (states[0] - 2.0 * (1.0 - 0.3217)).abs() < 1e-10,
            "{states:?}"
        );
        assert!(steps < 100, "{steps}");
    }
}
