//! Kerbs: they rise from the edge of the road on the inside of corners, with teeth that a wheel feels.

use super::line::CentreLine;
use super::smooth;
use std::f64::consts::TAU;

/// What kerbs look like in section and along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KerbShape {
    /// From the edge of the road to where it is highest, in m.
    pub width: f64,
    /// Of the tops of its teeth, in m.
    pub height: f64,
    /// Distance of its teeth in m.
    pub pitch: f64,
    /// Corners of a smaller radius have kerbs, in m.
    pub radius: f64,
}

/// A kerb along a stretch of the road.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kerb {
    /// Distance along the line where it begins.
    pub from: f64,
    /// And where it ends: more than the length of the line where it goes beyond the start.
    pub to: f64,
    pub is_left: bool,
    /// Length of the line.
    lap: f64,
}

/// Behind its top a kerb falls to the ground over so much, in m.
pub(super) const FALL: f64 = 0.2;
/// Over so much it rises at its ends, in m.
const RAMP: f64 = 1.5;
/// Depth of the gaps between teeth over the height.
const TEETH: f64 = 0.5;
/// Distance of the points at which the curvature is looked at, in m.
const LOOKS: f64 = 0.5;
/// A kerb goes on beyond the corner by so much; two of them that meet are one. In m.
const BEYOND: f64 = 2.0;

impl Kerb {
    /// Distance from its beginning, if it is beside this distance along the line.
    fn place(&self, along: f64) -> Option<f64> {
        let place = (along - self.from).rem_euclid(self.lap);
        (place <= self.to - self.from).then_some(place)
    }

    pub fn holds(&self, along: f64) -> bool {
        self.place(along).is_some()
    }
}

impl KerbShape {
    /// The kerbs of a line.
    pub(super) fn along(&self, line: &CentreLine) -> Vec<Kerb> {
        let places: Vec<f64> = line.evenly(LOOKS).collect();
        let mut kerbs = Vec::new();
        for is_left in [true, false] {
            let sign = if is_left { 1.0 } else { -1.0 };
            let bends = |along: f64| sign * line.at(along).2 * self.radius > 1.0;
            let bent: Vec<bool> = places.iter().map(|&along| bends(along)).collect();
            kerbs.extend(
                stretches(&bent, line.length())
                    .into_iter()
                    .map(|[from, to]| Kerb {
                        from,
                        to,
                        is_left,
                        lap: line.length(),
                    }),
            );
        }
        kerbs
    }

    /// Height of a kerb, and how it changes along and to the left of the line.
    pub(super) fn height(
        &self,
        kerb: &Kerb,
        line: &CentreLine,
        along: f64,
        left: f64,
        half: f64,
    ) -> [f64; 3] {
        let Some(place) = kerb.place(along) else {
            return [0.0; 3];
        };
        let outside = left.abs() - half;
        let (rise, rise_by) = smooth(outside / self.width);
        let (fall, fall_by) = smooth((outside - self.width) / FALL);
        let across = rise - fall;
        let across_by = (rise_by / self.width - fall_by / FALL) * left.signum();
        let (begins, begins_by) = smooth(place / RAMP);
        let (ends, ends_by) = smooth((kerb.to - kerb.from - place) / RAMP);
        // A whole number of teeth around the lap.
        let teeth = TAU / line.length() * (line.length() / self.pitch).round().max(1.0);
        let (sine, cosine) = (teeth * along).sin_cos();
        let tooth = 1.0 - 0.5 * TEETH * (1.0 - cosine);
        let tooth_by = -0.5 * TEETH * teeth * sine;
        let lengthwise = begins * ends * tooth;
        let lengthwise_by =
            (begins_by * ends - begins * ends_by) / RAMP * tooth + begins * ends * tooth_by;
        [
            self.height * across * lengthwise,
            self.height * across * lengthwise_by,
            self.height * across_by * lengthwise,
        ]
    }
}

/// Stretches of a closed line where something holds at evenly spaced points, made longer at both ends.
fn stretches(holds: &[bool], lap: f64) -> Vec<[f64; 2]> {
    let spacing = lap / holds.len() as f64;
    let Some(free) = holds.iter().position(|held| !held) else {
        return vec![[0.0, lap]];
    };
    let mut found: Vec<[f64; 2]> = Vec::new();
    let mut begun = None;
    for step in 0..=holds.len() {
        let held = holds[(free + step) % holds.len()];
        let place = (free + step) as f64 * spacing;
        match (begun, held) {
            (None, true) => begun = Some(place),
            (Some(from), false) => {
                let ends = [from - BEYOND, place - spacing + BEYOND];
                match found.last_mut() {
                    Some(last) if ends[0] <= last[1] => last[1] = ends[1],
                    _ => found.push(ends),
                }
                begun = None;
            }
            _ => {}
        }
    }
    // What goes on beyond the start is one with what begins there.
    if let [first, .., last] = found[..]
        && last[1] >= first[0] + lap
    {
        found[0][0] = last[0] - lap;
        found.pop();
    }
    if found.iter().any(|[from, to]| to - from >= lap) {
        return vec![[0.0, lap]];
    }
    found
}
