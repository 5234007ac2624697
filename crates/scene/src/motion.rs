//! A recorded motion as an animation.

use oldham_model::{Mechanism, Pose};
use oldham_multibody::Vec3;

use crate::history::Track;
use crate::marks::{Extent, arrow, ball, marks_within};
use crate::{Animation, History, Mark, NoPoses, View, ViewName};

/// An animated picture with more would be slow to open.
const MOST_FRAMES: usize = 2000;
/// The longest arrow as a fraction of the size of the scene.
const LONGEST_ARROW: f64 = 0.18;

/// How a motion is animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnimationSettings {
    /// Frames at most, from 2 to 2000.
    pub frames: usize,
    /// Simulated seconds per second of the animation.
    pub speed: f64,
    /// From where to look.
    pub view: ViewName,
}

impl Default for AnimationSettings {
    fn default() -> Self {
        Self {
            frames: 120,
            speed: 1.0,
            view: ViewName::Auto,
        }
    }
}

/// The motion of mechanisms as it was recorded.
///
/// ```
/// use oldham_scene::{AnimationSettings, History, animation};
/// use oldham_study::{ModelFile, mechanisms, solve_in_memory};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slider-crank.toml");
/// let model = ModelFile::new(path).set("simulation.duration", 0.1).read()?;
/// let recorded = solve_in_memory(&model, 1, None, &mut |_| {})?;
/// let history = History {
///     times: recorded.times,
///     names: recorded.names,
///     columns: recorded.columns,
/// };
/// let animation = animation("Crank", &mechanisms(&model)?, &history, &AnimationSettings::default())?;
/// assert!(animation.to_svg().contains("<animate "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn animation(
    title: &str,
    mechanisms: &[Mechanism<'_>],
    history: &History,
    how: &AnimationSettings,
) -> Result<Animation, NoPoses> {
    let tracks: Vec<Track<'_>> = mechanisms
        .iter()
        .map(|mechanism| Track::find(*mechanism, history))
        .collect::<Result<_, _>>()?;
    let rows = chosen_rows(history.times.len(), how.frames.min(MOST_FRAMES));
    let everywhere = rows
        .iter()
        .flat_map(|&row| tracks.iter().flat_map(move |track| track.poses(row)))
        .map(|pose| pose.position);
    let places: Vec<Vec3> = everywhere.collect();
    let size = (places.iter()).fold(0.0, |most: f64, at| most.max((*at - places[0]).norm()));
    let forces = rows
        .iter()
        .flat_map(|&row| tracks.iter().flat_map(move |track| track.contacts(row)));
    let mut forces: Vec<f64> = forces.map(|[_, force]| force.norm()).collect();
    let per_newton = LONGEST_ARROW * size / typical(&mut forces);
    let view = View::of(how.view, places.into_iter());
    let extent = |track: &Track<'_>| {
        let frames = rows.iter().map(|&row| Extent::of(&with_ground(track, row)));
        (frames.reduce(Extent::with)).unwrap_or_else(|| Extent::of(&[]))
    };
    let extents: Vec<Extent> = tracks.iter().map(extent).collect();
    let frame = |&row: &usize| -> Vec<Mark> {
        let of_track = |(track, extent): (&Track<'_>, &Extent)| {
            let poses = with_ground(track, row);
            let mut marks = marks_within(*extent, track.mechanism.sketch(), &poses, &view);
            let balls = track.particles(row);
            marks.extend(balls.map(|(radius, centre)| ball(centre, radius, &view)));
            // Impacts are cut off: beside them nothing else would be seen.
            let drawn = |force: Vec3| {
                let length = (force.norm() * per_newton).min(LONGEST_ARROW * size);
                if length > 0.0 {
                    force.unit() * length
                } else {
                    Vec3::ZERO
                }
            };
            let contacts = track.contacts(row);
            marks.extend(contacts.map(|[at, force]| arrow(at, drawn(force), &view)));
            marks
        };
        tracks.iter().zip(&extents).flat_map(of_track).collect()
    };
    let times: Vec<f64> = rows.iter().map(|&row| history.times[row]).collect();
    let shown = times
        .last()
        .zip(times.first())
        .map_or(0.0, |(last, first)| last - first);
    Ok(Animation {
        view,
        title: title.into(),
        frames: rows.iter().map(frame).collect(),
        times,
        duration: shown / how.speed,
    })
}

/// Poses of all nodes in a row, the ground first.
fn with_ground(track: &Track<'_>, row: usize) -> Vec<Pose> {
    let ground = std::iter::once(Pose::ABSOLUTE);
    ground.chain(track.poses(row)).collect()
}

/// What most forces do not exceed: nine in ten of those that are not zero.
fn typical(forces: &mut Vec<f64>) -> f64 {
    forces.retain(|force| *force > 0.0);
    forces.sort_by(f64::total_cmp);
    let place = forces.len() * 9 / 10;
    forces.get(place).copied().unwrap_or(1.0)
}

/// At most so many rows, at equal distances, the last among them.
pub(crate) fn chosen_rows(rows: usize, frames: usize) -> Vec<usize> {
    let count = frames.max(2).min(rows.max(1));
    let last = rows.saturating_sub(1);
    let place = |i: usize| i * last / (count - 1).max(1);
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ink;
    use oldham_study::{ModelFile, mechanisms, solve_in_memory};

    /// A wheel walks on a plane of the ground: that is the same in every frame, and reaches as far as the wheel goes.
    #[test]
    fn the_ground_stays_while_something_walks_on_it() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/walking-wheel.toml"
        );
        let model = ModelFile::new(path).set("simulation.duration", 1.0);
        let model = model.read().unwrap();
        let recorded = solve_in_memory(&model, 1, None, &mut |_| {}).unwrap();
        let history = History {
            times: recorded.times,
            names: recorded.names,
            columns: recorded.columns,
        };
        let settings = AnimationSettings::default();
        let mechanisms = mechanisms(&model).unwrap();
        let shown = animation("Wheel", &mechanisms, &history, &settings).unwrap();
        let ground = |frame: &Vec<Mark>| {
            let mut marks = frame.iter();
            marks.find(|mark| mark.ink == Ink::Guide).unwrap().clone()
        };
        let first = ground(&shown.frames[0]);
        assert!(shown.frames.iter().all(|frame| ground(frame) == first));
        let farthest = first.points.iter().map(|at| at[0]).fold(0.0, f64::max);
        let column = history.names.iter().position(|n| n == "toy.nodes.hub.px");
        let walked = history.columns[column.unwrap()].last().unwrap();
        assert!(farthest > *walked, "{farthest} {walked}");
    }

    #[test]
    fn frames_reach_from_the_first_row_to_the_last() {
        assert_eq!(chosen_rows(101, 5), [0, 25, 50, 75, 100]);
        assert_eq!(chosen_rows(3, 100), [0, 1, 2]);
        assert_eq!(chosen_rows(1, 100), [0]);
    }
}
