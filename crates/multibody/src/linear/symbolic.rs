//! Symbolic factorisation: which unknowns are eliminated together, and where every block of the
//! matrix lives.

use std::collections::BTreeSet;

use super::front::Shape;
use super::order::minimum_degree;

/// The blocks of unknowns of a matrix and how they are coupled.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Sizes of the principal blocks: the nodes.
    pub principal: Vec<usize>,
    /// Blocks whose own diagonal may be zero, with the principal blocks they border: multipliers.
    pub bordering: Vec<(usize, Vec<usize>)>,
    /// Sets of blocks that are coupled with each other. Bordering blocks are numbered after the
    /// principal ones.
    pub cliques: Vec<Vec<usize>>,
    /// Principal blocks that are given by a bordering block of their own, whose gradient is the
    /// identity. They are not eliminated.
    pub given: Vec<(usize, usize)>,
}

/// Where the top left entry of a matrix block lives, and the distance between its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Index of the entry.
    pub start: usize,
    /// Distance between columns.
    pub stride: usize,
}

/// One front of the factorisation.
#[derive(Clone, Debug)]
pub struct FrontPlan {
    pub shape: Shape,
    /// Where the front is stored.
    pub start: usize,
    /// The unknowns: own ones first, given ones last.
    pub unknowns: Vec<usize>,
    /// How many of them are not given.
    pub free: usize,
    pub parent: Option<usize>,
    /// Place of each boundary unknown in the parent's front.
    pub in_parent: Vec<usize>,
}

/// The plan of a factorisation.
#[derive(Clone, Debug)]
pub struct Symbolic {
    pub fronts: Vec<FrontPlan>,
    /// First unknown of each block, and after the last one the number of unknowns.
    pub block_start: Vec<usize>,
    pub storage: usize,
    /// Place of each unknown in its block, if that is a principal one.
    pub kinds: Vec<Option<usize>>,
    structure: Structure,
    /// Blocks eliminated together, in order; the given ones are the last group.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    /// For each given unknown the one that gives it.
    pub givers: Vec<usize>,
}

/// The group of a block that is in no front: it gives another.
const NO_GROUP: usize = usize::MAX;

impl Symbolic {
    pub fn new(structure: Structure) -> Self {
        let groups = initial_groups(&structure);
        Self::with_groups(structure, groups)
    }

    /// As at first, with no groups joined.
    pub fn separate(&mut self) {
        *self = Self::new(std::mem::take(&mut self.structure));
    }

    /// Joins a group with the one that follows it in the elimination tree.
    pub fn merge_with_parent(&mut self, group: usize) {
        let parent = self.fronts[group].parent.expect("a root has no parent");
        let mut groups = std::mem::take(&mut self.groups);
        let moved = std::mem::take(&mut groups[group]);
        groups[parent].splice(0..0, moved);
        groups.remove(group);
        *self = Self::with_groups(std::mem::take(&mut self.structure), groups);
    }

    /// Number of fronts that are eliminated. If there is one more, it is that of the given
    /// unknowns: it is left with what the others make of it.
    pub fn eliminated(&self) -> usize {
        self.groups.len() - usize::from(!self.givers.is_empty())
    }

    /// Place of the block of the matrix in rows `row` and columns `column`, if it is stored.
    pub fn destination(&self, row: usize, column: usize) -> Option<Destination> {
        let [row_group, column_group] = [row, column].map(|block| self.group_of[block]);
        if row_group == NO_GROUP || column_group == NO_GROUP {
            return None;
        }
        let front = &self.fronts[row_group.min(column_group)];
        let place = |block: usize| {
            let unknown = self.block_start[block];
            let found = front.unknowns.iter().position(|&u| u == unknown);
            found.expect("coupled blocks share a front")
        };
        Some(Destination {
            start: front.start + place(column) * front.shape.stride + place(row),
            stride: front.shape.stride,
        })
    }

    fn with_groups(structure: Structure, groups: Vec<Vec<usize>>) -> Self {
        let sizes = block_sizes(&structure);
        let mut block_start = vec![0];
        for size in &sizes {
            block_start.push(block_start.last().expect("not empty") + size);
        }
        let mut group_of = vec![NO_GROUP; sizes.len()];
        for (index, group) in groups.iter().enumerate() {
            group.iter().for_each(|&block| group_of[block] = index);
        }
        let boundaries = boundaries(&structure, &groups, &group_of);
        let mut symbolic = Self {
            fronts: Vec::with_capacity(groups.len()),
            block_start,
            storage: 0,
            kinds: kinds(&structure),
            givers: Vec::new(),
            structure,
            groups,
            group_of,
        };
        let given = symbolic.structure.given.iter();
        let givers = given
            .flat_map(|&(_, giver)| symbolic.block_start[giver]..symbolic.block_start[giver + 1]);
        symbolic.givers = givers.collect();
        for (index, boundary) in boundaries.iter().enumerate() {
            symbolic.push_front(index, boundary);
        }
        symbolic.connect_parents();
        symbolic
    }

    fn push_front(&mut self, group: usize, boundary: &[usize]) {
        let unknowns_of = |block: &usize| self.block_start[*block]..self.block_start[block + 1];
        let mut unknowns: Vec<usize> = self.groups[group].iter().flat_map(unknowns_of).collect();
        let own = unknowns.len();
        let is_free = |block: &&usize| self.group_of[**block] < self.eliminated();
        let free_boundary = boundary
            .iter()
            .filter(is_free)
            .flat_map(unknowns_of)
            .count();
        unknowns.extend(boundary.iter().flat_map(unknowns_of));
        let shape = Shape::new(own, unknowns.len() - own);
        self.fronts.push(FrontPlan {
            shape,
            start: self.storage,
            free: own + free_boundary,
            unknowns,
            parent: boundary.iter().map(|&b| self.group_of[b]).min(),
            in_parent: Vec::new(),
        });
        self.storage += shape.len();
    }

    fn connect_parents(&mut self) {
        for index in 0..self.fronts.len() {
            let front = &self.fronts[index];
            let Some(parent) = front.parent else { continue };
            let places = &self.fronts[parent].unknowns;
            let place = |unknown| {
                let found = places.iter().position(|&u| u == unknown);
                found.expect("the parent's front contains the boundary")
            };
            let boundary = front.unknowns[front.shape.own..].iter();
            self.fronts[index].in_parent = boundary.map(|&u| place(u)).collect();
        }
    }
}

fn kinds(structure: &Structure) -> Vec<Option<usize>> {
    let principal = structure
        .principal
        .iter()
        .flat_map(|&size| (0..size).map(Some));
    let bordering = structure
        .bordering
        .iter()
        .flat_map(|(size, _)| (0..*size).map(|_| None));
    principal.chain(bordering).collect()
}

fn block_sizes(structure: &Structure) -> Vec<usize> {
    let bordering = structure.bordering.iter().map(|(size, _)| *size);
    structure
        .principal
        .iter()
        .copied()
        .chain(bordering)
        .collect()
}

/// Every bordering block goes with the last of the principal blocks it borders: when its turn
/// comes, the elimination of the others has filled its diagonal, and the pivot block is regular
/// whenever the principal part is definite and the borders are independent.
fn initial_groups(structure: &Structure) -> Vec<Vec<usize>> {
    let principal = structure.principal.len();
    let mut cliques = structure.cliques.clone();
    for clique in &mut cliques {
        clique.retain(|&block| block < principal);
    }
    let (given, givers): (Vec<_>, Vec<_>) = structure.given.iter().copied().unzip();
    let order = minimum_degree(principal, &cliques, &given);
    let free = &order[..principal - given.len()];
    let mut rank = vec![None; principal];
    free.iter()
        .enumerate()
        .for_each(|(r, &block)| rank[block] = Some(r));
    let mut groups: Vec<Vec<usize>> = free.iter().map(|&block| vec![block]).collect();
    for (index, (_, nodes)) in structure.bordering.iter().enumerate() {
        let block = principal + index;
        if givers.contains(&block) {
            continue;
        }
        match nodes.iter().filter_map(|&node| rank[node]).max() {
            Some(last) => groups[last].push(block),
            None => groups.push(vec![block]),
        }
    }
    if !given.is_empty() {
        groups.push(given);
    }
    groups
}

/// The later blocks that each group is coupled with when it is eliminated, in order.
fn boundaries(structure: &Structure, groups: &[Vec<usize>], group_of: &[usize]) -> Vec<Vec<usize>> {
    let mut coupled: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new(); groups.len()];
    for clique in &structure.cliques {
        let stored = || clique.iter().filter(|&&b| group_of[b] != NO_GROUP);
        let Some(first) = stored().map(|&b| group_of[b]).min() else {
            continue;
        };
        coupled[first].extend(stored().map(|&b| (group_of[b], b)));
    }
    for group in 0..groups.len() {
        let beyond: BTreeSet<_> = coupled[group].split_off(&(group + 1, 0));
        if let Some(&(parent, _)) = beyond.first() {
            coupled[parent].extend(&beyond);
        }
        coupled[group] = beyond;
    }
    let blocks = |set: BTreeSet<(usize, usize)>| set.into_iter().map(|(_, b)| b).collect();
    coupled.into_iter().map(blocks).collect()
}
