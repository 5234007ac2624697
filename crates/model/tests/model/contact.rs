//! Contacts in model files: what is refused and how, bits, and mechanisms that follow by a law.

use oldham_stability::Spectrum;

use crate::common::{
    assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};

const SCENE: &str = r#"
[model]
name = "Scene"

[simulation]
step = 1e-3
duration = 0.1

[multibody.scene]
integrator = "impulses"
gravity = [0, 0, -9.81]

[multibody.scene.contact]
friction = 0.5
bodies = ["crate"]

[multibody.scene.nodes]
crate = { position = [0, 0, 0.1] }
drum = { position = [2, 0, 0.5] }

[multibody.scene.bodies]
crate = { node = "crate", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }
drum = { node = "drum", mass = 1, shape = { sphere = 0.3 } }

[multibody.scene.shapes]
floor = { node = "ground", plane = [0, 0, 1] }
inside = { node = "drum", can = [0.1, 0.3] }

[multibody.scene.particles.gravel]
container = "inside"
count = 40
radius = 0.01
density = 2600
"#;

/// The scene with something else in place of a line.
fn broken(instead_of: &str, write: &str) -> String {
    assert_eq!(SCENE.matches(instead_of).count(), 1, "{instead_of}");
    let text = SCENE.replace(instead_of, write);
    read(&text).expect_err("a broken model").to_string()
}

#[test]
fn the_scene_runs() {
    let model = read(SCENE).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    // The crate stays, the drum falls with what is in it.
    let crate_height = run.column("scene.nodes.crate.pz");
    assert!((crate_height.last().unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(run.column("scene.particles.gravel.120").len(), 101);
}

#[test]
fn mistakes_in_contacts_are_told_with_what_to_do() {
    let cases = [
        (
            "integrator = \"impulses\"",
            "integrator = \"lms2\"",
            "contacts are solved by the integrator `impulses` alone",
        ),
        (
            "position = [0, 0, 0.1]",
            "position = [0, 0, 0.09]",
            "`crate` and the ground overlap by 1.000e-2 m at the start",
        ),
        ("count = 40", "count = 4000", "`inside` holds "),
        (
            "container = \"inside\"",
            "container = \"insde\"",
            "there is no shape `insde`",
        ),
        (
            "container = \"inside\"",
            "container = \"floor\"",
            "`floor` is no can",
        ),
        (
            "container = \"inside\"",
            "lattice = [2, 2, 2]\ncontainer = \"inside\"",
            "need either a `container` and a `count`, or a `lattice`",
        ),
        ("count = 40", "count = 40\nspacing = 1.9", "would overlap"),
        (
            "bodies = [\"crate\"]",
            "bodies = [\"crates\"]",
            "there is no body `crates`",
        ),
        (
            "plane = [0, 0, 1] }",
            "plane = [0, 0, 1], sphere = 1 }",
            "the shape `floor` is 2 things",
        ),
        (
            "can = [0.1, 0.3]",
            "can = [0.1, 0]",
            "the number must be positive",
        ),
        (
            "can = [0.1, 0.3]",
            "can = [0.1, 0.3], walls = 2",
            "a can of 2 flat walls is open",
        ),
        ("node = \"ground\", plane", "plane", "is on no node"),
    ];
    for (instead_of, write, message) in cases {
        let problems = broken(instead_of, write);
        assert!(problems.contains(message), "{write}:\n{problems}");
    }
}

/// Every particle falls by g t^2 / 2, but for a step of velocity that is taken at the end of each step.
#[test]
fn thousands_of_particles_are_recorded() {
    let scene = "
        [model]
        name = \"Dust\"

        [simulation]
        duration = 0.1
        step = 1e-3

        [multibody.scene]
        integrator = \"impulses\"
        gravity = [0, 0, -10]

        [multibody.scene.particles.dust]
        lattice = [20, 15, 4]
        position = [0, 0, 3]
        spacing = 4
        radius = 0.01
        density = 1000
    ";
    let model = read(scene).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    for particle in [1, 600, 1200] {
        let height = run.column(&format!("scene.particles.dust.{}", 3 * particle));
        let fallen = height[0] - height[height.len() - 1];
        assert!((fallen - 0.05 * 1.01).abs() < 1e-12, "{particle}: {fallen}");
    }
    let names = run.names().filter(|name| name.contains(".dust."));
    assert_eq!(names.count(), 3600);
}

#[test]
fn overlap_is_resolved_on_request() {
    let text = SCENE.replace("position = [0, 0, 0.1]", "position = [0, 0, 0.09]");
    let text = text.replace("friction = 0.5", "friction = 0.5\noverlap = \"resolve\"");
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let height = coupled(&model).column("scene.nodes.crate.pz");
    assert!((height[0] - 0.1).abs() < 1e-6, "{}", height[0]);
}

#[test]
fn a_beam_in_a_part_moved_by_impulses_is_refused_with_the_cut_to_make() {
    let text = example("beam-absorber").replace("rho = 0.6", "integrator = \"impulses\"");
    let problems = read(&text).expect_err("a beam").to_string();
    assert!(problems.contains("moves rigid bodies only"), "{problems}");
    assert!(problems.contains("cut.at = [\"girder.0\"]"), "{problems}");
}

#[test]
fn a_run_with_contacts_has_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    let model = read(SCENE).unwrap_or_else(|problems| panic!("{problems}"));
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["scene"]);
}

/// A stability verdict on contacts that come and go would be about something else.
#[test]
fn stability_of_parts_moved_by_impulses_is_not_analysed() {
    for text in [SCENE, &joined_masses("\"index-1\"")] {
        let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(Spectrum::of(&mut model.simulation().unwrap()).is_err());
    }
}

/// Two rigidly joined masses on a rail, cut between them; the second is moved by impulses (Zhang 2022, Sect. 4.1).
fn joined_masses(law: &str) -> String {
    format!(
        r#"
[model]
name = "Joined masses"

[simulation]
step = 1e-3
duration = 0.2

[multibody.pair]
rho = 0.56

[multibody.pair.nodes]
rear = {{ position = [-0.1, 0, 0], velocity = [0.1, 0, 0] }}
first = {{ position = [0, 0, 0], velocity = [0.1, 0, 0] }}
second = {{ position = [0.2, 0, 0], velocity = [0.1, 0, 0] }}

[multibody.pair.bodies]
rear = {{ node = "rear", mass = 0.5, shape = {{ box = [0.1, 0.1, 0.1] }} }}
first = {{ node = "first", mass = 0.5, shape = {{ box = [0.1, 0.1, 0.1] }} }}
second = {{ node = "second", mass = 1, shape = {{ box = [0.1, 0.1, 0.1] }} }}

[multibody.pair.joints]
rail = {{ type = "prismatic", between = ["ground", "rear"], axis = [1, 0, 0] }}
bolt = {{ type = "fixed", between = ["rear", "first"] }}
weld = {{ type = "fixed", between = ["first", "second"] }}

[multibody.pair.springs.wall]
between = ["ground", "rear"]
points = [[-1, 0, 0], [-0.1, 0, 0]]
stiffness = 5000

[multibody.pair.cut]
at = ["first"]
parts = {{ smooth = "rear", nonsmooth = "second" }}
prescribe = {law}
methods.nonsmooth.integrator = "impulses"
"#
    )
}

/// Modified inputs follow the exact motion, 0.1/ω sin ω t with ω² = 2500; original ones grow until the run is stopped, as the spectral radius 1.1053
/// of the lumped pair says.
#[test]
fn joined_masses_in_space_follow_by_modified_inputs_and_not_by_original_ones() {
    for law in ["index-1", "index-2", "index-3"] {
        let text = joined_masses(&format!("\"{law}\""));
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let run = coupled(&model);
        let found = run.column("pair.nodes.first.px");
        let exact = (0..found.len()).map(|i| 0.1 / 50.0 * (0.05 * i as f64).sin());
        let error = found.iter().zip(exact).map(|(x, y)| (x - y).abs());
        let largest = error.fold(0.0, f64::max);
        assert!(largest < 0.2 * 2e-3, "{law}: {largest}");
    }
    let model = read(&joined_masses("\"original\"")).unwrap_or_else(|p| panic!("{p}"));
    let found = coupled(&model).column("pair.nodes.first.px");
    let largest = found.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(largest > 0.1, "{largest}");
}

/// McGeer's rimless wheel: see the example for the closed form.
#[test]
fn a_wheel_without_a_rim_walks_at_its_known_speed() {
    let model = read(&example("walking-wheel")).unwrap_or_else(|problems| panic!("{problems}"));
    let rates = coupled(&model).column("toy.nodes.hub.wy");
    let late = &rates[rates.len() / 2..];
    let fastest = late.iter().fold(0.0, |m: f64, w| m.max(*w));
    assert!((fastest / 2.804 - 1.0).abs() < 0.02, "{fastest}");
}

#[test]
fn a_law_needs_a_part_moved_by_impulses_behind_the_interface() {
    let text = joined_masses("\"index-1\"");
    let text = text.replace("methods.nonsmooth.integrator = \"impulses\"", "");
    let problems = read(&text).expect_err("a law without impulses").to_string();
    assert!(problems.contains("is not moved by impulses"), "{problems}");
    assert!(
        problems.contains("cut.methods.nonsmooth.integrator"),
        "{problems}"
    );
}
