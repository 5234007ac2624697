//! On which side of its kinks a part is: what saturates, sticks, touches or switches at a state.

/// An odd number of mixed bits: the golden ratio.
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// What parts tell of their kinks at a state. Between states with the same [`regime`](Self::regime)
/// nothing has switched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    sides: u64,
    contacts: u64,
    saturated: Vec<String>,
    sticking: Vec<String>,
    part: String,
}

impl Switches {
    /// From now on this part tells.
    pub(crate) fn of_part(&mut self, name: &str) {
        self.part = name.into();
    }

    /// The side of one more kink, or of several: any number that changes where one is passed.
    pub fn side(&mut self, side: u64) {
        self.sides = mixed(self.sides, side);
    }

    /// Something is at a limit, where it answers to nothing.
    pub fn saturates(&mut self, name: &str) {
        let name = self.in_part(name);
        self.saturated.push(name);
    }

    /// Something sticks by friction.
    pub fn sticks(&mut self, name: &str) {
        let name = self.in_part(name);
        self.sticking.push(name);
    }

    /// A number that changes where a contact opens, closes, sticks or slips.
    pub fn touches(&mut self, contacts: u64) {
        self.contacts = mixed(self.contacts, contacts);
    }

    /// A number that stands for the sides of all kinks.
    pub fn regime(&self) -> u64 {
        let names = |names: &[String]| {
            let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
            bytes.fold(0, |all, byte| mixed(all, byte.into()))
        };
        let known = [self.contacts, names(&self.saturated), names(&self.sticking)];
        known.into_iter().fold(self.sides, mixed)
    }

    /// A number that stands for the contacts alone.
    pub fn contacts(&self) -> u64 {
        self.contacts
    }

    /// What is at a limit, with its part.
    pub fn saturated(&self) -> &[String] {
        &self.saturated
    }

    /// What sticks, with its part.
    pub fn sticking(&self) -> &[String] {
        &self.sticking
    }

    fn in_part(&self, name: &str) -> String {
        match self.part.is_empty() {
            true => name.into(),
            false => format!("{}.{name}", self.part),
        }
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    (a.rotate_left(29) ^ b).wrapping_add(1).wrapping_mul(MIXER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_differ_where_something_has_switched() {
        let of = |tell: &dyn Fn(&mut Switches)| {
            let mut found = Switches::default();
            found.of_part("swing");
            tell(&mut found);
            found
        };
        let quiet = of(&|found| found.side(3));
        assert_eq!(quiet.regime(), of(&|found| found.side(3)).regime());
        let others = [
            of(&|found| found.side(4)),
            of(&|found| found.touches(1)),
            of(&|found| {
                found.side(3);
                found.saturates("F");
            }),
            of(&|found| {
                found.side(3);
                found.sticks("F");
            }),
        ];
        assert!(others.iter().all(|other| other.regime() != quiet.regime()));
        assert_eq!(others[2].saturated(), ["swing.F"]);
    }
}
