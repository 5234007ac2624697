//! All combinations of the values of several settings.

use super::variation::Variation;
use crate::{Settings, StudyError};

/// Combinations at most: nobody reads a table of more.
pub const MOST_COMBINATIONS: usize = 256;

/// How numbers are drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// With the same seed the same numbers are drawn.
    pub seed: u64,
    /// How many.
    pub samples: usize,
}

impl Default for Draw {
    fn default() -> Self {
        Self {
            seed: 1,
            samples: 100,
        }
    }
}

/// All combinations of the varied settings, at most so many, named by what is varied.
///
/// What is drawn at random is drawn together: each sample has one value of every random setting, and
/// every combination of the others is tried with all samples.
///
/// ```
/// use oldham_study::{Draw, MOST_COMBINATIONS, Variation, combinations};
///
/// let steps = Variation::list("simulation.step", ["1e-3", "5e-4"]);
/// let updates = Variation::list("schedule.output_update", [true]);
/// let all = combinations(&[steps, updates], &Draw::default(), MOST_COMBINATIONS)?;
/// assert_eq!(all.len(), 2);
/// assert_eq!(all[1].0, "step=5e-4 output_update=true");
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn combinations(
    vary: &[Variation],
    draw: &Draw,
    most: usize,
) -> Result<Vec<(String, Settings)>, StudyError> {
    // A factor is a list of settings that are chosen together.
    let mut factors: Vec<Vec<Settings>> = Vec::new();
    let mut samples: Vec<Settings> = Vec::new();
    for variation in vary {
        let texts = variation.texts(draw)?.into_iter();
        let settings = texts.map(|text| (variation.key.clone(), text));
        if !variation.is_random() {
            factors.push(settings.map(|setting| vec![setting]).collect());
            continue;
        }
        samples.resize(draw.samples, Settings::new());
        for (sample, setting) in samples.iter_mut().zip(settings) {
            sample.push(setting);
        }
    }
    if !samples.is_empty() {
        factors.push(samples);
    }
    let count = factors
        .iter()
        .try_fold(1_usize, |count, factor| count.checked_mul(factor.len()));
    if count.is_none_or(|count| count > most) {
        return Err(StudyError::TooManyVariants { count, most });
    }
    let mut all: Vec<Settings> = vec![Vec::new()];
    for factor in factors {
        let longer = all.iter().flat_map(|done| {
            let more = factor.iter();
            more.map(|more| done.iter().chain(more).cloned().collect())
        });
        all = longer.collect();
    }
    Ok(all.into_iter().map(named).collect())
}

/// The changes with a name that tells them.
fn named(changes: Settings) -> (String, Settings) {
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
    let parts = changes.iter().map(|(key, value)| {
        let alike = changes.iter().filter(|(other, _)| last(other) == last(key));
        let short = last(key).filter(|_| alike.count() == 1);
        format!("{}={value}", short.as_deref().unwrap_or(key))
    });
    (parts.collect::<Vec<_>>().join(" "), changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_drawn_together_and_tried_with_everything() {
        let draw = Draw {
            seed: 7,
            samples: 5,
        };
        let vary = ["a=1,2", "k=normal(10, 1)", "c=uniform(0, 1)"];
        let vary = vary.map(|text| text.parse::<Variation>().unwrap());
        let all = combinations(&vary, &draw, 100).unwrap();
        assert_eq!(all.len(), 10);
        let of = |index: usize, key: &str| {
            let found = all[index].1.iter().find(|(known, _)| known == key);
            found.unwrap().1.clone()
        };
        for sample in 0..5 {
            assert_eq!(
                of(sample, "k"),
                of(sample + 5, "k"),
                "the same numbers for every `a`"
            );
        }
        // What is drawn for a key does not depend on what else is varied.
        let alone = combinations(&vary[1..2], &draw, 100).unwrap();
        assert_eq!(alone[3].1[0].1, of(3, "k"));
        assert!(combinations(&vary, &draw, 9).is_err());
    }
}
