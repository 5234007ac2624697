//! The pair of oscillators of the engine's tests, compensated.

use oldham_compensation::{Compensated, Compensation};
use oldham_cosim::{Builder, Hold, InputPort, OutputPort, Subsystem};

use crate::support::{Oscillator, Pair};

/// Left gives the force, right the motion.
pub fn compensated_pair(
    left: (Oscillator, Option<Compensation>),
    right: (Oscillator, Option<Compensation>),
    order: usize,
) -> Pair {
    let mut builder = Builder::new();
    let mut add = |name, (part, law): (Oscillator, Option<Compensation>)| {
        let hold = Box::new(Hold::new(order, part.ports()));
        match law {
            None => builder.add(name, Box::new(part), hold),
            Some(law) => Compensated::add_to(&mut builder, name, Box::new(part), hold, law),
        }
    };
    let (left, right) = (add("left", left), add("right", right));
    builder.connect((right, OutputPort(0)), (left, InputPort(0)));
    builder.connect((left, OutputPort(1)), (right, InputPort(0)));
    Pair {
        builder,
        left,
        right,
    }
}
