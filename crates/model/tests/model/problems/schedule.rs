//! Orders, stages, rates.

use super::{GOOD, check_all, mistake, problems};
use crate::common::read;

#[test]
fn orders_and_stages() {
    let stages = |text: &'static str, message: &'static str, help: &'static str| {
        mistake("kind = \"jacobi\"", text, message, help)
    };
    check_all([
        stages("kind = «\"stages\"", "needs a list of `stages`", "such as"),
        stages(
            "kind = \"stages\"\nstages = «[[\"left\"]]",
            "`right` is missing from the schedule",
            "",
        ),
        stages(
            "kind = \"gauss-seidel\"\norder = [\"left\", \"right\", «\"left\"]",
            "`left` is twice in the schedule",
            "",
        ),
        stages(
            "kind = \"gauss-seidel\"\norder = [\"left\", \"right\", «\"lift\"]",
            "there is no subsystem `lift`",
            "did you mean `left`?",
        ),
        stages(
            "kind = \"stages\"\ncoupling = \"implicit\"\nstages = [[\"left\"], «{ ratio = 2, stages = [[\"right\"]] }]",
            "implicit (tight) coupling repeats one macro step",
            "micro_steps",
        ),
        stages(
            "kind = \"stages\"\nstages = [[\"left\"], { ratio = «0, stages = [[\"right\"]] }]",
            "a whole number from 1",
            "",
        ),
        stages(
            "kind = \"stages\"\nstages = «[[\"left\"], { ratio = 4000000000, stages = [[\"right\"]] }]",
            "more than 1000000 steps",
            "",
        ),
        stages(
            "coupling = «\"implict\"",
            "cannot be `implict`",
            "did you mean `implicit`?",
        ),
        stages(
            "implicit.ports = { «\"left.fd\" = 1 }",
            "`left` has no output `fd`",
            "did you mean `fc`?",
        ),
        stages(
            "coupling = \"implicit\"\nimplicit.relative = «-1",
            "must not be negative",
            "",
        ),
        stages(
            "coupling = \"implicit\"\nimplicit.relaxation = «0",
            "must be positive",
            "",
        ),
        stages(
            "implicit.max_iterations = «5",
            "nothing iterates: the coupling is explicit",
            "write coupling = \"implicit\"",
        ),
        stages(
            "predictor = «\"third-order\"",
            "cannot be `third-order`",
            "possible are `zero-order`",
        ),
    ]);
}

#[test]
fn a_multiple_of_the_macro_step_does_not_mix_with_iteration_or_nesting() {
    let multiple = GOOD.replace("\"rk4\"", "\"rk4\"\nevery = 2");
    assert!(read(&multiple).is_ok());
    let tight = multiple.replace("\"jacobi\"", "\"jacobi\"\ncoupling = \"implicit\"");
    assert!(problems(&tight).to_string().contains("`every`"));
    let nested = "\"stages\"\nstages = [[\"left\"], { ratio = 2, stages = [[\"right\"]] }]";
    let nested = multiple.replace("\"jacobi\"", nested);
    assert!(problems(&nested).to_string().contains("nested stage"));
}

#[test]
fn a_micro_step_divides_the_step_of_its_own_stage() {
    let stages = "\"stages\"\nstages = [[\"left\"], { ratio = 5, stages = [[\"right\"]] }]";
    let text = GOOD.replace("\"jacobi\"", stages);
    assert!(read(&text.replace("\"rk4\"", "\"rk4\"\nmicro_step = 1e-3")).is_ok());
    assert!(read(&text.replace("\"rk4\"", "\"rk4\"\nmicro_step = 5e-3")).is_err());
}
