//! The plan, and every experiment as it ended: one line of JSON each. An interrupted run loses at
//! most the current experiment. The result file is made from it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub use embermark_model::durability_result::{Head, NotTried, Outcome, SCHEMA};
use serde::{Deserialize, Serialize};

use crate::outcome::Tested;

/// Time for which a process may hold the lock of a killed run that was just starting it. It
/// inherits the lock until it executes its program, `execve(2)`, which a busy machine delays.
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
    /// Its content.
    pub outcome: Outcome,
}

impl Journal {
    /// Begins a journal in a new file.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn begin(path: &Path, head: Head) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        lock(&file)?;
        write(&file, &head)?;
        Ok(Self { file, outcome: Outcome { head, tested: Vec::new(), not_tried: Vec::new() } })
    }

    /// Opens the journal of an interrupted run. Removes an incomplete last line.
    ///
    /// # Errors
    /// If it cannot be read or written, is not a journal, or its run is still active.
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
            let message = format!("its schema is {}, not {SCHEMA}", head.schema);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let mut outcome = Outcome { head, tested: Vec::new(), not_tried: Vec::new() };
        for line in lines {
            match serde_json::from_str(line)? {
                Line::Tested(tested) => outcome.add_tested(*tested),
                Line::NotTried(not) => outcome.add_not_tried(not),
            }
        }
        Ok(Self { file, outcome })
    }

    /// Adds an experiment that has ended.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn tested(&mut self, tested: Tested) -> io::Result<()> {
        write(&self.file, &Line::Tested(Box::new(tested.clone())))?;
        self.outcome.add_tested(tested);
        Ok(())
    }

    /// Adds an experiment that did not run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn not_tried(&mut self, not: NotTried) -> io::Result<()> {
        if self.outcome.not_tried.contains(&not) {
            return Ok(());
        }
        write(&self.file, &Line::NotTried(not.clone()))?;
        self.outcome.add_not_tried(not);
        Ok(())
    }
}

/// One write, which is on disk before the next experiment begins.
fn write(mut file: &File, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
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
                return Err(io::Error::other("its run is still active"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::Durability;

    use super::*;
    use crate::outcome::Experiment;

    fn head() -> Head {
        Head {
            engine_libraries: Default::default(),
            schema: SCHEMA.to_owned(),
            begun: "2026-01-01T00:00:00Z".to_owned(),
            embermark: "0.1.0".to_owned(),
            kernel: "Linux 6".to_owned(),
            named: Vec::new(),
            engines: vec!["lmdb".to_owned()],
            configurations: Default::default(),
            durabilities: vec![Durability::Power],
            states: 3,
            server_states: 2,
            short_works: 0,
            device_lies: false,
            kills: 2,
            clients: 0,
            accepted_licences: Vec::new(),
            file_system: "ext4".to_owned(),
            over_s: 0,
            fills: 0,
            disk_bytes: None,
            storage: None,
            seed: 1,
        }
    }

    fn not_tried(engine: &str) -> NotTried {
        NotTried {
            engine: engine.to_owned(),
            durability: Durability::Power,
            experiment: Experiment::PowerCut,
            why: "no root".to_owned(),
            failed: engine != "rootless",
        }
    }

    #[test]
    fn what_ended_is_there_again_and_a_line_that_was_cut_off_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::begin(&path, head()).unwrap();
        journal.not_tried(not_tried("lmdb")).unwrap();
        assert!(Journal::begin(&path, head()).is_err(), "it is there");
        let open = Journal::open(&path).map(drop).map_err(|error| error.to_string());
        assert_eq!(open, Err("its run is still active".to_owned()));
        drop(journal);

        let whole = std::fs::read(&path).unwrap();
        let cut = &serde_json::to_vec(&Line::NotTried(not_tried("redb"))).unwrap()[..20];
        std::fs::write(&path, [&whole, cut].concat()).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(journal.outcome.head, head());
        let has = |journal: &Journal, engine| {
            journal.outcome.has(engine, Durability::Power, Experiment::PowerCut)
        };
        assert!(has(&journal, "lmdb") && !has(&journal, "redb"));
        assert!(!journal.outcome.has("lmdb", Durability::Power, Experiment::Kill));
        journal.not_tried(not_tried("redb")).unwrap();
        drop(journal);
        let journal = Journal::open(&path).unwrap();
        assert!(has(&journal, "lmdb") && has(&journal, "redb"));
    }

    #[test]
    fn what_could_not_begin_may_be_tried_again_and_is_noted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::begin(&path, head()).unwrap();
        for why in ["no root", "no root", "no FUSE"] {
            journal.not_tried(NotTried { why: why.to_owned(), ..not_tried("rootless") }).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
        drop(journal);
        let journal = Journal::open(&path).unwrap();
        assert!(!journal.outcome.has("rootless", Durability::Power, Experiment::PowerCut));
        let whys: Vec<_> = journal.outcome.not_tried.iter().map(|not| &*not.why).collect();
        assert_eq!(whys, ["no FUSE"]);
    }

    #[test]
    fn another_file_is_no_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        for text in ["", "{}\n", "{\"schema\":\"other\"}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(Journal::open(&path).is_err(), "{text}");
        }
    }

    /// The lock that a process holds which a killed run was just starting, until it becomes another
    /// program.
    #[test]
    fn a_journal_that_is_let_go_within_a_moment_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let held = Journal::begin(&path, head()).unwrap();
        let letting_go = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            drop(held);
        });
        assert!(Journal::open(&path).is_ok());
        letting_go.join().unwrap();
    }
}
