//! Seeded numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn uniform(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// 1 and a normal number times the noise.
    pub fn factor(&mut self, noise: f64) -> f64 {
        1.0 + noise * ((0..12).map(|_| self.uniform(0.0, 1.0)).sum::<f64>() - 6.0)
    }
}
