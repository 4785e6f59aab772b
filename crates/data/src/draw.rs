//! Random draws, the same on every platform.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of draws from a seed.
#[derive(Clone, Debug)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The stream number `stream` of a seed: streams do not shift with each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(31).wrapping_add(stream)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, by multiplication (D. Lemire, Fast Random Integer Generation in an
    /// Interval, 2019); its bias of n / 2^64 is left in, being nothing.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number from 0 up to but without 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// One of the items, which are not none.
    pub fn one<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// `k` distinct numbers below `n`, or all `n` if there are no more, in random order: the
    /// first steps of a Fisher-Yates shuffle.
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

/// A number from 0 up to but without 1 of the high bits of `bits`, in steps of 2^-53.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Deals out exactly `of` hits among `left` draws, every draw being as likely as any other
/// (selection sampling: D. Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deal {
    pub of: u64,
    pub left: u64,
}

impl Deal {
    /// Whether the next draw is a hit.
    pub fn next(&mut self, draw: &mut Draw) -> bool {
        let hit = (draw.below(self.left.max(1) as usize) as u64) < self.of;
        self.left = self.left.saturating_sub(1);
        self.of -= u64::from(hit);
        hit
    }
}
