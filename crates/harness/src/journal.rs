//! The journal: the plan of a run and every trial that ended, one line of JSON each. An interrupted
//! run loses at most the current trial.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use embermark_model::plan::{Dataset, Plan};
use embermark_model::result::{Drift, EnergyMeasurement, Floor, Manifest, Trial, Wear};
use embermark_model::{CellId, Scale};
use serde::{Deserialize, Serialize};

use crate::cells::PlannedCell;
use crate::{HarnessError, Result};

mod writer;

pub(crate) use writer::Writer;

/// Version of the journal's format.
pub(crate) const VERSION: u32 = 3;

/// The oldest version that can be read. The types also accept the names of its fields.
const OLDEST: u32 = 2;

/// A journal that was read.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// The run.
    pub head: Head,
    /// What was prepared before the first trial. `None` if the run was interrupted before.
    pub prepared: Option<Prepared>,
    /// Later warnings, in order.
    pub warnings: Vec<String>,
    /// Trials that ended, in the order in which they ran.
    pub trials: Vec<EndedTrial>,
    /// The repetition of the first trial, if it has ended.
    pub drift: Option<Drift>,
    /// The counting trials, one per cell.
    pub counted: Vec<EndedTrial>,
    /// The explaining trials, one per cell.
    pub explained: Vec<EndedTrial>,
    /// Why bytes that reach storage were not counted, if they were not.
    pub not_counted: Option<String>,
    /// Why no card was modelled, if none was.
    pub not_modelled: Option<String>,
    /// The scales that were not begun, if there are any.
    pub not_begun: Option<NotBegun>,
    /// The energy sources, once they are known.
    pub energy: Option<EnergyMeasurement>,
    /// Wear that the disk reports, once it was read.
    pub wear: Option<Wear>,
    /// When the run ended, RFC 3339, UTC. `None` if it was interrupted.
    pub finished: Option<String>,
}

impl Journal {
    /// Finds a trial of a cell that has ended.
    pub(crate) fn find_trial(&self, cell: &CellId, index: u32) -> Option<&Trial> {
        let is = |ended: &&EndedTrial| ended.trial.index == index && ended.cell == *cell;
        self.trials.iter().find(is).map(|ended| &ended.trial)
    }

    /// Adds the content of a line after the first.
    fn apply(&mut self, line: Line) {
        match line {
            Line::Trial(ended) => self.trials.push(*ended),
            Line::Prepared { prepared } => self.prepared = Some(prepared),
            Line::Warning { warning } => self.warnings.push(warning),
            Line::Drift { drift } => self.drift = Some(*drift),
            Line::Counted { counted } => self.counted.push(*counted),
            Line::Explained { explained } => self.explained.push(*explained),
            Line::NotCounted { not_counted } => match &mut self.not_counted {
                Some(before) if before.contains(&not_counted) => {}
                Some(before) => *before = format!("{before}; {not_counted}"),
                none => *none = Some(not_counted),
            },
            Line::NotModelled { not_modelled } => self.not_modelled = Some(not_modelled),
            Line::NotBegun { not_begun } => self.not_begun = Some(not_begun),
            Line::Energy { energy } => self.energy = Some(energy),
            Line::Wear { wear } => self.wear = Some(wear),
            Line::End { finished } => self.finished = Some(finished),
        }
    }
}

/// The first line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// Version of the format. Its presence identifies the file.
    pub embermark_journal: u32,
    /// The tool, machine and engines, as far as they were known at the start.
    pub manifest: Manifest,
    /// The plan.
    pub plan: Plan,
    /// The folder that the user named for the databases. Absent if they are next to the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub databases: Option<PathBuf>,
    /// Whether what reaches storage is counted after the timed trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
    /// Whether the system requests of operations are counted after the timed trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
    /// Every cell, in plan order.
    pub cells: Vec<PlannedCell>,
}

/// What is prepared and measured before the first trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The rows, by workload.
    pub datasets: BTreeMap<String, Dataset>,
    /// Cost of the harness itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

/// The line of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedTrial {
    /// Its cell.
    pub cell: CellId,
    /// The trial.
    pub trial: Trial,
}

/// The scale at which a run with a budget stopped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotBegun {
    /// The smallest scale that was not begun.
    pub scale: Scale,
    /// The reason.
    pub reason: String,
}

/// Any line after the first.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Trial(Box<EndedTrial>),
    Prepared { prepared: Prepared },
    Warning { warning: String },
    Drift { drift: Box<Drift> },
    Counted { counted: Box<EndedTrial> },
    Explained { explained: Box<EndedTrial> },
    NotCounted { not_counted: String },
    NotModelled { not_modelled: String },
    NotBegun { not_begun: NotBegun },
    Energy { energy: EnergyMeasurement },
    Wear { wear: Wear },
    End { finished: String },
}

/// Reads a journal. An incomplete last line is ignored.
///
/// # Errors
/// If the file cannot be read or is not a journal.
pub fn read(path: &Path) -> Result<Journal> {
    read_whole(path).map(|(journal, _)| journal)
}

/// Reads a journal. Returns it with the length of its complete lines in bytes.
fn read_whole(path: &Path) -> Result<(Journal, u64)> {
    let text = fs::read(path).map_err(|e| HarnessError::file(path, "read the journal", e))?;
    let wrong = |line: usize, problem: String| HarnessError::Journal {
        path: path.to_owned(),
        line: line + 1,
        problem,
    };
    // The rest after the last line end is empty or an incomplete line.
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..whole].split_inclusive(|byte| *byte == b'\n').enumerate();
    let Some((_, first)) = lines.next() else {
        return Err(wrong(0, "it is cut off".to_owned()));
    };
    let format: Format = serde_json::from_slice(first).map_err(|e| wrong(0, e.to_string()))?;
    if !(OLDEST..=VERSION).contains(&format.embermark_journal) {
        let other =
            format!("it is of version {}, not {OLDEST} to {VERSION}", format.embermark_journal);
        return Err(wrong(0, other));
    }
    let head: Head = serde_json::from_slice(first).map_err(|e| wrong(0, e.to_string()))?;
    let mut journal = Journal { head, ..Journal::default() };
    for (number, line) in lines {
        match serde_json::from_slice(line) {
            Ok(line) => journal.apply(line),
            Err(error) => return Err(wrong(number, error.to_string())),
        }
    }
    Ok((journal, whole as u64))
}

/// Only the version, which a line of every format has.
#[derive(Deserialize)]
struct Format {
    embermark_journal: u32,
}
