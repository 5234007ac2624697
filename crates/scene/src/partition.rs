//! How a mechanism is cut: the graph of its nodes and elements.

use oldham_model::{PartitionReport, Pose};
use oldham_multibody::NodeId;

use crate::{Ink, Mark, Page, View, ViewName};

/// Nodes and elements in the colours of their subdomains, interfaces ringed.
pub fn partition_page(
    title: impl Into<String>,
    partition: &PartitionReport,
    poses: &[Pose],
    view: ViewName,
) -> Page {
    let places = poses.iter().skip(1).map(|pose| pose.position);
    let view = View::of(view, places);
    let pieces = partition.pieces.iter().enumerate();
    let legend = pieces.map(|(index, piece)| (Ink::Member(index), piece.name.clone()));
    Page::new(title, view)
        .legend(legend.collect())
        .layer(links(partition, poses), 0.55)
        .layer(members(partition, poses), 1.0)
}

fn links(partition: &PartitionReport, poses: &[Pose]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for link in &partition.links {
        let moving = link.nodes.iter().filter(|&&node| node != NodeId::GROUND);
        let mut points: Vec<_> = moving.map(|&node| poses[node.index()].position).collect();
        // The nodes of a face are listed around it.
        if points.len() > 3 {
            points.push(points[0]);
        }
        if link.nodes.contains(&NodeId::GROUND)
            && let Some(&held) = points.first()
        {
            marks.push(Mark {
                ink: Ink::Ground,
                points: vec![held],
            });
        }
        if points.len() > 1 {
            marks.push(Mark {
                ink: Ink::Tie(link.piece),
                points,
            });
        }
    }
    marks
}

fn members(partition: &PartitionReport, poses: &[Pose]) -> Vec<Mark> {
    let mark = |ink: Ink, node: usize| Mark {
        ink,
        points: vec![poses[node].position],
    };
    let owners = partition.owners.iter().enumerate();
    let owned = owners.filter_map(|(node, owner)| Some(mark(Ink::Member((*owner)?), node)));
    // Once more on top: other nodes may be in the same place.
    let interfaces = partition.interfaces.iter().flat_map(|interface| {
        let node = interface.node.index();
        let inks = [Ink::Member(interface.owner), Ink::Ring];
        inks.map(|ink| mark(ink, node))
    });
    owned.chain(interfaces).collect()
}
