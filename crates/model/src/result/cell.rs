//! A cell of the comparison and its trials.

use serde::{Deserialize, Serialize};

use super::{DiskSize, Run, Trial};
use crate::{CellId, Durability, Status};

/// Reason of a cell that [`ResultFile::publishable`](super::ResultFile::publishable) left out.
pub const LEFT_OUT: &str = "left out: its licence forbids publishing figures";

/// One cell of the comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The identity of the cell.
    pub id: CellId,
    /// How the cell ended: the worst of [`trials`](Self::trials).
    pub status: Status,
    /// Why, when not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tier that the engine's setting provides, if it differs from the requested one: stronger,
    /// or weaker for a reference engine.
    #[serde(default, alias = "keeps", skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// For a configuration: settings read back that differ from the tier's, `synchronous=0 where
    /// power has 2`. embermark then does not vouch for its durability: it is what the author of the
    /// settings claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// True for an engine that is shown for reference and never ranked (`memory`, `null`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// True if the engine's licence forbids publishing its figures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpublishable: bool,
    /// The trials, in the order in which they ran.
    #[serde(default)]
    pub trials: Vec<Trial>,
    /// Trials that failed or timed out while others ended well. They are in no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_trials: Vec<Trial>,
    /// The trial that counts what reaches storage, separate from the timed trials; absent if it was
    /// not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Box<Trial>>,
    /// The trial that counts system calls and other costs of an operation, separate from the timed
    /// trials; absent if `--show explain` was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explaining: Option<Box<Trial>>,
}

impl Cell {
    /// Moves trials that failed or timed out to [`lost_trials`](Self::lost_trials), which keeps the
    /// figures of the others. Moves none if no trial ended well or one answered wrongly.
    pub fn move_lost_trials(&mut self) {
        let any = |is: fn(Status) -> bool| self.trials.iter().any(|trial| is(trial.status));
        if !any(Status::has_figures) || any(|status| status == Status::Wrong) {
            return;
        }
        let (lost, kept) =
            std::mem::take(&mut self.trials).into_iter().partition(|trial| trial.status.is_lost());
        self.trials = kept;
        if !Vec::is_empty(&lost) {
            self.lost_trials.extend(lost);
            let worst = self.trials.iter().max_by_key(|trial| trial.status);
            (self.status, self.reason) =
                worst.map(|worst| (worst.status, worst.reason.clone())).unwrap_or_default();
        }
    }

    /// Whether the cell, a trial or a phase is wrong, failed or timed out.
    pub fn has_failure(&self) -> bool {
        let mut phases = self.trials.iter().flat_map(|trial| &trial.phases);
        self.status.is_failure()
            || !self.lost_trials.is_empty()
            || phases.any(|phase| phase.status.is_failure())
    }

    /// Returns the size of a database that was loaded once and closed after maintenance: in the
    /// trial that counts, or in one whose phases last a fixed time, which load nothing twice.
    /// `None` if every store was emptied and loaded again.
    pub fn disk(&self) -> Option<DiskSize> {
        let counted = self.counting.as_ref().and_then(|trial| trial.disk);
        let lasts = |trial: &&Trial| {
            trial.phases.iter().flat_map(|phase| &phase.runs).any(|run| run.observed.is_some())
        };
        counted.or_else(|| self.trials.iter().filter(lasts).find_map(|trial| trial.disk))
    }

    /// Returns why the storage of the cell cannot be imitated, if that is why the cell did not run.
    pub fn lacks_storage(&self) -> Option<&str> {
        let storage = self.id.storage.filter(|_| self.status == Status::Unavailable)?;
        self.reason.as_deref()?.strip_prefix(&format!("storage {storage}: "))
    }

    /// Whether its figures were left out because its licence forbids publishing them.
    pub fn is_left_out(&self) -> bool {
        self.status == Status::Unavailable && self.reason.as_deref() == Some(LEFT_OUT)
    }

    /// Whether a trial of the cell is the one that counts.
    pub fn is_counting(&self, trial: &Trial) -> bool {
        self.counting.as_deref().is_some_and(|counting| std::ptr::eq(counting, trial))
    }

    /// Whether a trial of the cell is the one that explains.
    pub fn is_explaining(&self, trial: &Trial) -> bool {
        self.explaining.as_deref().is_some_and(|explaining| std::ptr::eq(explaining, trial))
    }

    /// Whether a trial of the cell is the one that counts or explains, or was lost. Such a trial is
    /// in no figure of time.
    pub fn is_apart(&self, trial: &Trial) -> bool {
        self.is_counting(trial) || self.is_explaining(trial) || self.is_lost(trial)
    }

    /// Whether a trial of the cell was lost.
    pub fn is_lost(&self, trial: &Trial) -> bool {
        self.lost_trials.iter().any(|lost| std::ptr::eq(lost, trial))
    }

    /// Returns the run of a phase in the trial that explains. Its times are in no figure.
    pub fn explained(&self, phase: &str) -> Option<&Run> {
        let explaining = self.explaining.as_ref()?;
        let explained = explaining.phases.iter().find(|explained| explained.phase == phase)?;
        explained.runs.last().filter(|run| run.explained.is_some())
    }

    /// Returns the run of a phase in the trial that counts. Its `device_io` and its maintenance's
    /// are what reached a block device of its own. Its times are in no figure.
    pub fn counted(&self, phase: &str) -> Option<&Run> {
        let counting = self.counting.as_ref()?;
        counting.phases.iter().find(|counted| counted.phase == phase)?.runs.last()
    }
}
