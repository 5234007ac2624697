//! What a step by an implicit formula knows of the past, in the coordinates of the joints, and what it looks for.
//!
//! The formulas are those of the nodes (`integrator/`): values at the end are `known + c · slope`, rates
//! `known + gain · acceleration`. The slope of a ball is the rate of its rotation vector, or its rate itself where the
//! method steps that. All of it is read from the records of the nodes, so that no state besides these is needed.

use super::layout::Rotation;
use super::tangent::Tangent;
use super::{Start, Tree};
use crate::integrator::{Formula, Record};
use crate::model::Model;
use crate::node::Motion;
use oldham_space::Vec3;
use oldham_space::rotation::{inverse_tangent_times, tangent_times};

use super::screw::Screw;

/// A record of the nodes in the coordinates of the joints.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    records: Vec<Record>,
    motions: Vec<Motion>,
    starts: Vec<Start>,
    rates: Vec<f64>,
    /// Accelerations, and the algorithmic ones of methods that have them.
    pub seconds: Vec<f64>,
    pub algorithmic: Vec<f64>,
}

impl Past {
    fn new(nodes: usize, links: usize, freedoms: usize) -> Self {
        Self {
            records: vec![Record::default(); nodes],
            motions: vec![Motion::default(); nodes],
            starts: vec![Start::default(); links],
            rates: vec![f64::NAN; freedoms],
            seconds: vec![0.0; freedoms],
            algorithmic: vec![0.0; freedoms],
        }
    }

    /// Whether it was read from records that say the same.
    fn is_of(&self, records: &[Record]) -> bool {
        let mut pairs = self.records.iter().zip(records).skip(1);
        pairs.all(|(own, other)| {
            own.motion == other.motion
                && own.acceleration == other.acceleration
                && own.angular_acceleration == other.angular_acceleration
                && own.algorithmic == other.algorithmic
        }) && !self.rates.iter().any(|rate| rate.is_nan())
    }
}

/// A step that is looked for.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub tangent: Tangent,
    pub now: Past,
    before: Past,
    gains: [f64; 2],
    steps_rates: bool,
    /// Of values and of rates.
    known: [Vec<f64>; 2],
    slopes: Vec<f64>,
    /// What Newton's iteration still has to add, as ways along the columns.
    pub correction: Vec<f64>,
    /// Jumps of the accelerations with which the step begins.
    pub jump: Vec<f64>,
    /// Of methods with algorithmic accelerations: the rates without these, and how these follow from the rates.
    plain_rates: Vec<f64>,
    per_gain: f64,
    /// Accelerations at the end of the last step, and room for those of the next one.
    pub ended: Vec<f64>,
    /// Accelerations of columns that wait while a recorded linearisation is made again.
    pub waiting: Vec<f64>,
    /// What algorithmic accelerations differ from the true ones, of the links.
    pub apart: Vec<Screw>,
    /// What a jump does to the multipliers of constraints on top, and room for what these ask for.
    pub row_changes: Vec<f64>,
    pub asked: Vec<f64>,
    /// Forces and moments of elements.
    pub wrenches: Vec<f64>,
}

impl Trial {
    pub fn new(tree: &Tree, model: &Model) -> Self {
        let (nodes, links) = (model.nodes.len(), tree.layout.links.len());
        let freedoms = tree.layout.freedoms;
        let seen = |&index: &usize| -> Vec<usize> {
            let named = &model.elements[index];
            let (reads, _) = crate::assembly::read(model, named);
            let nodes = named.element.nodes().iter().chain(&reads);
            nodes.map(|node| node.0).collect()
        };
        let acting: Vec<Vec<usize>> = tree.layout.acting.iter().map(seen).collect();
        let elements = model.elements.iter();
        let constraints: usize = elements.map(|named| named.element.constraints()).sum();
        let rows = tree.layout.acting.iter().flat_map(|&index| {
            let first = tree.firsts[index];
            first..first + model.elements[index].element.constraints()
        });
        let rows: Vec<usize> = rows.collect();
        let zeros = vec![0.0; freedoms];
        Self {
            tangent: Tangent::new(tree, nodes, &acting, rows),
            now: Past::new(nodes, links, freedoms),
            before: Past::new(nodes, links, freedoms),
            gains: [1.0; 2],
            steps_rates: false,
            known: [zeros.clone(), zeros.clone()],
            slopes: zeros.clone(),
            correction: zeros.clone(),
            jump: zeros.clone(),
            plain_rates: zeros.clone(),
            per_gain: 0.0,
            ended: zeros,
            waiting: vec![0.0; tree.layout.columns.len()],
            apart: vec![Screw::ZERO; links],
            row_changes: vec![0.0; constraints],
            asked: vec![0.0; constraints],
            wrenches: vec![0.0; 6 * nodes + constraints],
        }
    }

    /// Reads both records. Those of the last step are mostly there already.
    pub fn look_back(&mut self, tree: &mut Tree, now: &[Record], before: Option<&[Record]>) {
        if let Some(before) = before
            && !self.before.is_of(before)
        {
            std::mem::swap(&mut self.now, &mut self.before);
            if !self.before.is_of(before) {
                tree.read_past(before, &mut self.before);
            }
        }
        tree.read_past(now, &mut self.now);
    }

    /// Begins a step with predicted accelerations; `missed` is what extrapolated ones are expected to miss.
    pub fn begin(
        &mut self,
        tree: &mut Tree,
        formula: &Formula,
        h: f64,
        extrapolates: bool,
        missed: Option<&[f64]>,
        jumps: bool,
    ) {
        self.gains = formula.gains(h);
        self.steps_rates = matches!(formula, Formula::Newmark(_));
        let gain = self.gains[1];
        if !jumps {
            self.jump.fill(0.0);
        }
        self.find_known(tree, formula, h);
        for id in 0..self.slopes.len() {
            let now = self.now.seconds[id];
            let mut ahead = now + self.jump[id];
            if extrapolates {
                ahead += now - self.before.seconds[id] + missed.map_or(0.0, |missed| missed[id]);
            }
            self.slopes[id] = self.known[1][id] + gain * ahead;
        }
        if !self.steps_rates {
            let c = self.gains[0];
            for_balls(tree, |ids| {
                let (known, spin) = (vector(&self.known[0], ids), vector(&self.slopes, ids));
                let first = inverse_tangent_times(known + spin * c, spin);
                let rate = inverse_tangent_times(known + first * c, spin);
                put(&mut self.slopes, ids, rate);
            });
        }
        self.correction.fill(0.0);
    }

    fn find_known(&mut self, tree: &Tree, formula: &Formula, h: f64) {
        let Self {
            now, before, known, ..
        } = self;
        let [values, rates] = known;
        match formula {
            Formula::MultiStep(k) => {
                let (g1, g2) = (h * k.b1, h * k.b2);
                for id in 0..values.len() {
                    values[id] = g1 * now.rates[id];
                    rates[id] = k.a1 * now.rates[id] + g1 * now.seconds[id];
                }
                if k.is_two_step() {
                    tree.add_way_back(&before.starts, k.a2, values);
                    let past = before.rates.iter().zip(&before.seconds);
                    for (rate, (old, second)) in rates.iter_mut().zip(past) {
                        *rate += k.a2 * old + g2 * second;
                    }
                    tree.add_rates_back(&before.starts, &before.rates, g2, values);
                }
                let to_value = h * h * (0.5 - k.b0);
                for (id, jump) in self.jump.iter().enumerate() {
                    values[id] += to_value * jump;
                    rates[id] += h * (1.0 - k.b0) * jump;
                }
            }
            Formula::Newmark(k) => {
                let weights = k.in_joints(h);
                self.per_gain = weights.per_gain;
                let [c, gain] = self.gains;
                for id in 0..values.len() {
                    let jump = self.jump[id];
                    let (second, algorithmic) =
                        (now.seconds[id] + jump, now.algorithmic[id] + jump);
                    let plain = now.rates[id] + algorithmic * weights.to_rate;
                    let offset = algorithmic * weights.held - second * weights.given;
                    self.plain_rates[id] = plain;
                    values[id] = now.rates[id] * h + algorithmic * weights.to_value - plain * c;
                    rates[id] = plain - gain * offset;
                }
            }
        }
    }

    /// Puts the nodes where the slopes lead.
    pub fn follow(&self, tree: &mut Tree, motions: &mut [Motion]) {
        let [c, gain] = self.gains;
        let [values, rates] = &self.known;
        for (id, (value, slope)) in values.iter().zip(&self.slopes).enumerate() {
            tree.values[id] = value + c * slope;
            tree.rates[id] = *slope;
        }
        if !self.steps_rates {
            let mut rates = std::mem::take(&mut tree.rates);
            for_balls(tree, |ids| {
                let spin = tangent_times(vector(&tree.values, ids), vector(&rates, ids));
                put(&mut rates, ids, spin);
            });
            tree.rates = rates;
        }
        for (id, known) in rates.iter().enumerate() {
            tree.given[id] = (tree.rates[id] - known) / gain;
        }
        tree.lead_followers();
        tree.lead_accelerations();
        tree.place(motions);
    }

    /// Moves the end of the step by the correction that waits.
    pub fn correct(&mut self, tree: &mut Tree, motions: &mut [Motion]) {
        if self.correction.iter().all(|way| *way == 0.0) {
            return;
        }
        let per_c = 1.0 / self.gains[0];
        for_balls(tree, |ids| {
            let theta = vector(&tree.values, ids);
            let way = inverse_tangent_times(theta, vector(&self.correction, ids));
            put(&mut self.correction, ids, way);
        });
        for (slope, way) in self.slopes.iter_mut().zip(&mut self.correction) {
            *slope += std::mem::take(way) * per_c;
        }
        self.follow(tree, motions);
    }

    /// The algorithmic acceleration of a freedom at the end, less the true one; of a method that has such.
    pub fn algorithmic(&self, tree: &Tree, id: usize) -> f64 {
        (tree.rates[id] - self.plain_rates[id]) * self.per_gain - tree.given[id]
    }

    /// Whether the method has algorithmic accelerations.
    pub fn steps_rates(&self) -> bool {
        self.steps_rates
    }

    /// What the accelerations at the end are beside those one and two steps before.
    pub fn second_difference(&self, id: usize, end: f64) -> f64 {
        end - 2.0 * self.now.seconds[id] + self.before.seconds[id]
    }
}

fn vector(values: &[f64], ids: &[usize]) -> Vec3 {
    Vec3::new(values[ids[0]], values[ids[1]], values[ids[2]])
}

fn put(values: &mut [f64], ids: &[usize], vector: Vec3) {
    for (k, &id) in ids.iter().enumerate() {
        values[id] = vector[k];
    }
}

/// Goes through the columns of all balls.
fn for_balls(tree: &Tree, mut each: impl FnMut(&[usize])) {
    for link in &tree.layout.links {
        if link.rotation == Rotation::Ball {
            each(link.turns.ids());
        }
    }
}

impl Tree {
    /// Accelerations of the columns that follow others.
    pub(super) fn lead_accelerations(&mut self) {
        for follower in &self.layout.followers {
            self.given[follower.column] = follower.ratio * self.given[follower.freedom];
        }
    }

    /// Reads a record; where its joints are is left in `starts` and `rates`.
    fn read_past(&mut self, records: &[Record], past: &mut Past) {
        past.records.copy_from_slice(records);
        for (motion, record) in past.motions.iter_mut().zip(records) {
            *motion = record.motion;
        }
        self.locate(&past.motions);
        self.read(&past.motions);
        past.starts.copy_from_slice(&self.starts);
        let freedoms = past.rates.len();
        past.rates.copy_from_slice(&self.rates[..freedoms]);
        let true_ones = |record: &Record| [record.acceleration, record.angular_acceleration];
        self.read_accelerations(records, true_ones, &mut past.seconds);
        let algorithmic = |record: &Record| {
            let [linear, angular] = record.algorithmic;
            [linear, record.motion.rotation * angular]
        };
        self.read_accelerations(records, algorithmic, &mut past.algorithmic);
    }

    /// Accelerations of the freedoms from those of the nodes.
    fn read_accelerations(
        &mut self,
        records: &[Record],
        of: impl Fn(&Record) -> [Vec3; 2],
        found: &mut [f64],
    ) {
        for index in 0..self.layout.links.len() {
            let link = &self.layout.links[index];
            let record = &records[link.node];
            let origin = records[self.layout.links[link.root].node].motion.position;
            let node = &record.motion;
            let place = node.position - origin;
            let centre = self.centres[index] - origin;
            let motion = Screw::of_motion(node, place);
            let [a, alpha] = of(record);
            let linear = a - alpha.cross(place) - node.angular_velocity.cross(node.velocity);
            let whole = Screw::new(alpha, linear);
            let (carrier, before) = match link.carrier {
                Some(carrier) => (self.motions[carrier], self.accelerations[carrier]),
                None => (Screw::ZERO, Screw::ZERO),
            };
            for &id in link.turns.ids() {
                self.screws[id] = Screw::turning(self.directions[id], centre);
            }
            let rest =
                whole - before - self.carried_along(index, carrier, motion - carrier, centre);
            for &id in link.turns.ids() {
                if let Some(found) = found.get_mut(id) {
                    *found = self.directions[id].dot(rest.angular);
                }
            }
            let sliding = rest.linear + rest.angular.cross(centre);
            for &id in link.slides.ids() {
                if let Some(found) = found.get_mut(id) {
                    *found = self.directions[id].dot(sliding);
                }
            }
            self.motions[index] = motion;
            self.accelerations[index] = whole;
        }
    }

    /// Adds the ways from the present coordinates to those of another record, weighted.
    fn add_way_back(&self, other: &[Start], weight: f64, values: &mut [f64]) {
        self.for_ways(other, |id, way| {
            if let Some(value) = values.get_mut(id) {
                *value += weight * way;
            }
        });
    }

    /// Adds the rates of these ways, weighted, for the rates of the columns.
    fn add_rates_back(&self, other: &[Start], rates: &[f64], weight: f64, values: &mut [f64]) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let plain = match link.rotation {
                Rotation::Ball => &[][..],
                _ => link.turns.ids(),
            };
            for &id in link.slides.ids().iter().chain(plain) {
                if let Some(value) = values.get_mut(id) {
                    *value += weight * rates[id];
                }
            }
            if link.rotation != Rotation::Ball {
                continue;
            }
            let ids = link.turns.ids();
            let way = ball_way(&self.starts[index], &other[index]);
            let rate = inverse_tangent_times(way, vector(rates, ids));
            for (k, &id) in ids.iter().enumerate() {
                values[id] += weight * rate[k];
            }
        }
    }

    /// The way from the present coordinate to that of another record, column by column.
    fn for_ways(&self, other: &[Start], mut each: impl FnMut(usize, f64)) {
        for (index, link) in self.layout.links.iter().enumerate() {
            let (now, then) = (&self.starts[index], &other[index]);
            for (slot, &id) in link.slides.ids().iter().enumerate() {
                each(id, then.slides[slot] - now.slides[slot]);
            }
            let ids = link.turns.ids();
            match link.rotation {
                Rotation::Locked | Rotation::Given => {}
                Rotation::Hinge => {
                    let [w, .., z] = then.turn.times(now.turn.conjugate()).0;
                    let sign = if w < 0.0 { -1.0 } else { 1.0 };
                    each(ids[0], 2.0 * (sign * z).atan2(sign * w));
                }
                Rotation::Universal { .. } => {
                    for (k, &id) in ids.iter().enumerate() {
                        let (sin, cos) = (then.angles[k] - now.angles[k]).sin_cos();
                        each(id, sin.atan2(cos));
                    }
                }
                Rotation::Ball => {
                    let way = ball_way(now, then);
                    for (k, &id) in ids.iter().enumerate() {
                        each(id, way[k]);
                    }
                }
            }
        }
    }
}

fn ball_way(now: &Start, then: &Start) -> Vec3 {
    then.turn.times(now.turn.conjugate()).log()
}
