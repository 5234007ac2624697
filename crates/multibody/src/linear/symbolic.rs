//! Symbolic factorisation: which unknowns are eliminated together, and where every block of the
//! matrix lives.

use std::collections::BTreeMap;

use super::front::FrontShape;
use super::order::minimum_degree;
use oldham_cosim::Visitor;

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
    pub prescribed: Vec<(usize, usize)>,
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
    pub shape: FrontShape,
    /// Where the front is stored.
    pub start: usize,
    /// The unknowns: own ones first, given ones last.
    pub unknowns: Vec<usize>,
    /// How many of them are not given.
    pub free: usize,
    pub parent: Option<usize>,
    /// Fronts whose parent this is.
    pub children: Vec<usize>,
    /// Where its update is stored until the parent takes it.
    pub update: usize,
    /// How many of the boundary unknowns the parent owns: the first ones.
    pub owned_by_parent: usize,
    /// Place of each boundary unknown in the parent's front.
    pub in_parent: Vec<usize>,
}

/// The plan of a factorisation.
#[derive(Clone, Debug)]
pub struct Symbolic {
    pub fronts: Vec<FrontPlan>,
    /// First unknown of each block, and after the last one the number of unknowns.
    pub block_start: Vec<usize>,
    /// Numbers that the factors need.
    pub storage: usize,
    /// Numbers that the updates need while factors are made.
    pub updates: usize,
    /// Place of each unknown in its block, if that is a principal one.
    pub kinds: Vec<Option<usize>>,
    structure: Structure,
    /// Blocks eliminated together, in order; the given ones are the last group.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    /// For each block its group and its place there, packed: the groups as a value.
    packed: Vec<u64>,
    /// For each given unknown the one that gives it.
    pub prescribers: Vec<usize>,
}

/// The group of a block that is in no front: it gives another.
const NO_GROUP: usize = usize::MAX;
/// The same where groups are packed: bits for the place in the group, below those for the group.
const NOT_GROUPED: u64 = u64::MAX;
const PLACE_BITS: u32 = 32;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

impl Symbolic {
    pub fn new(structure: Structure) -> Self {
        Self::within(structure, u64::MAX).expect("no bound")
    }

    /// If factors and updates would take more than so many bytes, gives how many.
    pub fn within(structure: Structure, most_bytes: u64) -> Result<Self, u64> {
        let groups = initial_groups(&structure);
        let groups = in_postorder(&structure, groups);
        Self::with_groups_within(structure, groups, most_bytes)
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

    /// Whether another has the same groups of the same blocks, so that its matrix is laid out alike.
    pub fn is_grouped_as(&self, other: &Self) -> bool {
        self.packed == other.packed
    }

    /// Shows the groups; gives whether the visitor has changed them. Then they are to be
    /// [taken](Self::regroup).
    pub fn visit_groups(&mut self, visitor: &mut dyn Visitor) -> bool {
        let mut changed = false;
        for packed in &mut self.packed {
            let before = *packed;
            visitor.count(packed);
            changed |= *packed != before;
        }
        changed
    }

    /// Takes the groups that a visitor has put in place.
    pub fn regroup(&mut self) {
        let mut places: Vec<(u64, usize)> = self.packed.iter().copied().zip(0..).collect();
        places.retain(|&(packed, _)| packed != NOT_GROUPED);
        places.sort_unstable();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (packed, block) in places {
            if packed & PLACE == 0 {
                groups.push(Vec::new());
            }
            groups.last_mut().expect("a first place").push(block);
        }
        *self = Self::with_groups(std::mem::take(&mut self.structure), groups);
    }

    fn pack(&mut self) {
        self.packed.fill(NOT_GROUPED);
        for (index, group) in self.groups.iter().enumerate() {
            for (place, &block) in group.iter().enumerate() {
                self.packed[block] = ((index as u64) << PLACE_BITS) | place as u64;
            }
        }
    }

    /// Number of fronts that are eliminated. If there is one more, it is that of the given
    /// unknowns: it is left with what the others make of it.
    pub fn eliminated(&self) -> usize {
        self.groups.len() - usize::from(!self.prescribers.is_empty())
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
        let (row, column, shape) = (place(row), place(column), front.shape);
        Some(match column.checked_sub(shape.own) {
            None => Destination {
                start: front.start + column * shape.stride + row,
                stride: shape.stride,
            },
            Some(beyond) => Destination {
                start: front.start + shape.panel() + beyond * shape.own + row,
                stride: shape.own,
            },
        })
    }

    fn with_groups(structure: Structure, groups: Vec<Vec<usize>>) -> Self {
        Self::with_groups_within(structure, groups, u64::MAX).expect("no bound")
    }

    /// What is told if it would take too much is found before the lists of unknowns are made, which take
    /// as much as the factors.
    fn with_groups_within(
        structure: Structure,
        groups: Vec<Vec<usize>>,
        most_bytes: u64,
    ) -> Result<Self, u64> {
        let sizes = block_sizes(&structure);
        let mut block_start = vec![0];
        for size in &sizes {
            block_start.push(block_start.last().expect("not empty") + size);
        }
        let group_of = groups_of_blocks(sizes.len(), &groups);
        let boundaries = boundaries(&structure, &groups, &group_of);
        let unknowns = |blocks: &[usize]| blocks.iter().map(|&block| sizes[block]).sum();
        let shapes: Vec<FrontShape> = groups
            .iter()
            .zip(&boundaries)
            .map(|(own, boundary)| FrontShape::new(unknowns(own), unknowns(boundary)))
            .collect();
        let parents = boundaries
            .iter()
            .map(|boundary| boundary.iter().map(|&block| group_of[block]).min());
        let mut children = vec![Vec::new(); groups.len()];
        for (group, parent) in parents.enumerate() {
            if let Some(parent) = parent {
                children[parent].push(group);
            }
        }
        let (places, updates) = places_of_updates(&shapes, &children);
        let mut symbolic = Self {
            fronts: Vec::with_capacity(groups.len()),
            block_start,
            storage: shapes.iter().map(FrontShape::factors).sum(),
            updates,
            kinds: kinds(&structure),
            prescribers: Vec::new(),
            packed: vec![0; sizes.len()],
            structure,
            groups,
            group_of,
        };
        if symbolic.bytes() > most_bytes {
            return Err(symbolic.bytes());
        }
        symbolic.pack();
        let prescribed = symbolic.structure.prescribed.iter();
        let prescribers = prescribed.flat_map(|&(_, prescriber)| {
            symbolic.block_start[prescriber]..symbolic.block_start[prescriber + 1]
        });
        symbolic.prescribers = prescribers.collect();
        let mut start = 0;
        let rest = children.into_iter().zip(places);
        for (index, (boundary, (children, update))) in boundaries.iter().zip(rest).enumerate() {
            let shape = shapes[index];
            symbolic.push_front(index, boundary, shape, start);
            let front = symbolic.fronts.last_mut().expect("it was just pushed");
            (front.children, front.update) = (children, update);
            start += shape.factors();
        }
        symbolic.connect_parents();
        Ok(symbolic)
    }

    /// Bytes of factors and updates.
    pub fn bytes(&self) -> u64 {
        (self.storage as u64 + self.updates as u64) * size_of::<f64>() as u64
    }

    fn push_front(&mut self, group: usize, boundary: &[usize], shape: FrontShape, start: usize) {
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
        self.fronts.push(FrontPlan {
            shape,
            start,
            free: own + free_boundary,
            unknowns,
            parent: boundary.iter().map(|&b| self.group_of[b]).min(),
            children: Vec::new(),
            update: 0,
            owned_by_parent: 0,
            in_parent: Vec::new(),
        });
    }

    fn connect_parents(&mut self) {
        let unknowns = *self.block_start.last().expect("not empty");
        let mut places = vec![usize::MAX; unknowns];
        for index in 0..self.fronts.len() {
            let front = &self.fronts[index];
            let Some(parent) = front.parent else { continue };
            let parent_front = &self.fronts[parent];
            for (place, &unknown) in parent_front.unknowns.iter().enumerate() {
                places[unknown] = place;
            }
            let boundary = front.unknowns[front.shape.own..].iter();
            let in_parent: Vec<usize> = boundary.map(|&u| places[u]).collect();
            let is_owned = |place: &usize| *place < parent_front.shape.own;
            let owned = in_parent.iter().copied().take_while(is_owned).count();
            debug_assert!(
                in_parent[owned..]
                    .iter()
                    .all(|&p| p >= parent_front.shape.own)
            );
            let front = &mut self.fronts[index];
            (front.in_parent, front.owned_by_parent) = (in_parent, owned);
        }
    }
}

/// Gives every update a place that nobody else uses from the elimination of its front to that of the
/// parent; and the end of all.
fn places_of_updates(shapes: &[FrontShape], children: &[Vec<usize>]) -> (Vec<usize>, usize) {
    // Free stretches by start, with their lengths; beyond the end everything is free.
    let mut free: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places = Vec::with_capacity(shapes.len());
    let mut end = 0;
    for (shape, children) in shapes.iter().zip(children) {
        let length = shape.update();
        let fits = free.iter().filter(|(_, room)| **room >= length);
        let best = fits.min_by_key(|(_, room)| **room).map(|(s, r)| (*s, *r));
        let start = match best {
            _ if length == 0 => 0,
            Some((start, room)) => {
                free.remove(&start);
                if room > length {
                    free.insert(start + length, room - length);
                }
                start
            }
            None => {
                // The last stretch may reach the end.
                let last = free.last_key_value().map(|(s, r)| (*s, *r));
                let start = match last {
                    Some((start, room)) if start + room == end => {
                        free.remove(&start);
                        start
                    }
                    _ => end,
                };
                end = start + length;
                start
            }
        };
        places.push(start);
        for &child in children {
            release(&mut free, places[child], shapes[child].update());
        }
    }
    // What is empty must not lie where others begin.
    for (place, shape) in places.iter_mut().zip(shapes) {
        if shape.update() == 0 {
            *place = end;
        }
    }
    (places, end)
}

/// Makes a stretch free again, joined with its neighbours.
fn release(free: &mut BTreeMap<usize, usize>, mut start: usize, mut length: usize) {
    if length == 0 {
        return;
    }
    if let Some(next) = free.remove(&(start + length)) {
        length += next;
    }
    let before = free.range(..start).next_back().map(|(s, r)| (*s, *r));
    if let Some((at, room)) = before
        && at + room == start
    {
        free.remove(&at);
        (start, length) = (at, room + length);
    }
    free.insert(start, length);
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
    let (prescribed, prescribers): (Vec<_>, Vec<_>) = structure.prescribed.iter().copied().unzip();
    let order = minimum_degree(principal, &cliques, &prescribed);
    let free = &order[..principal - prescribed.len()];
    let mut rank = vec![None; principal];
    free.iter()
        .enumerate()
        .for_each(|(r, &block)| rank[block] = Some(r));
    let mut groups: Vec<Vec<usize>> = free.iter().map(|&block| vec![block]).collect();
    for (index, (_, nodes)) in structure.bordering.iter().enumerate() {
        let block = principal + index;
        if prescribers.contains(&block) {
            continue;
        }
        match nodes.iter().filter_map(|&node| rank[node]).max() {
            Some(last) => groups[last].push(block),
            None => groups.push(vec![block]),
        }
    }
    if !prescribed.is_empty() {
        groups.push(prescribed);
    }
    groups
}

fn groups_of_blocks(blocks: usize, groups: &[Vec<usize>]) -> Vec<usize> {
    let mut group_of = vec![NO_GROUP; blocks];
    for (index, group) in groups.iter().enumerate() {
        group.iter().for_each(|&block| group_of[block] = index);
    }
    group_of
}

/// The same elimination, every group soon after those that lead to it: few updates then wait at
/// the same time.
fn in_postorder(structure: &Structure, mut groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let blocks = structure.principal.len() + structure.bordering.len();
    let group_of = groups_of_blocks(blocks, &groups);
    let parents = boundaries(structure, &groups, &group_of)
        .into_iter()
        .map(|boundary| boundary.iter().map(|&b| group_of[b]).min());
    let mut children = vec![Vec::new(); groups.len()];
    let mut roots = Vec::new();
    for (group, parent) in parents.enumerate() {
        match parent {
            Some(parent) => children[parent].push(group),
            None => roots.push(group),
        }
    }
    let mut ordered = Vec::with_capacity(groups.len());
    // Groups to visit, and whether their children have been.
    let mut open: Vec<(usize, bool)> = roots.into_iter().rev().map(|g| (g, false)).collect();
    while let Some((group, is_ready)) = open.pop() {
        if is_ready {
            ordered.push(std::mem::take(&mut groups[group]));
        } else {
            open.push((group, true));
            open.extend(children[group].iter().rev().map(|&child| (child, false)));
        }
    }
    ordered
}

/// The later blocks that each group is coupled with when it is eliminated, in order.
fn boundaries(structure: &Structure, groups: &[Vec<usize>], group_of: &[usize]) -> Vec<Vec<usize>> {
    // By group and block. What comes from earlier groups is sorted when its turn has come.
    let mut coupled: Vec<Vec<(usize, usize)>> = vec![Vec::new(); groups.len()];
    for clique in &structure.cliques {
        let stored = || clique.iter().filter(|&&b| group_of[b] != NO_GROUP);
        let Some(first) = stored().map(|&b| group_of[b]).min() else {
            continue;
        };
        coupled[first].extend(stored().map(|&b| (group_of[b], b)));
    }
    let mut boundaries = Vec::with_capacity(groups.len());
    for group in 0..groups.len() {
        let mut beyond = std::mem::take(&mut coupled[group]);
        beyond.retain(|&(later, _)| later > group);
        beyond.sort_unstable();
        beyond.dedup();
        if let Some(&(parent, _)) = beyond.first() {
            coupled[parent].extend(&beyond);
        }
        boundaries.push(beyond.iter().map(|&(_, block)| block).collect());
    }
    boundaries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: usize, cliques: Vec<Vec<usize>>) -> Structure {
        Structure {
            principal: vec![6; count],
            cliques,
            ..Structure::default()
        }
    }

    /// A plate of 40 × 40 elements. Factors of such grids need about n log n blocks (George 1973);
    /// storing every front whole needed a hundred times that.
    #[test]
    fn a_plate_takes_memory_in_proportion_to_its_factors() {
        let side = 41;
        let at = |i: usize, j: usize| i * side + j;
        let elements = (0..side - 1).flat_map(|i| {
            (0..side - 1).map(move |j| vec![at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
        });
        let count = side * side;
        let bytes = Symbolic::new(nodes(count, elements.collect())).bytes() as f64;
        let blocks = bytes / (8.0 * 36.0);
        let limit = count as f64 * (count as f64).log2();
        assert!(blocks < 12.0 * limit, "{blocks} blocks, {limit}");
    }

    /// Springs between all pairs of nodes: no more than two dense matrices.
    #[test]
    fn all_pairs_take_no_more_than_dense_matrices() {
        let count = 80;
        let pairs = (0..count).flat_map(|i| (0..i).map(move |j| vec![j, i]));
        let bytes = Symbolic::new(nodes(count, pairs.collect())).bytes() as f64;
        let dense = 8.0 * (6.0 * count as f64).powi(2);
        assert!(bytes < 3.2 * dense, "{bytes} {dense}");
    }
}
