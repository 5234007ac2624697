//! Contacts in model files: what is refused and how, and bits.

use oldham_cosim::{InMemory, Run};
use oldham_stability::Spectrum;

use crate::common::{
    self, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
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
            "mass = 2, shape = { box = [0.2, 0.2, 0.2] }",
            "density = 2, shape = { mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }",
            "no solid: the points lie in one plane",
        ),
        (
            "mass = 2, shape = { box = [0.2, 0.2, 0.2] }",
            "density = 2, centre = [0, 0, 0], shape = { mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }",
            "a mesh has its own centre of mass",
        ),
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
        (
            "plane = [0, 0, 1]",
            "sphere = 0",
            "the number must be positive",
        ),
        (
            "plane = [0, 0, 1]",
            "mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]",
            "no solid: the points lie in one plane",
        ),
        (
            "plane = [0, 0, 1]",
            "heights = [[0, 0], [0, 0]]",
            "how far apart are the points of the grid?",
        ),
        (
            "plane = [0, 0, 1]",
            "heights = [[0, 0], [0]], spacing = [1, 1]",
            "no ground: heights need at least two rows of the same length",
        ),
        (
            "plane = [0, 0, 1]",
            "plane = [0, 0, 1], spacing = [1, 1]",
            "only heights have a spacing",
        ),
    ];
    for (instead_of, write, message) in cases {
        let problems = broken(instead_of, write);
        assert!(problems.contains(message), "{write}:\n{problems}");
    }
}

/// What stops a run of the scene with some lines replaced.
fn stopped_by(changes: &[(&str, &str)]) -> Option<String> {
    let mut text = SCENE.to_owned();
    for (instead_of, write) in changes {
        assert_eq!(text.matches(instead_of).count(), 1, "{instead_of}");
        text = text.replace(instead_of, write);
    }
    common::stopped_by(&text)
}

#[test]
fn a_particle_that_leaves_its_can_ends_the_run_with_its_name() {
    let fast = "drum = { position = [2, 0, 0.5], velocity = [400, 0, 0] }";
    let stopped = stopped_by(&[("drum = { position = [2, 0, 0.5] }", fast)]);
    let message = stopped.expect("particles stay behind");
    assert!(
        message.contains("of `gravel` has left `inside`: a wall was passed within one step"),
        "{message}"
    );
}

#[test]
fn a_body_that_leaves_the_domain_ends_the_run_with_its_name() {
    let fast = "crate = { position = [0, 0, 0.1], velocity = [0, 0, 50] }";
    let stopped = stopped_by(&[
        ("crate = { position = [0, 0, 0.1] }", fast),
        ("friction = 0.5", "friction = 0.5\ndomain = 4"),
    ]);
    let message = stopped.expect("the crate flies away");
    assert!(message.contains("`crate` has left the domain"), "{message}");
}

/// A press that is driven into the crate: there is no solution, and the run says who is in whom.
#[test]
fn a_press_without_room_ends_the_run() {
    let press = "drum = { position = [2, 0, 0.5] }\npress = { position = [0, 0, 0.35] }";
    let body = "drum = { node = \"drum\", mass = 1, shape = { sphere = 0.3 } }\npress = { node = \"press\", mass = 9, shape = { box = [0.5, 0.5, 0.1] } }";
    let driven = "[multibody.scene.joints]\nram = { type = \"prismatic\", between = [\"ground\", \"press\"], axis = [0, 0, 1], slide = \"-4*t\" }\n\n[multibody.scene.shapes]";
    let stopped = stopped_by(&[
        ("drum = { position = [2, 0, 0.5] }", press),
        (
            "drum = { node = \"drum\", mass = 1, shape = { sphere = 0.3 } }",
            body,
        ),
        ("[multibody.scene.shapes]", driven),
        ("bodies = [\"crate\"]", "bodies = [\"crate\", \"press\"]"),
    ]);
    let message = stopped.expect("the crate has no room");
    assert!(message.contains("in each other"), "{message}");
    assert!(message.contains("`crate`"), "{message}");
}

/// Two drives that want different things of one body are refused before the run.
#[test]
fn contradictory_drives_are_refused() {
    let joints = "[multibody.scene.joints]\none = { type = \"prismatic\", between = [\"ground\", \"drum\"], axis = [0, 0, 1], slide = \"t\" }\nother = { type = \"prismatic\", between = [\"ground\", \"drum\"], axis = [0, 0, 1], slide = \"2*t\" }\n\n[multibody.scene.shapes]";
    let problems = broken("[multibody.scene.shapes]", joints);
    assert!(problems.contains("redundant"), "{problems}");
    assert!(
        problems.contains("`other`") || problems.contains("`one`"),
        "{problems}"
    );
    // Where redundant joints may share their load, they may not contradict each other.
    let shared = SCENE.replace("[multibody.scene.shapes]", joints).replace(
        "integrator = \"impulses\"",
        "integrator = \"impulses\"\nredundant = \"least-norm\"",
    );
    match read(&shared) {
        Err(problems) => assert!(!problems.to_string().is_empty()),
        Ok(model) => {
            let mut memory = InMemory::default();
            let mut simulation = model.simulation().unwrap();
            let outcome = simulation.run(Run::new(model.steps(), &mut memory));
            let error = outcome.end.expect_err("they contradict each other");
            assert!(error.to_string().contains("redundant"), "{error}");
        }
    }
}

/// A tonne on a gram stays where it is.
#[test]
fn a_mass_ratio_of_a_million_is_borne() {
    let heavy = "drum = { position = [2, 0, 0.5] }\nlid = { position = [0, 0, 0.3] }";
    let body = "crate = { node = \"crate\", mass = 1e-3, shape = { box = [0.2, 0.2, 0.2] } }\nlid = { node = \"lid\", mass = 1e3, shape = { box = [0.2, 0.2, 0.2] } }";
    let stopped = stopped_by(&[
        ("drum = { position = [2, 0, 0.5] }", heavy),
        (
            "crate = { node = \"crate\", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }",
            body,
        ),
        ("bodies = [\"crate\"]", "bodies = [\"crate\", \"lid\"]"),
    ]);
    assert_eq!(stopped, None);
}

/// A height field, a mesh and a cylinder in a file: what lies on the ground stays there.
#[test]
fn meshes_and_heights_come_from_model_files() {
    let text = SCENE
        .replace(
            "floor = { node = \"ground\", plane = [0, 0, 1] }",
            "floor = { node = \"ground\", heights = [[0, 0, 0], [0, 0, 0], [0, 0, 0]], spacing = [2, 2] }\nwedge = { node = \"crate\", mesh = [[-0.1, -0.1, -0.1], [0.1, -0.1, -0.1], [0, 0.2, -0.1], [0, 0, 0.1]] }",
        )
        .replace("bodies = [\"crate\"]", "");
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let height = coupled(&model).column("scene.nodes.crate.pz");
    assert!((height.last().unwrap() - 0.1).abs() < 1e-9);
}

/// Every particle falls by g t^2 / 2, but for a step of velocity that is taken at the end of each step.
/// A cuboid given by its corners is the cuboid: mass, centre and inertia, the way it tumbles, and where it comes to rest.
#[test]
fn a_mesh_body_with_a_density_moves_as_the_box_that_it_is() {
    let corners: Vec<String> = (0..8)
        .map(|i| {
            let [x, y, z] = [(i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64];
            format!("[{}, {}, {}]", 0.3 * x, 0.2 * y, 0.1 * z)
        })
        .collect();
    let of = |shape: &str| {
        let text = SCENE
            .replace(
                "position = [0, 0, 0.1] }",
                "position = [0, 0, 0.2], angular_velocity = [1, 2, 3] }",
            )
            .replace("mass = 2, shape = { box = [0.2, 0.2, 0.2] }", shape)
            .replace("duration = 0.1", "duration = 0.4");
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let run = coupled(&model);
        ["px", "py", "pz", "q1", "q2", "q3"].map(|c| {
            let column = run.column(&format!("scene.nodes.crate.{c}"));
            *column.last().unwrap()
        })
    };
    let mesh = of(&format!(
        "density = 500, shape = {{ mesh = [{}] }}",
        corners.join(", ")
    ));
    let cuboid = of("mass = 3, centre = [0.15, 0.1, 0.05], shape = { box = [0.3, 0.2, 0.1] }");
    for (a, b) in mesh.into_iter().zip(cuboid) {
        assert!((a - b).abs() < 1e-6, "{mesh:?} {cuboid:?}");
    }
}

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
    let model = read(SCENE).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(Spectrum::of(&mut model.simulation().unwrap()).is_err());
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
