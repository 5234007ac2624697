//! Lumped subsystems: masses along a line, or discs about it, in the order in which they are linked.

use oldham_model::{Chain, ChainLink, ChainPoint};
use oldham_web::{Anchor, Drawing, Item, Moves, Shape, Symbol};

use super::Draft;

/// Sides of the largest mass, and distance of springs beside each other, where points are at a
/// distance of one.
const LARGEST: f64 = 0.42;
const SMALLEST: f64 = 0.2;
const LANE: f64 = 0.16;
/// How long the rail is under what may run away.
const FAR: f64 = 1e4;
/// How far a mass is drawn from its place, so that neighbours do not meet.
const ROOM: f64 = 0.24;

impl Draft<'_> {
    pub(super) fn chain(&mut self, chain: &Chain) {
        if chain.points.is_empty() {
            return;
        }
        let order = order(chain);
        let (origin, unit) = self.free_place();
        let is_held = chain.links.iter().any(|link| link.ends.contains(&None));
        let largest = |turns: bool| {
            let alike = chain.points.iter().filter(|point| point.turns == turns);
            alike.map(|point| point.inertia).fold(0.0, f64::max)
        };
        let largest = [largest(false), largest(true)];
        let mut line = Line {
            draft: self,
            chain,
            origin,
            unit,
            order,
            is_held,
            spots: Vec::new(),
        };
        for (place, point) in chain.points.iter().enumerate() {
            line.point(place, point, largest[usize::from(point.turns)]);
        }
        line.links();
        line.rail();
        let first = line.spots.first().map(|spot| spot.frame);
        if !is_held && self.box_around.is_none() {
            self.scene.follow = first;
        }
    }

    /// Where a chain begins, and the distance of its points: beside what is there already.
    fn free_place(&self) -> ([f64; 3], f64) {
        let Some([low, high]) = self.box_around else {
            return ([0.0; 3], 1.0);
        };
        let extent = [0, 1, 2].map(|axis| high[axis] - low[axis]);
        let unit = extent.iter().fold(0.0_f64, |a, &b| a.max(b)).max(1e-3) / 6.0;
        ([low[0], low[1] - 2.0 * unit, low[2] - unit], unit)
    }
}

/// Where each point stands in the line: neighbours are linked where possible.
fn order(chain: &Chain) -> Vec<usize> {
    let count = chain.points.len();
    let mut neighbours = vec![Vec::new(); count];
    let mut is_held = vec![false; count];
    for link in &chain.links {
        match link.ends {
            [Some(a), Some(b)] => {
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
            [Some(a), None] | [None, Some(a)] => is_held[a] = true,
            [None, None] => {}
        }
    }
    // From the ends that are held, then from free ends, then from anywhere.
    let mut starts: Vec<usize> = (0..count).collect();
    starts.sort_by_key(|&point| (neighbours[point].len() > 1, !is_held[point], point));
    let mut order = vec![usize::MAX; count];
    let mut next = 0;
    for start in starts {
        let mut waiting = vec![start];
        while let Some(point) = waiting.pop() {
            if order[point] != usize::MAX {
                continue;
            }
            order[point] = next;
            next += 1;
            waiting.extend(neighbours[point].iter().rev());
        }
    }
    order
}

/// A point of the chain as it is drawn.
#[derive(Clone, Copy)]
struct Spot {
    frame: usize,
    /// Half of its extent along the line.
    half: f64,
}

/// A chain on its line.
struct Line<'d, 'c> {
    draft: &'d mut Draft<'c>,
    chain: &'d Chain,
    origin: [f64; 3],
    unit: f64,
    order: Vec<usize>,
    /// Whether anything keeps it from running away.
    is_held: bool,
    spots: Vec<Spot>,
}

impl Line<'_, '_> {
    /// A place on the line; the walls are at zero and one after the last point.
    fn base(&self, at: f64) -> [f64; 3] {
        let [x, y, z] = self.origin;
        [x + at * self.unit, y, z]
    }

    fn add(&mut self, name: &str, part: &str, drawing: Drawing) {
        let group = (!part.is_empty()).then(|| self.draft.group(part));
        self.draft.scene.items.push(Item {
            name: name.into(),
            group,
            colour: None,
            drawing,
        });
    }

    fn point(&mut self, place: usize, point: &ChainPoint, largest: f64) {
        let base = self.base((self.order[place] + 1) as f64);
        let frame = self.frame_of(point, base);
        let on = Anchor::of(frame);
        let part = (point.inertia / largest.max(f64::MIN_POSITIVE))
            .clamp(0.0, 1.0)
            .cbrt();
        let side = self.unit * (SMALLEST + (LARGEST - SMALLEST) * part);
        let (half, drawing) = match (point.inertia > 0.0, point.turns) {
            (false, _) => {
                let symbol = Symbol::Pin;
                (0.0, Drawing::Joint { symbol, on })
            }
            (true, false) => {
                let shape = Shape::Box { sides: [side; 3] };
                (side / 2.0, Drawing::Body { on, shape })
            }
            (true, true) => {
                let shape = Shape::Cylinder {
                    radius: side / 1.5,
                    inner: 0.0,
                    length: side / 3.0,
                };
                (0.0, Drawing::Body { on, shape })
            }
        };
        self.spots.push(Spot { frame, half });
        self.add(&point.name, &point.part, drawing);
    }

    fn frame_of(&mut self, point: &ChainPoint, base: [f64; 3]) -> usize {
        let name = format!("{}.{}", point.part, point.name);
        let column = point.column.iter().cloned().collect::<Vec<_>>();
        let at = match column.is_empty() {
            true => Err(String::new()),
            false => self.draft.take(&column),
        };
        let motion = match at {
            Ok(at) if point.turns => Moves::About { at, base },
            Ok(at) => Moves::Along {
                at,
                base,
                room: self.is_held.then_some(ROOM * self.unit),
            },
            Err(_) => {
                let note =
                    format!("`{name}` is drawn at rest: no recorded output shows its motion.");
                self.draft.scene.notes.push(note);
                Moves::Not { base }
            }
        };
        self.draft.frame(&name, motion)
    }

    fn links(&mut self) {
        let mut beside: Vec<([Option<usize>; 2], usize)> = Vec::new();
        for link in &self.chain.links {
            let mut ends = link.ends;
            // From left to right; the ground is where it is nearer.
            let wall = |other: Option<usize>| {
                let at = other.map_or(0, |point| self.order[point]);
                if 2 * at + 1 > self.order.len() {
                    usize::MAX
                } else {
                    0
                }
            };
            let rank = |end: Option<usize>, other: Option<usize>| match end {
                Some(point) => self.order[point] + 1,
                None => wall(other),
            };
            if rank(ends[0], ends[1]) > rank(ends[1], ends[0]) {
                ends.reverse();
            }
            let is_far = match ends {
                [Some(a), Some(b)] => self.order[b] - self.order[a] > 1,
                [None, Some(b)] => self.order[b] > 0,
                [Some(a), None] => self.order[a] + 1 < self.order.len(),
                [None, None] => continue,
            };
            let known = beside.iter().position(|(other, _)| *other == ends);
            let place = known.unwrap_or_else(|| {
                beside.push((ends, usize::from(is_far)));
                beside.len() - 1
            });
            let lane = beside[place].1;
            beside[place].1 += 1;
            self.link(link, ends, lane);
        }
    }

    fn link(&mut self, link: &ChainLink, ends: [Option<usize>; 2], lane: usize) {
        // To one side, then to the other.
        let steps = lane.div_ceil(2) as f64 * if lane.is_multiple_of(2) { -1.0 } else { 1.0 };
        let across = steps * LANE * self.unit;
        let last = (self.order.len() + 1) as f64;
        let anchor = |end: Option<usize>, side: f64| match end {
            Some(point) => {
                let Spot { frame, half } = self.spots[point];
                Anchor {
                    frame,
                    offset: [side * half, across, 0.0],
                    turn: None,
                }
            }
            None => {
                let [x, y, z] = self.base(if side > 0.0 { 0.0 } else { last });
                Anchor {
                    frame: 0,
                    offset: [x, y + across, z],
                    turn: None,
                }
            }
        };
        let ends = [anchor(ends[0], 1.0), anchor(ends[1], -1.0)];
        let turns = |end: &Option<usize>| end.is_some_and(|point| self.chain.points[point].turns);
        let drawing = match link.ends.iter().any(turns) {
            true => Drawing::Bar {
                through: ends.to_vec(),
            },
            false => Drawing::Spring { ends },
        };
        self.add(&link.name, &link.part, drawing);
    }

    /// Walls where something is held, and the line itself.
    fn rail(&mut self) {
        let last = (self.order.len() + 1) as f64;
        let used = |draft: &Draft<'_>, x: f64| {
            let ends = draft
                .scene
                .items
                .iter()
                .flat_map(|item| match &item.drawing {
                    Drawing::Spring { ends } => ends.to_vec(),
                    Drawing::Bar { through } => through.clone(),
                    _ => Vec::new(),
                });
            ends.into_iter()
                .any(|end| end.frame == 0 && end.offset[0] == x)
        };
        let thickness = 0.06 * self.unit;
        for (at, side) in [(0.0, -0.5), (last, 0.5)] {
            let mut place = self.base(at);
            if used(self.draft, place[0]) {
                place[0] += side * thickness;
                let sides = [thickness, 0.7 * self.unit, 0.7 * self.unit];
                let on = Anchor {
                    frame: 0,
                    offset: place,
                    turn: None,
                };
                let shape = Shape::Box { sides };
                self.add("ground", "", Drawing::Body { on, shape });
            }
        }
        let far = if self.is_held { 0.0 } else { FAR };
        let mut points = vec![self.base(-far), self.base(last + far)];
        points
            .iter_mut()
            .for_each(|point| point[2] -= 0.5 * LARGEST * self.unit);
        self.add("rail", "", Drawing::Path { points });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(count: usize, ends: &[[Option<usize>; 2]]) -> Chain {
        let point = |i: usize| ChainPoint {
            part: "p".into(),
            name: format!("x{i}"),
            turns: false,
            inertia: 1.0,
            column: None,
        };
        let link = |ends: &[Option<usize>; 2]| ChainLink {
            part: "p".into(),
            name: String::new(),
            ends: *ends,
        };
        Chain {
            points: (0..count).map(point).collect(),
            links: ends.iter().map(link).collect(),
        }
    }

    #[test]
    fn linked_points_stand_beside_each_other() {
        let mixed = chain(
            4,
            &[
                [None, Some(2)],
                [Some(2), Some(0)],
                [Some(0), Some(3)],
                [Some(3), Some(1)],
            ],
        );
        assert_eq!(order(&mixed), [1, 3, 0, 2]);
    }

    #[test]
    fn a_chain_that_nobody_holds_starts_at_a_free_end() {
        let free = chain(3, &[[Some(1), Some(0)], [Some(0), Some(2)]]);
        assert_eq!(order(&free), [1, 0, 2]);
    }

    #[test]
    fn points_without_links_keep_their_order() {
        assert_eq!(order(&chain(3, &[])), [0, 1, 2]);
    }
}
