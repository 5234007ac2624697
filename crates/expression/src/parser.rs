//! From words to a program, by recursive descent.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "+" | "-" } power
//! power   = atom [ "^" signed ]
//! atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
//! ```

use crate::MAX_DEPTH;
use crate::error::ExpressionError;
use crate::function::{self, CONSTANTS, FUNCTIONS, Function};
use crate::lexer::{self, Placed, Token};
use crate::program::{DEEPEST, Instruction, Program};

const OPERAND: &str = "a number, a variable, a function or `(`";
const OPERATOR: &str = "an operator";

pub(crate) fn parse(text: &str, variables: &[&str]) -> Result<Program, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    if tokens.is_empty() {
        return Err(ExpressionError::Empty);
    }
    let mut parser = Parser {
        tokens: &tokens,
        variables,
        depth: 0,
        program: Program::default(),
    };
    parser.sum()?;
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
    variables: &'a [&'a str],
    depth: usize,
    program: Program,
}

type Parsed = Result<(), ExpressionError>;

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Parsed {
        self.product()?;
        while let Some(sign) = self.take_one_of(&['+', '-']) {
            self.product()?;
            self.program.push(match sign {
                '+' => Instruction::Add,
                _ => Instruction::Subtract,
            });
        }
        Ok(())
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        while let Some(sign) = self.take_one_of(&['*', '/']) {
            self.signed()?;
            self.program.push(match sign {
                '*' => Instruction::Multiply,
                _ => Instruction::Divide,
            });
        }
        Ok(())
    }

    fn signed(&mut self) -> Parsed {
        let mut negative = false;
        while let Some(sign) = self.take_one_of(&['+', '-']) {
            negative ^= sign == '-';
        }
        self.power()?;
        if negative {
            self.program.push(Instruction::Negate);
        }
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.take_one_of(&['^']).is_some() {
            self.deeper(Self::signed)?;
            self.program.push(Instruction::Power);
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        let placed = self.next(OPERAND)?;
        match placed.token {
            Token::Number(value) => self.program.push(Instruction::Constant(value)),
            Token::Name(name) if self.peek_sign() == Some('(') => return self.call(name, placed),
            Token::Name(name) => {
                let instruction = self.named(name, placed.position)?;
                self.program.push(instruction);
            }
            Token::Sign('(') => {
                self.deeper(Self::sum)?;
                self.close()?;
            }
            Token::Sign(_) => return Err(unexpected(placed, OPERAND)),
        }
        Ok(())
    }

    fn named(&self, name: &str, position: usize) -> Result<Instruction, ExpressionError> {
        let variable = self.variables.iter().position(|&known| known == name);
        let variable = variable.map(Instruction::Variable);
        let constant = || function::constant(name).map(Instruction::Constant);
        variable.or_else(constant).ok_or_else(|| {
            let allowed = self.variables.iter().chain(&CONSTANTS);
            ExpressionError::UnknownVariable {
                name: name.to_owned(),
                position,
                allowed: allowed.map(|&known| known.to_owned()).collect(),
            }
        })
    }

    fn call(&mut self, name: &str, placed: Placed<'_>) -> Parsed {
        let Some(function) = function::function(name) else {
            return Err(ExpressionError::UnknownFunction {
                name: name.to_owned(),
                position: placed.position,
                allowed: FUNCTIONS.map(str::to_owned).to_vec(),
            });
        };
        self.next(OPERAND)?;
        let found = self.arguments()?;
        if found != function.arity() {
            return Err(ExpressionError::WrongArgumentCount {
                function: name.to_owned(),
                position: placed.position,
                expected: Function::arity(function),
                found,
            });
        }
        self.program.push(Instruction::Call(function));
        Ok(())
    }

    fn arguments(&mut self) -> Result<usize, ExpressionError> {
        if self.take_one_of(&[')']).is_some() {
            return Ok(0);
        }
        let mut count = 1;
        self.deeper(Self::sum)?;
        while self.take_one_of(&[',']).is_some() {
            self.deeper(Self::sum)?;
            count += 1;
        }
        self.close()?;
        Ok(count)
    }

    fn close(&mut self) -> Parsed {
        let placed = self.next("`)`")?;
        match placed.token {
            Token::Sign(')') => Ok(()),
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

    fn peek_sign(&self) -> Option<char> {
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

    fn take_one_of(&mut self, signs: &[char]) -> Option<char> {
        let sign = self.peek_sign().filter(|sign| signs.contains(sign))?;
        self.tokens = &self.tokens[1..];
        Some(sign)
    }
}

fn unexpected(placed: Placed<'_>, expected: &'static str) -> ExpressionError {
    ExpressionError::Unexpected {
        found: placed.text.to_owned(),
        position: placed.position,
        expected,
    }
}
