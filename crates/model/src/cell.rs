//! A cell: one box of the comparison, and its possible outcomes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Durability, MemoryLimit, Scale, StorageName};

/// Identity of a cell: engine × workload × scale × tier × variant × memory limit × storage. Unique
/// in a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId {
    /// Id of the workload, `sensors`.
    pub workload: String,
    /// Number of rows.
    pub scale: Scale,
    /// The requested durability tier.
    pub durability: Durability,
    /// Variant of the workload. For `sensors` it is the load strategy.
    pub variant: String,
    /// The column: an engine's id, `sqlite`, or the name of a configuration
    /// ([`Plan::configurations`](crate::plan::Plan::configurations)).
    pub engine: String,
    /// Memory limit for the engine and the page cache of its files. Absent: all of the machine's
    /// memory.
    #[serde(default, rename = "memory_limit_bytes", skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
    /// The imitated storage below the database, described by
    /// [`Plan::storages`](crate::plan::Plan::storages). Absent: this machine's own disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageName>,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, durability, variant, engine, .. } = self;
        write!(f, "{engine} {workload} {} {durability} {variant}", self.extent())
    }
}

/// The conditions of a database: its memory limit and its storage.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conditions {
    /// The memory limit, if any.
    #[serde(default, rename = "memory_limit_bytes", skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
    /// The imitated storage, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageName>,
}

impl fmt::Display for Conditions {
    /// Writes ` within 256 MiB on sd-a1`, to follow a number of rows. Writes nothing without
    /// conditions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory_limit, storage } = self;
        memory_limit.map_or(Ok(()), |limit| write!(f, " within {limit}"))?;
        storage.map_or(Ok(()), |storage| write!(f, " on {storage}"))
    }
}

/// Number of rows, memory limit and storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// Number of rows.
    pub scale: Scale,
    /// The memory limit, if any.
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
    /// Returns everything but the scale.
    pub const fn conditions(&self) -> Conditions {
        Conditions { memory_limit: self.memory_limit, storage: self.storage }
    }
}

impl CellId {
    /// Returns the scale, the memory limit and the storage.
    pub const fn extent(&self) -> Extent {
        Extent { scale: self.scale, memory_limit: self.memory_limit, storage: self.storage }
    }

    /// Returns the cache that the engine is given if `asked` bytes are requested: at most a quarter
    /// of the memory limit, if there is one.
    pub fn cache_bytes(&self, asked: u64) -> u64 {
        self.memory_limit.map_or(asked, |limit| limit.cache(asked))
    }

    /// Returns a name for the cell's directory and log file: letters, digits and dashes.
    pub fn slug(&self) -> String {
        self.to_string().replace(' ', "-")
    }
}

/// Outcome of a cell, a trial or a phase.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every answer was right.
    #[default]
    Ok,
    /// Every answer was right, but some run stopped at the time cap. Its figures per operation are
    /// valid.
    Capped,
    /// It answered, but nobody can say whether the answer is right, because the engines that check
    /// it differ. The reason says where.
    Disputed,
    /// Not begun: the time of the run was spent. The reason says on what.
    Skipped,
    /// Not begun: the run was interrupted before.
    NotRun,
    /// The engine cannot do this. The reason says what.
    Unsupported,
    /// The engine is not installed. The reason says what to install.
    Unavailable,
    /// It took longer than a trial may.
    TimedOut,
    /// It ended with an error or died.
    Failed,
    /// The answer was not the oracle's.
    Wrong,
}

impl Status {
    /// Whether its figures may be shown and ranked.
    pub const fn has_figures(self) -> bool {
        matches!(self, Self::Ok | Self::Capped)
    }

    /// Whether a run with such an outcome ends with exit status 1.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Wrong | Self::Failed | Self::TimedOut)
    }

    /// Whether a trial with this outcome is lost: it does not affect what other trials of its cell
    /// answered. A wrong answer does.
    pub const fn is_lost(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }

    /// Whether a phase with this outcome does not affect the other phases of its trial.
    pub const fn concerns_only_phase(self) -> bool {
        matches!(self, Self::Disputed | Self::Unsupported)
    }

    /// Returns the worse of two outcomes, which is that of the whole.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns the word that tables show.
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
