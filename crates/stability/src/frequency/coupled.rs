//! All parts together: G(w), whose zeros in |w| < 1 are the growing modes of the coupled step.
//!
//! Large parts are condensed to their response H(w) at their inputs; small ones, as the coupling
//! subsystems of a cut, keep all their unknowns ξ. What a part receives is a filter f(w) times what
//! another sends. G is the determinant of what is left when all inputs are eliminated:
//!
//! ```text
//! A(w) ξ - F Σ f(w) H(w) f(w) C ξ = 0        G(w) = det(...)
//! ```
//!
//! Its poles are those of H, the modes of the condensed parts with their inputs held. Inputs that
//! one condensed part receives from another are unknowns as well.

use nalgebra::Complex;
use oldham_cosim::{
    Entry, InputPort, LEVELS, OutputPort, SequenceInput, SequenceLink, SequenceModel,
    SequenceOutput, SubsystemId, product,
};

use super::band::{BandFamily, Columns};
use super::dense::Square;
use super::operator::{levels, polynomial};

type C = Complex<f64>;

/// Parts up to this size keep all their unknowns ...
const SMALL: usize = 48;
/// ... and those that have little besides their interfaces.
const MOSTLY_INTERFACE: f64 = 1.5;

/// How connections are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// As the run does it.
    AsRun,
    /// Without any delay or error of a prediction: the monolithic step.
    Monolithic,
}

/// A component of an input at one level: value or velocity.
#[derive(Clone, Copy, Debug)]
struct Channel {
    port: InputPort,
    level: usize,
    component: usize,
}

enum Role {
    /// First of its unknowns.
    Kept(usize),
    Condensed(Box<Condensed>),
}

struct Condensed {
    family: BandFamily,
    channels: Vec<Channel>,
    /// For each channel the unknown that it is, if it comes from another condensed part.
    unknown: Vec<Option<usize>>,
}

pub(super) struct Coupled {
    pub models: Vec<SequenceModel>,
    pub links: Vec<SequenceLink>,
    roles: Vec<Role>,
    size: usize,
    /// Rows of kept parts that contain accelerations.
    inertial: Vec<(usize, usize)>,
}

impl Coupled {
    pub fn new(models: Vec<SequenceModel>, links: Vec<SequenceLink>, step: f64) -> Option<Self> {
        let is_known = |link: &SequenceLink| {
            let (sender, receiver) = (&models[link.from.0.0], &models[link.to.0.0]);
            let takes = input(receiver, link.to.1).is_some();
            !takes || output(sender, link.from.1).is_some()
        };
        if !links.iter().all(is_known) {
            return None;
        }
        // Connections that do nothing, such as those of tangents, which have been used already.
        let mut links = links;
        links.retain(|link| input(&models[link.to.0.0], link.to.1).is_some());
        let is_fed = |unit: usize, port: InputPort| {
            links
                .iter()
                .any(|link| link.to == (SubsystemId(unit), port))
        };
        let mut size = 0;
        let mut inertial = Vec::new();
        let mut roles = Vec::new();
        for (unit, model) in models.iter().enumerate() {
            let channels: Vec<Channel> = model
                .inputs
                .iter()
                .filter(|(port, _)| is_fed(unit, *port))
                .flat_map(|(port, input)| channels(*port, input))
                .collect();
            let interface = MOSTLY_INTERFACE * channels.len() as f64;
            let is_small = model.unknowns <= SMALL || model.unknowns as f64 <= interface;
            if is_small && !links.is_empty() {
                let mut rows: Vec<usize> = model
                    .mass
                    .iter()
                    .chain(&model.damping)
                    .map(|entry| entry.0)
                    .collect();
                rows.sort_unstable();
                rows.dedup();
                inertial.extend(rows.into_iter().map(|row| (unit, size + row)));
                roles.push(Role::Kept(size));
                size += model.unknowns;
            } else {
                let rate = 1.0 / step;
                let matrices = [&model.mass[..], &model.damping, &model.stiffness];
                roles.push(Role::Condensed(Box::new(Condensed {
                    family: BandFamily::new(model.unknowns, matrices, [rate * rate, rate]),
                    unknown: vec![None; channels.len()],
                    channels,
                })));
            }
        }
        let is_kept: Vec<bool> = roles
            .iter()
            .map(|role| matches!(role, Role::Kept(_)))
            .collect();
        for (unit, role) in roles.iter_mut().enumerate() {
            let Role::Condensed(condensed) = role else {
                continue;
            };
            for (channel, unknown) in condensed.channels.iter().zip(&mut condensed.unknown) {
                let feeds = |link: &&SequenceLink| link.to == (SubsystemId(unit), channel.port);
                let mut feeding = links.iter().filter(feeds);
                if feeding.any(|link| !is_kept[link.from.0.0]) {
                    *unknown = Some(size);
                    size += 1;
                }
            }
        }
        Some(Self {
            models,
            links,
            roles,
            size,
            inertial,
        })
    }

    /// The condensed parts, with their matrices.
    pub fn condensed(&self) -> impl Iterator<Item = (&SequenceModel, &BandFamily)> {
        let parts = self.models.iter().zip(&self.roles);
        parts.filter_map(|(model, role)| match role {
            Role::Kept(_) => None,
            Role::Condensed(condensed) => Some((model, &condensed.family)),
        })
    }

    /// Whether all poles are found, however far from the circle.
    pub fn has_all_poles(&self) -> bool {
        let is_condensed = |role: &Role| matches!(role, Role::Condensed(_));
        self.roles.iter().all(is_condensed) && self.models.iter().all(super::held::is_small)
    }

    /// Whether the poles of all condensed parts follow from their modes: velocities and
    /// accelerations come from the same formula.
    pub fn has_known_poles(&self) -> bool {
        self.condensed().all(|(model, _)| {
            let [above, below] = &model.operator.velocity;
            model.operator.acceleration == [product(above, above), product(below, below)]
        })
    }

    /// Unknowns of all parts together.
    pub fn unknowns(&self) -> usize {
        self.models.iter().map(|model| model.unknowns).sum()
    }

    /// About how many multiplications one evaluation takes.
    pub fn work(&self) -> f64 {
        let parts = self.roles.iter().map(|role| match role {
            Role::Kept(_) => 0.0,
            Role::Condensed(part) => {
                part.family.work() + part.channels.len() as f64 * part.family.solve_work()
            }
        });
        parts.sum::<f64>() + (self.size as f64).powi(3) / 3.0
    }

    /// log G.
    pub fn log_determinant(&self, w: C, exchange: Exchange) -> C {
        self.matrix(w, exchange).log_determinant()
    }

    /// For each connection, how much of a mode passes it: the product of what is sent and what is
    /// answered is largest where the exchange does most.
    pub fn traffic(&self, w: C) -> Vec<f64> {
        let evaluated = self.evaluate(w, Exchange::AsRun);
        let mode = evaluated.matrix.null_vector();
        let of = |row: &[(usize, C)]| row.iter().map(|&(i, value)| mode[i] * value).sum::<C>();
        let strength = |rows: &Rows| rows.iter().map(|row| of(row).norm_sqr()).sum::<f64>();
        evaluated.received.iter().map(strength).collect()
    }

    fn matrix(&self, w: C, exchange: Exchange) -> Square {
        self.evaluate(w, exchange).matrix
    }

    fn evaluate(&self, w: C, exchange: Exchange) -> Evaluated {
        let operators: Vec<[C; 3]> = self
            .models
            .iter()
            .map(|model| levels(&model.operator, w))
            .collect();
        // What each condensed part sends, as functions of the unknowns.
        let mut sent: Vec<Vec<(OutputPort, Rows)>> = Vec::new();
        for (unit, role) in self.roles.iter().enumerate() {
            sent.push(match role {
                Role::Kept(first) => self.sent_by_kept(unit, *first, &operators[unit]),
                Role::Condensed(part) => {
                    self.sent_by_condensed(unit, part, w, exchange, &operators)
                }
            });
        }
        let signal = |link: &SequenceLink, level: usize| -> Rows {
            let sender = link.from.0.0;
            let (_, rows) = sent[sender]
                .iter()
                .find(|(port, _)| *port == link.from.1)
                .expect("all that is sent is known");
            let factor = self.filter(link, w, exchange, &operators[sender])[level];
            scaled(rows, factor)
        };
        let mut matrix = Square::zeros(self.size);
        for (unit, role) in self.roles.iter().enumerate() {
            let [_, v, a] = operators[unit];
            match role {
                Role::Kept(first) => {
                    let model = &self.models[unit];
                    let mut add = |entries: &[Entry], factor: C| {
                        for &(row, column, value) in entries {
                            matrix.add(first + row, first + column, factor * value);
                        }
                    };
                    add(&model.mass, a);
                    add(&model.damping, v);
                    add(&model.stiffness, C::new(1.0, 0.0));
                    for link in self.links_to(unit) {
                        let kind = input(model, link.to.1).expect("only such links are kept");
                        let value = signal(link, 0);
                        self.act(&mut matrix, (unit, *first), kind, [v, a], &value, || {
                            signal(link, 1)
                        });
                    }
                }
                Role::Condensed(part) => {
                    for (channel, unknown) in part.channels.iter().zip(&part.unknown) {
                        let Some(row) = *unknown else { continue };
                        matrix.add(row, row, C::new(1.0, 0.0));
                        for link in self.links_to(unit) {
                            if link.to.1 != channel.port {
                                continue;
                            }
                            for &(column, value) in &signal(link, channel.level)[channel.component]
                            {
                                matrix.add(row, column, -value);
                            }
                        }
                    }
                }
            }
        }
        // Accelerations have poles where the formula has; these are no modes.
        for &(unit, row) in &self.inertial {
            let below = &self.models[unit].operator.acceleration[1];
            matrix.scale_row(row, polynomial(below, w) / below[0]);
        }
        let received = self.links.iter().map(|link| signal(link, 0)).collect();
        Evaluated { matrix, received }
    }

    fn links_to(&self, unit: usize) -> impl Iterator<Item = &SequenceLink> {
        self.links.iter().filter(move |link| link.to.0.0 == unit)
    }

    /// What the receiver makes of the sender's value, for each level that it uses.
    fn filter(
        &self,
        link: &SequenceLink,
        w: C,
        exchange: Exchange,
        sender: &[C; 3],
    ) -> [C; LEVELS] {
        let model = &self.models[link.from.0.0];
        let shown = output(model, link.from.1).expect("all that is sent is known");
        if exchange == Exchange::Monolithic {
            return match shown.is_motion {
                true => *sender,
                false => [C::new(1.0, 0.0), C::default(), C::default()],
            };
        }
        let mut factors = [C::default(); LEVELS];
        let mut delay = C::new(1.0, 0.0);
        for tap in &link.taps {
            for (row, factor) in tap.iter().zip(&mut factors) {
                let levels = if shown.is_motion { LEVELS } else { 1 };
                for level in 0..levels {
                    *factor += delay * sender[level] * row[level];
                }
            }
            delay *= w;
        }
        factors
    }

    fn sent_by_kept(
        &self,
        unit: usize,
        first: usize,
        operator: &[C; 3],
    ) -> Vec<(OutputPort, Rows)> {
        let shown = |(port, output): &(OutputPort, SequenceOutput)| {
            let mut rows: Rows = vec![Vec::new(); output.width];
            for &(component, unknown, value, order) in &output.entries {
                rows[component].push((first + unknown, operator[order] * value));
            }
            (*port, rows)
        };
        let outputs = self.models[unit].outputs.iter();
        outputs
            .filter(|(port, _)| self.is_sent(unit, *port))
            .map(shown)
            .collect()
    }

    fn is_sent(&self, unit: usize, port: OutputPort) -> bool {
        let from = (SubsystemId(unit), port);
        self.links.iter().any(|link| link.from == from)
    }

    fn sent_by_condensed(
        &self,
        unit: usize,
        part: &Condensed,
        w: C,
        exchange: Exchange,
        operators: &[[C; 3]],
    ) -> Vec<(OutputPort, Rows)> {
        let model = &self.models[unit];
        let [_, v, a] = operators[unit];
        let response = self.response(model, part, [v, a]);
        // What the channels are, as functions of the unknowns.
        let sources: Vec<Vec<(usize, C)>> = part
            .channels
            .iter()
            .zip(&part.unknown)
            .map(|(channel, unknown)| match unknown {
                Some(unknown) => vec![(*unknown, C::new(1.0, 0.0))],
                None => self.kept_source(unit, channel, w, exchange, operators),
            })
            .collect();
        let outputs = model.outputs.iter();
        outputs
            .filter(|(port, _)| self.is_sent(unit, *port))
            .map(|(port, output)| {
                let row = |component: usize| {
                    let mut row = vec![C::default(); self.size];
                    for &(of, unknown, value, order) in &output.entries {
                        if of != component {
                            continue;
                        }
                        for (k, source) in sources.iter().enumerate() {
                            let answer = response.get(unknown, k) * operators[unit][order] * value;
                            for &(i, factor) in source {
                                row[i] += answer * factor;
                            }
                        }
                    }
                    row.into_iter()
                        .enumerate()
                        .filter(|(_, value)| *value != C::default())
                        .collect()
                };
                (*port, (0..output.width).map(row).collect())
            })
            .collect()
    }

    /// The unknowns of a condensed part for a unit value at each of its channels.
    fn response(&self, model: &SequenceModel, part: &Condensed, [v, a]: [C; 2]) -> Columns {
        let mut loads = Columns::zeros(model.unknowns, part.channels.len());
        for (k, channel) in part.channels.iter().enumerate() {
            let kind = input(model, channel.port).expect("channels are of inputs");
            match kind {
                SequenceInput::Load(rows) => {
                    loads.add(rows[channel.component], k, C::new(1.0, 0.0));
                }
                SequenceInput::Pose {
                    rows,
                    node,
                    with_velocity,
                } => {
                    if channel.level == 0 {
                        loads.add(rows[channel.component], k, C::new(1.0, 0.0));
                    }
                    if *with_velocity {
                        let column = node[channel.component];
                        let (by_velocity, by_acceleration) = velocity_weights(channel.level, v, a);
                        let mut add = |entries: &[Entry], factor: C| {
                            for &(row, _, value) in entries.iter().filter(|e| e.1 == column) {
                                loads.add(row, k, -factor * value);
                            }
                        };
                        add(&model.damping, by_velocity);
                        add(&model.mass, by_acceleration);
                    }
                }
            }
        }
        part.family.factor(a, v).solve(&mut loads);
        loads
    }

    /// A channel that kept parts feed, as a function of the unknowns.
    fn kept_source(
        &self,
        unit: usize,
        channel: &Channel,
        w: C,
        exchange: Exchange,
        operators: &[[C; 3]],
    ) -> Vec<(usize, C)> {
        let mut row = Vec::new();
        for link in self.links_to(unit).filter(|link| link.to.1 == channel.port) {
            let sender = link.from.0.0;
            let Role::Kept(first) = self.roles[sender] else {
                unreachable!("it would be an unknown");
            };
            let factor = self.filter(link, w, exchange, &operators[sender])[channel.level];
            let shown = output(&self.models[sender], link.from.1).expect("it is known");
            for &(component, unknown, value, order) in &shown.entries {
                if component == channel.component {
                    row.push((first + unknown, factor * operators[sender][order] * value));
                }
            }
        }
        row
    }

    /// Takes what an input does to a kept part to the left-hand side.
    fn act(
        &self,
        matrix: &mut Square,
        (unit, first): (usize, usize),
        kind: &SequenceInput,
        [v, a]: [C; 2],
        value: &Rows,
        velocity: impl Fn() -> Rows,
    ) {
        let (SequenceInput::Load(rows) | SequenceInput::Pose { rows, .. }) = kind;
        for (row, signal) in rows.iter().zip(value) {
            for &(column, factor) in signal {
                matrix.add(first + row, column, -factor);
            }
        }
        if let SequenceInput::Pose {
            node,
            with_velocity: true,
            ..
        } = kind
        {
            let velocity = velocity();
            let model = &self.models[unit];
            for (level, signal) in [value, &velocity].into_iter().enumerate() {
                let (by_velocity, by_acceleration) = velocity_weights(level, v, a);
                for (component, unknown) in node.iter().enumerate() {
                    let mut add = |entries: &[Entry], factor: C| {
                        for &(row, _, value) in entries.iter().filter(|e| e.1 == *unknown) {
                            for &(column, part) in &signal[component] {
                                matrix.add(first + row, column, factor * value * part);
                            }
                        }
                    };
                    add(&model.damping, by_velocity);
                    add(&model.mass, by_acceleration);
                }
            }
        }
    }
}

/// A node with prescribed velocity u moves with u instead of v(w) x: what that adds to damping and
/// inertia, by its position and by its velocity.
fn velocity_weights(level: usize, v: C, a: C) -> (C, C) {
    match level {
        0 => (-v, -a),
        _ => (C::new(1.0, 0.0), v),
    }
}

struct Evaluated {
    matrix: Square,
    /// What passes each connection.
    received: Vec<Rows>,
}

/// Components as sparse functions of the unknowns.
type Rows = Vec<Vec<(usize, C)>>;

fn scaled(rows: &Rows, factor: C) -> Rows {
    let row = |row: &Vec<(usize, C)>| row.iter().map(|&(i, x)| (i, x * factor)).collect();
    rows.iter().map(row).collect()
}

fn channels(port: InputPort, input: &SequenceInput) -> Vec<Channel> {
    let (width, levels) = match input {
        SequenceInput::Load(rows) => (rows.len(), 1),
        SequenceInput::Pose {
            rows,
            with_velocity,
            ..
        } => (rows.len(), 1 + usize::from(*with_velocity)),
    };
    let channel = |level: usize| {
        (0..width).map(move |component| Channel {
            port,
            level,
            component,
        })
    };
    (0..levels).flat_map(channel).collect()
}

fn input(model: &SequenceModel, port: InputPort) -> Option<&SequenceInput> {
    let found = model.inputs.iter().find(|(known, _)| *known == port);
    found.map(|(_, input)| input)
}

fn output(model: &SequenceModel, port: OutputPort) -> Option<&SequenceOutput> {
    let found = model.outputs.iter().find(|(known, _)| *known == port);
    found.map(|(_, output)| output)
}
