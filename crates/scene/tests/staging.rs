//! Scenes of models: every example has something to see, and every number is where the scene says.

use std::path::PathBuf;

use oldham_cosim::Column;
use oldham_model::{Model, Overrides};
use oldham_multibody::{Quaternion, Vec3};
use oldham_scene::Staging;
use oldham_study::{ModelFile, initial_row};
use oldham_web::{Anchor, Drawing, Film, Moves, Role, Scene, Source};

fn examples() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../examples"]
        .iter()
        .collect()
}

fn model(name: &str) -> Model {
    let file = ModelFile::new(examples().join(format!("{name}.toml")));
    file.read().unwrap_or_else(|problems| panic!("{problems}"))
}

/// A scene with the initial row of its model.
fn staged(model: &Model) -> Film {
    let (all, values) = initial_row(model).unwrap();
    let chosen = model.recorded(&all).unwrap();
    let known: Vec<Column> = chosen.iter().map(|&place| all[place].clone()).collect();
    let columns: Vec<[f64; 1]> = chosen.iter().map(|&place| [values[place]]).collect();
    Staging::of(model, &known).film(&[0.0], |place| &columns[place], 2)
}

fn anchors(drawing: &Drawing) -> Vec<Anchor> {
    match drawing {
        Drawing::Body { on, .. } | Drawing::Joint { on, .. } | Drawing::Support { on } => vec![*on],
        Drawing::Bar { through } | Drawing::Beam { through, .. } => through.clone(),
        Drawing::Spring { ends } | Drawing::Actuator { ends } => ends.to_vec(),
        Drawing::Shell { nodes, .. } => nodes.iter().map(|&node| Anchor::of(node)).collect(),
        Drawing::Grains { .. }
        | Drawing::Arrow { .. }
        | Drawing::Path { .. }
        | Drawing::Road(_) => Vec::new(),
    }
}

fn check(scene: &Scene, rows: &[f32], name: &str) {
    assert!(!scene.items.is_empty(), "{name} has nothing to see");
    assert_eq!(rows.len(), scene.width, "{name}");
    assert!(rows.iter().all(|value| value.is_finite()), "{name}");
    for item in &scene.items {
        let is_there = |anchor: &Anchor| anchor.frame < scene.frames.len();
        assert!(
            anchors(&item.drawing).iter().all(is_there),
            "{name} {}",
            item.name
        );
        assert!(
            item.group.is_none_or(|group| group < scene.groups.len()),
            "{name}"
        );
    }
    for frame in &scene.frames {
        if let Moves::Freely { at } = frame.motion {
            let turn = &rows[at + 3..at + 7];
            let norm: f32 = turn.iter().map(|q| q * q).sum();
            assert!((norm - 1.0).abs() < 1e-5, "{name} {} {turn:?}", frame.name);
        }
    }
}

/// Grains are where they start, within their can.
#[test]
fn grains_are_drawn_where_they_are() {
    let film = staged(&model("particle-damper"));
    let grains = film
        .scene
        .items
        .iter()
        .find_map(|item| match &item.drawing {
            Drawing::Grains { at, stride, radii } => Some((*at, *stride, radii.len())),
            _ => None,
        });
    let (at, stride, count) = grains.expect("the can has grains");
    assert_eq!((stride, count), (3, 147));
    let centres = film.rows[at..at + 3 * count].chunks_exact(3);
    for centre in centres {
        assert!(centre[0].hypot(centre[1]) < 0.01, "{centre:?}");
    }
}

#[test]
fn every_example_has_something_to_see() {
    let mut seen = 0;
    for entry in examples().read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let film = staged(&model(&name));
            check(&film.scene, &film.rows, &name);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} examples");
}

#[test]
fn rows_are_the_columns_that_signals_name() {
    let model = model("slider-crank");
    let (all, values) = initial_row(&model).unwrap();
    let film = staged(&model);
    for signal in &film.scene.signals {
        let place = all.iter().position(|column| column.name == signal.name);
        let value = values[place.expect("a column of the simulation")];
        assert_eq!(film.rows[signal.at], value as f32, "{}", signal.name);
    }
    let energies = film
        .scene
        .signals
        .iter()
        .filter(|it| it.role == Some(Role::Energy));
    assert_eq!(energies.count(), 3);
}

#[test]
fn nodes_are_where_the_mechanism_has_them() {
    let model = model("slider-crank");
    let mechanism = model.mechanisms().next().unwrap();
    let film = staged(&model);
    let given = mechanism.given();
    assert_eq!(film.scene.frames.len(), given.len());
    for (frame, pose) in film.scene.frames.iter().zip(&given).skip(1) {
        let Moves::Freely { at } = frame.motion else {
            panic!("{frame:?}");
        };
        for axis in 0..3 {
            let (drawn, there) = (f64::from(film.rows[at + axis]), pose.position[axis]);
            assert!(
                (drawn - there).abs() < 1e-6 * (1.0 + there.abs()),
                "{}",
                frame.name
            );
        }
    }
}

#[test]
fn the_parts_of_a_cut_have_their_colours() {
    let scene = staged(&model("cut-beam")).scene;
    let beams: Vec<(usize, usize)> = scene
        .items
        .iter()
        .filter_map(|item| match &item.drawing {
            Drawing::Beam { through, .. } => Some((item.group.unwrap(), through.len())),
            _ => None,
        })
        .collect();
    // Twelve elements with three nodes each, halved: both halves have the node between them.
    assert_eq!(beams.len(), 2, "{beams:?}");
    assert_eq!(beams.iter().map(|(_, nodes)| nodes).sum::<usize>(), 25 + 1);
    let names: Vec<&str> = beams
        .iter()
        .map(|(group, _)| scene.groups[*group].as_str())
        .collect();
    assert_eq!(names, ["beam.left", "beam.right"]);
    assert_eq!(scene.up, [0.0, 0.0, 1.0]);
}

#[test]
fn lumped_masses_stand_in_the_order_of_their_springs() {
    let scene = staged(&model("two-mass-force-displacement")).scene;
    let springs = scene
        .items
        .iter()
        .filter(|it| matches!(it.drawing, Drawing::Spring { .. }));
    assert_eq!(springs.count(), 3, "wall, coupling, wall");
    let place = |name: &str| {
        let frame = scene
            .frames
            .iter()
            .find(|frame| frame.name == name)
            .unwrap();
        match frame.motion {
            Moves::Along { base, .. } => base[0],
            other => panic!("{name}: {other:?}"),
        }
    };
    assert!(place("left.x1") < place("right.x2"));
    assert_eq!(scene.groups, ["left", "right"]);
    let spurious = scene
        .signals
        .iter()
        .filter(|it| it.role == Some(Role::Spurious));
    assert_eq!(spurious.count(), 2, "of the interface, and of the whole");
}

#[test]
fn a_coupling_that_both_sides_have_is_drawn_once() {
    let scene = staged(&model("two-mass-displacement-displacement")).scene;
    let springs = scene
        .items
        .iter()
        .filter(|it| matches!(it.drawing, Drawing::Spring { .. }));
    assert_eq!(springs.count(), 3);
}

#[test]
fn inputs_are_offered_while_a_model_runs() {
    let model = model("driven-cart");
    let (all, _) = initial_row(&model).unwrap();
    let live = Staging::of(&model, &all).live(&model);
    let scene = live.scene();
    assert_eq!(scene.source, Source::Live);
    assert_eq!(scene.inputs.len(), 1);
    let input = &scene.inputs[0];
    assert_eq!((input.initial, input.low, input.high), (1.5, -20.0, 20.0));
    assert_eq!(input.unit, "N");
}

#[test]
fn a_result_without_poses_says_what_to_do() {
    let model = model("slider-crank");
    let columns = [Column {
        name: "energy.total".into(),
        unit: oldham_cosim::Unit::JOULE,
    }];
    let staging = Staging::of(&model, &columns);
    let notes = staging.scene().notes.join(" ");
    assert!(notes.contains("record.nodes = true"), "{notes}");
    assert_eq!(staging.columns(), [0]);
}

#[test]
fn a_car_has_four_wheels_about_its_axles_and_is_followed() {
    let film = staged(&model("formula-student"));
    let scene = &film.scene;
    let mut wheels = 0;
    for item in &scene.items {
        let Drawing::Body {
            on,
            shape: oldham_web::Shape::Wheel { radius, .. },
        } = &item.drawing
        else {
            continue;
        };
        wheels += 1;
        assert_eq!(*radius, 0.203, "as the coefficients say");
        // The first axis of the wheel, turned by the wheel and by its rim, points to the left but for
        // the camber.
        let Moves::Freely { at } = scene.frames[on.frame].motion else {
            panic!("{}", item.name);
        };
        let rim = [3, 4, 5, 6].map(|i| f64::from(film.rows[at + i]));
        let turns = [Quaternion(rim), Quaternion(on.turn.unwrap())];
        let axle = turns[0].matrix() * (turns[1].matrix() * Vec3::X);
        assert!(axle[1] > 0.999, "{} {axle:?}", item.name);
    }
    assert_eq!(wheels, 4);
    let followed = &scene.frames[scene.follow.expect("it travels")];
    assert_eq!(followed.name, "car.chassis");
}

/// What the file of the robot draws is there, in its colours, and nothing stands in its place.
#[test]
fn a_converted_robot_is_drawn_by_its_visuals() {
    let scene = staged(&model("picker")).scene;
    let colours: Vec<&str> = scene
        .items
        .iter()
        .filter_map(|item| item.colour.as_deref())
        .collect();
    let of = |colour: &str| colours.iter().filter(|&&given| given == colour).count();
    assert_eq!(
        (of("#59616b"), of("#e0731a"), of("#b3bac2")),
        (3, 2, 3),
        "{colours:?}"
    );
    assert_eq!(scene.items.len(), 8, "neither points nor symbols of joints");
    // The pedestal stands still.
    let is_still = |item: &&oldham_web::Item| matches!(&item.drawing, Drawing::Body { on, .. } if on.frame == 0);
    assert_eq!(scene.items.iter().filter(is_still).count(), 2);
    assert_eq!(scene.notes, Vec::<String>::new());
}

/// A cantilever with a force at its tip feels the force times the distance from it.
#[test]
fn beams_are_coloured_by_what_their_sections_feel() {
    let text = r#"
        [model]
        name = "Cantilever"
        [simulation]
        duration = 0.1
        step = 1e-3
        [record]
        section_loads = ["bending-y"]
        [multibody.arm]
        static_equilibrium = true
        [multibody.arm.sections.bar]
        axial = 1e8
        shear = [1e8, 1e8]
        torsion = 1e6
        bending = [1e6, 1e6]
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        [multibody.arm.beams.bar]
        from = [0, 0, 0]
        to = [2, 0, 0]
        elements = 8
        section = "bar"
        up = [0, 1, 0]
        [multibody.arm.joints]
        wall = { type = "fixed", between = ["ground", "bar.0"] }
        [multibody.arm.loads]
        tip = { on = "bar.16", force = [0, 0, 10] }
    "#;
    let model = ModelFile::of_text("cantilever.toml", text).read();
    let model = model.unwrap_or_else(|problems| panic!("{problems}"));
    let film = staged(&model);
    let beam = film
        .scene
        .items
        .iter()
        .find_map(|item| match &item.drawing {
            Drawing::Beam { through, colours } => Some((through, colours.as_ref()?)),
            _ => None,
        });
    let (through, colours) = beam.expect("a beam with colours");
    assert_eq!(
        (colours.name.as_str(), colours.unit.as_str()),
        ("bending-y", "N.m")
    );
    assert_eq!(colours.of.len(), through.len());
    let sign = f64::from(film.rows[colours.of[0][0]]).signum();
    for (i, places) in colours.of.iter().enumerate() {
        let sum: f64 = places.iter().map(|&at| f64::from(film.rows[at])).sum();
        let mean = sum / places.len() as f64;
        // An inner end of elements shows the mean of both, which is exact; the outer ends and the
        // middles show that of the middle of their element.
        let at = 0.125 * i as f64;
        let at = if i == 0 {
            0.125
        } else if i == 16 {
            1.875
        } else {
            at
        };
        let expected = sign * 10.0 * (2.0 - at);
        assert!(
            (mean - expected).abs() < 1e-3 * 20.0,
            "{i}: {mean} {expected}"
        );
    }
}

/// Forces of elements that a model sends, and of parts at their interfaces, are arrows at their nodes.
#[test]
fn recorded_forces_are_arrows() {
    let arrows = |name: &str| {
        let film = staged(&model(name));
        let is_arrow = |item: &&oldham_web::Item| matches!(item.drawing, Drawing::Arrow { .. });
        let items = film.scene.items.iter().filter(is_arrow);
        items.map(|item| item.name.clone()).collect::<Vec<_>>()
    };
    let beam = arrows("cut-beam");
    assert!(
        beam.contains(&"beam.interfaces.girder.12.left".to_owned()),
        "{beam:?}"
    );
    let stack = arrows("stacked-boxes");
    for node in ["a", "b", "c", "d", "e", "ball"] {
        let name = format!("scene.contacts.{node}");
        assert!(stack.contains(&name), "{name} is not in {stack:?}");
    }
    let car = arrows("formula-student");
    assert!(car.contains(&"car.tyre-rr".to_owned()), "{car:?}");
}

/// A body with a file is drawn by its triangles; one whose file cannot be read is drawn without, and that
/// is said.
#[test]
fn bodies_are_drawn_by_their_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let text = |mesh: &str| {
        format!(
            r#"
            [model]
            name = "Mesh"
            [simulation]
            duration = 0.1
            step = 1e-3
            [multibody.arm.nodes]
            tip = {{ position = [1, 0, 0] }}
            [multibody.arm.bodies]
            tip = {{ node = "tip", mass = 1, inertia = [1, 1, 1], mesh = "{mesh}", mesh_scale = 1e-3 }}
            [multibody.arm.joints]
            pin = {{ type = "revolute", between = ["ground", "tip"], position = [0, 0, 0], axis = [0, 1, 0] }}
            "#
        )
    };
    let corners = "v 0 0 0\nv 100 0 0\nv 0 100 0\nf 1 2 3\n";
    std::fs::write(folder.path().join("tip.obj"), corners).unwrap();
    let staged_with = |mesh: &str| {
        let path = folder.path().join("model.toml");
        std::fs::write(&path, text(mesh)).unwrap();
        let model = ModelFile::new(path).read();
        staged(&model.unwrap_or_else(|problems| panic!("{problems}"))).scene
    };
    let mesh = |scene: &Scene| {
        scene.items.iter().find_map(|item| match &item.drawing {
            Drawing::Body {
                shape: oldham_web::Shape::Mesh { points, triangles },
                ..
            } => Some((points.clone(), triangles.len())),
            _ => None,
        })
    };
    let (points, triangles) = mesh(&staged_with("tip.obj")).expect("the mesh is drawn");
    assert_eq!((points.len(), triangles), (3, 1));
    assert!((points[1][0] - 0.1).abs() < 1e-6, "millimetres");
    for wrong in ["none.stl", "model.toml"] {
        let scene = staged_with(wrong);
        assert!(mesh(&scene).is_none());
        let told = scene.notes.join(" ");
        assert!(
            told.contains(wrong) && told.contains("is not drawn"),
            "{told}"
        );
    }
}

/// A track is drawn by points of the road that the tyres feel, and a cockpit by what the model says of it.
#[test]
fn a_track_and_its_cockpit_are_those_of_the_model() {
    let film = staged(&model("drive-track"));
    let scene = &film.scene;
    let roads = scene.items.iter().filter_map(|item| match &item.drawing {
        Drawing::Road(road) => Some(road),
        _ => None,
    });
    let roads: Vec<_> = roads.collect();
    let [road] = roads[..] else {
        panic!("{} roads", roads.len())
    };
    assert_eq!(road.across, [5.7, 3.0, 2.5, 0.0, -2.5, -3.0, -5.7]);
    let sections: Vec<_> = road.points.chunks(road.across.len()).collect();
    assert!((road.length - 439.0).abs() < 1.0 && sections.len() == 439);
    for section in &sections {
        for (point, left) in section.iter().zip(&road.across) {
            let away = (point[0] - section[3][0]).hypot(point[1] - section[3][1]);
            assert!((away - left.abs()).abs() < 2e-3, "{away} m, {left}");
        }
    }
    // Two hills of 1.3 to 1.4 m, and a start on the level.
    let heights = sections.iter().map(|section| section[3][2]);
    let highest = heights.fold(0.0, f64::max);
    assert!((1.0..2.0).contains(&highest), "{highest}");
    assert!(sections[0][3][2].abs() < 0.05);
    assert_eq!(road.gates.len(), 3);
    assert!(road.kerbs.len() > 5 && road.cones.len() > 60);
    assert!(road.land.is_some());
    let bytes = film.to_bytes().len();
    assert!(bytes < 400_000, "{bytes} B");
    let rider = scene.rider.expect("a rider");
    assert_eq!(scene.frames[rider.frame].name, "car.chassis");
    let eye = rider.eye.expect("an eye");
    let expected = [0.1, 0.0, 0.49];
    assert!(
        (0..3).all(|i| (eye[i] - expected[i]).abs() < 1e-12),
        "{eye:?}"
    );
    let [speed, wheels] = &scene.gauges[..] else {
        panic!("{:?}", scene.gauges)
    };
    assert_eq!(
        (speed.label.as_str(), speed.unit.as_str()),
        ("speed", "km/h")
    );
    assert!((speed.factor * 3.6 - 1.0).abs() < 1e-15);
    let at = scene.signals.iter().find(|signal| signal.name == "car.vx");
    assert_eq!(Some(speed.at), at.map(|signal| signal.at));
    assert!((wheels.factor - std::f64::consts::TAU / 60.0).abs() < 1e-15);
}

#[test]
fn cockpits_that_cannot_be_are_reported() {
    let crank = std::fs::read_to_string(examples().join("slider-crank.toml")).unwrap();
    let told = |more: &str| {
        let model = Model::parse(
            &format!("{crank}\n[cockpit]\n{more}\n"),
            "crank.toml",
            &Overrides::none(),
        );
        model.map(|_| ()).unwrap_err().to_string()
    };
    let cases = [
        ("on = \"crank.nothing\"", "there is no node `crank.nothing`"),
        ("eye = [0, 0, 1]", "an eye needs the body that carries it"),
        (
            "gauges = [{ signal = \"t\", unit = \"furlongs\" }]",
            "unknown unit `furlongs`",
        ),
        (
            "gauges = [{ signal = \"t\", range = [2, 1] }]",
            "lowest to its highest",
        ),
        ("gauges = [{ unit = \"m\" }]", "signal"),
    ];
    for (given, expected) in cases {
        let problems = told(given);
        assert!(problems.contains(expected), "{given}: {problems}");
    }
    // A signal that is not recorded is told on the page.
    let text = format!("{crank}\n[cockpit]\ngauges = [{{ signal = \"no.such\" }}]\n");
    let film = staged(&Model::parse(&text, "crank.toml", &Overrides::none()).unwrap());
    assert!(film.scene.gauges.is_empty());
    assert!(
        film.scene
            .notes
            .iter()
            .any(|note| note.contains("`no.such`"))
    );
}
