//! Every mistake is found, at its place, with a way out.

mod compensator;
mod joints;
mod mechanics;
mod multibody;
mod numbers;
mod schedule;
mod structure;
mod whole;
mod wiring;

use oldham_model::Problems;

use crate::common::read;

const GOOD: &str = r#"[model]
name = "Pair"

[parameters]
m1 = 1.0
k1 = "10 * m1"

[simulation]
duration = 1.0
step = 1e-2

[lumped.left]
integrator = "lms2"

[lumped.left.masses]
x1 = { mass = "m1", velocity = 1.0 }

[lumped.left.springs]
wall = { between = ["ground", "x1"], stiffness = "k1" }
coupling = { between = ["x1", "far"], stiffness = 100 }

[lumped.left.inputs]
far = { motion = "far" }

[lumped.left.outputs]
x1 = { motion = "x1" }
fc = { force = "far" }

[lumped.right]
integrator = "rk4"

[lumped.right.masses]
x2 = { mass = 1.0 }

[lumped.right.loads]
pull = { on = "x2", force = "sin(t)" }

[lumped.right.inputs]
push = { force = "x2" }

[lumped.right.outputs]
x2 = { motion = "x2" }

[[connection]]
from = "right.x2"
to = "left.far"

[[connection]]
from = "left.fc"
to = "right.push"

[schedule]
kind = "jacobi"
"#;

/// A change of the good file that breaks it.
struct Mistake {
    instead_of: &'static str,
    /// `«` stands where the problem should be reported.
    write: &'static str,
    message: &'static str,
    help: &'static str,
}

/// What is written instead of what, and the problem and help that it should give.
fn mistake(
    instead_of: &'static str,
    write: &'static str,
    message: &'static str,
    help: &'static str,
) -> Mistake {
    Mistake {
        instead_of,
        write,
        message,
        help,
    }
}

impl Mistake {
    /// The broken file, and line and column of the expected problem.
    fn make(&self) -> (String, usize, usize) {
        assert_eq!(
            GOOD.matches(self.instead_of).count(),
            1,
            "{}",
            self.instead_of
        );
        let marked = GOOD.replace(self.instead_of, self.write);
        let before = marked.split('«').next().expect("a start");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        (marked.replace('«', ""), line, column)
    }

    #[track_caller]
    fn check(&self) {
        let (text, line, column) = self.make();
        let Err(problems) = read(&text) else {
            panic!("no problem found in `{}`", self.write);
        };
        let found = problems.iter().any(|problem| {
            let place = problems.locate(problem);
            let help = problem.help.as_deref().unwrap_or_default();
            (place.line, place.column) == (line, column)
                && problem.message.contains(self.message)
                && help.contains(self.help)
        });
        assert!(
            found && problems.iter().len() == 1,
            "expected {line}:{column} `{}` / `{}`, found\n{problems}",
            self.message,
            self.help
        );
    }
}

#[track_caller]
fn check_all<const N: usize>(mistakes: [Mistake; N]) {
    for mistake in mistakes {
        mistake.check();
    }
}

fn problems(text: &str) -> Problems {
    read(text).expect_err("a broken model")
}

#[test]
fn the_good_file_is_good() {
    if let Err(problems) = read(GOOD) {
        panic!("{problems}");
    }
}
