//! A cell: one box of the comparison, and how it can end.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Durability, MemoryLimit, Scale, StorageName};

/// What one cell is: engine x workload x scale x tier x variant x memory limit x storage. Unique in a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId {
    /// The workload's id, `sensors`.
    pub workload: String,
    /// How many rows.
    pub scale: Scale,
    /// The tier asked for.
    pub durability: Durability,
    /// The workload's variant, for `sensors` the load strategy.
    pub variant: String,
    /// The column: the engine's id, `sqlite`, or the name of a configuration of one
    /// ([`Plan::configurations`](crate::plan::Plan::configurations)).
    pub engine: String,
    /// The most memory for the engine and the page cache of its files; absent: all of the machine's.
    #[serde(default, rename = "memory_limit_bytes", skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
    /// The storage that is imitated below its database, which
    /// [`Plan::storages`](crate::plan::Plan::storages) describes; absent: this machine's own disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageName>,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, durability, variant, engine, .. } = self;
        write!(f, "{engine} {workload} {} {durability} {variant}", self.extent())
    }
}

/// What a database has to live with: how much memory, and which storage.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conditions {
    /// The limit of memory, if any.
    #[serde(default, rename = "memory_limit_bytes", skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageName>,
}

impl fmt::Display for Conditions {
    /// ` within 256 MiB on sd-a1`, behind a number of rows; nothing where there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory_limit, storage } = self;
        memory_limit.map_or(Ok(()), |limit| write!(f, " within {limit}"))?;
        storage.map_or(Ok(()), |storage| write!(f, " on {storage}"))
    }
}

/// How many rows there are, in how much memory, and on which storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// How many rows.
    pub scale: Scale,
    /// The limit of memory, if any.
    pub memory_limit: Option<MemoryLimit>,
    /// The imitated storage, if any.
    pub storage: Option<StorageName>,
}

impl fmt::Display for Extent {
    /// `10k`, `10k on sd-a1`, `1M within 256 MiB on sd-a1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scale, self.conditions())
    }
}

impl Extent {
    /// All but its scale.
    pub const fn conditions(&self) -> Conditions {
        Conditions { memory_limit: self.memory_limit, storage: self.storage }
    }
}

impl CellId {
    /// Its scale, its limit of memory and its storage.
    pub const fn extent(&self) -> Extent {
        Extent { scale: self.scale, memory_limit: self.memory_limit, storage: self.storage }
    }

    /// The cache that its engine is given where `asked` bytes are asked for: within a limit of memory
    /// no more than a quarter of that.
    pub fn cache_bytes(&self, asked: u64) -> u64 {
        self.memory_limit.map_or(asked, |limit| limit.cache(asked))
    }

    /// A name for the cell's folder and log file: letters, digits and dashes.
    pub fn slug(&self) -> String {
        self.to_string().replace(' ', "-")
    }
}

/// How a cell, a trial or a phase ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every answer right.
    #[default]
    Ok,
    /// Every answer right, but some run stopped at the time cap; its per-operation figures stand.
    Capped,
    /// It answered, and nobody can say whether that is right: those who should say so differ; the reason
    /// says where.
    Disputed,
    /// Not begun: the time that the run was given was spent; the reason says on what.
    Skipped,
    /// Not begun: the run was cut off before.
    NotRun,
    /// The engine cannot do this; the reason says what.
    Unsupported,
    /// The engine is not here; the reason says what to install.
    Unavailable,
    /// It took longer than the trial may.
    TimedOut,
    /// It ended with an error or died.
    Failed,
    /// It answered, and the answer was not the oracle's.
    Wrong,
}

impl Status {
    /// Whether its figures may be shown and ranked.
    pub const fn has_figures(self) -> bool {
        matches!(self, Self::Ok | Self::Capped)
    }

    /// Whether a run that holds it ends with exit status 1.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Wrong | Self::Failed | Self::TimedOut)
    }

    /// Whether a trial that ended so is lost: it says nothing against what other trials of its cell
    /// answered. A wrong answer does.
    pub const fn is_lost(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }

    /// Whether a phase that ended so says nothing against the others of its trial.
    pub const fn is_of_phase_alone(self) -> bool {
        matches!(self, Self::Disputed | Self::Unsupported)
    }

    /// The worse of two: how a whole ends whose parts ended so.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }

    /// The word shown in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Capped => "capped",
            Self::Disputed => "disputed",
            Self::Skipped => "skipped",
            Self::NotRun => "not run",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed out",
            Self::Failed => "failed",
            Self::Wrong => "wrong",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
