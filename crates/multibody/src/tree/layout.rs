//! Which joints make a tree, and what moves along them.
//!
//! Every node hangs on one joint, or on nothing: then it moves freely against the ground. Links are numbered so that
//! each comes after the one that carries it, and all of a branch one after the other.

use super::{Refusal, Why};
use crate::drive::Drive;
use crate::joint::{Coordinate, DrivenCoordinate, Ends, Joint, Row, RowKind, Transmission};
use crate::model::{Model, NamedElement};
use oldham_space::{Mat3, Quaternion, Vec3};

/// Columns of a joint that move in the same way; a link has at most three of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns {
    ids: [usize; 3],
    count: usize,
}

impl Columns {
    fn push(&mut self, id: usize) {
        self.ids[self.count] = id;
        self.count += 1;
    }

    #[inline(always)]
    pub fn ids(&self) -> &[usize] {
        &self.ids[..self.count]
    }
}

/// How the child of a joint turns against its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rotation {
    /// Not at all.
    Locked,
    /// As a rotation vector says.
    Given,
    /// About the third axis.
    Hinge,
    /// About one of the first two axes of the parent's marker, then about the other one of the child's.
    Universal {
        /// The axis of the parent's marker.
        first: usize,
    },
    /// In any way.
    Ball,
}

/// Which parts of a joint's motion carry others: the order in which they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nothing moves.
    Still,
    /// All of it is fixed to the parent.
    One,
    /// What slides carries what turns.
    SlidesFirst,
    /// What turns carries what slides.
    TurnsFirst,
    /// One rotation carries the other.
    Cross,
}

/// A node and the joint on which it hangs.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub node: usize,
    /// The node that carries it.
    pub parent: usize,
    /// The link of that node; none on the ground.
    pub carrier: Option<usize>,
    /// The link in whose node the moments of its tree are taken.
    pub root: usize,
    /// The element of the joint; none for a node that moves freely.
    pub joint: Option<usize>,
    /// Whether the joint goes from the child to the parent.
    pub is_reversed: bool,
    /// Markers on parent and child.
    pub offsets: [Vec3; 2],
    /// Axes of the parent's marker, and the child's node seen from its own marker.
    pub axes: [Quaternion; 2],
    /// Axes of the first marker of the joint, on its node.
    pub first_axes: Mat3,
    /// The same of the second.
    pub second_axes: Mat3,
    pub slides: Columns,
    pub turns: Columns,
    pub rotation: Rotation,
    pub order: Order,
    /// Displacement that never changes, in the axes of the node that carries the first marker, from parent to child.
    pub shift: Vec3,
    /// Kinds of the rows of its joint.
    pub rows: Vec<RowKind>,
    /// Number of the first of them among those of all links.
    pub first_row: usize,
}

impl Link {
    /// Whether what slides is fixed to the child.
    #[inline(always)]
    pub fn slides_on_child(&self) -> bool {
        self.is_reversed
    }
}

/// A direction in which a joint lets its child move, or moves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub link: usize,
    pub is_turn: bool,
    /// Whether it is fixed to the child; else to the parent.
    pub on_child: bool,
    /// In the axes of the node to which it is fixed.
    pub direction: Vec3,
    /// Component of the displacement or rotation vector.
    pub axis: usize,
}

/// What gives a coordinate its motion.
#[derive(Clone, Debug)]
pub(crate) enum Giver {
    /// A row of the joint.
    Row { element: usize, row: usize },
    /// The rotation vector of the joint, for three columns from this one on; opposite for a joint from child to parent.
    Turn { element: usize, is_reversed: bool },
    /// An element that drives the coordinate, which is `sign` times that of the column.
    Coordinate { element: usize, sign: f64 },
}

/// A coordinate with a motion that is given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub column: usize,
    pub giver: Giver,
}

/// A wheel on the ground that turns with the coordinate of a joint and does nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    pub element: usize,
    /// Its own column.
    pub column: usize,
    /// The freedom that it follows.
    pub freedom: usize,
    /// Rate of its column over that of the freedom.
    pub ratio: f64,
    /// Ratio of its column in the relation.
    pub own: f64,
}

/// A forest of links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub links: Vec<Link>,
    /// First the columns of the freedoms, then those whose motion is given.
    pub columns: Vec<Column>,
    pub freedoms: usize,
    pub given: Vec<Given>,
    pub followers: Vec<Follower>,
    /// Elements that push and pull: all but joints, drives and followers.
    pub acting: Vec<usize>,
    /// Elements of the model that are joints of the tree, drives or followers.
    pub kinematic: Vec<usize>,
}

/// A joint between two nodes from which a tree can be made.
struct Edge<'m> {
    element: usize,
    joint: &'m Joint,
    kinds: Vec<RowKind>,
    rotation: Rotation,
    /// For each axis of the first marker: may the second marker move along it?
    slides: [bool; 3],
}

impl<'m> Edge<'m> {
    /// Nothing if the joint is of another kind.
    fn new(element: usize, named: &'m NamedElement) -> Option<Self> {
        let joint = (*named.element).downcast_ref::<Joint>()?;
        let kinds: Vec<RowKind> = joint.rows().iter().map(|row| row.kind).collect();
        let mut slides = [true; 3];
        let (mut between, mut turns) = (Vec::new(), Vec::new());
        for kind in &kinds {
            match *kind {
                RowKind::Along { axis } if slides[axis] => slides[axis] = false,
                RowKind::Between { first, second } => between.push((first, second)),
                RowKind::Turn { axis } => turns.push(axis),
                RowKind::Along { .. } | RowKind::Distance => return None,
            }
        }
        let moves = joint.turn().iter().any(|drive| !is_zero(drive));
        let rests = |row: &Row| matches!(row.target, Drive::Constant(_));
        let point = slides == [false; 3] && joint.rows().iter().all(rests);
        let rotation = match (&between[..], &turns[..]) {
            ([], []) => Rotation::Ball,
            ([(0, 2), (1, 2)], []) => Rotation::Hinge,
            ([(0, 1)], []) if point => Rotation::Universal { first: 0 },
            ([], [0, 1, 2]) if moves => Rotation::Given,
            ([], [0, 1, 2]) => Rotation::Locked,
            _ => return None,
        };
        Some(Self {
            element,
            joint,
            kinds,
            rotation,
            slides,
        })
    }

    /// A motion that comes from outside has no rates.
    fn follows_inputs(&self) -> bool {
        let rows = self.joint.rows().iter().map(|row| &row.target);
        let mut drives = rows.chain(self.joint.turn());
        drives.any(|drive| matches!(drive, Drive::Input(_) | Drive::Measured(_)))
    }
}

fn is_zero(drive: &Drive) -> bool {
    matches!(drive, Drive::Constant(value) if *value == 0.0)
}

impl Layout {
    /// The tree of a model, or why it has none. Constraints that no branch hangs on may be left over for a method that
    /// `takes_rows` on top.
    pub fn new(model: &Model, takes_rows: bool) -> Result<Self, Refusal> {
        let mut builder = Builder {
            model,
            layout: Self::default(),
            free: Vec::new(),
            driven: Vec::new(),
            is_joined: vec![false; model.elements.len()],
            link_of: vec![None; model.nodes.len()],
        };
        builder.build(takes_rows)?;
        Ok(builder.layout)
    }
}

struct Builder<'m> {
    model: &'m Model,
    layout: Layout,
    /// Columns with what gives their motion, before they are put in order.
    free: Vec<Column>,
    driven: Vec<(Column, Giver)>,
    /// Whether an element is a joint of the tree, or belongs to one.
    is_joined: Vec<bool>,
    link_of: Vec<Option<usize>>,
}

impl<'m> Builder<'m> {
    fn build(&mut self, takes_rows: bool) -> Result<(), Refusal> {
        let named = self.model.elements.iter().enumerate();
        let mut edges: Vec<Edge<'m>> = named.filter_map(|(i, each)| Edge::new(i, each)).collect();
        if takes_rows {
            edges.retain(|edge| !edge.follows_inputs());
        }
        let mut meeting: Vec<Vec<usize>> = vec![Vec::new(); self.model.nodes.len()];
        for (index, edge) in edges.iter().enumerate() {
            for node in edge.joint.ends().nodes {
                meeting[node.0].push(index);
            }
        }
        self.hang_all(&edges, &meeting, 0);
        for node in 1..self.model.nodes.len() {
            if self.link_of[node].is_none() {
                self.float(node);
                self.hang_all(&edges, &meeting, node);
            }
        }
        self.refuse_received(&edges)?;
        self.drive_coordinates();
        self.order_columns();
        self.let_follow();
        let rest = self.model.elements.iter().enumerate();
        let rest = rest.filter(|(index, _)| !self.is_joined[*index]);
        let holding = rest.clone();
        let holding = holding.filter(|(_, named)| named.element.constraints() > 0);
        let could_hang = |index: usize| edges.iter().any(|edge| edge.element == index);
        let holding = holding.filter(|(_, named)| !takes_rows || !self.is_row(named));
        for (why, hangs) in [(Why::Unknown, false), (Why::Closes, true)] {
            let these = holding.clone();
            let these = these.filter(|(index, _)| could_hang(*index) == hangs);
            let elements: Vec<String> = these.map(|(_, named)| named.name.clone()).collect();
            if !elements.is_empty() {
                return Err(Refusal { elements, why });
            }
        }
        self.layout.acting = rest.map(|(index, _)| index).collect();
        let joined = self.is_joined.iter().enumerate();
        let joined = joined.filter(|(_, is_joined)| **is_joined);
        self.layout.kinematic = joined.map(|(index, _)| index).collect();
        Ok(())
    }

    /// Whether its constraints can be rows on top: on poses, and on those of nodes that are not moved from outside.
    fn is_row(&self, named: &NamedElement) -> bool {
        let element = &named.element;
        let prescribed = &self.model.prescribed;
        let moves = element
            .nodes()
            .iter()
            .any(|node| prescribed.iter().any(|it| it.0 == *node));
        !moves && !element.drifts() && element.on_velocities().is_empty()
    }

    /// All that hangs on a node, branch by branch.
    fn hang_all(&mut self, edges: &[Edge<'m>], meeting: &[Vec<usize>], from: usize) {
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        let push = |waiting: &mut Vec<(usize, usize)>, node: usize| {
            waiting.extend(meeting[node].iter().rev().map(|&edge| (edge, node)));
        };
        push(&mut waiting, from);
        while let Some((index, parent)) = waiting.pop() {
            let edge = &edges[index];
            let [a, b] = edge.joint.ends().nodes.map(|node| node.0);
            let child = if a == parent { b } else { a };
            if self.is_joined[edge.element] || a == b || child == 0 || self.link_of[child].is_some()
            {
                continue;
            }
            self.hang(edge, parent, child);
            push(&mut waiting, child);
        }
    }

    fn root(&self, parent: usize) -> usize {
        let next = self.layout.links.len();
        self.link_of[parent].map_or(next, |carrier| self.layout.links[carrier].root)
    }

    fn row_count(&self) -> usize {
        let last = self.layout.links.last();
        last.map_or(0, |link| link.first_row + link.rows.len())
    }

    /// A node that no joint holds.
    fn float(&mut self, node: usize) {
        let link = self.layout.links.len();
        let unit = [Vec3::X, Vec3::Y, Vec3::Z];
        let (mut slides, mut turns) = (Columns::default(), Columns::default());
        for (columns, is_turn) in [(&mut slides, false), (&mut turns, true)] {
            for (axis, direction) in unit.into_iter().enumerate() {
                columns.push(self.free.len());
                self.free.push(Column {
                    link,
                    is_turn,
                    on_child: false,
                    direction,
                    axis,
                });
            }
        }
        self.layout.links.push(Link {
            node,
            parent: 0,
            carrier: None,
            root: link,
            joint: None,
            is_reversed: false,
            offsets: [Vec3::ZERO; 2],
            axes: [Quaternion::IDENTITY; 2],
            first_axes: Mat3::IDENTITY,
            second_axes: Mat3::IDENTITY,
            slides,
            turns,
            rotation: Rotation::Ball,
            order: Order::SlidesFirst,
            shift: Vec3::ZERO,
            rows: Vec::new(),
            first_row: self.row_count(),
        });
        self.link_of[node] = Some(link);
    }

    fn hang(&mut self, edge: &Edge<'m>, parent: usize, child: usize) {
        let index = self.layout.links.len();
        let ends: &Ends = edge.joint.ends();
        let is_reversed = ends.nodes[0].0 == child;
        let [above, below] = if is_reversed { [1, 0] } else { [0, 1] };
        let [first, second] = ends.axes.map(Quaternion::matrix);
        let (mut slides, mut turns) = (Columns::default(), Columns::default());
        let mut shift = Vec3::ZERO;
        // The second marker moves along axes of the first: that moves the child, if it is the first, the other way.
        let sign = if is_reversed { -1.0 } else { 1.0 };
        for axis in 0..3 {
            let direction = first.column(axis) * sign;
            let column = Column {
                link: index,
                is_turn: false,
                on_child: is_reversed,
                direction,
                axis,
            };
            if edge.slides[axis] {
                slides.push(self.free.len());
                self.free.push(column);
                continue;
            }
            let is_this = |kind: &RowKind| *kind == RowKind::Along { axis };
            let row = edge.kinds.iter().position(is_this).expect("a locked axis");
            match &edge.joint.rows()[row].target {
                Drive::Constant(value) => shift += direction * *value,
                _ => {
                    let element = edge.element;
                    slides.push(GIVEN + self.driven.len());
                    self.driven.push((column, Giver::Row { element, row }));
                }
            }
        }
        let own = [first, second];
        let axes = [own[above], own[below]];
        let turn = |axis: usize, on_child: bool| Column {
            link: index,
            is_turn: true,
            on_child,
            direction: axes[usize::from(on_child)].column(axis),
            axis,
        };
        let mut rotation = edge.rotation;
        match rotation {
            Rotation::Locked => {}
            Rotation::Given => {
                let element = edge.element;
                for axis in 0..3 {
                    turns.push(GIVEN + self.driven.len());
                    let giver = Giver::Turn {
                        element,
                        is_reversed,
                    };
                    self.driven.push((turn(axis, false), giver));
                }
            }
            Rotation::Hinge => {
                turns.push(self.free.len());
                self.free.push(turn(2, false));
            }
            Rotation::Universal { .. } => {
                let first = usize::from(is_reversed);
                rotation = Rotation::Universal { first };
                for (axis, on_child) in [(first, false), (1 - first, true)] {
                    turns.push(self.free.len());
                    self.free.push(turn(axis, on_child));
                }
            }
            Rotation::Ball => {
                for axis in 0..3 {
                    turns.push(self.free.len());
                    self.free.push(turn(axis, false));
                }
            }
        }
        let order = match (slides.count, turns.count) {
            (0, 0) => Order::Still,
            _ if matches!(rotation, Rotation::Universal { .. }) => Order::Cross,
            (0, _) => Order::One,
            (_, 0) if !is_reversed => Order::One,
            _ if is_reversed => Order::TurnsFirst,
            _ => Order::SlidesFirst,
        };
        let link = Link {
            node: child,
            parent,
            carrier: self.link_of[parent],
            root: self.root(parent),
            joint: Some(edge.element),
            is_reversed,
            offsets: [ends.offsets[above], ends.offsets[below]],
            axes: [ends.axes[above], ends.axes[below].conjugate()],
            first_axes: first,
            second_axes: second,
            slides,
            turns,
            rotation,
            order,
            shift,
            rows: edge.kinds.clone(),
            first_row: self.row_count(),
        };
        self.layout.links.push(link);
        self.link_of[child] = Some(index);
        self.is_joined[edge.element] = true;
    }

    /// Joints whose motion is an input without rates.
    fn refuse_received(&self, edges: &[Edge<'m>]) -> Result<(), Refusal> {
        let received = edges.iter().filter(|edge| edge.follows_inputs());
        let elements: Vec<String> = received
            .map(|edge| self.model.elements[edge.element].name.clone())
            .collect();
        match elements.is_empty() {
            true => Ok(()),
            false => Err(Refusal {
                elements,
                why: Why::Received,
            }),
        }
    }

    /// The free column that a coordinate between two markers is, with the sign of the coordinate.
    fn column_of(
        &self,
        coordinate: Coordinate,
        ends: &Ends,
        free: &[Column],
    ) -> Option<(usize, f64)> {
        let fits = |link: &&Link| {
            let joint = link.joint.and_then(|element| {
                let element = &*self.model.elements[element].element;
                element.downcast_ref::<Joint>()
            });
            joint.is_some_and(|joint| joint.ends() == ends)
        };
        let link = self.layout.links.iter().find(fits)?;
        let is_free = |id: usize| id < free.len();
        match (coordinate, link.rotation) {
            (Coordinate::Angle, Rotation::Hinge) => {
                let sign = if link.is_reversed { -1.0 } else { 1.0 };
                let column = link.turns.ids[0];
                is_free(column).then_some((column, sign))
            }
            (Coordinate::Slide, Rotation::Hinge | Rotation::Locked | Rotation::Given) => {
                let slides = link.slides.ids().iter().copied();
                let mut slides = slides.filter(|&id| is_free(id));
                let along = slides.find(|&id| free[id].axis == 2)?;
                Some((along, 1.0))
            }
            _ => None,
        }
    }

    /// Takes the coordinates that drives move from the freedoms.
    fn drive_coordinates(&mut self) {
        for (index, named) in self.model.elements.iter().enumerate() {
            let Some(drive) = (*named.element).downcast_ref::<DrivenCoordinate>() else {
                continue;
            };
            let (coordinate, ends) = drive.driven();
            let column = self.column_of(coordinate, ends, &self.free);
            let Some((column, sign)) = column.filter(|_| drive.has_rates()) else {
                continue;
            };
            let element = index;
            let given = GIVEN + self.driven.len();
            self.driven
                .push((self.free[column], Giver::Coordinate { element, sign }));
            self.replace(column, given);
            self.is_joined[index] = true;
        }
    }

    /// Gives a column another place.
    fn replace(&mut self, from: usize, to: usize) {
        for link in &mut self.layout.links {
            for columns in [&mut link.slides, &mut link.turns] {
                for id in &mut columns.ids[..columns.count] {
                    if *id == from {
                        *id = to;
                    }
                }
            }
        }
    }

    /// Numbers the freedoms as the links, then those that are given.
    fn order_columns(&mut self) {
        let (mut free, mut given) = (Vec::new(), Vec::new());
        for link in &mut self.layout.links {
            for columns in [&mut link.slides, &mut link.turns] {
                for id in &mut columns.ids[..columns.count] {
                    *id = match id.checked_sub(GIVEN) {
                        None => {
                            free.push(self.free[*id]);
                            free.len() - 1
                        }
                        Some(place) => {
                            given.push(self.driven[place].clone());
                            GIVEN + given.len() - 1
                        }
                    };
                }
            }
        }
        self.layout.freedoms = free.len();
        self.layout.columns = free;
        for (place, (column, giver)) in given.into_iter().enumerate() {
            self.layout.columns.push(column);
            self.layout.given.push(Given {
                column: self.layout.freedoms + place,
                giver,
            });
        }
        self.number_given(self.layout.freedoms);
    }

    /// Gives those their places that are not freedoms, which are the last.
    fn number_given(&mut self, freedoms: usize) {
        for link in &mut self.layout.links {
            for columns in [&mut link.slides, &mut link.turns] {
                for id in &mut columns.ids[..columns.count] {
                    if let Some(place) = id.checked_sub(GIVEN) {
                        *id = freedoms + place;
                    }
                }
            }
        }
    }

    /// Wheels on the ground that nothing but a relation moves.
    fn let_follow(&mut self) {
        let mut found: Vec<(usize, usize, usize, f64, f64)> = Vec::new();
        for (index, named) in self.model.elements.iter().enumerate() {
            let Some(relation) = (*named.element).downcast_ref::<Transmission>() else {
                continue;
            };
            let sides = relation.relation().map(|(coordinate, ends, ratio)| {
                let free = &self.layout.columns[..self.layout.freedoms];
                let column = self.column_of(coordinate, &ends, free);
                column.map(|(column, sign)| (column, sign * ratio))
            });
            let [Some(first), Some(second)] = sides else {
                continue;
            };
            let pairs = [(first, second), (second, first)];
            let follows = pairs.into_iter().find(|((wheel, own), (leader, _))| {
                let is_wheel = |id: usize| found.iter().any(|it| it.1 == id);
                let leads = |id: usize| found.iter().any(|it| it.2 == id);
                let is_new = !is_wheel(*wheel) && !leads(*wheel) && !is_wheel(*leader);
                self.is_wheel(*wheel) && *own != 0.0 && is_new && wheel != leader
            });
            if let Some(((wheel, own), (leader, ratio))) = follows {
                found.push((index, wheel, leader, -ratio / own, own));
                self.is_joined[index] = true;
            }
        }
        if found.is_empty() {
            return;
        }
        // The freedoms without the wheels, then what is given, then the wheels.
        let count = self.layout.columns.len();
        let is_wheel = |id: usize| found.iter().position(|it| it.1 == id);
        let kept: Vec<usize> = (0..count).filter(|&id| is_wheel(id).is_none()).collect();
        let order: Vec<usize> = kept
            .iter()
            .copied()
            .chain(found.iter().map(|it| it.1))
            .collect();
        let mut place = vec![0; count];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        self.layout.columns = order.iter().map(|&old| self.layout.columns[old]).collect();
        self.layout.freedoms -= found.len();
        for link in &mut self.layout.links {
            for columns in [&mut link.slides, &mut link.turns] {
                for id in &mut columns.ids[..columns.count] {
                    *id = place[*id];
                }
            }
        }
        for given in &mut self.layout.given {
            given.column = place[given.column];
        }
        let followers = found.into_iter();
        let followers = followers.map(|(element, wheel, leader, ratio, own)| Follower {
            element,
            column: place[wheel],
            freedom: place[leader],
            ratio,
            own,
        });
        self.layout.followers = followers.collect();
    }

    /// Whether a freedom is the only one of a node on the ground that carries nothing.
    fn is_wheel(&self, column: usize) -> bool {
        let index = self.layout.columns[column].link;
        let link = &self.layout.links[index];
        let alone = link.slides.count + link.turns.count == 1;
        let mut links = self.layout.links.iter();
        alone && link.parent == 0 && !links.any(|other| other.carrier == Some(index))
    }
}

/// Where the numbers begin of columns whose motion is given, while the layout is made.
const GIVEN: usize = 1 << 40;
