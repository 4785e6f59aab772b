//! Sets of rows that exist in a table when a question is asked.

/// Positions of rows.
pub(in super::super) enum RowSet {
    /// This many rows, from the first.
    First(usize),
    /// The marked rows, after a load that ended early in an order that only the engine knows.
    Marked(Vec<bool>),
    /// These rows, where rows come and expire.
    These(Vec<usize>),
}

impl RowSet {
    /// Returns each position.
    pub(super) fn each(&self) -> impl Iterator<Item = usize> + '_ {
        let (most, these) = match self {
            Self::First(rows) => (*rows, &[][..]),
            Self::Marked(marks) => (marks.len(), &[][..]),
            Self::These(places) => (0, &places[..]),
        };
        let all = (0..most).filter(|place| match self {
            Self::Marked(marks) => marks[*place],
            Self::First(_) | Self::These(_) => true,
        });
        all.chain(these.iter().copied())
    }
}
