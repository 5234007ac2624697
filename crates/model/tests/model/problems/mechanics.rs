//! Masses, springs, loads, ports.

use super::{GOOD, check_all, mistake, problems};

#[test]
fn nodes_elements_and_ports() {
    check_all([
        mistake(
            "mass = \"m1\"",
            "mass = «0",
            "must be positive: it is a mass",
            "",
        ),
        mistake(
            "mass = \"m1\"",
            "mass = «-1.5",
            "must be positive: it is a mass",
            "",
        ),
        mistake(
            "mass = \"m1\"",
            "mass = «inf",
            "a finite number is needed",
            "",
        ),
        mistake(
            "x2 = { mass = 1.0 }",
            "«x2 = { }",
            "node `x2` has no mass",
            "",
        ),
        mistake(
            "[\"x1\", \"far\"]",
            "[\"x1\", «\"fra\"]",
            "there is no node `fra`",
            "did you mean `far`?",
        ),
        mistake(
            "[\"x1\", \"far\"]",
            "«[\"far\"]",
            "between two nodes, not 1",
            "",
        ),
        mistake(
            "[\"x1\", \"far\"]",
            "«[\"x1\", \"x1\"]",
            "two different nodes",
            "",
        ),
        mistake(
            "stiffness = 100 }",
            "stiffness = «100, force = \"d\" }",
            "has no stiffness, damping or rest",
            "put it into the law",
        ),
        mistake(
            "x2 = { mass = 1.0 }",
            "x2 = { mass = 1.0 }\n[lumped.right.matrices.beam]\nnodes = [\"x2\"]\nstiffness = [«[1, 2]]",
            "the row has 2 numbers for 1 nodes",
            "",
        ),
        mistake(
            "x2 = { mass = 1.0 }",
            "x2 = { mass = 1.0 }\n[lumped.right.matrices.beam]\nnodes = [\"x2\"]\nstiffness = «[[1], [2]]",
            "the matrix has 2 rows for 1 nodes",
            "",
        ),
        mistake(
            "coupling = { between = [\"x1\", \"far\"], stiffness = 100 }",
            "coupling = «{ between = [\"x1\", \"far\"] }",
            "`coupling` has no stiffness, damping or force",
            "give",
        ),
        mistake(
            "{ on = \"x2\"",
            "{ on = «\"ground\"",
            "is no mass of this subsystem",
            "",
        ),
        mistake(
            "{ force = \"far\" }",
            "{ force = «\"x1\" }",
            "`x1` is not received",
            "",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = «{ }",
            "receives 0 things",
            "one of `motion`",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = «{ force = \"x2\", velocity = \"y\" }",
            "receives 2 things",
            "",
        ),
        mistake(
            "x2 = { mass = 1.0 }",
            "x2 = { mass = 1.0 }\n«ground = { mass = 1.0 }",
            "`ground` is always there",
            "",
        ),
        mistake(
            "x2 = { mass = 1.0 }",
            "x2 = { mass = 1.0 }\n«\"x 3\" = { mass = 1.0 }",
            "`x 3` cannot be the name of a mass",
            "letters",
        ),
        mistake(
            "[lumped.right.outputs]",
            "[lumped.right.outputs]\n«push = { displacement = \"x2\" }",
            "an input of this subsystem is called `push` as well",
            "",
        ),
        mistake(
            "\"rk4\"",
            "\"rk4\"\nrho = «0.5",
            "`rho` belongs to the integrator `lms2`",
            "",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\nrho = «1.5",
            "must lie between 0 and 1",
            "",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\ninputs_within_step = «\"held\"",
            "belongs to the integrator `rk4`",
            "",
        ),
    ]);
}

/// The velocity of a node that only gives its displacement would silently be zero.
#[test]
fn a_damper_needs_the_velocity_of_a_received_node() {
    let text = GOOD
        .replace("stiffness = 100", "damping = 1")
        .replace("far = { motion", "far = { displacement")
        .replace("x2 = { motion", "x2 = { displacement");
    let problems = problems(&text);
    let found = problems.to_string();
    assert!(
        found.contains("test.toml:20:1: in `left`: `coupling` depends on the velocity"),
        "{found}"
    );
}
