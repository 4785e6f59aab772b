//! Which rows of a table are there when it is asked.

/// Places of rows.
pub(in super::super) enum Places {
    /// The first of so many.
    First(usize),
    /// Those that are marked: of a load that ended early, in an order that is the engine's.
    Marked(Vec<bool>),
    /// These, of rows that come and go.
    These(Vec<usize>),
}

impl Places {
    /// Each of them.
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
