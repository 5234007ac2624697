//! Trees and chains, where the best single vertex can be found by trying all.

mod support;

use oldham_separator::{Graph, Link, Settings, search};
use support::{Random, components, from_environment, link, price, vertex};

/// A tree: each vertex hangs on an earlier one; on the one before where it is a chain.
fn tree(count: usize, is_chain: bool, random: &mut Random) -> Graph {
    let vertices = (0..count).map(|_| vertex(random)).collect();
    let mut links: Vec<Link> = (1..count)
        .map(|v| {
            let above = if is_chain {
                v - 1
            } else {
                v - 1 - random.below(v.min(6))
            };
            link(vec![above, v], random)
        })
        .collect();
    // Something at single vertices, such as loads and hinges on the ground.
    for _ in 0..count / 5 {
        let at = random.below(count);
        links.push(link(vec![at], random));
    }
    Graph { vertices, links }
}

/// The best single vertex with the pieces dealt in all ways.
fn best_single(graph: &Graph, parts: usize) -> Option<u64> {
    let count = graph.vertices.len();
    let mut best: Option<u64> = None;
    for vertex in 0..count {
        let mut is_out = vec![false; count];
        is_out[vertex] = true;
        let (component, pieces) = components(graph, &is_out);
        let ways = parts.pow(pieces as u32);
        for way in 0..ways {
            let labels: Vec<Option<usize>> = component
                .iter()
                .map(|piece| piece.map(|piece| way / parts.pow(piece as u32) % parts))
                .collect();
            let found = price(graph, &labels, parts);
            best = best.into_iter().chain(found).min();
        }
    }
    best
}

#[test]
fn never_worse_than_the_best_single_vertex_of_a_tree_or_chain() {
    let most = from_environment("OLDHAM_NODES", 40);
    let models = from_environment("OLDHAM_MODELS", 20);
    let mut random = Random(11);
    let (mut compared, mut better) = (0, 0);
    for number in 0..models {
        let count = 5 + random.below(most - 4);
        let graph = tree(count, number % 3 == 0, &mut random);
        let found = search(&graph, &Settings::parts(2)).separators;
        let Some(best) = best_single(&graph, 2) else {
            continue;
        };
        compared += 1;
        let first = found.first().expect("one was found by trying all");
        let told = price(&graph, &first.parts, 2).expect("a separator separates");
        assert_eq!(told, first.price.longest, "its price is what it says");
        assert!(
            told <= best,
            "tree {number} of {count}: {told} against {best}"
        );
        better += usize::from(told < best);
    }
    assert!(compared > models / 2, "{compared}");
    println!("{compared} trees and chains, {better} of them cut better at several vertices");
}

/// A chain in equal parts: the best cut is known.
#[test]
fn a_chain_is_cut_into_equal_parts() {
    let mut random = Random(1);
    for parts in 2..=5 {
        let count = parts * 12 - 1;
        let mut graph = tree(count, true, &mut random);
        for vertex in &mut graph.vertices {
            (vertex.in_part, vertex.in_separator, vertex.copy) = (100, 10, 1);
            vertex.may_separate = true;
        }
        graph.links.retain(|link| link.vertices.len() == 2);
        graph.links.iter_mut().for_each(|link| link.cost = 1000);
        let found = search(&graph, &Settings::parts(parts)).separators;
        let wanted: Vec<usize> = (1..parts).map(|part| part * 12 - 1).collect();
        assert_eq!(found[0].vertices, wanted, "{parts} parts");
    }
}

/// Same input, same answer; and none of what is kept is twice there or has an empty part.
#[test]
fn the_answer_is_the_same_every_time() {
    let mut random = Random(3);
    let graph = tree(60, false, &mut random);
    let found = search(&graph, &Settings::parts(3));
    assert_eq!(found, search(&graph, &Settings::parts(3)));
    let mut all: Vec<_> = found.separators.iter().map(|it| &it.vertices).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), found.separators.len());
    for separator in &found.separators {
        assert_eq!(
            price(&graph, &separator.parts, 3),
            Some(separator.price.longest)
        );
    }
    assert!(found.separators.is_sorted_by_key(|it| it.price));
}

/// Where no vertex may separate there is no answer; nor for more parts than vertices.
#[test]
fn what_cannot_be_separated_is_not() {
    let mut random = Random(9);
    let mut graph = tree(20, false, &mut random);
    assert!(search(&graph, &Settings::parts(30)).separators.is_empty());
    graph
        .vertices
        .iter_mut()
        .for_each(|it| it.may_separate = false);
    assert!(search(&graph, &Settings::parts(2)).separators.is_empty());
    let nothing = search(&Graph::default(), &Settings::parts(2));
    assert!(nothing.separators.is_empty());
}
