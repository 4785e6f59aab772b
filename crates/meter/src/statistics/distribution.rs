//! Values that a bootstrap draw can have, and how probable each is.

/// How probable it is that a draw lies beyond an end of an interval: an interval of 95 %.
const TAIL: f64 = 0.025;

/// By how much a sum of probabilities may be off: one that is smaller than the tail by less reaches
/// it.
const ROUNDING: f64 = 1e-12;

/// A finite distribution of positive values.
pub(super) struct Distribution {
    /// Ascending.
    atoms: Vec<Atom>,
}

/// A value and its probability.
type Atom = (f64, f64);

impl Distribution {
    /// Of values in any order, at least one; the same value may occur more than once.
    pub(super) fn of(mut atoms: Vec<Atom>) -> Self {
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { atoms }
    }

    /// The 95 % percentile interval: from the least value that at least 2.5 % are at or below to
    /// the greatest that at least 2.5 % are at or above.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        Some([first_at_tail(self.atoms.iter())?, first_at_tail(self.atoms.iter().rev())?])
    }

    /// The same of the ratio to an independent value, `self` over `below`.
    pub(super) fn ratio_interval(&self, below: &Self) -> Option<[f64; 2]> {
        Some([self.low_ratio(below)?, 1.0 / below.low_ratio(self)?])
    }

    /// Whether that interval includes 1.
    pub(super) fn may_equal(&self, below: &Self) -> bool {
        let reaches = |one: &Self, other: &Self| one.split(other, 1.0).share >= TAIL - ROUNDING;
        reaches(self, below) && reaches(below, self)
    }

    /// The least ratio that at least 2.5 % of all are at or below, by bisection. Each step goes
    /// from the middle on to the next ratio that occurs, so that it ends on one of them.
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

    /// Splits all ratios in two at `most`. Both distributions ascend, so one pass does.
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
    /// How probable one of the lower part is.
    share: f64,
    /// The greatest of the lower part.
    last: f64,
    /// The least of the upper part.
    next: f64,
}

/// The first value by which the probabilities add up to the tail.
fn first_at_tail<'a>(mut atoms: impl Iterator<Item = &'a Atom>) -> Option<f64> {
    let mut sum = 0.0;
    let end = atoms.find(|(_, probability)| {
        sum += probability;
        sum >= TAIL - ROUNDING
    });
    end.map(|(value, _)| *value)
}
