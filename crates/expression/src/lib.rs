//! Expressions of named variables, as users write them in model files: `-k*d^3 + 2e-3*sin(2*pi*t)`.
//!
//! An [`Expression`] is parsed once into a short program for a stack machine and then evaluated
//! without allocation, as a number or with its exact derivatives. The rules are those of written
//! mathematics: `-x^2` is `-(x^2)`, `2^3^2` is `2^(3^2)`, numbers may have an exponent. Conditions
//! such as `x > 0 and not y == 1` are one where they hold and zero where not. The functions stand in
//! [`FUNCTIONS`], the constants are `pi` and `e`; a [`Table`] is a function too.
//!
//! ```
//! use oldham_expression::Expression;
//! let law = Expression::parse("sgn(d)*sqrt(abs(d)) + if(v > 0, 0.1*v, 0)", &["d", "v", "t"])?;
//! assert_eq!(law.eval(&[4.0, 10.0, 0.0]), 3.0);
//! assert_eq!(law.derivative(0, &[4.0, 10.0, 0.0]), 0.25);
//! assert_eq!(law.variables_used().collect::<Vec<_>>(), ["d", "v"]);
//! # Ok::<(), oldham_expression::ExpressionError>(())
//! ```

mod degree;
mod error;
mod function;
mod jet;
mod lexer;
mod number;
mod parser;
mod program;
mod sides;
mod table;

use std::sync::Arc;

pub use error::ExpressionError;
pub use function::{FUNCTIONS, KEYWORDS};
pub use jet::Jet;
pub use table::{Interpolation, Outside, Table, TableError};

use degree::Degree;
use parser::Scope;
use program::Program;
use sides::Sided;

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
        Self::parse_with(text, variables, &[])
    }

    /// The same with tables that may be called by their names.
    pub fn parse_with(
        text: &str,
        variables: &[&str],
        tables: &[(&str, Arc<Table>)],
    ) -> Result<Self, ExpressionError> {
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
            program: parser::parse(text, &Scope { variables, tables })?,
        })
    }

    /// The value for these values of the variables, in the order given to [`Expression::parse`].
    pub fn eval(&self, values: &[f64]) -> f64 {
        assert_eq!(values.len(), self.variables.len(), "one value a variable");
        self.program.run(|index| values[index])
    }

    /// The value, each variable by its place in the order given to [`Expression::parse`].
    pub fn eval_by(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.program.run(value)
    }

    /// The value and its derivatives, each variable by its place: its value and its rate.
    pub fn along_by(&self, moving: impl Fn(usize) -> (f64, f64)) -> Jet {
        self.program.run(|index| {
            let (value, rate) = moving(index);
            Jet::moving(value, rate)
        })
    }

    /// The value and its derivatives when the variables move at these rates, none of them
    /// accelerated.
    pub fn along(&self, values: &[f64], rates: &[f64]) -> Jet {
        assert_eq!(values.len(), self.variables.len(), "one value a variable");
        assert_eq!(rates.len(), self.variables.len(), "one rate a variable");
        self.program
            .run(|index| Jet::moving(values[index], rates[index]))
    }

    /// The partial derivative by one of the variables.
    pub fn derivative(&self, variable: usize, values: &[f64]) -> f64 {
        self.with_derivatives(variable, values).first
    }

    /// The value with its first and second partial derivative by one of the variables.
    pub fn with_derivatives(&self, variable: usize, values: &[f64]) -> Jet {
        assert_eq!(values.len(), self.variables.len(), "one value a variable");
        let rate = |index: usize| f64::from(u8::from(index == variable));
        self.program
            .run(|index| Jet::moving(values[index], rate(index)))
    }

    /// Whether it is a sum of constants times variables, and a constant. Of the variables in
    /// `varying` it must not depend at all.
    pub fn is_affine(&self, varying: &[&str]) -> bool {
        let degree = |index: usize| match varying.contains(&self.variables[index].as_str()) {
            true => Degree::Other,
            false => Degree::Affine,
        };
        self.program.run(degree) != Degree::Other
    }

    /// Whether it has no kinks and no jumps, as far as the functions in it tell.
    pub fn is_smooth(&self) -> bool {
        self.program.is_smooth()
    }

    /// A number that changes where it passes a kink or a jump: between values of the variables with the same
    /// one it is smooth.
    pub fn sides(&self, values: &[f64]) -> u64 {
        self.program.run(|index| Sided::new(values[index])).sides
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
