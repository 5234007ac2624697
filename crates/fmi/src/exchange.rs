//! FMUs of model exchange: their states are integrated here.
//!
//! Between events by the pair of orders 5 and 4 of J. R. Dormand and P. J. Prince, A family of embedded Runge-Kutta
//! formulae, J. Comp. Appl. Math. 6 (1980) 19-26, with steps that follow the measured error. A step in which an event
//! indicator changes its sign is taken again up to the first change, which is found on the polynomial of order four between its ends
//! (E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., p. 192) and refined by
//! steps that end there.

use crate::library::{Instance, Updated};

/// The relative tolerance, unless the model gives one.
pub(crate) const TOLERANCE: f64 = 1e-8;
/// Events that may follow each other within one advance.
const MOST_EVENTS: usize = 10_000;
/// Steps that an advance may take.
const MOST_STEPS: usize = 1_000_000;
/// How often a step is taken again that ends at an event.
const REFINEMENTS: usize = 4;
/// A time is reached where less than this of it, or of the step, is left.
const NEAR: f64 = 1e-13;

const STAGES: usize = 7;
const NODES: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// The last row is the solution: its derivative is the first one of the next step.
const ROWS: [[f64; STAGES - 1]; STAGES - 1] = [
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
        0.0,
        0.0,
    ],
    [
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
        0.0,
    ],
    [
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
/// The solution less that of order four.
const ERROR: [f64; STAGES] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// What is set before derivatives are asked for: inputs at a time.
pub(crate) type Feed<'f> = dyn FnMut(&Instance, f64) -> Result<(), String> + 'f;

/// The continuous states of an FMU, on their way.
pub(crate) struct Integrator {
    tolerance: f64,
    wants_steps: bool,
    /// The length of the next step; zero where nothing is known.
    pub step: f64,
    /// When the next event is.
    pub next: Option<f64>,
    x: Vec<f64>,
    /// States at the end of a step, and within it.
    end: Vec<f64>,
    within: Vec<f64>,
    sizes: Vec<f64>,
    rates: [Vec<f64>; STAGES],
    /// Event indicators: now, and at another time.
    now: Vec<f64>,
    then: Vec<f64>,
}

impl Integrator {
    pub fn new(
        states: usize,
        indicators: usize,
        wants_steps: bool,
        tolerance: Option<f64>,
    ) -> Self {
        let zeros = || vec![0.0; states];
        Self {
            tolerance: tolerance.unwrap_or(TOLERANCE),
            wants_steps,
            step: 0.0,
            next: None,
            x: zeros(),
            end: zeros(),
            within: zeros(),
            sizes: vec![1.0; states],
            rates: std::array::from_fn(|_| zeros()),
            now: vec![0.0; indicators],
            then: vec![0.0; indicators],
        }
    }

    /// Begins after the initialisation, where the FMU handles its first events.
    pub fn start(&mut self, instance: &Instance, t: f64) -> Result<(), String> {
        self.settle(instance, t)
    }

    /// Goes on after an event that was handled elsewhere.
    pub fn resume(&mut self, instance: &Instance, next: Option<f64>) -> Result<(), String> {
        (self.step, self.next) = (0.0, next);
        self.renew(instance)
    }

    /// Asks for the signs of its indicators: after another state was restored.
    pub fn renew(&mut self, instance: &Instance) -> Result<(), String> {
        instance.nominals(&mut self.sizes)?;
        instance.indicators(&mut self.now)
    }

    /// Handles events, in whose mode the FMU is, and goes on in continuous time.
    fn settle(&mut self, instance: &Instance, t: f64) -> Result<(), String> {
        let next = settle(instance, t)?.next;
        instance.continuous_states(&mut self.x)?;
        self.resume(instance, next)
    }

    /// Handles an event at a time to which the FMU has come.
    fn event(&mut self, instance: &Instance, t: f64, feed: &mut Feed<'_>) -> Result<(), String> {
        instance.enter_events()?;
        feed(instance, t)?;
        self.settle(instance, t)?;
        self.look(instance, t, feed)
    }

    /// Where the FMU stands now: its first derivatives and its indicators.
    fn look(&mut self, instance: &Instance, t: f64, feed: &mut Feed<'_>) -> Result<(), String> {
        instance.place_at(t, &self.x)?;
        feed(instance, t)?;
        instance.derivatives(&mut self.rates[0])?;
        instance.indicators(&mut self.now)
    }

    /// Whether an indicator has another sign than now.
    fn crosses(&self) -> bool {
        let mut both = self.now.iter().zip(&self.then);
        both.any(|(now, then)| (*now > 0.0) != (*then > 0.0))
    }

    /// Integrates from one time to another; gives the number of steps.
    pub fn advance(
        &mut self,
        instance: &Instance,
        from: f64,
        to: f64,
        feed: &mut Feed<'_>,
    ) -> Result<u64, String> {
        let (mut t, mut steps, mut events) = (from, 0, 0);
        instance.continuous_states(&mut self.x)?;
        // Inputs may have jumped: that is an event if an indicator changes its sign with them.
        self.now.swap_with_slice(&mut self.then);
        self.look(instance, t, feed)?;
        if self.crosses() {
            self.event(instance, t, feed)?;
        }
        let is_left = |t: f64, to: f64| to - t > NEAR * to.abs().max(to - from);
        while is_left(t, to) {
            if events > MOST_EVENTS {
                return Err(format!(
                    "it has more than {MOST_EVENTS} events between {from} s and {to} s"
                ));
            }
            if steps > MOST_STEPS as u64 {
                return Err(format!(
                    "its states change too fast: more than {MOST_STEPS} steps between {from} s and {to} s"
                ));
            }
            let next = self.next.filter(|next| *next > t && *next < to);
            if self.next.is_some_and(|next| !is_left(t, next)) {
                self.event(instance, t, feed)?;
                events += 1;
                if self.next.is_some_and(|next| !is_left(t, next)) {
                    return Err(format!("its events do not go on at t = {t} s"));
                }
                continue;
            }
            let end = next.unwrap_or(to);
            steps += 1;
            let (reached, has_event) = self.step(instance, t, end, feed)?;
            t = reached;
            self.x.copy_from_slice(&self.end);
            let said = match self.wants_steps {
                true => instance.completed()?,
                false => [false; 2],
            };
            if said[1] {
                return Err(ended(t));
            }
            if has_event || said[0] {
                self.event(instance, t, feed)?;
                events += 1;
            } else {
                self.rates.swap(0, STAGES - 1);
                self.now.swap_with_slice(&mut self.then);
            }
        }
        // An event at the very end belongs to what ends there.
        if self.next.is_some_and(|next| !is_left(to, next)) {
            self.event(instance, to, feed)?;
        }
        Ok(steps)
    }

    /// Takes one step that is exact enough, at most to the end; says where it ends and whether there is an event. The FMU
    /// stands there then.
    fn step(
        &mut self,
        instance: &Instance,
        t: f64,
        end: f64,
        feed: &mut Feed<'_>,
    ) -> Result<(f64, bool), String> {
        let mut length = match self.step {
            0.0 => self.first_length(end - t),
            step => step,
        };
        loop {
            // No rest that is shorter than a tenth of a step.
            let is_last = length * 1.1 >= end - t;
            let to = if is_last { end } else { t + length };
            let step = to - t;
            let error = self.stages(instance, t, step, feed)?;
            let is_number = error.is_finite();
            let factor = match is_number {
                true if error > 0.0 => (0.9 * error.powf(-0.2)).clamp(0.2, 5.0),
                true => 5.0,
                false => 0.1,
            };
            if !is_number || error > 1.0 {
                length = step * factor.min(0.9);
                if length < NEAR * t.abs().max(1e-9) {
                    return Err(format!(
                        "its states change too fast at t = {t} s: a step of {length} s is not short enough"
                    ));
                }
                continue;
            }
            if !is_last || factor < 1.0 {
                self.step = step * factor;
            } else {
                self.step = self.step.max(step);
            }
            instance.indicators(&mut self.then)?;
            return match self.crosses() {
                true => self.locate(instance, t, step, feed),
                false => Ok((to, false)),
            };
        }
    }

    /// A length for the first step after an event.
    fn first_length(&self, span: f64) -> f64 {
        let states = self.x.iter().zip(&self.rates[0]).zip(&self.sizes);
        let rates = states.map(|((x, rate), size)| rate.abs() / (x.abs() + size.abs()));
        let fastest = rates.fold(0.0, f64::max);
        match fastest > 0.0 {
            true => span.min(0.01 / fastest),
            false => span,
        }
    }

    /// All stages of a step from the present states; its error, as a multiple of what is allowed. The FMU stands at its end
    /// then.
    fn stages(
        &mut self,
        instance: &Instance,
        t: f64,
        step: f64,
        feed: &mut Feed<'_>,
    ) -> Result<f64, String> {
        for (stage, row) in ROWS.iter().enumerate() {
            for (i, end) in self.end.iter_mut().enumerate() {
                let slope = row.iter().zip(&self.rates).map(|(a, rates)| a * rates[i]);
                *end = self.x[i] + step * slope.sum::<f64>();
            }
            let at = t + NODES[stage + 1] * step;
            instance.place_at(at, &self.end)?;
            feed(instance, at)?;
            instance.derivatives(&mut self.rates[stage + 1])?;
        }
        let mut sum = 0.0;
        for (i, end) in self.end.iter().enumerate() {
            let slope = ERROR.iter().zip(&self.rates).map(|(e, rates)| e * rates[i]);
            let size = self.x[i]
                .abs()
                .max(end.abs())
                .max(1e-3 * self.sizes[i].abs());
            let error = step * slope.sum::<f64>() / (self.tolerance * size.max(f64::MIN_POSITIVE));
            sum += error * error;
        }
        Ok((sum / self.end.len().max(1) as f64).sqrt())
    }

    /// The states at a part of the last step.
    fn interpolate(&mut self, part: f64, step: f64) {
        // Weights of the derivatives at this part of the step.
        let s = part;
        let (a, b) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * (s - 1.0));
        let weights = [
            a * ROWS[5][0] + s * (s - 1.0) * (s - 1.0)
                - b * 5.0 * (2_558_722_523.0 - 31_403_016.0 * s) / 11_282_082_432.0,
            0.0,
            a * ROWS[5][2] + b * 100.0 * (882_725_551.0 - 15_701_508.0 * s) / 32_700_410_799.0,
            a * ROWS[5][3] - b * 25.0 * (443_332_067.0 - 31_403_016.0 * s) / 1_880_347_072.0,
            a * ROWS[5][4] + b * 32_805.0 * (23_143_187.0 - 3_489_224.0 * s) / 199_316_789_632.0,
            a * ROWS[5][5] - b * 55.0 * (29_972_135.0 - 7_076_736.0 * s) / 822_651_844.0,
            s * s * (s - 1.0) + b * 10.0 * (7_414_447.0 - 829_305.0 * s) / 29_380_423.0,
        ];
        for (i, within) in self.within.iter_mut().enumerate() {
            let slope = weights
                .iter()
                .zip(&self.rates)
                .map(|(w, rates)| w * rates[i]);
            *within = self.x[i] + step * slope.sum::<f64>();
        }
    }

    /// Finds the first change of a sign within a step, and ends the step behind it.
    fn locate(
        &mut self,
        instance: &Instance,
        t: f64,
        step: f64,
        feed: &mut Feed<'_>,
    ) -> Result<(f64, bool), String> {
        let near = NEAR * t.abs().max(step);
        let mut length = step;
        for _ in 0..REFINEMENTS {
            let found = self.halve(instance, t, length, near, feed)?;
            let is_found = length - found <= near;
            // A step that ends there is more exact than what lies between the ends of a longer one; the change may
            // then be a little later.
            let (mut end, mut more) = (found, near);
            loop {
                self.stages(instance, t, end, feed)?;
                instance.indicators(&mut self.then)?;
                if self.crosses() || end >= step {
                    break;
                }
                end = (end + more).min(step);
                more *= 2.0;
            }
            length = end;
            if is_found {
                break;
            }
        }
        Ok((t + length, self.crosses()))
    }

    /// Halves the last step until the first change of a sign is known; a length behind it.
    fn halve(
        &mut self,
        instance: &Instance,
        t: f64,
        length: f64,
        near: f64,
        feed: &mut Feed<'_>,
    ) -> Result<f64, String> {
        let (mut before, mut behind) = (0.0, 1.0);
        while (behind - before) * length > near {
            let middle = 0.5 * (before + behind);
            if middle <= before || middle >= behind {
                break;
            }
            self.interpolate(middle, length);
            let at = t + middle * length;
            instance.place_at(at, &self.within)?;
            feed(instance, at)?;
            instance.indicators(&mut self.then)?;
            match self.crosses() {
                true => behind = middle,
                false => before = middle,
            }
        }
        Ok(behind * length)
    }
}

/// That an FMU does not want to go on.
pub(crate) fn ended(t: f64) -> String {
    format!("it asks for the end of the simulation at t = {t} s")
}

/// Brings discrete states up to date until nothing changes any more, and leaves the mode of events.
pub(crate) fn settle(instance: &Instance, t: f64) -> Result<Updated, String> {
    let mut updated = Updated::default();
    for _ in 0..MOST_EVENTS {
        let now = instance.update()?;
        if now.ends {
            return Err(ended(t));
        }
        updated.states_changed |= now.states_changed;
        updated.next = now.next;
        if !now.again {
            instance.leave_events()?;
            return Ok(updated);
        }
    }
    Err(format!("its events do not come to an end at t = {t} s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows are consistent, and the polynomial between the ends meets them with their slopes.
    #[test]
    fn the_coefficients_fit_together() {
        for (row, node) in ROWS.iter().zip(&NODES[1..]) {
            assert!((row.iter().sum::<f64>() - node).abs() < 1e-14);
        }
        assert!(ERROR.iter().sum::<f64>().abs() < 1e-15);
        // x' = 4 t³ is integrated exactly by order five, and by a polynomial of order four.
        let mut integrator = Integrator::new(1, 0, false, None);
        for (rates, node) in integrator.rates.iter_mut().zip(NODES) {
            rates[0] = 4.0 * node.powi(3);
        }
        for part in [0.0, 0.1, 0.5, 0.73, 1.0_f64] {
            integrator.interpolate(part, 1.0);
            assert!(
                (integrator.within[0] - part.powi(4)).abs() < 1e-12,
                "{part}"
            );
        }
    }
}
