//! Whole numbers, flags and arrays at ports, in a model file, from settings to results.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};
use oldham_outside_test::extensions;

/// Shafts at 1, 2 t and 3 + t rad/s; the gears change at 0.2 s and 0.5 s, and the clutch opens at 0.8 s.
const MODEL: &str = r#"
model.name = "A gearbox"
simulation = { duration = 1.0, step = 0.01 }
[shifter.driver]
times = [0.2, 0.5, 0.8]
[gearbox.box]
predictor = "first-order"
micro_steps = 4
[excitation]
"box.speeds" = [1.0, "2 * t", "3 + t"]
[[connection]]
from = "driver.gear"
to = "box.gear"
[[connection]]
from = "driver.closed"
to = "box.closed"
"#;

fn read(text: &str) -> Result<Model, String> {
    let model = Model::parse_with(text, "box.toml", &Overrides::none(), &extensions());
    model.map_err(|problems| problems.to_string())
}

struct Recorded {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Recorded {
    fn of(model: &Model, threads: usize) -> Self {
        let mut simulation = model.simulation().expect("a simulation");
        let columns = simulation.columns().iter();
        let names = columns.map(|column| column.name.clone()).collect();
        let mut record = InMemory::default();
        let outcome = simulation.run(Run {
            threads,
            ..Run::new(model.steps(), &mut record)
        });
        outcome.end.expect("a finished run");
        let rows = record.rows;
        Self { names, rows }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let place = self.names.iter().position(|known| known == name);
        let place = place.unwrap_or_else(|| panic!("`{name}` among {:?}", self.names));
        self.rows.iter().map(|row| row[place]).collect()
    }
}

/// The integral of the engaged shaft's speed. A gear that were extrapolated would go from 1 over 2 to 3.
fn angle(t: f64) -> f64 {
    let first = t.min(0.2);
    let second = t.clamp(0.2, 0.5).powi(2) - 0.04;
    let last = t.clamp(0.5, 0.8);
    let third = 3.0 * (last - 0.5) + 0.5 * (last * last - 0.25);
    first + second + third
}

#[test]
fn whole_numbers_flags_and_arrays_travel_from_part_to_part() {
    let model = read(MODEL).unwrap_or_else(|problems| panic!("{problems}"));
    let found = Recorded::of(&model, 1);
    for (step, (turned, gear)) in (found.column("box.angle").iter())
        .zip(found.column("driver.gear"))
        .enumerate()
    {
        let t = step as f64 * 0.01;
        assert!((turned - angle(t)).abs() < 1e-12, "t = {t}: {turned}");
        let expected = if step < 20 {
            1.0
        } else if step < 50 {
            2.0
        } else {
            3.0
        };
        assert_eq!(gear, expected, "t = {t}");
    }
    let closed = found.column("driver.closed");
    assert_eq!((closed[79], closed[80]), (1.0, 0.0));
    // The shaft is seen at the middle of the last micro step.
    let seen = found.column("box.seen.3");
    assert!((seen[100] - (3.0 + 0.99875)).abs() < 1e-12, "{}", seen[100]);
    assert_eq!(Recorded::of(&model, 2).rows, found.rows);
}

#[test]
fn an_excitation_may_be_a_whole_number_or_a_flag() {
    let text = MODEL
        .replace(
            "[[connection]]\nfrom = \"driver.gear\"\nto = \"box.gear\"\n",
            "",
        )
        .replace(
            "[excitation]",
            "[excitation]\n\"box.gear\" = \"if(t < 0.3, 1, 3)\"",
        );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let end = *Recorded::of(&model, 1).column("box.angle").last().unwrap();
    let expected = 0.3 + 3.0 * 0.5 + 0.5 * (0.64 - 0.09);
    assert!((end - expected).abs() < 1e-12, "{end} {expected}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let gear_to_flag = MODEL.replace("to = \"box.closed\"", "to = \"box.gear\"");
    for (text, expected) in [
        (
            MODEL.replace("[1.0, \"2 * t\", \"3 + t\"]", "[1.0, \"2 * t\"]"),
            "a list with one expression for each number",
        ),
        (
            MODEL.replace("[1.0, \"2 * t\", \"3 + t\"]", "1.0"),
            "a list with one expression for each number",
        ),
        (
            MODEL.replace("\"box.speeds\" =", "\"box.gear\" = [1]\n\"box.speeds\" ="),
            "this input is a single number",
        ),
        (gear_to_flag, "flag (0 or 1)"),
        (
            MODEL.replace("to = \"box.gear\"", "to = \"box.gear\"\ngain = 2.0"),
            "a whole number cannot be scaled",
        ),
        (
            MODEL.replace("0.5, 0.8]", "0.5, 0.8, 0.9]"),
            "there are 3 gears",
        ),
    ] {
        let refusal = read(&text).unwrap_err();
        assert!(refusal.contains(expected), "{refusal}");
        assert!(refusal.contains("box.toml:"), "{refusal}");
    }
}
