//! Disjoint sets: who hangs together, directly or through others (union by the smaller number, paths halved).

/// Disjoint sets of the numbers from 0 on.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets(Vec<u32>);

impl DisjointSets {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the next number, in a set of its own.
    pub fn add(&mut self) {
        self.0.push(self.0.len() as u32);
    }

    /// The smallest number of the set that has this one.
    #[must_use]
    pub fn root(&mut self, mut of: u32) -> u32 {
        while self.0[of as usize] != of {
            let above = self.0[of as usize];
            self.0[of as usize] = self.0[above as usize];
            of = self.0[of as usize];
        }
        of
    }

    /// Makes the sets of two numbers one.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
