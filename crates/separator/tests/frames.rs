//! Frames: grids of beams with holes, braces and nodes that may not separate, against random separators.

mod support;

use std::collections::VecDeque;

use oldham_separator::{Graph, Settings, search};
use support::{Random, components, from_environment, link, price, vertex};

/// A frame in space, so many nodes long, wide and high, some members left out and some braced.
fn frame(size: [usize; 3], random: &mut Random) -> Graph {
    let [nx, ny, nz] = size;
    let at = |x: usize, y: usize, z: usize| (x * ny + y) * nz + z;
    let count = nx * ny * nz;
    let vertices: Vec<_> = (0..count).map(|_| vertex(random)).collect();
    let mut links = Vec::new();
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                let here = at(x, y, z);
                let mut to = Vec::new();
                to.extend((x + 1 < nx).then(|| at(x + 1, y, z)));
                to.extend((y + 1 < ny).then(|| at(x, y + 1, z)));
                to.extend((z + 1 < nz).then(|| at(x, y, z + 1)));
                if x + 1 < nx && y + 1 < ny && random.below(4) == 0 {
                    to.push(at(x + 1, y + 1, z));
                }
                for there in to {
                    if random.below(10) > 0 {
                        links.push(link(vec![here, there], random));
                    }
                }
            }
        }
    }
    Graph { vertices, links }
}

/// A region around a random vertex, and what lies next to it.
fn random_separator(graph: &Graph, random: &mut Random) -> Option<u64> {
    let count = graph.vertices.len();
    let mut neighbours = vec![Vec::new(); count];
    for link in &graph.links {
        for &a in &link.vertices {
            neighbours[a].extend(link.vertices.iter().copied().filter(|&b| b != a));
        }
    }
    let wanted = count * (3 + random.below(5)) / 10;
    let mut is_inside = vec![false; count];
    let start = random.below(count);
    is_inside[start] = true;
    let (mut queue, mut size) = (VecDeque::from([start]), 1);
    while let Some(here) = queue.pop_front() {
        for &next in &neighbours[here] {
            // Those that may not separate come along with their neighbours.
            if !is_inside[next] && (size < wanted || !graph.vertices[here].may_separate) {
                is_inside[next] = true;
                size += 1;
                queue.push_back(next);
            }
        }
    }
    let is_out: Vec<bool> = (0..count)
        .map(|v| {
            is_inside[v]
                && graph.vertices[v].may_separate
                && neighbours[v].iter().any(|&other| !is_inside[other])
        })
        .collect();
    let (component, pieces) = components(graph, &is_out);
    // The largest piece is one part, the others are the other one.
    let mut sizes = vec![0; pieces];
    component
        .iter()
        .flatten()
        .for_each(|&piece| sizes[piece] += 1);
    let largest = (0..pieces).max_by_key(|&piece| sizes[piece])?;
    let labels: Vec<Option<usize>> = component
        .iter()
        .map(|piece| piece.map(|piece| usize::from(piece != largest)))
        .collect();
    price(graph, &labels, 2)
}

#[test]
fn never_worse_than_random_separators_of_a_frame() {
    let frames = from_environment("OLDHAM_MODELS", 3);
    let most = from_environment("OLDHAM_NODES", 150);
    let mut random = Random(17);
    let mut ratios = Vec::new();
    for number in 0..frames {
        let wanted = 50 + random.below(most - 49);
        let high = 1 + random.below(4);
        let wide = 2 + random.below(6);
        let graph = frame([(wanted / high / wide).max(3), wide, high], &mut random);
        let found = search(&graph, &Settings::parts(2)).separators;
        let random_ones = (0..200).filter_map(|_| random_separator(&graph, &mut random));
        let best = random_ones.min();
        let Some(first) = found.first() else {
            assert_eq!(best, None, "frame {number}");
            continue;
        };
        assert_eq!(price(&graph, &first.parts, 2), Some(first.price.longest));
        let Some(best) = best else {
            continue;
        };
        assert!(
            first.price.longest <= best,
            "frame {number} of {}: {} against {best}",
            graph.vertices.len(),
            first.price.longest
        );
        ratios.push(first.price.longest as f64 / best as f64);
    }
    assert!(!ratios.is_empty());
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!(
        "{} frames, {mean:.3} of the best random separator",
        ratios.len()
    );
}
