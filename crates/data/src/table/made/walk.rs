//! A walk: a number that goes by a random step from row to row.

use crate::draw::Draw;

/// Where a walk is. A copy goes on from there.
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

    /// The number of the next row; of the first where it starts.
    pub(super) fn next(&mut self, draw: &mut Draw) -> f64 {
        if self.begun {
            let mut to = self.at + self.step * normal(draw);
            if to > self.highest {
                to = 2.0 * self.highest - to;
            }
            if to < self.lowest {
                to = 2.0 * self.lowest - to;
            }
            // A step may be longer than the way between the two.
            self.at = to.min(self.highest).max(self.lowest);
        }
        self.begun = true;
        self.at
    }
}

/// A number of mean 0 and standard deviation 1: twelve even ones from 0 to 1, added, less 6 (the
/// Irwin-Hall distribution). That is normal to the eye, never beyond 6, and needs no logarithm,
/// which platforms round each in their way.
fn normal(draw: &mut Draw) -> f64 {
    let halves = |bits: u64| (bits >> 32) + (bits & 0xffff_ffff);
    let sum: u64 = (0..6).map(|_| halves(draw.bits())).sum();
    sum as f64 / (1_u64 << 32) as f64 - 6.0
}
