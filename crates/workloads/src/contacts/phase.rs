//! The steps of the workload, and the two columns by which rows are chosen.

use embermark_data::contacts::{CHOSEN_STATE, CHOSEN_ZIP};

use crate::PhaseInfo;

/// A column by which rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// It has an index.
    State,
    /// It has none.
    Zip,
}

impl Column {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Zip => "zip",
        }
    }

    /// The phase that fetches the rows chosen.
    pub(super) const fn selected(self) -> &'static str {
        match self {
            Self::State => "select_indexed",
            Self::Zip => "select_scan",
        }
    }

    /// The value of the rows chosen.
    pub(super) const fn chosen(self) -> &'static str {
        match self {
            Self::State => CHOSEN_STATE,
            Self::Zip => CHOSEN_ZIP,
        }
    }

    /// The column that an update of the rows chosen by this one sets.
    pub(super) const fn sets(self) -> Self {
        match self {
            Self::State => Self::Zip,
            Self::Zip => Self::State,
        }
    }

    /// The value that an update sets in this column: one that no row has before.
    pub(super) const fn fresh(self) -> &'static str {
        match self {
            Self::State => "ZZ",
            Self::Zip => "ZZZZZ-ZZZZ",
        }
    }
}

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    OpenClose,
    Insert,
    Select(Column),
    Update(Column),
    Delete(Column),
}

/// In the order of [`Phase::ALL`].
pub(super) static PHASES: [PhaseInfo; 8] = [
    PhaseInfo { name: "open_close", about: "opens, reads one row and closes, 250 times" },
    PhaseInfo { name: "insert", about: "puts N rows in" },
    PhaseInfo {
        name: Column::State.selected(),
        about: "fetches two fifths of the rows by state, indexed",
    },
    PhaseInfo {
        name: Column::Zip.selected(),
        about: "fetches a fifth of the rows by zip, not indexed",
    },
    PhaseInfo { name: "update_indexed", about: "sets the zip of two fifths of the rows by state" },
    PhaseInfo { name: "update_scan", about: "sets the state of a fifth of the rows by zip" },
    PhaseInfo { name: "delete_indexed", about: "deletes two fifths of the rows by state" },
    PhaseInfo { name: "delete_scan", about: "deletes a fifth of the rows by zip" },
];

impl Phase {
    /// In the order in which they run.
    pub(super) const ALL: [Self; 8] = [
        Self::OpenClose,
        Self::Insert,
        Self::Select(Column::State),
        Self::Select(Column::Zip),
        Self::Update(Column::State),
        Self::Update(Column::Zip),
        Self::Delete(Column::State),
        Self::Delete(Column::Zip),
    ];

    /// Whether it changes rows that are there.
    pub(super) const fn changes_rows(self) -> bool {
        matches!(self, Self::Update(_) | Self::Delete(_))
    }

    /// Whether it leaves the store with other content than it found.
    pub(super) const fn writes(self) -> bool {
        self.changes_rows() || matches!(self, Self::Insert)
    }
}
