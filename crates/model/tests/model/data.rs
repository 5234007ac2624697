//! Numbers with units, tables and files of data.

use std::fs;

use oldham_cosim::{Discard, Run};
use oldham_model::{Model, Overrides};

use crate::common::{coupled, read};

const MASS: &str = r#"
[model]
name = "Data"
[simulation]
duration = "0.5 s"
step = "1 ms"
[lumped.m]
integrator = "rk4"
masses.x = { mass = "300 kg", position = "10 mm" }
springs.s = { between = ["ground", "x"], stiffness = "2 kN/mm", damping = "1.5 kN*s/m" }
outputs.x = { motion = "x" }
"#;

#[test]
fn numbers_with_units_are_those_without() {
    let plain = MASS
        .replace("\"0.5 s\"", "0.5")
        .replace("\"1 ms\"", "1e-3")
        .replace("\"300 kg\"", "300")
        .replace("\"10 mm\"", "0.01")
        .replace("\"2 kN/mm\"", "2e6")
        .replace("\"1.5 kN*s/m\"", "1500");
    let [with, without] = [MASS, &plain].map(|text| {
        let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
        coupled(&model).column("m.x.x")
    });
    assert_eq!(with, without, "the very same bits");
}

#[test]
fn wrong_units_are_told_with_the_right_ones() {
    for (before, after, said) in [
        (
            "300 kg",
            "300 m",
            "`lumped.m.masses.x.mass` is given in m\n  help: it is measured in kg or kg·m²",
        ),
        (
            "300 kg",
            "300 kilos",
            "unknown unit `kilos`\n  help: numbers are in SI units",
        ),
        ("10 mm", "10 bar", "it is measured in m or rad"),
        (
            "2 kN/mm",
            "2,0e4",
            "has a decimal comma: `2,0e4`\n  help: write a decimal point",
        ),
        ("1 ms", "1 rpm", "it is measured in s"),
    ] {
        let found = read(&MASS.replace(before, after)).expect_err("problems");
        assert!(found.to_string().contains(said), "{after}: {found}");
    }
    let ambiguous = MASS.replace("[simulation]", "[parameters]\nkg = 2\n[simulation]");
    let found = read(&ambiguous).expect_err("problems").to_string();
    assert!(
        found.contains("write `300*kg` for the parameter"),
        "{found}"
    );
}

#[test]
fn keys_can_be_unset() {
    let set = |key: &str| {
        let overrides = Overrides(vec![(key.to_owned(), String::new())]);
        Model::parse(MASS, "test.toml", &overrides)
    };
    let free = set("lumped.m.springs.s.damping").unwrap();
    let damped = read(MASS).unwrap();
    let end = |model: &Model| coupled(model).column("m.x.x")[200].abs();
    assert!(end(&free) > end(&damped));
    let said = set("lumped.m.springs.s.dampin").unwrap_err().to_string();
    assert!(said.contains("no `dampin` that could be unset"), "{said}");
    assert!(said.contains("did you mean `damping`?"), "{said}");
    let said = set("simulation.step").unwrap_err().to_string();
    assert!(said.contains("`step` is missing"), "{said}");
}

/// A spring with a bump stop as a table, and the same by `max`: F(d), and F(d, v) with a damper that
/// is stiffer one way.
#[test]
fn tables_are_force_laws() {
    let motion = |force: &str, tables: &str| {
        let text = format!(
            r#"
[model]
name = "Table"
[simulation]
duration = 0.5
step = 1e-3
[lumped.m]
integrator = "lms2"
masses.x = {{ mass = 2.0, velocity = 3.0 }}
springs.s = {{ between = ["ground", "x"], force = "{force}" }}
outputs.x = {{ motion = "x" }}
{tables}
"#
        );
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let mut simulation = model.simulation().unwrap();
        let outcome = simulation.run(Run::new(model.steps(), &mut Discard));
        let energy = outcome.summary.final_energy.unwrap();
        let lost = energy.stored + energy.dissipated - 9.0;
        assert!(lost.abs() < 0.05, "{lost}");
        coupled(&model).column("m.x.x")
    };
    let by_hand = motion("200*d + 5000*max(d - 0.1, 0) + if(v > 0, 3, 1)*v", "");
    let by_table = motion(
        "bump(d) + damper(d, v)",
        r#"
[table.bump]
points = [[-1, -200], [0.1, 20], [1.1, 5220]]
outside = "extrapolate"
[table.damper]
x = [-1, 1]
y = [-10, 0, 10]
values = [[-10, 0, 30], [-10, 0, 30]]
"#,
    );
    let difference = by_hand.iter().zip(&by_table).map(|(a, b)| (a - b).abs());
    assert!(difference.fold(0.0, f64::max) < 1e-12);
}

/// A wheel on a road that is read from a file beside the model, in millimetres.
#[test]
fn a_road_is_read_from_a_file() {
    let folder = std::env::temp_dir().join(format!("oldham-data-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = |excitation: &str| {
        format!(
            r#"
[model]
name = "Road"
[simulation]
duration = 0.8
step = 1e-3
[lumped.wheel]
integrator = "rk4"
masses.x = {{ mass = 40.0 }}
springs.tyre = {{ between = ["road", "x"], stiffness = 2e5, damping = 300 }}
inputs.road = {{ motion = "road" }}
outputs.x = {{ motion = "x" }}
[excitation]
"wheel.road" = {excitation}
"#
        )
    };
    let model = |excitation: &str| {
        let name = folder.join("road.toml");
        Model::parse(
            &text(excitation),
            &name.to_string_lossy(),
            &Overrides::none(),
        )
    };
    let csv = |lines: &str| fs::write(folder.join("road.csv"), lines).unwrap();
    csv("# measured\ntime; left; right\n0; 0; 0\n0.4; 0; 8\n1.2; 1; 16\n");
    let file = r#"{ file = "road.csv", time = "time", column = "right", unit = "mm" }"#;
    let measured = model(file).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(measured.data_files().len(), 1);
    assert_eq!(measured.data_files()[0].path, "road.csv");
    let digest = measured.data_files()[0].digest.clone();
    let x = coupled(&measured).column("wheel.x.x");
    let written = model(r#"{ x = "0.02*min(t, 0.4) + 0.01*max(t - 0.4, 0)" }"#).unwrap();
    let difference = coupled(&written).column("wheel.x.x");
    let difference = difference.iter().zip(&x).map(|(a, b)| (a - b).abs());
    assert!(difference.fold(0.0, f64::max) < 1e-12);
    assert!(!measured.is_solved_like(&written));

    let wrong = r#"{ file = "road.csv", time = "time", column = "right", unit = "kN" }"#;
    let problems = model(wrong).expect_err("a force is no height").to_string();
    assert!(
        problems.contains("`kN` cannot be converted to m"),
        "{problems}"
    );

    for (lines, said, help) in [
        (
            "time,right\n0,0\n1,\n",
            "line 3 of `road.csv` has no value in column `right`",
            "fill the gap",
        ),
        (
            "time,right\n0,0\n1,x\n",
            "line 3 of `road.csv`: `x` in column `right` is not a number",
            "finite number",
        ),
        (
            "time;right\n0;0\n1;2,5\n",
            "`2,5` in column `right` is not a number",
            "decimal points",
        ),
        (
            "time,right\n0,0\n1,1\n\n1,2\n",
            "line 5 of `road.csv`: the abscissa must increase: 1 follows 1",
            "sort the lines",
        ),
        (
            "time,left\n0,0\n1,1\n",
            "`road.csv` has no column `right`",
            "its columns are `time`, `left`",
        ),
        (
            "time,right\n0,0\n",
            "a table needs two points at least, not 1",
            "give two lines at least",
        ),
        ("", "`road.csv` has no numbers", "a line for each point"),
    ] {
        csv(lines);
        let problems = model(file).expect_err("problems").to_string();
        assert!(
            problems.contains(said) && problems.contains(help),
            "{problems}"
        );
        assert!(problems.contains("road.toml:14:"), "{problems}");
    }
    csv("time,right\n0,0\n1,9\n");
    assert_ne!(model(file).unwrap().data_files()[0].digest, digest);
    // A run that leaves the data stops and says where.
    let short = file.replace(" }", r#", outside = "refuse" }"#);
    csv("time,right\n0,0\n0.5,9\n");
    let model = model(&short).unwrap();
    let mut simulation = model.simulation().unwrap();
    let stopped = simulation.run(Run::new(800, &mut Discard)).end.unwrap_err();
    assert!(stopped.to_string().contains("road.toml:14"), "{stopped}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A characteristic of two numbers, one line for each pair, in any order and in other units.
#[test]
fn a_map_is_read_from_a_file() {
    let folder = std::env::temp_dir().join(format!("oldham-map-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = r#"
[model]
name = "Map"
[simulation]
duration = 0.1
step = 0.01
[table.motor]
file = "motor.csv"
columns = ["speed", "throttle", "torque"]
units = ["rpm", "%", "Nm"]
[control.motor]
outputs.torque = { value = "motor(1.5*2*pi, 0.75)", unit = "N.m" }
"#;
    let read = |lines: &str| {
        fs::write(folder.join("motor.csv"), lines).unwrap();
        let name = folder.join("motor.toml");
        Model::parse(text, &name.to_string_lossy(), &Overrides::none())
    };
    // 60 and 120 rpm, half and full throttle: bilinear between.
    let model = read("speed,throttle,torque\n120,100,8\n60,50,1\n60,100,4\n120,50,3\n");
    let model = model.unwrap_or_else(|problems| panic!("{problems}"));
    let torque = coupled(&model).column("motor.torque")[3];
    assert!((torque - 4.0).abs() < 1e-12, "{torque}");
    let gap = read("speed,throttle,torque\n120,100,8\n60,50,1\n60,100,4\n");
    let said = gap.expect_err("a gap").to_string();
    assert!(
        said.contains("no complete grid: 3 rows, but 2 × 2 places"),
        "{said}"
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn mistakes_in_tables_say_what_to_do() {
    let with = |table: &str| {
        let problems = read(&format!("{MASS}{table}")).expect_err("problems");
        problems.to_string()
    };
    for (table, said) in [
        (
            "[table.a]\npoints = [[0, 0], [2, 1], [1, 2]]",
            "test.toml:13:27: the abscissa must increase: 1 follows 2",
        ),
        ("[table.a]\npoints = [[0, 0]]", "two points at least"),
        (
            "[table.sin]\npoints = [[0, 0], [1, 1]]",
            "`sin` has another meaning",
        ),
        ("[table.a]\n", "given in 0 ways"),
        (
            "[table.a]\nfile = \"none.csv\"",
            "`none.csv` cannot be read",
        ),
        (
            "[table.a]\nx = [0, 1]\ny = [0, 0]\nvalues = [[0, 1], [2, 3]]",
            "test.toml:14:9: the abscissa must increase",
        ),
        (
            "[table.a]\nx = [0, 1]\ny = [0, 1]\nvalues = [[0, 1]]",
            "2 rows of 2 numbers",
        ),
        ("[table.a]\nvalues = [[0, 1]]", "need `x` and `y`"),
    ] {
        let found = with(table);
        assert!(found.contains(said), "{table}: {found}");
    }
    let broken = MASS.replace(
        "stiffness = \"2 kN/mm\", damping = \"1.5 kN*s/m\"",
        "force = \"f(d)\"",
    );
    let said = read(&(broken + "[table.f]\npoints = [[0, 0]]")).expect_err("problems");
    assert_eq!(said.iter().len(), 1, "the law is not to blame: {said}");
}

/// One orientation in five spellings: x to the second axis, y to the third.
#[test]
fn an_orientation_may_be_given_by_directions_or_by_a_matrix() {
    let pose = |orientation: &str| {
        let text = format!(
            r#"
[model]
name = "axes"
[simulation]
duration = 0.01
step = 1e-3
[multibody.m.nodes.a]
position = [1, 2, 3]
orientation = {{ {orientation} }}
[multibody.m.bodies]
a = {{ node = "a", mass = 1, inertia = [1, 1, 1] }}
[record]
nodes = true
"#
        );
        let model = read(&text).map_err(|problems| problems.to_string())?;
        let run = coupled(&model);
        Ok::<_, String>([0, 1, 2, 3].map(|i| run.column(&format!("m.nodes.a.q{i}"))[0]))
    };
    let half = 0.5;
    for given in [
        "quaternion = [1, 1, 1, 1]",
        "x = [0, 2, 0], y = [0, 0, 1]",
        "x = [0, 1, 0], y = [0, 5, 1]",
        "y = [0, 0, 1], z = [1, 0, 0]",
        "x = [0, 1, 0], z = [3, 1, 0]",
        "matrix = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]",
    ] {
        let found = pose(given).unwrap_or_else(|problems| panic!("{given}: {problems}"));
        for q in found {
            assert!((q.abs() - half).abs() < 1e-12, "{given}: {found:?}");
        }
        assert!(
            found.iter().all(|q| q.signum() == found[0].signum()),
            "{found:?}"
        );
    }
    for (given, said) in [
        ("x = [0, 1, 0]", "two of `x`, `y` and `z` are needed, not 1"),
        (
            "x = [0, 1, 0], y = [0, -2, 0]",
            "both axes point the same way",
        ),
        (
            "matrix = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]",
            "this is no rotation",
        ),
        ("matrix = [[1, 0, 0], [0, 1, 0]]", "three rows, not 2"),
        ("x = [0, 1, 0], axis = [1, 0, 0]", "given in 2 ways"),
    ] {
        let problems = pose(given).expect_err(given);
        assert!(problems.contains(said), "{given}: {problems}");
    }
}
