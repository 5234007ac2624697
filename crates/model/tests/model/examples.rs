//! The examples of the repository, the schema and the reference page.

use std::fs;

use jsonschema::Validator;
use oldham_cosim::{Discard, Run};
use oldham_model::{Model, Overrides, schema};
use serde_json::Value;

use crate::common::{example, examples, examples_in_files, read, repository, shipped_kinds};

fn validator() -> Validator {
    jsonschema::validator_for(&shipped_kinds().schema()).expect("a valid schema")
}

fn json(text: &str) -> Value {
    toml::from_str(text).expect("a TOML file")
}

#[test]
fn every_example_reads_and_runs() {
    let examples = examples();
    assert!(examples.len() >= 8);
    let parsed = examples
        .iter()
        .map(|(name, text)| (name.clone(), read(text)));
    let in_files = examples_in_files();
    assert!(in_files.len() >= 3);
    let none = Overrides::none();
    let loaded = in_files.iter().map(|path| {
        let model = Model::read_with(path, &none, shipped_kinds());
        (path.display().to_string(), model)
    });
    for (name, model) in parsed.chain(loaded) {
        let model = model.unwrap_or_else(|problems| panic!("{name}:\n{problems}"));
        let mut simulation = model.simulation().expect("a simulation");
        if let Err(problems) = model.recorded(simulation.columns()) {
            panic!("{name}:\n{problems}");
        }
        // Whoever drives a model ends it.
        let steps = match model.external_inputs().next() {
            Some(_) => model.steps().min(2000),
            None => model.steps(),
        };
        let outcome = simulation.run(Run {
            energy_bound: model.energy_bound(),
            ..Run::new(steps, &mut Discard)
        });
        assert!(outcome.end.is_ok(), "{name}: {:?}", outcome.end);
        let duration = steps as f64 * model.step();
        assert!((simulation.time() - model.start() - duration).abs() < 1e-9);
    }
}

#[test]
fn every_example_fits_the_schema() {
    let validator = validator();
    let in_files = examples_in_files().into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.display().to_string(), text)
    });
    for (name, text) in examples().into_iter().chain(in_files) {
        if let Err(error) = validator.validate(&json(&text)) {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn broken_models_do_not_fit_the_schema() {
    let validator = validator();
    let good = example("multirate-pair");
    for (instead_of, write) in [
        ("duration = 5.0\n", ""),
        ("[model]\nname = \"Multirate pair\"\n", "[model]\n"),
        ("duration = 5.0", "duration = true"),
        ("duration = 5.0", "duratoin = 5.0"),
        ("\"stages\"", "\"stagse\""),
        ("\"rk4\"\npredictor = \"zero", "\"rk5\"\npredictor = \"zero"),
        ("ratio = 20", "ratio = 0.5"),
        ("ratio = 20, ", ""),
        ("micro_steps = 20\n\n", "micro_steps = [20]\n\n"),
        ("from = \"slow.x\"", "from = 1"),
        ("to = \"fast.base\"", ""),
    ] {
        assert_eq!(good.matches(instead_of).count(), 1, "{instead_of}");
        let broken = good.replace(instead_of, write);
        assert!(!validator.is_valid(&json(&broken)), "{write}");
        assert!(read(&broken).is_err(), "{write}");
    }
}

/// An editor offers and accepts the keys of the kind alone.
#[test]
fn the_schema_knows_which_keys_go_with_a_kind() {
    let validator = validator();
    let model = |line: &str| {
        let head =
            "[model]\nname = \"M\"\n[simulation]\nduration = 1.0\nstep = 0.1\n[multibody.m]\n";
        json(&format!("{head}{line}"))
    };
    let joint = |keys: &str| {
        model(&format!(
            "joints.j = {{ between = [\"a\", \"b\"], {keys} }}"
        ))
    };
    let sensor = |keys: &str| model(&format!("sensors.s = {{ {keys} }}"));
    assert!(validator.is_valid(&joint("type = \"rolling\", radius = 0.3")));
    assert!(!validator.is_valid(&joint("type = \"spherical\", radius = 0.3")));
    assert!(!validator.is_valid(&joint("radius = 0.3")));
    assert!(validator.is_valid(&sensor("velocity = \"a\", axis = [1, 0, 0]")));
    assert!(!validator.is_valid(&sensor("distance = [\"a\", \"b\"], axis = [1, 0, 0]")));
    assert!(!validator.is_valid(&sensor("axis = [1, 0, 0]")));
}

#[test]
fn everything_in_the_schema_is_described() {
    fn undescribed(path: &str, schema: &Value) -> Vec<String> {
        let mut found = Vec::new();
        for (key, inside) in schema["properties"].as_object().into_iter().flatten() {
            if inside["description"].as_str().is_none_or(str::is_empty) {
                found.push(format!("{path}.{key}"));
            }
        }
        for (name, inside) in schema["$defs"].as_object().into_iter().flatten() {
            found.extend(undescribed(name, inside));
        }
        found
    }
    for schema in [schema(), shipped_kinds().schema()] {
        assert_eq!(undescribed("", &schema), Vec::<String>::new());
    }
}

/// With `UPDATE_REFERENCE` set, writes the pages instead of comparing them.
#[test]
fn the_reference_pages_are_up_to_date() {
    for page in shipped_kinds().reference_pages() {
        let path = repository().join("docs/src").join(page.path);
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &page.text).expect("the page is written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        let differs = "differs: run `UPDATE_REFERENCE=1 cargo test -p oldham-model reference`";
        assert!(written == page.text, "{} {differs}", page.path);
    }
}
