//! From words to a program, by recursive descent.
//!
//! ```text
//! either     = both { "or" both }
//! both       = inverted { "and" inverted }
//! inverted   = "not" inverted | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = signed { ("*" | "/") signed }
//! signed     = { "+" | "-" } power
//! power      = atom [ "^" signed ]
//! atom       = number | name | name "(" either { "," either } ")" | "(" either ")"
//! ```

use std::sync::Arc;

use crate::MAX_DEPTH;
use crate::error::ExpressionError;
use crate::function::{self, CONSTANTS, FUNCTIONS, Function, KEYWORDS};
use crate::lexer::{self, Placed, Token};
use crate::program::{Comparison, DEEPEST, Instruction, Program};
use crate::table::Table;

const OPERAND: &str = "a number, a variable, a function or `(`";
const OPERATOR: &str = "an operator";

/// What names may mean besides functions and constants.
pub(crate) struct Scope<'a> {
    pub variables: &'a [&'a str],
    pub tables: &'a [(&'a str, Arc<Table>)],
}

pub(crate) fn parse(text: &str, scope: &Scope<'_>) -> Result<Program, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    if tokens.is_empty() {
        return Err(ExpressionError::Empty);
    }
    let mut parser = Parser {
        tokens: &tokens,
        scope,
        depth: 0,
        program: Program::default(),
    };
    parser.either()?;
    if let Some(placed) = parser.peek() {
        return Err(unexpected(placed, OPERATOR));
    }
    if parser.program.deepest() > DEEPEST {
        return Err(ExpressionError::TooDeep {
            position: 1,
            limit: MAX_DEPTH,
        });
    }
    Ok(parser.program)
}

struct Parser<'a> {
    tokens: &'a [Placed<'a>],
    scope: &'a Scope<'a>,
    depth: usize,
    program: Program,
}

type Parsed = Result<(), ExpressionError>;

impl<'a> Parser<'a> {
    fn either(&mut self) -> Parsed {
        self.both()?;
        while self.take_word("or") {
            self.both()?;
            self.program.push(Instruction::Or);
        }
        Ok(())
    }

    fn both(&mut self) -> Parsed {
        self.inverted()?;
        while self.take_word("and") {
            self.inverted()?;
            self.program.push(Instruction::And);
        }
        Ok(())
    }

    fn inverted(&mut self) -> Parsed {
        if self.take_word("not") {
            self.deeper(Self::inverted)?;
            self.program.push(Instruction::Not);
            return Ok(());
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        self.sum()?;
        let Some(comparison) = self.take_comparison()? else {
            return Ok(());
        };
        self.sum()?;
        self.program.push(Instruction::Compare(comparison));
        let position = self.peek().map_or(0, |placed| placed.position);
        match self.take_comparison()? {
            Some(_) => Err(ExpressionError::ChainedComparison { position }),
            None => Ok(()),
        }
    }

    fn take_comparison(&mut self) -> Result<Option<Comparison>, ExpressionError> {
        let comparison = match self.peek_sign() {
            Some("<") => Comparison::Less,
            Some("<=") => Comparison::LessOrEqual,
            Some(">") => Comparison::Greater,
            Some(">=") => Comparison::GreaterOrEqual,
            Some("==") => Comparison::Equal,
            Some("!=") => Comparison::NotEqual,
            Some("=") => {
                let position = self.peek().map_or(0, |placed| placed.position);
                return Err(ExpressionError::SingleEquals { position });
            }
            _ => return Ok(None),
        };
        self.tokens = &self.tokens[1..];
        Ok(Some(comparison))
    }

    fn sum(&mut self) -> Parsed {
        self.product()?;
        while let Some(sign) = self.take_one_of(&["+", "-"]) {
            self.product()?;
            self.program.push(match sign {
                "+" => Instruction::Add,
                _ => Instruction::Subtract,
            });
        }
        Ok(())
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        while let Some(sign) = self.take_one_of(&["*", "/"]) {
            self.signed()?;
            self.program.push(match sign {
                "*" => Instruction::Multiply,
                _ => Instruction::Divide,
            });
        }
        Ok(())
    }

    fn signed(&mut self) -> Parsed {
        let mut negative = false;
        while let Some(sign) = self.take_one_of(&["+", "-"]) {
            negative ^= sign == "-";
        }
        self.power()?;
        if negative {
            self.program.push(Instruction::Negate);
        }
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.take_one_of(&["^"]).is_some() {
            self.deeper(Self::signed)?;
            self.program.push(Instruction::Power);
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        let placed = self.next(OPERAND)?;
        match placed.token {
            Token::Number(value) => self.program.push(Instruction::Constant(value)),
            Token::Name(word) if KEYWORDS.contains(&word) => {
                return Err(unexpected(placed, OPERAND));
            }
            Token::Name(name) if self.peek_sign() == Some("(") => return self.call(name, placed),
            Token::Name(name) => {
                let instruction = self.named(name, placed.position)?;
                self.program.push(instruction);
            }
            Token::Sign("(") => {
                self.deeper(Self::either)?;
                self.close()?;
            }
            Token::Sign(_) => return Err(unexpected(placed, OPERAND)),
        }
        Ok(())
    }

    fn named(&self, name: &str, position: usize) -> Result<Instruction, ExpressionError> {
        let variables = self.scope.variables;
        let variable = variables.iter().position(|&known| known == name);
        let variable = variable.map(Instruction::Variable);
        let constant = || function::constant(name).map(Instruction::Constant);
        variable.or_else(constant).ok_or_else(|| {
            let allowed = variables.iter().chain(&CONSTANTS);
            ExpressionError::UnknownVariable {
                name: name.to_owned(),
                position,
                allowed: allowed.map(|&known| known.to_owned()).collect(),
            }
        })
    }

    fn call(&mut self, name: &str, placed: Placed<'_>) -> Parsed {
        let table = self.scope.tables.iter().find(|(known, _)| *known == name);
        if let Some((_, table)) = table {
            return self.look_up(table, name, placed);
        }
        let Some(function) = function::function(name) else {
            let tables = self.scope.tables.iter().map(|(table, _)| *table);
            let allowed = FUNCTIONS.into_iter().chain(tables);
            return Err(ExpressionError::UnknownFunction {
                name: name.to_owned(),
                position: placed.position,
                allowed: allowed.map(str::to_owned).collect(),
            });
        };
        let fold = match function {
            Function::Fold(two) => Some(Instruction::Two(two)),
            _ => None,
        };
        let found = self.arguments(fold)?;
        let (instruction, expected) = match function {
            Function::One(one) => (Some(Instruction::One(one)), "1 argument"),
            Function::Two(two) => (Some(Instruction::Two(two)), "2 arguments"),
            Function::Fold(_) => (None, "2 arguments or more"),
            Function::Three(three) => (Some(Instruction::Three(three)), "3 arguments"),
        };
        let fits = match instruction {
            Some(instruction) => found == instruction.operands(),
            None => found >= 2,
        };
        if !fits {
            return Err(wrong_count(name, placed, expected, found));
        }
        instruction.into_iter().for_each(|i| self.program.push(i));
        Ok(())
    }

    fn look_up(&mut self, table: &Arc<Table>, name: &str, placed: Placed<'_>) -> Parsed {
        let found = self.arguments(None)?;
        if found != table.arguments() {
            let expected = match table.arguments() {
                1 => "1 argument",
                _ => "2 arguments",
            };
            return Err(wrong_count(name, placed, expected, found));
        }
        let instruction = self.program.table(table);
        self.program.push(instruction);
        Ok(())
    }

    /// How many there are; after each but the first the function that folds them is called.
    fn arguments(&mut self, fold: Option<Instruction>) -> Result<usize, ExpressionError> {
        self.next(OPERAND)?;
        if self.take_one_of(&[")"]).is_some() {
            return Ok(0);
        }
        let mut count = 1;
        self.deeper(Self::either)?;
        while self.take_one_of(&[","]).is_some() {
            self.deeper(Self::either)?;
            fold.into_iter().for_each(|i| self.program.push(i));
            count += 1;
        }
        self.close()?;
        Ok(count)
    }

    fn close(&mut self) -> Parsed {
        let placed = self.next("`)`")?;
        match placed.token {
            Token::Sign(")") => Ok(()),
            _ => Err(unexpected(placed, "an operator or `)`")),
        }
    }

    /// Every recursion passes here, so that no text can exhaust the stack.
    fn deeper(&mut self, rule: fn(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(ExpressionError::TooDeep {
                position: self.peek().map_or(0, |placed| placed.position),
                limit: MAX_DEPTH,
            });
        }
        self.depth += 1;
        let parsed = rule(self);
        self.depth -= 1;
        parsed
    }

    fn peek(&self) -> Option<Placed<'a>> {
        self.tokens.first().copied()
    }

    fn peek_sign(&self) -> Option<&'a str> {
        match self.peek()?.token {
            Token::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn next(&mut self, expected: &'static str) -> Result<Placed<'a>, ExpressionError> {
        let (first, rest) = self
            .tokens
            .split_first()
            .ok_or(ExpressionError::UnexpectedEnd { expected })?;
        self.tokens = rest;
        Ok(*first)
    }

    fn take_one_of(&mut self, signs: &[&str]) -> Option<&'a str> {
        let sign = self.peek_sign().filter(|sign| signs.contains(sign))?;
        self.tokens = &self.tokens[1..];
        Some(sign)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.peek().map(|placed| placed.token) == Some(Token::Name(word));
        if is_it {
            self.tokens = &self.tokens[1..];
        }
        is_it
    }
}

fn unexpected(placed: Placed<'_>, expected: &'static str) -> ExpressionError {
    ExpressionError::Unexpected {
        found: placed.text.to_owned(),
        position: placed.position,
        expected,
    }
}

fn wrong_count(
    name: &str,
    placed: Placed<'_>,
    expected: &'static str,
    found: usize,
) -> ExpressionError {
    ExpressionError::WrongArgumentCount {
        function: name.to_owned(),
        position: placed.position,
        expected,
        found,
    }
}
