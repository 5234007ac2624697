//! Bundles: several variables of an FMU as one port.
//!
//! An FMU has scalars, a mechanism has motions and wrenches. A bundle says which variables are the components of a motion
//! along a line, about an axis or of a node, and which are the force that goes with it. Force and motion of one point are
//! conjugate: the engine balances the energy of their exchange.

use oldham_cosim::{Quantity, Unit};

use crate::description::{Causality, Description, Variable};
use crate::plan::port_name;

/// What the variables of a bundle are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Displacement along a line, or angle about an axis.
    X,
    /// Its velocity.
    V,
    /// Its acceleration.
    A,
    /// Position of a node.
    Position,
    /// Its orientation, as a unit quaternion with the scalar first, or as a rotation vector.
    Orientation,
    /// Its velocity.
    Velocity,
    /// Its angular velocity.
    AngularVelocity,
    /// Its acceleration.
    Acceleration,
    /// Its angular acceleration.
    AngularAcceleration,
    /// A force.
    Force,
    /// A moment.
    Moment,
}

impl Role {
    /// All, as they are written.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::X, "x"),
        (Self::V, "v"),
        (Self::A, "a"),
        (Self::Position, "position"),
        (Self::Orientation, "orientation"),
        (Self::Velocity, "velocity"),
        (Self::AngularVelocity, "angular_velocity"),
        (Self::Acceleration, "acceleration"),
        (Self::AngularAcceleration, "angular_acceleration"),
        (Self::Force, "force"),
        (Self::Moment, "moment"),
    ];

    /// As it is written.
    pub fn word(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(role, _)| *role == self)
            .map_or("", |(_, word)| word)
    }

    fn is_motion(self) -> bool {
        !matches!(self, Self::Force | Self::Moment)
    }

    fn is_of_a_line(self) -> bool {
        matches!(self, Self::X | Self::V | Self::A)
    }
}

/// Variables that are one port, by their names. A name behind a minus sign is taken with the other sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Its name: the motion is the port `NAME.motion`, the force `NAME.force`, `NAME.moment` or `NAME.wrench`.
    pub name: String,
    /// Its variables.
    pub members: Vec<(Role, Vec<String>)>,
}

/// What is wrong with a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct BundleError {
    /// At which of its roles, if at one.
    pub role: Option<Role>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl BundleError {
    fn new(role: Option<Role>, message: impl Into<String>) -> Self {
        Self {
            role,
            message: message.into(),
            help: None,
        }
    }
}

/// A variable in a bundle, which takes as many components as it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'d> {
    pub variable: &'d Variable,
    pub sign: f64,
}

/// Variables behind each other, from a component of the port on.
#[derive(Clone, Debug)]
pub(crate) struct Run<'d> {
    pub start: usize,
    pub members: Vec<Member<'d>>,
}

/// A motion or a force of a bundle.
#[derive(Clone, Debug)]
pub(crate) struct Side<'d> {
    pub quantity: Quantity,
    /// Whether the FMU receives it.
    pub is_input: bool,
    pub runs: Vec<Run<'d>>,
    /// An orientation that is a rotation vector.
    pub rotation_vector: Option<Vec<Member<'d>>>,
    /// Accelerations that the FMU does not send: their components, and those of the velocities that are differentiated.
    pub differentiated: Vec<(usize, usize)>,
}

/// A bundle whose variables are known.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<'d> {
    pub name: String,
    pub motion: Option<Side<'d>>,
    pub force: Option<Side<'d>>,
}

impl Bundle {
    /// The ports that it makes of variables of this description: names, whether the FMU receives them, what they carry.
    pub fn ports(&self, description: &Description) -> Vec<(String, bool, Quantity)> {
        let Ok(resolved) = self.resolve(description) else {
            return Vec::new();
        };
        let sides = [resolved.motion, resolved.force].into_iter().flatten();
        sides
            .map(|side| {
                let name = port_name(&self.name, &side);
                (name, side.is_input, side.quantity)
            })
            .collect()
    }

    fn names(&self, role: Role) -> Option<&Vec<String>> {
        let mut members = self.members.iter();
        members.find(|(other, _)| *other == role).map(|(_, n)| n)
    }

    fn has(&self, role: Role) -> bool {
        self.names(role).is_some()
    }

    /// The variables of a role.
    fn members<'d>(
        &self,
        role: Role,
        description: &'d Description,
    ) -> Result<Vec<Member<'d>>, BundleError> {
        let wrong = |message: String| BundleError::new(Some(role), message);
        let mut found = Vec::new();
        for written in self.names(role).into_iter().flatten() {
            let plain = description.variable(written).map(|v| (v, 1.0));
            let turned = || {
                let name = written.strip_prefix('-')?.trim();
                Some((description.variable(name)?, -1.0))
            };
            let Some((variable, sign)) = plain.or_else(turned) else {
                let names = description.variables.iter().map(|v| v.name.as_str());
                let name = written.trim_start_matches('-');
                let mut error = wrong(format!("the FMU has no variable `{name}`"));
                if let Some(nearest) = oldham_model::nearest(name, names) {
                    error.help = Some(format!("did you mean `{nearest}`?"));
                }
                return Err(error);
            };
            let name = &variable.name;
            if !matches!(variable.causality, Causality::Input | Causality::Output) {
                let message = format!("`{name}` is neither an input nor an output of the FMU");
                return Err(wrong(message));
            }
            if !variable.kind.is_real() {
                let word = variable.kind.word();
                return Err(wrong(format!(
                    "`{name}` is a {word}; ports of motions and forces have reals"
                )));
            }
            if variable.width().is_none() {
                let message = format!("the length of `{name}` is a structural parameter");
                return Err(wrong(message));
            }
            found.push(Member { variable, sign });
        }
        Ok(found)
    }

    /// Finds its variables in a description.
    pub(crate) fn resolve<'d>(
        &self,
        description: &'d Description,
    ) -> Result<Resolved<'d>, BundleError> {
        let of_node = |role: &Role| role.is_motion() && !role.is_of_a_line();
        let roles: Vec<Role> = self.members.iter().map(|(role, _)| *role).collect();
        if let Some(&other) = roles.iter().find(|role| of_node(role))
            && let Some(line) = roles.iter().find(|role| role.is_of_a_line())
        {
            let (line, other) = (line.word(), other.word());
            return Err(BundleError {
                help: Some(
                    "`x`, `v` and `a` are of a line or an axis, `position` and the like of a node"
                        .into(),
                ),
                ..BundleError::new(None, format!("`{line}` conflicts with `{other}`"))
            });
        }
        let motion = match (
            roles.iter().any(|role| role.is_of_a_line()),
            roles.iter().any(of_node),
        ) {
            (true, _) => Some(self.line(description)?),
            (_, true) => Some(self.node(description)?),
            _ => None,
        };
        let force = self.force(description, motion.as_ref().map(|m| &m.quantity))?;
        if motion.is_none() && force.is_none() {
            return Err(BundleError::new(None, "a bundle needs variables"));
        }
        if let (Some(motion), Some(force)) = (&motion, &force)
            && motion.is_input == force.is_input
        {
            let (both, other) = match motion.is_input {
                true => ("inputs", "output"),
                false => ("outputs", "input"),
            };
            return Err(BundleError {
                help: Some(format!(
                    "of a motion and its force one is an {other}; leave one of them out of the bundle"
                )),
                ..BundleError::new(None, format!("motion and force are both {both} of the FMU"))
            });
        }
        Ok(Resolved {
            name: self.name.clone(),
            motion,
            force,
        })
    }

    fn without_velocity(&self, role: Role, of: Role) -> BundleError {
        BundleError {
            role: Some(of),
            message: format!("a bundle with `{}` needs `{}`", of.word(), role.word()),
            help: Some(
                "work is force times velocity, and predictors need rates: let the FMU have it, or connect its variables one by one"
                    .into(),
            ),
        }
    }

    fn line<'d>(&self, description: &'d Description) -> Result<Side<'d>, BundleError> {
        for role in [Role::X, Role::V] {
            if !self.has(role) {
                let there = [Role::X, Role::V, Role::A];
                let there = there.into_iter().find(|role| self.has(*role));
                return Err(self.without_velocity(role, there.unwrap_or(Role::X)));
            }
        }
        let x = self.members(Role::X, description)?;
        let turns = self.has(Role::Moment)
            || x.first()
                .is_some_and(|x| x.variable.conversion.unit == Unit::RADIAN);
        let quantity = match turns {
            true => Quantity::Rotation,
            false => Quantity::Translation,
        };
        self.side(
            quantity,
            &[(Role::X, 0, 1), (Role::V, 1, 1), (Role::A, 2, 1)],
            description,
        )
    }

    fn node<'d>(&self, description: &'d Description) -> Result<Side<'d>, BundleError> {
        let needed = [
            Role::Position,
            Role::Orientation,
            Role::Velocity,
            Role::AngularVelocity,
        ];
        if let Some(missing) = needed.into_iter().find(|role| !self.has(*role)) {
            let there = needed.into_iter().find(|role| self.has(*role));
            return Err(self.without_velocity(missing, there.unwrap_or(Role::Position)));
        }
        let slots = [
            (Role::Position, 0, 3),
            (Role::Orientation, 3, 4),
            (Role::Velocity, 7, 3),
            (Role::AngularVelocity, 10, 3),
            (Role::Acceleration, 13, 3),
            (Role::AngularAcceleration, 16, 3),
        ];
        self.side(Quantity::Motion, &slots, description)
    }

    fn force<'d>(
        &self,
        description: &'d Description,
        motion: Option<&Quantity>,
    ) -> Result<Option<Side<'d>>, BundleError> {
        if !self.has(Role::Force) && !self.has(Role::Moment) {
            return Ok(None);
        }
        let one_of_both = self.has(Role::Force) != self.has(Role::Moment);
        let width = |role: Role| -> Result<usize, BundleError> {
            let members = self.members(role, description)?;
            let widths = members
                .iter()
                .map(|member| member.variable.width().unwrap_or(1));
            Ok(widths.sum())
        };
        let is_single = one_of_both
            && match self.has(Role::Force) {
                true => width(Role::Force)? == 1,
                false => width(Role::Moment)? == 1,
            };
        let is_of_a_line = motion.map_or(is_single, |motion| *motion != Quantity::Motion);
        if is_of_a_line {
            if !one_of_both {
                return Err(BundleError::new(
                    None,
                    "`force` conflicts with `moment`: a motion along a line has a force, one about an axis a moment",
                ));
            }
            let (role, unit) = match self.has(Role::Force) {
                true => (Role::Force, Unit::NEWTON),
                false => (Role::Moment, Unit::NEWTON_METRE),
            };
            if role == Role::Force && motion == Some(&Quantity::Rotation) {
                return Err(BundleError::new(
                    Some(role),
                    "its `x` is an angle, so that it needs `moment` instead of `force`",
                ));
            }
            return self
                .side(Quantity::Scalar(unit), &[(role, 0, 1)], description)
                .map(Some);
        }
        let slots = [(Role::Force, 0, 3), (Role::Moment, 3, 3)];
        self.side(Quantity::Wrench, &slots, description).map(Some)
    }

    /// A port of these roles: their first components, and how many they have.
    fn side<'d>(
        &self,
        quantity: Quantity,
        slots: &[(Role, usize, usize)],
        description: &'d Description,
    ) -> Result<Side<'d>, BundleError> {
        let mut side = Side {
            quantity,
            is_input: false,
            runs: Vec::new(),
            rotation_vector: None,
            differentiated: Vec::new(),
        };
        let mut first: Option<(&Variable, Role)> = None;
        for &(role, start, width) in slots {
            let members = self.members(role, description)?;
            for member in &members {
                let (other, _) = *first.get_or_insert((member.variable, role));
                if other.causality != member.variable.causality {
                    let (a, b) = (&other.name, &member.variable.name);
                    return Err(BundleError::new(
                        Some(role),
                        format!(
                            "`{a}` and `{b}` belong together, but one is an input and the other an output"
                        ),
                    ));
                }
                let unit = &member.variable.conversion.unit;
                let expected = side.quantity.component_unit(start);
                let fits = *unit == expected
                    || *unit == Unit::ONE
                    || (role == Role::Orientation && *unit == Unit::RADIAN);
                if !fits {
                    let name = &member.variable.name;
                    let word = role.word();
                    return Err(BundleError::new(
                        Some(role),
                        format!(
                            "`{name}` is in {unit}; `{word}` of a {} is in {expected}",
                            side.quantity
                        ),
                    ));
                }
            }
            let count: usize = members
                .iter()
                .map(|member| member.variable.width().unwrap_or(1))
                .sum();
            match (role, count) {
                (Role::Orientation, 3) => side.rotation_vector = Some(members),
                (_, count) if count == width => side.runs.push(Run { start, members }),
                (Role::A, 0) => side.differentiated.push((start, start - 1)),
                (Role::Acceleration | Role::AngularAcceleration, 0) => {
                    side.differentiated
                        .extend((start..start + 3).map(|place| (place, place - 6)));
                }
                (Role::Force | Role::Moment, 0) => {}
                (_, count) => {
                    let word = role.word();
                    let wanted = match role {
                        Role::Orientation => "4 (a quaternion) or 3 (a rotation vector)".into(),
                        _ => width.to_string(),
                    };
                    return Err(BundleError::new(
                        Some(role),
                        format!("`{word}` has {count} numbers; it needs {wanted}"),
                    ));
                }
            }
        }
        side.is_input = first.is_some_and(|(first, _)| first.causality == Causality::Input);
        if side.is_input {
            // What it does not take is not sent to it.
            side.differentiated.clear();
        }
        Ok(side)
    }
}
