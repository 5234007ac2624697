//! The deflection of the carcass: slips do not appear at once, but over a distance.
//!
//! The contact patch is held by the carcass, which it stretches by u along and by v across the
//! wheel. With the speed V of rolling and the relaxation lengths σ
//!
//! u' + V u / σ_x = -V_sx,   v' + V v / σ_y = V_sy,
//!
//! and the slips are κ = u / σ_x and tan α = v / σ_y (Pacejka 2012, Sect. 7.2.2 and 8.6). In steady
//! rolling they are those of the definition; at standstill the carcass is a spring, so that a
//! vehicle stands still on a slope.
//!
//! A patch that slides lets go even if the wheel does not roll: V is the root of the squared forward
//! speed and of the squared sliding speed times [`SLIDING`]², so that slips do not exceed
//! 1 / [`SLIDING`]. At a longitudinal slip of 10 % that changes the slip by less than 0.02 %.

use crate::dual::Real;

/// How much sliding counts as rolling.
const SLIDING: f64 = 0.15;
/// Retardation of the carcass at standstill, in s: without it a car would rock for ever.
const RETARDATION: f64 = 0.01;

/// Speed in m/s below which a patch stands.
const STANDING: f64 = 1e-9;

/// What is remembered: the deflections u and v, and of each the rates of decay and of sliding at the
/// last time.
pub(super) const MEMORY: usize = 6;

/// How the patch moves, and what that makes of the carcass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carcass<T> {
    /// Deflections u and v in m.
    pub deflections: [T; 2],
    /// Rates of decay V / σ in 1/s.
    decays: [T; 2],
    /// -V_sx and V_sy in m/s.
    slides: [T; 2],
    lengths: [T; 2],
}

impl<T: Real> Carcass<T> {
    /// Both rates are taken as the mean of the last and the present time, for which the deflection
    /// after `elapsed` is known exactly.
    pub fn after(
        elapsed: f64,
        memory: &[f64],
        forward: T,
        [slide_x, slide_y]: [T; 2],
        lengths: [T; 2],
    ) -> Self {
        let slides = [-slide_x, slide_y];
        let sliding = (slide_x * slide_x + slide_y * slide_y).times(SLIDING * SLIDING);
        let speed = (forward * forward + sliding).plus(f64::MIN_POSITIVE).sqrt();
        let decays = lengths.map(|length| speed / length);
        let deflections = [0, 1].map(|i| {
            if elapsed == 0.0 {
                return T::splat(memory[i]);
            }
            let decay = decays[i].plus(memory[2 + i]).times(0.5 * elapsed);
            let slide = slides[i].plus(memory[4 + i]).times(0.5 * elapsed);
            (-decay).exp().times(memory[i]) + slide * mean_decay(decay)
        });
        Self {
            deflections,
            decays,
            slides,
            lengths,
        }
    }

    /// The rate of a deflection, and by how much of itself it decays.
    pub fn rate(&self, direction: usize) -> (T, f64) {
        let decay = self.decays[direction];
        let rate = self.slides[direction] - decay * self.deflections[direction];
        (rate, decay.value())
    }

    /// Whether the patch neither rolls nor slides.
    pub fn stands(&self) -> bool {
        self.decays[0].value() * self.lengths[0].value() < STANDING
    }

    /// What is to be remembered.
    pub fn remembered(&self) -> [f64; MEMORY] {
        let [u, v] = self.deflections;
        let ([a, b], [c, d]) = (self.decays, self.slides);
        [u, v, a, b, c, d].map(T::value)
    }

    /// Longitudinal slip and tangent of the slip angle; below `low_speed` the rate of the deflection
    /// adds to it.
    pub fn slips(&self, forward: T, low_speed: f64) -> [T; 2] {
        let ratio = forward.times(1.0 / low_speed);
        let rest = (-(ratio * ratio)).plus(1.0).at_least(0.0);
        let retardation = (rest * rest).times(RETARDATION);
        [0, 1].map(|i| {
            let rate = self.slides[i] - self.decays[i] * self.deflections[i];
            (self.deflections[i] + retardation * rate) / self.lengths[i]
        })
    }
}

impl Carcass<f64> {
    /// What is remembered of a wheel in the air.
    pub const FREE: [f64; MEMORY] = [0.0; MEMORY];
}

/// (1 - exp(-x)) / x.
fn mean_decay<T: Real>(x: T) -> T {
    let value = x.value();
    if value < 1e-3 {
        let series = 1.0 - value * (0.5 - value * (1.0 / 6.0 - value / 24.0));
        return x.with_slope(series, -0.5 + value * (1.0 / 3.0 - value / 8.0));
    }
    let left = -(-value).exp_m1();
    x.with_slope(
        left / value,
        ((1.0 - left) * (value + 1.0) - 1.0) / (value * value),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::Dual;

    #[test]
    fn the_mean_decay_and_its_slope() {
        for x in [1e-9, 1e-4, 0.9e-3, 1.1e-3, 0.3, 4.0, 50.0] {
            let dual = mean_decay(Dual::<1>::variable(x, 0));
            let exact = if x < 1e-6 {
                1.0 - 0.5 * x
            } else {
                -(-x).exp_m1() / x
            };
            assert!((dual.value - exact).abs() < 1e-14);
            let step = 1e-4 * x.max(1e-2);
            let slope = (mean_decay(x + step) - mean_decay(x - step)) / (2.0 * step);
            if x > step {
                assert!((dual.slopes[0] - slope).abs() < 1e-7, "{x}");
            }
        }
    }

    /// A wheel that rolls at constant speed and is turned at once: the slip follows
    /// 1 - exp(-V t / σ).
    #[test]
    fn the_slip_grows_with_the_distance_rolled() {
        let (speed, side, lengths, h) = (20.0, 0.4, [0.2, 0.35], 1e-3);
        let mut memory = Carcass::FREE;
        let start = Carcass::after(0.0, &memory, speed, [0.0, side], lengths);
        memory = start.remembered();
        for step in 1..=60 {
            let carcass = Carcass::after(h, &memory, speed, [0.0, side], lengths);
            let v = (speed * speed + (SLIDING * side).powi(2)).sqrt();
            let expected = side / v * (1.0 - (-v * step as f64 * h / lengths[1]).exp());
            let found = carcass.slips(speed, 2.5)[1];
            assert!(
                (found - expected).abs() < 1e-12,
                "{step}: {found} {expected}"
            );
            memory = carcass.remembered();
        }
    }
}
