//! The compiled form: a program for a stack machine, constants folded.

use std::sync::Arc;

use crate::function::{One, Three, Two};
use crate::number::Number;
use crate::table::Table;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    Constant(f64),
    Variable(usize),
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// Power with a small whole exponent: much faster than the general one.
    WholePower(i32),
    Negate,
    Compare(Comparison),
    And,
    Or,
    Not,
    One(One),
    Two(Two),
    Three(Three),
    /// A table of the program, by its place, and how many arguments it takes.
    Table(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
            Self::Equal => a == b,
            Self::NotEqual => a != b,
        }
    }
}

impl Instruction {
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::Constant(_) | Self::Variable(_) => 0,
            Self::Negate | Self::WholePower(_) | Self::Not | Self::One(_) => 1,
            Self::Three(_) => 3,
            Self::Table(_, arguments) => arguments,
            _ => 2,
        }
    }

    /// Whether what it computes has no kinks and no jumps.
    fn is_smooth(self) -> bool {
        match self {
            Self::Compare(_) | Self::And | Self::Or | Self::Not => false,
            Self::Three(_) | Self::Table(..) => false,
            Self::Two(two) => matches!(two, Two::Atan2 | Two::Hypot),
            Self::One(one) => one.is_smooth,
            _ => true,
        }
    }
}

/// Stack of the ordinary formula; zeroing it costs next to nothing.
const SHALLOW: usize = 8;
/// Stack of the deepest formula that the parser lets through.
pub(crate) const DEEPEST: usize = 1024;
/// Largest exponent computed by repeated multiplication.
const LARGEST_WHOLE_POWER: f64 = 16.0;
/// Most operands of an instruction.
const MOST_OPERANDS: usize = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    code: Vec<Instruction>,
    tables: Vec<Arc<Table>>,
    depth: usize,
    deepest: usize,
}

impl Program {
    /// Appends an instruction, or its result where all operands are constants.
    pub(crate) fn push(&mut self, instruction: Instruction) {
        let operands = instruction.operands();
        self.depth = self.depth + 1 - operands;
        self.deepest = self.deepest.max(self.depth);
        if operands > 0 && self.constants_on_top(operands) {
            self.fold(instruction, operands);
        } else {
            let specialised = self.specialise(instruction);
            self.code.push(specialised);
        }
    }

    /// The instruction that looks up a table.
    pub(crate) fn table(&mut self, table: &Arc<Table>) -> Instruction {
        let known = self.tables.iter().position(|one| Arc::ptr_eq(one, table));
        let place = known.unwrap_or_else(|| {
            self.tables.push(table.clone());
            self.tables.len() - 1
        });
        Instruction::Table(place, table.arguments())
    }

    fn constants_on_top(&self, count: usize) -> bool {
        let tail = &self.code[self.code.len().saturating_sub(count)..];
        tail.len() == count && tail.iter().all(|i| matches!(i, Instruction::Constant(_)))
    }

    fn fold(&mut self, instruction: Instruction, operands: usize) {
        let start = self.code.len() - operands;
        let mut stack = [0.0; MOST_OPERANDS];
        let mut piece: Vec<_> = self.code.drain(start..).collect();
        piece.push(instruction);
        let value = execute(&piece, &self.tables, |_| f64::NAN, &mut stack);
        self.code.push(Instruction::Constant(value));
    }

    fn specialise(&mut self, instruction: Instruction) -> Instruction {
        if let (Instruction::Power, Some(&Instruction::Constant(exponent))) =
            (instruction, self.code.last())
            && exponent.fract() == 0.0
            && exponent.abs() <= LARGEST_WHOLE_POWER
        {
            self.code.pop();
            return Instruction::WholePower(exponent as i32);
        }
        instruction
    }

    /// Values on the stack at the deepest point.
    pub(crate) fn deepest(&self) -> usize {
        self.deepest
    }

    pub(crate) fn constant(&self) -> Option<f64> {
        match self.code[..] {
            [Instruction::Constant(value)] => Some(value),
            _ => None,
        }
    }

    pub(crate) fn reads(&self, variable: usize) -> bool {
        let read = |i: &Instruction| matches!(*i, Instruction::Variable(v) if v == variable);
        self.code.iter().any(read)
    }

    pub(crate) fn is_smooth(&self) -> bool {
        self.code.iter().all(|instruction| instruction.is_smooth())
    }

    /// The value for these variables, in any kind of number.
    pub(crate) fn run<N: Number>(&self, variable: impl Fn(usize) -> N) -> N {
        let zero = N::constant(0.0);
        if self.deepest <= SHALLOW {
            execute(&self.code, &self.tables, variable, &mut [zero; SHALLOW])
        } else {
            execute(&self.code, &self.tables, variable, &mut [zero; DEEPEST])
        }
    }
}

fn execute<N: Number>(
    code: &[Instruction],
    tables: &[Arc<Table>],
    variable: impl Fn(usize) -> N,
    stack: &mut [N],
) -> N {
    let mut top = 0;
    for instruction in code {
        top = match *instruction {
            Instruction::Constant(value) => push(stack, top, N::constant(value)),
            Instruction::Variable(index) => push(stack, top, variable(index)),
            Instruction::Add => binary(stack, top, N::add),
            Instruction::Subtract => binary(stack, top, N::subtract),
            Instruction::Multiply => binary(stack, top, N::multiply),
            Instruction::Divide => binary(stack, top, N::divide),
            Instruction::Power => binary(stack, top, N::power),
            Instruction::WholePower(n) => unary(stack, top, |a| a.whole_power(n)),
            Instruction::Negate => unary(stack, top, N::negate),
            Instruction::One(f) => unary(stack, top, |a| a.one(f)),
            Instruction::Two(f) => binary(stack, top, |a, b| a.two(f, b)),
            Instruction::Compare(comparison) => binary(stack, top, |a, b| {
                N::truth(&[a, b], comparison.holds(a.value(), b.value()))
            }),
            Instruction::And => binary(stack, top, |a, b| {
                N::truth(&[a, b], a.value() != 0.0 && b.value() != 0.0)
            }),
            Instruction::Or => binary(stack, top, |a, b| {
                N::truth(&[a, b], a.value() != 0.0 || b.value() != 0.0)
            }),
            Instruction::Not => unary(stack, top, |a| N::truth(&[a], a.value() == 0.0)),
            Instruction::Three(f) => {
                let [a, b, c] = [stack[top - 3], stack[top - 2], stack[top - 1]];
                let clamped = |a: N| a.two(Two::Max, b).two(Two::Min, c);
                stack[top - 3] = match f {
                    Three::If => N::select(a, b, c),
                    Three::Clamp => clamped(a),
                    Three::DeadZone => a.subtract(clamped(a)),
                };
                top - 2
            }
            Instruction::Table(place, arguments) => {
                let value = N::table(&tables[place], &stack[top - arguments..top]);
                push(stack, top - arguments, value)
            }
        };
    }
    stack[0]
}

fn push<N>(stack: &mut [N], top: usize, value: N) -> usize {
    stack[top] = value;
    top + 1
}

fn unary<N: Copy>(stack: &mut [N], top: usize, f: impl Fn(N) -> N) -> usize {
    stack[top - 1] = f(stack[top - 1]);
    top
}

fn binary<N: Copy>(stack: &mut [N], top: usize, f: impl Fn(N, N) -> N) -> usize {
    stack[top - 2] = f(stack[top - 2], stack[top - 1]);
    top - 1
}
