//! Vectors that grow by a sixteenth, not to the double: what is held stays close to what is used.

/// Items that a vector gets beyond its need at least, so that small ones grow once.
const SPARE: usize = 32;

/// Frugal growth.
pub(crate) trait Room<T> {
    /// Makes room for so many items in all.
    fn make_room(&mut self, needed: usize);
    /// Appends an item.
    fn put(&mut self, item: T);
    /// Bytes held, room for items to come included.
    fn held(&self) -> usize;
}

impl<T> Room<T> for Vec<T> {
    fn make_room(&mut self, needed: usize) {
        if needed > self.capacity() {
            self.reserve_exact(needed + (needed / 16).max(SPARE) - self.len());
        }
    }

    #[inline(always)]
    fn put(&mut self, item: T) {
        if self.len() == self.capacity() {
            self.make_room(self.len() + 1);
        }
        self.push(item);
    }

    fn held(&self) -> usize {
        self.capacity() * std::mem::size_of::<T>()
    }
}
