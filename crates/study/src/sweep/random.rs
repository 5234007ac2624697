//! Numbers drawn at random, the same for the same seed on every machine.

/// SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A stream of its own for each name: what is drawn for one key does not depend on the others.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut stream = Self(seed);
        let start = name.bytes().fold(stream.next(), |hash, byte| {
            Self(hash ^ u64::from(byte)).next()
        });
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between zero and one, both excluded.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// With mean zero and deviation one: Box and Muller, 1958.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation for the seed 1234567.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected, [(); 5].map(|()| random.next()));
    }

    #[test]
    fn samples_have_the_moments_of_their_distributions() {
        const COUNT: usize = 100_000;
        let moments = |mut draw: Box<dyn FnMut() -> f64>| {
            let all: Vec<f64> = (0..COUNT).map(|_| draw()).collect();
            let mean = all.iter().sum::<f64>() / COUNT as f64;
            let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COUNT as f64;
            (mean, variance)
        };
        // Four standard errors of the mean and of the variance.
        let (mut a, mut b) = (Random::new(1, "k"), Random::new(1, "c"));
        let (mean, variance) = moments(Box::new(move || a.uniform()));
        let (error_of_mean, error_of_variance) = (0.289, 0.0745);
        let few = 4.0 / (COUNT as f64).sqrt();
        assert!((mean - 0.5).abs() < few * error_of_mean, "{mean}");
        assert!(
            (variance - 1.0 / 12.0).abs() < few * error_of_variance,
            "{variance}"
        );
        let (mean, variance) = moments(Box::new(move || b.normal()));
        assert!(mean.abs() < few, "{mean}");
        assert!((variance - 1.0).abs() < few * 2.0_f64.sqrt(), "{variance}");
    }
}
