//! Which contacts share moving bodies.

use crate::problem::Bodies;
use crate::room::Room;

/// Contacts by island, in the order of the first contact of each.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    /// For each body one that is nearer to the root of its island.
    parents: Vec<u32>,
    /// Contacts, island by island.
    contacts: Vec<u32>,
    /// Where islands begin, and the end of the last.
    starts: Vec<u32>,
    /// For each root the number of its island.
    numbers: Vec<u32>,
}

impl Islands {
    /// Finds the islands of the contacts of a problem that take part.
    pub fn find(&mut self, problem: &Bodies<'_>, takes_part: &[bool]) {
        let bodies = problem.motion.len();
        self.parents.clear();
        self.parents.make_room(bodies);
        self.parents.extend(0..bodies as u32);
        self.join_held(problem);
        for contact in (0..problem.touches.len()).filter(|&contact| takes_part[contact]) {
            let [a, b] = problem.bodies_of(contact);
            if moves(problem, a) && moves(problem, b) {
                self.join(a, b);
            }
        }
        self.sort(problem, takes_part);
    }

    /// Bodies that joints hold together, where one answers to what is done to the other.
    fn join_held(&mut self, problem: &Bodies<'_>) {
        let held = problem.mechanism.bodies;
        let n = 6 * held;
        for a in 0..held {
            for b in 0..a {
                let line =
                    |row: usize| &problem.mechanism.mobility[(6 * a + row) * n + 6 * b..][..6];
                let answers = (0..6).any(|row| line(row).iter().any(|entry| *entry != 0.0));
                if answers {
                    self.join(a as u32, b as u32);
                }
            }
        }
    }

    /// Contacts by counting: their order within an island is theirs.
    fn sort(&mut self, problem: &Bodies<'_>, takes_part: &[bool]) {
        let all = problem.touches.len();
        let contacts = takes_part.iter().filter(|part| **part).count();
        self.numbers.clear();
        self.numbers.make_room(self.parents.len());
        self.numbers.resize(self.parents.len(), u32::MAX);
        self.starts.clear();
        self.starts.put(0);
        for contact in (0..all).filter(|&contact| takes_part[contact]) {
            let root = self.root_of(problem, contact);
            if self.numbers[root] == u32::MAX {
                self.numbers[root] = self.starts.len() as u32 - 1;
                self.starts.put(0);
            }
            self.starts[self.numbers[root] as usize + 1] += 1;
        }
        for island in 1..self.starts.len() {
            self.starts[island] += self.starts[island - 1];
        }
        self.contacts.make_room(contacts);
        self.contacts.resize(contacts, 0);
        // From the last to the first, each takes the last place left.
        for contact in (0..all).rev().filter(|&contact| takes_part[contact]) {
            let root = self.root_of(problem, contact);
            let island = self.numbers[root] as usize;
            self.starts[island + 1] -= 1;
            self.contacts[self.starts[island + 1] as usize] = contact as u32;
        }
        // Every start has become that of the island before; the end is put back.
        self.starts.remove(0);
        self.starts.put(contacts as u32);
    }

    fn root_of(&mut self, problem: &Bodies<'_>, contact: usize) -> usize {
        let [a, b] = problem.bodies_of(contact);
        let body = if moves(problem, a) { a } else { b };
        self.root(body) as usize
    }

    fn root(&mut self, mut body: u32) -> u32 {
        while self.parents[body as usize] != body {
            let above = self.parents[self.parents[body as usize] as usize];
            self.parents[body as usize] = above;
            body = above;
        }
        body
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.put(0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The contacts of one.
    pub fn of(&self, island: usize) -> &[u32] {
        &self.contacts[self.starts[island] as usize..self.starts[island + 1] as usize]
    }
}

fn moves(problem: &Bodies<'_>, body: u32) -> bool {
    (body as usize) < problem.mechanism.bodies || problem.motion[body as usize].inverse_mass > 0.0
}
