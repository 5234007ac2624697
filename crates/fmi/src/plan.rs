//! The ports of an FMU, and how their numbers become those of its variables.
//!
//! Numbers of ports stand behind each other, as the engine has them; behind those there may be numbers that only the FMU
//! has, such as a rotation vector beside the quaternion of a port.

use oldham_cosim::{Conjugate, MOTION_QUATERNION, Ports, Quantity, Unit};
use oldham_space::{Quaternion, V3};

use crate::bundle::{Bundle, BundleError, Member, Side};
use crate::channel::Group;
use crate::description::{Causality, Description, Kind, Variability, Variable};
use crate::part::Setting;

/// Numbers that follow from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Derived {
    /// The rotation vector of a quaternion.
    Vector { quaternion: usize, vector: usize },
    /// The quaternion of a rotation vector.
    Quaternion { vector: usize, quaternion: usize },
    /// A quaternion has length one.
    Unit { quaternion: usize },
    /// The rate of a number, from its difference over the last step.
    Rate { of: usize, rate: usize },
}

impl Derived {
    /// Finds what follows from these numbers at one instant.
    pub fn find(self, values: &mut [f64]) {
        let four = |values: &[f64], at: usize| {
            Quaternion([values[at], values[at + 1], values[at + 2], values[at + 3]])
        };
        match self {
            Self::Vector { quaternion, vector } => {
                let turn = four(values, quaternion).log();
                values[vector..vector + 3].copy_from_slice(&turn.0);
            }
            Self::Quaternion { vector, quaternion } => {
                let turn = V3([values[vector], values[vector + 1], values[vector + 2]]);
                values[quaternion..quaternion + 4].copy_from_slice(&Quaternion::exp(turn).0);
            }
            Self::Unit { quaternion } => {
                let four = &mut values[quaternion..quaternion + 4];
                let length = four.iter().map(|q| q * q).sum::<f64>().sqrt();
                four.iter_mut().for_each(|q| *q /= length);
            }
            Self::Rate { .. } => {}
        }
    }
}

/// Ports and what belongs to them in one direction.
#[derive(Default)]
pub(crate) struct Way {
    /// Variables by kind, with the places of their numbers.
    pub groups: Vec<Group>,
    /// What follows from other numbers.
    pub derived: Vec<Derived>,
    /// Numbers of ports and those behind them.
    pub width: usize,
}

/// The ports of an FMU, its variables in their order, and what has no port.
pub(crate) struct Plan {
    pub ports: Ports,
    pub received: Way,
    pub sent: Way,
    pub notes: Vec<String>,
}

/// Where the numbers of a variable are, and with which sign.
struct Placed<'d> {
    variable: &'d Variable,
    places: Vec<usize>,
    sign: f64,
    /// Components of ports that depend on them.
    shown: Vec<usize>,
}

/// The quantity of a port, or why a variable has none.
fn quantity(variable: &Variable) -> Result<Quantity, &'static str> {
    let unit = || variable.conversion.unit.clone();
    match (variable.width(), variable.dimensions.len()) {
        (None, _) => Err("its length is a structural parameter"),
        (Some(_), 2..) => Err("it is an array of several dimensions"),
        (Some(n), 1) if variable.kind.is_real() => Ok(Quantity::Array(unit(), n)),
        (Some(_), 1) => Err("it is an array of other numbers than reals"),
        _ => match variable.kind {
            Kind::Float64 | Kind::Float32 => Ok(Quantity::Scalar(unit())),
            Kind::Whole(..) | Kind::Enumeration(_) => Ok(Quantity::Whole),
            Kind::Boolean => Ok(Quantity::Flag),
            Kind::String => Err("it is a string"),
            Kind::Binary => Err("it is binary"),
            Kind::Clock => Err("it is a clock"),
        },
    }
}

impl Plan {
    /// The ports of an FMU: bundles first, then all other inputs and outputs by their names.
    pub fn of(
        description: &Description,
        settings: &[(String, Setting)],
        bundles: &[Bundle],
    ) -> Result<Self, (usize, BundleError)> {
        let mut maker = Maker {
            ports: Ports::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            received: Vec::new(),
            sent: Vec::new(),
            extra: [0, 0],
            notes: Vec::new(),
        };
        for (index, bundle) in bundles.iter().enumerate() {
            let wrong = |error| (index, error);
            let resolved = bundle.resolve(description).map_err(wrong)?;
            let (name, motion, force) = (&resolved.name, &resolved.motion, &resolved.force);
            let sides = [motion, force].map(|side| side.as_ref());
            for side in sides.into_iter().flatten() {
                maker.check_free(side, settings).map_err(wrong)?;
                let port = port_name(name, side);
                if description.variable(&port).is_some() {
                    let message = format!("the FMU has a variable `{port}` already");
                    let help = Some("choose another name for the port".to_owned());
                    let error = BundleError {
                        role: None,
                        message,
                        help,
                    };
                    return Err(wrong(error));
                }
                maker.bundle(&port, side);
            }
            maker.conjugate(name, motion.as_ref(), force.as_ref());
        }
        // What is given in the model needs no port.
        let is_given =
            |variable: &Variable| settings.iter().any(|(name, _)| *name == variable.name);
        for variable in description.of(Causality::Input) {
            if !is_given(variable) && !holds(&maker.inputs, variable) {
                maker.input(variable);
            }
        }
        for variable in description.of(Causality::Output) {
            if !holds(&maker.outputs, variable) {
                maker.output(variable);
            }
        }
        Ok(maker.finish(description))
    }
}

/// The name of a port of a bundle.
pub(crate) fn port_name(bundle: &str, side: &Side<'_>) -> String {
    let what = match &side.quantity {
        Quantity::Wrench => "wrench",
        Quantity::Scalar(unit) if *unit == Unit::NEWTON_METRE => "moment",
        Quantity::Scalar(_) => "force",
        _ => "motion",
    };
    format!("{bundle}.{what}")
}

/// Whether a variable has its place already.
fn holds(placed: &[Placed<'_>], variable: &Variable) -> bool {
    placed.iter().any(|one| one.variable.name == variable.name)
}

struct Maker<'d> {
    ports: Ports,
    inputs: Vec<Placed<'d>>,
    outputs: Vec<Placed<'d>>,
    received: Vec<Derived>,
    sent: Vec<Derived>,
    /// Numbers behind those of the ports: of inputs and of outputs.
    extra: [usize; 2],
    notes: Vec<String>,
}

/// Places behind those of the ports, before it is known how many those are.
const BEHIND: usize = 1 << 40;

impl<'d> Maker<'d> {
    fn leave_out(&mut self, variable: &Variable, reason: &str) {
        let name = &variable.name;
        self.notes.push(format!("`{name}` has no port: {reason}"));
    }

    fn input(&mut self, variable: &'d Variable) {
        let quantity = match quantity(variable) {
            Ok(quantity) => quantity,
            Err(reason) => return self.leave_out(variable, reason),
        };
        let initial = initial(variable, quantity.width());
        let name = variable.name.as_str();
        let port = self.ports.add_input_with(name, quantity, initial);
        let places: Vec<usize> = self.ports.input_range(port).collect();
        self.inputs.push(Placed {
            variable,
            shown: places.clone(),
            places,
            sign: 1.0,
        });
    }

    fn output(&mut self, variable: &'d Variable) {
        let quantity = match quantity(variable) {
            Ok(quantity) => quantity,
            Err(reason) => return self.leave_out(variable, reason),
        };
        let port = self.ports.add_output(variable.name.as_str(), quantity);
        if variable.variability == Variability::Discrete {
            self.ports.declare_held(port);
        }
        let places: Vec<usize> = self.ports.output_range(port).collect();
        self.outputs.push(Placed {
            variable,
            shown: places.clone(),
            places,
            sign: 1.0,
        });
    }

    fn check_free(
        &self,
        side: &Side<'_>,
        settings: &[(String, Setting)],
    ) -> Result<(), BundleError> {
        let vector = side.rotation_vector.iter().flatten();
        let runs = side.runs.iter().flat_map(|run| &run.members);
        for member in runs.chain(vector) {
            let variable = member.variable;
            let taken = [&self.inputs, &self.outputs];
            let message = if taken.iter().any(|placed| holds(placed, variable)) {
                format!("`{}` is in another bundle already", variable.name)
            } else if settings.iter().any(|(name, _)| *name == variable.name)
                && variable.causality == Causality::Input
            {
                format!("`{}` is given in `parameters` already", variable.name)
            } else {
                continue;
            };
            return Err(BundleError {
                role: None,
                message,
                help: None,
            });
        }
        Ok(())
    }

    fn bundle(&mut self, name: &str, side: &Side<'d>) {
        let start = match side.is_input {
            true => {
                let port = self
                    .ports
                    .add_input_with(name, side.quantity.clone(), initial_of(side));
                self.ports.input_range(port).start
            }
            false => {
                let port = self.ports.add_output(name, side.quantity.clone());
                self.ports.output_range(port).start
            }
        };
        for run in &side.runs {
            let mut place = start + run.start;
            for member in &run.members {
                let width = member.variable.width().unwrap_or(1);
                let places: Vec<usize> = (place..place + width).collect();
                place += width;
                self.place(side, member, places.clone(), places);
            }
        }
        let quaternion = start + MOTION_QUATERNION.start;
        let derived = match side.is_input {
            true => &mut self.received,
            false => &mut self.sent,
        };
        if let Some(members) = &side.rotation_vector {
            let extra = &mut self.extra[usize::from(!side.is_input)];
            let vector = BEHIND + *extra;
            *extra += 3;
            derived.push(match side.is_input {
                true => Derived::Vector { quaternion, vector },
                false => Derived::Quaternion { vector, quaternion },
            });
            let mut place = vector;
            for member in members {
                let width = member.variable.width().unwrap_or(1);
                let places = (place..place + width).collect();
                place += width;
                let shown = (quaternion..quaternion + 4).collect();
                self.place(side, member, places, shown);
            }
        } else if side.quantity == Quantity::Motion && !side.is_input {
            derived.push(Derived::Unit { quaternion });
        }
        for &(rate, of) in &side.differentiated {
            self.sent.push(Derived::Rate {
                of: start + of,
                rate: start + rate,
            });
        }
        if !side.differentiated.is_empty() {
            self.notes.push(format!(
                "`{name}` has no acceleration: it is found from differences of the velocity"
            ));
        }
    }

    fn place(
        &mut self,
        side: &Side<'_>,
        member: &Member<'d>,
        places: Vec<usize>,
        shown: Vec<usize>,
    ) {
        let placed = Placed {
            variable: member.variable,
            places,
            sign: member.sign,
            shown,
        };
        match side.is_input {
            true => self.inputs.push(placed),
            false => self.outputs.push(placed),
        }
    }

    fn conjugate(&mut self, name: &str, motion: Option<&Side<'_>>, force: Option<&Side<'_>>) {
        let (Some(motion), Some(force)) = (motion, force) else {
            return;
        };
        let names = [port_name(name, motion), port_name(name, force)];
        let [motion, force] = names.each_ref();
        let ports = &mut self.ports;
        let pair = match (ports.input(motion), ports.output(force)) {
            (Some(motion), Some(force)) => Conjugate::GivesForce { motion, force },
            _ => match (ports.input(force), ports.output(motion)) {
                (Some(force), Some(motion)) => Conjugate::GivesMotion { force, motion },
                _ => return,
            },
        };
        ports.conjugate(pair);
    }

    fn finish(mut self, description: &Description) -> Plan {
        self.feed_through(description);
        let widths = [self.ports.input_width(), self.ports.output_width()];
        let way = |placed: &[Placed<'_>], derived: &[Derived], direction: usize| {
            let behind = |place: usize| match place.checked_sub(BEHIND) {
                Some(extra) => widths[direction] + extra,
                None => place,
            };
            let moved = |derived: &Derived| match *derived {
                Derived::Vector { quaternion, vector } => Derived::Vector {
                    quaternion,
                    vector: behind(vector),
                },
                Derived::Quaternion { vector, quaternion } => Derived::Quaternion {
                    vector: behind(vector),
                    quaternion,
                },
                other => other,
            };
            let mut groups = Vec::new();
            for one in placed {
                let places = one.places.iter().map(|&place| behind(place));
                Group::add(&mut groups, one.variable, places, one.sign);
            }
            Way {
                groups,
                derived: derived.iter().map(moved).collect(),
                width: widths[direction] + self.extra[direction],
            }
        };
        Plan {
            received: way(&self.inputs, &self.received, 0),
            sent: way(&self.outputs, &self.sent, 1),
            notes: self.notes,
            ports: self.ports,
        }
    }

    /// Declares which outputs depend on which inputs at once.
    fn feed_through(&mut self, description: &Description) {
        for output in &self.outputs {
            let told = description
                .feedthrough
                .iter()
                .find(|feedthrough| feedthrough.output == output.variable.reference);
            let on = told.and_then(|told| told.on.as_ref());
            for input in &self.inputs {
                if on.is_some_and(|on| !on.contains(&input.variable.reference)) {
                    continue;
                }
                for &shown in &output.shown {
                    for &seen in &input.shown {
                        self.ports.feed_through(shown, seen);
                    }
                }
            }
        }
        for derived in &self.sent {
            if let Derived::Rate { of, rate } = *derived {
                for input in self.ports.direct_inputs(of).to_vec() {
                    self.ports.feed_through(rate, input);
                }
            }
        }
    }
}

/// The value of an input until it receives one.
fn initial(variable: &Variable, width: usize) -> Vec<f64> {
    let text = variable.start.as_deref().unwrap_or_default();
    let parsed = text.split_whitespace().map(|word| match word {
        "true" => 1.0,
        "false" => 0.0,
        word => word.parse().unwrap_or(0.0),
    });
    let mut values: Vec<f64> = parsed
        .map(|value| variable.conversion.to_si(value))
        .collect();
    let last = values.last().copied();
    values.resize(width, last.unwrap_or(variable.conversion.to_si(0.0)));
    values
}

/// The same of a bundle: an orientation starts as none, unless it is given as a quaternion.
fn initial_of(side: &Side<'_>) -> Vec<f64> {
    let mut values = side.quantity.zero();
    for run in &side.runs {
        let mut place = run.start;
        for member in &run.members {
            let width = member.variable.width().unwrap_or(1);
            if member.variable.start.is_some() {
                let given = initial(member.variable, width);
                for (value, given) in values[place..].iter_mut().zip(given) {
                    *value = member.sign * given;
                }
            }
            place += width;
        }
    }
    if side.quantity == Quantity::Motion {
        let four = &values[MOTION_QUATERNION];
        let length = four.iter().map(|q| q * q).sum::<f64>();
        if length == 0.0 {
            values[MOTION_QUATERNION.start] = 1.0;
        }
    }
    values
}
