//! Expressions of named variables, as users write them in model files: `-k*d^3 + 2e-3*sin(2*pi*t)`.
//!
//! An [`Expression`] is parsed once into a short program for a stack machine and then evaluated
//! without allocation. The rules are those of written mathematics: `-x^2` is `-(x^2)`, `2^3^2` is
//! `2^(3^2)`, numbers may have an exponent. The functions stand in [`FUNCTIONS`], the constants
//! are `pi` and `e`.
//!
//! ```
//! use oldham_expression::Expression;
//! let law = Expression::parse("sgn(d)*sqrt(abs(d)) + 0.1*v", &["d", "v", "t"])?;
//! assert_eq!(law.eval(&[4.0, 10.0, 0.0]), 3.0);
//! assert_eq!(law.variables_used().collect::<Vec<_>>(), ["d", "v"]);
//! # Ok::<(), oldham_expression::ExpressionError>(())
//! ```

mod error;
mod function;
mod lexer;
mod parser;
mod program;

pub use error::ExpressionError;
pub use function::FUNCTIONS;

use program::Program;

/// Longest accepted text, in characters.
pub const MAX_LENGTH: usize = 10_000;

/// Deepest accepted nesting of parentheses, calls, signs and powers.
pub const MAX_DEPTH: usize = 200;

/// A formula of named variables.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    variables: Vec<String>,
    program: Program,
}

impl Expression {
    /// Parses `text`, in which only `variables` may occur.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        let length = text.chars().count();
        if length > MAX_LENGTH {
            return Err(ExpressionError::TooLong {
                length,
                limit: MAX_LENGTH,
            });
        }
        Ok(Self {
            text: text.to_owned(),
            variables: variables.iter().map(|&name| name.to_owned()).collect(),
            program: parser::parse(text, variables)?,
        })
    }

    /// The value for these values of the variables, in the order given to [`Expression::parse`].
    pub fn eval(&self, values: &[f64]) -> f64 {
        assert_eq!(values.len(), self.variables.len(), "one value a variable");
        self.program.run(values)
    }

    /// The value, if no variable occurs.
    pub fn constant(&self) -> Option<f64> {
        self.program.constant()
    }

    /// The variables that may occur, in the order in which [`Expression::eval`] takes their values.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// Whether a variable of this name occurs.
    pub fn uses(&self, variable: &str) -> bool {
        self.variables_used().any(|name| name == variable)
    }

    /// The variables that occur, in the order given to [`Expression::parse`].
    pub fn variables_used(&self) -> impl Iterator<Item = &str> {
        let names = self.variables.iter().enumerate();
        let used = names.filter(|&(index, _)| self.program.reads(index));
        used.map(|(_, name)| name.as_str())
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}
