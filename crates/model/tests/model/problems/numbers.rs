//! Parameters, expressions, time.

use super::{check_all, mistake};

#[test]
fn parameters_and_expressions() {
    check_all([
        mistake(
            "\"10 * m1\"",
            "«\"10 * k1\"",
            "parameters depend on each other: k1 -> k1",
            "",
        ),
        mistake(
            "m1 = 1.0\nk1 = \"10 * m1\"",
            "m1 = «\"2*k1\"\nk1 = \"10 * m1\"",
            "depend on each other: m1 -> k1 -> m1",
            "",
        ),
        mistake(
            "\"10 * m1\"",
            "\"10 * «mm1\"",
            "`mm1` is no parameter",
            "did you mean `m1`?",
        ),
        mistake(
            "\"10 * m1\"",
            "\"10 * «sqr(m1)\"",
            "there is no function `sqr`",
            "did you mean `sqrt`?",
        ),
        mistake("\"10 * m1\"", "«\"10 *\"", "the expression ends where", ""),
        mistake("\"10 * m1\"", "\"10 «) m1\"", "found `)`", ""),
        mistake(
            "\"10 * m1\"",
            "«\"m1 / 0\"",
            "a finite number is needed",
            "",
        ),
        mistake("\"10 * m1\"", "«nan", "a finite number is needed", ""),
        mistake(
            "m1 = 1.0\nk1",
            "m1 = 1.0\n«e = 1\nk1",
            "`e` has another meaning",
            "taken are t, pi, e",
        ),
        mistake(
            "m1 = 1.0\nk1",
            "m1 = 1.0\n«a-b = 1\nk1",
            "`a-b` cannot be the name of a parameter",
            "letters",
        ),
        mistake(
            "\"sin(t)\"",
            "\"sin(«d)\"",
            "`d` is no parameter and no variable of this expression",
            "",
        ),
    ]);
}

#[test]
fn time() {
    check_all([
        mistake("step = 1e-2", "step = «-1e-2", "must be positive", ""),
        mistake("step = 1e-2", "step = «0", "must be positive", ""),
        mistake("step = 1e-2", "step = «\"m1 - 1\"", "must be positive", ""),
        mistake("step = 1e-2", "step = «2.0", "longer than the duration", ""),
        mistake("step = 1e-2", "step = «1e-300", "more than 1e15 steps", ""),
        mistake("duration = 1.0", "duration = «-1.0", "must be positive", ""),
        mistake(
            "duration = 1.0",
            "duration = «0.025",
            "no whole number of steps of 0.01 s",
            "0.02 and 0.03",
        ),
        mistake(
            "duration = 1.0",
            "duration = 1.0\nevents = [0.5, «1.5]",
            "must lie between the start, 0 s, and the end, 1 s",
            "",
        ),
        mistake(
            "duration = 1.0",
            "duration = 1.0\nthreads = «0",
            "a whole number from 1",
            "",
        ),
        mistake(
            "duration = 1.0",
            "duration = 1.0\nenergy_bound = «-1",
            "must not be negative",
            "",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\nmicro_step = «3e-3",
            "no whole number of micro steps of 0.003 s",
            "micro_steps = 3",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\nmicro_steps = «0",
            "a whole number from 1",
            "",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\nmicro_steps = «\"m1 / 2\"",
            "a whole number from 1",
            "",
        ),
        mistake(
            "\"lms2\"",
            "\"lms2\"\nmicro_steps = 2\nmicro_step = «5e-3",
            "say the same thing",
            "",
        ),
    ]);
}
