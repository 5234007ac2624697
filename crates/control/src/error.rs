//! What can be wrong with a controller.

/// Why a description makes no controller.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControlError {
    /// An expression uses a name that nothing has.
    #[error("`{of}` uses `{name}`, which is no input, state, signal or block of this controller")]
    UnknownName {
        /// Whose expression.
        of: String,
        /// The name.
        name: String,
    },
    /// Two things have one name.
    #[error("there are two things called `{0}` in this controller")]
    DuplicateName(String),
    /// Signals that need each other at the same instant.
    #[error("these signals depend on each other without delay: {}", .0.join(" <- "))]
    AlgebraicLoop(Vec<String>),
    /// More zeros than poles.
    #[error(
        "the transfer function `{name}` has a numerator of degree {numerator}, above that of its \
         denominator ({denominator}): it would differentiate"
    )]
    Improper {
        /// Its name.
        name: String,
        /// Degree of the numerator.
        numerator: usize,
        /// Degree of the denominator.
        denominator: usize,
    },
    /// A denominator of zeros.
    #[error("the first coefficient of the denominator of `{0}` must not be zero")]
    NoDenominator(String),
    /// Matrices that do not fit each other.
    #[error("in `{name}` the matrix {matrix} must have {rows} rows and {columns} columns")]
    Shape {
        /// Name of the block.
        name: String,
        /// Which matrix.
        matrix: &'static str,
        /// Rows that it must have.
        rows: usize,
        /// Columns that it must have.
        columns: usize,
    },
    /// A delay shorter than what the controller can resolve.
    #[error(
        "the delay `{name}` of {delay} s is shorter than the macro step of {step} s: take a \
         shorter step, or leave the delay out"
    )]
    ShortDelay {
        /// Name of the block.
        name: String,
        /// The delay.
        delay: f64,
        /// The macro step.
        step: f64,
    },
    /// A delay between two samples.
    #[error(
        "the delay `{name}` of {delay} s is no whole number of samples of {period} s: take {below} \
         or {above} s"
    )]
    DelayBetweenSamples {
        /// Name of the block.
        name: String,
        /// The delay.
        delay: f64,
        /// The sample period.
        period: f64,
        /// The next shorter delay that is possible.
        below: f64,
        /// The next longer one.
        above: f64,
    },
    /// Samples between communication points.
    #[error(
        "the sample period of {period} s is no multiple of the macro step of {step} s: a step of \
         {suggestion} s divides it"
    )]
    SamplesBetweenSteps {
        /// The sample period.
        period: f64,
        /// The macro step.
        step: f64,
        /// A step that divides it.
        suggestion: f64,
    },
    /// A number out of its range.
    #[error("{what} of `{name}` {requirement}, not {value}")]
    Value {
        /// Name of the block.
        name: String,
        /// Which number.
        what: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What it is.
        value: f64,
    },
}

impl ControlError {
    /// What to do about it, where the message does not say so.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Improper { .. } => Some(
                "give the denominator more coefficients: a fast pole makes the derivative possible",
            ),
            Self::NoDenominator(_) => Some("leave leading zeros out"),
            Self::UnknownName { .. } => {
                Some("correct the name, or add it to `inputs`, `states`, `signals` or `blocks`")
            }
            Self::DuplicateName(_) => Some("rename one of them"),
            Self::Shape { .. } => Some(
                "`a` is states by states, `b` states by inputs, `c` outputs by states, `d` outputs by inputs",
            ),
            Self::Value { .. } => Some("give another number, or leave the key out"),
            Self::AlgebraicLoop(_)
            | Self::ShortDelay { .. }
            | Self::DelayBetweenSamples { .. }
            | Self::SamplesBetweenSteps { .. } => None,
        }
    }
}
