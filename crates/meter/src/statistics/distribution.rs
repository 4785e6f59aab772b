//! Possible values of a bootstrap draw, and their probabilities.

/// Probability that a draw is beyond one end of a 95 % interval.
const TAIL: f64 = 0.025;

/// Possible error of a sum of probabilities. A sum that is smaller than the tail by less than this
/// reaches it.
const ROUNDING: f64 = 1e-12;

/// A finite distribution of positive values.
pub(super) struct Distribution {
    /// In ascending order.
    atoms: Vec<Atom>,
}

/// A value and its probability.
type Atom = (f64, f64);

impl Distribution {
    /// Makes it from values in any order, at least one. The same value may occur more than once.
    pub(super) fn new(mut atoms: Vec<Atom>) -> Self {
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { atoms }
    }

    /// Returns the 95 % percentile interval: from the least value that at least 2.5 % are at or
    /// below to the greatest that at least 2.5 % are at or above.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        Some([first_at_tail(self.atoms.iter())?, first_at_tail(self.atoms.iter().rev())?])
    }

    /// Returns the same for the ratio to an independent value, `self` over `below`.
    pub(super) fn ratio_interval(&self, below: &Self) -> Option<[f64; 2]> {
        Some([self.low_ratio(below)?, 1.0 / below.low_ratio(self)?])
    }

    /// Whether that interval includes 1.
    pub(super) fn may_equal(&self, below: &Self) -> bool {
        let reaches = |one: &Self, other: &Self| one.split(other, 1.0).share >= TAIL - ROUNDING;
        reaches(self, below) && reaches(below, self)
    }

    /// Returns the least ratio that at least 2.5 % of all are at or below, by bisection. Each step
    /// continues from the middle to the next ratio that occurs, so that the search ends on one of
    /// them.
    fn low_ratio(&self, below: &Self) -> Option<f64> {
        let mut low = self.atoms.first()?.0 / below.atoms.last()?.0;
        let mut high = self.atoms.last()?.0 / below.atoms.first()?.0;
        while low < high {
            let middle = low.sqrt() * high.sqrt();
            let middle = if (low..high).contains(&middle) { middle } else { low };
            let Split { share, last, next } = self.split(below, middle);
            if share >= TAIL - ROUNDING {
                high = last;
            } else {
                low = next;
            }
        }
        Some(high)
    }

    /// Splits all ratios in two at `most`. One pass suffices, because both distributions ascend.
    fn split(&self, below: &Self, most: f64) -> Split {
        let mut split = Split { share: 0.0, last: 0.0, next: f64::INFINITY };
        let (mut place, mut share) = (0, 0.0);
        for &(value, probability) in &below.atoms {
            while let Some(atom) = self.atoms.get(place).filter(|atom| atom.0 / value <= most) {
                share += atom.1;
                place += 1;
            }
            split.share += probability * share;
            if let Some(atom) = place.checked_sub(1).and_then(|last| self.atoms.get(last)) {
                split.last = split.last.max(atom.0 / value);
            }
            if let Some(atom) = self.atoms.get(place) {
                split.next = split.next.min(atom.0 / value);
            }
        }
        split
    }
}

/// All ratios, split in two.
struct Split {
    /// Probability of the lower part.
    share: f64,
    /// Greatest ratio of the lower part.
    last: f64,
    /// Least ratio of the upper part.
    next: f64,
}

/// Returns the first value at which the probabilities add up to the tail.
fn first_at_tail<'a>(mut atoms: impl Iterator<Item = &'a Atom>) -> Option<f64> {
    let mut sum = 0.0;
    let end = atoms.find(|(_, probability)| {
        sum += probability;
        sum >= TAIL - ROUNDING
    });
    end.map(|(value, _)| *value)
}
