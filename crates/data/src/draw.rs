//! Random numbers that are the same on every platform.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Makes stream number `stream` of a seed. Streams do not affect each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(31).wrapping_add(stream)))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `n`, by multiplication (D. Lemire, Fast Random Integer Generation in
    /// an Interval, 2019). Its bias of n / 2^64 is negligible and not removed.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive), in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Returns one of the items, of which there must be at least one.
    pub fn choose<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Returns `k` distinct numbers below `n`, or all `n` if there are not more, in random order:
    /// the first steps of a Fisher-Yates shuffle.
    pub fn distinct(&mut self, n: usize, k: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n as u32).collect();
        let k = k.min(n);
        for i in 0..k {
            all.swap(i, i + self.below(n - i));
        }
        all.truncate(k);
        all
    }
}

/// Returns a number from 0 (inclusive) to 1 (exclusive) in steps of 2^-53, from the high bits of
/// `bits`.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a different number for each number of 64 bits: the finalizer of SplitMix64 (G. Steele,
/// D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014), each of whose steps is
/// invertible.
pub(crate) const fn finalized(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Distributes exactly `hits` hits over the next `draws` draws, each draw with the same probability
/// (selection sampling: D. Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HitSampler {
    pub hits: u64,
    pub draws: u64,
}

impl HitSampler {
    /// Whether the next draw is a hit.
    pub fn next(&mut self, draw: &mut Draw) -> bool {
        let hit = (draw.below(self.draws.max(1) as usize) as u64) < self.hits;
        self.draws = self.draws.saturating_sub(1);
        self.hits -= u64::from(hit);
        hit
    }
}
