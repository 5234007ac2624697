//! Meshes in all formats, whole and damaged, and what they enclose.

use oldham_mesh::{Mesh, enclosed, extreme_points};

const TEXT: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                    vertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n\
                    vertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

fn binary() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes[..5].copy_from_slice(b"solid");
    bytes.extend(2_u32.to_le_bytes());
    let corners: [[f32; 9]; 2] = [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0],
    ];
    for corners in corners {
        bytes.extend([0; 12]);
        bytes.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// The same square as glTF, its data within the text or in a chunk of its own.
fn square_of_gltf() -> [Vec<u8>; 2] {
    let points: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    let mut data: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    data.extend([0_u16, 1, 2, 1, 3, 2].iter().flat_map(|i| i.to_le_bytes()));
    let text = |uri: &str| {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                {{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}}],
            "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
            "buffers":[{{"byteLength":60{uri}}}]}}"#
        )
    };
    let whole = text(&format!(
        r#","uri":"data:application/octet-stream;base64,{}""#,
        base64(&data)
    ));
    let mut description = text("").into_bytes();
    while description.len() % 4 != 0 {
        description.push(b' ');
    }
    let mut glb = b"glTF".to_vec();
    let length = 12 + 8 + description.len() + 8 + data.len();
    glb.extend(
        [2_u32, length as u32, description.len() as u32]
            .iter()
            .flat_map(|x| x.to_le_bytes()),
    );
    glb.extend(b"JSON");
    glb.extend(description);
    glb.extend((data.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(data);
    [whole.into_bytes(), glb]
}

fn base64(data: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in data.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| {
            bits << 8 | u32::from(*three.get(i).unwrap_or(&0))
        });
        for i in 0..4 {
            text.push(match i <= three.len() {
                true => char::from(LETTERS[(bits >> (18 - 6 * i)) as usize & 63]),
                false => '=',
            });
        }
    }
    text
}

const TRIANGLES: &str = r##"<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/>
    <input semantic="NORMAL" source="#n" offset="1"/><p>0 0 1 0 2 0 1 0 3 0 2 0</p></triangles>"##;
const FACES: &str = r##"<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/>
    <vcount>4</vcount><p>0 1 3 2</p></polylist>"##;

/// A square of 1000 mm, turned by a quarter about the third axis and lifted by 500 mm.
fn collada(faces: &str) -> String {
    format!(
        r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.001"/></asset>
        <library_geometries><geometry id="g"><mesh>
        <source id="s"><float_array id="f">0 0 0 1000 0 0 0 1000 0 1000 1000 0</float_array>
        <technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{faces}</mesh></geometry></library_geometries>
        <library_visual_scenes><visual_scene id="scene"><node><translate>0 0 500</translate>
        <node><rotate>0 0 2 90</rotate><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#scene"/></scene></COLLADA>"##
    )
}

#[test]
fn a_square_is_the_same_in_all_formats() {
    let text = Mesh::parse("stl", TEXT.as_bytes()).unwrap();
    let square = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1/1/1 2 3\nf -3 -1 -2\n";
    let [within, beside] = square_of_gltf();
    let others = [
        Mesh::parse("stl", &binary()),
        Mesh::parse("obj", square.as_bytes()),
        Mesh::parse("gltf", &within),
        Mesh::parse("glb", &beside),
    ];
    for mesh in others {
        assert_eq!(mesh, Ok(text.clone()));
    }
    // In millimetres, turned and moved, as triangles and as a face of four corners.
    for faces in [TRIANGLES, FACES] {
        let mesh = Mesh::parse("dae", collada(faces).as_bytes()).unwrap();
        assert_eq!((mesh.points.len(), mesh.triangles.len()), (4, 2));
        let mut points = mesh.points;
        points.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let exact = [
            [-1.0, 0.0, 0.5],
            [-1.0, 1.0, 0.5],
            [0.0, 0.0, 0.5],
            [0.0, 1.0, 0.5],
        ];
        for (point, exact) in points.iter().zip(exact) {
            assert!(
                (0..3).all(|i| (point[i] - exact[i]).abs() < 1e-6),
                "{point:?}"
            );
        }
    }
    assert_eq!((text.points.len(), text.triangles.len()), (4, 2));
    // A face with four corners is two triangles.
    let face = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    let face = Mesh::parse("obj", face.as_bytes()).unwrap();
    assert_eq!(face.triangles.len(), 2);
}

/// Cut short, or with any byte changed, it is read or refused, and nothing else happens.
#[test]
fn damaged_files_are_refused_in_words() {
    let [within, beside] = square_of_gltf();
    let all = [
        ("stl", TEXT.as_bytes().to_vec()),
        ("stl", binary()),
        ("gltf", within),
        ("glb", beside),
        ("dae", collada(TRIANGLES).into_bytes()),
        ("dae", collada(FACES).into_bytes()),
    ];
    for (ending, whole) in all {
        for length in 0..whole.len() {
            let _ = Mesh::parse(ending, &whole[..length]);
            let mut changed = whole.clone();
            changed[length] ^= 0x15;
            let _ = Mesh::parse(ending, &changed);
        }
    }
    assert!(Mesh::parse("stl", &binary()[..180]).is_err());
    let wrong = [
        "f 1 2 3\n",
        "v 0 0\n",
        "v 0 0 0\nf 1 1\n",
        "v 0 0 0\nf -9 1 1\n",
        "f 0 0 0\n",
        "v 0 0 0\n",
        "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    ];
    for text in wrong {
        assert!(Mesh::parse("obj", text.as_bytes()).is_err(), "{text}");
    }
    // Nodes that hang in one another.
    let circle = r#"{"scenes":[{"nodes":[0]}],"nodes":[{"children":[0]}]}"#;
    assert!(Mesh::parse("gltf", circle.as_bytes()).is_err());
}

/// A box with its lower corner away from the origin.
fn brick([x, y, z]: [f32; 3]) -> Mesh {
    let at = |i: usize| {
        let bit = |axis: usize| (i >> axis & 1) as f32;
        [1.0 + x * bit(0), 2.0 + y * bit(1), 3.0 + z * bit(2)]
    };
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    Mesh {
        points: (0..8).map(at).collect(),
        triangles: sides
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
    }
}

#[test]
fn a_box_has_the_inertia_of_a_box() {
    let mesh = brick([2.0, 3.0, 5.0]);
    for mesh in [mesh.clone(), mesh.clone().scaled([-1.0, 1.0, 1.0])] {
        let found = enclosed(&mesh).unwrap();
        assert!((found.volume - 30.0).abs() < 1e-12);
        assert!(found.opening < 1e-14);
        assert!((found.centre.0[0].abs() - 2.0).abs() < 1e-12);
        assert!((found.centre.0[2] - 5.5).abs() < 1e-12);
        for (i, [a, b]) in [[3.0, 5.0], [2.0, 5.0], [2.0, 3.0_f64]].iter().enumerate() {
            let exact = 30.0 * (a * a + b * b) / 12.0;
            assert!((found.inertia.0[i][i] - exact).abs() < 1e-11);
            assert!(found.inertia.0[i][(i + 1) % 3].abs() < 1e-11);
        }
    }
    // Turned over it is the same solid; without a side it is open.
    let mut inside_out = mesh.clone();
    inside_out
        .triangles
        .iter_mut()
        .for_each(|corners| corners.swap(0, 1));
    assert!((enclosed(&inside_out).unwrap().volume - 30.0).abs() < 1e-12);
    let mut open = mesh.clone();
    open.triangles.truncate(10);
    assert!(enclosed(&open).unwrap().opening > 0.1);
    let mut flat = mesh;
    flat.points.iter_mut().for_each(|point| point[2] = 0.0);
    assert_eq!(enclosed(&flat), None);
}

#[test]
fn the_corners_of_a_box_stand_for_it() {
    let mesh = brick([2.0, 3.0, 5.0]);
    assert_eq!(extreme_points(&mesh).len(), 8);
}
