//! Derivatives of what the freedoms lack by their poses and rates.
//!
//! With the screws S of the columns about a fixed point, loads f = I A + V ×* I V - w of links and their sums F over the
//! branches, a freedom lacks r = S · F. A turn by S of one column moves all that it carries, and leaves the velocities and
//! accelerations of the body behind it, V' and A', as they are. Of all that is carried, with s = V' × S,
//!
//! δV = S × (V - V'),   δf = S ×* f + I (A' × S + V' × s) + B s,   B u = u ×* I V + V ×* I u - I (V × u),
//!
//! where f has no w. By a rate, δf = I (V⁻ × S + V' × S) + B S, with V⁻ before the column. I and B are sums over the
//! branch, so that a pair of freedoms takes two products. Wrenches on nodes keep their directions and move with them: what
//! elements change of them comes in by the motions of the nodes.
//!
//! # References
//! J. Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, Robotics: Science and Systems
//! 2018. S. Echeandia, P. Wensing, Numerical methods to compute the Coriolis matrix, J. Comput. Nonlinear Dyn. 16 (2021).

use super::Tree;
use super::layout::{Order, Rotation};
use super::loops::Loops;
use super::pattern::{BranchMatrix, Pattern};
use super::screw::{Screw, WorldInertia};
use crate::assembly::{Assembly, EvaluationPoint, Placed};
use crate::element::{Jacobian, Weights};
use crate::linear::Destination;
use crate::node::Motion;
use oldham_space::{Mat3, Vec3};

/// A freedom that moves a node.
#[derive(Clone, Copy, Debug)]
struct Mover {
    freedom: usize,
    column: usize,
    /// Rate of the column over that of the freedom.
    ratio: f64,
}

/// How velocities give loads, about the common point.
#[derive(Clone, Copy, Debug)]
struct RateLoads([Screw; 6]);

impl RateLoads {
    const ZERO: Self = Self([Screw::ZERO; 6]);

    fn of(inertia: &WorldInertia, motion: Screw) -> Self {
        let momentum = inertia.times(motion);
        let unit = |axis: usize| {
            let mut vector = Vec3::ZERO;
            vector[axis % 3] = 1.0;
            match axis {
                0..3 => Screw::new(vector, Vec3::ZERO),
                _ => Screw::new(Vec3::ZERO, vector),
            }
        };
        Self([0, 1, 2, 3, 4, 5].map(|axis| {
            let by = unit(axis);
            by.carries_momentum(momentum) + motion.carries_momentum(inertia.times(by))
                - inertia.times(motion.carries(by))
        }))
    }

    fn times(&self, motion: Screw) -> Screw {
        let mut sum = Screw::ZERO;
        for axis in 0..3 {
            sum += self.0[axis] * motion.angular[axis];
            sum += self.0[3 + axis] * motion.linear[axis];
        }
        sum
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own += *other;
        }
    }
}

/// Sums over the branch behind a link.
#[derive(Clone, Copy, Debug)]
struct Branch {
    rates: RateLoads,
    /// Loads of inertia and weight, and wrenches on nodes.
    inertial: Screw,
    wrench: Screw,
    /// Places of nodes times the forces on them.
    moments: Mat3,
}

impl Branch {
    const ZERO: Self = Self {
        rates: RateLoads::ZERO,
        inertial: Screw::ZERO,
        wrench: Screw::ZERO,
        moments: Mat3::ZERO,
    };

    /// The moment of forces that move with their nodes, by a turn.
    fn moment_by(&self, turn: Screw) -> Vec3 {
        let m = &self.moments;
        let trace = m.0[0][0] + m.0[1][1] + m.0[2][2];
        turn.linear.cross(self.wrench.linear) + *m * turn.angular - turn.angular * trace
    }
}

/// Velocities around a column.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    /// Before it, and of what it and those beside it move.
    before: Screw,
    behind: Screw,
    /// Acceleration of that.
    acceleration: Screw,
    /// Whether it moves those of the same link that come second.
    is_first: bool,
}

/// What has no proper pivot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weak {
    Freedom(usize),
    /// By its multiplier.
    Row(usize),
}

/// Matrix of a step, its factors, and room for them.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pattern: Pattern,
    /// By poses, then factors.
    by_poses: BranchMatrix,
    by_rates: BranchMatrix,
    masses: BranchMatrix,
    /// Constraints on top.
    loops: Loops,
    movers: Vec<Mover>,
    /// First mover of each node.
    mover_rows: Vec<usize>,
    branches: Vec<Branch>,
    around: Vec<Around>,
    /// Derivatives of an element, by poses and by velocities.
    element: [Vec<f64>; 2],
    destinations: Vec<Destination>,
    sensed: Vec<Motion>,
}

impl Tangent {
    /// `acting` are the nodes that each acting element sees, `rows` the multipliers that these have.
    pub fn new(tree: &Tree, nodes: usize, acting: &[Vec<usize>], rows: Vec<usize>) -> Self {
        let layout = &tree.layout;
        let mut of_nodes: Vec<Vec<Mover>> = vec![Vec::new(); nodes];
        for link in &layout.links {
            let mut movers = of_nodes[link.parent].clone();
            for &column in link.slides.ids().iter().chain(link.turns.ids()) {
                let mut followers = layout.followers.iter();
                let follower = followers.find(|follower| follower.column == column);
                movers.extend(match follower {
                    Some(follower) => Some(Mover {
                        freedom: follower.freedom,
                        column,
                        ratio: follower.ratio,
                    }),
                    None if column < layout.freedoms => Some(Mover {
                        freedom: column,
                        column,
                        ratio: 1.0,
                    }),
                    None => None,
                });
            }
            of_nodes[link.node] = movers;
        }
        let group = |nodes: &Vec<usize>| {
            let movers = nodes.iter().flat_map(|&node| &of_nodes[node]);
            let mut freedoms: Vec<usize> = movers.map(|mover| mover.freedom).collect();
            freedoms.sort_unstable();
            freedoms.dedup();
            freedoms
        };
        let groups: Vec<Vec<usize>> = acting.iter().map(group).collect();
        let pattern = tree.pattern.with_groups(&groups);
        let mut mover_rows = vec![0];
        let mut movers = Vec::new();
        for own in of_nodes {
            movers.extend(own);
            mover_rows.push(movers.len());
        }
        let largest = acting.iter().map(Vec::len).max().unwrap_or(0);
        // An element has at most six constraints.
        let side = 6 * (largest + 1);
        let room = vec![0.0; side * side];
        Self {
            by_poses: BranchMatrix::new(&pattern),
            by_rates: BranchMatrix::new(&pattern),
            masses: BranchMatrix::new(&pattern),
            loops: Loops::new(rows, layout.freedoms),
            pattern,
            movers,
            mover_rows,
            branches: vec![Branch::ZERO; layout.links.len()],
            around: vec![Around::default(); layout.columns.len()],
            element: [room.clone(), room],
            destinations: Vec::with_capacity((largest + 1) * (largest + 1)),
            sensed: Vec::with_capacity(nodes),
        }
    }

    fn movers(&self, node: usize) -> std::ops::Range<usize> {
        self.mover_rows[node]..self.mover_rows[node + 1]
    }

    /// Takes the derivatives at motions with which the tree has gone out, under wrenches on the nodes.
    pub fn find(
        &mut self,
        tree: &mut Tree,
        assembly: &Assembly,
        at: &EvaluationPoint<'_>,
        wrenches: &[f64],
    ) {
        self.by_poses.clear();
        self.by_rates.clear();
        self.masses.clear();
        self.loops.clear();
        self.sum_branches(tree, wrenches);
        self.look_around(tree);
        self.add_inertia(tree);
        for &index in tree.acting() {
            self.add_element(tree, assembly, index, at);
        }
    }

    fn sum_branches(&mut self, tree: &mut Tree, wrenches: &[f64]) {
        for (index, link) in tree.layout.links.iter().enumerate() {
            let mut branch = Branch {
                rates: RateLoads::of(&tree.inertias[index], tree.motions[index]),
                inertial: tree.loads[index],
                ..Branch::ZERO
            };
            if let Some(wrench) = wrenches.get(6 * (link.node - 1)..6 * link.node) {
                let force = Vec3::new(wrench[0], wrench[1], wrench[2]);
                let moment = Vec3::new(wrench[3], wrench[4], wrench[5]);
                let place = tree.places[index];
                branch.wrench = Screw::new(moment + place.cross(force), force);
                branch.inertial += branch.wrench;
                branch.moments = place.outer(force);
            }
            self.branches[index] = branch;
        }
        tree.composites.copy_from_slice(&tree.inertias);
        for (index, link) in tree.layout.links.iter().enumerate().rev() {
            if let Some(carrier) = link.carrier {
                let (above, below) = self.branches.split_at_mut(index);
                let (own, other) = (&mut above[carrier], &below[0]);
                own.rates.add(&other.rates);
                own.inertial += other.inertial;
                own.wrench += other.wrench;
                own.moments += other.moments;
                let inertia = tree.composites[index];
                tree.composites[carrier] += inertia;
            }
        }
    }

    fn look_around(&mut self, tree: &Tree) {
        for (index, link) in tree.layout.links.iter().enumerate() {
            let (motion, whole) = (tree.motions[index], tree.accelerations[index]);
            let (carrier, resting) = match link.carrier {
                Some(carrier) => (tree.motions[carrier], tree.accelerations[carrier]),
                None => (Screw::ZERO, tree.resting),
            };
            let relative = motion - carrier;
            let turning = Screw::turning(relative.angular, tree.arms[index]);
            let (slides, turns) = (link.slides.ids(), link.turns.ids());
            let (first, second, part): (&[usize], &[usize], Screw) = match link.order {
                Order::Still => continue,
                Order::One if turns.is_empty() => (slides, turns, relative),
                Order::One => (turns, slides, relative),
                Order::SlidesFirst => (slides, turns, relative - turning),
                Order::TurnsFirst => (turns, slides, turning),
                Order::Cross => {
                    let axis = tree.screws[turns[0]];
                    let part = axis * axis.angular.dot(relative.angular);
                    (&turns[..1], &turns[1..], part)
                }
            };
            let middle = carrier + part;
            let mut accelerated = resting + carrier.carries(part);
            for &id in first {
                accelerated += tree.screws[id] * tree.given[id];
            }
            for &id in first {
                self.around[id] = Around {
                    before: carrier,
                    behind: middle,
                    acceleration: accelerated,
                    is_first: true,
                };
            }
            for &id in second {
                self.around[id] = Around {
                    before: middle,
                    behind: motion,
                    acceleration: whole,
                    is_first: false,
                };
            }
        }
    }

    /// What inertia, weight and the motion of the wrenches do.
    fn add_inertia(&mut self, tree: &Tree) {
        let freedoms = tree.layout.freedoms;
        for id in 0..freedoms {
            for place in 0..tree.pattern.row(id).len() {
                let other = tree.pattern.row(id)[place];
                self.add_pair(tree, id, [id, other], [id, other], 1.0);
                if other != id {
                    self.add_pair(tree, id, [other, id], [other, id], 1.0);
                }
            }
        }
        for follower in &tree.layout.followers {
            let (column, freedom) = (follower.column, follower.freedom);
            let ratio = follower.ratio * follower.ratio;
            self.add_pair(tree, column, [column; 2], [freedom; 2], ratio);
        }
    }

    /// What a column changes of what another one lacks, both columns being those of two freedoms; `later` is the one of
    /// them that is behind the other.
    fn add_pair(
        &mut self,
        tree: &Tree,
        later: usize,
        [row, column]: [usize; 2],
        [to_row, to_column]: [usize; 2],
        factor: f64,
    ) {
        let links = [row, column].map(|id| tree.layout.columns[id].link);
        let link = tree.layout.columns[later].link;
        let (branch, inertia) = (&self.branches[link], &tree.composites[link]);
        let (lacking, turn) = (tree.screws[row], tree.screws[column]);
        let around = &self.around[column];
        let drift = around.behind.carries(turn);
        let by_drift = around.acceleration.carries(turn) + around.behind.carries(drift);
        let mut load = inertia.times(by_drift) + branch.rates.times(drift);
        let moves_row = match links[0] == links[1] {
            true => around.is_first && !self.around[row].is_first,
            false => later == row,
        };
        let mut lacks = -lacking.angular.dot(branch.moment_by(turn));
        match moves_row {
            true => lacks -= turn.carries(lacking).dot(branch.wrench),
            false => load += turn.carries_momentum(branch.inertial),
        }
        lacks += lacking.dot(load);
        let rates = around.before.carries(turn) + drift;
        let load = inertia.times(rates) + branch.rates.times(turn);
        let by_rate = lacking.dot(load);
        let mass = lacking.dot(inertia.times(turn));
        let pattern = &self.pattern;
        self.by_poses
            .add(pattern, to_row, to_column, factor * lacks);
        self.by_rates
            .add(pattern, to_row, to_column, factor * by_rate);
        self.masses.add(pattern, to_row, to_column, factor * mass);
    }

    /// What an element does, by the motions of the nodes that it sees.
    fn add_element(
        &mut self,
        tree: &Tree,
        assembly: &Assembly,
        index: usize,
        at: &EvaluationPoint<'_>,
    ) {
        let placed = &assembly.elements[index];
        let nodes = placed.element.nodes();
        let constraints = placed.multipliers.len();
        let rows = 6 * nodes.len() + constraints;
        self.take_derivatives(assembly, placed, at);
        for (place, node) in placed.seen().enumerate() {
            for by in self.movers(node.0) {
                let mover = self.movers[by];
                let motion = &at.motions[node.0];
                let (way, change) = self.moved(tree, mover, node.0, motion);
                // Forces and moments on the nodes, for a unit of the pose and of the rate.
                let mut found = [[0.0; 2]; 64];
                for component in 0..6 {
                    let column = (6 * place + component) * rows;
                    for (row, found) in found[..rows].iter_mut().enumerate() {
                        let [by_pose, by_rate] = [0, 1].map(|k| self.element[k][column + row]);
                        found[0] += by_pose * way[component] + by_rate * change[component];
                        found[1] += by_rate * way[component];
                    }
                }
                let by_gradient = &found[6 * nodes.len()..rows];
                for (multiplier, found) in placed.multipliers.clone().zip(by_gradient) {
                    let row = self.loops.row(multiplier);
                    self.loops.add_gradient(row, mover.freedom, found[0]);
                }
                for (other, node) in nodes.iter().enumerate() {
                    for lacking in self.movers(node.0) {
                        let lacking = self.movers[lacking];
                        let motion = &at.motions[node.0];
                        let (way, _) = self.moved(tree, lacking, node.0, motion);
                        let rows = &found[6 * other..6 * other + 6];
                        let sum = |k: usize| -> f64 {
                            way.iter().zip(rows).map(|(way, row)| way * row[k]).sum()
                        };
                        let [pose, rate] = [sum(0), sum(1)];
                        let (pattern, pair) = (&self.pattern, [lacking.freedom, mover.freedom]);
                        self.by_poses.add(pattern, pair[0], pair[1], pose);
                        self.by_rates.add(pattern, pair[0], pair[1], rate);
                    }
                }
            }
        }
        self.add_multipliers(tree, placed, at);
    }

    /// What the multipliers of an element do.
    fn add_multipliers(&mut self, tree: &Tree, placed: &Placed, at: &EvaluationPoint<'_>) {
        let nodes = placed.element.nodes();
        let constraints = placed.multipliers.len();
        let rows = 6 * nodes.len() + constraints;
        let first = 6 * placed.seen().count();
        for (index, multiplier) in placed.multipliers.clone().enumerate() {
            let row = self.loops.row(multiplier);
            for (other, node) in nodes.iter().enumerate() {
                for by in self.movers(node.0) {
                    let mover = self.movers[by];
                    let (way, _) = self.moved(tree, mover, node.0, &at.motions[node.0]);
                    let start = (first + index) * rows + 6 * other;
                    let column = &self.element[0][start..start + 6];
                    let push = way.iter().zip(column).map(|(a, b)| a * b).sum();
                    self.loops.add_force(row, mover.freedom, push);
                }
            }
        }
    }

    /// How a node moves by a unit of a freedom, and how its velocity changes by that if no rate does: displacement and turn
    /// each.
    fn moved(
        &self,
        tree: &Tree,
        mover: Mover,
        node: usize,
        motion: &Motion,
    ) -> ([f64; 6], [f64; 6]) {
        let link = tree.link_of(node);
        let place = tree.places[link];
        let screw = tree.screws[mover.column] * mover.ratio;
        let way = screw.linear + screw.angular.cross(place);
        let behind = self.around[mover.column].behind;
        let change = screw.carries(tree.motions[link] - behind);
        let velocity =
            change.linear + change.angular.cross(place) + motion.angular_velocity.cross(way);
        let both = |a: Vec3, b: Vec3| [a[0], a[1], a[2], b[0], b[1], b[2]];
        (both(way, screw.angular), both(velocity, change.angular))
    }

    /// The negative derivatives of the forces of an element by poses and by velocities of the nodes that it sees, column
    /// by column.
    fn take_derivatives(&mut self, assembly: &Assembly, placed: &Placed, at: &EvaluationPoint<'_>) {
        let nodes = placed.element.nodes();
        let (count, constraints) = (nodes.len(), placed.multipliers.len());
        let (rows, seen) = (6 * count + constraints, 6 * placed.seen().count());
        let columns = seen + constraints;
        self.destinations.clear();
        for row in 0..=count {
            for column in 0..=count {
                let is_there = |place: usize| match nodes.get(place) {
                    Some(node) => node.0 > 0,
                    None => constraints > 0,
                };
                let left = if column < count { 6 * column } else { seen };
                self.destinations
                    .push(match is_there(row) && is_there(column) {
                        true => Destination {
                            start: left * rows + 6 * row,
                            stride: rows,
                        },
                        false => crate::element::NOWHERE,
                    });
            }
        }
        for (matrix, [damping, stiffness]) in self.element.iter_mut().zip([[0.0, 1.0], [1.0, 0.0]])
        {
            let weights = Weights {
                mass: 0.0,
                damping,
                stiffness,
            };
            let matrix = &mut matrix[..rows * columns];
            matrix.fill(0.0);
            let mut out = Jacobian {
                matrix,
                destinations: &self.destinations,
                blocks: count + 1,
            };
            placed
                .element
                .jacobian(&at.of(placed, &assembly.elements), weights, &mut out);
            if placed.is_measured {
                self.sensed.clear();
                self.sensed.extend_from_slice(at.motions);
                let found = |place: usize, component: usize, row: usize, slope: f64| {
                    let column = 6 * (count + place) + component;
                    matrix[column * rows + row] += slope;
                };
                assembly.find_feedback(placed, &mut self.sensed, at, weights, rows, found);
            }
        }
        // Constraints are on poses: their gradients are none by velocities.
        for column in self.element[1][..rows * columns].chunks_exact_mut(rows) {
            column[6 * count..].fill(0.0);
        }
    }

    /// Derivatives of what a freedom lacks by pose, rate and acceleration of another one, before the factors are made.
    #[cfg(test)]
    pub fn derivatives(&self, row: usize, column: usize) -> [f64; 3] {
        let all = [&self.by_poses, &self.by_rates, &self.masses];
        all.map(|matrix| matrix.get(&self.pattern, row, column))
    }

    /// Makes the factors of a step with these gains. The freedom with a weak pivot, or the multiplier of a row that depends
    /// on others, if there is one.
    pub fn factor(
        &mut self,
        tree: &Tree,
        [c, gain]: [f64; 2],
        motions: &[Motion],
    ) -> Result<(), Weak> {
        let [by_poses, by_rates, masses] =
            [&mut self.by_poses, &mut self.by_rates, &mut self.masses];
        for (rates, masses) in [
            (&mut by_rates.left, &masses.left),
            (&mut by_rates.above, &masses.above),
        ] {
            for (rate, mass) in rates.iter_mut().zip(masses) {
                *rate += mass / gain;
            }
        }
        for (poses, rates) in [
            (&mut by_poses.left, &by_rates.left),
            (&mut by_poses.above, &by_rates.above),
        ] {
            for (pose, rate) in poses.iter_mut().zip(rates) {
                *pose += rate / c;
            }
        }
        self.turn_balls(tree, motions);
        self.by_poses.factor(&self.pattern).map_err(Weak::Freedom)?;
        self.loops
            .factor(&self.by_poses, &self.pattern)
            .map_err(Weak::Row)
    }

    /// In a step the rotation vector of a ball is integrated: to first order, its rate changes by δφ/c - ½ ω × δφ.
    fn turn_balls(&mut self, tree: &Tree, motions: &[Motion]) {
        let pattern = &self.pattern;
        for link in tree.layout.links.iter() {
            if link.rotation != Rotation::Ball {
                continue;
            }
            let ids = link.turns.ids();
            let spin = motions[link.node].angular_velocity - motions[link.parent].angular_velocity;
            let half = ids.iter().map(|&id| 0.5 * tree.directions[id].dot(spin));
            let mut of_axes = [0.0; 3];
            for (own, half) in of_axes.iter_mut().zip(half) {
                *own = half;
            }
            let half = Vec3::new(of_axes[0], of_axes[1], of_axes[2]).skew();
            for row in 0..pattern.freedoms() {
                let (later, earlier) = (row.max(ids[0]), row.min(ids[0]));
                if pattern.entry(later, earlier).is_none() {
                    continue;
                }
                let rates = [0, 1, 2].map(|k| self.by_rates.get(pattern, row, ids[k]));
                for (column, &id) in ids.iter().enumerate() {
                    let change: f64 = (0..3).map(|k| rates[k] * half.0[k][column]).sum();
                    self.by_poses.add(pattern, row, id, -change);
                }
            }
        }
    }

    /// Solves with the factors. `asked` has what the constraints on top ask for at the places of all multipliers, and takes
    /// their changes.
    pub fn solve(&mut self, values: &mut [f64], asked: &mut [f64]) {
        self.by_poses.solve(&self.pattern, values);
        self.loops.complete(values, asked);
    }

    /// What a solution so far lacks; see [`Loops::refine`].
    pub fn refine(
        &self,
        multipliers: &[f64],
        freedoms: &[f64],
        forces: &mut [f64],
        asked: &mut [f64],
    ) {
        self.loops.refine(multipliers, freedoms, forces, asked);
    }
}
