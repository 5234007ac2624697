//! Bodies with shapes and grains: poses in, contacts out.

use oldham_space::{V3, Vec3};

use crate::broad::{Ball, Neighbours, median_radius};
use crate::error::ContactError;
use crate::narrow::{Point, collide};
use crate::problem::BodyMotion;
use crate::room::Room;
use crate::shape::{Pose, Shape};
use crate::touch::{BodyId, Detail, End, Key, Surface, SurfaceId, Touch};

/// The slack of the list of neighbours, in median radii.
const SLACK: f64 = 0.25;

/// Shapes on bodies, and grains, which are spheres. Bodies are numbered from 0 in the order in which
/// they are added, grains after all bodies.
#[derive(Clone, Debug)]
pub struct World {
    shapes: Vec<Placed>,
    /// For each body whether it may move by itself.
    is_free: Vec<bool>,
    shapes_of_body: Vec<u32>,
    radii: Vec<f64>,
    grain_surface: u8,
    surfaces: Vec<Surface>,
    /// For each pair of surfaces, both in one.
    laws: Vec<Surface>,
    excluded: Vec<(u32, u32)>,
    reach: f64,
    /// How far bodies move within the step to come, and by what angle they turn; empty where nothing is said.
    ways: Vec<(Vec3, f64)>,
    /// For each body and grain whether it does not move at all: pairs of these are not looked at. Empty where nothing is said.
    still: Vec<bool>,
    /// The reach for which neighbours were found.
    known_reach: f64,
    /// Of the radii; found with the first neighbours.
    median: f64,
    slack: f64,
    neighbours: Neighbours,
    /// Where objects were when the neighbours were found; empty before.
    shapes_then: Vec<Pose>,
    /// In single precision: what that rounds is counted as moved.
    grains_then: Vec<[f32; 3]>,
    shapes_now: Vec<Pose>,
    points: Vec<Point>,
    touches: Vec<Touch>,
    /// Of the first contacts: those of shapes come before those of two grains.
    details: Vec<Detail>,
}

#[derive(Clone, Debug)]
struct Placed {
    end: End,
    shape: Shape,
    at: Pose,
    surface: u8,
    radius: f64,
}

impl World {
    /// A world that reports contacts whose gap is below `reach`.
    pub fn new(reach: f64) -> Self {
        Self {
            shapes: Vec::new(),
            is_free: Vec::new(),
            shapes_of_body: Vec::new(),
            radii: Vec::new(),
            grain_surface: 0,
            surfaces: Vec::new(),
            laws: Vec::new(),
            excluded: Vec::new(),
            reach,
            ways: Vec::new(),
            still: Vec::new(),
            known_reach: reach,
            median: 0.0,
            slack: 0.0,
            neighbours: Neighbours::default(),
            shapes_then: Vec::new(),
            grains_then: Vec::new(),
            shapes_now: Vec::new(),
            points: Vec::new(),
            touches: Vec::new(),
            details: Vec::new(),
        }
    }

    /// Adds a surface.
    pub fn add_surface(&mut self, surface: Surface) -> Result<SurfaceId, ContactError> {
        surface.check()?;
        self.surfaces.push(surface);
        let all = &self.surfaces;
        self.laws = (all.iter())
            .flat_map(|a| all.iter().map(|b| a.with(b)))
            .collect();
        Ok(SurfaceId((self.surfaces.len() - 1) as u8))
    }

    /// Adds a body that may move by itself, or whose motion is given.
    pub fn add_body(&mut self, is_free: bool) -> BodyId {
        assert!(self.radii.is_empty(), "bodies are added before grains");
        self.is_free.push(is_free);
        self.shapes_of_body.push(0);
        BodyId((self.is_free.len() - 1) as u32)
    }

    /// Adds a shape to the body added last, at a pose in its frame.
    pub fn add_shape(
        &mut self,
        shape: Shape,
        at: Pose,
        surface: SurfaceId,
    ) -> Result<(), ContactError> {
        let body = self
            .is_free
            .len()
            .checked_sub(1)
            .expect("a body comes first");
        shape.check(body)?;
        let number = &mut self.shapes_of_body[body];
        assert!(
            (*number as usize) < End::MOST_SHAPES,
            "too many shapes on a body"
        );
        self.shapes.push(Placed {
            end: End::new(body, *number as usize),
            radius: shape.bounding_radius(),
            shape,
            at,
            surface: surface.0,
        });
        *number += 1;
        Ok(())
    }

    /// Adds spheres that are grains; all have one surface.
    pub fn add_grains(&mut self, radii: &[f64], surface: SurfaceId) -> Result<(), ContactError> {
        let first = self.bodies() + self.radii.len();
        assert!(first + radii.len() <= End::MOST_BODIES, "too many bodies");
        let is_wrong = |r: &f64| !(*r > 0.0 && r.is_finite());
        if let Some(i) = radii.iter().position(is_wrong) {
            let (body, size) = (first + i, radii[i]);
            return Err(ContactError::Size { body, size });
        }
        self.radii.reserve_exact(radii.len());
        self.radii.extend_from_slice(radii);
        self.grain_surface = surface.0;
        Ok(())
    }

    /// Two bodies pass through each other, as those of a joint may.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        let pair = (a.0.min(b.0), a.0.max(b.0));
        if let Err(place) = self.excluded.binary_search(&pair) {
            self.excluded.insert(place, pair);
        }
    }

    fn may_meet(&self, a: usize, b: usize) -> bool {
        a != b
            && (self.is_free[a] || self.is_free[b])
            && (self.excluded.is_empty()
                || self
                    .excluded
                    .binary_search(&(a.min(b) as u32, a.max(b) as u32))
                    .is_err())
    }

    /// How many bodies there are, without grains.
    pub fn bodies(&self) -> usize {
        self.is_free.len()
    }

    /// Radii of the grains.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Gaps below this are reported.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Bodies will move like this for a time: pairs of them are looked at as far as they may come in that time, also where one of them stops. Nothing is expected of
    /// no motions.
    pub(crate) fn expect(&mut self, motion: &[BodyMotion], h: f64) {
        self.ways.clear();
        let bodies = motion.iter().take(self.is_free.len());
        self.ways
            .extend(bodies.map(|moved| (moved.velocity * h, moved.spin.norm() * h)));
    }

    /// Who does not move at all.
    pub(crate) fn still(&mut self) -> &mut Vec<bool> {
        &mut self.still
    }

    fn are_still(&self, one: usize, other: usize) -> bool {
        !self.still.is_empty() && self.still[one] && self.still[other]
    }

    /// No point of a body or grain is farther from its origin than this.
    pub(crate) fn extent(&self, body: usize) -> f64 {
        if let Some(grain) = body.checked_sub(self.bodies()) {
            return self.radii[grain];
        }
        let first = self.shapes.partition_point(|s| s.end.body() < body);
        let own = self.shapes[first..].iter();
        own.take_while(|s| s.end.body() == body)
            .map(|s| s.radius + s.at.position.norm())
            .fold(0.0, f64::max)
    }

    /// The reach between two shapes of bodies.
    fn reach_of(&self, i: usize, j: usize) -> f64 {
        let [one, other] = [i, j].map(|shape| &self.shapes[shape]);
        let way = |placed: &Placed| self.ways.get(placed.end.body());
        match (way(one), way(other)) {
            (Some((a, turn)), Some((b, swing))) => {
                let swept = swept(one, *turn) + swept(other, *swing);
                self.reach
                    .max(a.norm() + b.norm() + (*a - *b).norm() + 2.0 * swept)
            }
            _ => self.reach,
        }
    }

    /// No two shapes are looked at farther apart than this.
    fn farthest_reach(&self) -> f64 {
        // One body has grains to meet, which are looked at as near as ever.
        if self.is_free.len() < 2 {
            return self.reach;
        }
        let each = self.shapes.iter().filter_map(|placed| {
            let (way, turn) = self.ways.get(placed.end.body())?;
            Some(way.norm() + swept(placed, *turn))
        });
        self.reach.max(4.0 * each.fold(0.0, f64::max))
    }

    /// Finds all contacts for the poses of the bodies and the centres of the grains. They are
    /// ordered by shapes and features.
    pub fn find(&mut self, poses: &[Pose], grains: &[Vec3]) {
        assert_eq!(poses.len(), self.is_free.len(), "one pose for each body");
        assert_eq!(grains.len(), self.radii.len(), "one centre for each grain");
        self.shapes_now.clear();
        self.shapes_now
            .extend(self.shapes.iter().map(|s| poses[s.end.body()].then(&s.at)));
        let reach = self.farthest_reach();
        if reach > self.known_reach || self.have_moved(grains) {
            // A little more, so that bodies that get faster do not ask every time.
            self.known_reach = if reach > self.reach {
                1.5 * reach
            } else {
                reach
            };
            self.find_neighbours(grains);
        }
        self.forget_contacts();
        for i in 0..self.shapes.len() {
            self.touch_shape(i, grains);
        }
        self.touch_grains(grains);
    }

    /// The contacts found last.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Forgets them, where they no longer belong to the poses.
    pub(crate) fn forget_contacts(&mut self) {
        self.touches.clear();
        self.details.clear();
    }

    /// What a contact is recognised by from step to step.
    pub fn key(&self, contact: usize) -> Key {
        Key {
            ends: self.touches[contact].ends,
            feature: self.details.get(contact).map_or(0, |detail| detail.feature),
        }
    }

    /// The middle of a contact's gap, for the centres of grains that it was found for.
    pub fn place(&self, contact: usize, grains: &[Vec3]) -> Vec3 {
        let touch = &self.touches[contact];
        if let Some(detail) = self.details.get(contact) {
            return detail.position;
        }
        let grain = touch.ends[0].body() - self.bodies();
        grains[grain] + touch.normal * (self.radii[grain] + 0.5 * touch.gap)
    }

    /// More of the contacts that are not between two grains; these come first.
    pub(crate) fn details(&self) -> &[Detail] {
        &self.details
    }

    /// Both surfaces of a contact in one.
    pub fn law(&self, touch: &Touch) -> &Surface {
        let [a, b] = touch.ends.map(|end| self.surface(end));
        &self.laws[a * self.surfaces.len() + b]
    }

    /// Two surfaces of one kind.
    pub(crate) fn own_law(&self, surface: SurfaceId) -> Surface {
        let surface = &self.surfaces[surface.0 as usize];
        surface.with(surface)
    }

    /// Coulomb's coefficient between two grains.
    pub(crate) fn grain_friction(&self) -> f64 {
        let surface = self.grain_surface as usize;
        self.laws
            .get(surface * (self.surfaces.len() + 1))
            .map_or(0.0, |law| law.friction)
    }

    /// Whether any contact may rebound.
    pub(crate) fn has_restitution(&self) -> bool {
        self.laws.iter().any(|law| law.restitution > 0.0)
    }

    fn surface(&self, end: End) -> usize {
        if end.body() >= self.bodies() {
            return self.grain_surface as usize;
        }
        let shape = self.shapes.binary_search_by_key(&end, |s| s.end);
        self.shapes[shape.expect("shapes are ordered")].surface as usize
    }

    /// Whether some pair may be nearer now than the list of neighbours knows.
    fn have_moved(&self, grains: &[Vec3]) -> bool {
        if self.shapes_then.len() != self.shapes_now.len()
            || self.grains_then.len() != grains.len()
            || self.slack == 0.0
        {
            return true;
        }
        let (mut most, mut second) = (0.0, 0.0);
        let mut moved = |by: f64| {
            if by > most {
                (most, second) = (by, most);
            } else if by > second {
                second = by;
            }
        };
        for ((then, now), placed) in self
            .shapes_then
            .iter()
            .zip(&self.shapes_now)
            .zip(&self.shapes)
        {
            let turned = (0..3)
                .map(|i| (now.axes.column(i) - then.axes.column(i)).norm())
                .fold(0.0, f64::max);
            // Any point of a shape of finite size moves by at most the sum.
            let swept = if turned > 0.0 {
                2.0 * turned * placed.radius
            } else {
                0.0
            };
            moved((now.position - then.position).norm() + swept);
        }
        let (mut squares, mut farthest) = ((0.0_f64, 0.0_f64), 0.0_f64);
        for (then, now) in self.grains_then.iter().zip(grains) {
            let by = *now - V3(then.map(f64::from));
            let square = by.dot(by);
            squares.1 = squares.1.max(squares.0.min(square));
            squares.0 = squares.0.max(square);
            farthest = now.0.iter().fold(farthest, |most, x| most.max(x.abs()));
        }
        let rounded = 2.0 * farthest * f64::from(f32::EPSILON);
        moved(squares.0.sqrt() + rounded);
        moved(squares.1.sqrt() + rounded);
        most + second >= self.slack
    }

    fn find_neighbours(&mut self, grains: &[Vec3]) {
        self.shapes_then.clone_from(&self.shapes_now);
        self.grains_then.clear();
        self.grains_then.reserve_exact(grains.len());
        self.grains_then
            .extend(grains.iter().map(|c| c.0.map(|x| x as f32)));
        let shapes = self.shapes.len();
        let ball = |i: usize| match i.checked_sub(shapes) {
            None => Ball {
                centre: self.shapes_now[i].position,
                radius: self.shapes[i].radius,
            },
            Some(grain) => Ball {
                centre: grains[grain],
                radius: self.radii[grain],
            },
        };
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let mut median = self.median;
        if self.median == 0.0 {
            let radii = (0..shapes + grains.len()).map(|i| ball(i).radius);
            median = median_radius(radii).unwrap_or(self.reach);
        }
        let slack = SLACK * median;
        let margin = self.known_reach + slack;
        let accept = |i: usize, j: usize| {
            if i >= shapes {
                let (one, other) = (ball(i), ball(j));
                let apart = (other.centre - one.centre).norm();
                return apart < one.radius + other.radius + margin;
            }
            let other = j.checked_sub(shapes);
            let may_meet = match other {
                None => self.may_meet(self.shapes[i].end.body(), self.shapes[j].end.body()),
                Some(_) => true,
            };
            may_meet
                && self.is_within(i, ball(j), margin)
                && (other.is_some() || self.is_within(j, ball(i), margin))
        };
        neighbours.build(shapes + grains.len(), ball, median, margin, accept);
        self.neighbours = neighbours;
        (self.median, self.slack) = (median, slack);
    }

    /// Whether a ball is within a margin of a shape; a ball without end is near everything.
    fn is_within(&self, shape: usize, ball: Ball, margin: f64) -> bool {
        let local = self.shapes_now[shape].locate(ball.centre);
        ball.radius.is_infinite() || self.shapes[shape].shape.distance(local) < ball.radius + margin
    }

    fn touch_shape(&mut self, i: usize, grains: &[Vec3]) {
        let shapes = self.shapes.len();
        let (one, at) = (&self.shapes[i], &self.shapes_now[i]);
        for &j in self.neighbours.of(i) {
            let other = match (j as usize).checked_sub(shapes) {
                None => self.shapes[j as usize].end.body(),
                Some(grain) => self.is_free.len() + grain,
            };
            if self.are_still(one.end.body(), other) {
                continue;
            }
            self.points.clear();
            let end = match (j as usize).checked_sub(shapes) {
                None => {
                    let other = &self.shapes[j as usize];
                    let at_other = &self.shapes_now[j as usize];
                    collide(
                        &one.shape,
                        at,
                        &other.shape,
                        at_other,
                        self.reach_of(i, j as usize),
                        &mut self.points,
                    );
                    other.end
                }
                Some(grain) => {
                    let ball = Shape::Sphere {
                        radius: self.radii[grain],
                    };
                    let centre = Pose::at(grains[grain]);
                    collide(&one.shape, at, &ball, &centre, self.reach, &mut self.points);
                    End::new(self.is_free.len() + grain, 0)
                }
            };
            for point in &self.points {
                self.touches.put(Touch {
                    normal: point.normal,
                    gap: point.gap,
                    ends: [one.end, end],
                });
                self.details.put(Detail {
                    position: point.position,
                    feature: point.feature,
                });
            }
        }
    }

    fn touch_grains(&mut self, grains: &[Vec3]) {
        let (shapes, bodies) = (self.shapes.len(), self.is_free.len());
        for (i, (&centre, &radius)) in grains.iter().zip(&self.radii).enumerate() {
            for &j in self.neighbours.of(shapes + i) {
                let j = j as usize - shapes;
                if self.are_still(bodies + i, bodies + j) {
                    continue;
                }
                let apart = grains[j] - centre;
                let touching = radius + self.radii[j];
                let near = touching + self.reach;
                let square = apart.dot(apart);
                if square < near * near {
                    let distance = square.sqrt();
                    let normal = if distance > 0.0 {
                        apart * (1.0 / distance)
                    } else {
                        Vec3::Z
                    };
                    self.touches.put(Touch {
                        normal,
                        gap: distance - touching,
                        ends: [End::new(bodies + i, 0), End::new(bodies + j, 0)],
                    });
                }
            }
        }
    }

    /// Bytes held for grains and contacts.
    pub(crate) fn bytes(&self) -> usize {
        self.radii.held()
            + self.grains_then.held()
            + self.details.held()
            + self.touches.held()
            + self.neighbours.bytes()
    }
}

/// How far points of a shape swing when its body turns by an angle.
fn swept(placed: &Placed, turn: f64) -> f64 {
    let radius = placed.radius + placed.at.position.norm();
    if turn > 0.0 && radius.is_finite() {
        turn * radius
    } else {
        0.0
    }
}
