//! What a track looks like: its cross-sections, as wheels feel them.

use super::{LAND_SPACING, Track};
use oldham_model::{LandSketch, RoadSketch};
use oldham_space::Vec3;

/// Distance of cross-sections in m.
const SECTIONS: f64 = 1.0;
/// Land under the road is drawn lower by so much, in m: its triangles are coarser than those of the road.
const SUNK: f64 = 0.3;
/// Cones stand so far beside the paved surface, in m.
const BESIDE: f64 = 0.25;

impl Track {
    /// What there is to draw of it.
    pub fn sketch(&self) -> RoadSketch {
        let half = self.half();
        let paved = self.shape.paved();
        let reach = self.shape.reach();
        let mut across = vec![reach, half, 0.0, -half, -reach];
        if paved > half {
            across.insert(1, paved);
            across.insert(5, -paved);
        }
        let along: Vec<f64> = self.line.evenly(SECTIONS).collect();
        let sections = along.iter().flat_map(|&along| {
            let point = |&left: &f64| self.place(along, left);
            across.iter().map(point).collect::<Vec<_>>()
        });
        let sections = sections.collect();
        let spacing = self.line.length() / along.len() as f64;
        let kerbs = self.kerbs.iter().map(|kerb| {
            let section = |along: f64| (along / spacing).round() as i64;
            let [from, to] = [section(kerb.from), section(kerb.to)];
            (from, to, kerb.is_left)
        });
        let cones = self.shape.cones.map_or(Vec::new(), |distance| {
            let places = self.line.evenly(distance);
            let side = paved + BESIDE;
            places
                .map(|along| [side, -side].map(|left| self.place(along, left)))
                .collect()
        });
        let gates = [0.0].iter().chain(&self.shape.sectors);
        RoadSketch {
            length: self.line.length(),
            kerbs: kerbs.collect(),
            gates: gates
                .map(|&along| [half, -half].map(|left| self.place(along, left)))
                .collect(),
            across,
            sections,
            cones,
            land: self.drawn_land(),
        }
    }

    /// The point of the road beside its line.
    fn place(&self, along: f64, left: f64) -> Vec3 {
        let ([x, y, _], [ahead_x, ahead_y], _) = self.line.at(along);
        let [x, y] = [x - ahead_y * left, y + ahead_x * left];
        Vec3::new(x, y, self.under(x, y).height)
    }

    fn drawn_land(&self) -> Option<LandSketch> {
        let land = self.land.as_ref()?;
        let (origin, counts) = land.extent();
        let mut heights = Vec::with_capacity(counts[0] * counts[1]);
        for row in 0..counts[1] {
            for column in 0..counts[0] {
                let [x, y] = [
                    origin[0] + column as f64 * LAND_SPACING,
                    origin[1] + row as f64 * LAND_SPACING,
                ];
                let is_under = self.line.beside(x, y).is_some();
                let height = land.at(x, y).0;
                heights.push(if is_under { height - SUNK } else { height });
            }
        }
        Some(LandSketch {
            origin,
            spacing: LAND_SPACING,
            columns: counts[0],
            heights,
        })
    }
}
