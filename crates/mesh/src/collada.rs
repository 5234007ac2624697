//! COLLADA: the triangles of the scene, with the places of its nodes, in metres.
//!
//! Which axis is up is not heeded: what shows robots does not either. Materials, skins and animations are left aside.

use std::collections::HashMap;

use oldham_space::{Mat3, Vec3};
use roxmltree::{Document, Node, ParsingOptions};

use crate::placed::Placed;
use crate::{Builder, MeshError};

/// Elements and texts of a file.
const MOST_ELEMENTS: u32 = 2_000_000;
/// Nodes in one another, and nodes that are met.
const DEEPEST: usize = 64;
const MOST_NODES: usize = 10_000;

type Read<T> = Result<T, MeshError>;
type Ids<'a, 'i> = HashMap<&'a str, Node<'a, 'i>>;

pub(crate) fn read(bytes: &[u8], mesh: &mut Builder) -> Read<()> {
    let text = std::str::from_utf8(bytes).map_err(|_| MeshError::new("it is not text"))?;
    let options = ParsingOptions {
        nodes_limit: MOST_ELEMENTS,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options);
    let document = document.map_err(|error| MeshError::new(format!("it is not XML: {error}")))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(MeshError::new("it does not begin with <COLLADA>"));
    }
    let ids: Ids<'_, '_> = root
        .descendants()
        .filter_map(|node| Some((node.attribute("id")?, node)))
        .collect();
    let unit = child(root, "asset").and_then(|asset| child(asset, "unit"));
    let unit = unit.and_then(|unit| unit.attribute("meter")?.trim().parse::<f64>().ok());
    let unit = Placed::stretched([unit.filter(|unit| *unit > 0.0).unwrap_or(1.0); 3]);
    let scene = child(root, "scene")
        .and_then(|scene| child(scene, "instance_visual_scene"))
        .and_then(|scene| target(scene, &ids))
        .or_else(|| {
            let mut all = root.descendants();
            all.find(|node| node.tag_name().name() == "visual_scene")
        });
    let Some(scene) = scene else {
        return Err(MeshError::new("there is no scene in it"));
    };
    let mut waiting = vec![(scene, unit, 0)];
    let mut met = 0;
    while let Some((node, above, depth)) = waiting.pop() {
        met += 1;
        if depth > DEEPEST || met > MOST_NODES {
            return Err(MeshError::new("its nodes hang in one another without end"));
        }
        let here = above.then(&place(node)?);
        for inner in node.children().filter(Node::is_element) {
            match inner.tag_name().name() {
                "node" => waiting.push((inner, here, depth + 1)),
                "instance_node" => {
                    waiting.extend(target(inner, &ids).map(|node| (node, here, depth + 1)));
                }
                "instance_geometry" => {
                    if let Some(geometry) = target(inner, &ids) {
                        shape(geometry, &here, &ids, mesh)?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

/// What an address in the file names.
fn target<'a, 'i>(node: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Option<Node<'a, 'i>> {
    let address = node.attribute("url").or(node.attribute("source"))?;
    ids.get(address.strip_prefix('#')?).copied()
}

fn numbers(node: Node<'_, '_>) -> Read<Vec<f64>> {
    let words = node.text().unwrap_or_default().split_whitespace();
    let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
    numbers.map_err(|_| {
        MeshError::new(format!(
            "<{}> has a word that is not a number",
            node.tag_name().name()
        ))
    })
}

fn wholes(node: Node<'_, '_>) -> Read<Vec<usize>> {
    let words = node.text().unwrap_or_default().split_whitespace();
    let wholes: Result<Vec<usize>, _> = words.map(str::parse).collect();
    wholes.map_err(|_| {
        MeshError::new(format!(
            "<{}> has a word that is no whole number",
            node.tag_name().name()
        ))
    })
}

/// Where a node is: its transformations in order.
fn place(node: Node<'_, '_>) -> Read<Placed> {
    let mut placed = Placed::WHERE_IT_IS;
    for step in node.children().filter(Node::is_element) {
        let values = match step.tag_name().name() {
            "matrix" | "translate" | "rotate" | "scale" => numbers(step)?,
            _ => continue,
        };
        placed = placed.then(&match (step.tag_name().name(), &values[..]) {
            ("matrix", m) if m.len() == 16 => Placed {
                axes: Mat3::from_columns(
                    Vec3::new(m[0], m[4], m[8]),
                    Vec3::new(m[1], m[5], m[9]),
                    Vec3::new(m[2], m[6], m[10]),
                ),
                origin: Vec3::new(m[3], m[7], m[11]),
            },
            ("translate", &[x, y, z]) => Placed {
                origin: Vec3::new(x, y, z),
                ..Placed::WHERE_IT_IS
            },
            ("rotate", &[x, y, z, degrees]) => {
                Placed::turned(Vec3::new(x, y, z), degrees.to_radians())
            }
            ("scale", &[x, y, z]) => Placed::stretched([x, y, z]),
            (name, _) => {
                return Err(MeshError::new(format!(
                    "<{name}> has too few or too many numbers"
                )));
            }
        });
    }
    Ok(placed)
}

fn shape<'a, 'i>(
    geometry: Node<'a, 'i>,
    placed: &Placed,
    ids: &Ids<'a, 'i>,
    mesh: &mut Builder,
) -> Read<()> {
    let Some(given) = child(geometry, "mesh") else {
        return Ok(());
    };
    for faces in given.children().filter(Node::is_element) {
        let kind = faces.tag_name().name();
        if !matches!(kind, "triangles" | "polylist" | "polygons") {
            continue;
        }
        let inputs: Vec<Node<'_, '_>> = faces
            .children()
            .filter(|node| node.tag_name().name() == "input")
            .collect();
        let offset = |input: &Node<'_, '_>| -> usize {
            input
                .attribute("offset")
                .and_then(|offset| offset.parse().ok())
                .unwrap_or(0)
        };
        let stride = inputs
            .iter()
            .map(offset)
            .max()
            .unwrap_or(0)
            .saturating_add(1);
        let Some(vertex) = inputs
            .iter()
            .find(|input| input.attribute("semantic") == Some("VERTEX"))
        else {
            continue;
        };
        let points = points(*vertex, ids)?;
        let points: Vec<u32> = points
            .into_iter()
            .map(|point| mesh.point(placed.point(point)))
            .collect();
        let at = offset(vertex);
        let sizes = match (kind, child(faces, "vcount")) {
            ("polylist", Some(counts)) => Some(wholes(counts)?),
            _ => None,
        };
        for list in faces
            .children()
            .filter(|node| node.tag_name().name() == "p")
        {
            let corners: Vec<usize> = wholes(list)?
                .chunks_exact(stride)
                .map(|row| row[at])
                .collect();
            match (&sizes, kind) {
                (Some(sizes), _) => {
                    let mut rest = &corners[..];
                    for &size in sizes {
                        let (face, after) = rest.split_at_checked(size).ok_or_else(too_short)?;
                        fan(face, &points, placed, mesh)?;
                        rest = after;
                    }
                }
                (None, "polygons") => fan(&corners, &points, placed, mesh)?,
                _ => {
                    for face in corners.chunks_exact(3) {
                        fan(face, &points, placed, mesh)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn too_short() -> MeshError {
    MeshError::new("a list of corners ends too early")
}

/// A face as triangles about its first corner.
fn fan(face: &[usize], points: &[u32], placed: &Placed, mesh: &mut Builder) -> Read<()> {
    let corner = |corner: usize| {
        let point = points.get(corner).copied();
        point.ok_or_else(|| MeshError::new("a face has a corner that is not there"))
    };
    for pair in face.get(1..).unwrap_or_default().windows(2) {
        let [a, mut b, mut c] = [corner(face[0])?, corner(pair[0])?, corner(pair[1])?];
        if placed.is_mirrored() {
            (b, c) = (c, b);
        }
        mesh.triangle([a, b, c])?;
    }
    Ok(())
}

/// The places of vertices: of an input, through its vertices, to a source of numbers.
fn points<'a, 'i>(vertex: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Read<Vec<Vec3>> {
    let missing = || MeshError::new("the places of its corners are missing");
    let vertices = target(vertex, ids).ok_or_else(missing)?;
    let position = vertices
        .children()
        .find(|input| input.attribute("semantic") == Some("POSITION"));
    let source = target(position.ok_or_else(missing)?, ids).ok_or_else(missing)?;
    let values = numbers(child(source, "float_array").ok_or_else(missing)?)?;
    let accessor =
        child(source, "technique_common").and_then(|technique| child(technique, "accessor"));
    let setting =
        |key: &str| accessor.and_then(|accessor| accessor.attribute(key)?.parse::<usize>().ok());
    let stride = setting("stride").unwrap_or(3).max(3);
    let rows = values
        .get(setting("offset").unwrap_or(0)..)
        .unwrap_or_default()
        .chunks(stride);
    let rows = rows.filter(|row| row.len() >= 3);
    Ok(rows.map(|row| Vec3::new(row[0], row[1], row[2])).collect())
}
