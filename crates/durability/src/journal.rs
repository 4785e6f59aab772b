//! What was asked, and every experiment as it ended: a line of JSON each. A run that is cut off loses
//! at most the experiment that was under way. The result file is made of it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub use embermark_model::durability_result::{Head, NotTried, Outcome, SCHEMA};
use serde::{Deserialize, Serialize};

use crate::outcome::Tested;

/// How long a process may hold the lock of a run that was killed while it started that process: the
/// lock goes with it until it executes its program, `execve(2)`, which a busy machine delays.
const STARTING_TAKES: Duration = Duration::from_secs(2);

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
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if began.elapsed() < STARTING_TAKES => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("its run is still going on"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
