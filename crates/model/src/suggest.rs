//! The nearest valid name to a misspelt one.

/// Names longer than this are not compared: the measure is quadratic in the length, and nobody
/// misspells a name into a page of text.
const MAX_LENGTH: usize = 100;

/// Names beyond this number are not compared.
const MAX_NAMES: usize = 10_000;

/// Unfinished words at least this alike are suggestions (Jaro–Winkler, 1 is equal).
const ALIKE: f64 = 0.88;

/// The name most like `written`, if any is near enough.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > MAX_LENGTH {
        return None;
    }
    let lower = written.to_lowercase();
    let names = names.into_iter().take(MAX_NAMES);
    let names = names.filter(|name| name.len() <= MAX_LENGTH);
    let near = names.filter_map(|name| Some((distance(&lower, &name.to_lowercase())?, name)));
    // Equally near ones by their names, so that the answer never depends on the order.
    near.min().map(|(_, name)| name)
}

/// The number of slips between two words, if they are near.
fn distance(written: &str, name: &str) -> Option<usize> {
    let length = written.chars().count();
    let slips = strsim::osa_distance(written, name);
    let few = slips < length && slips <= (length / 3).max(1);
    (few || strsim::jaro_winkler(written, name) >= ALIKE).then_some(slips)
}
