//! All parts together: the determinant whose zeros in |w| < 1 are the growing modes of the coupled
//! step.
//!
//! Each part contributes A(w) = a(w) M + v(w) D + K on its diagonal; what it receives is a filter
//! f(w) times what another part sends, and couples the two. All of it is one sparse matrix, whose
//! elimination is as stable as that of the monolithic structure. (Condensing the parts to their
//! interfaces first is not: where a part with its inputs held has a mode near the circle, its
//! response is large and its determinant small, and the product of both is rounding.)

use nalgebra::Complex;
use oldham_cosim::{
    Entry, InputPort, LEVELS, OutputPort, SequenceInput, SequenceLink, SequenceModel,
    SequenceOutput, TurningBlock, TurningRate,
};

use super::Rotation;
use super::band::{BandFamily, Columns};
use super::elimination::Entries;
use super::operator::{levels, polynomial};
use super::turned::{Steady, Three, Turned};

type C = Complex<f64>;

/// A delay with nothing special about it, by which the pattern of the exchange is found.
const ORDINARY: C = C::new(0.3, 0.4);
/// A unit of all equations in which every number is rounded otherwise.
const OTHER_UNIT: C = C::new(0.83, 0.37);
/// Unknowns of a node.
const PER_NODE: usize = 6;
/// Spin of a node, as a share of the fastest, up to which it does not rotate steadily but moves.
const SLOW: f64 = 0.05;
/// Steps of inverse iteration that find a mode.
const ITERATIONS: usize = 3;

/// How connections are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// As the run does it.
    AsRun,
    /// Without any delay or error of a prediction: the monolithic step.
    Monolithic,
}

/// A connection with what it needs of its receiver.
struct Channel {
    link: SequenceLink,
    /// Where its receiver's velocity is prescribed: for each component the unknown's columns of
    /// damping and mass.
    columns: Vec<[Vec<Entry>; 2]>,
}

/// An entry of a part's matrices, scaled, at its row in the order of elimination.
struct Placed {
    row: u32,
    part: u32,
    mass: f64,
    damping: f64,
    stiffness: f64,
}

pub(super) struct Coupled {
    models: Vec<SequenceModel>,
    channels: Vec<Channel>,
    /// The first unknown of each part.
    first: Vec<usize>,
    family: BandFamily,
    /// The entries of all parts column by column, and where each column begins.
    placed: Vec<Placed>,
    starts: Vec<usize>,
    /// For each part, how many rows have velocities at most, and how many accelerations.
    rated: Vec<[i32; 2]>,
    axes: Axes,
}

/// The axes in which a model is seen.
enum Axes {
    /// Nothing turns.
    Still,
    /// They turn with everything.
    Turning(Steady),
    /// They stand still, while nodes turn: for each part whose nodes do, how each turns.
    Standing(Vec<Option<Vec<NodeTurn>>>),
}

/// How a node turns in axes that stand still.
enum NodeTurn {
    /// By so little in a step that its present angular velocity says it all.
    Slow([f64; 3]),
    /// Steadily, about an axis of its own.
    Fast(Steady),
}

impl NodeTurn {
    fn fast(&self) -> Option<&Steady> {
        match self {
            Self::Slow(_) => None,
            Self::Fast(steady) => Some(steady),
        }
    }
}

impl Coupled {
    /// Nothing where a part does not know what it sends, or how it turns.
    pub fn new(
        mut models: Vec<SequenceModel>,
        links: Vec<SequenceLink>,
        step: f64,
        rotation: Rotation,
    ) -> Option<Self> {
        let axes = match rotation {
            Rotation::None => Axes::Still,
            Rotation::OfAll(turn) => {
                models.iter_mut().try_for_each(turned_model)?;
                Axes::Turning(Steady::new(turn, step))
            }
            Rotation::OfEach => {
                let spins = models.iter().flat_map(|model| &model.spins);
                let slow = SLOW * spins.map(speed).fold(0.0, f64::max);
                let turning = models.iter().map(|model| standing(model, slow, step));
                Axes::Standing(turning.collect())
            }
        };
        let mut channels = Vec::new();
        for link in links {
            let (sender, receiver) = (&models[link.from.0.0], &models[link.to.0.0]);
            // Connections that do nothing, such as those of tangents, which have been used already.
            let Some(kind) = input(receiver, link.to.1) else {
                continue;
            };
            let shown = output(sender, link.from.1)?;
            let is_known = match &axes {
                Axes::Still => true,
                Axes::Turning(_) => can_turn(kind, shown),
                Axes::Standing(turning) => {
                    let [sender, receiver] = [link.from.0, link.to.0].map(|id| &turning[id.0]);
                    !(shows_turning(shown, sender) || follows_turning(kind, receiver))
                }
            };
            if !is_known {
                return None;
            }
            let columns = prescribed_columns(receiver, kind);
            channels.push(Channel { link, columns });
        }
        let mut size = 0;
        let first: Vec<usize> = models
            .iter()
            .map(|model| {
                size += model.unknowns;
                size - model.unknowns
            })
            .collect();
        let rated = models.iter().map(rated).collect();
        if let Axes::Standing(turning) = &axes {
            let turning = models.iter_mut().zip(turning);
            let turning = turning.filter(|(_, turning)| turning.is_some());
            turning
                .map(|(model, _)| turned_model(model))
                .collect::<Option<()>>()?;
        }
        let mut coupled = Self {
            rated,
            family: BandFamily::default(),
            placed: Vec::new(),
            starts: Vec::new(),
            axes,
            models,
            channels,
            first,
        };
        coupled.family = BandFamily::new(size, coupled.pattern(step));
        (coupled.starts, coupled.placed) = coupled.place(size);
        Some(coupled)
    }

    /// All places that are not zero, with typical sizes.
    fn pattern(&self, step: f64) -> Vec<(usize, usize, f64)> {
        let rate = 1.0 / step;
        let mut pattern = Vec::new();
        for (model, &first) in self.models.iter().zip(&self.first) {
            let weighted = [
                (&model.mass, rate * rate),
                (&model.damping, rate),
                (&model.stiffness, 1.0),
            ];
            for (entries, weight) in weighted {
                let sizes = entries.iter().map(|&(row, column, value)| {
                    (first + row, first + column, value.abs() * weight)
                });
                pattern.extend(sizes.filter(|(_, _, size)| *size > 0.0));
            }
        }
        self.turn(ORDINARY, &mut |row, column, value| {
            pattern.push((row, column, value.norm()));
        });
        let operators = self.operators(ORDINARY);
        for exchange in [Exchange::AsRun, Exchange::Monolithic] {
            self.couple(ORDINARY, exchange, &operators, &mut |row, column, value| {
                pattern.push((row, column, value.norm()));
            });
        }
        pattern
    }

    /// The entries of all parts in the order of elimination, those at one place together: where each
    /// column begins, and all of them.
    fn place(&self, size: usize) -> (Vec<usize>, Vec<Placed>) {
        let mut all: Vec<(usize, Placed)> = Vec::new();
        for (part, (model, first)) in self.models.iter().zip(&self.first).enumerate() {
            let kinds = [&model.mass, &model.damping, &model.stiffness];
            for (kind, entries) in kinds.into_iter().enumerate() {
                for &(row, column, value) in entries.iter().filter(|entry| entry.2 != 0.0) {
                    let (row, column, scale) = self.family.slot(first + row, first + column);
                    let of = |wanted: usize| if kind == wanted { value * scale } else { 0.0 };
                    let placed = Placed {
                        row: row as u32,
                        part: part as u32,
                        mass: of(0),
                        damping: of(1),
                        stiffness: of(2),
                    };
                    all.push((column, placed));
                }
            }
        }
        all.sort_by_key(|(column, placed)| (*column, placed.row));
        all.dedup_by(|(column, next), (of, kept)| {
            let is_same = (*column, next.row) == (*of, kept.row);
            if is_same {
                kept.mass += next.mass;
                kept.damping += next.damping;
                kept.stiffness += next.stiffness;
            }
            is_same
        });
        let before = |column: usize| all.partition_point(|(of, _)| *of < column);
        let starts = (0..=size).map(before).collect();
        (starts, all.into_iter().map(|(_, placed)| placed).collect())
    }

    /// Whether everything turns, and is seen from axes that turn along.
    pub fn turns_as_a_whole(&self) -> bool {
        matches!(self.axes, Axes::Turning(_))
    }

    /// Unknowns of all parts together.
    pub fn unknowns(&self) -> usize {
        self.models.iter().map(|model| model.unknowns).sum()
    }

    /// The connections that do something.
    pub fn links(&self) -> impl Iterator<Item = &SequenceLink> {
        self.channels.iter().map(|channel| &channel.link)
    }

    /// The logarithm of the determinant, up to a constant. Rates have poles where the formula has;
    /// these are no modes, and are multiplied away.
    pub fn log_determinant(&self, w: C, exchange: Exchange) -> C {
        self.log_determinant_of(self.matrix(w, exchange), w)
    }

    /// The same with all equations multiplied by a number, which changes nothing but the rounding.
    pub fn log_determinant_rounded_otherwise(&self, w: C) -> C {
        let mut matrix = self.matrix(w, Exchange::AsRun);
        matrix.unit = OTHER_UNIT;
        self.log_determinant_of(matrix, w)
    }

    fn log_determinant_of(&self, matrix: Matrix<'_>, w: C) -> C {
        let mut log = self.family.log_determinant(matrix);
        for (model, rows) in self.models.iter().zip(&self.rated) {
            let below = [&model.operator.velocity[1], &model.operator.acceleration[1]];
            for (below, &rows) in below.iter().zip(rows) {
                log += (polynomial(below, w) / below[0]).ln() * f64::from(rows);
            }
        }
        for (part, model) in self.models.iter().enumerate() {
            let Some(turning) = &model.turning else {
                continue;
            };
            let (operator, formula) = (&model.operator, &turning.formula);
            match &self.axes {
                Axes::Still => {}
                Axes::Turning(steady) => {
                    log += steady.log_poles(operator, formula, w) * turning.nodes as f64;
                }
                Axes::Standing(turns) => {
                    for steady in turns[part].iter().flatten().filter_map(NodeTurn::fast) {
                        log += steady.log_poles_standing(operator, formula, w);
                    }
                }
            }
        }
        log
    }

    /// What follows from changes of poses at the nodes of a part, if any of them turns.
    fn turned(&self, part: usize, w: C) -> Option<TurnedNodes> {
        let model = &self.models[part];
        let turning = model.turning.as_ref()?;
        let (operator, formula) = (&model.operator, &turning.formula);
        match &self.axes {
            Axes::Still => None,
            Axes::Turning(steady) => {
                let turned = steady.operators(operator, formula, w);
                Some(TurnedNodes::Alike(Box::new(turned)))
            }
            Axes::Standing(turns) => {
                let of = |turn: &NodeTurn| match turn {
                    NodeTurn::Slow(spin) => Turned::slowly(operator, w, *spin),
                    NodeTurn::Fast(steady) => steady.standing_operators(operator, formula, w),
                };
                let nodes = turns[part].as_ref()?.iter().map(of);
                Some(TurnedNodes::Each(nodes.collect()))
            }
        }
    }

    /// What velocities and inertia of turning parts contribute.
    fn turn(&self, w: C, add: &mut dyn FnMut(usize, usize, C)) {
        for (part, (model, &first)) in self.models.iter().zip(&self.first).enumerate() {
            let (Some(turning), Some(nodes)) = (&model.turning, self.turned(part, w)) else {
                continue;
            };
            for block in &turning.blocks {
                let values = block_values(block, nodes.of(block.column));
                for i in 0..3 {
                    for j in 0..3 {
                        add(
                            first + block.row + i,
                            first + block.column + j,
                            values[(i, j)],
                        );
                    }
                }
            }
            for &(row, column, value) in &turning.damping {
                let kind = [TurningRate::Velocity, TurningRate::Spin][column / 3 % 2];
                let (i, rate) = (column % 3, nodes.of(column).of(kind));
                for j in 0..3 {
                    add(first + row, first + column - i + j, rate[(i, j)] * value);
                }
            }
        }
    }

    /// The shape of a mode, by inverse iteration: its unknowns, each in a unit of its size.
    pub fn shape(&self, w: C, exchange: Exchange) -> Vec<C> {
        let mode = self.mode(w, exchange);
        let unknowns = 0..self.unknowns();
        let share = |i: usize| mode.get(i, 0) / self.family.unit(i);
        unknowns.map(share).collect()
    }

    fn mode(&self, w: C, exchange: Exchange) -> Columns {
        let factors = self.family.factor(self.matrix(w, exchange));
        let size = self.unknowns();
        let mut mode = Columns::zeros(size, 1);
        (0..size).for_each(|i| mode.add(i, 0, C::new(1.0, 0.3 * (i as f64).sin())));
        for _ in 0..ITERATIONS {
            factors.solve(&mut mode);
            mode.normalise();
        }
        mode
    }

    /// For each connection, how much of a mode passes it.
    pub fn traffic(&self, w: C) -> Vec<f64> {
        let mode = self.mode(w, Exchange::AsRun);
        let operators = self.operators(w);
        let strength = |channel: &Channel| {
            let rows = self.signal(channel, 0, w, Exchange::AsRun, &operators);
            let of = |row: &Vec<(usize, C)>| {
                let parts = row.iter().map(|&(i, value)| mode.get(i, 0) * value);
                parts.sum::<C>().norm_sqr()
            };
            rows.iter().map(of).sum()
        };
        self.channels.iter().map(strength).collect()
    }

    fn operators(&self, w: C) -> Vec<[C; 3]> {
        let models = self.models.iter();
        models.map(|model| levels(&model.operator, w)).collect()
    }

    fn matrix(&self, w: C, exchange: Exchange) -> Matrix<'_> {
        let operators = self.operators(w);
        let mut received = Vec::new();
        let mut receive = |row: usize, column: usize, value: C| {
            let (row, column, scale) = self.family.slot(row, column);
            received.push((row, column, value * scale));
        };
        self.couple(w, exchange, &operators, &mut receive);
        self.turn(w, &mut receive);
        received.sort_by_key(|&(_, column, _)| std::cmp::Reverse(column));
        Matrix {
            coupled: self,
            operators,
            received,
            unit: C::new(1.0, 0.0),
        }
    }

    /// What all parts receive, on the left-hand side.
    fn couple(
        &self,
        w: C,
        exchange: Exchange,
        operators: &[[C; 3]],
        add: &mut dyn FnMut(usize, usize, C),
    ) {
        for channel in &self.channels {
            let (unit, port) = channel.link.to;
            let first = self.first[unit.0];
            let kind = input(&self.models[unit.0], port).expect("only such links are kept");
            let value = self.signal(channel, 0, w, exchange, operators);
            let (SequenceInput::Load(rows) | SequenceInput::Pose { rows, .. }) = kind;
            for (row, signal) in rows.iter().zip(&value) {
                for &(column, factor) in signal {
                    add(first + row, column, -factor);
                }
            }
            if channel.columns.is_empty() {
                continue;
            }
            // A node with prescribed velocity u moves with u instead of v(w) x: what that adds to
            // damping and inertia, by its position and by its velocity.
            let [_, v, a] = operators[unit.0];
            let velocity = self.signal(channel, 1, w, exchange, operators);
            let weighted = [(value, [-v, -a]), (velocity, [C::new(1.0, 0.0), v])];
            for (signal, weights) in weighted {
                for (columns, parts) in channel.columns.iter().zip(&signal) {
                    for (entries, weight) in columns.iter().zip(weights) {
                        for &(row, _, entry) in entries {
                            for &(column, part) in parts {
                                add(first + row, column, weight * part * entry);
                            }
                        }
                    }
                }
            }
        }
    }

    /// What a connection delivers at a level, as functions of the unknowns.
    fn signal(
        &self,
        channel: &Channel,
        level: usize,
        w: C,
        exchange: Exchange,
        operators: &[[C; 3]],
    ) -> Rows {
        let (sender, port) = channel.link.from;
        if let Axes::Turning(steady) = &self.axes {
            return self.turned_signal(channel, w, exchange, steady);
        }
        let operator = &operators[sender.0];
        let shown = output(&self.models[sender.0], port).expect("all that is sent is known");
        let factor = filter(&channel.link, shown, w, exchange, operator)[level];
        let mut rows: Rows = vec![Vec::new(); shown.width];
        for &(component, unknown, value, order) in &shown.entries {
            let column = self.first[sender.0] + unknown;
            rows[component].push((column, factor * operator[order] * value));
        }
        rows
    }
}

impl Coupled {
    /// What a connection delivers of something that turns: loads, or a pose.
    fn turned_signal(&self, channel: &Channel, w: C, exchange: Exchange, steady: &Steady) -> Rows {
        let (sender, port) = channel.link.from;
        let model = &self.models[sender.0];
        let turning = model.turning.as_ref().expect("all parts turn");
        let shown = output(model, port).expect("all that is sent is known");
        let turned = steady.operators(&model.operator, &turning.formula, w);
        let first = self.first[sender.0];
        let mut sent: Rows = vec![Vec::new(); shown.width];
        for &(component, unknown, value, order) in &shown.entries {
            if order == 0 {
                sent[component].push((first + unknown, C::from(value)));
            }
        }
        let load = turning.loads.iter().find(|(of, _)| *of == port);
        if let Some(&(_, node)) = load {
            let own = turning.blocks.iter();
            for block in own.filter(|block| (node..node + 6).contains(&block.row)) {
                let values = block_values(block, &turned);
                for i in 0..3 {
                    let row = &mut sent[block.row - node + i];
                    row.extend((0..3).map(|j| (first + block.column + j, values[(i, j)])));
                }
            }
        }
        let (vectors, rotations) = match exchange {
            Exchange::Monolithic => (Three::identity(), Three::identity()),
            Exchange::AsRun => {
                let of_delay = |delay: C| {
                    let sender = levels(&model.operator, delay);
                    filter(&channel.link, shown, delay, exchange, &sender)[0]
                };
                let vectors = steady.of_vectors(w, of_delay);
                let rotations = match shown.is_motion {
                    true => steady.of_orientations(w, &channel.link.turned, &turned),
                    false => vectors,
                };
                (vectors, rotations)
            }
        };
        let mut rows: Rows = vec![Vec::new(); shown.width];
        for (half, matrix) in [vectors, rotations].into_iter().enumerate() {
            for i in 0..3 {
                for j in 0..3 {
                    let factor = matrix[(i, j)];
                    let part = sent[3 * half + j].iter();
                    rows[3 * half + i]
                        .extend(part.map(|&(column, value)| (column, factor * value)));
                }
            }
        }
        rows
    }
}

/// What follows from changes of poses at the nodes of a part.
enum TurnedNodes {
    Alike(Box<Turned>),
    Each(Vec<Turned>),
}

impl TurnedNodes {
    /// At the node of an unknown.
    fn of(&self, unknown: usize) -> &Turned {
        match self {
            Self::Alike(turned) => turned,
            Self::Each(nodes) => &nodes[unknown / PER_NODE],
        }
    }
}

/// How each node of a part turns in axes that stand still; nothing where none does.
fn standing(model: &SequenceModel, slow: f64, step: f64) -> Option<Vec<NodeTurn>> {
    let of = |spin: &[f64; 3]| match speed(spin) > slow {
        true => NodeTurn::Fast(Steady::new(spin.map(|rate| rate * step), step)),
        false => NodeTurn::Slow(*spin),
    };
    let nodes = || model.spins.iter();
    let turns = nodes().any(|spin| speed(spin) > 0.0);
    turns.then(|| nodes().map(of).collect())
}

fn speed(spin: &[f64; 3]) -> f64 {
    spin.iter().map(|rate| rate * rate).sum::<f64>().sqrt()
}

fn is_turning(unknown: usize, nodes: &Option<Vec<NodeTurn>>) -> bool {
    let mut nodes = nodes.iter().flatten();
    let node = nodes.nth(unknown / PER_NODE);
    node.is_some_and(|turn| turn.fast().is_some())
}

/// Whether an output shows a node that turns: no tap of a connection knows what that does to it.
fn shows_turning(shown: &SequenceOutput, nodes: &Option<Vec<NodeTurn>>) -> bool {
    let mut entries = shown.entries.iter();
    entries.any(|&(_, unknown, _, _)| is_turning(unknown, nodes))
}

/// Whether an input moves a node that turns.
fn follows_turning(kind: &SequenceInput, nodes: &Option<Vec<NodeTurn>>) -> bool {
    match kind {
        SequenceInput::Load(_) => false,
        SequenceInput::Pose { node, .. } => node.iter().any(|&unknown| is_turning(unknown, nodes)),
    }
}

/// Three rows and columns of a turning part at one delay.
fn block_values(block: &TurningBlock, turned: &Turned) -> Three {
    let matrix = Three::from_fn(|i, j| C::from(block.matrix[i][j]));
    let product = matrix * turned.of(block.of);
    match block.is_rate {
        true => turned.of(TurningRate::Velocity) * product,
        false => product,
    }
}

/// A part as it is where it turns: all but positions is left to that. Nothing where that is not known.
fn turned_model(model: &mut SequenceModel) -> Option<()> {
    let turning = model.turning.as_ref()?;
    model.stiffness.clone_from(&turning.stiffness);
    model.mass.clear();
    model.damping.clear();
    Some(())
}

/// Whether a connection is known for things that turn: loads at nodes, and poses of nodes without prescribed
/// velocities.
fn can_turn(kind: &SequenceInput, shown: &SequenceOutput) -> bool {
    let is_moved = |&(component, unknown, _, _): &(usize, usize, f64, usize)| {
        shown.is_motion && component < 3 && unknown % 6 >= 3
    };
    let follows_velocity = matches!(
        kind,
        SequenceInput::Pose {
            with_velocity: true,
            ..
        }
    );
    shown.width == 6 && !follows_velocity && !shown.entries.iter().any(is_moved)
}

/// The matrix of the coupled step at one w, assembled column by column.
struct Matrix<'a> {
    coupled: &'a Coupled,
    operators: Vec<[C; 3]>,
    /// What parts receive: rows, columns and values, the first column last.
    received: Vec<(usize, usize, C)>,
    /// A factor of all equations.
    unit: C,
}

impl Entries for Matrix<'_> {
    #[inline(always)]
    fn add_column(&mut self, column: usize, mut add: impl FnMut(usize, C)) {
        let Coupled { placed, starts, .. } = self.coupled;
        for entry in &placed[starts[column]..starts[column + 1]] {
            let [_, v, a] = self.operators[entry.part as usize];
            let value = a * entry.mass + v * entry.damping + entry.stiffness;
            add(entry.row as usize, self.unit * value);
        }
        while let Some((row, _, value)) = self.received.pop_if(|(_, of, _)| *of == column) {
            add(row, self.unit * value);
        }
    }
}

/// Components as sparse functions of the unknowns.
type Rows = Vec<Vec<(usize, C)>>;

/// What the receiver makes of the sender's value, for each level that it uses.
fn filter(
    link: &SequenceLink,
    shown: &SequenceOutput,
    w: C,
    exchange: Exchange,
    sender: &[C; 3],
) -> [C; LEVELS] {
    if exchange == Exchange::Monolithic {
        return match shown.is_motion {
            true => *sender,
            false => [C::new(1.0, 0.0), C::default(), C::default()],
        };
    }
    let used = if shown.is_motion { LEVELS } else { 1 };
    let mut factors = [C::default(); LEVELS];
    let mut delay = C::new(1.0, 0.0);
    for tap in &link.taps {
        for (row, factor) in tap.iter().zip(&mut factors) {
            for level in 0..used {
                *factor += delay * sender[level] * row[level];
            }
        }
        delay *= w;
    }
    factors
}

/// The columns of damping and mass that belong to a node whose velocity is prescribed.
fn prescribed_columns(model: &SequenceModel, kind: &SequenceInput) -> Vec<[Vec<Entry>; 2]> {
    let SequenceInput::Pose {
        node,
        with_velocity: true,
        ..
    } = kind
    else {
        return Vec::new();
    };
    let of = |unknown: usize, entries: &[Entry]| -> Vec<Entry> {
        let column = entries.iter().filter(|entry| entry.1 == unknown);
        column.copied().collect()
    };
    let both = |&unknown: &usize| [of(unknown, &model.damping), of(unknown, &model.mass)];
    node.iter().map(both).collect()
}

/// How many rows of a part have velocities at most, and how many accelerations.
fn rated(model: &SequenceModel) -> [i32; 2] {
    let mut rates = vec![0; model.unknowns];
    for (entries, rate) in [(&model.damping, 1), (&model.mass, 2)] {
        for &(row, _, _) in entries.iter().filter(|entry| entry.2 != 0.0) {
            rates[row] = rate;
        }
    }
    [1, 2].map(|rate| rates.iter().filter(|&&r| r == rate).count() as i32)
}

fn input(model: &SequenceModel, port: InputPort) -> Option<&SequenceInput> {
    let found = model.inputs.iter().find(|(known, _)| *known == port);
    found.map(|(_, input)| input)
}

fn output(model: &SequenceModel, port: OutputPort) -> Option<&SequenceOutput> {
    let found = model.outputs.iter().find(|(known, _)| *known == port);
    found.map(|(_, output)| output)
}
