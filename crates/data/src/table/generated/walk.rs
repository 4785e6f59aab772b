//! Random walk: a number that changes by a random step from row to row.

use crate::draw::Draw;

/// State of a random walk. A copy continues from the same number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    at: f64,
    step: f64,
    lowest: f64,
    highest: f64,
    begun: bool,
}

impl Walk {
    pub(super) const fn new(from: f64, step: f64, lowest: f64, highest: f64) -> Self {
        Self { at: from, step, lowest, highest, begun: false }
    }

    /// Returns the number for the next row. The first one is the start.
    pub(super) fn next(&mut self, draw: &mut Draw) -> f64 {
        if self.begun {
            let mut to = self.at + self.step * normal(draw);
            if to > self.highest {
                to = 2.0 * self.highest - to;
            }
            if to < self.lowest {
                to = 2.0 * self.lowest - to;
            }
            // A step may be longer than the distance between the two.
            self.at = to.min(self.highest).max(self.lowest);
        }
        self.begun = true;
        self.at
    }
}

/// Returns a number with mean 0 and standard deviation 1: the sum of twelve uniform ones from 0 to
/// 1, minus 6 (the Irwin-Hall distribution). It looks normal, is never beyond 6, and needs no
/// logarithm, which platforms round differently.
fn normal(draw: &mut Draw) -> f64 {
    let halves = |bits: u64| (bits >> 32) + (bits & 0xffff_ffff);
    let sum: u64 = (0..6).map(|_| halves(draw.bits())).sum();
    sum as f64 / (1_u64 << 32) as f64 - 6.0
}
