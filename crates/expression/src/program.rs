//! The compiled form: a program for a stack machine, constants folded.

use crate::function::Function;

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
    Call(Function),
}

impl Instruction {
    fn operands(self) -> usize {
        match self {
            Self::Constant(_) | Self::Variable(_) => 0,
            Self::Negate | Self::WholePower(_) => 1,
            Self::Call(function) => function.arity(),
            _ => 2,
        }
    }
}

/// Stack of the ordinary formula; zeroing it costs next to nothing.
const SHALLOW: usize = 8;
/// Stack of the deepest formula that the parser lets through.
pub(crate) const DEEPEST: usize = 1024;
/// Largest exponent computed by repeated multiplication.
const LARGEST_WHOLE_POWER: f64 = 16.0;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    code: Vec<Instruction>,
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

    fn constants_on_top(&self, count: usize) -> bool {
        let tail = &self.code[self.code.len().saturating_sub(count)..];
        tail.len() == count && tail.iter().all(|i| matches!(i, Instruction::Constant(_)))
    }

    fn fold(&mut self, instruction: Instruction, operands: usize) {
        let start = self.code.len() - operands;
        let mut stack = [0.0; 2];
        let mut piece: Vec<_> = self.code.drain(start..).collect();
        piece.push(instruction);
        let value = execute(&piece, &[], &mut stack);
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

    pub(crate) fn run(&self, values: &[f64]) -> f64 {
        if self.deepest <= SHALLOW {
            execute(&self.code, values, &mut [0.0; SHALLOW])
        } else {
            execute(&self.code, values, &mut [0.0; DEEPEST])
        }
    }
}

fn execute(code: &[Instruction], values: &[f64], stack: &mut [f64]) -> f64 {
    let mut top = 0;
    for instruction in code {
        top = match *instruction {
            Instruction::Constant(value) => push(stack, top, value),
            Instruction::Variable(index) => push(stack, top, values[index]),
            Instruction::Add => binary(stack, top, |a, b| a + b),
            Instruction::Subtract => binary(stack, top, |a, b| a - b),
            Instruction::Multiply => binary(stack, top, |a, b| a * b),
            Instruction::Divide => binary(stack, top, |a, b| a / b),
            Instruction::Power => binary(stack, top, f64::powf),
            Instruction::Call(Function::Two(f)) => binary(stack, top, f),
            Instruction::WholePower(n) => unary(stack, top, |a| a.powi(n)),
            Instruction::Negate => unary(stack, top, |a| -a),
            Instruction::Call(Function::One(f)) => unary(stack, top, f),
        };
    }
    stack[0]
}

fn push(stack: &mut [f64], top: usize, value: f64) -> usize {
    stack[top] = value;
    top + 1
}

fn unary(stack: &mut [f64], top: usize, f: impl Fn(f64) -> f64) -> usize {
    stack[top - 1] = f(stack[top - 1]);
    top
}

fn binary(stack: &mut [f64], top: usize, f: impl Fn(f64, f64) -> f64) -> usize {
    stack[top - 2] = f(stack[top - 2], stack[top - 1]);
    top - 1
}
