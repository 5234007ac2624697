//! Hostile files: no panic, no stack overflow, bounded memory.

use std::fs;

use oldham_model::{MAX_BYTES, Model, Overrides};

use crate::common::{examples, read};

const MANY: usize = 100_000;

fn first_problem(text: &str) -> String {
    let problems = read(text).expect_err("a refusal");
    let first = problems.iter().next().expect("a problem");
    first.message.clone()
}

#[test]
fn deep_nesting_is_refused() {
    let dots = "a.".repeat(78);
    let texts = [
        format!("a = {}{}", "[".repeat(MANY), "]".repeat(MANY)),
        format!("a = {}1{}", "{a=".repeat(MANY), "}".repeat(MANY)),
        format!("{}a = 1", "a.".repeat(MANY)),
        format!("[{}a]", "a.".repeat(MANY)),
        format!("[[{}a]]", "a.".repeat(MANY)),
        // Each within the limits of the parser, but not their product.
        format!(
            "a = {}1{}",
            format!("{{ {dots}a = ").repeat(78),
            "}".repeat(78)
        ),
    ];
    for text in texts {
        let message = first_problem(&text);
        assert!(message.contains("nested more than 100 levels"), "{message}");
    }
}

#[test]
fn deep_stages_and_expressions_are_refused() {
    let stages = format!(
        "{}[\"a\"]{}",
        "{ ratio = 1, stages = [".repeat(MANY),
        "] }".repeat(MANY)
    );
    assert!(read(&format!("[schedule]\nstages = [{stages}]")).is_err());
    let deep = format!(
        "[parameters]\na = \"{}1{}\"",
        "(".repeat(MANY),
        ")".repeat(MANY)
    );
    assert!(read(&deep).is_err());
}

/// Each is within its own bound. Twenty of them took 78 s and 6.7 GB until they were refused.
#[test]
fn very_many_shell_elements_are_refused_before_they_are_made() {
    let shell = |index: usize| {
        format!(
            "[multibody.plate.shells.s{index}]\nrectangle = [[0, 0, {index}], [1, 0, 0], [0, 1, 0]]\n\
             elements = [100, 100]\nthickness = 1e-3\nyoung = 1e9\npoisson = 0.3\ndensity = 1e3\n\
             clamp = [\"u0\"]\n"
        )
    };
    let shells: String = (0..20).map(shell).collect();
    let head = "[model]\nname = \"Plates\"\n[simulation]\nduration = 1\nstep = 1e-3\n";
    let message = first_problem(&format!("{head}{shells}"));
    assert!(
        message.contains("at most 40000 elements in all"),
        "{message}"
    );
}

#[test]
fn a_long_chain_of_parameters_is_evaluated() {
    let mut text = "[model]\nname = \"Chain\"\n[parameters]\np0 = 1\n".to_owned();
    for i in 1..20_000 {
        text += &format!("p{i} = \"p{} + 1\"\n", i - 1);
    }
    text += "[simulation]\nduration = \"p19999\"\nstep = 1\n";
    text += "[lumped.a]\nintegrator = \"rk4\"\nmasses.x = { mass = 1 }\n";
    assert_eq!(read(&text).unwrap().steps(), 20_000);
}

#[test]
fn a_long_cycle_of_parameters_is_an_error() {
    let mut text = "[parameters]\n".to_owned();
    for i in 0..MANY {
        text += &format!("p{i} = \"p{}\"\n", (i + 1) % MANY);
    }
    let problems = read(&text).expect_err("a cycle");
    assert!(problems.to_string().contains("depend on each other"));
}

#[test]
fn a_file_beyond_the_limits_is_refused() {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("oldham-too-long-{}.toml", std::process::id()));
    let file = fs::File::create(&path).unwrap();
    file.set_len(MAX_BYTES + 1).unwrap();
    let problems = Model::read(&path, &Overrides::none()).expect_err("a refusal");
    fs::remove_file(&path).unwrap();
    assert!(
        problems.to_string().contains("longer than 64 MiB"),
        "{problems}"
    );

    let masses = (0..1_000_000).map(|i| format!("m{i} = {{ mass = 1 }}\n"));
    let text = "[lumped.a.masses]\n".to_owned() + &masses.collect::<String>();
    let message = first_problem(&text);
    assert!(
        message.contains("more than 4000000 words and signs"),
        "{message}"
    );
}

#[test]
fn many_masses_are_read() {
    let mut text = "[model]\nname = \"Many\"\n[simulation]\nduration = 1\nstep = 1\n".to_owned();
    text += "[lumped.a]\nintegrator = \"semi-implicit-euler\"\n[lumped.a.masses]\n";
    text.extend((0..MANY).map(|i| format!("m{i} = {{ mass = 1 }}\n")));
    assert!(read(&text).is_ok());
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    let problems = Model::read("no such file.toml".as_ref(), &Overrides::none()).unwrap_err();
    let text = problems.to_string();
    assert!(
        text.contains("no such file.toml:1:1: cannot be read"),
        "{text}"
    );
    let path = std::env::temp_dir().join(format!("oldham-latin-{}.toml", std::process::id()));
    fs::write(&path, b"[model]\nname = \"M\xfcller\"\n").unwrap();
    let problems = Model::read(&path, &Overrides::none()).unwrap_err();
    fs::remove_file(&path).unwrap();
    assert!(
        problems
            .to_string()
            .contains(":2:10: the file is no text in UTF-8"),
        "{problems}"
    );
}

/// A small generator of random numbers (xorshift64*), so that failures can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// A byte changed, removed or doubled, a piece moved, or the end cut off.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = b"\"'[]{}=.,-+0159eEx \n#\\"[random.below(22)],
            1 => bytes[at] = random.below(256) as u8,
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, bytes[at]),
            4 => {
                let end = (at + random.below(60)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_examples_never_panic() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let examples = examples();
    let mut good = 0;
    for round in 0..3000 {
        let (_, text) = &examples[round % examples.len()];
        match read(&mutate(text, &mut random)) {
            Ok(model) => {
                good += 1;
                // Whatever was read can at least be asked for a simulation.
                drop(model.simulation());
            }
            Err(problems) => {
                assert!(problems.iter().len() > 0);
                assert!(!problems.to_string().is_empty());
            }
        }
    }
    assert!(
        good > 100,
        "too few mutants survive to test what follows: {good}"
    );
}

#[test]
fn mutated_overrides_never_panic() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let examples = examples();
    let pairs = [
        ("simulation.step", "1e-3"),
        ("lumped.left.masses.x1", "{ mass = 1.0 }"),
        (
            "schedule.stages",
            "[[\"left\"], { ratio = 2, stages = [[\"right\"]] }]",
        ),
        ("excitation.\"left.far\"", "{ x = 0, v = \"t\", a = 1 }"),
    ];
    for round in 0..3000 {
        let (_, text) = &examples[round % examples.len()];
        let (key, value) = pairs[round % pairs.len()];
        let pair = (mutate(key, &mut random), mutate(value, &mut random));
        if let Err(problems) = Model::parse(text, "test.toml", &Overrides(vec![pair])) {
            assert!(!problems.to_string().is_empty());
        }
    }
}
