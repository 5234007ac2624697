//! From elements to one residual vector and one matrix.
//!
//! The unknowns are, node by node, the changes of position and the spins, then the multipliers,
//! element by element. Rows of the ground exist in vectors, after all others, and are ignored.

use crate::body::Inertia;
use crate::cut::{ENTRIES_OF_A_BODY, entries_of_element};
use crate::element::{At, Element, ElementEnergy, ElementId, Jacobian, NOWHERE, Residual, Weights};
use crate::linear::{BlockLu, Destination, Prescribed, SingularPivot, Structure};
use crate::model::{Model, NamedElement};
use crate::node::{Motion, NodeId};
use oldham_space::{Mat3, Quaternion, Vec3};

/// Memory that the matrix of a model and its factors may take.
pub(crate) const MOST_BYTES: u64 = 4_000_000_000;

/// Everything about a model that does not change, laid out for evaluation.
pub(crate) struct Assembly {
    pub inertia: Vec<Inertia>,
    pub gravity: Vec3,
    pub elements: Vec<Placed>,
    /// Elements whose positions drift.
    pub drifting: Vec<usize>,
    /// Elements that give the poses of nodes.
    pub prescribing: Vec<usize>,
    /// For each node: is its pose given?
    pub is_given: Vec<bool>,
    /// Elements that may dissipate or supply energy.
    accounted: Vec<usize>,
    /// Elements whose forces have no potential.
    without_potential: Vec<usize>,
    /// Elements that interpolate rotations between their nodes.
    pub bending: Vec<usize>,
    /// Whether some constraint does not know its time derivatives.
    pub has_unknown_derivatives: bool,
    /// Whether some constraint is on velocities alone.
    pub has_constraints_on_velocities: bool,
    pub node_names: Vec<String>,
    pub constraints: usize,
    /// Number of values that all elements remember.
    pub memory: usize,
    body_destinations: Vec<Destination>,
    /// Elements whose laws change at a limit.
    pub limited: Vec<usize>,
    /// Elements that sensors drive.
    pub measured: Vec<usize>,
    /// Motions as sensors read them: scratch memory.
    pub sensed: Vec<Motion>,
    /// A length that makes forces of moments: the size of the model.
    pub lever: f64,
    /// The force that a unit of each multiplier exerts, where the matrix was last factored.
    pub grips: Vec<f64>,
    /// The largest mass and moment of inertia of a node; one where there is none.
    pub largest_inertia: (f64, f64),
}

/// An element and its place in vectors and matrix.
pub(crate) struct Placed {
    pub name: String,
    pub element: Box<dyn Element>,
    /// First row of each node, then of the multipliers.
    pub rows: Vec<usize>,
    pub multipliers: std::ops::Range<usize>,
    pub memory: std::ops::Range<usize>,
    /// Its place among the elements whose laws change at a limit.
    pub limit: Option<usize>,
    /// Whether sensors drive it.
    pub is_measured: bool,
    /// All nodes whose motion it depends on; only for one that sensors drive.
    pub reads: Vec<NodeId>,
    /// All multipliers that its sensors read.
    pub measured_multipliers: Vec<usize>,
    destinations: Vec<Destination>,
    /// The same for each pair of its blocks and the nodes that it reads.
    pub feedback: Vec<Destination>,
}

impl Placed {
    /// The nodes whose motion it depends on: its own, then those that its sensors read.
    pub fn seen(&self) -> impl Iterator<Item = NodeId> + '_ {
        let own = self.element.nodes().iter();
        own.chain(&self.reads).copied()
    }
}

/// The state at which everything is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct EvaluationPoint<'a> {
    pub time: f64,
    pub motions: &'a [Motion],
    pub multipliers: &'a [f64],
    pub inputs: &'a [f64],
    pub input_time: f64,
    pub load_factor: f64,
    pub memory: &'a [f64],
    pub elapsed: f64,
    /// The laws that are assumed of the elements that have several; the true ones, if it is empty.
    pub regimes: &'a [f64],
}

impl<'a> EvaluationPoint<'a> {
    /// A state with its inputs, under full load, with nothing elapsed.
    #[inline(always)]
    pub fn new(
        time: f64,
        motions: &'a [Motion],
        multipliers: &'a [f64],
        inputs: &'a [f64],
        memory: &'a [f64],
    ) -> Self {
        Self {
            time,
            motions,
            multipliers,
            inputs,
            input_time: time,
            load_factor: 1.0,
            memory,
            elapsed: 0.0,
            regimes: &[],
        }
    }

    /// The same at the end of a step of this length.
    #[inline(always)]
    pub fn after(self, elapsed: f64) -> Self {
        Self { elapsed, ..self }
    }

    /// As a sensor sees it that is no part of any of these elements.
    pub fn outside<'b>(&self, elements: &'b [Placed]) -> At<'b>
    where
        'a: 'b,
    {
        At {
            time: self.time,
            motions: self.motions,
            sensed: self.motions,
            multipliers: &[],
            all_multipliers: self.multipliers,
            inputs: self.inputs,
            input_time: self.input_time,
            load_factor: self.load_factor,
            memory: &[],
            elapsed: self.elapsed,
            assumed: None,
            elements,
            all_memory: self.memory,
        }
    }

    /// As one of these elements sees it.
    pub fn of<'b>(&self, placed: &Placed, elements: &'b [Placed]) -> At<'b>
    where
        'a: 'b,
    {
        At {
            multipliers: &self.multipliers[placed.multipliers.clone()],
            memory: &self.memory[placed.memory.clone()],
            assumed: placed.limit.and_then(|i| self.regimes.get(i).copied()),
            ..self.outside(elements)
        }
    }
}

impl Assembly {
    /// Lays a model out. If its matrix would take more than [`MOST_BYTES`], gives how many it would
    /// take.
    pub fn within_memory(model: Model) -> Result<(Self, BlockLu), u64> {
        let lu = BlockLu::within(structure(&model), MOST_BYTES)?;
        Ok(Self::with_solver(model, lu))
    }

    /// Lays a small model out.
    pub fn new(model: Model) -> (Self, BlockLu) {
        Self::within_memory(model).expect("a small model")
    }

    fn with_solver(model: Model, lu: BlockLu) -> (Self, BlockLu) {
        let nodes = model.nodes.len() - 1;
        let (mut constraints, mut memory) = (0, 0);
        let measured: Vec<(Vec<NodeId>, Vec<usize>)> = model
            .elements
            .iter()
            .map(|named| read(&model, named))
            .collect();
        let mut measured = measured.into_iter();
        let place = |named: NamedElement| {
            let count = named.element.constraints();
            let multipliers = constraints..constraints + count;
            constraints += count;
            let remembered = memory..memory + named.element.memory();
            memory = remembered.end;
            let ground = lu.unknowns();
            let row = |node: &NodeId| node.0.checked_sub(1).map_or(ground, |i| 6 * i);
            let mut rows: Vec<usize> = named.element.nodes().iter().map(row).collect();
            rows.push(6 * nodes + multipliers.start);
            let (reads, measured_multipliers) = measured.next().unwrap_or_default();
            Placed {
                is_measured: named.uses.is_measured,
                reads,
                measured_multipliers,
                name: named.name,
                element: named.element,
                rows,
                multipliers,
                memory: remembered,
                limit: None,
                destinations: Vec::new(),
                feedback: Vec::new(),
            }
        };
        let elements: Vec<Placed> = model.elements.into_iter().map(place).collect();
        let drifts = |&i: &usize| elements[i].element.drifts();
        let drifting = (0..elements.len()).filter(drifts).collect();
        let is_accounted = |&i: &usize| !elements[i].element.is_conservative();
        let accounted = (0..elements.len()).filter(is_accounted).collect();
        let lacks_potential = |&i: &usize| !elements[i].element.has_potential();
        let without_potential = (0..elements.len()).filter(lacks_potential).collect();
        let bends = |&i: &usize| {
            elements[i]
                .element
                .turns(&|_| Quaternion::IDENTITY)
                .is_some()
        };
        let bending = (0..elements.len()).filter(bends).collect();
        let is_unknown = |p: &Placed| !p.multipliers.is_empty() && !p.element.knows_derivatives();
        let mut assembly = Self {
            has_unknown_derivatives: elements.iter().any(is_unknown),
            has_constraints_on_velocities: elements
                .iter()
                .any(|p| !p.element.on_velocities().is_empty()),
            bending,
            inertia: model.nodes.iter().map(|node| node.inertia).collect(),
            gravity: model.gravity,
            elements,
            drifting,
            accounted,
            without_potential,
            is_given: (0..model.nodes.len())
                .map(|i| model.prescribed.iter().any(|(node, _)| node.0 == i))
                .collect(),
            prescribing: model.prescribed.iter().map(|(_, by)| by.0).collect(),
            node_names: model.nodes.into_iter().map(|node| node.name).collect(),
            constraints,
            memory,
            body_destinations: Vec::new(),
            limited: Vec::new(),
            measured: Vec::new(),
            sensed: Vec::new(),
            lever: 1.0,
            grips: vec![0.0; constraints],
            largest_inertia: (1.0, 1.0),
        };
        assembly.largest_inertia = assembly.find_largest_inertia();
        for (index, placed) in assembly.elements.iter_mut().enumerate() {
            if placed.element.has_regimes() {
                placed.limit = Some(assembly.limited.len());
                assembly.limited.push(index);
            }
        }
        let is_measured = |&i: &usize| assembly.elements[i].is_measured;
        assembly.measured = (0..assembly.elements.len()).filter(is_measured).collect();
        assembly.sensed.reserve(assembly.inertia.len());
        assembly.connect(&lu);
        (assembly, lu)
    }

    /// Looks up where the blocks of bodies and elements live in the matrix.
    pub fn connect(&mut self, lu: &BlockLu) {
        let nodes = self.nodes();
        let stored = |row: usize, column: usize| lu.destination(row, column).unwrap_or(NOWHERE);
        self.body_destinations = (0..nodes).map(|i| stored(i, i)).collect();
        let mut border = nodes;
        for placed in &mut self.elements {
            let mut blocks: Vec<Option<usize>> = placed.element.nodes().iter().map(block).collect();
            blocks.push((!placed.multipliers.is_empty()).then_some(border));
            border += usize::from(!placed.multipliers.is_empty());
            placed.destinations.clear();
            for &row in &blocks {
                for &column in &blocks {
                    let pair = row.zip(column);
                    let destination = pair.map_or(NOWHERE, |(r, c)| stored(r, c));
                    placed.destinations.push(destination);
                }
            }
            placed.feedback.clear();
            for &row in &blocks {
                for read in &placed.reads {
                    let pair = row.zip(block(read));
                    let destination = pair.map_or(NOWHERE, |(r, c)| stored(r, c));
                    placed.feedback.push(destination);
                }
            }
        }
    }

    /// Gives up blocks that weak pivots have joined, for another kind of matrix.
    pub fn separate(&mut self, lu: &mut BlockLu) {
        lu.separate();
        self.connect(lu);
    }

    /// Nodes without the ground.
    pub fn nodes(&self) -> usize {
        self.inertia.len() - 1
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        6 * self.nodes() + self.constraints
    }

    /// Length of a residual vector: the unknowns and the ground.
    pub fn residual_length(&self) -> usize {
        self.unknowns() + 6
    }

    /// Matrix entries that elements and bodies touch: an estimate of the work of a step.
    pub fn touched_entries(&self) -> f64 {
        let bodies = self.inertia.iter().filter(|inertia| inertia.mass > 0.0);
        let elements = self.elements.iter();
        let touched = elements.map(|placed| entries_of_element(&*placed.element));
        ENTRIES_OF_A_BODY * bodies.count() as f64 + touched.sum::<f64>()
    }

    /// Adds the forces of all elements and sets the negative violations. Whether some element could not fit a frame of its own.
    pub fn element_residual(&self, at: &EvaluationPoint<'_>, values: &mut [f64]) -> bool {
        let mut misfit = false;
        for placed in &self.elements {
            let mut out = Residual::new(values, &placed.rows);
            placed
                .element
                .residual(&at.of(placed, &self.elements), &mut out);
            misfit |= out.misfit;
        }
        misfit
    }

    /// Sets the negative violations of all constraints. What elements add to the other rows is of
    /// no use.
    pub fn violations(&self, at: &EvaluationPoint<'_>, values: &mut [f64]) {
        for placed in self.elements.iter().filter(|p| !p.multipliers.is_empty()) {
            let mut out = Residual::new(values, &placed.rows);
            placed
                .element
                .residual(&at.of(placed, &self.elements), &mut out);
        }
    }

    /// Lets all elements write what they remember of a state.
    pub fn remember(&self, at: &EvaluationPoint<'_>, memory: &mut [f64]) {
        for placed in self.elements.iter().filter(|p| !p.memory.is_empty()) {
            let range = placed.memory.clone();
            placed
                .element
                .remember(&at.of(placed, &self.elements), &mut memory[range]);
        }
    }

    /// Adds the weights of all bodies.
    pub fn weight(&self, at: &EvaluationPoint<'_>, values: &mut [f64]) {
        let gravity = self.gravity * at.load_factor;
        let nodes = self.inertia.iter().zip(at.motions).skip(1);
        for ((inertia, motion), row) in nodes.zip(values.chunks_exact_mut(6)) {
            let (force, moment) = inertia.weight(motion, gravity);
            for i in 0..3 {
                row[i] += force[i];
                row[3 + i] += moment[i];
            }
        }
    }

    /// Fills and factors the matrix of inertia and elements.
    pub fn factor(
        &mut self,
        lu: &mut BlockLu,
        at: &EvaluationPoint<'_>,
        weights: Weights,
        prescribed: Prescribed,
    ) -> Result<(), SingularPivot> {
        loop {
            let matrix = lu.matrix();
            self.fill(matrix, at, weights, half_spin);
            self.add_feedback(matrix, at, weights);
            self.note_grips(matrix);
            if lu.factor(prescribed)? {
                return Ok(());
            }
            self.connect(lu);
        }
    }

    /// Reads from the matrix what force a unit of each multiplier exerts.
    fn note_grips(&mut self, matrix: &[f64]) {
        for placed in self.elements.iter().filter(|p| !p.multipliers.is_empty()) {
            let blocks = placed.rows.len();
            for (index, multiplier) in placed.multipliers.clone().enumerate() {
                let grip = |node: usize| {
                    let to = placed.destinations[node * blocks + blocks - 1];
                    if to == NOWHERE {
                        return 0.0;
                    }
                    let column = &matrix[to.start + index * to.stride..][..6];
                    let square = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>();
                    let moment = square(&column[3..]) / (self.lever * self.lever);
                    square(&column[..3]).max(moment).sqrt()
                };
                self.grips[multiplier] = (0..blocks - 1).map(grip).fold(0.0, f64::max);
            }
        }
    }

    /// The largest of these multipliers, or of their changes, as a force. Not a number if one is not.
    pub fn largest_force(&self, multipliers: &[f64]) -> f64 {
        let forces = multipliers.iter().zip(&self.grips);
        forces.fold(0.0, |largest, (value, grip)| {
            let force = grip * value.abs();
            if force > largest || force.is_nan() {
                force
            } else {
                largest
            }
        })
    }

    /// Fills and factors a matrix with mass (at least `floor` times the largest) and constraint
    /// gradients only.
    pub fn factor_kinematics(
        &mut self,
        lu: &mut BlockLu,
        at: &EvaluationPoint<'_>,
        floor: f64,
    ) -> Result<(), SingularPivot> {
        let weights = Weights {
            mass: 1.0,
            damping: 0.0,
            stiffness: 0.0,
        };
        self.factor_with_floor(lu, at, weights, floor, 0.0)
    }

    /// Fills and factors the matrix with an inertia of every node of at least `floor` times the
    /// largest, and with `gyration` times its mass besides against rotations.
    pub fn factor_with_floor(
        &mut self,
        lu: &mut BlockLu,
        at: &EvaluationPoint<'_>,
        weights: Weights,
        floor: f64,
        gyration: f64,
    ) -> Result<(), SingularPivot> {
        let (mass, inertia) = self.largest_inertia;
        let least = floor * weights.mass;
        let least = (least * mass, least * inertia);
        loop {
            let matrix = lu.matrix();
            self.fill(matrix, at, weights, half_spin);
            self.add_feedback(matrix, at, weights);
            for (to, node) in self.body_destinations.iter().zip(&self.inertia[1..]) {
                let turning = least.1 + weights.mass * gyration * node.mass;
                for i in 0..6 {
                    let entry = &mut matrix[to.start + i * (to.stride + 1)];
                    *entry += if i < 3 { least.0 } else { turning };
                }
            }
            if lu.factor(Prescribed::Change)? {
                return Ok(());
            }
            self.connect(lu);
        }
    }

    /// The mass of each node but the ground.
    pub fn masses(&self) -> impl Iterator<Item = f64> {
        self.inertia[1..].iter().map(|inertia| inertia.mass)
    }

    fn find_largest_inertia(&self) -> (f64, f64) {
        let largest = |f: &dyn Fn(&Inertia) -> f64| self.inertia.iter().map(f).fold(0.0, f64::max);
        let mass = largest(&|i| i.mass);
        let inertia = largest(&|i| (0..3).map(|k| i.second.0[k][k]).fold(0.0, f64::max));
        let or_one = |value: f64| if value > 0.0 { value } else { 1.0 };
        (or_one(mass), or_one(inertia))
    }

    fn fill(
        &self,
        matrix: &mut [f64],
        at: &EvaluationPoint<'_>,
        weights: Weights,
        spin_coupling: fn(&Motion) -> Mat3,
    ) {
        let gravity = self.gravity * at.load_factor;
        let nodes = self.inertia.iter().zip(at.motions).skip(1);
        for ((inertia, motion), &to) in nodes.zip(&self.body_destinations) {
            let blocks = inertia.jacobian(motion, gravity, weights, spin_coupling(motion));
            add_node_block(matrix, to, &blocks);
        }
        for placed in &self.elements {
            let mut out = Jacobian {
                matrix,
                destinations: &placed.destinations,
                blocks: placed.rows.len(),
            };
            placed
                .element
                .jacobian(&at.of(placed, &self.elements), weights, &mut out);
        }
    }

    /// The same matrix, dense and column by column, for analyses. Time derivatives are those of
    /// continuous time: δω = δφ' - ω × δφ.
    pub fn dense(&self, at: &EvaluationPoint<'_>, weights: Weights) -> Vec<f64> {
        let n = self.unknowns();
        let mut matrix = vec![0.0; n * n];
        let destination = |row: usize, column: usize| {
            let inside = row < n && column < n;
            let start = column * n + row;
            if inside {
                Destination { start, stride: n }
            } else {
                NOWHERE
            }
        };
        for (i, (inertia, motion)) in self.inertia.iter().zip(at.motions).skip(1).enumerate() {
            let gravity = self.gravity * at.load_factor;
            let blocks = inertia.jacobian(motion, gravity, weights, full_spin(motion));
            add_node_block(&mut matrix, destination(6 * i, 6 * i), &blocks);
        }
        for placed in &self.elements {
            let rows = &placed.rows;
            let pairs = rows.iter().flat_map(|&r| rows.iter().map(move |&c| (r, c)));
            let destinations: Vec<Destination> = pairs.map(|(r, c)| destination(r, c)).collect();
            let mut out = Jacobian {
                matrix: &mut matrix,
                destinations: &destinations,
                blocks: rows.len(),
            };
            placed
                .element
                .jacobian(&at.of(placed, &self.elements), weights, &mut out);
        }
        matrix
    }

    /// Energy and powers of all elements.
    pub fn element_energy(&self, at: &EvaluationPoint<'_>) -> ElementEnergy {
        let mut sum = ElementEnergy::default();
        for placed in &self.elements {
            let energy = placed.element.energy(&at.of(placed, &self.elements));
            sum.stored += energy.stored;
            sum.dissipated += energy.dissipated;
            sum.supplied += energy.supplied;
        }
        sum
    }

    /// Leaves elements out of the energy balance of every step: their work is integrated elsewhere.
    pub fn leave_out(&mut self, elements: &[ElementId]) {
        self.accounted
            .retain(|&index| !elements.contains(&ElementId(index)));
    }

    /// Powers that all elements dissipate and supply.
    pub fn powers(&self, at: &EvaluationPoint<'_>) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for &index in &self.accounted {
            let placed = &self.elements[index];
            let [dissipated, supplied] = placed.element.powers(&at.of(placed, &self.elements));
            sum[0] += dissipated;
            sum[1] += supplied;
        }
        sum
    }

    /// Power that elements without a potential take up besides.
    pub fn taken_besides(&self, at: &EvaluationPoint<'_>) -> f64 {
        let elements = self.without_potential.iter().map(|&i| &self.elements[i]);
        elements
            .map(|placed| placed.element.taken_besides(&at.of(placed, &self.elements)))
            .sum()
    }

    /// Force and moment that an element exerts on one of its nodes.
    pub fn wrench(
        &self,
        at: &EvaluationPoint<'_>,
        element: ElementId,
        node: usize,
    ) -> (Vec3, Vec3) {
        let values = local_residual(&self.elements[element.0], at, &self.elements);
        let v = &values[6 * node..];
        (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]))
    }

    /// The first element whose forces or violations are not finite.
    pub fn not_finite(&self, at: &EvaluationPoint<'_>) -> Option<usize> {
        let bad = |placed: &Placed| {
            local_residual(placed, at, &self.elements)
                .iter()
                .any(|v| !v.is_finite())
        };
        self.elements.iter().position(bad)
    }

    /// Name of the node or element to which an unknown belongs.
    pub fn name_of(&self, unknown: usize) -> &str {
        if unknown < 6 * self.nodes() {
            return &self.node_names[unknown / 6 + 1];
        }
        let multiplier = unknown - 6 * self.nodes();
        let owner = self
            .elements
            .iter()
            .find(|p| p.multipliers.contains(&multiplier));
        owner.map_or("ground", |placed| &placed.name)
    }
}

/// Rows that an element may have: a bound that keeps its own residual off the heap.
const MOST_ROWS: usize = 64;

/// The residual of one of these elements: its nodes one after the other, then its constraints.
pub(crate) fn local_residual(
    placed: &Placed,
    at: &EvaluationPoint<'_>,
    elements: &[Placed],
) -> [f64; MOST_ROWS] {
    lone_residual(&*placed.element, &at.of(placed, elements))
}

/// The residual of an element as the only one.
pub(crate) fn lone_residual(element: &dyn Element, at: &At<'_>) -> [f64; MOST_ROWS] {
    let nodes = element.nodes().len();
    assert!(
        6 * nodes + element.constraints() <= MOST_ROWS,
        "element with many nodes"
    );
    let mut values = [0.0; MOST_ROWS];
    let mut rows = [0; MOST_ROWS / 6 + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = 6 * i;
    }
    let mut out = Residual::new(&mut values, &rows[..=nodes]);
    element.residual(at, &mut out);
    values
}

/// In a time step the rotation vector about the last orientation is integrated: to first order
/// in the step, δω = δφ/c - ½ ω × δφ.
fn half_spin(motion: &Motion) -> Mat3 {
    motion.angular_velocity.skew() * -0.5
}

pub(crate) fn full_spin(motion: &Motion) -> Mat3 {
    -motion.angular_velocity.skew()
}

fn add_node_block(matrix: &mut [f64], to: Destination, blocks: &[Mat3; 4]) {
    let mut out = Jacobian {
        matrix,
        destinations: &[to],
        blocks: 1,
    };
    use crate::element::Half::{Angular, Linear};
    let parts = [
        (Linear, Linear),
        (Linear, Angular),
        (Angular, Linear),
        (Angular, Angular),
    ];
    for ((row, column), block) in parts.into_iter().zip(blocks) {
        out.add((0, row), (0, column), *block);
    }
}

fn block(node: &NodeId) -> Option<usize> {
    node.0.checked_sub(1)
}

/// The nodes and multipliers on which an element depends that sensors drive; none for any other.
pub(crate) fn read(model: &Model, named: &NamedElement) -> (Vec<NodeId>, Vec<usize>) {
    if !named.uses.is_measured {
        return Default::default();
    }
    let mut nodes = named.uses.nodes.clone();
    let mut multipliers = Vec::new();
    for element in model.read_by(named) {
        nodes.extend(&model.elements[element.0].uses.nodes);
        let first = model.first_multiplier(element);
        multipliers.extend(first..first + model.elements[element.0].element.constraints());
    }
    nodes.sort_unstable();
    nodes.dedup();
    (nodes, multipliers)
}

fn structure(model: &Model) -> Structure {
    let nodes = model.nodes.len() - 1;
    let mut structure = Structure {
        principal: vec![6; nodes],
        ..Structure::default()
    };
    for (index, named) in model.elements.iter().enumerate() {
        let mut blocks: Vec<usize> = named.element.nodes().iter().filter_map(block).collect();
        // Feedback makes forces at its nodes depend on all nodes that its sensors read.
        blocks.extend(read(model, named).0.iter().filter_map(block));
        blocks.sort_unstable();
        blocks.dedup();
        let constraints = named.element.constraints();
        if constraints > 0 {
            let border = nodes + structure.bordering.len();
            structure.bordering.push((constraints, blocks.clone()));
            if model.prescribed.iter().any(|(_, by)| by.0 == index) {
                structure.prescribed.push((blocks[0], border));
            }
            blocks.push(border);
        }
        structure.cliques.push(blocks);
    }
    structure
}
