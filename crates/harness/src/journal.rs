//! The journal: what a run was asked, and every trial as it ended, a line of JSON each. A run that
//! is cut off loses at most the trial that was under way.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use embermark_model::plan::{Dataset, Plan};
use embermark_model::result::{Drift, EnergyMeasurement, Floor, Manifest, Trial, Wear};
use embermark_model::{CellId, Scale};
use serde::{Deserialize, Serialize};

use crate::HarnessError;
use crate::cells::PlannedCell;

mod writer;

pub(crate) use writer::Writer;

/// Version of the journal's format.
pub(crate) const VERSION: u32 = 3;

/// The oldest version that is read: its fields have other names, which the types know.
const OLDEST: u32 = 2;

/// A journal as it was read.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The run.
    pub head: Head,
    /// What was made ready before the first trial; absent when the run was cut off before.
    pub prepared: Option<Prepared>,
    /// Warnings that came up later, in their order.
    pub warnings: Vec<String>,
    /// Trials that ended, in the order they ran.
    pub trials: Vec<EndedTrial>,
    /// The first trial made again, when the run came to that.
    pub drift: Option<Drift>,
    /// The trials that counted, of a cell each.
    pub counted: Vec<EndedTrial>,
    /// The trials that explained, of a cell each.
    pub explained: Vec<EndedTrial>,
    /// Why bytes that reach storage were not counted, when so.
    pub not_counted: Option<String>,
    /// Why no card was modelled, when so.
    pub not_modelled: Option<String>,
    /// The scales that were not begun, when there are such.
    pub not_begun: Option<NotBegun>,
    /// What measures energy, once that is known.
    pub energy: Option<EnergyMeasurement>,
    /// What the disk says of its wear, once it was asked.
    pub wear: Option<Wear>,
    /// When the run ended, RFC 3339, UTC; absent when it was cut off.
    pub finished: Option<String>,
}

impl Journal {
    /// With its first line alone.
    const fn of(head: Head) -> Self {
        Self {
            head,
            prepared: None,
            warnings: Vec::new(),
            trials: Vec::new(),
            drift: None,
            counted: Vec::new(),
            explained: Vec::new(),
            not_counted: None,
            not_modelled: None,
            not_begun: None,
            energy: None,
            wear: None,
            finished: None,
        }
    }

    /// The trial of a cell that has ended.
    pub(crate) fn ended(&self, cell: &CellId, index: u32) -> Option<&Trial> {
        let is = |ended: &&EndedTrial| ended.trial.index == index && ended.cell == *cell;
        self.trials.iter().find(is).map(|ended| &ended.trial)
    }

    /// Takes a line after the first.
    fn take(&mut self, line: Line) {
        match line {
            Line::Trial(ended) => self.trials.push(*ended),
            Line::Prepared { prepared } => self.prepared = Some(prepared),
            Line::Warning { warning } => self.warnings.push(warning),
            Line::Drift { drift } => self.drift = Some(*drift),
            Line::Counted { counted } => self.counted.push(*counted),
            Line::Explained { explained } => self.explained.push(*explained),
            Line::NotCounted { not_counted } => self.not_counted = Some(not_counted),
            Line::NotModelled { not_modelled } => self.not_modelled = Some(not_modelled),
            Line::NotBegun { not_begun } => self.not_begun = Some(not_begun),
            Line::Energy { energy } => self.energy = Some(energy),
            Line::Wear { wear } => self.wear = Some(wear),
            Line::End { finished } => self.finished = Some(finished),
        }
    }
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Version of the format; its presence says what the file is.
    pub embermark_journal: u32,
    /// What it was measured with and on, as far as that was known at the start.
    pub manifest: Manifest,
    /// What was asked for.
    pub plan: Plan,
    /// The folder that was named for the databases; absent where they live beside the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub databases: Option<PathBuf>,
    /// What reaches storage is counted after the timed trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
    /// What an operation asks of the system is counted after the timed trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
    /// Every cell, in plan order.
    pub cells: Vec<PlannedCell>,
}

/// What is made and found out before the first trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The rows, by workload.
    pub datasets: BTreeMap<String, Dataset>,
    /// The harness's own cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

/// The line of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedTrial {
    /// Its cell.
    pub cell: CellId,
    /// How it went.
    pub trial: Trial,
}

/// Where a run stopped going up in scale.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NotBegun {
    /// The smallest scale that was not begun.
    pub scale: Scale,
    /// Why.
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

/// Reads a journal. A last line that was cut off is left out.
///
/// # Errors
/// When the file cannot be read, or is no journal.
pub fn read(path: &Path) -> Result<Journal, HarnessError> {
    read_whole(path).map(|(journal, _)| journal)
}

/// A journal, and the length of its whole lines in bytes.
fn read_whole(path: &Path) -> Result<(Journal, u64), HarnessError> {
    let text = fs::read(path).map_err(|e| HarnessError::file(path, "read the journal", e))?;
    let wrong = |line: usize, problem: String| HarnessError::Journal {
        path: path.to_owned(),
        line: line + 1,
        problem,
    };
    // What follows the last line's end is empty, or a line that was cut off.
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
    let mut journal = Journal::of(head);
    for (number, line) in lines {
        match serde_json::from_slice(line) {
            Ok(line) => journal.take(line),
            Err(error) => return Err(wrong(number, error.to_string())),
        }
    }
    Ok((journal, whole as u64))
}

/// The version alone, which a line of any version has.
#[derive(Deserialize)]
struct Format {
    embermark_journal: u32,
}
