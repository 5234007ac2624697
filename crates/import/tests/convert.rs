//! What becomes of good files and of bad ones.

use std::path::{Path, PathBuf};

use oldham_import::{Converted, NoteKind, Options, convert, convert_text};
use oldham_model::{Model, Overrides};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn read(converted: &Converted) -> Model {
    let model = Model::parse(&converted.model, "model.toml", &Overrides::none());
    model.unwrap_or_else(|problems| panic!("{problems:#?}\n{}", converted.model))
}

fn notes(converted: &Converted, kind: NoteKind) -> String {
    let notes = converted
        .report
        .notes
        .iter()
        .filter(|note| note.kind == kind);
    notes.map(|note| format!("{}\n", note.text)).collect()
}

/// A robot of one link on a joint, with changes.
fn robot(inside: &str) -> String {
    format!(
        r#"<robot name="small"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="pin" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="5" velocity="1"/></joint>{inside}</robot>"#
    )
}

fn small(text: &str) -> Result<Converted, String> {
    convert_text(text, &data("small.urdf"), &Options::default()).map_err(|error| error.to_string())
}

#[test]
fn an_arm_has_all_that_its_file_says() {
    let converted = convert(&data("arm.urdf"), &Options::default()).unwrap();
    let counts = converted.report.counts;
    // The palm is fixed to the forearm, the tip to the finger.
    assert_eq!((counts.nodes, counts.bodies, counts.joints), (4, 5, 4));
    assert_eq!(
        (counts.fixed_joints, counts.servos, counts.meshes),
        (2, 1, 1)
    );
    assert_eq!((counts.sensors, counts.visuals), (8, 5));
    let said = notes(&converted, NoteKind::LeftOut);
    assert!(said.contains("2 collision shapes"), "{said}");
    assert!(said.contains("limits of velocity, 4 times"), "{said}");
    read(&converted);
    for expected in [
        "angle_stops = { lower = \"-1.6 - q_lift\", upper = \"2.1 - q_lift\"",
        "mesh = \"meshes/wedge.stl\", scale = [0.001, 0.001, 0.001]",
        "colour = \"#d9731a\"",
    ] {
        let options = Options {
            target: data(""),
            ..Options::default()
        };
        let converted = convert(&data("arm.urdf"), &options).unwrap();
        assert!(
            converted.model.contains(expected),
            "{expected} in\n{}",
            converted.model
        );
    }
}

#[test]
fn a_joint_that_cannot_be_at_zero_starts_at_its_limit() {
    let options = Options {
        free: true,
        ..Options::default()
    };
    let converted = convert(&data("walker.urdf"), &options).unwrap();
    assert!(
        converted.model.contains("q_left_knee = -0.3 "),
        "{}",
        converted.model
    );
    let model = read(&converted);
    assert_eq!(
        model
            .mechanisms()
            .next()
            .unwrap()
            .degrees_of_freedom()
            .count(),
        10
    );
}

/// The lowest shapes are balls of 20 mm at the ends of the shanks.
#[test]
fn a_robot_on_legs_begins_above_the_ground() {
    let options = Options {
        free: true,
        contacts: true,
        ..Options::default()
    };
    let converted = convert(&data("walker.urdf"), &options).unwrap();
    let model = read(&converted);
    let nodes = &model.mechanisms().next().unwrap().sketch().nodes;
    let poses = model.mechanisms().next().unwrap().given();
    let feet = nodes
        .iter()
        .zip(&poses)
        .filter(|(node, _)| node.ends_with("_shank"));
    let heights = feet.map(|(_, pose)| pose.point(oldham_multibody::Vec3::new(0.0, 0.0, -0.2))[2]);
    let lowest = heights.fold(f64::INFINITY, f64::min);
    assert!((lowest - 0.021).abs() < 1e-12, "{lowest}");
}

#[test]
fn a_finger_that_follows_is_a_transmission() {
    let finger = r#"<link name="finger"><inertial><mass value="0.1"/>
        <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="follow" type="revolute"><parent link="arm"/><child link="finger"/><axis xyz="0 1 0"/>
        <mimic joint="pin" multiplier="-0.5" offset="0.25"/><limit lower="-2" upper="2" effort="0" velocity="0"/></joint>"#;
    let converted = small(&robot(finger)).unwrap();
    assert!(
        converted.model.contains("ratios = [1, 0.5]"),
        "{}",
        converted.model
    );
    assert!(
        converted.model.contains("q_follow = 0.25"),
        "{}",
        converted.model
    );
    let model = read(&converted);
    assert_eq!(
        model
            .mechanisms()
            .next()
            .unwrap()
            .degrees_of_freedom()
            .count(),
        1
    );
}

#[test]
fn a_link_without_inertia_weighs_what_its_mesh_encloses() {
    let text = r#"<robot name="r"><link name="base"/><link name="arm">
        <collision><geometry><mesh filename="meshes/wedge.stl" scale="0.001 -0.001 0.001"/></geometry></collision></link>
        <joint name="pin" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint></robot>"#;
    let options = Options {
        density: Some(1000.0),
        contacts: true,
        ..Options::default()
    };
    let converted = convert_text(text, &data("r.urdf"), &options).unwrap();
    // A triangle of 200 by 40 mm, 40 mm thick.
    let table: toml::Table = converted.model.parse().unwrap();
    let body = &table["multibody"]["robot"]["bodies"]["arm"];
    let mass = body["mass"].as_float().unwrap();
    assert!((mass - 0.16).abs() < 1e-7, "{mass}");
    let centre: Vec<f64> = body["centre"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(toml::Value::as_float)
        .collect();
    assert!(
        (centre[0] - 0.2 / 3.0).abs() < 1e-7 && (centre[1] + 0.04 / 3.0).abs() < 1e-7,
        "{centre:?}"
    );
    read(&converted);
    // Without a density it has no mass, and its joint moves nothing.
    let error = convert_text(text, &data("r.urdf"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("nothing in it moves"), "{error}");
}

#[test]
fn an_inertia_that_no_body_has_is_replaced_by_the_nearest() {
    let text = robot("").replace("izz=\"0.1\"", "izz=\"0.3\"");
    let converted = small(&text).unwrap();
    let said = notes(&converted, NoteKind::Remark);
    // Second moments 0.15, 0.15 and -0.05: the last one becomes zero.
    assert!(said.contains("no body has the inertia of `arm`"), "{said}");
    assert!(
        converted.model.contains("inertia = [0.15, 0.15, 0.3]"),
        "{}",
        converted.model
    );
    read(&converted);
}

#[test]
fn bad_urdf_is_refused_with_a_line_and_a_reason() {
    let joint = |name: &str, parent: &str, child: &str| {
        format!(
            r#"<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>"#
        )
    };
    let link = |inside: &str| format!("<link name=\"x\">{inside}</link>{}", joint("f", "arm", "x"));
    let shape = |shape: &str| link(&format!("<visual><geometry>{shape}</geometry></visual>"));
    let cases = [
        // Loops.
        (
            robot(&joint("again", "base", "arm")),
            "hangs on two joints, `pin` and `again`",
        ),
        (
            robot(&format!(
                "<link name=\"x\"/><link name=\"y\"/>{}{}",
                joint("f", "x", "y"),
                joint("g", "y", "x")
            )),
            "hangs on itself",
        ),
        (robot(&joint("self", "arm", "base")), "there is no root"),
        (robot("<link name=\"x\"/>"), "both hang on nothing"),
        (robot(&joint("f", "arm", "nowhere")), "no link `nowhere`"),
        (robot("<link name=\"arm\"/>"), "two links `arm`"),
        // Numbers.
        (
            robot("").replace("mass value=\"1\"", "mass value=\"-1\""),
            "must not be negative",
        ),
        (
            robot("").replace("ixx=\"0.1\"", "ixx=\"-0.1\""),
            "`ixx` of <inertia> is -0.1",
        ),
        (
            robot("").replace("ixx=\"0.1\"", "ixx=\"nan\""),
            "not a usable number",
        ),
        (
            robot("").replace("ixx=\"0.1\"", "ixx=\"1e300\""),
            "not a usable number",
        ),
        (
            robot("").replace("0 1 0", "0 0 0"),
            "it must be a direction",
        ),
        (
            robot("").replace("0 1 0", "0 1"),
            "needs 3 numbers and has 2",
        ),
        (
            robot("").replace("lower=\"-1\"", "lower=\"2\""),
            "lower limit 2 is above",
        ),
        (
            robot("").replace("type=\"revolute\"", "type=\"helical\""),
            "a joint cannot be `helical`",
        ),
        (
            robot("").replace("effort=\"5\"", "effort=\"${effort}\""),
            "xacro robot.urdf.xacro",
        ),
        (
            robot(&shape("<sphere radius=\"0\"/>")),
            "must not be zero or negative",
        ),
        // Paths.
        (
            robot(&shape("<mesh filename=\"../../../../secret.stl\"/>")),
            "leads out of the folder",
        ),
        (
            robot(&shape("<mesh filename=\"file:///etc/passwd\"/>")),
            "leads out of the folder",
        ),
        (
            robot(&shape(
                "<mesh filename=\"package://data/../../secret.stl\"/>",
            )),
            "leads out of the folder",
        ),
        // Other files.
        ("<html/>".into(), "neither URDF"),
        ("hello".into(), "is not XML"),
        (
            "<!DOCTYPE r [<!ENTITY a \"b\">]><robot>&a;</robot>".into(),
            "is not XML",
        ),
        (
            "<robot xmlns:xacro=\"http://ros.org/wiki/xacro\"><xacro:property/></robot>".into(),
            "xacro",
        ),
        ("<robot/>".into(), "there is no <link>"),
        (
            format!("{}{}", "<a>".repeat(5000), "</a>".repeat(5000)),
            "deep",
        ),
    ];
    for (text, expected) in cases {
        match small(&text) {
            Err(error) => assert!(error.contains(expected), "{error}, not {expected}"),
            Ok(_) => panic!("accepted, not `{expected}`: {text}"),
        }
    }
}

#[test]
fn what_is_unlikely_is_remarked() {
    let far = robot("").replace("<axis", "<origin xyz=\"0 0 400\"/><axis");
    let said = notes(&small(&far).unwrap(), NoteKind::Remark);
    assert!(said.contains("400 m from its parent"), "{said}");
    let mesh = robot(
        "<link name=\"x\"><visual><geometry><mesh filename=\"meshes/wedge.stl\"/></geometry></visual></link>\
         <joint name=\"f\" type=\"fixed\"><parent link=\"arm\"/><child link=\"x\"/></joint>",
    );
    let said = notes(&small(&mesh).unwrap(), NoteKind::Remark);
    assert!(said.contains("200 m long"), "{said}");
    let missing = mesh.replace("wedge.stl", "nothing.stl");
    let said = notes(&small(&missing).unwrap(), NoteKind::LeftOut);
    assert!(said.contains("there is no file"), "{said}");
}

/// A file that claims to be larger than any mesh may be is not read.
#[test]
fn a_mesh_of_a_hundred_megabytes_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("large.stl")).unwrap();
    file.set_len(100 << 20).unwrap();
    let text = robot(
        "<link name=\"x\"><visual><geometry><mesh filename=\"large.stl\"/></geometry></visual></link>\
         <joint name=\"f\" type=\"fixed\"><parent link=\"arm\"/><child link=\"x\"/></joint>",
    );
    let converted =
        convert_text(&text, &folder.path().join("r.urdf"), &Options::default()).unwrap();
    let said = notes(&converted, NoteKind::LeftOut);
    assert!(said.contains("longer than 64 MiB"), "{said}");
}

#[test]
fn models_of_mujoco_are_read_whole() {
    let all = [
        ("servo_arm", "actuators <muscle>"),
        ("falling_box", ""),
        ("four_bar", ""),
        ("gripper", "<tendon>"),
        ("pendulum", ""),
        ("cartpole", ""),
        ("classes", ""),
        ("plane_walker", ""),
        ("quadruped", ""),
        ("chain", ""),
    ];
    for (name, left_out) in all {
        for contacts in [false, true] {
            let options = Options {
                contacts,
                ..Options::default()
            };
            let path = data("mjcf").join(name).with_extension("xml");
            let converted =
                convert(&path, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            let said = notes(&converted, NoteKind::LeftOut);
            assert!(said.contains(left_out), "{name}: {said}");
            // Loops, and rotors that steps of Euler cannot take, are not for impulses.
            if !(contacts && matches!(name, "plane_walker" | "four_bar")) {
                read(&converted);
            }
        }
    }
    let four_bar = convert(&data("mjcf/four_bar.xml"), &Options::default()).unwrap();
    let freedom = read(&four_bar)
        .mechanisms()
        .next()
        .unwrap()
        .degrees_of_freedom();
    assert_eq!(freedom.count(), 1);
    let arm = convert(&data("mjcf/servo_arm.xml"), &Options::default()).unwrap();
    for expected in [
        "yaw_servo = { joint = \"yaw\", position = \"0 - q_yaw\", kp = 40, kd = 3, limit = 20 }",
        "pitch_servo = { joint = \"pitch\", position = \"0 - q_pitch\", kp = 50, kd = 4 }",
        "torque = { torque = \"yaw_servo\" }",
    ] {
        assert!(arm.model.contains(expected), "{expected} in\n{}", arm.model);
    }
}

#[test]
fn bad_mjcf_is_refused_with_a_line_and_a_reason() {
    let body = |inside: &str| {
        format!("<mujoco><worldbody><body><joint/>{inside}</body></worldbody></mujoco>")
    };
    let ball = "<geom type=\"sphere\" size=\"0.1\"/>";
    assert!(small(&body(ball)).is_ok());
    let cases = [
        (body("<geom size=\"-1\"/>"), "must not be zero or negative"),
        (
            body("<geom type=\"box\" size=\"1 1\"/>"),
            "needs more numbers",
        ),
        (
            body("<geom type=\"mesh\" mesh=\"none\"/>"),
            "no mesh `none`",
        ),
        (body("<inertial mass=\"-1\" pos=\"0 0 0\"/>"), "negative"),
        (
            body("<body><freejoint/><geom size=\"1\"/></body>"),
            "must stand in <worldbody>",
        ),
        (
            body(&format!("{ball}<joint type=\"screw\"/>")),
            "a joint cannot be `screw`",
        ),
        (
            body(&format!("{ball}<joint axis=\"0 0 0\"/>")),
            "must be a direction",
        ),
        (
            body("<geom type=\"capsule\" size=\"0.1\" fromto=\"0 0 0 0 0 0\"/>"),
            "are the same",
        ),
        (
            "<mujoco><include file=\"../../x.xml\"/></mujoco>".into(),
            "leads out of the folder",
        ),
        (
            "<mujoco><include file=\"mjcf/nothing.xml\"/></mujoco>".into(),
            "cannot be included",
        ),
        (
            "<mujoco><compiler eulerseq=\"abc\"/></mujoco>".into(),
            "three of x, y and z",
        ),
        ("<mujoco/>".into(), "nothing in it moves"),
        (
            "<mujoco><equality><weld body1=\"a\"/></equality></mujoco>".to_owned(),
            "no body `a`",
        ),
    ];
    for (text, expected) in cases {
        match small(&text) {
            Err(error) => assert!(error.contains(expected), "{error}, not {expected}"),
            Ok(_) => panic!("accepted, not `{expected}`: {text}"),
        }
    }
    // A file that includes itself.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("self.xml");
    std::fs::write(&path, "<mujoco><include file=\"self.xml\"/></mujoco>").unwrap();
    let error = convert(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("include each other"), "{error}");
}
