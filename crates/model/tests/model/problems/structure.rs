//! Keys, types, required keys, words.

use super::{check_all, mistake};

#[test]
fn keys_types_and_words() {
    check_all([
        mistake(
            "velocity = 1.0",
            "«velocty = 1.0",
            "unknown key `velocty` in `lumped.left.masses.x1`",
            "did you mean `velocity`?",
        ),
        mistake(
            "[schedule]",
            "[«shedule]",
            "unknown key `shedule` in the file",
            "did you mean `schedule`?",
        ),
        mistake(
            "duration = 1.0",
            "duration = 1.0\n«colour = 3",
            "unknown key `colour`",
            "possible are `duration`, `step`",
        ),
        mistake(
            "step = 1e-2",
            "step = «true",
            "`simulation.step` must be a number or an expression in quotes",
            "",
        ),
        mistake(
            "velocity = 1.0",
            "velocity = «[1.0]",
            "`lumped.left.masses.x1.velocity` must be",
            "",
        ),
        mistake(
            "fc = { force = \"far\" }",
            "fc = «3",
            "`lumped.left.outputs.fc` must be a table",
            "",
        ),
        mistake(
            "name = \"Pair\"",
            "name = «1979-05-27",
            "`model.name` must be a string in quotes",
            "",
        ),
        mistake(
            "[simulation]\nduration = 1.0",
            "«[simulation]",
            "`duration` is missing from `simulation`",
            "",
        ),
        mistake(
            "[model]\nname = \"Pair\"",
            "«",
            "`model` is missing from the file",
            "",
        ),
        mistake(
            "\"lms2\"",
            "«\"lms3\"",
            "`lumped.left.integrator` cannot be `lms3`",
            "did you mean `lms2`?",
        ),
        mistake(
            "\"jacobi\"",
            "«\"jacobbi\"",
            "`schedule.kind` cannot be `jacobbi`",
            "did you mean `jacobi`?",
        ),
        mistake(
            "\"jacobi\"",
            "«\"zigzag\"",
            "`schedule.kind` cannot be",
            "possible are `jacobi`, `gauss-seidel`, `stages`",
        ),
    ]);
}
