//! What was asked, and every experiment as it ended: a line of JSON each. A run that is cut off loses
//! at most the experiment that was under way. The result file is made of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use embermark_model::{Configurations, Durability};
use serde::{Deserialize, Serialize};

use crate::outcome::{Experiment, Tested};

/// Version of the result file and of the journal, whose first line names it.
pub const SCHEMA: &str = "embermark-durability-1";

/// What a run was asked, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: String,
    /// When it began, RFC 3339, UTC.
    pub begun: String,
    /// Version of embermark.
    pub embermark: String,
    /// Kernel and its version.
    pub kernel: String,
    /// Ids of the engines and names of configurations, in the order of the table.
    pub engines: Vec<String>,
    /// The configurations, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configurations: Configurations,
    /// Tiers.
    pub durabilities: Vec<Durability>,
    /// States to look at for each engine and tier, at most, without second cuts.
    pub states: u32,
    /// Kills for each engine and tier.
    pub kills: u32,
    /// The file system under a database whose power is cut.
    pub file_system: String,
    /// For how many seconds the commits of a recorded work go on, at least.
    #[serde(default)]
    pub over_s: u64,
    /// Seed.
    pub seed: u64,
}

/// An experiment that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// The engine's id, or the name of a configuration.
    pub engine: String,
    /// The tier.
    pub durability: Durability,
    /// The experiment.
    pub experiment: Experiment,
    /// Why.
    pub why: String,
    /// Whether it was begun: the engine did not do the work undisturbed, or the experiment broke.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The result file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// What was asked, and where.
    #[serde(flatten)]
    pub head: Head,
    /// The experiments that were made, in the order in which they ended.
    pub tested: Vec<Tested>,
    /// Those that were not.
    #[serde(default)]
    pub not_tried: Vec<NotTried>,
}

impl Outcome {
    /// Whether an experiment has ended, or will not be made.
    pub fn has(&self, engine: &str, durability: Durability, experiment: Experiment) -> bool {
        let is = |e: &str, d, x| e == engine && d == durability && x == experiment;
        self.tested.iter().any(|t| is(&t.engine, t.durability, t.experiment))
            || self.not_tried.iter().any(|n| is(&n.engine, n.durability, n.experiment))
    }

    /// Whether a promise was broken, or an experiment failed.
    pub fn is_failure(&self) -> bool {
        self.tested.iter().any(|tested| tested.violations() > 0)
            || self.not_tried.iter().any(|not| not.failed)
    }
}

/// A line after the first.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Tested(Box<Tested>),
    NotTried(NotTried),
}

/// The journal of a run, open for its next line, which no other process adds.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// What stands in it.
    pub outcome: Outcome,
}

impl Journal {
    /// Begins one in a file that is not there yet.
    ///
    /// # Errors
    /// When it is there, or cannot be written.
    pub fn begin(path: &Path, head: Head) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        lock(&file)?;
        let line = serde_json::to_vec(&head)?;
        let (tested, not_tried) = (Vec::new(), Vec::new());
        let mut this = Self { file, outcome: Outcome { head, tested, not_tried } };
        this.write(line)?;
        Ok(this)
    }

    /// Opens one of a run that was cut off. A last line that was not written whole is removed.
    ///
    /// # Errors
    /// When it cannot be read or written, is none, or its run is still going on.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).open(path)?;
        lock(&file)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        file.seek(io::SeekFrom::End(0))?;
        let mut lines = text[..whole].lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())?;
        if head.schema != SCHEMA {
            let message = format!("it is of the schema {}, not {SCHEMA}", head.schema);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let mut outcome = Outcome { head, tested: Vec::new(), not_tried: Vec::new() };
        for line in lines {
            match serde_json::from_str(line)? {
                Line::Tested(tested) => outcome.tested.push(*tested),
                Line::NotTried(not) => outcome.not_tried.push(not),
            }
        }
        Ok(Self { file, outcome })
    }

    /// Adds an experiment that has ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tested(&mut self, tested: Tested) -> io::Result<()> {
        let line = Line::Tested(Box::new(tested));
        self.write(serde_json::to_vec(&line)?)?;
        if let Line::Tested(tested) = line {
            self.outcome.tested.push(*tested);
        }
        Ok(())
    }

    /// Adds one that will not be made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn not_tried(&mut self, not: NotTried) -> io::Result<()> {
        self.write(serde_json::to_vec(&Line::NotTried(not.clone()))?)?;
        self.outcome.not_tried.push(not);
        Ok(())
    }

    /// One write, and on the disk before the next experiment begins.
    fn write(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }
}

fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("its run is still going on"),
        TryLockError::Error(error) => error,
    })
}

#[cfg(test)]
mod tests;
