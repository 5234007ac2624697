//! What can be wrong with a circuit.

/// A mistake in the data of a circuit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CircuitError {
    /// There is nothing to drive.
    #[error("the circuit has no actuator; add one")]
    NoActuator,
    /// Two actuators of one name.
    #[error("two actuators are called `{0}`; choose another name for one of them")]
    DuplicateName(String),
    /// A number that cannot be.
    #[error("the {what} of `{place}` {requirement}, it is {value}")]
    Value {
        /// The actuator, or the fluid.
        place: String,
        /// Which number.
        what: &'static str,
        /// As given.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// Pressures in the wrong order.
    #[error(
        "the pressures must rise from cavitation (not negative) over tank to pump; they are {cavitation} Pa, {tank} Pa and {pump} Pa"
    )]
    Pressures {
        /// At the pump.
        pump: f64,
        /// In the tank.
        tank: f64,
        /// Of cavitation.
        cavitation: f64,
    },
    /// The density law turns back near the pressures of the circuit.
    #[error(
        "the fluid's density law holds up to {limit} Pa, the pump gives {pump} Pa; with `a` and `b` of the fluid given in 1/Pa and 1/Pa², choose a smaller |b|"
    )]
    BeyondTheLaw {
        /// At the pump.
        pump: f64,
        /// The last pressure at which the law holds.
        limit: f64,
    },
    /// No spool position carries the load.
    #[error(
        "`{actuator}` cannot hold a load of {load} N: its pressures give forces between {least} N and {most} N"
    )]
    CannotHold {
        /// Its name.
        actuator: String,
        /// The load.
        load: f64,
        /// The largest pull (negative).
        least: f64,
        /// The largest push.
        most: f64,
    },
    /// Its equations of statics have no solution.
    #[error("the circuit finds no rest: {0}")]
    NoRest(String),
    /// A relief valve is open at rest.
    #[error(
        "the relief valve of `{actuator}` opens at {opens} Pa, and a chamber has {pressure} Pa at rest; let it open at a higher pressure"
    )]
    ReliefOpens {
        /// Its name.
        actuator: String,
        /// The pressure at rest.
        pressure: f64,
        /// The pressure at which it opens.
        opens: f64,
    },
}

/// All mistakes in the data of a circuit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct CircuitErrors(pub Vec<CircuitError>);

impl CircuitError {
    /// The actuator that it is about.
    pub fn actuator(&self) -> Option<&str> {
        match self {
            Self::DuplicateName(name) => Some(name),
            Self::Value { place, .. } => Some(place),
            Self::CannotHold { actuator, .. } | Self::ReliefOpens { actuator, .. } => {
                Some(actuator)
            }
            Self::NoActuator
            | Self::NoRest(_)
            | Self::Pressures { .. }
            | Self::BeyondTheLaw { .. } => None,
        }
    }
}
