//! What can be wrong with a formula.

/// Why a text is no expression. Positions count characters from one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExpressionError {
    /// Nothing but blanks.
    #[error("the expression is empty")]
    Empty,
    /// Longer than any formula should be.
    #[error("the expression has {length} characters, more than {limit}")]
    TooLong {
        /// Characters in the text.
        length: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// Nested more deeply than any formula should be.
    #[error("nested more than {limit} levels deep at character {position}")]
    TooDeep {
        /// Where the limit was passed.
        position: usize,
        /// Levels allowed.
        limit: usize,
    },
    /// A character that no expression contains.
    #[error("unexpected character `{character}` at character {position}")]
    UnexpectedCharacter {
        /// The character.
        character: char,
        /// Where it stands.
        position: usize,
    },
    /// A number such as `1.2.3` or `1e`.
    #[error("`{text}` at character {position} is not a number")]
    BadNumber {
        /// As written.
        text: String,
        /// Where it starts.
        position: usize,
    },
    /// A word or sign where another should be.
    #[error("found `{found}` at character {position}, expected {expected}")]
    Unexpected {
        /// What stands there.
        found: String,
        /// Where it starts.
        position: usize,
        /// What could stand there.
        expected: &'static str,
    },
    /// The text stops too early.
    #[error("the expression ends where {expected} should follow")]
    UnexpectedEnd {
        /// What could stand there.
        expected: &'static str,
    },
    /// A name that is neither an allowed variable nor a constant.
    #[error("unknown variable `{name}` at character {position}; allowed: {}", allowed.join(", "))]
    UnknownVariable {
        /// As written.
        name: String,
        /// Where it starts.
        position: usize,
        /// Variables and constants that may occur.
        allowed: Vec<String>,
    },
    /// A call of something that is no function.
    #[error("unknown function `{name}` at character {position}; allowed: {}", allowed.join(", "))]
    UnknownFunction {
        /// As written.
        name: String,
        /// Where it starts.
        position: usize,
        /// All functions.
        allowed: Vec<String>,
    },
    /// `=` where a comparison is meant.
    #[error("`=` at character {position} is no comparison: write `==`")]
    SingleEquals {
        /// Where it stands.
        position: usize,
    },
    /// `a < b < c`.
    #[error("comparisons cannot be chained at character {position}: join two of them by `and`")]
    ChainedComparison {
        /// Where the second one stands.
        position: usize,
    },
    /// A function called with too few or too many arguments.
    #[error("`{function}` at character {position} takes {expected}, not {found}")]
    WrongArgumentCount {
        /// Its name.
        function: String,
        /// Where it starts.
        position: usize,
        /// Arguments it takes.
        expected: &'static str,
        /// Arguments given.
        found: usize,
    },
}

impl ExpressionError {
    /// What to write instead, where another language was meant.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::UnexpectedCharacter { character, .. } => match character {
                '?' | ':' => Some("write `if(condition, value, other)`"),
                '&' => Some("write `and`"),
                '|' => Some("write `or`"),
                '!' => Some("write `not`, or `!=` for unequal numbers"),
                _ => Some(
                    "expressions have numbers, names, `+ - * / ^`, comparisons, `and`, `or`, `not` and calls like `sin(t)`",
                ),
            },
            Self::WrongArgumentCount { function, .. } if function == "if" => {
                Some("write `if(condition, value, other)`")
            }
            _ => None,
        }
    }
}
