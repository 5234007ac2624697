//! Where stability changes along one parameter.

use oldham_stability::{Border, Borders, Point};
use serde::{Serialize, Serializer};

/// Where stability changes along a range, for each scheme.
#[derive(Clone, Debug, Serialize)]
pub struct BorderStudy {
    /// The parameter.
    #[serde(rename = "parameter")]
    pub key: String,
    /// Where the range begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The borders of each scheme, the file's own first.
    #[serde(rename = "borders")]
    pub schemes: Vec<SchemeBorders>,
}

/// Where stability of one scheme changes along a range.
#[derive(Clone, Debug)]
pub struct SchemeBorders {
    /// The scheme.
    pub scheme: String,
    /// What was found.
    pub found: Borders,
}

impl SchemeBorders {
    /// How many of the samples are of a kind.
    pub fn count(&self, kind: Point) -> usize {
        let points = self.found.samples.iter();
        points.filter(|(_, point)| *point == kind).count()
    }

    /// Stretches of neighbouring samples of the same kind.
    pub fn stretches(&self, kind: Point) -> Vec<[f64; 2]> {
        let mut found: Vec<[f64; 2]> = Vec::new();
        let mut before = None;
        for &(value, point) in &self.found.samples {
            if point == kind {
                match found.last_mut() {
                    Some(last) if before == Some(kind) => last[1] = value,
                    _ => found.push([value; 2]),
                }
            }
            before = Some(point);
        }
        found
    }

    /// The first value at which stability changes.
    pub fn critical(&self) -> Option<f64> {
        self.found.borders.first().map(|border| border.value)
    }

    /// Where it is stable, in a word or two.
    pub fn where_stable(&self) -> &'static str {
        let all = &self.found.borders;
        match (all.as_slice(), self.count(Point::Stable)) {
            ([only], _) if only.is_stable_below => "below",
            ([_], _) => "above",
            ([], 0) if self.count(Point::Unstable) == 0 => "unknown",
            ([], 0) => "nowhere",
            ([], _) if self.count(Point::Unstable) == 0 => "everywhere",
            _ => "in parts",
        }
    }
}

impl Serialize for SchemeBorders {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct One {
            value: f64,
            stable_below: bool,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            scheme: &'a str,
            critical: Option<f64>,
            stable: &'static str,
            all: Vec<One>,
            not_analysed: Vec<[f64; 2]>,
        }
        let one = |border: &Border| One {
            value: border.value,
            stable_below: border.is_stable_below,
        };
        let data = Data {
            scheme: &self.scheme,
            critical: self.critical(),
            stable: self.where_stable(),
            all: self.found.borders.iter().map(one).collect(),
            not_analysed: self.stretches(Point::Unknown),
        };
        data.serialize(serializer)
    }
}
