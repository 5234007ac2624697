//! A subsystem that is an object in Python.

use std::borrow::Cow;
use std::sync::Arc;

use oldham_cosim::{
    Conjugate, Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit,
};
use oldham_model::ForeignPart;

use crate::callbacks::{Array, Declared, Described, Method, Object, Solver};

/// An object with its settings: solvers of it have a state each.
pub struct PythonKind {
    pub kind: String,
    pub object: Arc<Object>,
}

impl ForeignPart for PythonKind {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        let (solver, described) = Solver::new(&self.object, 0)?;
        Ok(Box::new(PythonPart {
            kind: self.kind.clone(),
            ports: ports(described)?,
            micro_steps: micro_steps.max(1),
            solver,
        }))
    }
}

/// A solver of such an object.
struct PythonPart {
    kind: String,
    ports: Ports,
    micro_steps: usize,
    solver: Solver,
}

impl PythonPart {
    fn call(&mut self, method: Method, t: f64, dt: f64) -> Result<(), StepError> {
        let called = self.solver.call(method, t, dt);
        called.map_err(|told| {
            StepError::Foreign(format!("the Python code of `{}` raised {told}", self.kind))
        })
    }
}

/// The ports that an object declares.
fn ports(described: Described) -> Result<Ports, String> {
    let mut ports = Ports::new();
    for declared in described.inputs {
        let quantity = quantity(&declared)?;
        ports.add_input(declared.name, quantity);
    }
    for declared in described.outputs {
        let quantity = quantity(&declared)?;
        ports.add_output(declared.name, quantity);
    }
    for [input, output] in described.direct {
        if let (Some(input), Some(output)) = (ports.input(&input), ports.output(&output)) {
            let (from, to) = (ports.input_range(input), ports.output_range(output));
            for output in to {
                from.clone()
                    .for_each(|input| ports.feed_through(output, input));
            }
        }
    }
    for [input, output] in described.conjugate {
        if let (Some(input), Some(output)) = (ports.input(&input), ports.output(&output)) {
            let gives_force = ports.inputs()[input.0].quantity.is_motion();
            ports.conjugate(match gives_force {
                true => Conjugate::GivesForce {
                    motion: input,
                    force: output,
                },
                false => Conjugate::GivesMotion {
                    force: input,
                    motion: output,
                },
            });
        }
    }
    Ok(ports)
}

fn quantity(declared: &Declared) -> Result<Quantity, String> {
    let unit = || Unit(Cow::Owned(declared.unit.clone()));
    Ok(match declared.quantity.as_str() {
        "scalar" => Quantity::Scalar(unit()),
        "translation" => Quantity::Translation,
        "rotation" => Quantity::Rotation,
        "motion" => Quantity::Motion,
        "wrench" => Quantity::Wrench,
        "array" => Quantity::Array(unit(), declared.width),
        "whole" => Quantity::Whole,
        "flag" => Quantity::Flag,
        other => return Err(format!("`{other}` is not a quantity of ports")),
    })
}

impl Subsystem for PythonPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let step = (to - from) / self.micro_steps as f64;
        for index in 0..self.micro_steps {
            let begin = from + index as f64 * step;
            inputs.at(begin + 0.5 * step, self.solver.array(Array::Received));
            self.call(Method::Advance, begin, step)?;
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.solver.array(Array::Received).copy_from_slice(inputs);
        self.call(Method::Send, t, 0.0)?;
        outputs.copy_from_slice(self.solver.array(Array::Given));
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(&mut self.solver)
    }
}
